public import PatchbayAdapterKit
import PatchbayModel

extension SalesforceServer {
    /// What all lanes share: the token, and the vendor's word to stay away. Nothing of a person.
    public struct Memory: AdapterMemory {
        /// The token; nil while there is none that can be used.
        var token: Secret?
        /// Until when it can be used.
        var tokenUntil: Instant?
        /// The REST host that came with it.
        var restURL: String?
        /// Whether the last token was refused, and none was taken since.
        var isRefused = false
        /// Failed requests for a token in a row, and when the next may leave.
        var tokenFailures = 0
        var tokenNotBefore: Instant?
        /// Failed requests to the REST host in a row, and when the next may leave, whatever its lane.
        var failures = 0
        var closedUntil: Instant?

        public init() {}

        public var afterErase: Memory { self }

        /// Whether a request with this token can leave.
        func hasToken(at now: Instant) -> Bool { token != nil && tokenUntil.map { $0 > now } ?? false }
    }
}

/// The vendor's times, where it states them.
enum ServerPace: Sendable {
    /// 2 s, doubled with each failure before, at most five minutes; chance parts the clients (V28).
    static let backoff = Backoff.doubling(from: .seconds(2), upTo: .seconds(300), jitter: 0.25)
    /// How long a token lives where its reply does not say.
    static let tokenLife = 1080
    /// Jobs that may get lost before their row is given up.
    static let lostJobs = 3
    /// Results of one page.
    static let resultsPage = 50
}
