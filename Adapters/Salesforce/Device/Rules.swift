package import PatchbayAdapterKit
import PatchbayModel

extension RuleID {
    /// A rule of this vendor by its number.
    package static func salesforce(_ number: String) -> RuleID { RuleID("salesforce", number) }
}

/// The vendor's rules, each with its source.
///
/// Groups: S schedule, K contact key, A attributes, T tags, E events, W wire, R replies; F, the rules of files, are
/// with the files. D are decisions of this adapter where the vendor's documents state nothing.
///
/// A source ends with its certainty: confirmed (the vendor documents it), secondary (public third-party material), or
/// inferred (this project's interpretation).
package enum SalesforceRules: Sendable {
    /// Every rule.
    package static let all: [Rule] = table.map { Rule(.salesforce($0.0), $0.1, source: $0.2) }

    private static let userData = "MobilePush iOS documentation, user data (confirmed)"
    private static let header = "MarketingCloudSDK-iOS, header of the base interface (confirmed)"
    private static let strings = "MarketingCloudSDK-iOS v10, names in the published binary (confirmed)"
    private static let android = "Public copies of the Android SDK's classes (secondary)"
    private static let checkFields = "Mobile SDK guide, fields of a registration (confirmed)"
    private static let appEvents = "Salesforce Help, schema of mobile app events (confirmed)"
    private static let ours = "Decision of this adapter (inferred)"

    private static let table: [(String, String, String)] = [
        ("S1", "The first registration after install is sent at once.", userData),
        ("S2", "Later changes are sent within 60 s of the first unsent one; a flush skips this wait.", userData),
        ("S3", "Two registration requests start at least 60 s apart.", userData),
        ("S4", "Changes inside the same window ride along and do not push it back.", userData),
        (
            "S5",
            "A registration is caused by contact key, tags, attributes, the push subscription, and the facts of the "
                + "device: push permission, time zone, locale, versions of app, system and sender.", userData
        ),
        ("S6", "A registration equal to the last one that was received is not sent.", strings),
        ("S7", "A failed registration is tried again until it succeeds, without limit.", userData),
        ("S8", "Delays start at 60 s and double up to 86,400 s.", android),
        ("S9", "Success alone starts the delays again at 60 s; a change captured meanwhile does not.", userData),
        ("S10", "Delays, spacing and pending changes survive a restart.", android),
        (
            "S11",
            "Retry-After closes that endpoint for so long, at most 86,400 s; where the vendor's own delay is longer, that counts.",
            strings
        ),
        ("S12", "In delay mode nothing is sent before a contact key is known.", userData),
        ("S13", "A registration's effect shows after up to 15 minutes.", userData),
        ("S14", "Contact data should change in the foreground alone.", userData),
        ("S15", "A change that a later one replaces in the same registration is superseded, not accepted.", ours),
        ("S16", "A retry carries everything that changed in the meantime.", ours),
        ("K1", "A blank contact key is refused and the old one stays.", userData),
        ("K2", "White space around a contact key is removed.", userData),
        ("K3", "A contact key can be changed, never cleared.", userData),
        ("K4", "A contact key belongs to one person, never to a placeholder.", userData),
        ("K5", "Any unique identifier can be the contact key; a setting names its kind.", userData),
        (
            "K6",
            "Without a contact key the registration leaves it out; the vendor takes the contact of its push token or makes one up, and does not report which.",
            userData
        ),
        ("K7", "Contact keys are compared exactly; letter case counts.", ours),
        ("K8", "The vendor may not accept contact keys of more than 254 characters.", ours),
        (
            "K9", "A device's move to another contact shows after up to 15 minutes and may orphan the earlier one.",
            userData
        ),
        ("K10", "The signed string is removed by null and not changed by a blank.", android),
        (
            "K11", "Each log-in of another person on a device may orphan the contact before; no setting avoids it.",
            userData
        ),
        ("K12", "Every distinct contact key is billed as a contact, orphaned ones too.", userData),
        ("A1", "An attribute's name is not blank.", userData),
        ("A2", "White space around an attribute's name is removed.", userData),
        (
            "A3", "47 names are reserved; letter case does not count; a reserved pair is left out and the rest goes.",
            strings
        ),
        ("A4", "An attribute's name has at most 128 UTF-16 units; a longer one is left out.", android),
        ("A5", "An attribute's value is never null; a removal is an empty value or an omitted attribute.", userData),
        ("A6", "White space around an attribute's value is removed.", userData),
        ("A7", "A blank value is sent and empties the attribute at the vendor.", header),
        (
            "A9",
            "An attribute must be defined in the account, letter case counts; unknown ones can cost the registration.",
            checkFields
        ),
        ("A10", "An attribute can only be set or cleared.", userData),
        ("A11", "Attributes stay and are sent with every registration.", header),
        (
            "A12", "Attributes belong to the device, not to the contact.",
            "Salesforce Help, custom attributes (confirmed)"
        ),
        ("A13", "Each pair of a change is judged alone.", ours),
        (
            "A14",
            "When another contact key is set, attributes of the person before are emptied and tags removed, unless a setting "
                + "keeps them as the vendor's SDK does.", ours
        ),
        ("T1", "A tag is not blank, and white space around it is removed.", userData),
        ("T2", "Tags need no definition in the account and come and go freely.", userData),
        ("T3", "Tags are a set.", "MarketingCloudSDK-iOS, release notes of 5.1.0 (confirmed)"),
        ("T4", "Tags that differ in case alone are one, and the last spelling wins.", android),
        ("T5", "Every registration carries the automatic tags of its platform, and DEBUG in debug builds.", userData),
        ("T6", "Automatic tags can be neither added nor removed.", strings),
        ("T7", "Removing all tags keeps the automatic ones.", android),
        ("T8", "Removing an absent tag changes nothing and sends nothing.", ours),
        ("T11", "Tags are written in ascending order.", android),
        ("E1", "An event is a name with a flat map of attributes.", header),
        (
            "E2", "Event names hold ASCII letters, digits, underscores and spaces; white space around them is removed.",
            appEvents
        ),
        ("E3", "Names of events and their attributes are matched without regard to case.", appEvents),
        ("E4", "Values of event attributes are text, numbers or booleans.", appEvents),
        ("E5", "An event attribute with a bad key is left out and the event is kept.", strings),
        ("E6", "An event has an effect only if the account defines it.", appEvents),
        (
            "E9", "The vendor's own push payloads carry `_sid` with the value SFMC.",
            "Public clients of the vendor's SDK (secondary)"
        ),
        ("E10", "Events go out only with a subscriber token, and wait for it.", android),
        ("E11", "One request carries at most 1000 events.", android),
        ("E12", "Events are kept until a 2xx answer; delays grow like a registration's.", android),
        (
            "E13", "An event's inner keys are named after the entities of the vendor's binary.",
            "Names in the published binary (inferred)"
        ),
        (
            "E14",
            "A subscriber token that was refused with 401 or 403 is forgotten; the registration, sent again, asks for another.",
            ours
        ),
        (
            "E15",
            "Engagement analytics name events by number codes; their meanings are not published, so none is sent.",
            "Public collection of the vendor's requests (confirmed)"
        ),
        ("W1", "`etAppId` is the application's GUID, trimmed.", userData),
        (
            "W2",
            "`deviceID` is an upper-case UUID, stable for the installation; one adopted before the first registration stays as it is.",
            userData
        ),
        (
            "W3", "The registration's id is `registrationId` or, newer, `uuid`: here the device id in lower case.",
            userData
        ),
        ("W4", "`registrationDateUtc` is UTC with milliseconds; it does not count as a change.", checkFields),
        ("W5", "`subscriberKey` is the contact key, left out when none was ever set.", userData),
        ("W6", "`device_Token` is the push token, left out until known.", userData),
        ("W7", "`push_Enabled` is a boolean: the permission and no opt-out.", userData),
        ("W8", "`quietPushEnabled` says whether background push is possible.", userData),
        ("W9", "`location_Enabled` says whether geofences are on.", userData),
        ("W10", "`proximity_Enabled` says whether beacons are on.", userData),
        ("W11", "`platform` is iOS or Android; a device of another platform is refused.", userData),
        (
            "W12",
            "A registration without its required fields makes the device inactive, so none is sent without them.",
            checkFields
        ),
        ("W13", "`platform_Version` is the version of the operating system.", userData),
        ("W14", "`hwid` is the hardware model.", userData),
        ("W15", "`app_Version` is the app's version.", userData),
        ("W16", "`sdk_Version` names the sender honestly.", userData),
        ("W17", "`attributes` is an array of pairs of texts, ordered by name.", userData),
        ("W18", "`tags` is an array of texts.", userData),
        ("W19", "`timeZone` is the offset from UTC in seconds, daylight saving included, as text.", userData),
        ("W20", "`dST` says whether daylight saving is in force.", userData),
        ("W21", "`locale` is a locale with an underscore.", userData),
        ("W22", "`language` repeats the locale.", userData),
        ("W23", "`signedString` is an opaque token of the app, left out when unset.", android),
        ("W24", "Requests are JSON and name the sender honestly in User-Agent and X-SDK-Version.", ours),
        ("W25", "Requests go to the account's own device host.", strings),
        ("W26", "Requests carry the 24-character access token as bearer.", strings),
        ("W27", "The subscriber token of a reply is kept and sent from then on.", android),
        ("R1", "Any 2xx answer to a registration means received, not processed.", checkFields),
        ("R2", "429 asks to wait.", strings),
        ("R3", "401 and 403 are tried again like every failure.", userData),
        ("R4", "Other refusals are tried again like every failure.", userData),
        ("R5", "408 and 5xx may have worked, so nothing is suppressed until the next success.", ours),
        ("R6", "Without an answer the registration stays pending.", userData),
        ("R7", "After a 2xx reply, and only then, the app receives the registration as it was sent.", userData),
        ("R8", "A web page with a status of success is none of the vendor's answers; it is tried again.", ours),
        ("D1", "Nothing can be read on the device API.", userData),
        (
            "D2",
            "Leaving is one last registration with push switched off; a device never registered is not registered to leave.",
            ours
        ),
        ("D3", "The device API has no deletion; an erase empties what a registration can empty.", ours),
        (
            "D4", "Consent is the engine's; the vendor's privacy modes stop traffic in the same way.",
            "MobilePush data privacy page (confirmed)"
        ),
        ("D5", "A topic of the push channel is a tag of its name: the vendor's way to send to interests.", ours),
        (
            "D6",
            "An event captured after a change of the contact waits until the vendor holds that change: events name no contact.",
            ours
        ),
        ("D7", "After an erase the vendor's pacing stays remembered, and nothing of the person.", ours),
        (
            "D8",
            "A denial of the profile forgets its attributes, tags and signed string, and no registration but an opt-out is sent "
                + "until it is taken back; other purposes cover nothing of a registration.", ours
        ),
        (
            "D9",
            "An opt-out of push of a device that the vendor does not know ends at once; the first registration contains it.",
            ours
        ),
        (
            "D10",
            "The vendor keeps one push state for a device; a person who comes back gets that person's last decision.",
            ours
        ),
        (
            "D11",
            "While messaging on push is denied, or required and unanswered, a registration has push disabled; a consent sends it "
                + "again.", ours
        ),
    ]
}
