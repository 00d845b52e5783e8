import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel

/// The state of one installation in the form of a registration. Pending operations are folded onto it.
struct Registration: Codable, Sendable, Equatable {
    /// The device id of the vendor's own SDK, if the app passed one.
    var adoptedID: String?
    /// The device id of the first registration. It stays the device's id, even if the app passes another one later.
    var knownAs: String?
    /// The contact key; nil until one is known. It can be changed but not removed.
    var contactKey: String?
    /// The app's opaque token.
    var signedString: Secret?
    /// The push token.
    var pushToken: Secret?
    /// The device's facts; nil until the app has captured them.
    var facts: Facts?
    /// The person's permissions on the device.
    var permissions = Permissions()
    /// The push subscription's state; nil without a decision.
    var pushState: Subscription.State?
    /// The latest push decisions of people; nil without any.
    var decisions: PushDecisions?
    /// Whether push is off because the current person has not allowed messages (D11); nil means false.
    var isMessagingWithheld: Bool?
    /// Whether the device was unregistered or erased, so that push stays off.
    var hasLeft = false
    /// Attributes by the vendor's names.
    var attributes: [String: String] = [:]
    /// The app's tags, sorted, without the automatic ones.
    var tags: [String] = []
    /// Attributes that are omitted although the vendor may hold a value of them, sorted.
    var silenced: [String]?
    /// The position of the first operation of the contact key's person; nil if no other person was known before.
    var personSince: Int64?
    /// The operation with which attributes and tags of a person were last emptied.
    var clearedAt: Int64?
    /// The persons who were logged in as this contact, as operations name them; empty without a log-in; nil if unknown.
    /// An operation that names another person is not this contact's, even if consent held back or completed that change
    /// of person.
    var people: [String]?
    /// The operation with which the contact key became this one.
    var keyAt: Int64?
    /// The position of the last operation that identified the device's user.
    var arrivedAt: Int64?
    /// The position of the log-out after which no person is known. The vendor still holds the old person's key.
    var vacatedAt: Int64?
    /// The data of the previous person on the device, until the vendor acknowledges the next contact key.
    var handOver: HandOver?

    /// The data that a device carried of one person when it changed to another. Names and numbers, no values.
    struct HandOver: Codable, Sendable, Equatable {
        var attributes: [String]
        var tags: Int
    }

    /// The device facts that a registration carries.
    struct Facts: Codable, Sendable, Equatable {
        var platform: String
        var platformVersion: String
        var model: String
        var locale: String
        var utcOffsetSeconds: Int
        var isDaylightSaving: Bool
        var appID: String?
        var appVersion: String

        init(_ facts: DeviceFacts, at date: Instant) {
            platform = FactRules.platform(facts.platform) ?? facts.platform
            (platformVersion, model) = (facts.platformVersion.trimmed, facts.model.trimmed)
            (appID, appVersion, locale) = (facts.appID, facts.appVersion.trimmed, FactRules.locale(facts.locale))
            (utcOffsetSeconds, isDaylightSaving) = FactRules.offset(of: facts, at: date)
        }

        /// Reads the facts of a sent registration; nil if it has none.
        init?(sent body: JSONValue) {
            guard let platform = body["platform"]?.string, let offset = body["timeZone"]?.string.flatMap(Int.init)
            else { return nil }
            func text(_ name: String) -> String { body[name]?.string ?? "" }
            (self.platform, platformVersion, model) = (platform, text("platform_Version"), text("hwid"))
            (locale, utcOffsetSeconds) = (text("locale"), offset)
            (isDaylightSaving, appVersion) = (body["dST"]?.bool ?? false, text("app_Version"))
        }
    }

    /// The person's permissions on the device.
    struct Permissions: Codable, Sendable, Equatable {
        var push = false
        var backgroundPush = false
        var location = false
        var proximity = false
    }

    /// Whether push is wanted and permitted (W7).
    var isPushEnabled: Bool { isPushWanted && isMessagingWithheld != true }

    private var isPushWanted: Bool {
        permissions.push && !hasLeft && (pushState == nil || pushState == .subscribed)
    }

    /// Records whether the current person and the contact key's person both allow messages (D11).
    mutating func mayMessage(_ window: PendingOperations<SalesforceDevice>) {
        let people = (people ?? []) + [contactKey].compactMap(\.self)
        mayMessage(window.allowsPushMessages(to: nil) && people.allSatisfy { window.allowsPushMessages(to: $0) })
    }

    /// Records whether messages are allowed, as far as push depends on it (D11).
    mutating func mayMessage(_ isAllowed: Bool) {
        isMessagingWithheld = isPushWanted && !isAllowed ? true : nil
    }

    /// Returns the warning that a device id was passed too late to be adopted; nil if it was not.
    func adoptionFinding(of device: Device) -> Finding? {
        guard let knownAs, let adopted = DeviceRules.adoptedID(of: device), adopted != knownAs else { return nil }
        return FindingRow.deviceIDLate.at("action.device.identities.\(DeviceRules.identityName.rawValue)")
    }

    /// Returns the state after these operations, each as far as the vendor accepts it.
    func applying(
        _ operations: some Sequence<Pending<SalesforceDevice>>,
        settings: SalesforceSettings
    ) -> Registration {
        var state = self
        for pending in operations { state.apply(pending.operation, sequence: pending.sequence, settings: settings) }
        return state
    }

    /// Applies one operation, unless it is personal and was captured for an earlier user of the device.
    mutating func apply(_ operation: EngagementOperation, sequence: Int64, settings: SalesforceSettings) {
        if isOfFormer(operation, sequence: sequence, settings: settings) { return }
        if isOfNext(operation, sequence: sequence) { vacate(after: sequence - 1, settings: settings) }
        if contactKey == nil, vacatedAt == nil, let contact = operation.contact,
            [.changeAttributes, .changeTags].contains(operation.action.kind)
        {
            people = Set((people ?? []) + [contact]).sorted()
        }
        arrive(operation, sequence: sequence, settings: settings)
        if sequence >= clearedAt ?? .min {
            switch SalesforceOptions(operation).signedString {
            case .set(let text): signedString = Secret(text)
            case .removed: signedString = nil
            case .absent, .ignored: break
            }
        }
        switch operation.action {
        case .registerDevice(let device): apply(device, at: operation.capturedAt)
        case .changeAttributes(let changes):
            set(AttributeRules.judge(changes, settings: settings).kept)
        case .changeTags(let change):
            let kept = TagRules.judge(change).kept
            tags = TagRules.applying(kept, to: tags, ignoringCase: settings.tagsIgnoreCase)
        case .changeSubscription(let subscription):
            guard let topic = subscription.topic?.trimmed else { return decide(subscription.state, of: operation) }
            let change: TagRules.Change =
                subscription.state == .subscribed ? .init(add: [topic]) : .init(remove: [topic])
            tags = TagRules.applying(change, to: tags, ignoringCase: settings.tagsIgnoreCase)
        case .unregister: hasLeft = true
        case .erase:
            (hasLeft, signedString, pushToken, tags) = (true, nil, nil, [])
            emptyAttributes()
        case .identify, .switchContact, .track, .setConsent, .readBack: break
        @unknown default: break
        }
    }

    private mutating func set(_ pairs: [AttributeRules.Pair]) {
        var silent = Set(silenced ?? [])
        for pair in pairs {
            if pair.value != nil {
                silent.remove(pair.name)
            } else if attributes[pair.name] != nil {
                silent.insert(pair.name)
            }
            attributes[pair.name] = pair.value
        }
        if silenced != nil || !silent.isEmpty { silenced = silent.sorted() }
    }

    /// Sends every attribute that the vendor may hold with an empty value.
    mutating func emptyAttributes() {
        for name in Array(attributes.keys) + (silenced ?? []) { attributes[name] = "" }
        silenced = nil
    }

    private mutating func apply(_ device: Device, at date: Instant) {
        adoptedID = DeviceRules.adoptedID(of: device) ?? adoptedID
        // A token that the vendor cannot use does not replace one that it can.
        if device.pushToken == nil || DeviceRules.token(of: device) != nil {
            pushToken = DeviceRules.token(of: device).map(Secret.init)
        }
        facts = device.facts.map { Facts($0, at: date) } ?? facts
        permissions = Permissions(
            push: device.allowsPush,
            backgroundPush: device.allowsBackgroundPush,
            location: device.allowsLocation,
            proximity: device.allowsProximity
        )
        hasLeft = false
    }

    /// Adds values of a registration that the present operations lack, because theirs are complete or hidden.
    mutating func learn(from body: JSONValue, before sequence: Int64, settings: SalesforceSettings) {
        if facts == nil, let sent = Facts(sent: body) {
            facts = sent
            pushToken = pushToken ?? body["device_Token"]?.string.map { Secret($0) }
            permissions.push = permissions.push || body["push_Enabled"]?.bool == true
        }
        for name in body["attributes"]?.array?.compactMap({ $0["key"]?.string }) ?? [] where attributes[name] == nil {
            attributes[name] = ""
        }
        if let key = body["subscriberKey"]?.string, contactKey.map({ !ContactKeyRules.areSame($0, key) }) ?? true {
            arrive(key: key, sequence: sequence, settings: settings)
        }
    }
}

// MARK: Persons

extension Registration {
    /// Whether an operation was captured for an earlier user of the device, and must not reach the next contact.
    ///
    /// Operations that concern the device itself, and every opt-out, count for every person.
    func isOfFormer(_ operation: EngagementOperation, sequence: Int64, settings: SalesforceSettings) -> Bool {
        let isOfOther = sequence < arrivedAt ?? .min && operation.contact.map { people?.contains($0) == false } ?? false
        return switch operation.action {
        case .identify, .switchContact: isOvertaken(operation.action, sequence: sequence, settings: settings)
        case .changeAttributes, .changeTags:
            settings.contactChange == .clear && (isOfOther || sequence < clearedAt ?? .min)
        case .changeSubscription(let subscription) where subscription.state != .subscribed: false
        case .changeSubscription, .track: isOfOther || sequence < personSince ?? .min
        case .registerDevice, .setConsent, .unregister, .erase, .readBack: false
        @unknown default: false
        }
    }

    /// Whether a later operation shows that another contact uses the device.
    private func isOvertaken(_ action: Action, sequence: Int64, settings: SalesforceSettings) -> Bool {
        guard let arrivedAt, sequence < arrivedAt, let identifiers = action.identifiers,
            let key = ContactKeyRules.key(of: identifiers, settings: settings)
        else { return false }
        return contactKey.map { !ContactKeyRules.areSame($0, key) } ?? false
    }

    /// Whether an operation was captured for a later person than the contact key's, although no change of person was
    /// captured.
    func isOfNext(_ operation: EngagementOperation, sequence: Int64) -> Bool {
        guard vacatedAt == nil, sequence > arrivedAt ?? .min else { return false }
        guard ![.identify, .switchContact, .erase, .unregister].contains(operation.action.kind) else { return false }
        return people?.contains(operation.contact ?? "") == false
    }

    /// Records a person's push decision. A decision about the device by a person who has logged out counts when the
    /// person comes back. An opt-out also counts now, unless the next person has opted in (D10).
    private mutating func decide(_ state: Subscription.State, of operation: EngagementOperation) {
        let isOfFormer = operation.contact.map { people?.contains($0) == false } ?? false
        let key = vacatedAt == nil && !isOfFormer ? contactKey : nil
        var decisions = decisions ?? PushDecisions()
        decisions.note(state, of: [operation.contact, key].compactMap(\.self))
        self.decisions = decisions
        let present = (people ?? []) + [contactKey].compactMap(\.self)
        guard !isOfFormer || state != .subscribed && decisions.state(of: present) != .subscribed else { return }
        pushState = state
    }

    /// Restores the last push decision on this device of a person who logs in (D10).
    private mutating func restorePush(of names: [String]) {
        guard let state = decisions?.arrive(names) else { return }
        pushState = state
    }

    /// Records the device's user from an operation on: another contact key, or no known person.
    private mutating func arrive(_ operation: EngagementOperation, sequence: Int64, settings: SalesforceSettings) {
        // A request may have carried the operation already.
        if let arrivedAt, sequence <= arrivedAt { return }
        guard let identifiers = operation.action.identifiers else { return }
        if let key = ContactKeyRules.key(of: identifiers, settings: settings) {
            let contact = operation.contact ?? ""
            // Values of a person without a captured log-in do not belong to the next person.
            if contactKey == nil, vacatedAt == nil, people?.contains(where: { $0 != contact }) == true {
                depart(at: sequence, settings: settings)
            }
            let isSame = contactKey.map { ContactKeyRules.areSame($0, key) } ?? false
            let known = isSame && vacatedAt == nil ? people ?? [] : []
            arrive(key: key, sequence: sequence, settings: settings)
            people = Set(known + [contact]).sorted()
            restorePush(of: [operation.contact, key].compactMap(\.self))
        } else if operation.action.kind == .switchContact, contactKey != nil, vacatedAt == nil {
            vacate(after: sequence, settings: settings)
        }
    }

    /// Records that the device belongs to the contact of a key.
    mutating func arrive(key: String, sequence: Int64, settings: SalesforceSettings) {
        if contactKey == nil { keyAt = sequence }
        if let contactKey {
            let isSame = ContactKeyRules.areSame(contactKey, key)
            if !isSame { keyAt = vacatedAt.map { $0 + 1 } ?? sequence }
            if !isSame, vacatedAt == nil { depart(at: sequence, settings: settings) }
            // Operations of an anonymous person belong to the next person.
            if !isSame { personSince = vacatedAt.map { $0 + 1 } ?? sequence }
        }
        (contactKey, people, vacatedAt, arrivedAt) = (key, nil, nil, sequence)
    }

    /// Records that the contact key's person has logged out and no known person has logged in.
    private mutating func vacate(after sequence: Int64, settings: SalesforceSettings) {
        depart(at: sequence, settings: settings)
        (vacatedAt, arrivedAt) = (sequence, sequence)
    }

    /// Ends the data of the device's previous user (A12). An opt-out of push stays, because it is the device's.
    private mutating func depart(at sequence: Int64, settings: SalesforceSettings) {
        (signedString, clearedAt) = (nil, sequence)
        let names = Set(attributes.filter { !$0.value.isEmpty }.keys).union(silenced ?? [])
        let former = HandOver(
            attributes: names.union(handOver?.attributes ?? []).sorted { $0.precedes($1) },
            tags: max(tags.count, handOver?.tags ?? 0)
        )
        handOver = former.attributes.isEmpty && former.tags == 0 ? nil : former
        guard settings.contactChange == .clear else { return }
        emptyAttributes()
        tags = []
    }
}

/// Validates devices.
package enum DeviceRules: Sendable {
    /// The name under which an app passes the device id of the vendor's own SDK.
    package static let identityName: Device.IdentityName = "salesforce.deviceID"

    /// The device id that the app passes, if it is valid.
    static func adoptedID(of device: Device) -> String? {
        device.identities[identityName].map(\.trimmed).flatMap { UUIDText.isValid($0) ? $0 : nil }
    }

    /// The push token, if the vendor can use it.
    static func token(of device: Device) -> String? {
        guard let token = device.pushToken, problem(of: token, on: device.facts?.platform) == nil else { return nil }
        return token.value
    }

    /// Returns the findings about a device.
    static func judge(_ device: Device, at date: Instant) -> [Finding] {
        var findings = device.facts.map { FactRules.judge($0, at: date) } ?? []
        if device.identities[identityName] != nil, adoptedID(of: device) == nil {
            findings.append(FindingRow.deviceIDInvalid.at("action.device.identities.\(identityName.rawValue)"))
        }
        if let token = device.pushToken, let row = problem(of: token, on: device.facts?.platform) {
            findings.append(row.at("action.device.pushToken"))
        }
        return findings
    }

    /// The push service of each platform.
    private static let services: [String: PushToken.Service] = ["iOS": .apns, "Android": .fcm]

    private static func problem(of token: PushToken, on platform: String?) -> FindingRow? {
        let service = platform.flatMap(FactRules.platform).flatMap { services[$0] }
        guard services.values.contains(token.service), service == nil || service == token.service else {
            return .tokenService
        }
        if token.value.trimmed.isEmpty { return .tokenBlank }
        let isFine =
            token.service == .apns
            ? token.value.utf8.allSatisfy(UUIDText.isHexDigit)
            : token.value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isFine ? nil : .tokenInvalid
    }
}

/// An operation's options for this adapter.
struct SalesforceOptions: Sendable {
    /// The treatment of the signed string (K10).
    enum SignedString: Sendable {
        case absent
        case set(String)
        case removed
        case ignored
    }

    /// The treatment of the signed string.
    let signedString: SignedString
    /// Unknown option names.
    let unknown: [String]

    init(_ operation: EngagementOperation) {
        guard let options = operation.options[SalesforceDevice.descriptor.id] else {
            (signedString, unknown) = (.absent, [])
            return
        }
        unknown = options.names.filter { $0 != "signedString" }
        switch options["signedString"] {
        case nil: signedString = .absent
        case .null?:
            signedString = .removed
        case .string(let text)? where !text.trimmed.isEmpty: signedString = .set(text.trimmed)
        default: signedString = .ignored
        }
    }
}
