import PatchbayAdobe
public import PatchbayAdapterKit
import PatchbayModel

extension AdobeServer {
    public static let descriptor = AdapterDescriptor(
        id: "adobe-server",
        title: "Adobe Campaign Standard (REST)",
        side: .server,
        memory: .provider,
        delivery: .init(window: 512, concurrency: 4),
        capabilities: capabilities,
        tables: .init(
            rules: AdobeServerRules.all,
            findings: ServerFinding.all,
            replies: .adobeServer,
            fields: [
                AdobeTokenRequest.table.summary, ProfileRecord.table.summary, ServiceRecord.table.summary,
                SubscriptionRecord.table.summary,
            ],
            limits: [
                VendorLimit("requests", "by the licence agreement; no figures are public", rule: .adobe("B30")),
                VendorLimit("profiles of a request", "one", rule: .adobe("B11")),
                VendorLimit("rows of a page", "25 unless asked for more; 100 here", rule: .adobe("B34")),
                VendorLimit("tables without a next page", "over 100,000 rows, unless asked for", rule: .adobe("B34")),
                VendorLimit("texts", "20 to 128 characters, by field", rule: .adobe("B14")),
                VendorLimit("a token", "86,399 seconds in the vendor's example", rule: .adobe("B2")),
            ]
        )
    )

    private static let asService = "a service that the settings name"
    private static let noDevice = "push messages are seen by devices"

    private static let capabilities: Capabilities = [
        .operation(.identify): .native(note: "fields of the profile"),
        .operation(.switchContact): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logIn): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logOut): .unsupported(reason: "there is no log-in at a back end"),
        .operation(.registerDevice): .unsupported(reason: "devices register themselves"),
        .operation(.changeAttributes): .native(note: "fields of the profile; the account's own begin with cus"),
        .operation(.changeTags): .emulated(
            how: "a boolean field of the account's own that the settings name",
            cost: "an unnamed tag is refused"
        ),
        .operation(.changeSubscription): .native(note: "flags of the profile, and services"),
        .operation(.setConsent): .unsupported(reason: "the vendor's API has no record of consent"),
        .operation(.track): .unsupported(reason: "a transactional event is defined by each account for itself"),
        .operation(.unregister): .native(note: "no request is needed"),
        .operation(.erase): .native(note: "the profile is deleted; logs of deliveries need a privacy request"),
        .operation(.readBack): .native(note: "a profile and its subscriptions; profiles and services page by page"),
        .identifier(.external): .native(note: "the contact's key, or a field that the settings name"),
        .identifier(.email): .native(),
        .identifier(.phone): .native(note: "mobilePhone"),
        .attribute(.string): .native(note: "as long as its field"),
        .attribute(.integer): .native(note: "a field of the account's own"),
        .attribute(.decimal): .native(note: "a field of the account's own"),
        .attribute(.boolean): .native(),
        .attribute(.date): .native(note: "YYYY-MM-DD"),
        .attribute(.time): .emulated(how: "HH:MM", cost: "stored as text"),
        .attribute(.timestamp): .native(note: "by timeForm"),
        .attribute(.country): .emulated(
            how: "two letters",
            cost: "stored as text; the profile's country is another record"
        ),
        .attribute(.choices): .unsupported(reason: "a field holds one value"),
        .attribute(.list): .unsupported(reason: "a field holds one value"),
        .attribute(.object): .unsupported(reason: "a field holds one value"),
        .attributeUnset: .emulated(
            how: "an empty text, or null, by unset",
            cost: "what a field makes of it is not documented"
        ),
        .attributeIncrement: .unsupported(reason: "a repeat would count twice"),
        .attributeAppend: .unsupported(reason: "a field holds one value"),
        .tags: .emulated(
            how: "a boolean field of the account's own that the settings name",
            cost: "an unnamed tag is refused"
        ),
        .subscription(.push): .native(note: "blackListPushnotification of the profile; devices keep their own opt-in"),
        .topics(.push): .unsupported(reason: "services are for e-mail and text messages"),
        .subscription(.email): .native(note: "blackListEmail"),
        .topics(.email): .native(note: asService),
        .subscription(.sms): .native(note: "blackListMobile"),
        .topics(.sms): .native(note: asService),
        .subscription(.inApp): .unsupported(reason: "the profile has no flag for it"),
        .topics(.inApp): .unsupported(reason: "services are for e-mail and text messages"),
        .event(.custom): .unsupported(reason: "a transactional event is defined by each account for itself"),
        .event(.push): .unsupported(reason: noDevice),
        .event(.messageViewed): .unsupported(reason: "messages are seen by devices"),
        .event(.messageClicked): .unsupported(reason: "messages are seen by devices"),
        .event(.sessionStarted): .unsupported(reason: "sessions happen on devices"),
        .event(.sessionEnded): .unsupported(reason: "sessions happen on devices"),
        .push(.received): .unsupported(reason: noDevice),
        .push(.tapped): .unsupported(reason: noDevice),
        .push(.dismissed): .unsupported(reason: noDevice),
        .push(.opened): .unsupported(reason: noDevice),
    ]
}

extension AdapterModule {
    /// The server API of Adobe Campaign Standard, for back ends.
    public static let adobeServer = AdapterModule(
        id: AdobeDevice.descriptor.id,
        title: "Adobe Campaign",
        apis: [AdobeServer.self]
    )
}
