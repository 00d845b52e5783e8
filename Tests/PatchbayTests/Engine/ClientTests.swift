import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import Synchronization
import Testing

/// Answers requests in memory and records them.
final class ScriptedTransport: Transport {
    private let requests = Mutex<[WireRequest]>([])
    private let answer: @Sendable (Int, WireRequest) -> Outcome

    init(
        _ answer: @escaping @Sendable (Int, WireRequest) -> Outcome = { _, _ in .replied(WireResponse(200, json: [:])) }
    ) {
        self.answer = answer
    }

    var sent: [WireRequest] { requests.withLock { $0 } }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        let number = requests.withLock { requests in
            requests.append(request)
            return requests.count
        }
        await Task.yield()
        return answer(number, request)
    }
}

@Suite("The client") struct ClientTests {
    private let folder = TemporaryFolder()

    private func client(
        _ outbox: EngagementClient.Outbox = .memory,
        _ transport: ScriptedTransport = ScriptedTransport(),
        plan: RoutingPlan = .probe()
    ) async throws -> EngagementClient {
        try await EngagementClient(outbox: outbox, subject: "installation-1", plan: plan, transport: transport)
    }

    @Test func `a receipt reports durability and the vendor's answer`() async throws {
        let transport = ScriptedTransport { _, _ in .replied(WireResponse(200, json: ["id": 7])) }
        let client = try await client(.memory, transport)
        let receipt = try client.track(
            "Order Placed",
            attributes: ["total": .decimal(#require(ExactDecimal(text: "49.90")))]
        )
        try await receipt.durable()
        let outcome = try await receipt.outcome(on: "p")
        #expect(outcome.term == .accepted)
        #expect(outcome.answer == ["id": 7])
        #expect(String(decoding: transport.sent[0].body, as: UTF8.self).contains("49.90"))
        await client.close()
    }

    @Test func `delivers the captures of many tasks exactly once`() async throws {
        let transport = ScriptedTransport()
        let client = try await client(.memory, transport)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<50 { _ = try? client.track("e-\(task)-\(number)") }
                }
            }
        }
        while try await client.accounts().first?.pending != 0 || transport.sent.count < 400 { await client.idle() }
        #expect(transport.sent.count == 400)
        #expect(Set(transport.sent.compactMap { $0[header: "Operation"] }).count == 400)
        let accounts = try #require(try await client.accounts().first)
        #expect(accounts.total("accepted") == 400)
        #expect(accounts.balances)
        await client.close()
    }

    @Test func `sends operations that are captured together without others in between`() async throws {
        let transport = ScriptedTransport()
        let client = try await client(.memory, transport)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let block = (0..<40).map { number in
                        EngagementOperation(
                            id: OperationID(rawValue: "\(task)-\(number)"),
                            subject: "installation-1",
                            capturedAt: Instant(milliseconds: 0),
                            action: .track(.custom(name: "said"))
                        )
                    }
                    let receipts = try? client.capture(block)
                    #expect(receipts?.map(\.id) == block.map(\.id))
                }
            }
        }
        await client.idle()
        while transport.sent.count < 320 { await client.idle() }
        let sent = transport.sent.compactMap { $0[header: "Operation"]?.split(separator: "-").compactMap { Int($0) } }
        try #require(sent.count == 320 && sent.allSatisfy { $0.count == 2 })
        for block in 0..<8 {
            let received = sent[(40 * block)..<(40 * (block + 1))]
            #expect(Set(received.map { $0[0] }).count == 1, "block \(block) is interrupted")
            #expect(received.map { $0[1] } == Array(0..<40))
        }
        #expect(try client.capture([EngagementOperation]()).isEmpty)
        await client.close()
        #expect(throws: CaptureError.self) { try client.capture([EngagementOperation]()) }
    }

    @Test func `the next client on the same file delivers pending operations`() async throws {
        let path = folder.outbox
        let dead = ScriptedTransport { _, _ in .failed(TransportFailure(.notSent, "offline")) }
        let first = try await client(.file(path), dead)
        let receipt = try first.track("left behind")
        try await receipt.durable()
        await first.close()
        await #expect(throws: CaptureError.self) { try await receipt.outcome(on: "p") }
        let transport = ScriptedTransport()
        let second = try await client(.file(path), transport)
        while try await second.accounts().first?.pending != 0 { await second.idle() }
        #expect(transport.sent.count == 1)
        #expect(try await second.known(among: [receipt.id, "never said"]) == [receipt.id])
        await second.close()
    }

    @Test func `reports each outcome of a previous process once`() async throws {
        let path = folder.outbox
        let transport = ScriptedTransport { _, request in
            String(decoding: request.body, as: UTF8.self).contains("unwanted")
                ? .replied(WireResponse(422, json: [:])) : .replied(WireResponse(200, json: [:]))
        }
        let first = try await client(.file(path), transport)
        var receipts: [Receipt] = []
        for name in ["one", "unwanted", "two", "unwanted too", "three"] { receipts.append(try first.track(name)) }
        for receipt in receipts { _ = try await receipt.outcome(on: "p") }
        await first.close()
        let second = try await client(.file(path), transport)
        var outcomes = try await second.outcomes(on: "p")
        for receipt in receipts.reversed() {
            let expected = try await receipt.outcome(on: "p")
            let (outcome, again) = (outcomes.take(receipt.id), outcomes.take(receipt.id))
            #expect(outcome?.term == expected.term)
            #expect(outcome?.finding == expected.finding)
            #expect(again == nil)
        }
        let unknown = outcomes.take("unknown")
        #expect(unknown == nil)
        outcomes.note(OperationOutcome(.accepted), of: "noted")
        let noted = outcomes.take("noted")
        #expect(noted?.term == .accepted)
        var others = try await second.outcomes(on: "another")
        let other = others.take(receipts[0].id)
        #expect(other == nil)
        await second.close()
    }

    @Test func `keeps the logged-in contact over a restart until a log-out`() async throws {
        let path = folder.outbox
        func contact(after action: (EngagementClient) throws -> Void) async throws -> String? {
            let client = try await client(.file(path))
            try action(client)
            try await client.track("seen").durable()
            await client.idle()
            let contact = try await client.snapshot().contact
            await client.close()
            return contact
        }
        let person = ContactSwitch(.logIn, identifiers: [Identifier(.external, "c-1")])
        #expect(try await contact { try $0.capture(.switchContact(person)) } == "c-1")
        #expect(try await contact { _ in } == "c-1")
        #expect(try await contact { try $0.capture(.switchContact(ContactSwitch(.logOut))) } == nil)
        #expect(try await contact { _ in } == nil)
    }

    @Test func `two clients on one file: both capture, one delivers`() async throws {
        let path = folder.outbox
        let (one, other) = (ScriptedTransport(), ScriptedTransport())
        let now = SystemHost().date()
        let first = try await EngagementClient(
            outbox: .file(path),
            subject: "installation-1",
            plan: .probe(),
            transport: one,
            host: StillProcess("one", now)
        )
        let second = try await EngagementClient(
            outbox: .file(path),
            subject: "installation-1",
            plan: .probe(),
            transport: other,
            host: StillProcess("other", now)
        )
        try await first.track("a").durable()
        try await second.track("b").durable()
        try await first.networkIsBack()
        while try await first.accounts().first?.pending != 0 {
            try await first.networkIsBack()
            await first.idle()
        }
        #expect(one.sent.count == 2)
        #expect(other.sent.isEmpty)
        await first.close()
        await second.close()
    }

    @Test func `refuses a second capture of a pending id`() async throws {
        let client = try await client(
            .memory,
            ScriptedTransport { _, _ in .failed(TransportFailure(.notSent, "offline")) }
        )
        let operation = EngagementOperation(
            id: "one",
            subject: "s",
            capturedAt: Instant(milliseconds: 0),
            action: .event("a")
        )
        try await client.capture(operation).durable()
        let again = try client.capture(operation)
        let error = await #expect(throws: CaptureError.self) { try await again.durable() }
        #expect(error?.code == .duplicate)
        await client.close()
    }

    @Test func `throws when a closed client is used`() async throws {
        let client = try await client()
        await client.close()
        #expect(throws: CaptureError.self) { try client.track("late") }
    }

    @Test func `throws an error with a remedy for an unwritable folder`() async throws {
        let error = await #expect(throws: CaptureError.self) {
            try await EngagementClient(
                outbox: .file("/proc/patchbay/none.sqlite"),
                subject: "s",
                plan: .probe(),
                transport: ScriptedTransport()
            )
        }
        #expect(error?.code == .storage)
        #expect(error?.remedy.isEmpty == false)
    }

    @Test func `the subject snapshot answers local reads`() async throws {
        let client = try await client()
        try await client.set(["tier": "gold"]).durable()
        try await client.add("sports").durable()
        let snapshot = try await client.snapshot()
        #expect(snapshot.attributes == ["tier": "gold"])
        #expect(snapshot.tags == ["sports"])
        await client.close()
    }

    @Test func `returns the reply of a query to its caller and does not store it`() async throws {
        let client = try await client(
            .memory,
            ScriptedTransport { _, _ in .replied(WireResponse(200, json: ["is": "on"])) }
        )
        let outcome = try await client.read(ReadRequest("status"), from: "p")
        #expect(outcome.answer == ["is": "on"])
        #expect(try await client.accounts().first?.incoming ?? 0 == 0)
        await #expect(throws: CaptureError.self) { try await client.read(ReadRequest("status"), from: "unknown") }
        await client.close()
    }

    @Test func `sends events to listeners`() async throws {
        let client = try await client()
        let events = client.events()
        let id = try client.track("a").id
        for await case .ended(let ended, "p", let outcome) in events {
            #expect(ended == id)
            #expect(outcome.term == .accepted)
            break
        }
        await client.close()
    }
}

/// A process on this machine whose wall clock stands still, so that a lease never expires.
struct StillProcess: EngineHost {
    private let machine = SystemHost()
    private let now: Instant
    let process: String
    var boot: String { machine.boot }
    init(_ name: String, _ now: Instant) { (process, self.now) = (name, now) }
    func date() -> Instant { now }
    func uptime() -> Instant { machine.uptime() }
    func isDead(_ process: String) -> Bool { false }
    func chance() -> Double { machine.chance() }
    func makeID() -> OperationID { machine.makeID() }
}
