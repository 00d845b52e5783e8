import CSQLite

/// A value that SQLite lends: a column of the row at hand, or what a function of SQL is given.
///
/// It is looked up once for all that is asked of it, and holds until the statement goes on. Only whoever has the connection
/// alone may ask, as every user of this module has.
struct Cell {
    private let value: OpaquePointer?

    init(_ value: OpaquePointer?) { self.value = value }

    /// One of SQLite's five types.
    var type: Int32 { sqlite3_value_type(value) }

    /// Whether nothing stands there.
    var isNull: Bool { type == SQLITE_NULL }

    /// A whole number; 0 where something else stands.
    var integer: Int64 { sqlite3_value_int64(value) }

    /// The bytes of a text or a blob; of a number those of its text.
    var bytes: UnsafeRawBufferPointer {
        // Asked for as a text it would be copied first, to put a zero behind it. The count is right once the bytes are there.
        guard let start = sqlite3_value_blob(value) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    /// The text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension RowImage {
    /// Writes a value as it stands in its row.
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
