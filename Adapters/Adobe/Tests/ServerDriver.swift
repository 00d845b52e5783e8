import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

/// A back end connected to the simulated account.
typealias ServerDriver = BackEnd<AdobeServer>

extension BackEnd<AdobeServer> {
    convenience init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        let account = settings.reduce(into: ServerFixture.account) { $0[$1.name] = $1.value }
        try self.init(
            ServerFixture.adapter(changes),
            before: SimulatedVendor(try AdobeServerSimulator(settings: account))
        )
    }

    static func topic(_ name: String, _ state: Subscription.State, on channel: Channel = .email) -> Action {
        .changeSubscription(Subscription(channel: channel, topic: name, state: state))
    }

    var account: AdobeServerAccount { vendor.state() ?? AdobeServerAccount() }
    /// The endpoints of the requests, except for tokens, such as `find` and `create`.
    var calls: [String] { endpoints.filter { $0 != "token" } }

    /// The fields of a contact's profile.
    func fields(of contact: String) -> [String: JSONValue]? {
        account.profiles.first { $0.fields["cusNumber"]?.string == contact || $0.fields["email"]?.string == contact }?
            .fields
    }
}

extension Outcome {
    static func text(_ status: Int, _ text: String = "") -> Outcome {
        .replied(WireResponse(status, body: Array(text.utf8)))
    }
}
