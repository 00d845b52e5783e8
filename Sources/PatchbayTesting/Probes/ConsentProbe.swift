import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter whose operations are held or dropped while consent is unknown, according to their routing.
///
/// The engine decides about consent; the adapter sees neither held nor dropped operations.
struct ConsentProbe: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case event }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, waitsForConsent: !operation.word.hasPrefix("fleeting"))
    }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        guard pending[0].operation.action.kind == .track else { return .settle([pending[0].id: .accepted()]) }
        return .send(.event, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        return .ok()
    }
}

extension BehaviourProbe {
    static let consent = BehaviourProbe(
        "consent",
        "While consent is unknown, one kind is held and another is dropped; an opt-in releases, an opt-out completes.",
        neededBy: "every API; some drop tracking and hold registrations",
        brokenBy: [.misplacesConsent],
        requiredConsent: [.tracking],
        adapter: ConsentProbe(),
        vendor: ConsentProbe.vendor,
        script: [
            .track("fleeting 1", "lasting 1"), .pass(.seconds(60)),
            .say(.setConsent(Consent(purpose: .tracking, state: .granted))), .track("fleeting 2", "lasting 2"),
            .pass(.seconds(60)), .say(.setConsent(Consent(purpose: .tracking, state: .denied))), .track("lasting 3"),
            .pass(.seconds(60)),
        ]
    ) { trial in
        trial.expectEffects(["lasting 1", "fleeting 2", "lasting 2"])
        let codes = Dictionary(try trial.outcomes().map { ($0.word, $0.code) }) { first, _ in first }
        trial.expect(codes["fleeting 1"] == "engine.consent.unknown", "its outcome is \(codes["fleeting 1"] ?? "")")
        trial.expect(codes["lasting 3"] == "engine.consent.denied", "its outcome is \(codes["lasting 3"] ?? "")")
    }
}
