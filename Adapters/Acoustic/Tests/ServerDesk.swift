import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

/// A back end at the real engine, under a virtual clock, before the played account.
final class ServerDesk {
    let world: VirtualWorld
    let vendor: SimulatedVendor
    let adapter: AcousticServer
    /// Answers that take the vendor's place, by endpoint; each once.
    var instead: [(endpoint: String, outcome: Outcome)] = []
    private var count = 0

    init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        var account = ServerFixture.account
        for change in settings { account[change.name] = change.value }
        let vendor = SimulatedVendor(try AcousticServerSimulator(settings: account))
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
    func say(_ contact: String, _ action: Action, _ options: JSONObject = [:]) throws -> OperationID {
        let operation = operation(contact, action, options)
        try world.capture([operation])
        return operation.id
    }

    func operation(_ contact: String, _ action: Action, _ options: JSONObject = [:]) -> EngagementOperation {
        count += 1
        let digits = String(1_000_000 + count)
        return EngagementOperation(
            id: OperationID(rawValue: "0b5e4c1a-2d3f-4a6b-8c7d-00000\(digits)"),
            subject: Subject(rawValue: contact),
            contact: contact,
            capturedAt: world.host.date(),
            options: options.isEmpty ? [:] : ["acoustic-server": options],
            action: action
        )
    }

    /// Asks, and goes on for so many seconds.
    func ask(_ contact: String, _ request: ReadRequest, seconds: Int = 5) throws -> OperationOutcome? {
        let question = operation(contact, .readBack(request))
        try world.read(question, from: "campaign", timeout: .seconds(600))
        try advance(seconds)
        return outcome(question.id)
    }

    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }
    static func event(_ name: String) -> Action { .track(.custom(name: name)) }

    var account: AcousticServerAccount { vendor.state() ?? AcousticServerAccount() }
    func columns(_ contact: String) -> [String: String]? { account.contacts[contact]?.columns }
    /// What left, in words: `token`, `addRecipient`.
    var endpoints: [String] { world.sent.map(\.endpoint) }

    func sent(_ endpoint: String) -> [VirtualWorld.Sent] { world.sent.filter { $0.endpoint == endpoint } }
    func body(_ sent: VirtualWorld.Sent) -> String { String(decoding: sent.request.body, as: UTF8.self) }
    func codes(_ action: Action, _ options: JSONObject = [:]) -> [String] {
        adapter.examine(operation("c-1", action, options)).map { String($0.code.dropFirst("acoustic.server.".count)) }
    }

    func outcome(_ id: OperationID) -> OperationOutcome? { world.outcome(of: id, on: "campaign") }
    func advance(_ seconds: Int) throws { try world.advance(by: .seconds(seconds)) }
}

extension Outcome {
    static func json(_ status: Int, _ json: JSONValue) -> Outcome { .replied(WireResponse(status, json: json)) }
    static func status(_ status: Int, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers))
    }
    static func fault(_ number: Int) -> Outcome { .replied(ServerFixture.fault(number)) }
    static let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
    static let died = Outcome.failed(TransportFailure(.interrupted, "processDied"))
}
