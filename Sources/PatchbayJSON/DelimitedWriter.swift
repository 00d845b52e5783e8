/// Writes delimited text into its own buffer. ``DelimitedReader`` reads back exactly the same fields.
public struct DelimitedWriter: Sendable {
    /// The reason why a record cannot be written in the dialect.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kinds of refusal.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            /// The field contains a delimiter, a quote, or a line break, and the dialect has no quotes.
            case needsQuotes
            /// The record has no fields, so it would be an empty line.
            case noFields
        }

        /// The kind of refusal.
        public let code: Code
        /// The number of the record, from 1; the header has number 0.
        public let number: Int
        /// The position of the refused field, from 1; 0 for the whole record.
        public let field: Int

        /// The refusal, its position, and the remedy, without the field's text.
        public var description: String {
            switch code {
            case .needsQuotes:
                "record \(number), field \(field): needs quotes (a delimiter, a quote, a line break, a leading byte-order "
                    + "mark, or one empty field alone), and the dialect writes none. Remove it, or choose a dialect with quotes."
            case .noFields: "record \(number): has no fields. Write at least one."
            }
        }
    }

    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []
    private let dialect: DelimitedDialect
    private var number: Int
    private var isAtStart = true

    /// Creates a writer. Its buffer is empty or, if the dialect has one, contains the byte-order mark.
    ///
    /// In a dialect with a header, the first written record is the header.
    public init(dialect: DelimitedDialect) {
        self.dialect = dialect
        number = dialect.hasHeader ? 0 : 1
        if dialect.hasByteOrderMark { bytes = DelimitedWriter.byteOrderMark }
    }

    /// The text written so far.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the bytes written since the last call and empties the buffer. Record numbers continue.
    public mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// Writes one record. If it is refused, nothing is written.
    ///
    /// - Throws: ``Refusal`` if the dialect cannot represent a field.
    public mutating func record(_ fields: some Collection<String>) throws(Refusal) {
        guard !fields.isEmpty else { throw Refusal(code: .noFields, number: number, field: 0) }
        let start = bytes.count
        var position = 0
        for field in fields {
            position += 1
            if position > 1 { bytes.append(dialect.delimiter) }
            let isAlone = fields.count == 1
            let needsQuotes = needsQuotes(field, isAlone: isAlone, isFirstOfFile: isAtStart && position == 1)
            switch dialect.quoting {
            case .never where needsQuotes:
                bytes.removeSubrange(start...)
                throw Refusal(code: .needsQuotes, number: number, field: position)
            case .always: quote(field)
            case .whenNeeded where needsQuotes: quote(field)
            case .never, .whenNeeded: bytes.append(contentsOf: field.utf8)
            }
        }
        bytes.append(contentsOf: dialect.lineEnding.rawValue.utf8)
        number += 1
        isAtStart = false
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private func needsQuotes(_ field: String, isAlone: Bool, isFirstOfFile: Bool) -> Bool {
        if isAlone && field.isEmpty { return true }
        if isFirstOfFile, !dialect.hasByteOrderMark, field.utf8.starts(with: DelimitedWriter.byteOrderMark) {
            return true
        }
        return field.utf8.contains { byte in
            byte == dialect.delimiter || byte == dialect.quote || byte == 0x0A || byte == 0x0D
        }
    }

    private mutating func quote(_ field: String) {
        bytes.append(dialect.quote)
        for byte in field.utf8 {
            if byte == dialect.quote { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(dialect.quote)
    }
}
