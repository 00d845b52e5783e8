public import PatchbayJSON
public import PatchbayModel

/// The state of a simulated account. Every list has a fixed order, so that equal states have equal JSON.
public struct AdobeServerAccount: Codable, Sendable, Equatable {
    /// An issued token.
    public struct Token: Codable, Sendable, Equatable {
        /// The token.
        public var text: String
        /// The time of expiry.
        public var until: Instant
    }

    /// A profile.
    public struct Profile: Codable, Sendable, Equatable {
        /// The vendor's key.
        public var key: String
        /// Its fields.
        public var fields: [String: JSONValue]
    }

    /// A service.
    public struct Service: Codable, Sendable, Equatable {
        /// Its name, by which it is known alone.
        public var name: String
        /// The channel of its messages, as the vendor names it.
        public var messageType = "email"
    }

    /// A profile's subscription to a service.
    public struct Subscription: Codable, Sendable, Equatable {
        /// The vendor's key.
        public var key: String
        /// The profile's.
        public var profile: String
        /// The service's name.
        public var service: String
    }

    /// Tokens, oldest first.
    public var tokens: [Token] = []
    /// Profiles, oldest first.
    public var profiles: [Profile] = []
    /// The services, oldest first. Their positions determine their keys.
    public var services: [Service] = []
    /// Subscriptions, oldest first.
    public var subscriptions: [Subscription] = []
    /// The number of profiles and subscriptions created so far, which determines the next key.
    public var made = 0
    /// The deleted profiles, by the value of the account's key field, oldest first, each once.
    public var deleted: [String] = []
    /// Rules that a client broke.
    public var violations: [String] = []
    /// Requests by method, path and status.
    public var counts: [String: Int] = [:]

    /// An account without profiles.
    public init() {}
}
