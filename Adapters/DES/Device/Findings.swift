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
        "des.option.unknown",
        .error,
        .invalid,
        rule: .des("N5"),
        reason: "There is no such option for DES",
        remedy: "Use one of \(CallOption.names)."
    )
    static let optionInvalid = FindingRow(
        "des.option.invalid",
        .error,
        .invalid,
        rule: .des("N5"),
        reason: "The option has another form",
        remedy: "Give it in the form that the README lists."
    )
    static let optionIdle = FindingRow(
        "des.option.idle",
        .warning,
        .unsupported,
        rule: .des("N5"),
        reason: "This operation has no place for the option",
        remedy: "Leave it out, or give it with an operation that the README lists for it."
    )

    // MARK: Actions without a counterpart

    static let attributes = FindingRow(
        "des.attributes",
        .error,
        .unsupported,
        rule: .des("U1"),
        reason: "The vendor's service for apps accepts no attributes of a contact",
        remedy: "Import them by a back end, or capture them as attributes of a custom event."
    )
    static let tags = FindingRow(
        "des.tags",
        .error,
        .unsupported,
        rule: .des("U2"),
        reason: "The vendor has no tags of contacts",
        remedy:
            "Import them as a field by a back end; for a message of the inbox capture inbox:tag:add or inbox:tag:remove."
    )
    static let channel = FindingRow(
        "des.subscription.channel",
        .error,
        .unsupported,
        rule: .des("U3"),
        reason: "Apps can only subscribe to push messages and messages inside the app",
        remedy: "Have a back end change e-mail and text messages."
    )
    static let topic = FindingRow(
        "des.subscription.topic",
        .error,
        .unsupported,
        rule: .des("U4"),
        reason: "The vendor has no topics",
        remedy: "Leave the topic out, or capture a custom event that a segment of the vendor uses."
    )
    static let subscriptionUnknown = FindingRow(
        "des.subscription.unknown",
        .error,
        .missing,
        rule: .des("U3"),
        reason: "The person's decision is unknown",
        remedy: "Capture subscribed or unsubscribed once it is known."
    )
    static let suspended = FindingRow(
        "des.subscription.suspended",
        .note,
        rule: .des("U3"),
        reason: "The vendor cannot distinguish a pause from an opt-out",
        remedy: "Capture subscribed when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        "des.subscription.details",
        .warning,
        .unsupported,
        rule: .des("U3"),
        reason: "Time, source, evidence and fields of a subscription are not sent",
        remedy: "Keep them in your own records."
    )
    static let pushForeign = FindingRow(
        "des.push.foreign",
        .foreign,
        rule: .des("R14"),
        reason: "The push was sent by another vendor: it has no member u",
        remedy: "No action is needed. The adapter of the vendor that sent it tracks it."
    )
    static let pushInteraction = FindingRow(
        "des.push.interaction",
        .error,
        .unsupported,
        rule: .des("U5"),
        reason: "The vendor has no event for a push that arrived or was swiped away",
        remedy: "Capture the tap or the opening alone."
    )
    static let actionUnknown = FindingRow(
        "des.action.unknown",
        .error,
        .unsupported,
        reason: "This adapter does not know the operation",
        remedy: "Use a newer version of it."
    )

    // MARK: Contacts

    static let identifierMissing = FindingRow(
        "des.identifier.missing",
        .error,
        .missing,
        rule: .des("U6"),
        reason: "No identifier is of the kind that names contacts",
        remedy: "Give one of that kind, or change the setting contactIdentifier."
    )
    static let identifierUnused = FindingRow(
        "des.identifier.unused",
        .note,
        rule: .des("U6"),
        reason: "An identifier of this kind is not sent",
        remedy: "No action is needed. To use this identifier, change the setting contactIdentifier."
    )
    static let contactAnonymous = FindingRow(
        "des.contact.anonymous",
        .warning,
        .missing,
        rule: .des("R8"),
        reason: "The identifier is blank, so the contact becomes anonymous",
        remedy: "Give the identifier's value, or log out."
    )
    static let credentialMissing = FindingRow(
        "des.credential.missing",
        .note,
        .unauthenticated,
        rule: .des("B4"),
        reason: "There is no ID token for this contact",
        remedy: "Give the client the contact's OpenID Connect ID token as credential."
    )
    static let credentialExpired = FindingRow(
        "des.credential.expired",
        .note,
        .unauthenticated,
        rule: .des("B4"),
        reason: "The ID token for this contact has expired",
        remedy: "Give the client another ID token of the contact as credential."
    )
    static let contactOvertaken = FindingRow(
        "des.contact.overtaken",
        .error,
        .conflict,
        rule: .des("N6"),
        reason: "The log-in waited for its credential until another person logged in or the provider was removed",
        remedy: "No action is needed. When the person returns, log in again."
    )
    static let contactOfAnother = FindingRow(
        "des.contact.another",
        .error,
        .conflict,
        rule: .des("N6"),
        reason: "The vendor's contact is set for another person",
        remedy: "Log the person in again, then replay it; see how the last log-in or log-out ended."
    )
    static let contactLater = FindingRow(
        "des.contact.later",
        .note,
        .conflict,
        rule: .des("N6"),
        reason: "The log-in of this person has not been sent, and the vendor's contact is set for another person",
        remedy: "Resolve the log-in, for example by recording the consent that it waits for."
    )
    static let anonymousRefused = FindingRow(
        "des.contact.anonymousRefused",
        .warning,
        .forbidden,
        rule: .des("R8"),
        reason: "The vendor did not give the installation an anonymous contact",
        remedy: "Permit anonymous contacts in the application's settings at the vendor, or log in."
    )

    // MARK: The installation

    static let factsMissing = FindingRow(
        "des.device.facts",
        .error,
        .missing,
        rule: .des("B1"),
        reason: "A registration needs the facts of the device",
        remedy: "Give the device's facts."
    )
    static let platform = FindingRow(
        "des.device.platform",
        .error,
        .unsupported,
        rule: .des("B1"),
        reason: "The vendor only supports iOS and Android",
        remedy: "Register installations of these platforms."
    )
    static let tokenForm = FindingRow(
        "des.pushToken.form",
        .error,
        .invalid,
        rule: .des("B3"),
        reason: "The push token is blank, holds white space, or is no hexadecimal text",
        remedy: "Give an APNs token as hexadecimal digits, or name its service. Without a token, leave it out."
    )
    static let adoptedForm = FindingRow(
        "des.device.clientID",
        .error,
        .invalid,
        rule: .des("H2"),
        reason: "The adopted client id is not a UUID",
        remedy: "Give the id that the vendor's SDK made, or none."
    )
    static let notRegistered = FindingRow(
        "des.device.notRegistered",
        .note,
        .missing,
        rule: .des("N4"),
        reason: "The vendor does not know this installation yet",
        remedy: "Capture registerDevice at each start of the app. If it was rejected, first correct the cause "
            + "that its finding names."
    )
    static let tokenLater = FindingRow(
        "des.pushToken.later",
        .note,
        rule: .des("R6"),
        reason: "There is no push token yet; it is set with the next registration that has one",
        remedy: "Capture registerDevice when the system gives a token."
    )

    // MARK: Events

    static let campaignMissing = FindingRow(
        "des.message.campaign",
        .error,
        .missing,
        rule: .des("R15"),
        reason: "The message has no campaign id",
        remedy: "Give the campaign id that came with the message."
    )
    static let campaignNumber = FindingRow(
        "des.message.campaignNumber",
        .error,
        .invalid,
        rule: .des("R29"),
        reason: "The campaign id is no whole number, and the setting campaignIds wants one",
        remedy: "Set campaignIds to text."
    )
    static let buttonMissing = FindingRow(
        "des.message.button",
        .error,
        .missing,
        rule: .des("R15"),
        reason: "The click names no button",
        remedy: "Give the button's id."
    )
    static let pushWithoutID = FindingRow(
        "des.push.withoutID",
        .error,
        .missing,
        rule: .des("R14"),
        reason: "The push has no message id: u.sid is missing",
        remedy: "Pass the payload as the system gave it."
    )
    static let eventName = FindingRow(
        "des.event.name",
        .error,
        .missing,
        rule: .des("T3"),
        reason: "The event has no name",
        remedy: "Give it a name."
    )
    static let eventReserved = FindingRow(
        "des.event.reserved",
        .error,
        .reserved,
        rule: .des("B7"),
        reason: "The name belongs to an event of the vendor's own",
        remedy: "Choose another name, or capture the event that it stands for."
    )
    static let attributeNested = FindingRow(
        "des.event.nested",
        .error,
        .unsupported,
        rule: .des("T2"),
        reason: "The attribute is a list or an object",
        remedy: "Give one attribute for each of its parts, or join them to a text."
    )
    static let attributeFraction = FindingRow(
        "des.event.fraction",
        .warning,
        .tooLarge,
        rule: .des("R30"),
        reason: "The point in time is finer than a millisecond, and the rest is cut",
        remedy: "Give it in milliseconds."
    )
    static let attributeMissing = FindingRow(
        "des.event.attributeMissing",
        .error,
        .missing,
        rule: .des("B7"),
        reason: "The vendor's event lacks an attribute",
        remedy: "Give it as a text that is not empty."
    )
    static let attributeUnknown = FindingRow(
        "des.event.attributeStrange",
        .error,
        .unsupported,
        rule: .des("B7"),
        reason: "The vendor's event has no such attribute",
        remedy: "Leave it out."
    )
    static let noSession = FindingRow(
        "des.session.none",
        .note,
        rule: .des("R13"),
        reason: "No session runs that could end",
        remedy: "Capture sessionStarted when the app becomes active."
    )
    static let inboxUnchanged = FindingRow(
        "des.inbox.unchanged",
        .note,
        rule: .des("R16"),
        reason: "The message has these tags already",
        remedy: "No action is needed."
    )
    static let inboxUnknown = FindingRow(
        "des.inbox.unknown",
        .error,
        .notFound,
        rule: .des("R16"),
        reason: "The inbox as last fetched has no such message",
        remedy: "Read the inbox again, then tag a message of it."
    )

    // MARK: Queries

    static let queryUnknown = FindingRow(
        "des.read.unknown",
        .error,
        .unsupported,
        rule: .des("R38"),
        reason: "The vendor has no such query",
        remedy: "Ask one of \(Query.names)."
    )
    static let argumentMissing = FindingRow(
        "des.read.argument",
        .error,
        .missing,
        rule: .des("R38"),
        reason: "The question lacks its argument",
        remedy: "Give it as a text that is not empty."
    )
    static let addressNotTrusted = FindingRow(
        "des.read.address",
        .error,
        .forbidden,
        rule: .des("I3"),
        reason: "The address is not at the vendor's hosts",
        remedy: "Pass the address as it stands in the push."
    )
    static let noContent = FindingRow(
        "des.read.noContent",
        .error,
        .notFound,
        rule: .des("R22"),
        reason: "There is no message for this view",
        remedy: "Show nothing. A campaign for this view may arrive later."
    )

    // MARK: Ends

    static let consentKept = FindingRow(
        "des.consent.kept",
        .note,
        rule: .des("N1"),
        reason: "Consent is applied here and not sent to the vendor",
        remedy: "No action is needed."
    )
    static let optOutKept = FindingRow(
        "des.optOut.kept",
        .note,
        rule: .des("N7"),
        reason: "Another person uses this installation and wants push; the opt-out counts when its person comes back",
        remedy: "No action is needed."
    )
    static let optInOvertaken = FindingRow(
        "des.optIn.overtaken",
        .error,
        .conflict,
        rule: .des("N7"),
        reason: "A later opt-out of push has overtaken this opt-in",
        remedy: "Subscribe again if the person still wants push."
    )
    static let displayNext = FindingRow(
        "des.subscription.next",
        .note,
        rule: .des("B8"),
        reason: "The vendor receives it with the next events",
        remedy: "No action is needed. The app itself decides whether to show messages."
    )
    static let eraseByHand = FindingRow(
        "des.erase.byHand",
        .warning,
        .unsupported,
        rule: .des("N2"),
        reason: "Everything is forgotten here; the vendor keeps its data",
        remedy: "Have a back end delete the contact at the vendor."
    )
    static let nothingToLeave = FindingRow(
        "des.unregister.nothing",
        .note,
        rule: .des("N3"),
        reason: "The vendor has no registration to remove",
        remedy: "No action is needed."
    )
    static let notSent = FindingRow(
        "des.unregister.neverSent",
        .warning,
        .conflict,
        rule: .des("N3"),
        reason: "The vendor was left before this could be sent",
        remedy: "No action is needed. If the next vendor needs it, capture it again."
    )
    static let leavingRefused = FindingRow(
        "des.unregister.refused",
        .error,
        .invalid,
        rule: .des("N3"),
        reason: "The vendor did not take back the push token or the contact of this installation",
        remedy: "Replay it, or have a back end remove the installation at the vendor."
    )

    // MARK: Answers

    static let stopped = FindingRow(
        "des.queue.stopped",
        .note,
        .unreachable,
        rule: .des("R31"),
        reason: "A request has to be repeated, and everything waits behind it",
        remedy: "No action is needed. Delivery continues with the next capture, when the network returns, when "
            + "the app comes to the foreground, or with a flush."
    )
    static let renewed = FindingRow(
        "des.queue.renewed",
        .note,
        rule: .des("R33"),
        reason: "The contact token was renewed; the request is repeated half a second later",
        remedy: "No action is needed."
    )
    static let replyUnauthenticated = FindingRow(
        "des.reply.unauthenticated",
        .error,
        .unauthenticated,
        rule: .des("R33"),
        reason: "The vendor does not accept the contact token, and there is none to renew it with",
        remedy: "Log in again; check that the application has contacts at the vendor."
    )
    static let renewalRefused = FindingRow(
        "des.reply.renewalRefused",
        .error,
        .unauthenticated,
        rule: .des("R33"),
        reason: "The vendor did not renew the contact token (the SDKs' code 418)",
        remedy: "Log in again, then replay it."
    )
    static let renewalsSpent = FindingRow(
        "des.reply.renewalsSpent",
        .error,
        .unauthenticated,
        rule: .des("R33"),
        reason: "The vendor refused the request after three renewals (the SDKs' code 418)",
        remedy: "Log in again, then replay it."
    )
    static let replyRefused = FindingRow(
        "des.reply.refused",
        .error,
        .invalid,
        rule: .des("A5"),
        reason: "The vendor refuses the request",
        remedy: "Check the application code and the contact field. 400 means that one of these or the form of "
            + "the request is wrong."
    )
    static let replyLater = FindingRow(
        "des.reply.later",
        .note,
        .unavailable,
        rule: .des("R31"),
        reason: "The vendor cannot take the request now",
        remedy: "No action is needed. The request is repeated. Send a query again later."
    )
    static let replyPage = FindingRow(
        "des.reply.page",
        .warning,
        .unavailable,
        rule: .des("R41"),
        reason: "The reply is a web page, such as the sign-in page of a network or the error page of a proxy",
        remedy: "Sign in to the network, or check the address. Attempts continue."
    )
    static let noReply = FindingRow(
        "des.reply.none",
        .note,
        .unreachable,
        rule: .des("R37"),
        reason: "The vendor did not answer",
        remedy: "No action is needed. The request is repeated. Send a query again later."
    )
    static let hostNotFound = FindingRow(
        "des.reply.hostNotFound",
        .error,
        .misconfigured,
        rule: .des("T5"),
        reason: "The host cannot be found",
        remedy: "Check the addresses in the settings, or set onHostNotFound to keep."
    )
    static let replyUnreadable = FindingRow(
        "des.reply.unreadable",
        .error,
        .unavailable,
        rule: .des("R21"),
        reason: "The reply cannot be read",
        remedy: "Ask again later."
    )
    static let replyDamaged = FindingRow(
        "des.reply.damaged",
        .warning,
        .unavailable,
        rule: .des("R24"),
        reason: "The vendor accepted the request, but its reply ends early or is no JSON",
        remedy:
            "No action is needed. Without a device event state, the same views and clicks are sent with the "
            + "next request. If this persists, check which proxy changes the replies."
    )
}
