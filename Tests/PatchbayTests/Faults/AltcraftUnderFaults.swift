import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

/// What the vendor must not have seen after a run.
enum AltcraftUnderFaults {
    static func adapter() throws -> AltcraftDevice {
        let settings: JSONObject = ["apiUrl": "https://api.altcraft.test", "pixel": "PX-1", "tagsField": "labels"]
        return try AltcraftDevice(
            settings: AltcraftSettings.table.read(settings, over: AltcraftSettings(), at: "settings")
        )
    }

    static func vendor() throws -> SimulatedVendor { SimulatedVendor(try AltcraftSimulator(settings: [:])) }

    /// The token of a contact's profile in the second database, or of the anonymous one in the first.
    static func credential(_ provider: String, _ contact: String?) -> Secret? {
        let claim: JSONValue =
            contact.map { ["db_id": 2, "matching": "email", "email": .string("\($0)@example.org")] }
            ?? ["db_id": 1, "matching": "email", "email": "anonymous@example.org"]
        let payload: JSONValue = ["matching": .string(claim.text)]
        return Secret("\(base64("{}")).\(base64(payload.text)).signature")
    }

    private static func base64(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=",
            with: ""
        )
    }

    /// What an app says, at random, that this vendor has a place for.
    static func action(_ random: inout SeededGenerator, _ number: Int) -> Action {
        if number == 1 { return .registerDevice(SalesforceUnderFaults.device(locale: "fi_FI")) }
        switch random.below(7) {
        case 0:
            return .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "c-\(random.below(2))")]))
        case 1: return .switchContact(ContactSwitch(.logOut))
        case 2:
            return .changeSubscription(
                Subscription(channel: .push, state: random.pick([.subscribed, .unsubscribed, .suspended]))
            )
        case 3: return .track(.custom(name: "opened_\(number)"))
        case 4: return .track(.push(.received, payload: ["_ac_push": "1", "_uid": .string("m-\(number)")]))
        default:
            return .changeAttributes([
                random.pick(["given_name", "loyalty_tier"]): .set(.string("v\(random.below(4))"))
            ])
        }
    }

    static func check(_ run: FaultSimulation) {
        checkRepeats(run)
        checkOrder(run)
    }

    /// Nothing is sent again whose verdict was known.
    static func checkRepeats(_ run: FaultSimulation) {
        var ended: [String: Int] = [:]
        for told in run.world.told {
            if case .ended(let id, "b", _) = told.event { ended[id.rawValue] = told.sentBefore }
        }
        for sent in run.world.sent where sent.provider == "b" {
            guard let id = sent.request[header: "Request-ID"], let before = ended[id] else { continue }
            run.expect(sent.number <= before, "request \(sent.number) repeats \(id), whose verdict was known")
        }
    }

    /// Inside a queue nothing is sent before what was captured earlier.
    private static func checkOrder(_ run: FaultSimulation) {
        var first: [String: Int] = [:]
        for sent in run.world.sent {
            guard let id = sent.request[header: "Request-ID"] else { continue }
            first[id] = min(first[id] ?? .max, sent.number)
        }
        let ordered = run.acknowledged.filter {
            $0.action.kind == .changeSubscription || $0.action.kind == .switchContact
        }
        let numbers = ordered.compactMap { first[$0.id.rawValue] }
        run.expect(numbers == numbers.sorted(), "subscriptions left in another order than they were captured in")
    }
}
