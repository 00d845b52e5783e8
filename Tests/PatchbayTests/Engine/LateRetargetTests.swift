import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("State of a vendor after a switch") struct LateRetargetTests {
    private func provider(_ name: String, _ mode: RoutingPlan.Mode?, courtesy: Int = 0) -> RoutingPlan.Provider {
        RoutingPlan.probe(name, mode: mode) { $0.courtesy = courtesy }.providers[0]
    }

    private func plan(
        _ policy: RoutingPlan.SwitchPolicy,
        _ providers: RoutingPlan.Provider...,
        onLoss: RoutingPlan.LossPolicy = .refuse
    ) -> RoutingPlan {
        RoutingPlan(providers: providers, onSwitch: policy, onLoss: onLoss)
    }

    private func logIn(_ name: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, name)]))
    }

    /// The state of a vendor that applies every request in the order of receipt.
    private func held(_ world: VirtualWorld, by provider: String) throws -> SubjectSnapshot {
        var snapshot = SubjectSnapshot()
        for sent in world.sent where sent.provider == provider {
            snapshot.apply(try EngagementOperation(jsonBytes: sent.request.body))
        }
        return snapshot
    }

    private func expectAgreement(_ world: VirtualWorld, _ provider: String, _ comment: Comment? = nil) throws {
        let (held, snapshot) = (try held(world, by: provider), try #require(try world.snapshot()))
        #expect(held.attributes == snapshot.attributes, comment)
        #expect(held.tags == snapshot.tags, comment)
        for account in try world.accounts() { #expect(account.balances, comment) }
        #expect(try world.store.maintenance.verify().isSound, comment)
    }

    private let relative: [Action] = [
        .set("visits", 1), .changeAttributes(["visits": .increment(ExactDecimal(2))]),
        .changeAttributes(["genres": .append(["poetry"])]), .set("tier", "silver"),
        .changeTags(TagChange(add: ["a", "b"])),
        .event("seen"),
    ]

    @Test func `rejects only the unsupported part of the state for an added provider`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain))
        try world.capture(.changeAttributes(["tier": .set("gold"), "homeless": .set("x"), "city": .set("Espoo")]))
        try world.capture(.changeTags(TagChange(add: ["a", "homeless", "b"])))
        try world.restart(plan(.drain, provider("b", .live)))
        #expect(try world.drain())
        let held = try held(world, by: "b")
        #expect(held.attributes == ["tier": "gold", "city": "Espoo"])
        #expect(held.tags == ["a", "b"])
        let account = try world.account("b")
        #expect(account.lines["rejected"] == ["probe.refused": 2])
        #expect(account.balances)
    }

    @Test func `sends no operation twice and no outdated value to an existing provider`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.retarget, provider("a", .live, courtesy: 100_000)))
        for action in relative { try world.capture(action) }
        try world.restart(plan(.retarget, provider("a", .live, courtesy: 100_000), provider("b", .live)))
        try world.capture(.set("tier", "gold"))
        try world.capture(.changeTags(TagChange(remove: ["a"])))
        try world.advance(by: .seconds(1))
        try world.restart(plan(.retarget, provider("a", nil, courtesy: 100_000), provider("b", .live)))
        try world.advance(by: .seconds(1))
        try expectAgreement(world, "b")
        #expect(try world.snapshot()?.attributes["visits"] == 3)
        let events = world.sent.filter { $0.provider == "b" && $0.request.url.hasSuffix("/track") }
        #expect(events.count == 1)
        #expect(try world.account("b").lines["created"]?["retargeted"] == 1)
        #expect(try world.account("a").total("moved") == 8)
    }

    @Test func `moves the operations of a removed provider later without an outdated value`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain, provider("a", .live, courtesy: 100_000)))
        for action in relative { try world.capture(action) }
        try world.restart(plan(.drain, provider("b", .live)))
        try world.capture(.changeAttributes(["tier": .unset, "visits": .increment(ExactDecimal(5))]))
        #expect(try world.account("a").pending == 6)
        try world.drain()
        try world.restart(plan(.retarget, provider("b", .live)))
        try world.drain()
        #expect(try world.account("a").pending == 0)
        try expectAgreement(world, "b")
        #expect(try world.snapshot()?.attributes["tier"] == nil)
    }

    @Test func `rejects and keeps the operations of a previous person at a switch`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.retarget, provider("a", .live, courtesy: 100_000)))
        try world.capture(logIn("one"), contact: "one")
        let first = try world.capture(.event("of one"), contact: "one")
        try world.capture(logIn("two"), contact: "two")
        let second = try world.capture(.event("of two"), contact: "two")
        try world.restart(plan(.retarget, provider("a", .live, courtesy: 100_000), provider("b", .live)))
        try world.advance(by: .seconds(1))
        let refusal = #expect(throws: SwitchRefusal.self) {
            try world.restart(plan(.retarget, provider("a", nil, courtesy: 100_000), provider("b", .live)))
        }
        #expect(refusal?.operations.first { $0.id == first.id }?.refusals["b"]?.code == "engine.switch.person")
        try world.restart(
            plan(.retarget, provider("a", nil, courtesy: 100_000), provider("b", .live), onLoss: .reject)
        )
        try world.advance(by: .seconds(1))
        let events = world.sent.filter { $0.provider == "b" && $0.request.url.hasSuffix("/track") }
        #expect(events.map { $0.request[header: "Operation"] } == [second.id.rawValue])
        #expect(world.outcome(of: first.id, on: "b")?.finding?.code == "engine.switch.person")
        #expect(try world.store.rejects.list(provider: "b", limit: 10).map(\.operation.id).contains(first.id.rawValue))
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test(arguments: [RoutingPlan.LossPolicy.refuse, .reject])
    func `an explicit retarget names the operations that the next provider cannot take`(policy: RoutingPlan.LossPolicy)
        throws
    {
        let world = try VirtualWorld()
        try world.start(plan(.drain, provider("a", .live, courtesy: 100_000)))
        try world.capture(logIn("one"), contact: "one")
        let state = try world.capture(.set("city", "Turku"), contact: "one")
        let event = try world.capture(.event("of one"), contact: "one")
        try world.capture(logIn("two"), contact: "two")
        let next = plan(.drain, provider("a", nil, courtesy: 100_000), provider("b", .live), onLoss: policy)
        try world.restart(next)
        try world.advance(by: .seconds(1))
        world.end()
        let engine = try Engine(store: world.store, plan: next, host: world.host) { _, _ in nil }
        #expect(try engine.start())
        let ids: Set<OperationID> = [state.id, event.id]
        if policy == .refuse {
            let pending = try world.account("a").pending
            let refusal = #expect(throws: SwitchRefusal.self) { try engine.retarget(from: "a") }
            let named = Set(refusal?.operations.map(\.id) ?? [])
            #expect(named.isSuperset(of: ids))
            #expect(refusal?.operations.allSatisfy { $0.refusals["b"]?.code == "engine.switch.person" } == true)
            #expect(refusal?.remedy.contains("onSwitch") == false && refusal?.remedy.contains("onLoss") == true)
            #expect(try world.account("a").total("moved") == 0)
            #expect(try world.account("a").pending == pending)
        } else {
            #expect(try engine.retarget(from: "a") >= 2)
            let kept = try world.store.rejects.list(provider: "b", limit: 10).map {
                OperationID(rawValue: $0.operation.id)
            }
            #expect(Set(kept).isSuperset(of: ids))
        }
        for account in try world.accounts() { #expect(account.balances) }
        try engine.stop()
    }

    @Test(
        arguments: 1...14
    ) func `an added provider receives the snapshot's state after a crash at any point`(deaths: Int) throws {
        struct Death: Error {}
        let world = try VirtualWorld()
        try world.start(plan(.retarget, provider("a", .live, courtesy: 100_000)))
        for action in relative { try world.capture(action) }
        world.kill()
        var left = deaths
        world.onStorage { _ in
            left -= 1
            if left == 0 { throw Death() }
        }
        let next = plan(.retarget, provider("a", nil, courtesy: 100_000), provider("b", .live))
        _ = try? world.start(next)
        _ = try? world.advance(by: .seconds(1))
        world.onStorage(nil)
        try world.restart(next)
        try world.drain()
        try expectAgreement(world, "b")
    }

    @Test(
        arguments: UInt64(1)...40
    ) func `the vendor's state equals the snapshot after random captures and switches`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = try VirtualWorld(seed: seed)
        var person: String?
        func captureRandomly(_ count: Int) throws {
            for _ in 0..<count {
                let action: Action =
                    switch random.below(8) {
                    case 0: .changeAttributes(["visits": .increment(ExactDecimal(random.below(5)))])
                    case 1: .changeAttributes(["genres": .append([.string("g\(random.below(9))")])])
                    case 2: .changeAttributes(["tier": .unset])
                    case 3: .changeTags(TagChange(remove: [Tag(rawValue: "t\(random.below(3))")]))
                    case 4: .changeTags(TagChange(add: [Tag(rawValue: "t\(random.below(3))")]))
                    case 5: .event("e")
                    case 6 where random.below(3) == 0:
                        .switchContact(
                            ContactSwitch(.logIn, identifiers: [Identifier(.external, "p\(random.below(2))")])
                        )
                    default: .set("tier", .string("v\(random.below(9))"))
                    }
                if case .switchContact(let change) = action { person = change.identifiers[0].value }
                try world.capture(action, contact: person)
            }
        }
        let delays = [0, 100_000]
        let first = random.pick(delays)
        try world.start(plan(.retarget, provider("a", .live, courtesy: first)))
        try captureRandomly(1 + random.below(12))
        if random.below(2) == 0 {
            try world.restart(plan(.retarget, provider("a", .live, courtesy: 100_000), provider("b", .live)))
            try captureRandomly(random.below(6))
            try world.advance(by: .seconds(random.below(3)))
        }
        if random.below(3) == 0 {
            try world.restart(plan(.drain, provider("b", .live)))
            try captureRandomly(random.below(6))
            try world.advance(by: .seconds(random.below(3)))
        }
        try world.restart(
            plan(.retarget, provider("a", nil, courtesy: 1), provider("b", .live), onLoss: .reject)
        )
        try captureRandomly(1 + random.below(4))
        try world.drain()
        try expectAgreement(world, "b", "seed \(seed)")
    }

    @Test(
        arguments: [false, true]
    ) func `sends no operation twice to a provider although the history is short`(isAskedFor: Bool) throws {
        let world = try VirtualWorld()
        world.store.history.limit = 4
        let dead = provider("a", .live, courtesy: 1_000_000)
        try world.start(plan(.drain, dead, provider("b", .live)))
        world.network = {
            String(decoding: $0.request.body, as: UTF8.self).contains("refuse") ? .status(422) : .status(200)
        }
        for number in 0..<40 { try world.capture(.event("\(number)")) }
        let refused = try world.capture(.event("refuse this"))
        for number in 40..<80 { try world.capture(.event("\(number)")) }
        try world.advance(by: .seconds(60))
        #expect(try world.account("b").total("accepted") == 80)
        #expect(try world.store.history.entries(provider: nil, limit: .max).count < 60)
        let next = plan(.retarget, provider("a", nil, courtesy: 1_000_000), provider("b", .live))
        // A provider that rejected an operation cannot take it over.
        let refusal: SwitchRefusal?
        if isAskedFor {
            world.end()
            let same = plan(.drain, dead, provider("b", .live))
            let engine = try Engine(store: world.store, plan: same, host: world.host) { _, _ in nil }
            #expect(try engine.start())
            refusal = #expect(throws: SwitchRefusal.self) { try engine.retarget(from: "a") }
            try engine.stop()
        } else {
            refusal = #expect(throws: SwitchRefusal.self) { try world.restart(next) }
        }
        #expect(refusal?.operations.map(\.id) == [refused.id])
        try world.restart(
            plan(.retarget, provider("a", nil, courtesy: 1_000_000), provider("b", .live), onLoss: .reject)
        )
        #expect(try world.drain())
        #expect(world.sent.filter { $0.provider == "b" }.count == 81)
        #expect(try world.account("a").total("moved") == 81)
        #expect(try world.account("a").pending == 0)
        for account in try world.accounts() { #expect(account.balances) }
        #expect(try world.store.maintenance.verify().isSound)
    }
}
