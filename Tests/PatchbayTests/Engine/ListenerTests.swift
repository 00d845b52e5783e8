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

@Suite("Those who listen to the client", .endsAtAll) struct ListenerTests {
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

    @Test func `what is given up at the closing is no failed request`() async throws {
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
        // Time to say more; without it there is as little to hear.
        try await Task.sleep(for: .milliseconds(100))
        #expect(log.lines.last?.contains("closed") == true)
        #expect(!log.lines.contains { $0.contains("request failed") })
    }

    // MARK: Outcomes

    @Test func `every listener hears every ending until the client is closed`() async throws {
        let client = try await client()
        let listening = [client.outcomes(), client.outcomes()].map { outcomes in
            Task {
                var heard: [EndedOperation] = []
                for await ended in outcomes { heard.append(ended) }
                return heard
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
            let heard = await task.value
            #expect(heard.map(\.id) == ids)
            #expect(heard.map(\.outcome.term) == [.accepted, .rejected, .accepted])
            #expect(heard.allSatisfy { $0.provider == "p" && $0.missed == 0 })
        }
        // Who comes later hears nothing, and does not wait for it.
        for await _ in client.outcomes() { Issue.record("A closed client told of an ending.") }
        for await _ in client.events() { Issue.record("A closed client told of an event.") }
    }

    @Test func `a reader who is too slow is told how many endings it missed`() async {
        let listeners = Listeners<Int>()
        var iterator = listeners.listen(.bufferingOldest(2)).makeAsyncIterator()
        // Each news is how many were missed just before it.
        for _ in 0..<5 { listeners.tell { $0 } }
        #expect(await [iterator.next(), iterator.next()] == [0, 0])
        listeners.tell { $0 }
        #expect(await iterator.next() == 3)
        listeners.tell { $0 }
        #expect(await iterator.next() == 0)
    }

    @Test func `who stops reading is forgotten`() async {
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

    @Test func `readers that are cancelled while they are told hold nobody up`() async {
        let listeners = Listeners<Int>()
        let isOver = Mutex(false)
        async let told: Void = Task.detached {
            while !isOver.withLock(\.self) { listeners.tell { $0 } }
        }.value
        for _ in 0..<5_000 {
            let stream = listeners.listen(.bufferingNewest(1))
            let reader = Task.detached { for await _ in stream {} }
            await Task.yield()
            reader.cancel()
            await reader.value
        }
        isOver.withLock { $0 = true }
        await told
        #expect(listeners.count == 0)
    }

    // MARK: Logging

    /// A whole session in which every value is marked: a yes, refusals, repeats, an outage, content, a question.
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

    @Test func `a log tells of starts, requests, repeats and endings, and of no value`() async throws {
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

    @Test func `a record below the level is not made`() async throws {
        let log = MemoryLog(.notice)
        try await session(log)
        #expect(log.events.allSatisfy { $0.level >= .notice })
        #expect(log.events.contains { $0.message.description == "operation ended" })
    }

    @Test func `a line is one line whatever stands in it`() throws {
        let pipe = Pipe()
        let log = LineLog(.debug, to: pipe.fileHandleForWriting)
        log.log(event: LogEvent(.warning, "provider fails", [.provider("a b\n\"c\""), .endpoint("x"), .count(3)]))
        try pipe.fileHandleForWriting.close()
        let line = String(decoding: try #require(try pipe.fileHandleForReading.readToEnd()), as: UTF8.self)
        #expect(line.hasSuffix(" warning Patchbay: provider fails count=3 endpoint=x provider=\"a b\\n\\\"c\\\"\"\n"))
        #expect(line.count { $0 == "\n" } == 1)
    }
}
