import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayModel

/// All findings of the server API. No finding holds a personal value.
enum ServerFinding: ServerFindings {
    static let vendor: AdapterID = "acoustic"

    static let keyBlank = row(.keyBlank, "S27")
    static let keyControl = FindingRow(
        .error("acoustic.server.key.control", .invalid, rule: "S21"),
        reason: "The contact's key contains a control character, which XML cannot represent",
        remedy: "Use a key without control characters."
    )
    static let keyOther = FindingRow(
        .error("acoustic.server.key.other", .conflict, rule: "S27"),
        reason: "The identifier is not the contact's key, and a key cannot be changed here",
        remedy: "Write to the other contact under its own key."
    )
    static let keyKnown = row(
        .keyKnown,
        "S27",
        reason: "The identifier is the contact's key, which every call contains, so there is nothing else to send"
    )
    static let optionUnknown = FindingRow(
        .warning("acoustic.server.option.unknown", .invalid),
        reason: "There is no such option",
        remedy:
            "Remove it, or correct its spelling: channelId, contactId, erasure, eventCode, phone, "
            + "unknownContacts, userId."
    )
    static let optionValue = FindingRow(
        .error("acoustic.server.option.value", .invalid),
        reason: "The option has a value that cannot be used",
        remedy:
            "Use digits for contactId and eventCode, digits with the country's code for phone, gdpr or remove for erasure, "
            + "add or refuse for unknownContacts, and for userId and channelId the device's ids."
    )
    static let nothing = row(.empty)
    static let nameMissing = FindingRow(
        .error("acoustic.server.name.missing", .unsupported, rule: "S14"),
        reason: "The settings name no column for it",
        remedy: "Add it to identifierColumns, tagColumns, tagLists, subscriptionColumns or subscriptionLists."
    )
    static let columnKey = FindingRow(
        .error("acoustic.server.column.key", .conflict, rule: "S9"),
        reason: "The column is the contact's key, which cannot be written as a value",
        remedy: "Give the value another column."
    )
    static let columnTwice = FindingRow(
        .error("acoustic.server.column.twice", .conflict, rule: "S14"),
        reason: "Two values have the same column",
        remedy: "Give one of them another column in the settings."
    )
    static let columnUnknown = FindingRow(
        .error("acoustic.server.column.unknown", .notFound, rule: "S14"),
        reason: "The database has no column of exactly that name",
        remedy: "Correct the name, including upper and lower case, or add the column to the database and to the "
            + "setting columns."
    )
    static let columnName = FindingRow(
        .error("acoustic.server.column.name", .invalid, rule: "S14"),
        reason: "A column's name has 3 to 255 characters, and none that XML cannot hold",
        remedy: "Name a column in attributeNames."
    )
    static let columnUnwritable = FindingRow(
        .error("acoustic.server.column.unwritable", .unsupported, rule: "S22"),
        reason: "Columns of that type are the vendor's own, and no value is written into them",
        remedy: "Use a column of another type."
    )
    static let columnOfDevice = FindingRow(
        .warning("acoustic.server.column.device", .conflict, rule: "S23"),
        reason: "The device writes this column, and two writers would overwrite each other",
        remedy: "Give the column one owner, and the setting columns its name."
    )
    static let valueNested = FindingRow(
        .error("acoustic.server.value.nested", .unsupported, rule: "S15"),
        reason: "A column holds one plain value",
        remedy: "Send words as choices, and each member of an object as an attribute of its own."
    )
    static let valueType = FindingRow(
        .error("acoustic.server.value.type", .invalid, rule: "S15"),
        reason: "The value is not of the column's type",
        remedy: "Send a value of that type."
    )
    static let valueLong = FindingRow(
        .error("acoustic.server.value.long", .tooLarge, rule: "S19"),
        reason: "The value is longer than a column holds: 4,000 characters, 255 digits",
        remedy: "Send a shorter value."
    )
    static let valueControl = FindingRow(
        .error("acoustic.server.value.control", .invalid, rule: "S21"),
        reason: "The text contains a control character, which XML cannot represent",
        remedy: "Remove it."
    )
    static let valueMarkup = FindingRow(
        .note("acoustic.server.value.markup", rule: "S21"),
        reason: "The text holds markup, which the vendor stores as character entities",
        remedy: "Set allowHtml if the column is to hold markup."
    )
    static let valuePrecision = FindingRow(
        .note("acoustic.server.value.precision", rule: "S16"),
        reason: "A timestamp has whole seconds; the fraction is cut off",
        remedy: "No action is needed."
    )
    static let incomplete = FindingRow(
        .warning("acoustic.server.update.incomplete", .invalid, rule: "S24"),
        reason: "The valid entries were sent, and the invalid ones were left out",
        remedy: "Correct the named entries and send them again."
    )
    static let valueChoice = FindingRow(
        .error("acoustic.server.value.choice", .invalid, rule: "S18"),
        reason: "The column does not allow the value, or a word that cannot be joined by semicolons",
        remedy: "Send allowed words without semicolons and blanks around them."
    )
    static let valuePhone = FindingRow(
        .error("acoustic.server.value.phone", .invalid, rule: "S15"),
        reason: "A phone number for text messages is digits with the country's code",
        remedy:
            "Send the international number: digits that begin with the country's code, with or without a plus sign in front."
    )
    static let unsetRefused = FindingRow(
        .error("acoustic.server.value.unset", .unsupported, rule: "S20"),
        reason: "The setting unset forbids the removal of values",
        remedy: "Set an empty text, or set unset to blank."
    )
    static let arithmetic = FindingRow(
        .error("acoustic.server.value.arithmetic", .unsupported, rule: "S15"),
        reason: "A value can be set or removed here, not added to",
        remedy: "Set the whole value."
    )
    static let subscriptionChannel = FindingRow(
        .error("acoustic.server.subscription.channel", .unsupported, rule: "S29"),
        reason: "The account has no setting for messages inside an app",
        remedy: "Set it as an attribute of its own."
    )
    static let subscriptionUnknown = FindingRow(
        .error("acoustic.server.subscription.unknown", .invalid, rule: "S29"),
        reason: "An unknown decision is neither an opt-in nor an opt-out",
        remedy: "Leave it unchanged until the person has decided."
    )
    static let subscriptionSuspended = FindingRow(
        .warning("acoustic.server.subscription.suspended", .unsupported, rule: "S29"),
        reason: "Neither a Yes/No column nor an opt-out can express a pause, so the subscription is written as "
            + "unsubscribed",
        remedy: "Subscribe again when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        .note("acoustic.server.subscription.details", rule: "S29"),
        reason: "Only the state is written, not when, where or how the person decided",
        remedy: "Set them as attributes if the account needs them."
    )
    static let optIn = FindingRow(
        .error("acoustic.server.subscription.optIn", .unsupported, rule: "S30"),
        reason: "The vendor's API cannot reverse an opt-out",
        remedy:
            "Let the person opt in with the vendor's own form, or store the e-mail state in a column of "
            + "subscriptionColumns."
    )
    static let noAddress = FindingRow(
        .error("acoustic.server.subscription.noAddress", .missing, rule: "S31"),
        reason: "An opt-out needs an address, and the contact has none",
        remedy: "Write the address first."
    )
    static let optOutWaits = FindingRow(
        .note("acoustic.server.optOut.waits", .notFound, rule: "S62"),
        reason: "An opt-out waits for its contact, which the database does not have yet, or not with an address",
        remedy: "Write the contact with its address."
    )
    static let alreadyOut = FindingRow(
        .note("acoustic.server.subscription.alreadyOut", rule: "S30"),
        reason: "The contact had opted out already",
        remedy: "No action is needed."
    )
    static let contactSwitch = row(.contactSwitch, "S27")
    static let device = row(.device, "S48")
    static let consent = row(
        .consent,
        "S29",
        reason: "The account has no place for consents to purposes",
        remedy: "Write it as a subscription of a channel, or as an attribute of its own."
    )
    static let consentDevice = FindingRow(
        .error("acoustic.server.consent.device", .missing, rule: "S53"),
        reason: "Consent to push messages belongs to one device, and the operation does not name it",
        remedy: "Give the device's ids: userId and channelId."
    )
    static let consentNumber = FindingRow(
        .error("acoustic.server.consent.number", .missing, rule: "S53"),
        reason: "Consent to text messages belongs to one phone number, and no number with a country code is known",
        remedy: "Give it as phone, or name the column of phone in identifierColumns and write the number there."
    )
    static let consentNone = FindingRow(
        .error("acoustic.server.consent.none", .notFound, rule: "S52"),
        reason: "The vendor has no such consent, and an opt-out from text messages cannot create one",
        remedy:
            "No action is needed if the person never opted in. Otherwise, check consentQualifiers and "
            + "consentPaths, then replay the operation."
    )
    static let consentUnnamed = FindingRow(
        .error("acoustic.server.consent.unnamed", .unsupported, rule: "S50"),
        reason: "The settings name no consent of that channel",
        remedy: "Add it to consentQualifiers."
    )
    static let consentDetails = FindingRow(
        .note("acoustic.server.consent.details", rule: "S51"),
        reason: "A consent is written with its date and source: no evidence and no fields",
        remedy: "Set them as attributes if the account needs them."
    )
    static let consentChannel = FindingRow(
        .error("acoustic.server.consent.channel", .invalid, rule: "S50"),
        reason: "The vendor's API is not known to store consents of this channel",
        remedy: "Name push or sms; e-mail has its opt-out."
    )
    static let consentTwice = FindingRow(
        .error("acoustic.server.consent.twice", .conflict, rule: "S50"),
        reason: "The subscription has a column, too",
        remedy: "Keep it in consentQualifiers or in subscriptionColumns."
    )
    static let consentPath = FindingRow(
        .error("acoustic.server.consent.path", .invalid, rule: "S50"),
        reason: "The value is not a path of a consent",
        remedy:
            "Begin it with /rest/, and name {qualifier} and {destination} in it; {databaseId} and {key} may stand there, too."
    )
    static let columnsFit = FindingRow(
        .note("acoustic.server.columns.fit", rule: "S58"),
        reason: "The database has every column that the settings name",
        remedy: "No action is needed."
    )
    static let columnsDiffer = FindingRow(
        .warning("acoustic.server.columns.differ", .misconfigured, rule: "S58"),
        reason:
            "The settings differ from the columns of the database; the reply lists the differences",
        remedy: "Correct their names (including upper and lower case), types and values in the settings."
    )
    static let listLeft = FindingRow(
        .error("acoustic.server.list.left", .unsupported, rule: "S56"),
        reason:
            "The settings store it as membership of a contact list, and the API cannot remove a contact from a list",
        remedy: "Remove the contact from the list in the account, or store it in a column of tagColumns or "
            + "subscriptionColumns."
    )
    static let listStays = FindingRow(
        .warning("acoustic.server.list.stays", .unsupported, rule: "S56"),
        reason:
            "Other tags are memberships of contact lists. A replacement cannot end them, so the contact "
            + "stays in such lists",
        remedy: "Remove the contact from those lists in the account, or store the tags in columns of tagColumns."
    )
    static let listHasIt = FindingRow(
        .note("acoustic.server.list.member", rule: "S55"),
        reason: "The contact is in the list already",
        remedy: "No action is needed."
    )
    static let listUnknown = FindingRow(
        .error("acoustic.server.list.unknown", .misconfigured, rule: "S13"),
        reason: "The account knows no such contact list",
        remedy: "Correct the ids in tagLists and subscriptionLists, then resume the provider."
    )
    static let listUncertain = FindingRow(
        .error("acoustic.server.list.uncertain", .outcomeUnknown, rule: "S57"),
        reason:
            "It is unknown whether the vendor created the contact list, and a repeated request could create it twice",
        remedy: "Check the account's contact lists. Repeat the operation if the list is missing."
    )
    static let listNumber = FindingRow(
        .error("acoustic.server.list.number", .invalid, rule: "S55"),
        reason: "A contact list's id is digits",
        remedy: "Copy the id from the list's page in the account."
    )
    static let listTwice = FindingRow(
        .error("acoustic.server.list.twice", .conflict, rule: "S55"),
        reason: "Two names have the same contact list",
        remedy: "Give one of them another list."
    )
    static let listElsewhere = FindingRow(
        .error("acoustic.server.list.elsewhere", .conflict, rule: "S55"),
        reason: "The settings also name another destination for the same tag or subscription",
        remedy: "Keep it as a contact list, as a column or as a consent."
    )
    static let listTopic = FindingRow(
        .error("acoustic.server.list.topic", .unsupported, rule: "S56"),
        reason: "A contact list cannot stand for a whole channel, because the API cannot remove a contact from it",
        remedy: "Name a topic, as channel.topic."
    )
    static let eventKind = FindingRow(
        .error("acoustic.server.event.kind", .unsupported, rule: "S37"),
        reason: "The vendor's API has no event code for it",
        remedy: "Track a custom event."
    )
    static let eventForeign = FindingRow(
        .foreign("acoustic.server.event.foreign", .unsupported, rule: "S37"),
        reason: "Another vendor sent the push message",
        remedy: "No action is needed. The adapter of that vendor tracks it."
    )
    static let eventBlank = FindingRow(
        .error("acoustic.server.event.blank", .missing, rule: "S37"),
        reason: "The event has no name",
        remedy: "Give it a name."
    )
    static let eventNested = FindingRow(
        .warning("acoustic.server.event.nested", .unsupported, rule: "S39"),
        reason: "A member of an event is text, so a list or an object is not sent",
        remedy: "Send each part as a member of its own."
    )
    static let eventCode = FindingRow(
        .error("acoustic.server.event.code", .invalid, rule: "S37"),
        reason: "An event type code is digits",
        remedy: "Copy the code from the account's list of event types."
    )
    static let eventTaken = FindingRow(
        .note("acoustic.server.event.taken", rule: "S36"),
        reason: "The vendor accepted the event, but an event with an unknown code is not visible anywhere",
        remedy: "Check the contact's behavior in the account."
    )
    static let eventUnknown = FindingRow(
        .error("acoustic.server.event.unknown", .outcomeUnknown, rule: "S38"),
        reason: "It is unknown whether the vendor received the event, and a repeated event would count twice",
        remedy: "Check the contact's behavior in the account, then decide whether to replay the event."
    )
    static let eventErrorsNowhere = FindingRow(
        .error("acoustic.server.events.nowhere", .notFound, rule: "S61"),
        reason: "The address for rejected events, which is inferred, does not exist at the vendor",
        remedy: "Correct the setting eventErrorsPath."
    )
    static let contactThere = FindingRow(
        .error("acoustic.server.contact.there", .conflict, rule: "S8"),
        reason: "The database has the contact already",
        remedy: "Check the contact in the account, then replay it."
    )
    static let contactUnknown = FindingRow(
        .error("acoustic.server.contact.unknown", .notFound, rule: "S8"),
        reason: "The database does not have the contact",
        remedy: "Add the contact first, then replay it."
    )
    static let nothingToErase = FindingRow(
        .note("acoustic.server.erase.nothing", rule: "S32"),
        reason: "The database does not have the contact, so there is nothing to erase",
        remedy: "No action is needed."
    )
    static let erased = FindingRow(
        .note("acoustic.server.erase.done", rule: "S34"),
        reason: "The vendor's job has erased the contact",
        remedy: "No action is needed."
    )
    static let removed = FindingRow(
        .note("acoustic.server.erase.removed", rule: "S32"),
        reason: "The contact is removed only from this database",
        remedy: "To erase all data of the person, use the erasure gdpr."
    )
    static let nothingToLeave = row(
        .nothingToLeave,
        "S6",
        reason: "A back end has no registration to remove: the database keeps its contacts"
    )
    static let question = FindingRow(
        .error("acoustic.server.question", .unsupported, rule: "S46"),
        reason: "The query is unknown",
        remedy:
            "Ask for contact, for access, for columns, for channelContact with channel, userId and channelId, for consent with channel (and userId "
            + "and channelId, or phone), for createContactList with name, for eventErrors, for export, for job with id, or for import with mapFile and sourceFile."
    )
    static let importTaken = FindingRow(
        .note("acoustic.server.import.complete", rule: "S47"),
        reason: "The job is complete, and every row of the file was added or changed",
        remedy: "No action is needed."
    )
    static let importDropped = FindingRow(
        .warning("acoustic.server.import.dropped", .invalid, rule: "S47"),
        reason: "The job is complete, and some rows of the file were neither added nor changed",
        remedy: "Check the job's files of errors and results."
    )
    static let importUnknown = FindingRow(
        .error("acoustic.server.import.unknown", .outcomeUnknown, rule: "S47"),
        reason: "It is unknown whether the vendor started the job, and a repeated request could start it twice",
        remedy: "Check the account's data jobs. Repeat the operation if the job is missing."
    )
    static let jobRunning = FindingRow(
        .warning("acoustic.server.job.running", .unavailable, rule: "S63"),
        reason: "The job is in progress and did not complete within jobSeconds",
        remedy: "Query it later with job, or with access and its number as job."
    )
    static let exportReady = FindingRow(
        .note("acoustic.server.export.complete", rule: "S60"),
        reason: "The job is complete, and the file lies in the account's download directory",
        remedy: "Fetch it by SFTP with the account's own log-in."
    )
    static let exportUnnamed = FindingRow(
        .error("acoustic.server.export.unnamed", .outcomeUnknown, rule: "S60"),
        reason: "The vendor accepted the export but named no job, so its progress cannot be queried",
        remedy: "Check the account's data jobs. Repeat the operation if the job is missing."
    )
    static let jobRefused = FindingRow(
        .error("acoustic.server.job.refused", .invalid, rule: "S34"),
        reason: "The vendor ended the job with an error, or cancelled it",
        remedy: "Check the account's data jobs, then replay it."
    )
    static let jobLost = FindingRow(
        .error("acoustic.server.job.lost", .outcomeUnknown, rule: "S35"),
        reason: "The vendor did not find three jobs in a row",
        remedy: "Look for the contact in the account. If it is still there, replay the erasure."
    )
    static let actionUnknown = row(.actionUnknown)
    static let closed = row(.closed, "S43")
    static let tokenLater = row(.tokenLater, "S43", remedy: "Wait, or check the account's host.")
    static let tokenRefused = row(
        .tokenRefused,
        "S1",
        reason: "The vendor gave no access token: the client or the refresh token is unknown",
        remedy: "Check clientId, clientSecret and refreshToken, then resume the provider."
    )
    static let tokenRefusedTwice = row(
        .tokenRefusedTwice,
        "S3",
        remedy: "Check the API user's rights, then resume the provider."
    )
    static let unauthenticated = row(.unauthenticated, "S3")
    static let faultOfServer = FindingRow(
        .error("acoustic.server.fault.server", .unavailable, rule: "S12"),
        reason: "The vendor is temporarily unavailable",
        remedy: "Wait for five more attempts. If they fail, replay the operation."
    )
    static let faultOfOrganisation = FindingRow(
        .error("acoustic.server.fault.organisation", .forbidden, rule: "S13"),
        reason: "The organisation may not use the interface",
        remedy: "Ask the vendor to open it, then resume the provider."
    )
    static let databaseUnknown = FindingRow(
        .error("acoustic.server.fault.database", .misconfigured, rule: "S13"),
        reason: "The account knows no such database",
        remedy: "Correct the setting databaseId, then resume the provider."
    )
    static let faultOfColumn = FindingRow(
        .error("acoustic.server.fault.column", .invalid, rule: "S11"),
        reason: "A column is missing, has another type, or belongs to the vendor",
        remedy: "Check the database's columns and the setting columns."
    )
    static let faultOfValue = FindingRow(
        .error("acoustic.server.fault.value", .invalid, rule: "S11"),
        reason: "A value is missing or cannot be used: a key, a required column or an address",
        remedy: "Correct the value that the vendor's error number refers to, then replay the operation."
    )
    static let faultOfCall = FindingRow(
        .error("acoustic.server.fault.call", .invalid, rule: "S11"),
        reason: "The call is incomplete or contains an invalid part",
        remedy: "Check the settings; then report it to the adapter's author."
    )
    static let fault = FindingRow(
        .error("acoustic.server.fault.other", .invalid, rule: "S10"),
        reason: "The vendor refused the call",
        remedy: "Correct the cause that the vendor's error number refers to, then replay the operation."
    )
    static let optedOut = FindingRow(
        .error("acoustic.server.fault.optedOut", .conflict, rule: "S30"),
        reason: "The contact has opted out",
        remedy: "No action is needed, unless the person wants to opt in again."
    )
    static let hiddenRefusal = FindingRow(
        .error("acoustic.server.reply.errors", .invalid, rule: "S42"),
        reason: "The vendor replied with HTTP 200, but the body lists errors",
        remedy: "Correct the values that it lists, then replay the operation."
    )
    static let forbidden = row(.forbidden, "S44", remedy: "Give the API user the right, then resume the provider.")
    static let notFound = row(
        .notFound,
        "S44",
        reason: "The address does not exist at the vendor",
        remedy: "Check baseUrl and databaseId, then resume the provider."
    )
    static let conflict = FindingRow(
        .error("acoustic.server.reply.conflict", .conflict, rule: "S42"),
        reason: "The event's code belongs to another database",
        remedy: "Check the account's list of event types."
    )
    static let refused = row(
        .refused,
        "S42",
        remedy: "Correct the cause that the vendor's reply names, then replay the operation."
    )
    static let throttled = row(
        .tooOften,
        "S43",
        reason: "The vendor receives too many requests, or more than ten at once",
        remedy: "No action is needed. The request is repeated. If this persists, set fewer lanes."
    )
    static let unavailable = row(.unavailable, "S43")
    static let noReply = row(.noReply, "S43")
    static let page = row(.page, "S45")

    /// Every row, for the descriptor.
    static let all: [FindingRow] = [
        keyBlank, keyControl, keyOther, keyKnown, optionUnknown, optionValue, nothing, nameMissing, columnKey,
        columnTwice, columnUnknown, columnName, columnUnwritable, columnOfDevice, valueNested, valueType, valueLong,
        valueControl, valuePrecision, incomplete, valueMarkup, valueChoice, valuePhone, unsetRefused, arithmetic,
        subscriptionChannel,
        subscriptionUnknown,
        subscriptionSuspended, subscriptionDetails, optIn, noAddress, optOutWaits, alreadyOut, contactSwitch, device,
        consent,
        consentDevice, consentNumber, consentNone, consentUnnamed, consentDetails, consentChannel, consentTwice,
        consentPath, listLeft, listStays, listHasIt, listUnknown, listUncertain, listNumber, listTwice, listElsewhere,
        listTopic, columnsFit, columnsDiffer,
        eventKind, eventForeign, eventBlank, eventNested, eventCode, eventTaken, eventUnknown, eventErrorsNowhere,
        contactThere,
        contactUnknown, nothingToErase, erased, removed, nothingToLeave, question, importTaken, importDropped,
        jobRunning, exportReady, exportUnnamed,
        importUnknown, jobRefused, jobLost, actionUnknown, closed, tokenLater, tokenRefused, tokenRefusedTwice,
        unauthenticated, faultOfServer, faultOfOrganisation, databaseUnknown, faultOfColumn, faultOfValue, faultOfCall,
        fault, optedOut, hiddenRefusal, forbidden, notFound, conflict, refused, throttled, unavailable, noReply, page,
    ]
}
