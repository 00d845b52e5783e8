import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayAltcraftServer
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// Reads profiles, one JSON object per line. Empty lines are ignored.
struct ProfileReader: LineReader {
    /// The longest line that is read, in bytes without its end.
    private static let longestLine = RecordLength.usual

    let settings: ImportSettings
    var lines = RecordLines(maximumLength: longestLine, refusing: .lineJSON)
    private let fields: ImportFields

    init(settings: ImportSettings) { (self.settings, fields) = (settings, ImportFields(settings)) }

    /// Fields and types that a profile has without a setting: JSON's own, and those of the platform's own fields.
    private static let usualTypes: Set<AttributeType> = [
        .string, .integer, .decimal, .boolean, .list, .object, .country, .date, .timestamp,
    ]

    func canHold(_ sample: Contact) -> Bool {
        let kinds = Set(settings.identifierFields.keys).union([.email, .phone])
        let types = Self.usualTypes.union(settings.types.values.compactMap(AttributeType.init))
        return sample.identifiers.allSatisfy { kinds.contains($0.kind) }
            && sample.attributes.values.allSatisfy { types.contains($0.type) }
            && (sample.tags.isEmpty || !settings.tagsField.isEmpty)
            && sample.locale == nil && sample.consents.isEmpty && sample.devices.allSatisfy { $0.facts == nil }
    }

    func overlong(length: Int, number: Int, line: Int) -> SourceRecord {
        let detail = "line \(line), \(length) bytes, the limit is \(Self.longestLine)"
        return SourceRecord(
            number: number,
            line: line,
            bytes: [],
            contact: nil,
            findings: [FindingRow.lineTooLong.at(detail: detail)]
        )
    }

    func record(_ bytes: [UInt8], number: Int, line: Int) -> SourceRecord {
        var record = SourceRecord(number: number, line: line, bytes: bytes, contact: nil)
        let hasMark = line == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF])
        do {
            let json = try JSONValue(parsing: hasMark ? bytes.dropFirst(3) : bytes[...])
            var profile = ProfileDraft(settings, fields)
            let contact = profile.contact(of: json)
            record.findings = profile.findings
            record.addressOptOuts = profile.addressOptOuts
            // The unreadable part may contain an opt-out.
            if profile.findings.contains(where: { $0.severity == .error }) {
                record.said = contact.map {
                    RefusedWords(
                        of: $0,
                        unread: profile.unread,
                        profile.deniesAll ? [Consent.Scope(.messaging, channel: nil)] : []
                    )
                }
            } else {
                record.contact = contact
            }
        } catch {
            let place = "line \(line), column \(error.column): \(error.code.reason)"
            record.findings = [FindingRow.lineJSON.at(detail: place)]
        }
        return record
    }
}

/// The settings for the fields of each profile.
struct ImportFields: Sendable {
    /// The kinds of identifiers that have a field, in order.
    let kinds: [IdentifierKind]
    /// The fields that hold no attribute.
    let taken: Set<String>
    /// The attributes that have another name than their field.
    let names: [String: AttributeName]
    /// The types of the platform's own fields.
    let usualTypes: [String: AttributeType] = ["_country": .country, "_bdate": .date, "_regdate": .date]

    init(_ settings: ImportSettings) {
        kinds = settings.identifierFields.keys.sorted { $0.place < $1.place }
        taken = Set(settings.identifierFields.values).union(["_tz", "subscriptions", settings.tagsField])
        names = Dictionary(settings.fieldNames.map { ($1, $0) }, uniquingKeysWith: min)
    }
}

/// Converts a profile to a contact, and collects findings about parts that can't be read.
private struct ProfileDraft {
    private(set) var findings: [Finding] = []
    /// The subscriptions with an unreadable status.
    private(set) var unread: Set<Subscription.Key> = []
    /// Whether the global status cannot be read.
    private(set) var deniesAll = false
    /// Opt-outs of addresses other than the one to which the contact's messages go.
    private(set) var addressOptOuts: [Contact] = []
    private let settings: ImportSettings
    private let fields: ImportFields
    /// The subscriptions of each push token's entries.
    private var words: [PushToken: [Subscription]] = [:]

    init(_ settings: ImportSettings, _ fields: ImportFields) { (self.settings, self.fields) = (settings, fields) }

    /// Returns the contact with its readable parts; nil if there are none, or if the person is ambiguous.
    mutating func contact(of json: JSONValue) -> Contact? {
        guard let line = json.object else {
            findings = [FindingRow.lineJSON.at(detail: "it is \(json.typePhrase)")]
            return nil
        }
        let isBody = line["db_id"] != nil || line["matching"] != nil
        guard let data = isBody ? line["data"]?.object : line else {
            findings = [FindingRow.lineProfile.at("data")]
            return nil
        }
        var contact = Contact(identifiers: identifiers(line, data))
        guard !contact.identifiers.isEmpty else {
            findings.append(FindingRow.profileKey.at("identifiers", remedy: line.unwrapping))
            return nil
        }
        for field in data where field.name.utf8.contains(0) || field.value.holdsNUL {
            findings.append(FindingRow.profileControl.at("data".dot(field.name)))
        }
        contact.attributes = attributes(data)
        contact.timeZone = data["_tz"]?.string
        if !settings.tagsField.isEmpty {
            contact.tags = Set(
                (data[settings.tagsField]?.array ?? []).compactMap { $0.string.map(Tag.init(rawValue:)) }
            )
        }
        addSubscriptions(data["subscriptions"], to: &contact)
        addGlobalStatus(data[ShownSubscription.globalStatus], to: &contact)
        return contact
    }

    // MARK: Identifiers and attributes

    private mutating func identifiers(_ line: JSONObject, _ data: JSONObject) -> [Identifier] {
        var identifiers: [Identifier] = []
        func add(_ kind: IdentifierKind, _ value: JSONValue?) {
            let texts = value?.array?.map(\.string) ?? [value?.string ?? value?.number?.text]
            for text in texts.compactMap({ $0 }) where !text.isEmpty {
                let (read, path) = (IdentifierText(text), "identifiers".dot(kind.rawValue))
                if let damage = read.damage {
                    findings.append(FindingRow.profileIdentifier.at(path, detail: damage.rawValue))
                    continue
                }
                if read.value != text { findings.append(FindingRow.profileIdentifierCleaned.at(path)) }
                let identifier = Identifier(kind, read.value)
                if !identifiers.contains(identifier) { identifiers.append(identifier) }
            }
        }
        for kind in fields.kinds { add(kind, settings.identifierFields[kind].flatMap { data[$0] }) }
        if line["db_id"] != nil {
            add(.email, line["email"])
            add(.phone, line["phone"])
            let custom = settings.identifierFields.first { $0.value == line["field_name"]?.string }?.key
            if let custom { add(custom, line["field_value"]) }
        }
        return identifiers
    }

    private mutating func attributes(_ data: JSONObject) -> [AttributeName: AttributeValue] {
        var attributes: [AttributeName: AttributeValue] = [:]
        for field in data where !fields.taken.contains(field.name) {
            let name = fields.names[field.name] ?? AttributeName(rawValue: field.name)
            if let value = value(field.value, of: field.name, name) { attributes[name] = value }
        }
        return attributes
    }

    private mutating func value(_ json: JSONValue, of field: String, _ name: AttributeName) -> AttributeValue? {
        if json.isNull { return nil }
        if field == "_sex", let code = json.integer { return [1: "male", 2: "female"][code] ?? .integer(code) }
        let json = json["action"]?.string == "set" ? json["value"] ?? json : json
        guard !json.isNull, let value = held(json, field) else { return nil }
        let usual = fields.usualTypes[field]
        if field == "_bdate", settings.types[name].map({ $0 == AttributeType.date.rawValue }) ?? true,
            case .timestamp(let instant)? = value.type == .string ? value.converted(to: .timestamp) : nil
        {
            findings.append(FindingRow.profileBirthday.at("data".dot(field)))
            return .date(instant.nearestDay)
        }
        guard let type = settings.types[name].flatMap(AttributeType.init) ?? usual, type != value.type else {
            return value
        }
        // A text that the type would change, such as a number with leading zeros, stays a text. Several values are a list.
        let isText = value.type == .string
        if let converted = value.converted(to: type),
            !isText || type != .choices && converted.converted(to: .string) == value
        {
            return converted
        }
        // A birthday may be an instant.
        if usual != nil, let instant = value.converted(to: .timestamp) { return instant }
        if settings.types[name] != nil, value.type == .string || value.type == .list {
            findings.append(FindingRow.profileField.at("data".dot(field), detail: "not of the type \(type.rawValue)"))
        }
        return value
    }

    /// Returns a value; nil, with a finding, for a number that can't be represented.
    private mutating func held(_ json: JSONValue, _ path: String) -> AttributeValue? {
        let value = AttributeValue(plain: json)
        if value == nil { findings.append(FindingRow.profileNumber.at("data".dot(path))) }
        return value
    }

    // MARK: Subscriptions

    private mutating func addSubscriptions(_ json: JSONValue?, to contact: inout Contact) {
        guard let json, !json.isNull else { return }
        guard let entries = json.array else {
            let place = "data".dot("subscriptions")
            return findings.append(FindingRow.profileSubscriptions.at(place, detail: "it is \(json.typePhrase)"))
        }
        let shown = entries.enumerated().map { ("subscriptions[\($0)]", ShownSubscription($1)) }
        for (path, entry) in shown where !entry.isDeleted { add(entry, path, to: &contact) }
        // A later entry that counts for the contact replaces a deleted one.
        var later: Set<Subscription.Key> = []
        for (path, entry) in shown.reversed() {
            if entry.isDeleted {
                addDeleted(entry, path, before: later, to: &contact)
            } else if isOwn(entry, of: contact), let key = key(of: entry) {
                later.insert(key)
            }
        }
        for (place, device) in contact.devices.enumerated() {
            contact.devices[place].allowsPush = device.pushToken.flatMap { words[$0] }?.allowPush ?? false
        }
    }

    /// A profile that opted out as a whole denies messages on every channel.
    private mutating func addGlobalStatus(_ json: JSONValue?, to contact: inout Contact) {
        guard let json, !json.isNull else { return }
        switch ShownSubscription.state(json) {
        case .unsubscribed?, .suspended?: contact.consents.append(Consent(purpose: .messaging, state: .denied))
        case .subscribed?, .unknown?: break
        case nil:
            findings.append(FindingRow.profileStatus.at("data".dot(ShownSubscription.globalStatus)))
            deniesAll = true
        }
    }

    private mutating func add(_ entry: ShownSubscription, _ path: String, to contact: inout Contact) {
        guard let subscription = subscription(entry, path) else { return }
        if let token = token(of: entry.json) {
            if words[token] == nil { contact.devices.append(Device(pushToken: token)) }
            words[token, default: []].append(subscription)
        }
        guard isCounted(subscription, of: entry, path, in: &contact) else { return }
        add(subscription, "data".dot(path), to: &contact)
    }

    /// Whether an entry counts for the contact, whose messages go to its first address of a kind.
    ///
    /// An opt-in counts for its own address only. An opt-out of another address counts for the contact as well, and for
    /// every other contact with that address.
    private mutating func isCounted(
        _ subscription: Subscription,
        of entry: ShownSubscription,
        _ path: String,
        in contact: inout Contact
    ) -> Bool {
        guard let address = entry.address else { return true }
        guard let own = contact.identifiers.first(where: { $0.kind == address.kind }) else {
            // The profile names none, so this is the contact's.
            contact.identifiers.append(address)
            return true
        }
        if own.isSameAddress(as: address) { return true }
        var optOut = subscription
        // A status that cannot be read may be an opt-out.
        if entry.hasStatus, entry.state == nil { optOut.state = .unsubscribed }
        switch optOut.state {
        case .unsubscribed, .suspended:
            addressOptOuts.append(Contact(identifiers: [address], subscriptions: [optOut]))
            return true
        case .subscribed, .unknown:
            findings.append(FindingRow.profileOtherAddress.at("data".dot(path)))
            return false
        }
    }

    /// Whether an entry is for the contact's own address, or names none.
    private func isOwn(_ entry: ShownSubscription, of contact: Contact) -> Bool {
        guard let address = entry.address else { return true }
        return contact.identifiers.first { $0.kind == address.kind }?.isSameAddress(as: address) ?? false
    }

    /// Returns the channel and topic of an entry; nil if it can't be read.
    private func key(of entry: ShownSubscription) -> Subscription.Key? {
        guard let channel = entry.channel, let resource = entry.resource else { return nil }
        let topic = settings.resources.first { Int($0.value) == resource }?.key.rawValue ?? String(resource)
        return Subscription(
            channel: Channel(rawValue: channel),
            topic: resource == settings.resource ? nil : topic,
            state: .unknown
        ).key
    }

    /// Handles a deleted entry. It is no subscription, and its opt-in does not count. Its opt-out counts unless a later entry
    /// has a state.
    private mutating func addDeleted(
        _ entry: ShownSubscription,
        _ path: String,
        before later: Set<Subscription.Key>,
        to contact: inout Contact
    ) {
        let mayBeNo = entry.hasStatus && ![.subscribed, .unknown].contains(entry.state)
        guard mayBeNo else { return findings.append(FindingRow.profileDeleted.at("data".dot(path))) }
        guard let subscription = subscription(entry, path) else { return }
        if isOwn(entry, of: contact), later.contains(subscription.key) {
            return findings.append(FindingRow.profileDeleted.at("data".dot(path)))
        }
        guard isCounted(subscription, of: entry, path, in: &contact) else { return }
        add(subscription, "data".dot(path), to: &contact)
    }

    /// Returns the subscription of an entry; nil with findings if it can't be read.
    private mutating func subscription(_ entry: ShownSubscription, _ path: String) -> Subscription? {
        let place = "data".dot(path)
        guard let channel = entry.channel else {
            findings.append(FindingRow.profileSubscription.at(place))
            return nil
        }
        if entry.state == nil {
            let row: FindingRow = entry.hasStatus ? .profileStatus : .profileStatusMissing
            findings.append(row.at(place.dot("status")))
        }
        guard let resource = entry.resource else {
            findings.append(FindingRow.profileResourceUnread.at(place.dot("resource_id")))
            return nil
        }
        var fields: [AttributeName: AttributeValue] = [:]
        for field in entry.json["custom_fields"]?.object ?? [:] where !field.value.isNull {
            fields[AttributeName(rawValue: field.name)] = held(field.value, path.dot("custom_fields").dot(field.name))
        }
        let subscription = Subscription(
            channel: Channel(rawValue: channel),
            topic: topic(of: resource, path),
            state: entry.state ?? .unknown,
            fields: fields
        )
        if entry.hasStatus, entry.state == nil { unread.insert(subscription.key) }
        return subscription
    }

    /// Adds a subscription. Of several entries for one channel and topic, the one that permits the least counts.
    private mutating func add(_ subscription: Subscription, _ path: String, to contact: inout Contact) {
        guard let place = contact.subscriptions.firstIndex(where: { $0.key == subscription.key }) else {
            return contact.subscriptions.append(subscription)
        }
        let known = contact.subscriptions[place]
        guard known.state != subscription.state else { return }
        findings.append(FindingRow.profileContradiction.at(path.dot("status")))
        if [known, subscription].mostProtectiveState(of: subscription.key) == subscription.state {
            contact.subscriptions[place] = subscription
        }
    }

    private mutating func topic(of resource: Int, _ path: String) -> String? {
        if resource == settings.resource { return nil }
        if let topic = settings.resources.first(where: { Int($0.value) == resource })?.key {
            return topic.rawValue
        }
        let isTaken = settings.resources[AttributeName(rawValue: String(resource))] != nil
        let row: FindingRow = isTaken ? .profileResourceTaken : .profileResource
        findings.append(row.at("data".dot(path).dot("resource_id")))
        return String(resource)
    }

    private func token(of json: JSONValue) -> PushToken? {
        guard let token = json["subscription_id"]?.string, let provider = json["provider"]?.string else { return nil }
        return PushProvider.services[provider].map { PushToken(token, service: $0) }
    }
}

extension [Subscription] {
    /// Whether a push token's own entries allow pushes: the one for the channel as a whole decides, or else any topic's.
    fileprivate var allowPush: Bool {
        let whole = Subscription(channel: .push, state: .unknown).key
        if let state = mostProtectiveState(of: whole) { return state == .subscribed }
        return contains { mostProtectiveState(of: $0.key) == .subscribed }
    }
}

extension Timestamp {
    /// The day whose start in UTC is nearest. At noon, it is the day of the noon.
    fileprivate var nearestDay: CalendarDate {
        let halfDay: Int64 = 43_200
        return (Timestamp(seconds: seconds + halfDay - 1) ?? self).date
    }
}
