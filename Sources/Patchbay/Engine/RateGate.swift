import PatchbayAdapterKit
import PatchbayModel

/// A token bucket on the engine's timeline for a provider's rate.
///
/// The state is one instant: the time at which the bucket is full again.
struct RateGate {
    let rate: Rate
    /// The time at which a full burst may leave again.
    var fullAt: Instant

    /// Creates an empty bucket, because the requests of an earlier process are unknown.
    init(_ rate: Rate, at now: Instant) {
        self.rate = rate
        fullAt = now + rate.interval * rate.burst
    }

    /// The time at which the next request may leave.
    var opensAt: Instant { fullAt + rate.interval * (1 - rate.burst) }

    /// Takes a token for a request.
    mutating func take(at now: Instant) { fullAt = max(fullAt, now) + rate.interval }
}
