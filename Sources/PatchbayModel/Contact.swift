public import PatchbayJSON

/// A person, as a migration moves one: everything that any vendor may hold about them.
public struct Contact: NeutralValue {
    /// The ways to name the person.
    public var identifiers: [Identifier]
    /// What is known about the person.
    public var attributes: [AttributeName: AttributeValue]
    /// Labels.
    public var tags: Set<Tag>
    /// What the person wants to hear, by channel and topic.
    public var subscriptions: [Subscription]
    /// What the person allows.
    public var consents: [Consent]
    /// The person's installations.
    public var devices: [Device]
    /// Locale with an underscore, if known: `fi_FI`.
    public var locale: String?
    /// IANA name of the time zone, if known.
    public var timeZone: String?

    /// A contact.
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

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("identifiers", ifNotEmpty: identifiers)
        writer.member("attributes", ifNotEmpty: attributes)
        writer.member("tags", ifNotEmpty: tags.sorted())
        writer.member("subscriptions", ifNotEmpty: subscriptions)
        writer.member("consents", ifNotEmpty: consents)
        writer.member("devices", ifNotEmpty: devices)
        writer.member("locale", ifPresent: locale)
        writer.member("timeZone", ifPresent: timeZone)
        writer.endObject()
    }
}
