public import PatchbayJSON

/// What data may be used for: an open set.
public struct Purpose: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Recording what a person does.
    public static let tracking: Purpose = "tracking"
    /// Sending messages.
    public static let messaging: Purpose = "messaging"
    /// Keeping a profile: identifiers, attributes, tags.
    public static let profile: Purpose = "profile"
}

/// What a person allows, per purpose and, where it differs, channel.
public struct Consent: ScannedValue {
    /// The answer. Ordered from most to least protective, so that merging two sources is `min`.
    public enum State: String, NeutralWord, Comparable, Codable {
        /// The person said no.
        case denied
        /// Nobody asked, or nobody knows.
        case unknown
        /// The person said yes.
        case granted

        /// The more protective first.
        public static func < (left: State, right: State) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .denied: 0
            case .unknown: 1
            case .granted: 2
            }
        }
    }

    /// What the data may be used for.
    public var purpose: Purpose
    /// The channel it is about; nil is every channel.
    public var channel: Channel?
    /// The answer.
    public var state: State
    /// When the person said so, if known.
    public var changedAt: Timestamp?

    /// Creates a consent.
    public init(purpose: Purpose, channel: Channel? = nil, state: State, changedAt: Timestamp? = nil) {
        (self.purpose, self.channel, self.state, self.changedAt) = (purpose, channel, state, changedAt)
    }

    /// What it is about.
    public var scope: Scope { Scope(purpose, channel: channel) }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["purpose", "channel", "state", "changedAt"])
        purpose = try reader.required("purpose")
        channel = try reader.optional("channel")
        state = try reader.required("state")
        changedAt = try reader.optional("changedAt")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        purpose = try scanner.required("purpose")
        channel = try scanner.optional("channel")
        state = try scanner.required("state")
        changedAt = try scanner.optional("changedAt")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "purpose", purpose)
        writer.member(known: "channel", ifPresent: channel)
        writer.member(known: "state", state)
        writer.member(known: "changedAt", ifPresent: changedAt)
        writer.endObject()
    }
}
