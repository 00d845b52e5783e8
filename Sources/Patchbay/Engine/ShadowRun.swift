import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The kind of a shadow run.
enum ShadowRun {
    /// The engine only examines the operations and sends nothing.
    case inside
    /// The requests are sent to the sandbox in the provider's settings.
    case outside

    init?(_ provider: RoutingPlan.Provider) {
        guard provider.mode == .shadow else { return nil }
        self = provider.sendsShadow ? .outside : .inside
    }
}

extension Runner {
    /// Returns the outcome for the accounts: in a shadow run, an operation counts as shadowed, regardless of its result.
    ///
    /// If nothing is sent, operations end as shadowed when they enter the route. Other pending operations there were captured
    /// before the shadow run and are real.
    func booked(_ outcome: OperationOutcome, isEntering: Bool = false) -> OperationOutcome {
        guard shadow == .outside || (isEntering && shadow == .inside),
            ![.erased, .quarantined, .moved].contains(outcome.term)
        else { return outcome }
        return OperationOutcome(.shadowed, finding: outcome.finding, answer: outcome.answer)
    }
}

/// A ready operation that was just stored in a lane.
struct LaneEntry {
    let sequence: Int64
    let queue: String
}
