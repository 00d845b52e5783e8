import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that requests a new token after a 401 and repeats the request, a limited number of times.
struct TokenRefresh: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case token, event }
    struct Step: Codable, Sendable, Equatable {
        var needsToken: Bool
        var round: Int
    }
    struct Memory: AdapterMemory { var token = "" }
    static var descriptor: AdapterDescriptor { .probe() }
    private static let rounds = 3

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        guard head.step?.needsToken != true else { return .send(.token, "", for: [head]) }
        let body = "\(head.word),\(head.operation.capturedAt.milliseconds)"
        return .send(.event, body, for: [head], headers: [WireHeader("Token", memory.token, isSecret: true)])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        if exchange.endpoint == .token, let reply = exchange.outcome.reply, reply.isSuccess {
            memory.token = reply.text
        }
        return Interpretation(exchange.operations) { pending in
            let round = pending.step?.round ?? 0
            switch (exchange.endpoint, exchange.status) {
            case (.token, 200): return .inProgress(Step(needsToken: false, round: round))
            case (.event, 200): return .accepted()
            case (.event, 401) where round < Self.rounds: return .inProgress(Step(needsToken: true, round: round + 1))
            case (.event, 401): return .rejected(ProbeFinding.refused.at())
            default: return .retry(exchange.soon)
            }
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        if request.endpoint == "token" {
            ledger.held["uses"] = nil
            ledger.held["token"] = "token-\(ledger.count("tokens"))"
            return .ok(ledger.held["token"] ?? "")
        }
        let isValid = request[header: "Token"] == ledger.held["token"] && ledger.count("uses") <= 2
        guard isValid, request.words[0] != "cursed" else { return WireResponse(401) }
        ledger.note(request.text)
        return .ok()
    }
}

extension BehaviourProbe {
    static let tokenRefresh = BehaviourProbe(
        "tokenRefresh",
        "After a 401 a token is requested and the request is repeated, a limited number of times.",
        neededBy: "APIs whose tokens expire",
        brokenBy: [.losesStep, .forgets, .believes],
        adapter: TokenRefresh(),
        vendor: TokenRefresh.vendor,
        script: [.track("a", "b", "c", "cursed", "d"), .pass(.seconds(600))]
    ) { trial in
        let time = trial.operations[0].capturedAt.milliseconds
        trial.expectEffects(["a", "b", "c", "d"].map { "\($0),\(time)" })
        try trial.expect(trial.outcome(of: "cursed")?.term == .rejected, "a permanent 401 was not rejected")
        let tries = trial.requests.count { $0.request.text.hasPrefix("cursed") }
        trial.expect(
            tries <= (trial.disturbance.leavesUncertainDelivery || trial.disturbance != .none ? 5 : 4),
            "it was sent \(tries) times"
        )
    }
}
