/// Several looks at one state of the file.
extension OutboxStore {
    /// Runs looks that rest on one state of the file, whatever others commit meanwhile; nothing may be written in it. In a
    /// transaction it is that one's state.
    ///
    /// Where a damaged row is met, it is set aside and everything is looked at once more.
    package func snapshot<T>(_ body: () throws -> T) throws -> T {
        guard !connection.isInTransaction else { return try body() }
        let before = damagedSoFar
        let found = try inSnapshot(body)
        guard damagedSoFar != before, !isReadOnly else { return found }
        try setDamagedRowsAside()
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
