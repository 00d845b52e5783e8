/// Pending operations and their routes: lookups, counts, reports, and deletion.
package final class OutboxOperations {
    unowned let store: OutboxStore

    init(store: OutboxStore) { self.store = store }

    // MARK: Lookups

    /// Returns pending operations after a sequence, oldest first, at most `limit`.
    package func list(after sequence: Int64, limit: Int) throws(OutboxError) -> [OutboxOperation] {
        try store.settlement.applyNoted()
        return try store.soundRows(
            .operation,
            where: "sequence > ?1",
            order: "sequence LIMIT ?2",
            .integer(sequence),
            .integer(limit),
            make: OutboxOperation.init(row:)
        )
    }

    /// Returns pending operations of one subject after a sequence, oldest first, at most `limit`.
    package func list(of subject: String, after sequence: Int64, limit: Int) throws(OutboxError) -> [OutboxOperation] {
        try store.settlement.applyNoted()
        return try store.soundRows(
            .operation,
            where: "subject = ?1 AND sequence > ?2",
            order: "sequence LIMIT ?3",
            .text(subject),
            .integer(sequence),
            .integer(limit),
            make: OutboxOperation.init(row:)
        )
    }

    /// Returns the pending operation with an id; nil if there is none.
    package func find(id: String) throws(OutboxError) -> OutboxOperation? {
        try store.settlement.applyNoted()
        return try store.soundRows(
            .operation,
            where: "id = ?1",
            order: "sequence",
            .text(id),
            make: OutboxOperation.init(row:)
        )
        .first
    }

    /// Passes every pending operation that contains a text to `body`, oldest first, one page at a time. `body` may complete
    /// the operation.
    package func forEach(mentioning text: [UInt8], _ body: (OutboxOperation) throws -> Void) throws {
        try store.settlement.applyNoted()
        try store.walk(
            .operation,
            by: "sequence",
            from: .integer(0),
            where: "instr(body, ?1) > 0",
            .blob(text),
            make: OutboxOperation.init(row:),
            body: body
        )
    }

    /// Returns the providers that an operation is pending for, and whether one of them has started to process it.
    package func routes(of sequence: Int64) throws(OutboxError) -> (providers: [String], areBegun: Bool) {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            let statement = try store.connection.statement(
                "SELECT provider, step IS NOT NULL FROM route WHERE sequence = ?1 ORDER BY provider"
            )
            defer { statement.reset() }
            try statement.bind([.integer(sequence)])
            var (providers, areBegun): ([String], Bool) = ([], false)
            while try statement.step() {
                providers.append(statement.text(0))
                areBegun = areBegun || statement.bool(1)
            }
            return (providers, areBegun)
        }
    }

    // MARK: Counts

    /// Returns the number of pending operations of a provider.
    package func pendingCount(provider: String) throws(OutboxError) -> Int {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            let count =
                try store.connection.number("SELECT count(*) FROM route WHERE provider = ?1", .text(provider)) ?? 0
            guard store.isReadOnly else { return Int(count) }
            let noted = try store.settlement.notedLines().filter { $0.provider == provider }
            return Int(count - noted.reduce(0) { $0 + $1.count })
        }
    }

    /// Returns the number of pending operations that contain a text. An operation counts once per provider.
    package func pendingCount(mentioning text: [UInt8]) throws(OutboxError) -> Int {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            return Int(
                try store.connection.number(
                    "SELECT count(*) FROM route JOIN operation USING (sequence) WHERE instr(operation.body, ?1) > 0",
                    .blob(text)
                ) ?? 0
            )
        }
    }

    // MARK: Deletion

    /// Deletes an operation that is not pending for any provider.
    package func discardIfUnrouted(_ sequence: Int64) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            try delete(sequence)
        }
    }

    /// Deletes a route without changing the accounts or the history. The operation itself stays until the caller calls
    /// ``discardIfUnrouted(_:)``.
    package func removeRoute(provider: String, sequence: Int64) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            try deleteRoute(provider: provider, sequence: sequence)
            store.queues.invalidateIndexes()
        }
    }

    /// Deletes a route in the current transaction. The caller reports the change to the indexes.
    ///
    /// - Returns: The number of deleted rows: 0 or 1.
    @discardableResult
    func deleteRoute(provider: String, sequence: Int64) throws(OutboxError) -> Int {
        try store.connection.run(Self.deleteOneRoute, .integer(sequence), .text(provider))
    }

    /// Deletes an operation in the current transaction. If it is still pending for a provider, it is deleted only with
    /// `evenRouted`.
    func delete(_ sequence: Int64, evenRouted: Bool = false) throws(OutboxError) {
        let statement = try store.connection.statement(evenRouted ? Self.deleteOne : Self.deleteOneUnrouted)
        defer { statement.reset() }
        try statement.bind([.integer(sequence)])
        var isGone = false
        while try statement.step() {
            store.current.usage += OutboxUsage(operations: -1, bytes: -statement.integer(0))
            isGone = true
        }
        if isGone { try store.deliveryMarks.remove(sequence...sequence) }
    }

    /// Deletes `count` routes of a provider in a range of sequences, in the current transaction.
    ///
    /// Usually all of them are in one lane. They are then found through the index by lane, whose entries are deleted during
    /// the scan. Searching for each index entry again would cost more than searching for the row.
    func deleteRoutes(_ range: ClosedRange<Int64>, provider: String, count: Int) throws(OutboxError) {
        let connection = store.connection
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        var deleted = 0
        if let lane = try connection.text(Self.laneOfRoute, start, .text(provider)) {
            deleted = try connection.run(Self.deleteRoutesOfLane, start, end, .text(provider), .text(lane))
        }
        if deleted < count { try connection.run(Self.deleteRoutes, start, end, .text(provider)) }
    }

    /// Deletes the operations in a range in the current transaction, through the index by subject if all of them have the
    /// same subject.
    func delete(_ range: ClosedRange<Int64>) throws(OutboxError) {
        let connection = store.connection
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        var count: Int64 = 0
        var subject: String?
        do {
            let statement = try connection.statement(Self.size)
            defer { statement.reset() }
            try statement.bind([start, end])
            guard try statement.step() else { return }
            count = statement.integer(0)
            store.current.usage += OutboxUsage(operations: -count, bytes: -statement.integer(1))
            subject = statement.optionalText(2)
        }
        guard let subject else { return }
        try store.deliveryMarks.remove(range)
        let deleted = try connection.run(Self.deleteOfSubject, start, end, .text(subject))
        if deleted < count { try connection.run(Self.deleteInRange, start, end) }
    }

    private static let deleteOneRoute = Query("DELETE FROM route WHERE sequence = ?1 AND provider = ?2")
    private static let deleteOne = Query("DELETE FROM operation WHERE sequence = ?1 RETURNING length(body)")
    private static let deleteOneUnrouted = Query(
        """
        DELETE FROM operation WHERE sequence = ?1 AND NOT EXISTS (SELECT 1 FROM route WHERE sequence = ?1)
        RETURNING length(body)
        """
    )
    private static let laneOfRoute = Query("SELECT lane FROM route WHERE sequence = ?1 AND provider = ?2")
    private static let deleteRoutesOfLane = Query(
        """
        DELETE FROM route INDEXED BY route_by_order
        WHERE provider = ?3 AND lane = ?4 AND hold IS NULL AND sequence BETWEEN ?1 AND ?2
        """
    )
    // The unary plus prevents SQLite from scanning all of a provider's routes for each run.
    private static let deleteRoutes = Query(
        "DELETE FROM route WHERE sequence BETWEEN ?1 AND ?2 AND +provider = ?3"
    )
    private static let size = Query(
        "SELECT count(*), ifnull(sum(length(body)), 0), subject FROM operation WHERE sequence BETWEEN ?1 AND ?2"
    )
    private static let deleteOfSubject = Query(
        """
        DELETE FROM operation INDEXED BY operation_by_subject WHERE subject = ?3 AND sequence BETWEEN ?1 AND ?2
        """
    )
    private static let deleteInRange = Query("DELETE FROM operation WHERE sequence BETWEEN ?1 AND ?2")
    /// The queries that delete many rows, for a test of their query plans.
    static let deletions = [laneOfRoute, deleteRoutesOfLane, deleteRoutes, size, deleteOfSubject, deleteInRange]
}

extension OutboxOperation {
    /// Creates an operation from the columns of its table.
    init(row: Statement) {
        self.init(
            sequence: row.integer(0),
            id: row.text(1),
            subject: row.text(2),
            group: row.optionalText(3),
            capturedAt: row.integer(4),
            since: row.integer(5),
            body: row.blob(6)
        )
    }
}
