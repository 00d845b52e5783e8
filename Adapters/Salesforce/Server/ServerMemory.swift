public import PatchbayAdapterKit

extension SalesforceServer {
    public typealias Memory = ServerMemory

    public static let conventions = ServerConventions<Endpoint>(
        replies: .salesforceServer,
        pace: ServerPace.tokens,
        tokenEndpoint: .token,
        findings: ServerFinding.self
    )
}

/// Intervals, as documented by the vendor or chosen where the vendor documents none.
enum ServerPace: Sendable {
    /// A backoff of 2 s, doubled after each failure, at most five minutes, with random variation between clients (V28).
    /// A token whose reply states no lifetime is valid for 1,080 s.
    static let tokens = TokenPolicy(
        backoff: .doubling(from: .seconds(2), upTo: .seconds(300), jitter: 0.25),
        life: 1080
    )
    /// The maximum number of lost jobs before an operation is rejected.
    static let lostJobs = 3
    /// The assumed duration of a job in a migration plan; the vendor documents none.
    static let assumedJob = Duration.seconds(10)
    /// The number of results per page.
    static let resultsPage = 50
}
