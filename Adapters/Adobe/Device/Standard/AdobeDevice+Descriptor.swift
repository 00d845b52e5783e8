public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AdobeDevice {
    /// Describes this API, its capabilities and its limits.
    public static let descriptor = AdapterDescriptor(
        id: "adobe",
        title: "Adobe Campaign Standard",
        side: .device,
        memory: .lane,
        delivery: .init(timeout: .seconds(5)),
        capabilities: capabilities,
        tables: .init(
            rules: Rule.adobe,
            findings: FindingRow.adobe,
            reasonsOfState: [FindingRow.personOther, .personLeft, .identityForgotten, .tokenKept].map(\.code),
            replies: .adobeHits,
            fields: [
                TrackingCall.table.summary, ProfileCall.table.summary, TokenCall.table.summary,
                OptOutCall.table.summary,
            ],
            limits: [
                VendorLimit(
                    "pause before a repeat",
                    "30 seconds, or a longer Retry-After up to 1 hour",
                    rule: .adobe("Q3")
                ),
                VendorLimit("repeats of one request", "none", rule: .adobe("Q3")),
                VendorLimit("identity", "38 decimal digits", rule: .adobe("I1")),
                VendorLimit("operations in one request", "1"),
                VendorLimit("values of fields", "one text each", rule: .adobe("P4")),
            ]
        )
    )

    private static let rest = "A device can't tell; the REST interface is for back ends."

    private static let capabilities: Capabilities = [
        .operation(.identify): .emulated(
            how: "fields that reconcile, by identifierFields",
            cost: "a workflow in Campaign joins mobile profile and person later"
        ),
        .operation(.switchContact): .emulated(
            how: "another person has another identity, and the push token moves to it",
            cost: "the mobile profile of the person before stays in Campaign, without a push token"
        ),
        .contact(.logIn): .emulated(
            how: "an identity for the person; identifiers are written by identifierFields",
            cost: "a workflow in Campaign joins mobile profile and person later"
        ),
        .contact(.logOut): .emulated(
            how: "a new identity begins, and the push token is removed from the previous one",
            cost: "the mobile profile of the person stays in Campaign"
        ),
        .operation(.registerDevice): .native(
            note: "the device is stored and the push token sent; the mobile profile is registered when a session starts"
        ),
        .operation(.changeAttributes): .native(note: "by attributeFields; names like cusTier need no row"),
        .operation(.changeTags): .emulated(how: "a field per tag is true or false", cost: "tags need tagFields"),
        .operation(.changeSubscription): .unsupported(reason: rest),
        .operation(.setConsent): .emulated(
            how: "applied here; denials take back the push token, a complete one is notified",
            cost: "Campaign itself has no record of consent"
        ),
        .operation(.track): .native(note: "push messages and session starts"),
        .operation(.unregister): .emulated(how: "every push token is removed", cost: "mobile profiles stay"),
        .operation(.erase): .emulated(
            how: "push tokens are removed, the data is deleted here, and a new identity begins",
            cost: "delete the profile in Campaign, or let a back end send DELETE to its profile/{PKey}"
        ),
        .operation(.readBack): .unsupported(reason: "The vendor answers no queries of a device."),
        .event(.push): .native(note: "not for deliveries whose flag _acsDeliveryTracking is off"),
        .event(.messageViewed): .unsupported(reason: "Only the payload of a local notification names its delivery."),
        .event(.messageClicked): .unsupported(reason: "Only the payload of a local notification names its delivery."),
        .event(.sessionStarted): .native(note: "registers, if a registration is due"),
        .event(.sessionEnded): .unsupported(reason: "The vendor only accepts the start of a session."),
        .event(.custom): .unsupported(reason: "The vendor only accepts push events from a device."),
        .push(.received): .emulated(
            how: "an impression (7)",
            cost:
                "unreliable on iOS: in the background only with content-available: 1, never of an app that is not running"
        ),
        .push(.tapped): .native(note: "a click (2), then an open (1)"),
        .push(.opened): .native(note: "a click, then an open; hand over either the tap or the opening, not both"),
        .push(.dismissed): .native(
            note: "a click (2); the app must register a category with customDismissAction, and the message must name it"
        ),
        .attribute(.string): .native(),
        .attribute(.integer): .emulated(how: "decimal digits", cost: "a text at the vendor"),
        .attribute(.decimal): .emulated(how: "decimal digits", cost: "a text at the vendor"),
        .attribute(.boolean): .emulated(how: "true or false", cost: "a text at the vendor"),
        .attribute(.date): .emulated(how: "YYYY-MM-DD", cost: "a text at the vendor; no form is documented"),
        .attribute(.time): .emulated(how: "HH:MM", cost: "a text at the vendor; no form is documented"),
        .attribute(.timestamp): .emulated(how: "by timeForm", cost: "a text at the vendor; no form is documented"),
        .attribute(.country): .emulated(how: "two letters of ISO 3166-1", cost: "a text at the vendor"),
        .attribute(.choices): .unsupported(reason: "A field takes one text."),
        .attribute(.list): .unsupported(reason: "A field takes one text."),
        .attribute(.object): .unsupported(reason: "A field takes one text."),
        .attributeUnset: .emulated(
            how: "an empty text, by unsetAttributes",
            cost: "the usual workflow in Campaign passes empty fields over"
        ),
        .attributeIncrement: .unsupported(reason: "The vendor cannot add to a value."),
        .attributeAppend: .unsupported(reason: "The vendor cannot add to a value."),
        .tags: .emulated(how: "a field per tag is true or false", cost: "tags need tagFields"),
        .subscription(.push): .unsupported(reason: rest),
        .topics(.push): .unsupported(reason: rest),
        .subscription(.email): .unsupported(reason: rest),
        .topics(.email): .unsupported(reason: rest),
        .subscription(.sms): .unsupported(reason: rest),
        .topics(.sms): .unsupported(reason: rest),
        .subscription(.inApp): .unsupported(reason: rest),
        .topics(.inApp): .unsupported(reason: rest),
        .identifier(.email): .emulated(how: "a field, by identifierFields", cost: "joined by a workflow"),
        .identifier(.phone): .emulated(how: "a field, by identifierFields", cost: "joined by a workflow"),
        .identifier(.external): .emulated(how: "a field, by identifierFields", cost: "joined by a workflow"),
    ]
}
