import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The name of a column in an export's header.
struct ColumnName: NeutralKey {
    let rawValue: String
    init(rawValue: String) { self.rawValue = rawValue }

    /// What two spellings of one column share: case, spaces, underscores and hyphens do not count, a leading underscore
    /// does, because it marks the vendor's own columns.
    var key: String {
        let letters = rawValue.lowercased().filter { !$0.isWhitespace && $0 != "_" && $0 != "-" }
        return (rawValue.trimmed.hasPrefix("_") ? "_" : "") + letters
    }
}

/// What a column fills in a contact.
enum ColumnTarget: Hashable, Sendable {
    case identifier(IdentifierKind)
    case attribute(AttributeName)
    case locale
    case deviceID, pushToken, platform, platformVersion, model, timeZone, utcOffset, locationEnabled
    case optInDate, optOutDate
    case ignored

    private static let words: [String: ColumnTarget] = [
        "locale": .locale, "deviceID": .deviceID, "pushToken": .pushToken, "platform": .platform,
        "platformVersion": .platformVersion, "model": .model, "timeZone": .timeZone, "utcOffset": .utcOffset,
        "locationEnabled": .locationEnabled, "optInDate": .optInDate, "optOutDate": .optOutDate, "ignored": .ignored,
    ]

    /// The words that a setting may use, for error texts.
    static let allowed = "identifier:<kind>, attribute:<name>, " + words.keys.sorted().joined(separator: ", ")

    /// Reads `identifier:external`, `attribute:city` or a word; nil if the text is none of them.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
        switch (parts.first, parts.dropFirst().first) {
        case ("identifier", let kind?) where !kind.isEmpty: self = .identifier(IdentifierKind(rawValue: kind))
        case ("attribute", let name?) where !name.isEmpty: self = .attribute(AttributeName(rawValue: name))
        case (let word?, nil):
            guard let target = ColumnTarget.words[word] else { return nil }
            self = target
        default: return nil
        }
    }
}

/// How an export is written and what its columns mean.
struct ContactFileSettings: AdapterSettings {
    /// What stands between two fields.
    enum Delimiter: String, NeutralWord {
        case comma, tab, bar

        var byte: UInt8 {
            switch self {
            case .comma: UInt8(ascii: ",")
            case .tab: UInt8(ascii: "\t")
            case .bar: UInt8(ascii: "|")
            }
        }
    }

    var delimiter = Delimiter.comma
    var isQuoted = true
    var zone = "-06:00"
    var columns: [ColumnName: String] = [:]
    var types: [AttributeName: String] = [:]

    static let table = SettingsTable<ContactFileSettings>([
        .choice("delimiter", \.delimiter, default: .comma, rule: .salesforce("F1"), "What stands between two fields."),
        .flag(
            "quoted",
            \.isQuoted,
            default: true,
            rule: .salesforce("F2"),
            "Whether quotes around a field are taken off; false where a quote is an ordinary character."
        ),
        .text(
            "zone",
            \.zone,
            default: "-06:00",
            rule: .salesforce("F7"),
            "The offset of dates that name none; the vendor's servers write theirs six hours west of UTC.",
            check: { text in
                Timestamp(text: "2000-01-01T00:00:00\(text)") == nil
                    ? .init("It is no offset.", "Write Z or an offset like -06:00.") : nil
            }
        ),
        .names(
            "columns",
            \.columns,
            default: "{}",
            rule: .salesforce("F3"),
            "What columns fill, by column name, over the defaults: \(ColumnTarget.allowed)."
        ),
        .names(
            "types",
            \.types,
            default: "{}",
            rule: .salesforce("F6"),
            "The types of attributes by neutral name; text where nothing is said."
        ),
    ])

    /// Columns that are known without a setting. Names are compared by ``ColumnName/key``.
    static let defaultColumns: [(column: String, target: String)] = [
        ("Contact Key", "identifier:external"), ("_ContactKey", "identifier:external"),
        ("Subscriber Key", "identifier:external"), ("_SubscriberKey", "identifier:external"),
        ("Email Address", "identifier:email"), ("_EmailAddress", "identifier:email"),
        ("Mobile Number", "identifier:phone"), ("_MobileNumber", "identifier:phone"),
        ("First Name", "attribute:given_name"), ("_FirstName", "attribute:given_name"),
        ("Last Name", "attribute:family_name"), ("_LastName", "attribute:family_name"),
        ("_City", "attribute:city"), ("_ZipCode", "attribute:postal_code"), ("_State", "attribute:state"),
        ("Locale", "locale"), ("_Locale", "locale"),
        ("_DeviceID", "deviceID"), ("_SystemToken", "pushToken"), ("_Platform", "platform"),
        ("_PlatformVersion", "platformVersion"), ("_HardwareId", "model"), ("_TimeZone", "timeZone"),
        ("_UTCOffset", "utcOffset"), ("_LocationEnabled", "locationEnabled"),
        ("Opt In Date", "optInDate"), ("_OptInDate", "optInDate"),
        ("Opt Out Date", "optOutDate"), ("_OptOutDate", "optOutDate"),
        ("_ContactID", "ignored"), ("_APID", "ignored"), ("_Status", "ignored"), ("_Source", "ignored"),
        ("_SourceObjectId", "ignored"), ("_Alias", "ignored"), ("_OptOutStatusID", "ignored"),
        ("_OptOutMethodID", "ignored"), ("_OptInStatusID", "ignored"), ("_OptInMethodID", "ignored"),
        ("_Channel", "ignored"), ("_CreatedDate", "ignored"), ("_CreatedBy", "ignored"), ("_ModifiedDate", "ignored"),
        ("_ModifiedBy", "ignored"), ("_IsHonorDST", "ignored"), ("_ProviderToken", "ignored"), ("_Badge", "ignored"),
        ("_Device", "ignored"), ("_DeviceType", "ignored"),
    ]

    private static let defaultTargets: [String: ColumnTarget] = Dictionary(
        uniqueKeysWithValues: defaultColumns.compactMap { row in
            ColumnTarget(row.target).map { (ColumnName(rawValue: row.column).key, $0) }
        }
    )

    /// What is wrong with settings that are each fine alone.
    var problems: [Finding] {
        columns.sorted { $0.key < $1.key }.filter { ColumnTarget($0.value) == nil }.map { column, _ in
            Finding(
                code: "setting.invalid",
                severity: .error,
                error: .misconfigured,
                path: "settings.columns.\(column.rawValue)",
                reason: "It names no part of a contact.",
                remedy: "Use one of: \(ColumnTarget.allowed)."
            )
        }
            + types.sorted { $0.key < $1.key }.filter { scalarType($0.value) == nil }.map { name, _ in
                Finding(
                    code: "setting.invalid",
                    severity: .error,
                    error: .misconfigured,
                    path: "settings.types.\(name.rawValue)",
                    reason: "A column's text can't be read as this type.",
                    remedy: "Use one of: \(Self.scalarTypes.map(\.rawValue).joined(separator: ", "))."
                )
            }
    }

    private static let scalarTypes = AttributeType.allCases.filter { $0 != .list && $0 != .object }

    private func scalarType(_ word: String) -> AttributeType? { Self.scalarTypes.first { $0.rawValue == word } }

    /// What a column fills: by the settings, else by the known columns, else an attribute of its name in snake case.
    func target(of column: String) -> ColumnTarget {
        let name = ColumnName(rawValue: column)
        let own = columns.first { $0.key.key == name.key }.flatMap { ColumnTarget($0.value) }
        if let target = own ?? Self.defaultTargets[name.key] { return target }
        let snake = SnakeCase.text(column)
        return snake.isEmpty ? .ignored : .attribute(AttributeName(rawValue: snake))
    }

    /// The type of an attribute.
    func type(of name: AttributeName) -> AttributeType { types[name].flatMap(scalarType) ?? .string }
}

/// Names in lower case with underscores.
enum SnakeCase: Sendable {
    /// `Loyalty Tier`, `LoyaltyTier` and `loyalty-tier` as `loyalty_tier`.
    static func text(_ name: String) -> String {
        var words: [String] = [""]
        var previous: Character?
        for character in name {
            let isWord = character.isLetter || character.isNumber
            let startsWord = character.isUppercase && (previous?.isLowercase ?? false || previous?.isNumber ?? false)
            if !isWord || startsWord { words.append("") }
            if isWord { words[words.count - 1] += character.lowercased() }
            previous = character
        }
        return words.filter { !$0.isEmpty }.joined(separator: "_")
    }
}
