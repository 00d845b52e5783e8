import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON
import PatchbayModel

/// Profiles to import, with the matching mode.
struct BatchRecord: Sendable {
    let settings: AltcraftServerSettings
    let rows: [JSONValue]

    var fieldName: String? { settings.matching == .custom ? settings.matchingField : nil }

    static let table = FieldTable<BatchRecord>(
        "Profiles to import",
        [
            .required("db_id", \.settings.database, .integer, from: "settings.dbId", rule: .altcraft("V3")),
            .required(
                "matching",
                \.settings.matching.rawValue,
                .text,
                from: "settings.matching",
                rule: .altcraft("V4")
            ),
            .optional("field_name", \.fieldName, .text, from: "settings.matchingField", rule: .altcraft("V4")),
            .required(
                "skip_triggers",
                \.settings.skipTriggers,
                .flag,
                from: "settings.skipTriggers",
                rule: .altcraft("V6")
            ),
            .required(
                "data",
                \.rows,
                .rows,
                from: "contact, identifiers, attributes, tags, subscriptions",
                rule: .altcraft("V5")
            ),
        ]
    )
}

/// A profile to delete.
struct DeletionRecord: Sendable {
    let settings: AltcraftServerSettings
    let key: ProfileKey

    static let table = FieldTable<DeletionRecord>(
        "Profile to delete",
        [
            .required("db_id", \.settings.database, .integer, from: "settings.dbId", rule: .altcraft("V3")),
            .required(
                "matching",
                \.settings.matching.rawValue,
                .text,
                from: "settings.matching",
                rule: .altcraft("V4")
            ),
            .optional("email", \.key.email, .text, from: "contact", rule: .altcraft("V4")),
            .optional("phone", \.key.phone, .text, from: "contact", rule: .altcraft("V4")),
            .optional("field_name", \.key.fieldName, .text, from: "settings.matchingField", rule: .altcraft("V4")),
            .optional("field_value", \.key.fieldValue, .text, from: "contact", rule: .altcraft("V4")),
        ]
    )
}

/// A custom event as a goal of a pixel.
struct GoalRecord: Sendable {
    let settings: AltcraftServerSettings
    let key: ProfileKey
    let name: String
    let value: JSONValue?
    let date: String
    let data: JSONValue?

    static let table = FieldTable<GoalRecord>(
        "Goal",
        [
            .required("db_id", \.settings.database, .integer, from: "settings.dbId", rule: .altcraft("V3")),
            .required("pixel_id", \.settings.pixel, .integer, from: "settings.pixelId", rule: .altcraft("V16")),
            .required("goal", \.name, .text, from: "event.name", rule: .altcraft("V16")),
            .optional("value", \.value, .json, from: "event.attributes", rule: .altcraft("V17")),
            .required("date", \.date, .text, from: "operation.capturedAt", rule: .altcraft("V16")),
            .required(
                "matching",
                \.settings.matching.rawValue,
                .text,
                from: "settings.matching",
                rule: .altcraft("V4")
            ),
            .optional("email", \.key.email, .text, from: "contact", rule: .altcraft("V4")),
            .optional("phone", \.key.phone, .text, from: "contact", rule: .altcraft("V4")),
            .optional("field_name", \.key.fieldName, .text, from: "settings.matchingField", rule: .altcraft("V4")),
            .optional("field_value", \.key.fieldValue, .text, from: "contact", rule: .altcraft("V4")),
            .optional("pixel_data", \.data, .json, from: "event.attributes", rule: .altcraft("V17")),
            .required(
                "skip_triggers",
                \.settings.skipTriggers,
                .flag,
                from: "settings.skipTriggers",
                rule: .altcraft("V6")
            ),
        ]
    )

    /// Most characters of a goal's name, and most bytes of its data.
    static let (nameLimit, dataLimit) = (128, 1024)

    init?(_ operation: EngagementOperation, _ settings: AltcraftServerSettings) {
        guard case .track(.custom(let name, let attributes)) = operation.action,
            let key = ProfileKey(operation, settings)
        else { return nil }
        (self.settings, self.key, self.name) = (settings, key, name.trimmed)
        value = Self.value(attributes, settings)
        date = operation.capturedAt.text
        let data = Self.data(attributes, settings)
        self.data = data.isEmpty ? nil : .object(data)
    }

    private static func value(_ attributes: [AttributeName: AttributeValue], _ settings: AltcraftServerSettings)
        -> JSONValue?
    {
        attributes[AttributeName(rawValue: settings.valueAttribute)]?.scalar.flatMap { $0.number == nil ? nil : $0 }
    }

    private static func data(_ attributes: [AttributeName: AttributeValue], _ settings: AltcraftServerSettings)
        -> JSONObject
    {
        let hasValue = value(attributes, settings) != nil
        return JSONObject(
            attributes.inOrder.compactMap { name, value in
                if hasValue, name.rawValue == settings.valueAttribute { return nil }
                return value.scalar.map { (name.rawValue, $0) }
            }
        )
    }

    static func problems(
        _ name: String,
        _ attributes: [AttributeName: AttributeValue],
        _ settings: AltcraftServerSettings
    ) -> [Finding] {
        let path = "action.event"
        if settings.pixel == 0 { return [ServerFinding.pixel.at(path)] }
        let name = name.trimmed
        if name.isEmpty { return [ServerFinding.goalBlank.at(path.dot("name"))] }
        if name.count > nameLimit {
            return [ServerFinding.goalLong.at(path.dot("name"), detail: "\(name.count) characters")]
        }
        var findings = attributes.inOrder.filter { !$0.value.isScalar }.map {
            ServerFinding.goalNested.at(path.dot("attributes").dot($0.key.rawValue))
        }
        if !name.unicodeScalars.allSatisfy(isNameable) {
            findings.append(ServerFinding.goalCharacters.at(path.dot("name")))
        }
        let size = JSONValue.object(data(attributes, settings)).text.utf8.count
        if size > dataLimit {
            findings.append(ServerFinding.goalData.at(path.dot("attributes"), detail: "\(size) bytes"))
        }
        return findings
    }

    private static let marks = Set("!#$%&*+-.,:;'=?@^_()[]/\\| \t".unicodeScalars)

    /// Letters of the Latin and Russian alphabets, currency signs, white space and some marks, from the vendor's list, and
    /// digits, which the list omits.
    private static func isNameable(_ scalar: Unicode.Scalar) -> Bool {
        if marks.contains(scalar) || scalar.properties.generalCategory == .currencySymbol { return true }
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x401, 0x410...0x44F, 0x451: return true
        default: return false
        }
    }
}

/// A push message that arrived or was opened.
struct PushRecord: Sendable {
    let events: Int
    let uid: String

    static let table = FieldTable<PushRecord>(
        "Push event of the server interface",
        [
            .required("events", \.events, .integer, from: "event.interaction", rule: .altcraft("V19")),
            .required("uid", \.uid, .text, from: "event.payload", rule: .altcraft("V19")),
        ]
    )

    init?(_ operation: EngagementOperation, _ settings: AltcraftServerSettings) {
        guard case .track(.push(let interaction, let payload, _)) = operation.action,
            let events = Self.events(interaction), let uid = Self.uid(payload, settings)
        else { return nil }
        (self.events, self.uid) = (events, uid)
    }

    /// The vendor's number: 1 arrived, 2 opened.
    private static func events(_ interaction: PushInteraction) -> Int? {
        switch interaction {
        case .received: 1
        case .tapped, .opened: 2
        case .dismissed: nil
        }
    }

    private static func uid(_ payload: JSONObject, _ settings: AltcraftServerSettings) -> String? {
        let uid = payload[settings.uidKey].flatMap { $0.string ?? $0.number?.text }
        return uid.flatMap { $0.isEmpty ? nil : $0 }
    }

    static func problems(_ interaction: PushInteraction, _ payload: JSONObject, _ settings: AltcraftServerSettings)
        -> [Finding]
    {
        let path = "action.event"
        guard payload["_ac_push"] != nil else { return [FindingRow.pushForeign.at(path.dot("payload"))] }
        let kind = events(interaction) == nil ? [FindingRow.pushDismissed.at(path.dot("interaction"))] : []
        return kind + (uid(payload, settings) == nil ? [ServerFinding.pushUID.at(path.dot("payload"))] : [])
    }
}

/// A query for a page of profiles: a caller's, or the API's own for addresses.
struct PageQuestion: Sendable {
    /// The pointer of the previous page; nil for the first page.
    var from: String?
    /// Most profiles of the page.
    var limit = PageQuestion.most
    /// A filter in the syntax of the platform's database; nil for all profiles.
    var query: JSONValue?
    /// The fields to return; nil for all.
    var fields: [String]?

    /// The maximum number of profiles per page: the vendor's default, because no higher limit is documented.
    static let most = 1000

    /// Reads a caller's query; nil if it is invalid.
    init?(_ request: ReadRequest) {
        guard request.what == "profiles" else { return nil }
        for member in request.arguments {
            switch member.name {
            case "from" where member.value.string != nil: from = member.value.string
            case "limit":
                guard let limit = member.value.integer, (1...Int64(Self.most)).contains(limit) else { return nil }
                self.limit = Int(limit)
            case "query" where member.value.object != nil: query = member.value
            case "fields":
                guard let names = member.value.array?.compactMap(\.string), names.count == member.value.array?.count
                else { return nil }
                fields = names
            default: return nil
            }
        }
    }

    /// The profiles of these keys, with their addresses.
    init(keys: [ProfileKey]) {
        let field = keys.first?.field ?? ""
        var texts: [JSONValue] = []
        for key in keys { texts += key.spellings.map(JSONValue.string) }
        query = [field: ["$in": .array(texts)]]
        fields = [field] + ["email", "phones", ProfileRow.subscriptions].filter { $0 != field }
    }
}

/// A query in the vendor's form.
struct PageRecord: Sendable {
    let settings: AltcraftServerSettings
    let question: PageQuestion

    static let table = FieldTable<PageRecord>(
        "Question for profiles",
        [
            .required("db_id", \.settings.database, .integer, from: "settings.dbId", rule: .altcraft("V3")),
            .optional("from_id", \.question.from, .text, from: "request.arguments.from", rule: .altcraft("V20")),
            .required("limit", \.question.limit, .integer, from: "request.arguments.limit", rule: .altcraft("V20")),
            .optional("query", \.question.query, .json, from: "request.arguments.query", rule: .altcraft("V20")),
            .optional("fields", \.question.fields, .names, from: "request.arguments.fields", rule: .altcraft("V20")),
        ]
    )
}

extension WireFormat<[JSONValue]> {
    /// Profiles as they are.
    static let rows = WireFormat("array of objects", schema: ["type": "array"]) { .array($0) }
}

extension WireFormat<[String]> {
    /// Names of fields.
    static let names = WireFormat("array of texts", schema: ["type": "array"]) { .array($0.map(JSONValue.string)) }
}

/// Makes requests. Each carries the token in a header, so that no body or address contains it.
struct ServerRequests: Sendable {
    let settings: AltcraftServerSettings

    private func post<Record>(_ method: String, _ table: FieldTable<Record>, _ record: Record) -> WireRequest {
        WireRequest(
            "POST",
            "\(settings.apiURL)/api/v1.1/\(method)",
            headers: [
                WireHeader("Authorization", "Bearer \(settings.apiToken?.value ?? "")", isSecret: true),
                WireHeader("Content-Type", "application/json"), WireHeader("Accept", "application/json"),
            ],
            body: table.bytes(record)
        )
    }

    func profiles(_ rows: [JSONValue]) -> WireRequest {
        post("profiles/import_batch", BatchRecord.table, BatchRecord(settings: settings, rows: rows))
    }

    func deletion(of key: ProfileKey) -> WireRequest {
        post("profiles/delete", DeletionRecord.table, DeletionRecord(settings: settings, key: key))
    }

    func goal(_ record: GoalRecord) -> WireRequest { post("goals/register", GoalRecord.table, record) }

    func push(_ record: PushRecord) -> WireRequest { post("pushes/post_events", PushRecord.table, record) }

    func page(_ question: PageQuestion) -> WireRequest {
        var request = post("profiles/list", PageRecord.table, PageRecord(settings: settings, question: question))
        // A thousand profiles with all their fields: the usual limit of a reply would cut such a page.
        request.replyLimit = 64 << 20
        return request
    }
}
