import CSQLite
import PatchbaySystem

/// A value that is bound to a statement.
package enum SQLValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
    static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .null }
    static func optional(_ number: Int64?) -> SQLValue { number.map(SQLValue.integer) ?? .null }
    static func integer(_ number: Int) -> SQLValue { .integer(Int64(number)) }
}

/// Instructs SQLite to copy a bound value before the call returns.
let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// A prepared statement, finalized when it is deallocated.
package final class Statement {
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

    deinit {
        sqlite3_finalize(handle)
        room.deallocate()
    }

    /// A buffer for the bytes of the bound values. They stay valid until the statement is reset, so SQLite need not copy them.
    /// No value may be bound again before the reset.
    private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var used = 0
    /// The buffer's maximum capacity in bytes. SQLite copies longer values itself.
    private static let longest = 2_048

    /// Binds values in order, followed by `last`.
    func bind(_ values: [SQLValue], last: SQLValue? = nil) throws(OutboxError) {
        var count = last.map(Self.size) ?? 0
        for value in values { count += Self.size(value) }
        if count > room.count {
            room.deallocate()
            room = .allocate(byteCount: count + 64, alignment: 1)
        }
        used = 0
        var place: Int32 = 0
        for value in values {
            place += 1
            try check(bind(value, at: place))
        }
        if let last { try check(bind(last, at: place + 1)) }
    }

    private func check(_ result: Int32) throws(OutboxError) {
        if result != SQLITE_OK { throw sqliteError(connection, result, name) }
    }

    /// Returns the number of bytes that a value needs in the buffer.
    private static func size(_ value: SQLValue) -> Int {
        let count =
            switch value {
            case .null, .integer: 0
            case .text(let text): text.utf8.count
            case .blob(let bytes): bytes.count
            }
        return count > longest ? 0 : count
    }

    /// Copies bytes into the buffer; returns nil if they do not fit.
    private func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard bytes.count <= Self.longest, used + bytes.count <= room.count, let start = room.baseAddress else {
            return nil
        }
        defer { used += bytes.count }
        (start + used).copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(start), byteCount: bytes.count)
        return UnsafeRawPointer(start + used)
    }

    private func bind(_ value: SQLValue, at place: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, place)
        case .integer(let number): return sqlite3_bind_int64(handle, place, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                guard let start = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_text(handle, place, "", 0, transient)
                }
                let kept = keep(UnsafeRawBufferPointer(bytes))
                return sqlite3_bind_text64(
                    handle,
                    place,
                    (kept ?? UnsafeRawPointer(start)).assumingMemoryBound(to: CChar.self),
                    UInt64(bytes.count),
                    kept == nil ? transient : nil,
                    UInt8(SQLITE_UTF8)
                )
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes { buffer in
                guard !buffer.isEmpty else { return sqlite3_bind_zeroblob(handle, place, 0) }
                let kept = keep(buffer)
                return sqlite3_bind_blob64(
                    handle,
                    place,
                    kept ?? buffer.baseAddress,
                    UInt64(buffer.count),
                    kept == nil ? transient : nil
                )
            }
        }
    }

    /// Steps to the next row. Returns false at the end.
    func step() throws(OutboxError) -> Bool {
        let result = sqlite3_step(handle)
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw sqliteError(connection, result, name)
        }
    }

    /// Steps to the next row of a file that may be damaged. Returns nil if it cannot be read, instead of throwing an error.
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

    /// Returns the number of virtual machine steps of this statement since the last call.
    package func takeSteps() -> Int { Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 1)) }

    /// Returns the value of a column of the current row.
    private func cell(_ column: Int32) -> Cell { Cell(sqlite3_column_value(handle, column)) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func optionalInteger(_ column: Int32) -> Int64? {
        let cell = cell(column)
        return cell.isNull ? nil : cell.integer
    }

    func bool(_ column: Int32) -> Bool { integer(column) != 0 }

    func text(_ column: Int32) -> String { cell(column).text }

    /// Returns the text of a column. If it equals `known`, returns that string instead of creating a new one.
    func text(_ column: Int32, like known: String) -> String {
        let cell = cell(column)
        let bytes = cell.bytes
        guard let start = bytes.baseAddress else { return "" }
        var known = known
        let isKnown = known.withUTF8 { known in
            guard known.count == bytes.count, let place = known.baseAddress else { return false }
            return memcmp(place, start, bytes.count) == 0
        }
        return isKnown ? known : cell.text
    }

    func optionalText(_ column: Int32) -> String? {
        let cell = cell(column)
        return cell.isNull ? nil : cell.text
    }

    func blob(_ column: Int32) -> [UInt8] { [UInt8](cell(column).bytes) }

    func optionalBlob(_ column: Int32) -> [UInt8]? {
        let cell = cell(column)
        return cell.isNull ? nil : [UInt8](cell.bytes)
    }

    /// Returns any column as it is stored, for copying rows.
    func value(_ column: Int32) -> SQLValue {
        let cell = cell(column)
        return switch cell.type {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(cell.integer)
        case SQLITE_BLOB: .blob([UInt8](cell.bytes))
        default: .text(cell.text)
        }
    }

    /// Whether the columns from `first` on are a sound row of a table, followed by its checksum. Computes the same result as
    /// `row_checksum`, without passing every value to an SQL function.
    func isSound(_ table: Table, from first: Int32) -> Bool {
        let last = first + Int32(table.columns.count)
        let checksum = cell(last)
        guard checksum.type == SQLITE_INTEGER else { return false }
        var image = table.image
        for column in first..<last { image.append(cell(column)) }
        return checksum.integer == Int64(image.checksum.value)
    }
}
