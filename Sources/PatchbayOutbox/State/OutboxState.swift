/// The values that the engine keeps between two starts: memory, journal, snapshots, and records of providers.
package final class OutboxState {
    unowned let store: OutboxStore

    init(store: OutboxStore) { self.store = store }

    // MARK: Memory

    /// Returns an adapter's memory for a lane.
    package func memory(provider: String, lane: String) throws(OutboxError) -> (version: Int, body: [UInt8])? {
        try store.soundRows(.memory, Self.memoryOfLane, .text(provider), .text(lane)) { row in
            (version: Int(row.integer(2)), body: row.blob(3))
        }.first
    }

    private static let memoryOfLane = Query(Table.memory.select(where: "provider = ?1 AND lane = ?2", order: "rowid"))

    /// Replaces an adapter's memory for a lane.
    package func setMemory(provider: String, lane: String, version: Int, body: [UInt8]) throws(OutboxError) {
        try store.put(.memory, .text(provider), .text(lane), .integer(version), .blob(body))
    }

    /// Returns an adapter's memory of all lanes, ordered by lane.
    package func memories(provider: String) throws(OutboxError) -> [MemoryRecord] {
        try store.soundRows(
            .memory,
            where: "provider = ?1",
            order: "lane",
            .text(provider),
            make: MemoryRecord.init(row:)
        )
    }

    /// Returns an adapter's memory of all lanes in which it contains a text, ordered by lane.
    package func memories(provider: String, mentioning text: [UInt8]) throws(OutboxError) -> [MemoryRecord] {
        try store.soundRows(
            .memory,
            where: "provider = ?1 AND instr(body, ?2) > 0",
            order: "lane",
            .text(provider),
            .blob(text),
            make: MemoryRecord.init(row:)
        )
    }

    /// Passes the memory of each lane of a provider to `body`, ordered by lane, one page at a time. `body` may write to the
    /// store.
    package func forEachMemory(provider: String, _ body: (MemoryRecord) throws -> Void) throws {
        try store.walk(
            .memory,
            by: "lane",
            from: .text(""),
            where: "provider = ?1",
            .text(provider),
            make: MemoryRecord.init(row:),
            body: body
        )
    }

    /// Deletes the memory of one lane, or of all lanes of the provider.
    package func clearMemory(provider: String, lane: String?) throws(OutboxError) {
        try store.change(
            "DELETE FROM memory WHERE provider = ?1 AND (?2 IS NULL OR lane = ?2)",
            .text(provider),
            .optional(lane)
        )
    }

    // MARK: Journal

    /// Returns the requests in the journal, ordered by start. They were about to be sent or in flight.
    package func journal(provider: String) throws(OutboxError) -> [JournalEntry] {
        try store.soundRows(.journal, where: "provider = ?1", order: "started_at, lane", .text(provider)) { row in
            JournalEntry(
                lane: row.text(1),
                endpoint: row.text(2),
                operations: TextList.read(row.blob(3)),
                request: row.blob(4),
                startedAt: row.integer(5)
            )
        }
    }

    /// Records a request before its first byte is sent. Each lane has at most one request in flight.
    package func setJournal(provider: String, _ entry: JournalEntry) throws(OutboxError) {
        try store.put(
            .journal,
            .text(provider),
            .text(entry.lane),
            .text(entry.endpoint),
            .blob(TextList.bytes(entry.operations)),
            .blob(entry.request),
            .integer(entry.startedAt)
        )
    }

    /// Removes a lane's request from the journal, after its outcome was settled or its operations were marked as uncertain.
    package func clearJournal(provider: String, lane: String) throws(OutboxError) {
        try store.change("DELETE FROM journal WHERE provider = ?1 AND lane = ?2", .text(provider), .text(lane))
    }

    /// Replaces the request in a lane's journal entry. The entry keeps its list of operations.
    package func setJournalRequest(_ request: [UInt8], provider: String, lane: String) throws(OutboxError) {
        try store.change(
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

    // MARK: Subject snapshot

    /// Returns the last snapshot of a subject.
    package func snapshot(subject: String) throws(OutboxError) -> [UInt8]? {
        try store.soundRows(.snapshot, Self.snapshotOfSubject, .text(subject)) { row in row.blob(1) }.first
    }

    private static let snapshotOfSubject = Query(Table.snapshot.select(where: "subject = ?1", order: "rowid"))

    /// Replaces the last snapshot of a subject.
    package func setSnapshot(subject: String, body: [UInt8]) throws(OutboxError) {
        try store.put(.snapshot, .text(subject), .blob(body))
    }

    /// Deletes a subject's snapshot.
    package func clearSnapshot(subject: String) throws(OutboxError) {
        try store.change("DELETE FROM snapshot WHERE subject = ?1", .text(subject))
    }

    /// Passes every subject's snapshot to `body`, ordered by subject, one page at a time. `body` may write to the store.
    package func forEachSnapshot(_ body: (String, [UInt8]) throws -> Void) throws {
        try store.walk(.snapshot, by: "subject", from: .text("")) { row in
            (subject: row.text(0), body: row.blob(1))
        } body: {
            try body($0.subject, $0.body)
        }
    }

    /// Returns the subjects whose stored state contains a text. The caller checks where in the state it occurs.
    package func subjects(mentioning text: [UInt8]) throws(OutboxError) -> [(subject: String, body: [UInt8])] {
        try store.soundRows(.snapshot, where: "instr(body, ?1) > 0", order: "subject", .blob(text)) { row in
            (subject: row.text(0), body: row.blob(1))
        }
    }

    /// Returns the number of subjects with a stored state.
    package func snapshotCount() throws(OutboxError) -> Int { try store.rowCount(.snapshot) }

    // MARK: Meta

    /// Returns a value that the engine stores under a name (last instant, boot id, …).
    package func meta(_ key: String) throws(OutboxError) -> String? {
        try store.soundRows(.meta, where: "key = ?1", order: "rowid", .text(key)) { row in row.text(1) }.first
    }

    /// Replaces the value stored under a name; nil removes it.
    package func setMeta(_ key: String, _ value: String?) throws(OutboxError) {
        if let value {
            try store.put(.meta, .text(key), .text(value))
        } else {
            try store.change("DELETE FROM meta WHERE key = ?1", .text(key))
        }
    }

    // MARK: Providers

    /// Returns every provider that the outbox has known, ordered by name.
    package func providers() throws(OutboxError) -> [ProviderRecord] {
        try store.soundRows(.provider, where: "TRUE", order: "name") { row in
            ProviderRecord(
                name: row.text(0),
                adapter: row.text(1),
                stateVersion: Int(row.integer(2)),
                state: row.text(3),
                suspended: row.optionalBlob(4),
                settingsDigest: row.text(5)
            )
        }
    }

    /// Replaces the record of a provider.
    package func setProvider(_ record: ProviderRecord) throws(OutboxError) {
        try store.put(
            .provider,
            .text(record.name),
            .text(record.adapter),
            .integer(record.stateVersion),
            .text(record.state),
            .optional(record.suspended),
            .text(record.settingsDigest)
        )
    }

    /// Deletes a provider's adapter memory, its closed queues, and its journal.
    package func clearProvider(_ provider: String) throws(OutboxError) {
        for table in [Table.memory, .block, .journal] {
            try store.change("DELETE FROM \(table.name) WHERE provider = ?1", .text(provider))
        }
        store.queues.invalidateIndexes()
    }
}

extension MemoryRecord {
    /// Creates a record from the columns of its table.
    init(row: Statement) { self.init(lane: row.text(1), version: Int(row.integer(2)), body: row.blob(3)) }
}
