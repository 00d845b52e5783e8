public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The required form of a value in a field of a file, and how it is written there.
///
/// It states the same as the vendor's own table of fields, as data from which the bulk path is compiled.
public enum RecordForm: Sendable {
    /// The value's own JSON: text as a string, a number as a number, choices as a list.
    case plain
    /// One line of text, for values of any type. A number or a boolean is reported.
    case text
    /// Two letters of ISO 3166-1, upper case.
    case country
    /// A day or an instant.
    case moment
    /// A day. An instant is left to the writer.
    case day
    /// One of these words, each written as its JSON value.
    case words([String: JSONValue])
    /// A non-negative integer without leading zeros.
    case wholeNumber
    /// A 64-bit integer, also with leading zeros or a sign.
    case integer
    /// An e-mail address: something, one @, something, no white space.
    case email
    /// A list of phone numbers: 5 to 15 digits, optionally after a plus sign. Other characters are removed.
    case phones
}

/// The structure of a file with one JSON object per line: the parts of an object in the order in which they are written.
///
/// The bulk path uses this description of the format's ``ContactWriter``, whose results remain authoritative. The writer
/// handles every record with a finding that is not in the layout.
public struct LineLayout: Sendable {
    /// A field and the form of its values.
    public struct Field: Sendable {
        /// The field's name in the file.
        public var name: String
        /// The form of its values.
        public var form: RecordForm

        /// Creates a field.
        public init(_ name: String, _ form: RecordForm) { (self.name, self.form) = (name, form) }
    }

    /// A part of the object.
    public indirect enum Part: Sendable {
        /// A member with the same value in every record.
        case constant(String, JSONValue)
        /// The member by which the vendor identifies the contact. A contact without such an identifier is not written.
        /// `missing` is then the only finding, regardless of the rest of the contact; nil leaves the contact to the writer.
        case key(String, IdentifierKind, RecordForm, missing: Finding?)
        /// An object with its own parts.
        case object(String, [Part])
        /// A member for each identifier of these kinds. Other kinds and invalid values are omitted with a finding. An address
        /// that is written without its other characters is reported too.
        case identifiers([IdentifierKind: Field], elsewhere: FindingRow, unfit: FindingRow, respelt: FindingRow)
        /// A member for each attribute, ordered by neutral name.
        case attributes(Attributes)
        /// The contact's time zone.
        case timeZone(String)
        /// The contact's tags, sorted.
        case tags(String)
        /// The list of the contact's subscriptions and devices.
        case subscriptions(Subscriptions)
        /// A part of the contact that the format cannot represent, with the finding to report.
        case dropped(Dropped, FindingRow)
    }

    /// Parts of a contact that a format may not be able to represent.
    public enum Dropped: Sendable {
        /// The locale.
        case locale
        /// All tags; reported once.
        case tags
        /// Consents with a known state; each is reported.
        case consents
    }

    /// The form of attributes.
    public struct Attributes: Sendable {
        /// The fields of attributes by neutral name. The others have a field with the attribute's name.
        public var names: [AttributeName: String]
        /// The forms of fields by their name in the file. The others are plain.
        public var forms: [String: RecordForm]
        /// The fields that other parts fill.
        public var taken: Set<String>
        /// The types whose values are always reported.
        public var noted: Set<AttributeType>
        /// The finding for an attribute that is reported for its type, or because it is written as text.
        public var converted: FindingRow
        /// The finding for an attribute that is omitted because its value does not have the form of its field.
        public var unfit: FindingRow

        /// Creates the form of attributes.
        public init(
            names: [AttributeName: String],
            forms: [String: RecordForm],
            taken: Set<String>,
            noted: Set<AttributeType>,
            converted: FindingRow,
            unfit: FindingRow
        ) {
            (self.names, self.forms, self.taken) = (names, forms, taken)
            (self.noted, self.converted, self.unfit) = (noted, converted, unfit)
        }
    }

    /// The form of subscriptions: a list of objects with channel, resource, address, and state, one for each address.
    ///
    /// If messages on a channel are denied and the contact has an address but no subscription there, an opt-out is written.
    public struct Subscriptions: Sendable {
        /// The addresses of a channel.
        public enum Address: Sendable {
            /// The first identifier of a kind, written as a member with this name.
            case identifier(IdentifierKind, String, RecordForm)
            /// Each device with a push token of a known service, with members for the vendor's name of service and platform,
            /// and for the token.
            case devices(provider: String, token: String, [Provider])
        }

        /// A vendor's name for a push service on a platform.
        public struct Provider: Sendable {
            /// The platform in lower case.
            public var platform: String
            /// The push service.
            public var service: PushToken.Service
            /// The vendor's name.
            public var name: String

            /// Creates a provider.
            public init(platform: String, service: PushToken.Service, name: String) {
                (self.platform, self.service, self.name) = (platform, service, name)
            }
        }

        /// The findings about parts that cannot be written unchanged.
        public struct Findings: Sendable {
            /// A subscription with an unknown state.
            public var unknown: FindingRow
            /// A subscription that is written as unsubscribed because of a consent.
            public var denied: FindingRow
            /// An opt-in without a resource.
            public var resource: FindingRow
            /// A subscription without a resource that is not an opt-in.
            public var lostOptOut: FindingRow
            /// A subscription without an address.
            public var unreachable: FindingRow
            /// A member of a subscription or a device that cannot be represented.
            public var detail: FindingRow
            /// A push token without a push subscription.
            public var token: FindingRow
            /// A push token of a service that the vendor does not support.
            public var provider: FindingRow

            /// Creates the findings.
            public init(
                unknown: FindingRow,
                denied: FindingRow,
                resource: FindingRow,
                lostOptOut: FindingRow,
                unreachable: FindingRow,
                detail: FindingRow,
                token: FindingRow,
                provider: FindingRow
            ) {
                (self.unknown, self.denied, self.unreachable) = (unknown, denied, unreachable)
                (self.resource, self.lostOptOut) = (resource, lostOptOut)
                (self.detail, self.token, self.provider) = (detail, token, provider)
            }
        }

        /// The name of the list.
        public var name: String
        /// The names of the members for channel, resource, and state.
        public var members: (channel: String, resource: String, state: String)
        /// The resource of subscriptions without a topic; nil if there is none.
        public var resource: Int?
        /// The resources by topic.
        public var topics: [String: Int]
        /// The addresses by channel.
        public var addresses: [Channel: Address]
        /// The findings about subscriptions.
        public var findings: Findings

        /// Creates the form of subscriptions.
        public init(
            name: String,
            members: (channel: String, resource: String, state: String),
            resource: Int?,
            topics: [String: Int],
            addresses: [Channel: Address],
            findings: Findings
        ) {
            (self.name, self.members, self.resource, self.topics) = (name, members, resource, topics)
            (self.addresses, self.findings) = (addresses, findings)
        }
    }

    /// The parts, in order.
    public var parts: [Part]

    /// Creates a layout.
    public init(_ parts: [Part]) { self.parts = parts }
}
