import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAdobe

/// A back end at the real engine, under a virtual clock, before the played account.
final class ServerDesk {
    let world: VirtualWorld
    let vendor: SimulatedVendor
    let adapter: AdobeServer
    /// Answers that take the vendor's place, by endpoint; each once.
    var instead: [(endpoint: String, outcome: Outcome)] = []
    private var count = 0

    init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        var account = ServerFixture.account
        for change in settings { account[change.name] = change.value }
        let vendor = SimulatedVendor(try AdobeServerSimulator(settings: account))
        let adapter = try ServerFixture.adapter(changes)
        let world = try VirtualWorld(seed: 1)
        (self.vendor, self.adapter, self.world) = (vendor, adapter, world)
        world.network = { [unowned self] sent in
            if let place = instead.firstIndex(where: { $0.endpoint == sent.endpoint }) {
                let outcome = instead.remove(at: place).outcome
                if case .failed(let failure) = outcome, failure.doubt == .interrupted { return .death }
                return .outcome(outcome)
            }
            return .outcome(.replied(vendor.respond(to: sent.request, now: sent.now)))
        }
        try world.start(plan)
    }

    var plan: RoutingPlan { RoutingPlan(providers: [.init(name: "campaign", adapter: adapter, mode: .live)]) }

    /// Says something of a contact.
    @discardableResult
    func say(_ contact: String, _ action: Action) throws -> OperationID {
        let operation = operation(contact, action)
        try world.capture([operation])
        return operation.id
    }

    func operation(_ contact: String, subject: String? = nil, _ action: Action) -> EngagementOperation {
        count += 1
        let digits = String(1_000_000 + count)
        return EngagementOperation(
            id: OperationID(rawValue: "0b5e4c1a-2d3f-4a6b-8c7d-00000\(digits)"),
            subject: Subject(rawValue: subject ?? contact),
            contact: contact,
            capturedAt: world.host.date(),
            action: action
        )
    }

    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }

    static func topic(_ name: String, _ state: Subscription.State, on channel: Channel = .email) -> Action {
        .changeSubscription(Subscription(channel: channel, topic: name, state: state))
    }

    var account: AdobeServerAccount { vendor.state() ?? AdobeServerAccount() }
    /// What left, in words: `find`, `create`; without questions for tokens.
    var endpoints: [String] { world.sent.map(\.endpoint).filter { $0 != "token" } }

    func sent(_ endpoint: String) -> [VirtualWorld.Sent] { world.sent.filter { $0.endpoint == endpoint } }

    /// The fields of a contact's profile.
    func fields(of contact: String) -> [String: JSONValue]? {
        account.profiles.first { $0.fields["cusNumber"]?.string == contact || $0.fields["email"]?.string == contact }?
            .fields
    }

    func outcome(_ id: OperationID) -> OperationOutcome? { world.outcome(of: id, on: "campaign") }

    func advance(_ seconds: Int) throws { try world.advance(by: .seconds(seconds)) }
}

extension Outcome {
    static func json(_ status: Int, _ json: JSONValue, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers, json: json))
    }

    static func text(_ status: Int, _ text: String = "") -> Outcome {
        .replied(WireResponse(status, body: Array(text.utf8)))
    }

    static let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
    static let died = Outcome.failed(TransportFailure(.interrupted, "processDied"))
}
