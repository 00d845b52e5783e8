public import PatchbayJSON
import PatchbayModel

/// The vendor's state: profiles by database, events, and every request id with the number of its requests.
public struct AltcraftState: Codable, Sendable, Equatable {
    /// A person in one database.
    public struct Profile: Codable, Sendable, Equatable {
        /// The vendor's id.
        public var id: String
        /// The database.
        public var database: Int64
        /// The keys that identify the profile: `email=…`, `phone=…`.
        public var keys: [String]
        /// Profile fields, as a JSON object.
        public var fields: JSONValue = [:]
        /// Push subscriptions, oldest first.
        public var subscriptions: [Subscription] = []
        /// Subscriptions in other channels, as they were attached.
        public var attached: [JSONValue] = []

        /// Whether a token with the matching mode `push_sub` identifies the profile by a push subscription.
        func isFound(by key: String) -> Bool {
            subscriptions.contains { key == "provider+subscription_id=\($0.provider)+\($0.token)" }
        }
    }

    /// A push subscription.
    public struct Subscription: Codable, Sendable, Equatable {
        /// The provider.
        public var provider: String
        /// The push token.
        public var token: String
        /// `subscribed`, `unsubscribed` or `suspended`.
        public var status: String
        /// Subscription fields, as a JSON object.
        public var fields: JSONValue = [:]
        /// Categories, as a JSON object of name and active.
        public var categories: JSONValue = [:]
        /// The number of recorded opt-outs. A suspension records none.
        public var optOuts = 0
        /// The place in the order of creation.
        public var number: Int
    }

    /// A push that arrived or was opened.
    public struct PushEvent: Codable, Sendable, Equatable {
        /// `delivery` or `open`.
        public var kind: String
        /// The message.
        public var message: String
        /// Seconds since 1970.
        public var time: Int64
    }

    /// A custom event.
    public struct CustomEvent: Codable, Sendable, Equatable {
        /// The pixel.
        public var pixel: String
        /// The parts of the form, in their order: name and text.
        public var parts: [[String]]

        /// The text of a part.
        public subscript(part: String) -> String? { parts.first { $0.first == part }?.last }
    }

    /// Every profile, oldest first.
    public var profiles: [Profile] = []
    /// Push events, oldest first.
    public var pushEvents: [PushEvent] = []
    /// Custom events, oldest first.
    public var customEvents: [CustomEvent] = []
    /// Every request id, in the order received.
    public var requestIDs: [String] = []
    /// The ids of repeated requests.
    public var duplicates: [String] = []
    /// The number of objects created so far.
    var count = 0

    /// Profiles of one database.
    public func profiles(in database: Int64) -> [Profile] { profiles.filter { $0.database == database } }

    mutating func number() -> Int {
        count += 1
        return count
    }
}
