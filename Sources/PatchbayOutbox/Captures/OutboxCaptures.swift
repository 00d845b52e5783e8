/// New operations, and captures that are staged until they are routed.
///
/// A row of staged captures contains all captures of one commit interval, so that they need one write and one sync,
/// regardless of their number.
package final class OutboxCaptures {
    private unowned let store: OutboxStore
    /// The buffer for the image of the next row of staged captures.
    private var image = StoredImage()

    init(store: OutboxStore) { self.store = store }

    // MARK: Operations

    /// Stores an operation and assigns the next sequence; the operation's own sequence is ignored.
    ///
    /// If `hasGap` is true, one sequence before it stays free. If `place` is given, that free sequence is used instead.
    ///
    /// - Throws: `misuse` if an operation with the same id is already stored.
    package func insert(
        _ operation: OutboxOperation,
        behindGap hasGap: Bool = false,
        at place: Int64? = nil
    ) throws(OutboxError) -> Int64 {
        let store = store
        return try store.atomically { () throws(OutboxError) in
            let last: Int64
            if let lastSequence = store.current.lastSequence {
                last = lastSequence
            } else {
                last = try store.connection.number(Self.lastOperation) ?? 0
            }
            guard last < .max - 1 else { throw OutboxError(.corrupt, "The count of sequences is damaged.") }
            let sequence = place ?? last + (hasGap ? 2 : 1)
            try store.add(
                .operation,
                .integer(sequence),
                .text(operation.id),
                .text(operation.subject),
                .optional(operation.group),
                .integer(operation.capturedAt),
                .integer(operation.since),
                .blob(operation.body)
            )
            if store.connection.isInTransaction { store.current.lastSequence = max(last, sequence) }
            store.current.usage += OutboxUsage(operations: 1, bytes: Int64(operation.body.count))
            return sequence
        }
    }

    /// Makes an operation pending for a provider. ``OutboxQueues/hidden(provider:lane:shown:)`` finds the row by its `kind`;
    /// most operations have none.
    package func enter(
        _ sequence: Int64,
        provider: String,
        lane: String,
        queue: String,
        hold: String?,
        kind: String? = nil
    ) throws(OutboxError) {
        let store = store
        try store.atomically { () throws(OutboxError) in
            try store.add(
                .route,
                .integer(sequence),
                .text(provider),
                .text(lane),
                .text(queue),
                .optional(hold),
                .null,
                .integer(0),
                .integer(0),
                .optional(kind),
                .integer(0)
            )
            // A row that is not the newest may precede rows that an index already contains.
            if sequence != store.current.lastSequence { store.queues.invalidateIndexes() }
        }
    }

    /// Returns the highest sequence that was assigned; 0 before the first.
    package func newestSequence() throws(OutboxError) -> Int64 {
        if let lastSequence = store.current.lastSequence, store.connection.isInTransaction { return lastSequence }
        return try store.guarded { () throws(OutboxError) in
            try store.connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'operation'") ?? 0
        }
    }

    private static let lastOperation = Query("SELECT seq FROM sqlite_sequence WHERE name = 'operation'")

    // MARK: Staged captures

    /// Stages captures, in order, after all earlier ones. `routes` names their recipients, as the engine encodes them.
    /// Returns the number of their row.
    package func stage(_ captures: [StagedCapture], routes: String) throws(OutboxError) -> Int64 {
        try store.atomically { () throws(OutboxError) in
            let number = (try store.connection.number(Self.newestStaged) ?? 0) + 1
            try addStaged(number, captures, routes)
            return number
        }
    }

    /// Replaces the captures of a row. If `captures` is empty, deletes the row.
    package func replaceStaged(
        _ number: Int64,
        with captures: [StagedCapture],
        routes: String
    ) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            try removeStaged(number)
            if !captures.isEmpty { try addStaged(number, captures, routes) }
        }
    }

    private func addStaged(_ number: Int64, _ captures: [StagedCapture], _ routes: String) throws(OutboxError) {
        var image = StoredImage()
        swap(&image, &self.image)
        image.append(captures)
        try store.add(.stagedCapture, .integer(number), .text(routes), .blob(image.bytes))
        guard image.bytes.capacity <= Self.mostImage else { return }
        image.bytes.removeAll(keepingCapacity: true)
        swap(&image, &self.image)
    }

    /// Returns the numbers of the rows that are not assigned to routes yet, oldest first.
    package func stagedNumbers() throws(OutboxError) -> [Int64] {
        try store.guarded { () throws(OutboxError) in
            let statement = try store.connection.statement(Self.everyStaged)
            defer { statement.reset() }
            var numbers: [Int64] = []
            while try statement.step() { numbers.append(statement.integer(0)) }
            return numbers
        }
    }

    /// Returns the captures of one row and their routes; nil if the row no longer exists, or was damaged and is now
    /// quarantined.
    package func staged(_ number: Int64) throws(OutboxError) -> (routes: String, captures: [StagedCapture])? {
        try store.soundRows(.stagedCapture, Self.oneStaged, .integer(number)) { row in
            (row.text(1), StagedCapture.read(row.blob(2)))
        }
        .first
    }

    /// Deletes a row whose captures were assigned to routes.
    package func removeStaged(_ number: Int64) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            _ = try store.connection.run(Self.deleteStaged, .integer(number))
        }
    }

    /// Returns the number of staged captures that are not yet assigned to a route.
    package func stagedCount() throws(OutboxError) -> Int {
        var count = 0
        for number in try stagedNumbers() { count += try staged(number)?.captures.count ?? 0 }
        return count
    }

    /// The maximum capacity in bytes that a row's image keeps for the next one.
    private static let mostImage = 1 << 16
    private static let newestStaged = Query("SELECT max(number) FROM stagedCapture")
    private static let everyStaged = Query("SELECT number FROM stagedCapture ORDER BY number")
    private static let oneStaged = Query(Table.stagedCapture.select(where: "number = ?1", order: "number"))
    private static let deleteStaged = Query("DELETE FROM stagedCapture WHERE number = ?1")
}
