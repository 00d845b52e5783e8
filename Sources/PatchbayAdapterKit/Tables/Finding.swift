package import PatchbayJSON
public import PatchbayModel

/// The normalized error codes. The set is closed. A vendor's own code is stored in the finding's ``Finding/vendor``.
public enum ErrorCode: String, NeutralWord, Codable {
    /// A value violates a rule.
    case invalid
    /// A required value is missing.
    case missing
    /// A value is too long, or there are too many values.
    case tooLarge
    /// The vendor does not support it.
    case unsupported
    /// The name is reserved by the vendor.
    case reserved
    /// The vendor has no such contact, field, category, or resource.
    case notFound
    /// The vendor's current state does not allow it.
    case conflict
    /// The credential is missing, invalid, or expired.
    case unauthenticated
    /// The credential is valid but lacks the permission.
    case forbidden
    /// The rate limit was exceeded.
    case throttled
    /// The vendor is reachable but temporarily unavailable.
    case unavailable
    /// The vendor could not be reached.
    case unreachable
    /// It is unknown whether the vendor processed the request, and repeating it could do harm.
    case outcomeUnknown
    /// The person has not given consent.
    case consent
    /// The configuration or the vendor's account does not support it.
    case misconfigured
    /// The adapter violated its contract.
    case adapterFault

    /// The kinds of remedy.
    public enum Action: String, NeutralWord, Codable {
        case retry, fixData, fixConfiguration, fixCredentials, giveUp
    }

    /// The kind of remedy for this error.
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

/// A problem or a note about an operation, a record, or a configuration: what happened, where, and how to fix it.
///
/// It contains names, sizes, and positions, but never a person's value or a secret.
public struct Finding: Hashable, Sendable {
    /// The severity of a finding.
    public enum Severity: String, NeutralWord, Codable {
        /// Information only.
        case note
        /// A part is not sent, or may have no effect.
        case warning
        /// The operation is not sent at all.
        case error
        /// The operation is not applicable to this vendor and does not become pending for it.
        case foreign
    }

    /// The finding code, for example `vendor.attribute.reserved`.
    public var code: String
    /// The severity.
    public var severity: Severity
    /// The normalized error code; nil for a note without an error.
    public var error: ErrorCode?
    /// The path in the neutral value, for example `action.changes.status`. Empty for the whole value.
    public var path: String
    /// The vendor's rule, if there is one.
    public var rule: RuleID?
    /// The reason, in one sentence.
    public var reason: String
    /// The remedy.
    public var remedy: String
    /// The vendor's own error information, if a reply caused the finding.
    public var vendor: VendorReply?
    /// The reason without names and sizes of one case, by which findings are counted; nil if it equals ``reason``. It does not
    /// take part in comparisons.
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
    /// Returns the finding with a path in a file.
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
    /// One line: code, path, reason, remedy, and the vendor's error information.
    public var description: String {
        let words = vendor.map { " [\($0)]" } ?? ""
        return "\(code)\(path.isEmpty ? "" : " at \(path)"): \(reason) \(remedy)\(words)".onOneLine
    }

    /// One line for people: path, reason, remedy, the vendor's error information, and the code at the end.
    package var sentence: String {
        let reply = vendor.map { " [\($0)]" } ?? ""
        return "\(path.isEmpty ? "" : "\(path): ")\(reason) \(remedy)\(reply) (\(code))".onOneLine
    }
}

extension Finding: ObjectValue {
    package enum Member: MemberName, MemberTable {
        case code, severity, error, path, rule, reason, remedy, vendor
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        code = try reader.required(Member.code)
        severity = try reader.required(Member.severity)
        error = try reader.optional(Member.error)
        path = try reader.optional(Member.path) ?? ""
        rule = try reader.optional(Member.rule, as: String.self).flatMap(RuleID.init(text:))
        reason = try reader.required(Member.reason)
        remedy = try reader.required(Member.remedy)
        vendor = try reader.optional(Member.vendor)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.code, code)
        writer.member(Member.severity, severity)
        writer.member(Member.error, ifPresent: error)
        if !path.isEmpty { writer.member(Member.path, path) }
        writer.member(Member.rule, ifPresent: rule?.text)
        writer.member(Member.reason, reason)
        writer.member(Member.remedy, remedy)
        writer.member(Member.vendor, ifPresent: vendor)
    }
}

extension ErrorCode: ScannedValue {}
extension Finding.Severity: ScannedValue {}

extension Finding {
    /// What programs read of a finding: its code, severity, normalized error code and rule.
    public struct Kind: Sendable {
        /// The finding code, prefixed with the adapter's id: `vendor.attribute.reserved`.
        public var code: String
        /// The severity.
        public var severity: Severity
        /// The normalized error code; nil for a note without an error.
        public var error: ErrorCode?
        /// The number of the rule in the list of the vendor whose id begins the code.
        public var rule: String?

        /// Information only.
        public static func note(_ code: String, _ error: ErrorCode? = nil, rule: String? = nil) -> Self {
            Self(code: code, severity: .note, error: error, rule: rule)
        }

        /// A part is not sent, or may have no effect.
        public static func warning(_ code: String, _ error: ErrorCode? = nil, rule: String? = nil) -> Self {
            Self(code: code, severity: .warning, error: error, rule: rule)
        }

        /// The operation is not sent at all.
        public static func error(_ code: String, _ error: ErrorCode? = nil, rule: String? = nil) -> Self {
            Self(code: code, severity: .error, error: error, rule: rule)
        }

        /// The operation is not applicable to this vendor.
        public static func foreign(_ code: String, _ error: ErrorCode? = nil, rule: String? = nil) -> Self {
            Self(code: code, severity: .foreign, error: error, rule: rule)
        }
    }
}

/// A row of an adapter's finding table: a finding without its path. It is a class, because rules pass rows on for every value
/// that they check.
public final class FindingRow: Hashable, Sendable, Codable {
    /// The finding code, prefixed with the adapter's id: `vendor.attribute.reserved`.
    public let code: String
    /// The severity.
    public let severity: Finding.Severity
    /// The normalized error code.
    public let error: ErrorCode?
    /// The vendor's rule.
    public let rule: RuleID?
    /// The reason, in one sentence.
    public let reason: String
    /// The remedy.
    public let remedy: String
    private let sentence: String

    private enum CodingKeys: String, CodingKey { case code, severity, error, rule, reason, remedy }

    public convenience init(from decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try row.decode(String.self, forKey: .code),
            try row.decode(Finding.Severity.self, forKey: .severity),
            try row.decodeIfPresent(ErrorCode.self, forKey: .error),
            rule: try row.decodeIfPresent(RuleID.self, forKey: .rule),
            reason: try row.decode(String.self, forKey: .reason),
            remedy: try row.decode(String.self, forKey: .remedy)
        )
    }

    private init(
        _ code: String,
        _ severity: Finding.Severity,
        _ error: ErrorCode?,
        rule: RuleID?,
        reason: String,
        remedy: String
    ) {
        (self.code, self.severity, self.error, self.rule) = (code, severity, error, rule)
        (self.reason, self.remedy, sentence) = (reason, remedy, "\(reason).")
    }

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - kind: The code, the severity, the normalized error code and the vendor's rule.
    ///   - reason: The reason, in one sentence without its full stop.
    ///   - remedy: The remedy, in whole sentences.
    public convenience init(_ kind: Finding.Kind, reason: String, remedy: String) {
        let adapter = kind.code.prefix { $0 != "." }
        let rule = kind.rule.map { RuleID(AdapterID(rawValue: String(adapter)), $0) }
        self.init(kind.code, kind.severity, kind.error, rule: rule, reason: reason, remedy: remedy)
    }

    /// Returns the row with other texts, and with the error and the rule of another row.
    ///
    /// - Parameters:
    ///   - cause: The row whose error and rule apply; nil for this row.
    ///   - reason: The reason.
    ///   - remedy: The remedy.
    /// - Returns: The row.
    package func with(cause: FindingRow? = nil, reason: String, remedy: String) -> FindingRow {
        let cause = cause ?? self
        return FindingRow(code, severity, cause.error, rule: cause.rule, reason: reason, remedy: remedy)
    }

    public static func == (left: FindingRow, right: FindingRow) -> Bool {
        left === right
            || (left.code, left.severity, left.error) == (right.code, right.severity, right.error)
                && (left.rule, left.reason, left.remedy) == (right.rule, right.reason, right.remedy)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Returns the finding for a path and records its rule as applied.
    ///
    /// - Parameters:
    ///   - path: The path in the neutral value.
    ///   - detail: Sizes or names that make the reason precise, never a person's value.
    ///   - remedy: A remedy for this case, if the row's remedy does not apply.
    /// - Returns: The finding.
    public func at(_ path: String = "", detail: String? = nil, remedy: String? = nil) -> Finding {
        rule?.noteApplied()
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
