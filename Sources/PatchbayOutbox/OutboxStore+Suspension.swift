/// A store that lets go of its file for a while: no lock, no open descriptor, nothing that the system must end a process for.
extension OutboxStore {
    /// Closes the file until ``wakeUp()``; every call that needs it fails meanwhile. A store in memory stays as it is.
    package func suspend() throws(OutboxError) {
        guard file != nil, !isSuspended else { return }
        guard !connection.isInTransaction else {
            throw OutboxError(.misuse, "A transaction was under way when the store was to be suspended.")
        }
        try setDamagedRowsAside()
        connection = try Connection(.memory, .readWrite)
        isSuspended = true
    }

    /// Opens the file again.
    ///
    /// - Throws: `io` if another process has moved it away (a recovery): then it must be opened anew. `newer` if a later
    ///   release has changed it. And what opening throws.
    package func wakeUp() throws(OutboxError) {
        guard isSuspended, let file else { return }
        try file.requireUnmoved()
        let opened = try Connection(.file(file.path), .readWrite)
        var report = OpenReport()
        try Self.prepare(opened, &report)
        opened.setPatience(patience)
        (connection, synchronous, heardEnd, isSuspended) = (opened, nil, nil, false)
        noteForeignCommit()
        noteUpheaval()
    }

    func requireAwake() throws(OutboxError) {
        guard isSuspended else { return }
        throw OutboxError(.io, "The outbox is suspended.", remedy: "Wake it up first.")
    }
}
