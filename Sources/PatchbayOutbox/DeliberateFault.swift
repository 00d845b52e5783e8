/// A fault that is put into the engine or the outbox on purpose, for the proof that random runs find it.
///
/// Only a debug build can have one, and only inside ``present``'s scope; in a release build nothing of it is left.
package enum DeliberateFault: String, CaseIterable, Sendable {
    /// Verdicts are stored, and what the adapter learnt is not.
    case memoryNotStored
    /// A request that may have worked counts as one that surely did not.
    case uncertaintyForgotten
    /// What a request carried that failed is remembered as what the vendor took.
    case failureBelieved
    /// What no request carried counts as accepted.
    case acceptedUnsent
    /// A lane is shown the memory of another.
    case memoryOfAnother
    /// A request leaves that the journal should know, and it does not.
    case journalNotWritten
    /// What was in mid-flight when a process died is not asked about.
    case interruptionForgotten
    /// A provider that is paused is served.
    case pauseIgnored
    /// A lane does not wait for the outcome of its request.
    case laneNotWaited
    /// A queue that is closed until an instant is open.
    case waitIgnored
    /// What nobody allowed yet is not held.
    case holdIgnored
    /// What a person forbade is sent.
    case denialIgnored
    /// A person's no ends what another person did before.
    case denialOfOthers
    /// After a reboot the timeline follows a wall clock that was put back.
    case timelineRunsBack
    /// What closes a queue is not stored.
    case blockNotStored
    /// An ending is booked twice.
    case endingCountedTwice
    /// What has ended stays on its way.
    case routeLeftBehind
    /// An ending is booked and not remembered.
    case endingNotRemembered
    /// A plan is shown the newest first.
    case newestFirst
    /// The side of a percentage goes by the installation, not by the contact.
    case shareByInstallation
    /// What a shadow comes to counts as if it were real.
    case shadowRunCounted
    /// The right to deliver is taken from a process that lives and has it.
    case leaseSeized
    /// A caller whose time is up is not answered.
    case deadlineIgnored
    /// A capture is acknowledged before the disk has it.
    case captureNotAwaited
    /// A request leaves before the disk has its line in the journal.
    case journalNotAwaited
    /// A request leaves, and what it may change unseen is not doubted on the disk.
    case uncertaintyNotStored
    /// Two neighbours of a kind in one queue are shown in the wrong order.
    case neighboursSwapped
    /// What has ended is put back on its way, once.
    case endedPutBack
    /// What has ended is put back on its way, once, and its second ending is not remembered.
    case endedSentAgain
    /// An erasure leaves a row on its way.
    case erasureSparesOne
    /// While one provider fails, the others are not served.
    case outageOfAll
    /// A switch leaves a row with the old provider.
    case retargetLeavesOne
    /// A switch takes a row from the old provider and gives it to nobody.
    case retargetDropsOne
    /// A caller is told its answer twice.
    case answerToldTwice
    /// The app is asked for the credential of whoever is there now, whoever said what waits.
    case credentialOfCurrent

    #if DEBUG
    /// The fault that is there, in this task.
    @TaskLocal package static var present: DeliberateFault?
    /// Whether this fault is there.
    package var isPresent: Bool { Self.present == self }
    #else
    /// Whether this fault is there: never, and whoever asks knows it when it is compiled.
    @inlinable @inline(__always) package var isPresent: Bool { false }
    #endif
}
