package import PatchbayAdapterKit
import PatchbayModel

extension RuleID {
    /// One of this adapter's rules: `acoustic/C3`.
    package static func acoustic(_ number: String) -> RuleID { RuleID("acoustic", number) }
}

/// The vendor's rules by group: W wire, C columns and values, O ownership, G groups, K knowledge, Q queue, E events, P push,
/// I identity, T tags, L life, V verdicts, R answers.
extension Rule {
    /// The source of a rule.
    private enum Source {
        static let guide = "Acoustic Campaign developer guide: Attributes"
        static let android = "go-acoustic/Acoustic-Mobile-Push-Android: published class documents"
        static let ios = "go-acoustic/Acoustic-Mobile-Push-iOS: published headers"
        static let wrappers = "the vendor's React Native, Flutter, Cordova and Xamarin wrappers"
        static let plugin = "go-acoustic/Acoustic-Mobile-Push-React-Native: plug-ins"
        static let fields = "IBM/Acoustic: Database field definitions"
        static let files = "go-acoustic/integrations-treasure-data"
        static let config = "MceConfig.json of the vendor's SDKs (15 and 20 minutes disagree)"
        static let queue = "Acoustic Campaign developer guide: Attributes (back-off); the numbers are ours"
        static let behaviors = "Acoustic Campaign developer guide: Events; help centre: Universal Behaviors"
        static let connector = "Silverpop/mobile-connector-sdk-ios"
        static let consent = "Acoustic Campaign reference: channel consent"
        static let identity = "Acoustic Campaign reference: establish identity"
        static let muid = "Acoustic help centre: assign new MUIDs"
        static let reset = "Acoustic Campaign developer guide: re-initialise the SDK after an erasure"
        static let house = "decision of this adapter; the vendor says nothing"
    }

    private static func rule(_ number: String, _ text: String, _ source: String) -> Rule {
        Rule(.acoustic(number), text, source: source)
    }

    /// Every rule, for the descriptor.
    static let acoustic: [Rule] = [
        rule("W1", "An update carries a list of entries, each with key, type and value, at least one.", Source.android),
        rule("W2", "A delete carries a list of keys, at least one. Its body's member is inferred.", Source.android),
        rule("W3", "Events go in a list; the list's name is inferred.", Source.android),
        rule("W4", "The base address is taken with or without the version segment.", Source.wrappers),
        rule("W5", "An entry names value and type; the types are string, number, boolean and date.", Source.guide),
        rule(
            "W6",
            "An update keeps the columns that it does not name; the old operation that replaces all is not used.",
            Source.guide
        ),
        rule(
            "W7",
            "Verbs, paths and wrappers that are not published are data, and the configuration corrects them.",
            Source.house
        ),
        rule("W8", "App key, user id and channel id stand in the path, percent-encoded.", Source.android),

        rule("C1", "A column is named exactly, case included, and exists; else the whole group is lost.", Source.guide),
        rule("C2", "A value has its column's type; else the whole group is lost.", Source.guide),
        rule(
            "C3",
            "A country is a two-letter code of ISO 3166-1 in lower case; another one is taken and can't be asked for.",
            Source.guide
        ),
        rule("C4", "A date is text, yyyy-MM-dd, the day that the caller says, moved through no zone.", Source.guide),
        rule("C5", "A time is text, HH:mm in 24 hours, without seconds and zone.", Source.guide),
        rule("C6", "A timestamp is a native instant, written in UTC with the type date, never as text.", Source.guide),
        rule(
            "C7",
            "A multi-selection takes allowed values alone, joined by semicolons, always the whole set.",
            Source.guide
        ),
        rule("C8", "A selection takes one allowed value, up to 100 characters.", Source.fields),
        rule("C9", "A number is finite, up to 255 digits, whole numbers without a point.", Source.fields),
        rule(
            "C10",
            "Null, lists and objects have no form; a value is cleared by a delete, and nothing is added to a value.",
            Source.wrappers
        ),
        rule("C11", "A lookup key is never written by a device; the failure would not be seen.", Source.guide),
        rule(
            "C12",
            "System columns, e-mail, segmenting, sync ids and columns of consent are never written by a device.",
            Source.fields
        ),
        rule("C13", "A text has 4000 characters at most.", Source.fields),
        rule("C14", "A column's name has 3 to 255 characters.", Source.files),
        rule(
            "C15",
            "Without a schema only the rules for every column are checked, and the finding says so.",
            Source.house
        ),
        rule("C16", "A phone number for text messages is digits with the country's code.", Source.fields),
        rule("C17", "A phone number of the other type is free text.", Source.fields),
        rule("C18", "Yes/No is true or false, never 0 or 1.", Source.fields),

        rule("O1", "One mechanism writes a column: the device or the server, never both.", Source.guide),

        rule(
            "G1",
            "An update is one atomic write, so an operation is judged whole and every problem is told.",
            Source.guide
        ),
        rule("G2", "By a setting the valid rest of an operation goes.", Source.house),
        rule(
            "G3",
            "A group that the vendor refuses is halved, a second apart, until the bad entry stands alone.",
            Source.house
        ),
        rule(
            "G4",
            "Changes go as a group: after a pause of two seconds, at once as an explicit group or with a flush.",
            Source.guide
        ),
        rule("G5", "Of two values for one column in a pending group the last one goes.", Source.house),
        rule("G6", "Values and deletes are requests of their own and keep their order.", Source.android),

        rule(
            "K1",
            "A value that the vendor holds is not sent, for ever: the knowledge has no time limit.",
            Source.guide
        ),
        rule("K2", "Of a group only the members that change are sent.", Source.guide),
        rule("K3", "After a delete the value is not known, so setting it again is sent.", Source.house),
        rule(
            "K4",
            "A delete is sent even for a column that was never written: it cures a poisoned cache.",
            Source.guide
        ),
        rule("K5", "Other ids, another person and a reset forget every known value.", Source.guide),
        rule("K6", "Values are compared with their type; 40 and 40.0 are one number.", Source.house),
        rule("K7", "A value counts as held after a success, and as unknown after an uncertain delivery.", Source.house),
        rule("K8", "What the vendor took may need five minutes to be visible.", Source.guide),
        rule("K9", "What the vendor took may fail later, unseen.", Source.guide),

        rule(
            "Q1",
            "After a failure 1, 2, 4, 8, 16, 32, then every 60 minutes, moved by chance up to a fifth, without end.",
            Source.queue
        ),
        rule("Q2", "Retry-After decides if it is longer.", Source.android),
        rule("Q3", "Attributes, events and registration wait each for itself.", Source.android),
        rule("Q4", "Nothing leaves before user and channel id are known.", Source.house),
        rule(
            "Q5",
            "401, 403, 404 and 410 stop the API, keep what is pending and have the ids asked for.",
            Source.house
        ),
        rule("Q6", "Another 4xx ends the operation with its reason.", Source.house),

        rule("E1", "An event has a type and a name that are not empty.", Source.android),
        rule("E2", "An event of the app's own has the type custom.", Source.plugin),
        rule("E3", "The vendor's own events have fixed types and names.", Source.wrappers),
        rule("E4", "An event carries its instant in UTC.", Source.wrappers),
        rule(
            "E5",
            "An event's attributes are plain values with types; nested ones are left out with a warning.",
            Source.connector
        ),
        rule("E6", "An event may name its campaign.", Source.ios),
        rule("E7", "A mailing id is a number, or digits; an event goes without another one.", Source.ios),
        rule("E8", "Events wait for an interval or a flush; an urgent one takes all along.", Source.config),
        rule(
            "E9",
            "Which events become visible the account decides; custom events are off by default.",
            Source.behaviors
        ),
        rule("E10", "The end of a session carries its length.", Source.wrappers),
        rule(
            "E11",
            "The event of a click is named by what it opened and carries the button and the target.",
            Source.wrappers
        ),
        rule("E12", "No most of events in a request is published, so it is a setting.", Source.house),

        rule("P1", "This vendor's push holds a member mce with attribution and mailing id.", Source.plugin),
        rule("P2", "A push that was tapped or opened is a simpleNotification.", Source.wrappers),
        rule("P3", "The receipt or the dismissal of a push message has no event.", Source.wrappers),
        rule("P4", "The push permission is reported as uiPushEnabled or uiPushDisabled.", Source.wrappers),
        rule("P5", "Date and source of a consent travel through the back end.", Source.consent),
        rule("P6", "A device reports push alone, without topics.", Source.consent),
        rule("P7", "An opt-out of push leaves at once, before everything else that is pending.", Source.house),
        rule(
            "P8",
            "While messaging on push is denied, or required and unanswered, push is reported as disabled; a grant reports it again.",
            Source.house
        ),
        rule(
            "P9",
            "The vendor keeps one push state for a pair of ids; a person who comes back gets what that person said last.",
            Source.house
        ),

        rule(
            "I1",
            "User and channel id are given by the app, or asked for by calls whose form is inferred.",
            Source.house
        ),
        rule("I2", "The installation is told again when something about it changes.", Source.android),
        rule("I3", "The ids are asked for once a day, and at once after a change of person.", Source.ios),
        rule(
            "I4",
            "invalidateExistingUser makes a reinstalled app a new user and deletes the old one for good.",
            Source.muid
        ),
        rule("I5", "Who a person is, the back end tells; the device can't.", Source.identity),
        rule("I6", "There is no log-out.", Source.identity),
        rule("I7", "After an erasure nothing is sent until the device registers again.", Source.reset),
        rule("I8", "User and channel id come together.", Source.ios),
        rule(
            "I9",
            "Nothing that one person captured is sent under another person's ids: it goes before the ids change, or ends.",
            Source.house
        ),
        rule(
            "I10",
            "Before other ids are taken from the app, push is reported as disabled under the former ones.",
            Source.house
        ),

        rule(
            "T1",
            "Tags are the allowed values of one multi-selection column, sent whole; an empty set is a delete.",
            Source.house
        ),
        rule("T2", "A tag may have a Yes/No column of its own.", Source.house),
        rule("T3", "A tag is a value that the column can hold.", Source.guide),

        rule("L1", "A device can't read attributes back, so its own knowledge answers.", Source.guide),
        rule("L2", "Consent is kept and obeyed here.", Source.consent),
        rule("L3", "An unregister reports push as disabled.", Source.house),
        rule("L4", "An erasure is the back end's job; here everything is forgotten.", Source.reset),

        rule(
            "V1",
            "Endings of updates and deletes name their columns, those that were taken and those that were refused.",
            Source.ios
        ),

        rule("R1", "Any 2xx is a yes: received, not stored.", Source.house),
        rule("R2", "408, 425 and 5xx are tried again.", Source.house),
        rule("R3", "Too many updates are throttled.", Source.guide),
        rule("R4", "Without an answer it is tried again.", Source.house),
        rule("R5", "Any other status is tried again.", Source.house),
        rule(
            "R6",
            "A web page with a status of success is none of the vendor's answers; it is tried again.",
            Source.house
        ),
    ]
}
