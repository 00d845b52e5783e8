import PatchbayAdapterKit

/// All findings of this adapter about operations, records and settings. No finding holds a personal value.
extension FindingRow {
    /// Every row, for the descriptor.
    static let salesforce: [FindingRow] =
        [
            contactKeyMissing, contactKeyNotGiven, contactKeyBlank, contactKeyNotCleared, contactKeyLong,
            contactKeyShared,
            contactKeyChanged, contactKeyOfAnother, contactKeyLacking, contactKeyLate, identifierIgnored,
            attributesEmpty, attributeNameBlank, attributeReserved, attributeNameLong, attributeUndefined,
            attributeNameSpaced, attributeCollision, attributeNested, attributeSeparator, attributeArithmetic,
            attributesCarriedOver, attributesCleared, contactFormer, contactWaiting, consentWaiting, optOutKept,
            tagsEmpty, tagBlank, tagReserved,
            subscriptionChannel, subscriptionTopic, subscriptionSuspended, subscriptionDetails,
            deviceFactBlank, deviceFactsMissing, devicePlatform, deviceLocale, deviceLocaleRespelt, deviceOffset,
            deviceZone, deviceZoneUnknown,
            deviceIDInvalid, deviceIDLate, tokenBlank, tokenInvalid, tokenService,
            signedStringInvalid, optionUnknown,
            capturedInBackground, visibleLater, paced, retrying, closed, left, nothingToLeave, erasedBefore, notSent,
            eraseByHand,
            eventKind, eventPushForeign, eventPushOwn, eventNameInvalid, eventAttributeKey, eventAttributeNested,
            eventAttributeRepeated, eventNeedsDefinition, eventAfterHandOver, subscriberTokenMissing,
            subscriberTokenRefused,
            consentKept, readBackImpossible, actionUnknown,
            replyTooOften, replyRefused, replyCredentials, replyUnavailable, noReply, replyPage,
        ]

    // MARK: Contact key

    static let contactKeyMissing = FindingRow(
        .note("salesforce.contactKey.missing", .missing, rule: "S12"),
        reason: "The registration waits until a contact key is known",
        remedy: "Identify the contact, or set delayRegistrationUntilContactKeyIsSet to false."
    )
    static let contactKeyNotGiven = FindingRow(
        .error("salesforce.contactKey.notGiven", .missing, rule: "K5"),
        reason: "No identifier is of the kind that becomes the contact key",
        remedy: "Add an identifier of that kind, or name another kind in the setting contactKeyIdentifier."
    )
    static let contactKeyBlank = FindingRow(
        .error("salesforce.contactKey.blank", .invalid, rule: "K1"),
        reason: "The contact key is blank; the vendor would ignore it and keep the old one",
        remedy: "Give an identifier that is not blank."
    )
    static let contactKeyNotCleared = FindingRow(
        .error("salesforce.contactKey.notCleared", .unsupported, rule: "K3"),
        reason:
            "A contact key can be changed but never cleared, not even on log-out; the device stays with its contact, and "
            + "what is captured from now on waits for the next contact",
        remedy: "Log in the next contact; to stop messages until then, change the push subscription."
    )
    static let contactKeyLong = FindingRow(
        .warning("salesforce.contactKey.long", .tooLarge, rule: "K8"),
        reason: "The contact key is longer than the 254 characters that the vendor's contacts usually hold",
        remedy: "Use a shorter key."
    )
    static let contactKeyShared = FindingRow(
        .warning("salesforce.contactKey.shared", .invalid, rule: "K4"),
        reason:
            "The contact key looks like a placeholder that many people would share: they would be one billed contact, and "
            + "it loses each device whose person gets a key of their own",
        remedy: "Leave an unknown contact unidentified, and give each known one a key of its own."
    )
    static let contactKeyChanged = FindingRow(
        .warning("salesforce.contactKey.changed", rule: "K9"),
        reason:
            "The contact key changed, so the device moved to another contact, which shows after up to 15 minutes; without "
            + "another device the earlier contact is orphaned: out of reach, and billed like every distinct key",
        remedy: "Keep one key per person permanently. Delete the orphaned contact in the account."
    )
    static let contactKeyOfAnother = FindingRow(
        .warning("salesforce.contactKey.ofAnother", rule: "K11"),
        reason:
            "Several people use this device, which belongs to the last one logged in, after up to 15 "
            + "minutes; without another device the previous person is orphaned: out of reach, and billed like "
            + "every distinct key",
        remedy: "The device cannot avoid it. Reach the person through other channels until then."
    )
    static let contactKeyLacking = FindingRow(
        .warning("salesforce.contactKey.lacking", rule: "K6"),
        reason:
            "The device was registered without a contact key; if the vendor knows no contact of its push token, it makes "
            + "one up, which is billed and orphaned as soon as a key is set",
        remedy:
            "If every install belongs to a known contact, set delayRegistrationUntilContactKeyIsSet to true; it helps new "
            + "installs."
    )
    static let contactKeyLate = FindingRow(
        .warning("salesforce.contactKey.late", rule: "K6"),
        reason:
            "The device was registered before its contact key was known, so the vendor may have made up a contact that is "
            + "now orphaned: without a device, out of reach, and billed like every distinct key",
        remedy:
            "If every install belongs to a known contact, set delayRegistrationUntilContactKeyIsSet to true; it helps new "
            + "installs. Delete the orphaned contact in the account."
    )
    static let identifierIgnored = FindingRow(
        .warning("salesforce.identifier.ignored", .unsupported, rule: "K5"),
        reason: "A registration carries one contact key and no other identifier, so this one is not sent",
        remedy: "Set it as an attribute too if the account needs it."
    )

    // MARK: Attributes

    static let attributesEmpty = FindingRow(
        .error("salesforce.attributes.empty", .missing),
        reason: "The operation changes no attribute",
        remedy: "Name at least one attribute."
    )
    static let attributeNameBlank = FindingRow(
        .warning("salesforce.attribute.blankName", .invalid, rule: "A1"),
        reason: "The attribute's name is blank, so it is not sent",
        remedy: "Give it a name."
    )
    static let attributeReserved = FindingRow(
        .warning("salesforce.attribute.reserved", .reserved, rule: "A3"),
        reason: "The vendor keeps this attribute name for itself, so the attribute is not sent",
        remedy: "Give it another name in the setting attributeNames."
    )
    static let attributeNameLong = FindingRow(
        .warning("salesforce.attribute.longName", .tooLarge, rule: "A4"),
        reason: "The attribute's name is longer than 128 UTF-16 units, so it is not sent",
        remedy: "Give it a shorter name in the setting attributeNames."
    )
    static let attributeUndefined = FindingRow(
        .warning("salesforce.attribute.undefined", .notFound, rule: "A9"),
        reason: "The account does not define this attribute, so it is not sent: it could cost the whole registration",
        remedy: "Define it in MobilePush and add it to the setting accountAttributes; upper and lower case matter."
    )
    static let attributeNameSpaced = FindingRow(
        .note("salesforce.attribute.spacedName", rule: "A9"),
        reason: "The attribute's name has spaces, which the vendor advises against",
        remedy: "Define it without spaces and map it in the setting attributeNames."
    )
    static let attributeCollision = FindingRow(
        .warning("salesforce.attribute.collision", .conflict, rule: "A9"),
        reason: "Two neutral attributes have the same name at the vendor; this one is not sent",
        remedy: "Give one of them another name in the setting attributeNames."
    )
    static let attributeNested = FindingRow(
        .warning("salesforce.attribute.nested", .unsupported, rule: "W17"),
        reason: "An attribute is one text at the vendor, so a list or an object is not sent",
        remedy: "Send words as choices, and each member of an object as an attribute of its own."
    )
    static let attributeSeparator = FindingRow(
        .warning("salesforce.attribute.separator", .invalid, rule: "W17"),
        reason: "Choices are joined by semicolons, and one of them holds a semicolon, so the attribute is not sent",
        remedy: "Use words without semicolons."
    )
    static let attributeArithmetic = FindingRow(
        .warning("salesforce.attribute.arithmetic", .unsupported, rule: "A10"),
        reason: "An attribute can only be set or cleared; the vendor cannot add to numbers or lists",
        remedy: "Compute the new value in the app and set it."
    )
    static let attributesCarriedOver = FindingRow(
        .warning("salesforce.attributes.carriedOver", rule: "A12"),
        reason: "Attributes and tags of the previous person stay on the device and are sent under the next contact key",
        remedy: "Set contactChange to clear, or change them for the next person."
    )
    static let attributesCleared = FindingRow(
        .note("salesforce.attributes.cleared", rule: "A14"),
        reason:
            "When another contact logs in, the attributes of the previous contact are emptied and their tags removed",
        remedy: "No action is needed. Set contactChange to keep if all users of a device share its attributes."
    )
    static let contactFormer = FindingRow(
        .error("salesforce.contact.former", .conflict, rule: "A14"),
        reason:
            "The operation was captured for a previous contact, and another contact now uses the device",
        remedy: "No action is needed on this device. If the value is needed, write it to the contact from a back end."
    )
    static let contactWaiting = FindingRow(
        .note("salesforce.contact.waiting", .missing, rule: "K3"),
        reason:
            "The contact whose key the vendor has logged out, so operations captured since then wait for the "
            + "next contact key",
        remedy: "Log in or identify the next contact."
    )
    static let consentWaiting = FindingRow(
        .note("salesforce.consent.waiting", .forbidden, rule: "D8"),
        reason: "A registration is part of the profile, for which consent is denied; only opt-outs are sent",
        remedy: "Record consent for the profile purpose once the person gives it."
    )
    static let optOutKept = FindingRow(
        .note("salesforce.optOut.kept", rule: "D9"),
        reason: "The vendor does not know this device, so it sends no messages to it. The first registration "
            + "contains the opt-out",
        remedy: "No action is needed."
    )

    // MARK: Tags

    static let tagsEmpty = FindingRow(
        .error("salesforce.tags.empty", .missing),
        reason: "The operation changes no tag",
        remedy: "Name at least one tag, or replace all by none."
    )
    static let tagBlank = FindingRow(
        .warning("salesforce.tag.blank", .invalid, rule: "T1"),
        reason: "The tag is blank, so it is not sent",
        remedy: "Give a tag that is not blank."
    )
    static let tagReserved = FindingRow(
        .warning("salesforce.tag.reserved", .reserved, rule: "T6"),
        reason: "The vendor's automatic tags can be neither added nor removed",
        remedy: "Use another tag."
    )

    // MARK: Subscriptions

    static let subscriptionChannel = FindingRow(
        .error("salesforce.subscription.channel", .unsupported, rule: "W7"),
        reason: "The device API knows only the push channel",
        remedy: "Change subscriptions of other channels through the account's own forms or a back end."
    )
    static let subscriptionTopic = FindingRow(
        .note("salesforce.subscription.topic", rule: "D5"),
        reason: "A registration has one switch for push and no topics, so a topic is kept as a tag of its name",
        remedy: "Send to the tag; do not use its name for another tag."
    )
    static let subscriptionSuspended = FindingRow(
        .warning("salesforce.subscription.suspended", rule: "W7"),
        reason: "The vendor has no pause, so a suspended subscription counts as opted out",
        remedy: "Subscribe again when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        .warning("salesforce.subscription.details", .unsupported, rule: "W7"),
        reason: "A registration says only whether push is wanted; date, source, evidence and fields are not sent",
        remedy: "Keep them elsewhere, or set them as attributes."
    )

    // MARK: Device

    static let deviceFactBlank = FindingRow(
        .error("salesforce.device.factBlank", .missing, rule: "W12"),
        reason: "A registration without this fact makes the device inactive at the vendor",
        remedy: "Let the device facts fill it in."
    )
    static let deviceFactsMissing = FindingRow(
        .note("salesforce.device.factsMissing", .missing, rule: "W12"),
        reason: "The registration waits for the device's facts, without which the vendor makes the device inactive",
        remedy: "Register the device with its facts."
    )
    static let deviceIDInvalid = FindingRow(
        .warning("salesforce.device.idInvalid", .invalid, rule: "W2"),
        reason: "The adopted identity salesforce.deviceID is not a UUID, so a new device id is created",
        remedy: "Give the device id of the vendor's own SDK as it is."
    )
    static let deviceIDLate = FindingRow(
        .warning("salesforce.device.idLate", .conflict, rule: "W2"),
        reason:
            "The device was registered under another id before salesforce.deviceID was handed over, and keeps that one: a "
            + "change would make a second device",
        remedy:
            "Hand the identity over with the first registration after the switch; delete the old device in the account."
    )
    static let devicePlatform = FindingRow(
        .error("salesforce.device.platform", .unsupported, rule: "W11"),
        reason: "The vendor has no platform of this name",
        remedy: "Give iOS, iPadOS or Android."
    )
    static let deviceLocale = FindingRow(
        .error("salesforce.device.locale", .invalid, rule: "W21"),
        reason: "The locale is not a language with its region, so the vendor would deactivate the device",
        remedy: "Write it like fi_FI."
    )
    static let deviceLocaleRespelt = FindingRow(
        .note("salesforce.device.localeRespelt", rule: "W21"),
        reason: "The locale is sent with underscores and without what follows its region",
        remedy: "No action is needed. To send a locale, write it like fi_FI."
    )
    static let deviceOffset = FindingRow(
        .error("salesforce.device.offset", .invalid, rule: "W19"),
        reason: "The offset from UTC is a day or more, so it is not in seconds",
        remedy: "Give seconds east of UTC."
    )
    static let deviceZone = FindingRow(
        .note("salesforce.device.zone", rule: "W19"),
        reason:
            "The facts name a time zone and no offset from UTC, so the zone's offset at the time of capture is sent",
        remedy: "No action is needed. To send the time zone, give utcOffsetSeconds and isDaylightSaving."
    )
    static let deviceZoneUnknown = FindingRow(
        .warning("salesforce.device.zoneUnknown", .invalid, rule: "W19"),
        reason: "The name of the time zone is not known, and without an offset the device is registered at UTC",
        remedy: "Give the zone's IANA name, for example Europe/Helsinki, or utcOffsetSeconds."
    )
    static let tokenBlank = FindingRow(
        .error("salesforce.device.tokenBlank", .missing, rule: "W6"),
        reason: "The push token is blank; a registration with it would replace a good one",
        remedy: "Leave the token out until it is known."
    )
    static let tokenInvalid = FindingRow(
        .error("salesforce.device.tokenInvalid", .invalid, rule: "W6"),
        reason: "The push token is not what its service issues, so no push could arrive",
        remedy: "Write the bytes of Apple's token as two hexadecimal digits each, and Google's token as it is."
    )
    static let tokenService = FindingRow(
        .warning("salesforce.device.tokenService", .unsupported, rule: "W6"),
        reason:
            "The vendor sends push through Apple's service to iOS and through Google's to Android, so this token is not "
            + "sent; an earlier one stays",
        remedy: "Register the token of the platform's own service."
    )
    static let signedStringInvalid = FindingRow(
        .warning("salesforce.option.signedString", .invalid, rule: "K10"),
        reason: "The option signedString is neither text that is not blank nor null, and is ignored",
        remedy: "Give the token's text, or null to remove it."
    )
    static let optionUnknown = FindingRow(
        .error("salesforce.option.unknown", .invalid),
        reason: "This adapter has no such option",
        remedy: "Known is: signedString."
    )

    // MARK: Delivery

    static let capturedInBackground = FindingRow(
        .warning("salesforce.capturedInBackground", rule: "S14"),
        reason: "The change was captured in the background, where the vendor advises against changing contact data",
        remedy: "Change contact data while the app is in the foreground."
    )
    static let visibleLater = FindingRow(
        .note("salesforce.visibleLater", rule: "S13"),
        reason:
            "The vendor has received the registration; its effect shows after up to 15 minutes, and a "
            + "later refusal is not reported",
        remedy: "Check the contact in the account after that time."
    )
    static let paced = FindingRow(
        .note("salesforce.paced", rule: "S2"),
        reason: "Changes are gathered: at most one registration a minute, at most a minute after the first change",
        remedy: "Wait, or flush."
    )
    static let retrying = FindingRow(
        .note("salesforce.retrying", .unavailable, rule: "S7"),
        reason: "The last registration failed; the delay before the next attempt grows with each failure",
        remedy: "If the last reply was 401 or 403, check accessToken and applicationId. Otherwise, wait for the "
            + "next attempt."
    )
    static let closed = FindingRow(
        .note("salesforce.closed", .throttled, rule: "S11"),
        reason: "The vendor asked for a pause",
        remedy: "Wait."
    )
    static let left = FindingRow(
        .note("salesforce.left", rule: "D2"),
        reason: "The device is opted out of push; the vendor keeps its record of it",
        remedy: "Delete the contact in the account if it must go."
    )
    static let nothingToLeave = FindingRow(
        .note("salesforce.nothingToLeave", rule: "D2"),
        reason: "The vendor has never received anything from this device, so there is no registration to remove",
        remedy: "No action is needed."
    )
    static let erasedBefore = FindingRow(
        .note("salesforce.erasedBefore", rule: "D2"),
        reason: "An erasure already ended the registration of this device with push disabled, so there is no "
            + "registration to remove",
        remedy: "No action is needed."
    )
    static let notSent = FindingRow(
        .note("salesforce.neverSent", rule: "D2"),
        reason: "The provider was removed before its first registration, so this is not sent",
        remedy: "No action is needed."
    )
    static let eraseByHand = FindingRow(
        .warning("salesforce.erase.byHand", .unsupported, rule: "D3"),
        reason:
            "A device cannot delete its contact. It emptied the attributes, removed the tags and disabled push",
        remedy: "Delete the contact in Contact Builder or through the contacts API of a back end."
    )
    static let consentKept = FindingRow(
        .note("salesforce.consent", rule: "D4"),
        reason:
            "The vendor has no record of consent; the engine applies it, and a registration says whether push is enabled",
        remedy: "No action is needed."
    )
    static let readBackImpossible = FindingRow(
        .error("salesforce.readBack", .unsupported, rule: "D1"),
        reason: "Data flows only from the device to the vendor, so it cannot be read",
        remedy: "Read the local subject snapshot."
    )
    static let actionUnknown = FindingRow(
        .error("salesforce.operation.unknown", .unsupported),
        reason: "This adapter does not know this kind of operation",
        remedy: "Update the adapter."
    )

    // MARK: Events

    static let eventKind = FindingRow(
        .error("salesforce.event.kind", .unsupported, rule: "E15"),
        reason:
            "The vendor does not document its analytics codes for this kind of event, so the event is not sent",
        remedy: "Track a custom event that the account defines."
    )
    static let eventPushForeign = FindingRow(
        .foreign("salesforce.event.pushForeign", rule: "E9"),
        reason: "The push notification was not sent by this vendor",
        remedy: "No action is needed. The vendor that sent it tracks it."
    )
    static let eventPushOwn = FindingRow(
        .error("salesforce.event.pushOwn", .unsupported, rule: "E9"),
        reason: "The vendor's codes for what happens to its push notifications are not published",
        remedy: "Track a custom event that the account defines."
    )
    static let eventNameInvalid = FindingRow(
        .error("salesforce.event.name", .invalid, rule: "E2"),
        reason: "An event's name has letters and digits of ASCII, underscores and spaces, and is not blank",
        remedy: "Rename the event in the app and in the account."
    )
    static let eventAttributeKey = FindingRow(
        .warning("salesforce.event.attributeKey", .invalid, rule: "E5"),
        reason:
            "The key of an event's attribute is not blank, has no line break or full stop and does not begin with a "
            + "dollar sign; this attribute is not sent",
        remedy: "Rename the attribute."
    )
    static let eventAttributeNested = FindingRow(
        .warning("salesforce.event.attributeNested", .unsupported, rule: "E4"),
        reason: "An event's attribute is text, a number or a boolean; a list or an object is not sent",
        remedy: "Send each member as an attribute of its own."
    )
    static let eventAttributeRepeated = FindingRow(
        .warning("salesforce.event.attributeRepeated", .conflict, rule: "E3"),
        reason:
            "Another attribute of the event differs in letter case or surrounding space alone, which the vendor does "
            + "not see; this one is not sent",
        remedy: "Rename one of them."
    )
    static let eventNeedsDefinition = FindingRow(
        .note("salesforce.event.needsDefinition", rule: "E6"),
        reason: "The vendor has received the event; it has an effect only if the account defines one of that name",
        remedy: "Define the event with its attributes in Journey Builder."
    )
    static let eventAfterHandOver = FindingRow(
        .note("salesforce.event.afterHandOver", rule: "D6"),
        reason:
            "The event follows a change of contact that the vendor has not received yet, and would count for "
            + "the previous contact",
        remedy: "Capture registerDevice before it, unless a registration is pending already."
    )
    static let subscriberTokenRefused = FindingRow(
        .note("salesforce.subscriberToken.refused", .unauthenticated, rule: "E14"),
        reason: "The vendor refused the token that events carry, and a registration asks for a new one",
        remedy: "Wait; if it happens again and again, check accessToken and applicationId."
    )
    static let subscriberTokenMissing = FindingRow(
        .note("salesforce.subscriberToken.missing", .missing, rule: "E10"),
        reason: "Events need the token from the reply to a registration",
        remedy: "Capture registerDevice before it, unless a registration is pending already."
    )

    // MARK: Replies

    static let replyTooOften = FindingRow(
        .note("salesforce.reply.tooOften", .throttled, rule: "R2"),
        reason: "The vendor was called too often",
        remedy: "Wait."
    )
    static let replyCredentials = FindingRow(
        .warning("salesforce.reply.credentials", .unauthenticated, rule: "R3"),
        reason: "The vendor does not accept the access token for this application",
        remedy: "Check accessToken, applicationId and endpoint. Attempts continue."
    )
    static let replyRefused = FindingRow(
        .warning("salesforce.reply.refused", .invalid, rule: "R4"),
        reason: "The vendor refused the request",
        remedy: "Check applicationId and endpoint. Attempts continue."
    )
    static let replyUnavailable = FindingRow(
        .note("salesforce.reply.unavailable", .unavailable, rule: "R5"),
        reason: "The vendor was temporarily unavailable",
        remedy: "Wait."
    )
    static let replyPage = FindingRow(
        .warning("salesforce.reply.page", .unavailable, rule: "R8"),
        reason: "The reply is a web page, such as the sign-in page of a network or the error page of a proxy",
        remedy: "Sign in to the network, or check the address. Attempts continue."
    )
    static let noReply = FindingRow(
        .note("salesforce.reply.none", .unreachable, rule: "R6"),
        reason: "The vendor could not be reached",
        remedy: "Wait for the network."
    )
}
