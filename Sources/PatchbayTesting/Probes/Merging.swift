import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that merges later events with an earlier one across other operations, but never across a change of person.
struct Merging: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case events, attributes, person }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        switch pending[0].operation.action.kind {
        case .track:
            let events = pending.prefix { $0.operation.action.kind != .switchContact }
                .filter { $0.operation.action.kind == .track }
            return .send(.events, events.map(\.word).joined(separator: "+"), for: events)
        case .switchContact: return .send(.person, pending[0].word, for: [pending[0]])
        default: return .send(.attributes, pending[0].word, for: [pending[0]])
        }
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
    static let merging = BehaviourProbe(
        "merging",
        "Events are merged across other operations, but never across a change of person.",
        neededBy: "APIs that count events for the person who is logged in",
        brokenBy: [.readsBackwards, .losesValues],
        adapter: Merging(),
        vendor: Merging.vendor,
        script: [
            .capture(
                [
                    .track(.custom(name: "a")), .changeAttributes(["tier": .set("gold")]), .track(.custom(name: "b")),
                    .switchContact(ContactSwitch(.logOut)), .track(.custom(name: "c")),
                ],
                subject: "s-1",
                contact: nil
            ), .pass(.seconds(60)),
        ]
    ) { trial in
        trial.expectEffects(["a+b", "tier=gold", "switchContact", "c"])
    }
}
