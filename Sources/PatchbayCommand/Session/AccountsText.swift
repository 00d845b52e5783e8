import Patchbay
import PatchbayAdapterKit
import PatchbayJSON

/// The counts of providers as text: an aligned table, then a line for each reason and for each wait.
struct AccountsText {
    /// The lines, without line ends.
    let lines: [String]

    /// Creates the lines: the details of each provider, then the table of totals.
    ///
    /// With the counts `before` a run, the details and a second table show the changes of this run.
    init(_ accounts: [ProviderAccounts], since before: [ProviderAccounts]? = nil) {
        let earlier = Dictionary((before ?? []).map { ($0.provider, $0) }) { first, _ in first }
        let details = accounts.flatMap { Self.details(of: $0, since: earlier[$0.provider]) }
        let total = "Totals of the outbox since it was created"
        guard before != nil, !accounts.isEmpty else {
            lines = accounts.isEmpty ? [] : details + ["\(total):"] + Self.table(of: accounts)
            return
        }
        // All counts of a new outbox belong to this run.
        lines =
            earlier.values.contains { $0.incoming > 0 }
            ? details + ["This run:"] + Self.table(of: accounts, since: earlier) + ["\(total):"]
                + Self.table(of: accounts)
            : details + ["This run, on a new outbox:"] + Self.table(of: accounts)
    }

    /// The table of the counts, or of their growth and the pending operations at the start, so that each row adds up.
    private static func table(of accounts: [ProviderAccounts], since earlier: [String: ProviderAccounts]? = nil)
        -> [String]
    {
        func total(_ term: String, _ account: ProviderAccounts) -> Int {
            account.total(term) - (earlier?[account.provider]?.total(term) ?? 0)
        }
        let terms = OperationOutcome.Term.allCases.map(\.rawValue).filter { term in
            accounts.contains { total(term, $0) != 0 }
        }
        let rows = accounts.map { account in
            let before = earlier?[account.provider]
            return [account.provider] + (earlier == nil ? [] : ["\(before?.pending ?? 0)"])
                + ["\(account.incoming - (before?.incoming ?? 0))"] + terms.map { "\(total($0, account))" }
                + ["\(account.pending)"]
        }
        let heads = ["provider"] + (earlier == nil ? [] : ["pending before"]) + ["operations"] + terms + ["pending"]
        return table([heads] + rows)
    }

    /// Rows with the texts of the first columns on the left and the numbers on the right.
    static func table(_ rows: [[String]], texts: Int = 1) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                guard column < texts else { return cell.0.rightAligned(to: cell.1) }
                return column == row.count - 1 ? cell.0 : cell.0.padded(to: cell.1)
            }
            .joined(separator: "  ")
        }
    }

    /// The reasons for which the engine creates operations in addition to the captured ones, by code.
    private static let creations = [
        "again": "put back after an interruption",
        "followUp": "requested by an earlier operation",
        "replayed": "replayed from the rejects",
        "retargeted": "taken over from another provider",
    ]

    /// The reason for every other code.
    private static let usualCreation = "the current state for a provider that lacks it, or an unregister"

    /// The other facts about a provider that are new since the earlier counts.
    private static func details(of account: ProviderAccounts, since earlier: ProviderAccounts?) -> [String] {
        var lines: [String] = []
        if !account.balances { lines.append("the counts do not add up; run `patchbay outbox verify`") }
        func news(_ term: String) -> [(code: String, count: Int)] {
            (account.lines[term] ?? [:]).inOrder.compactMap { code, count in
                let more = count - (earlier?.lines[term]?[code] ?? 0)
                return more > 0 ? (code, more) : nil
            }
        }
        let incoming = account.incoming - (earlier?.incoming ?? 0)
        lines += news("created").map { code, count in
            "\(count) of \(incoming) operations created by the engine: \(Self.creations[code] ?? Self.usualCreation)"
        }
        lines += account.lines.keys.sorted().filter { $0 != "created" }.flatMap { term in
            news(term).filter { !$0.code.isEmpty }.map { code, count in
                "\(count) \(term): \(Vendors.sentence(for: code))"
            }
        }
        lines += account.held.inOrder.map { "\($0.value) pending until consent is given: \($0.key)" }
        return lines.map { "\(account.provider): \($0)" } + waits(of: [account])
    }

    /// The reasons why pending operations are not delivered, each with the time of the next attempt.
    static func waits(of accounts: [ProviderAccounts]) -> [String] {
        accounts.flatMap { account in
            var lines: [String] = []
            if let cause = account.suspended { lines.append("suspended: \(cause.sentence)") }
            if let stranded = account.stranded { lines.append("not delivered: \(stranded.sentence)") }
            lines += account.waits.map(\.text)
            if account.otherWaits > 0 {
                lines.append("operations wait for \(account.otherWaits.counted("further reason"))")
            }
            return lines.map { "\(account.provider): \($0)" }
        }
    }
}
