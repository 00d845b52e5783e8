import Testing

@testable import PatchbayOutbox

@Suite("Files of earlier and later releases") struct MigrationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A closed file as an early release made and filled it, by so many steps alone: the first made one.
    private func makeFirstFile(rows: Int, steps: Int = 1) throws {
        try OutboxFile(folder.outbox).make()
        let connection = try Connection(.file(folder.outbox), .readWrite)
        try connection.script("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL")
        var ignored = OpenReport()
        try OutboxStore.migrate(connection, &ignored, Migration.all.prefix(steps))
        try connection.script("BEGIN")
        func add(_ table: Table, _ values: [SQLValue]) throws {
            try connection.run(table.insert, values + [table.checksum(of: values)])
        }
        func add(_ table: Table, _ values: SQLValue...) throws { try add(table, values) }
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
                .integer(0),
                .null,
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
        var image = StoredImage()
        if steps >= 2 {
            let texts = ["tracking", nil, "unknown", "granted", "c-1"].map { $0.map(SQLValue.text) ?? .null }
            try add(.consent, [.integer(1), .integer(7), .text("s")] + texts + [.blob([])])
        }
        if steps >= 3 {
            let bytes = try connection.number("SELECT sum(length(body)) FROM operation") ?? 0
            try connection.run("DELETE FROM usage")
            try add(.usage, .integer(1), .integer(rows), .integer(bytes), .integer(1))
        }
        if steps >= 4 {
            for since: Int64 in [12, 13] {
                image.append(integer: since)
                Array("{}".utf8).withUnsafeBytes { image.append(blob: $0) }
            }
            try add(.arrival, .integer(3), .text("[]"), .blob(image.bytes))
        }
        if steps >= 5 {
            image = StoredImage()
            for id in ["e-1", "e-2"] {
                var id = id
                id.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) }
                image.append(integer: 99)
            }
            let words = ["acoustic", "accepted", ""].map(SQLValue.text)
            try add(.chapter, [.integer(2), .integer(1)] + words + [.blob(image.bytes)])
            try add(.account, .text("acoustic"), .text("accepted"), .text(""), .integer(2))
            try connection.run("DELETE FROM account WHERE term = 'captured'")
            try add(.account, .text("acoustic"), .text("captured"), .text(""), .integer(rows + 3))
        }
        if steps >= 6 {
            image = StoredImage()
            var name = "des"
            name.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) }
            image.append(integer: Hearing.refused.rawValue)
            try add(.hearing, .integer(1), .blob(image.bytes))
        }
        try connection.script("COMMIT")
    }

    @Test(arguments: 1..<Migration.all.count)
    func `a file of an earlier release is migrated and keeps its rows`(_ steps: Int) throws {
        try makeFirstFile(rows: 300, steps: steps)
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            #expect(store.openReport == OpenReport(migrated: Migration.all.dropFirst(steps).map(\.name)))
            #expect(try store.windowIDs(limit: 1_000) == (1...300).map { "o-\($0)" })
            #expect(try store.rejects(provider: "acoustic", limit: 10).map(\.operation.id) == ["r"])
            #expect(try store.usage().operations == 300)
            #expect(try store.usage().rejects == 1)
            #expect(try store.connection.number("SELECT count(*) FROM consent") == (steps >= 2 ? 1 : 0))
            #expect(try store.arrivals() == (steps >= 4 ? [3] : []))
            let waiting = [Arrival(since: 12, body: Array("{}".utf8)), Arrival(since: 13, body: Array("{}".utf8))]
            #expect(try store.arrival(3)?.captures == (steps >= 4 ? waiting : nil))
            #expect(try store.endings(behind: 0, limit: 10).map(\.entry.id) == (steps >= 5 ? ["e-1", "e-2"] : []))
            #expect(try store.hearing(of: "o-1", provider: "des") == (steps >= 6 ? .refused : .none))
            #expect(try store.verify().faults == [])
            #expect(try store.capture("new") == 302)
        }
        let again = try OutboxStore.open(.file(folder.outbox))
        #expect(again.openReport == OpenReport())
        #expect(try again.windowIDs(limit: 1_000).count == 301)
    }

    /// A step that files have taken can't change: theirs would differ from new ones for ever. A new step needs a line here.
    @Test func `no step that was released has changed`() {
        let released: [(name: String, checksum: UInt32)] = [
            ("1 outbox", 0xAD1A_E3C3), ("2 consent trail", 0x4B30_B577), ("3 usage", 0x4CF5_EBBD),
            ("4 arrivals and endings", 0x02C9_EE5C), ("5 chapters", 0x8445_5304), ("6 hearings", 0x2D76_B5D7),
            ("7 ends of waits", 0xF7AE_A93C), ("8 deltas of arrivals", 0x95E1_7E92),
        ]
        #expect(Migration.all.map(\.name) == released.map(\.name))
        for (step, known) in zip(Migration.all, released) {
            var checksum = CRC32()
            Array(step.script.utf8).withUnsafeBytes { checksum.add($0) }
            #expect(checksum.value == known.checksum, "\(step.name): \(checksum.value)")
        }
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
