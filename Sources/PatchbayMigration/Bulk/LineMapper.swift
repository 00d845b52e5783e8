import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// Whole records of a source, to be mapped: what stood at the seam of two chunks, then the rest of a chunk.
struct ChunkJob: Sendable {
    /// A record that began in the last chunk and ended in this one, with padding; empty if there is none.
    var seam: [UInt8] = []
    /// The chunk, with padding.
    var chunk: [UInt8] = []
    /// Where its whole records stand.
    var range = 0..<0
    /// Whether the first record of the source is the first here.
    var isFirst = false
}

/// What became of a job.
struct ChunkResult: Sendable {
    /// A record that is not written.
    struct Reject: Sendable {
        /// How many records and line feeds stand before it in the job.
        var records: Int
        var lines: Int
        var bytes: [UInt8]
    }

    var output: [UInt8]
    /// Bytes of `output` that are written.
    var used = 0
    var records = 0
    var lines = 0
    var written = 0
    var writtenWithFindings = 0
    /// Records that went the slow way.
    var slow = 0
    /// Line feeds before the first record.
    var linesBeforeFirst: Int?
    /// How often each note of the plan was made.
    var notes: [Int] = []
    /// How often each finding of the slow way came.
    var findings: [String: MigrationReport.Tally] = [:]
    var rejects: [Reject] = []
}

/// Maps jobs of lines, one after the other, on one thread.
struct LineMapper: ~Copyable {
    private let compiled: CompiledPlan
    private let arena = Arena()
    // All three point into `arena`.
    private var scanner: NeutralScanner
    private var view: RecordView
    private var writer: LineWriter
    private let reader: any RecordReader
    private var slow: SlowWay

    /// The longest record that goes the fast way, so that the room that one may need is bounded.
    private static let longest = 64 << 10

    /// What ends a run of plain records.
    private enum Stop { case end, unusual, room }

    init(_ layout: LineLayout, reader: any RecordReader, writer: any ContactWriter, catalogue: AttributeCatalogue) {
        compiled = CompiledPlan(layout, catalogue: catalogue)
        (scanner, view) = (NeutralScanner(in: arena), RecordView(in: arena))
        self.writer = LineWriter(in: arena)
        self.reader = reader
        slow = SlowWay(writer: writer, catalogue: catalogue)
    }

    /// Maps a job; `output` is written over.
    mutating func map(_ job: ChunkJob, _ output: consuming [UInt8]) -> ChunkResult {
        var result = ChunkResult(output: consume output)
        result.notes = Array(repeating: 0, count: compiled.notes.count)
        let isFirst = job.isFirst
        if !job.seam.isEmpty { map(job.seam, 0..<(job.seam.count - Padding.count), isFirst, &result) }
        map(job.chunk, job.range, isFirst && job.seam.isEmpty, &result)
        return result
    }

    private mutating func map(_ bytes: [UInt8], _ range: Range<Int>, _ isFirst: Bool, _ result: inout ChunkResult) {
        var position = range.lowerBound
        if isFirst, bytes[range].starts(with: [0xEF, 0xBB, 0xBF]) {
            // Only here is a mark no fault.
            position = moveSlowly(bytes, position, range.upperBound, isFirst: true, &result)
        }
        while position < range.upperBound {
            switch run(bytes, &position, range.upperBound, &result) {
            case .end: return
            case .room: Self.grow(&result.output, used: result.used, by: 0)
            case .unusual: position = moveSlowly(bytes, position, range.upperBound, &result)
            }
        }
    }

    private static func grow(_ output: inout [UInt8], used: Int, by count: Int) {
        // Some more than a chunk becomes, so that one step is enough for most.
        let least = used + count + (output.isEmpty ? 448 << 10 : 1 << 20)
        var larger = [UInt8](repeating: 0, count: max(output.count, least))
        larger.replaceSubrange(0..<used, with: output[0..<used])
        output = larger
    }

    // MARK: The fast way

    /// Maps plain records until something else comes; `position` is where that stands.
    private mutating func run(
        _ bytes: [UInt8],
        _ position: inout Int,
        _ end: Int,
        _ result: inout ChunkResult
    ) -> Stop {
        var counts = Counts()
        let (start, used, capacity) = (position, result.used, result.output.count)
        var (stop, place, written) = (Stop.end, start, used)
        bytes.withUnsafeBufferPointer { source in
            result.notes.withUnsafeMutableBufferPointer { notes in
                result.output.withUnsafeMutableBufferPointer { output in
                    guard let source = source.baseAddress, let output = output.baseAddress,
                        let notes = notes.baseAddress
                    else { return stop = .room }
                    var cursor = source + start
                    var pen = Pen(place: output + used)
                    stop = run(&cursor, source + end, &pen, output + capacity, notes, &counts)
                    (place, written) = (cursor - source, pen.place - output)
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
        return stop
    }

    private struct Counts {
        var records = 0
        var lines = 0
        var withFindings = 0
        var linesBeforeFirst: Int?
    }

    /// `end` is behind a line feed or before the padding; `limit` is behind the output's room.
    private mutating func run(
        _ place: inout Bytes,
        _ end: Bytes,
        _ pen: inout Pen,
        _ limit: UnsafeMutablePointer<UInt8>,
        _ notes: UnsafeMutablePointer<Int>,
        _ counts: inout Counts
    ) -> Stop {
        let plan = UnsafePointer(compiled.plan)
        let room = plan.pointee.room + plan.pointee.attributes.room
        // Local, so that nothing of them goes through memory that others might see.
        var (scanner, view, writer) = (scanner, view, writer)
        var cursor = place
        while cursor < end {
            if cursor.pointee != 0x7B {
                // An empty line is no record.
                if cursor.pointee == 0x0D, cursor[1] == 0x0A { cursor += 1 }
                guard cursor.pointee == 0x0A else { return .unusual }
                cursor += 1
                place = cursor
                counts.lines &+= 1
                continue
            }
            guard scanner.scan(&cursor, &view, plan.pointee.lexicon, plan.pointee.attributes.names) else {
                if let stranger = scanner.takeStranger() { compiled.learn(stranger.text) }
                return .unusual
            }
            guard cursor - place <= Self.longest else { return .unusual }
            Grammar.space(&cursor)
            let hasEnd = cursor < end
            guard !hasEnd || cursor.pointee == 0x0A else { return .unusual }
            guard limit - pen.place > room + LinePlan.factor * (cursor - place) else { return .room }
            let start = pen.place
            guard writer.write(view, plan, &pen) else {
                pen.place = start
                return .unusual
            }
            for index in 0..<writer.noteCount { notes[Int(writer.notes[index])] &+= 1 }
            if writer.noteCount > 0 { counts.withFindings &+= 1 }
            if counts.records == 0 { counts.linesBeforeFirst = counts.lines }
            counts.records &+= 1
            if hasEnd {
                counts.lines &+= 1
                cursor += 1
            }
            place = cursor
        }
        return .end
    }

    // MARK: The slow way

    /// Moves the record at `position` and gives the position behind it.
    private mutating func moveSlowly(
        _ bytes: [UInt8],
        _ position: Int,
        _ end: Int,
        isFirst: Bool = false,
        _ result: inout ChunkResult
    ) -> Int {
        let newline = bytes.withUnsafeBufferPointer { source -> Int? in
            guard let start = source.baseAddress else { return nil }
            return (start + position).lineFeed(before: start + end).map { $0 - start }
        }
        var line = bytes[position..<(newline ?? end)]
        if newline != nil, line.last == 0x0D { line = line.dropLast() }
        // Rejects get their true numbers when they are told.
        let record = reader.read(Array(line), number: 1, line: isFirst ? 1 : 2)
        var written: [UInt8] = []
        let findings = slow.move(record, to: &written)
        if result.linesBeforeFirst == nil { result.linesBeforeFirst = result.lines }
        if findings.contains(where: { $0.severity == .error }) {
            result.rejects.append(.init(records: result.records, lines: result.lines, bytes: Array(line)))
        } else {
            if result.output.count - result.used < written.count {
                Self.grow(&result.output, used: result.used, by: written.count)
            }
            result.output.replaceSubrange(result.used..<(result.used + written.count), with: written)
            result.used += written.count
            result.written += 1
            if !findings.isEmpty { result.writtenWithFindings += 1 }
        }
        for finding in findings {
            result.findings[finding.code, default: .init(severity: finding.severity, count: 0)].count += 1
        }
        result.records += 1
        result.slow += 1
        if newline != nil { result.lines += 1 }
        return newline.map { $0 + 1 } ?? end
    }

    /// What may be said on the fast way, by the index of ``ChunkResult/notes``.
    var notes: [FindingRow] { compiled.notes }
}
