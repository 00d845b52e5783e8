import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Outbox limits") struct OutboxBoundsTests {
    private let folder = TemporaryFolder()

    private func world(_ limits: OutboxLimits, _ plan: RoutingPlan = .probe { $0.courtesy = 1_000_000_000 }) throws
        -> VirtualWorld
    {
        let world = try VirtualWorld()
        world.limits = limits
        try world.start(plan)
        return world
    }

    private func pending(_ world: VirtualWorld, _ provider: String = "p") throws -> [String] {
        try world.store.queues.list(provider: provider, limit: 10_000).map(\.operation.id)
    }

    private func expectAgreement(_ world: VirtualWorld) throws {
        for account in try world.accounts() { #expect(account.balances) }
        #expect(try world.store.maintenance.verify().faults == [])
    }

    @Test func `drops and reports the oldest events over the limit and keeps state`() throws {
        let world = try world(OutboxLimits(operations: 5))
        let state = try world.capture(.set("tier", "gold"))
        let events = try (0..<6).map { try world.capture(.event("e\($0)")) }
        #expect(try pending(world) == [state.id.rawValue] + events.suffix(4).map(\.id.rawValue))
        for event in events.prefix(2) {
            let outcome = world.outcome(of: event.id, on: "p")
            #expect(outcome?.term == .dropped)
            #expect(outcome?.finding?.code == "engine.outbox.full")
        }
        #expect(try world.account("p").lines["dropped"] == ["engine.outbox.full": 2])
        try expectAgreement(world)
    }

    @Test func `drops the oldest events over the byte limit`() throws {
        let world = try world(OutboxLimits(bytes: 10_000))
        let attributes: [AttributeName: AttributeValue] = ["text": .string(String(repeating: "x", count: 1_000))]
        for number in 0..<20 { try world.capture(.track(.custom(name: "e\(number)", attributes: attributes))) }
        let usage = try world.store.accounts.usage()
        #expect(usage.size <= 10_000)
        #expect(usage.operations >= 5)
        #expect(try world.account("p").total("dropped") == 20 - Int(usage.operations))
        try expectAgreement(world)
    }

    @Test func `drops expired events and keeps other operations`() throws {
        let world = try world(OutboxLimits(age: .seconds(3_600)))
        let state = try world.capture(.set("tier", "gold"))
        let old = try world.capture(.event("old"))
        try world.advance(by: .seconds(3_000))
        let young = try world.capture(.event("young"))
        try world.advance(by: .seconds(1_000))
        try world.performMaintenance()
        #expect(world.outcome(of: old.id, on: "p")?.finding?.code == "engine.outbox.aged")
        #expect(try pending(world) == [state, young].map(\.id.rawValue))
        try world.advance(by: .seconds(3_000))
        let last = try world.capture(.event("last"))
        #expect(world.outcome(of: young.id, on: "p")?.term == .dropped)
        #expect(try pending(world) == [state, last].map(\.id.rawValue))
        try expectAgreement(world)
    }

    @Test func `a full outbox without old events drops new events, refuses state and accepts a denial`() throws {
        let world = try world(
            OutboxLimits(operations: 3),
            .probe(requiredConsent: [.messaging]) { $0.courtesy = 1 << 40 }
        )
        for tier in ["a", "b", "c"] { try world.capture(.set("tier", .string(tier))) }
        let event = try world.capture(.event("late"))
        #expect(world.outcome(of: event.id, on: "p")?.finding?.code == "engine.outbox.full")
        let error = #expect(throws: OutboxError.self) { try world.capture(.set("tier", "d")) }
        #expect(error?.code == .full)
        #expect(error?.remedy.contains("limits") == true)
        #expect(try world.snapshot()?.attributes["tier"] == "c")
        #expect(try pending(world).count == 3)
        try world.capture(.setConsent(Consent(purpose: .messaging, state: .denied)))
        #expect(try pending(world).count == 4)
        try world.capture(.erase)
        #expect(try pending(world).count == 1)
        try expectAgreement(world)
    }

    @Test func `drops no operation that is started, in flight or journaled`() throws {
        for isJournaled in [false, true] {
            let world = try VirtualWorld()
            world.limits = OutboxLimits(operations: 2)
            world.network = { _ in .outcome(.replied(WireResponse(200)), after: .seconds(20)) }
            try world.start(.probe { $0.isJournaled = isJournaled })
            let events = try (0..<5).map { try world.capture(.event("e\($0)")) }
            #expect(try pending(world) == [events[0], events[4]].map(\.id.rawValue))
            #expect(try world.drain())
            #expect(world.outcome(of: events[0].id, on: "p")?.term == .accepted)
            try expectAgreement(world)
        }
    }

    @Test func `drops a group completely or not at all`() throws {
        let world = try world(OutboxLimits(operations: 5))
        func event(_ id: OperationID, _ group: String?, _ action: Action = .event("e")) -> EngagementOperation {
            EngagementOperation(id: id, subject: "s", group: group, capturedAt: world.host.date(), action: action)
        }
        try world.capture(event("a1", "a"), event("a2", "a", .set("tier", "gold")), event("b1", "b"))
        try world.capture(event("x", nil), event("b2", "b"))
        try world.capture(event("y", nil))
        // The first group contains state and stays. The second is dropped, although its members are not adjacent.
        #expect(try pending(world) == ["a1", "a2", "x", "y"])
        #expect(try world.account("p").total("dropped") == 2)
        try expectAgreement(world)
    }

    @Test func `drops an old event for one provider and keeps the event in flight at another`() throws {
        let world = try VirtualWorld()
        world.limits = OutboxLimits(operations: 1)
        let other = RoutingPlan.probe("q") { $0.courtesy = 1 << 40 }.providers
        try world.start(.probe(others: other))
        let first = try world.capture(.event("first"))
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: first.id, on: "p")?.term == .accepted)
        let second = try world.capture(.event("second"))
        #expect(world.outcome(of: first.id, on: "q")?.term == .dropped)
        #expect(try pending(world) == [second.id.rawValue])
        try expectAgreement(world)
    }

    @Test func `a process that does not deliver drops only its own events`() throws {
        let path = folder.outbox
        func engine(_ name: String) throws -> Engine {
            try Engine(
                store: .open(.file(path)),
                plan: .probe { $0.courtesy = 1 << 40 },
                host: StillProcess(name, Instant(milliseconds: 1_900_000_000_000)),
                limits: OutboxLimits(operations: 3),
                credentials: { _, _ in nil }
            )
        }
        let (deliverer, other) = (try engine("deliverer"), try engine("other"))
        #expect(try deliverer.start() && !other.start())
        func capture(_ id: OperationID, _ engine: Engine) throws {
            let operation = EngagementOperation(id: id, subject: "s", capturedAt: engine.now, action: .event("e"))
            try engine.commit([Engine.Capture(operation, uptime: Instant(milliseconds: 0))])
        }
        for id: OperationID in ["a", "b", "c"] { try capture(id, deliverer) }
        try capture("d", other)
        #expect(try other.store.queues.list(provider: "p", limit: 10).map(\.operation.id) == ["a", "b", "c"])
        try capture("e", deliverer)
        #expect(try other.store.queues.list(provider: "p", limit: 10).map(\.operation.id) == ["b", "c", "e"])
        #expect(try other.store.maintenance.verify().faults == [])
    }

    @Test func `reports rejects that are removed over the limit`() throws {
        let world = try VirtualWorld()
        world.limits = OutboxLimits(operations: 2, rejects: 1)
        world.network = { _ in .status(422) }
        try world.start(.probe())
        try world.capture(.event("a"))
        #expect(try world.drain())
        try world.capture(.event("b"))
        #expect(try world.drain())
        #expect(try world.store.rejects.count() == 1)
        let noticed = world.reportedEvents.filter {
            if case .noticed("p", let finding) = $0.event {
                finding.code == "engine.outbox.rejectsForgotten"
            } else {
                false
            }
        }
        #expect(noticed.count == 1)
        try expectAgreement(world)
    }
}
