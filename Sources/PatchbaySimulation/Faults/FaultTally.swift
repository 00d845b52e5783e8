import PatchbayOutbox

/// What random runs went through.
public struct FaultTally: Sendable, Hashable {
    /// Runs.
    public var runs = 0
    /// Processes that ended, and others that began.
    public var crashes = 0
    /// Requests that left.
    public var requests = 0
    /// Operations that ended.
    public var verdicts = 0
    /// Answers of 200 that were none.
    public var lies = 0
    /// Points of the storage that were passed.
    public var storagePoints = 0
    /// Runs that came out wrong.
    public var failures = 0

    /// Nothing yet.
    public init() {}

    /// Adds what others went through.
    public static func += (left: inout FaultTally, right: FaultTally) {
        left.runs += right.runs
        left.crashes += right.crashes
        left.requests += right.requests
        left.verdicts += right.verdicts
        left.lies += right.lies
        left.storagePoints += right.storagePoints
        left.failures += right.failures
    }

    mutating func count(_ run: FaultSimulation) {
        runs += 1
        failures += run.problems.isEmpty ? 0 : 1
        verdicts += Int((try? run.world.store.newestEnding()) ?? 0)
    }
}
