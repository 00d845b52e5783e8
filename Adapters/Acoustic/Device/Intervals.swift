import PatchbayAdapterKit

/// Intervals between requests.
enum Intervals: Sendable {
    /// The interval between two queries for the current ids (I3).
    static let phoneHome = Duration.seconds(86_400)
    /// The interval between two requests that isolate a refused entry (G3).
    static let search = Duration.seconds(1)
    /// The delays in minutes after consecutive failures, varied at random by up to 20 percent (Q1). A longer
    /// `Retry-After` takes precedence (Q2).
    static let backoff = Backoff([1, 2, 4, 8, 16, 32, 60].map { .seconds(60 * $0) }, jitter: 0.2)
}
