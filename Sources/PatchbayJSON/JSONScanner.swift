/// Text that a ``JSONScanner`` leaves to the reader: invalid JSON, or valid JSON in another form.
package struct NotPlain: Error {
    package init() {}
}

/// Reads JSON in the form in which ``JSONWriter`` writes it, directly from its bytes, for callers who know the order of
/// members.
///
/// The scanner never reports errors. It gives up (``NotPlain``) on everything unexpected, and the caller reads the text again
/// with ``JSONReader``, which determines the error. If the scanner accepts a text, the reader must accept it too, with the same
/// meaning. White space and escapes are accepted inside values of any shape (``value()``), but not around known members.
package struct JSONScanner: ~Copyable {
    /// The maximum nesting depth. Deeper text is left to the reader, which does not recurse.
    static let deepest = 64
    /// The maximum number of members. Larger objects are left to the reader, which finds duplicate names in linear time.
    static let mostMembers = 64

    // The invariant of every access below: 0 <= position <= bytes.count, and a byte is read only at an index that has been
    // compared with bytes.count. Nothing is written through the buffer. The buffer outlives the scanner, because a scanner is
    // passed by `scan` as `inout` and is not copyable.
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0
    private let maximumDepth: Int
    /// Whether a member or element of the innermost container has been read.
    private var needsComma = false

    private init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = min(maximumDepth, Self.deepest)
    }

    /// Passes a scanner over `bytes` to `body`. Returns false if the scanner gives up or leaves text unread.
    package static func scan(
        _ bytes: UnsafeBufferPointer<UInt8>,
        maximumDepth: Int = deepest,
        _ body: (inout JSONScanner) throws(NotPlain) -> Void
    ) -> Bool {
        var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        do {
            try body(&scanner)
        } catch {
            return false
        }
        return scanner.position == bytes.count
    }

    /// The next byte; zero at the end.
    package var next: UInt8 { byte(at: position) }

    private func byte(at index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    // MARK: Known members

    /// Reads the start of an object.
    package mutating func beginObject() throws(NotPlain) { try open(UInt8(ascii: "{")) }

    /// Reads the end of an object whose members have all been read.
    package mutating func endObject() throws(NotPlain) { try close(UInt8(ascii: "}")) }

    /// Reads the next member's name if it equals `name`. The caller must then read its value.
    package mutating func takesName(_ name: StaticString) -> Bool {
        var start = position
        if needsComma {
            guard byte(at: start) == UInt8(ascii: ",") else { return false }
            start += 1
        }
        let length = name.utf8CodeUnitCount
        // The quotes, the name, and the colon are all inside the text.
        guard bytes.count - start >= length + 3, let base = bytes.baseAddress, bytes[start] == UInt8(ascii: "\""),
            ByteScan.equal(base + start + 1, name.utf8Start, count: length),
            bytes[start + length + 1] == UInt8(ascii: "\""), bytes[start + length + 2] == UInt8(ascii: ":")
        else { return false }
        position = start + length + 3
        return true
    }

    /// Reads the next value if it is this string.
    package mutating func takesString(_ text: String) -> Bool {
        text.lendingUTF8 { utf8 in
            guard bytes.count - position >= utf8.count + 2, let base = bytes.baseAddress, let start = utf8.baseAddress,
                bytes[position] == UInt8(ascii: "\""), bytes[position + utf8.count + 1] == UInt8(ascii: "\""),
                ByteScan.equal(base + position + 1, start, count: utf8.count)
            else { return false }
            position += utf8.count + 2
            needsComma = true
            return true
        }
    }

    // MARK: Any number of members or elements

    /// Reads the name of the object's next member; returns nil at the object's end, which is also read.
    package mutating func nextName() throws(NotPlain) -> String? {
        if next == UInt8(ascii: "}") {
            try close(UInt8(ascii: "}"))
            return nil
        }
        try passComma()
        let name = try string()
        try pass(UInt8(ascii: ":"))
        return name
    }

    /// Reads the start of an array.
    package mutating func beginArray() throws(NotPlain) { try open(UInt8(ascii: "[")) }

    /// Whether another element of the array follows. If not, reads the array's end.
    package mutating func nextElement() throws(NotPlain) -> Bool {
        if next == UInt8(ascii: "]") {
            try close(UInt8(ascii: "]"))
            return false
        }
        try passComma()
        return true
    }

    private mutating func passComma() throws(NotPlain) {
        if needsComma { try pass(UInt8(ascii: ",")) }
    }

    private mutating func pass(_ byte: UInt8) throws(NotPlain) {
        guard next == byte else { throw NotPlain() }
        position += 1
    }

    private mutating func open(_ bracket: UInt8) throws(NotPlain) {
        guard next == bracket, depth < maximumDepth else { throw NotPlain() }
        position += 1
        depth += 1
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) throws(NotPlain) {
        guard next == bracket else { throw NotPlain() }
        position += 1
        depth -= 1
        needsComma = true
    }

    // MARK: Scalars

    /// Reads a string.
    package mutating func string() throws(NotPlain) -> String {
        let content = try takeString()
        let text = UnsafeBufferPointer(rebasing: bytes[content.range])
        return content.isEscaped ? JSONEscapes.decode(text) : String(decoding: text, as: UTF8.self)
    }

    /// Reads a string without escapes. Its content is valid until the scan ends.
    package mutating func plainString() throws(NotPlain) -> UnsafeBufferPointer<UInt8> {
        let content = try takeString()
        guard !content.isEscaped else { throw NotPlain() }
        return UnsafeBufferPointer(rebasing: bytes[content.range])
    }

    private mutating func takeString() throws(NotPlain) -> (range: Range<Int>, isEscaped: Bool) {
        guard next == UInt8(ascii: "\"") else { throw NotPlain() }
        let start = position + 1
        var end = ASCIIScan.endOfPlainText(in: bytes, from: start)
        var isEscaped = false
        if byte(at: end) != UInt8(ascii: "\"") {
            guard case .success(let content) = StringScan.content(in: bytes, from: end) else { throw NotPlain() }
            (end, isEscaped) = (content.end, content.isEscaped)
        }
        position = end + 1
        needsComma = true
        return (start..<end, isEscaped)
    }

    /// Reads `true` or `false`.
    package mutating func bool() throws(NotPlain) -> Bool {
        let value = next == UInt8(ascii: "t")
        try literal(value ? "true" : "false")
        return value
    }

    private mutating func literal(_ text: StaticString) throws(NotPlain) {
        let length = text.utf8CodeUnitCount
        guard bytes.count - position >= length, let base = bytes.baseAddress,
            ByteScan.equal(base + position, text.utf8Start, count: length)
        else { throw NotPlain() }
        position += length
        needsComma = true
    }

    /// Reads an integer of at most 18 digits. If something else is next, returns nil and reads nothing.
    package mutating func integer() -> Int64? {
        var index = position
        let isNegative = byte(at: index) == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let first = index
        var value: Int64 = 0
        while case let digit = byte(at: index) &- 0x30, digit < 10, index - first < 19 {
            value = value &* 10 &+ Int64(digit)
            index += 1
        }
        // Nineteen digits may overflow, and zero must not be followed by other digits.
        guard index > first, index - first < 19, bytes[first] != 0x30 || index - first == 1,
            !JSONReader.looksLikeNumber(byte(at: index))
        else { return nil }
        position = index
        needsComma = true
        return isNegative ? -value : value
    }

    /// Reads a number with its text.
    package mutating func number() throws(NotPlain) -> JSONNumber {
        let start = position
        var index = start
        if byte(at: index) == UInt8(ascii: "-") { index += 1 }
        let whole = index
        index = try passDigits(from: index)
        guard index - whole == 1 || bytes[whole] != 0x30 else { throw NotPlain() }
        if byte(at: index) == UInt8(ascii: ".") { index = try passDigits(from: index + 1) }
        if byte(at: index) | 0x20 == UInt8(ascii: "e") {
            index += 1
            if byte(at: index) == UInt8(ascii: "+") || byte(at: index) == UInt8(ascii: "-") { index += 1 }
            index = try passDigits(from: index)
        }
        guard !JSONReader.looksLikeNumber(byte(at: index)) else { throw NotPlain() }
        position = index
        needsComma = true
        return JSONNumber(checked: String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private func passDigits(from start: Int) throws(NotPlain) -> Int {
        var index = start
        while byte(at: index) &- 0x30 < 10 { index += 1 }
        guard index > start else { throw NotPlain() }
        return index
    }

    // MARK: Values of any shape

    /// Reads a value with surrounding white space.
    mutating func text() throws(NotPlain) -> JSONValue {
        skipWhiteSpace()
        let value = try value()
        skipWhiteSpace()
        return value
    }

    /// Reads a value.
    package mutating func value() throws(NotPlain) -> JSONValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool(try bool())
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default: return .number(try number())
        }
    }

    /// Reads an object.
    package mutating func object() throws(NotPlain) -> JSONObject {
        try beginObject()
        skipWhiteSpace()
        var members: [JSONObject.Member] = []
        // One bit for each kind of name seen so far; only names of the same kind are compared.
        var kinds: UInt64 = 0
        while next != UInt8(ascii: "}") {
            if members.isEmpty { members.reserveCapacity(4) } else { try passCommaAndSpace() }
            let content = try takeString()
            // An escaped name may equal another name in different notation.
            guard !content.isEscaped, members.count < Self.mostMembers else { throw NotPlain() }
            let name = String(decoding: UnsafeBufferPointer(rebasing: bytes[content.range]), as: UTF8.self)
            let kind = kind(of: content.range)
            guard kinds & kind == 0 || !members.contains(where: { ScalarString.equal($0.name, name) }) else {
                throw NotPlain()
            }
            kinds |= kind
            skipWhiteSpace()
            try pass(UInt8(ascii: ":"))
            skipWhiteSpace()
            members.append(JSONObject.Member(name: name, value: try value()))
            skipWhiteSpace()
        }
        try endObject()
        return JSONObject(unique: members)
    }

    private mutating func array() throws(NotPlain) -> [JSONValue] {
        try beginArray()
        skipWhiteSpace()
        var elements: [JSONValue] = []
        while next != UInt8(ascii: "]") {
            if !elements.isEmpty { try passCommaAndSpace() }
            elements.append(try value())
            skipWhiteSpace()
        }
        try close(UInt8(ascii: "]"))
        return elements
    }

    /// Returns one of 64 bits, derived from a name's length, first, and last byte. Equal names have the same bit.
    private func kind(of range: Range<Int>) -> UInt64 {
        guard let first = range.first else { return 1 }
        let mix = UInt64(range.count) &* 7 &+ UInt64(bytes[first]) &* 5 &+ UInt64(bytes[range.upperBound - 1])
        return 1 << (mix & 63)
    }

    /// A trailing comma is not allowed: a name or a value must follow.
    private mutating func passCommaAndSpace() throws(NotPlain) {
        try pass(UInt8(ascii: ","))
        skipWhiteSpace()
        guard next != UInt8(ascii: "}"), next != UInt8(ascii: "]") else { throw NotPlain() }
    }

    private mutating func skipWhiteSpace() {
        while true {
            switch next {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }
}

/// A scanner points into memory that is valid only during one call, so it cannot be sent elsewhere.
@available(*, unavailable)
extension JSONScanner: Sendable {}
