import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter whose lanes share a token, which is requested once, and the vendor's `Retry-After`.
struct SharedMemory: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case token, event }
    struct Memory: AdapterMemory {
        var token = ""
        var closedUntil: Instant?
    }
    static var descriptor: AdapterDescriptor { .probe(.provider, concurrency: 2) }

    init(settings: ProbeSettings = ProbeSettings()) {}

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        if let until = memory.closedUntil, until > moment.now {
            return .wait(until: until, because: ProbeFinding.waiting.at())
        }
        guard !memory.token.isEmpty else { return .send(.token, "", for: []) }
        return .send(.event, pending[0].word, for: [pending[0]], headers: [WireHeader("Token", memory.token)])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let now = exchange.moment.now
        if exchange.endpoint == .token {
            memory.token = exchange.isSuccess ? exchange.outcome.reply?.text ?? "" : ""
            memory.closedUntil = exchange.isSuccess ? nil : now + .seconds(10)
            return Interpretation()
        }
        if let pause = exchange.retryAfter {
            memory.closedUntil = max(memory.closedUntil ?? now, now + pause)
            return Interpretation(exchange.operations) { _ in .retry(.now) }
        }
        return Interpretation(exchange.operations) { _ in exchange.isSuccess ? .accepted() : .retry(exchange.soon) }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        if request.endpoint == "token" { return .ok("token-\(ledger.count("tokens"))") }
        // Closed for 100 s from the first event on; events within the first second are tolerated.
        let now = ledger.now.milliseconds
        let first = ledger.held["first"].flatMap { Int64($0) } ?? now
        ledger.held["first"] = String(first)
        guard now - first < 100_000 else {
            ledger.note(request.text)
            return .ok()
        }
        if now - first > 1000 { ledger.held["early", default: ""] += request.text }
        return WireResponse(429, headers: [WireHeader("Retry-After", String(100 - (now - first) / 1000))])
    }
}

extension BehaviourProbe {
    static let sharedMemory = BehaviourProbe(
        "sharedMemory",
        "A token is requested once for all lanes, and one Retry-After closes all of them, also across restarts.",
        neededBy: "back-end APIs with a token and a rate limit",
        brokenBy: [.forgets],
        adapter: SharedMemory(),
        vendor: SharedMemory.vendor,
        script: [
            .capture([.track(.custom(name: "a"))], subject: "s-1", contact: nil), .pass(.seconds(10)),
            .track("b", subject: "s-2"), .track("c", subject: "s-3"), .pass(.seconds(300)),
        ]
    ) { trial in
        let texts = Set(trial.ledger.texts)
        trial.expect(texts == ["a", "b", "c"], "the vendor received \(texts.sorted())")
        let uncertain: Bool =
            switch trial.disturbance {
            case .death, .interrupted, .lost, .restart(1), .reboot(1): true
            default: false
            }
        guard !uncertain else { return }
        trial.expect(
            trial.ledger.texts.count == 3 || trial.disturbance.leavesUncertainDelivery,
            "the vendor received an operation twice"
        )
        trial.expect(
            trial.ledger.held["early"] == nil,
            "\(trial.ledger.held["early"] ?? "") arrived while the vendor was closed"
        )
        trial.expect(trial.ledger.held["tokens"] == "1", "\(trial.ledger.held["tokens"] ?? "0") tokens were issued")
    }
}
