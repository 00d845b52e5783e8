/// UUIDs that are made from names: an adapter makes no random ones.
enum StableUUID {
    /// Whether a text has the 8-4-4-4-12 form of hexadecimal digits.
    static func isValid(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.joined().utf8.allSatisfy(isHexDigit)
    }

    /// The UUID that a name is already, else one of version 8 (RFC 9562) that is made from it, the same for ever.
    static func named(_ name: String, part: String = "") -> String {
        if part.isEmpty, isValid(name) { return name }
        let digits = Mark.digits(of: part.isEmpty ? name : "\(name)/\(part)")
        var characters = Array(digits)
        characters[12] = "8"
        characters[16] = ["8", "9", "a", "b"][Int(String(characters[16]), radix: 16).map { $0 & 3 } ?? 0]
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(characters[$0]) }.joined(separator: "-")
    }

    static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}

/// A text's fingerprint: tells texts apart, and is none of them.
enum Mark {
    /// FNV-1a over 128 bits, as 32 hexadecimal digits.
    static func digits(of text: String) -> String {
        let hash = text.utf8.reduce(0x6C62_272E_07BB_0142_62B8_2175_6295_C58D as UInt128) {
            ($0 ^ UInt128($1)) &* (1 << 88 | 0x13B)
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
