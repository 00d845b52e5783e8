import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that does not send values that the vendor holds, unless they may have changed at the vendor.
///
/// The endpoint is journaled: a crash during a request leaves an uncertain delivery, which the adapter must learn.
struct Suppression: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint {
        case value
        var isJournaled: Bool { true }
    }
    struct Memory: AdapterMemory { var known: String? }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let latest = pending[pending.count - 1]
        if pending.count > 1 {
            let replaced = pending.dropLast().map { ($0.id, Verdict<Self>.superseded(by: latest.id)) }
            return .settle(Dictionary(replaced) { first, _ in first })
        }
        if memory.known == latest.word { return .settle([latest.id: .unchanged()]) }
        return .send(.value, latest.word, for: [latest])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        if exchange.isSuccess {
            memory.known = exchange.request.text
        } else if exchange.mayHaveWorked {
            memory.known = nil
        }
        return Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        if ledger.mode == "confused" { ledger.held["before"] = ledger.held["before"] ?? ledger.held["value"] }
        ledger.held["value"] = request.text
        return ledger.mode == "confused" ? WireResponse(500) : .ok()
    }
}

extension BehaviourProbe {
    static let suppression = BehaviourProbe(
        "suppression",
        "A value that the vendor holds is not sent again, unless a delivery was uncertain since.",
        neededBy: "APIs that suppress unchanged values or whole registrations",
        brokenBy: [.forgets, .trustsMemory, .keepsNoJournal],
        adapter: Suppression(),
        vendor: Suppression.vendor,
        script: [
            .set("tier=gold"), .pass(.seconds(60)), .set("tier=silver"), .set("tier=gold"), .pass(.seconds(60)),
            .vendor("confused"), .set("tier=silver"), .pass(.seconds(1)), .vendor(""), .set("tier=gold"),
            .pass(.seconds(60)), .set("tier=gold"), .pass(.seconds(60)),
        ]
    ) { trial in
        for moment in ["before", "value"] {
            let held = trial.ledger.held[moment] ?? "tier=gold"
            trial.expect(held == "tier=gold", "the vendor holds \(held)")
        }
        try trial.expect(trial.outcomes().last?.term == .unchanged, "a value that the vendor holds was sent again")
    }
}
