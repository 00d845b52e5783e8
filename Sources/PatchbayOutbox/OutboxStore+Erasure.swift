extension OutboxStore {
    /// The subjects whose state, as it is stored, has a text in it; the caller looks where it stands there.
    package func subjects(mentioning text: [UInt8]) throws(OutboxError) -> [(subject: String, body: [UInt8])] {
        try soundRows(.snapshot, where: "instr(body, ?1) > 0", order: "subject", .blob(text)) { row in
            (subject: row.text(0), body: row.blob(1))
        }
    }

    /// How many operations that are still on their way have a text in them; each counts once for each provider.
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

    /// Shows every operation on its way that has a text in it, the oldest first, a page at a time; `body` may end what it is
    /// shown.
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

    /// How many subjects have a state.
    package func snapshotCount() throws(OutboxError) -> Int {
        try guarded { () throws(OutboxError) in Int(try connection.number("SELECT count(*) FROM snapshot") ?? 0) }
    }

    /// Replaces what a lane's journal keeps of its request; who was in it stays.
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

    /// Forgets the damaged rows in whose bytes a text can still be read.
    ///
    /// - Returns: How many there were.
    package func removeQuarantine(mentioning text: [UInt8]) throws(OutboxError) -> Int {
        try change("DELETE FROM quarantine WHERE instr(image, ?1) > 0", .blob(text))
    }

    // MARK: Bytes on the disk

    /// Deletes the damaged files that recoveries set aside: no row of theirs can be erased alone.
    ///
    /// - Returns: The number of files.
    package func removeDamagedFiles() -> Int { isReadOnly ? 0 : file?.removeDamaged() ?? 0 }

    private static let unswept = "unswept"

    /// Notes, with the transaction at hand, that the write-ahead log holds what must not stay on the disk.
    package func requireSweep() throws(OutboxError) { try setMeta(Self.unswept, "1") }

    /// Copies the write-ahead log into the file and empties it, if what it held must not stay on the disk.
    ///
    /// Rows are overwritten when they are deleted; their older images stand in the log until then.
    ///
    /// - Returns: False while a reader stands in the way; then the next call tries again.
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
