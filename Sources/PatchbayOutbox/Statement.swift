import CSQLite

/// A value that is bound to a statement.
enum SQLValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
    static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .null }
    static func optional(_ number: Int64?) -> SQLValue { number.map(SQLValue.integer) ?? .null }
    static func integer(_ number: Int) -> SQLValue { .integer(Int64(number)) }
}

/// Tells SQLite to copy what is bound before the call returns.
let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// One prepared statement; finalised when it goes.
final class Statement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    private let name: String

    init(_ sql: String, on connection: OpaquePointer, _ name: String) throws(OutboxError) {
        var made: OpaquePointer?
        let result = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard result == SQLITE_OK, let made else { throw sqliteError(connection, result, name) }
        handle = made
        self.connection = connection
        self.name = name
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ values: [SQLValue]) throws(OutboxError) {
        var place: Int32 = 0
        for value in values {
            place += 1
            let result = bind(value, at: place)
            if result != SQLITE_OK { throw sqliteError(connection, result, name) }
        }
    }

    private func bind(_ value: SQLValue, at place: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, place)
        case .integer(let number): return sqlite3_bind_int64(handle, place, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                guard let start = bytes.baseAddress else { return sqlite3_bind_text(handle, place, "", 0, transient) }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text64(handle, place, $0, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes { buffer in
                guard !buffer.isEmpty else { return sqlite3_bind_zeroblob(handle, place, 0) }
                return sqlite3_bind_blob64(handle, place, buffer.baseAddress, UInt64(buffer.count), transient)
            }
        }
    }

    /// Goes to the next row; false at the end.
    func step() throws(OutboxError) -> Bool {
        let result = sqlite3_step(handle)
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw sqliteError(connection, result, name)
        }
    }

    /// Goes to the next row of a file that may be damaged; nil where it cannot be read, without making an error.
    func stepIfReadable() -> Bool? {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: nil
        }
    }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// The work this statement has cost since the last time it was asked, in steps of SQLite's machine.
    func takeSteps() -> Int { Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 1)) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    func bool(_ column: Int32) -> Bool { integer(column) != 0 }

    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// Any column as it is stored, for copying rows.
    func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .text(text(column))
        }
    }
}
