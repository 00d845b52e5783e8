/// Detection of commits by other connections.
extension OutboxStore {
    /// Makes the store assume that another process has committed. It is called when the store is woken up, and by tests.
    package func noteForeignCommit() {
        foreignCommits += 1
        versionAtHand = nil
        settlement.forgetNotedCount()
    }

    /// Returns a number that changes only when another process has committed, or may have committed while the store was
    /// suspended.
    package func foreignVersion() throws(OutboxError) -> Int64 {
        guard isLooking || connection.isInTransaction else { return try readForeignVersion() }
        if let versionAtHand { return versionAtHand }
        let version = try readForeignVersion()
        versionAtHand = version
        return version
    }

    /// Runs `body` on one observed state of the file: commits by other processes become visible at the next call. A
    /// transaction inside `body` sees the state at its start, and that state then applies to the rest of `body`. A nested
    /// call belongs to the outer one.
    package func look<T>(_ body: () throws -> T) rethrows -> T {
        if isLooking { return try body() }
        (isLooking, versionAtHand) = (true, nil)
        defer { (isLooking, versionAtHand) = (false, nil) }
        return try body()
    }

    private func readForeignVersion() throws(OutboxError) -> Int64 {
        try foreignCommits << 32 + (connection.number(Self.dataVersion) ?? 0)
    }

    private static let dataVersion = Query("PRAGMA data_version")
}
