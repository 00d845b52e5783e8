import PatchbayJSON

/// The records of a file that has one a line, numbered; empty lines are passed over. A file of JSON may as well be an array of
/// objects, or have objects of several lines each.
public struct RecordLines: Sendable {
    private var lines: LineSplitter
    private var records: Int
    private let linesBefore: Int
    private let strange: FindingRow?
    /// What the file begins with, until there is enough to see what it is.
    private var head: [UInt8]?
    /// Cuts a file whose objects are not in a line each, and what it has cut.
    private var items: JSONItems?
    private var cut: ArraySlice<JSONItems.Item> = []

    /// Lines of a file, or of a part of one.
    ///
    /// - Parameters:
    ///   - maximumLength: the longest line that is read, in bytes without its end.
    ///   - strange: what is said, in other words, of a file that begins as no lines of JSON do; nil if it may be anything.
    ///   - records: how many records stand before the first of these.
    ///   - lines: how many lines do.
    public init(maximumLength: Int, refusing strange: FindingRow? = nil, after records: Int = 0, _ lines: Int = 0) {
        (self.lines, self.records, linesBefore) = (LineSplitter(maximumLength: maximumLength), records, lines)
        self.strange = strange
        head = strange == nil ? nil : []
    }

    /// Whether the first bytes of a file tell that it has lines to read; none are those of an empty file.
    package static func areTold(by bytes: [UInt8]) -> Bool {
        if case .readable = StrangeFile.lines(bytes, isWhole: bytes.isEmpty) { true } else { false }
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
        return SettingsError([strange?.at(detail: detail, remedy: remedy)].compactMap(\.self))
    }

    private mutating func begin(_ bytes: [UInt8], isWhole: Bool) throws(SettingsError) {
        switch StrangeFile.lines(bytes, isWhole: isWhole) {
        case .open: head = bytes
        case .readable:
            head = nil
            lines.append(bytes)
        case .items:
            (head, items) = (nil, JSONItems())
            try appendItems(bytes)
        case .strange(let file):
            throw SettingsError(strange.map { [file.finding($0.at("line 1, byte 1"))] } ?? [])
        }
    }

    /// The next record: its number, its line, and its bytes, none of one that is too long.
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

/// A reader of records that stand in a line each.
public protocol LineReader: RecordReader {
    /// The lines as they come in.
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
