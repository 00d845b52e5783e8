import PatchbayAdapterKit

extension UUIDText {
    /// The UUID that a name already is, else one made from it: version 8 of RFC 9562 over SHA-256 of `space:name`.
    ///
    /// The same name gives the same UUID on every machine and for ever. Lower case.
    static func named(_ name: String, in space: String) -> String {
        if isValid(name) { return lowercased(name) }
        let digest = SHA256.digest(of: "\(space):\(name)".utf8).prefix(16)
        return version8(digest.reduce(0) { $0 << 8 | UInt128($1) })
    }
}
