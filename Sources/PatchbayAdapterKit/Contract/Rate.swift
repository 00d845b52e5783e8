/// How often a provider may be asked, over all its lanes and kinds of request.
///
/// Requests leave evenly, one each `per / requests`, so that no span of that length ever sees more than `requests`. A burst
/// allows some to leave at once after a pause: then a span may see as many more as the burst is above 1.
public struct Rate: Hashable, Sendable {
    /// So many requests.
    public let requests: Int
    /// In that time.
    public let per: Duration
    /// Most requests that leave at once after a pause.
    public let burst: Int

    /// A rate; numbers under 1 count as 1.
    public init(_ requests: Int, per: Duration, burst: Int = 1) {
        (self.requests, self.per, self.burst) = (max(1, requests), per, max(1, burst))
    }

    /// The time that one request takes of it.
    public var interval: Duration { per / requests }
}

extension Rate: CustomStringConvertible {
    /// `at most 10 requests in 1.0 seconds`.
    public var description: String { "at most \(requests) requests in \(per)" }
}
