public import PatchbayAdapterKit
package import PatchbayJSON
import PatchbayModel

/// The settings of an account's device API.
public struct AcousticSettings: AdapterSettings {
    /// The source of the installation's ids.
    enum Registration: String, NeutralWord {
        /// The app passes them, from the vendor's SDK or its own back end.
        case given
        /// This API registers by the calls of the profile.
        case requested
    }

    /// The build of the app.
    enum Environment: String, NeutralWord {
        case production, development
    }

    /// The treatment of a group with an invalid entry.
    package enum Invalid: String, NeutralWord {
        case rejectAll, sendValid
    }

    /// The kind of message to which clicks inside the app belong.
    enum Messages: String, NeutralWord {
        case inbox, inApp
    }

    var baseURL = ""
    var appKey = ""
    var environment = Environment.production
    var registration = Registration.given
    var invalidateExistingUser = false
    var autoReinitialize = true
    var columns: [ScalarString: Column] = [:]
    var attributeNames: [AttributeName: String] = [:]
    var tagsColumnText = ""
    var tagColumns: [Tag: String] = [:]
    var onInvalid = Invalid.rejectAll
    var gatherSeconds = 2
    var eventMinutes = 20
    var eventsPerRequest = 50
    var messages = Messages.inbox
    var profile = DeviceProfile()

    public init() {}

    /// The column with the whole set of tags; nil if there is none.
    var tagsColumn: String? { tagsColumnText.isEmpty ? nil : tagsColumnText }

    /// Returns the column of an attribute: the name in the settings, or the neutral name itself.
    func column(for name: AttributeName) -> String { attributeNames[exactly: name] ?? name.rawValue }

    /// Whether a column contains tags.
    func holdsTags(_ column: String) -> Bool {
        tagsColumn.map { ScalarString.equal($0, column) } ?? false || tagColumns.values.containsExactly(column)
    }

    public static let table = SettingsTable<AcousticSettings>([
        .url(
            "baseUrl",
            \.baseURL,
            rule: .acoustic("W4"),
            "The account's device host, `baseUrl` of the vendor's MceConfig.json; a version segment at its end is removed."
        ),
        .text(
            "appKey",
            \.appKey,
            isRequired: true,
            rule: .acoustic("W8"),
            "The app's key for this build: development and production have different ones."
        ),
        .choice(
            "environment",
            \.environment,
            default: .production,
            rule: .acoustic("I4"),
            "Which build it is; decides whether `invalidateExistingUser` is warned of."
        ),
        .choice(
            "registration",
            \.registration,
            default: .given,
            rule: .acoustic("I1"),
            "Where user and channel id come from: `given` by the app as the device identities `acoustic.userId` and "
                + "`acoustic.channelId`, or `requested` by the profile's inferred calls."
        ),
        .flag(
            "invalidateExistingUser",
            \.invalidateExistingUser,
            default: false,
            rule: .acoustic("I4"),
            "A reinstalled app becomes a new user, and the old user's record is deleted for good. For development."
        ),
        .flag(
            "autoReinitialize",
            \.autoReinitialize,
            default: true,
            rule: .acoustic("I7"),
            "After an erasure: true holds what is captured until the device registers again, false drops it."
        ),
        .columns(\.columns, rule: .acoustic("C1")),
        .names(
            "attributeNames",
            \.attributeNames,
            default: "{}",
            rule: .acoustic("C1"),
            "The columns by neutral attribute name; an attribute without an entry keeps its neutral name."
        ),
        .text(
            "tagsColumn",
            \.tagsColumnText,
            rule: .acoustic("T1"),
            "The multi-selection column that holds the whole set of tags."
        ),
        .names(
            "tagColumns",
            \.tagColumns,
            default: "{}",
            rule: .acoustic("T2"),
            "Yes/No columns by tag; a tag without one belongs to `tagsColumn`."
        ),
        .choice(
            "onInvalid",
            \.onInvalid,
            default: .rejectAll,
            rule: .acoustic("G2"),
            "What becomes of an operation with an invalid entry: `rejectAll`, or `sendValid` sends the rest."
        ),
        .integer(
            "gatherSeconds",
            \.gatherSeconds,
            in: 0...3600,
            default: 2,
            rule: .acoustic("G4"),
            "How long changes of attributes are gathered; an explicit group and a flush do not wait."
        ),
        .integer(
            "eventMinutes",
            \.eventMinutes,
            in: 0...1440,
            default: 20,
            rule: .acoustic("E8"),
            "How long events are gathered (`metricTimeInterval`); the vendor's pages say 15, its shipped file 20."
        ),
        .integer(
            "eventsPerRequest",
            \.eventsPerRequest,
            in: 1...1000,
            default: 50,
            rule: .acoustic("E12"),
            "The most events of one request; the vendor names no number."
        ),
        .choice(
            "messages",
            \.messages,
            default: .inbox,
            rule: .acoustic("E11"),
            "What kind of message a click inside the app belongs to, unless the operation says so."
        ),
        SettingRow(
            "profile",
            form: "object of calls",
            schema: DeviceProfile.schema,
            default: "see below",
            rule: .acoustic("W7"),
            "Verbs, paths and wrappers of the device API, where an account's own log shows others than the inferred."
        ) { value, settings in settings.profile.read(value) },
    ])

    /// The findings about combinations of valid settings.
    var problems: [Finding] {
        var findings: [Finding] = []
        var owners: [ScalarString: AttributeName] = [:]
        for (name, column) in attributeNames.inOrder {
            let path = "attributeNames".dot(name.rawValue)
            if let owner = owners.updateValue(name, forKey: ScalarString(column)) {
                findings.append(FindingRow.columnTwice.at(path, detail: "the same as \(owner.rawValue)"))
            }
            if holdsTags(column) { findings.append(FindingRow.columnOfTags.at(path)) }
            if !columns.isEmpty, columns[ScalarString(column)] == nil {
                findings.append(FindingRow.columnUnknown.at(path))
            }
        }
        var flags: [ScalarString: Tag] = [:]
        for (tag, column) in tagColumns.inOrder {
            let path = "tagColumns".dot(tag.rawValue)
            if let owner = flags.updateValue(tag, forKey: ScalarString(column)) {
                findings.append(FindingRow.columnTwice.at(path, detail: "the same as \(owner.rawValue)"))
            }
            findings += problems(of: column, .yesNo, at: path)
        }
        if let tagsColumn { findings += problems(of: tagsColumn, .multiSelection, at: "tagsColumn") }
        return findings
    }

    private func problems(of name: String, _ type: ColumnType, at path: String) -> [Finding] {
        guard !columns.isEmpty else { return [] }
        guard let column = columns[ScalarString(name)] else { return [FindingRow.columnUnknown.at(path)] }
        if column.type != type {
            return [
                FindingRow.valueType.at(path, detail: "the column is \(column.type.rawValue), not \(type.rawValue)")
            ]
        }
        return AttributeRules.refusal(of: column).map { [$0.at(path)] } ?? []
    }
}

extension SettingRow {
    /// The columns of the account's database. Both APIs of the account use this setting.
    package static func columns(_ path: any WritableKeyPath<Settings, [ScalarString: Column]> & Sendable, rule: RuleID)
        -> SettingRow
    {
        SettingRow(
            "columns",
            form: "object of columns",
            schema: Column.schema,
            default: "{}",
            rule: rule,
            "The database's columns by exact name: `type`, `values` of a selection, `lookupKey`, `owner` (`device` or "
                + "`server`). Without it only rules that hold for every column are checked."
        ) { value, settings in
            guard let object = value.object else {
                return .init("The value is \(value.typePhrase).", "Give an object.")
            }
            for (place, member) in object.enumerated() {
                switch Column.read(member.value, named: member.name, number: place + 1) {
                case .success(let column): settings[keyPath: path][ScalarString(member.name)] = column
                case .failure(let fault): return .init(fault.reason, fault.remedy)
                }
            }
            return nil
        }
    }
}

extension Column {
    /// The reason why a column is invalid. It never repeats text of the configuration.
    struct Fault: Error { var reason, remedy: String }

    fileprivate static let schema: JSONObject = {
        let types: [JSONValue] = ColumnType.allCases.map { .string($0.rawValue) }
        let owners: [JSONValue] = Owner.allCases.map { .string($0.rawValue) }
        let text: JSONValue = ["type": "string", "minLength": 1]
        let properties: JSONObject = [
            "type": ["enum": .array(types)], "values": ["type": "array", "items": text],
            "lookupKey": ["type": "boolean"], "owner": ["enum": .array(owners)],
        ]
        let column: JSONObject = [
            "type": "object", "properties": .object(properties), "required": ["type"], "additionalProperties": false,
        ]
        return ["type": "object", "additionalProperties": .object(column)]
    }()

    /// Reads a column of a configuration. An error names the column's number, not its name, because findings repeat no
    /// setting.
    fileprivate static func read(_ value: JSONValue, named name: String, number: Int) -> Result<Column, Fault> {
        func fault(_ reason: String, _ remedy: String) -> Result<Column, Fault> {
            .failure(Fault(reason: "Column \(number) \(reason).", remedy: remedy))
        }
        let known = ["type", "values", "lookupKey", "owner"]
        guard let object = value.object, !name.isEmpty else { return fault("is not an object", "Give it a type.") }
        if object.names.contains(where: { !known.contains($0) }) {
            return fault("has an unknown member", "Use one of: \(known.joined(separator: ", ")).")
        }
        guard let type = object["type"]?.string.flatMap(ColumnType.init(rawValue:)) else {
            let types = ColumnType.allCases.map(\.rawValue).joined(separator: ", ")
            return fault("has no known type", "Use one of \(types).")
        }
        var column = Column(type: type)
        if let values = object["values"] {
            guard let texts = values.array?.compactMap(\.string), texts.count == values.array?.count else {
                return fault("has values that are not text", "Give a list of texts.")
            }
            column.values = texts
        }
        let isSelection = type == .selection || type == .multiSelection
        guard isSelection != column.values.isEmpty else {
            return fault(
                isSelection ? "has no values" : "has values and is no selection",
                isSelection ? "List the values that it allows." : "Remove them, or make it a selection."
            )
        }
        if let place = column.values.firstIndex(where: { $0.utf16.count > Form.choiceLimit }) {
            return fault("allows a value that is too long (\(place + 1))", "The limit is \(Form.choiceLimit).")
        }
        if let flag = object["lookupKey"] {
            guard let flag = flag.bool else {
                return fault("has a lookupKey that is not true or false", "Give true or false.")
            }
            column.isLookupKey = flag
        }
        if let word = object["owner"] {
            guard let owner = word.string.flatMap(Owner.init(rawValue:)) else {
                return fault("has an unknown owner", "Use device or server.")
            }
            column.owner = owner
        }
        return .success(column)
    }
}
