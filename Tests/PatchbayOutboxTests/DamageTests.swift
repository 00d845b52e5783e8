import Foundation
import Testing

@testable import PatchbayOutbox

@Suite("Damaged outboxes") struct DamageTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A closed file of a few hundred rows of every kind.
    private func makeFile(rows: Int = 300) throws -> Model {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.transaction(.full) {
            for number in 0..<rows {
                let sequence = try store.capture(
                    "o-\(number)",
                    subject: "s\(number % 9)",
                    queue: "q\(number % 5)",
                    body: Array("body \(number) ".utf8) + Array(repeating: UInt8(number % 251), count: number % 400)
                )
                if number % 4 == 0 {
                    try store.settlement.complete(
                        provider: "acoustic",
                        sequence: sequence,
                        term: number % 8 == 0 ? "accepted" : "rejected",
                        code: "c",
                        at: 1,
                        reject: number % 8 == 0 ? nil : [1]
                    )
                }
            }
            for number in 0..<20 {
                try store.state.setSnapshot(subject: "s\(number)", body: Array(repeating: 9, count: 6_000))
            }
            try store.state.setMemory(provider: "acoustic", lane: "device", version: 1, body: [1, 2])
        }
        try store.maintenance.checkpoint()
        return Model(
            rows: Dictionary(
                uniqueKeysWithValues: try store.queues.list(provider: "acoustic", limit: 10_000).map {
                    ($0.operation.id, $0)
                }
            ),
            next: Int64(rows) + 1
        )
    }

    struct Model {
        let rows: [String: OutboxRow]
        let next: Int64
    }

    /// Expects that the store works, returns no wrong rows, and has balanced accounts.
    @discardableResult
    private func check(_ model: Model, _ comment: Comment) throws -> (rows: Int, report: OpenReport) {
        let store = try OutboxStore.open(.file(folder.outbox))
        let rows = try store.queues.list(provider: "acoustic", limit: 10_000)
        for row in rows { #expect(row == model.rows[row.operation.id], comment) }
        // Without a recovery, reading quarantined the bad rows. The accounts must balance in both cases.
        #expect(try store.maintenance.verify().faults.filter { $0.kind != .checksum } == [], comment)
        if let recovery = store.openReport.recovery {
            #expect(OutboxFile.exists(recovery.movedAside), comment)
            #expect(try store.maintenance.verify().faults == [], comment)
            #expect(try store.capture("new") >= model.next, comment)
        }
        #expect(
            !folder.names.contains {
                $0.hasSuffix(".rebuilding") || $0.hasSuffix(".recovering") || $0.contains(".grafted")
            },
            comment
        )
        return (rows.count, store.openReport)
    }

    private func restore(_ bytes: [UInt8]) throws {
        for name in folder.names { OutboxFile.delete(folder.path + "/" + name) }
        try OutboxFile.write(bytes, to: folder.outbox, at: 0)
    }

    @Test func `quarantines and counts a damaged row and serves the others`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<5 { try store.capture("o-\(number)") }
        try store.connection.run("UPDATE operation SET body = x'00' WHERE id = 'o-1'")
        try store.connection.run("UPDATE route SET failures = 7 WHERE sequence = 4")
        #expect(try store.maintenance.verify().faults.map(\.kind) == [.checksum, .checksum])
        var seen: [QuarantineRecord] = []
        store.quarantine.onQuarantine = { seen.append($0) }
        #expect(try store.windowIDs() == ["o-0", "o-2", "o-4"])
        #expect(seen.map(\.table).sorted() == ["operation", "route", "route"])
        #expect(
            try store.accounts.lines().contains(
                AccountLine(provider: "acoustic", term: "quarantined", code: "checksum", count: 2)
            )
        )
        #expect(try store.quarantine.list(limit: 10).count == 3)
        let image = try #require(seen.first { $0.table == "operation" }).image
        #expect(String(decoding: image, as: UTF8.self).contains("t3:o-1"))
        #expect(try store.maintenance.verify().faults == [])
        #expect(try store.operations.pendingCount(provider: "acoustic") == 3)
    }

    @Test func `quarantines a damaged row in the transaction that reads it`() throws {
        let store = try OutboxStore.open(.memory)
        for number in 0..<3 { try store.capture("o-\(number)") }
        try store.connection.run("UPDATE route SET lane = 'device' , queue = 'other' WHERE sequence = 1")
        try store.connection.run("UPDATE operation SET subject = 'x' WHERE sequence = 2")
        try store.transaction(.normal) {
            try store.settlement.progress(provider: "acoustic", sequence: 1, step: [1], failures: 0, refusals: 0)
            try store.settlement.complete(provider: "acoustic", sequence: 2, term: "accepted", code: "", at: 1)
            #expect(try store.windowIDs() == ["o-2"])
        }
        #expect(try store.accounts.lines().map(\.term) == ["captured", "quarantined"])
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test func `reads the rows after several pages of damaged rows`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let lanes = (0..<600).map { "lane-\($0 + 1_000)" }
        try store.state.setMemory(provider: "acoustic", lane: "", version: 1, body: [])
        for lane in lanes {
            try store.state.setMemory(provider: "acoustic", lane: lane, version: 1, body: [])
            try store.state.setSnapshot(subject: lane, body: [])
        }
        try store.connection.run("UPDATE memory SET version = 2 WHERE lane < 'lane-1590' AND lane > ''")
        try store.connection.run("UPDATE snapshot SET body = x'00' WHERE subject < 'lane-1590'")
        let reader = try OutboxStore.open(.file(folder.outbox), readOnly: true)
        for store in [reader, store] {
            var (memories, subjects): ([String], [String]) = ([], [])
            try store.state.forEachMemory(provider: "acoustic") { memories.append($0.lane) }
            try store.state.forEachSnapshot { subject, _ in subjects.append(subject) }
            #expect(memories == [""] + lanes.suffix(10))
            #expect(subjects == lanes.suffix(10))
        }
    }

    @Test func `a read-only store skips damaged rows and does not move them`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<3 { try store.capture("o-\(number)") }
        try store.connection.run("UPDATE operation SET body = x'00' WHERE id = 'o-1'")
        let reader = try OutboxStore.open(.file(folder.outbox), readOnly: true)
        #expect(try reader.windowIDs() == ["o-0", "o-2"])
        #expect(try reader.maintenance.verify().faults.map(\.kind) == [.checksum])
        #expect(try reader.operations.pendingCount(provider: "acoustic") == 3)
    }

    @Test func `quarantines a damaged account line and balances the accounts again`() throws {
        let store = try OutboxStore.open(.memory)
        for number in 0..<5 { try store.capture("o-\(number)") }
        try store.settlement.complete(provider: "acoustic", sequence: 1, term: "accepted", code: "", at: 1)
        try store.connection.run("UPDATE account SET count = 1000 WHERE term = 'captured'")
        try store.transaction(.normal) { _ = try store.capture("o-5") }
        #expect(
            try store.accounts.lines() == [
                AccountLine(provider: "acoustic", term: "accepted", code: "", count: 1),
                AccountLine(provider: "acoustic", term: "captured", code: "", count: 1),
                AccountLine(provider: "acoustic", term: "captured", code: "recovery", count: 5),
            ]
        )
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test func `does not return damaged state`() throws {
        let store = try OutboxStore.open(.memory)
        try store.state.setMemory(provider: "acoustic", lane: "a", version: 1, body: [1])
        try store.state.setMeta("key", "value")
        try store.connection.run("UPDATE memory SET body = x'02'")
        try store.connection.run("UPDATE meta SET value = 'x' WHERE key = 'key'")
        #expect(try store.state.memory(provider: "acoustic", lane: "a") == nil)
        #expect(try store.state.meta("key") == nil)
        #expect(try store.quarantine.list(limit: 10).map(\.table) == ["meta", "memory"])
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test func `refuses a file that is not an outbox and leaves it unchanged`() throws {
        let text = Array(String(repeating: "my thesis, CREATE TABLE of contents\n", count: 500).utf8)
        try OutboxFile.write(text, to: folder.outbox, at: 0)
        let error = outboxError { _ = try OutboxStore.open(.file(folder.outbox)) }
        #expect(error?.code == .cannotOpen)
        #expect(error?.detail.contains(folder.outbox) == true)
        #expect(error?.remedy.contains("move this file away") == true)
        #expect(try folder.bytes(folder.outbox) == text)
        #expect(folder.names == ["outbox.sqlite"])
    }

    @Test func `moves a file of zeros aside and reports it as empty`() throws {
        try OutboxFile.write(Array(repeating: 0, count: 10_000), to: folder.outbox, at: 0)
        let store = try OutboxStore.open(.file(folder.outbox))
        let recovery = try #require(store.openReport.recovery)
        #expect(recovery.isEmpty)
        #expect(recovery.movedAside == folder.outbox + ".damaged-1")
        #expect(try folder.bytes(recovery.movedAside).count == 10_000)
        try store.capture("o-1")
        #expect(try store.windowIDs() == ["o-1"])
    }

    @Test func `recovers the rows before the end of a truncated file`() throws {
        let model = try makeFile()
        let bytes = try folder.bytes(folder.outbox)
        var recovered: [Int] = []
        for length in stride(from: 4096, to: bytes.count, by: 4096) {
            try restore(Array(bytes[..<length]))
            let (rows, report) = try check(model, "cut at \(length) of \(bytes.count)")
            #expect(report.recovered, "cut at \(length)")
            recovered.append(rows)
        }
        #expect(try #require(recovered.last) > model.rows.count * 9 / 10)
        #expect(try #require(recovered.max()) > model.rows.count * 9 / 10)
    }

    @Test func `loses no row to a destroyed header or list of tables`() throws {
        let model = try makeFile()
        let bytes = try folder.bytes(folder.outbox)
        for range in [0..<16, 0..<100, 100..<200, 0..<4096] {
            var broken = bytes
            for place in range { broken[place] = 0x5A }
            try restore(broken)
            let (rows, report) = try check(model, "header bytes \(range)")
            #expect(report.recovered)
            #expect(rows == model.rows.count, "header bytes \(range)")
            #expect(report.recovery?.saved["snapshot"] == 20)
        }
    }

    @Test func `reports a wrong byte in the schema as damage and loses no row`() throws {
        let model = try makeFile(rows: 30)
        let bytes = try folder.bytes(folder.outbox)
        let schema = Array("CREATE ".utf8)
        let places = bytes.indices.filter { bytes[$0...].starts(with: schema) }
        #expect(places.count >= Table.all.count)
        for place in places {
            // The keyword itself and the text behind it: table name, column names and types.
            for offset in [1, 25, 49] where place + offset < bytes.count {
                var broken = bytes
                broken[place + offset] = 0xDF
                try restore(broken)
                let error = outboxError { _ = try OutboxStore.open(.file(folder.outbox), readOnly: true) }
                #expect(error?.code == .corrupt, "\(place) + \(offset): \(error?.detail ?? "no error")")
                let (rows, report) = try check(model, "schema byte \(place) + \(offset)")
                #expect(report.recovered)
                #expect(rows == model.rows.count, "schema byte \(place) + \(offset)")
            }
        }
    }

    @Test func `loses only the rows of a lost page`() throws {
        let model = try makeFile()
        let bytes = try folder.bytes(folder.outbox)
        for page in 1..<bytes.count / 4096 {
            var broken = bytes
            for place in page * 4096..<(page + 1) * 4096 { broken[place] = 0xFF }
            try restore(broken)
            let (rows, _) = try check(model, "page \(page + 1)")
            // Without its root page a table is lost. Any other page contains a few dozen rows at most.
            #expect(rows == 0 || rows >= model.rows.count - 120, "page \(page + 1): \(rows)")
        }
    }

    @Test(arguments: 0..<24) func `flipped bits cause no crash and no wrong rows`(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let model = try makeFile(rows: 120)
        var bytes = try folder.bytes(folder.outbox)
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        try restore(bytes)
        try check(model, "seed \(seed)")
    }

    /// Returns the offset of a cell in the file, for a table that fits in one page.
    private func cell(_ index: Int, of table: String, in bytes: [UInt8]) throws -> Int {
        let connection = try Connection(.file(folder.outbox), .readOnly)
        let root = try #require(try connection.number("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'"))
        let page = Int(root - 1) * 4096
        // A leaf page begins with its kind. The offsets of its cells follow from byte 8 on.
        try #require(bytes[page] == 0x0D || bytes[page] == 0x0A)
        let place = page + 8 + 2 * index
        return page + Int(bytes[place]) << 8 + Int(bytes[place + 1])
    }

    private func numbers(of table: Table) throws -> Set<Int64> {
        let connection = try Connection(.file(folder.outbox), .readOnly)
        var found: Set<Int64> = []
        _ = try TableScan(table, connection).everyRow { row in if row.isSound { found.insert(row.number) } }
        return found
    }

    @Test(arguments: [0, 1, 6, 13]) func `reads the other rows when one has a wrong number`(index: Int) throws {
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            for number in 1...14 {
                let ended = try store.capture("e-\(number)")
                try store.capture("o-\(number)")
                try store.settlement.complete(provider: "acoustic", sequence: ended, term: "accepted", code: "", at: 1)
            }
            try store.maintenance.checkpoint()
        }
        let bytes = try folder.bytes(folder.outbox)
        let history = try cell(index, of: "history", in: bytes) + 1
        let route = try cell(index, of: "route", in: bytes)
        // The length of a record is followed by the length of its header. The number is its first value.
        let sequence = route + 1 + Int(bytes[route + 1])
        #expect(bytes[history] == UInt8(index + 1))
        #expect(bytes[sequence] == UInt8(2 * index + 2))
        for bit in 0..<8 {
            var broken = bytes
            broken[history] ^= 1 << bit
            broken[sequence] ^= 1 << bit
            try restore(broken)
            #expect(try numbers(of: .history) == Set(1...14).subtracting([Int64(index + 1)]), "bit \(bit)")
            let others = Set(stride(from: Int64(2), through: 28, by: 2)).subtracting([Int64(2 * index + 2)])
            #expect(try numbers(of: .route) == others, "bit \(bit)")
        }
    }

    @Test func `commits in the write-ahead log survive damage to the file`() throws {
        do {
            let model = try makeFile()
            let store = try OutboxStore.open(.file(folder.outbox))
            let late = try store.capture("late")
            let log = try folder.bytes(folder.outbox + "-wal")
            var bytes = try folder.bytes(folder.outbox)
            for place in 0..<100 { bytes[place] = 0 }
            #expect(late > model.rows.count)
            try restore(bytes)
            try OutboxFile.write(log, to: folder.outbox + "-wal", at: 0)
        }
        let store = try OutboxStore.open(.file(folder.outbox))
        #expect(try store.queues.rows(provider: "acoustic", lane: "device", ids: ["late"]).count == 1)
    }

    @Test func `finishes a recovery that was interrupted between its renames`() throws {
        let model = try makeFile()
        try OutboxFile.move(folder.outbox, to: folder.outbox + ".rebuilding")
        try OutboxFile.write([1, 2, 3], to: folder.outbox + ".damaged-1", at: 0)
        try OutboxFile.write(Array(repeating: 1, count: 5_000), to: folder.outbox + "-wal", at: 0)
        let store = try OutboxStore.open(.file(folder.outbox))
        #expect(try store.queues.list(provider: "acoustic", limit: 1_000).count == model.rows.count)
        #expect(OutboxFile.exists(folder.outbox + ".damaged-1-wal"))
        #expect(!store.openReport.created)
    }

    @Test(arguments: ["-wal", "-shm"]) func `refuses a commit after the -wal or -shm file was deleted or replaced`(
        suffix: String
    ) throws {
        for isReplaced in [false, true] {
            let folder = try TemporaryFolder()
            let store = try OutboxStore.open(.file(folder.outbox))
            try store.capture("o-1")
            OutboxFile.delete(folder.outbox + suffix)
            if isReplaced { try OutboxFile.copy(folder.outbox, to: folder.outbox + suffix) }
            for id in ["o-2", "o-3"] {
                let error = outboxError { try store.capture(id) }
                #expect(error?.code == .io)
                #expect(error?.detail.contains("write-ahead log") == true)
            }
        }
    }

    @Test(arguments: [
        "CREATE VIEW extra AS SELECT 1", "CREATE TRIGGER extra AFTER INSERT ON route BEGIN DELETE FROM route; END",
    ])
    func `refuses an outbox with a view or a trigger`(statement: String) throws {
        try OutboxStore.open(.file(folder.outbox)).capture("o-1")
        try Connection(.file(folder.outbox), .readWrite).script(statement)
        let error = outboxError { _ = try OutboxStore.open(.file(folder.outbox)) }
        #expect(error?.code == .cannotOpen)
    }

    @Test func `reports a recovery lock of another process after the timeout`() throws {
        let file = OutboxFile(folder.outbox)
        let other = open(folder.outbox + ".recovering", O_CREAT | O_RDWR, 0o600)
        defer { close(other) }
        try #require(flock(other, LOCK_EX) == 0)
        let start = ContinuousClock.now
        let error = outboxError { _ = try FileLock(beside: file, waitingFor: 1) }
        #expect(error?.code == .busy && error?.detail.contains("for 1 s") == true)
        #expect(ContinuousClock.now - start >= .seconds(1))
        flock(other, LOCK_UN)
        try FileLock(beside: file, waitingFor: 1).release()
    }

    @Test func `removes damaged files that were moved aside, with their logs`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for name in [".damaged-1", ".damaged-1-wal", ".damaged-4", ".grafted", ".grafted-wal", ".rebuilding"] {
            try OutboxFile.write([1], to: folder.outbox + name, at: 0)
        }
        #expect(store.maintenance.removeDamagedFiles() == 2)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.allSatisfy { !$0.contains("damaged") && !$0.contains("grafted") })
    }

    @Test func `a store whose file was moved away by a recovery refuses to write`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        try OutboxFile.move(folder.outbox, to: folder.outbox + ".damaged-1")
        let error = outboxError { try store.capture("o-2") }
        #expect(error?.code == .io)
        #expect(error?.remedy.contains("open it again") == true)
    }
}
