/// Named holds. A held row is not planned.
extension OutboxOperations {
    /// Returns the named holds of a provider with the number of rows that each one holds.
    package func holds(provider: String) throws(OutboxError) -> [(hold: String, count: Int)] {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            let statement = try store.connection.statement(
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

    /// Returns the named holds on a subject's rows, by provider, with the number of rows that each one holds.
    package func holds(subject: String) throws(OutboxError) -> [(provider: String, hold: String, count: Int)] {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            let statement = try store.connection.statement(
                """
                SELECT provider, hold, count(*) FROM route JOIN operation USING (sequence)
                WHERE operation.subject = ?1 AND hold IS NOT NULL GROUP BY provider, hold ORDER BY provider, hold
                """
            )
            defer { statement.reset() }
            try statement.bind([.text(subject)])
            var found: [(provider: String, hold: String, count: Int)] = []
            while try statement.step() {
                found.append((statement.text(0), statement.text(1), Int(statement.integer(2))))
            }
            return found
        }
    }

    /// Puts the rows of a subject that are not held under a named hold. Applies to one provider or all.
    ///
    /// - Returns: The number of rows.
    @discardableResult
    package func hold(provider: String?, subject: String, hold: String) throws(OutboxError) -> Int {
        store.queues.invalidateIndexes()
        return try store.change(
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
        store.queues.invalidateIndexes()
        return try store.change(
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

    /// Puts one row under a named hold, or releases it. Returns false if there is no such row.
    @discardableResult
    package func setHold(_ hold: String?, provider: String, sequence: Int64) throws(OutboxError) -> Bool {
        store.queues.invalidateIndexes()
        return try store.change(
            """
            UPDATE route SET hold = ?3,
                checksum = row_checksum('route', sequence, provider, lane, queue, ?3, step, failures, refusals, kind, requests)
            WHERE sequence = ?1 AND provider = ?2 AND \(Table.route.isSound())
            """,
            .integer(sequence),
            .text(provider),
            .optional(hold)
        ) > 0
    }
}
