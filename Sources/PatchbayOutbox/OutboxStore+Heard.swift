/// What became of an operation at a provider.
package enum Hearing: Int64, Sendable {
    /// The provider never had it, or let it move away.
    case none
    /// It refused it.
    case refused
    /// It waits there, or ended otherwise.
    case taken
}

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

    /// What became of an operation at a provider, as far back as the history goes.
    package func hearing(of id: String, provider: String) throws(OutboxError) -> Hearing {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            try fillHeard()
            let most = try connection.number(
                """
                SELECT max(hearing) FROM (
                    SELECT hearing FROM heard WHERE id = ?1 AND provider = ?2
                    UNION ALL SELECT ?3 FROM operation o, route r
                    WHERE o.id = ?1 AND r.sequence = o.sequence AND r.provider = ?2)
                """,
                .text(id),
                .text(provider),
                .integer(Hearing.taken.rawValue)
            )
            return most.flatMap(Hearing.init) ?? .none
        }
    }

    /// Brings an index of the history by id up to date; it lies beside the file, on the disk, and goes with the connection.
    private func fillHeard() throws(OutboxError) {
        if heardEnd == nil {
            try connection.script(
                """
                DROP TABLE IF EXISTS temp.heard;
                CREATE TEMP TABLE heard (
                    id TEXT NOT NULL, provider TEXT NOT NULL, hearing INTEGER NOT NULL,
                    PRIMARY KEY (id, provider, hearing)) WITHOUT ROWID
                """
            )
            heardEnd = 0
        }
        let end = try historyEnd()
        guard var known = heardEnd, known < end else { return }
        // A part at a time: the ids are never all in memory.
        while case let part = try remembered(behind: known, limit: 1_024), let last = part.last {
            for ending in part {
                try connection.run(
                    Self.hear,
                    .text(ending.entry.id),
                    .text(ending.entry.provider),
                    .integer((Self.hearings[ending.entry.term] ?? .taken).rawValue)
                )
            }
            known = last.number
        }
        heardEnd = end
    }

    /// By the term of an ending.
    private static let hearings: [String: Hearing] = ["moved": .none, "shadowed": .none, "rejected": .refused]
    private static let hear = Query("INSERT OR IGNORE INTO heard (id, provider, hearing) VALUES (?1, ?2, ?3)")
}
