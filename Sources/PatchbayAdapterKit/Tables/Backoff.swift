public import PatchbayModel

/// How long to wait after a failure: a law of delays, moved by chance where the vendor leaves that open.
///
/// The delays are the vendor's or, where it states none, the adapter's; what the server asks for is kept where it is later.
public struct Backoff: Hashable, Sendable {
    /// After the first, second … failure; the last repeats without end.
    public let delays: [Duration]
    /// How far chance moves a delay either way, as a part of it; 0 where the vendor's law is exact. The last delay is not moved:
    /// no interval is shorter than the one before.
    public let jitter: Double
    /// The longest wait that a server may ask for.
    public let longest: Duration

    /// Creates a law.
    public init(_ delays: [Duration], jitter: Double = 0, longest: Duration = .seconds(86_400)) {
        (self.delays, self.jitter, self.longest) = (delays, jitter, longest)
    }

    /// A law whose delays double, up to a longest one.
    public static func doubling(from first: Duration, upTo longest: Duration, jitter: Double = 0) -> Backoff {
        var delays = [first]
        while let last = delays.last, last > .zero, last < longest { delays.append(min(last + last, longest)) }
        return Backoff(delays, jitter: jitter)
    }

    /// The wait after so many failures before this one, without the server's word.
    public func delay(after failures: Int, chance: Double) -> Duration {
        let delay = delays.isEmpty ? .zero : delays[min(max(0, failures), delays.count - 1)]
        guard jitter > 0, failures < delays.count - 1, let last = delays.last else { return delay }
        return min(last, .milliseconds(Int64(Double(delay.wholeMilliseconds) * (1 - jitter + 2 * jitter * chance))))
    }

    /// When to try again: the law's delay, or what the server asks for if that is later.
    public func next(after failures: Int, asked: Duration?, at moment: Moment) -> Instant {
        let delay = delay(after: failures, chance: moment.chance)
        return moment.now + max(delay, asked.map { min($0, longest) } ?? .zero)
    }

    /// Counts a failure after which all lanes of an API stay away: gives when the next request may leave, and never shortens
    /// what holds already.
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
