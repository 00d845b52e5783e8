import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

/// An adapter whose reply has a different verdict for each operation of the request.
struct Verdicts: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case batch }
    enum Step: String, Codable, Sendable { case second }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, queue: operation.word)
    }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(.batch, pending.map(\.word).joined(separator: ","), for: pending)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        guard let reply = exchange.outcome.reply, reply.isSuccess else {
            return Interpretation(exchange.operations) { _ in .retry(exchange.soon) }
        }
        let said = Set(reply.text.split(separator: ",").map(String.init))
        let now = exchange.moment.now
        return Interpretation(exchange.operations) { pending in
            switch said.contains(pending.word) ? pending.word : "" {
            case "later": .accepted(ProbeFinding.later.at(), answer: "number 7")
            case "same": .unchanged()
            case "replaced": .superseded(by: exchange.operations[0].id)
            case "wrong": .rejected(ProbeFinding.refused.at())
            case "forbidden": .dropped(ProbeFinding.gated.at())
            case "twice" where pending.step == nil: .inProgress(.second, .at(now + .seconds(5)))
            case "busy": .retry(.at(now + .seconds(20)))
            default: .accepted()
            }
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        for word in request.words { ledger.note(word) }
        // The vendor is no longer busy at the second attempt.
        let isOver = request.words.contains("busy") && ledger.count("busy") > 1
        return .ok(request.words.filter { $0 != "busy" || !isOver }.joined(separator: ","))
    }
}

extension BehaviourProbe {
    static let verdicts = BehaviourProbe(
        "verdicts",
        "One reply gives each operation of the request its own verdict, of every kind.",
        neededBy: "every API that carries several operations in a request",
        brokenBy: [.believes, .hurries, .losesStep],
        adapter: Verdicts(),
        vendor: Verdicts.vendor,
        script: [
            .track("plain", "later", "same", "replaced", "wrong", "forbidden", "twice", "busy"), .pass(.seconds(120)),
        ]
    ) { trial in
        let ended = Dictionary(grouping: try trial.outcomes(), by: \.word).mapValues { $0.map(\.term) }
        let expected: [String: [OperationOutcome.Term]] = [
            "plain": [.accepted], "later": [.accepted], "same": [.unchanged], "replaced": [.superseded],
            "wrong": [.rejected], "forbidden": [.dropped], "twice": [.accepted], "busy": [.accepted],
        ]
        trial.expect(ended == expected, "the outcomes are \(ended)")
        let twice = trial.ledger.effects.filter { $0.text == "twice" }.map(\.at)
        trial.expect(twice.count >= 2, "an operation with two requests was sent \(twice.count) times")
        guard trial.disturbance == .none else { return }
        trial.expect(twice.count == 2 && twice[1] - twice[0] >= .seconds(5), "the second request left at \(twice)")
        let busy = trial.ledger.effects.filter { $0.text == "busy" }.map(\.at)
        trial.expect(busy.count == 2 && busy[1] - busy[0] >= .seconds(20), "the retry left at \(busy)")
        let later = trial.operations.first { $0.word == "later" }.flatMap { trial.world.outcome(of: $0.id, on: "p") }
        trial.expect(later?.answer == "number 7" && later?.finding != nil, "the answer was not reported")
    }
}
