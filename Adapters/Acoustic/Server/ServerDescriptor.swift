import PatchbayAcoustic
public import PatchbayAdapterKit
import PatchbayModel

extension AcousticServer {
    /// Describes this API, its capabilities and its limits.
    public static let descriptor = AdapterDescriptor(
        id: "acoustic-server",
        title: "Acoustic Campaign (XML and REST)",
        side: .server,
        memory: .provider,
        delivery: .init(window: 1000, concurrency: 10),
        capabilities: capabilities,
        tables: .init(
            rules: AcousticServerRules.all,
            findings: ServerFinding.all,
            replies: .acousticServer,
            fields: [
                AcousticTokenRequest.table.summary, RecipientRecord.adding.summary, RecipientRecord.updating.summary,
                RecipientRecord.selecting.summary, RecipientRecord.optingOut.summary, RecipientRecord.removing.summary,
                ImportRecord.table.summary, JobRecord.table.summary, BehaviorRecord.table.summary,
                ConsentRecord.table.summary, ListMemberRecord.table.summary, NewListRecord.table.summary,
                MetaDataRecord.table.summary, ExportRecord.table.summary,
            ],
            limits: [
                VendorLimit(
                    "requests at once",
                    "10 of a whole organisation, the 11th is refused",
                    rule: .acoustic("S4")
                ),
                VendorLimit("tokens", "live 4 hours; the same one for 3 hours", rule: .acoustic("S2")),
                VendorLimit("text", "4000 characters", rule: .acoustic("S19")),
                VendorLimit("number", "255 digits", rule: .acoustic("S19")),
                VendorLimit("value of a selection", "100 characters", rule: .acoustic("S18")),
                VendorLimit("column name", "3 to 255 characters", rule: .acoustic("S14")),
                VendorLimit("contacts of a call", "one", rule: .acoustic("S6")),
                VendorLimit("events in a request", "none published; a setting", rule: .acoustic("S40")),
                VendorLimit("contacts of an erasure job", "none published; a setting", rule: .acoustic("S33")),
            ]
        )
    )

    private static let asColumn = "a Yes/No column that the settings name"
    private static let asConsent = "the vendor's consent of the channel, or a Yes/No column, as the settings name it"
    private static let orList =
        "not visible in the vendor's own records; or a contact list, from which no API call removes a contact"

    private static let capabilities: Capabilities = [
        .operation(.identify): .native(note: "values of columns"),
        .operation(.switchContact): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logIn): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logOut): .unsupported(reason: "there is no log-in at a back end"),
        .operation(.registerDevice): .unsupported(reason: "devices register themselves"),
        .operation(.changeAttributes): .native(note: "one contact in a call"),
        .operation(.changeTags): .emulated(how: asColumn, cost: orList),
        .operation(.changeSubscription): .native(
            note: "an opt-out of e-mail by its own call, a channel's consent, all else a column"
        ),
        .operation(.setConsent): .unsupported(reason: "the account has no place for consents to purposes"),
        .operation(.track): .native(note: "behaviours of the contact"),
        .operation(.unregister): .native(note: "no request is needed"),
        .operation(.erase): .native(note: "a job of the vendor's, or a removal from the database"),
        .operation(.readBack): .native(
            note:
                "contact, access, channelContact, columns, consent, eventErrors, export, job, import; a contact list is made so, too"
        ),
        .identifier(.external): .native(note: "the contact's key itself"),
        .identifier(.email): .native(note: "where the settings name a column"),
        .identifier(.phone): .native(note: "where the settings name a column"),
        .attribute(.string): .native(note: "at most 4000 characters, none that XML can't hold"),
        .attribute(.integer): .native(),
        .attribute(.decimal): .native(),
        .attribute(.boolean): .native(note: "Yes or No"),
        .attribute(.date): .native(note: "MM/dd/yyyy"),
        .attribute(.time): .native(note: "HH:mm:ss"),
        .attribute(.timestamp): .native(note: "MM/dd/yyyy HH:mm:ss in UTC; the form is inferred"),
        .attribute(.country): .native(note: "two letters; their case is a setting"),
        .attribute(.choices): .native(note: "joined by semicolons, always the whole set"),
        .attribute(.list): .unsupported(reason: "a column holds one plain value"),
        .attribute(.object): .unsupported(reason: "a column holds one plain value"),
        .attributeUnset: .emulated(how: "an empty value", cost: "that it clears the column is inferred"),
        .attributeIncrement: .unsupported(reason: "a value can only be set or removed"),
        .attributeAppend: .unsupported(reason: "a value can only be set or removed"),
        .tags: .emulated(how: asColumn, cost: orList),
        .subscription(.push): .native(note: asConsent),
        .topics(.push): .native(note: asConsent),
        .subscription(.email): .native(note: "the opt-out; the way back only as a column"),
        .topics(.email): .emulated(how: asColumn, cost: orList),
        .subscription(.sms): .native(note: asConsent),
        .topics(.sms): .native(note: asConsent),
        .subscription(.inApp): .unsupported(reason: "the account does not use it"),
        .topics(.inApp): .unsupported(reason: "the account does not use it"),
        .event(.custom): .native(note: "code 17, or one that the settings name"),
        .event(.push): .native(note: "as the app relays it"),
        .event(.messageViewed): .unsupported(reason: "no code is known for it"),
        .event(.messageClicked): .unsupported(reason: "no code is known for it"),
        .event(.sessionStarted): .native(note: "as the app relays it"),
        .event(.sessionEnded): .native(note: "as the app relays it"),
        .push(.received): .native(),
        .push(.tapped): .native(note: "hand over either the tap or the opening, not both"),
        .push(.opened): .native(note: "hand over either the tap or the opening, not both"),
        .push(.dismissed): .unsupported(reason: "no code is known for it"),
    ]
}

extension AdapterModule {
    /// The server API of Acoustic Campaign, for back ends.
    public static let acousticServer = AdapterModule(
        id: AcousticDevice.descriptor.id,
        title: AcousticDevice.descriptor.title,
        apis: [AcousticServer.self]
    )
}
