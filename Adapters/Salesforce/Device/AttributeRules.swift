import PatchbayAdapterKit
import PatchbayModel

/// Validates attributes and maps them to the vendor's names and texts.
enum AttributeRules: Sendable {
    /// A valid pair: the vendor's name, and its text or nil to omit the name from now on.
    struct Pair: Equatable, Sendable {
        var name: String
        var value: String?
    }

    /// The longest name, in UTF-16 units.
    static let nameLimit = 128

    /// Names that the vendor keeps for itself, in lower case. All 47: the documented 44 and three later ones.
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

    /// Validates each pair of a change separately (A13). Returns the valid pairs in the order of the neutral names, and the
    /// findings.
    static func judge(
        _ changes: [AttributeName: AttributeChange],
        settings: SalesforceSettings
    ) -> (kept: [Pair], findings: [Finding]) {
        var kept: [Pair] = []
        var findings: [Finding] = []
        var names: Set<String> = []
        for (neutralName, change) in changes.sorted(by: { $0.key < $1.key }) {
            let path = "action.changes.\(neutralName.rawValue)"
            let name = wireName(neutralName, settings: settings)
            if let row = problem(ofWireName: name) ?? problem(of: name, in: settings) {
                findings.append(row.at(path, detail: row == .attributeNameLong ? "\(name.utf16.count) units" : nil))
                continue
            }
            if names.contains(name) {
                findings.append(FindingRow.attributeCollision.at(path))
                continue
            }
            if name.contains(" ") { findings.append(FindingRow.attributeNameSpaced.at(path)) }
            switch value(of: change, settings: settings) {
            case .success(let value):
                kept.append(Pair(name: name, value: value))
                names.insert(name)
            case .failure(let problem): findings.append(problem.row.at(path))
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

    private static func problem(of name: String, in settings: SalesforceSettings) -> FindingRow? {
        isDefined(name, in: settings) ? nil : .attributeUndefined
    }

    /// Whether the account defines an attribute, according to the settings (A9).
    static func isDefined(_ name: String, in settings: SalesforceSettings) -> Bool {
        settings.accountAttributes.isEmpty || settings.accountAttributes.contains { $0.trimmed == name }
    }

    private static func wireName(_ name: AttributeName, settings: SalesforceSettings) -> String {
        let name = settings.attributeNames[name] ?? name.rawValue
        let trimmed = name.trimmed
        return trimmed
    }

    private struct Problem: Error { var row: FindingRow }

    private static func value(
        of change: AttributeChange,
        settings: SalesforceSettings
    ) -> Result<String?, Problem> {
        switch change {
        case .set(let value): text(of: value).map(Optional.some)
        case .unset: .success(removed(settings.unset))
        case .increment, .append, .remove: .failure(Problem(row: .attributeArithmetic))
        }
    }

    /// The value as the one line of text that the vendor stores.
    ///
    /// Numbers in decimal digits as written, booleans `true` and `false`, days `YYYY-MM-DD`, times `HH:MM`, points in
    /// time RFC 3339 in UTC, countries two letters, choices joined by semicolons. Lists and objects have no form.
    private static func text(of value: AttributeValue) -> Result<String, Problem> {
        if case .choices(let words) = value, words.contains(where: { $0.unicodeScalars.contains(";") }) {
            return .failure(Problem(row: .attributeSeparator))
        }
        guard let text = value.plainText else { return .failure(Problem(row: .attributeNested)) }
        let trimmed = text.trimmed
        return .success(trimmed.isEmpty ? blank() : trimmed)
    }

    /// Returns the text of a removed attribute. The vendor accepts no null.
    private static func removed(_ unset: SalesforceSettings.Unset) -> String? { unset == .blank ? blank() : nil }

    private static func blank() -> String { "" }
}
