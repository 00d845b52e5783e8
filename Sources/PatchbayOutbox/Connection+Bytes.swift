import CSQLite

/// The file below the tables, through SQLite's own descriptor of it: whoever opens and closes another one loses all locks
/// that this process has on the file.
extension Connection {
    /// Copies the file's bytes as they stand. What the disk does not give stays zeros.
    func copyBytes(to other: String) throws(OutboxError) {
        OutboxFile.delete(other)
        let size = withFile { $0.size($1) } ?? 0
        // SQLite's files give less than 128 KiB at once.
        for place in stride(from: 0, to: Int(size), by: 1 << 16) {
            var bytes = [UInt8](repeating: 0, count: min(1 << 16, Int(size) - place))
            _ = withFile { $0.xRead($1, &bytes, Int32(bytes.count), Int64(place)) }
            try OutboxFile.write(bytes, to: other, at: place)
        }
    }

    /// Takes the lock that every writer of a file with a write-ahead log takes, whatever stands in the file; and one that lets
    /// nobody else take the log away.
    ///
    /// Only for a connection that does nothing else.
    ///
    /// - Throws: `busy` when somebody writes for longer than five seconds.
    func lockWriters() throws(OutboxError) {
        try locking { $0.xLock($1, SQLITE_LOCK_SHARED) }
        var index: UnsafeMutableRawPointer?
        try locking { methods, file in methods.xShmMap.map { $0(file, 0, Self.indexSize, 1, &index) } }
        try locking { methods, file in
            methods.xShmLock.map { $0(file, Self.writersLock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) }
        }
    }

    /// Gives the locks back.
    func unlockWriters() {
        _ = withFile { methods, file in
            _ = methods.xShmLock(file, Self.writersLock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
            _ = methods.xShmUnmap(file, 0)
            return methods.xUnlock(file, SQLITE_LOCK_NONE)
        }
    }

    /// The first part of the log's index, in bytes, and the place of the writers' lock in it: part of SQLite's file format.
    private static let indexSize: Int32 = 32_768
    private static let writersLock: Int32 = 0

    /// Tries until nobody else is in the way.
    private func locking(
        _ attempt: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32?
    ) throws(OutboxError) {
        try patiently { () throws(OutboxError) in
            let result = withFile(attempt) ?? SQLITE_NOLFS
            if result != SQLITE_OK { throw lockingError(result) }
        }
    }
}
