public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile of the server API for random faults. No request leaves during a closed period, jobs are queried at
/// their intervals, no event is sent twice, and the latest values arrive.
public struct AcousticServerScene: VendorScene {
    public typealias Simulator = AcousticServerSimulator

    public static let settings: JSONObject = [
        "baseUrl": "https://api-campaign.test", "clientId": "client-1", "clientSecret": "secret-of-client-1",
        "refreshToken": "refresh-of-client-1", "databaseId": "771100", "keyColumn": "CustomerNo",
        "tagColumns": ["sports": "IsSports"], "identifierColumns": ["email": "Email", "phone": "Phone"],
        "consentQualifiers": ["sms": "24680"], "tagLists": ["vip": "880022"],
    ]

    public static let question = ReadRequest("contact")
    /// A run does not write an address for every contact that opts out.
    public static let waitsForApp: Set<String> = ["acoustic.server.optOut.waits"]
    public static var closing: Action { .changeAttributes(["closing": .set("1")]) }

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        switch random.below(12) {
        case 0: .changeTags(TagChange(add: ["sports"]))
        case 1: .changeTags(TagChange(remove: ["sports"]))
        case 2: .identify([Identifier(.email, "p\(random.below(3))@example.com")])
        case 3, 4: .track(.custom(name: "Lesson \(number)"))
        case 5: .changeAttributes([random.pick(["tier", "store"]): .unset])
        case 6 where random.below(4) == 0:
            .changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        case 11: .changeTags(TagChange(add: random.below(2) == 0 ? ["vip"] : ["vip", "sports"]))
        case 9: .identify([Identifier(.phone, "+35840123456\(random.below(3))")])
        case 10:
            .changeSubscription(Subscription(channel: .sms, state: random.below(2) == 0 ? .subscribed : .unsubscribed))
        default: .changeAttributes([random.pick(["tier", "store"]): .set(.string("v\(random.below(4))"))])
        }
    }

    /// The memory holds no expected values of a person, so interrupted exchanges are checked against the account's
    /// data.
    public static let expectedState = ExpectedState { (account: AcousticServerAccount, _) in
        [
            "contacts": .array(
                account.contacts.inOrder.map { key, contact in
                    let columns = contact.columns.map { ($0.key, JSONValue.string($0.value)) }
                    return [.string(key), .object(JSONObject(columns)), .bool(contact.isOut)]
                }
            ),
            "lists": .object(
                JSONObject(
                    account.lists.inOrder.map { ($0.key, .array($0.value.map { .string($0) })) }
                )
            ),
            "consents": .object(
                JSONObject(account.consents.inOrder.map { ($0.key, .string($0.value.status)) })
            ),
            "erased": .array(account.erased.map { .string($0) }),
            "events": .array(account.events.map { .string($0.name) }),
        ]
    }

    /// One record per contact, and one per event.
    public static func records(in account: AcousticServerAccount) -> [VendorRecord] {
        account.contacts.map { key, contact in
            VendorRecord(
                .contact(key),
                attributes: Dictionary(contact.columns.map { (AttributeName(rawValue: $0.key), $0.value) }) { $1 },
                reaches: contact.isOut ? [] : Set([contact.columns["Email"]].compactMap(\.self))
            )
        }
            + account.events.compactMap { event in
                account.contacts.first { $0.value.id == event.contact }.map {
                    VendorRecord(.contact($0.key), texts: [event.name, event.body.text])
                }
            }
    }

    public static func problems(in story: SceneStory, at account: AcousticServerAccount) -> [String] {
        let all = Set(story.requests.map(\.endpoint))
        var problems = story.early(all.subtracting(["token"])) { request in
            request.retryAfter.map { min($0, .seconds(86_400)) }
        }
        problems += story.needlessTokens(isRefusal: isRefusal)
        problems += story.early(["gdprErasure", "gdprStatus"], carryingTheSame: true) { request in
            guard let data = request.outcome?.reply.flatMap({ $0.isSuccess ? $0.json?["data"] : nil }) else {
                return nil
            }
            let isWaitedFor = request.endpoint == "gdprErasure" ? data["id"]?.integer != nil : data["status"] != nil
            return isWaitedFor ? .seconds(30) : nil
        }
        problems += account.violations.map { "the vendor's rules: \($0.what)" }
        guard story.isWhole else { return problems }
        let twice = Dictionary(grouping: account.events.map(\.name)) { $0 }.filter { $0.value.count > 1 }
        problems += twice.keys.sorted().map { "the event \($0) came twice" }
        return problems + differences(story, account)
    }

    private static func isRefusal(_ reply: WireResponse) -> Bool {
        reply.status == 401
            || String(decoding: reply.body.prefix(4096), as: UTF8.self).hasBytes(of: "<errorid>145</errorid>")
    }

    private static func differences(_ story: SceneStory, _ account: AcousticServerAccount) -> [String] {
        var problems: [String] = []
        for (name, value) in story.attributes.inOrder {
            let said = value?.plainText ?? ""
            let held = account.contacts.values.map { $0.columns[name.rawValue] ?? "" }
            if !held.contains(said) { problems.append("the vendor holds \(name.rawValue) otherwise than the app said") }
        }
        let events = Set(account.events.map(\.name))
        return problems + story.takenEvents.filter { !events.contains($0) }.map { "the vendor has no event \($0)" }
    }
}
