extension Consent {
    /// The scope of a consent decision or an operation: a purpose, on one channel or on every channel.
    public struct Scope: Hashable, Sendable, Comparable, CustomStringConvertible {
        /// The purpose for which the data may be used.
        public let purpose: Purpose
        /// The channel; nil for every channel or, for an operation, no particular one.
        public let channel: Channel?

        /// Creates the scope of a purpose on a channel.
        public init(_ purpose: Purpose, channel: Channel? = nil) { (self.purpose, self.channel) = (purpose, channel) }

        /// Recording a person's behavior, on every channel.
        public static let tracking = Scope(.tracking)
        /// Sending messages, on every channel.
        public static let messaging = Scope(.messaging)
        /// Storing a profile, for every channel.
        public static let profile = Scope(.profile)

        /// Whether this scope contains the other one: the same purpose on the same channel, or on one of the channels of this
        /// scope.
        public func covers(_ other: Scope) -> Bool {
            purpose == other.purpose && (channel == nil || channel == other.channel)
        }

        /// Orders by purpose, then by channel; the scope of every channel comes first.
        public static func < (left: Scope, right: Scope) -> Bool {
            (left.purpose.rawValue, left.channel?.rawValue ?? "") < (
                right.purpose.rawValue, right.channel?.rawValue ?? ""
            )
        }

        /// The scope as text: `messaging`, `messaging.sms`.
        public var description: String {
            ([purpose.rawValue] + (channel.map { [$0.rawValue] } ?? [])).joined(separator: ".")
        }
    }
}
