extension OutboxStore {
    /// Deletes a provider's adapter memory, its closed queues, and its journal.
    package func clearProviderState(_ provider: String) throws(OutboxError) {
        for table in [Table.memory, .block, .journal] {
            try change("DELETE FROM \(table.name) WHERE provider = ?1", .text(provider))
        }
        noteUpheaval()
    }
}
