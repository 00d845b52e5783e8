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
public enum TrackingEvent: ObjectValue {
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

    package enum Member: MemberName, MemberTable {
        case kind, interaction, payload, actionID, messageID, buttonID, name, attributes
    }

    /// The members of each kind, besides the kind.
    package static func members(of kind: Kind) -> [Member] {
        switch kind {
        case .push: [.interaction, .payload, .actionID]
        case .messageViewed: [.messageID]
        case .messageClicked: [.messageID, .buttonID]
        case .sessionStarted, .sessionEnded: []
        case .custom: [.name, .attributes]
        }
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let kind = try ObjectReader(json, at: path, known: nil).required(Member.kind, as: Kind.self)
        var reader = try ObjectReader(json, at: path, members: [.kind] + Self.members(of: kind))
        try self.init(members: &reader)
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        switch try reader.required(Member.kind, usual: Kind.custom) {
        case .push:
            self = .push(
                try reader.required(Member.interaction),
                payload: try reader.required(Member.payload),
                actionID: try reader.optional(Member.actionID)
            )
        case .messageViewed: self = .messageViewed(messageID: try reader.required(Member.messageID))
        case .messageClicked:
            self = .messageClicked(
                messageID: try reader.required(Member.messageID),
                buttonID: try reader.optional(Member.buttonID)
            )
        case .sessionStarted: self = .sessionStarted
        case .sessionEnded: self = .sessionEnded
        case .custom:
            self = .custom(
                name: try reader.required(Member.name),
                attributes: try reader.dictionary(Member.attributes)
            )
        }
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.kind, kind)
        switch self {
        case .push(let interaction, let payload, let actionID):
            writer.member(Member.interaction, interaction)
            writer.member(Member.payload, payload)
            writer.member(Member.actionID, ifPresent: actionID)
        case .messageViewed(let messageID): writer.member(Member.messageID, messageID)
        case .messageClicked(let messageID, let buttonID):
            writer.member(Member.messageID, messageID)
            writer.member(Member.buttonID, ifPresent: buttonID)
        case .sessionStarted, .sessionEnded: break
        case .custom(let name, let attributes):
            writer.member(Member.name, name)
            writer.member(Member.attributes, ifNotEmpty: attributes)
        }
    }
}
