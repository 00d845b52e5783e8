/// The database of an outbox: how it is recognized, verified, created, and configured.
enum OutboxFormat {
    /// The application id in every outbox file's header ("Pbay"), which identifies the file as an outbox.
    static let applicationID: Int64 = 0x5062_6179

    /// Files of at most this many pages (2 MiB) are verified completely at every start, each index against its table.
    private static let pagesProvedAtStart = 512
    /// Files of at most this many pages (16 MiB) are verified without comparing the indexes, which would take ten times as
    /// long.
    private static let pagesScannedAtStart = 4096

    /// Verifies the structure of a small file, and of a file that was found damaged while in use.
    ///
    /// Damage in a large file is detected when it is read; the file is then marked and verified at the next start.
    static func requireSound(_ connection: Connection, _ file: OutboxFile) throws(OutboxError) {
        try requireSoundSchema(connection, file.path)
        // The header forbids writing, although this user may write to the file.
        guard !connection.isReadOnly || !file.isWritable else {
            throw OutboxError(.corrupt, "\(file.path): the header is damaged.")
        }
        let pages = try connection.number("PRAGMA page_count") ?? 0
        guard file.isSuspect || pages <= pagesScannedAtStart else { return }
        let isProved = file.isSuspect || pages <= pagesProvedAtStart
        let word = try connection.text(isProved ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)")
        guard word == "ok" else {
            throw OutboxError(.corrupt, "\(file.path): \(word ?? "the structure cannot be checked").")
        }
        file.clearSuspectMark()
    }

    /// Verifies that the tables and indexes are the ones that this release creates.
    static func requireSoundSchema(_ connection: Connection, _ path: String) throws(OutboxError) {
        let reference = try Connection(.memory, .readWrite)
        try makeTables(reference)
        guard try schemaImage(connection) == schemaImage(reference) else {
            throw OutboxError(.corrupt, "\(path): the schema is damaged.")
        }
    }

    private static func schemaImage(_ connection: Connection) throws(OutboxError) -> String? {
        try connection.text(
            "SELECT group_concat(type || name || tbl_name || ifnull(sql, ''), char(10)) FROM (SELECT * FROM sqlite_schema ORDER BY name)"
        )
    }

    /// The kind of content found in a database file.
    enum Content {
        case empty, outbox
    }

    /// Examines a file without writing to it.
    ///
    /// - Throws: `cannotOpen` for another program's file, `otherVersion` for another schema version, `corrupt` for a damaged
    ///   file.
    static func examine(_ connection: Connection) throws(OutboxError) -> Content {
        let tables = try connection.number("SELECT count(*) FROM sqlite_schema") ?? 0
        let identity = try connection.number("PRAGMA application_id") ?? 0
        if tables == 0, identity == 0 { return .empty }
        let ownTables = try connection.number(
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('meta', 'operation', 'route') AND type = 'table'"
        )
        switch (identity == applicationID, ownTables == 3) {
        case (true, true): break
        case (true, false): throw OutboxError(.corrupt, "\(connection.name): tables are missing.")
        case (false, true): throw OutboxError(.corrupt, "\(connection.name): the header is damaged.")
        case (false, false):
            throw OutboxError(
                .cannotOpen,
                "\(connection.name) is a database of another program.",
                remedy: "Choose another path for the outbox."
            )
        }
        // The outbox has no views or triggers, and one in the file would run as part of our statements.
        guard try connection.number("SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')") == 0 else {
            throw OutboxError(
                .cannotOpen,
                "\(connection.name) has views or triggers, which no outbox has.",
                remedy: "Find out who added them, and choose another path for the outbox."
            )
        }
        let version = try version(of: connection)
        guard version == String(Schema.version) else {
            throw OutboxError(.otherVersion, "\(connection.name) has schema version \(version), not \(Schema.version).")
        }
        return .outbox
    }

    private static func version(of connection: Connection) throws(OutboxError) -> String {
        let statement = try connection.statement("SELECT value, \(Table.meta.isSound()) FROM meta WHERE key = ?1")
        defer { statement.reset() }
        try statement.bind([.text(Schema.versionKey)])
        guard try statement.step(), statement.bool(1) else {
            throw OutboxError(.corrupt, "\(connection.name): the version of the schema is damaged.")
        }
        return statement.text(0)
    }

    /// Configures a connection and prepares its file.
    static func prepare(
        _ connection: Connection,
        _ report: inout OpenReport,
        _ file: OutboxFile? = nil
    ) throws(OutboxError) {
        if case .empty = try examine(connection) { try connection.script("PRAGMA page_size = 4096") }
        let mode = try configure(connection)
        guard mode == "wal" || mode == "memory" else {
            throw OutboxError(
                .cannotOpen,
                "\(connection.name): the volume does not support a write-ahead log.",
                remedy: "Move the outbox to a local disk."
            )
        }
        if case .empty = try examine(connection) { report.created = try makeTables(connection, of: file) }
    }

    /// Sets how a connection writes.
    ///
    /// - Returns: The journal mode.
    static func configure(_ connection: Connection) throws(OutboxError) -> String? {
        let mode = try connection.enableWriteAheadLog()
        // Deleted content is overwritten, because an outbox contains personal data. The connection's hook replaces automatic
        // checkpoints; `PRAGMA wal_autocheckpoint` would remove the hook.
        try connection.script("PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON")
        return mode
    }

    /// Creates the tables of an empty file in one transaction, unless another process has already done so.
    ///
    /// - Returns: Whether this call created them.
    @discardableResult
    static func makeTables(_ connection: Connection, of file: OutboxFile? = nil) throws(OutboxError) -> Bool {
        try connection.script("BEGIN IMMEDIATE")
        do {
            try file?.requireUnmoved()
            guard case .empty = try examine(connection) else {
                try connection.script("COMMIT")
                return false
            }
            try connection.script("PRAGMA application_id = \(applicationID)")
            try connection.script(Schema.script)
            try connection.script("PRAGMA user_version = \(Schema.version); COMMIT")
            return true
        } catch {
            if connection.isInTransaction { try? connection.script("ROLLBACK") }
            throw error
        }
    }
}
