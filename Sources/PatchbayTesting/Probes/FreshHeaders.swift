import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter whose headers are created when a slot is free. The request leaves at once, so that the headers are current.
struct FreshHeaders: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case event }
    static var descriptor: AdapterDescriptor { .probe(concurrency: 1, usesCredentials: true) }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        let headers = [
            WireHeader("Credential", head.credential?.value ?? "", isSecret: true),
            WireHeader("Signed-At", String(moment.now.milliseconds)),
        ]
        return .send(.event, head.word, for: [head], headers: headers)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        let isFresh = request[header: "Credential"] == ledger.credential
        ledger.note(isFresh ? request.text : "stale \(request.text)")
        ledger.delay = .seconds(5)
        return isFresh ? .ok() : WireResponse(401)
    }
}

extension BehaviourProbe {
    static let freshHeaders = BehaviourProbe(
        "freshHeaders",
        "Headers are created when a request can leave, and the request leaves at once.",
        neededBy: "APIs that sign with a credential of the app, a client state or the time",
        brokenBy: [.ignoresCredential],
        adapter: FreshHeaders(),
        vendor: FreshHeaders.vendor,
        script: [
            .credential("first"), .track("a", subject: "s-1"), .track("b", subject: "s-2"), .credential("second"),
            .pass(.seconds(60)),
        ]
    ) { trial in
        let texts = trial.ledger.texts
        trial.expect(Set(texts) == ["a", "b"], "the vendor did \(texts)")
        trial.expect(texts.count == 2 || trial.disturbance.leavesUncertainDelivery, "the vendor did \(texts)")
        let late = trial.requests.filter { $0.request[header: "Signed-At"] != String($0.now.milliseconds) }
        trial.expect(late.isEmpty, "\(late.count) requests did not leave at once after they were signed")
    }
}
