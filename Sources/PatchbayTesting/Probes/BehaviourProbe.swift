import PatchbayAdapterKit
import PatchbayModel
public import PatchbaySimulation
public import Testing

/// A behavior that a vendor may require, shown by a small adapter and a simulated vendor.
///
/// The probes test the adapter contract. Each runs through the real engine, once undisturbed and once for every single
/// fault, and its invariant must hold each time. Each probe is also an example, in its own file, of how to write the
/// behavior.
public struct BehaviourProbe: Sendable, CustomTestStringConvertible {
    /// The name, such as `twoRequests`.
    public let name: String
    /// The behavior in one sentence.
    public let behaviour: String
    /// The APIs that require it, without their names.
    public let neededBy: String
    /// The mutations of the adapter that the invariant must detect.
    public let brokenBy: [ProbeMutation]
    private let play: Trial.Play
    private let invariant: @Sendable (Trial) throws -> Void

    init(
        _ name: String,
        _ behaviour: String,
        neededBy: String,
        brokenBy: [ProbeMutation],
        requiredConsent: Set<Consent.Scope> = [],
        adapter: any VendorAdapter,
        vendor: @escaping @Sendable (WireRequest, inout VendorLedger) -> WireResponse,
        script: [TrialStep],
        invariant: @escaping @Sendable (Trial) throws -> Void
    ) {
        (self.name, self.behaviour, self.neededBy, self.brokenBy) = (name, behaviour, neededBy, brokenBy)
        play = Trial.Play(adapter: adapter, script: script, requiredConsent: requiredConsent, vendor: vendor)
        self.invariant = invariant
    }

    /// The name.
    public var testDescription: String { name }

    /// All probes.
    public static let all: [BehaviourProbe] =
        [
            coalescing, suppression, foresight, twoRequests, askThenSubscribe, findThenPatch, followUps, echoedState,
            freshHeaders, tokenRefresh, reads, pacing, courtesy, verdicts, bisection, holding, consent, withdrawal,
            merging,
        ] + retryPolicies + [sharedMemory, batches, jobs, atMostOnce, stopping]

    /// Runs the probe with one fault.
    ///
    /// - Parameters:
    ///   - disturbance: The fault.
    ///   - mutation: A mutation of the adapter, to test whether the invariant detects it.
    /// - Returns: The problems; empty if the invariant holds.
    /// - Throws: An error of the outbox that the disturbance did not cause.
    public func problems(_ disturbance: Disturbance, mutation: ProbeMutation? = nil) throws -> [String] {
        try trial(disturbance, mutation).problems.map { "\(disturbance): \($0)" }
    }

    /// Returns every disturbance that can occur in the probe.
    ///
    /// - Throws: An error of the outbox.
    public func disturbances() throws -> [Disturbance] {
        let calm = try trial(.none, nil)
        return Disturbance.all(
            storagePoints: calm.storagePoints,
            requests: calm.requests.count,
            steps: play.script.count
        )
    }

    private func trial(_ disturbance: Disturbance, _ mutation: ProbeMutation?) throws -> Trial {
        var play = play
        if let mutation { play.adapter = mutation.breaking(play.adapter) }
        let trial = try Trial(play, disturbance)
        try trial.run()
        try invariant(trial)
        return trial
    }
}
