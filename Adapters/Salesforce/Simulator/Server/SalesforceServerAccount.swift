public import PatchbayJSON
public import PatchbayModel

/// The state of a simulated business unit. Every list has a fixed order, so that equal states have equal JSON.
public struct SalesforceServerAccount: Codable, Sendable, Equatable {
    /// An issued token.
    public struct Token: Codable, Sendable, Equatable {
        /// The token.
        public var text: String
        /// The time of expiry.
        public var until: Instant
    }

    /// A job of rows.
    public struct Job: Codable, Sendable, Equatable {
        /// Its id.
        public var id: String
        /// The data extension's key.
        public var dataExtension: String
        /// The unprocessed rows, unchanged.
        public var rows: [JSONValue]
        /// The time of completion.
        public var readyAt: Instant
        /// The result of each row: an error's code, or empty for an accepted row; nil until the job is complete.
        public var errors: [String]?
    }

    /// An event that may have started a journey.
    public struct Event: Codable, Sendable, Equatable {
        /// The contact.
        public var contactKey: String
        /// The definition's key.
        public var definition: String
        /// Its fields.
        public var data: JSONValue
    }

    /// The issued tokens, oldest first. Only the latest is valid.
    public var tokens: [Token] = []
    /// The rows by data extension and key, with columns in lower case, as queries return them.
    public var rows: [String: [String: [String: JSONValue]]] = [:]
    /// Attributes of contacts, by key: `set/attribute`.
    public var contacts: [String: [String: JSONValue]] = [:]
    /// Jobs, oldest first.
    public var jobs: [Job] = []
    /// Events, oldest first.
    public var events: [Event] = []
    /// The keys with a queued deletion, oldest first.
    public var deletions: [String] = []
    /// The client's violations of the vendor's rules.
    public var violations: [Violation] = []
    /// Requests by method, path and status.
    public var counts: [String: Int] = [:]

    /// A unit without rows.
    public init() {}
}
