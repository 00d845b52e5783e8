import PatchbayAdapterKit
import PatchbayJSON
import PatchbayRecords

/// The source of a run through a server API. It knows the place of each record without a verdict, so that the next run can
/// resume there.
///
/// A resumed run begins at the last record with a verdict and reads it once more, because the next record may not have been
/// read yet. If records cannot be read on their own, it begins at the start.
struct ServerSource {
    private var source: FileSource
    private var reader: any ContactReader
    private var lines = LinePlaces()
    private var isAtEnd = false
    /// Whether a later run could resume within the source.
    private var isCut: Bool
    /// The places of the records without a verdict, by number. `last` is the place of the last record that has one.
    private var places: [Int: LinePlaces.Place] = [:]
    private var last: LinePlaces.Place?
    /// The number of records that an earlier run settled.
    private let settled: Int
    /// Whether the source has had no record.
    private var isEmpty: Bool

    /// Creates a source from a file at its start. It is read from there, or from the place of an earlier run.
    init(_ migration: Migration, _ source: FileSource, at path: String, after place: Checkpoints.Place?) throws {
        self.source = source
        isCut = migration.sourceLayout != nil
        settled = place?.report.read ?? 0
        isEmpty = settled == 0
        guard let place, place.isExact else {
            reader = try migration.makeReader()
            return
        }
        var start = try FileSource(path: path)
        let head = try start.next() ?? []
        if let behind = Self.reader(migration, behind: head, number: place.report.read, line: place.lines + 1) {
            (self.source, reader) = (try FileSource(path: path, at: place.offset), behind)
            let begin = LinePlaces.Place(line: place.lines + 1, offset: place.offset)
            (lines, last) = (LinePlaces(at: begin), begin)
        } else {
            reader = try migration.makeReader()
        }
    }

    /// Returns a reader that begins with a given record on a given line; nil if records cannot be read on their own.
    private static func reader(_ migration: Migration, behind head: [UInt8], number: Int, line: Int) -> (
        any ContactReader
    )? {
        guard let layout = migration.sourceLayout else { return nil }
        let plan = BulkPlan(
            source: layout,
            layout: nil,
            catalogue: migration.catalogue,
            mapping: migration.mapping,
            makeReader: migration.makeReader,
            makeWriter: migration.makeWriter
        )
        guard let header = plan.header(in: head) else { return nil }
        switch (layout, try? plan.reader(behind: header)) {
        case (.columns(let columns), .rows(let reader)?) where columns.encoding == .utf8:
            var headless = columns.dialect
            headless.hasHeader = false
            return RowsBehind(rows: DelimitedReader(dialect: headless), reader: reader, number: number, line: line)
        case (.neutralLines, .lines(let reader)?), (.members, .lines(let reader)?):
            return LinesBehind(reader: reader, number: number, line: line)
        default: return nil
        }
    }

    func isUnchanged(since input: InputIdentity) throws -> Bool { try input.holds(for: source) }

    /// Reads the next chunk; returns false at the end.
    mutating func next(seeing note: ([UInt8]) -> Void, _ take: (SourceRecord) throws -> Void) throws -> Bool {
        guard !isAtEnd else { return false }
        let chunk = try source.next()
        isAtEnd = chunk == nil
        if let chunk {
            note(chunk)
            if isCut { lines.note(chunk) }
        }
        var (lines, places, isCut, isEmpty) = (lines, places, isCut, isEmpty)
        let settled = settled
        func pass(_ record: SourceRecord) throws {
            isEmpty = false
            if isCut {
                let place = lines.place(of: record.line)
                // If two records share a line, no run can resume between them.
                isCut = place != nil
                if record.number > settled { places[record.number] = place }
            }
            try take(record)
        }
        self.lines = LinePlaces()
        self.places = [:]
        defer { (self.lines, self.places, self.isCut, self.isEmpty) = (lines, places, isCut, isEmpty) }
        if let chunk { try reader.read(chunk, pass) } else { try reader.finish(pass) }
        // Rows that are not lines of text after a header cannot be read on their own.
        if !isEmpty, let rows = reader as? any RowReader, !rows.knowsColumns { isCut = false }
        if isAtEnd, isEmpty { throw Migration.Failure([Migration.empty.at(source.name)]) }
        return true
    }

    /// Notes that a record and all earlier ones have a verdict.
    mutating func settled(_ number: Int) {
        guard isCut else { return }
        last = places.removeValue(forKey: number)
    }

    /// Stores the place at which the next run resumes, if it can resume within the source.
    func note(in place: inout Checkpoints.Place) {
        guard isCut, let last else { return }
        (place.offset, place.lines, place.isExact) = (last.offset, last.line - 1, true)
    }
}

/// The offsets of the lines of a source, for lines at which records may still begin.
struct LinePlaces {
    /// A line number, from 1, and the number of bytes before the line.
    struct Place: Hashable {
        var line: Int
        var offset: Int
    }

    /// The number of the first line in `starts`.
    private var line: Int
    private var starts: [Int]
    /// The number of lines in `starts` that are no longer needed.
    private var done = 0
    private var end: Int
    /// Whether there were too many lines. No place is known afterwards.
    private var isLost = false
    /// The maximum number of lines in memory. A record with more lines is not worth the memory.
    private static let most = 1 << 20

    init(at place: Place = Place(line: 1, offset: 0)) {
        (line, starts, end) = (place.line, [place.offset], place.offset)
    }

    /// Finds the lines in the next bytes.
    mutating func note(_ chunk: [UInt8]) {
        starts.removeFirst(done)
        (line, done) = (line + done, 0)
        let (before, limit) = (end, Self.most)
        end += chunk.count
        chunk.withUnsafeBufferPointer { bytes in
            for place in bytes.indices where bytes[place] == 0x0A {
                if starts.count < limit { starts.append(before + place + 1) } else { isLost = true }
            }
        }
    }

    /// Returns the place of a line, after which only later lines may be queried; nil if the place is not known or was
    /// queried before.
    mutating func place(of wanted: Int) -> Place? {
        let index = wanted - line
        guard !isLost, index >= done, index < starts.count else { return nil }
        done = index + 1
        return Place(line: wanted, offset: starts[index])
    }
}

/// Reads the lines after a place in a source, each on its own, and skips empty lines.
private struct LinesBehind: LineReader {
    var lines: RecordLines
    private let reader: any RecordReader

    init(reader: any RecordReader, number: Int, line: Int) {
        lines = RecordLines(maximumLength: NeutralContacts.longestLine, after: number - 1, line - 1)
        self.reader = reader
    }

    func record(_ bytes: [UInt8], number: Int, line: Int) -> SourceRecord {
        reader.record(bytes, number: number, line: line)
    }

    func overlong(length: Int, number: Int, line: Int) -> SourceRecord {
        reader.overlong(length: length, number: number, line: line)
    }
}

/// Reads the rows of delimited text after a place in a source, each on its own.
private struct RowsBehind: ContactReader {
    var rows: DelimitedReader
    let reader: any RowReader
    let number: Int
    let line: Int

    mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws {
        rows.append(bytes)
        try drain(record)
    }

    mutating func finish(_ record: (SourceRecord) throws -> Void) throws {
        rows.finish()
        try drain(record)
    }

    private mutating func drain(_ record: (SourceRecord) throws -> Void) throws {
        while let row = rows.next() {
            try record(
                reader.record(
                    row.map { $0.at(number: number + $0.number - 1, line: line + $0.line - 1) }
                        .mapError { $0.at(number: number + $0.number - 1, line: line + $0.line - 1) }
                )
            )
        }
    }
}
