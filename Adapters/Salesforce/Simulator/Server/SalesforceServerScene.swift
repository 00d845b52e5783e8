public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile of the server API for random faults, with rows in jobs. One token is requested at a time, no
/// request leaves during a closed period, and the latest values arrive.
public struct SalesforceServerScene: VendorScene {
    public typealias Simulator = SalesforceServerSimulator

    public static let settings: JSONObject = ServerScenes.settings.merging(["route": "asyncRows"])

    public static let question = ReadRequest("rows")
    public static var closing: Action { ServerScenes.closing }

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        ServerScenes.say(number, &random)
    }

    public static var expectedState: ExpectedState { ServerScenes.expectedState }

    public static func records(in account: SalesforceServerAccount) -> [VendorRecord] {
        ServerScenes.records(in: account)
    }

    public static func problems(in story: SceneStory, at account: SalesforceServerAccount) -> [String] {
        ServerScenes.problems(in: story, at: account)
    }
}

/// The same test profile with row sets that are processed at once.
public struct SalesforceServerRowsScene: VendorScene {
    public typealias Simulator = SalesforceServerSimulator

    public static let settings: JSONObject = ServerScenes.settings

    public static let question = ReadRequest("rows")
    public static var closing: Action { ServerScenes.closing }

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        ServerScenes.say(number, &random)
    }

    public static var expectedState: ExpectedState { ServerScenes.expectedState }

    public static func records(in account: SalesforceServerAccount) -> [VendorRecord] {
        ServerScenes.records(in: account)
    }

    public static func problems(in story: SceneStory, at account: SalesforceServerAccount) -> [String] {
        ServerScenes.problems(in: story, at: account)
    }
}

/// The common parts of both profiles.
enum ServerScenes {
    static let settings: JSONObject = [
        "authUrl": "https://mc.auth.test", "restUrl": "https://mc.rest.test", "clientId": "client-1",
        "clientSecret": "secret-of-client-1", "dataExtension": "people", "tagColumns": ["sports": "IsSports"],
        "identifierColumns": ["email": "Email"],
    ]

    static let closing = Action.changeAttributes(["closing": .set("1")])

    static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        switch random.below(8) {
        case 0: .changeTags(TagChange(add: ["sports"]))
        case 1: .changeTags(TagChange(remove: ["sports"]))
        case 2: .identify([Identifier(.email, "p\(random.below(3))@example.com")])
        case 3: .track(.custom(name: "Lesson \(number)"))
        case 4: .changeAttributes([random.pick(["tier", "store"]): .unset])
        default: .changeAttributes([random.pick(["tier", "store"]): .set(.string("v\(random.below(4))"))])
        }
    }

    /// The memory holds no expected values of a person, so interrupted exchanges are checked against the account's
    /// data.
    static let expectedState = ExpectedState { (account: SalesforceServerAccount, _) in
        func list(_ rows: some Sequence<(key: String, value: [String: JSONValue])>) -> JSONValue {
            .array(
                rows.sorted { $0.key < $1.key }.map { key, row in
                    [.string(key), .object(JSONObject(row.map { ($0.key, $0.value) }))]
                }
            )
        }
        return [
            "rows": list(account.rows.values.flatMap { $0 }), "contacts": list(account.contacts),
            "deletions": .array(account.deletions.map { .string($0) }),
            "events": .array(account.events.map { .string($0.definition) }),
        ]
    }

    /// One record per row, and one per event.
    static func records(in account: SalesforceServerAccount) -> [VendorRecord] {
        account.rows.values.flatMap { rows in
            rows.map { key, row in
                VendorRecord(
                    .contact(key),
                    attributes: Dictionary(row.map { (AttributeName(rawValue: $0.key), $0.value.string ?? "") }) { $1 }
                )
            }
        } + account.events.map { VendorRecord(.contact($0.contactKey), texts: [$0.definition, $0.data.text]) }
    }

    static func problems(in story: SceneStory, at account: SalesforceServerAccount) -> [String] {
        let all = Set(story.requests.map(\.endpoint))
        var problems = story.early(all.subtracting(["token"])) { request in
            request.retryAfter.map { min($0, .seconds(86_400)) }
        }
        problems += story.needlessTokens(isGood: { text, now in
            account.tokens.contains { $0.text == text && $0.until > now }
        })
        // A job is queried five seconds after its start, and five seconds after each reply that it is incomplete.
        problems += story.early(["asyncRows", "asyncStatus"], carryingTheSame: true) { request in
            let status = request.outcome?.reply?.json?["status"]?["requestStatus"]?.string
            let isWaitedFor =
                request.endpoint == "asyncRows" ? request.outcome?.reply?.status == 202 : status == "Pending"
            return isWaitedFor ? .seconds(5) : nil
        }
        problems += account.violations.map { "the vendor's rules: \($0.what)" }
        let lost = Dictionary(grouping: account.events.map(\.definition)) { $0 }.filter { $0.value.count > 1 }
        problems += story.isWhole ? lost.keys.sorted().map { "the event \($0) came twice" } : []
        return story.isWhole ? problems + differences(story, account) : problems
    }

    private static func differences(_ story: SceneStory, _ account: SalesforceServerAccount) -> [String] {
        var problems: [String] = []
        let rows = account.rows["people"] ?? [:]
        for (name, value) in story.attributes.inOrder {
            let said = JSONValue.string(value?.plainText ?? "")
            let held = rows.values.map { $0[name.rawValue.lowercased()] ?? "" }
            if !held.contains(said) { problems.append("the vendor holds \(name.rawValue) otherwise than the app said") }
        }
        let events = Set(account.events.map(\.definition))
        return problems + story.takenEvents.filter { !events.contains($0) }.map { "the vendor has no event \($0)" }
    }
}

extension JSONObject {
    fileprivate func merging(_ other: JSONObject) -> JSONObject {
        other.reduce(into: self) { $0[$1.name] = $1.value }
    }
}
