import PatchbayAdapterKit
import PatchbayJSON

/// The redacted form of headers and bodies that contain secrets, for the log.
enum Redaction {
    /// Parts of names, in lower case, that identify a secret header.
    private static let marks = [
        "authorization", "cookie", "token", "secret", "api-key", "apikey", "password", "signature",
    ]

    /// Whether a header with this name contains a secret.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return marks.contains { name.contains($0) }
    }

    /// Returns the header's value; for a secret, its scheme (`Bearer`) and the length of the rest.
    static func shown(_ header: WireHeader) -> String {
        guard header.isSecret else { return header.value }
        let parts = header.value.split(separator: " ", maxSplits: 1)
        guard header.name.lowercased().contains("authorization"), parts.count == 2 else {
            return "(\(header.value.utf8.count) bytes)"
        }
        return "\(parts[0]) (\(parts[1].utf8.count) bytes)"
    }

    /// Returns a body for the log. In a form or a JSON object, members with secret names are replaced by their lengths.
    static func shown(_ body: String) -> String {
        if body.contains("ecret=") || body.contains("refresh_token=") { return shownForm(body) }
        guard body.contains("ecret\""), var object = (try? JSONValue(parsing: body))?.object else { return body }
        for member in object where member.name.lowercased().hasSuffix("secret") {
            object[member.name] = .string("(\(member.value.string?.utf8.count ?? 0) bytes)")
        }
        return JSONValue.object(object).text
    }

    private static func shownForm(_ body: String) -> String {
        let members = body.split(separator: "&", omittingEmptySubsequences: false).map { member -> String in
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].lowercased()
            guard parts.count == 2, name.hasSuffix("secret") || name == "refresh_token" else { return String(member) }
            return "\(parts[0])=(\(parts[1].utf8.count) bytes)"
        }
        return members.joined(separator: "&")
    }
}
