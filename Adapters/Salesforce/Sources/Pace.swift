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

    /// 60 s, doubled with each failure before, at most a day (S8).
    static func delay(afterFailures failures: Int) -> Duration {
        RuleID.salesforce("S8").fire()
        return min(longestDelay, .seconds(60 << min(failures, 20)))
    }
}
