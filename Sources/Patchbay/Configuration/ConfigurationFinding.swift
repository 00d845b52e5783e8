import PatchbayAdapterKit

/// The findings about a configuration, except those about an adapter's own settings.
enum ConfigurationFinding {
    static let json = FindingRow(
        "configuration.json",
        .error,
        .invalid,
        reason: "The file is not JSON",
        remedy: "Correct the text at this position."
    )
    static let duplicate = FindingRow(
        "configuration.duplicate",
        .error,
        .invalid,
        reason: "The name is given twice in one object",
        remedy: "Keep one of them."
    )
    static let unknownMember = FindingRow(
        "configuration.member.unknown",
        .error,
        .misconfigured,
        reason: "The member is unknown",
        remedy: "Correct its spelling, or remove it."
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
        remedy: "Write a value of that type."
    )
    static let empty = FindingRow(
        "configuration.empty",
        .error,
        .missing,
        reason: "The text is empty",
        remedy: "Write a text, or remove the member."
    )
    static let range = FindingRow(
        "configuration.range",
        .error,
        .invalid,
        reason: "The number is out of range",
        remedy: "Write a number in the range."
    )
    static let word = FindingRow(
        "configuration.word",
        .error,
        .invalid,
        reason: "The value is not one of the allowed values",
        remedy: "Write one of the allowed values."
    )
    static let unknownAdapter = FindingRow(
        "configuration.adapter.unknown",
        .error,
        .misconfigured,
        reason: "The adapter is unknown",
        remedy: "Write the id of an adapter in this program."
    )
    static let providerName = FindingRow(
        "configuration.provider.name",
        .error,
        .invalid,
        reason: "This name is not allowed for a provider",
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
        remedy: "Add one with its name, adapter and settings."
    )
    static let unknownProvider = FindingRow(
        "configuration.route.provider",
        .error,
        .misconfigured,
        reason: "The route names an unknown provider",
        remedy: "Name a member of \"providers\"."
    )
    static let repeatedRoute = FindingRow(
        "configuration.route.twice",
        .error,
        .misconfigured,
        reason: "Another route names the same provider",
        remedy: "Keep one route per provider."
    )
    static let noLiveRoute = FindingRow(
        "configuration.route.none",
        .error,
        .misconfigured,
        reason: "No route is live, so nothing would be sent",
        remedy: "Set the mode of one route to \"live\" or \"percentage\"."
    )
    static let outboxMoved = FindingRow(
        "configuration.outbox.path",
        .error,
        .conflict,
        reason: "The outbox file cannot change while the client is in use",
        remedy: "Keep the path, or close the client and make one with the new configuration."
    )
    static let proxy = FindingRow(
        "configuration.transport.proxy",
        .error,
        .invalid,
        reason: "The value is not the address of a proxy",
        remedy: "Write scheme, host and port alone, such as http://proxy.example:3128."
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
        reason: "The share is not a percentage with at most two decimals",
        remedy: "Write a number above 0 and up to 100, such as 12.5."
    )
    static let percentSum = FindingRow(
        "configuration.route.percent.sum",
        .error,
        .conflict,
        reason: "The shares add up to more than 100 percent",
        remedy: "Lower them; each contact belongs to at most one percentage route."
    )
    static let percentRest = FindingRow(
        "configuration.route.percent.rest",
        .warning,
        .misconfigured,
        reason: "Some contacts belong to no percentage route, and no route is live for all",
        remedy: "Add a percentage route for the rest, or accept that their operations are not sent."
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
            "The shadow has the adapter and settings of a live provider, and would send to its account",
        remedy: "Configure the shadow for the sandbox, or remove \"send\"."
    )
    static let repeatedConsent = FindingRow(
        "configuration.consent.twice",
        .error,
        .misconfigured,
        reason: "The same consent is required twice",
        remedy: "Keep one of them."
    )
    static let coveredConsent = FindingRow(
        "configuration.consent.covered",
        .warning,
        .misconfigured,
        reason: "The purpose is required for every channel already",
        remedy: "Remove one of the two."
    )
    static let unsetVariable = FindingRow(
        "configuration.variable.unset",
        .error,
        .missing,
        reason: "The environment variable is not set",
        remedy: "Set it before the program starts. To write ${ as text, use $${."
    )
    static let malformedVariable = FindingRow(
        "configuration.variable.malformed",
        .error,
        .invalid,
        reason: "No name of an environment variable follows ${",
        remedy: "Write ${NAME} with letters, digits and underscores. To write ${ as text, use $${."
    )
    static let clearSecret = FindingRow(
        "configuration.secret.clear",
        .warning,
        .misconfigured,
        reason: "The file contains a secret",
        remedy: "Store it in an environment variable, and write ${NAME} here."
    )
    static let unusedCredentials = FindingRow(
        "configuration.credentials.unused",
        .warning,
        .misconfigured,
        reason: "The adapter does not use credentials of contacts",
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
        remedy: "Give each attribute a different name."
    )
    static let conflictingName = FindingRow(
        "configuration.attribute.name.conflict",
        .error,
        .conflict,
        reason: "The provider's settings give the attribute another name than the catalogue",
        remedy: "Keep the name in one of the two places."
    )
}
