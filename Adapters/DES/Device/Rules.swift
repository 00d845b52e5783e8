package import PatchbayAdapterKit
import PatchbayModel

extension RuleID {
    /// One of this adapter's rules: `des/R17`.
    package static func des(_ number: String) -> RuleID { RuleID("des", number) }
}

/// The vendor's rules. R1 to R40 are the behaviour of a client; the rest by group: H headers, B bodies, T texts,
/// A replies, I inbox, C remote configuration, U unsupported operations, N what the neutral model adds.
extension Rule {
    /// The source of a rule.
    private enum Source: String {
        case ios = "emartech/ios-emarsys-sdk 3.10"
        case android = "emartech/android-emarsys-sdk 3.9"
        case both = "emartech/ios-emarsys-sdk 3.10 and emartech/android-emarsys-sdk 3.9"
        case pageAndBoth =
            "Emarsys: SDK ⇌ DES – Aggregated Views and Clicks; emartech/ios-emarsys-sdk 3.10 and emartech/android-emarsys-sdk 3.9"
        case server = "Emarsys: client service, guidelines and tokens"
        case own = "decision of this adapter; the vendor says nothing"
    }

    private static func rule(_ number: String, _ text: String, _ source: Source) -> Rule {
        Rule(.des(number), text, source: source.rawValue)
    }

    /// Every rule, for the descriptor.
    static let des: [Rule] = behaviour + wire + content

    private static let behaviour: [Rule] = [
        rule("R1", "Events and inline messages go to v4; v3 only if that is switched on.", .pageAndBoth),
        rule("R2", "Without an application code nothing is sent; known placeholders count as none.", .both),
        rule("R3", "Headers are made when the request leaves, so that one that waited carries what is current.", .both),
        rule("R4", "X-Client-State of any answer, whatever its status, is kept and sent from then on.", .both),
        rule("R5", "The client is registered if it has no state yet or its facts differ from those last taken.", .both),
        rule(
            "R6",
            "A push token that the vendor took is not sent again; it counts as taken only after a success.",
            .both
        ),
        rule(
            "R7",
            "Removing the push token forgets it before any answer; so does becoming anonymous, after it worked.",
            .both
        ),
        rule("R8", "A contact without a value and without an ID token is the anonymous contact.", .both),
        rule(
            "R9",
            "The contact that is set already is not set again: same field and value, or same ID token.",
            .android
        ),
        rule(
            "R10",
            "Nothing is sent to become anonymous while a contact token is held and no contact is identified.",
            .both
        ),
        rule(
            "R11",
            "After a change of contact the session ends and another begins; after a failed one it continues.",
            .ios
        ),
        rule("R12", "No attributes and empty attributes are both left out.", .android),
        rule(
            "R13",
            "A start of the app is reported only with a contact token; only a session that began can end.",
            .both
        ),
        rule(
            "R14",
            "The opening of a push without a message id is refused; the id is sid, a text or a number, in u, an object or its text.",
            .both
        ),
        rule("R15", "A view or click without a campaign, or a click without a button, makes no event.", .ios),
        rule("R16", "Inbox tags are lower-case; with a fetched inbox only changes of messages in it are sent.", .both),
        rule(
            "R17",
            "A stored device event state is sent unchanged, in the root of each events and inline request.",
            .pageAndBoth
        ),
        rule(
            "R18",
            "Only views and clicks since the last successful request are sent; v3 sends all that are stored.",
            .pageAndBoth
        ),
        rule(
            "R19",
            "Views and clicks are listed one by one in the order of their recording; the server counts them.",
            .pageAndBoth
        ),
        rule("R20", "A request for inline messages carries the pending clicks and no views.", .pageAndBoth),
        rule("R21", "A body is acted on only if the status is 200 to 299.", .own),
        rule("R22", "The inline message is the one for the view asked for, case ignored; none is an error.", .both),
        rule(
            "R23",
            "A device event state in a successful answer replaces the stored one as a whole, even if empty.",
            .pageAndBoth
        ),
        rule(
            "R24",
            "A successful answer without such an object leaves the stored state; other requests' answers are not looked at.",
            .both
        ),
        rule("R25", "A success deletes exactly the views and clicks that its request carried.", .pageAndBoth),
        rule("R26", "In v4 oldCampaigns is ignored; in v3 it alone deletes views and clicks.", .pageAndBoth),
        rule(
            "R27",
            "After a failure the same views and clicks go with the next request, also if the events are given up.",
            .pageAndBoth
        ),
        rule(
            "R28",
            "State and rows are stored together, and one request of this service is in flight at a time.",
            .own
        ),
        rule("R29", "A campaign id is opaque text; a number that is read counts as its digits.", .both),
        rule("R30", "Points in time are ISO 8601 with milliseconds, in UTC.", .both),
        rule("R31", "408, 429 and all but 2xx and 4xx keep a request and stop the queue; other 4xx end it.", .both),
        rule("R32", "Merged events share their outcome.", .both),
        rule(
            "R33",
            "401: the token is renewed, and the same request goes again 0.5 s later; at most three times.",
            .both
        ),
        rule(
            "R34",
            "If an event is next, all that wait leave with it, in their order; other requests keep their places.",
            .both
        ),
        rule("R35", "Events are never merged past a change of contact, application code or version.", .own),
        rule(
            "R36",
            "Each attempt is composed again from the current state, except the repeat after a renewed token.",
            .both
        ),
        rule("R37", "A request whose reply was lost is sent again: the protocol has no idempotency key.", .both),
        rule("R38", "Queries and renewals wait for no queue and are not repeated.", .both),
        rule(
            "R39",
            "With a new application code, the old one's token and contact are removed, then the installation registers again.",
            .ios
        ),
        rule("R40", "Null in an answer counts as absent, at any depth, except inside the device event state.", .ios),
    ]

    private static let wire: [Rule] = [
        rule("H1", "Every request says that it is JSON, those without a body too.", .both),
        rule("H2", "X-Client-Id is a UUID that is made once for an installation and kept.", .both),
        rule("H3", "X-Request-Order is the time of sending in milliseconds since 1970.", .both),
        rule("H4", "X-Contact-Token goes with everything but a contact change and a renewal.", .both),
        rule("H5", "X-Merchant-Id goes with contact changes and renewals, if there is one.", .both),
        rule("H6", "Every request names the library's version and whether the build is for debugging.", .both),
        rule("H7", "Inbox and geofences may be asked for with the application code as basic authorisation.", .ios),
        rule(
            "H8",
            "Whether the anonymous contact is asked for with the old contact token differs between the SDKs.",
            .both
        ),
        rule("B1", "A registration has platform, versions, model, language, zone and push settings.", .both),
        rule("B2", "The push settings have a form for each platform.", .both),
        rule("B3", "An APNs token is lower-case hexadecimal without separators.", .ios),
        rule("B4", "A contact is a field's number with its value, or with an OpenID Connect ID token.", .both),
        rule("B5", "A renewal carries the refresh token.", .both),
        rule("B6", "An event has type, name and time, and attributes and session if there are any.", .both),
        rule("R41", "A web page with a status of success is none of the vendor's answers; it is tried again.", .own),
        rule("B7", "The vendor's own events have fixed names and attributes.", .both),
        rule("B8", "dnd says that messages are not to be shown; the SDKs send it only when it is true.", .both),
        rule("B9", "Events name language and versions as on iOS; Android leaves them out.", .ios),
        rule(
            "B10",
            "A view is recorded and reported as inapp:viewed, a click as inapp:click: both are expected.",
            .both
        ),
        rule("B11", "Inline messages are asked for by view id.", .both),
        rule(
            "T1",
            "Event attributes are texts: numbers plain, true and false as words, points in time like all others.",
            .both
        ),
        rule("T2", "Lists and objects in event attributes are refused.", .own),
        rule("T3", "An event has a name.", .both),
        rule(
            "T4",
            "The remote configuration may replace a service's address only by one of the vendor's own hosts.",
            .both
        ),
        rule("T5", "An address that can't be found ends a request on iOS and keeps it on Android.", .both),
    ]

    private static let content: [Rule] = [
        rule("A1", "A message to show has a campaign and HTML; without HTML nothing is shown.", .both),
        rule(
            "A2",
            "Actions of an answer are carried out in order, then a view of their campaign is recorded and reported.",
            .both
        ),
        rule("A3", "Actions that are unknown or incomplete are skipped; without actions the whole is ignored.", .both),
        rule(
            "A4",
            "A token or client state that an answer lacks stays as it is, unless it belongs to an earlier contact.",
            .both
        ),
        rule("A5", "400 means a wrong application code or a wrong form of the request.", .server),
        rule("I1", "An inbox message without one of its mandatory fields is skipped, the rest is kept.", .ios),
        rule("I2", "A geofence without what it needs is skipped, and a group that is left empty.", .both),
        rule("I3", "Content for a push is fetched from the address in the push, at the vendor's hosts alone.", .both),
        rule("C1", "The remote configuration can switch v4 off and replace addresses.", .both),
        rule("U1", "Contacts have no attributes here.", .own),
        rule("U2", "Contacts have no tags here; messages in the inbox have.", .own),
        rule("U3", "There are subscriptions to push and messages inside the app, and to no other channel.", .own),
        rule("U4", "No channel has topics.", .own),
        rule("U5", "Of a push only the opening and its buttons are reported.", .both),
        rule("U6", "One field of the vendor's database identifies contacts.", .both),
        rule("N1", "Consent is applied here; the vendor has no record of it.", .own),
        rule(
            "N2",
            "An erasure takes the push token back and becomes anonymous; the vendor's data is deleted by other means.",
            .own
        ),
        rule(
            "N3",
            "An unregistration takes the push token back and makes the contact anonymous; it overtakes an earlier failed request.",
            .own
        ),
        rule(
            "N4",
            "Everything waits until the installation is registered; until then no contact token can be had.",
            .own
        ),
        rule("N5", "An option is checked at capture.", .own),
        rule("N6", "Nothing that was captured for one person is sent under the contact of another person.", .own),
        rule(
            "N7",
            "The vendor keeps one push token for an installation; a person who comes back gets that person's last decision.",
            .own
        ),
        rule(
            "N8",
            "While messaging on push is denied, or required and unanswered, no push token is set, and a set one is taken back.",
            .own
        ),
    ]
}
