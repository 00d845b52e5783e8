import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter whose replies request a new operation. The engine adds it to the end of the queue, in the transaction of
/// the verdict.
struct FollowUps: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case event }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(.event, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        guard let reply = exchange.outcome.reply, reply.isSuccess else {
            return Interpretation(exchange.operations) { _ in .retry(exchange.soon) }
        }
        var meaning = Interpretation(exchange.operations) { _ in .accepted() }
        if !reply.text.isEmpty {
            meaning.followUps = exchange.operations.map {
                FollowUp(cause: $0.id, action: .track(.custom(name: reply.text)))
            }
        }
        return meaning
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        ledger.note(request.text)
        return .ok(request.text == "shown" ? "action run" : "")
    }
}

extension BehaviourProbe {
    static let followUps = BehaviourProbe(
        "followUps",
        "A reply creates a new operation, once, after the operations that already wait.",
        neededBy: "APIs whose replies contain actions that the app must report",
        brokenBy: [.dropsFollowUps, .readsBackwards],
        adapter: FollowUps(),
        vendor: FollowUps.vendor,
        script: [.track("shown", "other"), .pass(.seconds(60))]
    ) { trial in
        trial.expectEffects(["shown", "other", "action run"])
        let created = try trial.world.accounts().first?.total("created")
        trial.expect(created == 1, "\(created ?? 0) operations were created")
    }
}
