import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Switches without loss or duplicates") struct EngineObligationSwitchFaults {
    private func provider(
        _ name: String,
        _ mode: RoutingPlan.Mode?,
        courtesy: Int = 0
    ) -> RoutingPlan.Provider {
        RoutingPlan.probe(name, mode: mode) { $0.courtesy = courtesy }.providers[0]
    }

    private func plan(_ policy: RoutingPlan.SwitchPolicy, _ providers: RoutingPlan.Provider...) -> RoutingPlan {
        RoutingPlan(providers: providers, onSwitch: policy)
    }

    private func sentIDs(_ world: VirtualWorld, _ provider: String, _ path: String = "/track") -> [String] {
        world.sent.filter { $0.provider == provider && $0.request.url.hasSuffix(path) }
            .compactMap { $0.request[header: "Operation"] }
    }

    private func expectBalances(_ world: VirtualWorld) throws {
        for account in try world.accounts() { #expect(account.balances, "\(account.provider)") }
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `moves operations that only a removed provider holds to an existing provider (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.retarget, provider("a", .live, courtesy: 100_000)))
        let only = try world.capture(.event("only a"))
        try world.restart(plan(.retarget, provider("a", .live, courtesy: 100_000), provider("b", .live)))
        let both = try world.capture(.event("both"))
        try world.advance(by: .seconds(1))
        #expect(sentIDs(world, "b") == [both.id.rawValue])
        try world.restart(plan(.retarget, provider("a", nil, courtesy: 100_000), provider("b", .live)))
        try world.advance(by: .seconds(1))
        #expect(sentIDs(world, "b") == [both.id, only.id].map(\.rawValue))
        #expect(try world.account("a").total("moved") == 2)
        try expectBalances(world)
    }

    @Test func `sends an operation once to an added provider that still holds it (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain, provider("a", .live, courtesy: 100_000), provider("b", .live, courtesy: 100_000)))
        let operation = try world.capture(.event("both"))
        try world.restart(plan(.drain, provider("a", .live, courtesy: 100_000)))
        try world.restart(plan(.retarget, provider("b", .live)))
        try world.advance(by: .seconds(1))
        #expect(sentIDs(world, "b") == [operation.id.rawValue])
        try expectBalances(world)
    }

    @Test func `keeps all operations when no provider can take them (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.retarget, provider("a", .live, courtesy: 100_000)))
        try world.capture(.event("a"))
        try world.restart(plan(.retarget))
        #expect(try world.account("a").pending == 1)
        try world.restart(plan(.retarget, provider("b", .live)))
        #expect(try world.drain())
        #expect(sentIDs(world, "b").count == 1)
        try expectBalances(world)
    }

    @Test func `two providers added together each receive every operation once (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.retarget, provider("a", .live, courtesy: 100_000)))
        let operation = try world.capture(.event("a"))
        try world.restart(plan(.retarget, provider("b", .live), provider("c", .live), provider("a", nil)))
        #expect(try world.drain())
        for name in ["b", "c"] { #expect(sentIDs(world, name) == [operation.id.rawValue]) }
        #expect(sentIDs(world, "a", "/unregister").count == 1)
        try expectBalances(world)
    }

    @Test func `sends unregister once when a removed provider is configured again (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain, provider("a", .live)))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try world.restart(plan(.drain, provider("b", .live)))
        #expect(sentIDs(world, "a", "/unregister").isEmpty)
        for _ in 0..<3 {
            try world.restart(plan(.drain, provider("b", .live), provider("a", nil)))
            #expect(try world.drain())
            #expect(sentIDs(world, "a", "/unregister").count == 1)
        }
        try expectBalances(world)
    }

    @Test func `sends no unregister to a provider that is added again before it was sent (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain, provider("a", .live)))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try world.restart(plan(.drain, provider("b", .live), provider("a", nil, courtesy: 100_000)))
        try world.restart(plan(.drain, provider("a", .live), provider("b", nil)))
        #expect(try world.drain())
        #expect(sentIDs(world, "a", "/unregister").isEmpty)
        #expect(sentIDs(world, "b", "/unregister").count == 1)
        #expect(sentIDs(world, "a", "/changeAttributes").count == 2)
        try expectBalances(world)
    }

    @Test func `a pause sends no unregister and no snapshot (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.retarget, provider("a", .live)))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try world.restart(plan(.retarget, provider("a", .paused)))
        let event = try world.capture(.event("while paused"))
        try world.advance(by: .seconds(60))
        #expect(world.sent.count == 1)
        try world.restart(plan(.retarget, provider("a", .live)))
        #expect(try world.drain())
        #expect(world.sentOperations.dropFirst() == [event.id.rawValue])
        #expect(try world.account("a").total("created") == 0)
    }

    @Test func `checks consent before an added provider receives anything (E13)`() throws {
        for state: Consent.State? in [nil, .denied, .granted] {
            let world = try VirtualWorld()
            let required: Set<Consent.Scope> = [.profile]
            try world.start(.probe("old", requiredConsent: required))
            try world.capture(.set("tier", "gold"))
            if let state { try world.capture(.setConsent(Consent(purpose: .profile, state: state))) }
            try world.restart(.probe("new", requiredConsent: required))
            try world.advance(by: .seconds(60))
            #expect(sentIDs(world, "new", "/changeAttributes").count == (state == .granted ? 1 : 0))
            try expectBalances(world)
        }
    }

    @Test func `completes a switch once after a crash (E13)`() throws {
        for deaths in 1...6 {
            let world = try VirtualWorld()
            try world.start(.probe("old") { $0.isJournaled = true })
            try world.capture(.set("tier", "gold"))
            try world.capture(.event("behind it"))
            world.kill()
            var left = deaths
            struct Death: Error {}
            world.onStorage { _ in
                left -= 1
                if left == 0 { throw Death() }
            }
            let next = RoutingPlan.probe("new", onSwitch: .retarget, others: [provider("old", nil)])
            _ = try? world.start(next)
            world.onStorage(nil)
            try world.restart(next)
            #expect(try world.drain())
            #expect(sentIDs(world, "new").count + sentIDs(world, "old").count == 1)
            #expect(sentIDs(world, "new", "/changeAttributes").count == 1)
            #expect(sentIDs(world, "old", "/unregister").count == 1)
            try expectBalances(world)
        }
    }
}

@Suite("Erasure of rejects and of unconfigured providers") struct EngineObligationErasure {
    @Test func `an erasure deletes rejects and the operations of an unconfigured provider (E14)`()
        throws
    {
        let world = try VirtualWorld()
        world.network = { sent in sent.provider == "p" ? .status(422) : .status(200) }
        let gone = RoutingPlan.probe("gone") { $0.courtesy = 100_000 }.providers[0]
        try world.start(.probe(others: [gone]))
        try world.capture(.set("tier", "gold"))
        try world.advance(by: .seconds(1))
        #expect(try world.store.rejects.list(provider: nil, limit: 10).count == 1)
        world.network = { _ in .status(200) }
        try world.restart(.probe())
        #expect(try world.account("gone").pending == 1)
        try world.capture(.erase)
        #expect(try world.drain())
        #expect(try world.store.rejects.list(provider: nil, limit: 10).isEmpty)
        #expect(try world.account("gone").pending == 0)
        #expect(try world.account("gone").total("erased") == 1)
        #expect(try world.account("gone").balances)
    }
}
