public import PatchbayJSON
public import PatchbayModel

/// The state of a simulated account. Every list has a fixed order, so that equal states have equal JSON.
public struct AcousticAccount: Codable, Sendable, Equatable {
    /// The users, in order of their registration.
    public var users: [SimulatedUser] = []
    /// The number of users and channels created so far, which determines the next id.
    public var made = 0
    /// The client's violations of the vendor's rules, oldest first.
    public var violations: [Violation] = []
    /// Requests by endpoint and status: `update 200`.
    public var counts: [String: Int] = [:]

    /// An account without users.
    public init() {}

    /// The user of that id.
    public func user(_ id: String) -> SimulatedUser? { users.first { $0.id == id } }

    mutating func update(_ id: String, _ change: (inout SimulatedUser) -> Void) {
        guard let place = users.firstIndex(where: { $0.id == id }) else { return }
        change(&users[place])
    }
}

/// One user (MUID) of a simulated account.
public struct SimulatedUser: Codable, Sendable, Equatable {
    /// The user's id.
    public var id: String
    /// Its channels: one per installation.
    public var channels: [String]
    /// The installation for which it was registered.
    public var installID: String
    /// The first cache of the service: the last values written by devices, valid and invalid. They do not expire.
    public var cache: [String: JSONValue] = [:]
    /// Names in the first cache that make every later update fail until they are deleted.
    public var poison: [String] = []
    /// The writes that reached the second cache, oldest first.
    public var writes: [Write] = []
    /// Updates that were accepted and then lost, with the reasons.
    public var lost: [Loss] = []
    /// The events, oldest first.
    public var events: [SimulatedEvent] = []
    /// The last registration.
    public var registration: JSONValue?
    /// Whether push may reach the installation, as last reported by a registration or an event.
    public var mayPush: Bool?
    /// The times of updates in the last minute.
    public var updates: [Instant] = []

    /// A write that has not reached the database yet.
    public struct Write: Codable, Sendable, Equatable {
        /// The time of the write.
        public var at: Instant
        /// The column.
        public var column: String
        /// The value; nil clears it.
        public var value: JSONValue?
    }

    /// An update that failed after a successful reply.
    public struct Loss: Codable, Sendable, Equatable {
        /// The time of the failure.
        public var at: Instant
        /// The columns of the update, which are all lost.
        public var columns: [String]
        /// The reasons, with names and without values.
        public var reasons: [String]
    }

    /// Returns the database's row at an instant. A write becomes visible after five minutes.
    public func row(at now: Instant) -> [String: JSONValue] {
        row { now - $0.at >= .seconds(300) }
    }

    /// The database's row once all caches are written.
    public var finalRow: [String: JSONValue] { row { _ in true } }

    private func row(_ isVisible: (Write) -> Bool) -> [String: JSONValue] {
        writes.filter(isVisible).reduce(into: [:]) { $0[$1.column] = $1.value }
    }
}

/// One event of a simulated user.
public struct SimulatedEvent: Codable, Sendable, Equatable {
    /// Its type.
    public var type: String
    /// Its name.
    public var name: String
    /// The time of the event, in the client's text.
    public var timestamp: String
    /// Whether the account shows it.
    public var isVisible: Bool
    /// The whole event.
    public var body: JSONValue
}

/// A violation of a rule by the client.
public struct Violation: Codable, Sendable, Equatable {
    /// The time of the violation.
    public var at: Instant
    /// The violation, with names and sizes and without values.
    public var what: String
}
