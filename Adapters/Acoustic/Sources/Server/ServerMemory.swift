public import PatchbayAdapterKit

extension AcousticServer {
    public typealias Memory = ServerMemory
}

/// Times and counts where the vendor states them, or wants some.
enum ServerPace: Sendable {
    /// 2 s, doubled with each failure before, at most ten minutes; the vendor wants it exponential (S43). A token whose
    /// reply does not say lives for four hours; for three of them the vendor hands out the same one.
    static let tokens = TokenLaw(
        backoff: .doubling(from: .seconds(2), upTo: .seconds(600), jitter: 0.25),
        life: 14_400,
        repeatsTexts: true
    )
    /// Between the first two questions of a caller for a job, at least.
    static let firstPoll = Duration.seconds(2)
    /// Faults of the server's own in a row after which an operation ends (S12).
    static let faults = 5
    /// Jobs that may get lost before their contact is given up (S35).
    static let lostJobs = 3
}
