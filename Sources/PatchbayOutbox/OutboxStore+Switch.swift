extension OutboxStore {
    /// Forgets what an adapter remembers, which queues are closed, and what may be in flight.
    package func clearProviderState(_ provider: String) throws(OutboxError) {
        for table in [Table.memory, .block, .journal] {
            try change("DELETE FROM \(table.name) WHERE provider = ?1", .text(provider))
        }
        noteUpheaval()
    }
}
