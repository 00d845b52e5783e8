import PatchbayAdapterKit

extension UUIDText {
    /// Returns a name that is a UUID, otherwise a UUID derived from it, in lower case: version 8 of RFC 9562 over
    /// SHA-256 of `space:name`.
    ///
    /// The same name permanently gives the same UUID on every machine.
    static func named(_ name: String, in space: String) -> String {
        if isValid(name) { return lowercased(name) }
        let digest = SHA256.digest(of: "\(space):\(name)".utf8).prefix(16)
        return version8(digest.reduce(0) { $0 << 8 | UInt128($1) })
    }
}
