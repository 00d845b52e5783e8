import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that holds all operations until it knows the contact, then sends them with their capture times.
struct Holding: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case event }
    struct Memory: AdapterMemory { var key: String? }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        for login in pending {
            guard case .switchContact(let change) = login.operation.action else { continue }
            return .settle([login.id: .accepted()], remembering: Memory(key: change.identifiers.first?.value))
        }
        guard let key = memory.key else { return .wait(until: nil, because: ProbeFinding.keyMissing.at()) }
        let text = "\(key) \(pending[0].word) \(pending[0].operation.capturedAt.milliseconds)"
        return .send(.event, text, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        return .ok()
    }
}

extension BehaviourProbe {
    static let holding = BehaviourProbe(
        "holding",
        "All operations are held until a condition is met, then they leave in order with their original times.",
        neededBy: "APIs that need a contact key before anything else",
        brokenBy: [.forgets, .readsBackwards],
        adapter: Holding(),
        vendor: Holding.vendor,
        script: [
            .track("a"), .pass(.seconds(3600)), .track("b"), .pass(.seconds(86_400)),
            .say(.switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "c-1")]))),
            .pass(.seconds(60)),
        ]
    ) { trial in
        let events = trial.operations.filter { $0.action.kind == .track }
        trial.expectEffects(events.map { "c-1 \($0.word) \($0.capturedAt.milliseconds)" })
        let first = trial.ledger.effects.first?.at ?? Instant(milliseconds: 0)
        trial.expect(
            first - (trial.requests.first?.now ?? first) < .seconds(60),
            "it was sent before a person logged in"
        )
    }
}
