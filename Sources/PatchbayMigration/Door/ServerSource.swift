import PatchbayAdapterKit
import PatchbayJSON

/// The source of a run through a server API, with the place of each record that has no verdict yet, so that the next run can go on
/// there.
///
/// It goes on at the last record that has its verdict, which is read once more: behind it nothing may have been read yet. Where
/// records can't be read alone it reads from the start.
struct ServerSource {
    private var source: FileSource
    private var reader: any ContactReader
    private var lines = LinePlaces()
    private var isAtEnd = false
    /// Whether a later run could go on within the source.
    private var isCut: Bool
    /// Where the records stand that have no verdict yet, by number, and the last that has one.
    private var places: [Int: LinePlaces.Place] = [:]
    private var last: LinePlaces.Place?
    /// Records that an earlier run settled.
    private let settled: Int
    /// Whether there was any record.
    private var isEmpty: Bool

    /// A source that is at its start, to be read from there or from where an earlier run stood.
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

    /// A reader that begins with a record of that number on that line; nil if records can't be read alone.
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

    /// Reads on; false at the end.
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
                // Two records of one line: nobody can go on between them.
                isCut = place != nil
                if record.number > settled { places[record.number] = place }
            }
            try take(record)
        }
        self.lines = LinePlaces()
        self.places = [:]
        defer { (self.lines, self.places, self.isCut, self.isEmpty) = (lines, places, isCut, isEmpty) }
        if let chunk { try reader.read(chunk, pass) } else { try reader.finish(pass) }
        // Rows that are no lines of text behind a header can't be read alone.
        if !isEmpty, let rows = reader as? any RowReader, !rows.knowsColumns { isCut = false }
        if isAtEnd, isEmpty { throw Migration.Failure([Migration.empty.at(source.name)]) }
        return true
    }

    /// A record has its verdict, as every one before it.
    mutating func settled(_ number: Int) {
        guard isCut else { return }
        last = places.removeValue(forKey: number)
    }

    /// Writes down where the next run goes on, if it can.
    func note(in place: inout Checkpoints.Place) {
        guard isCut, let last else { return }
        (place.offset, place.lines, place.isExact) = (last.offset, last.line - 1, true)
    }
}

/// Where the lines of a source begin, as far as records are still to come that begin there.
struct LinePlaces {
    /// A line, from 1, and the bytes before it.
    struct Place: Hashable {
        var line: Int
        var offset: Int
    }

    /// The first line of `starts`.
    private var line: Int
    private var starts: [Int]
    /// How many of them are done with.
    private var done = 0
    private var end: Int
    /// Whether there were too many lines: nobody knows any place from then on.
    private var isLost = false
    /// More lines than this belong to no record that is worth its memory.
    private static let most = 1 << 20

    init(at place: Place = Place(line: 1, offset: 0)) {
        (line, starts, end) = (place.line, [place.offset], place.offset)
    }

    /// Looks at the next bytes.
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

    /// Where a line begins, of which only later ones will be asked; nil if nobody knows, or if it was asked before.
    mutating func place(of wanted: Int) -> Place? {
        let index = wanted - line
        guard !isLost, index >= done, index < starts.count else { return nil }
        done = index + 1
        return Place(line: wanted, offset: starts[index])
    }
}

/// Reads lines within a source, each alone; empty ones are passed over.
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

/// Reads rows of delimited text within a source, each alone.
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
