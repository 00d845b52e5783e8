public import PatchbayAdapterKit

extension AcousticServer {
    public typealias Memory = ServerMemory

    public static let conventions = ServerConventions<Endpoint>(
        replies: .acousticServer,
        pace: ServerPace.tokens,
        tokenEndpoint: .token,
        findings: ServerFinding.self
    )
}

/// Intervals and counts, as documented by the vendor or chosen where the vendor documents none.
enum ServerPace: Sendable {
    /// A backoff of 2 s, doubled after each failure, at most ten minutes; the vendor asks for exponential delays (S43).
    /// A token whose reply states no lifetime is valid for four hours. For three of them the vendor returns the same
    /// token.
    static let tokens = TokenPolicy(
        backoff: .doubling(from: .seconds(2), upTo: .seconds(600), jitter: 0.25),
        life: 14_400,
        repeatsTexts: true
    )
    /// The minimum interval between a caller's first two queries for a job.
    static let firstPoll = Duration.seconds(2)
    /// The minimum and the maximum interval between queries for the contact of a waiting opt-out. The interval grows with
    /// the time that the opt-out has waited.
    static let firstLookUp = Duration.seconds(3600)
    static let lastLookUp = Duration.seconds(86_400)
    /// The maximum number of consecutive server faults before an operation is rejected (S12).
    static let faults = 5
    /// The maximum number of lost jobs before an operation is rejected (S35).
    static let lostJobs = 3
}
