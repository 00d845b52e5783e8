import PatchbayAdapterKit
import PatchbayModel

/// Selects and validates the contact key among a person's identifiers.
package enum ContactKeyRules: Sendable {
    /// The maximum key length that contacts usually have, in UTF-16 units.
    package static let usualLimit = 254

    /// Placeholder texts. As a contact key, a placeholder would join unrelated people in one contact.
    private static let placeholders: Set<String> = [
        "0", "-1", "anonymous", "default", "guest", "n/a", "nil", "none", "null", "test", "undefined", "unknown",
        "user",
    ]

    /// Returns the contact key among identifiers; nil if none is of the right kind or it is blank.
    static func key(of identifiers: [Identifier], settings: SalesforceSettings) -> String? {
        guard let value = identifiers.first(IdentifierKind(rawValue: settings.contactKeyIdentifier)) else { return nil }
        let key = value.trimmed
        return key.isEmpty ? nil : key
    }

    /// Returns the findings about an operation's identifiers.
    static func judge(_ identifiers: [Identifier], at path: String, settings: SalesforceSettings) -> [Finding] {
        let kind = IdentifierKind(rawValue: settings.contactKeyIdentifier)
        guard let place = identifiers.firstIndex(where: { $0.kind == kind }) else {
            return [FindingRow.contactKeyNotGiven.at(path, detail: "kind \(kind.rawValue)")]
        }
        let others = identifiers.indices.filter { $0 != place }
            .map { FindingRow.identifierIgnored.at("\(path)[\($0)]", detail: "kind \(identifiers[$0].kind.rawValue)") }
        guard let key = key(of: identifiers, settings: settings) else {
            return [FindingRow.contactKeyBlank.at("\(path)[\(place)].value")] + others
        }
        var findings = others
        if key.utf16.count > usualLimit {
            let size = "\(key.utf16.count) characters"
            findings.append(FindingRow.contactKeyLong.at("\(path)[\(place)].value", detail: size))
        }
        if placeholders.contains(key.lowercased()) {
            findings.append(FindingRow.contactKeyShared.at("\(path)[\(place)].value"))
        }
        return findings
    }

    /// Returns the reason why a change of person gives the vendor no contact key; nil if it gives one. Without a key,
    /// the device stays with its contact, and later operations wait for the next key (K3).
    static func refusal(of change: ContactSwitch, settings: SalesforceSettings) -> Finding? {
        guard key(of: change.identifiers, settings: settings) == nil else { return nil }
        if change.direction == .logOut { return FindingRow.contactKeyNotCleared.at("action.switch") }
        return judge(change.identifiers, at: "action.switch.identifiers", settings: settings)
            .first { $0.severity == .error }
    }

    /// Whether two keys identify the same contact, compared byte by byte (K7).
    static func areSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
