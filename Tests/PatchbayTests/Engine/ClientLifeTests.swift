import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import Testing

/// Does not answer until its request is cancelled.
struct SilentTransport: Transport {
    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        try? await Task.sleep(for: .seconds(3600))
        return .failed(TransportFailure(.lost, "cancelled"))
    }
}

@Suite("Life cycle of a client", .hangTimeLimit) struct ClientLifeTests {
    private let folder = TemporaryFolder()

    private func client(
        _ outbox: EngagementClient.Outbox = .memory,
        _ transport: any Transport = SilentTransport(),
        plan: RoutingPlan = .probe()
    ) async throws -> EngagementClient {
        try await EngagementClient(outbox: outbox, subject: "installation-1", plan: plan, transport: transport)
    }

    private func operation(_ id: OperationID, _ action: Action = .event("a")) -> EngagementOperation {
        EngagementOperation(id: id, subject: "s", capturedAt: Instant(milliseconds: 0), action: action)
    }

    @Test(arguments: [
        AttributeValue.string(String(repeating: "x", count: 4 << 20)),
        (0..<600).reduce(AttributeValue.integer(1)) { value, _ in .list([value]) },
    ])
    func `refuses an operation over the size or depth limit and accepts the next one`(
        value: AttributeValue
    ) async throws {
        let client = try await client()
        let error = #expect(throws: CaptureError.self) { try client.set(["name": value]) }
        #expect(error?.code == .malformed)
        try await client.track("a", attributes: ["text": .string(String(repeating: "[\\\"", count: 2_000))]).durable()
        await client.close()
    }

    @Test func `throws when the outcome of an unstored capture is awaited`() async throws {
        let client = try await client()
        try await client.capture(operation("one")).durable()
        let again = try client.capture(operation("one"))
        let error = await #expect(throws: CaptureError.self) { try await again.outcome(on: "p") }
        #expect(error?.code == .duplicate)
        await client.close()
    }

    @Test func `completes the first receipt of an id that is captured twice`() async throws {
        let gate = Gate()
        let client = try await client(.memory, gate)
        let first = try client.capture(operation("one"))
        try await first.durable()
        let again = try client.capture(operation("one"))
        await #expect(throws: CaptureError.self) { try await again.durable() }
        gate.open()
        #expect(try await first.outcome(on: "p").term == .accepted)
        await client.close()
    }

    @Test func `throws when an outcome on an unknown route is awaited`() async throws {
        let client = try await client()
        let receipt = try client.track("a")
        let error = await #expect(throws: CaptureError.self) { try await receipt.outcome(on: "unknown") }
        #expect(error?.code == .malformed)
        await client.close()
    }

    @Test func `reports an outcome for another vendor's push at once`() async throws {
        let client = try await client()
        let receipt = try client.capture(.track(.push(.tapped, payload: ["else": 1])))
        #expect(try await receipt.outcome(on: "p").finding?.code == "probe.foreign")
        await client.close()
    }

    @Test func `cancellation ends every waiting call`() async throws {
        let client = try await client()
        let receipt = try client.track("a")
        let tasks = [
            Task { _ = try await receipt.outcome(on: "p") },
            Task { _ = try await client.read(ReadRequest("status"), from: "p", timeout: .seconds(3600)) },
            Task { await client.idle() },
        ]
        try await receipt.durable()
        for task in tasks { task.cancel() }
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        try await tasks[2].value
        await client.close()
    }

    @Test func `completes every waiting call when the client closes`() async throws {
        let client = try await client()
        let receipt = try client.track("a")
        try await receipt.durable()
        let outcome = Task { try await receipt.outcome(on: "p") }
        let read = Task { try await client.read(ReadRequest("status"), from: "p", timeout: .seconds(3600)) }
        let idle = Task { await client.idle() }
        let events = client.events()
        let listening = Task { for await _ in events {} }
        await client.close()
        await #expect(throws: CaptureError.self) { try await outcome.value }
        await #expect(throws: CaptureError.self) { try await read.value }
        await idle.value
        await listening.value
        await client.close()
        await client.idle()
        await #expect(throws: CaptureError.self) { try await client.flush() }
    }

    @Test func `an unreferenced client closes and releases its file`() async throws {
        let path = folder.outbox
        var client: EngagementClient? = try await client(.file(path))
        let receipt = try #require(try client?.track("a"))
        try await receipt.durable()
        weak let held = client
        client = nil
        await #expect(throws: CaptureError.self) { try await receipt.outcome(on: "p") }
        #expect(held == nil)
        let next = try await self.client(.file(path), ScriptedTransport())
        while try await next.accounts().first?.pending != 0 { await next.idle() }
        #expect(try await next.accounts().first?.total("accepted") == 1)
        await next.close()
    }

    @Test func `reports captures that cannot be stored and accepts later ones`() async throws {
        let path = folder.outbox
        let client = try await client(.file(path), ScriptedTransport())
        try await client.track("before").durable()
        while try await client.accounts().first?.pending != 0 { await client.idle() }
        let events = client.events()
        let reported = Task { () -> CaptureError? in
            for await case .storageFailed(let error) in events { return error }
            return nil
        }
        // Another file replaces the outbox. Nothing may be written to it.
        try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let receipts = try (0..<10).map { try client.track("lost \($0)") }
        for receipt in receipts {
            let error = await #expect(throws: CaptureError.self) { try await receipt.durable() }
            #expect(error?.code == .storage)
            await #expect(throws: CaptureError.self) { try await receipt.outcome(on: "p") }
        }
        #expect(await reported.value?.code == .storage)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
        let receipt = try client.track("after")
        try await receipt.durable()
        #expect(try await receipt.outcome(on: "p").term == .accepted)
        await client.close()
    }

    @Test func `the accounts balance while many tasks capture, query, flush and close`() async throws {
        let path = folder.outbox
        var durable: Set<OperationID> = []
        for _ in 0..<5 {
            let client = try await client(
                .file(path),
                ScriptedTransport { number, _ in
                    number % 7 == 0 ? .failed(TransportFailure(.lost, "cut")) : .replied(WireResponse(200, json: [:]))
                }
            )
            await withTaskGroup(of: [OperationID].self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var stored: [OperationID] = []
                        for number in 0..<25 {
                            guard let receipt = try? client.track("e-\(task)-\(number)") else { break }
                            switch number % 5 {
                            case 0: try? await client.flush()
                            case 1:
                                _ = try? await client.read(ReadRequest("status"), from: "p", timeout: .milliseconds(50))
                            case 2: await client.idle()
                            case 3: _ = try? await client.snapshot()
                            default: break
                            }
                            if (try? await receipt.durable()) != nil { stored.append(receipt.id) }
                            if task == 7, number == 20 { await client.close() }
                        }
                        return stored
                    }
                }
                for await stored in group { durable.formUnion(stored) }
            }
            await client.close()
        }
        let last = try await client(.file(path), ScriptedTransport())
        while try await last.accounts().first?.pending != 0 {
            try await last.flush()
            await last.idle()
        }
        let accounts = try #require(try await last.accounts().first)
        #expect(accounts.balances)
        #expect(try await last.known(among: Array(durable)) == durable)
        await last.close()
    }
}

/// Answers once it is opened.
final class Gate: Transport {
    private let opened = AsyncStream<Void>.makeStream()

    func open() { opened.continuation.finish() }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        for await _ in opened.stream {}
        return .replied(WireResponse(200, json: [:]))
    }
}
