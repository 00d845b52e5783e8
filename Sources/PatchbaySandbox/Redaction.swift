import PatchbayAdapterKit

/// What the log shows of headers that carry secrets.
enum Redaction {
    /// Parts of names, in lower case, that mark a header as secret.
    private static let marks = [
        "authorization", "cookie", "token", "secret", "api-key", "apikey", "password", "signature",
    ]

    /// Whether a header of that name carries a secret.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return marks.contains { name.contains($0) }
    }

    /// The header's value, or for a secret its scheme (`Bearer`) and the length of the rest.
    static func shown(_ header: WireHeader) -> String {
        guard header.isSecret else { return header.value }
        let parts = header.value.split(separator: " ", maxSplits: 1)
        guard header.name.lowercased().contains("authorization"), parts.count == 2 else {
            return "(\(header.value.utf8.count) bytes)"
        }
        return "\(parts[0]) (\(parts[1].utf8.count) bytes)"
    }
}
