import Foundation
import Synchronization
import Testing

@testable import PatchbayOutbox

@Suite("Outbox store") struct OutboxStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: StoreKind.allCases) func `reads back a captured operation`(_ kind: StoreKind) throws {
        let store = try kind.open(folder)
        var operation = OutboxOperation(
            id: "o-1",
            subject: "Zoë \u{0} 👋",
            group: "cart",
            capturedAt: -5,
            since: 2,
            body: [0, 255, 1]
        )
        operation.sequence = try store.transaction(.full) {
            let sequence = try store.captures.insert(operation)
            try store.captures.enter(sequence, provider: "acoustic", lane: "device", queue: "", hold: nil)
            return sequence
        }
        let window = try store.queues.window(provider: "acoustic", lane: "device", limit: 10)
        #expect(window.rows == [OutboxRow(operation: operation, provider: "acoustic", lane: "device", queue: "")])
        #expect(!window.hasMore)
        #expect(try store.queues.rows(provider: "acoustic", lane: "device", ids: ["o-1", "unknown"]) == window.rows)
        #expect(try store.queues.rows(provider: "acoustic", lane: "other", ids: ["o-1"]).isEmpty)
        #expect(store.connection.runningStatements == 0)
    }

    @Test(arguments: StoreKind.allCases) func `distinguishes an empty body and step from missing ones`(
        _ kind: StoreKind
    ) throws {
        let store = try kind.open(folder)
        let sequence = try store.capture("o-1", body: [])
        try store.settlement.progress(provider: "acoustic", sequence: sequence, step: [], failures: 2, refusals: 1)
        let row = try #require(try store.queues.list(provider: "acoustic", limit: 1).first)
        #expect(row.operation.body == [])
        #expect(row.step == [])
        #expect((row.failures, row.refusals) == (2, 1))
        try store.settlement.progress(provider: "acoustic", sequence: sequence, step: nil, failures: 0, refusals: 0)
        #expect(try store.queues.list(provider: "acoustic", limit: 1).first?.step == nil)
    }

    @Test(arguments: StoreKind.allCases) func `counts a completed route and removes the operation with the last one`(
        _ kind: StoreKind
    ) throws {
        let store = try kind.open(folder)
        let sequence = try store.capture("o-1")
        try store.captures.enter(sequence, provider: "adobe", lane: "device", queue: "events", hold: nil)
        try store.accounts.count(provider: "adobe", term: "created", code: "", by: 1)
        try store.settlement.complete(provider: "acoustic", sequence: sequence, term: "accepted", code: "", at: 7)
        #expect(try store.operations.pendingCount(provider: "acoustic") == 0)
        #expect(try store.maintenance.verify().operations == 1)
        try store.settlement.complete(
            provider: "adobe",
            sequence: sequence,
            term: "rejected",
            code: "invalid",
            at: 8,
            reject: Array("{}".utf8)
        )
        // A second verdict for the same route changes nothing.
        try store.settlement.complete(provider: "adobe", sequence: sequence, term: "rejected", code: "invalid", at: 9)
        #expect(try store.maintenance.verify().operations == 0)
        #expect(
            try store.accounts.lines() == [
                AccountLine(provider: "acoustic", term: "accepted", code: "", count: 1),
                AccountLine(provider: "acoustic", term: "captured", code: "", count: 1),
                AccountLine(provider: "adobe", term: "created", code: "", count: 1),
                AccountLine(provider: "adobe", term: "rejected", code: "invalid", count: 1),
            ]
        )
        #expect(
            try store.history.entries(provider: nil, limit: 10) == [
                HistoryEntry(provider: "adobe", id: "o-1", term: "rejected", code: "invalid", at: 8),
                HistoryEntry(provider: "acoustic", id: "o-1", term: "accepted", code: "", at: 7),
            ]
        )
        #expect(try store.history.entries(provider: "acoustic", limit: 10).count == 1)
        let reject = try #require(try store.rejects.list(provider: "adobe", limit: 10).first)
        #expect((reject.operation.id, reject.operation.sequence) == ("o-1", sequence))
        #expect(reject.operation.body == Array("{\"name\":\"Order Placed\"}".utf8))
        #expect((reject.code, reject.at, reject.finding) == ("invalid", 8, Array("{}".utf8)))
        #expect(try store.maintenance.verify().faults == [])
        try store.rejects.remove(reject.number)
        #expect(try store.rejects.list(provider: nil, limit: 10).isEmpty)
    }

    @Test func `has no history or reject limit by default`() throws {
        let store = try OutboxStore.open(.memory)
        #expect(store.history.limit == .max && store.rejects.limit == .max)
    }

    @Test func `the history deletes the oldest entries over its limit`() throws {
        let store = try OutboxStore.open(.memory)
        store.history.limit = 5
        for number in 0..<12 {
            let sequence = try store.capture("o-\(number)")
            try store.settlement.complete(provider: "acoustic", sequence: sequence, term: "accepted", code: "", at: 1)
        }
        let kept = try store.history.entries(provider: nil, limit: 100).map(\.id)
        #expect(kept == ["o-11", "o-10", "o-9", "o-8", "o-7"])
    }

    @Test(arguments: StoreKind.allCases) func `stores, reads and clears state of every kind`(_ kind: StoreKind) throws {
        let store = try kind.open(folder)
        #expect(try store.state.memory(provider: "acoustic", lane: "a") == nil)
        try store.state.setMemory(provider: "acoustic", lane: "a", version: 1, body: [1])
        try store.state.setMemory(provider: "acoustic", lane: "a", version: 2, body: [])
        try store.state.setMemory(provider: "acoustic", lane: "b", version: 2, body: [3])
        let memory = try #require(try store.state.memory(provider: "acoustic", lane: "a"))
        #expect((memory.version, memory.body) == (2, []))
        #expect(try store.state.memories(provider: "acoustic").map(\.lane) == ["a", "b"])
        try store.state.clearMemory(provider: "acoustic", lane: "a")
        #expect(try store.state.memories(provider: "acoustic").map(\.lane) == ["b"])
        try store.state.clearMemory(provider: "acoustic", lane: nil)
        #expect(try store.state.memories(provider: "acoustic").isEmpty)

        let entry = JournalEntry(
            lane: "a",
            endpoint: "create",
            operations: ["o \"1\"", "o-2"],
            request: [9],
            startedAt: 4
        )
        try store.state.setJournal(provider: "acoustic", entry)
        #expect(try store.state.journal(provider: "acoustic") == [entry])
        try store.state.clearJournal(provider: "acoustic", lane: "a")
        #expect(try store.state.journal(provider: "acoustic").isEmpty)

        for number in 0..<600 { try store.state.setSnapshot(subject: "s\(number)", body: [UInt8(number % 256)]) }
        try store.state.setSnapshot(subject: "s7", body: [77])
        try store.state.clearSnapshot(subject: "s8")
        #expect(try store.state.snapshot(subject: "s7") == [77])
        #expect(try store.state.snapshot(subject: "s8") == nil)
        var subjects: Set<String> = []
        try store.state.forEachSnapshot { subject, _ in
            subjects.insert(subject)
            try store.state.clearSnapshot(subject: subject)
        }
        #expect(subjects.count == 599)
        #expect(try store.state.snapshot(subject: "s9") == nil)

        try store.state.setMeta("boot", "1")
        try store.state.setMeta("boot", "2")
        #expect(try store.state.meta("boot") == "2")
        try store.state.setMeta("boot", nil)
        #expect(try store.state.meta("boot") == nil)

        var record = ProviderRecord(
            name: "acoustic",
            adapter: "acoustic.device",
            stateVersion: 3,
            state: "live",
            settingsDigest: "d"
        )
        try store.state.setProvider(record)
        record.suspended = [1]
        record.state = "draining"
        try store.state.setProvider(record)
        #expect(try store.state.providers() == [record])
        #expect(store.connection.runningStatements == 0)
    }

    @Test(arguments: StoreKind.allCases) func `a wake or an elapsed instant opens a closed queue`(_ kind: StoreKind)
        throws
    {
        let store = try kind.open(folder)
        let timed = QueueBlock(lane: "a", queue: "events", until: 50, orWoken: false)
        let either = QueueBlock(lane: "a", queue: "registration", until: 60, orWoken: true)
        let woken = QueueBlock(lane: "b", queue: "events", until: nil, orWoken: true)
        for block in [timed, either, woken] {
            try store.closedQueues.close(
                provider: "acoustic",
                lane: block.lane,
                queue: block.queue,
                until: block.until,
                orWoken: block.orWoken
            )
        }
        #expect(try store.closedQueues.list(provider: "acoustic", lane: nil) == [timed, either, woken])
        #expect(try store.closedQueues.list(provider: "acoustic", lane: "b") == [woken])
        try store.closedQueues.openWoken(provider: "acoustic", lane: "a")
        #expect(try store.closedQueues.list(provider: "acoustic", lane: nil) == [timed, woken])
        try store.closedQueues.openWoken(provider: "acoustic")
        #expect(try store.closedQueues.list(provider: "acoustic", lane: nil) == [timed])
        let first = try #require(timed.until)
        func open(at now: Int64, limit: Int = 9) throws -> [String] {
            try store.closedQueues.openDue(provider: "acoustic", lane: timed.lane, at: now, limit: limit)
        }
        #expect(try open(at: first - 1).isEmpty)
        #expect(try open(at: first, limit: 0).isEmpty)
        #expect(try open(at: first) == [timed.queue])
        #expect(try store.closedQueues.list(provider: "acoustic", lane: nil).isEmpty)
    }

    @Test func `holds a subject's rows until they are released`() throws {
        let store = try OutboxStore.open(.memory)
        try store.capture("o-1", subject: "anna", hold: "consent.unknown")
        try store.capture("o-2", subject: "bert", hold: "consent.unknown")
        try store.capture("o-3", subject: "anna")
        #expect(try store.windowIDs() == ["o-3"])
        #expect(try store.operations.release(provider: nil, subject: "anna", hold: "other") == 0)
        #expect(try store.operations.release(provider: nil, subject: "anna", hold: "consent.unknown") == 1)
        #expect(try store.windowIDs() == ["o-1", "o-3"])
        #expect(try store.operations.hold(provider: "acoustic", subject: "anna", hold: "paused") == 2)
        #expect(try store.windowIDs().isEmpty)
        let holds = try store.operations.holds(provider: "acoustic")
        #expect(holds.map(\.hold) == ["consent.unknown", "paused"])
        #expect(holds.map(\.count) == [1, 2])
        #expect(try store.queues.lanes(provider: "acoustic") == ["device"])
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test func `iterates rows in order of capture while they are moved`() throws {
        let store = try OutboxStore.open(.memory)
        for number in 0..<700 { try store.capture("o-\(number)", subject: number % 2 == 0 ? "even" : "odd") }
        var even: [Int64] = []
        try store.queues.forEachRow(provider: "acoustic", subject: "even") { row in
            even.append(row.operation.sequence)
            try store.captures.enter(row.operation.sequence, provider: "adobe", lane: "x", queue: "q", hold: nil)
            try store.operations.removeRoute(provider: "acoustic", sequence: row.operation.sequence)
            try store.accounts.count(provider: "acoustic", term: "moved", code: "adobe", by: 1)
            try store.accounts.count(provider: "adobe", term: "created", code: "acoustic", by: 1)
        }
        #expect(even.count == 350)
        #expect(even == even.sorted())
        #expect(try store.operations.pendingCount(provider: "acoustic") == 350)
        #expect(try store.operations.pendingCount(provider: "adobe") == 350)
        #expect(
            try store.queues.list(provider: "adobe", limit: 3, after: even[4]).map(\.operation.sequence)
                == Array(even[5...7])
        )
        #expect(try store.maintenance.verify().faults == [])
        var count = 0
        try store.queues.forEachRow(provider: "adobe", subject: nil) { _ in count += 1 }
        #expect(count == 350)
    }

    @Test(arguments: StoreKind.allCases) func `sequence numbers increase and are never reused`(_ kind: StoreKind) throws
    {
        let store = try kind.open(folder)
        let first = try store.capture("o-1")
        let second = try store.capture("o-2")
        try store.settlement.complete(provider: "acoustic", sequence: second, term: "accepted", code: "", at: 1)
        let third = try store.capture("o-3")
        #expect(first < second)
        #expect(second < third)
    }

    @Test func `continues the sequence numbers after closing and opening`() throws {
        var last: Int64 = 0
        for round in 0..<3 {
            let store = try OutboxStore.open(.file(folder.outbox))
            let sequence = try store.capture("o-\(round)")
            #expect(sequence > last)
            last = sequence
            try store.settlement.complete(provider: "acoustic", sequence: sequence, term: "accepted", code: "", at: 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func `refuses a second operation with the same id`(_ kind: StoreKind) throws {
        let store = try kind.open(folder)
        try store.capture("o-1")
        #expect(outboxError { try store.capture("o-1") }?.code == .misuse)
        #expect(try store.operations.pendingCount(provider: "acoustic") == 1)
    }

    @Test(arguments: StoreKind.allCases) func `rolls back a failed transaction`(_ kind: StoreKind) throws {
        struct Stop: Error {}
        let store = try kind.open(folder)
        try store.capture("o-1")
        let before = try store.accounts.lines()
        #expect(throws: Stop.self) {
            try store.transaction(.full) {
                try store.capture("o-2")
                try store.state.setMeta("x", "y")
                throw Stop()
            }
        }
        #expect(try store.windowIDs() == ["o-1"])
        #expect(try store.accounts.lines() == before)
        #expect(try store.state.meta("x") == nil)
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test func `transactions do not nest`() throws {
        let store = try OutboxStore.open(.memory)
        let error = outboxError { try store.transaction(.full) { try store.transaction(.normal) {} } }
        #expect(error?.code == .misuse)
        #expect(!store.connection.isInTransaction)
    }

    @Test func `a crash before the commit loses the transaction and one after it does not`() throws {
        struct Death: Error {}
        let points: [(StoragePoint, survives: Bool)] = [
            (.begin(.full), false), (.beforeCommit(.full), false), (.afterCommit(.full), true),
        ]
        for (point, survives) in points {
            let folder = try TemporaryFolder()
            do {
                let store = try OutboxStore.open(.file(folder.outbox))
                store.faultPoint = { if $0 == point { throw Death() } }
                #expect(throws: Death.self) { try store.transaction(.full) { _ = try store.capture("o-1") } }
            }
            let store = try OutboxStore.open(.file(folder.outbox))
            #expect(try store.windowIDs().isEmpty != survives)
        }
    }

    @Test func `full and normal commits use different sync levels`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let expected: [(Durability, Int64)] = [(.full, 2), (.normal, 1), (.full, 2)]
        for (durability, level) in expected {
            try store.transaction(durability) {}
            #expect(try store.connection.number("PRAGMA synchronous") == level)
        }
    }

    @Test func `a lease has one owner until it expires, and every acquisition begins an epoch`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let other = try OutboxStore.open(.file(folder.outbox))
        #expect(try store.lease.epoch() == 0)
        let first = try #require(try store.lease.acquire(owner: "a", now: 0, duration: 100))
        #expect(try other.lease.acquire(owner: "b", now: 99, duration: 100) == nil)
        #expect(try store.lease.renew(owner: "a", epoch: first, now: 50, duration: 100))
        #expect(try other.lease.acquire(owner: "b", now: 149, duration: 100) == nil)
        let second = try #require(try other.lease.acquire(owner: "b", now: 150, duration: 100))
        #expect(second > first)
        #expect(try store.lease.epoch() == second)
        #expect(try !store.lease.renew(owner: "a", epoch: first, now: 151, duration: 100))
        try store.lease.release(owner: "a", epoch: first)
        #expect(try store.lease.acquire(owner: "a", now: 160, duration: 100) == nil)
        try other.lease.release(owner: "b", epoch: second)
        #expect(try #require(try store.lease.acquire(owner: "a", now: 161, duration: 1)) > second)
    }

    @Test func `a lease from before a clock change expires one duration after it is first seen`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let other = try OutboxStore.open(.file(folder.outbox))
        let first = try #require(try store.lease.acquire(owner: "a", now: 1_000_000, duration: 100))
        #expect(try other.lease.acquire(owner: "b", now: 0, uptime: 7, duration: 100) == nil)
        #expect(try other.lease.acquire(owner: "b", now: 99, uptime: 106, duration: 100) == nil)
        // Its holder is alive and renews it.
        #expect(try store.lease.renew(owner: "a", epoch: first, now: 99, duration: 100))
        #expect(try other.lease.acquire(owner: "b", now: 150, uptime: 157, duration: 100) == nil)
        #expect(try store.lease.renew(owner: "a", epoch: first, now: 1_000_000, duration: 100))
        #expect(try other.lease.acquire(owner: "b", now: 160, uptime: 167, duration: 100) == nil)
        #expect(try other.lease.acquire(owner: "b", now: 900, uptime: 266, duration: 100) == nil)
        let second = try #require(try other.lease.acquire(owner: "b", now: 200, uptime: 267, duration: 100))
        #expect(try !store.lease.renew(owner: "a", epoch: first, now: 200, duration: 100))
        #expect(try store.lease.epoch() == second)
    }

    @Test func `replacing staged captures keeps the number of their row`() throws {
        let store = try OutboxStore.open(.memory)
        let captures = (0..<3).map { StagedCapture(since: Int64($0), body: [UInt8($0)]) }
        let first = try store.captures.stage(captures, routes: "{}")
        let second = try store.captures.stage(captures, routes: "{}")
        try store.captures.replaceStaged(first, with: [captures[1]], routes: "{}")
        #expect(try store.captures.stagedNumbers() == [first, second])
        #expect(try store.captures.staged(first)?.captures == [captures[1]])
        try store.captures.replaceStaged(first, with: [], routes: "{}")
        #expect(try store.captures.stagedNumbers() == [second])
        #expect(try store.maintenance.verify().isSound)
    }

    @Test func `two connections capture into one file`() throws {
        let one = try OutboxStore.open(.file(folder.outbox))
        let two = try OutboxStore.open(.file(folder.outbox))
        var sequences: [Int64] = []
        for number in 0..<50 {
            sequences.append(try one.transaction(.normal) { try one.capture("one-\(number)") })
            sequences.append(try two.transaction(.full) { try two.capture("two-\(number)") })
        }
        #expect(sequences == sequences.sorted())
        #expect(Set(sequences).count == 100)
        #expect(try one.operations.pendingCount(provider: "acoustic") == 100)
        #expect(try two.maintenance.verify().faults == [])
    }

    @Test func `threads with a store each lose no capture`() async throws {
        let path = folder.outbox
        _ = try OutboxStore.open(.file(path))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let store = try OutboxStore.open(.file(path))
                    for number in 0..<25 {
                        try store.transaction(.normal) { _ = try store.capture("\(writer)-\(number)") }
                    }
                }
            }
            try await group.waitForAll()
        }
        let store = try OutboxStore.open(.file(path))
        #expect(try store.operations.pendingCount(provider: "acoustic") == 100)
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test(.timeLimit(.minutes(60))) func `opening a new file waits while another process sets it up`() throws {
        try OutboxFile(folder.outbox).make()
        let path = folder.outbox
        let (isHeld, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let end = Mutex<(any Error)?>(nil)
        Thread.detachNewThread {
            do {
                let other = try Connection(.file(path), .readWrite)
                try other.script("BEGIN IMMEDIATE")
                isHeld.signal()
                // Gives the others time to open the file. Without it they need not wait.
                Thread.sleep(forTimeInterval: 0.2)
                try other.script("ROLLBACK")
            } catch {
                end.withLock { $0 = error }
                isHeld.signal()
            }
            mayEnd.signal()
        }
        isHeld.wait()
        try OutboxStore.open(.file(path)).capture("o-1")
        mayEnd.wait()
        #expect(end.withLock(\.self) == nil)
    }

    @Test func `a checkpoint moves commits into the file and leaves them readable`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<200 { try store.capture("o-\(number)") }
        let before = try #require(OutboxFile.size(folder.outbox))
        try store.maintenance.checkpoint()
        #expect(try #require(OutboxFile.size(folder.outbox)) > before)
        #expect(try store.windowIDs(limit: 500).count == 200)
    }
}
