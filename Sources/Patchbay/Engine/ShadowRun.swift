import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// How a provider is shadowed.
enum ShadowRun {
    /// What it would hear is examined, and nothing leaves.
    case inside
    /// Its requests are sent, to the sandbox that its settings name.
    case outside

    init?(_ provider: RoutingPlan.Provider) {
        guard provider.mode == .shadow else { return nil }
        self = provider.sendsShadow ? .outside : .inside
    }
}

extension Runner {
    /// An outcome as it goes into the books: whatever a shadow run comes to, nothing was delivered and nothing lost.
    ///
    /// Where nothing is sent, what is shadowed ends as it enters; whatever is pending there was captured for real before.
    func booked(_ outcome: OperationOutcome, isEntering: Bool = false) -> OperationOutcome {
        if DeliberateFault.shadowRunCounted.isPresent { return outcome }
        guard shadow == .outside || (isEntering && shadow == .inside),
            ![.erased, .quarantined, .moved].contains(outcome.term)
        else { return outcome }
        return OperationOutcome(.shadowed, finding: outcome.finding, answer: outcome.answer)
    }
}

/// An operation that was just stored in a lane, and is ready.
struct LaneEntry {
    let sequence: Int64
    let queue: String
}
