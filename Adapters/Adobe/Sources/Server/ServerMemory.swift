public import PatchbayAdapterKit

extension AdobeServer {
    public typealias Memory = ServerMemory
}

/// Times and counts; the vendor publishes none for its REST interface but the life of a token.
enum ServerPace: Sendable {
    /// 2 s, doubled with each failure before, at most five minutes; chance parts the clients (B30). A token whose reply does
    /// not say lives for an hour.
    static let tokens = TokenLaw(
        backoff: .doubling(from: .seconds(2), upTo: .seconds(300), jitter: 0.25),
        life: 3600
    )
    /// Operations of one contact that go in one request.
    static let mostTogether = 100
    /// Pages of a collection that are looked through for one operation.
    static let pages = 20
    /// How often an operation begins anew because its profile vanished (B13).
    static let vanishings = 3
    /// Rows of a page that this API asks for; the vendor's own number is 25.
    static let rowsOfPage = 100
    /// The longest address behind the API's own that a step remembers.
    static let longestAddress = 200
    /// The longest key of the vendor's own.
    static let longestKey = 100
}
