/// A mutation of the engine or the outbox, used to prove that randomized runs detect it (mutation testing).
///
/// Mutations exist only in debug builds, and only in the scope of ``present``. Release builds contain no trace of them.
package enum DeliberateFault: String, CaseIterable, Sendable {
    /// Stores verdicts, but not the adapter's memory.
    case memoryNotStored
    /// Treats a request that may have succeeded as one that certainly failed.
    case uncertaintyForgotten
    /// Records the content of a failed request as accepted by the vendor.
    case failureBelieved
    /// Counts an operation as accepted although no request carried it.
    case acceptedUnsent
    /// Passes another lane's memory to a lane.
    case memoryOfAnother
    /// Sends a request without a journal entry.
    case journalNotWritten
    /// Does not treat requests that were in flight at a crash as uncertain.
    case interruptionForgotten
    /// Serves a paused provider.
    case pauseIgnored
    /// Does not wait for the outcome of a lane's request.
    case laneNotWaited
    /// Treats a queue that is closed until an instant as open.
    case waitIgnored
    /// Does not hold operations that lack consent.
    case holdIgnored
    /// Sends operations that the person has forbidden.
    case denialIgnored
    /// Lets a person's opt-out end operations of another person.
    case denialOfOthers
    /// Lets the timeline follow a wall clock that was set back, after a reboot.
    case timelineRunsBack
    /// Does not store that a queue is closed.
    case blockNotStored
    /// Books an outcome twice.
    case endingCountedTwice
    /// Leaves the route of a completed operation in place.
    case routeLeftBehind
    /// Books an outcome without adding it to the history.
    case endingNotRemembered
    /// Shows the newest operations first to a plan.
    case newestFirst
    /// Assigns percentage rollouts by installation, not by contact.
    case shareByInstallation
    /// Counts the outcomes of a shadow run as real ones.
    case shadowRunCounted
    /// Takes the delivery lease from a live process that holds it.
    case leaseSeized
    /// Does not answer a caller whose deadline has passed.
    case deadlineIgnored
    /// Acknowledges a capture before it is on disk.
    case captureNotAwaited
    /// Sends a request before its journal entry is on disk.
    case journalNotAwaited
    /// Sends a request without storing that its unconfirmed effects are uncertain.
    case uncertaintyNotStored
    /// Shows two adjacent operations of one kind in a queue in the wrong order.
    case neighboursSwapped
    /// Makes a completed operation pending again, once.
    case endedPutBack
    /// Makes a completed operation pending again, once, and does not record its second outcome.
    case endedSentAgain
    /// Lets an erasure leave one pending row.
    case erasureSparesOne
    /// Serves no provider while one of them fails.
    case outageOfAll
    /// Leaves one row with the old provider when providers are switched.
    case retargetLeavesOne
    /// Removes one row from the old provider when providers are switched, without assigning it to another.
    case retargetDropsOne
    /// Answers a caller twice.
    case answerToldTwice
    /// Requests the credential of the current user, even if another user's operation needs it.
    case credentialOfCurrent

    #if DEBUG
    /// The active mutation of this task, if any.
    @TaskLocal package static var present: DeliberateFault?
    /// Whether this mutation is active.
    package var isPresent: Bool { Self.present == self }
    #else
    /// Whether this mutation is active: always false, known at compile time.
    @inlinable @inline(__always) package var isPresent: Bool { false }
    #endif
}
