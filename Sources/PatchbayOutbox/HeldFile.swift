/// A damaged file to which nobody writes until it is released: a recovery reads it and moves it away meanwhile.
///
/// What others want to commit waits for the lock, and finds inside it that the file has gone.
final class HeldFile {
    /// What its rows are read from.
    let source: Connection
    /// Has the lock where a transaction of the source can't: the header is damaged.
    private let keeper: Connection?

    /// Waits until nobody writes.
    ///
    /// - Throws: `busy` when somebody writes for longer than five seconds; what opening and locking throw.
    init(_ path: String) throws(OutboxError) {
        source = try Connection(.file(path), .readWrite)
        // A damaged list of tables ends no reading.
        try? source.script("PRAGMA writable_schema = ON")
        do {
            try source.script("BEGIN IMMEDIATE")
            keeper = nil
        } catch {
            guard error.code != .busy else { throw error }
            // The index of the log is made by the first who reads, under the lock of writers: while it can still be had.
            _ = try? source.number("SELECT count(*) FROM sqlite_schema")
            let keeper = try Connection(.file(path), .readWrite)
            try keeper.lockWriters()
            self.keeper = keeper
            // One read transaction: every look sees the same file, and none has to lock it anew.
            try? source.script("BEGIN")
        }
    }

    /// Lets go of the lock.
    func release() {
        try? source.script("ROLLBACK")
        keeper?.unlockWriters()
    }
}
