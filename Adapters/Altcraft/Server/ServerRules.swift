import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayModel

/// The rules of the vendor's server API: group V of the list that both APIs share. The forms of fields are the same in both.
enum AltcraftServerRules: Sendable {
    /// The rules of this API alone.
    static let own: [Rule] = table.map { Rule(.altcraft($0.0), $0.1, source: $0.2) }

    /// All rules of this API.
    static let all: [Rule] = own + (Rule.altcraft + Rule.altcraftImports).filter { shared.contains($0.id) }

    private static let shared: Set<RuleID> = Set(
        [
            "F1", "F7", "F8", "F9", "F10", "F11", "F12", "F13", "F14", "F15", "F19", "F20", "F21", "F22", "F25", "P1",
            "P3", "T7", "X3", "X4", "X6",
        ].map(RuleID.altcraft) + [FindingRow.actionUnknown.rule].compactMap(\.self)
    )

    private static let api = "Altcraft docs: developer-guide/api-interaction (confirmed)"
    private static let matching = "Altcraft docs: developer-guide/37848489 (matching, confirmed)"
    private static let batch = "Altcraft docs: developer-guide/profiles/2195504 (import multiple profiles, confirmed)"
    private static let results =
        "Altcraft docs: developer-guide/profiles/2195496 (add multiple profiles, confirmed); the same for imports (inferred)"
    private static let subscription =
        "Altcraft docs: developer-guide/objects/Profile-data-object_3116008; display/UAD/Add+or+edit+subscription"
    private static let deletion =
        "Altcraft docs: developer-guide/profiles/28936545 (delete profile, confirmed); 404 (inferred)"
    private static let goal = "Altcraft docs: developer-guide/goals/2195843; user-guide/pixels/9406180 (confirmed)"
    private static let push =
        "Altcraft docs: developer-guide/application-push-notifications/2196102 (confirmed); the payload's member (inferred)"
    private static let list =
        "Altcraft docs: developer-guide/profiles/37847989 (confirmed); the name of the next pointer (inferred)"
    private static let ours = "decision of this adapter; the vendor says nothing"

    private static let table: [(String, String, String)] = [
        ("V1", "Every request is a POST with JSON to /api/v1.1/ and the method's name at the platform's address.", api),
        (
            "V2",
            "The API token goes as a bearer token in a header, never in an address; one that is not taken stops the provider.",
            api
        ),
        ("V3", "Every request about profiles names the database.", api),
        (
            "V4",
            "A profile is found by matching: by a field of the database, by e-mail address or by phone number; the key is the operation's contact, else its subject.",
            matching
        ),
        (
            "V5", "An import has a profile for each contact in data: the key's field, other fields, subscriptions.",
            batch
        ),
        ("V6", "skip_triggers is false unless the settings say otherwise.", batch),
        (
            "V7",
            "At most 10,000 profiles and 10 MB go in one request; a larger profile goes alone.",
            "Altcraft docs: developer-guide/profiles/2195496 (recommended)"
        ),
        ("V8", "An import's result has a verdict for each profile, in order.", results),
        ("V9", "A request that is refused whole goes again in halves, until the profile at fault stands alone.", ours),
        (
            "V10",
            "The body's error decides, also beside HTTP 200: 0 is a yes, 401 to 403 stop the provider, other refusals are final.",
            api
        ),
        (
            "V11",
            "A field takes one instruction: where tags are deleted and added, the adding is a second request; a contact has one profile in a request.",
            ours
        ),
        ("V12", "A subscription stands under a resource; a topic has a resource of its own.", subscription),
        (
            "V13",
            "A subscription names channel, resource, address and status as a word; plain values stand under custom_fields.",
            subscription
        ),
        (
            "V14",
            "Whose address a subscription has is asked for first: that of the resource, else of the channel, else the profile's; an opt-out from a whole channel is written for each of its topics in resources, too; an opt-out without an address needs no request; an unregistration suspends what is subscribed.",
            ours
        ),
        (
            "V15",
            "A profile is deleted by its key, with its history and relations; one that is not there needs no deletion.",
            deletion
        ),
        ("V16", "A custom event is a goal of a pixel, with a name of at most 128 characters and its date.", goal),
        ("V17", "A goal's data is flat and at most 1 KB; a number may be its value.", goal),
        (
            "V18",
            "Goals and increments are sent once. If their delivery is uncertain, they are rejected as unknown, unless a setting says to repeat.",
            ours
        ),
        ("V19", "A push event names the message by uid, and what happened by number: 1 arrived, 2 opened.", push),
        ("V20", "Profiles are read in pages of at most 1,000, each from the pointer that the last one gave.", list),
        ("V21", "429 and Retry-After keep every request back.", ours),
        ("V22", "After 408, 5xx and silence the wait doubles from 2 s to 5 minutes, for all requests.", ours),
        (
            "V24",
            "An opt-out of a contact that the platform does not know, or has no address of, is kept. After each accepted request for the contact it is applied if the address is there, and it is kept until the vendor accepts it.",
            ours
        ),
        ("V23", "A success that is a web page, or not JSON, is none of the vendor's answers.", ours),
    ]
}
