/// Suspends a store: it closes its file and holds no lock and no descriptor for which the system would end a suspended process.
extension OutboxStore {
    /// Closes the file until ``wakeUp()``. Meanwhile every call that needs the file fails. An in-memory store is not affected.
    ///
    /// Calls `finish` as the last step before the file is closed, or if there is nothing to close. It is not called if an error
    /// is thrown.
    package func suspend(after finish: () -> Void = {}) throws(OutboxError) {
        guard file != nil, !isSuspended else { return finish() }
        guard !connection.isInTransaction else {
            throw OutboxError(.misuse, "A transaction was under way when the store was to be suspended.")
        }
        let nowhere = try Connection(.memory, .readWrite)
        // Rows that cannot be quarantined now will be found again. Closing the file must not wait.
        try? quarantine.setDamagedRowsAside()
        finish()
        connection = nowhere
        isSuspended = true
    }

    /// Opens the file again.
    ///
    /// - Throws: `io` if another process has moved the file away, as a recovery does; then open a new store. Also the errors of
    ///   opening.
    package func wakeUp() throws(OutboxError) {
        guard isSuspended, let file else { return }
        try file.requireUnmoved()
        let opened = try Connection(.file(file.path), .readWrite)
        var report = OpenReport()
        try OutboxFormat.prepare(opened, &report, file)
        opened.setTimeout(timeout)
        (connection, synchronous, isSuspended) = (opened, nil, false)
        deliveryMarks.forgetIndex()
        maintenance.noteNewLog()
        noteForeignCommit()
        queues.invalidateIndexes()
    }

    func requireAwake() throws(OutboxError) {
        guard isSuspended else { return }
        throw OutboxError(.io, "The outbox is suspended.", remedy: "Wake it up first.")
    }
}
