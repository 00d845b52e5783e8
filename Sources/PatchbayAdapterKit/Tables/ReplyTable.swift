/// The meaning of an outcome for the operations in the request.
public enum ReplyMeaning: Hashable, Sendable {
    /// The vendor accepted the operations.
    case accepted
    /// A temporary failure; a repeat may succeed.
    case retry
    /// A permanent failure; a repeat would be refused again.
    case refused
    /// A failure that requires a person to act. The provider is suspended and keeps its data.
    case suspend
}

/// One row of a reply table: the outcomes it matches, their meaning, and the finding to report.
public struct ReplyRow: Sendable {
    /// A description of the outcomes, for example `HTTP 500–599`.
    public let when: String
    /// The meaning of the outcomes.
    public let meaning: ReplyMeaning
    /// The rule that states the meaning.
    public let rule: RuleID
    /// The finding to report; nil if there is no problem.
    public let finding: FindingRow?
    let matches: @Sendable (Outcome) -> Bool

    /// Creates a row for outcomes whose status is in a range.
    public static func status(
        _ range: ClosedRange<Int>,
        _ meaning: ReplyMeaning,
        _ finding: FindingRow? = nil,
        rule: RuleID
    ) -> ReplyRow {
        let name = range.count == 1 ? "HTTP \(range.lowerBound)" : "HTTP \(range.lowerBound)–\(range.upperBound)"
        return ReplyRow(when: name, meaning: meaning, rule: rule, finding: finding) { outcome in
            outcome.reply.map { range.contains($0.status) } ?? false
        }
    }

    /// Creates a row for replies that meet a condition, such as an error code in the body or a header.
    public static func reply(
        _ when: String,
        _ meaning: ReplyMeaning,
        _ finding: FindingRow? = nil,
        rule: RuleID,
        where matches: @escaping @Sendable (WireResponse) -> Bool
    ) -> ReplyRow {
        ReplyRow(when: when, meaning: meaning, rule: rule, finding: finding) { $0.reply.map(matches) ?? false }
    }

    /// Creates a row for outcomes without a reply.
    public static func noAnswer(_ meaning: ReplyMeaning, _ finding: FindingRow? = nil, rule: RuleID) -> ReplyRow {
        ReplyRow(when: "no answer", meaning: meaning, rule: rule, finding: finding) { $0.reply == nil }
    }

    /// Creates a row for all other outcomes. It is the last row of a table.
    public static func otherwise(_ meaning: ReplyMeaning, _ finding: FindingRow? = nil, rule: RuleID) -> ReplyRow {
        ReplyRow(when: "anything else", meaning: meaning, rule: rule, finding: finding) { _ in true }
    }
}

/// The meanings of a vendor's replies. The first matching row applies; the last row matches everything.
public struct ReplyTable: Sendable {
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
        let row = rows.first { $0.matches(outcome) } ?? last
        row.rule.noteApplied()
        return row
    }

    /// Returns the index of the row that applies, without recording its rule.
    public func index(for outcome: Outcome) -> Int? { rows.firstIndex { $0.matches(outcome) } }

    /// The table as Markdown: reply, meaning, rule.
    public var markdown: String {
        let lines = rows.map { "| \($0.when) | \($0.meaning) | \($0.finding?.remedy ?? "–") | \($0.rule.number) |" }
        return (["| answer | meaning | what helps | rule |", "|---|---|---|---|"] + lines).joined(separator: "\n")
    }
}
