public import PatchbayJSON

/// What a simulated platform remembers of its database. Every list has a fixed order, so that equal states have equal JSON.
public struct AltcraftServerAccount: Codable, Sendable, Equatable {
    /// A person.
    public struct Profile: Codable, Sendable, Equatable {
        /// The vendor's id; ids grow.
        public var id: String
        /// Profile fields, as a JSON object.
        public var fields: JSONValue = [:]
        /// Subscriptions, as the platform shows them, oldest first.
        public var subscriptions: [JSONValue] = []
        /// How often an opt-out was recorded; a suspension records none.
        public var optOuts = 0
    }

    /// A goal that a person reached.
    public struct Goal: Codable, Sendable, Equatable {
        /// The profile's id.
        public var profile: String
        /// The goal's name.
        public var name: String
        /// Value, date and data, as they came.
        public var content: JSONValue
    }

    /// Profiles, oldest first.
    public var profiles: [Profile] = []
    /// How many profiles there ever were.
    public var made = 0
    /// Goals, oldest first.
    public var goals: [Goal] = []
    /// Push events, oldest first: number and message.
    public var pushEvents: [String] = []
    /// Ids of deleted profiles, oldest first.
    public var deletions: [String] = []
    /// Rules that a client broke: names and sizes, no values.
    public var violations: [String] = []
    /// Requests by method and status.
    public var counts: [String: Int] = [:]

    /// A database without profiles.
    public init() {}
}
