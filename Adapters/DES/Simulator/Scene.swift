public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile for random faults. After a failure, no request leaves until a wake, and no event is lost.
public struct DESScene: VendorScene {
    public typealias Simulator = DESSimulator

    public static let settings: JSONObject = [
        "applicationCode": "ABCD1-234E6", "contactFieldId": 2575, "merchantId": "1428C8EE286EC34B",
    ]

    public static let account: JSONObject = ["tokenLifetimeSeconds": 33_000]

    /// The vendor issues two tokens. An app passes none if the value names the contact; ``DESProofScene`` has one.
    public static let handedOut: Set<String> = ["contactToken", "refreshToken"]

    public static let question = ReadRequest("inbox")

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        if number == 1 { return .registerDevice(ScenePhone.device()) }
        switch random.below(9) {
        case 0: return ScenePhone.logIn(&random)
        case 1: return .switchContact(ContactSwitch(.logOut))
        case 2: return .registerDevice(ScenePhone.device(token: random.pick(["0f1e2d3c4b5a6978", "1f1e2d3c4b5a6979"])))
        case 3: return .track(random.pick([.sessionStarted, .sessionEnded]))
        case 4:
            return .track(.push(.tapped, payload: ["aps": ["alert": "Blue"], "u": ["sid": "7a3_Hq9zL2"], "ems": [:]]))
        case 5: return .track(.messageViewed(messageID: "904418"))
        case 6:
            return .changeSubscription(Subscription(channel: .push, state: random.pick([.subscribed, .unsubscribed])))
        default: return .track(.custom(name: "opened_\(number)", attributes: ["n": .integer(Int64(number))]))
        }
    }

    public static var changingSettings: [JSONObject] {
        var other = settings
        other["applicationCode"] = "EFGH5-678I9"
        return [settings, other]
    }

    public static let retriesWhenWoken = true

    public static func action(_ number: Int, _ random: inout SeededGenerator) -> Action {
        switch random.below(12) {
        case 0, 1: .track(.messageViewed(messageID: random.pick(["904418", "904419"])))
        case 2: .track(.messageClicked(messageID: random.pick(["904418", "904419"]), buttonID: "b-1"))
        case 3: .changeSubscription(Subscription(channel: .inApp, state: random.pick([.subscribed, .unsubscribed])))
        default: say(number, &random)
        }
    }

    /// Returns one record per installation, and one per event for the contact under which it arrived.
    public static func records(in state: DESState) -> [VendorRecord] {
        state.clients.map { client in
            VendorRecord(
                person(client.contact),
                reaches: Set([client.pushToken].compactMap(\.self)),
                isOfInstallation: true
            )
        }
            + state.events.map { event in
                VendorRecord(person(event.contact), texts: [event.name, event.attributes?.text ?? ""])
            }
    }

    private static func person(_ contact: String?) -> VendorRecord.Person {
        guard let contact else { return .installation }
        guard contact != "anonymous", let value = contact.split(separator: "=", maxSplits: 1).last else {
            return .anonymous
        }
        let name = String(value.hasPrefix("token:id-token-of-") ? value.dropFirst(18) : value)
        return VendorRecord.Person(name == "anonymous" ? nil : name)
    }

    public static func interactionCounts(in state: DESState) -> [String: Int]? {
        var counts: [String: Int] = [:]
        for client in state.clients {
            for (campaign, count) in client.views { counts["view \(campaign)", default: 0] += count }
            for (campaign, count) in client.clicks { counts["click \(campaign)", default: 0] += count }
        }
        return counts
    }

    /// Compares the installation in the memory with the vendor's. Tokens and the device event state are excluded, because the
    /// vendor may hold newer ones whose reply was lost.
    public static let expectedState = ExpectedState(isPerInstallation: true) { memory in
        var claims: JSONObject = [:]
        claims["registration"] = memory["registration"]?.embedded
        claims["pushToken"] = memory["pushToken"]
        if memory["isIdentityUncertain"] == false, memory["contactToken"] != nil {
            claims["contact"] = .string(
                memory["identity"].map { identity in
                    let proof = identity["tokenMark"]?.string.map { "token:\($0)" }
                    return "\(identity["field"]?.integer ?? 0)=\(identity["value"]?.string ?? proof ?? "")"
                } ?? "anonymous"
            )
        }
        return claims
    } holds: { (state: DESState, memory) in
        let events = state.events.map { event in
            let attributes = event.name == "session:end" ? "" : event.attributes?.text ?? ""
            return "\(event.type) \(event.name) \(attributes) \(event.contact ?? "")"
        }
        func campaigns(_ counts: (DESState.Client) -> [String: Int]) -> JSONValue {
            .array(Set(state.clients.flatMap { counts($0).keys }).sorted().map(JSONValue.string))
        }
        var held: JSONObject = [
            "events": .array(Set(events).sorted().map(JSONValue.string)), "views": campaigns(\.views),
            "clicks": campaigns(\.clicks),
        ]
        let application = memory["applicationCode"]?.string
        let client =
            memory["clientID"]?.string.flatMap { state.client($0, application: application) } ?? state.clients.last
        held["registration"] = client?.registration
        held["pushToken"] = client?.pushToken.map(JSONValue.string)
        // Of a proof memory keeps a mark.
        let contact = client?.contact?.split(separator: "token:", maxSplits: 1).map(String.init)
        held["contact"] = contact.map { .string($0.count > 1 ? "\($0[0])token:\(TextMark($0[1]).digits)" : $0[0]) }
        return held
    }

    /// Finds violations of the retry policy. A capture wakes a failing lane within a second, so operations count from then on.
    /// A query overtakes the queue. Its failure, or the failure of its token renewal, blocks no other operation.
    public static func problems(in story: SceneStory, at account: DESState) -> [String] {
        var problems: [String] = []
        let captured = Set(story.entries.map(\.operation.id))
        let passing = Set(
            story.entries.map(\.operation).filter { operation in
                switch operation.action {
                case .changeSubscription(let subscription): subscription.state != .subscribed
                case .setConsent: operation.action.pushMessageConsent != .granted
                default: [.erase, .unregister].contains(operation.action)
                }
            }
            .map(\.id)
        )
        let stored = story.requests.filter { !captured.isDisjoint(with: $0.operations) }
        // Opt-outs, unregistrations and erasures have a queue of their own.
        let queues = Dictionary(grouping: stored) { $0.operations.contains(where: passing.contains) }.values
        for (first, next) in queues.flatMap({ zip($0, $0.dropFirst()) }) {
            guard let at = first.settledAt, let outcome = first.outcome,
                outcome.failed(or: 408...408, 429...429, 500...599)
            else { continue }
            if !story.isWoken(from: first.now + .seconds(-1), to: next.now) {
                problems.append("request \(next.number) left \(next.now - at) after \(first.number) failed, by itself")
            }
        }
        return story.isWhole ? problems + differences(story, account) : problems
    }

    /// The ID token that proves a contact.
    fileprivate static func token(_ contact: String) -> String { "id-token-of-\(contact)" }

    /// The installation's contact and push token, and its events.
    private static func differences(_ story: SceneStory, _ account: DESState) -> [String] {
        var problems = story.differences(inEvents: account.events.map(\.name))
        let client = account.clients.last
        if case .switchContact(let change) = story.lastTaken([.switchContact])?.action {
            let field = settings["contactFieldId"]?.text ?? ""
            let person = change.identifiers.first.map { ["\(field)=\($0.value)", "\(field)=token:\(token($0.value))"] }
            if !(person ?? ["anonymous"]).contains(client?.contact ?? "") {
                problems.append("the vendor holds another contact than it took")
            }
        }
        let words = story.entries.filter { $0.operation.action.kind == .changeSubscription }
        // A person who comes back gets the own last decision, and a consent also counts.
        let last = words.last.flatMap { word in story.entries.lastIndex { $0.operation.id == word.operation.id } } ?? 0
        let isOfPresent = !story.entries.enumerated().contains { place, entry in
            switch entry.operation.action {
            case .identify, .switchContact: place > last && !words.isEmpty
            case .setConsent: entry.operation.action.pushMessageConsent.map { $0 != .granted } ?? false
            default: false
            }
        }
        if case .registerDevice(let device) = story.lastTaken([.registerDevice])?.action, isOfPresent,
            words.allSatisfy(\.isTaken)
        {
            let isRefused = words.last.map { $0.operation.action.isOptOut } ?? false
            if client?.pushToken != (isRefused ? nil : device.pushToken?.value) {
                problems.append("the vendor holds another push token than it took")
            }
        }
        for entry in story.entries where entry.isTaken {
            switch entry.operation.action {
            case .track(.custom(let name, let attributes)):
                let arrived = account.events.first { $0.name == name }?.attributes?.object ?? [:]
                for (attribute, value) in attributes where arrived[attribute.rawValue]?.string != value.plainText {
                    problems.append("the vendor has the event \(name) without its \(attribute.rawValue)")
                }
            case .track(.messageViewed(let message)) where client?.views[message] == nil:
                problems.append("the vendor has no view of a message")
            default: break
            }
        }
        return problems
    }
}

/// The same test profile with contacts that an ID token of the app proves.
public struct DESProofScene: VendorScene {
    public typealias Simulator = DESSimulator

    public static let settings: JSONObject = {
        var settings = DESScene.settings
        settings["contactProof"] = "openIdToken"
        return settings
    }()

    public static var account: JSONObject { DESScene.account }
    public static var question: ReadRequest { DESScene.question }
    public static var handedOut: Set<String> { DESScene.handedOut }
    public static var expectedState: ExpectedState { DESScene.expectedState }

    public static func credential(of contact: String?) -> Secret? { Secret(DESScene.token(contact ?? "anonymous")) }

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action { DESScene.say(number, &random) }

    public static var changingSettings: [JSONObject] {
        DESScene.changingSettings.map { settings in
            var settings = settings
            settings["contactProof"] = "openIdToken"
            return settings
        }
    }

    public static var retriesWhenWoken: Bool { DESScene.retriesWhenWoken }

    public static func action(_ number: Int, _ random: inout SeededGenerator) -> Action {
        DESScene.action(number, &random)
    }

    public static func records(in state: DESState) -> [VendorRecord] { DESScene.records(in: state) }

    public static func interactionCounts(in state: DESState) -> [String: Int]? {
        DESScene.interactionCounts(in: state)
    }

    public static func problems(in story: SceneStory, at account: DESState) -> [String] {
        DESScene.problems(in: story, at: account)
    }
}

extension Action {
    /// Whether it ends a subscription.
    fileprivate var isOptOut: Bool {
        if case .changeSubscription(let subscription) = self { subscription.state == .unsubscribed } else { false }
    }
}
