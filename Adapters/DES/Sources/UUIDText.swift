import PatchbayAdapterKit

extension UUIDText {
    /// The UUID that a name is already, else one of version 8 (RFC 9562) that is made from it, the same for ever.
    static func named(_ name: String, part: String = "") -> String {
        if part.isEmpty, isValid(name) { return name }
        return version8(TextMark(part.isEmpty ? name : "\(name)/\(part)").bits)
    }
}
