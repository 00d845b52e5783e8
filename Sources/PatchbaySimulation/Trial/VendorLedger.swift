public import PatchbayModel

/// What a played vendor did and holds, and how slow it is.
public struct VendorLedger: Sendable {
    /// Something that the vendor did, which a repeat would do twice.
    public struct Effect: Hashable, Sendable {
        /// What.
        public let text: String
        /// When, on the engine's timeline.
        public let at: Instant
        /// The request that did it, from 1.
        public let request: Int
    }

    /// What the vendor did, in order.
    public private(set) var effects: [Effect] = []
    /// What the vendor holds, by name.
    public var held: [String: String] = [:]
    /// The word that a script's ``TrialStep/vendor(_:)`` said last.
    public internal(set) var mood = ""
    /// The credential that the app gives now.
    public internal(set) var credential: String?
    /// When the request at hand arrived, on the engine's timeline.
    public internal(set) var now = Instant(milliseconds: 0)
    /// The number of the request at hand, from 1.
    public internal(set) var request = 0
    /// How long the answer to the request at hand takes.
    public var delay: Duration = .milliseconds(100)

    init() {}

    /// The vendor does something.
    public mutating func note(_ text: String) { effects.append(Effect(text: text, at: now, request: request)) }

    /// Counts how often something has come to pass, this time included.
    public mutating func count(_ name: String) -> Int {
        let count = (held[name].flatMap { Int($0) } ?? 0) + 1
        held[name] = String(count)
        return count
    }

    /// The effects as texts, in order.
    public var texts: [String] { effects.map(\.text) }
}
