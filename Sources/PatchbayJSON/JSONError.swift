/// Why text is not JSON, and where.
///
/// Holds positions and kinds only, never the text itself: input may be a person's data.
public struct JSONError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The text ended inside a value.
        case unexpectedEnd
        /// A byte that can't stand there.
        case unexpectedByte
        /// Text after the value.
        case trailingText
        /// Not a number by RFC 8259 (leading zero, bare point, plus sign …).
        case invalidNumber
        /// An unknown or incomplete escape in a string.
        case invalidEscape
        /// A control character below U+0020 that is not escaped.
        case controlCharacter
        /// Bytes that are not UTF-8.
        case invalidUTF8
        /// Half of a UTF-16 pair; it is no character and can't be kept.
        case loneSurrogate
        /// The same name twice in one object.
        case duplicateName
        /// Deeper than the reader's limit.
        case tooDeep

        /// What is wrong, in words.
        public var reason: String {
            switch self {
            case .unexpectedEnd: "the text ends before the value is complete"
            case .unexpectedByte: "unexpected character"
            case .trailingText: "text after the end of the value"
            case .invalidNumber: "not a JSON number"
            case .invalidEscape: "an unknown or incomplete escape"
            case .controlCharacter: "a control character that must be escaped"
            case .invalidUTF8: "bytes that are not UTF-8"
            case .loneSurrogate: "half of a surrogate pair (\\uD800–\\uDFFF), which is no character"
            case .duplicateName: "the same name twice in one object"
            case .tooDeep: "nested deeper than the limit"
            }
        }
    }

    /// What is wrong.
    public let code: Code
    /// Bytes before the fault, from the start of the text.
    public let offset: Int
    /// The line of the fault, from 1.
    public let line: Int
    /// The column of the fault in bytes, from 1.
    public let column: Int

    /// Creates an error at a place.
    public init(code: Code, offset: Int, line: Int, column: Int) {
        self.code = code
        self.offset = offset
        self.line = line
        self.column = column
    }
}

extension JSONError: CustomStringConvertible {
    /// One sentence with what and where.
    public var description: String {
        code == .unexpectedEnd && offset == 0
            ? "the text is empty" : "line \(line), column \(column): \(code.reason)"
    }
}
