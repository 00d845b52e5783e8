package import PatchbayAdapterKit
import PatchbayModel

extension RuleID {
    /// One of this vendor's rules: `adobe/A6`.
    package static func adobe(_ number: String) -> RuleID { RuleID("adobe", number) }
}

/// The vendor's rules by group: G gate, A actions, T tracking request, R registration, P attributes (PII), I identity and
/// push token, Q queues and repeats, V privacy, N what has no API, S settings, C Campaign Classic.
extension Rule {
    /// The source of a rule.
    private enum Source: String {
        case push = "Campaign Standard documentation: Push tracking"
        case local = "Campaign Standard documentation: Local notification tracking"
        case payload = "Campaign Standard documentation: Push payload; release notes 2021"
        case rules = "Campaign Standard documentation: Configuring rules in Launch"
        case profile = "Campaign Standard documentation: Updating a profile with mobile app data"
        case rest = "Campaign Standard documentation: Must-read of the APIs"
        case ios = "adobe/aepsdk-campaign-ios 5.0.0"
        case both = "adobe/aepsdk-campaign-ios 5.0.0 and adobe/aepsdk-campaign-android"
        case core = "adobe/aepsdk-core-ios 5.11.0"
        case extensionPage = "Mobile SDK documentation: Adobe Campaign Standard extension"
        case classic = "adobe/aepsdk-campaignclassic-ios 5.0.0 and adobe/aepsdk-campaignclassic-android"
        case own = "decision of this adapter; the vendor says nothing"
    }

    private static func rule(_ number: String, _ text: String, _ source: Source) -> Rule {
        Rule(.adobe(number), text, source: source.rawValue)
    }

    /// The rules of Campaign Standard.
    static let adobe: [Rule] =
        [
            rule("G1", "Only deliveries whose flag _acsDeliveryTracking is on are tracked.", .push),
            rule(
                "G2",
                "A missing flag means on: deliveries of before release 21.1 and from custom templates have none.",
                .push
            ),
            rule("G3", "The flag is compared without regard to case.", .push),
            rule("G4", "A flag that is no text counts as missing.", .push),
            rule("G6", "Tracking a delivery that is not tracked is answered with 404.", .payload),

            rule("A1", "A push message that arrives while the app is in the foreground is an impression, 7.", .push),
            rule("A2", "In the background it is one too, reported by the handler that content-available calls.", .push),
            rule("A3", "That handler reports nothing while the app is active: the foreground did already.", .push),
            rule(
                "A4",
                "An app that is not running reports nothing, so that impressions on iOS are not reliable.",
                .push
            ),
            rule("A5", "A dismissed message is a click, 2, and never an open.", .push),
            rule("A6", "A tapped message is a click and then an open, 2 and then 1, with the same ids.", .push),
            rule(
                "A7",
                "Dismissals are reported only for a category that the app registered for them and the message has.",
                .push
            ),
            rule("A8", "An app that is opened in any other way reports nothing about a push message.", .push),
            rule(
                "A9",
                "Any action but the dismissal counts as a tap; whether one that leaves the app in the background does is a setting.",
                .push
            ),
            rule("A10", "A local notification bears its ids as broadlogId and deliveryId, and no flag.", .local),

            rule("T1", "The request is /r/?id=message,delivery,action and then mcId; the commas stay.", .ios),
            rule("T2", "Both ids go as they came; nothing is added and nothing converted.", .ios),
            rule("T3", "mcId is the identity of the device.", .both),
            rule("T4", "A request without a body bears a JSON content type, too.", .ios),
            rule(
                "T5",
                "Old SDKs post the body {} to the same address by a rule; using both would count twice.",
                .rules
            ),
            rule("T6", "That rule spells mcid in lower case for messages inside the app.", .rules),

            rule("R1", "A registration holds the identity and the push platform, and nothing else.", .ios),
            rule("R2", "It is posted to mobileAppV5, with the app's id and the identity in the path.", .ios),
            rule("R3", "The push platform is apns, or gcm on Android.", .both),
            rule(
                "R4",
                "A session under another identity registers at once; the identity counts as registered before the answer.",
                .ios
            ),
            rule(
                "R5",
                "Otherwise a session registers when the delay in days has passed; exactly so long is enough.",
                .ios
            ),
            rule("R6", "Paused registrations send nothing and remember nothing.", .extensionPage),
            rule("R7", "Any request of the queue that got through postpones the next registration.", .both),
            rule("R8", "Without pkey nothing is registered; tracking continues.", .ios),

            rule("P1", "Attributes are posted to the address of the registration, with identity and platform.", .rules),
            rule("P2", "A name is a field id of the extended resource; two of them are the vendor's own.", .rules),
            rule("P3", "Every value is a text: true, 42, 2031-05-06.", .core),
            rule("P4", "Lists and objects have no form.", .core),
            rule("P6", "Only values that changed are worth a request.", .profile),
            rule("P7", "A value that is missing is an empty text.", .core),
            rule("P8", "The vendor has no tags: a field for each tag is true or false.", .own),
            rule("P9", "A person is reconciled by a field that holds an identifier.", .profile),
            rule("P10", "What a device posts reaches the person's profile when a workflow runs.", .profile),

            rule("I1", "The identity is 38 decimal digits, an opaque text that belongs to the installation.", .core),
            rule(
                "I2",
                "An identity that the vendor's SDK made and the app passes is used until it ends; after that a new one is.",
                .own
            ),
            rule(
                "I3",
                "Every registration of a device sends its push token again, in lower-case hexadecimal digits.",
                .core
            ),
            rule(
                "I4",
                "The identity service takes a token as number, byte 1 and token; 20920 for APNs, 20919 on Android.",
                .core
            ),
            rule("I5", "An empty token means that push is off.", .core),
            rule("I6", "The identity service has to know the organisation.", .core),
            rule("I7", "Its success is 200; it repeats as the others do, and drops everything else.", .core),
            rule("I8", "An opt-out is notified at demoptout.jpg with organization and identity.", .core),

            rule("Q1", "Tracking and registrations share one queue; what is repeated stops it.", .both),
            rule(
                "Q2",
                "Attributes have a queue of their own; so has every change of device, person or consent.",
                .core
            ),
            rule(
                "Q3",
                "408, 503 and 504 are repeated after 30 seconds, or after a longer Retry-After, without a limit.",
                .both
            ),
            rule("Q4", "200 alone is a success; other replies of 2xx are dropped.", .both),
            rule("Q5", "Everything else is dropped.", .both),
            rule("Q6", "Without a network it is repeated.", .both),
            rule("Q7", "Without an answer Android repeats, and iOS drops tracking and registrations.", .both),
            rule("Q8", "A posted attribute is taken by any 2xx.", .core),
            rule(
                "Q11",
                "A web page with a status of success, where no page belongs, is none of the vendor's answers; it is tried again.",
                .own
            ),
            rule(
                "Q12",
                "A redirect of the tracking server to itself is a success; one to another host is tried again.",
                .own
            ),
            rule("Q10", "The same event twice is sent twice: duplicates are not removed.", .both),

            rule("V1", "Without a decision of the person, tracking is dropped.", .both),
            rule("V2", "Without a decision of the person, registrations and attributes wait.", .ios),
            rule(
                "V3",
                "A denial of both tracking and profile on every channel ends the identity of the device.",
                .core
            ),

            rule("S1", "The server is a bare host: https is fixed, port and path are not allowed.", .extensionPage),
        ] + shared

    /// The rules of both products.
    private static let shared: [Rule] = [
        rule("G7", "No id may hold a comma: commas part the ids.", .both),
        rule("P5", "An empty change sends nothing.", .core),
        rule("Q9", "Requests wait until the device, and with it its identity or token, is known.", .ios),
        rule("V4", "The vendor has no record of a person's consent.", .own),
        rule("V5", "A device can't delete what the vendor holds of a person.", .profile),
        rule("S3", "An app's push service is APNs, or Firebase on Android.", .both),
        rule(
            "V6",
            "While messaging on push is denied, or required and unanswered, or profile is denied, the vendor holds no push token of the person; without profile nothing is registered.",
            .own
        ),
        rule("I9", "A malformed push token is refused at capture, and the token before stays in use.", .own),
        rule(
            "I10",
            "An operation is sent for the person and identity that were current when it was captured, whatever follows.",
            .core
        ),
        rule(
            "N4",
            "Another person has another identity, as resetIdentities of the vendor's SDK makes one; the push token moves with it.",
            .core
        ),
        rule("G5", "Without both ids as texts that are not empty nothing is sent.", .push),
        rule("N1", "A device can report push messages and session starts, no other event.", .push),
        rule("N2", "Messages inside the app have no tracking beside their notification.", .local),
        rule(
            "N3",
            "Subscriptions are changed by the REST interface, whose credentials never belong into an app.",
            .rest
        ),
        rule("N5", "A device can't ask for anything.", .rest),
        rule("N6", "An operation has no options for this vendor alone.", .own),
        rule("N7", "A device can't leave; the last request takes back what reaches the person.", .core),
        rule("S2", "In a test everything goes to one address, as it would go to the vendor's hosts.", .own),
    ]

    /// The rules of Campaign Classic.
    static let adobeClassic: [Rule] =
        [
            rule("C1", "Two bare hosts: one for registrations, one for tracking.", .classic),
            rule(
                "C2",
                "Tracking is /r/?id=message,delivery,action, with h before the message and no identity.",
                .classic
            ),
            rule(
                "C3",
                "1 means that a message arrived, 2 that it was tapped; one request each, no dismissals, no flag.",
                .classic
            ),
            rule("C4", "A message's id that is a UUID goes as it is.", .classic),
            rule(
                "C5",
                "Otherwise it is a decimal number, sent in hexadecimal digits; anything else is not sent.",
                .classic
            ),
            rule(
                "C6",
                "A negative number of 32 bits is sent in its two's complement, and one of 64 bits as a whole.",
                .classic
            ),
            rule("C7", "On iOS the number has at least two digits.", .classic),
            rule("C8", "A registration is a form with the device's facts in a fixed order.", .classic),
            rule("C9", "The token is needed: without it nothing is registered.", .classic),
            rule("C10", "The integration key names the app.", .classic),
            rule("C11", "There is one user key, which may be empty; other identifiers are parameters.", .classic),
            rule("C12", "Android has its own script, a field more and other details.", .classic),
            rule("C13", "Parameters are texts, numbers and booleans.", .classic),
            rule("C14", "The vendor has no tags: a parameter for each tag is true or false.", .own),
            rule("C15", "Parameters are XML sorted by name, with five entities and without line breaks.", .classic),
            rule("C16", "A registration like the one that the vendor took is not sent.", .classic),
            rule(
                "C17",
                "A denial of profile or messaging on push ends the registration's hash; of profile, the person too.",
                .classic
            ),
            rule("C18", "Nothing is kept and nothing repeated, and without consent nothing waits.", .classic),
            rule("C19", "200 alone is a success.", .classic),
            rule("C20", "Another person or user key begins with empty parameters.", .own),
            rule(
                "C21",
                "An opt-out, an erasure and an unregister register the device without a user key and parameters.",
                .own
            ),
            rule(
                "C22",
                "A registration that takes a person off the device is repeated until it is answered: after 30 s, doubling to 1 h.",
                .own
            ),
        ] + shared
}
