import PatchbayAdapterKit

/// All findings of this adapter. No finding holds a personal value or a secret.
extension FindingRow {
    /// Every row, for the descriptor.
    static let acoustic: [FindingRow] = [
        columnsUnknown, columnName, columnUnknown, columnCase, columnLookupKey, columnOfServer, columnUnwritable,
        columnTwice, columnOfTags, deleteUnknown, arithmetic, valueType, valueLong, valueDigits, valuePhone,
        valueNested, valueSeconds, timestampText, timestampPrecision, country, selection, choices, choicesEmpty,
        choicesSeparator, choicesBlank, choiceLong, nothing,
        tagsNothing, tagsColumn, tagWithoutColumn, tagValue,
        eventName, eventPair, eventNested, mailingID, sessionLength, pushForeign, pushSilent, subscriptionChannel,
        subscriptionTopic, subscriptionUnknown, subscriptionPaused, subscriptionDetails, eventRefused,
        idsPair, idsNotGiven, idsOfAnother, optOutKept, personLeft, leaving, pushToken, invalidateInProduction,
        idsMissing, reset, userInvalidated, neverSent,
        nothingToLeave, identify, logOut, loggedIn, deviceKept, registrationRefused,
        readUnknown, actionUnknown, eraseByHand, consentKept, left,
        gathering, interval, retrying, unchanged, visibleLater, failureUnseen, deleteAccepted, incomplete,
        partlyRefused,
        updateRefused, deleteRefused, customEventUnseen, eventTaken, replyStopped, replyUnavailable,
        replyThrottled, noReply, replyStrange, replyPage, optionUnknown, optionInvalid,
    ]

    // MARK: Columns and values

    static let columnsUnknown = FindingRow(
        .note("acoustic.columns.unknown", rule: "C15"),
        reason: "The account's columns are not configured, so only rules that hold for every column are checked",
        remedy: "Describe the columns in the setting columns."
    )
    static let columnName = FindingRow(
        .error("acoustic.column.name", .invalid, rule: "C14"),
        reason: "A column's name has 3 to 255 characters",
        remedy: "Map the attribute to its column with attributeNames."
    )
    static let columnUnknown = FindingRow(
        .error("acoustic.column.missing", .notFound, rule: "C1"),
        reason: "The database has no such column, and the vendor would silently discard the whole group",
        remedy: "Map the attribute with attributeNames, or create the column and add it to the setting columns."
    )
    static let columnCase = FindingRow(
        .error("acoustic.column.spelling", .notFound, rule: "C1"),
        reason: "The database has a column whose name differs in letter case or in Unicode form alone",
        remedy: "Write the name exactly as the database does, with attributeNames."
    )
    static let columnLookupKey = FindingRow(
        .error("acoustic.column.lookupKey", .forbidden, rule: "C11"),
        reason: "The column is a lookup key, which no device may write",
        remedy: "Let the back end write it."
    )
    static let columnOfServer = FindingRow(
        .error("acoustic.column.owner", .forbidden, rule: "O1"),
        reason: "The back end writes this column, and two writers would overwrite each other",
        remedy: "Change it in the back end, or set its owner to device and stop writing it from the back end."
    )
    static let columnUnwritable = FindingRow(
        .error("acoustic.column.type", .forbidden, rule: "C12"),
        reason: "No device may write a column of this type",
        remedy: "Let the back end write it."
    )
    static let columnTwice = FindingRow(
        .error("acoustic.column.twice", .conflict, rule: "C1"),
        reason: "Two attributes have the same column",
        remedy: "Give each attribute a column of its own in attributeNames."
    )
    static let columnOfTags = FindingRow(
        .error("acoustic.column.tags", .conflict, rule: "T1"),
        reason: "The column holds tags",
        remedy: "Change the tags, or map the attribute to another column."
    )
    static let deleteUnknown = FindingRow(
        .warning("acoustic.delete.foreign", .notFound, rule: "K4"),
        reason:
            "The device cannot write such a column; the delete is still sent, because it clears a rejected "
            + "value from the vendor's cache",
        remedy: "No action is needed if that is intended. Otherwise, correct the name."
    )
    static let arithmetic = FindingRow(
        .error("acoustic.attribute.arithmetic", .unsupported, rule: "C10"),
        reason: "The vendor has no way to add to a value or take from it",
        remedy: "Set the whole value."
    )
    static let valueType = FindingRow(
        .error("acoustic.value.type", .invalid, rule: "C2"),
        reason: "The value is not of the column's type, and the vendor would silently discard the whole group",
        remedy: "Give a value of the column's type, or name the type in the configuration's attributes."
    )
    static let valueLong = FindingRow(
        .error("acoustic.value.long", .tooLarge, rule: "C13"),
        reason: "The text is too long",
        remedy: "Shorten it."
    )
    static let valueDigits = FindingRow(
        .error("acoustic.value.digits", .tooLarge, rule: "C9"),
        reason: "The number has too many digits",
        remedy: "Round it."
    )
    static let valuePhone = FindingRow(
        .error("acoustic.value.phone", .invalid, rule: "C16"),
        reason: "A phone number for text messages is digits with the country's code",
        remedy: "Write digits alone that begin with the country's code, without plus, spaces and leading zeros."
    )
    static let valueNested = FindingRow(
        .error("acoustic.value.nested", .unsupported, rule: "C10"),
        reason: "A column holds one plain value, no list and no object",
        remedy: "Give each part an attribute of its own, or use choices for a multi-selection."
    )
    static let valueSeconds = FindingRow(
        .warning("acoustic.value.seconds", rule: "C5"),
        reason: "A time has no seconds; they are cut off",
        remedy: "Write HH:mm."
    )
    static let timestampText = FindingRow(
        .error("acoustic.timestamp.text", .invalid, rule: "C6"),
        reason: "A timestamp goes as an instant, never as text",
        remedy: "Give a timestamp, or name the type in the configuration's attributes."
    )
    static let timestampPrecision = FindingRow(
        .note("acoustic.timestamp.precision", rule: "C6"),
        reason: "A timestamp has milliseconds; finer parts are cut off",
        remedy: "No action is needed."
    )
    static let country = FindingRow(
        .error("acoustic.value.country", .invalid, rule: "C3"),
        reason: "The text is not a country code of ISO 3166-1; the vendor would accept it, but no query could find it",
        remedy: "Write the two letters of ISO 3166-1."
    )
    static let selection = FindingRow(
        .error("acoustic.selection.value", .invalid, rule: "C8"),
        reason: "The selection does not allow this value",
        remedy: "Use a value that the column allows, in its exact spelling."
    )
    static let choices = FindingRow(
        .error("acoustic.choices.value", .invalid, rule: "C7"),
        reason: "The multi-selection does not allow one of the values, and none would be inserted",
        remedy: "Use values that the column allows, in their exact spelling."
    )
    static let choicesEmpty = FindingRow(
        .error("acoustic.choices.empty", .missing, rule: "C7"),
        reason: "A multi-selection takes at least one value",
        remedy: "Unset the attribute."
    )
    static let choicesSeparator = FindingRow(
        .error("acoustic.choices.semicolon", .invalid, rule: "C7"),
        reason: "A value contains a semicolon, which separates the values",
        remedy: "Use values without semicolons."
    )
    static let choicesBlank = FindingRow(
        .error("acoustic.choices.blank", .invalid, rule: "C7"),
        reason: "A value is blank or has blanks around it",
        remedy: "Write the values as the column spells them."
    )
    static let choiceLong = FindingRow(
        .error("acoustic.choices.long", .tooLarge, rule: "C7"),
        reason: "A value of a selection has 100 characters at most",
        remedy: "Shorten it."
    )
    static let nothing = FindingRow(
        .error("acoustic.attributes.nothing", .missing),
        reason: "The operation changes nothing",
        remedy: "Name an attribute."
    )
    // MARK: Tags

    static let tagsNothing = FindingRow(
        .error("acoustic.tags.nothing", .missing),
        reason: "The operation changes nothing",
        remedy: "Name a tag."
    )
    static let tagsColumn = FindingRow(
        .error("acoustic.tags.column", .misconfigured, rule: "T1"),
        reason: "The vendor has no tags; no column is set that holds them",
        remedy: "Set tagsColumn, a multi-selection column, or tagColumns."
    )
    static let tagWithoutColumn = FindingRow(
        .error("acoustic.tag.column", .misconfigured, rule: "T2"),
        reason: "The tag has no column",
        remedy: "Add it to tagColumns, or set tagsColumn."
    )
    static let tagValue = FindingRow(
        .error("acoustic.tag.value", .invalid, rule: "T3"),
        reason:
            "The column of tags cannot hold this tag: it is not allowed there, blank, too long, or holds a semicolon",
        remedy: "Use a tag that the column allows, or add it to the column."
    )
    // MARK: Events

    static let eventName = FindingRow(
        .error("acoustic.event.name", .missing, rule: "E1"),
        reason: "An event needs a type and a name that are not blank",
        remedy: "Give it a name."
    )
    static let eventPair = FindingRow(
        .error("acoustic.event.pair", .invalid, rule: "E3"),
        reason: "The vendor knows no such name of this type",
        remedy: "Use enabled, disabled, enter, exit or dwell, or leave the option type out."
    )
    static let eventNested = FindingRow(
        .warning("acoustic.event.nested", .unsupported, rule: "E5"),
        reason: "An event's attribute is one plain value; this one is left out",
        remedy: "Give each part an attribute of its own."
    )
    static let mailingID = FindingRow(
        .warning("acoustic.event.mailing", .invalid, rule: "E7"),
        reason: "A mailing id is a number; the event goes without it",
        remedy: "Give the number."
    )
    static let sessionLength = FindingRow(
        .warning("acoustic.event.sessionLength", .missing, rule: "E10"),
        reason: "The event goes without the length of the session",
        remedy: "Give the number that your reports expect as the option sessionLength."
    )
    static let pushForeign = FindingRow(
        .foreign("acoustic.push.foreign", rule: "P1"),
        reason: "The push has no member mce, so another vendor sent it",
        remedy: "Pass it to the provider of the vendor that sent it."
    )
    static let pushSilent = FindingRow(
        .error("acoustic.push.silent", .unsupported, rule: "P3"),
        reason: "The vendor takes no report of a push that arrived or was swiped away",
        remedy: "Report the tap or the opening."
    )
    static let subscriptionChannel = FindingRow(
        .error("acoustic.subscription.channel", .unsupported, rule: "P6"),
        reason: "A device can only report its push permission",
        remedy: "Change other channels where the account's back end does."
    )
    static let subscriptionTopic = FindingRow(
        .error("acoustic.subscription.topic", .unsupported, rule: "P6"),
        reason: "The vendor has no topics of push",
        remedy: "Use a column or a tag for it."
    )
    static let subscriptionUnknown = FindingRow(
        .error("acoustic.subscription.unknown", .unsupported, rule: "P4"),
        reason: "The vendor has no value for an unknown permission",
        remedy: "Report it once it is known."
    )
    static let subscriptionPaused = FindingRow(
        .warning("acoustic.subscription.paused", rule: "P4"),
        reason: "The vendor has no pause; push counts as disabled",
        remedy: "Report push again when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        .warning("acoustic.subscription.details", .unsupported, rule: "P5"),
        reason: "Time, source and evidence of a consent travel through the back end alone; they are not sent",
        remedy: "Let the back end record them."
    )
    static let eventRefused = FindingRow(
        .error("acoustic.event.refused", .invalid, rule: "Q6"),
        reason: "The vendor refused the event",
        remedy: "Compare it with the account's events; it is kept for replay."
    )
    // MARK: Identity

    static let idsPair = FindingRow(
        .error("acoustic.ids.pair", .missing, rule: "I8"),
        reason: "User and channel id come together; one is not there",
        remedy: "Give both device identities, acoustic.userId and acoustic.channelId."
    )
    static let idsNotGiven = FindingRow(
        .warning("acoustic.ids.notGiven", .missing, rule: "I1"),
        reason: "The app provides no ids, and the settings do not let this API request them",
        remedy: "Give acoustic.userId and acoustic.channelId as device identities, or set registration to requested."
    )
    static let invalidateInProduction = FindingRow(
        .warning("acoustic.user.invalidated.production", .misconfigured, rule: "I4"),
        reason: "invalidateExistingUser is on in production: a reinstalled app deletes its user's record for good",
        remedy: "Set it to false once names and types are fixed."
    )
    static let idsOfAnother = FindingRow(
        .error("acoustic.ids.person", .conflict, rule: "I9"),
        reason: "The user and channel id that are known belong to another person than the one who captured this",
        remedy: "After each log-in, register the device with the ids of the person who is there."
    )
    static let optOutKept = FindingRow(
        .error("acoustic.optOut.kept", .conflict, rule: "I9"),
        reason:
            "The ids of the person who opted out were not known; a later registration of that person reports no push",
        remedy: "No action is needed if the person returns to this installation. Otherwise, record the opt-out "
            + "from the back end."
    )
    static let personLeft = FindingRow(
        .error("acoustic.person.left", .conflict, rule: "I9"),
        reason: "Another person logged in before this opt-in could be carried out",
        remedy: "Replay it when the person is there again."
    )
    static let leaving = FindingRow(
        .note("acoustic.device.leaving", rule: "L3"),
        reason: "The provider is being removed, so the vendor receives no more registrations",
        remedy: "No action is needed."
    )
    static let pushToken = FindingRow(
        .error("acoustic.device.token", .invalid, rule: "I2"),
        reason: "The push token is malformed; the one that the vendor knows stays",
        remedy: "Pass on the token that the push service gave, unchanged: hex for apns, visible ASCII for others."
    )
    static let idsMissing = FindingRow(
        .note("acoustic.ids.missing", .missing, rule: "Q4"),
        reason: "Nothing is sent until the user id and the channel id are known",
        remedy: "Register the device."
    )
    static let reset = FindingRow(
        .note("acoustic.user.reset", .conflict, rule: "I7"),
        reason: "An erasure ended the registration; what is captured waits for a new one",
        remedy: "Register the device."
    )
    static let userInvalidated = FindingRow(
        .error("acoustic.user.invalidated", .conflict, rule: "I7"),
        reason: "An erasure ended the registration, and autoReinitialize is off, so the vendor accepts no requests",
        remedy: "Register the device, then change it again."
    )
    static let neverSent = FindingRow(
        .error("acoustic.user.neverSent", .conflict, rule: "Q4"),
        reason: "The installation was unregistered before the vendor received anything from it",
        remedy: "No action is needed."
    )
    static let nothingToLeave = FindingRow(
        .note("acoustic.unregister.nothing", rule: "L3"),
        reason: "The vendor has never received anything from this installation",
        remedy: "No action is needed."
    )
    static let identify = FindingRow(
        .error("acoustic.identify.backEnd", .unsupported, rule: "I5"),
        reason: "A device cannot identify its person to the vendor: identifiers are lookup keys",
        remedy: "Let the back end establish the identity, then log in."
    )
    static let logOut = FindingRow(
        .error("acoustic.logOut", .unsupported, rule: "I6"),
        reason: "The vendor has no log-out: the user stays the installation's",
        remedy: "Log the next person in, or erase."
    )
    static let loggedIn = FindingRow(
        .note("acoustic.logIn.backEnd", rule: "I5"),
        reason:
            "The values known to be at the vendor are forgotten; the back end must establish who the person is",
        remedy: "Let the back end establish the identity of this user id."
    )
    static let deviceKept = FindingRow(
        .note("acoustic.device.kept", rule: "I2"),
        reason: "The installation is known",
        remedy: "No action is needed."
    )
    static let registrationRefused = FindingRow(
        .error("acoustic.registration.refused", .invalid, rule: "Q6"),
        reason: "The vendor refused the registration",
        remedy: "Compare the profile's calls with the account's own log."
    )
    // MARK: Life

    static let readUnknown = FindingRow(
        .error("acoustic.read.unknown", .unsupported, rule: "L1"),
        reason: "The query is unknown",
        remedy: "Ask for attributes, tags or ids."
    )
    static let actionUnknown = FindingRow(
        .error("acoustic.action.unknown", .unsupported),
        reason: "This adapter does not know the operation",
        remedy: "Update the adapter."
    )
    static let eraseByHand = FindingRow(
        .note("acoustic.erase.backEnd", rule: "L4"),
        reason: "Push is reported as disabled and the data is deleted here; the vendor's record remains",
        remedy: "Let the back end run the vendor's erasure job."
    )
    static let consentKept = FindingRow(
        .note("acoustic.consent.kept", rule: "L2"),
        reason: "The consent is applied here; the back end keeps the vendor's record of consent",
        remedy: "Let the back end record it."
    )
    static let left = FindingRow(
        .note("acoustic.unregister.left", rule: "L3"),
        reason: "Push is reported as disabled; the vendor keeps the record",
        remedy: "No action is needed."
    )
    // MARK: Outcomes and waits

    static let gathering = FindingRow(
        .note("acoustic.wait.gathering", rule: "G4"),
        reason: "Changes are gathered, so that a group goes at once",
        remedy: "Wait, flush, or capture them as a group."
    )
    static let interval = FindingRow(
        .note("acoustic.wait.interval", rule: "E8"),
        reason: "Events are gathered",
        remedy: "Wait, flush, or set the option immediate."
    )
    static let retrying = FindingRow(
        .note("acoustic.wait.retrying", .unavailable, rule: "Q1"),
        reason: "The next attempt waits for its time",
        remedy: "Wait."
    )
    static let unchanged = FindingRow(
        .note("acoustic.unchanged", rule: "K1"),
        reason: "The vendor holds this value already",
        remedy: "No action is needed. To write the value again, unset it first."
    )
    static let visibleLater = FindingRow(
        .note("acoustic.update.visibleLater", rule: "K8"),
        reason: "The vendor accepted it; it is visible within five minutes",
        remedy:
            "If it is not, check in this order: the column's spelling, its type, then unset the attribute and set it again, then register as a new user."
    )
    static let failureUnseen = FindingRow(
        .warning("acoustic.update.unseen", rule: "K9"),
        reason: "The vendor accepted it and writes it later; a failure would not be reported",
        remedy: "Describe the columns in the settings, so that errors are found before sending."
    )
    static let deleteAccepted = FindingRow(
        .note("acoustic.delete.accepted", rule: "K8"),
        reason: "The vendor accepted the delete; it is visible within five minutes",
        remedy: "No action is needed."
    )
    static let incomplete = FindingRow(
        .warning("acoustic.update.incomplete", .invalid, rule: "G2"),
        reason: "The vendor accepted the valid entries; the invalid ones were left out",
        remedy: "Correct the named attributes and set them again."
    )
    static let partlyRefused = FindingRow(
        .warning("acoustic.update.partly", .invalid, rule: "G3"),
        reason: "The vendor refused a part of it and took the rest",
        remedy: "Compare the named columns with the database."
    )
    static let updateRefused = FindingRow(
        .error("acoustic.update.refused", .invalid, rule: "Q6"),
        reason: "The vendor refused this single value",
        remedy: "Compare the named columns with the database; unset them to clear its cache."
    )
    static let deleteRefused = FindingRow(
        .error("acoustic.delete.refused", .invalid, rule: "Q6"),
        reason: "The vendor refused this single delete",
        remedy: "Compare the named columns with the database."
    )
    static let customEventUnseen = FindingRow(
        .warning("acoustic.event.unseen", rule: "E9"),
        reason: "The vendor accepted it; it is seen only if its support has switched custom events on",
        remedy: "Ask support to switch Universal Behavior 95 on."
    )
    static let eventTaken = FindingRow(
        .note("acoustic.event.taken", rule: "E9"),
        reason: "The vendor accepted it; the account's list of behaviors decides whether it is shown",
        remedy: "No action is needed."
    )
    static let replyStopped = FindingRow(
        .error("acoustic.reply.stopped", .forbidden, rule: "Q5"),
        reason: "The vendor does not know the app, the user or the channel, or does not allow it",
        remedy: "Check appKey and baseUrl, register the device again, then resume."
    )
    static let replyUnavailable = FindingRow(
        .warning("acoustic.reply.unavailable", .unavailable, rule: "R2"),
        reason: "The vendor is temporarily unavailable",
        remedy: "Wait."
    )
    static let replyThrottled = FindingRow(
        .warning("acoustic.reply.throttled", .throttled, rule: "R3"),
        reason: "The vendor temporarily accepts no more updates",
        remedy: "Wait; change several attributes as one group."
    )
    static let noReply = FindingRow(
        .warning("acoustic.reply.none", .unreachable, rule: "R4"),
        reason: "The vendor did not reply",
        remedy: "Wait for the network."
    )
    static let replyPage = FindingRow(
        .warning("acoustic.reply.page", .unavailable, rule: "R6"),
        reason: "The reply is a web page, such as the sign-in page of a network or the error page of a proxy",
        remedy: "Sign in to the network, or check the address. Attempts continue."
    )
    static let replyStrange = FindingRow(
        .warning("acoustic.reply.strange", .unavailable, rule: "R5"),
        reason: "The reply does not have the form that the vendor documents",
        remedy: "Check baseUrl. Attempts continue."
    )
    static let optionUnknown = FindingRow(
        .warning("acoustic.option.unknown", .invalid, rule: "E3"),
        reason: "There is no such option",
        remedy: "Remove it."
    )
    static let optionInvalid = FindingRow(
        .warning("acoustic.option.invalid", .invalid, rule: "E3"),
        reason: "The option's value cannot be used and is left out",
        remedy: "Correct it."
    )
}
