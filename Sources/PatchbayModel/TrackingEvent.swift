public import PatchbayJSON

/// An interaction of a person with a push notification.
public enum PushInteraction: String, NeutralWord {
    /// The notification arrived; the app may not have been running.
    case received
    /// The person tapped the notification.
    case tapped
    /// The person dismissed the notification.
    case dismissed
    /// The person opened the app through the notification.
    case opened
}

/// An event.
public enum TrackingEvent: ScannedValue {
    /// A push notification event, with the raw payload, by which the sending vendor's adapter recognizes its own notifications.
    case push(PushInteraction, payload: JSONObject, actionID: String? = nil)
    /// The person viewed an in-app message.
    case messageViewed(messageID: String)
    /// The person clicked an in-app message.
    case messageClicked(messageID: String, buttonID: String? = nil)
    /// The person started to use the app.
    case sessionStarted
    /// The person stopped using the app.
    case sessionEnded
    /// A custom event with a name.
    case custom(name: String, attributes: [AttributeName: AttributeValue] = [:])

    /// The kinds of events, as used in capabilities.
    public enum Kind: String, NeutralWord, Codable {
        case push, messageViewed, messageClicked, sessionStarted, sessionEnded, custom
    }

    /// The kind of the event.
    public var kind: Kind {
        switch self {
        case .push: .push
        case .messageViewed: .messageViewed
        case .messageClicked: .messageClicked
        case .sessionStarted: .sessionStarted
        case .sessionEnded: .sessionEnded
        case .custom: .custom
        }
    }

    private static let members: [Kind: [String]] = [
        .push: ["interaction", "payload", "actionID"],
        .messageViewed: ["messageID"],
        .messageClicked: ["messageID", "buttonID"],
        .custom: ["name", "attributes"],
    ]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let kind: Kind = try ObjectReader(json, at: path, known: nil).required("kind")
        let reader = try ObjectReader(json, at: path, known: ["kind"] + (Self.members[kind] ?? []))
        switch kind {
        case .push:
            self = .push(
                try reader.required("interaction"),
                payload: try reader.required("payload"),
                actionID: try reader.optional("actionID")
            )
        case .messageViewed: self = .messageViewed(messageID: try reader.required("messageID"))
        case .messageClicked:
            self = .messageClicked(
                messageID: try reader.required("messageID"),
                buttonID: try reader.optional("buttonID")
            )
        case .sessionStarted: self = .sessionStarted
        case .sessionEnded: self = .sessionEnded
        case .custom:
            self = .custom(name: try reader.required("name"), attributes: try reader.dictionary("attributes"))
        }
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        guard scanner.takesName("kind") else { throw NotPlain() }
        // Fast path: the most frequent kind is not looked up.
        let kind = scanner.takesString("custom") ? Kind.custom : try Kind(scanning: &scanner)
        switch kind {
        case .push:
            self = .push(
                try scanner.required("interaction"),
                payload: try scanner.required("payload"),
                actionID: try scanner.optional("actionID")
            )
        case .messageViewed: self = .messageViewed(messageID: try scanner.required("messageID"))
        case .messageClicked:
            self = .messageClicked(
                messageID: try scanner.required("messageID"),
                buttonID: try scanner.optional("buttonID")
            )
        case .sessionStarted: self = .sessionStarted
        case .sessionEnded: self = .sessionEnded
        case .custom:
            self = .custom(name: try scanner.required("name"), attributes: try scanner.dictionary("attributes"))
        }
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "kind", kind)
        switch self {
        case .push(let interaction, let payload, let actionID):
            writer.member(known: "interaction", interaction)
            writer.member(known: "payload", payload)
            writer.member(known: "actionID", ifPresent: actionID)
        case .messageViewed(let messageID): writer.member(known: "messageID", messageID)
        case .messageClicked(let messageID, let buttonID):
            writer.member(known: "messageID", messageID)
            writer.member(known: "buttonID", ifPresent: buttonID)
        case .sessionStarted, .sessionEnded: break
        case .custom(let name, let attributes):
            writer.member(known: "name", name)
            writer.member(known: "attributes", ifNotEmpty: attributes)
        }
        writer.endObject()
    }
}
