public import PatchbayAdapterKit

extension SalesforceServer {
    public typealias Memory = ServerMemory
}

/// The vendor's times, where it states them.
enum ServerPace: Sendable {
    /// 2 s, doubled with each failure before, at most five minutes; chance parts the clients (V28). A token whose reply
    /// does not say lives for 1,080 s.
    static let tokens = TokenLaw(
        backoff: .doubling(from: .seconds(2), upTo: .seconds(300), jitter: 0.25),
        life: 1080
    )
    /// Jobs that may get lost before their row is given up.
    static let lostJobs = 3
    /// How long a job is assumed to take, where somebody plans: nothing is documented.
    static let assumedJob = Duration.seconds(10)
    /// Results of one page.
    static let resultsPage = 50
}
