import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter with a retry policy that depends on the reply and the number of failures.
struct RetryPolicies: VendorAdapter {
    enum Policy: String, Sendable { case serverFaults, everyHalfMinute, doubling, untilWoken }
    enum Endpoint: String, AdapterEndpoint { case event }
    static var descriptor: AdapterDescriptor { .probe() }
    let policy: Policy

    init(_ policy: Policy) { self.policy = policy }
    init(settings: ProbeSettings) { self.init(.serverFaults) }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(.event, pending[0].word, for: [pending[0]])
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        let now = exchange.moment.now
        return Interpretation(exchange.operations) { pending in
            let status = exchange.status ?? 503
            guard status != 200 else { return .accepted() }
            switch policy {
            case .serverFaults where status >= 500: return .retry(.at(now + .seconds(10)))
            case .everyHalfMinute where [408, 503, 504].contains(status): return .retry(.at(now + .seconds(30)))
            case .doubling:
                return .retry(.at(now + .seconds(min(60 << Int64(min(pending.failures, 20)), 86_400))))
            case .untilWoken: return .retry(.woken)
            default: return .rejected(ProbeFinding.refused.at())
            }
        }
    }

    /// Returns a vendor that fails a number of times with a status before it accepts an event. It never accepts the
    /// event `wrong`.
    static func vendor(
        failing times: Int,
        _ status: Int
    ) -> @Sendable (WireRequest, inout VendorLedger) -> WireResponse {
        { request, ledger in
            guard request.text != "wrong" else { return WireResponse(404) }
            if ledger.count("tries of \(request.text)") <= times { return WireResponse(status) }
            ledger.note(request.text)
            return .ok()
        }
    }

    /// Returns the intervals between the attempts of an event in seconds, with replies after 100 ms.
    static func waits(of word: String, in trial: Trial) -> [Int64] {
        let starts = trial.requests.filter { $0.request.text == word }.map(\.now)
        return zip(starts, starts.dropFirst()).map { ($1 - $0).wholeMilliseconds / 1000 }
    }
}

extension BehaviourProbe {
    static let retryPolicies: [BehaviourProbe] = [
        BehaviourProbe(
            "retry.serverFaults",
            "Only server errors are retried; every other reply is final.",
            neededBy: "APIs that repeat after 5xx alone",
            brokenBy: [.believes, .hurries],
            adapter: RetryPolicies(.serverFaults),
            vendor: RetryPolicies.vendor(failing: 2, 500),
            script: [.track("a", "wrong", "b"), .pass(.seconds(300))]
        ) { trial in
            trial.expectEffects(["a", "b"])
            try trial.expect(trial.outcome(of: "wrong")?.term == .rejected, "a final reply was retried")
            guard trial.disturbance == .none else { return }
            trial.expect(RetryPolicies.waits(of: "a", in: trial) == [10, 10], "the waits violate the policy")
        },
        BehaviourProbe(
            "retry.everyHalfMinute",
            "Three statuses and missing replies are retried every 30 s, permanently and in order.",
            neededBy: "APIs with a strict order and a fixed interval",
            brokenBy: [.believes, .hurries, .readsBackwards],
            adapter: RetryPolicies(.everyHalfMinute),
            vendor: RetryPolicies.vendor(failing: 9, 504),
            script: [.track("a"), .pass(.seconds(45)), .track("b"), .pass(.seconds(600))]
        ) { trial in
            trial.expectEffects(["a", "b"])
            guard trial.disturbance == .none else { return }
            let waits = RetryPolicies.waits(of: "a", in: trial)
            trial.expect(waits == Array(repeating: 30, count: 9), "the waits violate the policy: \(waits)")
        },
        BehaviourProbe(
            "retry.doubling",
            "The wait doubles from a minute up to a day; restarts and clock jumps do not change it.",
            neededBy: "APIs that back off to once a day",
            brokenBy: [.believes, .hurries],
            adapter: RetryPolicies(.doubling),
            vendor: RetryPolicies.vendor(failing: 13, 503),
            script: [.track("a"), .pass(.seconds(300)), .pass(.seconds(10 * 86_400))]
        ) { trial in
            trial.expectEffects(["a"])
            switch trial.disturbance {
            case .none, .jump, .restart(2), .reboot(2):
                let waits = RetryPolicies.waits(of: "a", in: trial)
                let expected = (0..<13).map { Int64(min(60 << $0, 86_400)) }
                trial.expect(waits == expected, "the waits violate the policy: \(waits)")
            default: break
            }
        },
        BehaviourProbe(
            "retry.untilWoken",
            "The queue is closed without a timer until the engine is woken.",
            neededBy: "APIs that retry when the network or the app returns",
            brokenBy: [.believes],
            adapter: RetryPolicies(.untilWoken),
            vendor: RetryPolicies.vendor(failing: 1, 500),
            script: [
                .track("a"), .pass(.seconds(86_400)), .wake, .pass(.seconds(60)), .wake, .pass(.seconds(60)), .wake,
                .pass(.seconds(60)),
            ]
        ) { trial in
            trial.expectEffects(["a"])
            guard trial.disturbance == .none else { return }
            trial.expect(RetryPolicies.waits(of: "a", in: trial) == [86_400], "it was retried without a wake-up")
        },
    ]
}
