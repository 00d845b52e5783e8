/// A JSON number that keeps its original text.
public struct JSONNumber: Hashable, Sendable {
    /// The number's text, valid according to RFC 8259.
    public let text: String

    /// Creates a number from an integer.
    @inlinable public init(_ value: some BinaryInteger) {
        // Conversion from a concrete type is many times faster than from a generic one.
        if let value = Int64(exactly: value) { self.init(value) } else { self.init(checked: String(value)) }
    }

    /// Creates a number from a 64-bit integer.
    public init(_ value: Int64) {
        // The exact capacity, so that a short text is stored without an allocation.
        text = String(unsafeUninitializedCapacity: value.digitCount) { value.putDigits(in: $0) }
    }

    /// The length of the smallest 64-bit integer, including its sign.
    static let longestInteger = 20

    /// Creates a number from its JSON text; nil if the text is not a JSON number.
    public init?(text: String) {
        guard JSONNumber.isValid(text.utf8) else { return nil }
        self.text = text
    }

    /// Creates a number from text that the reader has validated.
    @usableFromInline init(checked text: String) { self.text = text }

    /// The value if the text is a plain integer that fits into 64 bits; otherwise nil.
    public var integer: Int64? { Int64(text) }

    /// The nearest double; nil if it is out of range.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    private enum State { case start, minus, zero, whole, point, fraction, exponent, exponentSign, exponentDigits }

    /// Whether `bytes` are one JSON number: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    static func isValid(_ bytes: some Sequence<UInt8>) -> Bool {
        var state = State.start
        for byte in bytes {
            switch (state, byte) {
            case (.start, 0x2D): state = .minus
            case (.start, 0x30), (.minus, 0x30): state = .zero
            case (.start, 0x31...0x39), (.minus, 0x31...0x39), (.whole, 0x30...0x39): state = .whole
            case (.zero, 0x2E), (.whole, 0x2E): state = .point
            case (.point, 0x30...0x39), (.fraction, 0x30...0x39): state = .fraction
            case (.zero, 0x45), (.zero, 0x65), (.whole, 0x45), (.whole, 0x65), (.fraction, 0x45), (.fraction, 0x65):
                state = .exponent
            case (.exponent, 0x2B), (.exponent, 0x2D): state = .exponentSign
            case (.exponent, 0x30...0x39), (.exponentSign, 0x30...0x39), (.exponentDigits, 0x30...0x39):
                state = .exponentDigits
            default: return false
            }
        }
        switch state {
        case .zero, .whole, .fraction, .exponentDigits: return true
        default: return false
        }
    }
}

extension Int64 {
    /// The number of bytes of sign and digits.
    fileprivate var digitCount: Int {
        var (count, limit): (Int, UInt64) = (self < 0 ? 2 : 1, 10)
        while magnitude >= limit {
            count += 1
            limit *= 10
        }
        return count
    }

    /// Writes sign and digits into a buffer for at most ``JSONNumber/longestInteger`` bytes, and returns their number.
    func putDigits(in room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let count = digitCount
        if self < 0 { room[0] = UInt8(ascii: "-") }
        var place = count
        var rest = magnitude
        repeat {
            place -= 1
            room[place] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
            rest /= 10
        } while rest > 0
        return count
    }
}
