public import PatchbayModel

/// The effects, the state and the delay of a simulated vendor in a trial.
public struct VendorLedger: Sendable {
    /// An effect of a request. If the vendor processes the request twice, the effect occurs twice.
    public struct Effect: Hashable, Sendable {
        /// A description.
        public let text: String
        /// The time on the engine's timeline.
        public let at: Instant
        /// The number of the request, from 1.
        public let request: Int
    }

    /// The effects, in order.
    public private(set) var effects: [Effect] = []
    /// The vendor's state, by name.
    public var held: [String: String] = [:]
    /// The mode that a script set last with ``TrialStep/vendor(_:)``.
    public internal(set) var mode = ""
    /// The app's current credential.
    public internal(set) var credential: String?
    /// The time at which the current request reached the vendor, on the engine's timeline.
    public internal(set) var now = Instant(milliseconds: 0)
    /// The number of the current request, from 1.
    public internal(set) var request = 0
    /// The time until the reply to the current request.
    public var delay: Duration = .milliseconds(100)

    init() {}

    /// Records an effect.
    public mutating func note(_ text: String) { effects.append(Effect(text: text, at: now, request: request)) }

    /// Increments and returns a counter.
    public mutating func count(_ name: String) -> Int {
        let count = (held[name].flatMap { Int($0) } ?? 0) + 1
        held[name] = String(count)
        return count
    }

    /// The effects as texts, in order.
    public var texts: [String] { effects.map(\.text) }
}
