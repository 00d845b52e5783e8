import PatchbayAdapterKit
import PatchbayModel

/// The vendor's times.
enum Pace: Sendable {
    /// Between the starts of two registrations.
    static let spacing = Duration.seconds(60)
    /// From the first unsent change to its registration.
    static let gathering = Duration.seconds(60)
    /// The longest delay, also of Retry-After.
    static let longestDelay = Duration.seconds(86_400)

    /// 60 s, doubled with each failure before, at most a day; exact (S8).
    private static let backoff = Backoff.doubling(from: .seconds(60), upTo: longestDelay)

    /// The wait after so many failures before this one.
    static func delay(afterFailures failures: Int) -> Duration {
        RuleID.salesforce("S8").fire()
        return backoff.delay(after: failures, chance: 0.5)
    }
}
