/// The quantities that an outbox's limits apply to.
package struct OutboxUsage: Sendable, Equatable, CustomStringConvertible {
    /// The number of operations that are pending for at least one provider.
    package var operations: Int64 = 0
    /// The number of bytes in their bodies.
    package var bytes: Int64 = 0
    /// The number of rejected operations kept for replay.
    package var rejects: Int64 = 0

    /// The approximate number of bytes that an operation takes in addition to its body: its other columns, a route, and the
    /// indexes.
    private static let overhead: Int64 = 512

    /// The approximate number of bytes that the operations take in the file.
    package var size: Int64 { bytes + Self.overhead * operations }

    package var description: String { "\(operations) operations of \(bytes) bytes and \(rejects) rejects" }

    package init(operations: Int64 = 0, bytes: Int64 = 0, rejects: Int64 = 0) {
        (self.operations, self.bytes, self.rejects) = (operations, bytes, rejects)
    }

    package static func += (sum: inout OutboxUsage, other: OutboxUsage) { sum = sum + other }

    package static func + (one: OutboxUsage, other: OutboxUsage) -> OutboxUsage {
        OutboxUsage(
            operations: one.operations + other.operations,
            bytes: one.bytes + other.bytes,
            rejects: one.rejects + other.rejects
        )
    }
}

/// The usage counts are updated in the transactions that change them, so that no capture has to count rows.
extension OutboxStore {
    /// Returns the current usage, including the changes of the current transaction.
    package func usage() throws(OutboxError) -> OutboxUsage {
        try carryOutEndingsNow()
        guard var usage = try notedUsage() else { return try countedUsage() }
        if connection.isInTransaction { usage += current.usage }
        return usage
    }

    /// Returns the usage stored by the last commit; nil if that row was damaged.
    func notedUsage() throws(OutboxError) -> OutboxUsage? {
        try soundRows(.usage, Self.noted) { row in
            OutboxUsage(operations: row.integer(1), bytes: row.integer(2), rejects: row.integer(3))
        }.first
    }

    /// Returns the usage, counted row by row.
    func countedUsage() throws(OutboxError) -> OutboxUsage {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(
                """
                SELECT count(*), ifnull(sum(length(body)), 0), (SELECT count(*) FROM reject) FROM operation
                """
            )
            defer { statement.reset() }
            guard try statement.step() else { return OutboxUsage() }
            return OutboxUsage(
                operations: statement.integer(0),
                bytes: statement.integer(1),
                rejects: statement.integer(2)
            )
        }
    }

    /// Stores the usage changes of this transaction, before it commits.
    func storeUsage() throws(OutboxError) {
        if !current.mustRecount {
            guard current.usage != OutboxUsage() else { return }
            let changed = try connection.run(
                Self.changeUsage,
                .integer(current.usage.operations),
                .integer(current.usage.bytes),
                .integer(current.usage.rejects)
            )
            if changed > 0 { return }
        }
        let usage = try countedUsage()
        try put(
            .usage,
            .integer(1),
            .integer(usage.operations),
            .integer(usage.bytes),
            .integer(usage.rejects)
        )
    }

    private static let noted = Query(Table.usage.select(where: "number = 1", order: "number"))
    private static let changeUsage = Query(
        """
        UPDATE usage SET operations = operations + ?1, bytes = bytes + ?2, rejects = rejects + ?3,
            checksum = row_checksum('usage', number, operations + ?1, bytes + ?2, rejects + ?3)
        WHERE number = 1 AND \(Table.usage.isSound())
        """
    )

    private static let delete = Query("DELETE FROM operation WHERE sequence = ?1 RETURNING length(body)")
    private static let deleteUnrouted = Query(
        """
        DELETE FROM operation WHERE sequence = ?1 AND NOT EXISTS (SELECT 1 FROM route WHERE sequence = ?1)
        RETURNING length(body)
        """
    )

    /// Deletes an operation. If it is still pending for a provider, it is deleted only with `evenRouted`.
    func deleteOperation(_ sequence: Int64, evenRouted: Bool = false) throws(OutboxError) {
        let statement = try connection.statement(evenRouted ? Self.delete : Self.deleteUnrouted)
        defer { statement.reset() }
        try statement.bind([.integer(sequence)])
        var isGone = false
        while try statement.step() {
            current.usage += OutboxUsage(operations: -1, bytes: -statement.integer(0))
            isGone = true
        }
        if isGone { try removeHearings(sequence...sequence) }
    }

    /// Deletes the oldest rejects beyond `rejectLimit`, if this transaction added any.
    func trimRejects() throws(OutboxError) {
        guard current.usage.rejects > 0, rejectLimit < .max else { return }
        let surplus = try usage().rejects - Int64(rejectLimit)
        guard surplus > 0 else { return }
        var forgotten: [String: Int] = [:]
        do {
            let statement = try connection.statement(
                """
                DELETE FROM reject WHERE number IN (SELECT number FROM reject ORDER BY number LIMIT ?1) RETURNING provider
                """
            )
            defer { statement.reset() }
            try statement.bind([.integer(surplus)])
            while try statement.step() { forgotten[statement.text(0), default: 0] += 1 }
        }
        for (provider, count) in forgotten.sorted(by: { $0.key < $1.key }) {
            current.usage.rejects -= Int64(count)
            onForgotten?(provider, count)
        }
    }

    // MARK: Pending operations

    /// Returns pending operations after a sequence, oldest first.
    package func operations(behind sequence: Int64, limit: Int) throws(OutboxError) -> [OutboxOperation] {
        try carryOutEndingsNow()
        return try soundRows(
            .operation,
            where: "sequence > ?1",
            order: "sequence LIMIT ?2",
            .integer(sequence),
            .integer(limit),
            make: OutboxOperation.init(row:)
        )
    }

    /// Returns the pending operation with an id.
    package func operation(id: String) throws(OutboxError) -> OutboxOperation? {
        try carryOutEndingsNow()
        return try soundRows(
            .operation,
            where: "id = ?1",
            order: "sequence",
            .text(id),
            make: OutboxOperation.init(row:)
        )
        .first
    }

    /// Returns pending operations of one subject after a sequence, oldest first.
    package func operations(of subject: String, behind sequence: Int64, limit: Int) throws(OutboxError)
        -> [OutboxOperation]
    {
        try carryOutEndingsNow()
        return try soundRows(
            .operation,
            where: "subject = ?1 AND sequence > ?2",
            order: "sequence LIMIT ?3",
            .text(subject),
            .integer(sequence),
            .integer(limit),
            make: OutboxOperation.init(row:)
        )
    }

    /// Returns the providers that an operation is pending for, and whether one of them has started to process it.
    package func routes(of sequence: Int64) throws(OutboxError) -> (providers: [String], areBegun: Bool) {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            let statement = try connection.statement(
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

    /// Returns the highest sequence that was assigned.
    package func newestSequence() throws(OutboxError) -> Int64 {
        if let lastSequence = current.lastSequence, connection.isInTransaction { return lastSequence }
        return try guarded { () throws(OutboxError) in
            try connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'operation'") ?? 0
        }
    }
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
