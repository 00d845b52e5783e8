extension OutboxStore {
    /// Stores an operation and gives it the next sequence; the one it brings is ignored. With `hasGap` one sequence stays free in
    /// front of it. `place` is a free sequence to use instead.
    ///
    /// - Throws: `misuse` when an operation of the same id is stored already.
    package func insert(
        _ operation: OutboxOperation,
        behindGap hasGap: Bool = false,
        at place: Int64? = nil
    ) throws(OutboxError) -> Int64 {
        try atomically { () throws(OutboxError) in
            let last: Int64
            if let lastSequence {
                last = lastSequence
            } else {
                last = try connection.number(Self.lastOperation) ?? 0
            }
            guard last < .max - 1 else { throw OutboxError(.corrupt, "The count of sequences is damaged.") }
            let sequence = place ?? last + (hasGap ? 2 : 1)
            try add(
                .operation,
                .integer(sequence),
                .text(operation.id),
                .text(operation.subject),
                .optional(operation.group),
                .integer(operation.capturedAt),
                .integer(operation.since),
                .blob(operation.body)
            )
            if connection.isInTransaction { lastSequence = max(last, sequence) }
            usageChange += OutboxUsage(operations: 1, bytes: Int64(operation.body.count))
            return sequence
        }
    }

    private static let lastOperation = Query("SELECT seq FROM sqlite_sequence WHERE name = 'operation'")

    /// Puts an operation on its way to a provider. By its `kind` the row is found with ``hidden(provider:lane:shown:)``; the
    /// bulk of operations has none.
    package func enter(
        _ sequence: Int64,
        provider: String,
        lane: String,
        queue: String,
        hold: String?,
        kind: String? = nil
    ) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            try add(
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
            // What is not new may stand before what an index knows.
            if sequence != lastSequence { noteUpheaval() }
        }
    }

    /// Deletes an operation that is on its way to nobody.
    package func discardIfUnrouted(_ sequence: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            try deleteOperation(sequence)
        }
    }
}
