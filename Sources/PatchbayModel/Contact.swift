public import PatchbayJSON

/// A person in a migration: all data that a vendor may store about them.
public struct Contact: ScannedValue {
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

    private static let known = [
        "identifiers", "attributes", "tags", "subscriptions", "consents", "devices", "locale", "timeZone",
    ]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: Self.known)
        identifiers = try reader.list("identifiers")
        attributes = try reader.dictionary("attributes")
        tags = Set(try reader.list("tags", of: Tag.self))
        subscriptions = try reader.list("subscriptions")
        consents = try reader.list("consents")
        devices = try reader.list("devices")
        locale = try reader.optional("locale")
        timeZone = try reader.optional("timeZone")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        identifiers = try scanner.list("identifiers")
        attributes = try scanner.dictionary("attributes")
        tags = Set(try scanner.list("tags", of: Tag.self))
        subscriptions = try scanner.list("subscriptions")
        consents = try scanner.list("consents")
        devices = try scanner.list("devices")
        locale = try scanner.optional("locale")
        timeZone = try scanner.optional("timeZone")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "identifiers", ifNotEmpty: identifiers)
        writer.member(known: "attributes", ifNotEmpty: attributes)
        writer.member(known: "tags", ifNotEmpty: tags.sorted())
        writer.member(known: "subscriptions", ifNotEmpty: subscriptions)
        writer.member(known: "consents", ifNotEmpty: consents)
        writer.member(known: "devices", ifNotEmpty: devices)
        writer.member(known: "locale", ifPresent: locale)
        writer.member(known: "timeZone", ifPresent: timeZone)
        writer.endObject()
    }
}
