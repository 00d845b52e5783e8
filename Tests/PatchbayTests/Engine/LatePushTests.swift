import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Late pushes") struct LatePushTests {
    private let before = RoutingPlan(providers: [.push("old", .live), .push("new", nil)])
    private let after = RoutingPlan(providers: [.push("old", nil), .push("new", .live)])

    /// Returns a world after a completed switch of the vendor.
    private func switched(_ change: (VirtualWorld) throws -> Void = { _ in }) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(before)
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try change(world)
        try world.restart(after)
        #expect(try world.drain())
        return world
    }

    private func sentIDs(_ world: VirtualWorld, _ provider: String) -> [String] {
        world.sent.filter { $0.provider == provider && $0.request.url.hasSuffix("/track") }
            .compactMap { $0.request[header: "Operation"] }
    }

    private func passedOver(_ world: VirtualWorld, _ id: OperationID) -> [String: String] {
        var codes: [String: String] = [:]
        for report in world.reportedEvents {
            if case .passedOver(id, let provider, let finding) = report.event { codes[provider] = finding.code }
        }
        return codes
    }

    private func expectBalances(_ world: VirtualWorld) throws {
        for account in try world.accounts() { #expect(account.balances && account.pending == 0, "\(account.provider)") }
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `tracks a push of a removed vendor at that vendor only`() throws {
        let world = try switched()
        let push = try world.capture(.push("old"))
        #expect(try world.drain())
        #expect(sentIDs(world, "old") == [push.id.rawValue])
        #expect(sentIDs(world, "new").isEmpty)
        #expect(world.outcome(of: push.id, on: "old")?.term == .accepted)
        #expect(passedOver(world, push.id) == ["new": "push.foreign"])
        try expectBalances(world)
    }

    @Test func `tracks a push of a formerly shadowed vendor as a real operation after a restart`() throws {
        let world = try VirtualWorld()
        let shadow = RoutingPlan.Provider(
            name: "next",
            adapter: RoutingPlan.Provider.push("next", .live).adapter,
            mode: .shadow,
            sendsShadow: true
        )
        try world.start(RoutingPlan(providers: [.push("old", .live), shadow]))
        let after = RoutingPlan(providers: [.push("old", .live), .push("next", nil)])
        try world.restart(after)
        world.network = { _ in .silence }
        let push = try world.capture(.push("next"))
        try world.restart(after)
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        #expect(try world.drain())
        #expect(world.outcome(of: push.id, on: "next")?.term == .accepted)
        try expectBalances(world)
    }

    @Test func `tracks a push of the new vendor at the new vendor only`() throws {
        let world = try switched()
        let push = try world.capture(.push("new"))
        #expect(try world.drain())
        #expect(sentIDs(world, "new") == [push.id.rawValue])
        #expect(sentIDs(world, "old").isEmpty)
        try expectBalances(world)
    }

    @Test func `tracks the push of an unknown vendor nowhere and reports it for every provider`() throws {
        let world = try switched()
        let push = try world.capture(.push("unknown"))
        #expect(try world.drain())
        #expect(sentIDs(world, "new").isEmpty && sentIDs(world, "old").isEmpty)
        #expect(passedOver(world, push.id) == ["old": "push.foreign", "new": "push.foreign"])
        try expectBalances(world)
    }

    @Test func `a provider without a route accepts only its own pushes`() throws {
        let world = try switched()
        let count = world.sent.count { $0.provider == "old" }
        let incoming = try world.account("old").incoming
        for action: Action in [
            .set("tier", "silver"), .event("e"), .identify([Identifier(.external, "c")]), .push("new"),
        ] {
            try world.capture(action)
        }
        let refused = try world.capture(.push("old", .dismissed))
        #expect(try world.drain())
        #expect(world.sent.count { $0.provider == "old" } == count)
        #expect(try world.account("old").incoming == incoming)
        // The vendor knows it, but has no API for it: reported and not counted.
        #expect(passedOver(world, refused.id) == ["old": "probe.refused", "new": "push.foreign"])
        try expectBalances(world)
    }

    @Test(arguments: [RoutingPlan.SwitchPolicy.drain, .retarget])
    func `a waiting push stays with its vendor at a switch`(policy: RoutingPlan.SwitchPolicy) throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(503) }
        try world.start(before)
        let push = try world.capture(.push("old"))
        try world.advance(by: .seconds(1))
        world.network = { _ in .status(200) }
        try world.restart(RoutingPlan(providers: after.providers, onSwitch: policy))
        #expect(try world.drain())
        #expect(sentIDs(world, "old").last == push.id.rawValue)
        #expect(sentIDs(world, "new").isEmpty)
        #expect(world.outcome(of: push.id, on: "old")?.term == .accepted)
        try expectBalances(world)
    }

    @Test func `keeps a push of an unconfigured vendor and tracks it when the vendor is configured again`()
        throws
    {
        let world = try VirtualWorld()
        world.network = { _ in .status(503) }
        try world.start(before)
        let push = try world.capture(.push("old"))
        try world.advance(by: .seconds(1))
        world.network = { _ in .status(200) }
        try world.restart(RoutingPlan(providers: [.push("new", .live)], onSwitch: .retarget))
        try world.advance(by: .seconds(60))
        #expect(try world.account("old").pending == 1)
        try world.restart(after)
        #expect(try world.drain())
        #expect(world.outcome(of: push.id, on: "old")?.term == .accepted)
        try expectBalances(world)
    }

    @Test func `tracks the pushes of a vendor without a route and later sends it the snapshot`() throws {
        let world = try VirtualWorld()
        try world.start(before)
        let push = try world.capture(.push("new"))
        #expect(try world.drain())
        #expect(world.outcome(of: push.id, on: "new")?.term == .accepted)
        #expect(try world.store.state.providers().map(\.name).sorted() == ["new", "old"])
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try world.restart(after)
        #expect(try world.drain())
        #expect(try world.account("new").lines["created"] == ["snapshot": 1])
        try expectBalances(world)
    }

    @Test func `a late push requires consent`() throws {
        let world = try VirtualWorld()
        let plan = RoutingPlan(providers: after.providers, requiredConsent: [.tracking])
        try world.start(plan)
        let held = try world.capture(.push("old"))
        try world.advance(by: .seconds(60))
        #expect(sentIDs(world, "old").isEmpty)
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .granted)))
        #expect(try world.drain())
        #expect(sentIDs(world, "old") == [held.id.rawValue])
        try expectBalances(world)
    }

    @Test func `a crash at any storage point neither loses nor misroutes a late push`() throws {
        struct Death: Error {}
        var points = 0
        for point in 1...40 {
            let world = try switched()
            var left = point
            world.onStorage { _ in
                left -= 1
                if left <= 0 { throw Death() }
            }
            let push = EngagementOperation(
                id: "late",
                subject: "installation-1",
                capturedAt: world.host.date(),
                action: .push("old")
            )
            let isOver = (try? world.capture([push])) != nil && (try? world.advance(by: .seconds(60))) != nil
            world.onStorage(nil)
            if isOver { break }
            points += 1
            try world.restart()
            // The app repeats an unacknowledged capture.
            let isKnown = try world.store.history.entries(provider: "old", limit: 99).contains { $0.id == "late" }
            if try !isKnown && world.account("old").pending == 0 { try world.capture([push]) }
            #expect(try world.drain())
            #expect((1...2).contains(sentIDs(world, "old").count))
            #expect(sentIDs(world, "new").isEmpty)
            #expect(try world.store.history.entries(provider: "old", limit: 99).count { $0.id == "late" } == 1)
            try expectBalances(world)
        }
        #expect(points >= 5)
    }

    @Test func `the receipt of a push reports an outcome for every vendor`() async throws {
        let client = try await EngagementClient(
            outbox: .memory,
            subject: "installation-1",
            plan: after,
            transport: ScriptedTransport()
        )
        let late = try client.capture(.push("old"))
        #expect(try await late.outcome(on: "old").term == .accepted)
        #expect(try await late.outcome(on: "new").finding?.code == "push.foreign")
        let unknown = try client.capture(.push("unknown"))
        for provider in ["old", "new"] {
            let outcome = try await unknown.outcome(on: provider)
            #expect(outcome.term == .dropped && outcome.finding?.code == "push.foreign")
        }
        let event = try client.track("e")
        await #expect(throws: CaptureError.self) { try await event.outcome(on: "old") }
        await client.close()
    }
}
