extension OutboxStore {
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
        try atomically { () throws(OutboxError) in
            let last: Int64
            if let lastSequence = current.lastSequence {
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
            if connection.isInTransaction { current.lastSequence = max(last, sequence) }
            current.usage += OutboxUsage(operations: 1, bytes: Int64(operation.body.count))
            return sequence
        }
    }

    private static let lastOperation = Query("SELECT seq FROM sqlite_sequence WHERE name = 'operation'")

    /// Makes an operation pending for a provider. ``hidden(provider:lane:shown:)`` finds the row by its `kind`; most operations
    /// have none.
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
            // A row that is not the newest may precede rows that an index already contains.
            if sequence != current.lastSequence { noteUpheaval() }
        }
    }

    /// Deletes an operation that is not pending for any provider.
    package func discardIfUnrouted(_ sequence: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            try deleteOperation(sequence)
        }
    }
}
