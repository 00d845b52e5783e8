import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// Whole records of a source that are mapped together.
struct ChunkJob: Sendable {
    /// The records, followed by padding.
    private(set) var padded: [UInt8] = []
    /// Whether the job begins with the first record of the source.
    var isFirst = false
    /// Whether this is the last job.
    var isLast = false
    /// The records that a reader of the whole file has read. `bytesRead` is the number of bytes that it read for them.
    var records: [SourceRecord] = []
    var bytesRead = 0

    init(_ bytes: consuming [UInt8] = [], isFirst: Bool = false, isLast: Bool = false) {
        // Moved, so that the array has a single owner and the padding is appended in place.
        padded = consume bytes
        (self.isFirst, self.isLast) = (isFirst, isLast)
        padded.append(contentsOf: repeatElement(0, count: Padding.count))
    }

    /// The records.
    var bytes: ArraySlice<UInt8> { padded.dropLast(Padding.count) }

    /// The bytes that were left out of rows that are too long.
    var gaps: [Gap] = []

    /// Skipped bytes of the source.
    struct Gap: Hashable {
        /// The number of bytes of the job before them.
        var place: Int
        var count: Int
    }

    /// The number of bytes of the source that the job covers.
    var count: Int { bytesRead + bytes.count + gaps.reduce(0) { $0 + $1.count } }

    /// The gaps in the last bytes of the job.
    func gaps(ofLast count: Int) -> [Gap] {
        let before = bytes.count - count
        return gaps.filter { $0.place >= before }.map { Gap(place: $0.place - before, count: $0.count) }
    }
}

/// The result of a job.
struct ChunkResult: Sendable {
    /// The reason why a record leaves the bulk path.
    enum Reason: String, Sendable {
        /// It is the first record of its file. A reader reports problems of the whole file with it.
        case first
        /// A format has no layout.
        case format
        /// The reader rejects it, or it has more parts than the bulk path supports.
        case source
        /// The mapping rejects it.
        case mapping
        /// The plan counts a part of it that the bulk path does not support.
        case survey
        /// It has contradictory consent decisions.
        case contradiction
        /// It has an opt-in after an opt-out.
        case consent
        /// The writer rejects it, or a part of it has a form that only the writer supports.
        case target
        /// It is too long.
        case length
    }

    /// A rejected record in a compact form, because a job may have thousands.
    struct Reject: Sendable {
        /// The data to read the record again once its number is known, which findings of a reader may contain.
        enum Origin: Sendable {
            case line([UInt8])
            case row([UInt8])
            /// A record that need not be read again, because its findings are complete.
            case complete([UInt8])
            // Rare and large. Indirect, so that the other cases stay small.
            indirect case fault(DelimitedFault)
            /// A record without bytes, or without findings of a reader.
            indirect case record(SourceRecord)
        }

        /// The number of records, and of line feeds, before it in the job.
        var records: Int
        var lines: Int
        var origin: Origin
        /// The findings that do not come from the reader.
        var findings: [Finding]
    }

    var output: OutputBuffer
    /// The number of bytes written to `output`.
    var used = 0
    var records = 0
    var lines = 0
    var written = 0
    var writtenWithFindings = 0
    /// The number of records that left the bulk path, by reason.
    var left: [Reason: Int] = [:]
    /// The number of records that left the bulk path.
    var leftCount: Int { left.values.reduce(0, +) }
    /// The number of line feeds before the first record.
    var linesBeforeFirst: Int?
    /// The count of each note of the plan.
    var notes: [Int] = []
    /// The findings of the general path.
    var findings = MigrationReport.Counts()
    /// The number of rejected records, the reasons, and the records themselves if a list of rejects is written.
    var rejected = 0
    var refusals: [String: MigrationReport.Refusal] = [:]
    var rejects: [Reject] = []
    /// The survey of the records; nil without one.
    var survey: Survey?
    /// The effects of the mapping rules.
    var mapping: [MappingEffect] = []
    /// The marks of the records' consent decisions, in order, if the run collects them.
    var marks: [UInt64] = []
    /// Evidence of consent.
    var evidence = EvidenceLines()
    /// Each record, for the follower of the run.
    var log: [WrittenRecord] = []
    /// An incomplete row at the end of the job. The next job was split at a wrong place.
    var leftover: [UInt8] = []
    /// The bytes that the writer puts after the last record.
    var footer: [UInt8] = []
    /// The job, in case it must be mapped again after an incomplete row.
    var job = ChunkJob()
}

/// Reads the records of jobs: plain ones into a view, others into a record.
enum RecordSource {
    case lines(NeutralScanner, any RecordReader)
    case members(MemberScanner, any RecordReader)
    case rows(RowScanner, any RowReader, DelimitedDialect)
    /// The records of the jobs are read already.
    case file
}

/// Maps jobs, one after the other, on one thread.
struct ChunkMapper: ~Copyable {
    private let compiled: CompiledPlan
    private let arena: Arena
    // All of these point into `arena`.
    private let source: RecordSource
    private var view: RecordView
    private var writer: LineWriter
    private var general: GeneralPath
    /// Whether every record takes the general path.
    let takesGeneralPath: Bool
    // The survey, if records are counted. It is behind a pointer, as are all values that are used for each record, because
    // copying a large value would cost time.
    private let counter: UnsafePointer<BulkSurvey>?
    private let book: SurveyBook?
    /// Collects the marks of consent decisions.
    private let marks: UnsafePointer<BulkMarks>
    private let notesConsent: Bool
    /// The opt-outs that lower opt-ins; nil if the marks are collected for the run.
    private let optOuts: EarlierOptOuts?
    private let lowersOptIns: Bool
    /// The number of records of the job before the present run of plain records.
    private var recordsBefore = 0
    // The mapping, and a view for the changed record if the original is still needed.
    private let mapping: MappingPlan?
    private let changed: RecordView
    /// The index of the note of a value that the mapping leaves out; nil if it leaves out none.
    private let droppedNote: Int?
    private let rejecting: BulkPlan.Rejecting
    private let evidence: ConsentEvidence?
    private let log: WrittenLog?

    /// The maximum length of a record on the bulk path, which limits the room for its output.
    static let longest = 64 << 10

    /// The number of bytes in which the end of a row is searched for at first.
    private static let nearBy = 4 << 10

    /// The reason why a run of plain records ends.
    private enum Stop { case end, unusual(ChunkResult.Reason), room, counted, refused }

    init(
        _ compiled: CompiledPlan,
        _ source: RecordSource,
        in arena: Arena,
        mapping: MappingPlan?,
        general: GeneralPath,
        takesGeneralPath: Bool,
        counter: BulkSurvey?,
        book: SurveyBook?,
        consent: ConsentUse,
        marks: BulkMarks,
        applying optOuts: EarlierOptOuts?,
        rejecting: BulkPlan.Rejecting,
        evidence: ConsentEvidence?,
        log: WrittenLog?
    ) {
        (self.evidence, self.log) = (evidence, log)
        (self.rejecting, self.optOuts, lowersOptIns) = (rejecting, optOuts, optOuts != nil)
        notesConsent = consent != .ignored
        (self.compiled, self.source, self.arena, self.mapping, self.general) = (
            compiled, source, arena, mapping, general
        )
        self.marks = arena.keep(marks)
        self.takesGeneralPath = takesGeneralPath || !compiled.canWrite
        let view = RecordView(in: arena)
        (self.view, writer) = (view, LineWriter(for: view, in: arena))
        (self.counter, self.book) = (counter.map(arena.keep), book)
        droppedNote = compiled.notes.firstIndex(of: ContactMapping.unknownDropped)
        changed = mapping != nil && counter != nil ? RecordView(in: arena) : view
    }

    /// Maps a job and overwrites `output`.
    ///
    /// - Throws: ``FileError`` if the mapper learns opt-outs that do not fit into memory; otherwise no error.
    mutating func map(_ job: ChunkJob, _ output: consuming OutputBuffer) throws(FileError) -> ChunkResult {
        var result = ChunkResult(output: consume output)
        result.notes = Array(repeating: 0, count: compiled.notes.count)
        result.job = job
        if let first = job.records.first { result.linesBeforeFirst = first.line - 1 }
        for record in job.records {
            move(record, nil, &result)
            result.left[.format, default: 0] += 1
        }
        if job.isLast { result.footer = general.footer }
        map(job.padded, 0..<job.bytes.count, job.isFirst, job.isLast, &result)
        addCounts(&result)
        try optOuts?.spill()
        if let evidence { result.evidence = evidence.takeLines() }
        if let log { result.log = log.take() }
        result.survey = book?.take()
        result.mapping = general.takeEffects()
        if let mapping { result.mapping = zip(result.mapping, mapping.takeEffects()).map { $0 + $1 } }
        return result
    }

    private mutating func map(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        _ isFirst: Bool,
        _ isLast: Bool,
        _ result: inout ChunkResult
    ) {
        var position = range.lowerBound
        // A byte-order mark is allowed only here. With the first row, a reader may report problems of the whole file.
        var isHead = isFirst && (isRows || bytes[range].starts(with: [0xEF, 0xBB, 0xBF]))
        while position < range.upperBound {
            let stop =
                isHead || takesGeneralPath
                ? .unusual(isHead ? .first : .format) : run(bytes, &position, range.upperBound, &result)
            switch stop {
            case .end: return
            case .refused: continue
            case .counted: addCounts(&result)
            case .room: result.output.grow(used: result.used, by: 0)
            case .unusual(let reason):
                // In the order of the records.
                addMarks(&result)
                let before = result.records
                guard let next = moveByGeneralPath(bytes, position..<range.upperBound, isHead, isLast, &result)
                else {
                    return result.leftover = Array(bytes[position..<range.upperBound])
                }
                if result.records > before { result.left[reason, default: 0] += 1 }
                isHead = isHead && result.records == 0
                position = next
            }
        }
    }

    private func addCounts(_ result: inout ChunkResult) {
        addCounts()
        addMarks(&result)
    }

    private func addMarks(_ result: inout ChunkResult) {
        result.marks += marks.pointee.take()
    }

    private func addCounts() {
        if let counter { book?.note(counter.pointee, compiled) }
    }

    private var isRows: Bool { if case .rows = source { true } else { false } }

    // MARK: The bulk path

    /// Maps plain records until another one follows. `position` becomes its position.
    private mutating func run(
        _ bytes: [UInt8],
        _ position: inout Int,
        _ end: Int,
        _ result: inout ChunkResult
    ) -> Stop {
        recordsBefore = result.records
        var counts = Counts()
        let (start, used, capacity) = (position, result.used, result.output.count)
        var (stop, place, written) = (Stop.end, start, used)
        var refused: (finding: Int, range: Range<Int>)?
        bytes.withUnsafeBufferPointer { source in
            result.notes.withUnsafeMutableBufferPointer { notes in
                result.output.withBytes { output in
                    guard let source = source.baseAddress, let output = output.baseAddress,
                        let notes = notes.baseAddress
                    else { return stop = .room }
                    let (cursor, pen) = (source + start, Pen(place: output + used))
                    let (last, limit) = (source + end, output + capacity)
                    let way =
                        switch self.source {
                        case .lines(let scanner, _): run(scanner, cursor, last, pen, limit, notes, &counts)
                        case .members(let scanner, _): run(scanner, cursor, last, pen, limit, notes, &counts)
                        case .rows(let scanner, _, _): run(scanner, cursor, last, pen, limit, notes, &counts)
                        case .file: Way(place: last, pen: pen)
                        }
                    (stop, place, written) = (way.stop, way.place - source, way.pen.place - output)
                    refused = way.refused.map { ($0.finding, place..<($0.end - source)) }
                }
            }
        }
        (position, result.used) = (place, written)
        if result.linesBeforeFirst == nil, let before = counts.linesBeforeFirst {
            result.linesBeforeFirst = result.lines + before
        }
        result.records += counts.records
        result.lines += counts.lines
        result.written += counts.records
        result.writtenWithFindings += counts.withFindings
        if let refused {
            refuse(bytes[refused.range], for: compiled.refusals[refused.finding], &result)
            position = refused.range.upperBound
        }
        return stop
    }

    /// Rejects a record with a single finding that is complete without reading the record again. `bytes` include the line
    /// end, which the list of rejects omits.
    private func refuse(_ bytes: ArraySlice<UInt8>, for finding: Finding, _ result: inout ChunkResult) {
        if result.linesBeforeFirst == nil { result.linesBeforeFirst = result.lines }
        reject(.complete(Array(bytes)), [finding], telling: [finding], &result)
        book?.note(refusal: finding)
        log?.add(nil, [])
        result.findings.add(finding)
        result.records += 1
        result.lines += bytes.reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
    }

    private struct Counts {
        var records = 0
        var lines = 0
        var withFindings = 0
        var linesBeforeFirst: Int?
    }

    /// The position and the reason where a run of plain records ends.
    private struct Way {
        var stop = Stop.end
        var place: Bytes
        var pen: Pen
        /// The plan's index of the finding of a rejected record, and the end of the record.
        var refused: (finding: Int, end: Bytes)?
    }

    /// `end` is after a line feed or before the padding; `limit` is after the output's room.
    private mutating func run(
        _ scanner: some RecordScanner,
        _ start: Bytes,
        _ end: Bytes,
        _ pen: Pen,
        _ limit: UnsafeMutablePointer<UInt8>,
        _ notes: UnsafeMutablePointer<Int>,
        _ counts: inout Counts
    ) -> Way {
        let plan = UnsafePointer(compiled.plan)
        // Local copies, so that the compiler can keep them in registers.
        var (scanner, view, writer, tally) = (scanner, view, writer, counts)
        var way = Way(place: start, pen: pen)
        defer { counts = tally }
        while way.place < end {
            if way.place.pointee <= 0x0D, let next = Self.behindEmptyLine(way.place) {
                way.place = next
                tally.lines &+= 1
                continue
            }
            guard let record = scanner.scan(way.place, end, &view, plan) else {
                if let unknownName = scanner.takeUnknownName() {
                    // Counts by rank are added up before the ranks change.
                    addCounts()
                    if compiled.learn(unknownName.text) {
                        mapping?.rank(in: compiled)
                        scanner.rank(by: plan.pointee.attributes.names)
                        continue
                    }
                }
                way.stop = .unusual(.source)
                return way
            }
            guard record.end - way.place <= Self.longest else {
                way.stop = .unusual(.length)
                return way
            }
            way.stop = take(view, &writer, plan, way.place, record.end, limit, scanner.notes, notes, &way, &tally)
            guard case .end = way.stop else {
                if case .refused = way.stop { way.refused = (writer.refusal, record.end) }
                return way
            }
            tally.lines &+= record.lines
            way.place = record.end
        }
        return way
    }

    /// Writes and counts the record that a scanner has read. Returns `.end` if the record is complete.
    @inline(__always) private func take(
        _ view: RecordView,
        _ writer: inout LineWriter,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Bytes,
        _ end: Bytes,
        _ limit: UnsafeMutablePointer<UInt8>,
        _ sourceNotes: RowScanner.Notes?,
        _ notes: UnsafeMutablePointer<Int>,
        _ way: inout Way,
        _ tally: inout Counts
    ) -> Stop {
        guard limit - way.pen.place > room(for: view, of: end - start) else { return .room }
        guard counter?.pointee.hasRoom ?? true, marks.pointee.hasRoom else { return .counted }
        guard counter?.pointee.admits(view) ?? true else { return .unusual(.survey) }
        writer.begin()
        if let sourceNotes {
            for index in 0..<sourceNotes.count.pointee {
                guard writer.note(Int(sourceNotes.indexes[index])) else { return .unusual(.source) }
            }
        }
        var reason = ChunkResult.Reason.target
        // A mapping changes the view, so the traits are determined before.
        var traits = log == nil ? [] : RecordTraits(view, plan.pointee.vocabulary)
        evidence?.begin(view)
        guard let changed = mapped(view, &writer) else { return .unusual(.mapping) }
        guard let next = write(changed, &writer, plan, way.pen, notes, &tally, &reason) else {
            guard writer.refusal >= 0 else { return .unusual(reason) }
            counter?.pointee.note(refused: view, plan.pointee.vocabulary)
            return .refused
        }
        mapping?.count()
        counter?.pointee.note(view, plan.pointee.vocabulary, writtenBy: writer)
        if let log {
            let isWarned = (0..<writer.noteCount).contains {
                compiled.notes[Int(writer.notes[$0])].severity == .warning
            }
            if isWarned { traits.insert(.warning) }
            log.add(next.place - way.pen.place, traits)
        }
        evidence?.add(number: recordsBefore + tally.records)
        way.pen = next
        return .end
    }

    /// The position after an empty line, which is not a record; nil if the line is not empty.
    @inline(__always) private static func behindEmptyLine(_ start: Bytes) -> Bytes? {
        let place = start.pointee == 0x0D ? start + 1 : start
        return place.pointee == 0x0A ? place + 1 : nil
    }

    /// The maximum number of bytes of output for a record of `count` bytes.
    @inline(__always) private func room(for view: RecordView, of count: Int) -> Int {
        let bytes = mapping.map { count &* (1 &+ $0.doublings) &+ $0.room } ?? count
        return compiled.plan.pointee.room(for: view, of: bytes)
    }

    /// The view after the mapping; nil if only the general path can apply the rules.
    @inline(__always) private func mapped(_ view: RecordView, _ writer: inout LineWriter) -> RecordView? {
        guard let mapping else { return view }
        return mapped(view, by: mapping, &writer)
    }

    @inline(never) private func mapped(
        _ view: RecordView,
        by mapping: MappingPlan,
        _ writer: inout LineWriter
    ) -> RecordView? {
        var changed = changed
        if counter == nil { changed = view } else { changed.copy(view) }
        let isChanged = mapping.change(&changed) {
            // A plan counts findings by attribute. For findings of a rule, only the general path does that.
            counter == nil && droppedNote.map { writer.note($0) } ?? false
        }
        return isChanged ? changed : nil
    }

    @inline(__always) private func write(
        _ view: RecordView,
        _ writer: inout LineWriter,
        _ plan: UnsafePointer<LinePlan>,
        _ pen: Pen,
        _ notes: UnsafeMutablePointer<Int>,
        _ counts: inout Counts,
        _ reason: inout ChunkResult.Reason
    ) -> Pen? {
        guard !view.mayContradict else {
            reason = .contradiction
            return nil
        }
        // The state after the notes of the source and of the mapping, to which a second attempt returns.
        let before = writer
        var written = writer.write(view, plan, pen)
        guard written != nil || writer.refusal >= 0 else { return nil }
        reason = .consent
        if let written, !isAccepted(from: pen, to: written, writer) { return nil }
        // The decisions of a rejected record count, too.
        if notesConsent { marks.pointee.note(view, plan.pointee.vocabulary) }
        if lowersOptIns, !isAcceptedByOptOuts {
            let isRefused = written == nil
            writer = before
            written = isRefused ? nil : lowered(view, &writer, plan, pen)
        }
        guard let next = written else { return nil }
        for index in 0..<writer.noteCount { notes[Int(writer.notes[index])] &+= 1 }
        if writer.noteCount > 0 { counts.withFindings &+= 1 }
        if counts.records == 0 { counts.linesBeforeFirst = counts.lines }
        counts.records &+= 1
        return next
    }

    /// Whether the written record passes the evidence, or there is no evidence.
    @inline(__always) private func isAccepted(from start: Pen, to end: Pen, _ writer: LineWriter) -> Bool {
        let bytes = UnsafeBufferPointer(start: start.place, count: end.place - start.place)
        return evidence?.accepts(bytes, writer, compiled) ?? true
    }

    /// Whether no opt-in among the marks follows an opt-out. The marks are learned then.
    @inline(never) private var isAcceptedByOptOuts: Bool {
        let marks = marks.pointee.take()
        return optOuts?.accepts(marks) ?? true
    }

    /// Lowers each opt-in of a view that follows an opt-out, and writes the view; nil if the general path must do so.
    @inline(never) private func lowered(
        _ view: RecordView,
        _ writer: inout LineWriter,
        _ plan: UnsafePointer<LinePlan>,
        _ pen: Pen
    ) -> Pen? {
        var contact = Contact(consentOf: view, isIdentified: true)
        // The survey counts what the source states.
        guard let optOuts, counter == nil, let marks = ConsentMarks(contact, knownBy: general.keyKinds) else {
            return nil
        }
        let own = marks.optOuts(of: contact)
        for finding in optOuts.lower(&contact, marks, besides: own) {
            let note = compiled.notes.firstIndex { $0.code == finding.code }
            guard let note, writer.note(note) else { return nil }
        }
        for (index, each) in contact.subscriptions.enumerated() where each.state == .unsubscribed {
            view.subscriptions[index].state = plan.pointee.vocabulary.pointee.unsubscribed
        }
        for (index, each) in contact.consents.enumerated() where each.state == .denied {
            view.consents[index].state = plan.pointee.vocabulary.pointee.refused
        }
        guard let end = writer.write(view, plan, pen), isAccepted(from: pen, to: end, writer) else {
            writer.clearRefusal()
            return nil
        }
        optOuts.learn(own)
        return end
    }

    // MARK: The general path

    /// Maps the first record in `range` and returns the position after it; nil if the record does not end there.
    private mutating func moveByGeneralPath(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        _ isFirst: Bool,
        _ isLast: Bool,
        _ result: inout ChunkResult
    ) -> Int? {
        switch source {
        case .lines(_, let reader), .members(_, let reader):
            let newline = bytes.withUnsafeBufferPointer { source -> Int? in
                guard let start = source.baseAddress else { return nil }
                return (start + range.lowerBound).lineFeed(before: start + range.upperBound).map { $0 - start }
            }
            var line = bytes[range.lowerBound..<(newline ?? range.upperBound)]
            if newline != nil, line.last == 0x0D { line = line.dropLast() }
            if let newline, line.isEmpty {
                result.lines += 1
                return newline + 1
            }
            // Only the number of the first record is correct. Rejected records get their numbers when they are written.
            let record = reader.read(Array(line), number: isFirst ? 1 : 2, line: isFirst ? 1 : 2)
            move(record, nil, &result)
            if newline != nil { result.lines += 1 }
            return newline.map { $0 + 1 } ?? range.upperBound
        case .rows(_, let reader, let dialect):
            let line = bytes[range.lowerBound..<(bytes[range].firstIndex(of: 0x0A).map { $0 + 1 } ?? range.upperBound)]
            if line.last == 0x0A || isLast, dialect.isBlank(line) {
                result.findings.add(GeneralPath.blankRow.at("row"))
                result.lines += line.last == 0x0A ? 1 : 0
                return line.endIndex
            }
            var headless = dialect
            headless.hasHeader = false
            var rows = DelimitedReader(dialect: headless)
            // A byte-order mark is skipped only at the start of a file.
            let mark: [UInt8] = bytes[range].starts(with: [0xEF, 0xBB, 0xBF]) ? [0x0A] : []
            // Most rows end within a few bytes. For others, all available bytes are read.
            let near = min(range.upperBound, range.lowerBound + Self.nearBy)
            rows.append(mark + bytes[range.lowerBound..<near])
            var row = near < range.upperBound ? rows.next() : nil
            if row == nil {
                rows.append(bytes[near..<range.upperBound])
                if isLast { rows.finish() }
                row = rows.next()
            }
            guard let row else { return isLast ? range.upperBound : nil }
            return move(row, bytes, range, number: isFirst ? 1 : 2, hasMark: !mark.isEmpty, reader, &result)
        case .file: return nil
        }
    }

    /// Maps a row that was read from `range`, and returns the position after it.
    private mutating func move(
        _ row: Result<DelimitedRecord, DelimitedFault>,
        _ bytes: [UInt8],
        _ range: Range<Int>,
        number: Int,
        hasMark: Bool,
        _ reader: any RowReader,
        _ result: inout ChunkResult
    ) -> Int {
        let numbered = row.map { $0.at(number: number, line: number) }.mapError { $0.at(number: number, line: number) }
        let (line, text): (Int, [UInt8]) =
            switch row {
            case .success(let row): (row.line, row.bytes)
            case .failure(let fault): (fault.line, fault.bytes)
            }
        // The reader skipped empty lines before the row.
        var position = range.lowerBound
        for _ in 1..<max(1, line - (hasMark ? 1 : 0)) {
            position = (bytes[position...].firstIndex(of: 0x0A) ?? position) + 1
            result.lines += 1
        }
        move(reader.record(numbered), row, &result)
        guard case .failure(let fault) = row, fault.code == .recordTooLong else {
            result.lines += text.reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
            return position + text.count
        }
        // The bytes of such a row are not kept. It ends with the first line end after the limit.
        let limit = min(position + RecordLength.usual, range.upperBound)
        let end = bytes[limit..<range.upperBound].firstIndex(of: 0x0A).map { $0 + 1 } ?? range.upperBound
        result.lines += bytes[position..<end].reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
        return end
    }

    /// Writes a record, or rejects it.
    private mutating func move(
        _ record: SourceRecord,
        _ row: Result<DelimitedRecord, DelimitedFault>?,
        _ result: inout ChunkResult
    ) {
        var written: [UInt8] = []
        var findings = general.move(record, to: &written)
        result.marks += general.takeMarks()
        if let evidence, !findings.contains(where: { $0.severity == .error }) {
            findings += evidence.findings(of: record, number: result.records + 1, written[...], findings)
        }
        let isRejected = findings.contains { $0.severity == .error }
        log?.add(isRejected ? nil : written.count, RecordTraits(record.contact, findings))
        book?.note(record, findings, isRejected ? nil : general.final)
        if result.linesBeforeFirst == nil { result.linesBeforeFirst = result.lines }
        if isRejected {
            let further = findings.dropFirst(record.findings.count)
            reject(origin(of: record, row), findings, telling: Array(further), &result)
        } else {
            if result.output.count - result.used < written.count {
                result.output.grow(used: result.used, by: written.count)
            }
            result.output.put(written, behind: result.used)
            result.used += written.count
            result.written += 1
            if !findings.isEmpty { result.writtenWithFindings += 1 }
        }
        for finding in findings { result.findings.add(finding) }
        result.records += 1
    }

    /// Rejects the next record because of its findings. `further` are those that do not come from its reader.
    private func reject(
        _ origin: @autoclosure () -> ChunkResult.Reject.Origin,
        _ findings: [Finding],
        telling further: [Finding],
        _ result: inout ChunkResult
    ) {
        result.rejected += 1
        result.refusals.refuse(findings, deciding: rejecting.deciding)
        guard rejecting.keepsRecords else { return }
        result.rejects.append(
            .init(records: result.records, lines: result.lines, origin: origin(), findings: further)
        )
    }

    private func origin(
        of record: SourceRecord,
        _ row: Result<DelimitedRecord, DelimitedFault>?
    ) -> ChunkResult.Reject.Origin {
        var plain = record
        plain.contact = nil
        if case .file = source { return .record(plain) }
        if record.findings.isEmpty { return .record(plain) }
        return switch row {
        case .success(let row)?: .row(row.bytes)
        case .failure(let fault)?: .fault(fault)
        case nil: record.bytes.isEmpty ? .record(plain) : .line(record.bytes)
        }
    }

    /// The findings of the bulk path, by the index of ``ChunkResult/notes``.
    var notes: [FindingRow] { compiled.notes }
}
