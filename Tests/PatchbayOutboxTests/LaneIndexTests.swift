import Testing

@testable import PatchbayOutbox

@Suite("Kept windows equal new windows") struct LaneIndexTests {
    /// A lane with a kept window. Every read is compared with a window that is read from scratch.
    private final class Keeper {
        let store: OutboxStore
        var index = LaneIndex()
        var closed: Set<String> = []
        var loads = 0

        /// The limits of the kept index. The window that it is compared with uses the defaults.
        let limits: WindowLimits

        init(_ store: OutboxStore, _ limits: WindowLimits = WindowLimits()) {
            (self.store, self.limits) = (store, limits)
        }

        func capture(_ id: String, queue: String, group: String? = nil, hold: String? = nil) throws {
            let sequence = try store.transaction(.normal) {
                try store.capture(id, group: group, queue: queue, hold: hold)
            }
            if hold == nil { index.enter(sequence, queue: queue) }
        }

        func end(_ row: OutboxRow) throws {
            try store.settlement.complete(
                provider: "acoustic",
                sequence: row.operation.sequence,
                term: "accepted",
                code: "",
                at: 1,
                isIndexed: true
            )
            index.leave(row.operation.sequence, queue: row.queue)
        }

        func close(_ now: Set<String>) throws {
            try store.close(now)
            for queue in now.subtracting(closed).sorted() { index.close(queue) }
            index.open(closed.subtracting(now).sorted())
            closed = now
        }

        func readWindow(limit: Int) throws -> (kept: [Int64], fresh: [OutboxRow]) {
            store.queues.limits = limits
            let kept = try store.queues.window(
                provider: "acoustic",
                lane: "device",
                limit: limit,
                mayBeClosed: !closed.isEmpty,
                index: &index,
                known: []
            ) { sequence in
                loads += 1
                return try store.queues.row(sequence, provider: "acoustic").map { .row(group: $0.operation.group) }
                    ?? .nothing
            }
            store.queues.limits = WindowLimits()
            let fresh = try store.queues.window(provider: "acoustic", lane: "device", limit: limit)
            #expect(kept.hasMore || !fresh.hasMore)
            return (kept.sequences, fresh.rows)
        }
    }

    @Test(
        arguments: 0..<24
    ) func `a kept window equals a new one after random changes`(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        var limits = WindowLimits()
        if seed % 2 == 0 { (limits.rowsPerRead, limits.indexCapacity) = (2, 8) }
        let keeper = Keeper(try OutboxStore.open(.memory), limits)
        let names = (0..<Int.random(in: 1...30, using: &random)).map { "q\($0)" }
        let limit = Int.random(in: 1...20, using: &random)
        var count = 0
        // Changes that are not reported to the index reset it, so half of the runs make few of them.
        let kinds = seed % 4 < 2 ? 12 : 10
        for _ in 0..<60 {
            switch Int.random(in: 0..<kinds, using: &random) {
            case 0..<5:
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    count += 1
                    // Few queues are long and many are short.
                    let queue = names[
                        Int.random(in: 0..<names.count, using: &random) / Int.random(in: 1...4, using: &random)
                    ]
                    let isGrouped = Int.random(in: 0..<4, using: &random) == 0
                    let isHeld = Int.random(in: 0..<10, using: &random) == 0
                    try keeper.capture(
                        "o-\(count)",
                        queue: queue,
                        group: isGrouped ? "g\(count / 5)" : nil,
                        hold: isHeld ? "h" : nil
                    )
                }
            case 5..<9:
                let rows = try keeper.readWindow(limit: limit).fresh
                for row in rows where Int.random(in: 0..<3, using: &random) > 0 { try keeper.end(row) }
            case 9: try keeper.close(Set(names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }))
            case 10: try keeper.store.operations.release(provider: nil, subject: "installation-1", hold: "h")
            default:
                guard let row = try keeper.readWindow(limit: limit).fresh.first else { continue }
                // Completed by a caller that does not report it to the index.
                let sequence = row.operation.sequence
                try keeper.store.settlement.complete(
                    provider: "acoustic",
                    sequence: sequence,
                    term: "dropped",
                    code: "",
                    at: 1
                )
            }
            let (kept, fresh) = try keeper.readWindow(limit: limit)
            #expect(kept == fresh.map(\.operation.sequence))
        }
    }

    @Test(arguments: 0..<4) func `a kept window of many queues equals a new one while they close, open and grow`(
        seed: Int
    ) throws {
        var random = SeededGenerator(seed: seed)
        // An eighth of the default limits, because the comparison takes time for each closed queue.
        var limits = WindowLimits()
        (limits.rowsPerRead, limits.indexCapacity) = (136, 512)
        let keeper = Keeper(try OutboxStore.open(.memory), limits)
        let count = 1_000
        let limit = 10
        let longest = seed % 2 == 0 ? 1 : 40
        try keeper.store.transaction(.normal) {
            for number in 0..<count {
                for part in 0..<(number % 50 == 0 ? longest : 1) {
                    try keeper.store.capture("o-\(number)-\(part)", queue: "q\(number % count)")
                }
            }
        }
        var closed: Set<String> = []
        for round in 0..<160 {
            let (kept, fresh) = try keeper.readWindow(limit: limit)
            #expect(kept == fresh.map(\.operation.sequence))
            for row in fresh {
                if Int.random(in: 0..<40, using: &random) == 0 { try keeper.end(row) } else { closed.insert(row.queue) }
            }
            // Some queues open one by one, and once nearly all.
            for queue in closed.sorted().prefix(Int.random(in: 0..<8, using: &random)) { closed.remove(queue) }
            if round == 130 { closed = Set(closed.sorted().prefix(3)) }
            try keeper.close(closed)
            try keeper.capture("late-\(round)", queue: "q\(Int.random(in: 0..<count, using: &random))")
            #expect(keeper.index.queues.count <= limits.indexCapacity + 4 * limit + 64)
        }
    }

    @Test func `finds a closed queue when it opens after it was removed from the index`() throws {
        let keeper = Keeper(try OutboxStore.open(.memory))
        try keeper.store.transaction(.normal) {
            for number in 0..<1_500 { try keeper.store.capture("o-\(number)", queue: "q\(number)") }
        }
        var closed: Set<String> = []
        while true {
            let (kept, fresh) = try keeper.readWindow(limit: 50)
            #expect(kept == fresh.map(\.operation.sequence))
            guard !fresh.isEmpty else { break }
            closed.formUnion(fresh.map(\.queue))
            try keeper.close(closed)
        }
        // The end of the lane was reached, and some closed queues are no longer in the index.
        for number in [0, 700, 1_499] {
            closed.remove("q\(number)")
            try keeper.close(closed)
            let (kept, fresh) = try keeper.readWindow(limit: 50)
            #expect(fresh.map(\.operation.id) == ["o-\(number)"])
            #expect(kept == fresh.map(\.operation.sequence))
            for row in fresh { try keeper.end(row) }
            try keeper.capture("late-\(number)", queue: "new-\(number)")
            for row in try keeper.readWindow(limit: 50).fresh { try keeper.end(row) }
        }
    }

    @Test func `an operation that enters a closed queue is not in the window`() throws {
        let keeper = Keeper(try OutboxStore.open(.memory))
        try keeper.capture("o-1", queue: "a")
        try keeper.close(["b"])
        #expect(try keeper.readWindow(limit: 10).kept.count == 1)
        // The index is empty again, and the queue had no rows.
        try keeper.store.operations.release(provider: nil, subject: "installation-1", hold: "h")
        keeper.store.queues.invalidateIndexes()
        #expect(try keeper.readWindow(limit: 10).kept.count == 1)
        try keeper.capture("o-2", queue: "b")
        let (kept, fresh) = try keeper.readWindow(limit: 10)
        #expect(fresh.map(\.operation.id) == ["o-1"])
        #expect(kept == fresh.map(\.operation.sequence))
    }

    @Test func `searches the rows behind many closed queues only once`() throws {
        func steps(_ count: Int) throws -> Int {
            let keeper = Keeper(try OutboxStore.open(.memory))
            try keeper.store.transaction(.normal) {
                for number in 0..<count { try keeper.store.capture("o-\(number)", queue: "q\(number)") }
            }
            let queries = [QueueReader.byOrder.all, QueueReader.followingQueue.all, QueueReader.inQueue]
            for query in queries { _ = try keeper.store.connection.statement(query).takeSteps() }
            var closed = 0
            while closed < count {
                let window = try keeper.store.queues.window(
                    provider: "acoustic",
                    lane: "device",
                    limit: 100,
                    index: &keeper.index,
                    known: []
                ) { _ in .row(group: nil) }
                guard !window.sequences.isEmpty else { break }
                for sequence in window.sequences {
                    let queue = "q\(sequence - 1)"
                    try keeper.store.closedQueues.close(
                        provider: "acoustic",
                        lane: "device",
                        queue: queue,
                        until: 1,
                        orWoken: false
                    )
                    keeper.index.close(queue)
                    closed += 1
                }
            }
            #expect(closed == count)
            return try queries.map { try keeper.store.connection.statement($0).takeSteps() }.reduce(0, +)
        }
        let (few, many) = (try steps(2_000), try steps(16_000))
        #expect(many < 10 * few, "\(few) and \(many)")
    }

    @Test func `a kept window shows rows of another process in order`() throws {
        let folder = try TemporaryFolder()
        let keeper = Keeper(try OutboxStore.open(.file(folder.outbox)))
        let other = try OutboxStore.open(.file(folder.outbox))
        try keeper.capture("mine", queue: "events")
        #expect(try keeper.readWindow(limit: 10).kept.count == 1)
        try other.capture("theirs")
        try keeper.capture("mine too", queue: "events")
        let (kept, fresh) = try keeper.readWindow(limit: 10)
        #expect(fresh.map(\.operation.id) == ["mine", "theirs", "mine too"])
        #expect(kept == fresh.map(\.operation.sequence))
    }

    @Test func `removes a damaged row from a kept window`() throws {
        let keeper = Keeper(try OutboxStore.open(.memory))
        for number in 0..<4 { try keeper.capture("o-\(number)", queue: "events") }
        #expect(try keeper.readWindow(limit: 2).kept.count == 2)
        try keeper.store.connection.run("UPDATE operation SET body = x'00' WHERE id = 'o-1'")
        var lost: [String] = []
        keeper.store.quarantine.onLoss = { lost.append("\($0) \($1)") }
        keeper.store.quarantine.date = { 77 }
        let (kept, fresh) = try keeper.readWindow(limit: 2)
        #expect(fresh.map(\.operation.id) == ["o-0", "o-2"])
        #expect(kept == fresh.map(\.operation.sequence))
        #expect(lost == ["acoustic o-1"])
        let outcome = HistoryEntry(provider: "acoustic", id: "o-1", term: "quarantined", code: "checksum", at: 77)
        #expect(try keeper.store.history.entries(provider: nil, limit: 10) == [outcome])
    }

    @Test func `limits the index of a queue that grows without bound and reads all of its rows`() throws {
        let keeper = Keeper(try OutboxStore.open(.memory))
        try keeper.capture("first", queue: "events")
        #expect(try keeper.readWindow(limit: 4).kept.count == 1)
        let store = keeper.store
        try store.transaction(.normal) {
            for number in 0..<6_000 {
                keeper.index.enter(try store.capture("o-\(number)"), queue: "events")
            }
        }
        let place = try #require(keeper.index.place(of: "events"))
        #expect(keeper.index.queues[place].known.count <= 4_096)
        for row in try store.queues.list(provider: "acoustic", limit: .max).dropLast() {
            try keeper.end(row)
            guard row.operation.sequence % 1_000 < 2 else { continue }
            let (kept, fresh) = try keeper.readWindow(limit: 4)
            #expect(kept == fresh.map(\.operation.sequence))
        }
        #expect(try keeper.readWindow(limit: 4).kept.count == 1)
    }

    @Test func `reads outcomes after a number with the findings of rejects`() throws {
        let store = try OutboxStore.open(.memory)
        for number in 0..<3 { try store.capture("o-\(number)") }
        #expect(try store.history.end() == 0)
        try store.settlement.complete(provider: "acoustic", sequence: 1, term: "accepted", code: "", at: 1)
        let end = try store.history.end()
        try store.settlement.complete(
            provider: "acoustic",
            sequence: 2,
            term: "rejected",
            code: "no",
            at: 2,
            reject: Array("{}".utf8)
        )
        try store.settlement.complete(provider: "acoustic", sequence: 3, term: "dropped", code: "why", at: 3)
        #expect(store.history.newestNumber == end + 2)
        let found = try store.history.outcomes(after: end, limit: 10)
        #expect(found.map(\.entry.id) == ["o-1", "o-2"])
        #expect(found.map(\.finding) == [Array("{}".utf8), nil])
        #expect(try store.history.outcomes(after: found[1].number, limit: 10).isEmpty)
    }
}
