import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import Synchronization
import Testing

@Suite("A client that the system suspends", .hangTimeLimit) struct SuspensionTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.outbox }

    private func client(_ transport: any Transport) async throws -> EngagementClient {
        try await EngagementClient(
            outbox: .file(path),
            subject: "installation-1",
            plan: .probe(),
            transport: transport
        )
    }

    /// Whether no process has the file open. Only then can another process change its journal mode.
    private func isFree() throws -> Bool {
        let connection = try Connection(.file(path), .readWrite)
        connection.setTimeout(0)
        do {
            guard try connection.text("PRAGMA journal_mode = DELETE") == "delete" else { return false }
            try connection.script("BEGIN EXCLUSIVE; COMMIT")
            return try connection.text("PRAGMA journal_mode = WAL") == "wal"
        } catch let error where error.code == .busy {
            return false
        }
    }

    /// Returns the number of locks that this process holds on the outbox files; nil if the system does not report them.
    private func locks() throws -> Int? {
        let (files, notes) = ("/proc/self/fd/", "/proc/self/fdinfo/")
        guard let open = try? FileManager.default.contentsOfDirectory(atPath: files) else { return nil }
        return open.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: files + $0))?.hasPrefix(path) == true
        }.compactMap { try? String(contentsOfFile: notes + $0, encoding: .utf8) }
            .reduce(0) { $0 + $1.split(separator: "\n").count { $0.hasPrefix("lock:") } }
    }

    @Test func `a suspended client holds no lock, and waking stores and delivers waiting captures`() async throws {
        let client = try await client(ScriptedTransport())
        try await client.track("before").durable()
        #expect(try !isFree())
        if let count = try locks() { #expect(count > 0) }
        await client.suspend()
        await client.suspend()
        #expect(try locks() ?? 0 == 0)
        #expect(try isFree())
        let receipts = try (0..<3).map { try client.track("e-\($0)") }
        await client.idle()
        let error = await #expect(throws: CaptureError.self) { _ = try await client.accounts() }
        #expect(error?.code == .storage)
        #expect(error?.remedy.contains("wakeUp()") == true)
        #expect(try locks() ?? 0 == 0)
        try await client.wakeUp()
        try await client.wakeUp()
        for receipt in receipts {
            try await receipt.durable()
            #expect(try await receipt.outcome(on: "p").term == .accepted)
        }
        let account = try #require(try await client.accounts().first)
        #expect(account.total("captured") == 4 && account.balances)
        await client.close()
        let store = try OutboxStore.open(.file(path), readOnly: true)
        #expect(try store.maintenance.verify().isSound)
    }

    @Test func `settles a reply that arrived during suspension after waking and resends nothing`() async throws {
        let gate = CountedGate()
        let client = try await client(gate)
        let receipt = try client.track("in flight")
        try await receipt.durable()
        while gate.count == 0 { try await Task.sleep(for: .milliseconds(2)) }
        await client.suspend()
        gate.open()
        try await Task.sleep(for: .milliseconds(50))
        #expect(try isFree())
        try await client.wakeUp()
        #expect(try await receipt.outcome(on: "p").term == .accepted)
        #expect(gate.count == 1)
        #expect(try await client.accounts().first?.balances == true)
        await client.close()
    }

    @Test func `cancels a pending reconfiguration on suspension and accepts it after the wake-up`() async throws {
        let gate = CountedGate()
        let client = try await client(gate)
        try await client.track("in flight").durable()
        while gate.count == 0 { try await Task.sleep(for: .milliseconds(2)) }
        let change = Task { try await client.reconfigure(.probe()) }
        await client.suspend()
        let error = await #expect(throws: CaptureError.self) { try await change.value }
        #expect(error?.remedy.contains("wakeUp()") == true)
        try await client.wakeUp()
        gate.open()
        try await client.reconfigure(.probe())
        #expect(try await client.accounts().first?.balances == true)
        await client.close()
    }

    @Test func `receives the outcomes of another process on waking`() async throws {
        let client = try await client(SilentTransport())
        let receipt = try client.track("for any process")
        try await receipt.durable()
        await client.suspend()
        let other = try await self.client(ScriptedTransport())
        while try await other.accounts().first?.pending != 0 { await other.idle() }
        await other.close()
        try await client.wakeUp()
        #expect(try await receipt.outcome(on: "p").term == .accepted)
        #expect(try await client.accounts().first?.pending == 0)
        await client.close()
    }

    @Test func `closing a suspended client stores its waiting captures`() async throws {
        let client = try await client(SilentTransport())
        await client.suspend()
        let receipt = try client.track("kept")
        await client.close()
        try await receipt.durable()
        let store = try OutboxStore.open(.file(path), readOnly: true)
        #expect(try store.operations.pendingCount(provider: "p") == 1)
    }

    @Test func `refuses to wake on another file at the path of the outbox`() async throws {
        let client = try await client(SilentTransport())
        try await client.track("kept").durable()
        await client.suspend()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let error = await #expect(throws: CaptureError.self) { try await client.wakeUp() }
        #expect(error?.code == .storage)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
        try await client.wakeUp()
        #expect(try await client.accounts().first?.pending == 1)
        await client.close()
    }

    @Test func `suspends and resumes a client in memory`() async throws {
        let client = try await EngagementClient(
            outbox: .memory,
            subject: "s",
            plan: .probe(),
            transport: ScriptedTransport()
        )
        await client.suspend()
        let receipt = try client.track("a")
        try await client.wakeUp()
        #expect(try await receipt.outcome(on: "p").term == .accepted)
        await client.close()
    }
}

/// Answers once it is opened, and counts its requests.
private final class CountedGate: Transport {
    private let gate = Gate()
    private let requests = Mutex(0)

    var count: Int { requests.withLock { $0 } }
    func open() { gate.open() }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        requests.withLock { $0 += 1 }
        return await gate.send(request, timeout: timeout)
    }
}
