public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AdobeClassicDevice {
    /// Describes this API, its capabilities and its limits.
    public static let descriptor = AdapterDescriptor(
        id: "adobe-classic",
        title: "Adobe Campaign Classic",
        side: .device,
        memory: .lane,
        delivery: .init(timeout: .seconds(30)),
        capabilities: capabilities,
        tables: .init(
            rules: Rule.adobeClassic,
            findings: FindingRow.adobeClassic,
            reasonsOfState: [FindingRow.classicFailed, .classicLost, .classicUnsent, .personLeft].map(\.code),
            replies: .adobeClassic,
            fields: [ClassicTrackingCall.table.summary, ClassicRegistrationCall.table.summary],
            limits: [
                VendorLimit(
                    "attempts of one operation",
                    "1; unlimited where it takes a person off",
                    rule: .adobe("C18")
                ),
                VendorLimit("operations in one request", "1"),
                VendorLimit("values of parameters", "one text each", rule: .adobe("C13")),
            ]
        )
    )

    private static let rest = "A device can't tell; the web services are for back ends."
    private static let asText = "a text in the registration's parameters"

    private static let capabilities: Capabilities = [
        .operation(.identify): .native(note: "the identifier that userKey names; others by identifierParameters"),
        .operation(.switchContact): .native(note: "the device is registered with the new user key"),
        .contact(.logIn): .native(note: "the identifier that userKey names; others by identifierParameters"),
        .contact(.logOut): .native(note: "the device is registered without a user key and parameters"),
        .operation(.registerDevice): .native(note: "needs a push token; unchanged registrations are not sent"),
        .operation(.changeAttributes): .native(note: "parameters of the registration"),
        .operation(.changeTags): .emulated(
            how: "a parameter per tag is true or false",
            cost: "tags need tagParameters"
        ),
        .operation(.changeSubscription): .unsupported(reason: rest),
        .operation(.setConsent): .emulated(
            how: "applied here; a denial registers the device without the person",
            cost: "Campaign itself has no record of consent"
        ),
        .operation(.track): .native(note: "push messages"),
        .operation(.unregister): .emulated(
            how: "the device is registered without a user key and parameters",
            cost: "the device stays until its push token expires"
        ),
        .operation(.erase): .emulated(
            how: "the device is registered without the person, and the data is deleted here",
            cost: "delete the recipient's subscription to the app in Campaign"
        ),
        .operation(.readBack): .unsupported(reason: "The vendor answers no queries of a device."),
        .event(.push): .native(note: "one request each, never repeated by itself"),
        .event(.messageViewed): .unsupported(reason: "The vendor has no messages inside the app."),
        .event(.messageClicked): .unsupported(reason: "The vendor has no messages inside the app."),
        .event(.sessionStarted): .unsupported(reason: "The vendor has no sessions."),
        .event(.sessionEnded): .unsupported(reason: "The vendor has no sessions."),
        .event(.custom): .unsupported(reason: "The vendor only accepts push events from a device."),
        .push(.received): .emulated(
            how: "received (1)",
            cost:
                "unreliable on iOS: in the background only with content-available: 1, never of an app that is not running"
        ),
        .push(.tapped): .native(note: "clicked (2)"),
        .push(.opened): .native(note: "clicked (2); hand over either the tap or the opening, not both"),
        .push(.dismissed): .unsupported(reason: "The vendor only accepts receipts and clicks of messages."),
        .attribute(.string): .native(),
        .attribute(.integer): .native(note: asText),
        .attribute(.decimal): .native(note: asText),
        .attribute(.boolean): .native(note: asText),
        .attribute(.date): .emulated(how: "YYYY-MM-DD", cost: asText),
        .attribute(.time): .emulated(how: "HH:MM", cost: asText),
        .attribute(.timestamp): .emulated(how: "by timeForm", cost: asText),
        .attribute(.country): .emulated(how: "two letters of ISO 3166-1", cost: asText),
        .attribute(.choices): .unsupported(reason: "A parameter takes one text."),
        .attribute(.list): .unsupported(reason: "A parameter takes one text."),
        .attribute(.object): .unsupported(reason: "A parameter takes one text."),
        .attributeUnset: .emulated(how: "the parameter is left out", cost: "the vendor may keep its old value"),
        .attributeIncrement: .unsupported(reason: "The vendor cannot add to a value."),
        .attributeAppend: .unsupported(reason: "The vendor cannot add to a value."),
        .tags: .emulated(how: "a parameter per tag is true or false", cost: "tags need tagParameters"),
        .subscription(.push): .unsupported(reason: rest),
        .topics(.push): .unsupported(reason: rest),
        .subscription(.email): .unsupported(reason: rest),
        .topics(.email): .unsupported(reason: rest),
        .subscription(.sms): .unsupported(reason: rest),
        .topics(.sms): .unsupported(reason: rest),
        .subscription(.inApp): .unsupported(reason: rest),
        .topics(.inApp): .unsupported(reason: rest),
        .identifier(.email): .emulated(
            how: "the user key, or a parameter by identifierParameters",
            cost: "only one user key"
        ),
        .identifier(.phone): .emulated(
            how: "the user key, or a parameter by identifierParameters",
            cost: "only one user key"
        ),
        .identifier(.external): .emulated(
            how: "the user key, or a parameter by identifierParameters",
            cost: "only one user key"
        ),
    ]
}
