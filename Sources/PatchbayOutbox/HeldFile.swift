/// A damaged file that is locked against writers until it is released. Meanwhile a recovery reads it and moves it away.
///
/// Other processes that want to commit wait for the lock. When they get it, they detect that the file was moved away.
final class HeldFile {
    /// The connection from which its rows are read.
    let source: Connection
    /// Holds the lock if a transaction of `source` cannot, because the header is damaged.
    private let keeper: Connection?

    /// Waits until no process writes.
    ///
    /// - Throws: `busy` if another process writes for longer than five seconds; the errors of opening and locking.
    init(_ path: String) throws(OutboxError) {
        source = try Connection(.file(path), .readWrite)
        // With this setting, SQLite reads the file even if its schema table is damaged.
        try? source.script("PRAGMA writable_schema = ON")
        do {
            try source.script("BEGIN IMMEDIATE")
            keeper = nil
        } catch {
            guard error.code != .busy else { throw error }
            // The first reader creates the log's index under the writers' lock, so it must read while that lock is still
            // available.
            _ = try? source.number("SELECT count(*) FROM sqlite_schema")
            let keeper = try Connection(.file(path), .readWrite)
            try keeper.lockWriters()
            self.keeper = keeper
            // A single read transaction: every read sees the same file, and none has to lock it again.
            try? source.script("BEGIN")
        }
    }

    /// Releases the lock.
    func release() {
        try? source.script("ROLLBACK")
        keeper?.unlockWriters()
    }
}
