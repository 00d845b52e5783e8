public import PatchbayJSON
public import PatchbayModel

/// The state of a simulated account. Every list has a fixed order, so that equal states have equal JSON.
public struct SalesforceAccount: Codable, Sendable, Equatable {
    /// The devices, by id.
    public var devices: [SimulatedDevice] = []
    /// Every contact key that was ever seen or made up, sorted; each is billed.
    public var contacts: [String] = []
    /// The client's violations of the vendor's rules, oldest first.
    public var violations: [Violation] = []
    /// Requests by path and status: `/device/v1/registration 201`.
    public var counts: [String: Int] = [:]

    /// An account without devices.
    public init() {}

    /// Contacts without any device: no longer reachable, still billed.
    public var orphanedContacts: [String] {
        let owned = Set(devices.compactMap(\.contactKey))
        return contacts.filter { !owned.contains($0) }
    }

    /// The device of that id.
    public func device(_ id: String) -> SimulatedDevice? { devices.first { $0.id == id } }

    mutating func update(_ id: String, _ change: (inout SimulatedDevice) -> Void) {
        let place = devices.firstIndex { $0.id >= id } ?? devices.endIndex
        if place == devices.endIndex || devices[place].id != id { devices.insert(SimulatedDevice(id), at: place) }
        change(&devices[place])
    }

    /// The contact of a device that was registered with this push token.
    func owner(of token: JSONValue?) -> String? {
        guard let token else { return nil }
        return devices.first { $0.registration?["device_Token"] == token }?.contactKey
    }

    mutating func note(_ contact: String) {
        let place = contacts.firstIndex { $0 >= contact } ?? contacts.endIndex
        if place == contacts.endIndex || contacts[place] != contact { contacts.insert(contact, at: place) }
    }
}

/// One device of a simulated account.
public struct SimulatedDevice: Codable, Sendable, Equatable {
    /// The device id.
    public var id: String
    /// The contact that it belongs to; made up by the account where the registration named none.
    public var contactKey: String?
    /// Whether messages can be sent to it: false after a registration that could not be processed.
    public var isActive = false
    /// The last registration that was processed.
    public var registration: JSONValue?
    /// The last registration that shows in the account's own pages and sends.
    public var visible: JSONValue?
    /// Registrations that were processed and do not show yet, oldest first.
    public var spreading: [Spreading] = []
    /// Every attribute that was ever sent, by name. An attribute that a registration omits keeps its value.
    public var attributes: [String: String] = [:]
    /// When push was last switched on; nil if never.
    public var optedInAt: Instant?
    /// When push was last switched off; nil if never.
    public var optedOutAt: Instant?
    /// Registrations that were received.
    public var received = 0
    /// When the last one came.
    public var lastReceived: Instant?
    /// Registrations that were received with 201 and not processed, with the reasons.
    public var refusedLater: [Refusal] = []
    /// The changes of each processed registration, oldest first.
    public var changes: [Change] = []
    /// The events that were received, oldest first.
    public var events: [SimulatedEvent] = []
    /// Events that came again with the id of an earlier one.
    public var repeatedEvents = 0
    /// Events that the account does not define, and that had no effect.
    public var undefinedEvents = 0

    init(_ id: String) { self.id = id }

    /// Returns the registration that is visible at a time, up to 15 minutes after its processing.
    public func visible(at now: Instant) -> JSONValue? {
        spreading.last { $0.visibleAt <= now }?.registration ?? visible
    }

    /// Whether messages can be sent to it: of opt-in and opt-out the newer counts.
    public var isReachable: Bool {
        guard isActive, let optedInAt else { return false }
        return optedOutAt.map { optedInAt > $0 } ?? true
    }

    /// A processed registration that becomes visible later.
    public struct Spreading: Codable, Sendable, Equatable {
        /// When it shows.
        public var visibleAt: Instant
        /// The registration's content.
        public var registration: JSONValue
    }

    /// A registration that was received and not processed.
    public struct Refusal: Codable, Sendable, Equatable {
        /// When it came.
        public var at: Instant
        /// The reasons.
        public var reasons: [String]
    }

    /// The changes of one registration.
    public struct Change: Codable, Sendable, Equatable {
        /// When it came.
        public var at: Instant
        /// The keys whose values changed, in the registration's order.
        public var keys: [String]
    }
}

/// One event of a simulated device.
public struct SimulatedEvent: Codable, Sendable, Equatable {
    /// Its id.
    public var id: String
    /// Its name.
    public var name: String
    /// When it happened, as the client wrote it.
    public var date: String
    /// Its attributes.
    public var attributes: JSONValue
    /// The contact that the device belonged to when it came.
    public var contactKey: String?
}

/// A violation of a rule by the client.
public struct Violation: Codable, Sendable, Equatable {
    /// When.
    public var at: Instant
    /// The device, if it is known.
    public var device: String?
    /// The violation, with names and sizes and without values.
    public var what: String
}
