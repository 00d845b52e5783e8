public import PatchbayModel

/// A retry policy: the delays after failures, with optional jitter.
///
/// The delays are documented by the vendor; if it documents none, the adapter chooses them. A later time that the server asks
/// for takes precedence.
public struct Backoff: Hashable, Sendable, Codable {
    /// The delays after the first, second, … failure. The last one repeats.
    public let delays: [Duration]
    /// The maximum jitter in either direction, as a fraction of the delay; 0 if the vendor's policy is exact. The last delay
    /// has no jitter, so that no interval is shorter than the previous one.
    public let jitter: Double
    /// The longest delay that is accepted from a server.
    public let longest: Duration

    /// Creates a retry policy.
    public init(_ delays: [Duration], jitter: Double = 0, longest: Duration = .seconds(86_400)) {
        (self.delays, self.jitter, self.longest) = (delays, jitter, longest)
    }

    /// Returns a retry policy whose delays double, up to a maximum.
    public static func doubling(from first: Duration, upTo longest: Duration, jitter: Double = 0) -> Backoff {
        var delays = [first]
        while let last = delays.last, last > .zero, last < longest { delays.append(min(last + last, longest)) }
        return Backoff(delays, jitter: jitter)
    }

    /// Returns the delay after a number of previous failures, without the server's delay.
    public func delay(after failures: Int, chance: Double) -> Duration {
        let delay = delays.isEmpty ? .zero : delays[min(max(0, failures), delays.count - 1)]
        guard jitter > 0, failures < delays.count - 1, let last = delays.last else { return delay }
        return min(last, .milliseconds(Int64(Double(delay.wholeMilliseconds) * (1 - jitter + 2 * jitter * chance))))
    }

    /// Returns the time of the next attempt: after the policy's delay, or after the delay that the server asks for if that is
    /// longer.
    public func next(after failures: Int, asked: Duration?, at moment: Moment) -> Instant {
        let delay = delay(after: failures, chance: moment.chance)
        return moment.now + max(delay, asked.map { min($0, longest) } ?? .zero)
    }

    /// Counts a failure that delays all lanes of an API. Returns the earliest time of the next request, and never makes an
    /// existing delay shorter.
    public func stayAway(
        _ failures: inout Int,
        until closed: inout Instant?,
        asked: Duration?,
        at moment: Moment
    ) -> Instant {
        let next = next(after: failures, asked: asked, at: moment)
        closed = max(closed ?? next, next)
        failures += 1
        return next
    }
}
