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
        let claim: JSONValue =
            contact.map { ["db_id": 2, "matching": "email", "email": .string("\($0)@example.org")] }
            ?? ["db_id": 1, "matching": "email", "email": "anonymous@example.org"]
        let payload: JSONValue = ["matching": .string(claim.text)]
        return Secret("\(base64("{}")).\(base64(payload.text)).signature")
    }

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
