import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that suppresses values that the vendor holds, without a journal: each plan states what is uncertain if the
/// process dies during the request.
///
/// A value may stay uncertain after a crash: here the vendor refuses the repeated request.
struct Foresight: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case value }
    struct Memory: AdapterMemory { var known: String? }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        if memory.known == head.word { return .settle([head.id: .unchanged()]) }
        return .send(.value, head.word, for: [head], unacknowledged: Memory())
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        if exchange.isSuccess {
            memory.known = exchange.request.text
        } else if exchange.mayHaveWorked {
            memory.known = nil
        }
        return Interpretation(exchange.operations) { _ in
            if exchange.isSuccess { return .accepted() }
            return exchange.status == nil ? .retry(exchange.soon) : .rejected(ProbeFinding.refused.at())
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.delay = .seconds(5)
        guard request.text != "tier=silver" || !ledger.texts.contains(request.text) else { return WireResponse(400) }
        ledger.note(request.text)
        ledger.held["value"] = request.text
        return .ok()
    }
}

extension BehaviourProbe {
    static let foresight = BehaviourProbe(
        "foresight",
        "After a crash during a request, its values count as unknown, even if the repeated request is refused.",
        neededBy: "APIs that suppress unchanged values and whose requests are not journaled",
        brokenBy: [.foreseesNoUncertainty],
        adapter: Foresight(),
        vendor: Foresight.vendor,
        script: [
            .set("tier=gold"), .pass(.seconds(60)), .set("tier=silver"), .pass(.seconds(1)), .pass(.seconds(60)),
            .set("tier=gold"), .pass(.seconds(60)), .set("tier=gold"), .pass(.seconds(60)),
        ]
    ) { trial in
        let held = trial.ledger.held["value"] ?? ""
        trial.expect(held == "tier=gold", "the vendor holds \(held)")
        try trial.expect(trial.outcomes().last?.term == .unchanged, "a value that the vendor holds was sent again")
    }
}
