import PatchbayAltcraft
public import PatchbayAdapterKit
import PatchbayModel

extension AltcraftServer {
    public static let descriptor = AdapterDescriptor(
        id: "altcraft-server",
        title: "Altcraft platform (API)",
        side: .server,
        memory: .provider,
        delivery: .init(window: 2500, concurrency: 4),
        capabilities: capabilities,
        tables: .init(
            rules: AltcraftServerRules.all,
            findings: ServerFinding.all,
            replies: .altcraftServer,
            fields: [
                BatchRecord.table.summary, ImportSubscription.table.summary, DeletionRecord.table.summary,
                GoalRecord.table.summary, PushRecord.table.summary, PageRecord.table.summary,
            ],
            limits: [
                VendorLimit(
                    "profiles of a request",
                    "10,000 and 10 MB, as recommended; 2,500 here",
                    rule: .altcraft("V7")
                ),
                VendorLimit("profiles of a page", "1,000", rule: .altcraft("V20")),
                VendorLimit("name of a goal", "128 characters", rule: .altcraft("V16")),
                VendorLimit("data of a goal", "1 KB, flat", rule: .altcraft("V17")),
                VendorLimit("requests", "no rate is documented", rule: .altcraft("V21")),
            ]
        )
    )

    private static let asResource = "a resource that the settings name; its address is asked for first"

    private static let capabilities: Capabilities = [
        .operation(.identify): .native(note: "profile fields"),
        .operation(.switchContact): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logIn): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logOut): .unsupported(reason: "there is no log-in at a back end"),
        .operation(.registerDevice): .unsupported(reason: "devices register themselves"),
        .operation(.changeAttributes): .native(note: "many profiles in a request, a verdict for each"),
        .operation(.changeTags): .native(note: "needs the setting tagsField"),
        .operation(.changeSubscription): .native(note: asResource),
        .operation(.setConsent): .unsupported(reason: "the vendor has no record of consent"),
        .operation(.track): .native(note: "custom events as goals of a pixel; push messages"),
        .operation(.unregister): .native(note: "suspends what is subscribed: no opt-out is recorded"),
        .operation(.erase): .native(note: "the profile of the database, with its history and relations"),
        .operation(.readBack): .native(note: "profiles, page by page, all or by a query"),
        .identifier(.external): .native(note: "the contact's key, with matching by a field"),
        .identifier(.email): .native(note: "a profile field"),
        .identifier(.phone): .native(note: "a profile field"),
        .attribute(.string): .native(),
        .attribute(.integer): .native(),
        .attribute(.decimal): .native(),
        .attribute(.boolean): .native(),
        .attribute(.date): .native(note: "YYYY-MM-DD"),
        .attribute(.time): .emulated(how: "HH:MM as text", cost: "the vendor has no such type"),
        .attribute(.timestamp): .native(note: "RFC 3339"),
        .attribute(.country): .native(note: "two letters of ISO 3166-1"),
        .attribute(.choices): .emulated(how: "a list of texts", cost: "the order may not be kept"),
        .attribute(.list): .native(),
        .attribute(.object): .native(),
        .attributeUnset: .native(note: "not the e-mail address"),
        .attributeIncrement: .native(note: "sent once: rejected if its delivery is uncertain"),
        .attributeAppend: .native(note: "only texts"),
        .tags: .native(note: "in the profile field that tagsField names"),
        .subscription(.push): .native(note: asResource),
        .topics(.push): .emulated(how: "a resource of its own", cost: "categories stay as they are"),
        .subscription(.email): .native(note: asResource),
        .topics(.email): .emulated(how: "a resource of its own", cost: "categories stay as they are"),
        .subscription(.sms): .native(note: asResource),
        .topics(.sms): .emulated(how: "a resource of its own", cost: "categories stay as they are"),
        .subscription(.inApp): .unsupported(reason: "The vendor has no messages inside the app."),
        .topics(.inApp): .unsupported(reason: "The vendor has no messages inside the app."),
        .event(.custom): .native(note: "a goal of the pixel that the settings name"),
        .event(.push): .native(note: "by the uid that the platform puts into messages on request"),
        .event(.messageViewed): .unsupported(reason: "The vendor has no messages inside the app."),
        .event(.messageClicked): .unsupported(reason: "The vendor has no messages inside the app."),
        .event(.sessionStarted): .unsupported(reason: "The vendor has no sessions."),
        .event(.sessionEnded): .unsupported(reason: "The vendor has no sessions."),
        .push(.received): .native(),
        .push(.tapped): .native(note: "an open"),
        .push(.opened): .native(note: "an open; hand over either the tap or the opening, not both"),
        .push(.dismissed): .unsupported(reason: "The vendor only accepts deliveries and opens of messages."),
    ]
}

extension AdapterModule {
    /// The server API of Altcraft, for back ends.
    public static let altcraftServer = AdapterModule(
        id: AltcraftDevice.descriptor.id,
        title: AltcraftDevice.descriptor.title,
        apis: [AltcraftServer.self]
    )
}
