import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayAltcraftServer

/// The findings about a contact in an import file.
extension FindingRow {
    /// Every row, for the descriptor.
    static let altcraftRecords: [FindingRow] = [
        recordMatching, recordKeyOther, recordIdentifier, recordIdentifierDamaged, recordNoHome, recordSecond,
        recordAddress, recordConverted,
        recordTags,
        recordConsent,
        recordControl, profileControl, recordUnknown, recordDenied, recordResource, recordOptOutLost, recordUnreachable,
        recordNested, recordToken,
        tokenProviderUnknown,
        lineJSON, lineProfile, lineTooLong, profileKey, profileIdentifier, profileIdentifierCleaned, profileField,
        profileBirthday, profileSubscription,
        profileSubscriptions, profileContradiction, profileOtherAddress, profileDeleted, profileStatus,
        profileStatusMissing, profileNumber,
        profileResourceUnread, profileResourceTaken, profileResource,
    ]

    static let recordMatching = FindingRow(
        .error("altcraft.record.matching", .missing, rule: "X1"),
        reason: "The contact has no identifier that finds a profile, so it is not written",
        remedy:
            "Give the contact such an identifier, or choose another matching in the settings. With matching "
            + "custom, name the field of the contact's key in identifierFields."
    )
    static let recordKeyOther = FindingRow(
        .note("altcraft.record.keyOther", rule: "X1"),
        reason: "The contact has no e-mail address, so its line uses another matching to find the profile",
        remedy: "Set matching if all profiles must use the same matching."
    )
    static let recordIdentifier = FindingRow(
        .warning("altcraft.record.identifier", .misconfigured, rule: "X2"),
        reason: "No profile field is named for this kind of identifier; it is left out",
        remedy:
            "Name the field in identifierFields, as \"external\": \"customer_number\"; with matching custom the vendor "
            + "finds profiles by it."
    )
    static let recordIdentifierDamaged = FindingRow(
        .warning("altcraft.record.identifierDamaged", .invalid, rule: "X2"),
        reason:
            "The value cannot be one person's identifier: a word such as NULL, a number in scientific notation, or a text with "
            + "invisible characters; it is left out",
        remedy: "Correct it in the source."
    )
    static let recordControl = FindingRow(
        .warning("altcraft.record.control", .invalid, rule: "X8"),
        reason:
            "The text contains the character NUL. JSON permits it, so it is written, but it is undocumented "
            + "whether the platform keeps it",
        remedy: "Take it out in the source."
    )
    static let profileControl = FindingRow(
        .warning("altcraft.profile.control", .invalid, rule: "X8"),
        reason: "The field holds the character NUL: JSON permits it, so it is read, and few targets take it",
        remedy: "Take it out in the source."
    )
    static let recordNoHome = FindingRow(
        .warning("altcraft.record.noPlace", .unsupported, rule: "X2"),
        reason: "The import has no field for this value, so it is not migrated",
        remedy: "Make it an attribute with a field of its own."
    )
    static let recordSecond = FindingRow(
        .warning("altcraft.record.second", .unsupported, rule: "X2"),
        reason: "The field is taken already; this value is left out",
        remedy: "Put the one to keep first, or name another field for it."
    )
    static let recordAddress = FindingRow(
        .warning("altcraft.record.address", .invalid, rule: "F19"),
        reason: "The address has another form and is left out",
        remedy: "Correct it in the source."
    )
    static let recordConverted = FindingRow(
        .note("altcraft.record.converted", rule: "F20"),
        reason: "The value is written as text or JSON, so the platform's field must have a fitting type",
        remedy: "Create the field with a fitting type before the import."
    )
    static let recordTags = FindingRow(
        .warning("altcraft.record.tags", .misconfigured, rule: "F14"),
        reason: "There is no profile field for tags; they are left out",
        remedy: "Create a field of type tags in the platform and name it in tagsField."
    )
    static let recordConsent = FindingRow(
        .warning("altcraft.record.consent", .unsupported, rule: "E3"),
        reason: "The vendor has no record of consents",
        remedy: "Keep the consent in its present system. A denied consent turns subscriptions of its channel "
            + "into opt-outs here."
    )
    static let recordUnknown = FindingRow(
        .warning("altcraft.record.stateUnknown", .consent, rule: "X4"),
        reason: "The person's decision is unknown, so no subscription is written",
        remedy: "Ask the person."
    )
    static let recordDenied = FindingRow(
        .warning("altcraft.record.denied", .consent, rule: "X5"),
        reason: "The person denied messages on this channel, so the subscription is written as unsubscribed",
        remedy: "Ask the person which one applies."
    )
    static let recordResource = FindingRow(
        .warning("altcraft.record.resource", .misconfigured, rule: "X3"),
        reason: "No resource is named for this subscription; it is left out",
        remedy: "Name it in resourceId, or by topic in resources."
    )
    static let recordOptOutLost = FindingRow(
        .error("altcraft.record.optOutLost", .consent, rule: "X5"),
        reason: "No resource is named for this opt-out, so the vendor might still send messages to the person",
        remedy: "Name it in resourceId, or by topic in resources, or set lostOptOuts to warn."
    )
    static let recordUnreachable = FindingRow(
        .warning("altcraft.record.address.missing", .missing, rule: "X3"),
        reason: "The subscription has no usable address on its channel; it is left out",
        remedy: "Give the contact an e-mail address, a phone number or a device with a token."
    )
    static let recordNested = FindingRow(
        .warning("altcraft.record.nested", .unsupported, rule: "X6"),
        reason: "A subscription field takes no list, no choices and no object; it is left out",
        remedy: "Give one value, or make it an attribute of the contact."
    )
    static let recordToken = FindingRow(
        .warning("altcraft.record.token", .consent, rule: "X4"),
        reason: "It is unknown whether the person wants push messages, so the token is left out",
        remedy: "Give the contact a push subscription with its state, and a resource for it."
    )
    static let tokenProviderUnknown = FindingRow(
        .warning("altcraft.record.token.provider", .unsupported, rule: "T7"),
        reason: "The push service and platform belong to none of the vendor's providers; the token is left out",
        remedy: "Give the device's platform, or let the app register itself."
    )
    static let lineJSON = FindingRow(
        .error("altcraft.profile.json", .invalid, rule: "X8"),
        reason: "The line is no JSON object",
        remedy: "Correct the text at this position."
    )
    static let lineProfile = FindingRow(
        .error("altcraft.profile.data", .invalid, rule: "X8"),
        reason: "The line holds no profile",
        remedy: "Give an import's body with its member data, or the profile data object alone."
    )
    static let lineTooLong = FindingRow(
        .error("altcraft.profile.length", .tooLarge, rule: "X8"),
        reason: "The line is longer than the maximum size of a profile, and was skipped",
        remedy: "Split it: one profile a line."
    )
    static let profileKey = FindingRow(
        .error("altcraft.profile.key", .missing, rule: "X1"),
        reason: "The profile has none of the identifiers that the settings name",
        remedy: "Name the field that identifies it in identifierFields."
    )
    static let profileIdentifier = FindingRow(
        .warning("altcraft.profile.identifier", .invalid, rule: "X1"),
        reason: "The value cannot be one person's identifier, so it is left out",
        remedy: "Export it again as text, as the source system has it."
    )
    static let profileIdentifierCleaned = FindingRow(
        .note("altcraft.profile.identifierCleaned", rule: "X1"),
        reason:
            "Invisible characters or a spreadsheet's guard (=\"…\", an apostrophe) stand around the identifier, which is read "
            + "without them",
        remedy: "No action is needed. Take them out in the source to silence this note."
    )
    static let profileBirthday = FindingRow(
        .note("altcraft.profile.birthday", rule: "X7"),
        reason:
            "The birthday is an instant; the day is the one whose beginning in UTC is nearest to it, because the instant is "
            + "the day's beginning in another zone",
        remedy: "No action is needed. To keep the instant, set the attribute's type to timestamp in types."
    )
    static let profileField = FindingRow(
        .warning("altcraft.profile.field", .invalid, rule: "X7"),
        reason: "The field's value is not of the type that the setting types gives it; it is read as it is",
        remedy: "Correct the value, or give the attribute another type."
    )
    static let profileSubscription = FindingRow(
        .error("altcraft.profile.subscription", .invalid, rule: "X9"),
        reason: "The entry names no channel, and it may contain an opt-out",
        remedy: "Correct or remove it in the source."
    )
    static let profileSubscriptions = FindingRow(
        .error("altcraft.profile.subscriptions", .invalid, rule: "X9"),
        reason: "The subscriptions are not a list, and they may contain an opt-out",
        remedy: "Export them as a list of objects, each with its channel, or take them out in the source."
    )
    static let profileContradiction = FindingRow(
        .warning("altcraft.profile.contradiction", .consent, rule: "X9"),
        reason: "Entries for one channel and topic contradict each other; the most restrictive one applies",
        remedy: "Ask the person, or correct the entries in the source. All addresses of a channel have the same status."
    )
    static let profileOtherAddress = FindingRow(
        .warning("altcraft.profile.otherAddress", .consent, rule: "X9"),
        reason:
            "The entry is for an address other than the contact's first one of that kind, so it is not an opt-in of the "
            + "contact",
        remedy:
            "Ask the person for an opt-in of the first address, or put the address of the entry first in the source."
    )
    static let profileDeleted = FindingRow(
        .note("altcraft.profile.deleted", rule: "X9"),
        reason: "The platform marks the entry as deleted, so it is not a subscription and is skipped",
        remedy: "No action is needed. Ask the person if one of the subscriptions should remain."
    )
    static let profileStatus = FindingRow(
        .error("altcraft.profile.status", .consent, rule: "X4"),
        reason: "The status is not one of the vendor's values, and it may be an opt-out",
        remedy: "Write one of these there in the source, as a word or a number: "
            + ShownSubscription.statuses.map { "\($0.word) (\($0.number))" }.joined(separator: ", ") + "."
    )
    static let profileStatusMissing = FindingRow(
        .warning("altcraft.profile.statusMissing", .consent, rule: "X4"),
        reason: "The entry has no status, so the person's decision is unknown",
        remedy: "Export the status, or ask the person."
    )
    static let profileNumber = FindingRow(
        .error("altcraft.profile.number", .tooLarge, rule: "X7"),
        reason:
            "The field holds a number that has over 400 digits when written out, which no attribute can hold",
        remedy: "Give it as a text in the source, or take it out."
    )
    static let profileResourceUnread = FindingRow(
        .error("altcraft.profile.resourceNumber", .invalid, rule: "X3"),
        reason: "The entry does not name its resource by a whole number from 1, so it is unknown what the opt-in "
            + "or opt-out applies to",
        remedy: "Give the number in resource_id in the source, or take the entry out."
    )
    static let profileResourceTaken = FindingRow(
        .error("altcraft.profile.resourceTaken", .conflict, rule: "X3"),
        reason: "No topic is named for the entry's resource, and its number is the name of another resource's topic",
        remedy: "Name a topic for the resource in resources."
    )
    static let profileResource = FindingRow(
        .note("altcraft.profile.resource", rule: "X3"),
        reason: "No topic is named for the subscription's resource; its number stands for one",
        remedy: "Name the resource in resourceId, or by topic in resources."
    )
}
