import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter whose second request depends on the reply to the first.
struct AskThenSubscribe: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case ask, subscribe }
    enum Step: String, Codable, Sendable { case subscribe }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(pending[0].step == .subscribe ? .subscribe : .ask, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in
            guard let reply = exchange.outcome.reply, reply.isSuccess else { return .retry(exchange.soon) }
            return exchange.endpoint == .ask && reply.text == "unknown" ? .inProgress(.subscribe) : .accepted()
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note("\(request.endpoint) \(request.text)")
        let isKnown = request.text == "ben" || ledger.held[request.text] != nil
        if request.endpoint == "subscribe" { ledger.held[request.text] = "subscribed" }
        return .ok(isKnown ? "known" : "unknown")
    }
}

extension BehaviourProbe {
    static let askThenSubscribe = BehaviourProbe(
        "askThenSubscribe",
        "The reply to one request decides whether and how the same operation continues.",
        neededBy: "APIs whose log-in queries the profile and subscribes only if there is none",
        brokenBy: [.losesStep, .believes],
        adapter: AskThenSubscribe(),
        vendor: AskThenSubscribe.vendor,
        script: [.track("anna", "ben"), .pass(.seconds(60))]
    ) { trial in
        trial.expectEffects(["ask anna", "subscribe anna", "ask ben"])
        trial.expect(trial.ledger.held["anna"] == "subscribed", "anna is not subscribed")
    }
}
