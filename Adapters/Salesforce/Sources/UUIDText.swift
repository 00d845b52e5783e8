/// UUIDs as text: recognised, and made from names.
enum UUIDText: Sendable {
    /// Whether a text has the 8-4-4-4-12 form of hexadecimal digits.
    static func isValid(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { place, byte in
            switch place {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: isHexDigit(byte)
            }
        }
    }

    /// The UUID that a name already is, else one made from it: version 8 of RFC 9562 over SHA-256 of `space:name`.
    ///
    /// The same name gives the same UUID on every machine and for ever. Lower case.
    static func named(_ name: String, in space: String) -> String {
        if isValid(name) { return name.lowercased() }
        var bytes = Array(SHA256.digest(of: "\(space):\(name)".utf8).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
            .map(\.hexText).joined(separator: "-")
    }

    /// Whether a byte is a hexadecimal digit of ASCII.
    static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
