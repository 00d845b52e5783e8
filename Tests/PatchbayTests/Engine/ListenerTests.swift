import Foundation
@testable import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Synchronization
import Testing

/// Keeps every record.
private final class MemoryLog: LogHandler {
    let level: LogLevel
    private let records = Mutex<[LogEvent]>([])

    init(_ level: LogLevel = .trace) { self.level = level }

    var events: [LogEvent] { records.withLock { $0 } }
    var lines: [String] { events.map(LineLog.text) }

    func log(event: LogEvent) { records.withLock { $0.append(event) } }
}

@Suite("Listeners of the client", .hangTimeLimit) struct ListenerTests {
    private func client(_ transport: ScriptedTransport = ScriptedTransport(), log: (any LogHandler)? = nil) async throws
        -> EngagementClient
    {
        try await EngagementClient(
            outbox: .memory,
            subject: "installation-1",
            plan: .probe(),
            transport: transport,
            credentials: CredentialSource { _ in Secret("canary-credential") },
            log: log
        )
    }

    @Test func `does not log a failed request for work abandoned at closing`() async throws {
        let log = MemoryLog()
        let client = try await EngagementClient(
            outbox: .memory,
            subject: "installation-1",
            plan: .probe(),
            transport: SilentTransport(),
            log: log
        )
        try await client.track("e").durable()
        while !log.lines.contains(where: { $0.contains("request") }) { await Task.yield() }
        await client.close()
        // Time for further log lines. A shorter wait could only hide a failure, never cause one.
        try await Task.sleep(for: .milliseconds(100))
        #expect(log.lines.last?.contains("closed") == true)
        #expect(!log.lines.contains { $0.contains("request failed") })
    }

    // MARK: Outcomes

    @Test func `every listener receives every outcome until the client is closed`() async throws {
        let client = try await client()
        let listening = [client.outcomes(), client.outcomes()].map { outcomes in
            Task {
                var received: [EndedOperation] = []
                for await ended in outcomes { received.append(ended) }
                return received
            }
        }
        var ids: [OperationID] = []
        for number in 0..<3 {
            let receipt = try client.track(number == 1 ? "bad" : "good")
            _ = try await receipt.outcome(on: "p")
            ids.append(receipt.id)
        }
        await client.close()
        for task in listening {
            let received = await task.value
            #expect(received.map(\.id) == ids)
            #expect(received.map(\.outcome.term) == [.accepted, .rejected, .accepted])
            #expect(received.allSatisfy { $0.provider == "p" && $0.missed == 0 })
        }
        // A later listener receives nothing and does not wait.
        for await _ in client.outcomes() { Issue.record("A closed client sent an outcome.") }
        for await _ in client.events() { Issue.record("A closed client sent an event.") }
    }

    @Test func `reports the number of missed outcomes to a slow listener`() async {
        let listeners = Listeners<Int>()
        var iterator = listeners.listen(.bufferingOldest(2)).makeAsyncIterator()
        // Each value is the number of values missed just before it.
        for _ in 0..<5 { listeners.tell { $0 } }
        #expect(await [iterator.next(), iterator.next()] == [0, 0])
        listeners.tell { $0 }
        #expect(await iterator.next() == 3)
        listeners.tell { $0 }
        #expect(await iterator.next() == 0)
    }

    @Test func `removes a listener that stops reading`() async {
        let listeners = Listeners<Int>()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let stream = listeners.listen()
        let reader = Task {
            begin.yield()
            for await _ in stream {}
        }
        for await _ in begun { break }
        #expect(listeners.count == 1)
        reader.cancel()
        await reader.value
        #expect(listeners.count == 0)
        do { _ = listeners.listen() }
        #expect(listeners.count == 0)
    }

    @Test func `listeners that are cancelled during a notification block no other`() async {
        let listeners = Listeners<Int>()
        let isOver = Mutex(false)
        async let notifying: Void = Task.detached {
            while !isOver.withLock(\.self) { listeners.tell { $0 } }
        }.value
        for _ in 0..<500 {
            let stream = listeners.listen(.bufferingNewest(1))
            let reader = Task.detached { for await _ in stream {} }
            await Task.yield()
            reader.cancel()
            await reader.value
        }
        isOver.withLock { $0 = true }
        await notifying
        #expect(listeners.count == 0)
    }

    // MARK: Logging

    /// Runs a session with marked values: accepted requests, refusals, retries, an outage, content and a query.
    private func session(_ log: MemoryLog) async throws {
        let answers: [WireResponse] = [
            WireResponse(
                200,
                headers: [WireHeader("canary-header", "canary-header")],
                json: ["canary-member": "canary-value"]
            ),
            WireResponse(503, body: Array("<html>canary-page</html>".utf8)),
            WireResponse(400, json: ["code": "canary free text"]),
        ]
        let transport = ScriptedTransport { number, _ in
            number % 4 == 3 ? .failed(TransportFailure(.lost, "timedOut")) : .replied(answers[number % 4])
        }
        let client = try await client(transport, log: log)
        try client.identify(Identifier(.email, "canary-identifier@example.com"))
        try client.capture(
            .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "canary-contact")]))
        )
        try client.set(["canary_name": .string("canary-attribute")])
        try client.add("canary-tag")
        try client.track("canary-event", attributes: ["canary_name": .string("canary-attribute")])
        try client.track("bad")
        for _ in 0..<8 {
            try await client.flush()
            await client.idle()
        }
        _ = try await client.read(ReadRequest("canary-question"), from: "p", timeout: .milliseconds(10))
        await client.close()
    }

    @Test func `logs starts, requests, retries and outcomes without values`() async throws {
        let log = MemoryLog()
        try await session(log)
        let text = log.lines.joined(separator: "\n")
        for message in [
            "started", "provider adapter=probe", "request endpoint=plain", "request failed", "operation ended",
            "closed",
        ] {
            #expect(text.contains(message), "The log lacks \(message):\n\(text)")
        }
        #expect(!text.lowercased().contains("canary"), "\(text)")
    }

    @Test func `creates no log record below the configured level`() async throws {
        let log = MemoryLog(.notice)
        try await session(log)
        #expect(log.events.allSatisfy { $0.level >= .notice })
        #expect(log.events.contains { $0.message.description == "operation ended" })
    }

    @Test func `writes any text as one log line`() throws {
        let pipe = Pipe()
        let log = LineLog(.debug, to: pipe.fileHandleForWriting)
        log.log(event: LogEvent(.warning, "provider fails", [.provider("a b\n\"c\""), .endpoint("x"), .count(3)]))
        try pipe.fileHandleForWriting.close()
        let line = String(decoding: try #require(try pipe.fileHandleForReading.readToEnd()), as: UTF8.self)
        #expect(line.hasSuffix(" warning Patchbay: provider fails count=3 endpoint=x provider=\"a b\\n\\\"c\\\"\"\n"))
        #expect(line.count { $0 == "\n" } == 1)
    }
}
