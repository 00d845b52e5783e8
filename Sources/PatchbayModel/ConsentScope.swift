extension Consent {
    /// What a word on consent is about, or what an operation serves: a purpose, on one channel or on every channel.
    public struct Scope: Hashable, Sendable, Comparable, CustomStringConvertible {
        /// What the data may be used for.
        public let purpose: Purpose
        /// The channel; nil is every channel, for an operation none in particular.
        public let channel: Channel?

        /// Creates a purpose on a channel.
        public init(_ purpose: Purpose, channel: Channel? = nil) { (self.purpose, self.channel) = (purpose, channel) }

        /// Recording what a person does, on every channel.
        public static let tracking = Scope(.tracking)
        /// Sending messages, on every channel.
        public static let messaging = Scope(.messaging)
        /// Keeping a profile, for every channel.
        public static let profile = Scope(.profile)

        /// Whether the other is the same purpose on the same channel, or on one of all that this is about.
        public func covers(_ other: Scope) -> Bool {
            purpose == other.purpose && (channel == nil || channel == other.channel)
        }

        /// By purpose, then by channel, every channel first.
        public static func < (left: Scope, right: Scope) -> Bool {
            (left.purpose.rawValue, left.channel?.rawValue ?? "") < (
                right.purpose.rawValue, right.channel?.rawValue ?? ""
            )
        }

        /// `messaging`, `messaging.sms`.
        public var description: String {
            ([purpose.rawValue] + (channel.map { [$0.rawValue] } ?? [])).joined(separator: ".")
        }
    }
}
