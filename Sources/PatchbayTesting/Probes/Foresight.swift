import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// What the vendor holds is not sent again, without a journal: each request says what it leaves in doubt.
///
/// What a process died of may never be planned again, because a person's no has ended it meanwhile.
struct Foresight: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case value }
    struct Memory: AdapterMemory {
        var known: String?
        /// Nothing of it is the person's.
        var afterDenial: Self { self }
    }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        guard head.operation.action.kind == .changeAttributes else { return .settle([head.id: .accepted()]) }
        if memory.known == head.word { return .settle([head.id: .unchanged()]) }
        return .send(.value, head.word, for: [head], doubting: Memory())
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
        ledger.delay = .seconds(5)
        ledger.held["value"] = request.text
        return .ok()
    }
}

extension BehaviourProbe {
    static let foresight = BehaviourProbe(
        "foresight",
        "What a process died of counts as unknown, even if it is never planned again.",
        neededBy: "doors that suppress unchanged values and whose requests no journal knows",
        brokenBy: [.foreseesNoDoubt],
        requiredConsent: [.profile],
        adapter: Foresight(),
        vendor: Foresight.vendor,
        script: [
            .say(.setConsent(Consent(purpose: .profile, state: .granted))), .set("tier=gold"), .pass(.seconds(60)),
            .set("tier=silver"), .pass(.seconds(1)), .say(.setConsent(Consent(purpose: .profile, state: .denied))),
            .pass(.seconds(60)), .say(.setConsent(Consent(purpose: .profile, state: .granted))), .set("tier=gold"),
            .pass(.seconds(60)),
        ]
    ) { trial in
        let held = trial.ledger.held["value"] ?? ""
        trial.expect(held == "tier=gold", "the vendor holds \(held)")
        try trial.expect(trial.endings().last?.term != .rejected, "the last value was refused")
    }
}
