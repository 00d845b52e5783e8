import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// One run of a migration. Several threads map chunks, and the results are written in order.
///
/// The calling thread reads, writes and reports progress, and maps chunks instead of waiting. If the layout does not
/// describe a file, the calling thread reads it as a whole, and the records are mapped one by one.
struct BulkRun {
    private var report = MigrationReport()
    private let notes: [FindingRow]
    private let reader: BulkPlan.Reader
    private var general: GeneralPath
    private var output: (any ByteSink)?
    private var rejects: Rejects?
    /// The number of line feeds in the settled part of the source.
    private var lines = 0
    /// The number of bytes of the source that are settled.
    private var settled = 0
    /// Whether a run can begin there.
    private var isExact: Bool
    private var keeping: Checkpoints?
    private var surveyor: Surveyor?
    private var hasBegun = false
    /// Whether all records take the general path. Their output may be ten times as long as they are, and several jobs are
    /// in progress at once, so jobs are limited to ``generalPiece`` bytes then.
    private var takesGeneralPath = false
    private static let generalPiece = 32 << 10
    /// Output buffers that were written and can be reused.
    private var spare: [OutputBuffer] = []
    /// Reads a file that its layout does not describe; nil for any other file, and while it is reading.
    private var file: (any ContactReader)?
    private let isWhole: Bool
    /// The writer's header, until it is written.
    private var header: [UInt8]
    /// The maximum number of its records in a job. Their bytes are limited by ``generalPiece``, too.
    private static let recordsOfJob = 512
    private var footer: [UInt8]
    /// An incomplete row at the end of the last job.
    private var leftover: [UInt8] = []
    private var leftoverGaps: [ChunkJob.Gap] = []
    /// Maps jobs again that were split at a wrong place.
    private let repeating: RepeatingMapper
    private let consent: ConsentReceiver
    /// The number of records after which the keys so far are compared; four times as many each time.
    private var nextComparison = MigrationReport.sampledRecords
    private let deciding: [String: String]
    private let evidence: EvidenceWriter?
    private let follower: RecordFollower?
    private let encoding: FileEncoding
    /// The share of rejected records above which the run stops; nil once it is examined.
    private var rejectLimit: Migration.RejectLimit?
    /// Reads one row on its own, if records are rows.
    private let rows: DelimitedReader

    private init(
        _ plan: BulkPlan,
        _ header: BulkPlan.Header?,
        _ reader: BulkPlan.Reader,
        _ notes: [FindingRow],
        _ surroundings: Surroundings
    ) throws(SettingsError) {
        (self.reader, self.notes) = (reader, notes)
        (consent, deciding) = (surroundings.consent, surroundings.deciding)
        (evidence, follower) = (surroundings.evidence, surroundings.follower)
        rejectLimit = surroundings.rejectLimit
        encoding = plan.encoding
        general = try plan.makeGeneralPath()
        (self.header, footer) = (general.header, general.footer)
        if case .file(let reader) = reader { (file, isWhole) = (reader, true) } else { isWhole = false }
        var dialect = DelimitedDialect(hasHeader: false)
        if case .columns(let layout) = plan.source { dialect = layout.dialect }
        dialect.hasHeader = false
        rows = DelimitedReader(dialect: dialect)
        report.mapping = plan.mapping.noEffects
        lines = header?.bytes.count { $0 == 0x0A } ?? 0
        isExact = !isWhole
        settled = Self.count(ofSource: header?.bytes[...] ?? [], in: encoding)
        let consent = consent
        repeating = RepeatingMapper { try plan.makeMapper(behind: header, consent) }
    }

    /// A mapper on the calling thread. It is created when it is first needed.
    private final class RepeatingMapper {
        private let make: () throws -> ChunkMapper
        private var mapper: ChunkMapper?

        init(_ make: @escaping () throws -> ChunkMapper) { self.make = make }

        /// Maps a job.
        func map(_ job: ChunkJob, _ output: OutputBuffer) throws -> ChunkResult {
            var mapper = if let known = mapper.take() { known } else { try make() }
            let result = try mapper.map(job, output)
            self.mapper = consume mapper
            return result
        }
    }

    /// The outputs and the observers of a run.
    struct Surroundings {
        let output: (any ByteSink)?
        let rejects: Rejects?
        let progress: (Migration.Progress) -> Void
        let isCancelled: () -> Bool
        let keeping: Checkpoints?
        let surveyor: Surveyor?
        let consent: ConsentReceiver
        /// The settings that cause findings, by the code of the finding.
        let deciding: [String: String]
        var evidence: EvidenceWriter?
        var follower: RecordFollower?
        /// The share of rejected records above which the run stops.
        var rejectLimit: Migration.RejectLimit?
    }

    /// Runs the migration until it is complete or cancelled.
    static func run(
        _ plan: BulkPlan,
        _ source: inout some ByteSource,
        _ surroundings: Surroundings,
        workers: Int
    ) throws -> MigrationReport {
        let first = try source.next()
        let resumed = surroundings.keeping?.resumption
        let isOrdered = plan.isOrdered
        var header = isOrdered ? nil : plan.header(in: plan.encoding.decoded(resumed?.head ?? first ?? []))
        // If the reader cannot use the header, the reader of the whole file reports the problem.
        let reader = try (try? plan.reader(behind: header)) ?? plan.reader(behind: nil)
        if case .file = reader {
            if resumed != nil { throw Migration.Failure([Checkpoints.otherWay.at()]) }
            header = nil
        }
        let consent = surroundings.consent
        let mapper = try plan.makeMapper(behind: header, consent)
        if let resumed, consent.needsAllRecords {
            if case .keys(let keys) = consent, let log = surroundings.keeping?.resumedLog {
                try log.eachEarlier { try keys.restore($0) }
            } else if let before = resumed.before {
                // Reads the decisions before the place at which the run continues.
                var part = try before()
                let reading = Surroundings(
                    reading: consent,
                    of: resumed.place.offset,
                    surroundings.progress,
                    surroundings.isCancelled
                )
                _ = try Self.run(plan, &part, reading, workers: workers)
            }
        }
        var run = try BulkRun(plan, header, reader, mapper.notes, surroundings)
        (run.rejects, run.takesGeneralPath) = (surroundings.rejects, mapper.takesGeneralPath)
        (run.keeping, run.surveyor) = (surroundings.keeping, surroundings.surveyor)
        if let resumed { run.resume(at: resumed.place) }
        run.output = surroundings.output
        if resumed != nil { run.header = [] }
        if !run.isWhole { try run.writeHeader() }
        let skipped = resumed == nil ? header?.bytes.count ?? 0 : 0
        let isSerial = isOrdered || consent.isOrdered
        var threads = MappingThreads(plan, header, consent, mapper, workers: isSerial ? 1 : workers)
        defer { threads.close() }
        try run.go(first, skipped, &source, surroundings, &threads)
        return run.report
    }

    private mutating func resume(at place: Checkpoints.Place) {
        (report, lines, settled, hasBegun) = (place.report, place.lines, place.offset, place.hasBegun)
        if report.read >= MigrationReport.sampledRecords { rejectLimit = nil }
        rejects?.resume(hasBegun: place.hasBegun, hasReturns: place.hasReturns)
    }

    /// The place of the run, between two records.
    private var place: Checkpoints.Place {
        var place = Checkpoints.Place(report: report, offset: settled, lines: lines, isExact: isExact)
        place.report.bytesRead = settled
        (place.hasBegun, place.hasReturns) = (hasBegun, rejects?.hasReturns ?? false)
        return place
    }

    /// Appends the keys to the log of the checkpoint. A resumed run reads a file as a whole from its start and needs no log.
    private func logKeys() throws {
        // A run that only reads has no log; the run that it belongs to appends the keys.
        guard case .keys(let keys) = consent, let log = keeping?.optOuts else { return }
        let marks = keys.takeUnlogged()
        if !isWhole { try log.append(marks) }
    }

    private mutating func keep(isDue: Bool) throws {
        guard isDue, let keeping else { return }
        try rejects?.flush()
        try logKeys()
        try keeping.save(place)
    }

    // MARK: The loop

    private mutating func go(
        _ first: [UInt8]?,
        _ headerLength: Int,
        _ source: inout some ByteSource,
        _ surroundings: Surroundings,
        _ threads: inout MappingThreads
    ) throws {
        // A row may have several lines, so the mapper limits its length.
        var cutter = LineCutter(longest: RecordLength.usual, cutsOff: isOfRows, isFirst: report.read == 0)
        var next = first
        var skipped = headerLength
        while !surroundings.isCancelled() {
            // Moved out of the variable, so that the array has a single owner and bytes can be appended in place.
            guard var chunk = next.take() else {
                try read(nil, &threads)
                try cutter.finish { cut in try take(cut, &threads) }
                while let result = try threads.next(isLast: true) { try accept(result) }
                try mapLeftover(with: ChunkJob(isLast: true), OutputBuffer())
                try checkShare(isLast: true)
                try finishConsent()
                try write(footer[...])
                try rejects?.flush()
                report.isComplete = true
                surroundings.progress(Migration.Progress(records: report.read, bytes: report.bytesRead))
                return
            }
            report.bytesRead += chunk.count
            if !hasBegun { rejects?.note(chunk) }
            if !isWhole, !encoding.isUTF8 { chunk = encoding.decoded(chunk) }
            if isWhole {
                try read(chunk, &threads)
            } else if takesGeneralPath {
                var rest = chunk[skipped...]
                while !rest.isEmpty {
                    try cutter.cut(Array(rest.prefix(Self.generalPiece))) { cut in try take(cut, &threads) }
                    rest = rest.dropFirst(Self.generalPiece)
                }
            } else {
                try cutter.cut(skipped > 0 ? Array(chunk[skipped...]) : chunk) { cut in try take(cut, &threads) }
            }
            skipped = 0
            if case .keys(let keys) = consent, report.read >= nextComparison {
                nextComparison = 4 * report.read
                try Self.require(keys)
            }
            next = try source.next()
            surroundings.progress(Migration.Progress(records: report.read, bytes: report.bytesRead))
        }
        try rejects?.flush()
        try keep(isDue: true)
    }

    /// Reads the next chunk of a file that is read as a whole; nil is its end.
    private mutating func read(_ chunk: [UInt8]?, _ threads: inout MappingThreads) throws {
        guard var reader = file.take() else { return }
        var (job, size) = (ChunkJob(), 0)
        func take(_ record: SourceRecord) throws {
            job.records.append(record)
            size += record.bytes.count
            guard size >= Self.generalPiece || job.records.count >= Self.recordsOfJob else { return }
            try writeHeader()
            try self.take(.job(job), &threads)
            (job, size) = (ChunkJob(), 0)
        }
        if let chunk { try reader.read(chunk, take) } else { try reader.finish(take) }
        report.count(Array(repeating: GeneralPath.blankRow.at("row"), count: reader.takeBlankRows()))
        (job.bytesRead, job.isLast, file) = (chunk?.count ?? 0, chunk == nil, reader)
        // A reader that rejects the file has thrown an error before.
        try writeHeader()
        try self.take(.job(job), &threads)
    }

    /// The number of bytes in the source for bytes that were converted to UTF-8.
    private static func count(ofSource bytes: ArraySlice<UInt8>, in encoding: FileEncoding) -> Int {
        encoding.isUTF8 ? bytes.count : bytes.count { $0 & 0xC0 != 0x80 }
    }

    private mutating func writeHeader() throws {
        try write(header[...])
        header = []
    }

    private var isOfRows: Bool { if case .rows = reader { true } else { false } }

    private mutating func take(_ cut: LineCutter.Cut, _ threads: inout MappingThreads) throws {
        switch cut {
        case .job(let job):
            // A repeated job must not be mapped before, because its records would be learned twice.
            if consent.isOrdered, !leftover.isEmpty { return try mapLeftover(with: job, OutputBuffer()) }
            threads.submit(job, spare.popLast() ?? OutputBuffer())
            while let result = try threads.next(isLast: false) { try accept(result) }
        case .overlong(let length, let bytes):
            // The place of the line in the order is known only after everything before it is settled.
            while let result = try threads.next(isLast: true) { try accept(result) }
            try begin(line: lines + 1)
            guard case .lines(let reader) = reader else { return }
            let record = reader.overlong(length: length, number: report.read + 1, line: lines + 1)
            report.count(record.findings)
            try surveyor?.note(record, record.findings)
            try rejects?.reject(record, record.findings)
            report.read += 1
            report.refuse(record.findings, deciding: deciding)
            lines += 1
            settled += bytes
        }
    }

    /// Checks at the end of the source that every opt-out was applied.
    private func finishConsent() throws {
        switch consent {
        case .keys(let keys): try Self.require(keys)
        case .learning(let optOuts, let needsAll): if output != nil { try optOuts.finish(needsAll: needsAll) }
        case .ignored, .decisions, .known: break
        }
    }

    /// Throws ``OptOutKnowledge/MayContradict`` if records of one person may contradict each other.
    private static func require(_ keys: DecidedKeys) throws {
        if try keys.mayContradict() { throw OptOutKnowledge.MayContradict() }
    }

    /// Stops the run if too large a share of the first records, or of all records of a shorter source, is rejected.
    private mutating func checkShare(isLast: Bool = false) throws(Migration.Failure) {
        guard isLast || report.read >= MigrationReport.sampledRecords, let limit = rejectLimit.take() else { return }
        if let finding = report.stops(by: limit) { throw Migration.Failure([finding]) }
    }

    // MARK: Results

    private mutating func begin(line: Int) throws {
        guard !hasBegun else { return }
        hasBegun = true
        try rejects?.begin(line: line)
    }

    /// Accepts a result, unless the incomplete row of the previous job shows that the job was split at a wrong place.
    private mutating func accept(_ result: ChunkResult) throws {
        guard leftover.isEmpty else { return try mapLeftover(with: result.job, result.output) }
        try settle(result)
    }

    /// Maps the incomplete row together with the next job.
    private mutating func mapLeftover(with job: ChunkJob, _ output: OutputBuffer) throws {
        guard !leftover.isEmpty else { return }
        var whole = ChunkJob(leftover + job.bytes, isFirst: report.read == 0, isLast: job.isLast)
        whole.gaps =
            leftoverGaps + job.gaps.map { ChunkJob.Gap(place: leftover.count + $0.place, count: $0.count) }
        try settle(repeating.map(whole, output))
    }

    private mutating func settle(_ result: consuming ChunkResult) throws {
        if let before = result.linesBeforeFirst { try begin(line: lines + before + 1) }
        try write(result.rejects)
        try evidence?.write(result.evidence, after: report.read)
        if let follower {
            var written = result.output.prefix(result.used)
            for (place, record) in result.log.enumerated() {
                guard let count = record.count else { continue }
                try follower(report.read + place + 1, written.prefix(count), record.traits)
                written = written.dropFirst(count)
            }
        }
        report.rejected += result.rejected
        report.refusals.add(result.refusals)
        report.read += result.records
        report.written += result.written
        for (reason, count) in result.left { report.leftBulkPath[reason.rawValue, default: 0] += count }
        report.writtenWithFindings += result.writtenWithFindings
        for (row, count) in zip(notes, result.notes) where count > 0 { report.counts.add(row, count) }
        report.counts.add(result.findings)
        report.mapping = zip(report.mapping, result.mapping).map { $0 + $1 }
        if let surveyor, let survey = result.survey {
            try surveyor.add(survey)
        }
        lines += result.lines
        if isWhole, result.job.isLast { footer = result.footer }
        leftoverGaps = result.job.gaps(ofLast: result.leftover.count)
        if encoding.isUTF8 || isWhole {
            settled += result.job.count - result.leftover.count - leftoverGaps.reduce(0) { $0 + $1.count }
        } else {
            settled += Self.count(ofSource: result.job.bytes.dropLast(result.leftover.count), in: encoding)
            // The number of skipped bytes is known in UTF-8 only.
            isExact = isExact && result.job.gaps.isEmpty
        }
        try checkShare()
        try write(result.output.prefix(result.used))
        spare.append(result.output)
        leftover = result.leftover
        switch consent {
        case .keys(let keys):
            try keys.add(result.marks)
            if keys.hasManyUnlogged { try logKeys() }
        case .decisions(let take): try take(result.marks)
        case .ignored, .learning, .known: break
        }
        try keep(isDue: keeping?.isDue() ?? false)
    }

    /// Writes the rejects of a job. The findings of a reader may contain the record's number, which is known only now. A
    /// record with such findings is therefore read again.
    private mutating func write(_ some: [ChunkResult.Reject]) throws {
        guard rejects != nil else { return }
        for reject in some {
            let (number, line) = (report.read + reject.records + 1, lines + reject.lines + 1)
            let record = record(of: reject.origin, number, line)
            let findings = record.findings + reject.findings
            let isExplained = findings.contains { $0.severity == .error }
            try rejects?.reject(record, isExplained ? findings : findings + [GeneralPath.unexplained.at()])
        }
    }

    /// Reads a record again.
    private func record(of origin: ChunkResult.Reject.Origin, _ number: Int, _ line: Int) -> SourceRecord {
        func numbered(_ row: Result<DelimitedRecord, DelimitedFault>) -> Result<DelimitedRecord, DelimitedFault> {
            row.map { $0.at(number: number, line: line) }.mapError { $0.at(number: number, line: line) }
        }
        switch (reader, origin) {
        case (.file, .record(let record)): return record
        case (.rows(let reader), .fault(let fault)): return reader.record(numbered(.failure(fault)))
        case (.rows(let reader), .row(let bytes)):
            var rows = rows
            // A byte-order mark is skipped only at the start of a file. The line feed marks this row as one from its
            // middle.
            rows.append([0x0A] + bytes)
            rows.finish()
            return rows.next().map { reader.record(numbered($0)) }
                ?? SourceRecord(number: number, line: line, bytes: bytes, contact: nil)
        case (.lines(let reader), .line(let bytes)): return reader.read(bytes, number: number, line: line)
        case (_, .record(var record)):
            (record.number, record.line) = (number, line)
            return record
        // A reader of lines gets no rows and vice versa; complete findings need no reader.
        case (_, .complete(let bytes)), (_, .line(let bytes)), (_, .row(let bytes)):
            return SourceRecord(number: number, line: line, bytes: encoding.encoded(bytes), contact: nil)
        case (_, .fault(let fault)):
            return SourceRecord(number: number, line: line, bytes: fault.bytes, contact: nil)
        }
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>) throws {
        guard !bytes.isEmpty else { return }
        report.bytesWritten += bytes.count
        try output?.write(bytes)
    }
}

extension BulkRun.Surroundings {
    /// The surroundings of a run that only reads the consent decisions in a number of bytes.
    init(
        reading consent: ConsentReceiver,
        of bytes: Int,
        _ progress: @escaping (Migration.Progress) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) {
        self.init(
            output: nil,
            rejects: nil,
            progress: { progress(Migration.Progress(records: $0.records, bytes: $0.bytes, hearing: bytes)) },
            isCancelled: isCancelled,
            keeping: nil,
            surveyor: nil,
            consent: consent,
            deciding: [:]
        )
    }
}
