public import PatchbayJSON

/// What a person did with a push notification.
public enum PushInteraction: String, NeutralWord {
    /// It arrived; the app may not even have been running.
    case received
    /// It was tapped.
    case tapped
    /// It was swiped away.
    case dismissed
    /// The app was opened through it.
    case opened
}

/// Something that happened.
public enum TrackingEvent: ScannedValue {
    /// A push notification, with its raw payload: the adapter whose vendor sent it knows it again.
    case push(PushInteraction, payload: JSONObject, actionID: String? = nil)
    /// A message inside the app was seen.
    case messageViewed(messageID: String)
    /// A message inside the app was clicked.
    case messageClicked(messageID: String, buttonID: String? = nil)
    /// The person began to use the app.
    case sessionStarted
    /// The person stopped using the app.
    case sessionEnded
    /// Anything else, by name.
    case custom(name: String, attributes: [AttributeName: AttributeValue] = [:])

    /// What sort of event, as capabilities name it.
    public enum Kind: String, NeutralWord, Codable {
        case push, messageViewed, messageClicked, sessionStarted, sessionEnded, custom
    }

    /// What sort of event.
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
        // By far the most frequent one is not looked up.
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
