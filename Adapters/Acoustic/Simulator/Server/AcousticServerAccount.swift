public import PatchbayJSON
public import PatchbayModel

/// The state of a simulated database. Every list has a fixed order, so that equal states have equal JSON.
public struct AcousticServerAccount: Codable, Sendable, Equatable {
    /// An issued token.
    public struct Token: Codable, Sendable, Equatable {
        /// The token.
        public var text: String
        /// The time of issue.
        public var from: Instant
        /// The time of expiry.
        public var until: Instant
    }

    /// A contact of the database.
    public struct Contact: Codable, Sendable, Equatable {
        /// The vendor's number of it.
        public var id: Int
        /// The vendor's code for the contact's origin.
        public var createdFrom: String
        /// The contact's columns, without cleared ones.
        public var columns: [String: String] = [:]
        /// Whether it has opted out.
        public var isOut = false
    }

    /// A job that takes time.
    public struct Job: Codable, Sendable, Equatable {
        /// Its number.
        public var id: Int
        /// The contacts that it erases, by key.
        public var erases: [String] = []
        /// The keys of the contacts whose data the job reports.
        public var reports: [String]?
        /// The file to import; empty for an erasure.
        public var file = ""
        /// The time of completion.
        public var readyAt: Instant
        /// Whether the job was carried out.
        public var isDone = false
    }

    /// A behaviour of a contact.
    public struct Event: Codable, Sendable, Equatable {
        /// The contact's number.
        public var contact: Int
        /// Its type's code.
        public var code: String
        /// Its name, as its members have it.
        public var name: String
        /// The whole event.
        public var body: JSONValue
    }

    /// A consent of a channel.
    public struct Consent: Codable, Sendable, Equatable {
        /// `OPTED-IN` or `OPTED-OUT`.
        public var status: String
        /// The date of the person's decision, if the client sent one.
        public var date: String?
        /// The source of the person's decision, if the client sent one.
        public var source: String?
    }

    /// Tokens, oldest first.
    public var tokens: [Token] = []
    /// Contacts by key.
    public var contacts: [String: Contact] = [:]
    /// The number of contacts created so far, which determines the next contact's number.
    public var made = 0
    /// Jobs, oldest first.
    public var jobs: [Job] = []
    /// Events, oldest first.
    public var events: [Event] = []
    /// Keys of contacts by contact list, each once, in order.
    public var lists: [String: [String]] = [:]
    /// The names of created contact lists, oldest first.
    public var madeLists: [String] = []
    /// Keys of contacts by app and device: `PUSH-gcb4hVDsXq/mu-7|ch-9`. A push consent adds an entry.
    public var devices: [String: String] = [:]
    /// Consents by channel, qualifier and destination: `SMS-24680/358401234567`.
    public var consents: [String: Consent] = [:]
    /// Keys of contacts that jobs erased, oldest first, each once.
    public var erased: [String] = []
    /// The client's violations of the vendor's rules.
    public var violations: [Violation] = []
    /// The number of requests by call and reply, such as `AddRecipient 200` or `GetJobStatus 145`.
    public var counts: [String: Int] = [:]

    /// A database without contacts.
    public init() {}

    /// Removes a contact from the database and its lists.
    mutating func forget(_ key: String) {
        contacts[key] = nil
        // Iterating over the view of the keys would copy each list.
        for list in Array(lists.keys) { lists[list]?.removeAll { $0 == key } }
    }
}
