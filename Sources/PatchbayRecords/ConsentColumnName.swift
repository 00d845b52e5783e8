import PatchbayModel

/// Determines from a column's name whether the column may contain consent. The name alone has no effect: settings must define
/// its meaning.
enum ConsentColumnName {
    /// Words that name consent or its withdrawal in customer files.
    private static let words: Set<String> = [
        "optedin", "subscribed", "newsletter", "gdpr", "dsgvo", "rgpd", "dnc", "donotcontact", "donotemail",
        "donotcall",
        "permission", "einwilligung", "werbeeinwilligung", "zustimmung", "suscrito", "baja", "consenso", "iscritto",
        "toestemming", "samtycke", "samtykke", "suostumus", "markkinointilupa", "zgoda", "согласие",
    ]
    /// Parts of words that indicate consent in spellings such as `SMSOptOut` and `emailoptin`.
    private static let stems =
        ["optin", "consent", "einverst"] + optOutStems.filter { !["dnc", "donot", "blocked"].contains($0) }
    private static let channels = [
        "email", "emails", "mail", "mails", "sms", "text", "texts", "push", "phone", "call", "calls", "whatsapp",
        "marketing",
    ]
    /// Words that indicate consent before or after a channel.
    private static let states = ["ok", "okay", "allowed", "permitted", "enabled", "status", "erlaubt"]
    private static let verbs = [
        "allow", "allows", "accept", "accepts", "receive", "receives", "wants", "no", "not", "stop",
    ]
    private static let phrases: Set<String> =
        Set(["opt in", "opt out", "opted in", "opted out", "no longer", "not contact", "not track", "not sell"])
        .union(channels.flatMap { channel in states.map { "\(channel) \($0)" } + verbs.map { "\($0) \(channel)" } })

    /// Whether the name indicates consent: `Email Opt In`, `unsubscribed`, `Do not call`, `Werbeeinwilligung`.
    static func isLikely(_ name: String) -> Bool {
        let parts = parts(of: name)
        let text = parts.joined()
        return stems.contains(where: text.contains) || parts.contains(where: words.contains)
            || zip(parts, parts.dropFirst()).contains { phrases.contains("\($0) \($1)") }
    }

    /// Parts of names that indicate that a yes is an opt-out.
    private static let optOutStems = [
        "optout", "optedout", "unsub", "suppress", "denylist", "blacklist", "blocklist", "donot", "dnc", "nolonger",
        "abgemeld", "abmeld", "abbestell", "widerspr", "sperr", "robinson", "nichtkontakt", "désinscri", "desinscri",
        "désabonn", "desabonn", "desuscri", "disiscri", "disdett", "uitgeschreven", "afgemeld", "avregistr", "avmeld",
        "wypis", "blocked", "revoked", "withdrawn",
    ]

    /// Whether a yes in the column is probably an opt-out: `Unsubscribed`, `noEmail`, `Do not call`.
    static func isOptOut(_ name: String) -> Bool {
        let parts = parts(of: name)
        let text = parts.joined()
        return optOutStems.contains(where: text.contains) || ["no", "not", "stop"].contains(parts.first)
    }

    /// Returns the channel that the name indicates; e-mail by default.
    static func channel(of name: String) -> Channel {
        let parts = parts(of: name)
        if parts.contains(where: { ["sms", "text", "texts"].contains($0) }) { return .sms }
        return parts.contains("push") ? .push : .email
    }

    private static func parts(of name: String) -> [String] {
        SnakeCase.text(name).split(separator: "_").map(String.init)
    }
}
