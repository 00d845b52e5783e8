import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that sends many changes as one request, without changes that were replaced or that the vendor already holds.
struct Coalescing: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case attributes }
    struct Memory: AdapterMemory { var known: [String: String] = [:] }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let last = Dictionary(pending.map { ($0.name, $0) }) { _, later in later }
        var settled: [OperationID: Verdict<Self>] = [:]
        var memory = memory
        for change in pending {
            guard let latest = last[change.name] else { continue }
            if latest.id != change.id {
                // The request may have left before a crash: no value counts as known any more.
                settled[change.id] = .superseded(by: latest.id)
                memory.known[change.name] = nil
            } else if memory.known[change.name] == change.word {
                settled[change.id] = .unchanged()
            }
        }
        if !settled.isEmpty { return .settle(settled, remembering: memory) }
        return .send(.attributes, pending.map(\.word).joined(separator: ","), for: pending)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        for change in exchange.operations where exchange.isSuccess || exchange.mayHaveWorked {
            memory.known[change.name] = exchange.isSuccess ? change.word : nil
        }
        return Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        return .ok()
    }
}

extension Pending<Coalescing> {
    /// The attribute's name.
    fileprivate var name: String { String(word.prefix { $0 != "=" }) }
}

extension BehaviourProbe {
    static let coalescing = BehaviourProbe(
        "coalescing",
        "Many operations leave as one request; unchanged and superseded operations complete without a request.",
        neededBy: "APIs that take a group of changes or a whole registration",
        brokenBy: [.forgets, .believes],
        adapter: Coalescing(),
        vendor: Coalescing.vendor,
        script: [.set("a=1", "b=2", "a=3"), .pass(.seconds(60)), .set("b=2"), .pass(.seconds(60))]
    ) { trial in
        trial.expectEffects(["b=2,a=3"])
        let terms = Dictionary(grouping: try trial.outcomes(), by: \.word).mapValues { $0.map(\.term) }
        trial.expect(
            terms == ["a=1": [.superseded], "b=2": [.accepted, .unchanged], "a=3": [.accepted]],
            "the outcomes are \(terms)"
        )
    }
}
