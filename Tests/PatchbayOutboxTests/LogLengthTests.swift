#if os(Linux)
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import PatchbayOutbox

/// The write-ahead log is made longer ahead of time, with zeros that are no part of it.
@Suite("The log's length") struct LogLengthTests {
    let folder: TemporaryFolder
    private let chunk = 1 << 20

    init() throws { folder = try TemporaryFolder() }

    private var log: String { folder.outbox + "-wal" }

    private func ids(_ path: String) throws -> [String] {
        let store = try OutboxStore.open(.file(path))
        return try store.operations.list(after: 0, limit: 1_000).map(\.id)
    }

    /// What a power failure at this moment leaves.
    private func crash() throws -> String {
        let other = folder.path + "/crashed.sqlite"
        try OutboxFile.copy(folder.outbox, to: other)
        try OutboxFile.copy(log, to: other + "-wal")
        return other
    }

    @Test func `a log that soon ends is made longer, and one with room is not`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        let before = try #require(OutboxFile.size(log))
        store.maintenance.lengthenLogIfShort()
        #expect(OutboxFile.size(log) == before + chunk)
        try store.capture("o-2")
        store.maintenance.lengthenLogIfShort()
        #expect(OutboxFile.size(log) == before + chunk)
        #expect(try ids(crash()) == ["o-1", "o-2"])
    }

    @Test func `a long log is made longer by more at once, up to a bound`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        var lengths: [Int] = []
        for number in 0..<3_000 {
            try store.capture("o-\(number)")
            store.maintenance.lengthenLogIfShort()
            let length = try #require(OutboxFile.size(log))
            if lengths.last != length { lengths.append(length) }
        }
        let growths = zip(lengths.dropFirst(), lengths).map { $0 - $1 }
        #expect(growths.allSatisfy { (chunk...4 * chunk).contains($0) })
        #expect(growths.count > 1 && growths == growths.sorted())
    }

    @Test func `a log of zeros alone is an empty one`() throws {
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            try store.capture("o-1")
        }
        let store = try OutboxStore.open(.file(folder.outbox))
        store.maintenance.lengthenLogIfShort()
        #expect(try folder.bytes(log).allSatisfy { $0 == 0 })
        let crashed = try crash()
        #expect(OutboxFile.size(crashed + "-wal") == chunk)
        #expect(try ids(crashed) == ["o-1"])
    }

    @Test func `what another process writes meanwhile stays`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let other = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<200 {
            try (number.isMultiple(of: 2) ? store : other).capture("o-\(number)")
            (number.isMultiple(of: 3) ? store : other).maintenance.lengthenLogIfShort()
        }
        #expect(try ids(crash()) == (0..<200).map { "o-\($0)" })
    }

    @Test func `nobody waits for another process that writes, and what it writes stays`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let other = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        let before = try #require(OutboxFile.size(log))
        try other.transaction(.normal) {
            try other.capture("o-2")
            store.maintenance.lengthenLogIfShort()
            #expect(OutboxFile.size(log) == before + chunk)
        }
        #expect(try ids(crash()) == ["o-1", "o-2"])
    }

    @Test func `commits go on while another thread makes the log longer, again and again`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let isOver = Atomic(false)
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        DispatchQueue.global().async { [log] in
            // So often at most: a slow disk must not be filled.
            for time in 0..<30 where time == 0 || !isOver.load(ordering: .relaxed) {
                // Behind this, the end is always near.
                LogFile(log).grow(behind: .max)
                if time == 0 { began.signal() }
            }
            ended.signal()
        }
        began.wait()
        for number in 0..<300 { try store.capture("o-\(number)") }
        isOver.store(true, ordering: .relaxed)
        ended.wait()
        #expect(try ids(crash()) == (0..<300).map { "o-\($0)" })
    }

    @Test func `somebody is told once that the log is short, until it is made longer`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        var told: [@Sendable () -> Void] = []
        for _ in 0..<3 { store.maintenance.lengthenLogIfShort { told.append($0) } }
        #expect(told.count == 1)
        let before = try #require(OutboxFile.size(log))
        told[0]()
        #expect(OutboxFile.size(log) == before + chunk)
        store.maintenance.lengthenLogIfShort { told.append($0) }
        #expect(told.count == 1)
    }

    @Test func `a log that a link leads to is left alone, and that was the last try`() throws {
        let target = folder.path + "/elsewhere"
        try Data("not ours".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: target)
        let file = LogFile(log)
        #expect(file.isShort(behind: 0))
        file.grow(behind: 0)
        #expect(try folder.bytes(target) == [UInt8]("not ours".utf8))
        #expect(!file.isShort(behind: 1 << 40))
    }

    @Test func `behind a wake-up the log is made longer again`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        store.maintenance.lengthenLogIfShort()
        try store.suspend()
        try store.wakeUp()
        try store.capture("o-2")
        let before = try #require(OutboxFile.size(log))
        #expect(before < chunk)
        store.maintenance.lengthenLogIfShort()
        #expect(OutboxFile.size(log) == before + chunk)
    }

    @Test(arguments: [(0, false), (16 << 20, false), (17 << 20, true), (1 << 40, true)] as [(UInt64, Bool)])
    func `the last 16 MiB of a volume are for commits`(free: UInt64, isAllowed: Bool) {
        #expect(LogFile.mayGrow(by: 1 << 20, free: free) == isAllowed)
    }

    @Test func `behind a large commit nothing is done`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        _ = try store.transaction(.normal) { try store.capture("o-1", body: [UInt8](repeating: 7, count: 200_000)) }
        let before = OutboxFile.size(log)
        store.maintenance.lengthenLogIfShort()
        #expect(OutboxFile.size(log) == before)
    }
}

extension OutboxMaintenance {
    fileprivate func lengthenLogIfShort() { lengthenLogIfShort { $0() } }
}
#endif
