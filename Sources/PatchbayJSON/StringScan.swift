/// Validation of a JSON string's content: plain text, escapes, UTF-8.
enum StringScan {
    /// The end of a string's content, and whether it contains an escape.
    struct Content {
        /// The index of the closing quote.
        let end: Int
        /// Whether it contains a backslash.
        let isEscaped: Bool
    }

    /// Validates the string whose first byte after the opening quote is at `start`.
    static func content(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Result<Content, JSONEscapes.Fault> {
        var index = start
        var isEscaped = false
        while true {
            index = ASCIIScan.endOfPlainText(in: bytes, from: index)
            guard index < bytes.count else { return .failure(.init(code: .unexpectedEnd, offset: index)) }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                return .success(Content(end: index, isEscaped: isEscaped))
            case UInt8(ascii: "\\"):
                isEscaped = true
                switch JSONEscapes.length(in: bytes, at: index) {
                case .success(let length): index += length
                case .failure(let fault): return .failure(fault)
                }
            case 0..<0x20:
                return .failure(.init(code: .controlCharacter, offset: index))
            default:
                // Non-ASCII text usually comes in runs, so the loop stays here until the run ends.
                while index < bytes.count, bytes[index] >= 0x80 {
                    let length = UTF8Scan.sequenceLength(in: bytes, at: index)
                    guard length > 0 else { return .failure(.init(code: .invalidUTF8, offset: index)) }
                    index += length
                }
            }
        }
    }
}
