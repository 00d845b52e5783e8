import Testing

@testable import PatchbayOutbox

@Suite("Files of earlier and later releases") struct MigrationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A closed file as the first release made and filled it: by the script of the first migration alone.
    private func makeFirstFile(rows: Int) throws {
        try OutboxFile(folder.outbox).make()
        let connection = try Connection(.file(folder.outbox), .readWrite)
        try connection.script("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL")
        var ignored = OpenReport()
        try OutboxStore.migrate(connection, &ignored, Migration.all.prefix(1))
        try connection.script("BEGIN")
        func add(_ table: Table, _ values: SQLValue...) throws {
            try connection.run(table.insert, values + [table.checksum(of: values)])
        }
        for number in 1...rows {
            try add(
                .operation,
                .integer(number),
                .text("o-\(number)"),
                .text("s-\(number % 7)"),
                .null,
                .integer(1_700_000_000_000),
                .integer(10),
                .blob(Array("{\"name\":\"Order \(number)\"}".utf8))
            )
            try add(
                .route,
                .integer(number),
                .text("acoustic"),
                .text("device"),
                .text("events"),
                .null,
                .null,
                .integer(0),
                .integer(0)
            )
        }
        try add(
            .account,
            .text("acoustic"),
            .text("captured"),
            .text(""),
            .integer(rows + 1)
        )
        try add(.account, .text("acoustic"), .text("rejected"), .text("c"), .integer(1))
        try add(
            .reject,
            .integer(1),
            .text("acoustic"),
            .integer(rows + 1),
            .text("r"),
            .text("s"),
            .null,
            .integer(1),
            .integer(1),
            .blob([1]),
            .text("c"),
            .integer(2),
            .blob([2])
        )
        try connection.run("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'operation'", .integer(rows + 1))
        try connection.script("COMMIT")
    }

    @Test func `a file of the first release is migrated and keeps its rows`() throws {
        try makeFirstFile(rows: 300)
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            #expect(store.openReport == OpenReport(migrated: Migration.all.dropFirst().map(\.name)))
            #expect(try store.windowIDs(limit: 1_000) == (1...300).map { "o-\($0)" })
            #expect(try store.rejects(provider: "acoustic", limit: 10).map(\.operation.id) == ["r"])
            #expect(try store.usage().operations == 300)
            #expect(try store.usage().rejects == 1)
            #expect(try store.verify().faults == [])
            #expect(try store.capture("new") == 302)
        }
        let again = try OutboxStore.open(.file(folder.outbox))
        #expect(again.openReport == OpenReport())
        #expect(try again.windowIDs(limit: 1_000).count == 301)
    }

    @Test func `a migrated file has the schema of a new one, and both are known by their migrations`() throws {
        try makeFirstFile(rows: 5)
        let sql =
            "SELECT group_concat(name || ifnull(sql, ''), char(10)) FROM (SELECT * FROM sqlite_schema ORDER BY name)"
        let migrated = try OutboxStore.open(.file(folder.outbox))
        let fresh = try OutboxStore.open(.memory)
        #expect(try migrated.connection.text(sql) == fresh.connection.text(sql))
        #expect(try migrated.connection.number("PRAGMA user_version") == Int64(Migration.all.count))
        #expect(Set(Migration.all.map(\.name)).count == Migration.all.count)
    }

    @Test func `what reads a file of the first release reads a migrated copy, and leaves the file as it is`() throws {
        try makeFirstFile(rows: 5)
        let before = try folder.bytes(folder.outbox)
        let store = try OutboxStore.open(.file(folder.outbox), readOnly: true)
        #expect(try store.pendingCount(provider: "acoustic") == 5)
        #expect(try store.rejects(provider: "acoustic", limit: 10).map(\.operation.id) == ["r"])
        #expect(try store.verify().faults == [])
        #expect(outboxError { _ = try store.capture("new") }?.code == .readOnly)
        #expect(try folder.bytes(folder.outbox) == before)
    }

    @Test func `a migrated file that lost its header or its list of tables gives back every row`() throws {
        try makeFirstFile(rows: 600)
        do { try OutboxStore.open(.file(folder.outbox)).checkpoint() }
        let bytes = try folder.bytes(folder.outbox)
        for range in [0..<16, 0..<100, 100..<200, 0..<4096] {
            var broken = bytes
            for place in range { broken[place] = 0x5A }
            for name in folder.names { OutboxFile.delete(folder.path + "/" + name) }
            try OutboxFile.write(broken, to: folder.outbox, at: 0)
            let store = try OutboxStore.open(.file(folder.outbox))
            #expect(store.openReport.recovered, "\(range)")
            #expect(try store.windowIDs(limit: 1_000).count == 600, "\(range)")
            #expect(try store.rejects(provider: nil, limit: 10).count == 1, "\(range)")
            #expect(try store.usage() == store.countedUsage(), "\(range)")
            #expect(try store.verify().faults == [], "\(range)")
            #expect(!folder.names.contains { $0.contains(".template") || $0.contains(".grafted") })
        }
    }

    @Test func `a lost page of a migrated file costs its own rows only`() throws {
        try makeFirstFile(rows: 600)
        do { try OutboxStore.open(.file(folder.outbox)).checkpoint() }
        let bytes = try folder.bytes(folder.outbox)
        for page in stride(from: 1, to: bytes.count / 4096, by: 4) {
            var broken = bytes
            for place in page * 4096..<(page + 1) * 4096 { broken[place] = 0xFF }
            for name in folder.names { OutboxFile.delete(folder.path + "/" + name) }
            try OutboxFile.write(broken, to: folder.outbox, at: 0)
            let store = try OutboxStore.open(.file(folder.outbox))
            let count = try store.windowIDs(limit: 1_000).count
            // The root page of a table takes the table along.
            #expect(count == 0 || count >= 480, "page \(page + 1): \(count)")
            #expect(try store.verify().faults == [], "page \(page + 1)")
        }
    }
}
