public import PatchbayAdapterKit
import PatchbayModel

extension AcousticServer {
    /// What all lanes share: the token, and the vendor's word to stay away. Nothing of a person.
    public struct Memory: AdapterMemory {
        /// The token; nil while there is none that can be used.
        var token: Secret?
        /// When it came. The vendor hands out the same one for three hours, so its text does not tell.
        var tokenSince: Instant?
        /// Until when it can be used.
        var tokenUntil: Instant?
        /// Whether the last token was refused, and none was taken since.
        var isRefused = false
        /// Failed requests for a token in a row, and when the next may leave.
        var tokenFailures = 0
        var tokenNotBefore: Instant?
        /// Failed requests in a row, and when the next may leave, whatever its lane.
        var failures = 0
        var closedUntil: Instant?

        public init() {}

        public var afterErase: Memory { self }

        /// Whether a request with this token can leave.
        func hasToken(at now: Instant) -> Bool { token != nil && tokenUntil.map { $0 > now } ?? false }
    }
}

/// Times and counts where the vendor states them, or wants some.
enum ServerPace: Sendable {
    /// 2 s, doubled with each failure before, at most ten minutes; the vendor wants it exponential (S43).
    static let backoff = Backoff.doubling(from: .seconds(2), upTo: .seconds(600), jitter: 0.25)
    /// How long a token lives where its reply does not say.
    static let tokenLife: Int64 = 14_400
    /// Faults of the server's own in a row after which an operation ends (S12).
    static let faults = 5
    /// Jobs that may get lost before their contact is given up (S35).
    static let lostJobs = 3
}
