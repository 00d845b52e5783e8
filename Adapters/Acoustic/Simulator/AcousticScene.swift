public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile of the device API for random faults. Retries are minutes apart, and the final row is what the app
/// set.
public struct AcousticScene: VendorScene {
    public typealias Simulator = AcousticSimulator

    private static let columns: JSONObject = [
        "City": ["type": "text"], "Visits": ["type": "numeric"],
        "Tags": ["type": "multiSelection", "values": ["a", "b", "c"]],
    ]

    public static let settings: JSONObject = [
        "baseUrl": "https://mobile-sdk-lib-eu-1.brilliantcollector.com/3.0", "appKey": "gcb4hVDsXq",
        "columns": .object(columns), "registration": "requested", "tagsColumn": "Tags",
    ]

    // The account has no credential: every app contains the app key, and the vendor issues ids, not tokens.
    public static let account: JSONObject = ["columns": .object(columns), "updatesPerMinute": 100_000]

    public static let opposites: [Action] = ["v0", "v1"].map { .changeAttributes(["City": .set(.string($0))]) }

    /// After a log-out, the app registers the device with the ids of the next person.
    public static let waitsForApp: Set<String> = ["acoustic.ids.missing", "acoustic.ids.person"]

    public static let question = ReadRequest("attributes")

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        if number == 1 { return .registerDevice(ScenePhone.device()) }
        switch random.below(10) {
        case 0: return .registerDevice(ScenePhone.device())
        case 1: return .changeTags(TagChange(add: [random.pick(["a", "b", "c"])]))
        case 2: return .changeTags(TagChange(remove: [random.pick(["a", "b", "c"])]))
        case 3: return .changeAttributes([random.pick(["City", "Visits"]): .unset])
        case 4: return .track(.custom(name: "Lesson \(number)"))
        case 6: return .changeAttributes(["City": .set("x"), "Visits": .unset])
        // So few values that one is often set back while the delivery of its change is uncertain.
        case 5, 7: return .changeAttributes(["Visits": .set(.integer(Int64(random.below(2))))])
        case 8: return random.below(3) == 0 ? ScenePhone.logIn(&random) : .track(.sessionStarted)
        default: return .changeAttributes(["City": .set(.string("v\(random.below(2))"))])
        }
    }

    /// The app passes the ids, one user per person. Later, the settings lose a column.
    public static var changingSettings: [JSONObject] {
        var settings = settings
        settings["registration"] = "given"
        var other = settings
        var columns = columns
        columns["Visits"] = nil
        other["columns"] = .object(columns)
        return [settings, other]
    }

    public static var changingAccount: JSONObject {
        var account = account
        account["knowsEveryUser"] = true
        return account
    }

    public static func identities(of contact: String?) -> [Device.IdentityName: String] {
        let name = contact ?? "anonymous"
        return ["acoustic.userId": "user-\(name)", "acoustic.channelId": "channel-\(name)"]
    }

    /// One record per user.
    public static func records(in account: AcousticAccount) -> [VendorRecord] {
        account.users.map { user in
            let name = user.id.hasPrefix("user-") ? String(user.id.dropFirst(5)) : nil
            return VendorRecord(
                name.map { VendorRecord.Person($0 == "anonymous" ? nil : $0) } ?? .installation,
                attributes: Dictionary(
                    user.finalRow.map { (AttributeName(rawValue: $0.key), $0.value.string ?? $0.value.text) }
                ) { $1 },
                texts: user.writes.compactMap(\.value?.text) + user.events.map(\.body.text),
                reaches: user.mayPush == true ? [user.id] : []
            )
        }
    }

    /// Compares the memory's values with the vendor's first cache, and the push state with the user's.
    public static let expectedState = ExpectedState(isPerInstallation: true) { memory in
        let known = (memory["known"]?.object ?? [:]).map { ($0.name, $0.value["value"]?.embedded ?? .null) }
        var claims: JSONObject = ["known": .object(JSONObject(known))]
        if memory["isPushUncertain"]?.bool != true { claims["push"] = memory["reportedPush"] }
        return claims
    } holds: { (account: AcousticAccount, memory) in
        let user = memory["ids"]?["user"]?.string.flatMap(account.user) ?? account.users.last
        // A user whom the app registered itself has no push state at the vendor before the first report.
        let push = user?.mayPush.map(JSONValue.bool) ?? memory["reportedPush"] ?? .null
        return [
            "known": .object(JSONObject(user?.cache.map { ($0.key, $0.value) } ?? [])), "push": push,
            "row": .object(JSONObject(user?.finalRow.map { ($0.key, $0.value) } ?? [])),
        ]
    }

    private static let streams: [Set<String>] = [["update", "delete"], ["events"], ["register", "phoneHome"]]

    public static func problems(in story: SceneStory, at account: AcousticAccount) -> [String] {
        var problems: [String] = []
        for stream in streams {
            // The first retry interval at its random minimum, or the interval that the vendor asked for.
            problems += story.early(stream) { request in
                guard let outcome = request.outcome, outcome.failed(or: 408...408, 425...425, 429...429, 500...599)
                else {
                    return nil
                }
                return max(.seconds(48), min(request.retryAfter ?? .zero, .seconds(86_400)))
            }
        }
        return story.isWhole ? problems + differences(story, account) : problems
    }

    private static func differences(_ story: SceneStory, _ account: AcousticAccount) -> [String] {
        var problems = account.violations.map { "the vendor's rules: \($0.what)" }
        if account.users.count > 1 { problems.append("\(account.users.count) users were made for one installation") }
        guard let user = account.users.first else { return problems + ["the vendor knows no user"] }
        problems += user.lost.flatMap(\.columns).map { "the vendor lost \($0)" }
        var said = Dictionary(
            story.attributes.compactMap { name, value in value.map { (name.rawValue, $0.json) } }
        ) { $1 }
        said["Tags"] = tags(story)
        if user.finalRow != said { problems.append("the vendor holds \(user.finalRow), the app said \(said)") }
        let events = Set(user.events.map(\.name))
        return problems + story.takenEvents.filter { !events.contains($0) }.map { "the vendor has no event \($0)" }
    }

    /// Returns the column of tags after the app's operations. Another person starts without the earlier person's tags.
    private static func tags(_ story: SceneStory) -> JSONValue? {
        var (tags, person, value): (Set<PatchbayModel.Tag>, [Identifier], JSONValue?) = ([], [], nil)
        for entry in story.entries {
            switch entry.operation.action {
            case .changeTags(let change):
                tags = change.applied(to: tags)
                value = tags.isEmpty ? nil : .string(tags.sorted().map(\.rawValue).joined(separator: ";"))
            case .switchContact(let change):
                if !person.isEmpty, !person.contains(where: change.identifiers.contains) { tags = [] }
                person = change.identifiers
            default: break
            }
        }
        return value
    }
}
