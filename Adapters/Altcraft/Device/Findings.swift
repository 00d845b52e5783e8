package import PatchbayAdapterKit

/// All findings of this adapter. No finding holds a personal value or a secret.
extension FindingRow {
    /// Every row, for the descriptor.
    static let altcraft: [FindingRow] =
        [
            credentialMissing, credentialUnreadable, credentialTooLarge, credentialIncomplete,
            credentialAnonymous,
            optionUnknown, optionInvalid, optionNested, optionIdle, optionInstruction, fieldNull, fieldNullLeftOut,
            fieldBlank,
            subscriptionChannel, subscriptionUnknown, subscriptionNested, topicBlank, topicPaused, topicUnderOptOut,
            topicNothing, optOutKept,
            tokenProvider, tokenBlank, tokenForm, deviceKept, tokenMissing, tokenUpdatePending, permissionMissing,
            noSubscription,
            attributesEmpty, attributesNone, attributeForm, attributeCollision, attributeUnset, attributeElements,
            profileUnsubscribed, profileWhose,
            tagsField, tagsEmpty,
            switchRoleToken, roleTokenChanged, askAgain, messagesNotAllowed, overtaken, providerLeft, unregisterPending,
            unregisterLast,
            pushForeign, pushWithoutUID, pushDismissed, eventKind, eventPixel, eventName, eventNested, eventZone,
            eventWhose,
            timeMissing,
            readUnknown, readProvider, readNoToken, readUnanswered,
            identityInCredential, identityKind, consentKept, eraseByHand, nothingToLeave, actionUnknown,
            replyField, replySubscriptionField, replyCategory, replyRefused, replyCredential, replyUnavailable, noReply,
            replyPage, replyRedirect,
            retryLimit, replyUnreadable, replyErrorInSuccess, replyErrorRefused, replyLater, replyDiffers,
        ]

    // MARK: Credentials

    static let credentialMissing = FindingRow(
        .note("altcraft.credential.missing", .unauthenticated, rule: "A3"),
        reason: "There is no credential for this contact (540, 543)",
        remedy: "Give the contact's JSON Web Token to the client, or set rToken."
    )
    static let credentialUnreadable = FindingRow(
        .warning("altcraft.credential.unreadable", .unauthenticated, rule: "A4"),
        reason: "The contact's token has no readable claim \"matching\", so the vendor would reply with 541",
        remedy: "Have the back end write the claim as JSON text, then give the new token."
    )
    static let credentialTooLarge = FindingRow(
        .warning("altcraft.credential.tooLarge", .unauthenticated, rule: "A9"),
        reason: "The payload of the contact's token has 16 KiB or more",
        remedy: "Have the back end make a smaller token."
    )
    static let credentialIncomplete = FindingRow(
        .warning("altcraft.credential.incomplete", .unauthenticated, rule: "A5"),
        reason: "Parts are missing in the claim \"matching\" of the contact's token (542)",
        remedy: "Have the back end add them, then give the new token."
    )
    static let credentialAnonymous = FindingRow(
        .warning("altcraft.credential.noIdentifier", .unauthenticated, rule: "A6"),
        reason: "The claim \"matching\" of the contact's token names no identifier (545)",
        remedy: "Have the back end add email, phone, profile_id or another identifier, then give the new token."
    )

    // MARK: Options

    static let optionUnknown = FindingRow(
        .error("altcraft.option.unknown", .invalid, rule: "F18"),
        reason: "There is no such option for Altcraft",
        remedy: "Use one of \(CallOption.names)."
    )
    static let optionInvalid = FindingRow(
        .error("altcraft.option.invalid", .invalid, rule: "F18"),
        reason: "The option has another form",
        remedy: "Give it the form that is named here."
    )
    static let optionNested = FindingRow(
        .error("altcraft.option.nested", .invalid, rule: "F2"),
        reason: "A subscription field takes no list and no object (472, 475)",
        remedy: "Give text, a number, a boolean or null, or use profileFields."
    )
    static let optionIdle = FindingRow(
        .warning("altcraft.option.idle", .unsupported, rule: "B10"),
        reason: "This kind of operation has no place for the option; it is left out",
        remedy: "Give it with a subscription, or set profileUpdates to subscribe."
    )

    static let optionInstruction = FindingRow(
        .error("altcraft.option.instruction", .invalid, rule: "F24"),
        reason: "An instruction inside a profile field has another form",
        remedy:
            "Give incr a number, add and delete a list of texts, upsert an object, unset null and no e-mail address."
    )
    static let fieldNull = FindingRow(
        .note("altcraft.field.null", rule: "F23"),
        reason: "The vendor does not say what a null does to a field; it is sent",
        remedy: "Clear a profile field with unset, or set nullFields to omit."
    )
    static let fieldNullLeftOut = FindingRow(
        .warning("altcraft.field.nullLeftOut", .unsupported, rule: "F23"),
        reason: "A field whose value is null is left out",
        remedy: "Clear a profile field with unset, or set nullFields to send."
    )
    package static let fieldBlank = FindingRow(
        .error("altcraft.field.blank", .missing, rule: "F25"),
        reason: "A field or category without a name has no place at the vendor",
        remedy: "Name it."
    )

    // MARK: Subscriptions

    static let subscriptionChannel = FindingRow(
        .error("altcraft.subscription.channel", .unsupported, rule: "B3"),
        reason: "This API changes only push subscriptions",
        remedy: "Attach another channel with a custom event and its option subscription, or through the back end."
    )
    static let subscriptionUnknown = FindingRow(
        .error("altcraft.subscription.unknown", .invalid, rule: "B3"),
        reason: "The state unknown has no status at the vendor",
        remedy: "Ask the person. Send no messages until they have answered."
    )
    static let subscriptionNested = FindingRow(
        .error("altcraft.subscription.nested", .invalid, rule: "F2"),
        reason: "A subscription field takes no list, no choices and no object (472, 475)",
        remedy: "Give one value, or make it an attribute of the contact."
    )
    static let topicBlank = FindingRow(
        .error("altcraft.topic.blank", .missing, rule: "F25"),
        reason: "The topic is blank, and a category has a name",
        remedy: "Name the category, or leave the topic out to mean the whole subscription."
    )
    static let topicPaused = FindingRow(
        .note("altcraft.topic.suspended", rule: "B5"),
        reason: "A category is active or not; a suspended topic becomes one that is not active",
        remedy: "Suspend the channel as a whole if that is meant."
    )
    static let topicUnderOptOut = FindingRow(
        .warning("altcraft.topic.underOptOut", .conflict, rule: "B12"),
        reason: "The category is active, but the push subscription as a whole is not subscribed",
        remedy: "Subscribe the person to the channel if they want that."
    )
    static let topicNothing = FindingRow(
        .note("altcraft.topic.nothing", rule: "B12"),
        reason: "There is no push subscription whose category could be switched off",
        remedy: "No action is needed."
    )
    static let optOutKept = FindingRow(
        .note("altcraft.subscription.none", rule: "T8"),
        reason: "The vendor has no subscription of this person here that could be changed; the decision is kept",
        remedy: "No action is needed. A subscription that is made later has this status."
    )
    static let noSubscription = FindingRow(
        .note("altcraft.switch.noToken", .missing, rule: "T8"),
        reason: "There is no push token, so no subscription moves to the other person (422)",
        remedy: "Subscribe when a token is there."
    )

    // MARK: Tokens

    static let tokenProvider = FindingRow(
        .error("altcraft.token.provider", .unsupported, rule: "T7"),
        reason: "The vendor has no provider for this push service on this platform (471, 473)",
        remedy: "Register a token of \(PushProvider.names)."
    )
    static let tokenBlank = FindingRow(
        .error("altcraft.token.blank", .missing, rule: "T7"),
        reason: "The push token is blank",
        remedy: "Register the device without a token, or with the one that the system gave."
    )
    static let tokenForm = FindingRow(
        .error("altcraft.token.form", .invalid, rule: "T11"),
        reason: "The push token has another form than tokens of this service",
        remedy: "Register the device with the token that the system gave, unchanged; APNs bytes as hexadecimal digits."
    )
    static let deviceKept = FindingRow(
        .note("altcraft.device.kept", rule: "T1"),
        reason: "The registration is stored here; the vendor has no request for it",
        remedy: "No action is needed. The next subscription request contains the token and the device's facts."
    )
    static let tokenMissing = FindingRow(
        .note("altcraft.token.missing", .missing, rule: "T8"),
        reason: "The subscription waits for a push token (501)",
        remedy: "Register the device with its push token."
    )
    static let tokenUpdatePending = FindingRow(
        .note("altcraft.token.updatePending", .conflict, rule: "T2"),
        reason: "The subscription waits until the vendor has taken the new push token (506)",
        remedy: "No action is needed. The operation continues when the token update is done."
    )
    static let permissionMissing = FindingRow(
        .note("altcraft.permission.missing", .missing, rule: "T5"),
        reason: "Subscribing waits for the person's permission for notifications (504)",
        remedy: "Ask for it, then register the device again."
    )

    // MARK: Attributes and tags

    package static let attributesEmpty = FindingRow(
        .error("altcraft.attributes.empty", .missing, rule: "F1"),
        reason: "No attribute changes",
        remedy: "Name at least one."
    )
    package static let attributesNone = FindingRow(
        .error("altcraft.attributes.none", .invalid, rule: "F1"),
        reason: "None of the changes can be sent",
        remedy: "Correct at least one of the values in the other findings of this operation."
    )
    package static let attributeForm = FindingRow(
        .warning("altcraft.attribute.form", .invalid, rule: "F11"),
        reason: "The value does not have the form that the vendor's field requires, so the attribute is left out",
        remedy: "Give that form, or name another field for it in fieldNames."
    )
    package static let attributeCollision = FindingRow(
        .warning("altcraft.attribute.collision", .conflict, rule: "F20"),
        reason: "Two attributes have the same field at the vendor; this one is left out",
        remedy: "Give them different fields in fieldNames."
    )
    package static let attributeUnset = FindingRow(
        .warning("altcraft.attribute.email", .unsupported, rule: "F10"),
        reason: "The e-mail address cannot be cleared; the change is left out",
        remedy: "Set another address, or clear it in the platform."
    )
    package static let attributeElements = FindingRow(
        .warning("altcraft.attribute.elements", .invalid, rule: "F9"),
        reason: "Only texts can be added to and deleted from a field; the change is left out",
        remedy: "Give texts, or set the whole list."
    )
    static let profileUnsubscribed = FindingRow(
        .error("altcraft.profile.noSubscription", .conflict, rule: "Q8"),
        reason: "A subscription request would carry the profile fields, but the person has no push subscription",
        remedy: "Subscribe the person and replay the operation, or set profileUpdates to profileUpdate."
    )
    static let profileWhose = FindingRow(
        .warning("altcraft.profile.whose", .misconfigured, rule: "Q11"),
        reason: "With a role token the request for profiles does not say whose profile is meant",
        remedy: "Set profileUpdates to automatic or subscribe: that request names the push token."
    )
    package static let tagsField = FindingRow(
        .error("altcraft.tags.field", .misconfigured, rule: "F14"),
        reason: "There is no profile field for tags",
        remedy: "Create a field of type tags in the platform and name it in the setting tagsField."
    )
    package static let tagsEmpty = FindingRow(
        .note("altcraft.tags.empty", rule: "F14"),
        reason: "No tag changes",
        remedy: "No action is needed."
    )

    // MARK: Change of person

    static let switchRoleToken = FindingRow(
        .error("altcraft.switch.roleToken", .misconfigured, rule: "L4"),
        reason: "With a role token there is one profile, so a contact cannot log in or out",
        remedy: "Remove rToken and give each contact's JSON Web Token to the client."
    )
    static let roleTokenChanged = FindingRow(
        .error("altcraft.roleToken.changed", .conflict, rule: "T10"),
        reason: "It was captured before the role token changed, so it was meant for another profile",
        remedy: "Replay it if it belongs to the new profile, too."
    )
    static let askAgain = FindingRow(
        .error("altcraft.switch.askAgain", .unavailable, rule: "L3"),
        reason: "The query for the person's subscription failed, and the engine does not repeat a query",
        remedy: "Log in or out again, or replay this operation."
    )

    static let messagesNotAllowed = FindingRow(
        .note("altcraft.switch.withoutConsent", rule: "L11"),
        reason: "The person has not allowed push messages, so no person is subscribed on this installation",
        remedy: "Ask the person for consent to messaging on push; when it is granted, the subscription follows."
    )

    static let overtaken = FindingRow(
        .error("altcraft.switch.overtaken", .conflict, rule: "L10"),
        reason: "Another contact has logged in or out since it was captured, so it was not carried out",
        remedy: "No action is needed. Replay it only if its contact uses the installation again."
    )
    static let providerLeft = FindingRow(
        .error("altcraft.provider.left", .conflict, rule: "E6"),
        reason: "The provider is being removed, and the operation could not be sent before the unregister",
        remedy: "No action is needed at this vendor. Replay it if the configuration routes to this provider again."
    )
    static let unregisterPending = FindingRow(
        .note("altcraft.unregister.pending", .conflict, rule: "E1"),
        reason: "It was captured after an unregister that the vendor has not confirmed yet",
        remedy: "No action is needed. It is sent when the unregister is done."
    )
    static let unregisterLast = FindingRow(
        .note("altcraft.unregister.last", .conflict, rule: "E1"),
        reason: "The unregister is the last request, and other operations are still sent before it",
        remedy: "No action is needed. It follows them."
    )

    // MARK: Events

    package static let pushForeign = FindingRow(
        .foreign("altcraft.push.foreign", rule: "P1"),
        reason: "The payload has no _ac_push: another vendor sent it",
        remedy: "No action is needed."
    )
    static let pushWithoutUID = FindingRow(
        .error("altcraft.push.uid", .missing, rule: "P2"),
        reason: "The payload has no message id _uid (451)",
        remedy: "Pass the payload unchanged, or give the option uid."
    )
    package static let pushDismissed = FindingRow(
        .error("altcraft.push.interaction", .unsupported, rule: "P3"),
        reason: "The vendor only accepts deliveries and opens of messages",
        remedy: "Track a custom event for it."
    )
    static let eventKind = FindingRow(
        .error("altcraft.event.kind", .unsupported, rule: "M1"),
        reason: "The vendor has no such event",
        remedy: "Track a custom event for it."
    )
    static let eventPixel = FindingRow(
        .error("altcraft.event.pixel", .misconfigured, rule: "M1"),
        reason: "There is no pixel that could take custom events",
        remedy: "Create one in the platform and name it in the setting pixel."
    )
    static let eventName = FindingRow(
        .error("altcraft.event.name", .missing, rule: "M3"),
        reason: "The event has no name",
        remedy: "Name it."
    )
    static let eventNested = FindingRow(
        .error("altcraft.event.nested", .invalid, rule: "M5"),
        reason: "An event takes no list, no choices and no object (472, 475)",
        remedy: "Give one value, or several with a name each."
    )
    static let eventZone = FindingRow(
        .note("altcraft.event.zone", rule: "M11"),
        reason: "The time zone of the installation is unknown, so the event is sent with UTC",
        remedy: "Register the device with its facts before tracking."
    )
    static let eventWhose = FindingRow(
        .warning("altcraft.event.whose", .missing, rule: "M12"),
        reason: "With a role token the event does not say whose profile its fields and subscription are for",
        remedy: "Give the options matching and matchingIDs."
    )
    static let timeMissing = FindingRow(
        .error("altcraft.time.missing", .invalid, rule: "B1"),
        reason: "The moment of capture is not after 1970 (573, 574)",
        remedy: "Set the device's clock."
    )

    // MARK: Queries

    static let readUnknown = FindingRow(
        .error("altcraft.read.unknown", .unsupported, rule: "Q5"),
        reason: "The vendor has no such query",
        remedy: "Ask for \(StatusQueryMode.names)."
    )
    static let readProvider = FindingRow(
        .error("altcraft.read.provider", .invalid, rule: "T7"),
        reason: "The vendor has no such provider (471, 473)",
        remedy: "Name one of \(PushProvider.names)."
    )
    static let readNoToken = FindingRow(
        .error("altcraft.read.noToken", .missing, rule: "T8"),
        reason: "There is no push token to ask about (423)",
        remedy: "Register the device with its push token, or ask for latest."
    )

    static let readUnanswered = FindingRow(
        .error("altcraft.read.unanswered", .unavailable, rule: "R8"),
        reason: "The query failed, and the engine does not repeat a query",
        remedy: "Send the query again later."
    )

    // MARK: Ends

    static let identityInCredential = FindingRow(
        .note("altcraft.identity.credential", rule: "E4"),
        reason: "The vendor knows a person by the credential alone; the identifiers were not sent",
        remedy: "Give the contact's JSON Web Token; set identifiersAsFields to write e-mail address and phone number."
    )
    static let identityKind = FindingRow(
        .warning("altcraft.identity.kind", .unsupported, rule: "E4"),
        reason: "This kind of identifier has no place at the vendor; it is left out",
        remedy: "Put it into the claim of the contact's token as a custom field."
    )
    static let consentKept = FindingRow(
        .note("altcraft.consent.kept", rule: "E3"),
        reason: "The vendor stores no consents; the consent is stored and applied here",
        remedy: "No action is needed."
    )
    static let eraseByHand = FindingRow(
        .warning("altcraft.erase.byHand", .unsupported, rule: "E2"),
        reason: "The data is deleted here, but an app cannot delete the vendor's profile",
        remedy: "Delete the profile in the platform or with the vendor's server API (Delete profile)."
    )
    static let nothingToLeave = FindingRow(
        .note("altcraft.unregister.nothing", rule: "E1"),
        reason: "The vendor has no push token for this installation",
        remedy: "No action is needed."
    )
    package static let actionUnknown = FindingRow(
        .error("altcraft.action.unknown", .unsupported),
        reason: "This adapter does not support the operation",
        remedy: "Update the adapter."
    )

    // MARK: Answers

    package static let replyField = FindingRow(
        .error("altcraft.reply.profileField", .notFound, rule: "F15"),
        reason: "The platform does not know a profile field, or not with such a value",
        remedy: "Create the field in the database, or correct its value."
    )
    static let replySubscriptionField = FindingRow(
        .error("altcraft.reply.subscriptionField", .notFound, rule: "F16"),
        reason: "The platform does not know a subscription field, or not with such a value",
        remedy: "Create the field in the resource, or correct its value."
    )
    static let replyCategory = FindingRow(
        .error("altcraft.reply.category", .notFound, rule: "F17"),
        reason: "A category is not attached to the resource",
        remedy: "Create the category and add it to the resource."
    )
    static let replyRefused = FindingRow(
        .error("altcraft.reply.refused", .invalid, rule: "R4"),
        reason: "The vendor refused it",
        remedy: "Read the errorText of the reply, correct the data or the account, and replay the operation."
    )
    static let replyCredential = FindingRow(
        .error("altcraft.reply.credential", .unauthenticated, rule: "R10"),
        reason: "The vendor refused the credential",
        remedy: "Give a fresh JSON Web Token or role token, and replay the operation."
    )
    static let replyUnavailable = FindingRow(
        .warning("altcraft.reply.unavailable", .unavailable, rule: "R2"),
        reason: "The vendor is temporarily unavailable",
        remedy: "No action is needed. The request is repeated."
    )
    static let replyPage = FindingRow(
        .warning("altcraft.reply.page", .unavailable, rule: "R13"),
        reason: "The reply is a web page, such as the sign-in page of a network or the error page of a proxy",
        remedy: "Sign in to the network, or check the address. Attempts continue."
    )
    static let replyRedirect = FindingRow(
        .error("altcraft.reply.redirect", .misconfigured, rule: "R4"),
        reason: "The reply redirects to another address; only 500 to 599 are repeated",
        remedy: "Set apiUrl to the interface's present address, then replay the operation."
    )
    static let noReply = FindingRow(
        .warning("altcraft.reply.none", .unreachable, rule: "R3"),
        reason: "The vendor did not answer",
        remedy: "No action is needed. The request is repeated."
    )
    static let replyUnreadable = FindingRow(
        .error("altcraft.reply.unreadable", .unavailable, rule: "B12"),
        reason: "The reply does not contain the person's push subscription, so the subscription was not changed",
        remedy: "Check what answers at apiUrl, then replay the operation."
    )
    static let retryLimit = FindingRow(
        .error("altcraft.reply.retryLimit", .unavailable, rule: "R7"),
        reason: "The vendor answered 16 attempts without success (480)",
        remedy: "Replay the operation when the vendor works again."
    )
    static let replyErrorInSuccess = FindingRow(
        .warning("altcraft.reply.errorInSuccess", .invalid, rule: "R9"),
        reason: "The vendor accepted it, but its reply carries an error number",
        remedy: "Read the reply's errorText, and check the profile in the platform."
    )
    static let replyErrorRefused = FindingRow(
        .error("altcraft.reply.errorRefused", .invalid, rule: "R9"),
        reason: "The vendor's reply carries an error number, which counts as a refusal here (errorInSuccess)",
        remedy: "Read the errorText of the reply, correct the data or the account, and replay the operation."
    )
    static let replyLater = FindingRow(
        .note("altcraft.reply.later", rule: "S2"),
        reason: "The vendor accepted it and processes it later; the answer has no profile",
        remedy: "No action is needed. To receive the result, set sync to true."
    )
    static let replyDiffers = FindingRow(
        .warning("altcraft.reply.differs", .conflict, rule: "S9"),
        reason: "The vendor accepted it, but its reply shows a different result",
        remedy: "Check whether the category may be changed, and check the profile in the platform."
    )
}
