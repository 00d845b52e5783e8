import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that suspends the provider, with all its data, for replies that require a person to act.
struct Stopping: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case event }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(.event, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        var meaning = Interpretation(exchange.operations) { _ in
            exchange.isSuccess ? .accepted() : .retry(exchange.soon)
        }
        if [401, 403, 404, 410].contains(exchange.status) { meaning.suspension = ProbeFinding.stopped.at() }
        return meaning
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        guard ledger.mode != "closed" else {
            ledger.held["refused", default: ""] += request.text
            return WireResponse(403)
        }
        ledger.note(request.text)
        return .ok()
    }
}

extension BehaviourProbe {
    static let stopping = BehaviourProbe(
        "stopping",
        "Replies that require a person to act suspend the provider, which keeps its data until it is resumed.",
        neededBy: "every API whose account can be closed or misconfigured",
        brokenBy: [.neverStops, .believes],
        adapter: Stopping(),
        vendor: Stopping.vendor,
        script: [
            .vendor("closed"), .track("a"), .pass(.seconds(60)), .track("b"), .pass(.seconds(86_400)), .vendor(""),
            .pass(.seconds(1)), .resume, .pass(.seconds(60)),
        ]
    ) { trial in
        trial.expectEffects(["a", "b"])
        let refused = trial.ledger.held["refused"]?.count ?? 0
        // A new process makes one attempt.
        let tries = trial.disturbance.leavesUncertainDelivery ? 2 : 1
        trial.expect(refused <= tries, "the vendor refused \(refused) requests")
    }
}
