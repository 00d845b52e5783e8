import Patchbay
import PatchbayAdapterKit

/// The counts of providers for a person: an aligned table, then a line for each reason and each wait.
struct AccountsText {
    /// The lines, without line ends.
    let lines: [String]

    /// The details, then the table of the totals; the counts since `before`, when a run began, have a table of their own.
    init(_ accounts: [ProviderAccounts], since before: [ProviderAccounts] = []) {
        let details = accounts.flatMap(Self.details)
        let totals = Self.table(of: accounts, since: [])
        // Of a new outbox all counts are this run's.
        guard before.contains(where: { $0.incoming > 0 }) else {
            lines = accounts.isEmpty ? [] : details + ["Totals of the outbox since it was created:"] + totals
            return
        }
        let run = Self.table(of: accounts, since: before)
        lines = details + ["This run:"] + run + ["Totals of the outbox since it was created:"] + totals
    }

    private static func table(of accounts: [ProviderAccounts], since before: [ProviderAccounts]) -> [String] {
        let earlier = Dictionary(before.map { ($0.provider, $0) }) { first, _ in first }
        func total(_ term: String, _ account: ProviderAccounts) -> Int {
            account.total(term) - (earlier[account.provider]?.total(term) ?? 0)
        }
        let terms = OperationOutcome.Term.allCases.map(\.rawValue).filter { term in
            accounts.contains { total(term, $0) > 0 }
        }
        let rows = accounts.map { account in
            let incoming = account.incoming - (earlier[account.provider]?.incoming ?? 0)
            return [account.provider, "\(incoming)"] + terms.map { "\(total($0, account))" } + ["\(account.pending)"]
        }
        return table([["provider", "operations"] + terms + ["pending"]] + rows)
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

    /// Why the engine creates operations beside those that were captured, by code.
    private static let creations = [
        "again": "put back after an interruption",
        "followUp": "requested by an earlier operation",
        "replayed": "replayed from the rejects",
        "retargeted": "taken over from another provider",
    ]

    /// The same for every other code.
    private static let usualCreation = "the present state for a provider that lacks it, or an unregister"

    /// What else there is to know about a provider.
    private static func details(of account: ProviderAccounts) -> [String] {
        var lines: [String] = []
        if !account.balances { lines.append("the counts do not add up; run `patchbay outbox verify`") }
        lines += (account.lines["created"] ?? [:]).sorted { $0.key < $1.key }.map { code, count in
            "\(count) of \(account.incoming) operations created by the engine: \(Self.creations[code] ?? Self.usualCreation)"
        }
        lines += account.lines.sorted { $0.key < $1.key }.filter { $0.key != "created" }.flatMap { term, codes in
            codes.filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }.map { code, count in
                "\(count) \(term): \(Vendors.sentence(for: code))"
            }
        }
        lines += account.held.sorted { $0.key < $1.key }.map { "\($0.value) pending until consent is given: \($0.key)" }
        return lines.map { "\(account.provider): \($0)" } + waits(of: [account])
    }

    /// Why pending operations are not delivered, and when they are attempted next.
    static func waits(of accounts: [ProviderAccounts]) -> [String] {
        accounts.flatMap { account in
            var lines: [String] = []
            if let cause = account.parked { lines.append("suspended: \(cause)") }
            if let stranded = account.stranded { lines.append("not delivered: \(stranded)") }
            lines += account.waits.map(\.text)
            if account.otherWaits > 0 {
                lines.append("operations wait for \(account.otherWaits.counted("further reason"))")
            }
            return lines.map { "\(account.provider): \($0)" }
        }
    }
}
