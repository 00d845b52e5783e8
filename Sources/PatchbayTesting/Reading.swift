import PatchbayAdapterKit
import PatchbayModel

/// An adapter's interpretation of one outcome, without the adapter's type.
struct Reading: Sendable {
    /// The number of carried operations without a verdict and of verdicts for other operations.
    var mistakes = 0
    /// Whether an operation counts as accepted.
    var isTaken = false
    /// Whether an operation counts as accepted without a finding.
    var isTakenSilently = false

    init(_ meaning: Interpretation<some VendorAdapter>, of carried: Set<OperationID>) {
        mistakes = carried.count { meaning.verdicts[$0] == nil } + meaning.verdicts.keys.count { !carried.contains($0) }
        for verdict in meaning.verdicts.values {
            switch verdict {
            case .accepted(let finding, _):
                isTaken = true
                if finding?.error == nil { isTakenSilently = true }
            case .unchanged, .superseded: (isTaken, isTakenSilently) = (true, true)
            case .rejected, .dropped, .inProgress, .retry: break
            }
        }
    }
}

extension AdapterHarness {
    func read(
        _ outcomes: [Outcome],
        as number: Int,
        of operations: [EngagementOperation],
        _ script: Script
    ) -> [Reading] {
        let run = run([Turn(operations: operations)], script)
        guard let (exchange, memory) = run?.exchanges.dropFirst(number).first else { return [] }
        let carried = Set(exchange.operations.map(\.id))
        return outcomes.map { outcome in
            var memory = memory
            let exchange = Exchange<Adapter>(
                endpoint: exchange.endpoint,
                operations: exchange.operations,
                request: exchange.request,
                outcome: outcome,
                startedAt: exchange.startedAt,
                moment: exchange.moment
            )
            return Reading(adapter.interpret(exchange, memory: &memory), of: carried)
        }
    }
}
