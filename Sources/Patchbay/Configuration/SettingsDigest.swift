import PatchbayJSON

extension JSONObject {
    /// FNV-1a of 64 bits over the canonical text, as 16 hexadecimal digits: for noticing a change, not against forgery.
    var digest: String {
        let hash = JSONValue.object(self).canonical.text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
