/// What an outcome means for the operations it carried.
public enum ReplyMeaning: Hashable, Sendable {
    /// The vendor took them.
    case accepted
    /// Not now; a repeat may work.
    case retry
    /// No, and a repeat would be refused again.
    case refused
    /// No, until a person acts; the provider stops and keeps its data.
    case suspend
}

/// One line of a reply table: which outcomes, what they mean, and what to tell a person.
public struct ReplyRow: Sendable {
    /// Which outcomes, in words: `HTTP 500–599`.
    public let when: String
    /// What it means.
    public let meaning: ReplyMeaning
    /// The row's rule.
    public let rule: RuleID
    /// What a person is told; nil where all is well.
    public let finding: FindingRow?
    let matches: @Sendable (Outcome) -> Bool

    /// Outcomes whose status is in a range.
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

    /// Replies that a closer look picks out: a fault code in the body, a header.
    public static func reply(
        _ when: String,
        _ meaning: ReplyMeaning,
        _ finding: FindingRow? = nil,
        rule: RuleID,
        where matches: @escaping @Sendable (WireResponse) -> Bool
    ) -> ReplyRow {
        ReplyRow(when: when, meaning: meaning, rule: rule, finding: finding) { $0.reply.map(matches) ?? false }
    }

    /// Outcomes without an answer.
    public static func noAnswer(_ meaning: ReplyMeaning, _ finding: FindingRow? = nil, rule: RuleID) -> ReplyRow {
        ReplyRow(when: "no answer", meaning: meaning, rule: rule, finding: finding) { $0.reply == nil }
    }

    /// Every other outcome; a table's last row.
    public static func otherwise(_ meaning: ReplyMeaning, _ finding: FindingRow? = nil, rule: RuleID) -> ReplyRow {
        ReplyRow(when: "anything else", meaning: meaning, rule: rule, finding: finding) { _ in true }
    }
}

/// What a vendor's answers mean. The first row that matches decides; the last matches everything.
public struct ReplyTable: Sendable {
    /// The rows.
    public let rows: [ReplyRow]
    private let last: ReplyRow
    /// Where the vendor's own code stands; the first place that has one.
    public let codes: [ReplyPlace]
    /// Where the id stands under which the vendor knows a request.
    public let requestIDs: [ReplyPlace]

    /// Headers that many servers name a request with.
    public static let commonRequestIDs: [ReplyPlace] = ["X-Request-Id", "X-Correlation-Id", "Request-Id"].map {
        .header($0)
    }

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - rows: the rows, most special first.
    ///   - last: what every other outcome means.
    ///   - codes: where the vendor's own code stands.
    ///   - requestIDs: where the request's id stands.
    public init(
        _ rows: [ReplyRow],
        otherwise last: ReplyRow,
        codes: [ReplyPlace] = [],
        requestIDs: [ReplyPlace] = commonRequestIDs
    ) {
        (self.rows, self.last) = (rows + [last], last)
        (self.codes, self.requestIDs) = (codes, requestIDs)
    }

    /// The row that decides; its rule counts as fired.
    public func row(for outcome: Outcome) -> ReplyRow {
        let row = rows.first { $0.matches(outcome) } ?? last
        row.rule.fire()
        return row
    }

    /// The place of the row that decides; no rule fires.
    public func index(for outcome: Outcome) -> Int? { rows.firstIndex { $0.matches(outcome) } }

    /// The table as Markdown: answer, meaning, rule.
    public var markdown: String {
        let lines = rows.map { "| \($0.when) | \($0.meaning) | \($0.finding?.remedy ?? "–") | \($0.rule.number) |" }
        return (["| answer | meaning | what helps | rule |", "|---|---|---|---|"] + lines).joined(separator: "\n")
    }
}
