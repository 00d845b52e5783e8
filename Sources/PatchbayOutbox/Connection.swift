import CSQLite
import PatchbaySystem

/// A SQLite connection with its prepared statements. Closes everything when it is deallocated.
package final class Connection {
    /// How the file is opened.
    package enum Mode {
        case readWrite, readOnly
        /// Reads a file that no process writes, without creating files beside it.
        case immutable
    }

    /// The file's name in error messages.
    let name: String
    private let handle: OpaquePointer
    private let pages = PageCount()
    private var statements: [String: Statement] = [:]
    /// The statements, indexed by query number.
    private var queries: [Statement?] = []

    /// Opens an existing database file, or a private database in memory.
    package init(_ location: OutboxLocation, _ mode: Mode) throws(OutboxError) {
        let path: String
        switch location {
        case .file(let file): (path, name) = (file, file)
        case .memory: (path, name) = (":memory:", "memory")
        case .shared(let shared): (path, name) = ("file:/\(shared)?vfs=memdb", "memory")
        }
        var opened: OpaquePointer?
        let access: (place: String, flags: Int32) =
            switch mode {
            case .readWrite: (path, SQLITE_OPEN_READWRITE | location.flags)
            case .readOnly: (path, SQLITE_OPEN_READONLY)
            case .immutable: (Self.immutableAddress(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        let result = sqlite3_open_v2(access.place, &opened, access.flags | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened, result == SQLITE_OK else {
            let system = opened.map { sqlite3_system_errno($0) } ?? 0
            sqlite3_close_v2(opened)
            throw Self.openingError(name, result, system)
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        setTimeout(Self.timeout)
        registerRowFunctions(handle)
        watchLog()
    }

    /// Describes why a file cannot be opened. The remedy differs if the file exists but this user may not read it.
    static func openingError(_ name: String, _ result: Int32, _ system: Int32) -> OutboxError {
        let remedy = "Give this user the right to read and write the file and to enter its folder, or run as its owner."
        let isForbidden = [EACCES, EPERM].contains(system)
        let why = isForbidden ? "this user may not read it" : "SQLite \(result), system error \(system)"
        return OutboxError(.cannotOpen, "\(name) cannot be opened (\(why)).", remedy: isForbidden ? remedy : nil)
    }

    /// Returns the path as a SQLite URI, with the three characters that have a meaning in URIs escaped.
    private static func immutableAddress(_ path: String) -> String {
        let escaped = path.map { character in
            switch character {
            case "%": "%25"
            case "?": "%3f"
            case "#": "%23"
            default: String(character)
            }
        }
        return "file:\(escaped.joined())?immutable=1"
    }

    deinit {
        statements.removeAll()
        queries.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Returns the prepared statement for `sql`. It is prepared once.
    ///
    /// The caller resets it after use.
    func statement(_ sql: String) throws(OutboxError) -> Statement {
        if let known = statements[sql] { return known }
        let made = try Statement(sql, on: handle, name)
        statements[sql] = made
        return made
    }

    /// Returns the prepared statement for a query. It is prepared once.
    ///
    /// The caller resets it after use.
    package func statement(_ query: Query) throws(OutboxError) -> Statement {
        if query.number < queries.count, let known = queries[query.number] { return known }
        let made = try Statement(query.text, on: handle, name)
        let missing = query.number + 1 - queries.count
        if missing > 0 { queries += repeatElement(nil, count: missing) }
        queries[query.number] = made
        return made
    }

    /// Runs a statement to completion and returns the number of changed rows.
    @discardableResult
    package func run(_ sql: String, _ values: SQLValue...) throws(OutboxError) -> Int {
        try run(statement(sql), values)
    }

    /// Runs a statement to completion and returns the number of changed rows.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws(OutboxError) -> Int { try run(statement(sql), values) }

    /// Runs a statement to completion and returns the number of changed rows.
    @discardableResult
    func run(_ query: Query, _ values: SQLValue...) throws(OutboxError) -> Int { try run(statement(query), values) }

    /// Runs a statement to completion and returns the number of changed rows.
    @discardableResult
    func run(_ query: Query, _ values: [SQLValue], last: SQLValue? = nil) throws(OutboxError) -> Int {
        try run(statement(query), values, last: last)
    }

    private func run(_ statement: Statement, _ values: [SQLValue], last: SQLValue? = nil) throws(OutboxError) -> Int {
        defer { statement.reset() }
        try statement.bind(values, last: last)
        while try statement.step() {}
        return Int(sqlite3_changes(handle))
    }

    /// Runs a script of several statements without bound values.
    package func script(_ sql: String) throws(OutboxError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        if result != SQLITE_OK { throw sqliteError(handle, result, name) }
    }

    /// Returns the first column of the first row as a number; nil if there is no row or the value is NULL.
    package func number(_ sql: String, _ values: SQLValue...) throws(OutboxError) -> Int64? {
        try number(statement(sql), values)
    }

    /// Returns the first column of the first row as a number; nil if there is no row or the value is NULL.
    func number(_ query: Query, _ values: SQLValue...) throws(OutboxError) -> Int64? {
        try number(statement(query), values)
    }

    private func number(_ statement: Statement, _ values: [SQLValue]) throws(OutboxError) -> Int64? {
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.optionalInteger(0) : nil
    }

    /// Returns the first column of the first row as text; nil if there is no row or the value is NULL.
    package func text(_ sql: String, _ values: SQLValue...) throws(OutboxError) -> String? {
        try text(statement(sql), values)
    }

    /// Returns the first column of the first row as text; nil if there is no row or the value is NULL.
    func text(_ query: Query, _ values: SQLValue...) throws(OutboxError) -> String? {
        try text(statement(query), values)
    }

    private func text(_ statement: Statement, _ values: [SQLValue]) throws(OutboxError) -> String? {
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.optionalText(0) : nil
    }

    /// Returns the first column of the first row as it is stored; NULL if there is no row.
    func value(_ sql: String, _ values: [SQLValue]) throws(OutboxError) -> SQLValue {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.value(0) : .null
    }

    /// Whether a transaction is open. It is false again after a commit or rollback, including a rollback by SQLite itself.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Whether SQLite would refuse every change, because of the file's permissions or its header.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// The number of statements that are still running. It is zero between two calls of the store.
    var runningStatements: Int {
        var count = 0
        var next = sqlite3_next_stmt(handle, nil)
        while let statement = next {
            if sqlite3_stmt_busy(statement) != 0 { count += 1 }
            next = sqlite3_next_stmt(handle, statement)
        }
        return count
    }

    /// The default busy timeout of a connection, in milliseconds.
    static let timeout: Int32 = 5_000

    /// Sets the busy timeout for another connection that writes, in milliseconds.
    package func setTimeout(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

    /// Retries `attempt` while another connection holds a lock for which SQLite's busy timeout does not apply.
    ///
    /// - Throws: The error of `attempt`; `busy` if the lock is held for longer than five seconds.
    func retryingWhileBusy<T>(_ attempt: () throws(OutboxError) -> T) throws(OutboxError) -> T {
        let end = ContinuousClock.now + .milliseconds(Self.timeout)
        while true {
            do {
                return try attempt()
            } catch {
                guard error.code == .busy, ContinuousClock.now < end else { throw error }
                sqlite3_sleep(1)
            }
        }
    }

    /// Switches the file to write-ahead logging.
    ///
    /// SQLite's busy timeout does not apply to a reader that becomes a writer, because two of them could deadlock.
    ///
    /// - Returns: The file's journal mode: `wal`, if its volume allows that; `memory` for a database without a file.
    /// - Throws: `busy` if another connection uses a file without a log for longer than five seconds.
    func enableWriteAheadLog() throws(OutboxError) -> String? {
        try retryingWhileBusy { () throws(OutboxError) in try text("PRAGMA journal_mode = WAL") }
    }

    /// The number of pages in the write-ahead log after the last commit of this connection.
    var logPages: Int { pages.count }

    /// The number of pages that the last commit of this connection wrote.
    var committedPages: Int { pages.added }

    private final class PageCount {
        var count = 0
        var added = 0

        func note(_ new: Int) {
            // A restarted log is shorter than before.
            added = new > count ? new - count : new
            count = new
        }
    }

    /// Has SQLite report the log's length after each commit. The log is checkpointed elsewhere, off the commit path.
    private func watchLog() {
        sqlite3_wal_hook(
            handle,
            { pages, _, _, count in
                pages.map { Unmanaged<PageCount>.fromOpaque($0).takeUnretainedValue().note(Int(count)) }
                return SQLITE_OK
            },
            Unmanaged.passUnretained(pages).toOpaque()
        )
    }

    /// Replaces this database by a copy of another one's current content.
    func become(copyOf other: Connection) throws(OutboxError) {
        guard let backup = sqlite3_backup_init(handle, "main", other.handle, "main") else {
            throw sqliteError(handle, sqlite3_extended_errcode(handle), name)
        }
        // Copies all pages in one step, so that no other connection changes them in between.
        let result = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        if result != SQLITE_DONE { throw sqliteError(handle, result, other.name) }
    }

    /// Returns the whole database as the bytes of a database file.
    func serialized() throws(OutboxError) -> [UInt8] {
        var size: sqlite3_int64 = 0
        guard let bytes = sqlite3_serialize(handle, "main", &size, 0) else {
            throw sqliteError(handle, sqlite3_extended_errcode(handle), name)
        }
        defer { sqlite3_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
    }

    /// Replaces the content of a private in-memory database by the bytes of a database file.
    func become(_ bytes: [UInt8]) throws(OutboxError) {
        let size = sqlite3_int64(bytes.count)
        guard let copy = sqlite3_malloc64(sqlite3_uint64(size)) else { throw OutboxError(.full, "\(name): no memory.") }
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        // SQLite frees the copy, even on failure.
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        let pages = copy.assumingMemoryBound(to: UInt8.self)
        let result = sqlite3_deserialize(handle, "main", pages, size, size, flags)
        if result != SQLITE_OK { throw sqliteError(handle, result, name) }
    }

    /// The path of the write-ahead log; nil for a database without a file.
    var logPath: String? {
        guard let file = sqlite3_db_filename(handle, "main"), file.pointee != 0 else { return nil }
        return sqlite3_filename_wal(file).map { String(cString: $0) }
    }

    /// Passes SQLite's open file to `body`.
    func withFile<Output>(_ body: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Output?) -> Output? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return nil }
        return body(methods.pointee, file)
    }

    /// The error for a lock that could not be taken.
    func lockingError(_ result: Int32) -> OutboxError {
        OutboxError(outboxCode(result), "\(name) cannot be locked for its recovery (SQLite \(result)).")
    }

    /// Copies WAL frames into the file as far as readers allow, without waiting.
    func passiveCheckpoint() throws(OutboxError) {
        let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        if result != SQLITE_OK, result & 0xFF != SQLITE_BUSY { throw sqliteError(handle, result, name) }
    }

    /// Copies the whole WAL into the file and empties it. Returns false if another connection reads or writes meanwhile.
    func truncatingCheckpoint() throws(OutboxError) -> Bool {
        let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if result != SQLITE_OK, result & 0xFF != SQLITE_BUSY { throw sqliteError(handle, result, name) }
        return result == SQLITE_OK
    }
}

extension sqlite3_io_methods {
    /// Returns the file's size in bytes.
    func size(_ file: UnsafeMutablePointer<sqlite3_file>) -> Int64? {
        var size: sqlite3_int64 = 0
        return xFileSize(file, &size) == SQLITE_OK ? size : nil
    }
}

extension OutboxLocation {
    fileprivate var flags: Int32 {
        if case .shared = self { SQLITE_OPEN_URI | SQLITE_OPEN_CREATE } else { 0 }
    }
}

/// Converts a SQLite result into an `OutboxError`.
///
/// SQLite's messages name tables and columns, never values.
func sqliteError(_ handle: OpaquePointer?, _ result: Int32, _ name: String) -> OutboxError {
    let text = sqlite3_errmsg(handle).map { String(cString: $0) } ?? "unknown"
    // SQLite may report a full volume or a file size limit as a read or write error.
    let system = handle.map(sqlite3_system_errno) ?? 0
    let isFull = result & 0xFF == SQLITE_IOERR && [EFBIG, ENOSPC, EDQUOT].contains(system)
    return OutboxError(isFull ? .full : outboxCode(result), "\(name): \(text) (SQLite \(result)).")
}

/// Returns the error code for a SQLite result.
private func outboxCode(_ result: Int32) -> OutboxError.Code {
    switch result & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_READONLY, SQLITE_PERM: .readOnly
    case SQLITE_FULL: .full
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
    case SQLITE_CONSTRAINT, SQLITE_MISUSE, SQLITE_RANGE, SQLITE_TOOBIG, SQLITE_MISMATCH: .misuse
    case SQLITE_ERROR: .misuse
    default: .io
    }
}

/// Registers the SQL functions `row_checksum(table, column, …)` and `row_image(table, column, …)`.
private func registerRowFunctions(_ handle: OpaquePointer) {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
    sqlite3_create_function_v2(
        handle,
        "row_checksum",
        -1,
        flags,
        nil,
        { context, count, values in
            var image = ChecksumImage()
            write(values, count, into: &image)
            sqlite3_result_int64(context, Int64(image.checksum.value))
        },
        nil,
        nil,
        nil
    )
    sqlite3_create_function_v2(
        handle,
        "row_image",
        -1,
        flags,
        nil,
        { context, count, values in
            var image = StoredImage()
            write(values, count, into: &image)
            image.bytes.withUnsafeBytes {
                sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient)
            }
        },
        nil,
        nil,
        nil
    )
}

/// Writes the arguments of an SQL function into a row's image.
private func write(_ values: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int32, into image: inout some RowImage) {
    guard let values else { return }
    for value in UnsafeBufferPointer(start: values, count: Int(count)) { image.append(Cell(value)) }
}
