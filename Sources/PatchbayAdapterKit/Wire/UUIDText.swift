/// Functions for UUIDs as text: validation, and creation from names. Adapters create no random UUIDs.
public enum UUIDText: Sendable {
    /// Whether a text has the 8-4-4-4-12 form of hexadecimal digits.
    public static func isValid(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        var text = text
        return text.withUTF8 { bytes in
            for place in 0..<36 {
                let isMark = place == 8 || place == 13 || place == 18 || place == 23
                guard isMark ? bytes[place] == UInt8(ascii: "-") : isHexDigit(bytes[place]) else { return false }
            }
            return true
        }
    }

    /// Returns the UUID in lower case.
    public static func lowercased(_ text: String) -> String {
        var small = text
        let isSmall = small.withUTF8 { bytes in !bytes.contains { (0x41...0x5A).contains($0) } }
        return isSmall ? text : text.lowercased()
    }

    /// Whether a byte is a hexadecimal digit of ASCII.
    public static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// Returns the UUID of version 8 (RFC 9562) with these bits, except for the bits of version and variant, in lower case.
    public static func version8(_ bits: UInt128) -> String {
        let versioned = bits & ~(0xF << 76) | 0x8 << 76
        var text = hexBytes(versioned & ~(0x3 << 62) | 0x2 << 62)
        for place in [8, 13, 18, 23] { text.insert(UInt8(ascii: "-"), at: place) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns 32 hexadecimal digits in lower case.
    static func hexDigits(_ value: UInt128) -> String { String(decoding: hexBytes(value), as: UTF8.self) }

    private static func hexBytes(_ value: UInt128) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        for half in [UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value)] {
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: half >> shift & 15)
                bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
        return bytes
    }
}

/// A fingerprint of a text (FNV-1a, 128 bits), which is equal on every machine and in every release. It is not suitable for
/// secrets.
public struct TextMark: Sendable {
    /// The hash.
    public let bits: UInt128

    /// Creates the fingerprint of a text's UTF-8.
    public init(_ text: String) {
        bits = text.utf8.reduce(0x6C62_272E_07BB_0142_62B8_2175_6295_C58D) { ($0 ^ UInt128($1)) &* (1 << 88 | 0x13B) }
    }

    /// The fingerprint as 32 hexadecimal digits in lower case.
    public var digits: String { UUIDText.hexDigits(bits) }

    /// Returns a 64-bit fingerprint, for distribution and change detection.
    public static func short(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
