/// Reads JSON text (RFC 8259) token by token, and builds values only on request.
///
/// The reader is strict. It validates UTF-8 and escapes, and numbers must follow the grammar and keep their text. A name may
/// occur only once in an object, only white space may follow the value, and a byte-order mark is rejected. The reader has its
/// own stack, so deep nesting uses memory up to the limit but never the thread's stack.
///
/// ```swift
/// try JSONReader.read(body) { reader in
///     while let token = try reader.next() {
///         guard token == .name else { continue }
///         if reader.string == "status" { status = try reader.value().string } else { try reader.skipValue() }
///     }
/// }
/// ```
///
/// After an error the reader does not move: every further call throws the same error.
public struct JSONReader: ~Copyable {
    /// The treatment of a name that occurs twice in one object.
    public enum DuplicateNames: Hashable, Sendable {
        /// Throw ``JSONError/Code/duplicateName``.
        case refuse
        /// Continue. In a built value, the last value is stored at the position of the first one.
        case keepLast
    }

    /// The next syntax that the grammar allows at `position`.
    private enum Expectation { case value, firstElement, firstName, separator, end }

    // The invariant of every access below: 0 <= position <= bytes.count, and a byte is read only at an index that has been
    // compared with bytes.count. Nothing is written through the buffer. The buffer outlives the reader, because a reader is
    // either passed by `read` as `inout` and is not copyable, or created by a caller who guarantees the lifetime.
    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    private let duplicateNames: DuplicateNames

    private var position = 0
    private var expectation = Expectation.value
    private var failure: JSONError?
    /// Whether each open container is an object, outermost first.
    private var containers: [Bool] = []
    private var names = MemberNames()
    private var isEscaped = false

    /// The current token; nil before the first one.
    public private(set) var token: JSONToken?

    /// The byte range of the current token in the text. The range of a string includes its quotes, the range of a name excludes
    /// its colon.
    public private(set) var tokenRange = 0..<0

    /// Creates a reader over memory that the caller keeps valid and unchanged while the reader is used.
    ///
    /// Prefer ``read(_:maximumDepth:duplicateNames:_:)``, which guarantees this.
    public init(
        unsafe bytes: UnsafeBufferPointer<UInt8>,
        maximumDepth: Int = 512,
        duplicateNames: DuplicateNames = .refuse
    ) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.duplicateNames = duplicateNames
    }

    /// Passes a reader over `bytes` to `body`.
    ///
    /// Contiguous bytes are read in place; other bytes are copied once. Text that `body` does not read is not validated. To
    /// verify that the text is complete, call ``next()`` until it returns nil.
    /// - Parameters:
    ///   - bytes: UTF-8 text.
    ///   - maximumDepth: The maximum nesting depth of arrays and objects.
    ///   - duplicateNames: The treatment of a name that occurs twice in one object.
    ///   - body: Reads tokens and values from the reader.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; the reader itself throws ``JSONError``.
    public static func read<Output, Failure: Error>(
        _ bytes: some Collection<UInt8>,
        maximumDepth: Int = 512,
        duplicateNames: DuplicateNames = .refuse,
        _ body: (inout JSONReader) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        func run(_ buffer: UnsafeBufferPointer<UInt8>) throws(Failure) -> Output {
            var reader = JSONReader(unsafe: buffer, maximumDepth: maximumDepth, duplicateNames: duplicateNames)
            return try body(&reader)
        }
        let inPlace = bytes.withContiguousStorageIfAvailable { buffer in
            Result { () throws(Failure) in try run(buffer) }
        }
        if let inPlace { return try inPlace.get() }
        return try Array(bytes).withUnsafeBufferPointer(run)
    }

    /// The number of open arrays and objects.
    public var depth: Int { containers.count }

    /// Reads the next token; nil at the end of a complete text.
    public mutating func next() throws(JSONError) -> JSONToken? {
        if let failure { throw failure }
        skipWhiteSpace()
        guard position < bytes.count else {
            guard expectation == .end else { throw fail(.unexpectedEnd, at: position) }
            token = nil
            tokenRange = position..<position
            return nil
        }
        let byte = bytes[position]
        let start = position
        let next =
            switch expectation {
            case .value: try takeValue(byte)
            case .firstElement: byte == UInt8(ascii: "]") ? close() : try takeValue(byte)
            case .firstName: byte == UInt8(ascii: "}") ? close() : try takeName(byte)
            case .separator: try takeSeparator(byte)
            case .end: throw fail(.trailingText, at: start)
            }
        token = next
        return next
    }

    // MARK: The token's text

    /// The unescaped text of the current string or name; for any other token, its text as it is.
    public var string: String {
        switch token {
        case .name, .string:
            let content = UnsafeBufferPointer(
                rebasing: bytes[(tokenRange.lowerBound + 1)..<(tokenRange.upperBound - 1)]
            )
            return isEscaped ? JSONEscapes.decode(content) : String(decoding: content, as: UTF8.self)
        default:
            return String(decoding: bytes[tokenRange], as: UTF8.self)
        }
    }

    /// The current number with its text; nil for any other token.
    public var number: JSONNumber? {
        guard token == .number else { return nil }
        return JSONNumber(checked: string)
    }

    /// The current number if it is a plain integer that fits into 64 bits; otherwise nil.
    public var integer: Int64? {
        guard token == .number else { return nil }
        var digits = bytes[tokenRange]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits.removeFirst() }
        var value: Int64 = 0
        for byte in digits {
            guard (0x30...0x39).contains(byte) else { return nil }
            let (scaled, overflowed) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - 0x30)
            let (sum, carried) =
                isNegative ? scaled.subtractingReportingOverflow(digit) : scaled.addingReportingOverflow(digit)
            guard !overflowed, !carried else { return nil }
            value = sum
        }
        return value
    }

    /// Whether the current string or name equals `text`, compared by Unicode scalars.
    public func stringEquals(_ text: StaticString) -> Bool {
        guard token == .name || token == .string else { return false }
        return text.withUTF8Buffer { expected in
            if isEscaped { return string.utf8.elementsEqual(expected) }
            return bytes[(tokenRange.lowerBound + 1)..<(tokenRange.upperBound - 1)].elementsEqual(expected)
        }
    }

    /// Returns a copy of the bytes in `range`; bytes outside the text are omitted.
    public func bytes(in range: Range<Int>) -> [UInt8] {
        Array(bytes[range.clamped(to: 0..<bytes.count)])
    }

    // MARK: Whole values

    /// Skips one value and returns its byte range. The value is validated like any other.
    ///
    /// It is the value whose first token was just read. After a name, after an end, and before the first token, it is the next
    /// value.
    @discardableResult
    public mutating func skipValue() throws(JSONError) -> Range<Int> {
        let first = try takeFirstToken()
        let start = tokenRange.lowerBound
        guard first == .beginObject || first == .beginArray else { return tokenRange }
        let outside = depth - 1
        while depth > outside { _ = try next() }
        return start..<position
    }

    /// Builds one value, selected as in ``skipValue()``.
    public mutating func value() throws(JSONError) -> JSONValue {
        var token = try takeFirstToken()
        let outside = token == .beginObject || token == .beginArray ? depth - 1 : depth
        var builder = TreeBuilder(keepsLast: duplicateNames == .keepLast)
        while true {
            switch token {
            case .beginObject, .beginArray: builder.open()
            case .endObject: builder.closeObject()
            case .endArray: builder.closeArray()
            case .name: builder.names.append(string)
            case .string: builder.values.append(.string(string))
            case .number: builder.values.append(.number(JSONNumber(checked: string)))
            case .bool(let value): builder.values.append(.bool(value))
            case .null: builder.values.append(.null)
            }
            guard depth > outside, let following = try next() else { return builder.values.removeLast() }
            token = following
        }
    }

    private mutating func takeFirstToken() throws(JSONError) -> JSONToken {
        if let failure { throw failure }
        switch token {
        case .beginObject?, .beginArray?, .string?, .number?, .bool?, .null?:
            if let token { return token }
        case nil, .name?, .endObject?, .endArray?: break
        }
        switch try next() {
        case .endObject?, .endArray?, .name?: throw fail(.unexpectedByte, at: tokenRange.lowerBound)
        case nil: throw fail(.unexpectedEnd, at: position)
        case let first?: return first
        }
    }

    // MARK: The grammar

    private mutating func takeSeparator(_ byte: UInt8) throws(JSONError) -> JSONToken {
        let inObject = containers.last == true
        if byte == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return close() }
        guard byte == UInt8(ascii: ",") else { throw fail(.unexpectedByte, at: position) }
        position += 1
        skipWhiteSpace()
        guard position < bytes.count else { throw fail(.unexpectedEnd, at: position) }
        return inObject ? try takeName(bytes[position]) : try takeValue(bytes[position])
    }

    private mutating func takeName(_ byte: UInt8) throws(JSONError) -> JSONToken {
        guard byte == UInt8(ascii: "\"") else { throw fail(.unexpectedByte, at: position) }
        try takeString()
        if duplicateNames == .refuse, !names.insert(tokenRange, isEscaped: isEscaped, in: bytes) {
            throw fail(.duplicateName, at: tokenRange.lowerBound)
        }
        skipWhiteSpace()
        guard position < bytes.count else { throw fail(.unexpectedEnd, at: position) }
        guard bytes[position] == UInt8(ascii: ":") else { throw fail(.unexpectedByte, at: position) }
        position += 1
        expectation = .value
        return .name
    }

    private mutating func takeValue(_ byte: UInt8) throws(JSONError) -> JSONToken {
        switch byte {
        case UInt8(ascii: "\""):
            try takeString()
            valueEnded()
            return .string
        case UInt8(ascii: "{"): return try open(object: true)
        case UInt8(ascii: "["): return try open(object: false)
        case UInt8(ascii: "-"), 0x30...0x39:
            try takeNumber()
            return .number
        case UInt8(ascii: "t"): return try take("true", .bool(true))
        case UInt8(ascii: "f"): return try take("false", .bool(false))
        case UInt8(ascii: "n"): return try take("null", .null)
        case UInt8(ascii: "+"), UInt8(ascii: "."): throw fail(.invalidNumber, at: position)
        default: throw fail(.unexpectedByte, at: position)
        }
    }

    private mutating func open(object: Bool) throws(JSONError) -> JSONToken {
        guard containers.count < maximumDepth else { throw fail(.tooDeep, at: position) }
        containers.append(object)
        if object { names.open() }
        tokenRange = position..<(position + 1)
        position += 1
        expectation = object ? .firstName : .firstElement
        return object ? .beginObject : .beginArray
    }

    private mutating func close() -> JSONToken {
        let isObject = containers.removeLast()
        if isObject { names.close() }
        tokenRange = position..<(position + 1)
        position += 1
        valueEnded()
        return isObject ? .endObject : .endArray
    }

    private mutating func valueEnded() {
        expectation = containers.isEmpty ? .end : .separator
    }

    private mutating func take(_ literal: StaticString, _ token: JSONToken) throws(JSONError) -> JSONToken {
        let start = position
        let count = literal.utf8CodeUnitCount
        for offset in 1..<count {
            guard start + offset < bytes.count else { throw fail(.unexpectedEnd, at: bytes.count) }
            guard bytes[start + offset] == literal.utf8Start[offset] else {
                throw fail(.unexpectedByte, at: start + offset)
            }
        }
        position = start + count
        tokenRange = start..<position
        valueEnded()
        return token
    }

    /// Reads `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    private mutating func takeNumber() throws(JSONError) {
        let start = position
        var index = start
        if bytes[index] == UInt8(ascii: "-") { index += 1 }
        let whole = index
        index = try passDigits(from: index)
        if index - whole > 1, bytes[whole] == 0x30 { throw fail(.invalidNumber, at: whole + 1) }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") { index = try passDigits(from: index + 1) }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
                index += 1
            }
            index = try passDigits(from: index)
        }
        if index < bytes.count, JSONReader.looksLikeNumber(bytes[index]) { throw fail(.invalidNumber, at: index) }
        position = index
        tokenRange = start..<index
        valueEnded()
    }

    /// Returns the index after one or more digits.
    private mutating func passDigits(from start: Int) throws(JSONError) -> Int {
        var index = start
        while index < bytes.count, bytes[index] &- 0x30 < 10 { index += 1 }
        guard index > start else { throw fail(index < bytes.count ? .invalidNumber : .unexpectedEnd, at: index) }
        return index
    }

    /// Whether a byte directly after a number was probably meant as part of it: letters, digits, and signs.
    static func looksLikeNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// Reads a string from its opening to its closing quote and validates every byte.
    private mutating func takeString() throws(JSONError) {
        let start = position
        switch StringScan.content(in: bytes, from: start + 1) {
        case .success(let content):
            isEscaped = content.isEscaped
            position = content.end + 1
            tokenRange = start..<position
        case .failure(let fault):
            throw fail(fault.code, at: fault.offset)
        }
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    // MARK: Errors

    /// Stores and returns the error. Line and column are computed only here.
    private mutating func fail(_ code: JSONError.Code, at offset: Int) -> JSONError {
        let before = bytes[..<offset]
        let lines = before.reduce(into: 1) { line, byte in if byte == 0x0A { line += 1 } }
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let error = JSONError(code: code, offset: offset, line: lines, column: offset - lineStart + 1)
        failure = error
        return error
    }
}

/// A reader points into memory that is valid only during one call, so it cannot be sent elsewhere.
@available(*, unavailable)
extension JSONReader: Sendable {}
