public import PatchbayJSON

/// A channel for messages to a person. The set is open.
public struct Channel: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Push notifications.
    public static let push: Channel = "push"
    /// E-mail.
    public static let email: Channel = "email"
    /// Text messages to a mobile number.
    public static let sms: Channel = "sms"
    /// Messages inside the app.
    public static let inApp: Channel = "in_app"
}

/// A person's subscription to messages about a topic on a channel, with its evidence.
public struct Subscription: ObjectValue {
    /// The state of a subscription.
    public enum State: String, NeutralWord, Codable {
        /// The person has opted in.
        case subscribed
        /// The person has opted out.
        case unsubscribed
        /// The person has paused messages without opting out.
        case suspended
        /// The state is unknown; treated as not subscribed.
        case unknown

        /// Whether the person has opted out, permanently or temporarily.
        public var isOptOut: Bool { self == .unsubscribed || self == .suspended }
    }

    /// The channel of the messages.
    public var channel: Channel
    /// The topic of the messages; nil for the channel as a whole.
    public var topic: String?
    /// The state.
    public var state: State
    /// The time of the decision, if known.
    public var changedAt: Timestamp?
    /// The source of the decision, such as a form or an import.
    public var source: String?
    /// The evidence of the decision, such as a record number or the version of a consent text.
    public var evidence: String?
    /// Additional values of this subscription.
    public var fields: [AttributeName: AttributeValue]

    /// Creates a subscription.
    public init(
        channel: Channel,
        topic: String? = nil,
        state: State,
        changedAt: Timestamp? = nil,
        source: String? = nil,
        evidence: String? = nil,
        fields: [AttributeName: AttributeValue] = [:]
    ) {
        (self.channel, self.topic, self.state, self.changedAt) = (channel, topic, state, changedAt)
        (self.source, self.evidence, self.fields) = (source, evidence, fields)
    }

    /// The channel and topic, which identify a subscription.
    public struct Key: Hashable, Comparable, Sendable {
        /// The channel.
        public var channel: Channel
        /// The topic; nil for the channel as a whole.
        public var topic: String?

        /// Creates the key of a channel as a whole, or of a topic on it.
        public init(channel: Channel, topic: String? = nil) { (self.channel, self.topic) = (channel, topic) }

        /// Creates a key from the name used in settings: `email`, or `email.weekly` for a topic.
        public init(settingName: String) {
            let parts = settingName.split(separator: ".", maxSplits: 1).map(String.init)
            self.init(channel: Channel(rawValue: parts.first ?? ""), topic: parts.dropFirst().first)
        }

        /// The name used in settings: `email`, or `email.weekly` for a topic.
        public var settingName: String { topic.map { "\(channel.rawValue).\($0)" } ?? channel.rawValue }

        /// Orders by channel, then by topic; the channel as a whole comes first.
        public static func < (left: Key, right: Key) -> Bool {
            (left.channel, left.topic == nil ? 0 : 1, left.topic ?? "")
                < (right.channel, right.topic == nil ? 0 : 1, right.topic ?? "")
        }
    }

    /// The channel and topic.
    public var key: Key { Key(channel: channel, topic: topic) }

    package enum Member: MemberName, MemberTable {
        case channel, topic, state, changedAt, source, evidence, fields
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        channel = try reader.required(Member.channel)
        topic = try reader.optional(Member.topic)
        state = try reader.required(Member.state)
        changedAt = try reader.optional(Member.changedAt)
        source = try reader.optional(Member.source)
        evidence = try reader.optional(Member.evidence)
        fields = try reader.dictionary(Member.fields)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.channel, channel)
        writer.member(Member.topic, ifPresent: topic)
        writer.member(Member.state, state)
        writer.member(Member.changedAt, ifPresent: changedAt)
        writer.member(Member.source, ifPresent: source)
        writer.member(Member.evidence, ifPresent: evidence)
        writer.member(Member.fields, ifNotEmpty: fields)
    }
}

extension Timestamp: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        guard let text = json.string, let value = Timestamp(text: text) else {
            throw ModelError(
                path: path,
                reason: "is not a point in time",
                remedy: "Write it like \"2031-03-09T07:05:11Z\"."
            )
        }
        self = value
    }
}
