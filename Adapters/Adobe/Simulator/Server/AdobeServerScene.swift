public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile of the server API for random faults.
///
/// One token is requested at a time, and no request leaves during a closed period. No profile, service or subscription is
/// created twice, and the latest values arrive. The account accepts duplicate keys, so that only the API prevents them.
public struct AdobeServerScene: VendorScene {
    public typealias Simulator = AdobeServerSimulator

    public static let settings: JSONObject = [
        "apiUrl": "https://mc.adobe.test", "tokenUrl": "https://ims.adobe.test", "organization": "acmecorp",
        "clientId": "client-1", "clientSecret": "secret-of-client-1", "scope": "openid,campaign_sdk",
        "resource": "profileAndServicesExt", "matching": "filter", "filter": "byCusNumber",
        "filterParameter": "cusNumber_parameter", "keyField": "cusNumber",
        "fieldNames": ["tier": "cusTier", "store": "cusStore", "closing": "cusClosing"],
        "tagFields": ["sports": "cusSports"], "services": ["email.offers": "offers", "sms.news": "news"],
        "unknownServices": "add",
    ]

    public static let account: JSONObject = [
        "keyField": "cusNumber", "filter": "byCusNumber", "filterParameter": "cusNumber_parameter",
        "services": ["offers"],
    ]

    public static let question = ReadRequest("profile")
    public static var closing: Action { .changeAttributes(["closing": .set("1")]) }

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        switch random.below(9) {
        case 0: .changeTags(TagChange(add: ["sports"]))
        case 1: .changeTags(TagChange(remove: ["sports"]))
        case 2: .identify([Identifier(.email, "p\(random.below(3))@example.com")])
        case 3, 4:
            .changeSubscription(
                random.below(2) == 0
                    ? Subscription(channel: .email, topic: "offers", state: random.pick([.subscribed, .unsubscribed]))
                    : Subscription(channel: .sms, topic: "news", state: random.pick([.subscribed, .unsubscribed]))
            )
        case 5: .changeAttributes([random.pick(["tier", "store"]): .unset])
        case 6: .changeSubscription(Subscription(channel: .email, state: random.pick([.subscribed, .unsubscribed])))
        default: .changeAttributes([random.pick(["tier", "store"]): .set(.string("v\(random.below(4))"))])
        }
    }

    /// The memory holds no expected values of a person, so interrupted exchanges are checked against the account's data.
    public static let expectedState = ExpectedState { (account: AdobeServerAccount, _) in
        let keys = Dictionary(account.profiles.map { ($0.key, $0.fields["cusNumber"]?.string ?? "") }) { $1 }
        return [
            "profiles": .array(
                account.profiles.map { .object(JSONObject($0.fields.map { ($0.key, $0.value) })) }
            ),
            "subscriptions": .array(
                account.subscriptions.map { [.string(keys[$0.profile] ?? ""), .string($0.service)] }
            ),
            "deleted": .array(account.deleted.map { .string($0) }),
        ]
    }

    /// Returns one record per profile, with its subscriptions.
    public static func records(in account: AdobeServerAccount) -> [VendorRecord] {
        let names = ["cusTier": "tier", "cusStore": "store", "cusClosing": "closing"]
        return account.profiles.map { profile in
            VendorRecord(
                VendorRecord.Person(profile.fields["cusNumber"]?.string),
                attributes: Dictionary(
                    profile.fields.map { (AttributeName(rawValue: names[$0.key] ?? $0.key), $0.value.string ?? "") }
                ) { $1 },
                reaches: profile.fields["blackListEmail"] == true
                    ? []
                    : Set(
                        account.subscriptions.filter { $0.profile == profile.key }.map(\.service)
                            .filter { name in account.services.contains { $0.name == name && $0.messageType == "email" }
                            }
                    )
            )
        }
    }

    public static func problems(in story: SceneStory, at account: AdobeServerAccount) -> [String] {
        let all = Set(story.requests.map(\.endpoint))
        var problems = story.early(all.subtracting(["token"])) { request in
            request.retryAfter.map { min($0, .seconds(86_400)) }
        }
        problems += story.needlessTokens(isGood: { text, now in
            account.tokens.contains { $0.text == text && $0.until > now }
        })
        problems += account.violations.map { "the vendor's rules: \($0)" }
        guard story.isWhole else { return problems }
        let keys = Dictionary(grouping: account.profiles) { $0.fields["cusNumber"]?.string ?? "" }
        problems += keys.filter { $0.value.count > 1 }.keys.sorted().map { _ in "a contact has two profiles" }
        let pairs = Dictionary(grouping: account.subscriptions) { "\($0.profile) \($0.service)" }
        problems += pairs.filter { $0.value.count > 1 }.keys.sorted().map { "the subscription \($0) is there twice" }
        return problems + differences(story, account)
    }

    private static func differences(_ story: SceneStory, _ account: AdobeServerAccount) -> [String] {
        var problems: [String] = []
        let fields = ["tier": "cusTier", "store": "cusStore", "closing": "cusClosing"]
        for (name, value) in story.attributes.inOrder {
            guard let field = fields[name.rawValue] else { continue }
            let said = value?.plainText ?? ""
            let held = account.profiles.map { $0.fields[field]?.string ?? "" }
            if !held.contains(said) { problems.append("the vendor holds \(name.rawValue) otherwise than the app said") }
        }
        return problems
    }
}
