import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Windows kept between plans (E7)") struct KeptWindowTests {
    private func readingCost(_ world: VirtualWorld) throws -> Int {
        try world.store.connection.statement(RowReader.range).takeSteps()
    }

    @Test func `reads each row once for any number of plans`() throws {
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

    @Test func `refills the window of a queue with many rows at a time`() throws {
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

    @Test func `a denial drops the operations in a window and keeps those it does not concern`() throws {
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

    @Test func `shows a retried operation with its attempts and its step`() throws {
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

    @Test func `the engine reports damaged rows after a refused change`() throws {
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

    @Test func `completes a row that is damaged in a kept window once, as accepted or as quarantined`() throws {
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
            let ends = world.reportedEvents.filter {
                if case .ended(damaged.id, _, _) = $0.event { true } else { false }
            }
            #expect(ends.count == 1)
            // An engine that read the row before sends it; one that reads it afterwards cannot.
            #expect(world.outcome(of: damaged.id, on: "p")?.term == (isRestarted ? .quarantined : .accepted))
            #expect(
                world.outcome(of: damaged.id, on: "p")?.finding?.code == (isRestarted ? "engine.outbox.damaged" : nil)
            )
            #expect(world.outcome(of: sound.id, on: "p")?.term == .accepted)
            #expect(try world.account("p").balances)
        }
    }

    @Test func `quarantines an unreadable state, reports it once and starts an empty one`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        try world.capture(.set("tier", "gold"))
        try world.store.state.setSnapshot(subject: "installation-1", body: Array("[\"of another release\"]".utf8))
        world.store.noteForeignCommit()
        try world.capture(.set("branch", "Helsinki"))
        try world.capture(.set("tier", "silver"))
        #expect(try world.drain())
        #expect(world.sent.count == 3)
        let reports = world.reportedEvents.filter { if case .setAside = $0.event { true } else { false } }
        #expect(reports.count == 1)
        #expect(try world.snapshot()?.attributes == ["branch": "Helsinki", "tier": "silver"])
        #expect(try world.store.quarantine.list(limit: 10).map(\.table) == ["snapshot"])
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `completes a switch despite an unreadable state`() throws {
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
