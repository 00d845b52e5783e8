import PatchbayAdapterKit

/// All findings of the device APIs. No finding holds a personal value or a secret.
extension FindingRow {
    /// The rows of Campaign Standard.
    static let adobe: [FindingRow] = [
        pushForeign, trackingOff, idMissing, idForm, impressionsMissed, dismissalsMissed, sessionEnded,
        eventCustom, eventInApp, registrationNotDue, registrationPaused, deviceMissing, profileDenied, pushService,
        tokenForm, identityForm, identityEnded, identityForgotten, organizationMissing, tokenWithheld, deviceRemembered,
        pkeyMissing, attributesEmpty, attributeUnmapped, attributeNested,
        attributeUnset, attributeInstruction, attributesKnown, attributesOvertaken, visibleLater, tagUnmapped,
        tagsEmpty, identifierUnmapped, identifiersNone, fieldTwice, fieldReserved, personUnreconciled, personChanged,
        personUnchanged, personOther, personLeft, tokenKept, subscriptionPush,
        subscriptionChannel, readBack, optionUnknown, actionUnknown, consentKept, tokenTakenBack, optedOut,
        eraseByHand, left, nothingToLeave, leavesLast, providerLeft, replyNotOK, replyNotFound, replyLater,
        replyRefused, noReply, replyPage, replyLost,
        replyUnsent,
        clickRefused,
    ]

    /// The rows of Campaign Classic.
    static let adobeClassic: [FindingRow] = [
        classicID, classicDismissed, classicSession, classicDetached, classicLeft, tokenNeeded, userKeyMissing,
        userKeyNone, tokenForm, tokenWithheld, personChanged, personLeft, nothingToLeave, leavesLast, providerLeft,
        identifierUnused, parameterNested, parameterInstruction, parameterControl, parameterLines,
        tagParameterMissing, registrationKnown, classicFailed, classicLost, classicUnsent, pushForeign, idMissing,
        idForm,
        eventCustom, eventInApp, deviceMissing, pushService, attributesEmpty, tagsEmpty, subscriptionPush,
        subscriptionChannel, readBack, optionUnknown, actionUnknown, consentKept, eraseByHand,
    ]

    // MARK: Push messages

    static let pushForeign = FindingRow(
        .foreign("adobe.push.foreign"),
        reason: "The push message was not sent by this vendor",
        remedy: "No action is needed. The vendor that sent the message receives it."
    )
    static let trackingOff = FindingRow(
        .note("adobe.push.trackingOff", rule: "G1"),
        reason: "The delivery is not tracked",
        remedy: "No action is needed. To track the delivery, switch tracking on in the vendor's platform."
    )
    static let idMissing = FindingRow(
        .error("adobe.push.idMissing", .missing, rule: "G5"),
        reason: "The push message has no id as text, so it cannot be reported",
        remedy: "Pass the payload unchanged, and check the delivery's template."
    )
    static let idForm = FindingRow(
        .error("adobe.push.idForm", .invalid, rule: "G7"),
        reason: "The id holds a comma or a control character, which would read as something else",
        remedy: "Pass the payload unchanged."
    )
    static let impressionsMissed = FindingRow(
        .note("adobe.push.contentAvailable", rule: "A4"),
        reason: "Without content-available the system wakes no app in the background, so most impressions are missed",
        remedy: "Set \"content-available\": 1 in the delivery."
    )
    static let dismissalsMissed = FindingRow(
        .note("adobe.push.category", rule: "A7"),
        reason: "The system reports a dismissal to an app only for a category that the app registered with "
            + "customDismissAction",
        remedy: "Give the delivery the category that the app registered."
    )

    // MARK: Events

    static let sessionEnded = FindingRow(
        .error("adobe.event.sessionEnded", .unsupported, rule: "N1"),
        reason: "The vendor only accepts the start of a session",
        remedy: "Capture sessionStarted alone, or leave sessionEnded to another provider."
    )
    static let eventCustom = FindingRow(
        .error("adobe.event.custom", .unsupported, rule: "N1"),
        reason: "The vendor only accepts push events from a device",
        remedy: "Set an attribute, or send a transactional event from a back end."
    )
    static let eventInApp = FindingRow(
        .error("adobe.event.inApp", .unsupported, rule: "N2"),
        reason: "A message inside the app has no tracking of its own here",
        remedy: "Pass the local notification's payload as a push event."
    )
    static let registrationNotDue = FindingRow(
        .note("adobe.registration.notDue", rule: "R5"),
        reason: "The device was registered or active less than registrationDelay days ago",
        remedy: "No action is needed."
    )
    static let registrationPaused = FindingRow(
        .note("adobe.registration.paused", rule: "R6"),
        reason: "Registrations are paused, so nothing is sent and nothing is stored",
        remedy: "Set registrationPaused to false."
    )
    static let deviceMissing = FindingRow(
        .note("adobe.device.missing", .missing, rule: "Q9"),
        reason: "No device is registered yet, so its push service and identity are unknown",
        remedy: "Capture registerDevice."
    )

    static let profileDenied = FindingRow(
        .note("adobe.profile.denied", rule: "V6"),
        reason: "Consent to profile is denied, so no mobile profile is registered, and push events wait for one",
        remedy: "No action is needed. The operation is sent when consent to profile is granted."
    )

    // MARK: Devices and tokens

    static let pushService = FindingRow(
        .error("adobe.token.service", .unsupported, rule: "S3"),
        reason: "The vendor knows no such push service for this app and platform",
        remedy: "Use APNs, or Firebase on Android. An app for iOS that uses Firebase passes its APNs token."
    )
    static let tokenForm = FindingRow(
        .error("adobe.token.form", .invalid, rule: "I9"),
        reason:
            "The push token is malformed: one of APNs is pairs of hexadecimal digits, one of Firebase has no spaces",
        remedy: "Pass the token as the system gave it. The token registered before stays in use."
    )
    static let identityEnded = FindingRow(
        .warning("adobe.identity.ended", .conflict, rule: "I2"),
        reason: "The identity that the app passes ended with an earlier person, an opt-out or an erasure",
        remedy: "Reset the identities of the vendor's SDK when the person changes, and pass the new identity."
    )
    static let identityForgotten = FindingRow(
        .error("adobe.identity.forgotten", .conflict, rule: "I10"),
        reason: "The identity that was current at capture is not stored any more",
        remedy: "Discard the operation, or capture it again."
    )
    static let tokenWithheld = FindingRow(
        .note("adobe.token.withheld", rule: "V6"),
        reason: "The person does not allow push messages, so the push token is not sent",
        remedy: "No action is needed. It is sent when consent to messaging is granted."
    )
    static let deviceRemembered = FindingRow(
        .note("adobe.device.remembered", rule: "R4"),
        reason: "There is no push token to send or to take back; the next session registers the mobile profile",
        remedy: "No action is needed."
    )
    static let identityForm = FindingRow(
        .error("adobe.identity.form", .invalid, rule: "I1"),
        reason: "The identity that the app gives is not 38 decimal digits",
        remedy: "Give it as text exactly as the vendor's SDK holds it; zeros in front belong to it."
    )
    static let organizationMissing = FindingRow(
        .warning("adobe.token.untold", .misconfigured, rule: "I6"),
        reason: "The push token is not sent, because the organization is unknown",
        remedy: "Set organizationId."
    )

    // MARK: Attributes, tags, identifiers

    static let pkeyMissing = FindingRow(
        .error("adobe.pkey.missing", .misconfigured, rule: "R8"),
        reason: "Without pkey no device can be registered and no attribute written; tracking continues",
        remedy: "Set pkey to the mobile app's id."
    )
    static let attributesEmpty = FindingRow(
        .error("adobe.attributes.empty", .missing, rule: "P5"),
        reason: "No attribute changes",
        remedy: "Capture at least one change."
    )
    static let attributeUnmapped = FindingRow(
        .error("adobe.attribute.unmapped", .notFound, rule: "P2"),
        reason: "The attribute has no field at the vendor",
        remedy: "Name the field's id in attributeFields."
    )
    static let attributeNested = FindingRow(
        .error("adobe.attribute.nested", .unsupported, rule: "P4"),
        reason: "A field takes one text, no list, choices or object",
        remedy: "Give one value, or several attributes."
    )
    static let attributeUnset = FindingRow(
        .error("adobe.attribute.unset", .unsupported, rule: "P7"),
        reason: "The settings refuse to clear attributes",
        remedy: "Set unsetAttributes to empty, or set a value."
    )
    static let attributeInstruction = FindingRow(
        .error("adobe.attribute.instruction", .unsupported, rule: "P4"),
        reason: "The vendor cannot add to a value",
        remedy: "Set the whole value."
    )
    static let attributesKnown = FindingRow(
        .note("adobe.attributes.known", rule: "P6"),
        reason: "The vendor already has these values",
        remedy: "No action is needed."
    )
    static let attributesOvertaken = FindingRow(
        .note("adobe.attributes.overtaken", rule: "P6"),
        reason: "The vendor already has values that were captured later",
        remedy: "No action is needed."
    )
    static let visibleLater = FindingRow(
        .note("adobe.attributes.later", rule: "P10"),
        reason: "The mobile profile has it; the person's profile follows when the workflow in Campaign runs",
        remedy: "No action is needed."
    )
    static let tagUnmapped = FindingRow(
        .error("adobe.tag.unmapped", .notFound, rule: "P8"),
        reason: "The vendor has no tags, and this one has no field",
        remedy: "Name a field's id in the provider's settings for tags."
    )
    static let tagsEmpty = FindingRow(
        .error("adobe.tags.empty", .missing, rule: "P5"),
        reason: "No tag changes",
        remedy: "Capture at least one change."
    )
    static let identifierUnmapped = FindingRow(
        .warning("adobe.identifier.unmapped", .notFound, rule: "P9"),
        reason: "The identifier has no field at the vendor and is left out",
        remedy: "Name the field's id in identifierFields."
    )
    static let identifiersNone = FindingRow(
        .error("adobe.identifiers.none", .missing, rule: "P9"),
        reason: "No identifier has a field at the vendor, so no profile can be reconciled",
        remedy: "Name the field's id in identifierFields."
    )
    static let fieldTwice = FindingRow(
        .error("adobe.field.twice", .conflict, rule: "P2"),
        reason: "Two values go to one field",
        remedy: "Give them fields of their own."
    )
    static let fieldReserved = FindingRow(
        .error("adobe.field.reserved", .reserved, rule: "P2"),
        reason: "The name belongs to the vendor",
        remedy: "Name another field."
    )

    // MARK: People

    static let personUnreconciled = FindingRow(
        .warning("adobe.person.unreconciled", .notFound, rule: "P9"),
        reason: "No identifier of the person has a field at the vendor, so only the identity changes",
        remedy: "Name the field's id in identifierFields."
    )
    static let personChanged = FindingRow(
        .note("adobe.person.changed", rule: "N4"),
        reason: "Another person uses the device under an identity of their own",
        remedy: "No action is needed."
    )
    static let personUnchanged = FindingRow(
        .note("adobe.person.unchanged", rule: "N4"),
        reason: "No known person left, so the identity stays",
        remedy: "No action is needed."
    )
    static let personOther = FindingRow(
        .error("adobe.person.other", .conflict, rule: "I10"),
        reason: "The operation belongs to another contact than the identity that was current at capture",
        remedy: "Capture a log-in before what belongs to the contact."
    )
    static let personLeft = FindingRow(
        .error("adobe.person.left", .conflict, rule: "I10"),
        reason: "The person left the device before the operation could be carried out",
        remedy: "Replay the operation when the person is logged in again, or discard it."
    )
    static let tokenKept = FindingRow(
        .error("adobe.token.kept", .unavailable, rule: "I5"),
        reason: "The identity service refused to take back the push token of the previous person",
        remedy: "Check organizationId and identityServer, and replay the operation."
    )

    // MARK: Actions without a counterpart

    static let subscriptionPush = FindingRow(
        .error("adobe.subscription.push", .unsupported, rule: "N3"),
        reason: "A device cannot report subscriptions to this vendor",
        remedy: "Change it from a back end. Without a push token in registerDevice, push messages do not reach "
            + "the device."
    )
    static let subscriptionChannel = FindingRow(
        .error("adobe.subscription.channel", .unsupported, rule: "N3"),
        reason: "A device cannot report subscriptions to this vendor",
        remedy: "Change it from a back end, with the vendor's REST interface."
    )
    static let readBack = FindingRow(
        .error("adobe.readBack", .unsupported, rule: "N5"),
        reason: "The vendor answers no queries of a device",
        remedy: "Ask from a back end, with the vendor's REST interface."
    )
    static let optionUnknown = FindingRow(
        .error("adobe.option.unknown", .invalid, rule: "N6"),
        reason: "This vendor has no options for single operations",
        remedy: "Remove it. The provider's settings decide how operations are sent."
    )
    static let actionUnknown = FindingRow(
        .error("adobe.action.unknown", .unsupported, rule: "N6"),
        reason: "This release does not support this operation for this vendor",
        remedy: "Update the adapter."
    )

    // MARK: Outcomes

    static let consentKept = FindingRow(
        .note("adobe.consent.kept", rule: "V4"),
        reason: "Consent is stored and applied here, and not sent to the vendor",
        remedy: "No action is needed."
    )
    static let tokenTakenBack = FindingRow(
        .note("adobe.consent.token", rule: "V6"),
        reason: "The opt-out is applied: the identity service has no push token of this person",
        remedy: "No action is needed."
    )
    static let optedOut = FindingRow(
        .note("adobe.consent.optedOut", rule: "V3"),
        reason: "The opt-out ended the identity of the device; the next one begins with the next registration",
        remedy: "Capture registerDevice when the person consents again."
    )
    static let eraseByHand = FindingRow(
        .warning("adobe.erase.byHand", .unsupported, rule: "V5"),
        reason: "The data is deleted here; a device cannot delete its mobile profile",
        remedy: "Delete the profile in Campaign, or with a privacy request."
    )
    static let left = FindingRow(
        .note("adobe.unregister.left", rule: "N7"),
        reason: "Every push token of this installation was taken back; its mobile profiles stay",
        remedy: "Delete the mobile profiles in Campaign if they must go."
    )
    static let nothingToLeave = FindingRow(
        .note("adobe.unregister.nothing", rule: "N7"),
        reason: "The vendor has no push token of this device",
        remedy: "No action is needed."
    )

    static let leavesLast = FindingRow(
        .note("adobe.unregister.last", rule: "N7"),
        reason: "The push token is taken back once everything captured before has an outcome",
        remedy: "No action is needed."
    )
    static let providerLeft = FindingRow(
        .note("adobe.unregister.over", rule: "N7"),
        reason: "The provider was removed before the operation could be carried out",
        remedy: "No action is needed. The new vendor receives the state of the installation."
    )

    // MARK: Answers

    static let replyNotOK = FindingRow(
        .error("adobe.reply.notOK", .unavailable, rule: "Q4"),
        reason: "The vendor's reply is a success that does not count as one",
        remedy: "Set successStatuses to any2xx if it does, and replay the operation."
    )
    static let replyNotFound = FindingRow(
        .error("adobe.reply.notFound", .notFound, rule: "G6"),
        reason: "The vendor does not know the app or the delivery, or the delivery is not tracked",
        remedy: "Check pkey and the delivery's tracking."
    )
    static let replyLater = FindingRow(
        .warning("adobe.reply.later", .unavailable, rule: "Q3"),
        reason: "The vendor is temporarily unavailable",
        remedy: "No action is needed. The request is repeated every 30 seconds."
    )
    static let replyRefused = FindingRow(
        .error("adobe.reply.refused", .invalid, rule: "Q5"),
        reason: "The vendor refused it",
        remedy: "Check server, pkey and the fields in Campaign, and replay the operation."
    )
    static let replyPage = FindingRow(
        .warning("adobe.reply.page", .unavailable, rule: "Q11"),
        reason: "The reply is a web page, such as the sign-in page of a network or the error page of a proxy",
        remedy: "Sign in to the network, or check the address. Attempts continue."
    )
    static let noReply = FindingRow(
        .warning("adobe.reply.none", .unreachable, rule: "Q7"),
        reason: "The vendor did not answer",
        remedy: "No action is needed. The request is repeated every 30 seconds."
    )
    static let replyLost = FindingRow(
        .error("adobe.reply.lost", .outcomeUnknown, rule: "Q7"),
        reason: "The vendor did not answer, and the settings forbid to ask again",
        remedy: "Replay the operation if it may count twice, or set noAnswer to retry."
    )
    static let replyUnsent = FindingRow(
        .error("adobe.reply.unsent", .unreachable, rule: "Q7"),
        reason: "The vendor could not be reached, and the settings forbid to try again",
        remedy: "Replay the operation, or set noAnswer to retry."
    )
    static let clickRefused = FindingRow(
        .error("adobe.reply.clickRefused", .invalid, rule: "A6"),
        reason: "The vendor accepted the open, but not the click before it",
        remedy: "Check the tracking of the delivery. Replaying the operation sends both requests again."
    )

    // MARK: Campaign Classic

    static let classicID = FindingRow(
        .error("adobe.classic.id", .invalid, rule: "C5"),
        reason: "The message's id is neither a UUID nor a whole number of 64 bits",
        remedy: "Pass the payload unchanged; ids with h belong to Campaign Standard."
    )
    static let classicDismissed = FindingRow(
        .error("adobe.classic.dismissed", .unsupported, rule: "C3"),
        reason: "Campaign Classic only accepts receipts and taps of messages",
        remedy: "Leave dismissals to another provider."
    )
    static let classicSession = FindingRow(
        .error("adobe.classic.session", .unsupported, rule: "N1"),
        reason: "Campaign Classic has no sessions",
        remedy: "Leave sessions to another provider."
    )
    static let classicDetached = FindingRow(
        .note("adobe.classic.detached", rule: "C21"),
        reason: "The opt-out is applied: the device is registered without a user key and parameters",
        remedy: "No action is needed."
    )
    static let classicLeft = FindingRow(
        .note("adobe.classic.left", rule: "C21"),
        reason: "The device is registered without a user key and parameters; a device cannot remove its push token",
        remedy: "Remove the device in Campaign, or let its push token expire."
    )
    static let tokenNeeded = FindingRow(
        .warning("adobe.classic.tokenMissing", .missing, rule: "C9"),
        reason: "Without a push token the device is not registered",
        remedy: "Capture registerDevice again when the token is there."
    )
    static let userKeyMissing = FindingRow(
        .error("adobe.classic.userKey", .missing, rule: "C11"),
        reason: "The identifier that becomes the user key is missing",
        remedy: "Give one of the kind that the setting userKey names."
    )
    static let userKeyNone = FindingRow(
        .warning("adobe.classic.userKey.none", .missing, rule: "C11"),
        reason: "The person who logs in has no identifier that becomes the user key, so the device has none",
        remedy: "Give one of the kind that the setting userKey names."
    )
    static let identifierUnused = FindingRow(
        .warning("adobe.classic.identifier", .unsupported, rule: "C11"),
        reason: "There is one user key; this identifier is left out",
        remedy: "Set userKey to its kind, or name a parameter in identifierParameters."
    )
    static let parameterNested = FindingRow(
        .error("adobe.classic.nested", .unsupported, rule: "C13"),
        reason: "A parameter takes one text, no list, choices or object",
        remedy: "Give one value, or several attributes."
    )
    static let parameterInstruction = FindingRow(
        .error("adobe.classic.instruction", .unsupported, rule: "C13"),
        reason: "The vendor cannot add to a value",
        remedy: "Set the whole value."
    )
    static let parameterControl = FindingRow(
        .error("adobe.classic.control", .invalid, rule: "C15"),
        reason: "XML cannot represent a control character",
        remedy: "Take it out of the text."
    )
    static let parameterLines = FindingRow(
        .warning("adobe.classic.lines", .invalid, rule: "C15"),
        reason: "Line breaks are taken out of parameters",
        remedy: "Give a text of one line."
    )
    static let tagParameterMissing = FindingRow(
        .error("adobe.classic.tag", .notFound, rule: "C14"),
        reason: "The vendor has no tags, and this one has no parameter",
        remedy: "Name a parameter in tagParameters."
    )
    static let registrationKnown = FindingRow(
        .note("adobe.classic.known", rule: "C16"),
        reason: "The vendor already has this registration",
        remedy: "No action is needed."
    )
    static let classicFailed = FindingRow(
        .error("adobe.classic.failed", .unavailable, rule: "C18"),
        reason: "The vendor did not take it, and its client asks once",
        remedy: "Replay the operation when the vendor works again."
    )
    static let classicLost = FindingRow(
        .error("adobe.classic.lost", .outcomeUnknown, rule: "C18"),
        reason: "The vendor did not answer, and its client asks once",
        remedy: "Replay the operation if it may count twice."
    )
    static let classicUnsent = FindingRow(
        .error("adobe.classic.unsent", .unreachable, rule: "C18"),
        reason: "The vendor could not be reached, and its client asks once",
        remedy: "Replay the operation when the network is back."
    )
}
