public import PatchbayModel

/// The findings of a server API, with those that the base reports. Each adapter has one enum of them.
public protocol ServerFindings: Sendable {
    /// The vendor, whose id begins the finding codes and names the rules.
    static var vendor: AdapterID { get }

    /// A log-in or a log-out.
    static var contactSwitch: FindingRow { get }
    /// The registration of a device.
    static var device: FindingRow { get }
    /// The answer to a question about consent.
    static var consent: FindingRow { get }
    /// An option that the API does not have.
    static var optionUnknown: FindingRow { get }
    /// All lanes wait.
    static var closed: FindingRow { get }
    /// A suspension without a row of its own.
    static var forbidden: FindingRow { get }
    /// A refusal without a row of its own.
    static var refused: FindingRow { get }
    /// No token can be requested yet.
    static var tokenLater: FindingRow { get }
    /// The vendor refused to issue a token.
    static var tokenRefused: FindingRow { get }
    /// The vendor also refused a new token.
    static var tokenRefusedTwice: FindingRow { get }
}

extension ServerFindings {
    /// Returns a row that other vendors' server APIs have, too.
    ///
    /// - Parameters:
    ///   - template: The common words.
    ///   - rule: The number of the vendor's rule.
    ///   - reason: The reason, if the vendor needs another one.
    ///   - remedy: The remedy, if the vendor needs another one.
    /// - Returns: The row.
    public static func row(
        _ template: ServerFindingTemplate,
        _ rule: String? = nil,
        reason: String? = nil,
        remedy: String? = nil
    ) -> FindingRow {
        template.row("\(vendor.rawValue).server", rule: rule, reason: reason, remedy: remedy)
    }

    /// Only for an API with tokens.
    public static var tokenLater: FindingRow { row(.tokenLater) }
    /// Only for an API with tokens.
    public static var tokenRefused: FindingRow { row(.tokenRefused) }
    /// Only for an API with tokens.
    public static var tokenRefusedTwice: FindingRow { row(.tokenRefusedTwice) }
}

/// A finding that several server APIs report in the same words. An adapter adds its prefix and its rule.
public struct ServerFindingTemplate: Sendable {
    /// The code is without the adapter's prefix; the rule is the adapter's.
    private let kind: Finding.Kind
    private let reason: String
    private let remedy: String

    private init(_ kind: Finding.Kind, _ reason: String, _ remedy: String = "No action is needed.") {
        (self.kind, self.reason, self.remedy) = (kind, reason, remedy)
    }

    /// Returns the adapter's row.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the finding code, for example `vendor.server`.
    ///   - rule: The number of the vendor's rule.
    ///   - reason: The reason, if the vendor needs another one.
    ///   - remedy: The remedy, if the vendor needs another one.
    /// - Returns: The row.
    func row(_ prefix: String, rule: String?, reason: String?, remedy: String?) -> FindingRow {
        var kind = kind
        (kind.code, kind.rule) = ("\(prefix).\(kind.code)", rule)
        return FindingRow(kind, reason: reason ?? self.reason, remedy: remedy ?? self.remedy)
    }
}

// MARK: About operations

extension ServerFindingTemplate {
    /// The operation has no contact.
    public static let keyBlank = Self(
        .error("key.blank", .missing),
        "The operation names no contact, and its subject is blank",
        "Give the contact, or use the contact's key as subject."
    )
    /// An identifier is the contact's key.
    public static let keyKnown = Self(
        .note("key.known"),
        "The identifier is the contact's key, which every request contains, so there is nothing else to send"
    )
    /// The operation has no value to write.
    public static let empty = Self(
        .error("nothing", .missing),
        "The operation contains no value that can be written",
        "Name at least one value."
    )
    /// A log-in or a log-out.
    public static let contactSwitch = Self(
        .error("contactSwitch", .unsupported),
        "There is no log-in at a back end: each operation names its contact",
        "Give the contact with each operation."
    )
    /// The registration of a device.
    public static let device = Self(
        .error("device", .unsupported),
        "Devices register themselves",
        "Use the vendor's device API in the app."
    )
    /// The answer to a question about consent.
    public static let consent = Self(
        .error("consent", .unsupported),
        "The vendor's API has no record of consent",
        "Write it as a subscription, or as an attribute of its own."
    )
    /// A push message of a device.
    public static let push = Self(
        .foreign("event.push", .unsupported),
        "Push messages are seen by devices, not by a back end",
        "Use the vendor's device API in the app."
    )
    /// An operation of a later version of the model.
    public static let actionUnknown = Self(
        .error("action.unknown", .unsupported),
        "This version does not support the operation",
        "Update the adapter."
    )
    /// An unregistration.
    public static let nothingToLeave = Self(
        .note("nothingToLeave"),
        "A back end has no registration to remove: the account keeps its rows",
        "No action is needed. To remove the contacts, erase them."
    )
    /// A value that is increased or extended.
    public static let arithmetic = Self(
        .warning("value.arithmetic", .unsupported),
        "A value can be set or removed here, not added to",
        "Set the whole value."
    )
}

// MARK: About requests and replies

extension ServerFindingTemplate {
    /// All lanes wait.
    public static let closed = Self(
        .note("closed", .throttled),
        "The vendor asked for a pause, or is failing; nothing is sent until the pause is over",
        "Wait."
    )
    /// No token can be requested yet.
    public static let tokenLater = Self(
        .note("token.later", .unavailable),
        "No access token is available; it is requested again later",
        "Wait, or check the account's host for tokens."
    )
    /// The vendor refused to issue a token.
    public static let tokenRefused = Self(
        .error("token.refused", .unauthenticated),
        "The vendor gave no access token: the client is unknown, or not permitted for these scopes",
        "Check clientId and clientSecret, then resume the provider."
    )
    /// The vendor also refused a new token.
    public static let tokenRefusedTwice = Self(
        .error("token.refusedTwice", .unauthenticated),
        "The vendor also refused a new access token",
        "Check the client's permissions, then resume the provider."
    )
    /// Status 401.
    public static let unauthenticated = Self(
        .error("reply.unauthenticated", .unauthenticated),
        "The vendor does not accept the token",
        "No action is needed. A new token is requested once."
    )
    /// Status 403.
    public static let forbidden = Self(
        .error("reply.forbidden", .forbidden),
        "The client may not do this",
        "Give the client the permission, then resume the provider."
    )
    /// Status 404.
    public static let notFound = Self(
        .error("reply.notFound", .notFound),
        "The vendor has nothing of that name",
        "Check the name in the settings and in the account."
    )
    /// Status 429.
    public static let tooOften = Self(
        .error("reply.tooOften", .throttled),
        "The vendor receives too many requests",
        "No action is needed. The request is repeated. If this persists, set a lower rate."
    )
    /// Status 5xx.
    public static let unavailable = Self(
        .error("reply.unavailable", .unavailable),
        "The vendor is temporarily unavailable",
        "No action is needed. The request is repeated."
    )
    /// No reply.
    public static let noReply = Self(
        .error("reply.none", .unreachable),
        "The vendor did not reply",
        "No action is needed. The request is repeated."
    )
    /// A web page.
    public static let page = Self(
        .error("reply.page", .unreachable),
        "The reply is a web page instead of the vendor's reply",
        "No action is needed. The request is repeated. If this persists, check for a proxy or firewall between this machine "
            + "and the vendor."
    )
    /// A refusal without a row of its own.
    public static let refused = Self(
        .error("reply.refused", .invalid),
        "The vendor refused it",
        "Correct the cause that the vendor's error code names, then replay the operation."
    )
}
