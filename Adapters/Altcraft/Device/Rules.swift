package import PatchbayAdapterKit
import PatchbayModel

extension RuleID {
    /// One of this adapter's rules: `altcraft/B3`.
    package static func altcraft(_ number: String) -> RuleID { RuleID("altcraft", number) }
}

/// The vendor's rules by group: Q query, H headers, B bodies, T tokens, F fields, R outcomes and repeats, S answers,
/// L log-in, A credentials, P push events, M custom events, E ends (identity, consent, unregistration, erasure). X, the
/// rules of files, are with the files.
extension Rule {
    /// The source of a rule.
    private enum Source: String {
        case page = "Altcraft: SDK functions (push subscriptions, log-in and log-out, status queries)"
        case ios = "altcraft/ios-sdk"
        case both = "altcraft/ios-sdk and altcraft/android-sdk"
        case android = "altcraft/android-sdk"
        case login = "Altcraft docs: developer-guide/sdk/mobile/jwt-r-token"
        case update = "Altcraft docs: developer-guide/profiles/3113720 (database fields functional update)"
        case data = "Altcraft docs: developer-guide/objects/Profile-data-object_3116008"
        case types = "Altcraft docs: user-guide/profiles-and-databases/types-of-db-fields"
        case own = "decision of this adapter; the vendor says nothing"
    }

    private static func rule(_ number: String, _ text: String, _ source: Source) -> Rule {
        Rule(.altcraft(number), text, source: source.rawValue)
    }

    /// Every rule, for the descriptor.
    package static let altcraft: [Rule] = [
        rule(
            "Q1",
            "Paths are appended to an http or https address without a slash at its end; its query is kept.",
            .both
        ),
        rule("Q2", "A subscription request names provider, matching mode and sync in its query.", .both),
        rule(
            "Q3",
            "A token update names the new provider, the old token, and sync: true exactly with a role token.",
            .both
        ),
        rule("Q4", "A release of a suspension names provider, matching mode and the present token.", .ios),
        rule(
            "Q5",
            "A status query names the matching mode, and provider and token as far as the question asks for them.",
            .page
        ),
        rule("Q6", "The kind of a push event stands in its path; the query names the matching mode.", .both),
        rule(
            "Q7",
            "A custom event goes to its pixel: i is the pixel, tr is px, t is open, v is 2; no matching mode.",
            .both
        ),
        rule("Q8", "A profile update has no query.", .both),
        rule("Q9", "A query item without a value is left out; values are percent-encoded, the plus sign too.", .ios),
        rule(
            "Q10",
            "sync is true unless the caller says otherwise, written true or false (older SDKs: 1 or 0).",
            .page
        ),
        rule(
            "Q11",
            "Beside a role token profile fields travel in the subscription request, which names the push token; a setting decides.",
            .own
        ),
        rule("Q12", "The latest subscription of a provider is the present provider's where none is named.", .page),

        rule("H1", "Every request carries the credential as a bearer token.", .both),
        rule("H2", "Every request carries a UUID of its operation, the same on each repeat.", .both),
        rule("H3", "The content type is application/json, on a query without a body too.", .both),

        rule("B1", "time is the second of the call, not of the sending; it stays on repeats and is never 0.", .both),
        rule("B2", "The push token stands twice in a subscription request: at the top and in the subscription.", .both),
        rule("B3", "Subscribing, unsubscribing and suspending differ in the status alone.", .page),
        rule("B4", "The subscription's fields are always an object.", .ios),
        rule("B5", "cats is always a list; of a category only name and active are sent.", .page),
        rule("B6", "profile_fields is left out when there are none.", .ios),
        rule("B7", "replace and skip_triggers are false by default.", .both),
        rule("B8", "A token update names old and new token and provider.", .both),
        rule("B9", "A release of a suspension names token and provider, and replace is true.", .both),
        rule("B10", "A profile update holds the profile fields and skip_triggers.", .both),
        rule("B11", "A topic of push messages is the category of that name, active or not.", .page),
        rule(
            "B12",
            "A change of a topic keeps the subscription's status; an unknown status is queried first.",
            .own
        ),
        rule(
            "B13",
            "With replace, every subscription of other profiles of the database that has the push token is unsubscribed after success.",
            .page
        ),
        rule("B14", "With skip_triggers, triggers of campaigns and scenarios ignore the profile.", .page),
        rule("B15", "A suspension stops delivery and records no opt-out.", .page),
        rule(
            "B16",
            "Whether a list of categories is merged into the stored one or replaces it is not documented; a setting decides.",
            .own
        ),

        rule("T1", "A token update is sent when a saved token differs from the present one.", .both),
        rule("T2", "A token update comes before the subscription requests that need the token.", .android),
        rule("T3", "A token update that is refused is neither repeated nor remembered.", .both),
        rule("T4", "The token of a subscription request that worked is remembered.", .android),
        rule("T5", "Only the status subscribed needs the person's permission for notifications.", .both),
        rule("T6", "A status query names the remembered token first, then the present one.", .both),
        rule(
            "T7",
            "Providers are six: APNs, Firebase and Huawei on iOS; Firebase, Huawei and RuStore on Android.",
            .both
        ),
        rule("T8", "Without a token a subscription waits; a change of person has nothing to move.", .both),
        rule(
            "T9",
            "A subscribe gives way to a later decision of the same person about the whole subscription, and a topic to a later one about the topic.",
            .own
        ),
        rule("T11", "A push token is passed on unchanged; one of another form is refused at capture.", .own),
        rule("T10", "A changed role token ends what was captured and what was known under the old one.", .both),

        rule("F1", "A profile field takes any JSON value.", .page),
        rule(
            "F2",
            "A subscription field takes text, numbers, booleans and null; one nested value refuses the call.",
            .page
        ),
        rule("F3", "Facts of the device are collected into the subscription's fields.", .page),
        rule("F4", "Where names clash, the caller's fields win over the app's, and those over the device's.", .ios),
        rule("F5", "The advertising id is sent only if the person permits tracking.", .both),
        rule("F6", "The app's id, installation id and version are sent if they are known.", .both),
        rule("F7", "A profile field is cleared by the action unset with the value null.", .update),
        rule("F8", "A number is raised by the action incr.", .update),
        rule("F9", "Lists change by the actions add and delete, which take texts.", .update),
        rule("F10", "The e-mail address can't be cleared.", .update),
        rule("F11", "A date is written YYYY-MM-DD, a point in time as RFC 3339.", .types),
        rule("F12", "A gender is male or female, or a number.", .types),
        rule("F13", "A postal code is a whole number.", .data),
        rule("F14", "Tags on a person are a profile field of type tags.", .update),
        rule("F15", "A profile field that the platform does not know refuses the call.", .page),
        rule("F16", "A subscription field that the platform does not know refuses the call.", .page),
        rule("F17", "A category that is not attached to the resource refuses the call.", .page),
        rule("F18", "The six parameters of a subscription call are optional and the same for the three calls.", .page),
        rule("F19", "Phone numbers are a list of texts, an e-mail address is a text.", .data),
        rule("F20", "System fields begin with an underscore; others are created in the platform first.", .page),
        rule("F21", "A profile's status is a whole number.", .types),
        rule("F22", "An object that looks like an instruction is written by the instruction set.", .own),
        rule("F23", "What a null does to a field is not documented; a setting decides whether it is sent.", .own),
        rule(
            "F24",
            "An instruction is set, unset (null), incr (number), add or delete (list of texts) or upsert (object).",
            .update
        ),
        rule("F25", "Fields and categories have names.", .page),

        rule("R1", "A status of 200 to 299 is success, whatever the body says.", .both),
        rule("R2", "A status of 500 to 599 is repeated.", .page),
        rule("R3", "A request without an answer is repeated.", .both),
        rule("R4", "Any other answer is final.", .page),
        rule("R5", "Repeats come after 1, 5.5, 30, 166, 915 and then every 5033 seconds.", .ios),
        rule(
            "R6",
            "The foreground, the network or a start repeats at once; a new operation does not, unlike in the SDKs.",
            .ios
        ),
        rule(
            "R7",
            "The sixteenth answer without success ends an operation, except an opt-out; an outage does not count.",
            .both
        ),
        rule("R8", "A release of a suspension and a status query are not repeated by themselves, but for L12.", .both),
        rule(
            "R9",
            "An error number in a successful answer does not undo the success (documented), or does (setting).",
            .both
        ),
        rule(
            "R10",
            "An operation is rejected if its contact's next credential is refused, too; a setting stops the provider instead.",
            .both
        ),
        rule(
            "R11",
            "An outcome has a number: 230, 430, 530 for subscriptions; the others were renumbered later.",
            .page
        ),
        rule(
            "R12",
            "Operations of one stream go first in, first out, person by person; one that must be repeated stops its stream.",
            .both
        ),
        rule("R13", "A web page with a status of success is none of the vendor's answers; it is tried again.", .own),
        rule("S1", "The answer to a synchronous call carries the profile with its subscription.", .page),
        rule("S2", "The answer to a call that is not synchronous never has a profile.", .page),
        rule("S3", "A refusal carries HTTP code, error number and error text, and no profile.", .page),
        rule("S4", "Where the vendor could not be reached, an answer carries nothing of it.", .page),
        rule("S5", "A subscription is shown with all its fields, any JSON, the app's own too.", .page),
        rule(
            "S6",
            "A category is shown with name, title, steady and active; title and steady are the vendor's to fill.",
            .page
        ),
        rule("S7", "A question that finds no subscription is answered with none.", .page),
        rule(
            "S8",
            "The adapter reports a failed attempt that it will retry to the app, with the number 530 or a related one.",
            .page
        ),
        rule("S9", "A reply with another status or category than requested is reported.", .own),

        rule("L1", "A change of person first releases the suspension of the new person's subscription.", .page),
        rule("L2", "If that answers 200 without a subscription, a subscribe follows.", .page),
        rule("L3", "If that does not answer 200, nothing follows; the app must ask again.", .page),
        rule("L4", "With a role token there is one profile: log-in and log-out are impossible.", .login),
        rule(
            "L5",
            "The release suspends what is subscribed under the push token in other profiles, in all databases.",
            .page
        ),
        rule("L6", "The release subscribes again what is suspended in the person's own profile.", .page),
        rule("L7", "The release answers with the profile that the token names, or with none.", .page),
        rule(
            "L8",
            "Where the release finds a subscription, no subscribe follows; a log-out is a log-in of the anonymous person.",
            .page
        ),
        rule("L9", "The token of the person who comes signs the release.", .page),
        rule(
            "L10",
            "A log-in, a log-out or a subscribe that a later change of person has overtaken is rejected and kept.",
            .own
        ),
        rule(
            "L11",
            "Without consent to messages a change of person ends what reaches others and subscribes no person; a grant does the rest.",
            .own
        ),
        rule(
            "L12",
            "A release that was not sent, or that the vendor had no time for, is tried again; one without an answer as long as the "
                + "vendor may reach a person who has left.",
            .own
        ),
        rule(
            "L13",
            "An anonymous person's opt-out counts for the person who logs in next: it is the same person.",
            .own
        ),
        rule(
            "L14",
            "A denial of messages ends the person's push subscriptions, one of the profile suspends them; a grant subscribes again.",
            .own
        ),

        rule("A1", "A role token wins over the contact's token.", .both),
        rule(
            "A2",
            "The claim matching of the contact's token is JSON text (or an object) that names database and profile.",
            .both
        ),
        rule("A3", "Without any credential nothing is sent (540, 543).", .both),
        rule("A4", "A token whose claim can't be read is not used (541).", .ios),
        rule("A5", "A claim without database or matching is not used (542).", .ios),
        rule("A6", "A claim without an identifier is not used (545).", .both),
        rule("A7", "The claim's matching mode is passed on unchanged.", .both),
        rule("A8", "Beside a role token the matching mode is push_sub (Android) or the token itself (iOS).", .both),
        rule("A9", "A token's payload is smaller than 16 KiB.", .android),
        rule("A10", "A token stands in a header: visible ASCII, nothing else; a blank role token is none.", .own),

        rule("P1", "A push is the vendor's if its payload has the key _ac_push.", .both),
        rule(
            "P2",
            "A push event names the message by the payload's _uid; one that the app gives is the fallback.",
            .both
        ),
        rule("P3", "The receipt of a push message is a delivery; a tap or an opening is an open.", .both),
        rule("P4", "Push events are independent of each other.", .both),
        rule("P5", "A push event has exactly two fields: time and smid.", .both),

        rule("M1", "A custom event needs a pixel.", .both),
        rule("M2", "A custom event is a form of parts in a fixed order.", .both),
        rule("M3", "Parts tz, t, aci and wn always stand; aci may be empty.", .both),
        rule("M4", "tz is the offset from UTC in minutes with its sign turned round.", .both),
        rule("M5", "The values of an event are text, numbers, booleans and null.", .both),
        rule("M6", "Absent parts are left out, and so are empty matching mode, campaign words and message id.", .ios),
        rule("M7", "mi is a JSON string (iOS), or the text itself (Android); a setting decides.", .ios),
        rule(
            "M8",
            "A subscription that an event attaches has one of four forms; its categories are plain texts.",
            .both
        ),
        rule("M9", "The boundary is Boundary- and a UUID.", .ios),
        rule("M10", "An event names its pixel and client id; the configuration's are used where it does not.", .ios),
        rule("M11", "If the time zone is unknown, an event contains UTC and a finding reports it.", .own),
        rule(
            "M12",
            "Whose fields and subscription an event carries is said by matching mode and identifiers where a role token signs.",
            .own
        ),

        rule("E1", "Leaving suspends: delivery stops, and no opt-out is recorded.", .page),
        rule("E2", "An app can't delete a profile; an erasure unsubscribes the person first.", .own),
        rule("E3", "The vendor has no record of consents.", .own),
        rule("E4", "Who a person is stands in the credential alone, never in a body.", .both),
        rule("E5", "Leaving never turns an opt-out into a suspension: only what is subscribed is suspended.", .own),

        rule("E6", "A subscribing operation that can't be sent before the unregister is rejected and kept.", .own),

        rule(
            "E7",
            "While the system does not permit notifications, the subscription is suspended; a registration with the permission "
                + "subscribes it again.",
            .own
        ),
    ]
}
