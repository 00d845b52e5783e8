/// Reads JSON text (RFC 8259) token by token, without building values that nobody asked for.
///
/// The reader is strict: UTF-8 and escapes are checked, numbers follow the grammar and keep their text, a name may stand
/// only once in an object, and nothing but white space may follow the value. A byte-order mark is refused. The reader
/// keeps its own stack, so deep nesting costs memory up to the limit and never the thread's stack.
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
/// After an error the reader stays where it is: every further call throws the same error.
public struct JSONReader: ~Copyable {
    /// What to do where a name stands twice in one object.
    public enum DuplicateNames: Hashable, Sendable {
        /// Throw ``JSONError/Code/duplicateName``.
        case refuse
        /// Go on. In a built value the last value wins, at the place of the first.
        case keepLast
    }

    /// What the grammar allows at `position`.
    private enum Expectation { case value, firstElement, firstName, separator, end }

    // The invariant of every access below: 0 <= position <= bytes.count, and a byte is read only at an index that was
    // compared with bytes.count before. Nothing is written through the buffer. The buffer outlives the reader, because
    // a reader is handed out by `read` only, `inout` and non-copyable, or made by a caller who promised so.
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

    /// The token that the reader stands on; nil before the first.
    public private(set) var token: JSONToken?

    /// Where the token stands in the text, in bytes from its start; a string's range includes its quotes, a name's
    /// range not its colon.
    public private(set) var tokenRange = 0..<0

    /// Creates a reader over memory that the caller keeps alive and unchanged for as long as the reader is used.
    ///
    /// Prefer ``read(_:maximumDepth:duplicateNames:_:)``, which sees to that.
    public init(
        unsafe bytes: UnsafeBufferPointer<UInt8>,
        maximumDepth: Int = 512,
        duplicateNames: DuplicateNames = .refuse
    ) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.duplicateNames = duplicateNames
    }

    /// Lends a reader over `bytes` to `body`.
    ///
    /// Contiguous bytes are read where they stand; others are copied once. Text that `body` leaves unread is not checked;
    /// call ``next()`` until it answers nil to know that the text is complete and nothing follows it.
    /// - Parameters:
    ///   - bytes: UTF-8 text.
    ///   - maximumDepth: how many arrays and objects may stand inside each other.
    ///   - duplicateNames: what to do where a name stands twice in one object.
    ///   - body: takes tokens and values from the reader.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; the reader itself throws ``JSONError``.
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

    /// How many arrays and objects are open.
    public var depth: Int { containers.count }

    /// Takes the next token; nil once the text is at its end and complete.
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

    /// The text of the string or name that the reader stands on, unescaped; for any other token its text as it stands.
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

    /// The number that the reader stands on, with its text; nil on any other token.
    public var number: JSONNumber? {
        guard token == .number else { return nil }
        return JSONNumber(checked: string)
    }

    /// The number that the reader stands on, if it is whole, plainly written, and fits 64 bits; else nil.
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

    /// Whether the string or name that the reader stands on is `text`, compared scalar by scalar.
    public func stringEquals(_ text: StaticString) -> Bool {
        guard token == .name || token == .string else { return false }
        return text.withUTF8Buffer { expected in
            if isEscaped { return string.utf8.elementsEqual(expected) }
            return bytes[(tokenRange.lowerBound + 1)..<(tokenRange.upperBound - 1)].elementsEqual(expected)
        }
    }

    /// A copy of the bytes in `range`, as they stand in the text; what lies outside the text is left out.
    public func bytes(in range: Range<Int>) -> [UInt8] {
        Array(bytes[range.clamped(to: 0..<bytes.count)])
    }

    // MARK: Whole values

    /// Passes over one value and returns where it stands: from its first byte to its last, checked like any other.
    ///
    /// The value is the one whose first token was just taken. After a name, after an end, and before the first token it
    /// is the value that follows.
    @discardableResult
    public mutating func skipValue() throws(JSONError) -> Range<Int> {
        let first = try takeFirstToken()
        let start = tokenRange.lowerBound
        guard first == .beginObject || first == .beginArray else { return tokenRange }
        let outside = depth - 1
        while depth > outside { _ = try next() }
        return start..<position
    }

    /// Builds one value, which it chooses like ``skipValue()``.
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

    /// Takes `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
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

    /// The index after one or more digits.
    private mutating func passDigits(from start: Int) throws(JSONError) -> Int {
        var index = start
        while index < bytes.count, bytes[index] &- 0x30 < 10 { index += 1 }
        guard index > start else { throw fail(index < bytes.count ? .invalidNumber : .unexpectedEnd, at: index) }
        return index
    }

    /// Letters, digits and signs right after a number were meant as a part of it.
    static func looksLikeNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// Takes a string from its opening quote to its closing quote and checks every byte of it.
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

    /// Remembers and returns the error, with line and column counted now that someone needs them.
    private mutating func fail(_ code: JSONError.Code, at offset: Int) -> JSONError {
        let before = bytes[..<offset]
        let lines = before.reduce(into: 1) { line, byte in if byte == 0x0A { line += 1 } }
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let error = JSONError(code: code, offset: offset, line: lines, column: offset - lineStart + 1)
        failure = error
        return error
    }
}

/// A reader points into memory that is lent to one call, so it stays where it was made.
@available(*, unavailable)
extension JSONReader: Sendable {}
