import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// What the engine knows of a provider without knowing its adapter.
protocol ProviderRunner: AnyObject {
    var name: String { get }
    var descriptor: AdapterDescriptor { get }
    var parked: Finding? { get }
    var isPaused: Bool { get set }
    /// Whether this is a rehearsal: then nothing of it counts as delivered.
    var shadow: Rehearsal? { get set }
    var rate: Rate? { get set }
    /// Whether something is in flight.
    var isBusy: Bool { get }
    /// The earliest instant at which a lane wants to be planned; in the past if it wants to be planned now.
    var nextPlan: Instant? { get }
    /// Why each lane waits, by lane.
    var reasons: [String: Finding] { get }
    /// The earliest deadline of a caller who waits for an answer.
    var nextDeadline: Instant? { get }

    func restore() throws
    func abandon()
    func placeAgain() throws
    func examine(_ operation: EngagementOperation) -> [Finding]
    func place(_ operation: EngagementOperation) -> Place
    func noteEntered(lane: String, _ entries: [LaneEntry])
    func plan(_ send: (Dispatch) -> Void) throws
    func expireReads()
    func takeQuestions() -> [Question]
    func finish(_ ticket: Int, _ outcome: Outcome) throws -> Bool
    func lookAround() throws
    func wake(lane: String?) throws
    func flush() throws
    func resume() throws
    func read(_ operation: EngagementOperation, deadline: Instant)
    func isCommitted(_ operation: OperationID) -> Bool
    func forget(lane: String) throws -> Bool
    /// What another hand changed in the outbox is read again.
    func reread(lane: String)
    func refuseReads(of subject: Subject, because: Finding)
}

/// How a provider is rehearsed.
enum Rehearsal {
    /// What it would hear is examined, and nothing leaves.
    case inside
    /// Its requests are sent, to the sandbox that its settings name.
    case outside

    init?(_ provider: RoutingPlan.Provider) {
        guard provider.mode == .shadow else { return nil }
        self = provider.sendsShadow ? .outside : .inside
    }
}

extension ProviderRunner {
    /// An outcome as it goes into the books: whatever a rehearsal comes to, nothing was delivered and nothing lost.
    ///
    /// Where nothing is sent, what is rehearsed ends as it enters; whatever is pending there was captured for real before.
    func booked(_ outcome: OperationOutcome, isEntering: Bool = false) -> OperationOutcome {
        if DeliberateFault.rehearsalCounted.isPresent { return outcome }
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
