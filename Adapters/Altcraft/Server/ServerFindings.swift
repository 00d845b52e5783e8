import PatchbayAdapterKit
import PatchbayModel
import PatchbayAltcraft

/// The server API's own findings. No finding holds a personal value.
enum ServerFinding: ServerFindings {
    static let vendor: AdapterID = "altcraft"

    static let keyBlank = row(.keyBlank, "V4")
    static let keyForm = FindingRow(
        .error("altcraft.server.key.form", .invalid, rule: "V4"),
        reason: "The contact's key has not the form that the matching needs",
        remedy: "Use e-mail addresses with email, phone numbers with phone, or match by a field of the database."
    )
    static let keyOther = FindingRow(
        .warning("altcraft.server.key.other", .conflict, rule: "V4"),
        reason: "The contact has another key, and a key cannot be changed here, so the identifier is left out",
        remedy: "Write to the other contact under its own key."
    )
    static let keyKnown = row(.keyKnown, "V4")
    static let optionUnknown = FindingRow(
        .warning("altcraft.server.option.unknown", .invalid),
        reason: "This API has no options",
        remedy: "Remove it."
    )
    static let identifierUnnamed = FindingRow(
        .warning("altcraft.server.identifier.unnamed", .unsupported, rule: "V5"),
        reason: "The settings name no profile field for this kind of identifier, so it is left out",
        remedy: "Add it to identifierFields."
    )
    static let empty = row(.empty, "V5", reason: "The operation contains no value that can be sent")
    static let reserved = FindingRow(
        .warning("altcraft.server.field.reserved", .conflict, rule: "V5"),
        reason: "An import needs that name for subscriptions, so the value is left out",
        remedy: "Name another field for it in fieldNames."
    )
    static let resource = FindingRow(
        .error("altcraft.server.subscription.resource", .misconfigured, rule: "V12"),
        reason: "The settings name no resource for this channel and topic",
        remedy: "Add its number to resources, as channel or as channel.topic."
    )
    static let subscriptionChannel = FindingRow(
        .error("altcraft.server.subscription.channel", .unsupported, rule: "V12"),
        reason: "The vendor's API has no such channel",
        remedy: "Use push, email or sms."
    )
    static let subscriptionUnknown = FindingRow(
        .error("altcraft.server.subscription.unknown", .invalid, rule: "V13"),
        reason: "The vendor has no status for an unknown decision",
        remedy: "Leave the subscription unchanged until the person has decided."
    )
    static let subscriptionDetails = FindingRow(
        .note("altcraft.server.subscription.details", rule: "V13"),
        reason: "An import stores only the status, not when, where or how the person decided",
        remedy: "Set them as fields of the subscription if the platform needs them."
    )
    static let subscriptionNested = FindingRow(
        .warning("altcraft.server.subscription.nested", .unsupported, rule: "V13"),
        reason: "A subscription field takes no list and no object; it is left out",
        remedy: "Give text, a number or a boolean."
    )
    static let address = FindingRow(
        .error("altcraft.server.subscription.address", .notFound, rule: "V14"),
        reason: "The contact has no address on this channel that the platform can subscribe",
        remedy:
            "Import the address first: identify with an e-mail address or a phone number; a device registers itself."
    )
    static let noAddressToUnsubscribe = FindingRow(
        .warning("altcraft.server.subscription.noAddress", .notFound, rule: "V14"),
        reason: "The platform has no address of the contact on this channel, so there is nothing to unsubscribe",
        remedy: "When the contact gets an address there, send the opt-out again before any opt-in."
    )
    static let optOutKept = FindingRow(
        .note("altcraft.server.optOut.kept", rule: "V24"),
        reason:
            "The platform does not know the contact; the opt-out is kept, and is applied when the contact has an address there",
        remedy: "No action is needed."
    )
    static let optOutWaits = FindingRow(
        .warning("altcraft.server.optOut.waits", .notFound, rule: "V24"),
        reason:
            "The platform has no address of the contact on this channel; the opt-out is kept, and follows the request that "
            + "gives the contact an address",
        remedy: "If another system gives the contact an address there, send the opt-out again before any opt-in."
    )
    static let optOutRefused = FindingRow(
        .warning("altcraft.server.optOut.refused", .conflict, rule: "V24"),
        reason:
            "The vendor accepts the operation but refuses an earlier opt-out of the contact; the opt-out is kept, and "
            + "follows the contact's next request",
        remedy: "Check the contact's address and the resource in the platform."
    )
    static let optOutsFull = FindingRow(
        .error("altcraft.server.optOut.full", .tooLarge, rule: "V24"),
        reason: "The platform does not know the contact, and no more opt-outs of such contacts can be kept",
        remedy: "Create the contact, then replay the operation."
    )
    static let contactSwitch = row(.contactSwitch, "V4")
    static let device = row(.device, "V12")
    static let consent = row(.consent, "V13", reason: "The vendor has no record of consent")
    static let eventKind = FindingRow(
        .error("altcraft.server.event.kind", .unsupported, rule: "V16"),
        reason: "Only custom events and push messages are known here",
        remedy: "Track a custom event."
    )
    static let pixel = FindingRow(
        .error("altcraft.server.goal.pixel", .misconfigured, rule: "V16"),
        reason: "Custom events are goals of a pixel, and the settings name none",
        remedy: "Set pixelId."
    )
    static let goalBlank = FindingRow(
        .error("altcraft.server.goal.blank", .missing, rule: "V16"),
        reason: "The event has no name",
        remedy: "Name it."
    )
    static let goalLong = FindingRow(
        .error("altcraft.server.goal.long", .tooLarge, rule: "V16"),
        reason: "A goal's name has 128 characters at most",
        remedy: "Use a shorter name."
    )
    static let goalCharacters = FindingRow(
        .warning("altcraft.server.goal.characters", .invalid, rule: "V16"),
        reason: "The name holds characters that the vendor does not list for goals; it is sent, and may be refused",
        remedy: "Use letters, digits and simple marks."
    )
    static let goalNested = FindingRow(
        .warning("altcraft.server.goal.nested", .unsupported, rule: "V17"),
        reason: "A goal's data takes no list and no object; it is left out",
        remedy: "Send each part as an attribute of its own."
    )
    static let goalData = FindingRow(
        .error("altcraft.server.goal.data", .tooLarge, rule: "V17"),
        reason: "A goal's data has 1 KB at most",
        remedy: "Send less with the event."
    )
    static let pushUID = FindingRow(
        .error("altcraft.server.push.uid", .missing, rule: "V19"),
        reason: "The payload does not say which message it is",
        remedy: "Have the platform put its extra uid into push messages, and name that member in uidKey."
    )
    static let uncertainDelivery = FindingRow(
        .error("altcraft.server.uncertainDelivery", .outcomeUnknown, rule: "V18"),
        reason: "It is unknown whether the vendor received it, and a repeated request could count twice",
        remedy: "Check the profile in the platform, then decide whether to replay the operation."
    )
    static let unclear = FindingRow(
        .error("altcraft.server.result.unclear", .outcomeUnknown, rule: "V8"),
        reason: "The vendor reports success for several profiles although one was sent",
        remedy: "Check the profile in the platform, then decide whether to replay the operation."
    )
    static let erased = FindingRow(
        .note("altcraft.server.erase.done", rule: "V15"),
        reason:
            "The vendor deleted the profile with its history and relations, but only in the databases that "
            + "the settings name",
        remedy: "Delete it in other databases, too."
    )
    static let profileMissing = FindingRow(
        .note("altcraft.server.erase.unknown", rule: "V15"),
        reason: "The database has no such profile",
        remedy: "No action is needed."
    )
    static let nothingToLeave = row(
        .nothingToLeave,
        "V14",
        reason: "The contact has no active subscription, so there is nothing to suspend",
        remedy: "No action is needed."
    )
    static let question = FindingRow(
        .error("altcraft.server.question", .unsupported, rule: "V20"),
        reason: "The query is unknown",
        remedy: "Ask for profiles, with from, limit from 1 to 1,000, query and fields."
    )
    static let closed = row(.closed, "V21")
    static let unauthenticated = row(
        .unauthenticated,
        "V2",
        reason: "The vendor does not accept the API token",
        remedy: "Check apiToken, then resume the provider."
    )
    static let tariff = FindingRow(
        .error("altcraft.server.reply.tariff", .throttled, rule: "V10"),
        reason: "The account's tariff has reached its limit",
        remedy: "Have the vendor raise it, then resume the provider."
    )
    static let forbidden = row(
        .forbidden,
        "V10",
        reason: "The token may not do this",
        remedy:
            "Give the token's role the permission (deleting profiles needs one of its own), then resume the provider."
    )
    static let notFound = row(
        .notFound,
        "V15",
        remedy: "Check the contact's key, the pixel and the database in the platform."
    )
    static let tooLarge = FindingRow(
        .error("altcraft.server.reply.tooLarge", .tooLarge, rule: "V7"),
        reason: "The vendor does not accept so much at once",
        remedy: "Set profilesPerRequest or bytesPerRequest lower."
    )
    static let tooOften = row(
        .tooOften,
        "V21",
        remedy: "No action is needed. The request is repeated. If this persists, set a rate."
    )
    static let unavailable = row(.unavailable, "V22")
    static let noReply = row(.noReply, "V22")
    static let unreadable = FindingRow(
        .error("altcraft.server.reply.unreadable", .unreachable, rule: "V23"),
        reason: "The reply has a success status but not the form that the vendor documents",
        remedy: "No action is needed. The request is repeated. If this persists, check which server answers at apiUrl."
    )
    static let page = row(.page, "V23")
    static let refused = row(.refused, "V10")

    /// Every row, for the descriptor. The last rows are those of fields and pushes, which both APIs share.
    static let all: [FindingRow] = [
        keyBlank, keyForm, keyOther, keyKnown, optionUnknown, identifierUnnamed, empty, reserved, resource,
        subscriptionChannel, subscriptionUnknown, subscriptionDetails, subscriptionNested, address,
        noAddressToUnsubscribe, optOutKept, optOutWaits, optOutRefused,
        optOutsFull,
        contactSwitch, device, consent, eventKind, pixel, goalBlank, goalLong, goalCharacters, goalNested, goalData,
        pushUID, uncertainDelivery, unclear, erased, profileMissing, nothingToLeave, question, closed, unauthenticated,
        tariff,
        forbidden,
        notFound, tooLarge, tooOften, unavailable, noReply, unreadable, page, refused, FindingRow.attributesEmpty,
        FindingRow.attributesNone, FindingRow.attributeForm, FindingRow.attributeCollision,
        FindingRow.attributeUnset, FindingRow.attributeElements, FindingRow.fieldBlank, FindingRow.tagsField,
        FindingRow.tagsEmpty, FindingRow.pushForeign, FindingRow.pushDismissed, FindingRow.actionUnknown,
        FindingRow.replyField,
    ]
}
