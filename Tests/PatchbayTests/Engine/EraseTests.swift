import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// The effects of an erasure in the engine and in the outbox file.
@Suite("Erasure") struct EngineObligationErasures {
    private static let canary = "Aino-Kanarialintu"

    private func world(isJournaled: Bool = false) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(.probe { $0.isJournaled = isJournaled })
        return world
    }

    private func requestCount(_ world: VirtualWorld, _ path: String) -> Int {
        world.sent.count { $0.request.url.hasSuffix(path) }
    }

    private func memory(_ world: VirtualWorld) throws -> String { try world.memory(of: "p").values.joined() }

    @Test(arguments: [false, true], [200, 500])
    func `erases an operation in flight with any reply (E14)`(isJournaled: Bool, status: Int) throws {
        let world = try world(isJournaled: isJournaled)
        world.network = { sent in .status(sent.request.url.hasSuffix("/changeAttributes") ? status : 200) }
        let change = try world.capture(.set("tier", .string(Self.canary)))
        try world.capture(.erase, contact: "aino")
        #expect(world.outcome(of: change.id, on: "p")?.term == .erased)
        let journals = try world.store.state.journal(provider: "p").map { String(decoding: $0.request, as: UTF8.self) }
        #expect(journals.allSatisfy { !$0.contains(Self.canary) })
        #expect(try world.drain())
        try world.advance(by: .seconds(3600))
        #expect(requestCount(world, "/changeAttributes") == 1 && requestCount(world, "/erase") == 1)
        #expect(try !memory(world).contains(Self.canary))
        #expect(try world.store.state.snapshot(subject: "installation-1") == nil)
        #expect(try world.account("p").balances)
    }

    @Test func `reports an unacknowledged request to the adapter after a crash and an erasure (E14)`() throws {
        let world = try world(isJournaled: true)
        try world.capture(.set("tier", .string(Self.canary)))
        let change = try #require(try world.store.state.journal(provider: "p").first).operations
        try world.capture(.erase)
        try world.restart()
        #expect(try world.store.state.journal(provider: "p").allSatisfy { $0.operations != change })
        #expect(try world.drain())
        #expect(try world.store.state.journal(provider: "p").isEmpty)
        #expect(requestCount(world, "/changeAttributes") == 1 && requestCount(world, "/erase") == 1)
    }

    @Test func `keeps an erasure for a month without a network ahead of later operations (E14)`() throws {
        let world = try world()
        world.network = { _ in .outcome(.failed(TransportFailure(.notSent, "hostNotFound"))) }
        try world.capture(.set("tier", .string(Self.canary)))
        try world.capture(.erase, contact: "aino")
        try world.capture(.set("tier", "new"))
        for _ in 0..<3 {
            try world.advance(by: .seconds(60))
            try world.reboot(after: .seconds(10 * 86_400))
        }
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        let before = world.sent.count
        #expect(try world.drain())
        #expect(
            world.sent.dropFirst(before).map { $0.request.url.split(separator: "/").last } == [
                "erase", "changeAttributes",
            ]
        )
        let last = String(decoding: try #require(world.sent.last).request.body, as: UTF8.self)
        #expect(!last.contains(Self.canary))
        #expect(try world.snapshot()?.attributes == ["tier": "new"])
    }

    @Test func `a second erasure does not replace the first one (E14)`() throws {
        let world = try world()
        world.network = { _ in .silence }
        try world.capture(.erase, contact: "aino")
        try world.capture(.set("tier", "silver"), contact: "bo")
        try world.capture(.erase, contact: "bo")
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        #expect(try world.drain())
        let contacts = try world.sent.filter { $0.request.url.hasSuffix("/erase") }.map {
            try EngagementOperation(jsonBytes: $0.request.body).contact
        }
        #expect(Set(contacts) == ["aino", "bo"])
        #expect(requestCount(world, "/changeAttributes") == 0)
        #expect(try world.account("p").total("erased") == 1)
    }

    @Test func `an erasure is atomic (E14)`() throws {
        struct Death: Error {}
        let world = try world()
        world.network = { _ in .silence }
        try world.capture(.set("tier", .string(Self.canary)))
        world.onStorage { if case .beforeCommit(.full) = $0 { throw Death() } }
        #expect(throws: Death.self) { try world.capture(.erase) }
        world.onStorage(nil)
        #expect(try world.snapshot()?.attributes["tier"] == .string(Self.canary))
        #expect(try world.account("p").total("erased") == 0)
        try world.capture(.erase)
        #expect(try world.snapshot() == nil)
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `an erasure reaches drained providers and empties the memory of removed ones (E14)`()
        throws
    {
        let world = try VirtualWorld()
        let probe = ProbeDevice(settings: ProbeDevice.Settings())
        func plan(_ modes: [(String, RoutingPlan.Mode?)]) -> RoutingPlan {
            RoutingPlan(providers: modes.map { .init(name: $0.0, adapter: probe, mode: $0.1) })
        }
        try world.start(plan([("old", .live), ("gone", .live), ("new", nil)]))
        try world.capture(.set("tier", .string(Self.canary)))
        #expect(try world.drain())
        try world.restart(plan([("old", nil), ("new", .live)]))
        #expect(try world.drain())
        try world.capture(.erase)
        #expect(try world.memory(of: "gone").isEmpty)
        #expect(try world.drain())
        for provider in ["old", "new"] {
            #expect(world.sent.count { $0.provider == provider && $0.request.url.hasSuffix("/erase") } == 1)
            #expect(try world.memory(of: provider).values.allSatisfy { !$0.contains(Self.canary) })
        }
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `memory kept after an erasure has no name and applies to the next person (E14)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(200) }
        try world.start(.probe { $0.suppresses = true })
        let subject = Subject(rawValue: Self.canary)
        try world.capture(.set("tier", "gold"), subject: subject, contact: "aino")
        try world.capture(.erase, subject: subject, contact: "aino")
        #expect(try world.drain())
        #expect(try world.memory(of: "p").keys.allSatisfy { !$0.contains(Self.canary) })
        try world.capture(.set("tier", "gold"), subject: subject, contact: "bo")
        #expect(try world.drain())
        #expect(world.sent.count { $0.request.url.hasSuffix("/changeAttributes") } == 2)
        try world.restart()
        let again = try world.capture(.set("tier", "gold"), subject: subject, contact: "bo")
        #expect(try world.drain())
        #expect(world.outcome(of: again.id, on: "p")?.term == .unchanged)
        #expect(try world.memory(of: "p").count == 1)
        try world.expectSound()
    }

    // MARK: The client

    private func client(_ file: String, _ transport: ScriptedTransport, plan: RoutingPlan = .probe()) async throws
        -> EngagementClient
    {
        try await EngagementClient(outbox: .file(file), subject: "installation-1", plan: plan, transport: transport)
    }

    private func bytes(_ file: String) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: ["", "-wal", "-shm"].map { suffix in
                let text = (try? Data(contentsOf: URL(filePath: file + suffix))).map {
                    String(decoding: $0, as: Unicode.ASCII.self)
                }
                return (suffix, (text ?? "").components(separatedBy: "Kanari").count - 1)
            }
        )
    }

    @Test func `no data of an erased person remains in the file or its log (E14)`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "outbox.sqlite").path
        // The vendor accepts some requests, refuses some, and does not answer the rest.
        let transport = ScriptedTransport { number, request in
            if request.url.hasSuffix("/erase") { return .replied(WireResponse(200)) }
            return [
                .replied(WireResponse(200)), .replied(WireResponse(400)), .failed(TransportFailure(.lost, "timedOut")),
            ][number % 3]
        }
        let client = try await client(file, transport, plan: .probe { ($0.isJournaled, $0.suppresses) = (true, true) })
        for number in 0..<60 {
            let name = AttributeName(rawValue: "\(Self.canary)-\(number)")
            _ = try client.set([name: .string(String(repeating: Self.canary, count: number % 20))])
            try client.capture(.identify([Identifier(.email, "\(Self.canary)\(number)@example.org")]))
            if number % 10 == 0 { await client.idle() }
        }
        try client.capture(.event("bad"))
        await client.idle()
        #expect(bytes(file).values.contains { $0 > 0 })
        let report = try await client.erase()
        #expect(report.subjects == 1 && report.snapshots == 1 && report.providers.map(\.provider) == ["p"])
        #expect(report.providers[0].withdrawn.values.reduce(0, +) > 0 && report.providers[0].rejects > 0)
        #expect(report.providers[0].requested.count == 1 && report.providers[0].memory == .untilDeletion)
        #expect(!report.description.contains("Kanari") && !report.json.text.contains("Kanari"))
        #expect(try ErasureReport(jsonBytes: report.jsonBytes) == report)
        try await client.resume("p")
        while try await client.pendingErasures() > 0 {
            try await client.networkIsBack()
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try await report.outcome(on: "p").map(\.term) == [.accepted])
        #expect(try await client.snapshot() == SubjectSnapshot())
        await client.close()
        #expect(bytes(file) == ["": 0, "-wal": 0, "-shm": 0])
        let store = try OutboxStore.open(.file(file), readOnly: true)
        #expect(try store.maintenance.verify().isSound)
    }

    @Test func `finds only a contact's own subjects by log-in and by identifier (E14)`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = try await client(folder.appending(path: "o.sqlite").path, ScriptedTransport())
        let captures: [(Subject, String?, Action)] = [
            ("s-1", "aino", .set("a", "1")), ("s-2", nil, .identify([Identifier(.external, "aino")])),
            ("s-3", "bo", .set("name", "aino")), ("s-4", "aino ", .set("a", "1")),
        ]
        for (number, (subject, contact, action)) in captures.enumerated() {
            try client.capture(
                EngagementOperation(
                    id: OperationID(rawValue: "op-\(number)"),
                    subject: subject,
                    contact: contact,
                    capturedAt: Instant(milliseconds: 0),
                    action: action
                )
            )
        }
        let report = try await client.erase(contact: "aino")
        #expect(report.subjects == 2 && report.snapshots == 2)
        let again = try await client.erase(contact: "aino")
        #expect(again.subjects == 1 && again.snapshots == 0 && again.providers[0].requested.count == 1)
        await client.close()
    }

    @Test func `does not erase a contact whose name looks alike`() async throws {
        let folder = TemporaryFolder()
        let transport = ScriptedTransport { _, _ in .failed(TransportFailure(.notSent, "hostNotFound")) }
        let client = try await client(folder.outbox, transport)
        let (composed, decomposed) = ("Zo\u{EB}", "Zoe\u{308}")
        try client.capture(.switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, decomposed)])))
        try client.capture(.set("friend", .string(composed)))
        let report = try await client.erase(contact: composed)
        #expect(report.snapshots == 0 && report.providers.allSatisfy { $0.withdrawn.isEmpty })
        #expect(try await client.snapshot().contact?.utf8.count == decomposed.utf8.count)
        await client.close()
    }

    @Test func `an erasure withdraws a contact's operations on an installation of another contact`() async throws {
        let folder = TemporaryFolder()
        let transport = ScriptedTransport { _, _ in .failed(TransportFailure(.notSent, "hostNotFound")) }
        let client = try await client(folder.outbox, transport)
        let (aino, bo) = (Identifier(.external, "aino"), Identifier(.external, "bo"))
        let captures: [(String?, Action)] = [
            ("aino", .switchContact(ContactSwitch(.logIn, identifiers: [aino]))),
            ("aino", .registerDevice(Device(pushToken: PushToken("7c1f")))),
            ("aino", .set("name", .string(Self.canary))), ("aino", .event(Self.canary)), ("aino", .event("bad")),
            (nil, .switchContact(ContactSwitch(.logOut))),
            ("bo", .switchContact(ContactSwitch(.logIn, identifiers: [bo]))), ("bo", .event("his")),
            ("bo", .set("friend", "aino")),
        ]
        for (number, (contact, action)) in captures.enumerated() {
            try client.capture(
                EngagementOperation(
                    id: OperationID(rawValue: "op-\(number)"),
                    subject: "installation-1",
                    contact: contact,
                    capturedAt: Instant(milliseconds: 0),
                    action: action
                )
            )
        }
        let report = try await client.erase(contact: "aino")
        let part = try #require(report.providers.first)
        #expect(part.withdrawn == ["switchContact": 1, "registerDevice": 1, "changeAttributes": 1, "track": 1])
        #expect(part.rejects == 1 && part.requested.count == 1)
        #expect(try await client.snapshot().contact == "bo")
        await client.close()
        #expect(bytes(folder.outbox) == ["": 0, "-wal": 0, "-shm": 0])
        let store = try OutboxStore.open(.file(folder.outbox), readOnly: true)
        var left: [EngagementOperation] = []
        try store.queues.forEachRow(provider: "p", subject: "installation-1") { row in
            left.append(try EngagementOperation(jsonBytes: row.operation.body))
        }
        // The device is registered again for the current contact.
        #expect(
            left.map(\.action.kind) == [.switchContact, .switchContact, .track, .changeAttributes, .registerDevice]
        )
        #expect(left.map(\.contact) == [nil, "bo", "bo", "bo", "bo"])
        #expect(try store.maintenance.verify().isSound)
    }

    @Test func `sends an erasure also to the share that served the installation before the log-in`() throws {
        let world = try VirtualWorld()
        let isLow = { (name: String) in Share.place(of: name) < 5_000 }
        let member = try #require(
            (0..<100).map { "member-\($0)" }.first { isLow($0) != isLow("installation-1") }
        )
        try world.start(.routes(.drain, .route("a", .percentage, 0..<50), .route("b", .percentage, 50..<100)))
        try world.capture(.set("tier", .string(Self.canary)))
        #expect(try world.drain())
        let logIn = ContactSwitch(.logIn, identifiers: [Identifier(.external, member)])
        try world.capture(.switchContact(logIn), contact: member)
        #expect(try world.drain())
        try world.capture(.erase, contact: member)
        #expect(try world.drain())
        for provider in ["a", "b"] {
            #expect(world.sentKinds(to: provider).filter { $0 == "erase" }.count == 1)
            #expect(try world.memory(of: provider).values.allSatisfy { !$0.contains(Self.canary) })
        }
        try world.expectSound()
    }
}
