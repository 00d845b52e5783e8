import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that gives up an operation with an uncertain delivery, because the operation must not be processed twice.
struct AtMostOnce: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint {
        case event
        var isJournaled: Bool { true }
    }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(.event, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in
            if exchange.isSuccess { return .accepted() }
            return exchange.mayHaveWorked ? .rejected(ProbeFinding.unknown.at()) : .retry(exchange.soon)
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        return request.text == "b" ? WireResponse(500) : .ok()
    }
}

extension BehaviourProbe {
    static let atMostOnce = BehaviourProbe(
        "atMostOnce",
        "An event is processed at most once; with an uncertain delivery its outcome is unknown, and it is kept.",
        neededBy: "APIs whose events start actions that must not be repeated",
        brokenBy: [.keepsNoJournal, .takesSilenceForYes, .believes],
        adapter: AtMostOnce(),
        vendor: AtMostOnce.vendor,
        script: [.track("a", "b", "c"), .pass(.seconds(60))]
    ) { trial in
        let texts = trial.ledger.texts
        trial.expect(Set(texts).count == texts.count, "the vendor processed an event twice: \(texts)")
        for outcome in try trial.outcomes() {
            let isTaken = outcome.term == .accepted && texts.contains(outcome.word) && outcome.word != "b"
            let isUnknown = outcome.term == .rejected && outcome.code == ProbeFinding.unknown.code
            trial.expect(isTaken || isUnknown, "\(outcome.word) has the outcome \(outcome.term) \(outcome.code)")
        }
        guard !trial.disturbance.leavesUncertainDelivery else { return }
        trial.expect(texts == ["a", "b", "c"], "the vendor did \(texts)")
    }
}
