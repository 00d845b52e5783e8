import Testing

@testable import PatchbayOutbox

@Suite("Consistent reads of the file") struct SnapshotTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [true, false]) func `a snapshot does not show later commits, and the next one does`(
        readOnly: Bool
    ) throws {
        let writer = try OutboxStore.open(.file(folder.outbox))
        try writer.capture("o-1")
        let store = try OutboxStore.open(.file(folder.outbox), readOnly: readOnly)
        func sum() throws -> (incoming: Int64, pending: Int) {
            (
                try store.accounts.lines().reduce(0) { $0 + $1.count },
                try store.operations.pendingCount(provider: "acoustic")
            )
        }
        try store.snapshot {
            #expect(try sum() == (1, 1))
            try writer.capture("o-2")
            #expect(try sum() == (1, 1))
            // A nested snapshot is part of the outer one.
            #expect(try store.snapshot(sum) == (1, 1))
        }
        #expect(try sum() == (2, 2))
        #expect(try store.snapshot(sum) == (2, 2))
    }

    @Test func `quarantines a damaged row after a snapshot and repeats the snapshot`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<3 { try store.capture("o-\(number)") }
        try store.connection.run("UPDATE account SET count = 1000")
        var reads = 0
        let lines = try store.snapshot {
            reads += 1
            return try store.accounts.lines()
        }
        #expect(reads == 2)
        #expect(lines == [AccountLine(provider: "acoustic", term: "captured", code: "recovery", count: 3)])
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test func `a store can write after a snapshot, even one that threw`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.snapshot { _ = try store.maintenance.verify() }
        let error = outboxError { try store.snapshot { throw OutboxError(.io, "no") } }
        #expect(error?.detail == "no")
        try store.capture("o-1")
        #expect(try store.windowIDs() == ["o-1"])
    }

    @Test func `counts pending operations by lane, queue and hold and reports closed queues`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for (number, queue) in ["a", "a", "b", "c", "c", "d", "e"].enumerated() {
            try store.capture("o-\(number)", lane: "l-\(number % 2)", queue: queue)
        }
        try store.capture("held", lane: "l-0", queue: "a", hold: "consent.tracking")
        for (lane, queue, until, orWoken) in [
            ("l-0", "a", 5_000 as Int64?, false), ("l-1", "c", nil, true), ("l-0", "nothing", 5_000, false),
        ] {
            try store.closedQueues.close(provider: "acoustic", lane: lane, queue: queue, until: until, orWoken: orWoken)
        }
        try store.settlement.progress(provider: "acoustic", sequence: 7, step: nil, failures: 2, refusals: 0)
        var found: [String] = []
        try store.operations.forEachPendingGroup(provider: "acoustic") { group in
            let end = group.closing.map { " until \($0.until.map(String.init) ?? "woken")" } ?? ""
            let failed = group.hasFailed ? " failed" : ""
            found.append("\(group.count) in \(group.lane) \(group.queue) \(group.hold ?? "")\(end)\(failed)")
        }
        let expected = [
            "1 in l-0 a  until 5000", "1 in l-0 a consent.tracking until 5000", "1 in l-0 b ", "1 in l-0 c ",
            "1 in l-0 e  failed", "1 in l-1 a ", "1 in l-1 c  until woken", "1 in l-1 d ",
        ]
        #expect(found.sorted() == expected)
        try store.operations.forEachPendingGroup(provider: "other") { _ in Issue.record("no provider of that name") }
    }
}
