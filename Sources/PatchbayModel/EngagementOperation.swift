public import PatchbayJSON

/// The id of an operation: unique for ever, and the same on every repeat.
public struct OperationID: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// Whose state an operation changes: the installation on a device, the contact in a back end.
public struct Subject: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The id of an adapter, as configurations name it.
public struct AdapterID: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// What the app was doing.
public enum AppState: String, NeutralWord {
    /// In the foreground, receiving events.
    case active
    /// In the foreground, not receiving events.
    case inactive
    /// Not on the screen.
    case background
}

/// One thing that an app or a back end says. It is stored as it is until every vendor that should hear it has answered.
public struct EngagementOperation: NeutralValue {
    /// Unique for ever, and the same on every repeat.
    public var id: OperationID
    /// Whose state it changes.
    public var subject: Subject
    /// Who was logged in when it was captured; selects the credential. Nil is the anonymous person.
    public var contact: String?
    /// Operations of one group are never cut apart.
    public var group: String?
    /// When it was captured, by the wall clock.
    public var capturedAt: Instant
    /// What the app was doing, if it is an app.
    public var appState: AppState?
    /// Words for one adapter alone, which it checks itself.
    public var options: [AdapterID: JSONObject]
    /// What is said.
    public var action: Action

    /// An operation.
    public init(
        id: OperationID,
        subject: Subject,
        contact: String? = nil,
        group: String? = nil,
        capturedAt: Instant,
        appState: AppState? = nil,
        options: [AdapterID: JSONObject] = [:],
        action: Action
    ) {
        (self.id, self.subject, self.contact, self.group) = (id, subject, contact, group)
        (self.capturedAt, self.appState, self.options, self.action) = (capturedAt, appState, options, action)
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

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("subject", subject)
        writer.member("contact", ifPresent: contact)
        writer.member("group", ifPresent: group)
        writer.member("capturedAt", capturedAt)
        writer.member("appState", ifPresent: appState)
        writer.member("options", ifNotEmpty: options)
        writer.member("action", action)
        writer.endObject()
    }
}

/// A change of the person who uses the installation.
public struct ContactSwitch: NeutralValue {
    /// Which way.
    public enum Direction: String, NeutralWord {
        /// A known person comes.
        case logIn
        /// The known person leaves; an anonymous one stays.
        case logOut
    }

    /// Which way.
    public var direction: Direction
    /// The identifiers of the person who is there from now on; empty for an anonymous one.
    public var identifiers: [Identifier]

    /// A change of person.
    public init(_ direction: Direction, identifiers: [Identifier] = []) {
        (self.direction, self.identifiers) = (direction, identifiers)
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["direction", "identifiers"])
        direction = try reader.required("direction")
        identifiers = try reader.list("identifiers")
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("direction", direction)
        writer.member("identifiers", ifNotEmpty: identifiers)
        writer.endObject()
    }
}

/// A question to a vendor, answered to the caller and not stored.
public struct ReadRequest: NeutralValue {
    /// What is asked; each adapter lists its own words.
    public var what: String
    /// Details of the question.
    public var arguments: JSONObject

    /// A question.
    public init(_ what: String, arguments: JSONObject = [:]) { (self.what, self.arguments) = (what, arguments) }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["what", "arguments"])
        what = try reader.required("what")
        arguments = try reader.optional("arguments") ?? [:]
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("what", what)
        if !arguments.isEmpty { writer.member("arguments", arguments) }
        writer.endObject()
    }
}

/// What an operation says.
///
/// Inside this package a new case stops every adapter's build until each decides; outside, write `@unknown default`.
@nonexhaustive
public enum Action: NeutralValue {
    /// These identifiers belong to the person who is there.
    case identify([Identifier])
    /// Another person is there.
    case switchContact(ContactSwitch)
    /// The installation is like this now.
    case registerDevice(Device)
    /// Attributes change.
    case changeAttributes([AttributeName: AttributeChange])
    /// Tags change.
    case changeTags(TagChange)
    /// The person wants to hear, or not.
    case changeSubscription(Subscription)
    /// The person allows, or not.
    case setConsent(Consent)
    /// Something happened.
    case track(TrackingEvent)
    /// The vendor is left: unregister, so that nobody is reached twice.
    case farewell
    /// Forget the person.
    case erase
    /// Ask the vendor.
    case readBack(ReadRequest)

    /// What sort of operation, as capabilities name it.
    public enum Kind: String, NeutralWord, Codable {
        case identify, switchContact, registerDevice, changeAttributes, changeTags, changeSubscription, setConsent,
            track
        case farewell, erase, readBack
    }

    /// What sort of operation.
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
        case .farewell: .farewell
        case .erase: .erase
        case .readBack: .readBack
        }
    }

    private static let content: [Kind: String] = [
        .identify: "identifiers", .switchContact: "switch", .registerDevice: "device", .changeAttributes: "changes",
        .changeTags: "tags", .changeSubscription: "subscription", .setConsent: "consent", .track: "event",
        .readBack: "read",
    ]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let kind: Kind = try ObjectReader(json, at: path, known: nil).required("kind")
        let name = Self.content[kind]
        let reader = try ObjectReader(json, at: path, known: ["kind"] + (name.map { [$0] } ?? []))
        let content = name ?? ""
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
        case .farewell: self = .farewell
        case .erase: self = .erase
        case .readBack: self = .readBack(try reader.required(content))
        }
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("kind", kind)
        let content = Self.content[kind] ?? ""
        switch self {
        case .identify(let identifiers): writer.member(content, identifiers)
        case .switchContact(let change): writer.member(content, change)
        case .registerDevice(let device): writer.member(content, device)
        case .changeAttributes(let changes): writer.member(content, changes)
        case .changeTags(let change): writer.member(content, change)
        case .changeSubscription(let subscription): writer.member(content, subscription)
        case .setConsent(let consent): writer.member(content, consent)
        case .track(let event): writer.member(content, event)
        case .readBack(let request): writer.member(content, request)
        case .farewell, .erase: break
        }
        writer.endObject()
    }
}
