/// A store that lets go of its file for a while: no lock, no open descriptor, nothing that the system must end a process for.
extension OutboxStore {
    /// Closes the file until ``wakeUp()``; every call that needs it fails meanwhile. A store in memory stays as it is.
    ///
    /// `unregister` is the last that is done with the file; it is done only where the store lets go of it.
    package func suspend(after finish: () -> Void = {}) throws(OutboxError) {
        guard file != nil, !isSuspended else { return finish() }
        guard !connection.isInTransaction else {
            throw OutboxError(.misuse, "A transaction was under way when the store was to be suspended.")
        }
        let nowhere = try Connection(.memory, .readWrite)
        // What can't be set aside now is met again: letting go of the file must not wait.
        try? setDamagedRowsAside()
        finish()
        connection = nowhere
        isSuspended = true
    }

    /// Opens the file again.
    ///
    /// - Throws: `io` if another process has moved it away (a recovery): then it must be opened anew. And what opening
    ///   throws.
    package func wakeUp() throws(OutboxError) {
        guard isSuspended, let file else { return }
        try file.requireUnmoved()
        let opened = try Connection(.file(file.path), .readWrite)
        var report = OpenReport()
        try Self.prepare(opened, &report, file)
        opened.setTimeout(timeout)
        (connection, synchronous, heardEnd, isSuspended) = (opened, nil, nil, false)
        noteLog()
        noteForeignCommit()
        noteUpheaval()
    }

    func requireAwake() throws(OutboxError) {
        guard isSuspended else { return }
        throw OutboxError(.io, "The outbox is suspended.", remedy: "Wake it up first.")
    }
}
