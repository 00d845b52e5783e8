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
extension OutboxAccounts {
    /// Returns the current usage, including the changes of the current transaction.
    package func usage() throws(OutboxError) -> OutboxUsage {
        try store.settlement.applyNoted()
        guard var usage = try storedUsage() else { return try countedUsage() }
        if store.connection.isInTransaction { usage += store.current.usage }
        return usage
    }

    /// Returns the usage stored by the last commit; nil if that row was damaged.
    func storedUsage() throws(OutboxError) -> OutboxUsage? {
        try store.soundRows(.usage, Self.selectUsage) { row in
            OutboxUsage(operations: row.integer(1), bytes: row.integer(2), rejects: row.integer(3))
        }.first
    }

    /// Returns the usage, counted row by row.
    func countedUsage() throws(OutboxError) -> OutboxUsage {
        try store.guarded { () throws(OutboxError) in
            let statement = try store.connection.statement(
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
        let store = store
        if !store.current.mustRecount {
            let change = store.current.usage
            guard change != OutboxUsage() else { return }
            let changed = try store.connection.run(
                Self.changeUsage,
                .integer(change.operations),
                .integer(change.bytes),
                .integer(change.rejects)
            )
            if changed > 0 { return }
        }
        let usage = try countedUsage()
        try store.put(
            .usage,
            .integer(1),
            .integer(usage.operations),
            .integer(usage.bytes),
            .integer(usage.rejects)
        )
    }

    private static let selectUsage = Query(Table.usage.select(where: "number = 1", order: "number"))
    private static let changeUsage = Query(
        """
        UPDATE usage SET operations = operations + ?1, bytes = bytes + ?2, rejects = rejects + ?3,
            checksum = row_checksum('usage', number, operations + ?1, bytes + ?2, rejects + ?3)
        WHERE number = 1 AND \(Table.usage.isSound())
        """
    )
}
