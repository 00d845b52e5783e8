/// The maximum request rate for a provider, over all lanes and kinds of requests.
///
/// Requests are sent evenly, one every `per / requests`, so that no period of length `per` contains more than `requests`. A
/// burst above 1 allows several requests at once after a pause. A period may then contain `burst - 1` additional requests.
public struct Rate: Hashable, Sendable {
    /// The number of requests per period.
    public let requests: Int
    /// The length of the period.
    public let per: Duration
    /// The maximum number of requests sent at once after a pause.
    public let burst: Int

    /// Creates a rate. Numbers below 1 count as 1.
    public init(_ requests: Int, per: Duration, burst: Int = 1) {
        (self.requests, self.per, self.burst) = (max(1, requests), per, max(1, burst))
    }

    /// The interval between two requests.
    public var interval: Duration { per / requests }
}

extension Rate: CustomStringConvertible {
    /// `at most 10 requests in 1.0 seconds`.
    public var description: String { "at most \(requests) requests in \(per)" }
}
