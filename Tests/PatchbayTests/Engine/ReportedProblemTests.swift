import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Reported problems", .hangTimeLimit) struct ReportedProblemTests {
    private let folder = TemporaryFolder()

    private func client(_ plan: RoutingPlan, _ host: any EngineHost = SystemHost()) async throws -> EngagementClient {
        try await EngagementClient(
            outbox: .file(folder.outbox),
            subject: "installation-1",
            plan: plan,
            transport: ScriptedTransport(),
            host: host
        )
    }

    private func query(_ world: VirtualWorld) -> EngagementOperation {
        EngagementOperation(
            id: world.host.makeID(),
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("profile"))
        )
    }

    @Test func `reports a refused switch after the other process has ended`() async throws {
        let now = SystemHost().date()
        let old = try await client(
            .routes(.drain, .route("a", .live, courtesy: 3_600_000)),
            StillProcess("old", now)
        )
        let receipt = try old.set(["city": .string("Turku")])
        try await receipt.durable()
        let picky = RoutingPlan.Provider(name: "b", adapter: PickyDevice(settings: .init()), mode: .live)
        let next = try await client(
            .routes(.retarget, .route("a", nil, courtesy: 3_600_000), picky),
            StillProcess("next", now)
        )
        let events = next.events()
        await old.close()
        var refusal: SwitchRefusal?
        for await case .switchRefused(let refused) in events {
            refusal = refused
            break
        }
        #expect(refusal?.operations.map(\.id) == [receipt.id])
        #expect(refusal?.remedy.contains("onLoss") == true)
        try await next.track("still taken").durable()
        await next.close()
    }

    @Test func `reports a recovered outbox with the number of saved rows`() async throws {
        let first = try await client(.probe { $0.courtesy = 3_600_000 })
        for number in 0..<20 { try await first.track("e-\(number)").durable() }
        await first.close()
        try OutboxFile.write(Array(repeating: 0x5A, count: 16), to: folder.outbox, at: 0)
        let second = try await client(.probe { $0.courtesy = 3_600_000 })
        var reported: Finding?
        for await case .setAside(let finding) in second.events() {
            reported = finding
            break
        }
        #expect(reported?.code == "engine.outbox.recovered")
        #expect(reported?.severity == .warning)
        #expect(reported?.reason.contains("20 pending rows were saved") == true)
        #expect(reported?.reason.contains("outbox.sqlite.damaged-1") == true)
        await second.close()
    }

    @Test func `lists operations of a removed provider in its accounts`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old") { $0.courtesy = 10_000_000 })
        try world.capture(.event("a"))
        #expect(try world.account("old").stranded == nil)
        for _ in 0..<2 {
            try world.restart(.probe("new"))
            let stranded = try world.account("old").stranded
            #expect(stranded?.code == "engine.provider.unconfigured")
            #expect(stranded?.reason.contains("(1)") == true)
            #expect(stranded?.remedy.contains("patchbay outbox retarget") == true)
        }
        try world.restart(.probe("old") { $0.courtesy = 10_000_000 })
        #expect(try world.account("old").stranded == nil)
    }

    @Test func `sends no query when the consent cannot be read`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        try world.store.connection.script("DROP TABLE snapshot")
        #expect(throws: OutboxError.self) { try world.read(query(world), from: "p") }
        #expect(world.sent.isEmpty)
    }

    @Test func `allows a failed wake-up to be repeated and sends no request twice`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(200)), after: .seconds(3)) }
        try world.start(.probe())
        let operation = try world.capture(.event("in flight"))
        try world.suspend()
        world.onStorage { point in
            if point == .begin(.normal) { throw OutboxError(.busy, "Another process writes.") }
        }
        #expect(throws: OutboxError.self) { try world.wakeUp() }
        #expect(world.isSuspended)
        world.onStorage(nil)
        try world.wakeUp()
        #expect(try world.drain())
        #expect(world.outcome(of: operation.id, on: "p")?.term == .accepted)
        #expect(world.sent.count == 1)
    }

    @Test func `calls the closure of a suspension only when the file is released`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        var calls = 0
        #expect(throws: OutboxError.self) {
            try store.transaction(.normal) { try store.suspend { calls += 1 } }
        }
        #expect(calls == 0)
        try store.suspend { calls += 1 }
        #expect(calls == 1)
        #expect(store.isSuspended)
    }
}
