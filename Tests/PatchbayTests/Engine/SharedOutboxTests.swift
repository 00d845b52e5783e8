import Foundation
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Synchronization
import Testing

@testable import Patchbay

@Suite("Several processes on one outbox", .hangTimeLimit) struct SharedOutboxTests {
    private let folder = TemporaryFolder()

    private func client(
        _ path: String,
        _ transport: any Transport,
        _ host: any EngineHost
    ) async throws -> EngagementClient {
        try await EngagementClient(
            outbox: .file(path),
            subject: "installation-1",
            plan: .probe(),
            transport: transport,
            host: host
        )
    }

    @Test func `reports outcomes to a process that captures and does not deliver`() async throws {
        let path = folder.outbox
        let now = SystemHost().date()
        let deliverer = try await client(
            path,
            ScriptedTransport { _, request in
                .replied(WireResponse(String(decoding: request.body, as: UTF8.self).contains("refuse") ? 422 : 200))
            },
            StillProcess("deliverer", now)
        )
        let other = try await client(path, SilentTransport(), StillProcess("other", now))
        let events = other.events()
        let receipts = [try other.track("fine"), try other.track("refuse me"), try other.track("bad")]
        for receipt in receipts { try await receipt.durable() }
        let waiting = Task { [receipts] in
            var terms: [String] = []
            for receipt in receipts {
                let outcome = try await receipt.outcome(on: "p")
                terms.append("\(outcome.term) \(outcome.finding?.code ?? "")")
            }
            return terms
        }
        while try await deliverer.accounts().first?.pending != 0 {
            try await deliverer.networkIsBack()
            await deliverer.idle()
        }
        #expect(try await waiting.value == ["accepted ", "rejected probe.refused", "rejected probe.refused"])
        // The other process receives no outcomes of the deliverer's own operations.
        #expect(try await deliverer.track("not yours").outcome(on: "p").term == .accepted)
        let last = try other.track("last")
        try await last.durable()
        try await deliverer.networkIsBack()
        #expect(try await last.outcome(on: "p").term == .accepted)
        await other.close()
        var ended: [OperationID] = []
        for await case .ended(let id, _, _) in events { ended.append(id) }
        #expect(Set(ended) == Set(receipts.map(\.id) + [last.id]))
        #expect(ended.count == 4)
        await deliverer.close()
    }

    @Test func `reports a local outcome once although the shared history contains it`() async throws {
        let path = folder.outbox
        let now = SystemHost().date()
        let deliverer = try await client(path, ScriptedTransport(), StillProcess("deliverer", now))
        let other = try await client(path, SilentTransport(), StillProcess("other", now))
        let events = other.events()
        let receipt = try other.track("bad")
        // Placing the operation completes it; no event is sent before the outcomes of others are read.
        try await other.loop.withEngine { _ in
            try other.loop.assumeIsolated { try $0.reportOutcomesOfOtherProcesses() }
        }
        #expect(try await receipt.outcome(on: "p").term == .rejected)
        await other.close()
        var ended: [OperationID] = []
        for await case .ended(let id, _, _) in events { ended.append(id) }
        #expect(ended == [receipt.id])
        await deliverer.close()
    }

    @Test func `captures wait in memory while another process holds the file`() async throws {
        let path = folder.outbox
        // A fast clock, so that the timeout for the file passes at once.
        let host = FastHost(date: SystemHost().date(), uptime: SystemHost().uptime(), speed: 10_000)
        let client = try await client(path, ScriptedTransport(), host)
        try await client.track("before").durable()
        let events = client.events()
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = Thread {
            guard let store = try? OutboxStore.open(.file(path)) else { return }
            try? store.transaction(.normal) {
                held.signal()
                release.wait()
            }
        }
        holder.start()
        await Task.detached { [held] in held.waitFor() }.value
        let receipts = try (0..<20).map { try client.track("e-\($0)") }
        var complaint: CaptureError?
        for await case .storageFailed(let error) in events where error.reason.contains("wait in memory") {
            complaint = error
            break
        }
        #expect(complaint?.code == .storage)
        release.signal()
        for receipt in receipts { try await receipt.durable() }
        while try await client.accounts().first?.pending != 0 {
            try await client.flush()
            await client.idle()
        }
        let accounts = try #require(try await client.accounts().first)
        #expect(accounts.total("accepted") == 21)
        #expect(accounts.balances)
        await client.close()
    }

    @Test func `limits the waiting captures, keeps their order and reports the wait once`() {
        func entry(_ number: Int) -> CaptureBuffer.Entry {
            let operation = EngagementOperation(
                id: OperationID(rawValue: "\(number)"),
                subject: "s",
                capturedAt: Instant(milliseconds: 0),
                action: .event("e")
            )
            return CaptureBuffer.Entry(
                capture: Engine.Capture(operation, uptime: Instant(milliseconds: 0)),
                receipt: Receipt(id: operation.id, providers: [])
            )
        }
        var room = WaitingRoom()
        let start = Instant(milliseconds: 0)
        let refused = room.enter((0..<WaitingRoom.capacity + 3).map(entry), now: start)
        #expect(refused.map(\.receipt.id.rawValue) == (0..<3).map { "\(WaitingRoom.capacity + $0)" })
        #expect(room.complaint(now: start + .seconds(29)) == nil)
        #expect(room.complaint(now: start + .seconds(30)) == WaitingRoom.capacity)
        #expect(room.complaint(now: start + .seconds(31)) == nil)
        let left = room.leave()
        #expect(left.map(\.receipt.id.rawValue) == (0..<WaitingRoom.capacity).map(String.init))
        #expect(room.leave().isEmpty)
        room.isFree()
        #expect(room.enter([entry(1)], now: start + .seconds(60)).isEmpty)
        #expect(room.complaint(now: start + .seconds(61)) == nil)
    }

    @Test func `a capture waits while an earlier capture waits`() async throws {
        let host = SystemHost()
        let transport = ScriptedTransport()
        let tries = Mutex<Int?>(nil)
        let buffer = CaptureBuffer()
        let loop = DeliveryLoop(
            buffer: buffer,
            receipts: ReceiptBook(),
            transport: transport,
            host: host,
            log: Log(handler: nil),
            observer: { _ in },
            observerOfOthers: { _ in },
            credentials: .constant(nil),
            makeEngine: { credentials in
                let store = try OutboxStore.open(.memory)
                store.faultPoint = { point in
                    guard point == .begin(.full) else { return }
                    switch tries.withLock({ tries in
                        tries? += 1
                        return tries
                    }) {
                    // Storing all captures together finds no space. Storing the first one alone meets another writer.
                    case 1: throw OutboxError(.full, "No room.")
                    case 2: throw OutboxError(.busy, "Another process writes.")
                    default: return
                    }
                }
                return try Engine(store: store, plan: .probe(), host: host, credentials: credentials)
            }
        )
        try await loop.start()
        tries.withLock { $0 = 0 }
        var receipts: [Receipt] = []
        for name in ["a", "b", "c"] {
            let operation = EngagementOperation(
                id: host.makeID(),
                subject: "installation-1",
                capturedAt: host.date(),
                action: .event(name)
            )
            let receipt = Receipt(id: operation.id, providers: ["p"])
            receipts.append(receipt)
            let capture = Engine.Capture(operation, uptime: host.uptime(), hasNewID: true)
            _ = try buffer.append(CaptureBuffer.Entry(capture: capture, receipt: receipt))
        }
        await loop.commitCaptures()
        for receipt in receipts { try await receipt.durable() }
        while transport.sent.count < 3 { await loop.idle() }
        #expect(transport.sent.compactMap { $0[header: "Operation"] } == receipts.map(\.id.rawValue))
        await loop.close()
    }
}

extension DispatchSemaphore {
    /// Waits on a thread that may be blocked.
    fileprivate func waitFor() { wait() }
}
