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
        "acoustic.columns.unknown",
        .note,
        rule: .acoustic("C15"),
        reason: "The account's columns are not configured, so only rules that hold for every column are checked",
        remedy: "Describe the columns in the setting columns."
    )
    static let columnName = FindingRow(
        "acoustic.column.name",
        .error,
        .invalid,
        rule: .acoustic("C14"),
        reason: "A column's name has 3 to 255 characters",
        remedy: "Map the attribute to its column with attributeNames."
    )
    static let columnUnknown = FindingRow(
        "acoustic.column.missing",
        .error,
        .notFound,
        rule: .acoustic("C1"),
        reason: "The database has no such column, and the vendor would silently discard the whole group",
        remedy: "Map the attribute with attributeNames, or create the column and add it to the setting columns."
    )
    static let columnCase = FindingRow(
        "acoustic.column.spelling",
        .error,
        .notFound,
        rule: .acoustic("C1"),
        reason: "The database has a column whose name differs in letter case or in Unicode form alone",
        remedy: "Write the name exactly as the database does, with attributeNames."
    )
    static let columnLookupKey = FindingRow(
        "acoustic.column.lookupKey",
        .error,
        .forbidden,
        rule: .acoustic("C11"),
        reason: "The column is a lookup key, which no device may write",
        remedy: "Let the back end write it."
    )
    static let columnOfServer = FindingRow(
        "acoustic.column.owner",
        .error,
        .forbidden,
        rule: .acoustic("O1"),
        reason: "The back end writes this column, and two writers would overwrite each other",
        remedy: "Change it in the back end, or set its owner to device and stop writing it from the back end."
    )
    static let columnUnwritable = FindingRow(
        "acoustic.column.type",
        .error,
        .forbidden,
        rule: .acoustic("C12"),
        reason: "No device may write a column of this type",
        remedy: "Let the back end write it."
    )
    static let columnTwice = FindingRow(
        "acoustic.column.twice",
        .error,
        .conflict,
        rule: .acoustic("C1"),
        reason: "Two attributes have the same column",
        remedy: "Give each attribute a column of its own in attributeNames."
    )
    static let columnOfTags = FindingRow(
        "acoustic.column.tags",
        .error,
        .conflict,
        rule: .acoustic("T1"),
        reason: "The column holds tags",
        remedy: "Change the tags, or map the attribute to another column."
    )
    static let deleteUnknown = FindingRow(
        "acoustic.delete.foreign",
        .warning,
        .notFound,
        rule: .acoustic("K4"),
        reason:
            "The device cannot write such a column; the delete is still sent, because it clears a rejected "
            + "value from the vendor's cache",
        remedy: "No action is needed if that is intended. Otherwise, correct the name."
    )
    static let arithmetic = FindingRow(
        "acoustic.attribute.arithmetic",
        .error,
        .unsupported,
        rule: .acoustic("C10"),
        reason: "The vendor has no way to add to a value or take from it",
        remedy: "Set the whole value."
    )
    static let valueType = FindingRow(
        "acoustic.value.type",
        .error,
        .invalid,
        rule: .acoustic("C2"),
        reason: "The value is not of the column's type, and the vendor would silently discard the whole group",
        remedy: "Give a value of the column's type, or name the type in the configuration's attributes."
    )
    static let valueLong = FindingRow(
        "acoustic.value.long",
        .error,
        .tooLarge,
        rule: .acoustic("C13"),
        reason: "The text is too long",
        remedy: "Shorten it."
    )
    static let valueDigits = FindingRow(
        "acoustic.value.digits",
        .error,
        .tooLarge,
        rule: .acoustic("C9"),
        reason: "The number has too many digits",
        remedy: "Round it."
    )
    static let valuePhone = FindingRow(
        "acoustic.value.phone",
        .error,
        .invalid,
        rule: .acoustic("C16"),
        reason: "A phone number for text messages is digits with the country's code",
        remedy: "Write digits alone that begin with the country's code, without plus, spaces and leading zeros."
    )
    static let valueNested = FindingRow(
        "acoustic.value.nested",
        .error,
        .unsupported,
        rule: .acoustic("C10"),
        reason: "A column holds one plain value, no list and no object",
        remedy: "Give each part an attribute of its own, or use choices for a multi-selection."
    )
    static let valueSeconds = FindingRow(
        "acoustic.value.seconds",
        .warning,
        rule: .acoustic("C5"),
        reason: "A time has no seconds; they are cut off",
        remedy: "Write HH:mm."
    )
    static let timestampText = FindingRow(
        "acoustic.timestamp.text",
        .error,
        .invalid,
        rule: .acoustic("C6"),
        reason: "A timestamp goes as an instant, never as text",
        remedy: "Give a timestamp, or name the type in the configuration's attributes."
    )
    static let timestampPrecision = FindingRow(
        "acoustic.timestamp.precision",
        .note,
        rule: .acoustic("C6"),
        reason: "A timestamp has milliseconds; finer parts are cut off",
        remedy: "No action is needed."
    )
    static let country = FindingRow(
        "acoustic.value.country",
        .error,
        .invalid,
        rule: .acoustic("C3"),
        reason: "The text is not a country code of ISO 3166-1; the vendor would accept it, but no query could find it",
        remedy: "Write the two letters of ISO 3166-1."
    )
    static let selection = FindingRow(
        "acoustic.selection.value",
        .error,
        .invalid,
        rule: .acoustic("C8"),
        reason: "The selection does not allow this value",
        remedy: "Use a value that the column allows, in its exact spelling."
    )
    static let choices = FindingRow(
        "acoustic.choices.value",
        .error,
        .invalid,
        rule: .acoustic("C7"),
        reason: "The multi-selection does not allow one of the values, and none would be inserted",
        remedy: "Use values that the column allows, in their exact spelling."
    )
    static let choicesEmpty = FindingRow(
        "acoustic.choices.empty",
        .error,
        .missing,
        rule: .acoustic("C7"),
        reason: "A multi-selection takes at least one value",
        remedy: "Unset the attribute."
    )
    static let choicesSeparator = FindingRow(
        "acoustic.choices.semicolon",
        .error,
        .invalid,
        rule: .acoustic("C7"),
        reason: "A value contains a semicolon, which separates the values",
        remedy: "Use values without semicolons."
    )
    static let choicesBlank = FindingRow(
        "acoustic.choices.blank",
        .error,
        .invalid,
        rule: .acoustic("C7"),
        reason: "A value is blank or has blanks around it",
        remedy: "Write the values as the column spells them."
    )
    static let choiceLong = FindingRow(
        "acoustic.choices.long",
        .error,
        .tooLarge,
        rule: .acoustic("C7"),
        reason: "A value of a selection has 100 characters at most",
        remedy: "Shorten it."
    )
    static let nothing = FindingRow(
        "acoustic.attributes.nothing",
        .error,
        .missing,
        reason: "The operation changes nothing",
        remedy: "Name an attribute."
    )
    // MARK: Tags

    static let tagsNothing = FindingRow(
        "acoustic.tags.nothing",
        .error,
        .missing,
        reason: "The operation changes nothing",
        remedy: "Name a tag."
    )
    static let tagsColumn = FindingRow(
        "acoustic.tags.column",
        .error,
        .misconfigured,
        rule: .acoustic("T1"),
        reason: "The vendor has no tags; no column is set that holds them",
        remedy: "Set tagsColumn, a multi-selection column, or tagColumns."
    )
    static let tagWithoutColumn = FindingRow(
        "acoustic.tag.column",
        .error,
        .misconfigured,
        rule: .acoustic("T2"),
        reason: "The tag has no column",
        remedy: "Add it to tagColumns, or set tagsColumn."
    )
    static let tagValue = FindingRow(
        "acoustic.tag.value",
        .error,
        .invalid,
        rule: .acoustic("T3"),
        reason:
            "The column of tags cannot hold this tag: it is not allowed there, blank, too long, or holds a semicolon",
        remedy: "Use a tag that the column allows, or add it to the column."
    )
    // MARK: Events

    static let eventName = FindingRow(
        "acoustic.event.name",
        .error,
        .missing,
        rule: .acoustic("E1"),
        reason: "An event needs a type and a name that are not blank",
        remedy: "Give it a name."
    )
    static let eventPair = FindingRow(
        "acoustic.event.pair",
        .error,
        .invalid,
        rule: .acoustic("E3"),
        reason: "The vendor knows no such name of this type",
        remedy: "Use enabled, disabled, enter, exit or dwell, or leave the option type out."
    )
    static let eventNested = FindingRow(
        "acoustic.event.nested",
        .warning,
        .unsupported,
        rule: .acoustic("E5"),
        reason: "An event's attribute is one plain value; this one is left out",
        remedy: "Give each part an attribute of its own."
    )
    static let mailingID = FindingRow(
        "acoustic.event.mailing",
        .warning,
        .invalid,
        rule: .acoustic("E7"),
        reason: "A mailing id is a number; the event goes without it",
        remedy: "Give the number."
    )
    static let sessionLength = FindingRow(
        "acoustic.event.sessionLength",
        .warning,
        .missing,
        rule: .acoustic("E10"),
        reason: "The event goes without the length of the session",
        remedy: "Give the number that your reports expect as the option sessionLength."
    )
    static let pushForeign = FindingRow(
        "acoustic.push.foreign",
        .foreign,
        rule: .acoustic("P1"),
        reason: "The push has no member mce, so another vendor sent it",
        remedy: "Pass it to the provider of the vendor that sent it."
    )
    static let pushSilent = FindingRow(
        "acoustic.push.silent",
        .error,
        .unsupported,
        rule: .acoustic("P3"),
        reason: "The vendor takes no report of a push that arrived or was swiped away",
        remedy: "Report the tap or the opening."
    )
    static let subscriptionChannel = FindingRow(
        "acoustic.subscription.channel",
        .error,
        .unsupported,
        rule: .acoustic("P6"),
        reason: "A device can only report its push permission",
        remedy: "Change other channels where the account's back end does."
    )
    static let subscriptionTopic = FindingRow(
        "acoustic.subscription.topic",
        .error,
        .unsupported,
        rule: .acoustic("P6"),
        reason: "The vendor has no topics of push",
        remedy: "Use a column or a tag for it."
    )
    static let subscriptionUnknown = FindingRow(
        "acoustic.subscription.unknown",
        .error,
        .unsupported,
        rule: .acoustic("P4"),
        reason: "The vendor has no value for an unknown permission",
        remedy: "Report it once it is known."
    )
    static let subscriptionPaused = FindingRow(
        "acoustic.subscription.paused",
        .warning,
        rule: .acoustic("P4"),
        reason: "The vendor has no pause; push counts as disabled",
        remedy: "Report push again when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        "acoustic.subscription.details",
        .warning,
        .unsupported,
        rule: .acoustic("P5"),
        reason: "Time, source and evidence of a consent travel through the back end alone; they are not sent",
        remedy: "Let the back end record them."
    )
    static let eventRefused = FindingRow(
        "acoustic.event.refused",
        .error,
        .invalid,
        rule: .acoustic("Q6"),
        reason: "The vendor refused the event",
        remedy: "Compare it with the account's events; it is kept for replay."
    )
    // MARK: Identity

    static let idsPair = FindingRow(
        "acoustic.ids.pair",
        .error,
        .missing,
        rule: .acoustic("I8"),
        reason: "User and channel id come together; one is not there",
        remedy: "Give both device identities, acoustic.userId and acoustic.channelId."
    )
    static let idsNotGiven = FindingRow(
        "acoustic.ids.notGiven",
        .warning,
        .missing,
        rule: .acoustic("I1"),
        reason: "The app provides no ids, and the settings do not let this API request them",
        remedy: "Give acoustic.userId and acoustic.channelId as device identities, or set registration to requested."
    )
    static let invalidateInProduction = FindingRow(
        "acoustic.user.invalidated.production",
        .warning,
        .misconfigured,
        rule: .acoustic("I4"),
        reason: "invalidateExistingUser is on in production: a reinstalled app deletes its user's record for good",
        remedy: "Set it to false once names and types are fixed."
    )
    static let idsOfAnother = FindingRow(
        "acoustic.ids.person",
        .error,
        .conflict,
        rule: .acoustic("I9"),
        reason: "The user and channel id that are known belong to another person than the one who captured this",
        remedy: "After each log-in, register the device with the ids of the person who is there."
    )
    static let optOutKept = FindingRow(
        "acoustic.optOut.kept",
        .error,
        .conflict,
        rule: .acoustic("I9"),
        reason:
            "The ids of the person who opted out were not known; a later registration of that person reports no push",
        remedy: "No action is needed if the person returns to this installation. Otherwise, record the opt-out "
            + "from the back end."
    )
    static let personLeft = FindingRow(
        "acoustic.person.left",
        .error,
        .conflict,
        rule: .acoustic("I9"),
        reason: "Another person logged in before this opt-in could be carried out",
        remedy: "Replay it when the person is there again."
    )
    static let leaving = FindingRow(
        "acoustic.device.leaving",
        .note,
        rule: .acoustic("L3"),
        reason: "The provider is being removed, so the vendor receives no more registrations",
        remedy: "No action is needed."
    )
    static let pushToken = FindingRow(
        "acoustic.device.token",
        .error,
        .invalid,
        rule: .acoustic("I2"),
        reason: "The push token is malformed; the one that the vendor knows stays",
        remedy: "Pass on the token that the push service gave, unchanged: hex for apns, visible ASCII for others."
    )
    static let idsMissing = FindingRow(
        "acoustic.ids.missing",
        .note,
        .missing,
        rule: .acoustic("Q4"),
        reason: "Nothing is sent until the user id and the channel id are known",
        remedy: "Register the device."
    )
    static let reset = FindingRow(
        "acoustic.user.reset",
        .note,
        .conflict,
        rule: .acoustic("I7"),
        reason: "An erasure ended the registration; what is captured waits for a new one",
        remedy: "Register the device."
    )
    static let userInvalidated = FindingRow(
        "acoustic.user.invalidated",
        .error,
        .conflict,
        rule: .acoustic("I7"),
        reason: "An erasure ended the registration, and autoReinitialize is off, so the vendor accepts no requests",
        remedy: "Register the device, then change it again."
    )
    static let neverSent = FindingRow(
        "acoustic.user.neverSent",
        .error,
        .conflict,
        rule: .acoustic("Q4"),
        reason: "The installation was unregistered before the vendor received anything from it",
        remedy: "No action is needed."
    )
    static let nothingToLeave = FindingRow(
        "acoustic.unregister.nothing",
        .note,
        rule: .acoustic("L3"),
        reason: "The vendor has never received anything from this installation",
        remedy: "No action is needed."
    )
    static let identify = FindingRow(
        "acoustic.identify.backEnd",
        .error,
        .unsupported,
        rule: .acoustic("I5"),
        reason: "A device cannot identify its person to the vendor: identifiers are lookup keys",
        remedy: "Let the back end establish the identity, then log in."
    )
    static let logOut = FindingRow(
        "acoustic.logOut",
        .error,
        .unsupported,
        rule: .acoustic("I6"),
        reason: "The vendor has no log-out: the user stays the installation's",
        remedy: "Log the next person in, or erase."
    )
    static let loggedIn = FindingRow(
        "acoustic.logIn.backEnd",
        .note,
        rule: .acoustic("I5"),
        reason:
            "The values known to be at the vendor are forgotten; the back end must establish who the person is",
        remedy: "Let the back end establish the identity of this user id."
    )
    static let deviceKept = FindingRow(
        "acoustic.device.kept",
        .note,
        rule: .acoustic("I2"),
        reason: "The installation is known",
        remedy: "No action is needed."
    )
    static let registrationRefused = FindingRow(
        "acoustic.registration.refused",
        .error,
        .invalid,
        rule: .acoustic("Q6"),
        reason: "The vendor refused the registration",
        remedy: "Compare the profile's calls with the account's own log."
    )
    // MARK: Life

    static let readUnknown = FindingRow(
        "acoustic.read.unknown",
        .error,
        .unsupported,
        rule: .acoustic("L1"),
        reason: "The query is unknown",
        remedy: "Ask for attributes, tags or ids."
    )
    static let actionUnknown = FindingRow(
        "acoustic.action.unknown",
        .error,
        .unsupported,
        reason: "This adapter does not know the operation",
        remedy: "Update the adapter."
    )
    static let eraseByHand = FindingRow(
        "acoustic.erase.backEnd",
        .note,
        rule: .acoustic("L4"),
        reason: "Push is reported as disabled and the data is deleted here; the vendor's record remains",
        remedy: "Let the back end run the vendor's erasure job."
    )
    static let consentKept = FindingRow(
        "acoustic.consent.kept",
        .note,
        rule: .acoustic("L2"),
        reason: "The consent is applied here; the back end keeps the vendor's record of consent",
        remedy: "Let the back end record it."
    )
    static let left = FindingRow(
        "acoustic.unregister.left",
        .note,
        rule: .acoustic("L3"),
        reason: "Push is reported as disabled; the vendor keeps the record",
        remedy: "No action is needed."
    )
    // MARK: Outcomes and waits

    static let gathering = FindingRow(
        "acoustic.wait.gathering",
        .note,
        rule: .acoustic("G4"),
        reason: "Changes are gathered, so that a group goes at once",
        remedy: "Wait, flush, or capture them as a group."
    )
    static let interval = FindingRow(
        "acoustic.wait.interval",
        .note,
        rule: .acoustic("E8"),
        reason: "Events are gathered",
        remedy: "Wait, flush, or set the option immediate."
    )
    static let retrying = FindingRow(
        "acoustic.wait.retrying",
        .note,
        .unavailable,
        rule: .acoustic("Q1"),
        reason: "The next attempt waits for its time",
        remedy: "Wait."
    )
    static let unchanged = FindingRow(
        "acoustic.unchanged",
        .note,
        rule: .acoustic("K1"),
        reason: "The vendor holds this value already",
        remedy: "No action is needed. To write the value again, unset it first."
    )
    static let visibleLater = FindingRow(
        "acoustic.update.visibleLater",
        .note,
        rule: .acoustic("K8"),
        reason: "The vendor accepted it; it is visible within five minutes",
        remedy:
            "If it is not, check in this order: the column's spelling, its type, then unset the attribute and set it again, then register as a new user."
    )
    static let failureUnseen = FindingRow(
        "acoustic.update.unseen",
        .warning,
        rule: .acoustic("K9"),
        reason: "The vendor accepted it and writes it later; a failure would not be reported",
        remedy: "Describe the columns in the settings, so that errors are found before sending."
    )
    static let deleteAccepted = FindingRow(
        "acoustic.delete.accepted",
        .note,
        rule: .acoustic("K8"),
        reason: "The vendor accepted the delete; it is visible within five minutes",
        remedy: "No action is needed."
    )
    static let incomplete = FindingRow(
        "acoustic.update.incomplete",
        .warning,
        .invalid,
        rule: .acoustic("G2"),
        reason: "The vendor accepted the valid entries; the invalid ones were left out",
        remedy: "Correct the named attributes and set them again."
    )
    static let partlyRefused = FindingRow(
        "acoustic.update.partly",
        .warning,
        .invalid,
        rule: .acoustic("G3"),
        reason: "The vendor refused a part of it and took the rest",
        remedy: "Compare the named columns with the database."
    )
    static let updateRefused = FindingRow(
        "acoustic.update.refused",
        .error,
        .invalid,
        rule: .acoustic("Q6"),
        reason: "The vendor refused this single value",
        remedy: "Compare the named columns with the database; unset them to clear its cache."
    )
    static let deleteRefused = FindingRow(
        "acoustic.delete.refused",
        .error,
        .invalid,
        rule: .acoustic("Q6"),
        reason: "The vendor refused this single delete",
        remedy: "Compare the named columns with the database."
    )
    static let customEventUnseen = FindingRow(
        "acoustic.event.unseen",
        .warning,
        rule: .acoustic("E9"),
        reason: "The vendor accepted it; it is seen only if its support has switched custom events on",
        remedy: "Ask support to switch Universal Behavior 95 on."
    )
    static let eventTaken = FindingRow(
        "acoustic.event.taken",
        .note,
        rule: .acoustic("E9"),
        reason: "The vendor accepted it; the account's list of behaviors decides whether it is shown",
        remedy: "No action is needed."
    )
    static let replyStopped = FindingRow(
        "acoustic.reply.stopped",
        .error,
        .forbidden,
        rule: .acoustic("Q5"),
        reason: "The vendor does not know the app, the user or the channel, or does not allow it",
        remedy: "Check appKey and baseUrl, register the device again, then resume."
    )
    static let replyUnavailable = FindingRow(
        "acoustic.reply.unavailable",
        .warning,
        .unavailable,
        rule: .acoustic("R2"),
        reason: "The vendor is temporarily unavailable",
        remedy: "Wait."
    )
    static let replyThrottled = FindingRow(
        "acoustic.reply.throttled",
        .warning,
        .throttled,
        rule: .acoustic("R3"),
        reason: "The vendor temporarily accepts no more updates",
        remedy: "Wait; change several attributes as one group."
    )
    static let noReply = FindingRow(
        "acoustic.reply.none",
        .warning,
        .unreachable,
        rule: .acoustic("R4"),
        reason: "The vendor did not reply",
        remedy: "Wait for the network."
    )
    static let replyPage = FindingRow(
        "acoustic.reply.page",
        .warning,
        .unavailable,
        rule: .acoustic("R6"),
        reason: "The reply is a web page, such as the sign-in page of a network or the error page of a proxy",
        remedy: "Sign in to the network, or check the address. Attempts continue."
    )
    static let replyStrange = FindingRow(
        "acoustic.reply.strange",
        .warning,
        .unavailable,
        rule: .acoustic("R5"),
        reason: "The reply does not have the form that the vendor documents",
        remedy: "Check baseUrl. Attempts continue."
    )
    static let optionUnknown = FindingRow(
        "acoustic.option.unknown",
        .warning,
        .invalid,
        rule: .acoustic("E3"),
        reason: "There is no such option",
        remedy: "Remove it."
    )
    static let optionInvalid = FindingRow(
        "acoustic.option.invalid",
        .warning,
        .invalid,
        rule: .acoustic("E3"),
        reason: "The option's value cannot be used and is left out",
        remedy: "Correct it."
    )
}
