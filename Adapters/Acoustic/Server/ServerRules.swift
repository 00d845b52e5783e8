import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayModel

/// The rules of the vendor's server API: group S of the list that both APIs share.
enum AcousticServerRules: Sendable {
    /// Every rule.
    static let all: [Rule] = table.map { Rule(.acoustic($0.0), $0.1, source: $0.2) }

    private static let basics = "Acoustic Campaign reference: basics, and creating a token (confirmed)"
    private static let client = "public clients of the XML interface, their tests (confirmed)"
    private static let reference = "Acoustic Campaign reference: the call's own page (confirmed)"
    private static let fields = "IBM/Acoustic: Database field definitions (confirmed)"
    private static let codes = "the vendor's connector: list of fault numbers (confirmed); what to do is ours"
    private static let events = "the vendor's connector, and a Swagger file of the events interface (confirmed)"
    private static let gdpr = "public client with recorded answers (confirmed)"
    private static let inferred = "field definitions; their use in XML (inferred)"
    private static let consents =
        "Acoustic Campaign reference: shared channel consent; a public client for text messages (GET confirmed, PUT inferred)"
    private static let channels = "Acoustic Campaign reference: shared contact by channel (confirmed)"
    private static let house = "decision of this adapter; the vendor says nothing"

    private static let table: [(String, String, String)] = [
        ("S1", "A token is asked for with a form: the refresh token, client id and client secret.", basics),
        (
            "S2",
            "A token lives four hours and is shared by all requests; asked again within three hours, the vendor hands out "
                + "the same one.",
            basics
        ),
        (
            "S3", "On 401 or fault 145 the token is asked for once more and the same goes again; a second no stops.",
            client
        ),
        (
            "S4", "At most ten requests of an organisation are under way at once; the eleventh is refused at once.",
            basics
        ),
        (
            "S5", "Every XML call is a POST of an envelope to one address; names of elements are case-sensitive.",
            reference
        ),
        ("S6", "AddRecipient with UPDATE_IF_FOUND adds a contact or changes it.", reference),
        ("S7", "UpdateRecipient changes a contact that is there.", reference),
        ("S8", "Faults 122 and 123 lead to the other of both calls, once.", codes),
        ("S9", "A flexible database finds contacts by sync fields, a keyed one by its key columns.", reference),
        ("S10", "HTTP 200 is a yes only with SUCCESS true, in whatever letter case.", client),
        ("S11", "A fault's number says what is wrong with call, column or value; it is final.", codes),
        ("S12", "Faults 50, 120, 1003 and 1005 are tried again, five times in all.", codes),
        ("S13", "Faults 106, 150 and 310 stop: a person has to act.", codes),
        ("S14", "A column is named exactly, letter case included, and has one source.", reference),
        ("S15", "Values are texts: Yes or No, digits, the text itself.", fields),
        ("S16", "Days are MM/dd/yyyy, times HH:mm:ss, instants both in UTC, without fractions of a second.", inferred),
        ("S17", "A country is two letters; whether lower or upper case is a setting.", inferred),
        ("S18", "Selections take allowed values; several are joined by semicolons, always the whole set.", fields),
        ("S19", "A text has 4000 characters at most, a number 255 digits.", fields),
        ("S20", "A value is removed by an empty VALUE; how is not documented, so a setting can refuse it.", house),
        (
            "S21", "Control characters have no place in XML; markup is stored as entities unless ALLOW_HTML is true.",
            reference
        ),
        ("S22", "Segmenting, system, sync and consent columns are never written as values.", fields),
        ("S23", "A column that the device owns is written with a warning.", house),
        ("S24", "One bad entry refuses the operation, unless a setting sends the valid rest.", house),
        ("S25", "Several words of one contact go in one call; of several values for a column the last is sent.", house),
        ("S26", "A refused group goes again in halves, until the one at fault stands alone.", house),
        (
            "S27", "The contact's key is the operation's contact, else its subject, without white space around it.",
            house
        ),
        ("S28", "A tag is a Yes/No column of its own.", house),
        ("S29", "A subscription is a Yes/No column; unknown is neither and is not written.", house),
        ("S30", "OptOutRecipient ends e-mail to a contact; no call takes that back.", reference),
        ("S31", "An opt-out and a removal name the address, which the database is asked for first.", reference),
        ("S32", "RemoveRecipient takes a contact out of the database.", reference),
        ("S33", "An erasure job takes lines of column name and value, without a header, for many contacts.", gdpr),
        ("S34", "An erasure job is asked for until its answer has no status.", gdpr),
        ("S35", "An erasure job that the vendor knows nothing of goes again, three times at most.", house),
        ("S36", "Events are posted as a list with code, timestamp, contact and members.", events),
        (
            "S37", "An event without a code is a named event, 17; sessions are 13 and 14, push messages 48 and 49.",
            events
        ),
        (
            "S38",
            "An event is sent once. After an uncertain delivery it is rejected as unknown, unless a setting permits a repeat.",
            house
        ),
        ("S39", "Members of an event are texts; nested ones are left out, and the event goes.", events),
        ("S40", "Events go in batches; no most is published, so it is a setting.", house),
        (
            "S41",
            "An event names its contact by the vendor's number, which the database is asked for first; a contact that is not "
                + "there is added with its key.",
            events
        ),
        ("S42", "400, 409 and errors listed in a yes are final for what they were about.", events),
        ("S43", "After 408, 429, 5xx and silence all requests wait, longer each time; Retry-After is kept.", basics),
        ("S44", "403 stops, and so does 404 where the address is not a job's.", house),
        ("S45", "A web page with a status of success is none of the vendor's answers.", house),
        ("S46", "SelectRecipientData answers with the contact's number, address and columns.", reference),
        (
            "S47",
            "ImportList takes a file that lies in the upload directory; its job is asked for, and may drop rows although "
                + "it is complete.",
            client
        ),
        ("S48", "Devices register themselves.", house),
        ("S49", "Without a clear answer a call that replaces or finds goes again.", house),
        (
            "S50",
            "A channel's consent stands under channel, qualifier and destination; GET reads it, and that PUT writes it is "
                + "inferred.",
            consents
        ),
        (
            "S51",
            "A consent is OPTED-IN or OPTED-OUT, with date and source where they are known; OPT-IN and OPT-OUT are read, too, and "
                + "all else is unknown.",
            consents
        ),
        (
            "S52", "A no to text messages can't be added, only a yes be changed: so the consent is asked for first.",
            "a guide of HCL Unica to this product (confirmed); asking first is ours"
        ),
        (
            "S53",
            "A push consent names one device by options, a text-message consent a number by option or the contact's own.",
            house
        ),
        ("S54", "The contact of a device is read by its channel: address and custom fields.", channels),
        (
            "S55",
            "A tag or a topic may be membership of a contact list, which AddContactToContactList adds; for an existing "
                + "member this changes nothing, fault 1018 included.",
            reference
        ),
        ("S56", "No call takes a contact out of a contact list, so a removal is refused.", house),
        (
            "S57",
            "CreateContactList makes a contact list, private or shared; after an uncertain delivery the call is not repeated.",
            reference
        ),
        (
            "S58",
            "GetListMetaData returns the database's columns with types, values and keys; the adapter compares them with the settings.",
            reference
        ),
        (
            "S59",
            "A job like that of an erasure returns the data that the vendor holds of a person.",
            gdpr
        ),
        (
            "S60",
            "ExportList writes contacts into a file of the download directory and names it and a job, which is asked for.",
            client
        ),
        (
            "S61",
            "Events that were taken and failed later are listed at an address of their own, whose beginning is inferred from "
                + "the submission's.",
            events
        ),
        (
            "S62",
            "An opt-out of a contact that the database does not have waits until the contact is written with an address, and "
                + "follows at once. The database is queried for the contact again, first after an hour and then at least "
                + "daily. A contact whose key is the address is added and opted out.",
            house
        ),
        (
            "S63",
            "A query waits for its job within the reader's timeout; a job that takes longer, or whose state cannot be "
                + "queried, is answered with its number.",
            house
        ),
    ]
}
