public import PatchbayAdapterKit
import PatchbayModel

extension AltcraftServer {
    /// What all lanes share: the vendor's word to stay away. Nothing of a person.
    public struct Memory: AdapterMemory {
        /// Failed requests in a row, and when the next may leave, whatever its lane.
        var failures = 0
        var closedUntil: Instant?

        public init() {}

        public var afterErase: Memory { self }
    }
}

/// How long the door waits; the vendor names no times.
enum ServerPace: Sendable {
    /// 2 s, doubled with each failure before, at most five minutes; chance parts the clients (V22).
    static let backoff = Backoff.doubling(from: .seconds(2), upTo: .seconds(300), jitter: 0.25)
    /// Profiles that are looked up at once.
    static let lookUps = 100
}
