public import PatchbayAdapterKit
import PatchbayModel

extension DESDevice {
    /// Describes this API, its capabilities and its limits.
    public static let descriptor = AdapterDescriptor(
        id: "des",
        title: "SAP Emarsys Device Event Service (DES)",
        side: .device,
        memory: .lane,
        delivery: .init(timeout: .seconds(30), usesCredentials: true),
        capabilities: capabilities,
        tables: .init(
            rules: Rule.des,
            findings: FindingRow.des,
            reasonsOfState: [
                FindingRow.notRegistered, .identifierMissing, .contactOfAnother, .contactOvertaken, .notSent,
                .leavingRefused, .inboxUnknown,
                .noContent, .replyUnauthenticated, .renewalRefused, .renewalsSpent,
                .replyRefused, .replyLater, .noReply, .hostNotFound, .replyUnreadable,
            ].map(\.code),
            replies: .des,
            fields: [
                Headers.table.summary, ClientCall.table.summary, PushTokenCall.table.summary, ContactCall.table.summary,
                RenewalCall.table.summary, EventsCall.table.summary, EventCall.table.summary, RowCall.table.summary,
                InlineCall.table.summary,
            ],
            limits: [
                VendorLimit("renewals of the contact token for one request", "3", rule: .des("R33")),
                VendorLimit("events in one request", "what the engine shows at once: 256", rule: .des("R34")),
                VendorLimit("requests of the event service in flight", "1", rule: .des("R28")),
                VendorLimit("event attributes", "texts, no lists or objects", rule: .des("T2")),
            ]
        )
    )

    private static let noAttributes = Support.unsupported(
        reason: "The vendor's service for apps has no attributes of contacts."
    )
    private static let noChannel = Support.unsupported(
        reason: "Apps can only subscribe to push messages and messages inside the app."
    )

    private static let noTopics = Support.unsupported(reason: "The vendor has no topics.")
    private static let noTags = Support.unsupported(reason: "The vendor only has tags of inbox messages.")
    private static let noEvent = Support.unsupported(reason: "The vendor has no event for it.")
    private static let otherIdentifier = Support.unsupported(
        reason: "One kind names contacts: that of the setting contactIdentifier."
    )

    private static let capabilities = Capabilities(
        AttributeType.allCases.map { (.attribute($0), noAttributes) } + others.map { ($0.key, $0.value) }
    )

    private static let others: KeyValuePairs<Capability, Support> = [
        .operation(.identify): .native(note: "the identifier that the setting contactIdentifier names"),
        .operation(.switchContact): .native(note: "the session is reported as ended, and a new one begins"),
        .contact(.logIn): .native(note: "the setting contactProof says what proves it"),
        .contact(.logOut): .native(note: "the contact becomes anonymous"),
        .operation(.registerDevice): .native(
            note: "registration, anonymous contact and push token, as far as they are new"
        ),
        .operation(.changeAttributes): noAttributes,
        .operation(.changeTags): noTags,
        .operation(.changeSubscription): .native(note: "push, and messages inside the app"),
        .operation(.setConsent): .emulated(
            how: "stored and applied before sending",
            cost: "the vendor never learns of it"
        ),
        .operation(.track): .native(),
        .operation(.unregister): .native(note: "push token and contact are removed"),
        .operation(.erase): .emulated(
            how: "the data is deleted here",
            cost:
                "delete the contact at the vendor, by the field and value that identify it there"
        ),
        .operation(.readBack): .native(note: Query.names),
        .event(.push): .native(note: "the opening and its buttons"),
        .event(.custom): .native(note: "attributes become texts"),
        .event(.messageViewed): .native(note: "recorded and reported"),
        .event(.messageClicked): .native(note: "recorded and reported; needs the button"),
        .event(.sessionStarted): .native(),
        .event(.sessionEnded): .native(),
        .push(.received): noEvent,
        .push(.tapped): .native(),
        .push(.dismissed): noEvent,
        .push(.opened): .native(note: "the same event as a tap: capture one of the two"),
        .subscription(.push): .native(note: "the push token is set or removed"),
        .subscription(.inApp): .emulated(
            how: "dnd in each request with events",
            cost: "nothing is stored at the vendor"
        ),
        .topics(.push): noTopics,
        .topics(.inApp): noTopics,
        .topics(.email): noChannel,
        .topics(.sms): noChannel,
        .subscription(.email): noChannel,
        .subscription(.sms): noChannel,
        .identifier(.external): .native(note: "the value of the field contactFieldId"),
        .identifier(.email): otherIdentifier,
        .identifier(.phone): otherIdentifier,
        .attributeUnset: noAttributes,
        .attributeIncrement: noAttributes,
        .attributeAppend: noAttributes,
        .tags: noTags,
    ]
}
