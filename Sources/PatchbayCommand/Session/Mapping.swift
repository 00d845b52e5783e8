import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

/// The engine with one provider, in a simulated world whose clock needs no real time.
@MainActor struct Mapping {
    /// The outcome of one operation.
    struct Mapped {
        let operation: EngagementOperation
        let requests: [VirtualWorld.Sent]
        let outcome: OperationOutcome?
        var findings: [Finding]

        func json(line: Int, provider: String) -> JSONValue {
            [
                "line": .integer(line),
                "id": .string(operation.id.rawValue),
                "provider": .string(provider),
                "outcome": .string(word),
                "requests": .array(requests.map(\.json)),
                "findings": .array(findings.map(\.json)),
            ]
        }

        /// The outcome as JSON, without the members that describe it for other providers.
        var json: JSONValue {
            [
                "outcome": .string(word),
                "requests": .array(requests.map(\.json)),
                "findings": .array(findings.map(\.json)),
            ]
        }

        private var word: String { outcome?.term.rawValue ?? "pending" }
    }

    /// The simulated time after which an operation counts as waiting for something else.
    private static let timeout = Duration.seconds(2 * 86_400)

    private let world: VirtualWorld
    private let provider: Configuration.Provider
    private let configuration: Configuration

    init(_ provider: Configuration.Provider, of configuration: Configuration) throws {
        (self.provider, self.configuration) = (provider, configuration)
        world = try VirtualWorld(start: Session.dryTime)
        world.credentials = { _, contact in provider.credentials[contact] }
        if let vendor = Vendors.simulatedVendor(provider.adapterID) {
            let host = world.host
            world.network = { sent in
                .outcome(.replied(vendor.respond(to: sent.request.asSeen(by: vendor.id), now: host.date())))
            }
        }
        let plan = configuration.plan.providers.filter { $0.name == provider.name }.map { plan in
            var plan = plan
            plan.mode = .live
            return plan
        }
        try world.start(RoutingPlan(providers: plan, requiredConsent: configuration.requiredConsent))
    }

    /// Captures an operation and lets simulated time pass until it has an outcome, or waits for an event that will not
    /// happen.
    func map(_ operation: EngagementOperation) throws -> Mapped {
        let (coerced, lost) = configuration.admit(operation)
        guard lost.isEmpty else {
            return Mapped(operation: coerced, requests: [], outcome: OperationOutcome(.rejected), findings: lost)
        }
        let sent = world.sent.count
        try world.capture([coerced])
        try world.flush()
        try world.drain(atMost: Self.timeout)
        let outcome = world.outcome(of: operation.id, on: provider.name)
        let examined = provider.adapter.examine(coerced)
        var findings = examined
        let outcomeFindings = try [outcome?.finding, world.suspended(provider.name)].compactMap { $0 }
        let waits = outcome == nil ? try world.waits(of: provider.name) : []
        for finding in outcomeFindings + waits where !findings.contains(finding) { findings.append(finding) }
        return Mapped(
            operation: coerced,
            requests: Array(world.sent[sent...]),
            outcome: outcome,
            findings: findings
        )
    }
}

extension Vendors {
    /// The simulator of a vendor with an account of its own; nil if there is no simulator.
    static func simulatedVendor(_ id: AdapterID) -> SimulatedVendor? {
        func make<Simulator: VendorSimulator>(_ type: Simulator.Type) -> SimulatedVendor? {
            (try? Simulator(settings: [:])).map(SimulatedVendor.init)
        }
        return simulators.first { $0.id == id }.flatMap { make($0) }
    }
}

extension WireRequest {
    /// The request without the path prefix by which a sandbox distinguishes its vendors.
    fileprivate func asSeen(by vendor: AdapterID) -> WireRequest {
        let path = URLText.path(of: url)
        guard path.hasPrefix("/\(vendor.rawValue)/"), let place = url.firstRange(of: path) else { return self }
        var request = self
        request.url.replaceSubrange(place, with: path.dropFirst(vendor.rawValue.count + 1))
        return request
    }
}

extension VirtualWorld.Sent {
    /// The redacted request as JSON, with the instant at which it was sent.
    fileprivate var json: JSONValue {
        let shown = request.redacted
        var json: JSONObject = ["at": .string(date.text), "method": .string(shown.method), "url": .string(shown.url)]
        json["headers"] = .object(JSONObject(shown.headers.map { ($0.name, .string($0.value)) }))
        if let body = shown.json {
            json["body"] = body
        } else if !shown.body.isEmpty {
            json["body"] = .string(String(decoding: shown.body, as: UTF8.self))
        }
        return .object(json)
    }
}
