/// Which operations were ever heard of, asked one by one: the ids are never all in memory.
extension OutboxStore {
    /// Whether an operation is pending, or ended as far back as the history goes.
    package func knows(_ id: String) throws(OutboxError) -> Bool {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            try fillHeard()
            return try connection.number(
                "SELECT 1 WHERE EXISTS (SELECT 1 FROM operation WHERE id = ?1) OR EXISTS (SELECT 1 FROM heard WHERE id = ?1)",
                .text(id)
            ) != nil
        }
    }

    /// Whether a provider has an operation among what is pending there, or ended it otherwise than by letting it move away.
    package func hasHeard(_ id: String, provider: String) throws(OutboxError) -> Bool {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            try fillHeard()
            return try connection.number(
                """
                SELECT 1 WHERE EXISTS (SELECT 1 FROM operation o, route r
                        WHERE o.id = ?1 AND r.sequence = o.sequence AND r.provider = ?2)
                    OR EXISTS (SELECT 1 FROM heard WHERE id = ?1 AND provider = ?2 AND is_moved = 0)
                """,
                .text(id),
                .text(provider)
            ) != nil
        }
    }

    /// Brings an index of the history by id up to date; it lies beside the file, on the disk, and goes with the connection.
    private func fillHeard() throws(OutboxError) {
        if heardEnd == nil {
            try connection.script(
                """
                DROP TABLE IF EXISTS temp.heard;
                CREATE TEMP TABLE heard (
                    id TEXT NOT NULL, provider TEXT NOT NULL, is_moved INTEGER NOT NULL,
                    PRIMARY KEY (id, provider, is_moved)) WITHOUT ROWID
                """
            )
            heardEnd = 0
        }
        let end = try historyEnd()
        guard var known = heardEnd, known < end else { return }
        // A part at a time: the ids are never all in memory.
        while case let part = try remembered(behind: known, limit: 1_024), let last = part.last {
            for ending in part {
                let isMoved = ["moved", "shadowed"].contains(ending.entry.term)
                try connection.run(
                    Self.hear,
                    .text(ending.entry.id),
                    .text(ending.entry.provider),
                    .integer(isMoved ? 1 : 0)
                )
            }
            known = last.number
        }
        heardEnd = end
    }

    private static let hear = Query("INSERT OR IGNORE INTO heard (id, provider, is_moved) VALUES (?1, ?2, ?3)")
}
