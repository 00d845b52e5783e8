import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that sends two requests, in order, for one operation. The step names the next request.
struct TwoRequests: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case click, open }
    enum Step: String, Codable, Sendable { case open }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(pending[0].step == .open ? .open : .click, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in
            guard exchange.isSuccess else { return .retry(exchange.soon) }
            return exchange.endpoint == .click ? .inProgress(.open) : .accepted()
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note("\(request.endpoint) \(request.text)")
        return .ok()
    }
}

extension BehaviourProbe {
    static let twoRequests = BehaviourProbe(
        "twoRequests",
        "One operation becomes several ordered requests, and a crash between them repeats only the second.",
        neededBy: "APIs that take a click and the opening that follows it as two requests",
        brokenBy: [.losesStep, .believes, .readsBackwards],
        adapter: TwoRequests(),
        vendor: TwoRequests.vendor,
        script: [.track("a", "b"), .pass(.seconds(60))]
    ) { trial in
        trial.expectEffects(["click a", "open a", "click b", "open b"])
        for word in ["a", "b"] {
            let tail = trial.ledger.texts.drop { $0 != "open \(word)" }
            trial.expect(!tail.contains("click \(word)"), "the click of \(word) was repeated after the second request")
        }
    }
}
