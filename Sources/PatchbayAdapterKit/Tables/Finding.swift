public import PatchbayJSON
public import PatchbayModel

/// The closed set of normalised causes. A vendor's own code stays beside it, in the finding.
public enum ErrorCode: String, NeutralWord, Codable {
    /// A value breaks a rule.
    case invalid
    /// A value that must be there is not.
    case missing
    /// Too long, too many, too big.
    case tooLarge
    /// The vendor has no place for it.
    case unsupported
    /// The name belongs to the vendor itself.
    case reserved
    /// The vendor knows no such contact, field, category or resource.
    case notFound
    /// The vendor's present state does not allow it.
    case conflict
    /// No credential, or a bad or expired one.
    case unauthenticated
    /// The credential is good but may not do this.
    case forbidden
    /// Too often.
    case throttled
    /// The vendor is there but can't do it now.
    case unavailable
    /// The vendor could not be reached.
    case unreachable
    /// Nobody knows whether the vendor did it, and a repeat could do harm.
    case outcomeUnknown
    /// The person has not allowed it.
    case consent
    /// The configuration or the vendor's account is not set up for it.
    case misconfigured
    /// The adapter broke its contract.
    case adapterFault

    /// What helps.
    public enum Action: String, NeutralWord, Codable {
        case retry, fixData, fixConfiguration, fixCredentials, giveUp
    }

    /// What helps against this cause.
    public var action: Action {
        switch self {
        case .invalid, .missing, .tooLarge, .reserved, .conflict: .fixData
        case .unsupported, .notFound, .misconfigured: .fixConfiguration
        case .unauthenticated, .forbidden: .fixCredentials
        case .throttled, .unavailable, .unreachable: .retry
        case .outcomeUnknown, .consent, .adapterFault: .giveUp
        }
    }
}

/// Something that a person should know about an operation, a record or a configuration: what, where, how to mend.
///
/// It holds names, sizes and positions, never a person's value or a secret.
public struct Finding: Hashable, Sendable {
    /// How much it matters.
    public enum Severity: String, NeutralWord, Codable {
        /// Good to know.
        case note
        /// Part of it is not sent, or may not work.
        case warning
        /// It is not sent at all.
        case error
        /// It belongs to another vendor and does not enter this route.
        case foreign
    }

    /// The row's code: `vendor.attribute.reserved`.
    public var code: String
    /// How much it matters.
    public var severity: Severity
    /// The normalised cause; nil where nothing is wrong.
    public var error: ErrorCode?
    /// Where, in the neutral value: `action.changes.status`. Empty for the whole.
    public var path: String
    /// The vendor's rule behind it, if one is.
    public var rule: RuleID?
    /// What is the case, in one sentence.
    public var reason: String
    /// What to do about it.
    public var remedy: String
    /// What the vendor itself said, where an answer of it is the cause.
    public var vendor: VendorReply?
    /// The reason without the places and sizes of one case, by which findings are counted; nil where it is ``reason``. It is not a
    /// part of the value.
    package var summary: String?

    /// Creates a finding.
    public init(
        code: String,
        severity: Severity,
        error: ErrorCode? = nil,
        path: String = "",
        rule: RuleID? = nil,
        reason: String,
        remedy: String,
        vendor: VendorReply? = nil
    ) {
        (self.code, self.severity, self.error, self.path) = (code, severity, error, path)
        (self.rule, self.reason, self.remedy, self.vendor) = (rule, reason, remedy, vendor)
    }
}

extension Finding {
    /// The same, about something in the file at that path.
    package func inFile(_ file: String) -> Finding {
        var finding = self
        finding.path = path.isEmpty ? file : "\(file): \(path)"
        return finding
    }
}

extension Finding {
    public static func == (left: Self, right: Self) -> Bool {
        (left.code, left.severity, left.error, left.path) == (right.code, right.severity, right.error, right.path)
            && (left.rule, left.reason, left.remedy) == (right.rule, right.reason, right.remedy)
            && left.vendor == right.vendor
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(path)
        hasher.combine(reason)
    }
}

extension Finding: CustomStringConvertible {
    /// One line: code, place, reason, remedy, and what the vendor said.
    public var description: String {
        let words = vendor.map { " [\($0)]" } ?? ""
        return "\(code)\(path.isEmpty ? "" : " at \(path)"): \(reason) \(remedy)\(words)".onOneLine
    }

    /// One line for people: place, reason, remedy, the vendor's reply, and the code at the end.
    package var sentence: String {
        let reply = vendor.map { " [\($0)]" } ?? ""
        return "\(path.isEmpty ? "" : "\(path): ")\(reason) \(remedy)\(reply) (\(code))".onOneLine
    }
}

extension Finding: ScannedValue {
    private static let known = ["code", "severity", "error", "path", "rule", "reason", "remedy", "vendor"]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: Self.known)
        code = try reader.required("code")
        severity = try reader.required("severity")
        error = try reader.optional("error")
        self.path = try reader.optional("path") ?? ""
        rule = try reader.optional("rule", as: String.self).flatMap(RuleID.init(text:))
        reason = try reader.required("reason")
        remedy = try reader.required("remedy")
        vendor = try reader.optional("vendor")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        code = try scanner.required("code")
        severity = try scanner.required("severity")
        error = try scanner.optional("error")
        path = try scanner.optional("path") ?? ""
        rule = try scanner.optional("rule", as: String.self).flatMap(RuleID.init(text:))
        reason = try scanner.required("reason")
        remedy = try scanner.required("remedy")
        vendor = try scanner.optional("vendor")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "code", code)
        writer.member(known: "severity", severity)
        writer.member(known: "error", ifPresent: error)
        if !path.isEmpty { writer.member(known: "path", path) }
        writer.member(known: "rule", ifPresent: rule?.text)
        writer.member(known: "reason", reason)
        writer.member(known: "remedy", remedy)
        writer.member(known: "vendor", ifPresent: vendor)
        writer.endObject()
    }
}

extension ErrorCode: ScannedValue {}
extension Finding.Severity: ScannedValue {}

/// A row of an adapter's finding table: everything about a finding but its place. Held by reference, because rules hand
/// rows on for every value that they look at.
public final class FindingRow: Hashable, Sendable {
    /// The code, with the adapter's id in front: `vendor.attribute.reserved`.
    public let code: String
    /// How much it matters.
    public let severity: Finding.Severity
    /// The normalised cause.
    public let error: ErrorCode?
    /// The vendor's rule behind it.
    public let rule: RuleID?
    /// What is the case, in one sentence.
    public let reason: String
    /// What to do about it.
    public let remedy: String
    private let sentence: String

    /// Creates a row.
    public init(
        _ code: String,
        _ severity: Finding.Severity,
        _ error: ErrorCode? = nil,
        rule: RuleID? = nil,
        reason: String,
        remedy: String
    ) {
        (self.code, self.severity, self.error, self.rule) = (code, severity, error, rule)
        (self.reason, self.remedy, sentence) = (reason, remedy, "\(reason).")
    }

    public static func == (left: FindingRow, right: FindingRow) -> Bool {
        left === right
            || (left.code, left.severity, left.error) == (right.code, right.severity, right.error)
                && (left.rule, left.reason, left.remedy) == (right.rule, right.reason, right.remedy)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The finding at a place; the rule counts as fired.
    ///
    /// - Parameters:
    ///   - path: where, in the neutral value.
    ///   - detail: sizes or names that make the reason exact, never a person's value.
    ///   - remedy: what to do about it in this case, where the row's own words would not mend it.
    /// - Returns: the finding.
    public func at(_ path: String = "", detail: String? = nil, remedy: String? = nil) -> Finding {
        rule?.fire()
        var finding = Finding(
            code: code,
            severity: severity,
            error: error,
            path: path,
            rule: rule,
            reason: detail.map { "\(reason) (\($0))." } ?? sentence,
            remedy: remedy ?? self.remedy
        )
        if detail != nil { finding.summary = sentence }
        return finding
    }
}
