import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// A person denies consent while a slow vendor has not replied. The adapter does not handle either.
struct Withdrawal: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case event }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        guard pending[0].operation.action.kind == .track else { return .settle([pending[0].id: .accepted()]) }
        return .send(.event, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        ledger.delay = .seconds(5)
        return request.text == "denied" ? WireResponse(503) : .ok()
    }
}

extension BehaviourProbe {
    static let withdrawal = BehaviourProbe(
        "withdrawal",
        "An opt-out ends requests in flight: they are not sent again after any reply of the vendor, or after a crash.",
        neededBy: "every API whose vendor may be slow or fail",
        brokenBy: [.misplacesConsent],
        requiredConsent: [.tracking],
        adapter: Withdrawal(),
        vendor: Withdrawal.vendor,
        script: [
            .track("held"), .say(.setConsent(Consent(purpose: .tracking, state: .granted))), .pass(.seconds(60)),
            .track("denied"), .pass(.seconds(1)), .say(.setConsent(Consent(purpose: .tracking, state: .denied))),
            .pass(.seconds(60)), .say(.setConsent(Consent(purpose: .tracking, state: .granted))), .track("allowed"),
            .pass(.seconds(60)),
        ]
    ) { trial in
        let denial = trial.operations.count { $0.word != "allowed" } - 1
        let late = trial.requests.filter { $0.request.text == "denied" && $0.operationsBefore >= denial }
        trial.expect(late.isEmpty, "\(late.count) requests left after the opt-out")
        try trial.expect(trial.outcome(of: "denied")?.term == .dropped, "the withdrawn operation has another outcome")
        let others = trial.ledger.texts.filter { $0 != "denied" }
        trial.expect(Set(others) == ["held", "allowed"], "the vendor did \(others)")
        trial.expect(others.count == 2 || trial.disturbance.leavesUncertainDelivery, "the vendor did \(others)")
    }
}
