public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile of the server API for random faults. No request leaves during a closed period, no goal or increment is
/// sent twice, and the latest values arrive.
public struct AltcraftServerScene: VendorScene {
    public typealias Simulator = AltcraftServerSimulator

    public static let settings: JSONObject = [
        "apiUrl": "https://platform.altcraft.test", "apiToken": "token-of-the-back-end", "dbId": 1,
        "matchingField": "crm_id", "tagsField": "labels", "pixelId": 7, "resources": ["push": "31", "email": "32"],
    ]
    public static let account: JSONObject = ["pushResource": 31]

    public static let question = ReadRequest("profiles")
    public static var closing: Action { .changeAttributes(["closing": .set("1")]) }

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        switch random.below(10) {
        case 0: .changeTags(TagChange(add: ["sports"], remove: ["music"]))
        case 1: .changeTags(TagChange(replace: random.below(2) == 0 ? ["music"] : []))
        case 2: .identify([Identifier(.email, "p\(random.below(3))@example.com")])
        case 3: .track(.custom(name: "Lesson \(number)"))
        case 4: .changeAttributes([random.pick(["tier", "store"]): .unset])
        case 5: .changeAttributes([AttributeName(rawValue: "step_\(number)"): .increment(ExactDecimal(1))])
        case 6:
            .changeSubscription(
                Subscription(channel: random.pick([.push, .email]), state: random.pick([.subscribed, .unsubscribed]))
            )
        default: .changeAttributes([random.pick(["tier", "store"]): .set(.string("v\(random.below(4))"))])
        }
    }

    /// The memory holds no expected values of a person, so interrupted exchanges are checked against the account's data.
    public static let expectedState = ExpectedState { (account: AltcraftServerAccount, _) in
        [
            "profiles": .array(
                account.profiles.map { ["fields": $0.fields, "subscriptions": .array($0.subscriptions)] }
            ),
            "goals": .array(account.goals.map { .string($0.name) }),
            "pushEvents": .array(account.pushEvents.map { .string($0) }),
            "deletions": .array(account.deletions.map { .string($0) }),
        ]
    }

    /// One record per profile, and one per goal.
    public static func records(in account: AltcraftServerAccount) -> [VendorRecord] {
        func person(_ profile: AltcraftServerAccount.Profile) -> VendorRecord.Person {
            VendorRecord.Person(profile.fields["crm_id"]?.string)
        }
        return account.profiles.map { profile in
            let fields = (profile.fields.object ?? [:]).compactMap { field in
                field.value.string.map { (AttributeName(rawValue: field.name), $0) }
            }
            let subscribed = profile.subscriptions.filter { $0["status"]?.string == "subscribed" }
            return VendorRecord(
                person(profile),
                attributes: Dictionary(fields) { $1 },
                texts: profile.subscriptions.map(\.text),
                reaches: Set(subscribed.map { $0["resource_id"]?.text ?? "" })
            )
        }
            + account.goals.compactMap { goal in
                account.profiles.first { $0.id == goal.profile }.map {
                    VendorRecord(person($0), texts: [goal.name, goal.content.text])
                }
            }
    }

    public static func problems(in story: SceneStory, at account: AltcraftServerAccount) -> [String] {
        let all = Set(story.requests.map(\.endpoint))
        var problems = story.early(all) { request in request.retryAfter.map { min($0, .seconds(86_400)) } }
        problems += account.violations.map { "the vendor's rules: \($0)" }
        guard story.isWhole else { return problems }
        let goals = Dictionary(grouping: account.goals.map(\.name)) { $0 }.filter { $0.value.count > 1 }
        problems += goals.keys.sorted().map { "the goal \($0) came twice" }
        let names = Set(account.goals.map(\.name))
        problems += story.takenEvents.filter { !names.contains($0) }.map { "the vendor has no goal \($0)" }
        return problems + differences(story, account)
    }

    private static func differences(_ story: SceneStory, _ account: AltcraftServerAccount) -> [String] {
        var problems: [String] = []
        for (name, value) in story.attributes.inOrder {
            let held = account.profiles.map { $0.fields[name.rawValue] ?? "" }
            // Each number grows once: a repeat would show.
            let said: JSONValue = name.rawValue.hasPrefix("step_") ? 1 : .string(value?.plainText ?? "")
            if !held.contains(said) { problems.append("the vendor holds \(name.rawValue) otherwise than the app said") }
        }
        return problems
    }
}
