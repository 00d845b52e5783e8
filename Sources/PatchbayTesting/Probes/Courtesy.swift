import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that collects events for 30 s. A flush sends them at once, but never faster than the vendor's pacing allows.
struct Courtesy: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case events }
    struct Memory: AdapterMemory { var lastStart: Instant? }
    static var descriptor: AdapterDescriptor { .probe() }
    static let pace = Duration.seconds(10)

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let courtesy = moment.flush ? moment.now : pending[0].since + .seconds(30)
        let due = max(courtesy, memory.lastStart.map { $0 + Self.pace } ?? courtesy)
        guard due <= moment.now else { return .wait(until: due, because: ProbeFinding.waiting.at()) }
        return .send(.events, pending.map(\.word).joined(separator: ","), for: pending)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        memory.lastStart = exchange.startedAt
        return Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        for word in request.words { ledger.note(word) }
        return .ok()
    }
}

extension BehaviourProbe {
    static let courtesy = BehaviourProbe(
        "courtesy",
        "Operations are collected for a while; a flush shortens that time, but never the vendor's pacing.",
        neededBy: "APIs that send events at intervals",
        brokenBy: [.hurries, .believes],
        adapter: Courtesy(),
        vendor: Courtesy.vendor,
        script: [
            .track("a"), .pass(.seconds(10)), .track("b"), .pass(.seconds(60)), .track("c"), .flush, .pass(.seconds(1)),
            .track("d"), .flush, .pass(.seconds(120)),
        ]
    ) { trial in
        trial.expectEffects(["a", "b", "c", "d"], repeats: 2)
        guard trial.disturbance == .none else { return }
        let starts = trial.requests.map(\.now)
        let flushed =
            trial.operations.count > 2 ? trial.operations[2].capturedAt - trial.operations[0].capturedAt : .zero
        trial.expect(starts.count == 3, "\(starts.count) requests")
        trial.expect(starts.count > 1 && starts[1] - starts[0] == flushed - .seconds(30), "the flush sent nothing")
        trial.expect(starts.count > 2 && starts[2] - starts[1] >= Courtesy.pace, "the flush violated the pacing")
    }
}
