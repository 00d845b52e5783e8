import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that looks up a record, then changes or creates it. After an uncertain creation it looks up the record
/// again instead of repeating the creation.
struct FindThenPatch: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint {
        case find, create, patch
        var isJournaled: Bool { self == .create }
    }
    enum Step: Codable, Sendable, Equatable { case absent, found(String) }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        return switch head.step {
        case nil: .send(.find, head.word, for: [head])
        case .absent: .send(.create, head.word, for: [head])
        case .found(let id): .send(.patch, id, for: [head])
        }
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in
            switch (exchange.endpoint, exchange.isSuccess) {
            case (.find, true):
                let id = exchange.outcome.reply?.text ?? ""
                return .inProgress(id.isEmpty ? .absent : .found(id))
            case (_, true): return .accepted()
            case (.create, false) where exchange.mayHaveWorked: return .inProgress(nil, exchange.soon)
            case (_, false): return .retry(exchange.soon)
            }
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        switch request.endpoint {
        case "find": return .ok(ledger.held[request.text] ?? "")
        case "create": ledger.held[request.text] = "record of \(request.text)"
        default: break
        }
        ledger.note("\(request.endpoint) \(request.text)")
        return .ok()
    }
}

extension BehaviourProbe {
    static let findThenPatch = BehaviourProbe(
        "findThenPatch",
        "A record is looked up, then changed or created, and created once even if the delivery is uncertain.",
        neededBy: "back-end APIs without an upsert",
        brokenBy: [.losesStep, .keepsNoJournal],
        adapter: FindThenPatch(),
        vendor: FindThenPatch.vendor,
        script: [.track("anna"), .pass(.seconds(60)), .track("anna"), .pass(.seconds(60))]
    ) { trial in
        let texts = trial.ledger.texts
        trial.expect(texts.first == "create anna", "the first effect is \(texts.first ?? "nothing")")
        trial.expect(texts.count { $0 == "create anna" } == 1, "anna was created more than once: \(texts)")
        trial.expect(texts.contains("patch record of anna"), "anna was not changed: \(texts)")
    }
}
