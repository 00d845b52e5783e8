public import PatchbayJSON
import PatchbayModel

/// The simulated vendor's state of an application's installations.
public struct DESState: Codable, Sendable, Equatable {
    /// An issued contact token.
    public struct Token: Codable, Sendable, Equatable {
        /// The token.
        public var text: String
        /// The time of issue, in milliseconds since 1970.
        public var issuedAt: Int64
    }

    /// An installation under one application code.
    public struct Client: Codable, Sendable, Equatable {
        /// The application's code.
        public var application: String
        /// `X-Client-Id`.
        public var id: String
        /// The last registration.
        public var registration: JSONValue
        /// The number of registrations.
        public var registrations = 0
        /// The push token, if one is set.
        public var pushToken: String?
        /// `anonymous`, or field and value; nil before the first contact.
        public var contact: String?
        /// The present contact token.
        public var token: Token?
        /// The present refresh token.
        public var refreshToken: String?
        /// The number of renewals of the contact token.
        public var renewals = 0
        /// The last `X-Request-Order`.
        public var order: Int64 = 0
        /// The issued device event states that may be returned, as JSON text.
        var states: [String] = []
        /// Whether the client returned a state since the last registration. From then on, each request must contain one.
        var hasEchoed = false
        /// The maximum number of times that one request contained each row of v3.
        var rows: [String: Int] = [:]
        /// Rows that arrived, by campaign: views and clicks, each occurrence counted.
        public var views: [String: Int] = [:]
        /// Clicks that arrived, by campaign.
        public var clicks: [String: Int] = [:]
    }

    /// A received event.
    public struct Event: Codable, Sendable, Equatable {
        /// The installation.
        public var client: String
        /// The contact at that time.
        public var contact: String?
        /// `custom` or `internal`.
        public var type: String
        /// The name.
        public var name: String
        /// The attributes, if it has any.
        public var attributes: JSONValue?
        /// The session, if one ran.
        public var session: String?
        /// Whether messages were not to be shown.
        public var isPaused: Bool
    }

    /// Installations, oldest first.
    public var clients: [Client] = []
    /// Events, in the order received.
    public var events: [Event] = []
    /// The tags of inbox messages, where they differ from the account's.
    public var tags: [String: [String]] = [:]
    /// The refused requests, with reasons for people.
    public var violations: [String] = []
    /// Requests by path and status.
    public var counts: [String: Int] = [:]
    /// The number of texts created so far.
    var made = 0

    /// The newest installation of an application.
    public func client(_ id: String, application: String? = nil) -> Client? {
        clients.last { $0.id == id && (application == nil || $0.application == application) }
    }

    /// A text that was never handed out before.
    mutating func make(_ what: String) -> String {
        made += 1
        return "\(what)-\(made)"
    }
}
