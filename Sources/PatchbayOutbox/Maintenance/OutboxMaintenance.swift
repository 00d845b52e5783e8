/// Verification, checkpoints, and the removal of deleted data from the disk.
package final class OutboxMaintenance {
    unowned let store: OutboxStore
    #if os(Linux)
    /// The log's file, if it is extended ahead of time.
    private var log: LogFile?
    #endif

    init(store: OutboxStore) { self.store = store }

    // MARK: Write-ahead log

    /// The number of pages (16 MiB) above which the write-ahead log is checkpointed.
    private static let longLog = 4096

    /// Checkpoints the write-ahead log if it has become long. Never waits.
    package func checkpointIfLong() throws(OutboxError) {
        if store.connection.logPages > Self.longLog { try checkpoint() }
    }

    /// Extends the write-ahead log's file if little space is left in it. A commit that overwrites existing bytes waits for the
    /// disk half as long as a commit that extends the file.
    ///
    /// Does nothing after a large commit, because such a commit spends most of its time on writing the bytes themselves.
    ///
    /// - Parameter run: Runs the extension on any thread. The store does not wait for it, and commits continue meanwhile.
    package func lengthenLogIfShort(_ run: (@escaping @Sendable () -> Void) -> Void) {
        #if os(Linux)
        guard let log, !store.isReadOnly, !store.isSuspended, store.connection.committedPages <= Self.smallCommit else {
            return
        }
        let end = Int64(store.connection.logPages * Self.frame)
        if log.isShort(behind: end) { run { log.grow(behind: end) } }
        #endif
    }

    /// Discards the known state of the log's file. Called when the store has a new connection.
    func noteNewLog() {
        store.file?.forgetSidecars()
        #if os(Linux)
        log = store.connection.logPath.map(LogFile.init)
        #endif
    }

    /// The number of bytes of a page in the log, including its frame header.
    private static let frame = 4096 + 24
    /// The maximum number of pages in a small commit.
    private static let smallCommit = 32

    /// Copies committed pages from the write-ahead log into the file, as far as readers allow. Never waits.
    ///
    /// The engine calls this off the commit path. Commits never do it themselves.
    package func checkpoint() throws(OutboxError) {
        guard store.file != nil, !store.isReadOnly, !store.isSuspended else { return }
        try store.guarded { () throws(OutboxError) in try store.connection.passiveCheckpoint() }
    }

    // MARK: Bytes on disk

    /// Deletes the damaged files that recoveries set aside, because their rows cannot be erased individually.
    ///
    /// - Returns: The number of files.
    package func removeDamagedFiles() -> Int { store.isReadOnly ? 0 : store.file?.removeDamaged() ?? 0 }

    private static let unswept = "unswept"

    /// Records, with the current transaction, that the write-ahead log contains data that must not stay on disk.
    package func requireSweep() throws(OutboxError) { try store.state.setMeta(Self.unswept, "1") }

    /// Copies the write-ahead log into the file and empties it, if it contains data that must not stay on disk.
    ///
    /// Deleted rows are overwritten in the file, but their older images stay in the log until then.
    ///
    /// - Returns: False if a reader prevents it; the next call tries again.
    @discardableResult
    package func sweep() throws(OutboxError) -> Bool {
        guard store.file != nil, !store.isReadOnly, try store.state.meta(Self.unswept) != nil else { return true }
        return try store.guarded { () throws(OutboxError) in
            guard try store.connection.truncatingCheckpoint() else { return false }
            try store.state.setMeta(Self.unswept, nil)
            return true
        }
    }
}
