import PatchbaySystem

/// Rebuilds a damaged outbox from every row that can still be read and whose checksum matches.
///
/// The new file is created beside the damaged one and committed before any rename. A crash at any moment therefore leaves
/// either the damaged file in place or a finished rebuild that the next start adopts. From before the first read until after
/// the last rename, no other process can commit to the damaged file, because such a commit would be lost.
struct Recovery {
    private let file: OutboxFile
    private let held: HeldFile
    private let reason: String
    private var report: RecoveryReport
    private var seen: Set<DamagedRow> = []

    private static let rebuilding = ".rebuilding"
    private static let grafted = ".grafted"
    private static let template = ".template"
    /// The gap between the last known sequence and the next one, so that sequences in the damaged pages are never reused.
    private static let sequenceGap: Int64 = 1_000_000

    private init(_ file: OutboxFile, _ held: HeldFile, reason: String) {
        self.file = file
        self.held = held
        self.reason = reason
        report = RecoveryReport(movedAside: "", reason: reason)
    }

    /// Recovers the file; nil if another process did so in the meantime.
    static func run(on file: OutboxFile, reason: String) throws(OutboxError) -> RecoveryReport? {
        let lock = try FileLock(beside: file)
        defer { lock.release() }
        guard file.isUnmoved else { return nil }
        let held = try HeldFile(file.path)
        defer { held.release() }
        var recovery = Recovery(file, held, reason: reason)
        try recovery.rebuild()
        return recovery.report
    }

    /// Ensures that the file exists: completes the interrupted last rename of a finished rebuild, or creates an empty file.
    ///
    /// While another process recovers the file, it is missing for a moment; this method waits for that process.
    static func provide(_ file: OutboxFile) throws(OutboxError) {
        guard !OutboxFile.exists(file.path) else { return }
        let lock = try FileLock(beside: file)
        defer { lock.release() }
        guard !OutboxFile.exists(file.path) else { return }
        guard OutboxFile.exists(file.path + rebuilding) else { return try file.make() }
        let number = max(1, file.nextDamagedNumber() - 1)
        try file.moveSidecarsAside(to: file.damagedPath(number))
        try OutboxFile.move(file.path + rebuilding, to: file.path)
    }

    private mutating func rebuild() throws(OutboxError) {
        let target = OutboxFile(file.path + Self.rebuilding)
        for path in [target.path, target.path + "-journal"] { OutboxFile.delete(path) }
        try target.make()
        do {
            let connection = try Connection(.file(target.path), .readWrite)
            try connection.script("PRAGMA page_size = 4096; PRAGMA synchronous = FULL")
            try OutboxFormat.makeTables(connection)
            let store = OutboxStore(connection, file: nil, isReadOnly: false, report: OpenReport(created: true))
            try store.atomically { () throws(OutboxError) in try fill(store) }
        }
        let number = file.nextDamagedNumber()
        report.movedAside = file.damagedPath(number)
        try OutboxFile.move(file.path, to: report.movedAside)
        try file.moveSidecarsAside(to: report.movedAside)
        try OutboxFile.move(target.path, to: file.path)
        OutboxFile.syncFolder(of: file.path)
        file.clearSuspectMark()
    }

    private mutating func fill(_ store: OutboxStore) throws(OutboxError) {
        let readable = try copyRows(from: held.source, to: store)
        if !readable { try copyGrafted(to: store) }
        try leaveOrphans(store)
        let highest =
            try store.connection.number(
                """
                SELECT max(n) FROM (SELECT seq AS n FROM sqlite_sequence WHERE name = 'operation'
                UNION ALL SELECT max(sequence) FROM reject UNION ALL SELECT max(sequence) FROM quarantine)
                """
            ) ?? 0
        try store.connection.run("DELETE FROM sqlite_sequence WHERE name = 'operation'")
        try store.connection.run(
            "INSERT INTO sqlite_sequence (name, seq) VALUES ('operation', ?1)",
            .integer(max(highest, lastSequence) + Self.sequenceGap)
        )
        (report.lost, report.unaccounted) = try store.accounts.balance()
        store.current.mustRecount = true
    }

    /// Copies the readable rows from a copy of the file whose schema pages come from a new outbox. See ``SchemaGraft``.
    private mutating func copyGrafted(to store: OutboxStore) throws(OutboxError) {
        let template = OutboxFile(file.path + Self.template)
        defer { for end in ["", "-journal"] { OutboxFile.delete(template.path + end) } }
        OutboxFile.delete(template.path)
        try template.make()
        do {
            let connection = try Connection(.file(template.path), .readWrite)
            try connection.script("PRAGMA page_size = 4096; PRAGMA synchronous = OFF")
            try OutboxFormat.makeTables(connection)
        }
        let graft = try SchemaGraft(damaged: held.source, template: template.path, copy: file.path + Self.grafted)
        defer { graft.remove() }
        guard let source = try? Connection(.file(graft.path), .readOnly) else { return }
        try? source.script("PRAGMA writable_schema = ON; BEGIN")
        _ = try copyRows(from: source, to: store)
    }

    /// The last sequence that the damaged file claims to have assigned, if it is plausible.
    private var lastSequence: Int64 = 0

    /// Copies the readable rows. Returns false if the schema itself, or a whole table, could not be read.
    private mutating func copyRows(from source: Connection, to store: OutboxStore) throws(OutboxError) -> Bool {
        var isComplete = true
        for table in Table.all where !table.isDerived {
            guard let scan = try? TableScan(table, source) else {
                isComplete = false
                continue
            }
            let copied = try scan.everyRow { row throws(OutboxError) in try keep(row, of: table, in: store) }
            isComplete = isComplete && copied
        }
        if let last = try? source.number("SELECT seq FROM sqlite_sequence WHERE name = 'operation'"),
            (0..<(1 << 48)).contains(last)
        {
            lastSequence = max(lastSequence, last)
        }
        return isComplete
    }

    /// Copies a sound row. Quarantines a damaged one.
    private mutating func keep(_ row: TableScan.Row, of table: Table, in store: OutboxStore) throws(OutboxError) {
        if row.isSound {
            // OR IGNORE: a row that is read more than once is inserted once.
            let sql = table.insert.text.replacingPrefix("INSERT", with: "INSERT OR IGNORE")
            let values = row.values + [table.checksum(of: row.values)]
            if try store.connection.run(sql, values) > 0 { report.saved[table.name, default: 0] += 1 }
        } else if seen.insert(DamagedRow(table: table.name, number: row.number, provider: row.provider)).inserted {
            report.rejected[table.name, default: 0] += 1
            try store.connection.run(
                "INSERT INTO quarantine (origin, sequence, provider, image, checksum) VALUES (?1, ?2, ?3, ?4, 0)",
                .text(table.name),
                .integer(row.number),
                .optional(row.provider),
                .blob(row.image)
            )
            _ = try store.seal(.quarantine)
        }
    }

    /// Quarantines routes whose operation was lost, and operations whose routes were lost.
    private mutating func leaveOrphans(_ store: OutboxStore) throws(OutboxError) {
        let orphans: [(table: Table, provider: String, other: String)] = [
            (.route, "provider", "operation"), (.operation, "NULL", "route"),
        ]
        for (table, provider, other) in orphans {
            let condition =
                "WHERE NOT EXISTS (SELECT 1 FROM \(other) WHERE \(other).sequence = \(table.name).sequence)"
            try store.connection.run(
                """
                INSERT INTO quarantine (origin, sequence, provider, image, checksum)
                SELECT '\(table.name)', sequence, \(provider), row_image('\(table.name)', \(table.list())), 0
                FROM \(table.name) \(condition)
                """
            )
            report.orphans += try store.connection.run("DELETE FROM \(table.name) \(condition)")
        }
        try store.connection.run("UPDATE quarantine SET checksum = \(Table.quarantine.checksum()) WHERE checksum = 0")
    }
}

extension String {
    /// Returns the text with a prefix replaced.
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}

/// A lock that prevents other processes from recovering or creating the same file at the same time.
struct FileLock {
    private let path: String
    private let descriptor: Int32

    /// Waits for the lock. Throws `busy` after the timeout.
    init(beside file: OutboxFile, waitingFor seconds: Int = 60) throws(OutboxError) {
        path = file.path + ".recovering"
        while true {
            let opened = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            guard opened >= 0 else {
                throw OutboxError(
                    .cannotOpen,
                    "Cannot create a file in the folder of \(file.path): \(OutboxFile.systemText())."
                )
            }
            guard Self.lock(opened, seconds) else {
                let isHeld = errno == EWOULDBLOCK || errno == EINTR
                let reason = OutboxFile.systemText()
                close(opened)
                guard isHeld else { throw OutboxError(.io, "\(path) cannot be locked: \(reason).") }
                throw OutboxError(
                    .busy,
                    "Another process has held \(path) for \(seconds) s.",
                    remedy: "Wait until it has recovered the outbox, or end it."
                )
            }
            // The previous holder may have deleted the lock file; a lock on a deleted file excludes no process.
            if let mine = OutboxFile.identity(of: opened), mine == OutboxFile.identity(of: path) {
                descriptor = opened
                return
            }
            close(opened)
        }
    }

    private static func lock(_ descriptor: Int32, _ seconds: Int) -> Bool {
        for _ in 0..<(seconds * 20) {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            usleep(50_000)
        }
        return false
    }

    func release() {
        unlink(path)
        close(descriptor)
    }
}
