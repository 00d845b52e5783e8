import CSQLite

/// A borrowed SQLite value: a column of the current row, or an argument of an SQL function.
///
/// The value is looked up once. It stays valid until the statement steps. Only the exclusive user of the connection may read
/// it; every caller in this module is one.
struct Cell {
    private let value: OpaquePointer?

    init(_ value: OpaquePointer?) { self.value = value }

    /// One of SQLite's five types.
    var type: Int32 { sqlite3_value_type(value) }

    /// Whether the value is NULL.
    var isNull: Bool { type == SQLITE_NULL }

    /// The value as an integer; 0 if it is not one.
    var integer: Int64 { sqlite3_value_int64(value) }

    /// The bytes of a text or blob; for a number, the bytes of its text.
    var bytes: UnsafeRawBufferPointer {
        // `sqlite3_value_text` would copy the value to append a zero. The byte count is valid after this call.
        guard let start = sqlite3_value_blob(value) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    /// The text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension RowImage {
    /// Appends a value as it is stored in its row.
    mutating func append(_ cell: Cell) {
        switch cell.type {
        case SQLITE_NULL: appendNull()
        case SQLITE_INTEGER: append(integer: cell.integer)
        case SQLITE_BLOB: append(blob: cell.bytes)
        case SQLITE_TEXT: append(text: cell.bytes)
        default: append(real: cell.bytes)
        }
    }
}
