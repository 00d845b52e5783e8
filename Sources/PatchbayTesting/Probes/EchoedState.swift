import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

/// An adapter that returns the vendor's opaque state unchanged: unknown members, nulls, the text of numbers.
///
/// It creates rows from the operations, so that rows that are captured during a request survive the acknowledgement.
struct EchoedState: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case rows }
    struct Memory: AdapterMemory { var state: JSONValue? }
    static var descriptor: AdapterDescriptor { .probe() }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let rows = JSONValue.array(pending.map { .string($0.word) })
        let body: JSONValue = ["rows": rows, "state": memory.state ?? .null]
        return .send(.rows, body.text, for: pending)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        if exchange.isSuccess, let state = exchange.outcome.reply?.json?["state"] { memory.state = state }
        return Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        let echo = request.json?["state"]?.text ?? "null"
        let isKnown = echo == "null" || ledger.held[echo] != nil
        ledger.held["echoes", default: ""] += isKnown ? "\(ledger.held[echo] ?? "0") " : "forged "
        for row in request.json?["rows"]?.array ?? [] { ledger.note(row.string ?? "") }
        let number = ledger.count("states")
        let state = #"{"n":1.50,"mark":{"round":\#(number),"nothing":null,"big":12345678901234567890}}"#
        ledger.held[state] = String(number)
        ledger.delay = .seconds(2)
        return .ok(#"{"state":\#(state)}"#)
    }
}

extension BehaviourProbe {
    static let echoedState = BehaviourProbe(
        "echoedState",
        "The vendor's opaque state is returned unchanged, and rows added during a request survive its reply.",
        neededBy: "APIs that keep a session's state in the client",
        brokenBy: [.forgets, .believes],
        adapter: EchoedState(),
        vendor: EchoedState.vendor,
        script: [
            .track("a"), .pass(.seconds(1)), .track("b"), .pass(.seconds(60)), .track("c"), .pass(.seconds(60)),
        ]
    ) { trial in
        trial.expectEffects(["a", "b", "c"])
        let echoes = (trial.ledger.held["echoes"] ?? "").split(separator: " ").map { Int($0) ?? -1 }
        trial.expect(!echoes.contains(-1), "the adapter returned a state that the vendor never sent")
        trial.expect(echoes == echoes.sorted() && (echoes.last ?? 0) > 0, "the returned states are \(echoes)")
        if trial.disturbance == .none { trial.expect(echoes == [0, 1, 2], "the returned states are \(echoes)") }
    }
}
