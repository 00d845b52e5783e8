import CSQLite

extension OutboxStore {
    /// Stands in every outbox file's header, so that another program's file is never taken for one: "Pbay".
    static let applicationID: Int64 = 0x5062_6179

    /// Opens an outbox; makes, migrates or recovers the file where needed. `openReport` says what happened.
    ///
    /// - Parameters:
    ///   - location: The file, or a private store in memory.
    ///   - readOnly: Looks only: nothing is made, migrated or recovered.
    /// - Throws: `cannotOpen`, also for a file of another program; `newer` for a file of a later release, left untouched;
    ///   `readOnly`, `full`, `busy`, `io`; with `readOnly` also `corrupt`.
    package static func open(_ location: OutboxLocation, readOnly: Bool = false) throws(OutboxError) -> OutboxStore {
        switch location {
        case .memory:
            let connection = try Connection(.memory, .readWrite)
            var report = OpenReport()
            try prepare(connection, &report)
            return OutboxStore(connection, file: nil, isReadOnly: readOnly, report: report)
        case .file(let path) where readOnly:
            let connection = try openForReading(path)
            guard case .outbox(let missing) = try examine(connection), missing.isEmpty else {
                throw OutboxError(
                    .cannotOpen,
                    "\(path) has not been set up by this release.",
                    remedy: "Open it once for writing."
                )
            }
            return OutboxStore(connection, file: OutboxFile(path), isReadOnly: true, report: OpenReport())
        case .file(let path):
            return try openForWriting(OutboxFile(path))
        }
    }

    private static func openForReading(_ path: String) throws(OutboxError) -> Connection {
        try Connection(.file(path), .readOnly)
    }

    private static func openForWriting(_ file: OutboxFile) throws(OutboxError) -> OutboxStore {
        var report = OpenReport()
        try file.createIfMissing()
        let connection = try Connection(.file(file.path), .readWrite)
        try prepare(connection, &report)
        return OutboxStore(connection, file: file, isReadOnly: false, report: report)
    }

    /// What stands in a database file.
    enum Content {
        case empty
        /// An outbox that lacks these migrations.
        case outbox(missing: [Migration])
    }

    /// Looks at a file without writing to it.
    ///
    /// - Throws: `cannotOpen` for another program's file, `newer` for a later release's, `corrupt` for a damaged one.
    static func examine(_ connection: Connection) throws(OutboxError) -> Content {
        let tables = try connection.number("SELECT count(*) FROM sqlite_schema") ?? 0
        let identity = try connection.number("PRAGMA application_id") ?? 0
        if tables == 0, identity == 0 { return .empty }
        let named = try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'migration'") ?? 0
        guard identity == applicationID, named == 1 else {
            throw OutboxError(
                .cannotOpen,
                "\(connection.name) is a SQLite file of another program.",
                remedy: "Give the outbox a file of its own."
            )
        }
        let applied = try appliedMigrations(connection)
        let known = Set(Migration.all.map(\.name))
        let strangers = applied.filter { !known.contains($0) }
        guard strangers.isEmpty else {
            throw OutboxError(
                .newer,
                "\(connection.name) holds \(strangers.count) schema migrations that this release does not know."
            )
        }
        return .outbox(missing: Migration.all.filter { !applied.contains($0.name) })
    }

    private static func appliedMigrations(_ connection: Connection) throws(OutboxError) -> [String] {
        let statement = try connection.statement(
            "SELECT name, checksum = row_checksum('migration', name) FROM migration"
        )
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() {
            guard statement.bool(1) else {
                throw OutboxError(.corrupt, "\(connection.name): the list of migrations is damaged.")
            }
            names.append(statement.text(0))
        }
        return names
    }

    /// Brings a connection and its file into working order.
    static func prepare(_ connection: Connection, _ report: inout OpenReport) throws(OutboxError) {
        if case .empty = try examine(connection) { try connection.script("PRAGMA page_size = 4096") }
        let mode = try connection.text("PRAGMA journal_mode = WAL")
        guard mode == "wal" || mode == "memory" else {
            throw OutboxError(
                .cannotOpen,
                "\(connection.name): the volume does not support a write-ahead log.",
                remedy: "Put the outbox on a local volume."
            )
        }
        try connection.script("PRAGMA wal_autocheckpoint = 0; PRAGMA trusted_schema = OFF")
        switch try examine(connection) {
        case .outbox(let missing) where missing.isEmpty: return
        default: try migrate(connection, &report)
        }
    }

    /// Applies what is missing in one transaction; another process may have been faster.
    private static func migrate(_ connection: Connection, _ report: inout OpenReport) throws(OutboxError) {
        try connection.script("BEGIN IMMEDIATE")
        do {
            let missing: [Migration]
            switch try examine(connection) {
            case .empty:
                report.created = true
                missing = Migration.all
                try connection.script(
                    """
                    PRAGMA application_id = \(applicationID);
                    CREATE TABLE migration (name TEXT NOT NULL PRIMARY KEY, checksum INTEGER NOT NULL)
                    """
                )
            case .outbox(let found):
                missing = found
                report.migrated = found.map(\.name)
            }
            for migration in missing {
                try connection.script(migration.script)
                try connection.run(
                    "INSERT INTO migration (name, checksum) VALUES (?1, row_checksum('migration', ?1))",
                    .text(migration.name)
                )
            }
            try connection.script("PRAGMA user_version = \(Migration.all.count); COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.script("ROLLBACK") }
            throw error
        }
    }
}
