import PatchbayAdapterKit
import PatchbayModel
import PatchbaySalesforce

/// All findings of the server API. No finding holds a personal value.
enum ServerFinding: ServerFindings {
    static let vendor: AdapterID = "salesforce"

    static let keyBlank = row(.keyBlank, "V37")
    static let keyLong = FindingRow(
        .warning("salesforce.server.key.long", .tooLarge, rule: "V37"),
        reason: "The contact key is longer than the 254 characters that the vendor's contacts usually hold",
        remedy: "Use a shorter key."
    )
    static let keyOther = FindingRow(
        .error("salesforce.server.key.other", .conflict, rule: "V37"),
        reason: "The identifier is not the contact's key, and a key cannot be changed here",
        remedy: "Write to the other contact under its own key."
    )
    static let keyKnown = row(.keyKnown, "V37")
    static let optionUnknown = FindingRow(
        .warning("salesforce.server.option.unknown", .invalid),
        reason: "There is no such option",
        remedy: "Remove it, or correct its spelling: address, route."
    )
    static let optionRoute = FindingRow(
        .error("salesforce.server.option.route", .invalid, rule: "V6"),
        reason: "The option names no route",
        remedy: "Use rows, asyncRows or contacts."
    )
    static let optionAddress = FindingRow(
        .error("salesforce.server.option.address", .invalid, rule: "V19"),
        reason:
            "The option is not an object of texts, numbers or booleans that stand in the sets Email "
            + "Addresses, MobileConnect Demographics or MobilePush Demographics",
        remedy: "Write it like {\"Email Addresses/Email Address\": \"…\"}."
    )
    static let dataExtensionMissing = FindingRow(
        .error("salesforce.server.dataExtension.missing", .misconfigured, rule: "V8"),
        reason: "Rows need a data extension, and the settings name none",
        remedy: "Add its external key to the setting dataExtension, or take the route contacts."
    )
    static let dataExtensionUnknown = FindingRow(
        .error("salesforce.server.dataExtension.unknown", .misconfigured, rule: "V31"),
        reason: "The account knows no data extension of that external key",
        remedy: "Correct the setting dataExtension, or create the data extension. Then resume the provider."
    )
    static let notQueued = FindingRow(
        .error("salesforce.server.job.notQueued", .misconfigured, rule: "V14"),
        reason: "The vendor did not queue the job: the account knows no data extension of that external key",
        remedy: "Correct the setting dataExtension, or create the data extension. Then resume the provider."
    )
    static let jobRefused = FindingRow(
        .error("salesforce.server.job.refused", .invalid, rule: "V15"),
        reason: "The vendor ended the job with an error",
        remedy: "Check the data extension's columns and the row's values."
    )
    static let jobLost = FindingRow(
        .error("salesforce.server.job.lost", .outcomeUnknown, rule: "V46"),
        reason: "The vendor did not find three jobs in a row that contained this row",
        remedy: "Look for the row in the data extension. Replay the operation if the row is missing."
    )
    static let rowRefused = FindingRow(
        .error("salesforce.server.row.refused", .invalid, rule: "V16"),
        reason: "The vendor refused the row",
        remedy: "Correct the value that the vendor's error code names, then replay the operation."
    )
    static let empty = row(.empty)
    static let unnamed = FindingRow(
        .warning("salesforce.server.name.missing", .unsupported, rule: "V7"),
        reason: "The settings name no place for it, so it is not sent",
        remedy:
            "Add it to identifierColumns, tagColumns or subscriptionColumns; for the route contacts to "
            + "contactAttributes."
    )
    static let undefined = FindingRow(
        .warning("salesforce.server.column.undefined", .notFound, rule: "V35"),
        reason:
            "The data extension has no such column for values, so it is not sent: it would refuse the whole row "
            + "set",
        remedy: "Add the column to the data extension and to the setting columns, or name another in attributeNames."
    )
    static let collision = FindingRow(
        .warning("salesforce.server.column.collision", .conflict, rule: "V35"),
        reason: "Two values have the same place at the vendor; this one is not sent",
        remedy: "Give one of them another name in the settings."
    )
    static let manyColumns = FindingRow(
        .warning("salesforce.server.column.many", .tooLarge, rule: "V9"),
        reason: "One row has more columns than the vendor advises for a request",
        remedy: "Spread the values over several operations."
    )
    static let nested = FindingRow(
        .warning("salesforce.server.value.nested", .unsupported, rule: "V38"),
        reason: "A value is text, a number or a boolean at the vendor, so a list or an object is not sent",
        remedy: "Send words as choices, and each member of an object as an attribute of its own."
    )
    static let separator = FindingRow(
        .warning("salesforce.server.value.separator", .invalid, rule: "V38"),
        reason: "Choices are joined by semicolons, and one of them holds a semicolon, so the value is not sent",
        remedy: "Use words without semicolons."
    )
    static let longText = FindingRow(
        .warning("salesforce.server.value.long", .tooLarge, rule: "V39"),
        reason: "The text is longer than the 4,000 characters that a column can hold, so it is not sent",
        remedy: "Send a shorter text."
    )
    static let arithmetic = row(.arithmetic, "V38")
    static let channelMissing = FindingRow(
        .error("salesforce.server.sets.channel", .missing, rule: "V19"),
        reason:
            "A contact's request must name one of the sets Email Addresses, MobileConnect Demographics or "
            + "MobilePush Demographics, and this one names none",
        remedy: "Give the address in the same operation or in its option address, or use the route rows."
    )
    static let setIncomplete = FindingRow(
        .error("salesforce.server.sets.incomplete", .missing, rule: "V47"),
        reason: "An attribute set of the contact's request lacks what the vendor requires in it",
        remedy: "Give it in the same operation or in its option address, or once in the setting contactDefaults."
    )
    static let subscriptionChannel = FindingRow(
        .error("salesforce.server.subscription.channel", .unsupported, rule: "V41"),
        reason: "The account has no setting for messages inside an app",
        remedy: "Set it as an attribute of its own."
    )
    static let subscriptionUnknown = FindingRow(
        .error("salesforce.server.subscription.unknown", .invalid, rule: "V41"),
        reason: "The decision is unknown, and a boolean column can only store an opt-in or an opt-out",
        remedy: "Leave the column unchanged until the person has decided."
    )
    static let subscriptionSuspended = FindingRow(
        .warning("salesforce.server.subscription.suspended", .unsupported, rule: "V41"),
        reason: "A boolean column cannot express a pause, so the subscription is written as unsubscribed",
        remedy: "Subscribe again when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        .note("salesforce.server.subscription.details", rule: "V41"),
        reason: "A boolean column stores only the state, not when, where or how the person decided",
        remedy: "Set them as attributes if the account needs them."
    )
    static let contactSwitch = row(.contactSwitch, "V37")
    static let device = row(
        .device,
        "V45",
        reason: "Devices register themselves; one that a back end writes stays out of reach"
    )
    static let consent = row(.consent, "V41")
    static let push = row(.push, "V23")
    static let eventKind = FindingRow(
        .error("salesforce.server.event.kind", .unsupported, rule: "V23"),
        reason: "Only custom events start journeys",
        remedy: "Track a custom event."
    )
    static let eventBlank = FindingRow(
        .error("salesforce.server.event.blank", .missing, rule: "V23"),
        reason: "The event has no name, so it has no event definition key",
        remedy: "Give it a name."
    )
    static let eventNested = FindingRow(
        .warning("salesforce.server.event.nested", .unsupported, rule: "V24"),
        reason: "A field of an event is text, so a list or an object is not sent",
        remedy: "Send each part as a field of its own."
    )
    static let eventTaken = FindingRow(
        .note("salesforce.server.event.taken", rule: "V23"),
        reason: "The vendor accepted the event; it starts only journeys whose entry has that key and those fields",
        remedy: "Check the journey's history in the account."
    )
    static let eventUnknown = FindingRow(
        .error("salesforce.server.event.unknown", .outcomeUnknown, rule: "V25"),
        reason:
            "It is unknown whether the vendor received the event, and a repeated event could start the journey twice",
        remedy: "Check the journey's history, then decide whether to replay the event."
    )
    static let eraseLater = FindingRow(
        .note("salesforce.server.erase.later", rule: "V44"),
        reason:
            "The vendor queued the deletion. It may take hours, applies to the whole enterprise and cannot "
            + "be undone. Rows of data extensions that are not linked to contacts remain",
        remedy: "Delete rows of such data extensions in the account."
    )
    static let nothingToLeave = row(.nothingToLeave, "V6")
    static let question = FindingRow(
        .error("salesforce.server.question", .unsupported, rule: "V34"),
        reason: "The query is unknown",
        remedy: "Ask for rows, with page from 1 and pageSize from 1 to 2,500."
    )
    static let actionUnknown = row(.actionUnknown)
    static let closed = row(.closed, "V26")
    static let tokenLater = row(.tokenLater, "V28")
    static let tokenRefused = row(
        .tokenRefused,
        "V1",
        reason:
            "The vendor gave no access token: the client is unknown, or not permitted for this business unit and these scopes",
        remedy: "Check clientId, clientSecret, accountId and scope, then resume the provider."
    )
    static let tokenRefusedTwice = row(
        .tokenRefusedTwice,
        "V3",
        remedy: "Check the package's permissions and business units, then resume the provider."
    )
    static let hostUnknown = FindingRow(
        .error("salesforce.server.host.unknown", .misconfigured, rule: "V4"),
        reason: "The token came without a REST host that can be used",
        remedy: "Set restUrl, then resume the provider."
    )
    static let throttled = row(.tooOften, "V26")
    static let blocked = FindingRow(
        .error("salesforce.server.reply.blocked", .throttled, rule: "V27"),
        reason: "The vendor temporarily blocks this client",
        remedy: "No action is needed. The request is repeated at growing intervals. If this persists, ask the "
            + "vendor's support."
    )
    static let unauthenticated = row(.unauthenticated, "V3")
    static let clientUnknown = FindingRow(
        .error("salesforce.server.reply.client", .unauthenticated, rule: "V1"),
        reason: "The vendor does not know the client",
        remedy: "Check clientId and clientSecret, then resume the provider."
    )
    static let forbidden = row(
        .forbidden,
        "V30",
        remedy: "Give the installed package the permission, then resume the provider."
    )
    static let notFound = row(.notFound, "V31")
    static let conflict = FindingRow(
        .error("salesforce.server.reply.conflict", .conflict, rule: "V18"),
        reason: "The vendor's state does not allow it",
        remedy: "Check the contact in the account, then replay it."
    )
    static let refused = row(.refused, "V32")
    static let hiddenRefusal = FindingRow(
        .error("salesforce.server.reply.hasErrors", .invalid, rule: "V21"),
        reason: "The vendor replied with HTTP 200, but the body contains a refusal",
        remedy: "Correct the cause that the vendor's error code names, then replay the operation."
    )
    static let jobUnknown = FindingRow(
        .error("salesforce.server.reply.jobUnknown", .notFound, rule: "V46"),
        reason: "The vendor does not find the job",
        remedy: "No action is needed. Another job takes its rows."
    )
    static let unavailable = row(.unavailable, "V28")
    static let noReply = row(.noReply, "V29")
    static let page = row(.page, "V33")

    /// Every row, for the descriptor.
    static let all: [FindingRow] = [
        keyBlank, keyLong, keyOther, keyKnown, optionUnknown, optionRoute, optionAddress, dataExtensionMissing,
        dataExtensionUnknown, notQueued, jobRefused, jobLost, rowRefused, empty, unnamed, undefined, collision,
        manyColumns, nested,
        separator, longText, arithmetic, channelMissing, setIncomplete, subscriptionChannel, subscriptionUnknown,
        subscriptionSuspended,
        subscriptionDetails, contactSwitch, device, consent, push, eventKind, eventBlank, eventNested, eventTaken,
        eventUnknown, eraseLater, nothingToLeave, question, actionUnknown, closed, tokenLater, tokenRefused,
        tokenRefusedTwice, hostUnknown, throttled, blocked, unauthenticated, clientUnknown, forbidden, notFound,
        conflict, refused, hiddenRefusal, jobUnknown, unavailable, noReply, page,
    ]
}
