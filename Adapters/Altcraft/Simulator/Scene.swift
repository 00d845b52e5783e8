import Foundation
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The test profile of the mobile API for random faults. Requests are repeated after 5xx replies only, and not at once.
public struct AltcraftScene: VendorScene {
    public typealias Simulator = AltcraftSimulator

    public static let settings: JSONObject = [
        "apiUrl": "https://api.altcraft.test", "pixel": "PX-1", "tagsField": "labels",
    ]

    /// The token of a contact's profile in the second database, or of the anonymous one in the first.
    public static func credential(of contact: String?) -> Secret? {
        let claim: JSONValue = [
            "db_id": contact == nil ? 1 : 2, "matching": "email", "email": .string(address(of: contact)),
        ]
        let payload: JSONValue = ["matching": .string(claim.text)]
        return Secret("\(base64("{}")).\(base64(payload.text)).signature")
    }

    /// The same with an expiry in the past.
    public static func expiredCredential(of contact: String?) -> Secret? {
        let claim: JSONValue = [
            "db_id": contact == nil ? 1 : 2, "matching": "email", "email": .string(address(of: contact)),
        ]
        let payload: JSONValue = ["matching": .string(claim.text), "exp": 1_700_000_000]
        return Secret("\(base64("{}")).\(base64(payload.text)).signature")
    }

    public static var changingSettings: [JSONObject] {
        var other = settings
        other["tagsField"] = nil
        return [settings, other]
    }

    public static let retriesWhenWoken = true

    /// One record per profile; push and custom events name no person.
    public static func records(in state: AltcraftState) -> [VendorRecord] {
        state.profiles.map { profile in
            let contact = profile.keys.lazy.compactMap(Self.contact).first ?? nil
            let names = ["_fname": AttributeName.givenName]
            let fields = (profile.fields.object ?? [:]).filter { $0.value.string != nil || $0.value.number != nil }
            return VendorRecord(
                VendorRecord.Person(contact),
                attributes: Dictionary(
                    fields.map {
                        (names[$0.name] ?? AttributeName(rawValue: $0.name), $0.value.string ?? $0.value.text)
                    }
                ) { $1 },
                texts: profile.subscriptions.map(\.fields.text),
                reaches: Set(profile.subscriptions.filter { $0.status == "subscribed" }.map(\.token))
            )
        }
    }

    /// The contact of a profile's key: nil inside for the anonymous person.
    private static func contact(of key: String) -> String?? {
        guard key.hasPrefix("email="), key.hasSuffix("@example.org") else { return nil }
        let name = String(key.dropFirst("email=".count).dropLast("@example.org".count))
        return .some(name == "anonymous" ? nil : name)
    }

    private static func address(of contact: String?) -> String { "\(contact ?? "anonymous")@example.org" }
    private static func key(of contact: String?) -> String { "email=\(address(of: contact))" }

    private static func base64(_ text: String) -> String {
        let plain = Data(text.utf8).base64EncodedString()
        return plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    public static let question = ReadRequest("latest")

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        if number == 1 { return .registerDevice(ScenePhone.device()) }
        switch random.below(9) {
        case 0: return ScenePhone.logIn(&random)
        case 1: return .switchContact(ContactSwitch(.logOut))
        case 2:
            return .changeSubscription(
                Subscription(channel: .push, state: random.pick([.subscribed, .unsubscribed, .suspended]))
            )
        case 3: return .track(.custom(name: "opened_\(number)"))
        case 4: return .track(.push(.received, payload: ["_ac_push": "1", "_uid": .string("m-\(number)")]))
        case 5: return .registerDevice(ScenePhone.device(token: random.pick(["0f1e2d3c4b5a6978", "1f1e2d3c4b5a6979"])))
        case 6:
            let tag = random.pick(["sports", "music"] as [PatchbayModel.Tag])
            return .changeTags(random.below(2) == 0 ? TagChange(add: [tag]) : TagChange(remove: [tag]))
        default:
            return .changeAttributes([
                random.pick(["given_name", "loyalty_tier"]): .set(.string("v\(random.below(4))"))
            ])
        }
    }

    public static let expectedState = makeExpectedState(finding: key)

    /// Compares the status of each push subscription in the memory with the vendor's.
    ///
    /// - Parameter key: The key by which the vendor finds a contact's profile.
    /// - Returns: The comparison.
    public static func makeExpectedState(finding key: @escaping @Sendable (_ contact: String?) -> String)
        -> ExpectedState
    {
        @Sendable func known(_ memory: JSONValue) -> [(name: String, holding: JSONValue)] {
            (memory["holdings"]?.array ?? []).filter { $0["certainty"] == "held" && $0["status"] != nil }.map {
                let address = "\($0["address"]?["provider"]?.string ?? "") \($0["address"]?["token"]?.string ?? "")"
                return ("\(key($0["contact"]?.string)) \(address)", $0)
            }
        }
        return ExpectedState { memory in
            JSONObject(known(memory).map { ($0.name, $0.holding["status"] ?? .null) })
        } holds: { (state: AltcraftState, memory) in
            var held: JSONObject = [
                "fields": .array(state.profiles.map(\.fields)),
                "events": .array(Set(state.customEvents.map(\.parts.description)).sorted().map { .string($0) }),
                "pushEvents": .array(
                    Set(state.pushEvents.map { "\($0.kind) \($0.message)" }).sorted().map { .string($0) }
                ),
            ]
            for (name, holding) in known(memory) {
                let owner = key(holding["contact"]?.string)
                held[name] = state.profiles.filter { $0.keys.contains(owner) }.flatMap(\.subscriptions)
                    .last {
                        $0.provider == holding["address"]?["provider"]?.string
                            && $0.token == holding["address"]?["token"]?.string
                    }
                    .map { .string($0.status) }
            }
            return held
        }
    }

    /// Finds violations of the retry policy. A capture wakes a failing lane within a second, so operations count from then on.
    public static func problems(in story: SceneStory, at account: AltcraftState) -> [String] {
        var problems: [String] = []
        var settled: [String: SceneStory.Request] = [:]
        for request in story.requests {
            guard let id = request.request[header: "Request-ID"], request.endpoint != "status" else { continue }
            let key = "\(id) \(request.endpoint)"
            if let before = settled[key], let at = before.settledAt, let outcome = before.outcome {
                if isAnotherAttempt(request, after: before, at, in: story) { continue }
                let isOpen = story.takesAway(before) && before.isUnconfirmed
                if !outcome.failed(or: 500...599), outcome.reply?.isWebPage != true, !isOpen {
                    problems.append("request \(request.number) repeats \(before.number), which was answered")
                } else if let word = before.retryAfter, request.now < at + min(word, .seconds(86_400)) {
                    problems.append(
                        "request \(request.number) came \(request.now - at) after \(before.number), not \(word)"
                    )
                } else if request.now < at + .seconds(1),
                    !story.isWoken(from: before.now + .seconds(-1), to: request.now)
                {
                    problems.append("request \(request.number) came \(request.now - at) after \(before.number)")
                }
            }
            settled[key] = request
            // A release resumes a suspended subscription, which is then ended again.
            if request.endpoint == "unsuspend" {
                settled = settled.filter {
                    $0.key == key || Set($0.value.operations).isDisjoint(with: request.operations)
                }
            }
        }
        return story.isWhole ? problems + differences(story, account) : problems
    }

    /// Whether the request repeats one that was refused with 401, under another credential, after a start, or after the app
    /// reported new credentials.
    private static func isAnotherAttempt(
        _ request: SceneStory.Request,
        after before: SceneStory.Request,
        _ settledAt: Instant,
        in story: SceneStory
    ) -> Bool {
        guard before.outcome?.reply?.status == 401 else { return false }
        let credentials = [request, before].map { $0.request[header: "Authorization"] }
        return credentials[0] != credentials[1] || story.isWoken(from: settledAt, to: request.now)
    }

    /// Each person's profile and subscription, and the events of all.
    private static func differences(_ story: SceneStory, _ account: AltcraftState) -> [String] {
        func profile(of contact: String?) -> AltcraftState.Profile? {
            account.profiles.first { $0.keys.contains(key(of: contact)) }
        }
        var problems = story.differences(inEvents: account.customEvents.compactMap { $0["wn"] })
        for contact in Set(story.entries.map(\.operation.contact)).sorted(by: { $0 ?? "" < $1 ?? "" }) {
            let fields = profile(of: contact)?.fields
            for (name, value) in story.attributes(where: { $0.contact == contact }).inOrder
            where fields?[name == .givenName ? "_fname" : name.rawValue]?.string != value?.plainText {
                problems.append("the vendor holds another \(name.rawValue) of a person than it took")
            }
            if let tags = tags(of: contact, story), tags != Set(fields?["labels"]?.array?.compactMap(\.string) ?? []) {
                problems.append("the vendor holds other tags of a person than it took")
            }
        }
        let word = story.lastTaken([.changeSubscription, .switchContact])
        let statuses = profile(of: word?.contact)?.subscriptions.map(\.status) ?? []
        // An opt-out of a person without a subscription is kept on the device.
        if case .changeSubscription(let subscription) = word?.action,
            !statuses.contains(subscription.state.rawValue), !statuses.isEmpty || subscription.state == .subscribed
        {
            problems.append("the vendor has no subscription of the state that it took last")
        }
        let messages = Set(account.pushEvents.map(\.message))
        return problems
            + story.entries.compactMap { entry in
                guard entry.isTaken, case .track(.push(_, let payload, _)) = entry.operation.action,
                    let message = payload["_uid"]?.string, !messages.contains(message)
                else { return nil }
                return "the vendor has no push \(message)"
            }
    }

    /// Returns a person's tags after all operations; nil if the vendor did not accept all of them.
    private static func tags(of contact: String?, _ story: SceneStory) -> Set<String>? {
        var tags: Set<PatchbayModel.Tag> = []
        for entry in story.entries where entry.operation.contact == contact {
            guard case .changeTags(let change) = entry.operation.action else { continue }
            guard entry.isTaken else { return nil }
            tags = change.applied(to: tags)
        }
        return Set(tags.map(\.rawValue))
    }
}

extension SceneStory.Request {
    /// Whether the vendor was unavailable, the reply is a success with an error number in its body, or the reply shows another
    /// status than the requested one.
    fileprivate var isUnconfirmed: Bool {
        guard let reply = outcome?.reply else { return false }
        if [408, 429].contains(reply.status) { return true }
        guard reply.isSuccess else { return false }
        let shown = reply.json?["profile"]?["subscription"]?["status"]?.string
        return (reply.json?["error"]?.integer ?? 0) != 0
            || shown != nil && shown != request.json?["subscription"]?["status"]?.string
    }
}

extension SceneStory {
    /// Whether a request ends the reachability of a person. It is repeated until the vendor confirms it.
    fileprivate func takesAway(_ request: Request) -> Bool {
        if request.endpoint == "unsuspend" { return true }
        return entries.contains { entry in
            guard request.operations.contains(entry.operation.id) else { return false }
            return switch entry.operation.action {
            case .changeSubscription(let subscription): subscription.state != .subscribed
            case .registerDevice, .identify, .changeAttributes, .changeTags, .track: false
            default: true
            }
        }
    }
}
