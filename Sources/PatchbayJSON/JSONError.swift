/// The reason why text is not valid JSON, and its position.
///
/// It contains only positions and kinds, never the text itself, because the text may contain personal data.
public struct JSONError: Error, Hashable, Sendable {
    /// The kinds of error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The text ended inside a value.
        case unexpectedEnd
        /// A byte that is not allowed at its position.
        case unexpectedByte
        /// Text after the value.
        case trailingText
        /// An invalid number by RFC 8259 (leading zero, missing digits at the decimal point, plus sign, …).
        case invalidNumber
        /// An unknown or incomplete escape in a string.
        case invalidEscape
        /// An unescaped control character below U+0020.
        case controlCharacter
        /// Bytes that are not UTF-8.
        case invalidUTF8
        /// Half of a UTF-16 surrogate pair, which is not a character.
        case loneSurrogate
        /// The same name occurs twice in one object.
        case duplicateName
        /// The nesting exceeds the reader's limit.
        case tooDeep

        /// A description of the error.
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

    /// The kind of error.
    public let code: Code
    /// The offset of the error in bytes.
    public let offset: Int
    /// The line of the error, from 1.
    public let line: Int
    /// The column of the error in bytes, from 1.
    public let column: Int

    /// Creates an error at a position.
    public init(code: Code, offset: Int, line: Int, column: Int) {
        self.code = code
        self.offset = offset
        self.line = line
        self.column = column
    }
}

extension JSONError: CustomStringConvertible {
    /// One sentence with the error and its position.
    public var description: String {
        code == .unexpectedEnd && offset == 0
            ? "the text is empty" : "line \(line), column \(column): \(code.reason)"
    }
}
