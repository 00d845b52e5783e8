public import PatchbayAdapterKit
import PatchbayModel

extension SalesforceDevice {
    public static let descriptor = AdapterDescriptor(
        id: "salesforce",
        title: "Salesforce Marketing Cloud Engagement (MobilePush)",
        delivery: .init(window: 4096),
        capabilities: capabilities,
        tables: .init(
            rules: SalesforceRules.all,
            findings: FindingRow.salesforce,
            reasonsOfState: [
                FindingRow.contactKeyNotCleared, .contactKeyNotGiven, .contactKeyBlank, .contactFormer,
            ].map(\.code),
            replies: .salesforce,
            fields: [RegistrationRecord.table.summary, EventRecord.table.summary],
            limits: [
                VendorLimit("registrations", "one per 60 s and device", rule: .salesforce("S3")),
                VendorLimit("effect of a registration", "up to 15 minutes later", rule: .salesforce("S13")),
                VendorLimit("delay after failures", "60 s doubling to 86,400 s", rule: .salesforce("S8")),
                VendorLimit("contact key", "254 characters usual, none published for devices", rule: .salesforce("K8")),
                VendorLimit("attribute name", "128 UTF-16 units", rule: .salesforce("A4")),
                VendorLimit("attribute names reserved", "\(AttributeRules.reserved.count)", rule: .salesforce("A3")),
                VendorLimit("attribute value", "none published; the account's column has a size of its own"),
                VendorLimit("attributes and tags", "none published"),
                VendorLimit("events in a request", "\(EventRules.batchLimit)", rule: .salesforce("E11")),
            ]
        )
    )

    private static let capabilities: Capabilities = [
        .operation(.identify): .native(note: "one identifier becomes the contact key"),
        .operation(.switchContact): .native(),
        .contact(.logIn): .native(note: "moves the device to another contact key"),
        .contact(.logOut): .unsupported(reason: "a contact key can be changed, never cleared"),
        .operation(.registerDevice): .native(),
        .operation(.changeAttributes): .native(note: "per device, not per contact"),
        .operation(.changeTags): .native(note: "per device, not per contact"),
        .operation(.changeSubscription): .native(),
        .operation(.setConsent): .emulated(
            how: "push switched on or off, where it is about messaging on push",
            cost: "the vendor has no record of the consent"
        ),
        .operation(.track): .native(note: "custom events"),
        .operation(.unregister): .emulated(how: "push switched off", cost: "the vendor keeps the device's record"),
        .operation(.erase): .emulated(
            how: "attributes emptied, tags removed, push off",
            cost:
                "delete the contact by its contact key in Contact Builder, or let a back end use the contacts API"
        ),
        .operation(.readBack): .unsupported(reason: "data flows only from the device to the vendor"),
        .identifier(.external): .native(note: "the contact key, unless contactKeyIdentifier names another kind"),
        .identifier(.email): .unsupported(reason: "unless contactKeyIdentifier is email"),
        .identifier(.phone): .unsupported(reason: "unless contactKeyIdentifier is phone"),
        .attribute(.string): .native(note: "white space around it is removed"),
        .attribute(.integer): .emulated(how: "decimal digits", cost: "stored as text"),
        .attribute(.decimal): .emulated(how: "decimal digits as written", cost: "stored as text"),
        .attribute(.boolean): .emulated(how: "true or false", cost: "stored as text"),
        .attribute(.date): .emulated(how: "YYYY-MM-DD", cost: "stored as text"),
        .attribute(.time): .emulated(how: "HH:MM", cost: "stored as text"),
        .attribute(.timestamp): .emulated(how: "RFC 3339 in UTC", cost: "stored as text"),
        .attribute(.country): .emulated(how: "two letters", cost: "stored as text"),
        .attribute(.choices): .emulated(how: "joined by semicolons", cost: "one text, no semicolon inside a word"),
        .attribute(.list): .unsupported(reason: "an attribute is one text"),
        .attribute(.object): .unsupported(reason: "an attribute is one text"),
        .attributeUnset: .emulated(
            how: "set to empty text, or left out with unset: stopSending",
            cost: "the attribute stays, empty or with its last value"
        ),
        .attributeIncrement: .unsupported(reason: "an attribute can only be set or cleared"),
        .attributeAppend: .unsupported(reason: "an attribute can only be set or cleared"),
        .tags: .native(),
        .subscription(.push): .native(note: "suspended and unknown count as opted out"),
        .topics(.push): .emulated(how: "a tag of the topic's name", cost: "the vendor only knows it as a tag"),
        .subscription(.email): .unsupported(reason: "the device API knows only push"),
        .topics(.email): .unsupported(reason: "the device API knows only push"),
        .subscription(.sms): .unsupported(reason: "the device API knows only push"),
        .topics(.sms): .unsupported(reason: "the device API knows only push"),
        .subscription(.inApp): .unsupported(reason: "the device API knows only push"),
        .topics(.inApp): .unsupported(reason: "the device API knows only push"),
        .event(.custom): .native(note: "the account must define the event; inner keys are inferred"),
        .event(.push): .unsupported(reason: "the vendor's codes are not published"),
        .event(.messageViewed): .unsupported(reason: "the vendor's codes are not published"),
        .event(.messageClicked): .unsupported(reason: "the vendor's codes are not published"),
        .event(.sessionStarted): .unsupported(reason: "the vendor's codes are not published"),
        .event(.sessionEnded): .unsupported(reason: "the vendor's codes are not published"),
        .push(.received): .unsupported(reason: "the vendor's codes are not published"),
        .push(.tapped): .unsupported(reason: "the vendor's codes are not published"),
        .push(.dismissed): .unsupported(reason: "the vendor's codes are not published"),
        .push(.opened): .unsupported(reason: "the vendor's codes are not published"),
    ]
}

extension AdapterModule {
    /// The device API of Salesforce Marketing Cloud Engagement, for apps.
    public static let salesforce = AdapterModule(
        id: SalesforceDevice.descriptor.id,
        title: SalesforceDevice.descriptor.title,
        apis: [SalesforceDevice.self]
    )
}
