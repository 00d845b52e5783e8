/// How one kind of delimited text (CSV, TSV and their kin) is written.
///
/// The text is UTF-8. Reading is generous where that is safe: LF and CR LF may mix, a byte-order mark is dropped,
/// quoted and bare fields may mix.
public struct DelimitedDialect: Hashable, Sendable {
    /// Which fields the writer puts into quotes.
    public enum Quoting: Hashable, Sendable {
        /// Every field.
        case always
        /// Fields that would be read wrongly without.
        case whenNeeded
        /// None. The writer refuses a field that would need quotes; the reader takes a quote as an ordinary character.
        case never
    }

    /// What ends a record that is written.
    public enum LineEnding: String, Hashable, Sendable {
        /// A line feed.
        case lineFeed = "\n"
        /// A carriage return and a line feed.
        case carriageReturnLineFeed = "\r\n"
    }

    /// The ASCII character between two fields.
    public var delimiter: UInt8
    /// The ASCII character around a quoted field; inside it stands twice for itself.
    public var quote: UInt8
    /// Which fields the writer puts into quotes.
    public var quoting: Quoting
    /// What ends a record that is written; the reader takes both.
    public var lineEnding: LineEnding
    /// Whether the writer begins with a UTF-8 byte-order mark; the reader drops one if it is there.
    public var hasByteOrderMark: Bool
    /// Whether the first record names the columns.
    public var hasHeader: Bool
    /// Whether the reader skips rows without a value, as it skips empty lines: rows of delimiters, spaces and empty quotes.
    public var skipsBlankRows = false

    /// Creates a dialect; the defaults are those of RFC 4180 with a header.
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

    /// Whether a row, with its line end or without, is one that the reader skips.
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

    /// Commas, quotes where needed, CR LF, a header (RFC 4180).
    public static let commaSeparated = DelimitedDialect()

    /// Tabs, no quotes, LF, a header.
    public static let tabSeparated = DelimitedDialect(
        delimiter: UInt8(ascii: "\t"),
        quoting: .never,
        lineEnding: .lineFeed
    )
}
