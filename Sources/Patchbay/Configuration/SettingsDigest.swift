import PatchbayAdapterKit
import PatchbayJSON

extension JSONObject {
    /// The 64-bit FNV-1a hash of the canonical text, in 16 hexadecimal digits. It detects changes, but not forgery.
    var digest: String {
        let digits = String(TextMark.short(JSONValue.object(self).canonical.text), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
