/// Operations that wait in closed queues until the same second.
package struct ClosedQueues: Sendable, Equatable {
    /// By when they have opened, on the engine's timeline; nil without such an instant.
    package var until: Int64?
    /// Whether a wake opens them, too.
    package var orWoken: Bool
    /// How many queues there are.
    package var queues: Int
    /// How many operations wait in them.
    package var operations: Int
}

extension OutboxStore {
    /// The closed queues of a provider in which something waits that nothing else holds back, the first to open first.
    package func closedQueues(provider: String) throws(OutboxError) -> [ClosedQueues] {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(Self.closed)
            defer { statement.reset() }
            try statement.bind([.text(provider)])
            var found: [ClosedQueues] = []
            while try statement.step() {
                found.append(
                    ClosedQueues(
                        until: statement.optionalInteger(0),
                        orWoken: statement.bool(1),
                        queues: Int(statement.integer(2)),
                        operations: Int(statement.integer(3))
                    )
                )
            }
            return found
        }
    }

    /// How many operations of a provider nothing in the file holds back: those that failed before, and those that did not.
    package func openOperations(provider: String) throws(OutboxError) -> (failed: Int, fresh: Int) {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(Self.open)
            defer { statement.reset() }
            try statement.bind([.text(provider)])
            guard try statement.step() else { return (0, 0) }
            let failed = Int(statement.optionalInteger(1) ?? 0)
            return (failed, Int(statement.integer(0)) - failed)
        }
    }

    private static let isOnItsWay = """
        route.hold IS NULL AND NOT EXISTS (
            SELECT 1 FROM ending WHERE ending.provider = route.provider AND ending.sequence = route.sequence)
        """

    private static let open = Query(
        """
        SELECT count(*), sum(failures > 0) FROM route
        WHERE provider = ?1 AND \(isOnItsWay) AND NOT EXISTS (
            SELECT 1 FROM block
            WHERE block.provider = route.provider AND block.lane = route.lane AND block.queue = route.queue)
        """
    )

    private static let closed = Query(
        """
        SELECT until, or_woken, count(*), sum(waiting) FROM (
            SELECT (until + 999) / 1000 * 1000 AS until, or_woken, (
                SELECT count(*) FROM route
                WHERE route.provider = block.provider AND route.lane = block.lane AND route.queue = block.queue
                    AND \(isOnItsWay)
            ) AS waiting
            FROM block WHERE provider = ?1 AND \(Table.block.isSound()))
        WHERE waiting > 0 GROUP BY until, or_woken ORDER BY until IS NULL, until, or_woken
        """
    )
}
