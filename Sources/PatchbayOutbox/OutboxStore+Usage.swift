/// What an outbox holds, as its bounds count it.
package struct OutboxUsage: Sendable, Equatable, CustomStringConvertible {
    /// Operations that are on their way to somebody.
    package var operations: Int64 = 0
    /// The bytes of their bodies.
    package var bytes: Int64 = 0
    /// Rejected operations that are kept for replay.
    package var rejects: Int64 = 0

    /// What an operation takes in the file besides its body, about: its other columns, a route and the indexes.
    private static let overhead: Int64 = 512

    /// What the operations take in the file, about.
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

/// The counts that the bounds rest on are kept in the transactions that change them: no capture ever has to count.
extension OutboxStore {
    /// What the outbox holds now, in the transaction at hand too.
    package func usage() throws(OutboxError) -> OutboxUsage {
        try carryOutEndingsNow()
        guard var usage = try notedUsage() else { return try countedUsage() }
        if connection.isInTransaction { usage += usageChange }
        return usage
    }

    /// What the outbox noted at its last commit; nil if that was damaged.
    func notedUsage() throws(OutboxError) -> OutboxUsage? {
        try soundRows(.usage, Self.noted) { row in
            OutboxUsage(operations: row.integer(1), bytes: row.integer(2), rejects: row.integer(3))
        }.first
    }

    /// What the outbox holds, counted row by row.
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

    /// Notes what this transaction changed, at its end.
    func storeUsage() throws(OutboxError) {
        if !mustRecount {
            guard usageChange != OutboxUsage() else { return }
            let changed = try connection.run(
                Self.changeUsage,
                .integer(usageChange.operations),
                .integer(usageChange.bytes),
                .integer(usageChange.rejects)
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

    /// Deletes an operation; one that is still on its way to somebody only if that does not matter.
    func deleteOperation(_ sequence: Int64, evenRouted: Bool = false) throws(OutboxError) {
        let statement = try connection.statement(evenRouted ? Self.delete : Self.deleteUnrouted)
        defer { statement.reset() }
        try statement.bind([.integer(sequence)])
        var isGone = false
        while try statement.step() {
            usageChange += OutboxUsage(operations: -1, bytes: -statement.integer(0))
            isGone = true
        }
        if isGone { try removeHearings(sequence...sequence) }
    }

    /// Forgets the oldest rejected operations beyond `rejectLimit`, if this transaction added any.
    func trimRejects() throws(OutboxError) {
        guard usageChange.rejects > 0, rejectLimit < .max else { return }
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
            usageChange.rejects -= Int64(count)
            onForgotten?(provider, count)
        }
    }

    // MARK: What may have to go

    /// Pending operations behind a sequence, the oldest first.
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

    /// The pending operation of an id.
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

    /// Pending operations of one subject behind a sequence, the oldest first.
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

    /// The providers that an operation is on its way to, and whether one of them has begun with it.
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

    /// The highest sequence that was given out.
    package func newestSequence() throws(OutboxError) -> Int64 {
        if let lastSequence, connection.isInTransaction { return lastSequence }
        return try guarded { () throws(OutboxError) in
            try connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'operation'") ?? 0
        }
    }
}

extension OutboxOperation {
    /// An operation from the columns of its table.
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
