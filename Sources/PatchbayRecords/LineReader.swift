public import PatchbayAdapterKit
import PatchbayJSON

/// The records of a file with one record per line, numbered; empty lines are skipped. A JSON file may also be an array of
/// objects, or have objects of several lines each.
public struct RecordLines: Sendable {
    private var lines: LineSplitter
    private var records: Int
    private let linesBefore: Int
    private let unrecognized: FindingRow?
    /// The first bytes of the file, until there are enough to determine its structure.
    private var head: [UInt8]?
    /// Splits a file whose objects are not on one line each, with the items split so far.
    private var items: JSONItems?
    private var cut: ArraySlice<JSONItems.Item> = []

    /// Creates the lines of a file, or of a part of one.
    ///
    /// - Parameters:
    ///   - maximumLength: The maximum length of a line in bytes, without its end.
    ///   - unrecognized: The finding to adapt and report if the file does not begin like lines of JSON; nil to accept any
    ///     file.
    ///   - records: The number of records before the first of these.
    ///   - lines: The number of lines before the first of these.
    public init(maximumLength: Int, refusing unrecognized: FindingRow? = nil, after records: Int = 0, _ lines: Int = 0)
    {
        (self.lines, self.records, linesBefore) = (LineSplitter(maximumLength: maximumLength), records, lines)
        self.unrecognized = unrecognized
        head = unrecognized == nil ? nil : []
    }

    /// Whether the first bytes of a file show that it has lines to read. Empty `bytes` mean an empty file.
    package static func areRecognized(in bytes: [UInt8]) -> Bool {
        if case .readable = UnrecognizedFile.lines(bytes, isWhole: bytes.isEmpty) { true } else { false }
    }

    fileprivate mutating func append(_ bytes: [UInt8]) throws(SettingsError) {
        if items != nil { return try appendItems(bytes) }
        guard let head else { return lines.append(bytes) }
        try begin(head + bytes, isWhole: false)
    }

    fileprivate mutating func finish() throws(SettingsError) {
        if let head { try begin(head, isWhole: true) }
        if let line = items?.openLine { throw broken("line \(line), the file ends within an array or an object") }
        lines.finish()
    }

    private mutating func appendItems(_ bytes: [UInt8]) throws(SettingsError) {
        guard var items = items.take() else { return }
        var found: [JSONItems.Item] = []
        let stray = items.read(bytes) { found.append($0) }
        cut += found
        self.items = items
        if let stray { throw broken("line \(stray), text outside the array or the objects") }
    }

    private func broken(_ detail: String) -> SettingsError {
        let remedy = "Export the file again, or correct it: an array of objects, or one object after the other."
        return SettingsError([unrecognized?.at(detail: detail, remedy: remedy)].compactMap(\.self))
    }

    private mutating func begin(_ bytes: [UInt8], isWhole: Bool) throws(SettingsError) {
        switch UnrecognizedFile.lines(bytes, isWhole: isWhole) {
        case .open: head = bytes
        case .readable:
            head = nil
            lines.append(bytes)
        case .items:
            (head, items) = (nil, JSONItems())
            try appendItems(bytes)
        case .unrecognized(let file):
            throw SettingsError(unrecognized.map { [file.finding($0.at("line 1, byte 1"))] } ?? [])
        }
    }

    /// Returns the next record: its number, its line, and its bytes, which are missing if it is too long.
    fileprivate mutating func next() -> (number: Int, line: Int, bytes: [UInt8]?, length: Int)? {
        if let item = cut.popFirst() {
            return (item.number, item.line, item.isTooLong ? nil : item.bytes, RecordLength.usual + 1)
        }
        while let line = lines.next() {
            if case .success(let line) = line, line.bytes.isEmpty { continue }
            records += 1
            switch line {
            case .success(let line): return (records, linesBefore + line.number, Array(line.bytes), line.bytes.count)
            case .failure(let fault): return (records, linesBefore + fault.number, nil, fault.length)
            }
        }
        return nil
    }
}

/// A reader of files with one record per line.
public protocol LineReader: RecordReader {
    /// The lines, as they are read.
    var lines: RecordLines { get set }
}

extension LineReader {
    public mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws {
        try lines.append(bytes)
        try drain(record)
    }

    public mutating func finish(_ record: (SourceRecord) throws -> Void) throws {
        try lines.finish()
        try drain(record)
    }

    private mutating func drain(_ record: (SourceRecord) throws -> Void) throws {
        while let (number, line, bytes, length) = lines.next() {
            try record(
                bytes.map { self.record($0, number: number, line: line) }
                    ?? overlong(length: length, number: number, line: line)
            )
        }
    }
}
