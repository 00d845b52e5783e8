import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@Suite("The memory of a server API") struct ServerMemoryTests {
    private static let policy = TokenPolicy(backoff: .doubling(from: .seconds(2), upTo: .seconds(8)), life: 600)
    private static let start = Corpus.start

    private func exchange(_ outcome: Outcome, at seconds: Int = 0, sent token: String? = nil) -> Exchange<ProbeAdapter>
    {
        let headers = token.map { [WireHeader("Authorization", "Bearer \($0)")] } ?? []
        let now = Self.start + .seconds(seconds)
        return Exchange(
            endpoint: .say,
            operations: [
                Pending(operation: Corpus().operation(1, 0, .unregister), sequence: 1, since: Self.start, queue: "q")
            ],
            request: WireRequest("POST", "https://vendor.example", headers: headers),
            outcome: outcome,
            startedAt: now,
            moment: Moment(now: now, date: now)
        )
    }

    private func token(_ text: String, life: JSONValue = .null) -> Outcome {
        .replied(WireResponse(200, json: ["access_token": .string(text), "expires_in": life]))
    }

    @Test func `requests a token when there is none and again when it expires`() {
        var memory = ServerMemory()
        #expect(memory.gate(at: Self.start) == .needsToken)
        #expect(memory.interpretToken(exchange(token("t-1")), .accepted, asked: nil, Self.policy) == Interpretation())
        #expect(memory.authorization == "Bearer t-1")
        #expect(memory.gate(at: Self.start + .seconds(599)) == .open)
        #expect(memory.gate(at: Self.start + .seconds(600)) == .needsToken)
        // The lifetime that the vendor states is used within limits.
        for (said, life) in [(JSONValue.integer(90), 90), (.integer(1), 60), (.integer(9_999_999), 86_400)] {
            _ = memory.interpretToken(exchange(token("t-2", life: said)), .accepted, asked: nil, Self.policy)
            #expect(memory.tokenUntil == Self.start + .seconds(life))
        }
    }

    @Test func `retries a failed token request with growing delays and not after a refusal`() {
        var memory = ServerMemory()
        let failures: [(Outcome, ReplyMeaning)] = [
            (.failed(TransportFailure(.lost, "timedOut")), .retry), (.replied(WireResponse(503)), .retry),
            (token("no header\ncan hold it"), .accepted), (.replied(WireResponse(200, json: [:])), .accepted),
        ]
        for ((outcome, meaning), seconds) in zip(failures, [2, 4, 8, 8]) {
            #expect(memory.interpretToken(exchange(outcome), meaning, asked: nil, Self.policy) == Interpretation())
            #expect(memory.gate(at: Self.start) == .needsTokenLater(Self.start + .seconds(seconds)))
        }
        for (status, meaning) in [(400, ReplyMeaning.refused), (401, .retry), (403, .suspend)] {
            let refusal = exchange(.replied(WireResponse(status)))
            #expect(memory.interpretToken(refusal, meaning, asked: nil, Self.policy) == nil)
        }
    }

    @Test func `renews a refused token once and ignores the refusal of an older token`() {
        var memory = ServerMemory()
        let refusal = Outcome.replied(WireResponse(401))
        _ = memory.interpretToken(exchange(token("t-1")), .accepted, asked: nil, Self.policy)
        #expect(memory.interpretRefusedToken(exchange(refusal, sent: "t-0")) != nil)
        #expect(memory.token != nil)
        #expect(memory.interpretRefusedToken(exchange(refusal, sent: "t-1")) != nil)
        #expect(memory.gate(at: Self.start) == .needsToken)
        _ = memory.interpretToken(exchange(token("t-2")), .accepted, asked: nil, Self.policy)
        #expect(memory.interpretRefusedToken(exchange(refusal, sent: "t-2")) == nil)
        // An accepted request in between resets the count of renewals.
        _ = memory.interpretToken(exchange(token("t-3")), .accepted, asked: nil, Self.policy)
        memory.noteReply(at: Self.start)
        #expect(memory.interpretRefusedToken(exchange(refusal, sent: "t-3")) != nil)
    }

    @Test func `distinguishes tokens with the same text by the time of the request`() {
        let policy = TokenPolicy(backoff: Self.policy.backoff, life: 600, repeatsTexts: true)
        var memory = ServerMemory()
        _ = memory.interpretToken(exchange(token("t"), at: 10), .accepted, asked: nil, policy)
        _ = memory.interpretRefusedToken(exchange(.replied(WireResponse(401)), at: 5, sent: "t"))
        #expect(memory.token != nil)
        _ = memory.interpretRefusedToken(exchange(.replied(WireResponse(401)), at: 11, sent: "t"))
        #expect(memory.token == nil)
    }

    @Test func `blocks every lane for the delay that the vendor asks for after a failure`() {
        var memory = ServerMemory()
        let failure = exchange(.replied(WireResponse(503)))
        let id = failure.operations[0].id
        let later = memory.stayAway(failure, asked: .seconds(30), Self.policy)
        #expect(later.verdicts[id] == .retry(.at(Self.start + .seconds(30))))
        #expect(memory.gate(at: Self.start) == .closed(until: Self.start + .seconds(30)))
        // A shorter pause does not shorten an existing one.
        let ended = memory.stayAway(failure, asked: nil, Self.policy) { _ in .unchanged() }
        #expect(ended.verdicts[id] == .unchanged())
        #expect(memory.gate(at: Self.start) == .closed(until: Self.start + .seconds(30)))
        memory.noteReply(at: Self.start + .seconds(29))
        #expect(memory.closedUntil != nil)
        memory.noteReply(at: Self.start + .seconds(30))
        #expect(memory.closedUntil == nil && memory.failures == 0)
    }
}
