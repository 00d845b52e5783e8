/// Consistent reads of one state of the file.
extension OutboxStore {
    /// Runs reads on a single state of the file, even if other processes commit meanwhile. `body` must not write. Inside a
    /// transaction, that transaction's state applies.
    ///
    /// If a read finds a damaged row, the row is quarantined and `body` runs again.
    package func snapshot<T>(_ body: () throws -> T) throws -> T {
        guard !connection.isInTransaction else { return try body() }
        let before = quarantine.damagedCount
        let found = try inSnapshot(body)
        guard quarantine.damagedCount != before, !isReadOnly else { return found }
        try quarantine.setDamagedRowsAside()
        return try inSnapshot(body)
    }

    private func inSnapshot<T>(_ body: () throws -> T) throws -> T {
        try guarded { () throws(OutboxError) in try connection.script("BEGIN") }
        isInSnapshot = true
        defer {
            isInSnapshot = false
            if connection.isInTransaction { try? connection.script("ROLLBACK") }
            if !isLooking { versionAtHand = nil }
        }
        return try body()
    }
}
