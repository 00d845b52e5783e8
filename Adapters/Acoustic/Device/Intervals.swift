import PatchbayAdapterKit

/// Intervals between requests.
enum Intervals: Sendable {
    /// The interval between two queries for the current ids (I3).
    static let phoneHome = Duration.seconds(86_400)
    /// Between two requests of a search for an entry that the vendor refuses (G3).
    static let search = Duration.seconds(1)
    /// The delays in minutes after each failure in a row, with a random variation of a fifth (Q1), or `Retry-After` if
    /// later (Q2).
    static let backoff = Backoff([1, 2, 4, 8, 16, 32, 60].map { .seconds(60 * $0) }, jitter: 0.2)
}
