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

    /// Scalar by scalar, as the outbox keeps them: what looks alike may be another contact.
    public static func == (left: Subject, right: Subject) -> Bool { ScalarString.equal(left.rawValue, right.rawValue) }

    public func hash(into hasher: inout Hasher) { hasher.combine(ScalarString(rawValue)) }
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
public struct EngagementOperation: ScannedValue {
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
        // Constants rather than members of self: what can still be thrown away is copied at the end.
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

/// A question to a vendor, answered to the caller and not stored.
public struct ReadRequest: ScannedValue {
    /// What is asked; each adapter lists its own words.
    public var what: String
    /// Details of the question.
    public var arguments: JSONObject

    /// Creates a question.
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

/// What an operation says.
///
/// Inside this package a new case stops every adapter's build until each decides; outside, write `@unknown default`.
/// What is large and rare stands in a box of its own, so that an operation is cheap to copy.
@nonexhaustive
public enum Action: ScannedValue {
    /// These identifiers belong to the person who is there.
    case identify([Identifier])
    /// Another person is there.
    case switchContact(ContactSwitch)
    /// The installation is like this now.
    indirect case registerDevice(Device)
    /// Attributes change.
    case changeAttributes([AttributeName: AttributeChange])
    /// Tags change.
    case changeTags(TagChange)
    /// The person wants to hear, or not.
    indirect case changeSubscription(Subscription)
    /// The person allows, or not.
    indirect case setConsent(Consent)
    /// Something happened.
    case track(TrackingEvent)
    /// The vendor is left: unregister, so that nobody is reached twice.
    case unregister
    /// Forget the person.
    case erase
    /// Ask the vendor.
    case readBack(ReadRequest)

    /// What sort of operation, as capabilities name it.
    public enum Kind: String, NeutralWord, Codable {
        case identify, switchContact, registerDevice, changeAttributes, changeTags, changeSubscription, setConsent,
            track
        case unregister, erase, readBack

        /// The kind in a text for people.
        package var title: String {
            switch self {
            case .readBack: "query"
            case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags, .changeSubscription,
                .setConsent, .track, .erase:
                rawValue
            default: "unregister"
            }
        }

        /// The name of the member that says more; empty if there is none.
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
        case .unregister: .unregister
        case .erase: .erase
        case .readBack: .readBack
        }
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let kind: Kind = try ObjectReader(json, at: path, known: nil).required("kind")
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
        // By far the most frequent one is not looked up.
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
