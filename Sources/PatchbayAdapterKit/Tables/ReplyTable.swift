/// The meaning of an outcome for the operations in the request.
public enum ReplyMeaning: String, Hashable, Sendable, Codable {
    /// The vendor accepted the operations.
    case accepted
    /// A temporary failure; a repeat may succeed.
    case retry
    /// A permanent failure; a repeat would be refused again.
    case refused
    /// A failure that requires a person to act. The provider is suspended and keeps its data.
    case suspend
}

/// One row of a reply table: the outcomes it matches, their meaning, and the finding to report. It is a plain value.
public struct ReplyRow: Hashable, Sendable, Codable {
    /// A description of the outcomes, for example `HTTP 500–599`.
    public let when: String
    /// The meaning of the outcomes.
    public let meaning: ReplyMeaning
    /// The rule that states the meaning.
    public let rule: RuleID
    /// The finding to report; nil if there is no problem.
    public let finding: FindingRow?
    /// The condition that the outcomes meet.
    public let condition: ReplyCondition

    private init(
        when: String,
        _ meaning: ReplyMeaning,
        _ finding: FindingRow? = nil,
        rule: RuleID,
        _ condition: ReplyCondition
    ) {
        (self.when, self.meaning, self.finding, self.rule) = (when, meaning, finding, rule)
        self.condition = condition
    }

    /// Creates a row for outcomes whose status is in a range.
    public static func status(
        _ range: ClosedRange<Int>,
        _ meaning: ReplyMeaning,
        _ finding: FindingRow? = nil,
        rule: RuleID
    ) -> ReplyRow {
        let name = range.count == 1 ? "HTTP \(range.lowerBound)" : "HTTP \(range.lowerBound)–\(range.upperBound)"
        return ReplyRow(when: name, meaning, finding, rule: rule, .status(range))
    }

    /// Creates a row for replies that meet a condition, such as an error code in the body or a header.
    public static func reply(
        _ when: String,
        _ meaning: ReplyMeaning,
        _ finding: FindingRow? = nil,
        rule: RuleID,
        where condition: ReplyCondition...
    ) -> ReplyRow {
        ReplyRow(when: when, meaning, finding, rule: rule, .all([.not(.noReply)] + condition))
    }

    /// Creates a row for a web page with a success status, or a redirect, which means that the request was not processed.
    public static func webPage(_ meaning: ReplyMeaning, _ finding: FindingRow? = nil, rule: RuleID) -> ReplyRow {
        ReplyRow(when: "a web page with HTTP 200–299, or a redirect", meaning, finding, rule: rule, .detour)
    }

    /// Creates a row for outcomes without a reply.
    public static func noAnswer(_ meaning: ReplyMeaning, _ finding: FindingRow? = nil, rule: RuleID) -> ReplyRow {
        ReplyRow(when: "no answer", meaning, finding, rule: rule, .noReply)
    }

    /// Creates a row for all other outcomes. It is the last row of a table.
    public static func otherwise(_ meaning: ReplyMeaning, _ finding: FindingRow? = nil, rule: RuleID) -> ReplyRow {
        ReplyRow(when: "anything else", meaning, finding, rule: rule, .all([]))
    }
}

/// The meanings of a vendor's replies. The first matching row applies; the last row matches everything. It is a plain value.
public struct ReplyTable: Hashable, Sendable, Codable {
    /// The rows.
    public let rows: [ReplyRow]
    private let last: ReplyRow
    /// The places that may contain the vendor's error code, in order of precedence.
    public let codes: [ReplyPlace]
    /// The places that may contain the vendor's request id.
    public let requestIDs: [ReplyPlace]

    /// Headers that many servers use for a request id.
    public static let commonRequestIDs: [ReplyPlace] = ["X-Request-Id", "X-Correlation-Id", "Request-Id"].map {
        .header($0)
    }

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - rows: The rows, most specific first.
    ///   - last: The meaning of every other outcome.
    ///   - codes: The places of the vendor's error code.
    ///   - requestIDs: The places of the request id.
    public init(
        _ rows: [ReplyRow],
        otherwise last: ReplyRow,
        codes: [ReplyPlace] = [],
        requestIDs: [ReplyPlace] = commonRequestIDs
    ) {
        (self.rows, self.last) = (rows + [last], last)
        (self.codes, self.requestIDs) = (codes, requestIDs)
    }

    /// Returns the row that applies and records its rule as applied.
    public func row(for outcome: Outcome) -> ReplyRow {
        let row = index(for: outcome).map { rows[$0] } ?? last
        row.rule.noteApplied()
        return row
    }

    /// Returns the index of the row that applies, without recording its rule.
    public func index(for outcome: Outcome) -> Int? {
        var body = ParsedBody(of: outcome.reply)
        return rows.firstIndex { $0.condition.holds(for: &body) }
    }

    /// The table as Markdown: reply, meaning, rule.
    public var markdown: String {
        let lines = rows.map { "| \($0.when) | \($0.meaning) | \($0.finding?.remedy ?? "–") | \($0.rule.number) |" }
        return (["| answer | meaning | what helps | rule |", "|---|---|---|---|"] + lines).joined(separator: "\n")
    }
}
