import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that halves a refused group until the invalid operation is alone.
///
/// The step of each operation states the maximum size of its group.
struct Bisection: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case group }
    struct Step: Codable, Sendable, Equatable { var groupSize: Int }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        let mark = pending[0].step
        let group = pending.batch(mark?.groupSize ?? 16) { $0.step == mark }
        return .send(.group, group.map(\.word).joined(separator: ","), for: group)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in
            switch exchange.status {
            case 200: .accepted()
            case 400 where exchange.operations.count == 1: .rejected(ProbeFinding.refused.at())
            case 400: .inProgress(Step(groupSize: exchange.operations.halfCount))
            default: .retry(exchange.soon)
            }
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        guard !request.words.contains("poison") else { return WireResponse(400) }
        for word in request.words { ledger.note(word) }
        return .ok()
    }
}

extension BehaviourProbe {
    static let bisection = BehaviourProbe(
        "bisection",
        "A refused group is halved until the invalid operation is alone; all others are accepted.",
        neededBy: "APIs that refuse a group as a whole",
        brokenBy: [.losesStep, .believes, .readsBackwards],
        adapter: Bisection(),
        vendor: Bisection.vendor,
        script: [
            .track("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "poison", "12", "13", "14", "15", "16"),
            .pass(.seconds(120)),
        ]
    ) { trial in
        let others = (1...16).filter { $0 != 11 }.map(String.init)
        trial.expectEffects(others, repeats: 8)
        try trial.expect(trial.outcome(of: "poison")?.term == .rejected, "the invalid operation was not rejected")
        let rejected = try trial.outcomes().count { $0.term == .rejected }
        trial.expect(rejected == 1, "\(rejected) operations were rejected")
        trial.expect(trial.requests.count <= 10, "\(trial.requests.count) requests were sent")
    }
}
