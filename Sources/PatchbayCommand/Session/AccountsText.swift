import Patchbay
import PatchbayAdapterKit

/// The counts of providers for a person: an aligned table, then a line for each reason and each wait.
struct AccountsText {
    /// The lines, without line ends.
    let lines: [String]

    init(_ accounts: [ProviderAccounts]) {
        let terms = OperationOutcome.Term.allCases.map(\.rawValue).filter { term in
            accounts.contains { $0.total(term) > 0 }
        }
        let rows = accounts.map { account in
            [account.provider, "\(account.incoming)"] + terms.map { "\(account.total($0))" } + ["\(account.pending)"]
        }
        lines =
            accounts.isEmpty
            ? []
            : ["Totals of the outbox since it was created:"]
                + Self.table([["provider", "operations"] + terms + ["pending"]] + rows) + accounts.flatMap(Self.details)
    }

    /// Rows with the first column on the left and the numbers on the right.
    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                column == 0 ? cell.0.padded(to: cell.1) : cell.0.rightAligned(to: cell.1)
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
