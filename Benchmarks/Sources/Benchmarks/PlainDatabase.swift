import Foundation
import SQLite

/// What an app would do without us: SQLite with a write-ahead log, one table, one transaction per event.
final class PlainDatabase {
    private var database: OpaquePointer?
    private var insert: OpaquePointer?

    init(_ path: String, synchronous: String) throws {
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw WrongResult("SQLite can't open \(path).") }
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous)")
        try run("CREATE TABLE event (number INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        guard sqlite3_prepare_v2(database, "INSERT INTO event (body) VALUES (?1)", -1, &insert, nil) == SQLITE_OK
        else { throw WrongResult("SQLite can't prepare.") }
    }

    deinit {
        sqlite3_finalize(insert)
        sqlite3_close(database)
    }

    private func run(_ script: String) throws {
        guard sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK else { throw WrongResult("SQLite failed.") }
    }

    /// Stores an event in a transaction of its own.
    func add(_ body: [UInt8]) throws {
        sqlite3_bind_blob(insert, 1, body, Int32(body.count), nil)
        defer { sqlite3_reset(insert) }
        guard sqlite3_step(insert) == SQLITE_DONE else { throw WrongResult("SQLite stored nothing.") }
    }

    /// The duration of each of `count` insertions, in microseconds.
    static func calls(at path: String, synchronous: String, _ record: [UInt8], count: Int) throws -> Spread {
        let database = try PlainDatabase(path, synchronous: synchronous)
        return Spread(try (0..<count).map { _ in try microseconds { try database.add(record) } })
    }

    static var version: String { String(cString: sqlite3_libversion()) }
}
