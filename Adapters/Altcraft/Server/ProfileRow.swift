import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON
import PatchbayModel

/// A profile of an import: the changes of one operation to its contact.
///
/// A field holds one instruction, and the order in which equal profiles of a request are imported is not documented.
/// Therefore each operation has a row of its own, and a request contains one row per contact.
struct ProfileRow: Sendable {
    /// The fields, without the key.
    private(set) var fields = JSONObject()
    /// The findings; errors if nothing is left to send.
    private(set) var findings: [Finding] = []
    /// Whether the operation contains only the contact's key, which is part of every row.
    private(set) var isKeyAlone = false

    private let settings: AltcraftServerSettings
    private let key: ProfileKey?

    /// The one name among a profile's data that is no field.
    static let subscriptions = "subscriptions"

    init(_ operation: EngagementOperation, _ step: AltcraftServer.Step?, _ settings: AltcraftServerSettings) {
        self.settings = settings
        key = ProfileKey(operation, settings)
        if let status = step?.owed?.first?.state.status {
            add(step?.targets ?? [], status: status, fields: nil)
            return
        }
        switch operation.action {
        case .identify(let identifiers): add(identifiers)
        case .changeAttributes(let changes): add(changes)
        case .changeTags(let change): add(change, step)
        case .changeSubscription(let subscription): add(subscription, step?.targets ?? [])
        case .unregister: add(step?.targets ?? [], status: Subscription.State.suspended.rawValue, fields: nil)
        default: break
        }
    }

    /// Returns the row in the vendor's form: the key, then the fields.
    func object(_ key: ProfileKey) -> JSONObject {
        var object: JSONObject = [key.field: key.value]
        for field in fields {
            // Values of the key's field are added to the key: a profile may have several phone numbers.
            if field.name == key.field, let own = key.value.array {
                let known = Set(own)
                object[field.name] = .array(own + (field.value.array ?? []).filter { !known.contains($0) })
            } else {
                object[field.name] = field.value
            }
        }
        return object
    }

    /// Whether a repeat would count twice.
    static func counts(_ operation: EngagementOperation, _ step: AltcraftServer.Step?) -> Bool {
        guard step?.owed == nil, case .changeAttributes(let changes) = operation.action else { return false }
        return changes.values.contains { if case .increment = $0 { true } else { false } }
    }

    // MARK: Kinds

    private mutating func add(_ identifiers: [Identifier]) {
        for (place, identifier) in identifiers.enumerated() {
            let path = "action.identifiers[\(place)]"
            let name = settings.identifierFields[identifier.kind]
            if name == nil || name == key?.field, identifier.value.trimmed == key?.text {
                isKeyAlone = true
                continue
            }
            guard let name else {
                let isKey = identifier.kind == .external
                findings.append((isKey ? ServerFinding.keyOther : ServerFinding.identifierUnnamed).at(path))
                continue
            }
            guard let field = AltcraftField.named(name) else {
                put(.string(identifier.value), in: name, path)
                continue
            }
            guard let value = field.value(.string(identifier.value), settings.fields) else {
                findings.append(FindingRow.attributeForm.at(path, detail: "\(name) takes \(field.form)"))
                continue
            }
            put(value, in: name, path)
        }
        if fields.isEmpty, !isKeyAlone {
            findings = findings.isEmpty ? [ServerFinding.empty.at("action")] : findings.map(\.asError)
        }
    }

    private mutating func add(_ changes: [AttributeName: AttributeChange]) {
        if changes.isEmpty { return findings.append(FindingRow.attributesEmpty.at("action.changes")) }
        var change = ProfileFields(settings.fields)
        change.add(changes, at: "action.changes")
        findings += change.findings
        for field in change.object { put(field.value, in: field.name, "action.changes") }
        if fields.isEmpty { findings.append(FindingRow.attributesNone.at("action.changes")) }
    }

    private mutating func add(_ change: TagChange, _ step: AltcraftServer.Step?) {
        guard !settings.tagsField.isEmpty else { return findings.append(FindingRow.tagsField.at("action.tags")) }
        func texts(_ tags: some Sequence<Tag>) -> JSONValue { .array(tags.map { .string($0.rawValue) }) }
        if change.replace != nil {
            fields[settings.tagsField] = texts(change.applied(to: []).sorted())
        } else if !change.remove.isEmpty || !change.add.isEmpty {
            let deletes = step?.addsTags != true && !change.remove.isEmpty
            let value = texts(deletes ? change.remove : change.add)
            fields[settings.tagsField] = ProfileFields.update(deletes ? "delete" : "add", value)
        }
    }

    /// Whether a change of tags needs a second request, because a field accepts one instruction.
    static func needsSecond(_ operation: EngagementOperation, _ step: AltcraftServer.Step?) -> Bool {
        guard step?.owed == nil, case .changeTags(let change) = operation.action else { return false }
        return change.replace == nil && step?.addsTags != true && !change.remove.isEmpty && !change.add.isEmpty
    }

    private mutating func add(_ subscription: Subscription, _ targets: [SubscriptionTarget]) {
        guard let status = subscription.state.status else { return }
        var plain = JSONObject()
        for (name, value) in subscription.fields.inOrder {
            if let scalar = value.scalar { plain[name.rawValue] = scalar }
        }
        add(targets, status: status, fields: plain.isEmpty ? nil : .object(plain))
    }

    private mutating func add(_ targets: [SubscriptionTarget], status: String, fields plain: JSONValue?) {
        guard !targets.isEmpty else { return }
        fields[Self.subscriptions] = .array(
            targets.map { .object(ImportSubscription.table.object($0.record(status: status, fields: plain))) }
        )
    }

    private mutating func put(_ value: JSONValue, in name: String, _ path: String) {
        let isKey = name == key?.field && value.array == nil
        if isKey || name == Self.subscriptions {
            findings.append((isKey ? ServerFinding.keyOther : ServerFinding.reserved).at(path, detail: "field \(name)"))
        } else if fields[name] != nil {
            findings.append(FindingRow.attributeCollision.at(path, detail: "field \(name)"))
        } else {
            fields[name] = value
        }
    }
}

extension Finding {
    /// The finding as an error, for an operation without other content.
    fileprivate var asError: Finding {
        var copy = self
        copy.severity = .error
        return copy
    }
}

/// A subscription of a profile: channel, resource and address.
struct SubscriptionTarget: Codable, Sendable, Equatable {
    var channel: String
    var resource: Int
    var email: String?
    var phone: String?
    var provider: String?
    var token: String?

    /// Returns the profile field with the addresses of a channel; empty if only devices have addresses; nil if the vendor has
    /// no such channel.
    static func addressed(_ channel: Channel) -> String? {
        switch channel {
        case .email: "email"
        case .sms: "phones"
        case .push: ""
        default: nil
        }
    }

    func record(status: String, fields: JSONValue?) -> ImportSubscription {
        ImportSubscription(
            channel: channel,
            resource: resource,
            email: email,
            phone: phone,
            provider: provider,
            token: token,
            status: status,
            fields: fields
        )
    }

    func at(_ resource: Int) -> SubscriptionTarget {
        var copy = self
        copy.resource = resource
        return copy
    }

    /// Reads a subscription as the platform shows it; nil if it was deleted or has no writable address.
    ///
    /// The address is a member of the channel's own object (`email_data`), or of the subscription. The object of text messages
    /// is not documented, so each possible name is tried.
    init?(shown json: JSONValue) {
        let shown = ShownSubscription(json)
        guard !shown.isDeleted, let channel = shown.channel, let resource = shown.resource else { return nil }
        (self.channel, self.resource) = (channel, resource)
        let parts = [json] + ["\(channel)_data", "phone_data"].compactMap { json[$0] }
        func text(_ name: String) -> String? { parts.lazy.compactMap { $0[name]?.string }.first { !$0.isEmpty } }
        switch channel {
        case "email": email = text("email")
        case "sms": phone = text("phone")
        case "push": (provider, token) = (text("provider"), text("subscription_id"))
        default: return nil
        }
        guard email != nil || phone != nil || provider != nil && token != nil else { return nil }
    }

    private init(channel: String, resource: Int, email: String? = nil, phone: String? = nil) {
        (self.channel, self.resource, self.email, self.phone) = (channel, resource, email, phone)
    }

    /// The subscriptions that an unregistration suspends: those that are subscribed.
    package static func subscribed(in profile: JSONValue) -> [SubscriptionTarget] {
        (profile[ProfileRow.subscriptions]?.array ?? [])
            .filter { ShownSubscription($0).state == .subscribed }.compactMap(Self.init(shown:))
    }

    /// Whether a profile shows an address of the channel, even one that can't be written here.
    static func mayReach(_ channel: Channel, in profile: JSONValue?) -> Bool {
        let shown = profile?[ProfileRow.subscriptions] ?? .null
        guard shown.isNull || shown.array != nil else { return true }
        let isSubscribed = (shown.array ?? []).map(ShownSubscription.init).contains { entry in
            !entry.isDeleted && entry.channel.map { $0 == channel.rawValue } ?? true
        }
        let own = addressed(channel).flatMap { profile?[$0] } ?? .null
        return isSubscribed || ![.null, "", []].contains(own)
    }

    /// Returns the subscriptions that a change concerns: for each resource those in it; otherwise the channel's addresses in
    /// other resources; otherwise the profile's own address.
    static func found(
        on channel: Channel,
        resources: [Int],
        in profile: JSONValue?,
        _ key: ProfileKey
    ) -> [SubscriptionTarget] {
        let shown = (profile?[ProfileRow.subscriptions]?.array ?? []).compactMap(Self.init(shown:))
            .filter { $0.channel == channel.rawValue }
        return resources.flatMap { found(on: channel, resource: $0, among: shown, in: profile, key) }
    }

    private static func found(
        on channel: Channel,
        resource: Int,
        among shown: [SubscriptionTarget],
        in profile: JSONValue?,
        _ key: ProfileKey
    ) -> [SubscriptionTarget] {
        let own = shown.filter { $0.resource == resource }
        if !own.isEmpty { return own }
        var others: [SubscriptionTarget] = []
        for target in shown.map({ $0.at(resource) }) where !others.contains(target) { others.append(target) }
        if !others.isEmpty { return others }
        let name = channel.rawValue
        switch channel {
        case .email:
            let address = profile?["email"]?.string.flatMap { Address.isEmail($0) ? $0 : nil } ?? key.email
            return address.map { [.init(channel: name, resource: resource, email: $0)] } ?? []
        case .sms:
            let number = profile?["phones"]?.array?.first?.string ?? key.phone
            return number.flatMap(Address.phone).map { [.init(channel: name, resource: resource, phone: $0)] } ?? []
        default: return []
        }
    }
}
