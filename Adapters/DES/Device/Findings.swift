import PatchbayAdapterKit

/// All findings of this adapter. No finding holds a personal value or a secret.
extension FindingRow {
    /// Every row, for the descriptor.
    static let des: [FindingRow] = [
        optionUnknown, optionInvalid, optionIdle,
        attributes, tags, channel, topic, subscriptionUnknown, suspended, subscriptionDetails, pushForeign,
        pushInteraction, actionUnknown,
        identifierMissing, identifierUnused, contactAnonymous, credentialMissing, credentialExpired,
        contactOvertaken, contactOfAnother, contactLater, anonymousRefused,
        factsMissing, platform, tokenForm, adoptedForm, notRegistered, tokenLater,
        campaignMissing, campaignNumber, buttonMissing, pushWithoutID, eventName, eventReserved, attributeNested,
        attributeFraction, attributeMissing, attributeUnknown, noSession, inboxUnchanged, inboxUnknown,
        queryUnknown, argumentMissing, addressNotTrusted, noContent,
        consentKept, optOutKept, optInOvertaken, displayNext, eraseByHand, nothingToLeave, notSent,
        leavingRefused, stopped, renewed, replyUnauthenticated, renewalRefused, renewalsSpent, replyRefused, replyLater,
        noReply, hostNotFound,
        replyPage, replyUnreadable, replyDamaged,
    ]

    // MARK: Options

    static let optionUnknown = FindingRow(
        .error("des.option.unknown", .invalid, rule: "N5"),
        reason: "There is no such option for DES",
        remedy: "Use one of \(CallOption.names)."
    )
    static let optionInvalid = FindingRow(
        .error("des.option.invalid", .invalid, rule: "N5"),
        reason: "The option has another form",
        remedy: "Give it in the form that the README lists."
    )
    static let optionIdle = FindingRow(
        .warning("des.option.idle", .unsupported, rule: "N5"),
        reason: "This operation has no place for the option",
        remedy: "Leave it out, or give it with an operation that the README lists for it."
    )

    // MARK: Actions without a counterpart

    static let attributes = FindingRow(
        .error("des.attributes", .unsupported, rule: "U1"),
        reason: "The vendor's service for apps accepts no attributes of a contact",
        remedy: "Import them by a back end, or capture them as attributes of a custom event."
    )
    static let tags = FindingRow(
        .error("des.tags", .unsupported, rule: "U2"),
        reason: "The vendor has no tags of contacts",
        remedy:
            "Import them as a field by a back end; for a message of the inbox capture inbox:tag:add or inbox:tag:remove."
    )
    static let channel = FindingRow(
        .error("des.subscription.channel", .unsupported, rule: "U3"),
        reason: "Apps can only subscribe to push messages and messages inside the app",
        remedy: "Have a back end change e-mail and text messages."
    )
    static let topic = FindingRow(
        .error("des.subscription.topic", .unsupported, rule: "U4"),
        reason: "The vendor has no topics",
        remedy: "Leave the topic out, or capture a custom event that a segment of the vendor uses."
    )
    static let subscriptionUnknown = FindingRow(
        .error("des.subscription.unknown", .missing, rule: "U3"),
        reason: "The person's decision is unknown",
        remedy: "Capture subscribed or unsubscribed once it is known."
    )
    static let suspended = FindingRow(
        .note("des.subscription.suspended", rule: "U3"),
        reason: "The vendor cannot distinguish a pause from an opt-out",
        remedy: "Capture subscribed when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        .warning("des.subscription.details", .unsupported, rule: "U3"),
        reason: "Time, source, evidence and fields of a subscription are not sent",
        remedy: "Keep them in your own records."
    )
    static let pushForeign = FindingRow(
        .foreign("des.push.foreign", rule: "R14"),
        reason: "The push was sent by another vendor: it has no member u",
        remedy: "No action is needed. The adapter of the vendor that sent it tracks it."
    )
    static let pushInteraction = FindingRow(
        .error("des.push.interaction", .unsupported, rule: "U5"),
        reason: "The vendor has no event for a push that arrived or was swiped away",
        remedy: "Capture the tap or the opening alone."
    )
    static let actionUnknown = FindingRow(
        .error("des.action.unknown", .unsupported),
        reason: "This adapter does not know the operation",
        remedy: "Use a newer version of it."
    )

    // MARK: Contacts

    static let identifierMissing = FindingRow(
        .error("des.identifier.missing", .missing, rule: "U6"),
        reason: "No identifier is of the kind that names contacts",
        remedy: "Give one of that kind, or change the setting contactIdentifier."
    )
    static let identifierUnused = FindingRow(
        .note("des.identifier.unused", rule: "U6"),
        reason: "An identifier of this kind is not sent",
        remedy: "No action is needed. To use this identifier, change the setting contactIdentifier."
    )
    static let contactAnonymous = FindingRow(
        .warning("des.contact.anonymous", .missing, rule: "R8"),
        reason: "The identifier is blank, so the contact becomes anonymous",
        remedy: "Give the identifier's value, or log out."
    )
    static let credentialMissing = FindingRow(
        .note("des.credential.missing", .unauthenticated, rule: "B4"),
        reason: "There is no ID token for this contact",
        remedy: "Give the client the contact's OpenID Connect ID token as credential."
    )
    static let credentialExpired = FindingRow(
        .note("des.credential.expired", .unauthenticated, rule: "B4"),
        reason: "The ID token for this contact has expired",
        remedy: "Give the client another ID token of the contact as credential."
    )
    static let contactOvertaken = FindingRow(
        .error("des.contact.overtaken", .conflict, rule: "N6"),
        reason: "The log-in waited for its credential until another person logged in or the provider was removed",
        remedy: "No action is needed. When the person returns, log in again."
    )
    static let contactOfAnother = FindingRow(
        .error("des.contact.another", .conflict, rule: "N6"),
        reason: "The vendor's contact is set for another person",
        remedy: "Log the person in again, then replay it; see how the last log-in or log-out ended."
    )
    static let contactLater = FindingRow(
        .note("des.contact.later", .conflict, rule: "N6"),
        reason: "The log-in of this person has not been sent, and the vendor's contact is set for another person",
        remedy: "Resolve the log-in, for example by recording the consent that it waits for."
    )
    static let anonymousRefused = FindingRow(
        .warning("des.contact.anonymousRefused", .forbidden, rule: "R8"),
        reason: "The vendor did not give the installation an anonymous contact",
        remedy: "Permit anonymous contacts in the application's settings at the vendor, or log in."
    )

    // MARK: The installation

    static let factsMissing = FindingRow(
        .error("des.device.facts", .missing, rule: "B1"),
        reason: "A registration needs the facts of the device",
        remedy: "Give the device's facts."
    )
    static let platform = FindingRow(
        .error("des.device.platform", .unsupported, rule: "B1"),
        reason: "The vendor only supports iOS and Android",
        remedy: "Register installations of these platforms."
    )
    static let tokenForm = FindingRow(
        .error("des.pushToken.form", .invalid, rule: "B3"),
        reason: "The push token is blank, holds white space, or is no hexadecimal text",
        remedy: "Give an APNs token as hexadecimal digits, or name its service. Without a token, leave it out."
    )
    static let adoptedForm = FindingRow(
        .error("des.device.clientID", .invalid, rule: "H2"),
        reason: "The adopted client id is not a UUID",
        remedy: "Give the id that the vendor's SDK made, or none."
    )
    static let notRegistered = FindingRow(
        .note("des.device.notRegistered", .missing, rule: "N4"),
        reason: "The vendor does not know this installation yet",
        remedy: "Capture registerDevice at each start of the app. If it was rejected, first correct the cause "
            + "that its finding names."
    )
    static let tokenLater = FindingRow(
        .note("des.pushToken.later", rule: "R6"),
        reason: "There is no push token yet; it is set with the next registration that has one",
        remedy: "Capture registerDevice when the system gives a token."
    )

    // MARK: Events

    static let campaignMissing = FindingRow(
        .error("des.message.campaign", .missing, rule: "R15"),
        reason: "The message has no campaign id",
        remedy: "Give the campaign id that came with the message."
    )
    static let campaignNumber = FindingRow(
        .error("des.message.campaignNumber", .invalid, rule: "R29"),
        reason: "The campaign id is no whole number, and the setting campaignIds wants one",
        remedy: "Set campaignIds to text."
    )
    static let buttonMissing = FindingRow(
        .error("des.message.button", .missing, rule: "R15"),
        reason: "The click names no button",
        remedy: "Give the button's id."
    )
    static let pushWithoutID = FindingRow(
        .error("des.push.withoutID", .missing, rule: "R14"),
        reason: "The push has no message id: u.sid is missing",
        remedy: "Pass the payload as the system gave it."
    )
    static let eventName = FindingRow(
        .error("des.event.name", .missing, rule: "T3"),
        reason: "The event has no name",
        remedy: "Give it a name."
    )
    static let eventReserved = FindingRow(
        .error("des.event.reserved", .reserved, rule: "B7"),
        reason: "The name belongs to an event of the vendor's own",
        remedy: "Choose another name, or capture the event that it stands for."
    )
    static let attributeNested = FindingRow(
        .error("des.event.nested", .unsupported, rule: "T2"),
        reason: "The attribute is a list or an object",
        remedy: "Give one attribute for each of its parts, or join them to a text."
    )
    static let attributeFraction = FindingRow(
        .warning("des.event.fraction", .tooLarge, rule: "R30"),
        reason: "The point in time is finer than a millisecond, and the rest is cut",
        remedy: "Give it in milliseconds."
    )
    static let attributeMissing = FindingRow(
        .error("des.event.attributeMissing", .missing, rule: "B7"),
        reason: "The vendor's event lacks an attribute",
        remedy: "Give it as a text that is not empty."
    )
    static let attributeUnknown = FindingRow(
        .error("des.event.attributeStrange", .unsupported, rule: "B7"),
        reason: "The vendor's event has no such attribute",
        remedy: "Leave it out."
    )
    static let noSession = FindingRow(
        .note("des.session.none", rule: "R13"),
        reason: "No session runs that could end",
        remedy: "Capture sessionStarted when the app becomes active."
    )
    static let inboxUnchanged = FindingRow(
        .note("des.inbox.unchanged", rule: "R16"),
        reason: "The message has these tags already",
        remedy: "No action is needed."
    )
    static let inboxUnknown = FindingRow(
        .error("des.inbox.unknown", .notFound, rule: "R16"),
        reason: "The inbox as last fetched has no such message",
        remedy: "Read the inbox again, then tag a message of it."
    )

    // MARK: Queries

    static let queryUnknown = FindingRow(
        .error("des.read.unknown", .unsupported, rule: "R38"),
        reason: "The vendor has no such query",
        remedy: "Ask one of \(Query.names)."
    )
    static let argumentMissing = FindingRow(
        .error("des.read.argument", .missing, rule: "R38"),
        reason: "The question lacks its argument",
        remedy: "Give it as a text that is not empty."
    )
    static let addressNotTrusted = FindingRow(
        .error("des.read.address", .forbidden, rule: "I3"),
        reason: "The address is not at the vendor's hosts",
        remedy: "Pass the address as it stands in the push."
    )
    static let noContent = FindingRow(
        .error("des.read.noContent", .notFound, rule: "R22"),
        reason: "There is no message for this view",
        remedy: "Show nothing. A campaign for this view may arrive later."
    )

    // MARK: Ends

    static let consentKept = FindingRow(
        .note("des.consent.kept", rule: "N1"),
        reason: "Consent is applied here and not sent to the vendor",
        remedy: "No action is needed."
    )
    static let optOutKept = FindingRow(
        .note("des.optOut.kept", rule: "N7"),
        reason: "Another person uses this installation and wants push; the opt-out counts when its person comes back",
        remedy: "No action is needed."
    )
    static let optInOvertaken = FindingRow(
        .error("des.optIn.overtaken", .conflict, rule: "N7"),
        reason: "A later opt-out of push has overtaken this opt-in",
        remedy: "Subscribe again if the person still wants push."
    )
    static let displayNext = FindingRow(
        .note("des.subscription.next", rule: "B8"),
        reason: "The vendor receives it with the next events",
        remedy: "No action is needed. The app itself decides whether to show messages."
    )
    static let eraseByHand = FindingRow(
        .warning("des.erase.byHand", .unsupported, rule: "N2"),
        reason: "Everything is forgotten here; the vendor keeps its data",
        remedy: "Have a back end delete the contact at the vendor."
    )
    static let nothingToLeave = FindingRow(
        .note("des.unregister.nothing", rule: "N3"),
        reason: "The vendor has no registration to remove",
        remedy: "No action is needed."
    )
    static let notSent = FindingRow(
        .warning("des.unregister.neverSent", .conflict, rule: "N3"),
        reason: "The vendor was left before this could be sent",
        remedy: "No action is needed. If the next vendor needs it, capture it again."
    )
    static let leavingRefused = FindingRow(
        .error("des.unregister.refused", .invalid, rule: "N3"),
        reason: "The vendor did not take back the push token or the contact of this installation",
        remedy: "Replay it, or have a back end remove the installation at the vendor."
    )

    // MARK: Answers

    static let stopped = FindingRow(
        .note("des.queue.stopped", .unreachable, rule: "R31"),
        reason: "A request has to be repeated, and everything waits behind it",
        remedy: "No action is needed. Delivery continues with the next capture, when the network returns, when "
            + "the app comes to the foreground, or with a flush."
    )
    static let renewed = FindingRow(
        .note("des.queue.renewed", rule: "R33"),
        reason: "The contact token was renewed; the request is repeated half a second later",
        remedy: "No action is needed."
    )
    static let replyUnauthenticated = FindingRow(
        .error("des.reply.unauthenticated", .unauthenticated, rule: "R33"),
        reason: "The vendor does not accept the contact token, and there is none to renew it with",
        remedy: "Log in again; check that the application has contacts at the vendor."
    )
    static let renewalRefused = FindingRow(
        .error("des.reply.renewalRefused", .unauthenticated, rule: "R33"),
        reason: "The vendor did not renew the contact token (the SDKs' code 418)",
        remedy: "Log in again, then replay it."
    )
    static let renewalsSpent = FindingRow(
        .error("des.reply.renewalsSpent", .unauthenticated, rule: "R33"),
        reason: "The vendor refused the request after three renewals (the SDKs' code 418)",
        remedy: "Log in again, then replay it."
    )
    static let replyRefused = FindingRow(
        .error("des.reply.refused", .invalid, rule: "A5"),
        reason: "The vendor refuses the request",
        remedy: "Check the application code and the contact field. 400 means that one of these or the form of "
            + "the request is wrong."
    )
    static let replyLater = FindingRow(
        .note("des.reply.later", .unavailable, rule: "R31"),
        reason: "The vendor cannot take the request now",
        remedy: "No action is needed. The request is repeated. Send a query again later."
    )
    static let replyPage = FindingRow(
        .warning("des.reply.page", .unavailable, rule: "R41"),
        reason: "The reply is a web page, such as the sign-in page of a network or the error page of a proxy",
        remedy: "Sign in to the network, or check the address. Attempts continue."
    )
    static let noReply = FindingRow(
        .note("des.reply.none", .unreachable, rule: "R37"),
        reason: "The vendor did not answer",
        remedy: "No action is needed. The request is repeated. Send a query again later."
    )
    static let hostNotFound = FindingRow(
        .error("des.reply.hostNotFound", .misconfigured, rule: "T5"),
        reason: "The host cannot be found",
        remedy: "Check the addresses in the settings, or set onHostNotFound to keep."
    )
    static let replyUnreadable = FindingRow(
        .error("des.reply.unreadable", .unavailable, rule: "R21"),
        reason: "The reply cannot be read",
        remedy: "Ask again later."
    )
    static let replyDamaged = FindingRow(
        .warning("des.reply.damaged", .unavailable, rule: "R24"),
        reason: "The vendor accepted the request, but its reply ends early or is no JSON",
        remedy:
            "No action is needed. Without a device event state, the same views and clicks are sent with the "
            + "next request. If this persists, check which proxy changes the replies."
    )
}
