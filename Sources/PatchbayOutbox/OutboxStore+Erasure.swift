extension OutboxStore {
    /// Returns the subjects whose stored state contains a text. The caller checks where in the state it occurs.
    package func subjects(mentioning text: [UInt8]) throws(OutboxError) -> [(subject: String, body: [UInt8])] {
        try soundRows(.snapshot, where: "instr(body, ?1) > 0", order: "subject", .blob(text)) { row in
            (subject: row.text(0), body: row.blob(1))
        }
    }

    /// Returns the number of pending operations that contain a text. An operation counts once per provider.
    package func pendingCount(mentioning text: [UInt8]) throws(OutboxError) -> Int {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            return Int(
                try connection.number(
                    "SELECT count(*) FROM route JOIN operation USING (sequence) WHERE instr(operation.body, ?1) > 0",
                    .blob(text)
                ) ?? 0
            )
        }
    }

    /// Passes every pending operation that contains a text to `body`, oldest first, one page at a time. `body` may complete the
    /// operation.
    package func forEachOperation(mentioning text: [UInt8], _ body: (OutboxOperation) throws -> Void) throws {
        try carryOutEndingsNow()
        try walk(
            .operation,
            by: "sequence",
            from: .integer(0),
            where: "instr(body, ?1) > 0",
            .blob(text),
            make: OutboxOperation.init(row:),
            body: body
        )
    }

    /// Returns the number of subjects with a stored state.
    package func snapshotCount() throws(OutboxError) -> Int {
        try guarded { () throws(OutboxError) in Int(try connection.number("SELECT count(*) FROM snapshot") ?? 0) }
    }

    /// Replaces the request in a lane's journal entry. The entry keeps its list of operations.
    package func setJournalRequest(_ request: [UInt8], provider: String, lane: String) throws(OutboxError) {
        try change(
            """
            UPDATE journal SET request = ?3,
                checksum = row_checksum('journal', provider, lane, endpoint, operations, ?3, started_at)
            WHERE provider = ?1 AND lane = ?2 AND \(Table.journal.isSound())
            """,
            .text(provider),
            .text(lane),
            .blob(request)
        )
    }

    /// Opens every empty queue that is named after a subject, or that is in a lane of that name.
    package func forgetEmptyQueues(named subject: String) throws(OutboxError) {
        try change(
            """
            DELETE FROM block WHERE (queue = ?1 OR lane = ?1) AND NOT EXISTS (
                SELECT 1 FROM route
                WHERE route.provider = block.provider AND route.lane = block.lane AND route.queue = block.queue)
            """,
            .text(subject)
        )
    }

    /// Deletes the quarantined rows whose bytes contain a text.
    ///
    /// - Returns: The number of deleted rows.
    package func removeQuarantine(mentioning text: [UInt8]) throws(OutboxError) -> Int {
        try change("DELETE FROM quarantine WHERE instr(image, ?1) > 0", .blob(text))
    }

    // MARK: Bytes on disk

    /// Deletes the damaged files that recoveries set aside, because their rows cannot be erased individually.
    ///
    /// - Returns: The number of files.
    package func removeDamagedFiles() -> Int { isReadOnly ? 0 : file?.removeDamaged() ?? 0 }

    private static let unswept = "unswept"

    /// Records, with the current transaction, that the write-ahead log contains data that must not stay on disk.
    package func requireSweep() throws(OutboxError) { try setMeta(Self.unswept, "1") }

    /// Copies the write-ahead log into the file and empties it, if it contains data that must not stay on disk.
    ///
    /// Deleted rows are overwritten in the file, but their older images stay in the log until then.
    ///
    /// - Returns: False if a reader prevents it; the next call tries again.
    @discardableResult
    package func sweep() throws(OutboxError) -> Bool {
        guard file != nil, !isReadOnly, try meta(Self.unswept) != nil else { return true }
        return try guarded { () throws(OutboxError) in
            guard try connection.truncatingCheckpoint() else { return false }
            try setMeta(Self.unswept, nil)
            return true
        }
    }
}
