import PatchbayAdapterKit
import PatchbayJSON

extension JSONObject {
    /// FNV-1a of 64 bits over the canonical text, as 16 hexadecimal digits: for noticing a change, not against forgery.
    var digest: String {
        let digits = String(TextMark.short(JSONValue.object(self).canonical.text), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
