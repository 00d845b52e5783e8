import PatchbayAdapterKit

extension UUIDText {
    /// Returns a name that is a UUID, otherwise a UUID of version 8 (RFC 9562) derived from it, permanently the same.
    static func named(_ name: String, part: String = "") -> String {
        if part.isEmpty, isValid(name) { return name }
        return version8(TextMark(part.isEmpty ? name : "\(name)/\(part)").bits)
    }
}
