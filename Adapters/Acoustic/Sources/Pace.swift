import PatchbayAdapterKit
import PatchbayModel

/// The times that this adapter keeps.
enum Pace: Sendable {
    /// Between two questions for the present ids (I3).
    static let phoneHome = Duration.seconds(86_400)
    /// The longest wait that a `Retry-After` may ask for.
    static let longest = Duration.seconds(86_400)
    /// Between two requests of a search for an entry that the vendor refuses (G3).
    static let search = Duration.seconds(1)
    /// Minutes after the first, second … failure; the last repeats without end (Q1).
    static let ladder = [1, 2, 4, 8, 16, 32, 60]
    /// How far chance moves a delay either way.
    static let jitter = 0.2

    /// When to try again after a failure: the ladder moved by chance, or what the vendor asks for if that is later.
    static func next(after failures: Int, asked: Duration?, at moment: Moment) -> Instant {
        RuleID.acoustic("Q1").fire()
        let minutes = ladder[min(failures, ladder.count - 1)]
        let factor = 1 - jitter + 2 * jitter * moment.chance
        let delay = Duration.milliseconds(Int64(Double(minutes * 60_000) * factor))
        guard let asked, asked > delay else { return moment.now + delay }
        RuleID.acoustic("Q2").fire()
        return moment.now + min(asked, longest)
    }
}
