/// Pending operations of one kind in one queue.
package struct PendingGroup: Sendable, Equatable {
    package var lane: String
    package var queue: String
    /// The name of the hold on these operations; nil if there is none.
    package var hold: String?
    /// The kind of action, as the operation's JSON names it.
    package var kind: String
    /// Whether an earlier attempt failed.
    package var hasFailed: Bool
    /// The number of operations.
    package var count: Int
    /// The time at which the first of them was captured, by the wall clock.
    package var firstCapturedAt: Int64
    /// The queue's closing; nil for an open queue.
    package var closing: Closing?

    /// The conditions that open a closed queue.
    package struct Closing: Sendable, Equatable {
        /// The time at which it opens, on the engine's timeline; nil if there is none.
        package var until: Int64?
        /// Whether a wake also opens it.
        package var orWoken: Bool
    }
}

extension OutboxOperations {
    /// Passes the pending operations of a provider to `body`, grouped by lane, queue, and kind.
    ///
    /// Reads every pending row once. It is meant for reports to people, not for delivery.
    package func forEachPendingGroup(provider: String, _ body: (PendingGroup) throws -> Void) throws {
        try store.settlement.applyNoted()
        let statement = try store.connection.statement(Self.pendingGroups)
        defer { statement.reset() }
        try statement.bind([.text(provider)])
        while try statement.step() {
            try body(
                PendingGroup(
                    lane: statement.text(0),
                    queue: statement.text(1),
                    hold: statement.optionalText(2),
                    kind: statement.optionalText(3) ?? "unreadable",
                    hasFailed: statement.bool(4),
                    count: Int(statement.integer(5)),
                    firstCapturedAt: statement.integer(6),
                    closing: statement.bool(9)
                        ? .init(until: statement.optionalInteger(7), orWoken: statement.bool(8)) : nil
                )
            )
        }
    }

    private static let pendingGroups = Query(
        """
        SELECT route.lane, route.queue, route.hold,
            CASE WHEN json_valid(CAST(body AS TEXT)) THEN json_extract(CAST(body AS TEXT), '$.action.kind') END AS action_kind,
            route.failures > 0 AS has_failed, count(*), min(operation.captured_at), block.until, ifnull(block.or_woken, 0),
            block.provider IS NOT NULL
        FROM route JOIN operation ON operation.sequence = route.sequence
        LEFT JOIN block ON block.provider = route.provider AND block.lane = route.lane AND block.queue = route.queue
        WHERE route.provider = ?1 AND NOT EXISTS (
            SELECT 1 FROM notedOutcome noted WHERE noted.provider = route.provider AND noted.sequence = route.sequence)
        GROUP BY route.lane, route.queue, route.hold, action_kind, has_failed
        """
    )
}
