import Testing

@testable import PatchbayOutbox

@Suite("Outbox windows") struct WindowTests {
    let store: OutboxStore

    init() throws { store = try OutboxStore.open(.memory) }

    private func fill(_ queue: String, _ count: Int, hold: String? = nil, lane: String = "device") throws {
        try store.transaction(.normal) {
            for number in 0..<count { try store.capture("\(queue)-\(number)", lane: lane, queue: queue, hold: hold) }
        }
    }

    @Test func `reads the requested rows in order and skips damaged ones`() throws {
        try fill("events", 4)
        _ = try store.transaction(.normal) { try store.capture("other", provider: "des") }
        try fill("late", 20)
        try store.connection.run("UPDATE route SET failures = 7 WHERE sequence = 3")
        try store.connection.run("UPDATE operation SET subject = 'x' WHERE sequence = 8")
        try store.connection.run("DELETE FROM operation WHERE sequence = 9")
        var found: [Int64] = []
        try store.queues.forEachRow([1, 3, 4, 5, 8, 9, 10, 25, 99], provider: "acoustic") {
            found.append($0.operation.sequence)
        }
        #expect(found == [1, 4, 10, 25])
        try store.quarantine.setDamagedRowsAside()
        #expect(Set(try store.quarantine.list(limit: 10).map(\.sequence)) == [3, 8, 9])
    }

    @Test func `3,000 waiting events do not hide the registration`() throws {
        try fill("events", 3_000)
        try fill("registration", 2)
        let window = try store.queues.window(provider: "acoustic", lane: "device", limit: 100)
        #expect(window.rows.count == 100)
        #expect(window.rows.filter { $0.queue == "registration" }.count == 2)
        #expect(window.hasMore)
        let sequences = window.rows.map(\.operation.sequence)
        #expect(sequences == sequences.sorted())
    }

    @Test func `a window excludes closed queues of any length`() throws {
        try fill("events", 3_000)
        try fill("registration", 2)
        let window = try store.window(provider: "acoustic", lane: "device", limit: 100, closed: ["events"])
        #expect(window.rows.map(\.operation.id) == ["registration-0", "registration-1"])
        #expect(window.hasMore)
        #expect(try store.windowIDs(closed: ["events", "registration"]).isEmpty)
    }

    @Test func `a window excludes held rows`() throws {
        try fill("events", 500, hold: "consent.unknown")
        try fill("registration", 3)
        let window = try store.queues.window(provider: "acoustic", lane: "device", limit: 2)
        #expect(window.rows.map(\.operation.id) == ["registration-0", "registration-1"])
        #expect(window.hasMore)
    }

    @Test func `divides the unused places of a small queue equally among the others`() throws {
        try fill("a", 400)
        try fill("b", 3)
        try fill("c", 400)
        try fill("d", 20)
        let window = try store.queues.window(provider: "acoustic", lane: "device", limit: 63)
        let counts = Dictionary(grouping: window.rows, by: \.queue).mapValues(\.count)
        #expect(counts == ["a": 20, "b": 3, "c": 20, "d": 20])
        for queue in ["a", "b", "c", "d"] {
            let ids = window.rows.filter { $0.queue == queue }.map(\.operation.id)
            #expect(ids == (0..<ids.count).map { "\(queue)-\($0)" })
        }
    }

    @Test func `prefers the oldest heads when there are more queues than places`() throws {
        for number in 0..<50 { try fill("q\(49 - number)", 2) }
        let window = try store.queues.window(provider: "acoustic", lane: "device", limit: 10)
        #expect(window.rows.map(\.queue) == (0..<10).map { "q\(49 - $0)" })
        #expect(window.hasMore)
    }

    @Test func `a long closed queue at the front does not hide many short queues`() throws {
        try fill("giant", 5_000)
        for number in 0..<2_000 { try fill("s\(number)", 1) }
        let window = try store.window(provider: "acoustic", lane: "device", limit: 20, closed: ["giant"])
        #expect(window.rows.count == 20)
        #expect(window.hasMore)
        // The search continues where it stopped, so every queue is served eventually.
        var served: Set<String> = []
        for _ in 0..<300 {
            let rows = try store.window(provider: "acoustic", lane: "device", limit: 20, closed: ["giant"]).rows
            for row in rows {
                served.insert(row.queue)
                try store.settlement.complete(
                    provider: "acoustic",
                    sequence: row.operation.sequence,
                    term: "accepted",
                    code: "",
                    at: 1
                )
            }
        }
        #expect(served.count == 2_000)
        #expect(!served.contains("giant"))
        #expect(try store.operations.pendingCount(provider: "acoustic") == 5_000)
    }

    @Test func `does not split a group at the end of the window`() throws {
        try fill("events", 3)
        for number in 0..<10 { try store.capture("g-\(number)", group: "cart", queue: "events") }
        try store.capture("after", group: "next", queue: "events")
        let window = try store.queues.window(provider: "acoustic", lane: "device", limit: 5)
        #expect(window.rows.map(\.operation.id) == (0..<3).map { "events-\($0)" } + (0..<10).map { "g-\($0)" })
        #expect(window.hasMore)
        let before = try store.queues.window(provider: "acoustic", lane: "device", limit: 3)
        #expect(before.rows.count == 3)
    }

    @Test func `a window shows only its own lane and provider`() throws {
        try fill("events", 2, lane: "l1")
        try store.capture("x", provider: "adobe", lane: "l1")
        try store.capture("y", lane: "l2", hold: "paused")
        #expect(try store.queues.lanes(provider: "acoustic") == ["l1", "l2"])
        #expect(try store.queues.lanes(provider: "adobe") == ["l1"])
        #expect(try store.windowIDs(lane: "l1") == ["events-0", "events-1"])
        #expect(try store.windowIDs(lane: "l2").isEmpty)
        #expect(try store.windowIDs(provider: "unknown").isEmpty)
    }

    @Test(
        arguments: 0..<40
    ) func `the shares equal those of a simple max-min model`(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let names = (0..<Int.random(in: 1...8, using: &random)).map { "q\($0)" }
        var model: [String: [Int64]] = [:]
        try store.transaction(.normal) {
            for number in 0..<Int.random(in: 0...400, using: &random) {
                let queue = names[Int.random(in: 0..<names.count, using: &random) / 2]
                let isHeld = Int.random(in: 0..<10, using: &random) == 0
                let sequence = try store.capture("o-\(number)", queue: queue, hold: isHeld ? "h" : nil)
                if !isHeld { model[queue, default: []].append(sequence) }
            }
        }
        let closed = Set(names.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
        let limit = Int.random(in: 1...60, using: &random)
        let open = model.filter { !closed.contains($0.key) }.values.sorted { $0[0] < $1[0] }
        let queues = Array(open.prefix(limit))
        // Assigns one place at a time to the queue with the fewest, which is max-min fair.
        var counts = queues.map { _ in 0 }
        var left = limit
        while left > 0,
            let place = counts.indices.filter({ counts[$0] < queues[$0].count }).min(by: { counts[$0] < counts[$1] })
        {
            counts[place] += 1
            left -= 1
        }
        let expected = zip(queues, counts).flatMap { $0.prefix($1) }.sorted()
        let window = try store.window(provider: "acoustic", lane: "device", limit: limit, closed: closed)
        #expect(window.rows.map(\.operation.sequence) == expected)
        #expect(window.hasMore == (expected.count < model.values.joined().count))
    }

    @Test func `no query of the window scans the routes or sorts them`() throws {
        try store.transaction(.normal) {
            for number in 0..<1_000 {
                try store.capture("o-\(number)", queue: "q\(number % 7)", hold: number % 3 == 0 ? "h" : nil)
            }
        }
        try store.connection.script("ANALYZE")
        let queries = [
            QueueReader.byOrder.all.text, QueueReader.firstQueue.all.text, QueueReader.followingQueue.all.text,
            QueueReader.byOrder.open.text, QueueReader.firstQueue.open.text, QueueReader.followingQueue.open.text,
            QueueReader.inQueue.text, QueueReader.inClosedQueue.text, OutboxClosedQueues.firstEnd.text,
            OutboxClosedQueues.dueQueues.text, OutboxClosedQueues.deleteDue.text,
            RowReader.select + "WHERE r.sequence = ?1 AND r.provider = ?2",
            "SELECT lane FROM route WHERE provider = ?1 AND lane > ?2 ORDER BY provider, lane LIMIT 1",
            "SELECT sequence FROM operation WHERE id = ?1",
        ]
        for query in queries {
            let plan = try queryPlan(query)
            #expect(!plan.isEmpty)
            for line in plan {
                #expect(line.hasPrefix("SEARCH") || line.contains("SUBQUERY"), "\(line) in \(query)")
                #expect(!line.contains("TEMP B-TREE"), "\(line) in \(query)")
            }
        }
        let inQueue = try queryPlan(QueueReader.inQueue.text).joined()
        #expect(inQueue.contains("provider=? AND lane=? AND hold=? AND queue=? AND sequence>?"))
        let nextQueue = try queryPlan(QueueReader.followingQueue.all.text).joined()
        #expect(nextQueue.contains("provider=? AND lane=? AND hold=? AND queue>?"))
    }

    @Test func `applies noted outcomes by key and scans only the notes`() throws {
        for query in OutboxSettlement.lookups + OutboxOperations.deletions {
            for line in try queryPlan(query.text) {
                let isOfNotes = line.hasPrefix("SCAN notedOutcome") || line.hasPrefix("SCAN (subquery")
                // A search by the provider alone would visit all of its rows.
                let isByKey =
                    ["sequence>?", "sequence=?"].contains(where: line.contains)
                    || !line.hasPrefix("SEARCH route")
                #expect(isOfNotes || !line.hasPrefix("SCAN") && isByKey, "\(line) in \(query.text)")
            }
        }
    }

    @Test func `reads a window over 20,000 rows in few steps`() throws {
        try store.transaction(.normal) {
            for number in 0..<20_000 {
                let sequence = try store.captures.insert(
                    OutboxOperation(id: "o-\(number)", subject: "s", capturedAt: 1, since: 1, body: [1])
                )
                try store.captures.enter(
                    sequence,
                    provider: "acoustic",
                    lane: "device",
                    queue: number % 1_000 == 999 ? "registration" : "events",
                    hold: number % 2 == 0 ? "consent.unknown" : nil
                )
            }
        }
        let statement = try store.connection.statement(QueueReader.inQueue)
        _ = statement.takeSteps()
        let window = try store.window(provider: "acoustic", lane: "device", limit: 256, closed: ["events"])
        #expect(window.rows.count == 20)
        // Virtual machine steps grow with the number of visited rows: 10,000 closed rows would need about 200,000.
        let queries = [QueueReader.byOrder.all, QueueReader.followingQueue.all, QueueReader.inQueue]
        let steps = try queries.map { try store.connection.statement($0).takeSteps() }.reduce(0, +)
        #expect(steps < 25_000)
    }

    private func queryPlan(_ sql: String) throws -> [String] {
        let statement = try store.connection.statement("EXPLAIN QUERY PLAN " + sql)
        defer { statement.reset() }
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(3)) }
        return lines
    }
}
