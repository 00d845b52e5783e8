import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("The engine and storage failures") struct StorageFaultTests {
    private static let full = OutboxError(.full, "No room.")

    /// Lets the next `count` transactions of that durability fail.
    private func fail(_ world: VirtualWorld, _ point: StoragePoint, times count: Int = 1) {
        var left = count
        world.onStorage { reached in
            guard reached == point, left > 0 else { return }
            left -= 1
            throw Self.full
        }
    }

    /// Lets time pass and ignores storage failures.
    private func pass(_ world: VirtualWorld, seconds: Int) {
        for _ in 0..<seconds { try? world.advance(by: .seconds(1)) }
    }

    @Test(arguments: [StoragePoint.begin(.normal), .beforeCommit(.normal)])
    func `stores a failed settlement later without a second request`(point: StoragePoint) throws {
        for isJournaled in [false, true] {
            let world = try VirtualWorld()
            try world.start(.pool { $0.isJournaled = isJournaled })
            let operation = try world.capture(.event("a"))
            fail(world, point, times: 3)
            pass(world, seconds: 2)
            #expect(world.outcome(of: operation.id, on: "p") == nil)
            #expect(try world.account("p").pending == 1)
            #expect(try world.memory(of: "p") == [:])
            pass(world, seconds: 30)
            #expect(world.sent.count == 1)
            #expect(world.outcome(of: operation.id, on: "p")?.term == .accepted)
            #expect(try world.store.state.journal(provider: "p").isEmpty)
            #expect(try world.account("p").balances)
            try world.capture(.event("b"))
            #expect(try world.drain())
            #expect(world.sent.last?.request[header: "Requests"] == "1")
        }
    }

    @Test func `suspends a provider only after the suspension is stored`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .says(["suspension": true]) }
        try world.start(.pool())
        let operation = try world.capture(.event("a"))
        fail(world, .beforeCommit(.normal))
        pass(world, seconds: 2)
        #expect(try world.suspended("p") == nil)
        pass(world, seconds: 10)
        #expect(try world.suspended("p")?.code == "probe.refused")
        #expect(world.outcome(of: operation.id, on: "p")?.term == .accepted)
    }

    @Test func `sends a request only after its journal entry is written`() throws {
        let world = try VirtualWorld()
        try world.start(
            .pool {
                $0.isJournaled = true; $0.wait = 1000
            }
        )
        try world.capture(.event("a"))
        try world.restart(
            .pool {
                $0.isJournaled = true; $0.waitsIndefinitely = true
            }
        )
        fail(world, .begin(.full), times: 1)
        #expect(throws: OutboxError.self) { try world.capture(.event("b")) }
        #expect(world.sent.isEmpty)
        world.onStorage(nil)
        try world.restart(
            .pool {
                $0.isJournaled = true; $0.wait = nil
            }
        )
        #expect(try world.drain())
        #expect(world.sent.count == 1)
    }

    @Test func `a failed journal entry in one lane does not delay other lanes`() throws {
        let world = try VirtualWorld()
        try world.start(
            .pool {
                $0.isJournaled = true; $0.waitsIndefinitely = true
            }
        )
        for subject: Subject in ["a", "b"] { try world.capture(.event(subject.rawValue), subject: subject) }
        world.kill()
        var journals = 0
        world.onStorage { point in
            guard point == .begin(.full) else { return }
            journals += 1
            if journals == 2 { throw Self.full }  // the first belongs to the switch
        }
        #expect(throws: OutboxError.self) { try world.start(.pool { $0.isJournaled = true }) }
        #expect(world.sentBodies == ["b"])
        pass(world, seconds: 10)
        #expect(world.sentBodies == ["b", "a"])
        #expect(try world.account("p").pending == 0)
    }

    @Test func `a storage failure of one provider does not lose another provider's request`() throws {
        let world = try VirtualWorld()
        var plan = RoutingPlan.pool("a")
        plan.providers += RoutingPlan.pool("b") { $0.isJournaled = true }.providers
        try world.start(plan)
        var captured = false
        world.onStorage { point in
            guard point == .begin(.full) else { return }
            if captured { throw Self.full }
            captured = true
        }
        #expect(throws: OutboxError.self) { try world.capture(.event("e")) }
        #expect(world.sent.map(\.provider) == ["a"])
        world.onStorage(nil)
        #expect(try world.drain())
        #expect(world.sent.map(\.provider).sorted() == ["a", "b"])
        for account in try world.accounts() { #expect(account.balances && account.pending == 0) }
    }

    @Test func `retries failing storage with pauses`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.plansInCircles = true })
        var tries = 0
        world.onStorage { point in
            guard point == .begin(.normal) else { return }
            tries += 1
            throw Self.full
        }
        #expect(throws: OutboxError.self) { try world.capture(.event("a")) }
        pass(world, seconds: 60)
        #expect((2...60).contains(tries))
    }

    @Test func `rolls back a failed start and completes the next one`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old") { $0.courtesy = 1000 })
        try world.capture(.set("tier", "gold"))
        world.kill()
        fail(world, .beforeCommit(.full))
        #expect(throws: OutboxError.self) { try world.start(.probe("new")) }
        try world.capture(.event("b"))
        #expect(world.sent.isEmpty)
        try world.performMaintenance()
        #expect(try world.drain())
        #expect(world.sent.filter { $0.provider == "new" }.count == 2)
        #expect(try world.account("new").lines["created"] == ["snapshot": 1])
    }

    @Test func `a failed capture leaves nothing behind, and the next one succeeds`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        fail(world, .beforeCommit(.full))
        #expect(throws: OutboxError.self) { try world.capture(.event("bad")) }
        #expect(world.reportedEvents.isEmpty)
        #expect(try world.account("p").incoming == 0)
        try world.capture(.event("b"))
        #expect(try world.drain())
        #expect(world.sent.count == 1)
        #expect(try world.account("p").balances)
    }

    @Test(
        arguments: [false, true]
    ) func `stores pending outcomes before another configuration takes over`(isRefused: Bool) throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        let operation = try world.capture(.event("a"))
        fail(world, .begin(.normal), times: .max)
        pass(world, seconds: 1)
        #expect(world.outcome(of: operation.id, on: "p") == nil)
        // Another adapter under the name of a provider that was not removed is refused.
        let next = isRefused ? RoutingPlan.probe() : .pool { $0.batch = 2 }
        // While the outcome cannot be stored, the old configuration stays in use.
        #expect(throws: OutboxError.self) { try world.reconfigure(next) }
        world.onStorage(nil)
        if isRefused {
            #expect(throws: SwitchRefusal.self) { try world.reconfigure(next) }
        } else {
            try world.reconfigure(next)
        }
        #expect(try world.account("p").pending == 0)
        #expect(try world.drain())
        #expect(world.sent.count == 1)
        #expect(try world.account("p").balances)
        try world.capture(.event("b"))
        #expect(try world.drain())
        #expect(world.outcome(of: operation.id, on: "p")?.term == .accepted)
        #expect(world.sent.last?.request[header: "Requests"] == "1")
    }

    @Test(
        arguments: [false, true]
    ) func `stores pending outcomes when the engine stops or is suspended`(isSuspended: Bool) throws {
        let world = try VirtualWorld()
        let plan = RoutingPlan.pool()
        try world.start(plan)
        world.end()
        let engine = try Engine(store: world.store, plan: plan, host: world.host) { _, _ in nil }
        #expect(try engine.start())
        let operation = EngagementOperation(
            id: world.host.makeID(),
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .event("a")
        )
        try engine.commit([Engine.Capture(operation, uptime: world.host.uptime())])
        var sent: [Dispatch] = []
        try engine.advance { sent.append($0) }
        fail(world, .begin(.normal))
        #expect(throws: OutboxError.self) { try engine.finish(sent[0], .replied(WireResponse(200))) }
        if isSuspended { try engine.suspend() } else { try engine.stop() }
        #expect(try world.store.history.entries(provider: "p", limit: 10).map(\.term) == ["accepted"])
    }

    @Test func `sends a maintenance request only after its rate is stored`() throws {
        let world = try VirtualWorld()
        world.network = { .says($0.endpoint == "token" ? ["token": "t"] : [:]) }
        var plan = RoutingPlan.pool { $0.needsToken = true }
        plan.providers[0].rate = Rate(1, per: .seconds(1))
        try world.start(plan)
        var left = 1
        world.onStorage { [unowned world] point in
            guard point == .begin(.normal), !world.storesNoVerdict, left > 0 else { return }
            left -= 1
            throw Self.full
        }
        #expect(throws: OutboxError.self) { try world.capture(.event("a")) }
        #expect(world.sent.isEmpty)
        pass(world, seconds: 30)
        #expect(world.sent.map(\.endpoint) == ["token", "plain"])
        #expect(try world.account("p").pending == 0)
    }

    @Test(
        arguments: [StoragePoint.begin(.normal), .begin(.full), .beforeCommit(.normal), .beforeCommit(.full)]
    ) func `journals a request and consumes the rate only if the request is sent`(point: StoragePoint) throws {
        let world = try VirtualWorld()
        var plan = RoutingPlan.pool { $0.isJournaled = true }
        plan.providers[0].rate = Rate(1, per: .seconds(3600))
        try world.start(plan)
        var isTaken = false
        world.onStorage { [unowned world] reached in
            if reached == .afterCommit(.full) { isTaken = true }
            guard reached == point, isTaken, !world.storesNoVerdict, world.sent.isEmpty else { return }
            throw Self.full
        }
        _ = try? world.capture(.event("a"))
        #expect(try world.store.state.journal(provider: "p").isEmpty == world.sent.isEmpty)
        world.onStorage(nil)
        // An unsent request consumes no rate.
        try world.advance(by: .seconds(60))
        #expect(world.sent.count == 1)
        #expect(try world.account("p").pending == 0)
    }
}
