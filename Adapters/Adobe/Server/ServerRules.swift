import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayModel

/// The rules of the vendor's server API: group B (back end) of the list that all APIs share.
enum AdobeServerRules: Sendable {
    /// Every rule.
    static let all: [Rule] = table.map { Rule(.adobe($0.0), $0.1, source: $0.2) }

    private static let console = "Adobe developer console: OAuth server-to-server"
    private static let access = "Campaign Standard documentation: Setting up API access"
    private static let mustRead = "Campaign Standard documentation: Must-read of the APIs"
    private static let verbs = "Campaign Standard documentation: Verbs"
    private static let profiles = "Campaign Standard documentation: Creating, retrieving and updating profiles"
    private static let filters = "Campaign Standard documentation: Filtering; composite keys and filters"
    private static let pages = "Campaign Standard documentation: Pagination"
    private static let model = "Campaign Standard documentation: data model of profiles"
    private static let services = "Campaign Standard documentation: Managing services and subscriptions"
    private static let trouble = "Campaign Standard documentation: Troubleshooting; Campaign v8: Limitations"
    private static let house = "decision of this adapter; the vendor says nothing"

    private static let table: [(String, String, String)] = [
        ("B1", "A token is asked for with POST and a form: client id, client secret, grant type and scope.", console),
        (
            "B2",
            "A token is asked for when there is something to send, kept until it ends, and shared by all requests.",
            house
        ),
        ("B3", "On 401 one fresh token and the same request once more; a second 401 stops.", trouble),
        ("B4", "Every request bears the token, the client id as API key, no-cache and a JSON content type.", access),
        ("B5", "Addresses are those of the gateway, with organisation, campaign and resource.", mustRead),
        (
            "B6",
            "A profile is found by the vendor's filter for addresses, by text, by a filter of the account, or by a key of the account in the address.",
            filters
        ),
        ("B7", "A profile counts as found only if its field has the key: a text search finds beginnings.", filters),
        (
            "B8",
            "A collection is followed by the address that each page gives: its path and query as they are, at the API's own host.",
            pages
        ),
        (
            "B9",
            "Several profiles with the same key: an opt-out is carried out at each of them, anything else is rejected.",
            house
        ),
        ("B10", "A profile that is not there is made by POST, with the contact's key in its field.", profiles),
        ("B11", "A profile that is there is changed by PATCH, with what changed alone.", profiles),
        (
            "B12",
            "A POST that may have made a profile is never repeated after an uncertain delivery: the profile is queried.",
            house
        ),
        (
            "B13",
            "The vendor's keys are not kept: each operation queries them, up to three times if they are gone.",
            mustRead
        ),
        ("B14", "Fields have the names, lengths and words of the vendor's data model.", model),
        ("B15", "Computed fields are not written, and other records not inside this one.", model),
        (
            "B16", "Fields that an account adds begin with cus, and profileAndServicesExt alone sees them.",
            "Campaign Standard documentation: Endpoints"
        ),
        (
            "B17",
            "Days are YYYY-MM-DD, points in time have a space or a T between day and time; a field holds one value.",
            "Campaign Standard documentation: Managing transactional messages; data model of profiles"
        ),
        (
            "B18",
            "A removed value is written as empty text, as the vendor shows it, or as null where a setting says so.",
            house
        ),
        ("B19", "The vendor has no tags: a boolean field of its own says true or false.", house),
        ("B20", "A blackList flag of the profile means: do not contact on this channel.", model),
        ("B21", "A topic is a service, found by its name.", services),
        (
            "B22",
            "The profile's subscriptions are looked through first; what is there already, or not there, needs no request.",
            house
        ),
        (
            "B23", "A profile is subscribed by POST of the service's key to the address that the profile names.",
            services
        ),
        ("B24", "A subscription ends by DELETE of its own address, never of the service's.", services),
        ("B25", "A subscription that may have been made is queried first, and not made twice.", house),
        ("B26", "DELETE forgets a profile; one that is not there needs none.", verbs),
        (
            "B27",
            "Mistakes of a client come as 500 with a code in the text; 404 with a code means that there is no such document.",
            trouble
        ),
        ("B28", "500 and 502 with a number as code mean a wrong organisation, and stop.", trouble),
        ("B29", "403 means that the product is not provisioned, or the API key wrong, and stops.", trouble),
        (
            "B30",
            "After 408, 429, other 5xx and silence the wait doubles from 2 s to 5 minutes, for all requests; Retry-After is kept.",
            house
        ),
        ("B31", "500 without a known code is retried up to the number of times that a setting gives.", house),
        (
            "B32",
            "An error's body may be an object, a text or none; every refusal without a row is final for what it was about.",
            trouble
        ),
        ("B33", "A web page with a status of success is none of the vendor's answers.", house),
        ("B34", "Collections are read page by page; a large one names its next page only when it is asked to.", pages),
        (
            "B35",
            "What waits for one contact goes in one request, the last value of each field; a refused one goes again in halves.",
            house
        ),
        (
            "B36", "The contact's key is the operation's contact, else its subject; white space around it is removed.",
            house
        ),
        (
            "B37", "This API carries profiles, services and subscriptions: devices, events and consent have no place.",
            mustRead
        ),
        (
            "B38",
            "A yes is HTTP 200, 201 or 204 with what was asked for; one that can't be understood counts as no answer.",
            verbs
        ),
        (
            "B39",
            "A blackList flag that is false refuses nothing; whether it is a yes a setting says. blackList refuses every channel.",
            model
        ),
        (
            "B40",
            "A person who leaves a service leaves no record: a missing subscription counts as an opt-out unless a setting says otherwise.",
            house
        ),
        (
            "B41",
            "A missing service is created by POST with name, label and channel if a setting permits it; after an uncertain delivery it is queried first.",
            services
        ),
    ]
}
