extension OutboxStore {
    /// The ids of the operations pending with one provider that another has too, or had without their moving away.
    package func heard(by provider: String, amongPendingOf other: String) throws(OutboxError) -> Set<String> {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(
                """
                SELECT o.id FROM route mine JOIN operation o ON o.sequence = mine.sequence
                WHERE mine.provider = ?2 AND EXISTS
                    (SELECT 1 FROM route theirs WHERE theirs.sequence = mine.sequence AND theirs.provider = ?1)
                UNION SELECT h.id FROM history h
                    JOIN operation o ON o.id = h.id JOIN route mine ON mine.sequence = o.sequence AND mine.provider = ?2
                WHERE h.provider = ?1 AND h.term <> 'moved'
                """
            )
            defer { statement.reset() }
            try statement.bind([.text(provider), .text(other)])
            var ids: Set<String> = []
            while try statement.step() { ids.insert(statement.text(0)) }
            return ids
        }
    }

    /// Forgets what an adapter remembers, which queues are closed, and what may be in flight.
    package func clearProviderState(_ provider: String) throws(OutboxError) {
        for table in [Table.memory, .block, .journal] {
            try change("DELETE FROM \(table.name) WHERE provider = ?1", .text(provider))
        }
        noteUpheaval()
    }
}
