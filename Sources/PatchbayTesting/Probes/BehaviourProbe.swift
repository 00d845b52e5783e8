import PatchbayAdapterKit
import PatchbayModel
public import PatchbaySimulation
public import Testing

/// One behaviour that a vendor may have, shown by a tiny adapter and a played vendor.
///
/// The probes freeze the contract: each runs through the real engine, once undisturbed and once for every single thing
/// that may go wrong on the way, and its own invariant must hold each time. An adapter's author finds in them how a
/// behaviour is written; each stands in a file of its own.
public struct BehaviourProbe: Sendable, CustomTestStringConvertible {
    /// Its name: `twoRequests`.
    public let name: String
    /// The behaviour in one sentence.
    public let behaviour: String
    /// Which APIs have it, in neutral words.
    public let neededBy: String
    /// Ways to break the adapter that the invariant must catch.
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

    /// Every probe there is: the only list of them.
    public static let all: [BehaviourProbe] =
        [
            coalescing, suppression, foresight, twoRequests, askThenSubscribe, findThenPatch, followUps, echoedState,
            freshHeaders, tokenRefresh, reads, pacing, courtesy, verdicts, bisection, holding, consent, withdrawal,
            merging,
        ] + retryLaws + [sharedMemory, batches, jobs, atMostOnce, stopping]

    /// Plays it while one thing goes wrong.
    ///
    /// - Parameters:
    ///   - disturbance: what goes wrong.
    ///   - mutation: how the adapter is broken, to see whether the invariant notices.
    /// - Returns: what came out wrong; empty if all is well.
    /// - Throws: what the outbox throws beside the disturbance.
    public func problems(_ disturbance: Disturbance, mutation: ProbeMutation? = nil) throws -> [String] {
        try trial(disturbance, mutation).problems.map { "\(disturbance): \($0)" }
    }

    /// Every disturbance that may meet it.
    ///
    /// - Throws: what the outbox throws.
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
