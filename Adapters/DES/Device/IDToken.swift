import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Checks OpenID Connect ID tokens as far as the adapter needs.
enum IDToken {
    /// Whether a token has expired; false for a token without an expiry, or one that is no JWT.
    static func hasExpired(_ token: Secret, at date: Instant) -> Bool {
        let parts = token.value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let payload = Base64.decode(parts[1].replacing("-", with: "+").replacing("_", with: "/")),
            let expiry = (try? JSONValue(parsing: payload))?["exp"]?.number?.double
        else { return false }
        return expiry * 1000 <= Double(date.milliseconds)
    }
}
