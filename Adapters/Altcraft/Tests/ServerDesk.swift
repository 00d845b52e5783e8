import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft

/// A back end at the real engine, under a virtual clock, before the played platform.
final class ServerDesk {
    let world: VirtualWorld
    let vendor: SimulatedVendor
    let adapter: AltcraftServer
    /// Answers that take the vendor's place, by what the request's URL ends in; each once.
    var instead: [(end: String, outcome: Outcome)] = []
    private var count = 0

    init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        var account: JSONObject = ["apiToken": .string(ServerFixture.token), "dbId": 12, "pushResource": 31]
        for setting in settings { account[setting.name] = setting.value }
        let vendor = SimulatedVendor(try AltcraftServerSimulator(settings: account))
        let adapter = try ServerFixture.adapter(changes)
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
        try world.start(RoutingPlan(providers: [.init(name: "profiles", adapter: adapter, mode: .live)]))
    }

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

    var account: AltcraftServerAccount { vendor.state() ?? AltcraftServerAccount() }
    /// What left, in words: `importProfiles`, `goal`.
    var endpoints: [String] { world.sent.map(\.endpoint) }

    func fields(of contact: String) -> JSONValue? {
        account.profiles.first { $0.fields["crm_id"]?.string == contact }?.fields
    }

    func sent(_ endpoint: String) -> [VirtualWorld.Sent] { world.sent.filter { $0.endpoint == endpoint } }

    func outcome(_ id: OperationID) -> OperationOutcome? { world.outcome(of: id, on: "profiles") }

    func advance(_ seconds: Int) throws { try world.advance(by: .seconds(seconds)) }
}

extension Outcome {
    static func json(_ status: Int, _ json: JSONValue, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers, json: json))
    }

    static func status(_ status: Int) -> Outcome {
        .replied(WireResponse(status, json: ["error": .integer(status), "error_text": "x"]))
    }

    static let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
    static let died = Outcome.failed(TransportFailure(.interrupted, "processDied"))
}
