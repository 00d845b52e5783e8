import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Pushes that come late") struct LatePushTests {
    private let before = RoutingPlan(providers: [.push("old", .live), .push("new", nil)])
    private let after = RoutingPlan(providers: [.push("old", nil), .push("new", .live)])

    /// A world in which the vendor has been switched, and everything about that is over.
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

    private func heard(_ world: VirtualWorld, _ provider: String) -> [String] {
        world.sent.filter { $0.provider == provider && $0.request.url.hasSuffix("/track") }
            .compactMap { $0.request[header: "Operation"] }
    }

    private func passedOver(_ world: VirtualWorld, _ id: OperationID) -> [String: String] {
        var codes: [String: String] = [:]
        for told in world.told {
            if case .passedOver(id, let provider, let finding) = told.event { codes[provider] = finding.code }
        }
        return codes
    }

    private func balances(_ world: VirtualWorld) throws {
        for account in try world.accounts() { #expect(account.balances && account.pending == 0, "\(account.provider)") }
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `a push of the old vendor is tracked there though its route is gone, and nowhere else`() throws {
        let world = try switched()
        let push = try world.capture(.push("old"))
        #expect(try world.drain())
        #expect(heard(world, "old") == [push.id.rawValue])
        #expect(heard(world, "new").isEmpty)
        #expect(world.outcome(of: push.id, on: "old")?.term == .accepted)
        #expect(passedOver(world, push.id) == ["new": "push.foreign"])
        try balances(world)
    }

    @Test func `a push of a vendor that was once shadowed in a sandbox is tracked for real, whoever starts again`()
        throws
    {
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
        try balances(world)
    }

    @Test func `a push of the new vendor is tracked at the new one alone`() throws {
        let world = try switched()
        let push = try world.capture(.push("new"))
        #expect(try world.drain())
        #expect(heard(world, "new") == [push.id.rawValue])
        #expect(heard(world, "old").isEmpty)
        try balances(world)
    }

    @Test func `an unknown's push is tracked nowhere, and every vendor says so`() throws {
        let world = try switched()
        let push = try world.capture(.push("unknown"))
        #expect(try world.drain())
        #expect(heard(world, "new").isEmpty && heard(world, "old").isEmpty)
        #expect(passedOver(world, push.id) == ["old": "push.foreign", "new": "push.foreign"])
        try balances(world)
    }

    @Test func `without a route nothing but a recognised push gets in`() throws {
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
        // The vendor knows it, but has no API for it: told, not booked.
        #expect(passedOver(world, refused.id) == ["old": "probe.refused", "new": "push.foreign"])
        try balances(world)
    }

    @Test(arguments: [RoutingPlan.SwitchPolicy.drain, .retarget])
    func `a push of the old vendor that waits at the switch stays with it`(policy: RoutingPlan.SwitchPolicy) throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(503) }
        try world.start(before)
        let push = try world.capture(.push("old"))
        try world.advance(by: .seconds(1))
        world.network = { _ in .status(200) }
        try world.restart(RoutingPlan(providers: after.providers, onSwitch: policy))
        #expect(try world.drain())
        #expect(heard(world, "old").last == push.id.rawValue)
        #expect(heard(world, "new").isEmpty)
        #expect(world.outcome(of: push.id, on: "old")?.term == .accepted)
        try balances(world)
    }

    @Test func `a push that waits for a vendor that is configured no more is kept, and tracked when it is again`()
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
        try balances(world)
    }

    @Test func `a vendor that was never routed knows its pushes too, and is welcomed like any other later`() throws {
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
        try balances(world)
    }

    @Test func `a late push needs the person's consent like any other`() throws {
        let world = try VirtualWorld()
        let plan = RoutingPlan(providers: after.providers, requiredConsent: [.tracking])
        try world.start(plan)
        let held = try world.capture(.push("old"))
        try world.advance(by: .seconds(60))
        #expect(heard(world, "old").isEmpty)
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .granted)))
        #expect(try world.drain())
        #expect(heard(world, "old") == [held.id.rawValue])
        try balances(world)
    }

    @Test func `death at any point of the storage loses no late push and tracks none elsewhere`() throws {
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
            // What was not acknowledged is said again by the app.
            let isKnown = try world.store.history.entries(provider: "old", limit: 99).contains { $0.id == "late" }
            if try !isKnown && world.account("old").pending == 0 { try world.capture([push]) }
            #expect(try world.drain())
            #expect((1...2).contains(heard(world, "old").count))
            #expect(heard(world, "new").isEmpty)
            #expect(try world.store.history.entries(provider: "old", limit: 99).count { $0.id == "late" } == 1)
            try balances(world)
        }
        #expect(points >= 5)
    }

    @Test func `the receipt of a push answers for every vendor that may know it`() async throws {
        let client = try await EngagementClient(
            outbox: .memory,
            subject: "installation-1",
            plan: after,
            transport: ScriptedTransport()
        )
        let late = try client.capture(.push("old"))
        #expect(try await late.outcome(on: "old").term == .accepted)
        #expect(try await late.outcome(on: "new").finding?.code == "push.foreign")
        let strange = try client.capture(.push("unknown"))
        for provider in ["old", "new"] {
            let outcome = try await strange.outcome(on: provider)
            #expect(outcome.term == .dropped && outcome.finding?.code == "push.foreign")
        }
        let event = try client.track("e")
        await #expect(throws: CaptureError.self) { try await event.outcome(on: "old") }
        await client.close()
    }
}
