/// A summary of the closed queues of one lane. It does not list the queues, because there may be very many.
package struct QueueClosings: Sendable, Equatable {
    /// Whether any queue is closed.
    package var isAny = false
    /// The time at which the first of them opens by itself, in milliseconds on the engine's timeline; nil if none does.
    package var first: Int64?
    /// Whether a wake may open any of them.
    package var mayBeWoken = false
    /// Whether a capture or a read may open any of them, which applies to queues that do not open at an instant.
    package var mayBeOpenedByCapture = false

    package init() {}

    /// Adds a closed queue.
    package mutating func add(until: Int64?, orWoken: Bool) {
        isAny = true
        mayBeWoken = mayBeWoken || orWoken
        mayBeOpenedByCapture = mayBeOpenedByCapture || orWoken && until == nil
        if let until { first = min(first ?? until, until) }
    }

    /// Records that a wake opened its queues. If `timed` is true, this includes queues that an instant opens.
    package mutating func noteOpened(timed: Bool) {
        mayBeOpenedByCapture = false
        if timed { mayBeWoken = false }
    }
}

/// Closed queues. A queue is closed while its row exists.
package final class OutboxClosedQueues {
    private unowned let store: OutboxStore

    init(store: OutboxStore) { self.store = store }

    /// Closes a queue until an instant, in milliseconds on the engine's timeline, until a wake (`orWoken`), or until the earlier
    /// of both. A later call replaces the earlier one.
    package func close(
        provider: String,
        lane: String,
        queue: String,
        until: Int64?,
        orWoken: Bool
    ) throws(OutboxError) {
        try store.put(.block, .text(provider), .text(lane), .text(queue), .optional(until), .integer(orWoken ? 1 : 0))
    }

    /// Opens the queues of a lane that are due, at most `limit`, beginning with those that have been due longest. Returns their
    /// names.
    package func openDue(
        provider: String,
        lane: String,
        at now: Int64,
        limit: Int
    ) throws(OutboxError) -> [String] {
        try store.atomically { () throws(OutboxError) in
            let due: [SQLValue] = [.text(provider), .text(lane), .integer(now), .integer(limit)]
            var names: [String] = []
            do {
                let statement = try store.connection.statement(Self.dueQueues)
                defer { statement.reset() }
                try statement.bind(due)
                while try statement.step() { names.append(statement.text(0)) }
            }
            if !names.isEmpty { try store.connection.run(Self.deleteDue, due) }
            return names
        }
    }

    /// Opens the queues of a provider, or of one of its lanes, that a wake opens. If `timed` is false, opens only those that do
    /// not open at an instant.
    package func openWoken(provider: String, lane: String? = nil, timed: Bool = true) throws(OutboxError) {
        let place = lane == nil ? "?2 IS NULL" : "lane = ?2"
        let opened = try store.change(
            "DELETE FROM block WHERE provider = ?1 AND or_woken = 1 AND \(place)\(timed ? "" : " AND until IS NULL")",
            .text(provider),
            .optional(lane)
        )
        if opened > 0 { store.queues.invalidateIndexes() }
    }

    static let dueQueues = Query("SELECT queue \(due)")
    static let deleteDue = Query("DELETE FROM block WHERE rowid IN (SELECT rowid \(due))")
    private static let due = """
        FROM block INDEXED BY block_by_end
        WHERE provider = ?1 AND lane = ?2 AND until <= ?3 ORDER BY until, rowid LIMIT ?4
        """

    /// Summarizes the closed queues of a lane. Reads every row and quarantines damaged ones.
    package func closings(provider: String, lane: String) throws(OutboxError) -> QueueClosings {
        var closings = QueueClosings()
        _ = try store.soundRows(
            .block,
            where: "provider = ?1 AND lane = ?2",
            order: "queue",
            .text(provider),
            .text(lane)
        ) { row in
            closings.add(until: row.optionalInteger(3), orWoken: row.bool(4))
        }
        return closings
    }

    /// Updates a summary after queues were opened. Reads only index keys, not the rows.
    package func refresh(_ closings: inout QueueClosings, provider: String, lane: String) throws(OutboxError) {
        let isAny = try store.connection.number(Self.anyBlock, .text(provider), .text(lane))
        closings.isAny = isAny != nil
        closings.first = try store.connection.number(Self.firstEnd, .text(provider), .text(lane))
        closings.mayBeWoken = closings.mayBeWoken && closings.isAny
        closings.mayBeOpenedByCapture = closings.mayBeOpenedByCapture && closings.isAny
    }

    private static let anyBlock = Query("SELECT 1 FROM block WHERE provider = ?1 AND lane = ?2 LIMIT 1")
    static let firstEnd = Query(
        """
        SELECT until FROM block INDEXED BY block_by_end
        WHERE provider = ?1 AND lane = ?2 AND until IS NOT NULL ORDER BY until LIMIT 1
        """
    )

    /// Returns the closed queues of one lane, or of the whole provider.
    package func list(provider: String, lane: String?) throws(OutboxError) -> [QueueBlock] {
        try store.soundRows(
            .block,
            where: lane == nil ? "provider = ?1 AND ?2 IS NULL" : "provider = ?1 AND lane = ?2",
            order: "lane, queue",
            .text(provider),
            .optional(lane)
        ) { row in
            QueueBlock(
                lane: row.text(1),
                queue: row.text(2),
                until: row.optionalInteger(3),
                orWoken: row.bool(4)
            )
        }
    }

    /// Opens every empty queue that is named after a subject, or that is in a lane of that name.
    package func openEmpty(named subject: String) throws(OutboxError) {
        try store.change(
            """
            DELETE FROM block WHERE (queue = ?1 OR lane = ?1) AND NOT EXISTS (
                SELECT 1 FROM route
                WHERE route.provider = block.provider AND route.lane = block.lane AND route.queue = block.queue)
            """,
            .text(subject)
        )
    }
}
