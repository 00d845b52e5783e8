#if os(Linux)
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import PatchbayOutbox

/// The write-ahead log is lengthened in advance with zeros that are not part of its content.
@Suite("Length of the write-ahead log") struct LogLengthTests {
    let folder: TemporaryFolder
    private let chunk = 1 << 20

    init() throws { folder = try TemporaryFolder() }

    private var log: String { folder.outbox + "-wal" }

    private func ids(_ path: String) throws -> [String] {
        let store = try OutboxStore.open(.file(path))
        return try store.operations.list(after: 0, limit: 1_000).map(\.id)
    }

    /// Copies the files as a power failure at this moment would leave them, and returns the path.
    private func crash() throws -> String {
        let other = folder.path + "/crashed.sqlite"
        try OutboxFile.copy(folder.outbox, to: other)
        try OutboxFile.copy(log, to: other + "-wal")
        return other
    }

    @Test func `lengthens a log that is nearly full and no other`() throws {
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

    @Test func `lengthens a long log in larger steps up to a limit`() throws {
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

    @Test func `a log that contains only zeros is empty`() throws {
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

    @Test func `lengthening the log keeps the commits of another process`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let other = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<200 {
            try (number.isMultiple(of: 2) ? store : other).capture("o-\(number)")
            (number.isMultiple(of: 3) ? store : other).maintenance.lengthenLogIfShort()
        }
        #expect(try ids(crash()) == (0..<200).map { "o-\($0)" })
    }

    @Test func `lengthens the log without waiting for another writer and keeps its rows`() throws {
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

    @Test func `commits succeed while another thread repeatedly lengthens the log`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        let isOver = Atomic(false)
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        DispatchQueue.global().async { [log] in
            // A limited number of times, so that a slow disk is not filled.
            for time in 0..<30 where time == 0 || !isOver.load(ordering: .relaxed) {
                // With this position the log always counts as nearly full.
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

    @Test func `requests a longer log once until the request is done`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        var requests: [@Sendable () -> Void] = []
        for _ in 0..<3 { store.maintenance.lengthenLogIfShort { requests.append($0) } }
        #expect(requests.count == 1)
        let before = try #require(OutboxFile.size(log))
        requests[0]()
        #expect(OutboxFile.size(log) == before + chunk)
        store.maintenance.lengthenLogIfShort { requests.append($0) }
        #expect(requests.count == 1)
    }

    @Test func `does not lengthen a log behind a symbolic link and does not retry`() throws {
        let target = folder.path + "/elsewhere"
        try Data("not ours".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: target)
        let file = LogFile(log)
        #expect(file.isShort(behind: 0))
        file.grow(behind: 0)
        #expect(try folder.bytes(target) == [UInt8]("not ours".utf8))
        #expect(!file.isShort(behind: 1 << 40))
    }

    @Test func `lengthens the log again after a wake-up`() throws {
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
    func `leaves the last 16 MiB of a volume for commits`(free: UInt64, isAllowed: Bool) {
        #expect(LogFile.mayGrow(by: 1 << 20, free: free) == isAllowed)
    }

    @Test func `does not lengthen the log after a large commit`() throws {
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
