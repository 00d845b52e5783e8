import CSQLite

/// Access to the file below the tables, through SQLite's own descriptor. Opening and closing another descriptor would drop all
/// locks that this process holds on the file.
extension Connection {
    /// Copies the file's bytes as they are. Bytes that the disk cannot read stay zero.
    func copyBytes(to other: String) throws(OutboxError) {
        OutboxFile.delete(other)
        let size = withFile { $0.size($1) } ?? 0
        // SQLite's file methods return less than 128 KiB per call.
        for place in stride(from: 0, to: Int(size), by: 1 << 16) {
            var bytes = [UInt8](repeating: 0, count: min(1 << 16, Int(size) - place))
            _ = withFile { $0.xRead($1, &bytes, Int32(bytes.count), Int64(place)) }
            try OutboxFile.write(bytes, to: other, at: place)
        }
    }

    /// Takes the lock that every writer of a file with a write-ahead log takes, even if the file's content is damaged. Also
    /// takes a lock that prevents other processes from removing the log.
    ///
    /// Use it only on a connection that does nothing else.
    ///
    /// - Throws: `busy` if another process writes for longer than five seconds.
    func lockWriters() throws(OutboxError) {
        try locking { $0.xLock($1, SQLITE_LOCK_SHARED) }
        var index: UnsafeMutableRawPointer?
        try locking { methods, file in methods.xShmMap.map { $0(file, 0, Self.indexSize, 1, &index) } }
        try locking { methods, file in
            methods.xShmLock.map { $0(file, Self.writersLock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) }
        }
    }

    /// Releases the locks.
    func unlockWriters() {
        _ = withFile { methods, file in
            _ = methods.xShmLock(file, Self.writersLock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
            _ = methods.xShmUnmap(file, 0)
            return methods.xUnlock(file, SQLITE_LOCK_NONE)
        }
    }

    /// The size in bytes of the first part of the log's index, and the offset of the writers' lock in it. Both are part of
    /// SQLite's file format.
    private static let indexSize: Int32 = 32_768
    private static let writersLock: Int32 = 0

    /// Retries until no other process holds the lock.
    private func locking(
        _ attempt: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32?
    ) throws(OutboxError) {
        try retryingWhileBusy { () throws(OutboxError) in
            let result = withFile(attempt) ?? SQLITE_NOLFS
            if result != SQLITE_OK { throw lockingError(result) }
        }
    }
}
