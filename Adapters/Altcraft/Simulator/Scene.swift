import Foundation
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// Random runs of faults: what was answered otherwise than with 5xx never comes again, and a 5xx not at once.
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

    private static func address(of contact: String?) -> String { "\(contact ?? "anonymous")@example.org" }

    private static func base64(_ text: String) -> String {
        let plain = Data(text.utf8).base64EncodedString()
        return plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    public static let question = ReadRequest("latest")

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        if number == 1 { return .registerDevice(ScenePhone.device()) }
        switch random.below(8) {
        case 0: return ScenePhone.logIn(&random)
        case 1: return .switchContact(ContactSwitch(.logOut))
        case 2:
            return .changeSubscription(
                Subscription(channel: .push, state: random.pick([.subscribed, .unsubscribed, .suspended]))
            )
        case 3: return .track(.custom(name: "opened_\(number)"))
        case 4: return .track(.push(.received, payload: ["_ac_push": "1", "_uid": .string("m-\(number)")]))
        case 5: return .registerDevice(ScenePhone.device(token: random.pick(["0f1e2d3c4b5a6978", "1f1e2d3c4b5a6979"])))
        default:
            return .changeAttributes([
                random.pick(["given_name", "loyalty_tier"]): .set(.string("v\(random.below(4))"))
            ])
        }
    }

    public static let belief = makeBelief { "email=\(address(of: $0))" }

    /// The push token, and the status under it of the contact's subscription, as memory knows them and as the vendor has
    /// them.
    ///
    /// - Parameter key: by which key the vendor finds a contact's profile.
    /// - Returns: the two views.
    public static func makeBelief(finding key: @escaping @Sendable (_ contact: String?) -> String) -> Belief {
        Belief { memory in
            var claims: JSONObject = [:]
            if memory["doubtful"] == nil { claims["saved"] = memory["saved"] }
            claims["status"] = memory["standing"]?["status"]
            return claims
        } holds: { (state: AltcraftState, memory) in
            var held: JSONObject = [
                "fields": .array(state.profiles.map(\.fields)),
                "events": .array(Set(state.customEvents.map(\.parts.description)).sorted().map { .string($0) }),
                "pushEvents": .array(
                    Set(state.pushEvents.map { "\($0.kind) \($0.message)" }).sorted().map { .string($0) }
                ),
            ]
            let saved = memory["saved"]
            func isSaved(_ subscription: AltcraftState.Subscription) -> Bool {
                saved?["token"]?.string == subscription.token && saved?["provider"]?.string == subscription.provider
            }
            held["saved"] = state.profiles.contains { $0.subscriptions.contains(where: isSaved) } ? saved : nil
            let own = memory["standing"].map { key($0["contact"]?.string) }
            held["status"] = state.profiles.filter { own.map($0.keys.contains) ?? true }.flatMap(\.subscriptions)
                .filter { saved == nil || isSaved($0) }.max { $0.number < $1.number }.map { .string($0.status) }
            return held
        }
    }

    /// A capture wakes a failing lane after a second at most: what was said that long before counts.
    public static func problems(in story: SceneStory, at account: AltcraftState) -> [String] {
        var problems: [String] = []
        var settled: [String: SceneStory.Request] = [:]
        for request in story.requests {
            guard let id = request.request[header: "Request-ID"], request.endpoint != "status" else { continue }
            let key = "\(id) \(request.endpoint)"
            if let before = settled[key], let at = before.settledAt, let outcome = before.outcome {
                if !outcome.failed(or: 500...599), outcome.reply?.isWebPage != true {
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
        }
        guard story.isWhole else { return problems }
        let events = Set(account.customEvents.flatMap { $0.parts.flatMap { $0 } })
        return problems + story.takenEvents.filter { !events.contains($0) }.map { "the vendor has no event \($0)" }
    }
}
