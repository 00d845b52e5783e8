import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Staged captures and their routing") struct EngineObligationStagedCaptures {
    private struct Death: Error {}

    /// Captures, and ends the process after the captures are staged and before they are routed.
    private func dieBeforeRouting(_ world: VirtualWorld, _ capture: () throws -> Void) throws {
        world.onStorage { if $0 == .begin(.normal) { throw Death() } }
        #expect(throws: Death.self) { try capture() }
        world.onStorage(nil)
        #expect(try world.stagedCaptures().isEmpty == false)
    }

    private func sentIDs(_ world: VirtualWorld, _ provider: String) -> [String] {
        world.sent.filter { $0.provider == provider && $0.request.url.hasSuffix("/track") }
            .compactMap { $0.request[header: "Operation"] }
    }

    private func plan(_ policy: RoutingPlan.SwitchPolicy, _ names: [(String, RoutingPlan.Mode?)]) -> RoutingPlan {
        RoutingPlan(providers: names.map { RoutingPlan.probe($0.0, mode: $0.1).providers[0] }, onSwitch: policy)
    }

    @Test func `routes staged captures to their original providers at the next start (E1)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain, [("old", .live)]))
        var captured: [EngagementOperation] = []
        try dieBeforeRouting(world) {
            captured = world.events(["a", "b"])
            try world.capture(captured)
        }
        // The switch happens before they are routed. They belong to the old provider.
        try world.restart(plan(.drain, [("old", nil), ("new", .live)]))
        #expect(try world.drain())
        #expect(sentIDs(world, "old") == captured.map(\.id.rawValue))
        #expect(sentIDs(world, "new").isEmpty)
        #expect(try world.account("old").total("captured") == 2)
        #expect(try world.stagedCaptures().isEmpty)
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `routes staged captures of a removed provider to the current provider (E1)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain, [("old", .live)]))
        var captured: [EngagementOperation] = []
        try dieBeforeRouting(world) {
            captured = world.events(["a"])
            try world.capture(captured)
        }
        try world.restart(plan(.drain, [("new", .live)]))
        #expect(try world.drain())
        #expect(sentIDs(world, "new") == captured.map(\.id.rawValue))
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `a switch includes captures staged after those of a removed provider (E1, E13)`() throws {
        let world = try VirtualWorld()
        try world.start(plan(.drain, [("gone", .live)]))
        var captured: [EngagementOperation] = []
        try dieBeforeRouting(world) {
            captured += world.events(["a"])
            try world.capture(captured)
        }
        // Another provider takes over, and its process dies before it routes anything, too.
        var hasSwitched = false
        world.onStorage { point in
            if point == .afterCommit(.full) { hasSwitched = true }
            if hasSwitched, point == .begin(.normal) { throw Death() }
        }
        #expect(throws: (any Error).self) { try world.restart(plan(.drain, [("old", .live)])) }
        captured += world.events(["b"])
        // It waits until the storage may have recovered.
        try world.capture([captured[1]])
        world.onStorage(nil)
        #expect(try world.stagedCaptures() == Set(captured.map(\.id.rawValue)))
        #expect(try world.store.state.providers().contains { $0.name == "old" && $0.state == "live" })
        try world.restart(plan(.retarget, [("old", nil), ("new", .live)]))
        #expect(try world.drain())
        #expect(sentIDs(world, "new") == captured.map(\.id.rawValue))
        #expect(sentIDs(world, "old").isEmpty)
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `routes staged captures of a removed share to the current provider (E1, E13)`() throws {
        let world = try VirtualWorld()
        func half(_ name: String, _ places: Range<Int>) -> RoutingPlan.Provider {
            var provider = RoutingPlan.probe(name, mode: .percentage).providers[0]
            provider.share = Share(places)
            return provider
        }
        let middle = Share.count / 2
        let lower = try #require((0..<100).map { "c-\($0)" }.first { Share.place(of: $0) < middle })
        try world.start(RoutingPlan(providers: [half("gone", 0..<middle), half("old", middle..<Share.count)]))
        var captured: [EngagementOperation] = []
        try dieBeforeRouting(world) {
            var operation = world.events(["a"])[0]
            operation.contact = lower
            captured = [operation]
            try world.capture(captured)
        }
        try world.restart(plan(.drain, [("old", .live)]))
        #expect(try world.drain())
        #expect(sentIDs(world, "old") == captured.map(\.id.rawValue))
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `staged captures block no switch to a sandbox in shadow mode (E1, E19)`() throws {
        let world = try VirtualWorld()
        func plan(sends: Bool) -> RoutingPlan {
            .routes(.drain, .route("live", .live), .route("next", .shadow, sends: sends))
        }
        try world.start(plan(sends: false))
        // The outbox knows the shadow's provider, so that the start of sending is a change.
        try world.restart(.routes(.drain, .route("live", .live), .route("next", .live)))
        #expect(try world.drain())
        try world.restart(plan(sends: false))
        #expect(try world.drain())
        var captured: [EngagementOperation] = []
        try dieBeforeRouting(world) {
            captured = world.events(["a"])
            try world.capture(captured)
        }
        try world.restart(plan(sends: true))
        #expect(try world.drain())
        #expect(sentIDs(world, "live").contains(captured[0].id.rawValue))
        #expect(world.outcome(of: captured[0].id, on: "next") == nil)
        let later = world.events(["b"])
        try world.capture(later)
        #expect(try world.drain())
        #expect(world.outcome(of: later[0].id, on: "next")?.term == .shadowed)
    }

    @Test func `retries failed routing and keeps the order of capture (E1)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        var tries = 0
        world.onStorage { point in
            guard point == .begin(.normal) else { return }
            tries += 1
            throw OutboxError(.full, "The volume has no room left.")
        }
        let first = world.events(["a", "b"])
        #expect(throws: OutboxError.self) { try world.capture(first) }
        #expect(tries == 1)
        let second = world.events(["c"])
        // A capture in the meantime is stored and waits behind the first.
        try world.capture(second)
        #expect(try world.stagedCaptures() == Set((first + second).map(\.id.rawValue)))
        #expect(world.sent.isEmpty)
        world.onStorage(nil)
        #expect(try world.drain())
        #expect(sentIDs(world, "p") == (first + second).map(\.id.rawValue))
    }

    @Test func `a consent change routes all earlier staged captures first (E1)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        var isFull = true
        world.onStorage { if isFull, $0 == .begin(.normal) { throw OutboxError(.full, "No room.") } }
        let before = world.events(["a"])
        #expect(throws: OutboxError.self) { try world.capture(before) }
        // The denial is stored; its request waits until it can be noted.
        #expect(throws: OutboxError.self) {
            try world.capture(.setConsent(Consent(purpose: .tracking, state: .denied)), subject: "s")
        }
        #expect(try world.stagedCaptures().isEmpty)
        isFull = false
        #expect(try world.drain())
        #expect(world.outcome(of: before[0].id, on: "p")?.term == .dropped)
        #expect(sentIDs(world, "p").isEmpty)
    }

    @Test func `quarantines a damaged row of staged captures and routes the others`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        world.onStorage { if $0 == .begin(.normal) { throw OutboxError(.full, "No room.") } }
        let bad = world.events(["bad"])
        let good = world.events(["good"])
        #expect(throws: OutboxError.self) { try world.capture(bad) }
        try world.capture(good)
        try world.store.connection.run("UPDATE stagedCapture SET captures = x'00' WHERE number = 1")
        world.onStorage(nil)
        try world.restart()
        #expect(try world.drain())
        #expect(sentIDs(world, "p") == good.map(\.id.rawValue))
        #expect(try world.store.quarantine.count() == 1)
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `quarantines a row of staged captures with a damaged delta and routes the others`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        world.onStorage { if $0 == .begin(.normal) { throw OutboxError(.full, "No room.") } }
        let bad = world.events(["bad", "worse"])
        let good = world.events(["good"])
        #expect(throws: OutboxError.self) { try world.capture(bad) }
        try world.capture(good)
        // A part is missing in a row with a correct checksum.
        try world.store.connection.run(
            """
            UPDATE stagedCapture SET captures = c, checksum = row_checksum('stagedCapture', number, routes, c)
            FROM (SELECT substr(captures, 1, length(captures) - 3) AS c FROM stagedCapture WHERE number = 1) WHERE number = 1
            """
        )
        world.onStorage(nil)
        try world.restart()
        #expect(try world.drain())
        #expect(sentIDs(world, "p") == good.map(\.id.rawValue))
        #expect(try world.store.quarantine.count() == 1)
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `routes a capture that was staged twice only once`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        var captured: [EngagementOperation] = []
        try dieBeforeRouting(world) {
            captured = world.events(["a"])
            try world.capture(captured)
        }
        try world.store.connection.run(
            """
            INSERT INTO stagedCapture SELECT 2, routes, captures, row_checksum('stagedCapture', 2, routes, captures) FROM stagedCapture
            """
        )
        try world.restart()
        let later = world.events(["b"])
        try world.capture(later)
        #expect(try world.drain())
        #expect(sentIDs(world, "p") == (captured + later).map(\.id.rawValue))
        #expect(try world.account("p").total("captured") == 2)
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `applies noted outcomes after a crash (E1)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        let captured = world.events(["a", "b", "c"])
        try world.capture(captured)
        // Each request carries one operation. Two have outcomes when the process dies before it applies them.
        while world.sent.count < 3 { try world.advance(by: .milliseconds(10)) }
        #expect(try world.store.connection.number("SELECT count(*) FROM notedOutcome") == 2)
        #expect(try world.store.connection.number("SELECT count(*) FROM route") == 3)
        world.kill()
        try world.restart()
        #expect(try world.drain())
        #expect(sentIDs(world, "p").prefix(3) == captured.map(\.id.rawValue)[...])
        // The third was in flight, and is sent again; the others are not.
        #expect(sentIDs(world, "p").count == 4)
        #expect(try world.account("p").total("accepted") == 3)
        #expect(try world.store.history.entries(provider: "p", limit: 10).count == 3)
        #expect(try world.store.maintenance.verify().isSound)
    }
}
