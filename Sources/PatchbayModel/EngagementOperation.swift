public import PatchbayJSON

/// The id of an operation. It is permanently unique, and equal for every repeat of the operation.
public struct OperationID: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The subject whose state an operation changes: the installation on a device, the contact in a back end.
public struct Subject: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Compares scalar by scalar, as the outbox does: texts that look alike may be different contacts.
    public static func == (left: Subject, right: Subject) -> Bool { ScalarString.equal(left.rawValue, right.rawValue) }

    public func hash(into hasher: inout Hasher) { hasher.combine(ScalarString(rawValue)) }
}

/// The id of an adapter, as used in configurations.
public struct AdapterID: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The state of the app.
public enum AppState: String, NeutralWord {
    /// In the foreground and receiving events.
    case active
    /// In the foreground and not receiving events.
    case inactive
    /// Not on screen.
    case background
}

/// An operation of an app or a back end. It is stored unchanged until every vendor that receives it has replied.
public struct EngagementOperation: ObjectValue {
    /// The id, which is permanently unique and equal for every repeat.
    public var id: OperationID
    /// The subject whose state it changes.
    public var subject: Subject
    /// The contact who was logged in at capture, which selects the credential. Nil for the anonymous person.
    public var contact: String?
    /// The group; operations of one group are never separated.
    public var group: String?
    /// The time of capture by the wall clock.
    public var capturedAt: Instant
    /// The state of the app; nil if it is not an app.
    public var appState: AppState?
    /// Options for a single adapter, which the adapter validates.
    public var options: [AdapterID: JSONObject]
    /// The action.
    public var action: Action

    /// Creates an operation.
    @inlinable public init(
        id: OperationID,
        subject: Subject,
        contact: String? = nil,
        group: String? = nil,
        capturedAt: Instant,
        appState: AppState? = nil,
        options: [AdapterID: JSONObject] = [:],
        action: Action
    ) {
        self.id = id
        self.subject = subject
        self.contact = contact
        self.group = group
        self.capturedAt = capturedAt
        self.appState = appState
        self.options = options
        self.action = action
    }

    package enum Member: MemberName, MemberTable {
        case id, subject, contact, group, capturedAt, appState, options, action
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        // Constants rather than members of self: values are copied only when all of them have been read.
        let id: OperationID = try reader.required(Member.id)
        let subject: Subject = try reader.required(Member.subject)
        let contact: String? = try reader.optional(Member.contact)
        let group: String? = try reader.optional(Member.group)
        let capturedAt: Instant = try reader.required(Member.capturedAt)
        let appState: AppState? = try reader.optional(Member.appState)
        let options: [AdapterID: JSONObject] = try reader.dictionary(Member.options)
        let action: Action = try reader.required(Member.action)
        self.init(
            id: id,
            subject: subject,
            contact: contact,
            group: group,
            capturedAt: capturedAt,
            appState: appState,
            options: options,
            action: action
        )
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.id, id)
        writer.member(Member.subject, subject)
        writer.member(Member.contact, ifPresent: contact)
        writer.member(Member.group, ifPresent: group)
        writer.member(Member.capturedAt, capturedAt)
        writer.member(Member.appState, ifPresent: appState)
        writer.member(Member.options, ifNotEmpty: options)
        writer.member(Member.action, action)
    }
}

/// A change of the person who uses the installation.
public struct ContactSwitch: ObjectValue {
    /// The direction of the change.
    public enum Direction: String, NeutralWord {
        /// A known person logs in.
        case logIn
        /// The known person logs out; an anonymous person remains.
        case logOut
    }

    /// The direction of the change.
    public var direction: Direction
    /// The identifiers of the new person; empty for an anonymous person.
    public var identifiers: [Identifier]

    /// Creates a change of person.
    public init(_ direction: Direction, identifiers: [Identifier] = []) {
        (self.direction, self.identifiers) = (direction, identifiers)
    }

    package enum Member: MemberName, MemberTable {
        case direction, identifiers
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        direction = try reader.required(Member.direction)
        identifiers = try reader.list(Member.identifiers)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.direction, direction)
        writer.member(Member.identifiers, ifNotEmpty: identifiers)
    }
}

/// A query to a vendor. Its answer goes to the caller; the query is not stored.
public struct ReadRequest: ObjectValue {
    /// The name of the query. Each adapter documents its own queries.
    public var what: String
    /// The arguments of the query.
    public var arguments: JSONObject

    /// Creates a query.
    public init(_ what: String, arguments: JSONObject = [:]) { (self.what, self.arguments) = (what, arguments) }

    package enum Member: MemberName, MemberTable {
        case what, arguments
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        what = try reader.required(Member.what)
        arguments = try reader.optional(Member.arguments) ?? [:]
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.what, what)
        if !arguments.isEmpty { writer.member(Member.arguments, arguments) }
    }
}

/// The action of an operation.
///
/// Within this package, a new case makes every adapter fail to build until it handles the case. Other packages write `@unknown
/// default`. Large and rare payloads are indirect, so that an operation is cheap to copy.
@nonexhaustive
public enum Action: ObjectValue {
    /// Adds identifiers to the current contact.
    case identify([Identifier])
    /// Switches to another contact.
    case switchContact(ContactSwitch)
    /// Registers the installation with its current properties.
    indirect case registerDevice(Device)
    /// Changes attributes of the current contact.
    case changeAttributes([AttributeName: AttributeChange])
    /// Changes tags of the current contact.
    case changeTags(TagChange)
    /// Changes a subscription of the current contact.
    indirect case changeSubscription(Subscription)
    /// Sets a consent decision of the current contact.
    indirect case setConsent(Consent)
    /// Records an event.
    case track(TrackingEvent)
    /// Unregisters the device from the vendor, so that the person does not get messages from two vendors.
    case unregister
    /// Erases the person's data.
    case erase
    /// Queries the vendor.
    case readBack(ReadRequest)

    /// The kinds of actions, as used in capabilities.
    public enum Kind: String, NeutralWord, Codable {
        case identify, switchContact, registerDevice, changeAttributes, changeTags, changeSubscription, setConsent,
            track
        case unregister, erase, readBack

        /// The name of the kind for display.
        package var title: String { self == .readBack ? "query" : rawValue }

        /// The member with the details, if there is one.
        package var content: Member? {
            switch self {
            case .identify: .identifiers
            case .switchContact: .switch
            case .registerDevice: .device
            case .changeAttributes: .changes
            case .changeTags: .tags
            case .changeSubscription: .subscription
            case .setConsent: .consent
            case .track: .event
            case .readBack: .read
            case .unregister, .erase: nil
            }
        }
    }

    /// The kind of the action.
    public var kind: Kind {
        switch self {
        case .identify: .identify
        case .switchContact: .switchContact
        case .registerDevice: .registerDevice
        case .changeAttributes: .changeAttributes
        case .changeTags: .changeTags
        case .changeSubscription: .changeSubscription
        case .setConsent: .setConsent
        case .track: .track
        case .unregister: .unregister
        case .erase: .erase
        case .readBack: .readBack
        }
    }

    package enum Member: MemberName, MemberTable {
        case kind, identifiers, `switch`, device, changes, tags, subscription, consent, event, read
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        var json = json
        // Accepts the former name of an unregistration, which files may contain that people wrote before it changed.
        if var object = json.object, object[Member.kind.name]?.string == "farewell" {
            object[Member.kind.name] = .string(Kind.unregister.rawValue)
            json = .object(object)
        }
        let kind = try ObjectReader(json, at: path, known: nil).required(Member.kind, as: Kind.self)
        var reader = try ObjectReader(json, at: path, members: [Member.kind, kind.content].compactMap(\.self))
        try self.init(members: &reader)
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        switch try reader.required(Member.kind, usual: Kind.track) {
        case .identify: self = .identify(try reader.required(Member.identifiers))
        case .switchContact: self = .switchContact(try reader.required(Member.switch))
        case .registerDevice: self = .registerDevice(try reader.required(Member.device))
        case .changeAttributes: self = .changeAttributes(try reader.requiredDictionary(Member.changes))
        case .changeTags: self = .changeTags(try reader.required(Member.tags))
        case .changeSubscription: self = .changeSubscription(try reader.required(Member.subscription))
        case .setConsent: self = .setConsent(try reader.required(Member.consent))
        case .track: self = .track(try reader.required(Member.event))
        case .unregister: self = .unregister
        case .erase: self = .erase
        case .readBack: self = .readBack(try reader.required(Member.read))
        }
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.kind, kind)
        switch self {
        case .identify(let identifiers): writer.member(Member.identifiers, identifiers)
        case .switchContact(let change): writer.member(Member.switch, change)
        case .registerDevice(let device): writer.member(Member.device, device)
        case .changeAttributes(let changes): writer.member(Member.changes, changes)
        case .changeTags(let change): writer.member(Member.tags, change)
        case .changeSubscription(let subscription): writer.member(Member.subscription, subscription)
        case .setConsent(let consent): writer.member(Member.consent, consent)
        case .track(let event): writer.member(Member.event, event)
        case .readBack(let request): writer.member(Member.read, request)
        case .unregister, .erase: break
        }
    }
}
