package import PatchbayAdapterKit
import PatchbayModel

extension RuleID {
    /// One of this adapter's rules: `acoustic/C3`.
    package static func acoustic(_ number: String) -> RuleID { RuleID("acoustic", number) }
}

/// The vendor's rules by group: W wire, C columns and values, O ownership, G groups, K expected values, Q queue, E
/// events, P push, I identity, T tags, L lifecycle, V outcomes, R replies.
extension Rule {
    /// The source of a rule.
    private enum Source: String {
        case guide = "Acoustic Campaign developer guide: Attributes"
        case android = "go-acoustic/Acoustic-Mobile-Push-Android: published class documents"
        case ios = "go-acoustic/Acoustic-Mobile-Push-iOS: published headers"
        case wrappers = "the vendor's React Native, Flutter, Cordova and Xamarin wrappers"
        case plugin = "go-acoustic/Acoustic-Mobile-Push-React-Native: plug-ins"
        case fields = "IBM/Acoustic: Database field definitions"
        case files = "go-acoustic/integrations-treasure-data"
        case config = "MceConfig.json of the vendor's SDKs (15 and 20 minutes disagree)"
        case queue = "Acoustic Campaign developer guide: Attributes (back-off); the numbers are ours"
        case behaviors = "Acoustic Campaign developer guide: Events; help centre: Universal Behaviors"
        case connector = "Silverpop/mobile-connector-sdk-ios"
        case consent = "Acoustic Campaign reference: channel consent"
        case identity = "Acoustic Campaign reference: establish identity"
        case muid = "Acoustic help centre: assign new MUIDs"
        case reset = "Acoustic Campaign developer guide: re-initialise the SDK after an erasure"
        case own = "decision of this adapter; the vendor says nothing"
    }

    private static func rule(_ number: String, _ text: String, _ source: Source) -> Rule {
        Rule(.acoustic(number), text, source: source.rawValue)
    }

    /// Every rule, for the descriptor.
    static let acoustic: [Rule] = [
        rule("W1", "An update carries a list of entries, each with key, type and value, at least one.", .android),
        rule("W2", "A delete carries a list of keys, at least one. Its body's member is inferred.", .android),
        rule("W3", "Events go in a list; the list's name is inferred.", .android),
        rule("W4", "The base address is taken with or without the version segment.", .wrappers),
        rule("W5", "An entry names value and type; the types are string, number, boolean and date.", .guide),
        rule(
            "W6",
            "An update keeps the columns that it does not name; the old operation that replaces all is not used.",
            .guide
        ),
        rule(
            "W7",
            "Verbs, paths and wrappers that are not published are data, and the configuration corrects them.",
            .own
        ),
        rule("W8", "App key, user id and channel id stand in the path, percent-encoded.", .android),

        rule("C1", "A column is named exactly, case included, and exists; else the whole group is lost.", .guide),
        rule("C2", "A value has its column's type; else the whole group is lost.", .guide),
        rule(
            "C3",
            "A country is a two-letter code of ISO 3166-1 in lower case; another one is taken and can't be asked for.",
            .guide
        ),
        rule("C4", "A date is text, yyyy-MM-dd, the day that the caller says, moved through no zone.", .guide),
        rule("C5", "A time is text, HH:mm in 24 hours, without seconds and zone.", .guide),
        rule("C6", "A timestamp is a native instant, written in UTC with the type date, never as text.", .guide),
        rule("C7", "A multi-selection takes allowed values alone, joined by semicolons, always the whole set.", .guide),
        rule("C8", "A selection takes one allowed value, up to 100 characters.", .fields),
        rule("C9", "A number is finite, up to 255 digits, whole numbers without a point.", .fields),
        rule(
            "C10",
            "Null, lists and objects have no form; a value is cleared by a delete, and nothing is added to a value.",
            .wrappers
        ),
        rule("C11", "A lookup key is never written by a device; the failure would not be seen.", .guide),
        rule(
            "C12",
            "System columns, e-mail, segmenting, sync ids and columns of consent are never written by a device.",
            .fields
        ),
        rule("C13", "A text has 4000 characters at most.", .fields),
        rule("C14", "A column's name has 3 to 255 characters.", .files),
        rule("C15", "Without a schema only the rules for every column are checked, and the finding says so.", .own),
        rule("C16", "A phone number for text messages is digits with the country's code.", .fields),
        rule("C17", "A phone number of the other type is free text.", .fields),
        rule("C18", "Yes/No is true or false, never 0 or 1.", .fields),

        rule("O1", "One mechanism writes a column: the device or the server, never both.", .guide),

        rule(
            "G1",
            "An update is one atomic write, so an operation is judged whole and every problem is reported.",
            .guide
        ),
        rule("G2", "By a setting the valid rest of an operation goes.", .own),
        rule(
            "G3",
            "A group that the vendor refuses is halved, a second apart, until the bad entry stands alone.",
            .own
        ),
        rule(
            "G4",
            "Changes go as a group: after a pause of two seconds, at once as an explicit group or with a flush.",
            .guide
        ),
        rule("G5", "Of two values for one column in a pending group the last one goes.", .own),
        rule("G6", "Values and deletes are requests of their own and keep their order.", .android),

        rule("K1", "A value that the vendor holds is not sent again: the knowledge has no time limit.", .guide),
        rule("K2", "Of a group only the members that change are sent.", .guide),
        rule("K3", "After a delete the value is not known, so setting it again is sent.", .own),
        rule("K4", "A delete is sent even for a column that was never written: it cures a poisoned cache.", .guide),
        rule("K5", "Other ids, another person and a reset forget every known value.", .guide),
        rule("K6", "Values are compared with their type; 40 and 40.0 are one number.", .own),
        rule("K7", "A value counts as held after a success, and as unknown after an uncertain delivery.", .own),
        rule("K8", "What the vendor took may need five minutes to be visible.", .guide),
        rule("K9", "What the vendor took may fail later, unseen.", .guide),

        rule(
            "Q1",
            "After a failure 1, 2, 4, 8, 16, 32, then every 60 minutes, moved by chance up to a fifth, without end.",
            .queue
        ),
        rule("Q2", "Retry-After decides if it is longer.", .android),
        rule("Q3", "Attributes, events and registration wait each for itself.", .android),
        rule("Q4", "Nothing leaves before user and channel id are known.", .own),
        rule("Q5", "401, 403, 404 and 410 stop the API, keep what is pending and have the ids asked for.", .own),
        rule("Q6", "Another 4xx ends the operation with its reason.", .own),

        rule("E1", "An event has a type and a name that are not empty.", .android),
        rule("E2", "An event of the app's own has the type custom.", .plugin),
        rule("E3", "The vendor's own events have fixed types and names.", .wrappers),
        rule("E4", "An event carries its instant in UTC.", .wrappers),
        rule(
            "E5",
            "An event's attributes are plain values with types; nested ones are left out with a warning.",
            .connector
        ),
        rule("E6", "An event may name its campaign.", .ios),
        rule("E7", "A mailing id is a number, or digits; an event goes without another one.", .ios),
        rule("E8", "Events wait for an interval or a flush; an urgent one takes all along.", .config),
        rule("E9", "Which events become visible the account decides; custom events are off by default.", .behaviors),
        rule("E10", "The end of a session carries its length.", .wrappers),
        rule(
            "E11",
            "The event of a click is named by what it opened and carries the button and the target.",
            .wrappers
        ),
        rule("E12", "No most of events in a request is published, so it is a setting.", .own),

        rule("P1", "This vendor's push holds a member mce with attribution and mailing id.", .plugin),
        rule("P2", "A push that was tapped or opened is a simpleNotification.", .wrappers),
        rule("P3", "The receipt or the dismissal of a push message has no event.", .wrappers),
        rule("P4", "The push permission is reported as uiPushEnabled or uiPushDisabled.", .wrappers),
        rule("P5", "Date and source of a consent travel through the back end.", .consent),
        rule("P6", "A device reports push alone, without topics.", .consent),
        rule("P7", "An opt-out of push leaves at once, before everything else that is pending.", .own),
        rule(
            "P8",
            "While messaging on push is denied, or required and unanswered, push is reported as disabled; a grant reports it again.",
            .own
        ),
        rule(
            "P9",
            "The vendor keeps one push state for a pair of ids; a person who comes back gets what that person said last.",
            .own
        ),

        rule("I1", "User and channel id are given by the app, or asked for by calls whose form is inferred.", .own),
        rule("I2", "The installation is registered again when one of its facts changes.", .android),
        rule("I3", "The ids are asked for once a day, and at once after a change of person.", .ios),
        rule(
            "I4",
            "invalidateExistingUser makes a reinstalled app a new user and deletes the old one for good.",
            .muid
        ),
        rule("I5", "Only the back end can identify a person; the device can't.", .identity),
        rule("I6", "There is no log-out.", .identity),
        rule("I7", "After an erasure nothing is sent until the device registers again.", .reset),
        rule("I8", "User and channel id come together.", .ios),
        rule(
            "I9",
            "Nothing that one person captured is sent under another person's ids: it goes before the ids change, or ends.",
            .own
        ),
        rule(
            "I10",
            "Before other ids are taken from the app, push is reported as disabled under the former ones.",
            .own
        ),

        rule(
            "T1",
            "Tags are the allowed values of one multi-selection column, sent whole; an empty set is a delete.",
            .own
        ),
        rule("T2", "A tag may have a Yes/No column of its own.", .own),
        rule("T3", "A tag is a value that the column can hold.", .guide),

        rule("L1", "A device can't read attributes back, so its own knowledge answers.", .guide),
        rule("L2", "Consent is kept and obeyed here.", .consent),
        rule("L3", "An unregister reports push as disabled.", .own),
        rule("L4", "An erasure is the back end's job; here everything is forgotten.", .reset),

        rule(
            "V1",
            "The outcome of an update or delete names the accepted and the rejected columns.",
            .ios
        ),

        rule("R1", "Any 2xx is a yes: received, not stored.", .own),
        rule("R2", "408, 425 and 5xx are tried again.", .own),
        rule("R3", "Too many updates are throttled.", .guide),
        rule("R4", "Without an answer it is tried again.", .own),
        rule("R5", "Any other status is tried again.", .own),
        rule("R6", "A web page with a status of success is none of the vendor's answers; it is tried again.", .own),
    ]
}
