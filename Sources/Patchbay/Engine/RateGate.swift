import PatchbayAdapterKit
import PatchbayModel

/// A token bucket on the engine's timeline: what is left of a provider's rate.
///
/// One instant holds it all: when the bucket will be full again.
struct RateGate {
    let rate: Rate
    /// When as many may leave at once again as the burst says.
    var fullAt: Instant

    /// The bucket is empty at first: nobody knows what a process before this one has sent.
    init(_ rate: Rate, at now: Instant) {
        self.rate = rate
        fullAt = now + rate.interval * rate.burst
    }

    /// When the next request may leave.
    var opensAt: Instant { fullAt + rate.interval * (1 - rate.burst) }

    /// A request leaves.
    mutating func take(at now: Instant) { fullAt = max(fullAt, now) + rate.interval }
}
