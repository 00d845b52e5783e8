import PatchbayAdapterKit

/// The findings about a configuration, except those about an adapter's own settings.
enum ConfigurationFinding {
    static let json = FindingRow(
        .error("configuration.json", .invalid),
        reason: "The file is not JSON",
        remedy: "Correct the text at this position."
    )
    static let duplicate = FindingRow(
        .error("configuration.duplicate", .invalid),
        reason: "The name is given twice in one object",
        remedy: "Keep one of them."
    )
    static let unknownMember = FindingRow(
        .error("configuration.member.unknown", .misconfigured),
        reason: "The member is unknown",
        remedy: "Correct its spelling, or remove it."
    )
    static let missingMember = FindingRow(
        .error("configuration.member.missing", .missing),
        reason: "The member is missing",
        remedy: "Add it."
    )
    static let type = FindingRow(
        .error("configuration.type", .invalid),
        reason: "The value has the wrong type",
        remedy: "Write a value of that type."
    )
    static let empty = FindingRow(
        .error("configuration.empty", .missing),
        reason: "The text is empty",
        remedy: "Write a text, or remove the member."
    )
    static let range = FindingRow(
        .error("configuration.range", .invalid),
        reason: "The number is out of range",
        remedy: "Write a number in the range."
    )
    static let word = FindingRow(
        .error("configuration.word", .invalid),
        reason: "The value is not one of the allowed values",
        remedy: "Write one of the allowed values."
    )
    static let unknownAdapter = FindingRow(
        .error("configuration.adapter.unknown", .misconfigured),
        reason: "The adapter is unknown",
        remedy: "Write the id of an adapter in this program."
    )
    static let providerName = FindingRow(
        .error("configuration.provider.name", .invalid),
        reason: "This name is not allowed for a provider",
        remedy: "Use 1 to 64 ASCII letters, digits, hyphens and underscores, a letter or digit first."
    )
    static let otherSide = FindingRow(
        .error("configuration.provider.side", .misconfigured),
        reason:
            "All adapters of a configuration must be of its side: device APIs for an app, server APIs for a back end",
        remedy:
            "Use the vendor's API of this side. A server API belongs in a configuration with \"side\": \"server\", which is "
            + "never part of an app."
    )
    static let noProvider = FindingRow(
        .error("configuration.provider.none", .missing),
        reason: "There is no provider",
        remedy: "Add one with its name, adapter and settings."
    )
    static let unknownProvider = FindingRow(
        .error("configuration.route.provider", .misconfigured),
        reason: "The route names an unknown provider",
        remedy: "Name a member of \"providers\"."
    )
    static let repeatedRoute = FindingRow(
        .error("configuration.route.twice", .misconfigured),
        reason: "Another route names the same provider",
        remedy: "Keep one route per provider."
    )
    static let noLiveRoute = FindingRow(
        .error("configuration.route.none", .misconfigured),
        reason: "No route is live, so nothing would be sent",
        remedy: "Set the mode of one route to \"live\" or \"percentage\"."
    )
    static let outboxMoved = FindingRow(
        .error("configuration.outbox.path", .conflict),
        reason: "The outbox file cannot change while the client is in use",
        remedy: "Keep the path, or close the client and make one with the new configuration."
    )
    static let proxy = FindingRow(
        .error("configuration.transport.proxy", .invalid),
        reason: "The value is not the address of a proxy",
        remedy: "Write scheme, host and port alone, such as http://proxy.example:3128."
    )
    static let percentUnused = FindingRow(
        .error("configuration.route.percent.unused", .misconfigured),
        reason: "Only a route of mode \"percentage\" has a share",
        remedy: "Set the mode to \"percentage\", or remove the member."
    )
    static let percentRange = FindingRow(
        .error("configuration.route.percent", .invalid),
        reason: "The share is not a percentage with at most two decimals",
        remedy: "Write a number above 0 and up to 100, such as 12.5."
    )
    static let percentSum = FindingRow(
        .error("configuration.route.percent.sum", .conflict),
        reason: "The shares add up to more than 100 percent",
        remedy: "Lower them; each contact belongs to at most one percentage route."
    )
    static let percentRest = FindingRow(
        .warning("configuration.route.percent.rest", .misconfigured),
        reason: "Some contacts belong to no percentage route, and no route is live for all",
        remedy: "Add a percentage route for the rest, or accept that their operations are not sent."
    )
    static let sendUnused = FindingRow(
        .error("configuration.route.send.unused", .misconfigured),
        reason: "Only a route of mode \"shadow\" is sent to a sandbox",
        remedy: "Set the mode to \"shadow\", or remove the member."
    )
    static let sendTwin = FindingRow(
        .error("configuration.route.send.twin", .conflict),
        reason:
            "The shadow has the adapter and settings of a live provider, and would send to its account",
        remedy: "Configure the shadow for the sandbox, or remove \"send\"."
    )
    static let repeatedConsent = FindingRow(
        .error("configuration.consent.twice", .misconfigured),
        reason: "The same consent is required twice",
        remedy: "Keep one of them."
    )
    static let coveredConsent = FindingRow(
        .warning("configuration.consent.covered", .misconfigured),
        reason: "The purpose is required for every channel already",
        remedy: "Remove one of the two."
    )
    static let unsetVariable = FindingRow(
        .error("configuration.variable.unset", .missing),
        reason: "The environment variable is not set",
        remedy: "Set it before the program starts. To write ${ as text, use $${."
    )
    static let malformedVariable = FindingRow(
        .error("configuration.variable.malformed", .invalid),
        reason: "No name of an environment variable follows ${",
        remedy: "Write ${NAME} with letters, digits and underscores. To write ${ as text, use $${."
    )
    static let clearSecret = FindingRow(
        .warning("configuration.secret.clear", .misconfigured),
        reason: "The file contains a secret",
        remedy: "Store it in an environment variable, and write ${NAME} here."
    )
    static let unusedCredentials = FindingRow(
        .warning("configuration.credentials.unused", .misconfigured),
        reason: "The adapter does not use credentials of contacts",
        remedy: "Remove them."
    )
    static let unusedName = FindingRow(
        .error("configuration.attribute.name.unused", .unsupported),
        reason: "The adapter has no setting for names of attributes",
        remedy: "Remove the name."
    )
    static let takenName = FindingRow(
        .error("configuration.attribute.name.taken", .conflict),
        reason: "Another attribute has the same name at that vendor",
        remedy: "Give each attribute a different name."
    )
    static let conflictingName = FindingRow(
        .error("configuration.attribute.name.conflict", .conflict),
        reason: "The provider's settings give the attribute another name than the catalogue",
        remedy: "Keep the name in one of the two places."
    )
}
