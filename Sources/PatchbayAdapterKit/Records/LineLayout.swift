public import PatchbayJSON
public import PatchbayModel

/// What a value must look like in a field of a file, and how it is written there.
///
/// It says the same as the vendor's own table of fields, as data: bulk work is compiled from it.
public enum RecordForm: Sendable {
    /// The value's own JSON: text as a string, a number as a number, choices as a list.
    case plain
    /// One line of text, whatever the value's type; of a number or a boolean it is noted.
    case text
    /// Two letters of ISO 3166-1, upper case.
    case country
    /// A day or an instant.
    case moment
    /// A day; an instant is for the writer.
    case day
    /// One of these words, each written as its JSON value.
    case words([String: JSONValue])
    /// A whole number from 0, without leading zeros.
    case wholeNumber
    /// A whole number of 64 bits, also one that is written with leading zeros or a sign.
    case integer
    /// An e-mail address: something, one @, something, no white space.
    case email
    /// A list of phone numbers: 5 to 15 digits, perhaps after a plus sign, other signs taken out.
    case phones
}

/// What a file of JSON objects, one a line, has for a contact: the parts in the order in which they are written.
///
/// The layout is the fast way's description of what the format's ``ContactWriter`` does. The writer stays the truth for
/// everything unusual: a record that meets a finding which is not in the layout goes to it.
public struct LineLayout: Sendable {
    /// A field, and what it takes.
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
        /// A member that is the same in every record.
        case constant(String, JSONValue)
        /// The member by which the vendor finds the contact: without such an identifier there is no record. `missing` is then
        /// all that is said, whatever else the contact holds; nil leaves it to the writer.
        case key(String, IdentifierKind, RecordForm, missing: Finding?)
        /// An object with parts of its own.
        case object(String, [Part])
        /// A member for each identifier of these kinds; another kind is left out with a finding, and so is a value of
        /// another form. Of an address that is written without its signs something is said, too.
        case identifiers([IdentifierKind: Field], elsewhere: FindingRow, unfit: FindingRow, respelt: FindingRow)
        /// A member for each attribute, in the order of their neutral names.
        case attributes(Attributes)
        /// The contact's time zone.
        case timeZone(String)
        /// The contact's tags, sorted.
        case tags(String)
        /// What the contact's subscriptions and devices become.
        case subscriptions(Subscriptions)
        /// A part of the contact that has no place, with what is said of it.
        case dropped(Dropped, FindingRow)
    }

    /// Parts of a contact that a format may have no place for.
    public enum Dropped: Sendable {
        /// The locale.
        case locale
        /// All tags; said once.
        case tags
        /// Consents that are known; said for each.
        case consents
    }

    /// How attributes are written.
    public struct Attributes: Sendable {
        /// The fields of attributes by their neutral name; others have a field of that name.
        public var names: [AttributeName: String]
        /// The forms of fields by their name in the file; others are plain.
        public var forms: [String: RecordForm]
        /// Fields that other parts fill.
        public var taken: Set<String>
        /// The types of which every value is noted.
        public var noted: Set<AttributeType>
        /// What is said of an attribute for its type, or because it is written as text.
        public var converted: FindingRow
        /// What is said of an attribute whose value has not the form of its field, and which is left out for that.
        public var unfit: FindingRow

        /// How attributes are written.
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

    /// How subscriptions are written: a list of objects of channel, resource, address and state, one for each address.
    ///
    /// A channel whose messages are denied, and that has an address, is a subscription that says no, where there is none.
    public struct Subscriptions: Sendable {
        /// Where messages of a channel go.
        public enum Address: Sendable {
            /// To the first identifier of a kind, written as a member of that name.
            case identifier(IdentifierKind, String, RecordForm)
            /// To each device with a push token of a known service: members for the vendor's word for service and
            /// platform, and for the token.
            case devices(provider: String, token: String, [Provider])
        }

        /// A vendor's word for a push service on a platform.
        public struct Provider: Sendable {
            /// The platform, lower case.
            public var platform: String
            /// The service.
            public var service: PushToken.Service
            /// The vendor's word.
            public var name: String

            /// Creates a provider.
            public init(platform: String, service: PushToken.Service, name: String) {
                (self.platform, self.service, self.name) = (platform, service, name)
            }
        }

        /// What is said of what can't be written as it is.
        public struct Findings: Sendable {
            /// Of a subscription whose state is unknown.
            public var unknown: FindingRow
            /// Of a subscription that is written as unsubscribed because of a consent.
            public var denied: FindingRow
            /// Of a subscription that no resource is named for, if it is a yes.
            public var resource: FindingRow
            /// Of one that no resource is named for, if it is none.
            public var lostOptOut: FindingRow
            /// Of a subscription without an address.
            public var unreachable: FindingRow
            /// Of a member of a subscription or a device that has no place.
            public var detail: FindingRow
            /// Of a push token that no push subscription speaks for.
            public var token: FindingRow
            /// Of a push token whose service the vendor does not know.
            public var provider: FindingRow

            /// What is said.
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

        /// The list's name.
        public var name: String
        /// The names of channel, resource and state in each element.
        public var members: (channel: String, resource: String, state: String)
        /// The resource of subscriptions without a topic, if any.
        public var resource: Int?
        /// The resources by topic.
        public var topics: [String: Int]
        /// The channels that have addresses.
        public var addresses: [Channel: Address]
        /// What is said.
        public var findings: Findings

        /// How subscriptions are written.
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
