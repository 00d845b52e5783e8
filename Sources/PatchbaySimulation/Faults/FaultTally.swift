import PatchbayOutbox

/// The counts of randomized runs.
public struct FaultTally: Sendable, Hashable {
    /// The number of runs.
    public var runs = 0
    /// The number of processes that ended and were followed by another.
    public var crashes = 0
    /// The number of requests.
    public var requests = 0
    /// The number of outcomes.
    public var verdicts = 0
    /// The number of misleading replies.
    public var misleadingReplies = 0
    /// The number of storage points.
    public var storagePoints = 0
    /// The number of failed runs.
    public var failures = 0

    /// Creates empty counts.
    public init() {}

    /// Adds other counts.
    public static func += (left: inout FaultTally, right: FaultTally) {
        left.runs += right.runs
        left.crashes += right.crashes
        left.requests += right.requests
        left.verdicts += right.verdicts
        left.misleadingReplies += right.misleadingReplies
        left.storagePoints += right.storagePoints
        left.failures += right.failures
    }

    mutating func count(_ run: FaultSimulation) {
        runs += 1
        failures += run.problems.isEmpty ? 0 : 1
        verdicts += Int((try? run.world.store.history.endWithNoted()) ?? 0)
    }
}
