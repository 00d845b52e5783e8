import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

/// A back end at the real engine, under a virtual clock, before the played account.
final class ServerDesk {
    let world: VirtualWorld
    let vendor: SimulatedVendor
    let adapter: SalesforceServer
    /// Answers that take the vendor's place, by what the request's URL ends in; each once.
    var instead: [(end: String, outcome: Outcome)] = []
    private var count = 0

    init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        let vendor = SimulatedVendor(try SalesforceServerSimulator(settings: settings))
        let rest: JSONObject = ["restUrl": "https://mc.rest.example"]
        let adapter = try ServerFixture.adapter(rest.reduce(into: changes) { $0[$1.name] = $0[$1.name] ?? $1.value })
        let world = try VirtualWorld(seed: 1)
        (self.vendor, self.adapter, self.world) = (vendor, adapter, world)
        world.network = { [unowned self] sent in
            if let place = instead.firstIndex(where: { URLText.path(of: sent.request.url).hasSuffix($0.end) }) {
                let outcome = instead.remove(at: place).outcome
                if case .failed(let failure) = outcome, failure.doubt == .interrupted { return .death }
                return .outcome(outcome)
            }
            return .outcome(.replied(vendor.respond(to: sent.request, now: sent.now)))
        }
        try world.start(plan)
    }

    var plan: RoutingPlan { RoutingPlan(providers: [.init(name: "rows", adapter: adapter, mode: .live)]) }

    /// Says something of a contact.
    @discardableResult
    func say(_ contact: String, _ action: Action, route: String? = nil) throws -> OperationID {
        let operation = operation(contact, action, route: route)
        try world.capture([operation])
        return operation.id
    }

    func operation(_ contact: String, _ action: Action, route: String? = nil) -> EngagementOperation {
        count += 1
        let digits = String(1_000_000 + count)
        return EngagementOperation(
            id: OperationID(rawValue: "0b5e4c1a-2d3f-4a6b-8c7d-00000\(digits)"),
            subject: Subject(rawValue: contact),
            contact: contact,
            capturedAt: world.host.date(),
            options: route.map { ["salesforce-server": ["route": .string($0)]] } ?? [:],
            action: action
        )
    }

    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }

    var account: SalesforceServerAccount { vendor.state() ?? SalesforceServerAccount() }
    var rows: [String: [String: JSONValue]] { account.rows["Shop/People"] ?? [:] }
    /// What left, in words: `rows`, `token`.
    var endpoints: [String] { world.sent.map(\.endpoint) }

    func sent(_ endpoint: String) -> [VirtualWorld.Sent] { world.sent.filter { $0.endpoint == endpoint } }

    func outcome(_ id: OperationID) -> OperationOutcome? { world.outcome(of: id, on: "rows") }

    func advance(_ seconds: Int) throws { try world.advance(by: .seconds(seconds)) }
}

extension Outcome {
    static func json(_ status: Int, _ json: JSONValue, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers, json: json))
    }

    static func status(_ status: Int, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers, json: ["message": "x", "errorcode": 0]))
    }

    static let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
    static let died = Outcome.failed(TransportFailure(.interrupted, "processDied"))
}
