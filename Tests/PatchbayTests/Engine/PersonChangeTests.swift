import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// Operations that wait while the person changes, and how a switch and a replay route them.
@Suite("Changes of person") struct PersonChangeTests {
    private func plan(_ providers: RoutingPlan.Provider...) -> RoutingPlan {
        RoutingPlan(providers: providers, onSwitch: .retarget)
    }

    private func provider(_ name: String, _ mode: RoutingPlan.Mode?) -> RoutingPlan.Provider {
        RoutingPlan.probe(name, mode: mode).providers[0]
    }

    private func logIn(_ person: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, person)]))
    }

    /// Returns the operations that a provider received, in order.
    private func received(_ world: VirtualWorld, _ provider: String) throws -> [EngagementOperation] {
        try world.sent.filter { $0.provider == provider }.map { try EngagementOperation(jsonBytes: $0.request.body) }
    }

    @Test(arguments: SwitchWay.allCases)
    func `sends the log-in before the person's events to the next provider`(_ way: SwitchWay)
        throws
    {
        let world = try VirtualWorld()
        try world.start(plan(provider("a", .live), provider("b", nil)))
        try world.capture(.event("anonymous"))
        try world.capture(logIn("anna"), contact: "anna")
        #expect(try world.drain())
        world.network = { $0.provider == "a" ? .status(503) : .status(200) }
        let event = try world.capture(.event("of anna"), contact: "anna")
        try world.advance(by: .seconds(1))
        try way.apply(world, plan(provider("b", .live), provider("a", nil)))
        try world.advance(by: .seconds(60))
        let operations = try received(world, "b")
        let index = try #require(operations.firstIndex { $0.id == event.id })
        #expect(operations[..<index].contains { $0.action == logIn("anna") && $0.contact == "anna" })
        for account in try world.accounts() { #expect(account.balances, "\(account.provider)") }
    }

    @Test func `applies a person's denial again when the person returns`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        try world.capture(logIn("anna"), contact: "anna")
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .denied)), contact: "anna")
        try world.capture(logIn("bo"), contact: "bo")
        let allowed = try world.capture(.event("of bo"), contact: "bo")
        try world.capture(logIn("anna"), contact: "anna")
        let denied = try world.capture(.event("of anna"), contact: "anna")
        #expect(try world.drain())
        #expect(world.outcome(of: allowed.id, on: "p")?.term == .accepted)
        #expect(world.outcome(of: denied.id, on: "p")?.finding?.code == "engine.consent.denied")
    }

    @Test func `resends an unsubscription when the person returns`() throws {
        let world = try VirtualWorld()
        try world.start(plan(provider("a", .live), provider("b", nil)))
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        for person in ["anna", "bo"] {
            try world.capture(logIn(person), contact: person)
            try world.capture(optOut, contact: person)
        }
        #expect(try world.drain())
        // The next provider has not received the unsubscription that anna sent to the first.
        try world.restart(plan(provider("b", .live), provider("a", nil)))
        try world.capture(logIn("anna"), contact: "anna")
        #expect(try world.drain())
        let last = try received(world, "b").suffix(2)
        #expect(last.map(\.action) == [logIn("anna"), optOut] && last.allSatisfy { $0.contact == "anna" })
        for account in try world.accounts() { #expect(account.balances, "\(account.provider)") }
    }

    @Test func `an anonymous event stays with the provider that has received the next log-in`() throws {
        let world = try VirtualWorld()
        world.network = { $0.request.url.hasSuffix("/track") ? .status(503) : .status(200) }
        try world.start(plan(provider("a", .live), provider("b", nil)))
        let event = try world.capture(.event("anonymous"))
        for person in ["anna", "bo"] { try world.capture(logIn(person), contact: person) }
        try world.advance(by: .seconds(1))
        world.network = { _ in .status(200) }
        try world.restart(plan(provider("b", .live), provider("a", nil)))
        #expect(try world.drain())
        #expect(try !received(world, "b").contains { $0.id == event.id })
        #expect(world.outcome(of: event.id, on: "a")?.term == .accepted)
    }

    @Test func `a replayed operation keeps its position in the order of capture`() throws {
        let world = try VirtualWorld()
        world.network = { $0.number == 1 ? .status(422) : .status(200) }
        try world.start(.probe())
        let first = try world.capture(.event("first"))
        #expect(try world.drain())
        let sequence = try #require(world.store.rejects.list(provider: "p", limit: 1).first).operation.sequence
        try world.capture(.event("second"))
        #expect(try replay(first, in: world) == [.pending])
        let row = try #require(try world.store.queues.row(sequence, provider: "p"))
        #expect(row.operation.id == first.id.rawValue)
    }

    @Test func `an anonymous person's reject is not replayed for the next anonymous person`() throws {
        let world = try VirtualWorld()
        world.network = { $0.number == 1 ? .status(422) : .status(200) }
        try world.start(.probe())
        let event = try world.capture(.event("anonymous"))
        #expect(try world.drain())
        try world.capture(logIn("anna"), contact: "anna")
        try world.capture(.switchContact(ContactSwitch(.logOut)))
        guard case .refused(let finding) = try replay(event, in: world).first else {
            Issue.record("The replay was not refused.")
            return
        }
        #expect(finding.code == "engine.switch.person")
        #expect(try world.store.rejects.list(provider: "p", limit: 10).count == 1)
    }

    private func replay(_ operation: EngagementOperation, in world: VirtualWorld) throws -> [ReplayResult] {
        try Engine(store: world.store, plan: .probe(), host: world.host) { _, _ in nil }
            .replay([Engine.Replay(operation, on: "p")])
    }
}
