public import PatchbayModel

/// What a file of JSON objects, one a line, holds of contacts: what each member of a record fills.
///
/// It describes what the format's ``RecordReader`` reads, for bulk work. A record that holds anything else, such as a value
/// that the reader reports a finding about, is read by the reader itself.
public struct MemberLayout: Sendable {
    /// What a member fills.
    public enum Role: Sendable {
        /// An identifier: a text, or a list of one text. An empty text is no identifier.
        case identifier(IdentifierKind)
        /// An attribute, and the type that its texts are read as; nil leaves them as they are.
        case attribute(AttributeName, AttributeType?)
        /// An attribute whose whole numbers stand for these texts.
        case code(AttributeName, [Int: String])
        /// An attribute that may be an opt-out: with another value than these words and numbers a record is for the reader.
        case status(AttributeName, neutral: [String])
        /// The time zone.
        case timeZone
        /// A list of tags.
        case tags
        /// A list of subscriptions.
        case subscriptions(Subscriptions)
    }

    /// An object around a record, which has the record as a member.
    public struct Envelope: Sendable {
        /// The members that mark an envelope, one of them as its first member; a record without any of them has no envelope.
        public var markers: [String]
        /// The member that holds the record.
        public var record: String
        /// The members that hold an identifier if the first marker is there, in the order in which a contact has them.
        public var identifiers: [(name: String, kind: IdentifierKind)]
        /// The members that hold the name of a member of the record, and an identifier of the kind that this member has.
        public var custom: (name: String, value: String)

        /// Creates an envelope.
        public init(
            markers: [String],
            record: String,
            identifiers: [(name: String, kind: IdentifierKind)],
            custom: (name: String, value: String)
        ) {
            (self.markers, self.record) = (markers, record)
            (self.identifiers, self.custom) = (identifiers, custom)
        }
    }

    /// A list of subscriptions, which are objects.
    public struct Subscriptions: Sendable {
        /// The names of the members that are read.
        public struct Members: Sendable {
            /// The channel, a whole number for the topic, and the state as a word or a whole number.
            public var channel: String, resource: String, state: String
            /// The address and the service of a push token.
            public var token: String, provider: String
            /// The address that a subscription is for, by its kind. A record with an address other than the contact's first of
            /// that kind is for the reader.
            public var addresses: [(name: String, kind: IdentifierKind)]
            /// Members that must be absent, false, zero, null or without members; a record with another value is for the reader.
            public var unusual: [String]

            /// Names.
            public init(
                channel: String,
                resource: String,
                state: String,
                token: String,
                provider: String,
                addresses: [(name: String, kind: IdentifierKind)] = [],
                unusual: [String]
            ) {
                (self.channel, self.resource, self.state) = (channel, resource, state)
                (self.token, self.provider) = (token, provider)
                (self.addresses, self.unusual) = (addresses, unusual)
            }
        }

        /// The names of the members.
        public var members: Members
        /// The topics by resource; nil is no topic. A record with another resource is for the reader.
        public var topics: [Int: String?]
        /// The states by their words in lower case and by their numbers. A record with another state is for the reader.
        public var states: [String: Subscription.State]
        /// The push services by provider.
        public var providers: [String: PushToken.Service]

        /// Creates a list.
        public init(
            _ members: Members,
            topics: [Int: String?],
            states: [String: Subscription.State],
            providers: [String: PushToken.Service]
        ) {
            (self.members, self.topics, self.states, self.providers) = (members, topics, states, providers)
        }
    }

    /// The object around a record, if there may be one.
    public var envelope: Envelope
    /// The members of a record, identifiers in the order in which a contact has them. Any other member is an attribute of that name.
    public var members: [(name: String, role: Role)]

    /// Creates a layout.
    public init(_ envelope: Envelope, members: [(name: String, role: Role)]) {
        (self.envelope, self.members) = (envelope, members)
    }
}
