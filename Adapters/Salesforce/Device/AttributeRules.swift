import PatchbayAdapterKit
import PatchbayModel

/// Validates attributes and maps them to the vendor's names and texts.
enum AttributeRules: Sendable {
    /// A valid pair: the vendor's name, and its text or nil to omit the name from now on.
    struct Pair: Equatable, Sendable {
        var name: String
        var value: String?
    }

    /// The maximum length of a name, in UTF-16 units.
    static let nameLimit = 128

    /// The 47 names that the vendor reserves, in lower case: 44 documented ones and three later ones.
    static let reserved: Set<String> = Set(
        """
        addressId alias apId backgroundRefreshEnabled badge channel contactId contactKey createdBy createdDate
        customObjectKey device deviceId deviceType gcmSenderId hardwareId isHonorDst lastAppOpen lastMessageOpen lastSend
        locationEnabled messageOpenCount modifiedBy modifiedDate optInDate optInMethodId optInStatusId optOutDate
        optOutMethodId optOutStatusId platform platformVersion providerToken proximityEnabled pushAddressExtensionId
        pushApplicationId sdkVersion sendCount source sourceObjectId status systemToken timezone utcOffset
        signedString quietPushEnabled hwid
        """.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
    )

    /// Validates each pair of a change separately (A13). Returns the valid pairs in the order of the neutral names, and
    /// the findings.
    static func judge(
        _ changes: [AttributeName: AttributeChange],
        settings: SalesforceSettings
    ) -> (kept: [Pair], findings: [Finding]) {
        var kept: [Pair] = []
        var findings: [Finding] = []
        var names: Set<String> = []
        for (neutralName, change) in changes.inOrder {
            let path = "action.changes.\(neutralName.rawValue)"
            let name = (settings.attributeNames[neutralName] ?? neutralName.rawValue).trimmed
            if let row = problem(ofWireName: name) ?? (isDefined(name, in: settings) ? nil : .attributeUndefined) {
                findings.append(row.at(path, detail: row == .attributeNameLong ? "\(name.utf16.count) units" : nil))
                continue
            }
            if names.contains(name) {
                findings.append(FindingRow.attributeCollision.at(path))
                continue
            }
            if name.contains(" ") { findings.append(FindingRow.attributeNameSpaced.at(path)) }
            if let row = problem(of: change) {
                findings.append(row.at(path))
            } else {
                kept.append(Pair(name: name, value: text(of: change, settings: settings)))
                names.insert(name)
            }
        }
        return (kept, findings)
    }

    /// Returns the finding about an invalid name; nil if the name is valid.
    static func problem(ofWireName name: String) -> FindingRow? {
        if name.isEmpty { return .attributeNameBlank }
        if reserved.contains(name.lowercased()) { return .attributeReserved }
        return name.utf16.count > nameLimit ? .attributeNameLong : nil
    }

    /// Whether the account defines an attribute, according to the settings (A9).
    static func isDefined(_ name: String, in settings: SalesforceSettings) -> Bool {
        settings.accountAttributes.isEmpty || settings.accountAttributes.contains { $0.trimmed == name }
    }

    /// Returns the finding about a change that has no form at the vendor; nil if it has one.
    private static func problem(of change: AttributeChange) -> FindingRow? {
        switch change {
        case .set(.choices(let words)) where words.contains { $0.unicodeScalars.contains(";") }: .attributeSeparator
        case .set(.list), .set(.object): .attributeNested
        case .set, .unset: nil
        case .increment, .append, .remove: .attributeArithmetic
        }
    }

    /// Returns the one line of text that the vendor stores; nil to omit the attribute. The vendor accepts no null.
    ///
    /// Numbers in decimal digits as written, booleans `true` and `false`, days `YYYY-MM-DD`, times `HH:MM`, points in
    /// time RFC 3339 in UTC, countries two letters, choices joined by semicolons.
    private static func text(of change: AttributeChange, settings: SalesforceSettings) -> String? {
        switch change {
        case .set(let value): value.plainText?.trimmed
        case .unset: settings.unset == .blank ? "" : nil
        case .increment, .append, .remove: nil
        }
    }
}
