import Foundation
import Synchronization
import Testing

@testable import PatchbayOutbox

@Suite("Recovery of outboxes in use") struct HeldFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The part of the file that is damaged without the process that has it open noticing.
    enum Damage: CaseIterable {
        /// A page of subject snapshots: a transaction can still begin.
        case snapshot
        /// The header: no transaction can begin.
        case header
        /// The header byte of the write version: rows can be read, and no write transaction can begin.
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

    @Test(arguments: Damage.allCases) func `refuses writes to a file that is held for recovery`(
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

    @Test(arguments: Damage.allCases) func `recovers a damaged file that no process has open`(
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

    /// A writer on its own thread that is not informed of the recovery.
    private final class Writer: Sendable {
        struct Progress {
            /// The ids whose capture was reported as stored.
            var stored: [String] = []
            /// The error that stopped the writer.
            var end: (any Error)?
        }

        private let progress = Mutex(Progress())

        /// Commits repeatedly until a commit is refused.
        init(_ path: String) {
            Thread.detachNewThread { [self] in
                do {
                    let store = try OutboxStore.open(.file(path))
                    store.setTimeout(60_000)
                    while true {
                        let name = "late-\(progress.withLock { $0.stored.count })"
                        try store.transaction(.normal) { _ = try store.capture(name) }
                        progress.withLock { $0.stored.append(name) }
                        Thread.sleep(forTimeInterval: 0.001)
                    }
                } catch {
                    progress.withLock { $0.end = error }
                }
            }
        }

        func wait(until isMet: (Progress) -> Bool) -> (stored: [String], end: OutboxError?) {
            while true {
                let now = progress.withLock(\.self)
                if isMet(now) { return (now.stored, now.end as? OutboxError) }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: Damage.allCases)
    func `keeps the commits of another store during a recovery`(_ part: Damage) throws {
        do { try fill(OutboxStore.open(.file(folder.outbox))) }
        let writer = Writer(folder.outbox)
        _ = writer.wait { $0.stored.count >= 5 || $0.end != nil }
        try damage(part)
        let store = try OutboxStore.open(.file(folder.outbox))
        // A header in the log takes precedence over the one in the file. The damage then has no effect yet.
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

    @Test(.timeLimit(.minutes(60))) func `refuses a commit that waited while the file was moved away`() throws {
        try OutboxStore.open(.file(folder.outbox)).capture("o-1")
        let holder = try Connection(.file(folder.outbox), .readWrite)
        try holder.script("BEGIN IMMEDIATE")
        let writer = Writer(folder.outbox)
        // Gives the writer time to wait for the lock. The refusal is the same without it.
        Thread.sleep(forTimeInterval: 0.3)
        try OutboxFile.move(folder.outbox, to: folder.outbox + ".damaged-1")
        try holder.script("ROLLBACK")
        let (stored, end) = writer.wait { $0.end != nil }
        #expect(stored == [])
        #expect(end?.code == .io)
    }

    @Test func `opening a file during its recovery waits for the new file`() async throws {
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
