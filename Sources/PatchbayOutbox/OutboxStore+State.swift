extension OutboxStore {
    /// Stores one row of a table with a key. A later call replaces the earlier one.
    func put(_ table: Table, _ values: SQLValue...) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            _ = try connection.run(table.replace, values, last: table.checksum(of: values))
        }
    }

    /// Runs one statement that changes rows and returns their number.
    @discardableResult
    func change(_ sql: String, _ values: SQLValue...) throws(OutboxError) -> Int {
        try atomically { () throws(OutboxError) in
            try connection.run(sql, values)
        }
    }

    /// Reads rows of one table.
    ///
    /// Rows whose checksum does not match are quarantined and omitted.
    func soundRows<Element>(
        _ table: Table,
        where condition: String,
        order: String,
        _ values: SQLValue...,
        make: (Statement) -> Element
    ) throws(OutboxError) -> [Element] {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(table.select(where: condition, order: order))
            return try soundRows(table, statement, values, make)
        }
    }

    /// Reads rows of one table with a query that the table's `select` method created.
    func soundRows<Element>(
        _ table: Table,
        _ query: Query,
        _ values: SQLValue...,
        make: (Statement) -> Element
    ) throws(OutboxError) -> [Element] {
        try guarded { () throws(OutboxError) in
            try soundRows(table, connection.statement(query), values, make)
        }
    }

    func soundRows<Element>(
        _ table: Table,
        _ statement: Statement,
        _ values: [SQLValue],
        _ make: (Statement) -> Element
    ) throws(OutboxError) -> [Element] {
        var found: [Element] = []
        let last = Int32(table.columns.count)
        do {
            defer { statement.reset() }
            try statement.bind(values)
            while try statement.step() {
                if statement.bool(last) {
                    found.append(make(statement))
                } else {
                    noteDamaged(DamagedRow(table: table.name, number: statement.integer(last + 1)))
                }
            }
        }
        try setDamagedRowsAside()
        return found
    }

    // MARK: Memory

    /// Returns an adapter's memory for a lane.
    package func memory(provider: String, lane: String) throws(OutboxError) -> (version: Int, body: [UInt8])? {
        try soundRows(.memory, Self.memoryOfLane, .text(provider), .text(lane)) { row in
            (version: Int(row.integer(2)), body: row.blob(3))
        }.first
    }

    private static let memoryOfLane = Query(Table.memory.select(where: "provider = ?1 AND lane = ?2", order: "rowid"))

    /// Replaces an adapter's memory for a lane.
    package func setMemory(provider: String, lane: String, version: Int, body: [UInt8]) throws(OutboxError) {
        try put(.memory, .text(provider), .text(lane), .integer(version), .blob(body))
    }

    /// Returns an adapter's memory of all lanes, ordered by lane.
    package func memories(provider: String) throws(OutboxError) -> [MemoryRecord] {
        try soundRows(.memory, where: "provider = ?1", order: "lane", .text(provider), make: MemoryRecord.init(row:))
    }

    /// Returns an adapter's memory of all lanes in which it contains a text, ordered by lane.
    package func memories(provider: String, mentioning text: [UInt8]) throws(OutboxError) -> [MemoryRecord] {
        try soundRows(
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
        try walk(
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
        try change(
            "DELETE FROM memory WHERE provider = ?1 AND (?2 IS NULL OR lane = ?2)",
            .text(provider),
            .optional(lane)
        )
    }

    // MARK: Journal

    /// Returns the requests in the journal, ordered by start. They were about to be sent or in flight.
    package func journal(provider: String) throws(OutboxError) -> [JournalEntry] {
        try soundRows(.journal, where: "provider = ?1", order: "started_at, lane", .text(provider)) { row in
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
        try put(
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
        try change("DELETE FROM journal WHERE provider = ?1 AND lane = ?2", .text(provider), .text(lane))
    }

    // MARK: Subject snapshot

    /// Returns the last snapshot of a subject.
    package func snapshot(subject: String) throws(OutboxError) -> [UInt8]? {
        try soundRows(.snapshot, Self.snapshotOfSubject, .text(subject)) { row in row.blob(1) }.first
    }

    private static let snapshotOfSubject = Query(Table.snapshot.select(where: "subject = ?1", order: "rowid"))

    /// Replaces the last snapshot of a subject.
    package func setSnapshot(subject: String, body: [UInt8]) throws(OutboxError) {
        try put(.snapshot, .text(subject), .blob(body))
    }

    /// Deletes a subject's snapshot.
    package func clearSnapshot(subject: String) throws(OutboxError) {
        try change("DELETE FROM snapshot WHERE subject = ?1", .text(subject))
    }

    /// Passes every subject's snapshot to `body`, ordered by subject, one page at a time. `body` may write to the store.
    package func forEachSnapshot(_ body: (String, [UInt8]) throws -> Void) throws {
        try walk(.snapshot, by: "subject", from: .text("")) { row in
            (subject: row.text(0), body: row.blob(1))
        } body: {
            try body($0.subject, $0.body)
        }
    }

    // MARK: Meta

    /// Returns a value that the engine stores under a name (last instant, boot id, …).
    package func meta(_ key: String) throws(OutboxError) -> String? {
        try soundRows(.meta, where: "key = ?1", order: "rowid", .text(key)) { row in row.text(1) }.first
    }

    /// Replaces the value stored under a name; nil removes it.
    package func setMeta(_ key: String, _ value: String?) throws(OutboxError) {
        if let value {
            try put(.meta, .text(key), .text(value))
        } else {
            try change("DELETE FROM meta WHERE key = ?1", .text(key))
        }
    }

    // MARK: Providers

    /// Returns every provider that the outbox has known, ordered by name.
    package func providers() throws(OutboxError) -> [ProviderRecord] {
        try soundRows(.provider, where: "TRUE", order: "name") { row in
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
        try put(
            .provider,
            .text(record.name),
            .text(record.adapter),
            .integer(record.stateVersion),
            .text(record.state),
            .optional(record.suspended),
            .text(record.settingsDigest)
        )
    }
}

extension MemoryRecord {
    /// Creates a record from the columns of its table.
    init(row: Statement) { self.init(lane: row.text(1), version: Int(row.integer(2)), body: row.blob(3)) }
}
