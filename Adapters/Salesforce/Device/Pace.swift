import PatchbayAdapterKit
import PatchbayModel

/// The vendor's intervals.
enum Pace: Sendable {
    /// The interval between the starts of two registrations.
    static let spacing = Duration.seconds(60)
    /// The interval from the first unsent change to its registration.
    static let gathering = Duration.seconds(60)
    /// The maximum delay, including Retry-After.
    static let longestDelay = Duration.seconds(86_400)

    /// A backoff of 60 s, doubled after each failure, at most a day, without random variation (S8).
    private static let backoff = Backoff.doubling(from: .seconds(60), upTo: longestDelay)

    /// Counts a failure and returns the wait after it: the vendor's delay, or the server's requested delay if longer.
    /// The wait grows with each failure.
    static func delay(counting failures: inout Int, asked: Duration?) -> Duration {
        func policy() -> Duration { backoff.delay(after: failures, chance: 0.5) }
        let delay = max(policy(), min(asked ?? .zero, longestDelay))
        failures += 1
        while failures < backoff.delays.count - 1, policy() <= delay { failures += 1 }
        return delay
    }
}
