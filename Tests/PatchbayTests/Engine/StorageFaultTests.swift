import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("The engine and storage that fails") struct StorageFaultTests {
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

    /// Lets time pass although the storage fails in it.
    private func pass(_ world: VirtualWorld, seconds: Int) {
        for _ in 0..<seconds { try? world.advance(by: .seconds(1)) }
    }

    @Test(arguments: [StoragePoint.begin(.normal), .beforeCommit(.normal)])
    func `a settle that can't be stored is stored later; the vendor is not asked again`(point: StoragePoint) throws {
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

    @Test func `a provider that its adapter stops is stopped only once that is stored`() throws {
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

    @Test func `a request whose journal can't be written does not leave, and leaves later`() throws {
        let world = try VirtualWorld()
        try world.start(
            .pool {
                $0.isJournaled = true; $0.wait = 1000
            }
        )
        try world.capture(.event("a"))
        try world.restart(
            .pool {
                $0.isJournaled = true; $0.waitsForEver = true
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

    @Test func `a journal that fails in one lane holds up no other`() throws {
        let world = try VirtualWorld()
        try world.start(
            .pool {
                $0.isJournaled = true; $0.waitsForEver = true
            }
        )
        for subject: Subject in ["a", "b"] { try world.capture(.event(subject.rawValue), subject: subject) }
        world.kill()
        var journals = 0
        world.onStorage { point in
            guard point == .begin(.full) else { return }
            journals += 1
            if journals == 2 { throw Self.full }  // the first is the switch's
        }
        #expect(throws: OutboxError.self) { try world.start(.pool { $0.isJournaled = true }) }
        #expect(world.sentBodies == ["b"])
        pass(world, seconds: 10)
        #expect(world.sentBodies == ["b", "a"])
        #expect(try world.account("p").pending == 0)
    }

    @Test func `one provider's fault does not swallow another's request`() throws {
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

    @Test func `storage that fails is looked at every few seconds, not without pause`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.circles = true })
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

    @Test func `a start that fails half way has not happened, and the next one is whole`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old") { $0.courtesy = 1000 })
        try world.capture(.set("tier", "gold"))
        world.kill()
        fail(world, .beforeCommit(.full))
        #expect(throws: OutboxError.self) { try world.start(.probe("new")) }
        try world.capture(.event("b"))
        #expect(world.sent.isEmpty)
        try world.keepHouse()
        #expect(try world.drain())
        #expect(world.sent.filter { $0.provider == "new" }.count == 2)
        #expect(try world.account("new").lines["created"] == ["snapshot": 1])
    }

    @Test func `a capture that can't be stored leaves nothing behind, and the next one works`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        fail(world, .beforeCommit(.full))
        #expect(throws: OutboxError.self) { try world.capture(.event("bad")) }
        #expect(world.told.isEmpty)
        #expect(try world.account("p").incoming == 0)
        try world.capture(.event("b"))
        #expect(try world.drain())
        #expect(world.sent.count == 1)
        #expect(try world.account("p").balances)
    }

    @Test(
        arguments: [false, true]
    ) func `what the vendor has said is stored before another configuration takes over`(isRefused: Bool) throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        let operation = try world.capture(.event("a"))
        fail(world, .begin(.normal), times: .max)
        pass(world, seconds: 1)
        #expect(world.outcome(of: operation.id, on: "p") == nil)
        // Another vendor under the name of one that was not left is refused.
        let next = isRefused ? RoutingPlan.probe() : .pool { $0.batch = 2 }
        // As long as it can't be stored, the old configuration goes on.
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
    ) func `what the vendor has said is stored when the process ends or rests, if it can be`(isResting: Bool) throws {
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
        if isResting { try engine.suspend() } else { try engine.stop() }
        #expect(try world.store.history.entries(provider: "p", limit: 10).map(\.term) == ["accepted"])
    }

    @Test func `a maintenance request whose rate can't be stored has not left, and leaves later`() throws {
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
    ) func `the journal holds a request if it left, and its rate is spent then`(point: StoragePoint) throws {
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
        // Nothing was spent for what did not leave.
        try world.advance(by: .seconds(60))
        #expect(world.sent.count == 1)
        #expect(try world.account("p").pending == 0)
    }
}
