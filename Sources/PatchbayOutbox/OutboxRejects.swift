import PatchbayJSON

/// Rejected operations that are kept for replay.
package final class OutboxRejects {
    private unowned let store: OutboxStore
    /// The maximum number of rejected operations kept for replay. The oldest beyond it are deleted at the end of a
    /// transaction.
    package var limit = Int.max
    /// Called for rejected operations that were deleted because of ``limit``, before the transaction commits.
    package var onForgotten: ((_ provider: String, _ count: Int) -> Void)?

    init(store: OutboxStore) { self.store = store }

    // MARK: Reading

    /// Returns the rejected operations kept for replay, newest first, at most `limit`: those of one provider or of all, with
    /// a lower number than `number`.
    package func list(provider: String?, before number: Int64 = .max, limit: Int) throws(OutboxError)
        -> [RejectRecord]
    {
        try store.soundRows(
            .reject,
            where: "(?1 IS NULL OR provider = ?1) AND number < ?3",
            order: "number DESC LIMIT ?2",
            .optional(provider),
            .integer(limit),
            .integer(number),
            make: RejectRecord.init(row:)
        )
    }

    /// Returns the rejects of one operation id at a provider, newest first.
    package func list(provider: String, id: String) throws(OutboxError) -> [RejectRecord] {
        try store.soundRows(
            .reject,
            where: "provider = ?1 AND id = ?2",
            order: "number DESC",
            .text(provider),
            .text(id),
            make: RejectRecord.init(row:)
        )
    }

    /// Passes every kept reject, or every one that contains a text, to `body`, oldest first, one page at a time. `body` may
    /// remove it.
    package func forEach(
        provider: String?,
        upTo newest: Int64 = .max,
        mentioning text: [UInt8]? = nil,
        _ body: (RejectRecord) throws -> Void
    ) throws {
        try store.walk(
            .reject,
            by: "number",
            from: .integer(0),
            where: "number <= ?1 AND (?2 IS NULL OR provider = ?2) AND (?3 IS NULL OR instr(body, ?3) > 0)",
            .integer(newest),
            .optional(provider),
            .optional(text),
            make: RejectRecord.init(row:),
            body: body
        )
    }

    /// Returns the number of kept rejects.
    package func count() throws(OutboxError) -> Int { try store.rowCount(.reject) }

    // MARK: Writing

    /// Keeps a copy of a rejected operation, in the current transaction. `finding` is the reason, as JSON.
    func keep(
        provider: String,
        sequence: Int64,
        code: String,
        at: Int64,
        finding: [UInt8]
    ) throws(OutboxError) {
        try store.connection.run(
            """
            INSERT INTO reject (provider, sequence, id, subject, grouping, captured_at, since, body, code, at, finding, checksum)
            SELECT ?1, sequence, id, subject, grouping, captured_at, since, body, ?3, ?4, ?5, 0
            FROM operation WHERE sequence = ?2
            """,
            .text(provider),
            .integer(sequence),
            .text(code),
            .integer(at),
            .blob(finding)
        )
        _ = try store.seal(.reject)
        store.current.usage.rejects += 1
    }

    /// Deletes one reject, after it was replayed or dismissed.
    package func remove(_ number: Int64) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            let count = try store.connection.run("DELETE FROM reject WHERE number = ?1", .integer(number))
            store.current.usage.rejects -= Int64(count)
        }
    }

    /// Deletes the rejects of a subject, of one provider or of all.
    ///
    /// - Returns: The number of deleted rejects.
    @discardableResult
    package func remove(provider: String?, subject: String) throws(OutboxError) -> Int {
        try store.atomically { () throws(OutboxError) in
            let count = try store.connection.run(
                "DELETE FROM reject WHERE subject = ?2 AND (?1 IS NULL OR provider = ?1)",
                .optional(provider),
                .text(subject)
            )
            store.current.usage.rejects -= Int64(count)
            return count
        }
    }

    /// Deletes the oldest rejects beyond ``limit``, if this transaction added any.
    func trim() throws(OutboxError) {
        guard store.current.usage.rejects > 0, limit < .max else { return }
        let surplus = try store.accounts.usage().rejects - Int64(limit)
        guard surplus > 0 else { return }
        var forgotten: [String: Int] = [:]
        do {
            let statement = try store.connection.statement(
                """
                DELETE FROM reject WHERE number IN (SELECT number FROM reject ORDER BY number LIMIT ?1) RETURNING provider
                """
            )
            defer { statement.reset() }
            try statement.bind([.integer(surplus)])
            while try statement.step() { forgotten[statement.text(0), default: 0] += 1 }
        }
        for (provider, count) in forgotten.inOrder {
            store.current.usage.rejects -= Int64(count)
            onForgotten?(provider, count)
        }
    }
}

extension RejectRecord {
    /// Creates a record from the columns of its table.
    init(row: Statement) {
        self.init(
            number: row.integer(0),
            provider: row.text(1),
            operation: OutboxOperation(
                sequence: row.integer(2),
                id: row.text(3),
                subject: row.text(4),
                group: row.optionalText(5),
                capturedAt: row.integer(6),
                since: row.integer(7),
                body: row.blob(8)
            ),
            code: row.text(9),
            at: row.integer(10),
            finding: row.blob(11)
        )
    }
}
