extension OutboxStore {
    /// Opens an outbox. Creates or recovers the file if necessary.
    ///
    /// - Parameters:
    ///   - location: The file, or a private in-memory store.
    ///   - readOnly: Whether to open the outbox only for reading. If true, nothing is created or recovered.
    /// - Returns: The store; its `openReport` describes what happened.
    /// - Throws: `cannotOpen`, also for another program's file; `otherVersion` for a file of another schema, which is left
    ///   unchanged; `readOnly`, `full`, `busy`, `io`; with `readOnly` also `corrupt`.
    package static func open(_ location: OutboxLocation, readOnly: Bool = false) throws(OutboxError) -> OutboxStore {
        switch location {
        case .memory, .shared:
            let connection = try Connection(location, .readWrite)
            var report = OpenReport()
            try OutboxFormat.prepare(connection, &report)
            return OutboxStore(connection, file: nil, isReadOnly: readOnly, report: report)
        case .file(let path) where readOnly:
            do throws(OutboxError) {
                return try openForLooking(path)
            } catch  where error.code == .misuse {
                // The queries are correct for the outbox schema, so this error means that the file has a damaged schema.
                throw OutboxError(.corrupt, error.detail)
            }
        case .file(let path):
            return try openForWriting(OutboxFile(path))
        }
    }

    private static func openForLooking(_ path: String) throws(OutboxError) -> OutboxStore {
        let connection = try openForReading(path)
        guard case .outbox = try OutboxFormat.examine(connection) else {
            throw OutboxError(
                .cannotOpen,
                "\(path) is empty.",
                remedy: "Check the path. `patchbay send` creates an outbox."
            )
        }
        try OutboxFormat.requireSoundSchema(connection, path)
        return OutboxStore(connection, file: OutboxFile(path), isReadOnly: true, report: OpenReport())
    }

    /// Opens a file for reading. A file in a read-only folder is read as it is, if it has no write-ahead log.
    private static func openForReading(_ path: String) throws(OutboxError) -> Connection {
        guard OutboxFile.exists(path) else {
            throw OutboxError(.cannotOpen, "\(path) does not exist.", remedy: "Check the path.")
        }
        do {
            let connection = try Connection(.file(path), .readOnly)
            _ = try connection.number("SELECT count(*) FROM sqlite_schema")
            return connection
        } catch {
            try OutboxFile(path).requireOutboxFormat()
            guard error.code == .cannotOpen || error.code == .readOnly, (OutboxFile.size(path + "-wal") ?? 0) == 0
            else {
                throw error
            }
            return try Connection(.file(path), .immutable)
        }
    }

    private static func openForWriting(_ file: OutboxFile) throws(OutboxError) -> OutboxStore {
        var report = OpenReport()
        try Recovery.provide(file)
        try file.requireOutboxFormat()
        file.adopt()
        do {
            let connection = try Connection(.file(file.path), .readWrite)
            try OutboxFormat.prepare(connection, &report, file)
            if !report.created { try OutboxFormat.requireSound(connection, file) }
            return OutboxStore(connection, file: file, isReadOnly: false, report: report)
        } catch  where isDamage(error, file) || !file.isUnmoved {
            // If the file was moved away, another process is recovering it. The next attempt waits for that process.
            report = OpenReport()
            report.recovery = try Recovery.run(on: file, reason: error.detail)
        }
        file.adopt()
        let connection = try Connection(.file(file.path), .readWrite)
        try OutboxFormat.prepare(connection, &report, file)
        return OutboxStore(connection, file: file, isReadOnly: false, report: report)
    }

    /// Whether an error on opening means that the file's content is damaged, and not that its environment prevents the access.
    ///
    /// A damaged header can also appear as an unknown format, a schema that does not parse, or a file that claims to be
    /// read-only.
    private static func isDamage(_ error: OutboxError, _ file: OutboxFile) -> Bool {
        switch error.code {
        case .corrupt, .misuse: true
        case .readOnly: file.isWritable
        default: false
        }
    }
}
