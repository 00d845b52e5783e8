import PatchbaySalesforce
public import PatchbayAdapterKit
import PatchbayModel

extension SalesforceServer {
    public static let descriptor = AdapterDescriptor(
        id: "salesforce-server",
        title: "Salesforce Marketing Cloud Engagement (REST)",
        side: .server,
        memory: .provider,
        delivery: .init(window: 2500, concurrency: 4, rate: Rate(2500, per: .seconds(60))),
        capabilities: capabilities,
        tables: .init(
            rules: SalesforceServerRules.all,
            findings: ServerFinding.all,
            replies: .salesforceServer,
            fields: [
                TokenRequest.table.summary, RowRecord.table.summary, JobRecord.table.summary,
                ContactRecord.table.summary,
                DeletionRecord.table.summary, JourneyRecord.table.summary,
            ],
            limits: [
                // No figure is published. Public sources quote the vendor's support with this one (secondary).
                VendorLimit("requests", "about 2,500 a minute, as support is quoted"),
                VendorLimit("tokens", "about one for each 20 minutes", rule: .salesforce("V2")),
                VendorLimit("rows of a row set", "50 rows, 50 columns", rule: .salesforce("V9")),
                VendorLimit("rows of a job", "2,500 rows and 5,500,000 bytes", rule: .salesforce("V17")),
                VendorLimit("text of a column", "4,000 characters", rule: .salesforce("V39")),
                VendorLimit("rows of a page", "2,500", rule: .salesforce("V34")),
                VendorLimit("calls a year", "2 to 200 million, by edition"),
            ]
        )
    )

    private static let asColumn = "a boolean column that the settings name"

    private static let capabilities: Capabilities = [
        .operation(.identify): .native(note: "values of columns, or of attribute sets"),
        .operation(.switchContact): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logIn): .unsupported(reason: "there is no log-in at a back end"),
        .contact(.logOut): .unsupported(reason: "there is no log-in at a back end"),
        .operation(.registerDevice): .unsupported(reason: "devices register themselves"),
        .operation(.changeAttributes): .native(note: "rows at once, rows in jobs, or attribute sets of contacts"),
        .operation(.changeTags): .emulated(how: asColumn, cost: "sends by tag do not see it"),
        .operation(.changeSubscription): .emulated(how: asColumn, cost: "the account's own lists do not see it"),
        .operation(.setConsent): .unsupported(reason: "the vendor's API has no record of consent"),
        .operation(.track): .native(note: "custom events, as entries of journeys"),
        .operation(.unregister): .native(note: "no request is needed"),
        .operation(.erase): .native(note: "the contact and its attributes, hours later, in the whole enterprise"),
        .operation(.readBack): .native(note: "rows, page by page"),
        .identifier(.external): .native(note: "the contact's key itself"),
        .identifier(.email): .native(note: "where the settings name a column or an attribute"),
        .identifier(.phone): .native(note: "where the settings name a column or an attribute"),
        .attribute(.string): .native(note: "at most 4,000 characters"),
        .attribute(.integer): .native(note: "text in a job"),
        .attribute(.decimal): .native(note: "text in a job"),
        .attribute(.boolean): .native(),
        .attribute(.date): .native(note: "YYYY-MM-DD"),
        .attribute(.time): .emulated(how: "HH:MM", cost: "stored as text"),
        .attribute(.timestamp): .native(note: "RFC 3339 in UTC"),
        .attribute(.country): .emulated(how: "two letters", cost: "stored as text"),
        .attribute(.choices): .emulated(how: "joined by semicolons", cost: "one text, no semicolon inside a word"),
        .attribute(.list): .unsupported(reason: "a column holds one value"),
        .attribute(.object): .unsupported(reason: "a column holds one value"),
        .attributeUnset: .emulated(how: "empty text, or null", cost: "the row keeps the column"),
        .attributeIncrement: .unsupported(reason: "a repeat would count twice"),
        .attributeAppend: .unsupported(reason: "a column holds one value"),
        .tags: .emulated(how: asColumn, cost: "sends by tag do not see it"),
        .subscription(.push): .emulated(how: asColumn, cost: "the device's own opt-in stays"),
        .topics(.push): .emulated(how: asColumn, cost: "the device's own opt-in stays"),
        .subscription(.email): .emulated(how: asColumn, cost: "the account's own lists do not see it"),
        .topics(.email): .emulated(how: asColumn, cost: "the account's own lists do not see it"),
        .subscription(.sms): .emulated(how: asColumn, cost: "the account's own lists do not see it"),
        .topics(.sms): .emulated(how: asColumn, cost: "the account's own lists do not see it"),
        .subscription(.inApp): .unsupported(reason: "the account does not use it"),
        .topics(.inApp): .unsupported(reason: "the account does not use it"),
        .event(.custom): .native(note: "an event definition key for each name"),
        .event(.push): .unsupported(reason: "push messages are seen by devices"),
        .event(.messageViewed): .unsupported(reason: "messages are seen by devices"),
        .event(.messageClicked): .unsupported(reason: "messages are seen by devices"),
        .event(.sessionStarted): .unsupported(reason: "sessions happen on devices"),
        .event(.sessionEnded): .unsupported(reason: "sessions happen on devices"),
        .push(.received): .unsupported(reason: "push messages are seen by devices"),
        .push(.tapped): .unsupported(reason: "push messages are seen by devices"),
        .push(.dismissed): .unsupported(reason: "push messages are seen by devices"),
        .push(.opened): .unsupported(reason: "push messages are seen by devices"),
    ]
}

extension AdapterModule {
    /// The server API of Salesforce Marketing Cloud Engagement, for back ends.
    public static let salesforceServer = AdapterModule(
        id: SalesforceDevice.descriptor.id,
        title: SalesforceDevice.descriptor.title,
        apis: [SalesforceServer.self]
    )
}
