public import PatchbayModel

/// The structure of a file with one JSON object per line: which part of a contact each member fills.
///
/// The bulk path uses this description of the format's ``RecordReader``. The reader itself handles every record with other
/// content, such as a value that it reports a finding about.
public struct MemberLayout: Sendable {
    /// The part of a contact that a member fills.
    public enum Role: Sendable {
        /// An identifier: a text, or a list of one text. An empty text is no identifier.
        case identifier(IdentifierKind)
        /// An attribute, and the type that its texts are read as; nil leaves texts unchanged.
        case attribute(AttributeName, AttributeType?)
        /// An attribute whose integers represent these texts.
        case code(AttributeName, [Int: String])
        /// An attribute that may contain an opt-out. A record with a value other than these words and numbers is left to the
        /// reader.
        case status(AttributeName, neutral: [String])
        /// The time zone.
        case timeZone
        /// A list of tags.
        case tags
        /// A list of subscriptions.
        case subscriptions(Subscriptions)
    }

    /// An object that contains a record as a member.
    public struct Envelope: Sendable {
        /// The members that identify an envelope. One of them is its first member; a record without any of them has no
        /// envelope.
        public var markers: [String]
        /// The member that contains the record.
        public var record: String
        /// The members that contain an identifier if the first marker is present, in the order of the contact's identifiers.
        public var identifiers: [(name: String, kind: IdentifierKind)]
        /// The members that contain the name of a record member, and an identifier of that member's kind.
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

    /// A list of subscription objects.
    public struct Subscriptions: Sendable {
        /// The names of the members that are read.
        public struct Members: Sendable {
            /// The channel, an integer for the topic, and the state as a word or an integer.
            public var channel: String, resource: String, state: String
            /// The address and the service of a push token.
            public var token: String, provider: String
            /// The addresses that a subscription may have, with their kinds. A record with an address other than the contact's
            /// first one of that kind is left to the reader.
            public var addresses: [(name: String, kind: IdentifierKind)]
            /// Members that must be missing, false, zero, null, or empty. A record with another value is left to the reader.
            public var unusual: [String]

            /// Creates the names.
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
        /// The topics by resource; nil means no topic. A record with another resource is left to the reader.
        public var topics: [Int: String?]
        /// The states by word, in lower case, and by number. A record with another state is left to the reader.
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

    /// The envelope of a record, which may be missing.
    public var envelope: Envelope
    /// The members of a record, identifiers in the contact's order. Any other member is an attribute with its name.
    public var members: [(name: String, role: Role)]

    /// Creates a layout.
    public init(_ envelope: Envelope, members: [(name: String, role: Role)]) {
        (self.envelope, self.members) = (envelope, members)
    }
}
