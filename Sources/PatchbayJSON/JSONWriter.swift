/// Writes JSON text into a buffer that it owns, member by member: deterministic, and the only writer of the house.
///
/// Strings are written as UTF-8; escaped are `"`, `\`, and the control characters below U+0020 (short forms where RFC
/// 8259 has them, else `\u00xx`, lower case).
public struct JSONWriter: Sendable {
    /// How the text is laid out.
    public enum Style: Sendable {
        /// No white space at all.
        case compact
        /// Two spaces of indent, one member or element a line.
        case pretty
    }

    /// What was written so far.
    public private(set) var bytes: [UInt8] = []
    private let style: Style
    private var depth = 0
    private var needsComma = false
    private var afterName = false

    /// A writer with an empty buffer.
    public init(style: Style = .compact) { self.style = style }

    /// A compact writer with room for so many bytes; more are no mistake.
    public init(expecting count: Int) {
        style = .compact
        bytes.reserveCapacity(count)
    }

    /// What was written so far, as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Empties the buffer and keeps its memory.
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

    /// Writes a member's name; its value must follow.
    public mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(0x3A)
        if style == .pretty { bytes.append(0x20) }
        afterName = true
    }

    /// Writes a string.
    public mutating func string(_ value: String) {
        separate()
        quote(value)
        needsComma = true
    }

    /// Writes a whole number.
    public mutating func integer(_ value: some BinaryInteger) { raw(String(value)) }

    /// Writes a boolean.
    public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Writes the literal `null`.
    public mutating func null() { raw("null") }

    /// Writes a number as it stands in its text.
    public mutating func number(_ value: JSONNumber) { raw(value.text) }

    /// Writes a whole value, objects in their stored order.
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

    /// Ends a record of newline-delimited JSON; the next value starts afresh.
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

    private mutating func quote(_ text: String) {
        bytes.append(0x22)
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            while true {
                let stop = ASCIIScan.endOfUnescapedText(in: utf8, from: start)
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<stop]))
                guard stop < utf8.count else { return }
                escape(utf8[stop])
                start = stop + 1
            }
        }
        bytes.append(0x22)
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
