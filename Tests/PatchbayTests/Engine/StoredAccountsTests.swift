import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Synchronization
import Testing

@Suite("Accounts read from a file") struct StoredAccountsTests {
    private static let start = Instant(milliseconds: 1_900_000_000_000)
    private let folder = TemporaryFolder()

    /// Writes on its own thread until it is stopped.
    private final class Writer: Sendable {
        private let state = Mutex((written: 0, isOver: false, hasEnded: false))

        init(_ path: String) {
            Thread.detachNewThread { [self] in
                do {
                    let store = try OutboxStore.open(.file(path))
                    // Keeps the file small and every read short.
                    store.history.limit = 64
                    while let next { try write(next, to: store) }
                } catch {
                    Issue.record(error)
                }
                state.withLock { $0.hasEnded = true }
            }
        }

        private var next: Int? {
            state.withLock { state in
                state.written += 1
                return state.isOver ? nil : state.written
            }
        }

        func waitForFirst() {
            while state.withLock({ $0.written < 10 && !$0.hasEnded }) { Thread.sleep(forTimeInterval: 0.001) }
        }

        func end() {
            state.withLock { $0.isOver = true }
            while !state.withLock({ $0.hasEnded }) { Thread.sleep(forTimeInterval: 0.001) }
        }
    }

    @Test func `accounts balance at every read while another thread writes`() throws {
        let writer = Writer(folder.outbox)
        defer { writer.end() }
        writer.waitForFirst()
        let reader = try OutboxStore.open(.file(folder.outbox), readOnly: true)
        for _ in 0..<100 {
            let accounts = try #require(try ProviderAccounts.read(reader).first)
            #expect(accounts.balances, "\(accounts.incoming) = \(accounts.ended) + \(accounts.pending)")
            #expect(try reader.maintenance.verify().faults == [])
        }
    }

    private func world(_ reply: JSONValue) throws -> VirtualWorld {
        let world = try VirtualWorld(start: Self.start)
        world.network = { _ in .says(reply) }
        try world.start(.pool())
        for lane in 0..<3 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        try world.advance(by: .seconds(5))
        return world
    }

    @Test func `reports a postponed queue with the time of its next attempt`() throws {
        let world = try world(["otherwise": "retry 3600000"])
        let waits = try #require(try ProviderAccounts.read(world.store).first).waits
        #expect(waits.allSatisfy { $0.nextAttempt?.text.hasPrefix("2030-03-17T18:46:4") ?? false })
        #expect(waits.reduce(0) { $0 + $1.operations } == 3)
        // A day later the file has the same contents: it stores instants, not durations.
        world.kill()
        #expect(try ProviderAccounts.read(world.store).first?.waits == waits)
    }

    @Test func `reports a queue that waits for a wake`() throws {
        let world = try world(["otherwise": "woken"])
        let waits = try #require(try ProviderAccounts.read(world.store).first).waits
        #expect(waits.map { $0.reasons.map(\.code) } == [["engine.queue.unwoken"]])
        #expect(waits.first?.operations == 3)
    }

    @Test func `reads an outage with its cause and next request from the file`() throws {
        let world = try VirtualWorld(start: Self.start)
        world.host.fix(chance: 0.5)
        world.network = { _ in .outcome(.failed(TransportFailure(.lost, "timedOut")), after: .milliseconds(10)) }
        try world.start(.pool())
        for lane in 0..<8 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        try world.advance(by: .seconds(60))
        let reported = try world.waits(of: "p").first { $0.code == "engine.provider.outage" }
        world.kill()
        let accounts = try #require(try ProviderAccounts.read(world.store).first)
        let outage = try #require(accounts.waits.first?.reasons.first)
        #expect(outage.code == "engine.provider.outage")
        #expect(outage.error == .unreachable)
        #expect(outage.reason.contains("since 2030-03-17T17:46:40"))
        #expect(reported?.reason == outage.reason)
        #expect(accounts.json["waits"]?.array?.count == accounts.waits.count)
    }
}

/// Captures an operation for an odd number, and completes it for the next even number.
private func write(_ number: Int, to store: OutboxStore) throws {
    guard number % 2 == 1 else {
        try store.settlement.complete(provider: "p", sequence: Int64(number / 2), term: "accepted", code: "", at: 1)
        return
    }
    try store.transaction(.normal) {
        let operation = OutboxOperation(
            id: "o-\(number)",
            subject: "s",
            group: nil,
            capturedAt: 1,
            since: 1,
            body: Array("{}".utf8)
        )
        try store.captures.enter(try store.captures.insert(operation), provider: "p", lane: "l", queue: "q", hold: nil)
        try store.accounts.count(provider: "p", term: "captured", code: "", by: 1)
    }
}
