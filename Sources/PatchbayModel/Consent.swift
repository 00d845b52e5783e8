package import PatchbayJSON

/// A purpose for which data may be used. The set is open.
public struct Purpose: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Recording a person's behavior.
    public static let tracking: Purpose = "tracking"
    /// Sending messages.
    public static let messaging: Purpose = "messaging"
    /// Storing a profile: identifiers, attributes, tags.
    public static let profile: Purpose = "profile"
}

/// A person's consent decision for a purpose, optionally for one channel only.
public struct Consent: ObjectValue {
    /// The state of a consent, ordered from most to least protective, so that `min` merges two sources.
    public enum State: String, NeutralWord, Comparable, Codable {
        /// The person has denied consent.
        case denied
        /// The decision is unknown, or the person was not asked.
        case unknown
        /// The person has given consent.
        case granted

        /// Orders more protective states first.
        public static func < (left: State, right: State) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .denied: 0
            case .unknown: 1
            case .granted: 2
            }
        }
    }

    /// The purpose for which the data may be used.
    public var purpose: Purpose
    /// The channel that the decision applies to; nil for every channel.
    public var channel: Channel?
    /// The decision.
    public var state: State
    /// The time of the decision, if known.
    public var changedAt: Timestamp?

    /// Creates a consent.
    public init(purpose: Purpose, channel: Channel? = nil, state: State, changedAt: Timestamp? = nil) {
        (self.purpose, self.channel, self.state, self.changedAt) = (purpose, channel, state, changedAt)
    }

    /// The purpose and channel that the decision applies to.
    public var scope: Scope { Scope(purpose, channel: channel) }

    package enum Member: MemberName, MemberTable {
        case purpose, channel, state, changedAt
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        purpose = try reader.required(Member.purpose)
        channel = try reader.optional(Member.channel)
        state = try reader.required(Member.state)
        changedAt = try reader.optional(Member.changedAt)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.purpose, purpose)
        writer.member(Member.channel, ifPresent: channel)
        writer.member(Member.state, state)
        writer.member(Member.changedAt, ifPresent: changedAt)
    }
}
