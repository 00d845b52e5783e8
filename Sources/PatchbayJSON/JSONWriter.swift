/// Writes JSON text into its own buffer, member by member and deterministically. All JSON that Patchbay writes is written by
/// it.
///
/// Strings are written as UTF-8. Only `"`, `\`, and the control characters below U+0020 are escaped, with the short forms of
/// RFC 8259 if there is one, otherwise as `\u00xx` in lower case.
public struct JSONWriter: Sendable {
    /// The layout of the text.
    public enum Style: Sendable {
        /// No white space.
        case compact
        /// An indent of two spaces, one member or element per line.
        case pretty
    }

    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []
    private let style: Style
    private var depth = 0
    private var needsComma = false
    private var afterName = false

    /// Creates a writer with an empty buffer.
    public init(style: Style = .compact) { self.style = style }

    /// Creates a compact writer with an expected number of bytes. More bytes are allowed.
    public init(expecting count: Int) {
        style = .compact
        bytes.reserveCapacity(count)
    }

    /// The text written so far.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Empties the buffer and keeps its capacity.
    public mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        depth = 0
        needsComma = false
        afterName = false
    }

    /// Starts an object.
    public mutating func beginObject() { open(0x7B) }

    /// Ends the innermost object.
    public mutating func endObject() { close(0x7D) }

    /// Starts an array.
    public mutating func beginArray() { open(0x5B) }

    /// Ends the innermost array.
    public mutating func endArray() { close(0x5D) }

    /// Writes a member's name. Its value must follow.
    public mutating func name(_ name: String) {
        quote(name, isName: true)
        afterName = true
    }

    /// Writes a member's encoded name. Its value must follow.
    public mutating func name(_ name: JSONName) {
        guard style == .compact else { return self.name(name.text) }
        let comma = needsComma && !afterName
        needsComma = false
        name.quoted.withUnsafeBufferPointer { quoted in
            bytes.append(addingCapacity: quoted.count + 1) { room in
                room.withUnsafeMutableBufferPointer { room, initialized in
                    guard let start = room.baseAddress, let source = quoted.baseAddress else { return }
                    let next = Self.put(UInt8(ascii: ","), at: start, if: comma)
                    next.update(from: source, count: quoted.count)
                    initialized = next + quoted.count - start
                }
            }
        }
        afterName = true
    }

    /// Writes a string.
    public mutating func string(_ value: String) {
        quote(value, isName: false)
        needsComma = true
    }

    /// Writes an integer.
    public mutating func integer(_ value: some BinaryInteger) {
        if let value = Int64(exactly: value) { integer(value) } else { raw(String(value)) }
    }

    /// Writes a 64-bit integer.
    package mutating func integer(_ value: Int64) {
        ascii(atMost: JSONNumber.longestInteger) { value.putDigits(in: $0) }
    }

    /// Writes a value whose bytes `body` stores in a buffer. `body` returns the number of bytes.
    ///
    /// The bytes must be one JSON value; a string includes its quotes.
    package mutating func ascii(atMost count: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        separate()
        bytes.append(addingCapacity: count) { room in
            room.withUnsafeMutableBufferPointer { room, initialized in initialized = body(room) }
        }
        needsComma = true
    }

    /// Writes a boolean.
    public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Writes the literal `null`.
    public mutating func null() { raw("null") }

    /// Writes a number with its text.
    public mutating func number(_ value: JSONNumber) { raw(value.text) }

    /// Writes a value, with the members of objects in their stored order.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let value): number(value)
        case .string(let value): string(value)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object {
                name(member.name)
                self.value(member.value)
            }
            endObject()
        }
    }

    /// Writes text that is already one JSON value.
    public mutating func raw(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    /// Writes bytes that are already one JSON value.
    public mutating func raw(_ json: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Ends a record of newline-delimited JSON. The next value starts a new record.
    public mutating func endLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        depth += 1
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        depth -= 1
        if needsComma { breakLine() }
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if afterName {
            afterName = false
            needsComma = false
            return
        }
        if needsComma {
            bytes.append(0x2C)
            needsComma = false
        }
        if depth > 0 { breakLine() }
    }

    private mutating func breakLine() {
        guard style == .pretty else { return }
        bytes.append(0x0A)
        bytes.append(contentsOf: repeatElement(0x20, count: depth * 2))
    }

    /// Writes a member's name that contains only printable ASCII without quotes and backslashes.
    package mutating func name(known name: StaticString) {
        guard style == .compact else { return self.name(name.description) }
        _ = appendRow(name: name, text: UnsafeBufferPointer(start: nil, count: 0), isQuoted: false)
        afterName = true
    }

    /// Writes a member with such a name and a string.
    package mutating func member(known name: StaticString, string: String) {
        string.lendingUTF8 { utf8 in
            guard style == .compact, appendRow(name: name, text: utf8, isQuoted: true) else {
                self.name(known: name)
                return quoteByParts(utf8, isName: false)
            }
        }
        needsComma = true
    }

    /// Appends a comma if necessary, the name with its colon, and the quoted text. If the text needs escapes, appends nothing
    /// and returns false.
    private mutating func appendRow(name: StaticString, text: UnsafeBufferPointer<UInt8>, isQuoted: Bool) -> Bool {
        let comma = needsComma
        var isDone = true
        let count = name.utf8CodeUnitCount
        // The comma, the colon, and the four quotes around the name and the text.
        bytes.append(addingCapacity: count + text.count + 6) { room in
            room.withUnsafeMutableBufferPointer { room, initialized in
                guard let start = room.baseAddress else { return }
                var next = start
                next = Self.put(UInt8(ascii: ","), at: next, if: comma)
                next = Self.put(UInt8(ascii: "\""), at: next)
                next.update(from: name.utf8Start, count: count)
                next = Self.put(UInt8(ascii: "\""), at: next + count)
                next = Self.put(UInt8(ascii: ":"), at: next)
                if isQuoted {
                    guard let end = Self.put(text, at: next) else { return isDone = false }
                    next = end
                }
                initialized = next - start
            }
        }
        if isDone { needsComma = false }
        return isDone
    }

    /// Writes a quoted text, followed by a colon if it is a name. The text is usually copied unchanged.
    private mutating func quote(_ text: String, isName: Bool) {
        text.lendingUTF8 { utf8 in
            guard style == .compact else { return quoteByParts(utf8, isName: isName) }
            let comma = needsComma && !afterName
            var isDone = true
            // The two quotes, the comma, and the colon around the text.
            bytes.append(addingCapacity: utf8.count + 4) { room in
                room.withUnsafeMutableBufferPointer { room, initialized in
                    guard let start = room.baseAddress else { return }
                    let next = Self.put(UInt8(ascii: ","), at: start, if: comma)
                    guard let end = Self.put(utf8, at: next) else { return isDone = false }
                    initialized = Self.put(UInt8(ascii: ":"), at: end, if: isName) - start
                }
            }
            guard isDone else { return quoteByParts(utf8, isName: isName) }
            needsComma = false
            afterName = false
        }
    }

    // The following functions write into a reserved buffer and return the position after the written bytes.

    private static func put(
        _ byte: UInt8,
        at place: UnsafeMutablePointer<UInt8>,
        if isDue: Bool = true
    ) -> UnsafeMutablePointer<UInt8> {
        place.pointee = byte
        return place + (isDue ? 1 : 0)
    }

    /// Returns nil if the text needs escapes.
    private static func put(
        _ text: UnsafeBufferPointer<UInt8>,
        at place: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8>? {
        place.pointee = UInt8(ascii: "\"")
        guard ASCIIScan.copyUnescaped(text, to: place + 1) else { return nil }
        return put(UInt8(ascii: "\""), at: place + 1 + text.count)
    }

    private mutating func quoteByParts(_ utf8: UnsafeBufferPointer<UInt8>, isName: Bool) {
        separate()
        bytes.append(0x22)
        var start = 0
        while true {
            let stop = ASCIIScan.endOfUnescapedText(in: utf8, from: start)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<stop]))
            guard stop < utf8.count else { break }
            escape(utf8[stop])
            start = stop + 1
        }
        bytes.append(0x22)
        guard isName else { return }
        bytes.append(0x3A)
        if style == .pretty { bytes.append(0x20) }
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(0x5C)
        switch byte {
        case 0x22, 0x5C: bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }
}
