import PatchbayModel

/// The text of a request's id: a UUID, the same on every repeat of an operation.
enum RequestID {
    /// The operation's id if it is a UUID, else a UUID of version 8 (RFC 9562) made from it.
    ///
    /// An operation of several requests names the `part`, so that no two different requests share an id. The same id and
    /// part give the same UUID on every machine and for ever. Lower case.
    static func text(for id: OperationID, part: String? = nil) -> String {
        if let part { return made(from: "\(id.rawValue)/\(part)") }
        return isUUID(id.rawValue) ? id.rawValue.lowercased() : made(from: id.rawValue)
    }

    /// Eight hexadecimal digits that tell texts apart and are too few to find the text again: the end of the hash, where
    /// each byte of the text is felt.
    static func mark(of text: String) -> String { String(made(from: text).suffix(8)) }

    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36
            && text.utf8.enumerated().allSatisfy { place, byte in
                [8, 13, 18, 23].contains(place) ? byte == UInt8(ascii: "-") : isHexDigit(byte)
            }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// FNV-1a over 128 bits, with version and variant put in: ids are no secret, so a plain hash is enough.
    private static func made(from name: String) -> String {
        let prime: UInt128 = 1 << 88 | 0x13B
        let basis: UInt128 = 0x6C62_272E_07BB_0142 << 64 | 0x62B8_2175_6295_C58D
        let hash = name.utf8.reduce(basis) { ($0 ^ UInt128($1)) &* prime }
        let versioned = hash & ~(0xF << 76) | 0x8 << 76
        let uuid = versioned & ~(0x3 << 62) | 0x2 << 62
        let digits = Array(String(uuid, radix: 16))
        let padded = Array(repeating: "0" as Character, count: 32 - digits.count) + digits
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(padded[$0]) }.joined(separator: "-")
    }
}
