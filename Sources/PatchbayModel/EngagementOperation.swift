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
public struct EngagementOperation: ScannedValue {
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

    private static let known = ["id", "subject", "contact", "group", "capturedAt", "appState", "options", "action"]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: Self.known)
        id = try reader.required("id")
        subject = try reader.required("subject")
        contact = try reader.optional("contact")
        group = try reader.optional("group")
        capturedAt = try reader.required("capturedAt")
        appState = try reader.optional("appState")
        options = try reader.dictionary("options")
        action = try reader.required("action")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        // Constants rather than members of self, because values that may still be discarded are copied only at the end.
        let id: OperationID = try scanner.required("id")
        let subject: Subject = try scanner.required("subject")
        let contact: String? = try scanner.optional("contact")
        let group: String? = try scanner.optional("group")
        let capturedAt: Instant = try scanner.required("capturedAt")
        let appState: AppState? = try scanner.optional("appState")
        let options: [AdapterID: JSONObject] = try scanner.dictionary("options")
        let action: Action = try scanner.required("action")
        try scanner.endObject()
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

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "id", id)
        writer.member(known: "subject", subject)
        writer.member(known: "contact", ifPresent: contact)
        writer.member(known: "group", ifPresent: group)
        writer.member(known: "capturedAt", capturedAt)
        writer.member(known: "appState", ifPresent: appState)
        writer.member(known: "options", ifNotEmpty: options)
        writer.member(known: "action", action)
        writer.endObject()
    }
}

/// A change of the person who uses the installation.
public struct ContactSwitch: ScannedValue {
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

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["direction", "identifiers"])
        direction = try reader.required("direction")
        identifiers = try reader.list("identifiers")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        direction = try scanner.required("direction")
        identifiers = try scanner.list("identifiers")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "direction", direction)
        writer.member(known: "identifiers", ifNotEmpty: identifiers)
        writer.endObject()
    }
}

/// A query to a vendor. Its answer goes to the caller; the query is not stored.
public struct ReadRequest: ScannedValue {
    /// The name of the query. Each adapter documents its own queries.
    public var what: String
    /// The arguments of the query.
    public var arguments: JSONObject

    /// Creates a query.
    public init(_ what: String, arguments: JSONObject = [:]) { (self.what, self.arguments) = (what, arguments) }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["what", "arguments"])
        what = try reader.required("what")
        arguments = try reader.optional("arguments") ?? [:]
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        what = try scanner.required("what")
        arguments = try scanner.optional("arguments") ?? [:]
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "what", what)
        if !arguments.isEmpty { writer.member(known: "arguments", arguments) }
        writer.endObject()
    }
}

/// The action of an operation.
///
/// Within this package, a new case makes every adapter fail to build until it handles the case. Other packages write `@unknown
/// default`. Large and rare payloads are indirect, so that an operation is cheap to copy.
@nonexhaustive
public enum Action: ScannedValue {
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

        /// The name of the member with the details; empty if there is none.
        fileprivate var content: StaticString {
            switch self {
            case .identify: "identifiers"
            case .switchContact: "switch"
            case .registerDevice: "device"
            case .changeAttributes: "changes"
            case .changeTags: "tags"
            case .changeSubscription: "subscription"
            case .setConsent: "consent"
            case .track: "event"
            case .readBack: "read"
            case .unregister, .erase: ""
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

    public init(json: JSONValue, at path: String) throws(ModelError) {
        // Accepts the former name of an unregistration, which files may contain that people wrote before it changed.
        let isFormerName = json["kind"]?.string == "farewell"
        let kind: Kind = isFormerName ? .unregister : try ObjectReader(json, at: path, known: nil).required("kind")
        let content = kind.content.description
        let reader = try ObjectReader(json, at: path, known: ["kind"] + (content.isEmpty ? [] : [content]))
        switch kind {
        case .identify: self = .identify(try reader.required(content))
        case .switchContact: self = .switchContact(try reader.required(content))
        case .registerDevice: self = .registerDevice(try reader.required(content))
        case .changeAttributes:
            guard reader.object[content] != nil else {
                throw ModelError(
                    path: path.dot(content),
                    reason: "is missing",
                    remedy: "Add the attributes that change."
                )
            }
            self = .changeAttributes(try reader.dictionary(content))
        case .changeTags: self = .changeTags(try reader.required(content))
        case .changeSubscription: self = .changeSubscription(try reader.required(content))
        case .setConsent: self = .setConsent(try reader.required(content))
        case .track: self = .track(try reader.required(content))
        case .unregister: self = .unregister
        case .erase: self = .erase
        case .readBack: self = .readBack(try reader.required(content))
        }
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        guard scanner.takesName("kind") else { throw NotPlain() }
        // Fast path: the most frequent kind is not looked up.
        let kind = scanner.takesString("track") ? Kind.track : try Kind(scanning: &scanner)
        let content = kind.content
        switch kind {
        case .identify: self = .identify(try scanner.required(content))
        case .switchContact: self = .switchContact(try scanner.required(content))
        case .registerDevice: self = .registerDevice(try scanner.required(content))
        case .changeAttributes:
            guard scanner.takesName(content) else { throw NotPlain() }
            self = .changeAttributes(try scanner.dictionary())
        case .changeTags: self = .changeTags(try scanner.required(content))
        case .changeSubscription: self = .changeSubscription(try scanner.required(content))
        case .setConsent: self = .setConsent(try scanner.required(content))
        case .track: self = .track(try scanner.required(content))
        case .unregister: self = .unregister
        case .erase: self = .erase
        case .readBack: self = .readBack(try scanner.required(content))
        }
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "kind", kind)
        let content = kind.content
        switch self {
        case .identify(let identifiers): writer.member(known: content, identifiers)
        case .switchContact(let change): writer.member(known: content, change)
        case .registerDevice(let device): writer.member(known: content, device)
        case .changeAttributes(let changes): writer.member(known: content, changes)
        case .changeTags(let change): writer.member(known: content, change)
        case .changeSubscription(let subscription): writer.member(known: content, subscription)
        case .setConsent(let consent): writer.member(known: content, consent)
        case .track(let event): writer.member(known: content, event)
        case .readBack(let request): writer.member(known: content, request)
        case .unregister, .erase: break
        }
        writer.endObject()
    }
}
