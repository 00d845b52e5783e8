/// A dialect of delimited text (CSV, TSV, and similar formats).
///
/// The text is UTF-8. The reader accepts mixed LF and CR LF, removes a byte-order mark, and accepts a mix of quoted and bare
/// fields.
public struct DelimitedDialect: Hashable, Sendable {
    /// The fields that the writer quotes.
    public enum Quoting: Hashable, Sendable {
        /// Every field.
        case always
        /// Fields that would be read incorrectly without quotes.
        case whenNeeded
        /// None. The writer rejects a field that would need quotes. The reader treats a quote as an ordinary character.
        case never
    }

    /// The line end of a written record.
    public enum LineEnding: String, Hashable, Sendable {
        /// A line feed.
        case lineFeed = "\n"
        /// A carriage return and a line feed.
        case carriageReturnLineFeed = "\r\n"
    }

    /// The ASCII character between two fields.
    public var delimiter: UInt8
    /// The ASCII character around a quoted field. Inside the field, it is doubled.
    public var quote: UInt8
    /// The fields that the writer quotes.
    public var quoting: Quoting
    /// The line end of a written record. The reader accepts both.
    public var lineEnding: LineEnding
    /// Whether the writer starts with a UTF-8 byte-order mark. The reader removes one if it is present.
    public var hasByteOrderMark: Bool
    /// Whether the first record contains the column names.
    public var hasHeader: Bool
    /// Whether the reader skips blank rows (rows of delimiters, spaces, and empty quotes), as it skips empty lines.
    public var skipsBlankRows = false

    /// Creates a dialect. The defaults are those of RFC 4180 with a header.
    public init(
        delimiter: UInt8 = UInt8(ascii: ","),
        quote: UInt8 = UInt8(ascii: "\""),
        quoting: Quoting = .whenNeeded,
        lineEnding: LineEnding = .carriageReturnLineFeed,
        hasByteOrderMark: Bool = false,
        hasHeader: Bool = true
    ) {
        self.delimiter = delimiter
        self.quote = quote
        self.quoting = quoting
        self.lineEnding = lineEnding
        self.hasByteOrderMark = hasByteOrderMark
        self.hasHeader = hasHeader
    }

    /// Whether the reader skips a row, given with or without its line end.
    public func isBlank(_ row: ArraySlice<UInt8>) -> Bool {
        guard skipsBlankRows, let first = row.first, first <= 0x22 || first == delimiter else { return false }
        var rest = row.last == UInt8(ascii: "\n") ? row.dropLast() : row
        if rest.last == UInt8(ascii: "\r") { rest = rest.dropLast() }
        while let byte = rest.popFirst() {
            if byte == delimiter || byte == 0x20 { continue }
            guard quoting != .never, byte == quote, rest.popFirst() == quote, rest.first ?? delimiter == delimiter
            else {
                return false
            }
        }
        return true
    }

    /// Commas, quotes if needed, CR LF, a header (RFC 4180).
    public static let commaSeparated = DelimitedDialect()

    /// Tabs, no quotes, LF, a header.
    public static let tabSeparated = DelimitedDialect(
        delimiter: UInt8(ascii: "\t"),
        quoting: .never,
        lineEnding: .lineFeed
    )
}
