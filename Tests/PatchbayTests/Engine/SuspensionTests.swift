import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import Synchronization
import Testing

@Suite("A client that the system suspends", .endsAtAll) struct SuspensionTests {
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

    /// Whether nobody has the file open, as another process finds out: only then may its journal change.
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

    /// The locks that this process holds on the file and what stands beside it; nil where the system does not tell.
    private func locks() throws -> Int? {
        let (files, notes) = ("/proc/self/fd/", "/proc/self/fdinfo/")
        guard let open = try? FileManager.default.contentsOfDirectory(atPath: files) else { return nil }
        return open.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: files + $0))?.hasPrefix(path) == true
        }.compactMap { try? String(contentsOfFile: notes + $0, encoding: .utf8) }
            .reduce(0) { $0 + $1.split(separator: "\n").count { $0.hasPrefix("lock:") } }
    }

    @Test func `suspended it leaves no lock, captures wait, and waking stores and delivers them`() async throws {
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

    @Test func `an answer that comes while it is suspended is settled after, and nothing is sent twice`() async throws {
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

    @Test func `a change of the configuration that waits for an answer is told of a suspension, and works after it`()
        async throws
    {
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

    @Test func `another process delivers meanwhile, and its outcomes are heard on waking`() async throws {
        let client = try await client(SilentTransport())
        let receipt = try client.track("for whoever is there")
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

    @Test func `closing a suspended client stores what waited`() async throws {
        let client = try await client(SilentTransport())
        await client.suspend()
        let receipt = try client.track("kept")
        await client.close()
        try await receipt.durable()
        let store = try OutboxStore.open(.file(path), readOnly: true)
        #expect(try store.operations.pendingCount(provider: "p") == 1)
    }

    @Test func `a file that was moved away meanwhile is not opened in its place`() async throws {
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

    @Test func `a client in memory is suspended too, and goes on`() async throws {
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

/// Answers once it is opened, and counts what it was asked.
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
