import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Windows are kept between plans (E7)") struct KeptWindowTests {
    private func readingCost(_ world: VirtualWorld) throws -> Int {
        try world.store.connection.statement(RowReader.range).takeSteps()
    }

    @Test func `each row is read once, however many plans show it`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        try world.capture(.event("alone"))
        #expect(try world.drain())
        let one = try readingCost(world)
        #expect(one > 0)
        try world.capture(
            (0..<150).map {
                EngagementOperation(
                    id: OperationID(rawValue: "o-\($0)"),
                    subject: "s",
                    capturedAt: world.host.date(),
                    action: .event("e")
                )
            }
        )
        #expect(try world.drain())
        #expect(world.sent.count == 151)
        #expect(try readingCost(world) <= 151 * one)
    }

    @Test func `rows are read many at once: a window of one queue is filled when a quarter of it is gone`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        try world.capture(.event("alone"))
        #expect(try world.drain())
        let one = try readingCost(world)
        try world.store.queues.forEachRow([9_999], provider: "p") { _ in }
        let none = try readingCost(world)
        let count = 600
        for number in 0..<count { try world.capture(.event("e-\(number)")) }
        #expect(try world.drain())
        #expect(world.sent.count == count + 1)
        // A statement for each row would cost what the first one did.
        #expect(try readingCost(world) <= count * one - (count - 20) * none)
    }

    @Test func `a word against it ends what a window holds, and what it let through goes on`() throws {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: [.tracking]) { $0.courtesy = 60_000 })
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .granted)))
        let event = try world.capture(.event("shown"))
        let profile = try world.capture(.set("tier", "gold"))
        try world.advance(by: .seconds(1))
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .denied)))
        #expect(try world.drain())
        #expect(!world.sentOperations.contains(event.id.rawValue))
        #expect(world.sentOperations.contains(profile.id.rawValue))
        #expect(try world.account("p").balances)
    }

    @Test func `an operation that is tried again is shown with its tries and its step`() throws {
        let world = try VirtualWorld()
        var answers = 0
        world.network = { _ in
            answers += 1
            return answers < 4 ? .status(503) : .status(200)
        }
        try world.start(.probe())
        try world.capture(.switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "a")])))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        let urls = world.sent.map(\.request.url)
        #expect(urls.filter { $0.hasSuffix("/switchContact") }.count == 4)
        #expect(urls.suffix(2) == ["http://probe.test/switchContact/second", "http://probe.test/changeAttributes"])
    }

    @Test func `after a refused change the engine that goes on tells of damaged rows`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("a", .live, courtesy: 60_000)))
        let lost = try world.capture(.set("city", .string("Turku")))
        #expect(throws: SwitchRefusal.self) {
            try world.reconfigure(.routes(.retarget, .route("a", nil), .picky("b")))
        }
        try world.store.connection.run("UPDATE operation SET body = x'00' WHERE id = ?1", .text(lost.id.rawValue))
        try world.advance(by: .seconds(61))
        #expect(world.outcome(of: lost.id, on: "a")?.term == .quarantined)
    }

    @Test func `a row that was damaged while its window was kept ends once: as the vendor said, or as quarantined`()
        throws
    {
        for isRestarted in [false, true] {
            let world = try VirtualWorld()
            try world.start(.probe { $0.courtesy = 60_000 })
            let damaged = try world.capture(.event("damaged"))
            let sound = try world.capture(.event("sound"))
            try world.advance(by: .seconds(1))
            try world.store.connection.run(
                "UPDATE operation SET body = x'00' WHERE id = ?1",
                .text(damaged.id.rawValue)
            )
            if isRestarted { try world.restart() }
            #expect(try world.drain())
            let ends = world.told.filter { if case .ended(damaged.id, _, _) = $0.event { true } else { false } }
            #expect(ends.count == 1)
            // Who had read it before sends it; who reads it only now can't.
            #expect(world.outcome(of: damaged.id, on: "p")?.term == (isRestarted ? .quarantined : .accepted))
            #expect(
                world.outcome(of: damaged.id, on: "p")?.finding?.code == (isRestarted ? "engine.outbox.damaged" : nil)
            )
            #expect(world.outcome(of: sound.id, on: "p")?.term == .accepted)
            #expect(try world.account("p").balances)
        }
    }

    @Test func `a stored state that can't be read is set aside, told of once, and begins anew`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        try world.capture(.set("tier", "gold"))
        try world.store.state.setSnapshot(subject: "installation-1", body: Array("[\"of another release\"]".utf8))
        world.store.noteForeignCommit()
        try world.capture(.set("branch", "Helsinki"))
        try world.capture(.set("tier", "silver"))
        #expect(try world.drain())
        #expect(world.sent.count == 3)
        let told = world.told.filter { if case .setAside = $0.event { true } else { false } }
        #expect(told.count == 1)
        #expect(try world.snapshot()?.attributes == ["branch": "Helsinki", "tier": "silver"])
        #expect(try world.store.quarantine.list(limit: 10).map(\.table) == ["snapshot"])
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `a switch goes on past a state that can't be read`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old"))
        try world.capture(.set("tier", "gold"))
        try world.capture(.set("tier", "silver"), subject: "installation-2")
        #expect(try world.drain())
        try world.store.state.setSnapshot(subject: "installation-1", body: [0x5B])
        try world.restart(.probe("new"))
        #expect(try world.drain())
        #expect(world.sent.filter { $0.provider == "new" }.count == 1)
        #expect(try world.snapshot() == nil)
    }
}
