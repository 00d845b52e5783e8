/// The terms of a provider's accounts. They balance: captured + created = the sum of all other terms + pending.
enum AccountTerm {
    static let captured = "captured"
    static let created = "created"
    static let quarantined = "quarantined"
    static let sources = [captured, created]
    static let endings = [
        "accepted", "unchanged", "superseded", "rejected", "dropped", "erased", quarantined, "moved", "shadowed",
    ]
}

extension OutboxStore {
    /// Adds to a line of a provider's accounts. Each line is written once, before the transaction commits.
    package func count(provider: String, term: String, code: String, by number: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            for place in current.counts.indices
            where current.counts[place].code == code && current.counts[place].term == term
                && current.counts[place].provider == provider
            {
                current.counts[place].count += number
                return
            }
            current.counts.append(AccountLine(provider: provider, term: term, code: code, count: number))
        }
    }

    /// Writes the counts of this transaction.
    func writeCounts() throws(OutboxError) {
        while let line = current.counts.popLast() {
            let values: [SQLValue] = [.text(line.provider), .text(line.term), .text(line.code), .integer(line.count)]
            let row = values + [Table.account.checksum(of: values)]
            if try connection.run(Self.addToAccount, row) > 0 { continue }
            // The line is damaged. Reading the accounts quarantines it; then it starts at zero, and the commit balances the
            // accounts.
            let others = current.counts
            current.counts = []
            _ = try accounts()
            try connection.run(Self.addToAccount, row)
            current.counts += others
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

    /// Returns every line of every provider's accounts.
    package func accounts() throws(OutboxError) -> [AccountLine] {
        let lines: () throws(OutboxError) -> [AccountLine] = { () throws(OutboxError) in
            try self.soundRows(.account, where: "TRUE", order: "provider, term, code") { row in
                AccountLine(provider: row.text(0), term: row.text(1), code: row.text(2), count: row.integer(3))
            }
        }
        try carryOutEndingsNow()
        if connection.isInTransaction, !isInSnapshot { try writeCounts() }
        let before = damagedSoFar
        let found = try lines()
        if isReadOnly { return try found.adding(notedLines()) }
        return damagedSoFar == before ? found : try lines()
    }

    /// Returns the number of pending operations of a provider.
    package func pendingCount(provider: String) throws(OutboxError) -> Int {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            let count = try connection.number("SELECT count(*) FROM route WHERE provider = ?1", .text(provider)) ?? 0
            let noted = isReadOnly ? try notedLines().filter { $0.provider == provider }.reduce(0) { $0 + $1.count } : 0
            return Int(count - noted)
        }
    }

    /// Returns the named holds of a provider with the number of rows that each one holds.
    package func holds(provider: String) throws(OutboxError) -> [(hold: String, count: Int)] {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            let statement = try connection.statement(
                """
                SELECT hold, count(*) FROM route WHERE provider = ?1 AND hold IS NOT NULL GROUP BY hold ORDER BY hold
                """
            )
            defer { statement.reset() }
            try statement.bind([.text(provider)])
            var found: [(hold: String, count: Int)] = []
            while try statement.step() { found.append((statement.text(0), Int(statement.integer(1)))) }
            return found
        }
    }

    /// Releases the rows of a subject that are under a named hold, or moves them to another hold. Applies to one provider or
    /// all.
    ///
    /// - Returns: The number of rows.
    @discardableResult
    package func release(
        provider: String?,
        subject: String,
        hold: String,
        to other: String? = nil
    ) throws(OutboxError) -> Int {
        noteUpheaval()
        return try change(
            """
            UPDATE route SET hold = ?4,
                checksum = row_checksum('route', sequence, provider, lane, queue, ?4, step, failures, refusals, kind, requests)
            WHERE sequence IN (SELECT sequence FROM operation WHERE subject = ?2)
                AND (?1 IS NULL OR provider = ?1) AND hold = ?3 AND \(Table.route.isSound())
            """,
            .optional(provider),
            .text(subject),
            .text(hold),
            .optional(other)
        )
    }

    /// Puts the rows of a subject that are not held under a named hold. Applies to one provider or all.
    ///
    /// - Returns: The number of rows.
    @discardableResult
    package func hold(provider: String?, subject: String, hold: String) throws(OutboxError) -> Int {
        noteUpheaval()
        return try change(
            """
            UPDATE route SET hold = ?3,
                checksum = row_checksum('route', sequence, provider, lane, queue, ?3, step, failures, refusals, kind, requests)
            WHERE sequence IN (SELECT sequence FROM operation WHERE subject = ?2)
                AND (?1 IS NULL OR provider = ?1) AND hold IS NULL AND \(Table.route.isSound())
            """,
            .optional(provider),
            .text(subject),
            .text(hold)
        )
    }
}
