/// The terms of a provider's balance: captured + created = all the others together + pending.
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
    /// Adds to a line of a provider's balance.
    package func count(provider: String, term: String, code: String, by number: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            let sql = """
                INSERT INTO account (provider, term, code, count, checksum) VALUES (?1, ?2, ?3, ?4, \(Table.account.boundChecksum))
                ON CONFLICT (provider, term, code) DO UPDATE SET count = count + ?4,
                    checksum = row_checksum('account', provider, term, code, count + ?4)
                WHERE \(Table.account.isSound())
                """
            let values: [SQLValue] = [.text(provider), .text(term), .text(code), .integer(number)]
            if try connection.run(sql, values) > 0 { return }
            // The line is damaged. Reading the accounts sets it aside; then it starts anew, and the commit balances the books.
            _ = try accounts()
            try connection.run(sql, values)
        }
    }

    /// Every line of every balance.
    package func accounts() throws(OutboxError) -> [AccountLine] {
        let lines: () throws(OutboxError) -> [AccountLine] = { () throws(OutboxError) in
            try self.soundRows(.account, where: "TRUE", order: "provider, term, code") { row in
                AccountLine(provider: row.text(0), term: row.text(1), code: row.text(2), count: row.integer(3))
            }
        }
        let before = damagedSoFar
        let found = try lines()
        return damagedSoFar == before || isReadOnly ? found : try lines()
    }

    /// How many operations are still on their way to a provider.
    package func pendingCount(provider: String) throws(OutboxError) -> Int {
        try guarded { () throws(OutboxError) in
            Int(try connection.number("SELECT count(*) FROM route WHERE provider = ?1", .text(provider)) ?? 0)
        }
    }

    /// The named holds of a provider and how many rows each keeps back.
    package func holds(provider: String) throws(OutboxError) -> [(hold: String, count: Int)] {
        try guarded { () throws(OutboxError) in
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

    /// Frees the rows of a subject that stand under one named hold: of a provider, or of all.
    ///
    /// - Returns: The number of rows.
    @discardableResult
    package func release(provider: String?, subject: String, hold: String) throws(OutboxError) -> Int {
        noteUpheaval()
        return try change(
            """
            UPDATE route SET hold = NULL,
                checksum = row_checksum('route', sequence, provider, lane, queue, NULL, step, failures, refusals)
            WHERE sequence IN (SELECT sequence FROM operation WHERE subject = ?2)
                AND (?1 IS NULL OR provider = ?1) AND hold = ?3 AND \(Table.route.isSound())
            """,
            .optional(provider),
            .text(subject),
            .text(hold)
        )
    }

    /// Keeps back the free rows of a subject under a named hold: of a provider, or of all.
    ///
    /// - Returns: The number of rows.
    @discardableResult
    package func hold(provider: String?, subject: String, hold: String) throws(OutboxError) -> Int {
        noteUpheaval()
        return try change(
            """
            UPDATE route SET hold = ?3,
                checksum = row_checksum('route', sequence, provider, lane, queue, ?3, step, failures, refusals)
            WHERE sequence IN (SELECT sequence FROM operation WHERE subject = ?2)
                AND (?1 IS NULL OR provider = ?1) AND hold IS NULL AND \(Table.route.isSound())
            """,
            .optional(provider),
            .text(subject),
            .text(hold)
        )
    }
}
