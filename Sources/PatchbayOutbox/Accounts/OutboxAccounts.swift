/// The terms of a provider's accounts. They balance: captured + created = the sum of all other terms + pending.
enum AccountTerm {
    static let captured = "captured"
    static let created = "created"
    static let quarantined = "quarantined"
    static let sources = [captured, created]
    static let outcomes = [
        "accepted", "unchanged", "superseded", "rejected", "dropped", "erased", quarantined, "moved", "shadowed",
    ]
}

/// Each provider's accounts, and the usage.
package final class OutboxAccounts {
    unowned let store: OutboxStore

    init(store: OutboxStore) { self.store = store }

    /// Adds to a line of a provider's accounts. Each line is written once, before the transaction commits.
    package func count(provider: String, term: String, code: String, by number: Int64) throws(OutboxError) {
        let store = store
        try store.atomically { () throws(OutboxError) in
            for place in store.current.counts.indices
            where store.current.counts[place].code == code && store.current.counts[place].term == term
                && store.current.counts[place].provider == provider
            {
                store.current.counts[place].count += number
                return
            }
            store.current.counts.append(AccountLine(provider: provider, term: term, code: code, count: number))
        }
    }

    /// Writes the counts of this transaction.
    func writeCounts() throws(OutboxError) {
        let store = store
        while let line = store.current.counts.popLast() {
            let values: [SQLValue] = [.text(line.provider), .text(line.term), .text(line.code), .integer(line.count)]
            let row = values + [Table.account.checksum(of: values)]
            if try store.connection.run(Self.addToAccount, row) > 0 { continue }
            // The line is damaged. Reading the accounts quarantines it; then it starts at zero, and the commit balances the
            // accounts.
            let others = store.current.counts
            store.current.counts = []
            _ = try lines()
            try store.connection.run(Self.addToAccount, row)
            store.current.counts += others
        }
    }

    private static let addToAccount = Query(
        """
        INSERT INTO account (provider, term, code, count, checksum) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (provider, term, code) DO UPDATE SET count = count + ?4,
            checksum = row_checksum('account', provider, term, code, count + ?4)
        WHERE \(Table.account.isSound())
        """
    )

    /// Returns every line of every provider's accounts, ordered by provider, term, and code.
    package func lines() throws(OutboxError) -> [AccountLine] {
        try store.settlement.applyNoted()
        if store.connection.isInTransaction, !store.isInSnapshot { try writeCounts() }
        let before = store.quarantine.damagedCount
        let found = try storedLines()
        if store.isReadOnly { return try found.adding(store.settlement.notedLines()) }
        return store.quarantine.damagedCount == before ? found : try storedLines()
    }

    private func storedLines() throws(OutboxError) -> [AccountLine] {
        try store.soundRows(.account, where: "TRUE", order: "provider, term, code") { row in
            AccountLine(provider: row.text(0), term: row.text(1), code: row.text(2), count: row.integer(3))
        }
    }

    // MARK: Balance

    /// Corrects each provider's accounts to match the pending rows, after account lines or rows were lost.
    ///
    /// If operations are missing, counts them as quarantined. If the accounts contain too few captured operations, counts the
    /// difference as captured. Both lines have the code `recovery`.
    @discardableResult
    func balance() throws(OutboxError) -> (lost: [String: Int64], unaccounted: [String: Int64]) {
        var lost: [String: Int64] = [:]
        var unaccounted: [String: Int64] = [:]
        for (provider, difference) in try balances() where difference != 0 {
            if difference > 0 {
                lost[provider] = difference
                try count(provider: provider, term: AccountTerm.quarantined, code: "recovery", by: difference)
            } else {
                unaccounted[provider] = -difference
                try count(provider: provider, term: AccountTerm.captured, code: "recovery", by: -difference)
            }
        }
        return (lost, unaccounted)
    }

    /// Returns, by provider, the difference between its accounts and its pending rows.
    ///
    /// It is zero if the accounts balance, and positive if rows are missing.
    func balances() throws(OutboxError) -> [String: Int64] {
        if store.connection.isInTransaction, !store.isInSnapshot { try writeCounts() }
        let sources = AccountTerm.sources.map { "'\($0)'" }.joined(separator: ", ")
        let outcomes = AccountTerm.outcomes.map { "'\($0)'" }.joined(separator: ", ")
        let statement = try store.connection.statement(
            """
            SELECT provider, sum(number) FROM (
                SELECT provider, CASE WHEN term IN (\(sources)) THEN count WHEN term IN (\(outcomes)) THEN -count ELSE 0 END AS number
                FROM account
                UNION ALL SELECT provider, -count(*) FROM route GROUP BY provider)
            GROUP BY provider
            """
        )
        defer { statement.reset() }
        var found: [String: Int64] = [:]
        while try statement.step() { found[statement.text(0)] = statement.integer(1) }
        return found
    }
}

extension [AccountLine] {
    /// Returns the sums of these lines and others, ordered by provider, term, and code.
    fileprivate func adding(_ others: [AccountLine]) -> [AccountLine] {
        var sums = self
        for other in others {
            if let place = sums.firstIndex(where: {
                ($0.provider, $0.term, $0.code) == (other.provider, other.term, other.code)
            }) {
                sums[place].count += other.count
            } else {
                sums.append(other)
            }
        }
        return sums.sorted { ($0.provider, $0.term, $0.code) < ($1.provider, $1.term, $1.code) }
    }
}
