import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayJSON
import PatchbayModel

/// A field of the vendor's profile, from its data model.
package struct ProfileField: Sendable {
    /// The values that the field accepts.
    enum Form: Sendable {
        case text(Int?), day, words([String]), flag
        /// Computed, or the vendor's own.
        case readOnly
        /// Another record, which is not written inside this one.
        case link
    }

    let name: String
    let form: Form

    /// The names of the enumeration, which files take, too.
    package static let genders = ["unknown", "male", "female"]

    /// Every field of the data model.
    static let all: [ProfileField] =
        [
            ("email", 128), ("firstName", 30), ("lastName", 50), ("middleName", 30), ("salutation", 20), ("phone", 32),
            ("mobilePhone", 32), ("fax", 32), ("externalId", 100), ("timeZone", nil),
        ].map { ProfileField(name: $0.0, form: .text($0.1)) } + [
            ProfileField(name: "birthDate", form: .day),
            ProfileField(name: "gender", form: .words(genders)),
            ProfileField(name: "emailFormat", form: .words(["unknown", "text", "html"])),
        ]
        + (ProfileFlags.channels.map(\.field) + [ProfileFlags.all, ProfileFlags.sale])
        .map { ProfileField(name: $0, form: .flag) }
        + ["country", "stateLink", "location", "postalAddress"].map { ProfileField(name: $0, form: .link) }
        + ["PKey", "age", "created", "lastModified", "title", "domain", "cryptedId"].map {
            ProfileField(name: $0, form: .readOnly)
        }

    private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

    static func named(_ name: String) -> ProfileField? { byName[name] }

    /// The maximum length in characters; nil if the data model states none.
    var limit: Int? { if case .text(let limit) = form { limit } else { nil } }

    /// Whether an operation may write it.
    var isWritten: Bool {
        switch form {
        case .text, .day, .words, .flag: true
        case .readOnly, .link: false
        }
    }

    /// Neutral attributes that the data model has a field for.
    static let attributes: [AttributeName: String] = [
        .givenName: "firstName", .familyName: "lastName", .birthDate: "birthDate", .gender: "gender",
    ]

    /// The names of fields that an account adds.
    static func isCustom(_ name: String) -> Bool {
        name.hasPrefix("cus") && name.utf8.count > 3
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
                default: false
                }
            }
    }
}

/// The profile fields that one operation writes, with findings.
struct ServerFields: Sendable {
    /// A field with its value.
    struct Member: PlacedValue, Equatable {
        var name: String
        var value: JSONValue

        var place: String { name }
    }

    /// The fields to write, each once, in the order of the neutral names.
    private(set) var members: [Member] = []
    /// The findings; errors if no field is left to write.
    private(set) var findings: [Finding] = []
    /// Whether the operation contains only the contact's key.
    private(set) var isKeyAlone = false

    private let settings: AdobeServerSettings
    /// The names of the members.
    private var fields: Set<String> = []

    init(_ operation: EngagementOperation, _ settings: AdobeServerSettings) {
        self.settings = settings
        switch operation.action {
        case .identify(let identifiers): add(identifiers, key: operation.contactKey)
        case .changeAttributes(let changes): add(changes)
        case .changeTags(let change): add(change)
        case .changeSubscription(let subscription): add(subscription)
        default: break
        }
        guard members.isEmpty, !isKeyAlone else { return }
        findings = findings.isEmpty ? [ServerFinding.empty.at("action")] : findings.map(\.asAdobeError)
    }

    // MARK: Kinds

    private mutating func add(_ identifiers: [Identifier], key: String) {
        for (place, identifier) in identifiers.enumerated() {
            let path = "action.identifiers[\(place)]"
            let field = settings.identifierFields[identifier.kind]
            let value = identifier.value.trimmed
            // A customer number is the contact's key, unless the account has a field of its own for it.
            if field == settings.keyField || field == nil && identifier.kind == .external {
                let isKey = ScalarString.equal(value, key)
                if isKey { isKeyAlone = true } else { findings.append(ServerFinding.keyOther.at(path)) }
            } else {
                put(field, .string(value), path)
            }
        }
    }

    private mutating func add(_ changes: [AttributeName: AttributeChange]) {
        for (name, change) in changes.inOrder {
            let path = "action.changes".dot(name.rawValue)
            let field = settings.field(of: name)
            switch change {
            case .set(let value):
                switch json(value, for: field.flatMap(ProfileField.named)) {
                case .success(let json): put(field, json, path)
                case .failure(let problem): findings.append(problem.row.at(path, detail: problem.detail))
                }
            case .unset:
                put(field, settings.unset == .blank ? "" : .null, path)
            case .increment, .append, .remove: findings.append(ServerFinding.arithmetic.at(path))
            }
        }
    }

    private mutating func add(_ change: TagChange) {
        var states: [Tag: Bool] = [:]
        if let replace = change.replace {
            // A tag without a field can't be removed.
            for tag in settings.tagFields.keys { states[tag] = false }
            for tag in replace { states[tag] = true }
        }
        for tag in change.remove { states[tag] = false }
        for tag in change.add { states[tag] = true }
        for (tag, isOn) in states.inOrder {
            put(settings.tagFields[tag], .bool(isOn), "action.tags")
        }
    }

    private mutating func add(_ subscription: Subscription) {
        let path = "action.subscription"
        guard subscription.topic == nil else { return }
        guard let flag = ProfileFlags.channels.first(where: { $0.channel == subscription.channel }) else {
            return findings.append(ServerFinding.subscriptionChannel.at(path.dot("channel")))
        }
        findings += subscription.adobeFindings
        guard subscription.state != .unknown else { return }
        put(flag.field, .bool(subscription.state != .subscribed), path)
    }

    // MARK: Values

    private mutating func put(_ field: String?, _ value: JSONValue, _ path: String) {
        guard let field else { return findings.append(ServerFinding.unnamed.at(path)) }
        if field == settings.keyField { return findings.append(ServerFinding.keyOther.at(path)) }
        if let own = ProfileField.named(field) {
            guard own.isWritten else { return findings.append(ServerFinding.fieldReadOnly.at(path)) }
            if let limit = own.limit, let text = value.string, text.utf16.count > limit {
                let size = "\(text.utf16.count) characters, not \(limit)"
                return findings.append(ServerFinding.longText.at(path, detail: size))
            }
        } else if settings.resource == .profileAndServices {
            return findings.append(ServerFinding.customField.at(path))
        }
        guard fields.insert(field).inserted else {
            return findings.append(ServerFinding.collision.at(path))
        }
        members.append(Member(name: field, value: value))
    }

    /// Returns the value in the field's form. A custom field takes the value's own form.
    private func json(_ value: AttributeValue, for field: ProfileField?) -> Result<JSONValue, AdobeProblem> {
        switch (field?.form, value) {
        case (_, .choices), (_, .list), (_, .object): return .failure(AdobeProblem(ServerFinding.nested))
        case (.flag, _):
            guard case .boolean(let flag)? = value.converted(to: .boolean) else { return mismatch(value) }
            return .success(.bool(flag))
        case (.day, _):
            guard case .date(let day)? = value.converted(to: .date) else { return mismatch(value) }
            return .success(.string(day.text))
        case (.words(let words), _):
            guard let word = value.plainText, words.contains(word) else {
                return .failure(AdobeProblem(ServerFinding.word, "one of \(words.joined(separator: ", "))"))
            }
            return .success(.string(word))
        case (nil, .boolean(let flag)): return .success(.bool(flag))
        case (nil, .integer), (nil, .decimal):
            return value.plainText.flatMap(JSONNumber.init(text:)).map { .success(.number($0)) } ?? mismatch(value)
        default: return value.campaignText(settings.timeForm).map { .success(.string($0)) } ?? mismatch(value)
        }
    }

    private func mismatch(_ value: AttributeValue) -> Result<JSONValue, AdobeProblem> {
        .failure(AdobeProblem(ServerFinding.valueForm, value.type.rawValue))
    }
}

/// The reason why a value has no form for its field.
struct AdobeProblem: Error {
    /// The finding to report.
    var row: FindingRow
    /// Sizes and names, never the value.
    var detail: String?

    init(_ row: FindingRow, _ detail: String? = nil) { (self.row, self.detail) = (row, detail) }
}

extension Finding {
    /// The finding as an error, for an operation without other content.
    fileprivate var asAdobeError: Finding {
        var copy = self
        copy.severity = .error
        return copy
    }
}

extension AdobeServerSettings {
    /// The field of an attribute: the one that the settings name, the data model's own, or its own name if it is a field's.
    func field(of name: AttributeName) -> String? {
        if let field = fieldNames[name] ?? ProfileField.attributes[name] { return field }
        let own = name.rawValue
        return ProfileField.named(own) != nil || ProfileField.isCustom(own) ? own : nil
    }
}

/// The combined changes of several operations to one profile. The last value of a field wins (B35).
struct ProfileRow: Sendable {
    /// The field that identifies the profile, with the contact's key as value.
    let key: ServerFields.Member
    private var folding = Folding<ServerFields.Member>()

    init(_ operations: [Pending<AdobeServer>], _ settings: AdobeServerSettings) {
        let key = operations.first?.operation.contactKey ?? ""
        self.key = ServerFields.Member(name: settings.keyField, value: .string(key))
        for one in operations { folding.add(one.id, ServerFields(one.operation, settings).members) }
    }

    /// The other fields, each once.
    var members: [ServerFields.Member] { folding.values }

    /// Returns the operation that replaced the last value of another one; nil if at least one of its values is sent.
    func replacement(of id: OperationID, _ members: [ServerFields.Member]) -> OperationID? {
        folding.replacement(of: id, members)
    }
}

/// The request body of a profile: the vendor's own fields in the order of their table, then the account's custom fields.
struct ProfileRecord: Sendable {
    let members: [ServerFields.Member]

    static let table = FieldTable<ProfileRecord>(
        "Profile",
        ProfileField.all.filter(\.isWritten).map { field in
            .optional(
                field.name,
                { record in record.members.first { $0.name == field.name }?.value },
                .json,
                from: source(of: field.name),
                rule: .adobe(field.name.hasPrefix("blackList") ? "B20" : "B14")
            )
        }
    )

    private static func source(of field: String) -> String {
        if let name = ProfileField.attributes.first(where: { $0.value == field })?.key {
            return "attributes.\(name.rawValue)"
        }
        if let flag = ProfileFlags.channels.first(where: { $0.field == field }) {
            return "subscriptions.\(flag.channel.rawValue)"
        }
        return ["email", "mobilePhone", "externalId"].contains(field) ? "identifiers" : "attributes.\(field)"
    }

    /// The bytes of the body.
    var bytes: [UInt8] {
        var object = Self.table.object(self)
        for member in members where ProfileField.named(member.name) == nil {
            object[member.name] = member.value
        }
        return Array(JSONValue.object(object).text.utf8)
    }
}

extension ProfileRow {
    /// The body that creates the profile.
    var made: ProfileRecord { ProfileRecord(members: [key] + members) }
    /// The body of an update, with changed fields only (B11).
    var changed: ProfileRecord { ProfileRecord(members: members) }
}
