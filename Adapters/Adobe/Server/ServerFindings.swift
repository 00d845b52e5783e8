import PatchbayAdapterKit
import PatchbayModel
import PatchbayAdobe

/// All findings of the server API. No finding holds a personal value.
enum ServerFinding: ServerFindings {
    static let vendor: AdapterID = "adobe"

    static let keyBlank = row(.keyBlank, "B36")
    static let keyForm = FindingRow(
        .error("adobe.server.key.form", .invalid, rule: "B36"),
        reason: "The contact's key cannot be used in a query: it is not a valid address",
        remedy: "Give a key of the kind that the settings matching and keyField name."
    )
    static let keyLong = FindingRow(
        .error("adobe.server.key.long", .tooLarge, rule: "B14"),
        reason: "The contact's key is longer than its field",
        remedy: "Use a shorter key, or another field as keyField."
    )
    static let keyOther = FindingRow(
        .warning("adobe.server.key.other", .conflict, rule: "B36"),
        reason: "The field is the key that finds the profile, and the value is not the contact's key",
        remedy: "Write to the other contact under its own key."
    )
    static let keyKnown = row(
        .keyKnown,
        "B36",
        reason: "The identifier is the contact's key, which finds the profile, so there is nothing else to send"
    )
    static let optionUnknown = FindingRow(
        .warning("adobe.server.option", .invalid, rule: "B37"),
        reason: "This API has no options",
        remedy: "Remove it."
    )
    static let empty = row(.empty, "B11")
    static let unnamed = FindingRow(
        .warning("adobe.server.name.missing", .unsupported, rule: "B14"),
        reason: "The settings and the vendor's data model name no field for it, so it is not sent",
        remedy: "Add it to fieldNames, identifierFields or tagFields."
    )
    static let fieldReadOnly = FindingRow(
        .warning("adobe.server.field.readOnly", .reserved, rule: "B15"),
        reason: "The field is computed, or another record, so it is not written",
        remedy: "Name another field."
    )
    static let customField = FindingRow(
        .warning("adobe.server.field.custom", .misconfigured, rule: "B16"),
        reason:
            "Only the resource profileAndServicesExt contains fields that the account added, so it is not sent",
        remedy: "Set resource to profileAndServicesExt."
    )
    static let collision = FindingRow(
        .warning("adobe.server.field.collision", .conflict, rule: "B14"),
        reason: "Two values have the same field; this one is not sent",
        remedy: "Give one of them another field in the settings."
    )
    static let longText = FindingRow(
        .warning("adobe.server.value.long", .tooLarge, rule: "B14"),
        reason: "The text is longer than its field, so it is not sent",
        remedy: "Send a shorter text."
    )
    static let word = FindingRow(
        .warning("adobe.server.value.word", .invalid, rule: "B14"),
        reason: "The field only accepts certain words, so the value is not sent",
        remedy: "Send one of the words."
    )
    static let valueForm = FindingRow(
        .warning("adobe.server.value.form", .invalid, rule: "B17"),
        reason: "The value does not have the form that its field requires, so it is not sent",
        remedy: "Send a value of the field's type, or name a field of the account's own."
    )
    static let nested = FindingRow(
        .warning("adobe.server.value.nested", .unsupported, rule: "B17"),
        reason: "A field holds one value, so choices, a list or an object are not sent",
        remedy: "Send each part as an attribute of its own."
    )
    static let arithmetic = row(.arithmetic, "B17")
    static let subscriptionChannel = FindingRow(
        .error("adobe.server.subscription.channel", .unsupported, rule: "B20"),
        reason: "The profile has no flag for this channel",
        remedy: "Set it as an attribute of its own."
    )
    static let subscriptionUnknown = FindingRow(
        .error("adobe.server.subscription.unknown", .invalid, rule: "B20"),
        reason:
            "An unknown decision is neither an opt-in nor an opt-out, and a flag or a service can store nothing else",
        remedy: "Leave it unchanged until the person has decided."
    )
    static let subscriptionSuspended = FindingRow(
        .warning("adobe.server.subscription.suspended", .unsupported, rule: "B20"),
        reason: "The vendor cannot store a pause, so the subscription is written as unsubscribed",
        remedy: "Subscribe again when the pause is over."
    )
    static let subscriptionDetails = FindingRow(
        .note("adobe.server.subscription.details", rule: "B20"),
        reason: "The vendor stores only the state and its own date, not when, where or how the person decided",
        remedy: "Set them as attributes if the account needs them."
    )
    static let topicChannel = FindingRow(
        .error("adobe.server.subscription.topicChannel", .unsupported, rule: "B21"),
        reason: "Services are for e-mail and text messages",
        remedy: "Subscribe to the topic on one of these channels, or set it as an attribute of its own."
    )
    static let serviceUnnamed = FindingRow(
        .error("adobe.server.service.missing", .misconfigured, rule: "B21"),
        reason: "The settings name no service for the topic",
        remedy: "Add the service's name to services, as channel.topic."
    )
    static let serviceUnknown = FindingRow(
        .error("adobe.server.service.unknown", .notFound, rule: "B21"),
        reason: "The account knows no service of that name",
        remedy: "Correct the setting services, create the service, or set unknownServices to add. Then replay "
            + "the operation."
    )
    static let subscribedAlready = FindingRow(
        .note("adobe.server.service.subscribed", rule: "B22"),
        reason: "The profile is subscribed already",
        remedy: "No action is needed."
    )
    static let unsubscribedAlready = FindingRow(
        .note("adobe.server.service.unsubscribed", rule: "B22"),
        reason: "The profile is not subscribed",
        remedy: "No action is needed."
    )
    static let contactSwitch = row(.contactSwitch, "B37")
    static let device = row(.device, "B37")
    static let consent = row(
        .consent,
        "B37",
        remedy: "Write it as a subscription, or as an attribute such as ccpaOptOut."
    )
    static let push = row(.push, "B37")
    static let event = FindingRow(
        .error("adobe.server.event", .unsupported, rule: "B37"),
        reason:
            "This API accepts profiles, services and subscriptions; each account defines its own transactional events",
        remedy: "Set an attribute, or call the account's transactional event."
    )
    static let question = FindingRow(
        .error("adobe.server.question", .unsupported, rule: "B34"),
        reason: "The query is unknown",
        remedy:
            "Ask for profile or contact, for profiles or services with rows from 1 to 1,000 and next from the "
            + "page before, or for subscriptions with next from the contact or the page before."
    )
    static let actionUnknown = row(.actionUnknown)
    static let nothingToLeave = row(
        .nothingToLeave,
        "B37",
        reason: "A back end has no registration to remove: the account keeps its profiles"
    )
    static let contactUnknown = FindingRow(
        .error("adobe.server.contact.unknown", .notFound, rule: "B10"),
        reason: "The account has no profile of the contact",
        remedy: "Check the contact's key, or set unknownContacts to add."
    )
    static let several = FindingRow(
        .error("adobe.server.contact.several", .conflict, rule: "B9"),
        reason: "The account has several profiles of the contact, so it is unknown which one to change",
        remedy: "Merge them in Campaign, or take a key that is one profile's alone; then replay the operation."
    )
    static let manyPages = FindingRow(
        .error("adobe.server.contact.pages", .tooLarge, rule: "B8"),
        reason: "Too many profiles begin with this key: the contact was not on the first pages",
        remedy: "Use another matching than text."
    )
    static let vanished = FindingRow(
        .error("adobe.server.contact.vanished", .conflict, rule: "B13"),
        reason: "The profile disappeared several times between query and change",
        remedy: "Check the profile in Campaign, then replay the operation."
    )
    static let addressForeign = FindingRow(
        .error("adobe.server.reply.address", .misconfigured, rule: "B8"),
        reason: "The vendor's reply names an address outside this API, and the token is sent only to this API",
        remedy: "Check whether organization is the one that the vendor's answers name."
    )
    static let erased = FindingRow(
        .note("adobe.server.erased", rule: "B26"),
        reason: "The profile is deleted, but delivery logs and device records remain",
        remedy: "Make a privacy request in Campaign if the person asked for everything."
    )
    static let nothingToErase = FindingRow(
        .note("adobe.server.erased.unknown", rule: "B26"),
        reason: "The account has no profile of the contact",
        remedy: "No action is needed."
    )
    static let closed = row(.closed, "B30")
    static let tokenLater = row(.tokenLater, "B30", remedy: "Wait, or check the host for tokens.")
    static let tokenRefused = row(
        .tokenRefused,
        "B1",
        remedy: "Check clientId, clientSecret and scope, then resume the provider."
    )
    static let tokenRefusedTwice = row(
        .tokenRefusedTwice,
        "B3",
        remedy: "Check the credential's product profiles, then resume the provider."
    )
    static let filterUnknown = FindingRow(
        .error("adobe.server.filter.unknown", .misconfigured, rule: "B6"),
        reason: "The account cannot be asked for profiles in this way: no such filter, field or resource",
        remedy: "Check matching, filter, keyField and resource, then resume the provider."
    )
    static let keyUnseen = FindingRow(
        .error("adobe.server.key.unseen", .misconfigured, rule: "B7"),
        reason: "The profiles in the reply do not contain the field with the contact's key",
        remedy: "Check keyField and resource, then resume the provider."
    )
    static let resourceUnknown = FindingRow(
        .error("adobe.server.resource.unknown", .misconfigured, rule: "B5"),
        reason: "The account has no such collection of profiles",
        remedy: "Check organization and resource, then resume the provider."
    )
    static let organization = FindingRow(
        .error("adobe.server.reply.organization", .misconfigured, rule: "B28"),
        reason: "The gateway does not know the organization or does not route to it",
        remedy: "Check organization, then resume the provider."
    )
    static let forbidden = row(
        .forbidden,
        "B29",
        reason:
            "The client is not permitted: the product is not provisioned for it, or the API key belongs to another client",
        remedy: "Check the credential's product profiles, then resume the provider."
    )
    static let unauthenticated = row(.unauthenticated, "B3")
    static let tooOften = row(
        .tooOften,
        "B30",
        remedy:
            "No action is needed. The request is repeated. If this persists, check the limits in the licence agreement."
    )
    static let absent = FindingRow(
        .error("adobe.server.reply.absent", .notFound, rule: "B27"),
        reason: "The vendor has no such document",
        remedy: "Check the name in the settings and in the account."
    )
    static let notFound = row(
        .notFound,
        "B32",
        reason: "The vendor has no such resource",
        remedy: "Check apiUrl, organization and resource, then replay the operation."
    )
    static let value = FindingRow(
        .error("adobe.server.reply.value", .invalid, rule: "B27"),
        reason: "The vendor does not accept a value: it refers to an unknown resource, or has the wrong type",
        remedy: "Correct the value, then replay the operation."
    )
    static let keyChange = FindingRow(
        .error("adobe.server.reply.keyChange", .conflict, rule: "B27"),
        reason: "The vendor does not allow a key to be changed",
        remedy: "Remove the key from the operation."
    )
    static let duplicate = FindingRow(
        .error("adobe.server.reply.duplicate", .conflict, rule: "B27"),
        reason: "The account has that key already",
        remedy: "Look for the other profile in Campaign, then replay the operation."
    )
    static let profileKey = FindingRow(
        .error("adobe.server.reply.profileKey", .notFound, rule: "B27"),
        reason: "The vendor no longer finds its own key",
        remedy: "Replay the operation."
    )
    static let hiddenRefusal = FindingRow(
        .error("adobe.server.reply.hidden", .invalid, rule: "B32"),
        reason: "The vendor replied with HTTP 200, but the body contains a refusal",
        remedy: "Correct the cause that the vendor's error code names, then replay the operation."
    )
    static let refused = row(.refused, "B32")
    static let fault = FindingRow(
        .error("adobe.server.reply.fault", .unavailable, rule: "B31"),
        reason: "The vendor answered every attempt with HTTP 500 and without a reason",
        remedy: "Check the operation's values and the vendor's state, then replay it."
    )
    static let unexplained = FindingRow(
        .error("adobe.server.reply.unexplained", .unavailable, rule: "B31"),
        reason: "The vendor replies with HTTP 500 and without a reason",
        remedy: "No action is needed. The request is repeated up to faultAttempts times."
    )
    static let unavailable = row(.unavailable, "B30")
    static let noReply = row(.noReply, "B30")
    static let page = row(.page, "B33")

    /// Every row, for the descriptor.
    static let all: [FindingRow] = [
        keyBlank, keyForm, keyLong, keyOther, keyKnown, optionUnknown, empty, unnamed, fieldReadOnly, customField,
        collision,
        longText, word, valueForm, nested, arithmetic, subscriptionChannel, subscriptionUnknown, subscriptionSuspended,
        subscriptionDetails, topicChannel, serviceUnnamed, serviceUnknown, subscribedAlready, unsubscribedAlready,
        contactSwitch, device, consent, push, event, question, actionUnknown, nothingToLeave, contactUnknown, several,
        manyPages, vanished, addressForeign, erased, nothingToErase, closed, tokenLater, tokenRefused,
        tokenRefusedTwice, filterUnknown, keyUnseen, resourceUnknown, organization, forbidden, unauthenticated,
        tooOften, absent,
        notFound, value, keyChange, duplicate, profileKey, hiddenRefusal, refused, fault, unexplained, unavailable,
        noReply, page,
    ]
}
