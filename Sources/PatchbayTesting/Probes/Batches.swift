import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter whose requests carry operations of many people, with few lanes and a queue for each person.
struct Batches: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case rows }
    static var descriptor: AdapterDescriptor { .probe(.provider) }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func place(_ operation: EngagementOperation) -> Place {
        let sum = operation.subject.rawValue.utf8.reduce(0) { $0 + Int($1) }
        return Place(lane: "pool-\(sum % 2)", queue: operation.subject.rawValue)
    }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        let batch = pending.batch(4) { _ in true }
        let rows = batch.map { "\($0.operation.subject.rawValue) \($0.word)" }
        return .send(.rows, rows.joined(separator: ","), for: batch)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        for row in request.words { ledger.note(row) }
        return .ok()
    }
}

extension BehaviourProbe {
    static let batches = BehaviourProbe(
        "batches",
        "A request carries operations of many people, in order for each person.",
        neededBy: "back-end APIs that take sets of rows",
        brokenBy: [.readsBackwards],
        adapter: Batches(),
        vendor: Batches.vendor,
        script: (1...6).map { .track("1", "2", subject: Subject(rawValue: "s-\($0)")) } + [.pass(.seconds(60))]
    ) { trial in
        for person in 1...6 {
            var seen: Set<String> = []
            let rows = trial.ledger.texts.filter { $0.hasPrefix("s-\(person) ") && seen.insert($0).inserted }
            trial.expect(rows == ["s-\(person) 1", "s-\(person) 2"], "the vendor received \(rows) of person \(person)")
        }
        guard trial.disturbance == .none else { return }
        trial.expect(trial.ledger.texts.count == 12, "the vendor received an operation twice")
        trial.expect(trial.requests.count <= 6, "\(trial.requests.count) requests for 12 rows")
    }
}
