import PatchbayAdapterKit

/// Everything that may be wrong with a configuration, beyond an adapter's own settings.
enum ConfigurationFinding {
    static let json = FindingRow(
        "configuration.json",
        .error,
        .invalid,
        reason: "The file is not JSON",
        remedy: "Mend the text at that place."
    )
    static let duplicate = FindingRow(
        "configuration.duplicate",
        .error,
        .invalid,
        reason: "The name stands twice in one object",
        remedy: "Keep one of the two."
    )
    static let unknownMember = FindingRow(
        "configuration.member.unknown",
        .error,
        .misconfigured,
        reason: "There is no such member",
        remedy: "Remove it, or mend its spelling."
    )
    static let missingMember = FindingRow(
        "configuration.member.missing",
        .error,
        .missing,
        reason: "The member is missing",
        remedy: "Add it."
    )
    static let type = FindingRow(
        "configuration.type",
        .error,
        .invalid,
        reason: "The value has the wrong type",
        remedy: "Give a value of the type that stands there."
    )
    static let empty = FindingRow(
        "configuration.empty",
        .error,
        .missing,
        reason: "The text is empty",
        remedy: "Give text, or remove the member."
    )
    static let range = FindingRow(
        "configuration.range",
        .error,
        .invalid,
        reason: "The number is out of range",
        remedy: "Give a number inside the range."
    )
    static let word = FindingRow(
        "configuration.word",
        .error,
        .invalid,
        reason: "The value is not one of the allowed words",
        remedy: "Use one of the allowed words."
    )
    static let unknownAdapter = FindingRow(
        "configuration.adapter.unknown",
        .error,
        .misconfigured,
        reason: "There is no such adapter",
        remedy: "Use the id of an adapter that this program was built with."
    )
    static let providerName = FindingRow(
        "configuration.provider.name",
        .error,
        .invalid,
        reason: "The name can't be used for a provider",
        remedy: "Use 1 to 64 ASCII letters, digits, hyphens and underscores, a letter or digit first."
    )
    static let otherSide = FindingRow(
        "configuration.provider.side",
        .error,
        .misconfigured,
        reason:
            "All adapters of a configuration must be of its side: device APIs for an app, server APIs for a back end",
        remedy:
            "Use the vendor's API of this side. A server API belongs in a configuration with \"side\": \"server\", which is "
            + "never part of an app."
    )
    static let noProvider = FindingRow(
        "configuration.provider.none",
        .error,
        .missing,
        reason: "There is no provider",
        remedy: "Add one: its name, its adapter and its settings."
    )
    static let unknownProvider = FindingRow(
        "configuration.route.provider",
        .error,
        .misconfigured,
        reason: "The route leads to a provider that is not there",
        remedy: "Name a member of \"providers\"."
    )
    static let repeatedRoute = FindingRow(
        "configuration.route.twice",
        .error,
        .misconfigured,
        reason: "Another route leads to the same provider",
        remedy: "Keep one route per provider."
    )
    static let noLiveRoute = FindingRow(
        "configuration.route.none",
        .error,
        .misconfigured,
        reason: "No route is live, so nothing would ever be sent",
        remedy: "Set the mode of one route to \"live\", or to \"percentage\"."
    )
    static let outboxMoved = FindingRow(
        "configuration.outbox.path",
        .error,
        .conflict,
        reason: "The outbox file cannot change while the client is in use",
        remedy: "Keep the path, or close the client and make one with the new configuration."
    )
    static let percentUnused = FindingRow(
        "configuration.route.percent.unused",
        .error,
        .misconfigured,
        reason: "Only a route of mode \"percentage\" has a share",
        remedy: "Set the mode to \"percentage\", or remove the member."
    )
    static let percentRange = FindingRow(
        "configuration.route.percent",
        .error,
        .invalid,
        reason: "The share is no part of a hundred with two decimals at most",
        remedy: "Give a number above 0, up to 100, such as 12.5."
    )
    static let percentSum = FindingRow(
        "configuration.route.percent.sum",
        .error,
        .conflict,
        reason: "The shares together are more than a hundred per cent",
        remedy: "Lower them: each contact belongs to one of the percentage routes at most."
    )
    static let percentRest = FindingRow(
        "configuration.route.percent.rest",
        .warning,
        .misconfigured,
        reason: "Some contacts belong to no percentage route, and no route is live for all",
        remedy: "Add a percentage route for the rest, or accept that nobody hears of them."
    )
    static let sendUnused = FindingRow(
        "configuration.route.send.unused",
        .error,
        .misconfigured,
        reason: "Only a route of mode \"shadow\" is sent to a sandbox",
        remedy: "Set the mode to \"shadow\", or remove the member."
    )
    static let sendTwin = FindingRow(
        "configuration.route.send.twin",
        .error,
        .conflict,
        reason:
            "The shadow has the same adapter and settings as a provider that is served for real, and would send to it",
        remedy: "Give the shadow the sandbox's settings, or remove \"send\"."
    )
    static let repeatedConsent = FindingRow(
        "configuration.consent.twice",
        .error,
        .misconfigured,
        reason: "The same consent is required twice",
        remedy: "Keep one of the two."
    )
    static let coveredConsent = FindingRow(
        "configuration.consent.covered",
        .warning,
        .misconfigured,
        reason: "The purpose is required for every channel, so the word for one channel adds nothing",
        remedy: "Remove one of the two."
    )
    static let unsetVariable = FindingRow(
        "configuration.variable.unset",
        .error,
        .missing,
        reason: "The environment variable is not set",
        remedy: "Set it before you start the program; write $${ where the text itself should say ${."
    )
    static let malformedVariable = FindingRow(
        "configuration.variable.malformed",
        .error,
        .invalid,
        reason: "${ begins the name of an environment variable, and no such name follows",
        remedy: "Write ${NAME} with letters, digits and underscores; write $${ where the text itself should say ${."
    )
    static let clearSecret = FindingRow(
        "configuration.secret.clear",
        .warning,
        .misconfigured,
        reason: "A secret stands in the file itself",
        remedy: "Put it into an environment variable and write ${NAME} here."
    )
    static let unusedCredentials = FindingRow(
        "configuration.credentials.unused",
        .warning,
        .misconfigured,
        reason: "The adapter asks for no credentials of contacts",
        remedy: "Remove them."
    )
    static let unusedName = FindingRow(
        "configuration.attribute.name.unused",
        .error,
        .unsupported,
        reason: "The adapter has no setting for names of attributes",
        remedy: "Remove the name."
    )
    static let takenName = FindingRow(
        "configuration.attribute.name.taken",
        .error,
        .conflict,
        reason: "Another attribute has the same name at that vendor",
        remedy: "Give each attribute a name of its own."
    )
    static let conflictingName = FindingRow(
        "configuration.attribute.name.conflict",
        .error,
        .conflict,
        reason: "The provider's settings give the attribute another name than the catalogue",
        remedy: "Keep the name in one of the two places."
    )
}
