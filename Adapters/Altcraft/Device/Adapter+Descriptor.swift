public import PatchbayAdapterKit
import PatchbayModel

extension AltcraftDevice {
    /// Describes this API, its capabilities and its limits.
    public static let descriptor = AdapterDescriptor(
        id: "altcraft",
        title: "Altcraft mobile push",
        side: .device,
        memory: .lane,
        delivery: .init(usesCredentials: true),
        capabilities: capabilities,
        tables: .init(
            rules: Rule.altcraft,
            findings: FindingRow.altcraft,
            reasonsOfState: [
                FindingRow.askAgain, .readNoToken, .roleTokenChanged, .replyErrorRefused, .profileUnsubscribed,
                .retryLimit,
                .replyCredential, .replyRefused, .replyRedirect, .readUnanswered, .overtaken, .providerLeft,
                .replyField, .replySubscriptionField, .replyCategory, .replyUnreadable,
            ].map(\.code),
            replies: .altcraft,
            fields: [
                SubscriptionCall.table.summary, SubscriptionCall.subscriptionTable.summary, Category.table.summary,
                CollectedFacts.table.summary, TokenUpdateCall.table.summary, ReleaseCall.table.summary,
                ProfileUpdateCall.table.summary, PushEventCall.table.summary, CustomEvent.table.summary,
                SubscriptionQuery.table.summary, TokenUpdateQuery.table.summary, ReleaseQuery.table.summary,
                StatusQuery.table.summary, PushEventQuery.table.summary, CustomEventQuery.table.summary,
            ],
            limits: [
                VendorLimit("attempts of one operation", "16 answers", rule: .altcraft("R7")),
                VendorLimit("payload of a contact's token", "less than 16 KiB", rule: .altcraft("A9")),
                VendorLimit("operations in one request", "1"),
                VendorLimit(
                    "subscription fields and event values",
                    "plain values, no lists or objects",
                    rule: .altcraft("F2")
                ),
                VendorLimit("providers", "6", rule: .altcraft("T7")),
            ]
        )
    )

    private static let capabilities: Capabilities = [
        .operation(.identify): .emulated(
            how: "the contact's credential identifies",
            cost: "identifiers are sent only with identifiersAsFields"
        ),
        .operation(.switchContact): .native(note: "not with rToken"),
        .contact(.logIn): .native(note: "queries first, and subscribes only if no contact was logged in"),
        .contact(.logOut): .native(note: "queries first, and subscribes only if no contact was logged in"),
        .operation(.registerDevice): .native(
            note: "remembered; a request only when the push token changed, or after an unregister"
        ),
        .operation(.changeAttributes): .native(),
        .operation(.changeTags): .native(note: "needs the setting tagsField"),
        .operation(.changeSubscription): .native(),
        .operation(.setConsent): .emulated(
            how: "stored here; a denial of messages ends the push subscription",
            cost: "the vendor has no record of the consent"
        ),
        .operation(.track): .native(),
        .operation(.unregister): .native(note: "suspends: no opt-out is recorded"),
        .operation(.erase): .emulated(
            how: "the person is unsubscribed, and the data is deleted here",
            cost:
                "delete the profile in the platform, or let a back end call the server API's Delete profile"
        ),
        .operation(.readBack): .native(note: "latest, latestForProvider, current"),
        .event(.push): .native(),
        .event(.custom): .native(note: "needs the setting pixel; only plain values"),
        .event(.messageViewed): .unsupported(reason: "The vendor has no messages inside the app."),
        .event(.messageClicked): .unsupported(reason: "The vendor has no messages inside the app."),
        .event(.sessionStarted): .unsupported(reason: "The vendor has no sessions."),
        .event(.sessionEnded): .unsupported(reason: "The vendor has no sessions."),
        .push(.received): .native(),
        .push(.tapped): .native(note: "an open"),
        .push(.opened): .native(note: "an open; hand over either the tap or the opening, not both"),
        .push(.dismissed): .unsupported(reason: "The vendor only accepts deliveries and opens of messages."),
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
        .attributeIncrement: .native(),
        .attributeAppend: .native(note: "only texts"),
        .tags: .native(note: "in the profile field that tagsField names"),
        .subscription(.push): .native(),
        .topics(.push): .native(note: "a topic is a category"),
        .subscription(.email): .unsupported(reason: "This API changes only push subscriptions."),
        .topics(.email): .unsupported(reason: "This API changes only push subscriptions."),
        .subscription(.sms): .unsupported(reason: "This API changes only push subscriptions."),
        .topics(.sms): .unsupported(reason: "This API changes only push subscriptions."),
        .subscription(.inApp): .unsupported(reason: "The vendor has no messages inside the app."),
        .topics(.inApp): .unsupported(reason: "The vendor has no messages inside the app."),
        .identifier(.email): .emulated(how: "a profile field, with identifiersAsFields", cost: "does not identify"),
        .identifier(.phone): .emulated(how: "a profile field, with identifiersAsFields", cost: "does not identify"),
        .identifier(.external): .emulated(how: "stands in the credential", cost: "not sent by this adapter"),
    ]
}
