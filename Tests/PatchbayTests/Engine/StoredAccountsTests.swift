import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Synchronization
import Testing

@Suite("Accounts of a file alone") struct StoredAccountsTests {
    private static let start = Instant(milliseconds: 1_900_000_000_000)
    private let folder = TemporaryFolder()

    private final class Flag: Sendable {
        let isUp = Mutex(false)
    }

    @Test func `accounts of a file that others write to balance at every look`() async throws {
        let path = folder.outbox
        try write(1, to: OutboxStore.open(.file(path)))
        let isOver = Flag()
        try await withThrowingTaskGroup { group in
            group.addTask {
                let store = try OutboxStore.open(.file(path))
                for number in 2..<1_000_000 where !isOver.isUp.withLock(\.self) { try write(number, to: store) }
            }
            let reader = try OutboxStore.open(.file(path), readOnly: true)
            for _ in 0..<200 {
                let accounts = try #require(try ProviderAccounts.read(reader).first)
                #expect(accounts.balances, "\(accounts.incoming) = \(accounts.ended) + \(accounts.pending)")
                #expect(try reader.verify().faults == [])
            }
            isOver.isUp.withLock { $0 = true }
            try await group.waitForAll()
        }
    }

    private func world(_ word: JSONValue) throws -> VirtualWorld {
        let world = try VirtualWorld(start: Self.start)
        world.network = { _ in .says(word) }
        try world.start(.pool())
        for lane in 0..<3 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        try world.advance(by: .seconds(5))
        return world
    }

    @Test func `what waits until an instant is counted with the instant`() throws {
        let world = try world(["otherwise": "retry 3600000"])
        let waits = try #require(try ProviderAccounts.read(world.store).first).waits
        #expect(Set(waits.map(\.code)) == ["engine.queue.closed"])
        #expect(waits.allSatisfy { $0.reason.contains(", until 2030-03-17T18:46:4") })
        let counts = waits.compactMap { $0.reason.split(separator: "(").last.flatMap { Int($0.prefix { $0 != " " }) } }
        #expect(counts.reduce(0, +) == 3)
        // A day later the file says the same: it tells of instants, not of spans.
        world.kill()
        #expect(try ProviderAccounts.read(world.store).first?.waits == waits)
    }

    @Test func `what waits for a wake is counted as that`() throws {
        let world = try world(["otherwise": "woken"])
        let waits = try #require(try ProviderAccounts.read(world.store).first).waits
        #expect(waits.map(\.code) == ["engine.queue.unwoken"])
        #expect(waits.first?.reason.contains("3 operations in 3 queues") == true)
    }

    @Test func `an outage stands in the file, with its cause and the next request`() throws {
        let world = try VirtualWorld(start: Self.start)
        world.host.fix(chance: 0.5)
        world.network = { _ in .outcome(.failed(TransportFailure(.lost, "timedOut")), after: .milliseconds(10)) }
        try world.start(.pool())
        for lane in 0..<8 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        try world.advance(by: .seconds(60))
        let told = try world.waits(of: "p").first { $0.code == "engine.provider.outage" }
        world.kill()
        let accounts = try #require(try ProviderAccounts.read(world.store).first)
        let outage = try #require(accounts.waits.first)
        #expect(outage.code == "engine.provider.outage")
        #expect(outage.error == .unreachable)
        #expect(outage.reason.contains("since 2030-03-17T17:46:40"))
        // The engine's own words end with the same instant.
        let next = try #require(told?.reason.split(separator: " ").last)
        #expect(outage.reason.hasSuffix("the next request at \(next)"))
        #expect(accounts.waits.count + accounts.otherWaits > 1)
        #expect(accounts.json["waits"]?.array?.count == accounts.waits.count)
    }
}

/// Captures one operation, and ends the one before.
private func write(_ number: Int, to store: OutboxStore) throws {
    try store.transaction(.normal) {
        let operation = OutboxOperation(
            id: "o-\(number)",
            subject: "s",
            group: nil,
            capturedAt: 1,
            since: 1,
            body: Array("{}".utf8)
        )
        let sequence = try store.insert(operation)
        try store.enter(sequence, provider: "p", lane: "l", queue: "q", hold: nil)
        try store.count(provider: "p", term: "captured", code: "", by: 1)
        if number > 1 {
            try store.end(provider: "p", sequence: sequence - 1, term: "accepted", code: "", at: 1)
        }
    }
}
