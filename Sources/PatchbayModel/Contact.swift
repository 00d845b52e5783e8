package import PatchbayJSON

/// A person in a migration: all data that a vendor may store about them.
public struct Contact: ObjectValue {
    /// The identifiers of the person.
    public var identifiers: [Identifier]
    /// The attributes of the person.
    public var attributes: [AttributeName: AttributeValue]
    /// The tags of the person.
    public var tags: Set<Tag>
    /// The subscriptions of the person, by channel and topic.
    public var subscriptions: [Subscription]
    /// The consent decisions of the person.
    public var consents: [Consent]
    /// The person's installations.
    public var devices: [Device]
    /// Locale with an underscore, if known: `fi_FI`.
    public var locale: String?
    /// IANA name of the time zone, if known.
    public var timeZone: String?

    /// Creates a contact.
    public init(
        identifiers: [Identifier] = [],
        attributes: [AttributeName: AttributeValue] = [:],
        tags: Set<Tag> = [],
        subscriptions: [Subscription] = [],
        consents: [Consent] = [],
        devices: [Device] = [],
        locale: String? = nil,
        timeZone: String? = nil
    ) {
        (self.identifiers, self.attributes, self.tags) = (identifiers, attributes, tags)
        (self.subscriptions, self.consents, self.devices) = (subscriptions, consents, devices)
        (self.locale, self.timeZone) = (locale, timeZone)
    }

    package enum Member: MemberName, MemberTable {
        case identifiers, attributes, tags, subscriptions, consents, devices, locale, timeZone
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        identifiers = try reader.list(Member.identifiers)
        attributes = try reader.dictionary(Member.attributes)
        tags = Set(try reader.list(Member.tags, of: Tag.self))
        subscriptions = try reader.list(Member.subscriptions)
        consents = try reader.list(Member.consents)
        devices = try reader.list(Member.devices)
        locale = try reader.optional(Member.locale)
        timeZone = try reader.optional(Member.timeZone)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.identifiers, ifNotEmpty: identifiers)
        writer.member(Member.attributes, ifNotEmpty: attributes)
        writer.member(Member.tags, ifNotEmpty: tags.sorted())
        writer.member(Member.subscriptions, ifNotEmpty: subscriptions)
        writer.member(Member.consents, ifNotEmpty: consents)
        writer.member(Member.devices, ifNotEmpty: devices)
        writer.member(Member.locale, ifPresent: locale)
        writer.member(Member.timeZone, ifPresent: timeZone)
    }
}
