import PatchbayAdapterKit
import PatchbayModel
import PatchbaySalesforce

/// The rules of the vendor's server API: group V of the list that both APIs share.
enum SalesforceServerRules: Sendable {
    /// Every rule.
    static let all: [Rule] = table.map { Rule(.salesforce($0.0), $0.1, source: $0.2) }

    private static let rest = "MC REST documentation (confirmed)"
    private static let client = "Public client of the REST API, its tests (secondary)"
    private static let loader = "Public data loader for data extensions (secondary)"
    private static let page = "MC REST documentation (confirmed); the page's parameter and the order (inferred)"
    private static let limits = "Salesforce Help, API limits (confirmed)"
    private static let upsert = "MC REST documentation (confirmed); their order (inferred)"
    private static let inferred = "MC REST documentation (inferred)"
    private static let ours = "Decision of this adapter (inferred)"
    private static let fields = "Field types of data extensions (confirmed)"

    private static let table: [(String, String, String)] = [
        (
            "V1",
            "A token is asked for with POST and JSON: grant type, client id and client secret of an installed "
                + "package.",
            rest
        ),
        (
            "V2",
            "A token is asked for when there is something to send, kept until it ends, and shared by all "
                + "requests: the vendor wants about one for each 20 minutes.",
            rest
        ),
        ("V3", "On 401 one fresh token and the same request once more; a second 401 stops.", client),
        ("V4", "Requests go to the REST host that the token's reply names, with or without scheme and slash.", rest),
        (
            "V5",
            "Business unit and scopes go into the question for a token; what is left out means the package's own "
                + "unit and all scopes.",
            rest
        ),
        (
            "V6",
            "What is said of a contact becomes rows of a data extension, a row of a job, or attributes of the "
                + "contact.",
            ours
        ),
        ("V7", "Columns are called as the account calls them; each has one source.", ours),
        (
            "V8",
            "A row set is a bare array of rows with `keys` and `values`; the primary key decides between new and "
                + "changed.",
            rest
        ),
        ("V9", "At most 50 rows and 50 columns go in one row set.", limits),
        (
            "V10",
            "One bad row refuses its whole row set, so a refused set goes again in halves until the bad row "
                + "stands alone.",
            rest
        ),
        ("V11", "External keys are percent-encoded in paths.", loader),
        ("V12", "A job's body has flat rows under `items`, numbers as text.", rest),
        ("V13", "202 with a request id means that a job is queued.", rest),
        ("V14", "HTTP 200 with `resultMessages` means that a job is not queued, although an id is there.", rest),
        ("V15", "A job is asked for 5 s after it was handed in, and every 5 s until it is complete.", loader),
        ("V16", "A job's results are one for each row, in order, on pages of 50.", page),
        ("V17", "A job has at most 2,500 rows and 5,500,000 bytes; a larger row goes alone.", loader),
        (
            "V18", "POST creates a contact and PATCH changes one; where one does not fit, the other follows once.",
            upsert
        ),
        (
            "V19",
            "A contact's request names one of the sets of addresses at least; an operation that does not say the address "
                + "bears it as an option.",
            "MC REST documentation (confirmed); the option is ours"
        ),
        ("V20", "Each attribute set stands once in a contact's request.", rest),
        (
            "V21", "HTTP 200 is a yes only without `hasErrors`, with `operationStatus` OK, and without an error code.",
            inferred
        ),
        ("V22", "Contacts are deleted by their keys, with their attributes.", rest),
        ("V23", "A journey event has ContactKey, EventDefinitionKey and Data, spelt with capital letters.", rest),
        ("V24", "Data holds fields of the event's data extension; a missing required one is a validation error.", rest),
        (
            "V25",
            "An event is sent once. If its delivery is uncertain, it is rejected as unknown, unless a setting says to "
                + "repeat.",
            ours
        ),
        ("V26", "Retry-After, or `retryAfter` in the body, keeps every request back for so long.", rest),
        ("V27", "429 with code 50200 has no Retry-After; the wait doubles.", rest),
        ("V28", "After 408, 5xx and silence the wait doubles from 2 s to 5 minutes, for all requests.", ours),
        (
            "V29", "Without an answer, or with one that can't be understood, rows go again; they replace themselves.",
            ours
        ),
        ("V30", "403 means a missing permission and stops.", rest),
        ("V31", "404 on a row route means that there is no such data extension, and stops.", rest),
        ("V32", "Every other refusal is final for what it was about.", rest),
        ("V33", "A web page with a status of success is none of the vendor's answers.", ours),
        ("V34", "Rows are read in pages of at most 2,500; `items` may be absent.", rest),
        ("V35", "Columns are one where they differ in letter case alone.", inferred),
        (
            "V37", "The contact key is the operation's contact, else its subject; white space around it is removed.",
            ours
        ),
        (
            "V38",
            "Values are text, numbers or booleans: days YYYY-MM-DD, points in time RFC 3339 in UTC, choices "
                + "joined by semicolons.",
            rest
        ),
        ("V39", "A column holds at most 4,000 characters.", fields),
        ("V40", "A tag is a boolean column of its own; the API has no route for tags of devices.", ours),
        ("V41", "A subscription is a boolean column; unknown is neither yes nor no and is not written.", ours),
        ("V42", "A removed value is written as empty text, or as null where a setting says so.", ours),
        (
            "V43",
            "Of several values for one column in one request the last is sent; an operation without a remaining "
                + "value is superseded.",
            ours
        ),
        ("V44", "A deletion is queued, may take hours, concerns the whole enterprise and can't be taken back.", rest),
        ("V45", "Devices register themselves: one that a back end writes stays out of reach.", ours),
        (
            "V47",
            "A contact's request is complete: Email Addresses with HTML Enabled, MobileConnect Demographics with Locale, "
                + "MobilePush Demographics with Application, and Email Demographics beside Email Addresses.", rest
        ),
        ("V46", "A job that the vendor knows nothing of any more goes again, three times at most.", rest),
    ]
}
