public import PatchbayAdapterKit
import PatchbayAdobe
public import PatchbayJSON
public import PatchbayModel

/// Contacts as profiles. Each is queried separately; if topics are services, a query for its subscriptions follows.
extension AdobeServer {
    /// The kind of identifier that finds a profile.
    public var keyKind: IdentifierKind {
        settings.identifierFields.first { $0.value == settings.keyField }?.key
            ?? (settings.keyField == "email" ? .email : .external)
    }

    /// How contacts are queried: one at a time, by key.
    public var reading: ContactReading? { .byKeys(atMost: 1) }
    /// The profile is deleted, and nothing else.
    public var removal: JSONObject? { [:] }

    /// Every field but the one that finds a profile can be unset.
    public func attribute(for kind: IdentifierKind) -> AttributeName? {
        settings.identifierFields[kind].flatMap { field in
            let name = AttributeName(rawValue: field)
            return field != settings.keyField && settings.field(of: name) == field ? name : nil
        }
    }

    /// Returns this API's query for a contact.
    public func question(for wanted: ContactQuestion) -> ReadRequest {
        guard case .page(let rest) = wanted else { return ReadRequest("contact") }
        return ReadRequest("subscriptions", arguments: ["next": rest?["next"] ?? .null])
    }

    /// Returns the contacts of a reply. If several profiles have the key, the contact is ambiguous and is not changed.
    public func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage {
        switch wanted {
        case .keys(let keys):
            let profiles = answer["profiles"]?.array ?? []
            guard let key = keys.first, let profile = profiles.first, profiles.count == 1 else { return ContactPage() }
            let list = answer["subscriptions"] ?? .null
            let next: JSONValue? = settings.services.isEmpty ? nil : ["key": .string(key), "next": list]
            return ContactPage([(key, contact(of: profile, key))], next: next)
        case .page(let rest):
            let shown = (answer["content"]?.array ?? []).compactMap { ServerRecord($0) }
            let names = Set(settings.services.values).filter { name in
                shown.contains { $0.isSubscription(to: name, nil) }
            }
            let held = names.union((rest?["held"]?.array ?? []).compactMap(\.string))
            guard let key = rest?["key"]?.string else { return ContactPage() }
            if answer["isLast"]?.bool == false {
                let names = held.sorted().map(JSONValue.string)
                return ContactPage(
                    next: ["key": .string(key), "next": answer["next"] ?? .null, "held": .array(names)]
                )
            }
            let wishes = settings.services.map { name, service in
                name.wish(held.contains(service) ? .subscribed : settings.notSubscribed.state)
            }
            return ContactPage([(key, Contact(subscriptions: wishes.sorted { $0.key < $1.key }))])
        }
    }

    /// Returns the contact that a query would return after the operations.
    public func image(of operations: [EngagementOperation]) -> Contact {
        var contact = contact(of: .object(fields(of: operations)), operations.first?.contactKey ?? "")
        for operation in operations {
            guard case .changeSubscription(let wish) = operation.action, let topic = TopicPlace(wish, settings),
                topic.service != nil
            else { continue }
            let state = topic.isOn ? .subscribed : settings.notSubscribed.state
            contact.subscriptions.removeAll { $0.key == wish.key }
            contact.subscriptions.append(Subscription(channel: wish.channel, topic: wish.topic, state: state))
        }
        contact.subscriptions.sort { $0.key < $1.key }
        return contact
    }

    /// Returns the attributes whose fields are cleared.
    public func emptied(by operations: [EngagementOperation]) -> Set<AttributeName> {
        Set(
            fields(of: operations).compactMap { field in
                Self.value(of: field.name, field.value) == nil ? attribute(in: field.name) : nil
            }
        )
    }

    /// The subscriptions of a profile without any decision: flags that refuse nothing, and no service.
    public var vendorSubscriptions: [Subscription] {
        ProfileFlags.channels.map { Subscription(channel: $0.channel, state: settings.notOptedOut.state) }
            + settings.services.keys.map { $0.wish(settings.notSubscribed.state) }
    }

    /// Returns the field values after the operations.
    private func fields(of operations: [EngagementOperation]) -> JSONObject {
        var fields = JSONObject()
        for member in operations.flatMap(members) { fields[member.name] = member.value }
        return fields
    }

    /// One for the profile, and one for its subscriptions where topics are services.
    public func requests(toRead contacts: Int) -> Int { settings.services.isEmpty ? contacts : 2 * contacts }

    /// Returns the number of requests. Changes of one profile share a request; each subscription to a service has its own.
    public func work(for amount: ServerAmount) -> [ServerWork] {
        let finds = (settings.matching == .key ? 0 : amount.contacts) + amount.topics
        return [
            ServerWork(
                "find",
                requests: finds,
                note: "each contact, and each subscription, looks for its profile first"
            ),
            ServerWork(
                "profile",
                requests: amount.contacts,
                note: "then the profile is made or changed; the rate stands in the licence"
            ),
            ServerWork("service", requests: amount.topics, note: "which service a topic is"),
            ServerWork(
                "subscriptions",
                requests: 2 * amount.topics,
                note: "what the profile is subscribed to is asked for, and then a subscription is made or ended"
            ),
        ]
    }

    // MARK: A profile in neutral terms

    private func contact(of profile: JSONValue, _ key: String) -> Contact {
        var contact = Contact(identifiers: [Identifier(keyKind, key)])
        for (field, json) in (profile.object ?? [:]).map({ ($0.name, $0.value) }) where field != settings.keyField {
            if let flag = ProfileFlags.channels.first(where: { $0.field == field }) {
                if json.isNull { continue }
                let key = Subscription.Key(channel: flag.channel)
                var shown = ConsentTable.adobe.subscription(key, value: Self.flagText(json), in: field)
                if shown.state == .subscribed { shown.state = settings.notOptedOut.state }
                contact.subscriptions.append(shown)
            } else if let tag = Self.source(settings.tagFields, field) {
                if json.bool == true || json.string == "true" { contact.tags.insert(tag) }
            } else if let value = Self.value(of: field, json) {
                if let kind = Self.source(settings.identifierFields, field) {
                    contact.identifiers.append(Identifier(kind, value.plainText ?? ""))
                } else if let name = attribute(in: field) {
                    contact.attributes[name] = value
                }
            }
        }
        contact.identifiers =
            contact.identifiers.prefix(1) + contact.identifiers.dropFirst().sorted { $0.kind < $1.kind }
        if let all = profile[ProfileFlags.all], !all.isNull {
            // The flag for all channels applies to each of them, even if it is unreadable.
            switch ConsentTable.adobe.meaning(of: Self.flagText(all), in: ProfileFlags.all) {
            case .denied:
                contact.subscriptions = ProfileFlags.channels.map {
                    Subscription(channel: $0.channel, state: .unsubscribed)
                }
            case nil:
                contact.subscriptions = ProfileFlags.channels.map {
                    .unreadable(Subscription.Key(channel: $0.channel))
                }
            case .silent, .state: break
            }
        }
        contact.subscriptions.sort { $0.key < $1.key }
        return contact
    }

    private static func flagText(_ json: JSONValue) -> String { json.string ?? json.text }

    private static func source<Key: NeutralKey>(_ names: [Key: String], _ field: String) -> Key? {
        names.filter { $0.value == field }.keys.min()
    }

    /// Returns the attribute of a field; nil if the field holds other data or is the vendor's own.
    private func attribute(in field: String) -> AttributeName? {
        let isWritten = ProfileField.named(field)?.isWritten ?? ProfileField.isCustom(field)
        let isTaken =
            field == settings.keyField || settings.identifierFields.values.contains(field)
            || settings.tagFields.values.contains(field) || ProfileFlags.channels.contains { $0.field == field }
        guard isWritten, !isTaken else { return nil }
        return Self.source(settings.fieldNames, field)
            ?? ProfileField.attributes.filter { $0.value == field && settings.fieldNames[$0.key] == nil }.keys.min()
            ?? AttributeName(rawValue: field)
    }

    /// Returns a field's value; nil for an empty text, the value for unknown, a flag of the vendor's that is not set, a record
    /// or a list.
    private static func value(of field: String, _ json: JSONValue) -> AttributeValue? {
        switch (ProfileField.named(field)?.form, json) {
        case (.flag?, .bool(false)), (.words?, "unknown"), (_, ""): return nil
        case (_, .bool(let flag)): return .boolean(flag)
        case (_, .string(let text)): return .string(text)
        case (_, .number(let number)):
            return AttributeValue(text: number.text, as: .integer) ?? AttributeValue(text: number.text, as: .decimal)
        case (_, .null), (_, .array), (_, .object): return nil
        }
    }
}

extension AdobeSourceName {
    /// The subscription that it names: `email.offers`.
    fileprivate func wish(_ state: Subscription.State) -> Subscription {
        let key = Subscription.Key(settingName: rawValue)
        return Subscription(channel: key.channel, topic: key.topic, state: state)
    }
}
