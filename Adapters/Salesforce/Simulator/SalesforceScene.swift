public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile of the device API for random faults. Registrations are complete and at least a minute apart, and
/// the final state has the values that the app set.
public struct SalesforceScene: VendorScene {
    public typealias Simulator = SalesforceSimulator

    public static let settings: JSONObject = [
        "endpoint": "https://mc.device.test", "applicationId": "c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
        "accessToken": "0123456789abcdefghijklmn",
    ]

    /// The vendor issues one token per device, which permits its events. An app passes none.
    public static let handedOut: Set<String> = ["X-Subscriber-Token"]

    /// After a log-out the vendor still holds the old contact's key, and a run does not always log in again.
    public static let waitsForApp: Set<String> = ["salesforce.contact.waiting"]

    public static let opposites: [Action] = ["v0", "v1"].map { .changeAttributes(["tier": .set(.string($0))]) }

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        if number == 1 { return .registerDevice(ScenePhone.device()) }
        switch random.below(9) {
        case 0: return .registerDevice(ScenePhone.device(locale: random.pick(["fi_FI", "de_DE", "pt_BR"])))
        case 1: return .identify([Identifier(.external, "c-\(random.below(3))")])
        case 2: return .changeTags(TagChange(add: [random.pick(["sports", "theatre", "music"])]))
        case 3: return .changeTags(TagChange(remove: [random.pick(["sports", "theatre", "music"])]))
        case 4: return .changeAttributes([random.pick(["tier", "store"]): .unset])
        case 5:
            return .changeSubscription(Subscription(channel: .push, state: random.pick([.subscribed, .unsubscribed])))
        case 6: return .track(.custom(name: "Lesson \(number)"))
        case 7: return ScenePhone.logIn(&random)
        default: return .changeAttributes([random.pick(["tier", "store"]): .set(.string("v\(random.below(4))"))])
        }
    }

    /// The attributes that the later settings define. The memory keeps the values of other attributes, and no
    /// registration carries them.
    private static let definedLater: Set<String> = ["tier", "closing"]

    public static var changingSettings: [JSONObject] {
        var other = settings
        other["accountAttributes"] = .array(definedLater.sorted().map { .string($0) })
        return [settings, other]
    }

    /// Returns one record per device, and one per event for the contact under which it arrived.
    public static func records(in account: SalesforceAccount) -> [VendorRecord] {
        func person(_ key: String?) -> VendorRecord.Person {
            VendorRecord.Person(key.flatMap { $0.hasPrefix("invented-") ? nil : $0 })
        }
        return account.devices.flatMap { device in
            let registration = device.registration
            let values = (registration?["attributes"]?.array ?? []).map { pair in
                (AttributeName(rawValue: pair["key"]?.string ?? ""), pair["value"]?.string ?? "")
            }
            let token = device.isReachable ? registration?["device_Token"]?.string : nil
            let record = VendorRecord(
                person(device.contactKey),
                attributes: Dictionary(values) { $1 },
                texts: (registration?["tags"]?.array ?? []).compactMap(\.string),
                reaches: Set([token].compactMap(\.self).filter { !$0.isEmpty }),
                isOfInstallation: true
            )
            return [record]
                + device.events.map { VendorRecord(person($0.contactKey), texts: [$0.name, $0.attributes.text]) }
        }
    }

    /// Compares the registration in the memory with the vendor's.
    public static let expectedState = ExpectedState(isPerInstallation: true) { memory in
        guard memory["acceptedAs"] != nil, let state = memory["registration"] else { return [:] }
        var claims: JSONObject = [:]
        for name in ["attributes", "contactKey", "tags", "pushToken"] { claims[name] = state[name] }
        claims["locale"] = state["facts"]?["locale"]
        return claims
    } holds: { (account: SalesforceAccount, memory) in
        let known = memory["registration"]?["knownAs"]?.string.flatMap(account.device)
        guard let device = known ?? account.newestDevice, let registration = device.registration else { return [:] }
        let attributes = registration["attributes"]?.array ?? []
        let carried = attributes.map { ($0["key"]?.string ?? "", $0["value"] ?? .null) }
        let kept = (memory["registration"]?["attributes"]?.object ?? [:]).filter { member in
            !definedLater.contains(member.name) && !carried.contains { $0.0 == member.name }
        }
        let tags = registration["tags"]?.array?.filter { !["ALL", "IOS"].contains($0) } ?? []
        return [
            "contactKey": registration["subscriberKey"] ?? .null,
            "attributes": .object(JSONObject(carried + kept.map { ($0.name, $0.value) })),
            "tags": .array(tags), "pushToken": registration["device_Token"] ?? .null,
            "locale": registration["locale"] ?? .null, "isPushEnabled": registration["push_Enabled"] ?? .null,
            "events": .array(device.events.map { .string($0.id) }),
        ]
    }

    public static func problems(in story: SceneStory, at account: SalesforceAccount) -> [String] {
        let starts = story.requests.filter { $0.endpoint == "registration" }
        var problems = zip(starts, starts.dropFirst()).compactMap { first, next in
            next.now - first.now < .seconds(60) ? "two registrations within \(next.now - first.now)" : nil
        }
        for endpoint in ["registration", "events"] {
            problems += story.early([endpoint]) { $0.retryAfter.map { min($0, .seconds(86_400)) } }
        }
        return story.isWhole ? problems + differences(story, account) : problems
    }

    private static func differences(_ story: SceneStory, _ account: SalesforceAccount) -> [String] {
        var problems = account.violations.map { "the vendor's rules: \($0.what)" }
        guard let registration = account.newestDevice?.registration else {
            return problems + ["the vendor holds no registration"]
        }
        let held = Dictionary(
            (registration["attributes"]?.array ?? []).compactMap { pair -> (String, String)? in
                guard let key = pair["key"]?.string, let value = pair["value"]?.string, !value.isEmpty else {
                    return nil
                }
                return (key, value)
            }
        ) { $1 }
        let (tags, key, locale, attributes) = words(story)
        let said = Dictionary(attributes.compactMap { name, value in value.plainText.map { (name.rawValue, $0) } }) {
            $1
        }
        if held != said { problems.append("the vendor holds attributes \(held), the app said \(said)") }
        let heldTags = Set((registration["tags"]?.array ?? []).compactMap(\.string)).subtracting(["ALL", "IOS"])
        if heldTags != tags { problems.append("the vendor holds tags \(heldTags), the app said \(tags)") }
        if registration["subscriberKey"]?.string != key { problems.append("the vendor holds another contact key") }
        if registration["locale"]?.string != locale { problems.append("the vendor holds another locale") }
        let events = Set(account.devices.flatMap(\.events).map(\.name))
        return problems + story.takenEvents.filter { !events.contains($0) }.map { "the vendor has no event \($0)" }
    }

    /// Returns the app's latest values. Attributes and tags of a person end with the next contact key.
    private static func words(_ story: SceneStory)
        -> (tags: Set<String>, key: String?, locale: String?, attributes: [AttributeName: AttributeValue])
    {
        var (tags, key, locale): (Set<PatchbayModel.Tag>, String?, String?) = ([], nil, nil)
        var attributes: [AttributeName: AttributeValue] = [:]
        func arrive(_ identifiers: [Identifier]) {
            let new = identifiers.first?.value
            if key != nil, key != new { (tags, attributes) = ([], [:]) }
            key = new
        }
        for entry in story.entries where entry.term != "rejected" {
            switch entry.operation.action {
            case .changeTags(let change): tags = change.applied(to: tags)
            case .changeAttributes(let changes):
                for (name, change) in changes {
                    attributes[name] = entry.isTaken ? change.applied(to: attributes[name]) : nil
                }
            case .identify(let identifiers): arrive(identifiers)
            case .switchContact(let change): arrive(change.identifiers)
            case .registerDevice(let device): locale = device.facts?.locale
            default: break
            }
        }
        return (Set(tags.map(\.rawValue)), key, locale, attributes)
    }
}

extension SalesforceAccount {
    /// The device of the latest registration.
    fileprivate var newestDevice: SimulatedDevice? {
        devices.max { $0.lastReceived ?? .beforeAll < $1.lastReceived ?? .beforeAll }
    }
}

extension Instant {
    fileprivate static let beforeAll = Instant(milliseconds: .min)
}
