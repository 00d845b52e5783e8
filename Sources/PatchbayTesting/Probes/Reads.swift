import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

/// An adapter with two queues in a lane and a query. A stopped queue delays neither the other queue nor the query.
struct Reads: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case track, changeAttributes, readBack }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, queue: operation.action.kind.rawValue)
    }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        let endpoint = Endpoint(rawValue: head.operation.action.kind.rawValue) ?? .track
        return .send(endpoint, head.word, for: [head])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in
            guard let reply = exchange.outcome.reply, reply.isSuccess else {
                return .retry(exchange.status == 503 ? .woken : exchange.soon)
            }
            return .accepted(answer: .string(reply.text))
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        if request.endpoint == "readBack" { return .ok("fine") }
        if request.endpoint == "track", ledger.mode == "closed" { return WireResponse(503) }
        ledger.note(request.text)
        return .ok()
    }
}

extension BehaviourProbe {
    static let reads = BehaviourProbe(
        "reads",
        "A closed queue delays neither a query nor the other queues of its lane.",
        neededBy: "APIs that answer queries while operations wait, and all with several queues",
        brokenBy: [.queuesTogether],
        adapter: Reads(),
        vendor: Reads.vendor,
        script: [
            .vendor("closed"), .track("a", "b"), .pass(.seconds(1)), .set("tier=gold"), .ask("status"),
            .pass(.seconds(30)), .vendor(""), .wake, .pass(.seconds(60)),
        ]
    ) { trial in
        trial.expectEffects(["tier=gold", "a", "b"])
        guard !trial.disturbance.endsProcess else { return }
        trial.expect(trial.answer()?.answer == "fine", "the query has no answer")
        let answered = trial.requests.first { $0.request.endpoint == "readBack" }?.number ?? .max
        let opened = trial.ledger.effects.first { $0.text == "a" }?.request ?? 0
        trial.expect(answered < opened, "the query waited for the closed queue")
    }
}
