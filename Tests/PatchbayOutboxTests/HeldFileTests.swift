import Foundation
import Synchronization
import Testing

@testable import PatchbayOutbox

@Suite("Outboxes that are recovered while others use them") struct HeldFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Which part of the file is damaged, without whoever has it open noticing.
    enum Damage: CaseIterable {
        /// A page of people's states: a transaction can still begin.
        case snapshot
        /// The header: none can.
        case header
        /// The byte of the header that says who may write: rows can be read, and no transaction that writes begins.
        case format
    }

    /// Two hundred states, and as many operations, all in the file itself.
    private func fill(_ store: OutboxStore) throws {
        try store.transaction(.full) {
            for number in 0..<200 {
                try store.capture("o-\(number)", body: Array(repeating: UInt8(number), count: 1_000))
                try store.state.setSnapshot(subject: "s\(number)", body: Array(repeating: 9, count: 3_000))
            }
        }
        #expect(try store.connection.truncatingCheckpoint())
    }

    private func damage(_ part: Damage) throws {
        switch part {
        case .header: try OutboxFile.write(Array(repeating: 0x5A, count: 16), to: folder.outbox, at: 0)
        case .format: try OutboxFile.write([9], to: folder.outbox, at: 18)
        case .snapshot:
            let connection = try Connection(.file(folder.outbox), .readOnly)
            let root = try #require(try connection.number("SELECT rootpage FROM sqlite_master WHERE name = 'snapshot'"))
            try OutboxFile.write(Array(repeating: 0xFF, count: 64), to: folder.outbox, at: Int(root - 1) * 4096)
        }
    }

    @Test(arguments: Damage.allCases) func `nobody writes to a file that is held, whatever is damaged in it`(
        _ part: Damage
    ) throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try fill(store)
        store.setTimeout(0)
        try damage(part)
        let held = try HeldFile(folder.outbox)
        #expect(outboxError { try store.capture("late") }?.code == .busy)
        if part != .header { #expect(try held.source.number("SELECT count(*) FROM operation") == 200) }
        held.release()
        try store.capture("later")
    }

    @Test(arguments: Damage.allCases) func `a file that nobody has open is held and read like any other`(
        _ part: Damage
    ) throws {
        do { try fill(OutboxStore.open(.file(folder.outbox))) }
        try damage(part)
        let store = try OutboxStore.open(.file(folder.outbox))
        #expect(store.openReport.recovered)
        #expect(try store.queues.list(provider: "acoustic", limit: 1_000).count == 200)
        #expect(try store.maintenance.verify().faults == [])
        #expect(folder.names.filter { !$0.contains(".damaged-1") }.allSatisfy { !$0.contains(".re") })
    }

    /// A writer on a thread of its own, which knows nothing of the recovery.
    private final class Writer: Sendable {
        struct Said {
            /// What it was told is stored.
            var stored: [String] = []
            /// What ended it.
            var end: (any Error)?
        }

        private let said = Mutex(Said())

        /// Commits again and again until that is refused.
        init(_ path: String) {
            Thread.detachNewThread { [self] in
                do {
                    let store = try OutboxStore.open(.file(path))
                    store.setTimeout(60_000)
                    while true {
                        let name = "late-\(said.withLock { $0.stored.count })"
                        try store.transaction(.normal) { _ = try store.capture(name) }
                        said.withLock { $0.stored.append(name) }
                        Thread.sleep(forTimeInterval: 0.001)
                    }
                } catch {
                    said.withLock { $0.end = error }
                }
            }
        }

        func wait(until isMet: (Said) -> Bool) -> (stored: [String], end: OutboxError?) {
            while true {
                let now = said.withLock(\.self)
                if isMet(now) { return (now.stored, now.end as? OutboxError) }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: Damage.allCases)
    func `what another store commits while a file is recovered is in the new one`(_ part: Damage) throws {
        do { try fill(OutboxStore.open(.file(folder.outbox))) }
        let writer = Writer(folder.outbox)
        _ = writer.wait { $0.stored.count >= 5 || $0.end != nil }
        try damage(part)
        let store = try OutboxStore.open(.file(folder.outbox))
        // A header in the log stands before the one in the file: then nothing is damaged to anybody yet.
        guard store.openReport.recovered else {
            try OutboxFile.move(folder.outbox, to: folder.outbox + ".gone")
            _ = writer.wait { $0.end != nil }
            return #expect(part != .snapshot)
        }
        let (stored, end) = writer.wait { $0.end != nil }
        let there = Set(try store.queues.list(provider: "acoustic", limit: 200_000).map(\.operation.id))
        #expect(stored.filter { !there.contains($0) } == [])
        #expect(there.count >= 200 + stored.count)
        #expect(try store.maintenance.verify().faults == [])
        #expect(end?.code == .io)
        #expect(end?.detail.contains("was moved away") == true)
    }

    @Test(.timeLimit(.minutes(60))) func `a commit that waited while the file was moved away is refused`() throws {
        try OutboxStore.open(.file(folder.outbox)).capture("o-1")
        let holder = try Connection(.file(folder.outbox), .readWrite)
        try holder.script("BEGIN IMMEDIATE")
        let writer = Writer(folder.outbox)
        // Time to come to the lock; without it the refusal is the same.
        Thread.sleep(forTimeInterval: 0.3)
        try OutboxFile.move(folder.outbox, to: folder.outbox + ".damaged-1")
        try holder.script("ROLLBACK")
        let (stored, end) = writer.wait { $0.end != nil }
        #expect(stored == [])
        #expect(end?.code == .io)
    }

    @Test func `whoever opens a file while it is recovered waits for the new one`() async throws {
        do { try fill(OutboxStore.open(.file(folder.outbox))) }
        try damage(.snapshot)
        let path = folder.outbox
        let reports = try await withThrowingTaskGroup(of: OpenReport.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = try OutboxStore.open(.file(path))
                    try store.capture("by-\(UInt64.random(in: .min ... .max))")
                    return store.openReport
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.filter(\.recovered).count == 1)
        #expect(reports.allSatisfy { !$0.created })
        let store = try OutboxStore.open(.file(path))
        #expect(try store.queues.list(provider: "acoustic", limit: 1_000).count == 204)
        #expect(try store.maintenance.verify().faults == [])
    }
}
