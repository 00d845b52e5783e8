public import PatchbayAdapterKit

extension AdobeServer {
    public typealias Memory = ServerMemory

    public static let conventions = ServerConventions<Endpoint>(
        replies: .adobeServer,
        pace: ServerPace.tokens,
        tokenEndpoint: .token,
        findings: ServerFinding.self
    )
}

/// Intervals and counts. For its REST interface, the vendor publishes only the lifetime of a token.
enum ServerPace: Sendable {
    /// A backoff of 2 s, doubled after each failure, at most five minutes, with random variation between clients (B30). A token
    /// whose reply states no lifetime is valid for an hour.
    static let tokens = TokenPolicy(
        backoff: .doubling(from: .seconds(2), upTo: .seconds(300), jitter: 0.25),
        life: 3600
    )
    /// Operations of one contact that go in one request.
    static let mostTogether = 100
    /// Pages of a collection that are looked through for one operation.
    static let pages = 20
    /// The maximum number of restarts of an operation whose profile vanished (B13).
    static let vanishings = 3
    /// The number of rows per page that this API requests; the vendor's default is 25.
    static let rowsOfPage = 100
    /// The maximum length of an address in a step, relative to the API's address, in bytes.
    static let longestAddress = 200
    /// The longest key of the vendor's own.
    static let longestKey = 100
}
