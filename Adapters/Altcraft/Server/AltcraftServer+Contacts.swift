public import PatchbayAdapterKit
import PatchbayAltcraft
public import PatchbayJSON
public import PatchbayModel

extension AltcraftServer {
    /// The kind of identifier that is a contact's key.
    public var keyKind: IdentifierKind {
        switch settings.matching {
        case .custom: .external
        case .email, .emailOfProfile: .email
        case .phone: .phone
        }
    }

    /// A telephone number as the platform keeps it, however it was spelt.
    public func key(of text: String) -> String {
        settings.matching == .phone ? Address.phone(text) ?? text : text
    }

    /// How contacts are queried: several at a time, by key.
    public var reading: ContactReading? { .byKeys(atMost: ServerPace.lookUps) }
    /// The options of an erasure that removes a contact from the database only.
    public var removal: JSONObject? { [:] }

    /// Every field but the e-mail address can be unset.
    public func attribute(for kind: IdentifierKind) -> AttributeName? {
        settings.identifierFields[kind].flatMap { $0 == "email" ? nil : AttributeName(rawValue: $0) }
    }

    /// Returns the vendor's query for a contact.
    public func question(for wanted: ContactQuestion) -> ReadRequest {
        guard case .keys(let keys) = wanted else { return ReadRequest("profiles") }
        let known = keys.compactMap { ProfileKey(text: $0, settings) }
        let texts = known.flatMap(\.spellings).map(JSONValue.string)
        let query: JSONValue = [known.first?.field ?? settings.matchingField: ["$in": .array(texts)]]
        return ReadRequest("profiles", arguments: ["query": query, "limit": .integer(PageQuestion.most)])
    }

    /// Returns the contacts of a reply.
    public func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage {
        guard case .keys(let keys) = wanted else { return ContactPage() }
        let profiles = answer["profiles"]?.array ?? []
        return ContactPage(
            keys.compactMap { key in
                ProfileKey(text: key, settings)?.profile(among: profiles).map { (key, contact(of: $0, key)) }
            }
        )
    }

    /// Returns the contact that a query would return after the operations.
    public func image(of operations: [EngagementOperation]) -> Contact {
        guard let first = operations.first else { return Contact() }
        let key = first.contactKey
        var fields = JSONObject()
        var (tags, subscriptions) = (Set<Tag>(), [Subscription]())
        for operation in operations {
            switch operation.action {
            case .identify, .changeAttributes:
                for field in ProfileRow(operation, nil, settings).fields { fields[field.name] = field.value }
            case .changeTags(let change): tags = change.applied(to: tags)
            case .changeSubscription(let subscription):
                let keys = settings.keys(setBy: subscription)
                subscriptions.removeAll { keys.contains($0.key) }
                subscriptions += keys.map {
                    Subscription(channel: $0.channel, topic: $0.topic, state: subscription.state)
                }
            default: continue
            }
        }
        var contact = contact(of: .object(fields), key)
        (contact.tags, contact.subscriptions) = (tags, subscriptions)
        return contact
    }

    /// The attributes that the platform sets itself: the profile's state, and the time and origin of its registration.
    public var vendorAttributes: Set<AttributeName> {
        let names = attributeNames
        return Set(["_status", "_regdate", "_regip", "_vendor"].map { names[$0] ?? AttributeName(rawValue: $0) })
    }

    /// The findings of unneeded opt-outs. A subscription has an address, so a profile without an address has none.
    public var unneededOptOuts: Set<String> {
        [ServerFinding.noAddressToUnsubscribe.code, ServerFinding.optOutWaits.code]
    }

    private var attributeNames: [String: AttributeName] {
        Dictionary(settings.fieldNames.map { ($1, $0) }, uniquingKeysWith: min)
    }

    /// Returns the number of requests for an amount of operations.
    public func work(for amount: ServerAmount) -> [ServerWork] {
        let most = settings.profilesPerRequest
        let imports = [Action.Kind.identify, .changeAttributes, .changeTags, .changeSubscription]
            .map { (amount[$0] + most - 1) / most }.reduce(0, +)
        return [
            ServerWork(
                "profiles/import_batch",
                requests: imports,
                note:
                    "\(most) profiles in a request, one status for each; 10 MB is the usual limit of a body; no rate is documented"
            ),
            ServerWork(
                "profiles/list",
                of: amount[.changeSubscription],
                atMost: ServerPace.lookUps,
                note: "the addresses of the subscriptions are queried first, \(ServerPace.lookUps) in a request"
            ),
        ]
    }

    // MARK: A profile in neutral terms

    private func contact(of profile: JSONValue, _ key: String) -> Contact {
        var contact = Contact(identifiers: [Identifier(keyKind, key)])
        let names = attributeNames
        let kinds = Dictionary(settings.identifierFields.map { ($1, $0) }, uniquingKeysWith: min)
        let keyField = settings.matching == .custom ? settings.matchingField : ""
        let known = ["id", "_id", ProfileRow.subscriptions, settings.tagsField, keyField]
        for field in profile.object ?? [:] where !known.contains(field.name) && !field.value.isNull {
            if let kind = kinds[field.name] {
                let texts = field.value.array ?? [field.value]
                for text in texts.compactMap({ $0.string ?? $0.number?.text }) where !text.isEmpty {
                    let identifier = Identifier(kind, text)
                    if !contact.identifiers.contains(identifier) { contact.identifiers.append(identifier) }
                }
            } else if let value = Self.value(field.value, of: field.name) {
                contact.attributes[names[field.name] ?? AttributeName(rawValue: field.name)] = value
            }
        }
        if !settings.tagsField.isEmpty {
            contact.tags = Set((profile[settings.tagsField]?.array ?? []).compactMap { $0.string.map(Tag.init) })
        }
        contact.subscriptions = subscriptions(of: profile)
        return contact
    }

    private static func value(_ json: JSONValue, of field: String) -> AttributeValue? {
        if field == "_sex", let code = json.integer { return [1: "male", 2: "female"][code] ?? .integer(code) }
        return AttributeValue(plain: json)
    }

    /// Returns a profile's subscriptions. If a resource has several addresses, the status that permits the least counts.
    private func subscriptions(of profile: JSONValue) -> [Subscription] {
        var all: [Subscription] = []
        for shown in (profile[ProfileRow.subscriptions]?.array ?? []).map(ShownSubscription.init) where !shown.isDeleted
        {
            guard let channel = shown.channel, let resource = shown.resource,
                let name = settings.resources.filter({ Int($0.value) == resource }).map(\.key.rawValue)
                    .first(where: { $0 == channel || $0.hasPrefix("\(channel).") })
            else { continue }
            // A status that is not one of the vendor's may be an opt-out.
            let key = Subscription.Key(settingName: name)
            let state = shown.state ?? .unknown
            let subscription = Subscription(channel: key.channel, topic: key.topic, state: state)
            all.append(shown.state == nil && shown.hasStatus ? .unreadable(key) : subscription)
        }
        // So may the global status: it counts for every resource.
        if let global = profile[ShownSubscription.globalStatus], !global.isNull {
            let state = ShownSubscription.state(global)
            for name in settings.resources.keys.map(\.rawValue) where state.map(\.isOptOut) ?? true {
                let key = Subscription.Key(settingName: name)
                let out = Subscription(channel: key.channel, topic: key.topic, state: .unsubscribed)
                all.append(state == nil ? .unreadable(key) : out)
            }
        }
        var keys: [Subscription.Key] = []
        for key in all.map(\.key) where !keys.contains(key) { keys.append(key) }
        return keys.compactMap { key in
            all.mostProtectiveState(of: key).map { state in
                let isUnreadable = all.filter { $0.key == key && $0.state == state }.allSatisfy(\.isUnreadable)
                return isUnreadable
                    ? .unreadable(key) : Subscription(channel: key.channel, topic: key.topic, state: state)
            }
        }
    }
}
