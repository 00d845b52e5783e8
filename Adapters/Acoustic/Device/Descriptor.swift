public import PatchbayAdapterKit
import PatchbayModel

extension AcousticDevice {
    /// Describes this API, its capabilities and its limits.
    public static let descriptor = AdapterDescriptor(
        id: "acoustic",
        title: "Acoustic Campaign (Mobile App Messaging)",
        side: .device,
        memory: .lane,
        delivery: .init(window: window),
        capabilities: capabilities,
        tables: .init(
            rules: Rule.acoustic,
            findings: FindingRow.acoustic,
            reasonsOfState: [
                FindingRow.updateRefused, .deleteRefused, .eventRefused, .registrationRefused, .actionUnknown,
                .idsOfAnother,
                .personLeft, .optOutKept,
            ].map(\.code),
            replies: .acoustic,
            fields: [
                EventRecord.AttributeEntry.table.summary, EventRecord.table.summary, RegistrationRecord.table.summary,
            ],
            limits: [
                VendorLimit("effect of an update", "up to 5 minutes later", rule: .acoustic("K8")),
                VendorLimit(
                    "delay after failures",
                    "1, 2, 4, 8, 16, 32, then 60 minutes, ±20 %",
                    rule: .acoustic("Q1")
                ),
                VendorLimit("text", "4000 characters", rule: .acoustic("C13")),
                VendorLimit("number", "255 digits", rule: .acoustic("C9")),
                VendorLimit("value of a selection", "100 characters", rule: .acoustic("C8")),
                VendorLimit("column name", "3 to 255 characters", rule: .acoustic("C14")),
                VendorLimit("columns of a database", "400; fewer than 220 custom columns are advised"),
                VendorLimit("entries of an update", "none published; 200 unless the app groups more"),
                VendorLimit("events in a request", "none published; a setting", rule: .acoustic("E12")),
            ]
        )
    )

    private static let capabilities: Capabilities = [
        .operation(.identify): .unsupported(reason: "identifiers are lookup keys, which the back end writes"),
        .operation(.switchContact): .emulated(
            how: "the stored values are deleted, and the ids are requested again",
            cost: "the back end must establish who the person is"
        ),
        .contact(.logIn): .emulated(
            how: "the stored values are deleted, and the ids are requested again",
            cost: "the back end must establish who the person is"
        ),
        .contact(.logOut): .unsupported(reason: "the user stays the installation's"),
        .operation(.registerDevice): .native(note: "takes the app's ids, or asks for them by inferred calls"),
        .operation(.changeAttributes): .native(note: "of the user, from all of its devices"),
        .operation(.changeTags): .emulated(
            how: "one multi-selection column holds the whole set, or each tag has a Yes/No column",
            cost: "tags that others set are overwritten"
        ),
        .operation(.changeSubscription): .native(note: "the push permission as an event"),
        .operation(.setConsent): .emulated(
            how: "stored and applied before sending",
            cost: "the vendor's record of consent is the back end's"
        ),
        .operation(.track): .native(),
        .operation(.unregister): .emulated(how: "push is reported as disabled", cost: "the vendor keeps the record"),
        .operation(.erase): .emulated(
            how: "the data is deleted here, and nothing is sent until the device registers again",
            cost:
                "let a back end post the person's line (columnName,value) to "
                + "/rest/databases/{databaseId}/gdpr_erasure and follow the job in the reply"
        ),
        .operation(.readBack): .emulated(
            how: "attributes, tags and ids as this installation knows them",
            cost: "what others wrote is not seen"
        ),
        .event(.push): .native(),
        .event(.messageViewed): .native(note: "an inbox message"),
        .event(.messageClicked): .native(note: "named by what it opened, in the options"),
        .event(.sessionStarted): .native(),
        .event(.sessionEnded): .native(note: "its length is an option"),
        .event(.custom): .native(note: "visible once support has switched Universal Behavior 95 on"),
        .push(.received): .unsupported(reason: "the vendor takes no such event from a device"),
        .push(.tapped): .native(note: "hand over either the tap or the opening, not both"),
        .push(.opened): .native(note: "hand over either the tap or the opening, not both"),
        .push(.dismissed): .unsupported(reason: "the vendor takes no such event from a device"),
        .attribute(.string): .native(),
        .attribute(.integer): .native(),
        .attribute(.decimal): .native(),
        .attribute(.boolean): .native(),
        .attribute(.date): .native(note: "text, yyyy-MM-dd"),
        .attribute(.time): .native(note: "text, HH:mm"),
        .attribute(.timestamp): .native(note: "UTC with milliseconds"),
        .attribute(.country): .native(note: "two lower-case letters"),
        .attribute(.choices): .native(note: "a multi-selection column; allowed values, joined by semicolons"),
        .attribute(.list): .unsupported(reason: "a column holds one plain value"),
        .attribute(.object): .unsupported(reason: "a column holds one plain value"),
        .attributeUnset: .native(note: "sent even for a column that was never written"),
        .attributeIncrement: .unsupported(reason: "a value can only be set or deleted"),
        .attributeAppend: .unsupported(reason: "a value can only be set or deleted"),
        .tags: .emulated(
            how: "one multi-selection column holds the whole set, or each tag has a Yes/No column",
            cost: "tags that others set are overwritten"
        ),
        .subscription(.push): .native(note: "suspended counts as disabled"),
        .topics(.push): .unsupported(reason: "the vendor has no topics of push"),
        .subscription(.email): .unsupported(reason: "the back end's record"),
        .topics(.email): .unsupported(reason: "the back end's record"),
        .subscription(.sms): .unsupported(reason: "the back end's record"),
        .topics(.sms): .unsupported(reason: "the back end's record"),
        .subscription(.inApp): .unsupported(reason: "the vendor has no such record"),
        .topics(.inApp): .unsupported(reason: "the vendor has no such record"),
        .identifier(.external): .unsupported(reason: "a lookup key, which the back end writes"),
        .identifier(.email): .unsupported(reason: "the back end writes it"),
        .identifier(.phone): .unsupported(reason: "the back end writes it"),
    ]
}
