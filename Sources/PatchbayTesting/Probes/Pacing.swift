import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that sends the first request at once, and afterwards at most one a minute.
///
/// The endpoint is journaled: a request in flight at a crash counts, too.
struct Pacing: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint {
        case registration
        var isJournaled: Bool { true }
    }
    struct Memory: AdapterMemory { var lastStart: Instant? }
    static var descriptor: AdapterDescriptor { .probe() }
    static let pace = Duration.seconds(60)

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        if let due = memory.lastStart.map({ $0 + Self.pace }), due > moment.now {
            return .wait(until: due, because: ProbeFinding.waiting.at())
        }
        return .send(.registration, pending[pending.count - 1].word, for: pending)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        memory.lastStart = exchange.startedAt
        return Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(.now) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        return .ok()
    }
}

extension BehaviourProbe {
    static let pacing = BehaviourProbe(
        "pacing",
        "The first request leaves at once, the next at a computed time, and a crash shortens no interval.",
        neededBy: "APIs that accept one whole registration per minute",
        brokenBy: [.forgets, .hurries, .keepsNoJournal],
        adapter: Pacing(),
        vendor: Pacing.vendor,
        script: [
            .set("a=1"), .pass(.seconds(1)), .set("a=2"), .set("a=3"), .pass(.seconds(30)), .pass(.seconds(300)),
            .set("a=4"), .pass(.seconds(300)),
        ]
    ) { trial in
        let starts = trial.requests.map(\.now)
        for (one, next) in zip(starts, starts.dropFirst()) {
            trial.expect(next - one >= Pacing.pace, "two requests within \(next - one)")
        }
        trial.expect(trial.ledger.texts.last == "a=4", "the vendor holds \(trial.ledger.texts.last ?? "nothing")")
        guard trial.disturbance == .none else { return }
        trial.expect(trial.ledger.texts == ["a=1", "a=3", "a=4"], "the vendor received \(trial.ledger.texts)")
        trial.expect(starts.count == 3 && starts[1] - starts[0] == Pacing.pace, "the second request left late or early")
        trial.expect(starts[2] - starts[0] == .seconds(331), "after a pause, the next request did not leave at once")
    }
}
