import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

extension VirtualWorld {
    /// Operations of one subject, to be captured together.
    func events(_ names: [String], subject: Subject = "s", contact: String? = nil) -> [EngagementOperation] {
        names.map { name in
            EngagementOperation(
                id: host.makeID(),
                subject: subject,
                contact: contact,
                capturedAt: host.date(),
                action: .event(name)
            )
        }
    }
}

@Suite("Transactions and their events") struct EngineObligationTransactions {
    struct Death: Error {}

    @Test(arguments: [true, false])
    func `a capture, its routing, a journaled send and a settlement need one transaction each (E1)`(
        isJournaled: Bool
    ) throws {
        let world = try VirtualWorld()
        try world.start(
            .pool {
                $0.isJournaled = isJournaled
                $0.batch = 3
            }
        )
        var begun: [StoragePoint] = []
        world.onStorage { if [.begin(.full), .begin(.normal)].contains($0) { begun.append($0) } }
        try world.capture(world.events(["a", "b", "c"]))
        #expect(world.sentBodies == ["a,b,c"])
        let captured: [StoragePoint] = [.begin(.full), .begin(.normal)]
        #expect(begun == captured + (isJournaled ? [.begin(.full)] : []))
        #expect(try world.drain())
        #expect(begun.last == .begin(.normal))
        #expect(begun.count == (isJournaled ? 4 : 3))
    }

    @Test func `stores a settlement completely or not at all (E1)`() throws {
        for point in [StoragePoint.beforeCommit(.normal), .afterCommit(.normal)] {
            let world = try VirtualWorld()
            world.network = { $0.number == 1 ? .says(["followUp": "a"]) : .status(200) }
            try world.start(.pool { $0.isJournaled = true })
            try world.capture(.event("a"))
            world.onStorage { if $0 == point { throw Death() } }
            #expect(throws: Death.self) { try world.advance(by: .seconds(1)) }
            world.onStorage(nil)
            let isStored = point == .afterCommit(.normal)
            #expect(try world.account("p").total("accepted") == (isStored ? 1 : 0))
            #expect(try world.account("p").total("created") == (isStored ? 1 : 0))
            #expect(try world.memory(of: "p").isEmpty == !isStored)
            #expect(try world.store.state.journal(provider: "p").isEmpty == isStored)
            #expect(try world.account("p").pending == 1)
        }
    }

    @Test func `examines and routes an operation once per provider (E2)`() throws {
        let world = try VirtualWorld()
        let log = AdapterLog()
        try world.start(.watched(log))
        let captured = world.events(["a", "b", "c"])
        try world.capture(captured)
        try world.advance(by: .milliseconds(50))
        try world.restart()
        #expect(try world.drain())
        #expect(log.entries.examined == captured.map(\.id))
        #expect(log.entries.placed == captured.map(\.id))
    }

    @Test(arguments: [StoragePoint.beforeCommit(.full), .beforeCommit(.normal)])
    func `reports no outcome before it is committed (E2)`(point: StoragePoint) throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        world.onStorage { if $0 == point { throw Death() } }
        _ = try? world.capture(.event("bad"))
        _ = try? world.capture(.event("good"))
        _ = try? world.advance(by: .seconds(1))
        let ended = world.reportedEvents.count { if case .ended = $0.event { true } else { false } }
        #expect(ended == 0)
        world.onStorage(nil)
        try world.restart()
        #expect(try world.drain())
        let account = try world.account("p")
        // A capture that reached the disk before the crash is routed afterwards.
        #expect(account.total("rejected") == (point == .beforeCommit(.full) ? 0 : 1))
        #expect(account.total("accepted") == (point == .beforeCommit(.full) ? 0 : 1))
    }

    @Test func `stores memory only when it has changed (E5)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        try world.capture(.event("a"))
        #expect(try world.drain())
        #expect(try world.memory(of: "p").isEmpty)
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        #expect(try world.memory(of: "p").count == 1)
    }
}

@Suite("Occasions and windows of plans") struct EngineObligationPlans {
    @Test func `a plan receives at least one operation and at most its window (E6, E20)`() throws {
        let world = try VirtualWorld()
        let log = AdapterLog()
        try world.start(.watched(log))
        try world.capture(world.events((0..<500).map(String.init)))
        try world.wake()
        try world.flush()
        try world.performMaintenance()
        #expect(try world.drain())
        try world.wake()
        #expect(log.entries.windows.allSatisfy { (1...16).contains($0) })
        #expect(log.entries.windows.count == 500)
        #expect(log.entries.windows.first == 16)
    }

    @Test func `keeps a wake that arrives while a request is in flight (E6)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(500) }
        try world.start(.probe())
        try world.capture(.event("a"))
        try world.wake()
        try world.advance(by: .milliseconds(150))
        #expect(world.sent.count == 2)
        try world.advance(by: .seconds(9))
        #expect(world.sent.count == 2)
        try world.advance(by: .seconds(2))
        #expect(world.sent.count == 3)
    }

    @Test func `open queues share the window fairly (E7)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.batch = 8 })
        let first = world.events((0..<300).map { "a\($0)" }, contact: "one")
        let second = world.events((0..<300).map { "b\($0)" }, contact: "two")
        try world.capture(first + second)
        #expect(world.sentBodies == ["a0,a1,a2,a3,b0,b1,b2,b3"])
        #expect(try world.drain())
        for (name, sent) in [("a", first), ("b", second)] {
            let received = world.sentBodies.flatMap { $0.split(separator: ",") }.filter { $0.hasPrefix(name) }
            #expect(received.map(String.init) == sent.map { PoolProbe.name($0) })
        }
    }

    @Test func `operations that wait for consent hide no later operation (E7)`() throws {
        let world = try VirtualWorld()
        var plan = RoutingPlan.probe { $0.separatesEvents = false }
        plan.requiredConsent = [.tracking]
        try world.start(plan)
        try world.capture(world.events((0..<200).map { "held \($0)" }, subject: "installation-1"))
        let change = try world.capture(.set("tier", "gold"))
        try world.advance(by: .seconds(1))
        #expect(world.sentOperations == [change.id.rawValue])
    }

    @Test func `a start opens a queue that waits for a wake (E9)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(400) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(86_400))
        #expect(world.sent.count == 1)
        try world.restart()
        #expect(world.sent.count == 2)
    }

    @Test func `keeps the order of a queue while operations of another queue are retried (E17)`() throws {
        let world = try VirtualWorld()
        world.network = { sent in
            let body = String(decoding: sent.request.body, as: UTF8.self)
            return body.hasPrefix("a") && sent.number % 3 != 0 ? .says(["otherwise": "retry 2000"]) : .status(200)
        }
        try world.start(.pool())
        for number in 0..<5 {
            for name in ["a", "b"] { try world.capture(.event("\(name)\(number)"), contact: name) }
        }
        #expect(try world.drain())
        for name in ["a", "b"] {
            var seen: Set<String> = []
            let firsts = world.sentBodies.filter { $0.hasPrefix(name) && seen.insert($0).inserted }
            #expect(firsts == (0..<5).map { "\(name)\($0)" })
        }
    }
}

@Suite("Queries that end at once") struct EngineObligationReads {
    private func sendQuery(_ world: VirtualWorld, _ id: OperationID = "q") throws {
        let query = EngagementOperation(
            id: id,
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("status"))
        )
        try world.read(query, from: "p")
    }

    @Test func `a query to a suspended or paused provider ends at once with a finding (E11)`() throws {
        let stopped = try VirtualWorld()
        stopped.network = { _ in .says(["suspension": true]) }
        try stopped.start(.pool())
        try stopped.capture(.event("a"))
        try stopped.advance(by: .seconds(1))
        try sendQuery(stopped)
        #expect(stopped.outcome(of: "q", on: "p")?.finding?.code == "probe.refused")
        let paused = try VirtualWorld()
        try paused.start(.pool(mode: .paused))
        try sendQuery(paused)
        #expect(paused.outcome(of: "q", on: "p")?.finding?.code == "engine.provider.stopped")
        #expect(paused.sent.isEmpty)
    }

    @Test func `sends no query about a person without consent (E11)`() throws {
        let world = try VirtualWorld()
        var plan = RoutingPlan.pool { $0.waitsIndefinitely = true }
        plan.requiredConsent = [.profile]
        try world.start(plan)
        try sendQuery(world, "unknown")
        #expect(world.outcome(of: "unknown", on: "p")?.finding?.code == "engine.consent.unknown")
        try world.capture(.setConsent(Consent(purpose: .profile, state: .granted)))
        try sendQuery(world, "granted")
        #expect(world.outcome(of: "granted", on: "p") == nil)
        try world.capture(.setConsent(Consent(purpose: .profile, state: .denied)))
        #expect(world.outcome(of: "granted", on: "p")?.finding?.code == "engine.consent.denied")
        try sendQuery(world, "denied")
        #expect(world.outcome(of: "denied", on: "p")?.finding?.code == "engine.consent.denied")
        #expect(world.sent.isEmpty)
    }
}

@Suite("Suspended providers") struct EngineObligationSuspending {
    @Test func `tries a suspended provider only at a start and when it is resumed (E12)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .says(["suspension": true, "otherwise": "retry 1000"]) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        #expect(try world.suspended("p") != nil)
        for tries in 0..<3 {
            try world.capture(.event("more \(tries)"))
            try world.wake()
            try world.flush()
            try world.advance(by: .seconds(86_400))
            #expect(world.sent.count == tries + 1)
            if tries == 1 { try world.resume("p") } else { try world.restart() }
            try world.advance(by: .seconds(60))
            #expect(world.sent.count == tries + 2)
            #expect(try world.suspended("p")?.code == "probe.refused")
        }
        world.network = { _ in .status(200) }
        try world.resume("p")
        #expect(try world.drain())
        #expect(try world.account("p").total("accepted") == 4)
        #expect(try world.account("p").balances)
    }

    @Test func `corrected settings resume a suspended provider (E12)`() throws {
        let world = try VirtualWorld()
        world.network = { $0.number == 1 ? .says(["suspension": true, "otherwise": "retry 1000"]) : .status(200) }
        try world.start(.pool(digest: "bad"))
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        #expect(try world.suspended("p") != nil)
        try world.restart(.pool(digest: "good"))
        #expect(try world.drain())
        #expect(try world.suspended("p") == nil)
    }

    @Test func `suspends the provider when a plan settles nothing (E10)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.settlesNothing = true })
        try world.capture(.event("a"))
        #expect(try world.suspended("p")?.code == "engine.adapter.unknown")
        #expect(try world.account("p").pending == 1)
    }

    @Test func `a provider that is added again keeps its memory and receives the subject snapshot (E13)`() throws {
        let world = try VirtualWorld()
        func plan(_ live: String, _ left: String) -> RoutingPlan {
            var plan = RoutingPlan.probe(live) { $0.suppresses = true }
            plan.providers += RoutingPlan.probe(left, mode: nil) { $0.suppresses = true }.providers
            return plan
        }
        try world.start(plan("a", "b"))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        let memory = try world.memory(of: "a")
        #expect(!memory.isEmpty)
        try world.restart(plan("b", "a"))
        #expect(try world.drain())
        #expect(try world.memory(of: "a") == memory)
        try world.restart(plan("a", "b"))
        #expect(try world.drain())
        #expect(try world.account("a").lines["created"] == ["unregister": 1, "snapshot": 1])
        #expect(try world.account("a").total("unchanged") == 1)
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `an operation in flight at a crash stays uncertain after a switch (E3)`() throws {
        let world = try VirtualWorld()
        func plan(_ live: String, _ left: String) -> RoutingPlan {
            var plan = RoutingPlan.probe(live, onSwitch: .retarget) { $0.suppresses = true }
            plan.providers += RoutingPlan.probe(left, mode: nil) { $0.suppresses = true }.providers
            plan.onUnacknowledged = .move
            return plan
        }
        func sentTiers(_ provider: String) -> [String?] {
            world.sent.filter { $0.provider == provider }.map {
                $0.request.json?["action"]?["changes"]?["tier"]?["set"]?.string
            }
            .filter { $0 != nil }
        }
        try world.start(plan("a", "b"))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        // The process dies after it sent silver; the next process retargets it to another vendor.
        try world.capture(.set("tier", "silver"))
        #expect(sentTiers("a") == ["gold", "silver"])
        try world.restart(plan("b", "a"))
        #expect(try world.drain())
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        #expect(sentTiers("a") == ["gold", "silver"])
        try world.restart(plan("a", "b"))
        #expect(try world.drain())
        #expect(sentTiers("a") == ["gold", "silver", "gold"])
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `does not retarget an operation whose request was in flight when the process died (E3)`() throws {
        let world = try VirtualWorld()
        func plan(_ live: String, _ left: String) -> RoutingPlan {
            var plan = RoutingPlan.probe(live, onSwitch: .retarget)
            plan.providers += RoutingPlan.probe(left, mode: nil).providers
            return plan
        }
        try world.start(plan("a", "b"))
        world.network = { $0.number == 1 ? .silence : .outcome(.replied(WireResponse(200))) }
        let inFlight = try world.capture(.event("first"))
        let waiting = try world.capture(.event("second"))
        #expect(world.sent.map(\.operations) == [[inFlight.id]])
        try world.restart(plan("b", "a"))
        #expect(try world.drain())
        #expect(world.outcome(of: inFlight.id, on: "a")?.term == .accepted)
        #expect(world.outcome(of: inFlight.id, on: "b") == nil)
        #expect(world.outcome(of: waiting.id, on: "a")?.term == .moved)
        #expect(world.outcome(of: waiting.id, on: "b")?.term == .accepted)
        for account in try world.accounts() { #expect(account.balances) }
    }
}

@Suite("A person's denial") struct EngineObligationDenials {
    private func world(_ required: Set<Purpose>, isJournaled: Bool = false) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(
            .probe(requiredConsent: Set(required.map { Consent.Scope($0) })) { $0.isJournaled = isJournaled }
        )
        for purpose in required.sorted(by: { $0.rawValue < $1.rawValue }) {
            try setConsent(purpose, .granted, in: world)
        }
        #expect(try world.drain())
        return world
    }

    private func requestCount(_ world: VirtualWorld, _ path: String) -> Int {
        world.sent.count { $0.request.url.hasSuffix(path) }
    }

    @Test(arguments: [200, 500], [false, true])
    func `ignores a reply after a denial (E14)`(status: Int, isJournaled: Bool) throws {
        let world = try world([.profile], isJournaled: isJournaled)
        world.network = { sent in .status(sent.request.url.hasSuffix("/changeAttributes") ? status : 200) }
        let change = try world.capture(.set("tier", "gold"))
        #expect(requestCount(world, "/changeAttributes") == 1)
        try setConsent(.profile, .denied, in: world)
        #expect(world.outcome(of: change.id, on: "p")?.finding?.code == "engine.consent.withdrawn")
        #expect(try world.drain())
        try world.advance(by: .seconds(3600))
        #expect(requestCount(world, "/changeAttributes") == 1)
        #expect(world.outcome(of: change.id, on: "p")?.term == .dropped)
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") })
        #expect(try world.store.state.journal(provider: "p").isEmpty)
        #expect(try world.store.history.entries(provider: "p", limit: 99).count { $0.id == change.id.rawValue } == 1)
        #expect(try world.account("p").balances)
    }

    @Test(arguments: [false, true])
    func `keeps a denial when the process with the request in flight dies (E14)`(isJournaled: Bool) throws {
        let world = try world([.profile], isJournaled: isJournaled)
        try world.capture(.set("tier", "gold"))
        try setConsent(.profile, .denied, in: world)
        try world.restart()
        #expect(try world.drain())
        #expect(requestCount(world, "/changeAttributes") == 1)
        #expect(try world.account("p").lines["dropped"] == ["engine.consent.withdrawn": 1])
        #expect(try world.store.state.journal(provider: "p").isEmpty)
        #expect(try world.account("p").balances)
    }

    @Test(arguments: [true, false])
    func `applies a denial that another process captured to requests and memory (E14, E16)`(
        isInFlight: Bool
    ) throws {
        let world = try world([.tracking, .profile])
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        if isInFlight { try world.capture(.set("tier", "silver")) }
        let requests = world.sent.count
        try captureElsewhere(.setConsent(Consent(purpose: .profile, state: .denied)), in: world)
        try world.advance(by: .seconds(1))
        try world.performMaintenance()
        #expect(try world.drain())
        let again = try world.capture(.set("tier", "gold"))
        #expect(world.outcome(of: again.id, on: "p")?.term == .dropped)
        // Only the consent decision itself was sent.
        #expect(world.sent.dropFirst(requests).map(\.request.url).allSatisfy { $0.hasSuffix("/setConsent") })
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") && !$0.contains("silver") })
        #expect(try world.account("p").balances)
    }

    /// Captures an action in another process on the same outbox.
    private func captureElsewhere(_ action: Action, in world: VirtualWorld) throws {
        let other = try Engine(
            store: world.store,
            plan: .probe(requiredConsent: [.tracking, .profile]),
            host: world.host,
            credentials: { _, _ in nil }
        )
        let operation = EngagementOperation(
            id: OperationID(rawValue: "elsewhere-\(action.kind.rawValue)"),
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: action
        )
        try other.commit([Engine.Capture(operation, uptime: world.host.uptime())])
        // Both share a connection here.
        world.store.noteForeignCommit()
    }

    @Test func `keeps another process's denial while an uncertain delivery waits for the disk (E14, E16)`() throws {
        let world = try world([.tracking, .profile])
        try world.capture(.set("city", "Oulu"))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        var fulls = 0
        world.onStorage { point in
            guard point == .begin(.full) else { return }
            fulls += 1
            // The capture is synced to the disk first, then the uncertain state of the request.
            guard fulls == 2 else { return }
            try self.captureElsewhere(
                .setConsent(Consent(purpose: .profile, state: .denied)),
                in: world
            )
        }
        try world.capture(.set("tier", "silver"))
        world.onStorage(nil)
        #expect(fulls >= 2)
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("Oulu") })
        try world.advance(by: .seconds(1))
        #expect(try world.drain())
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("Oulu") && !$0.contains("silver") })
        #expect(try world.account("p").balances)
    }

    @Test func `keeps memory when another process captures an operation (E5, E16)`() throws {
        let world = try world([.tracking, .profile])
        try world.capture(.set("city", "Oulu"))
        #expect(try world.drain())
        world.network = { _ in .outcome(.replied(WireResponse(400)), after: .seconds(5)) }
        try world.capture(.set("city", "Turku"))
        // After a crash now the vendor's state would be unknown. This process knows it.
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("Oulu") })
        try captureElsewhere(.track(.custom(name: "a")), in: world)
        world.network = { _ in .status(200) }
        #expect(try world.drain())
        #expect(try world.memory(of: "p").values.contains { $0.contains("Oulu") })
        #expect(try world.account("p").balances)
    }

    @Test func `a denial clears the memory of a lane and sends the permitted state again (E14)`() throws {
        let world = try world([.tracking, .profile])
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        #expect(try world.memory(of: "p").values.contains { $0.contains("gold") })
        world.network = { _ in .silence }
        try setConsent(.tracking, .denied, in: world)
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") })
        world.network = { _ in .status(200) }
        try world.advance(by: .seconds(120))
        #expect(try world.drain())
        #expect(try world.account("p").lines["created"] == ["snapshot": 1])
        #expect(try world.memory(of: "p").values.contains { $0.contains("gold") })
        // A repeated denial changes nothing.
        try setConsent(.tracking, .denied, in: world)
        #expect(try world.drain())
        #expect(try world.account("p").total("created") == 1)
        #expect(try world.account("p").balances)
    }

    @Test func `sends the state from the time of a denial after an opt-in (E14)`() throws {
        let world = try world([.profile])
        try setConsent(.profile, .denied, in: world)
        let silent = try world.capture(.set("tier", "silver"))
        #expect(world.outcome(of: silent.id, on: "p")?.term == .dropped)
        #expect(try world.drain())
        #expect(requestCount(world, "/changeAttributes") == 0)
        try setConsent(.profile, .granted, in: world)
        #expect(try world.drain())
        #expect(requestCount(world, "/changeAttributes") == 1)
        #expect(try world.memory(of: "p").values.contains { $0.contains("silver") })
        #expect(try world.account("p").balances)
    }

    @Test func `processes the reply for one purpose after a denial for another (E14)`() throws {
        let world = try world([.tracking, .profile])
        let change = try world.capture(.set("tier", "gold"))
        try setConsent(.tracking, .denied, in: world)
        #expect(try world.drain())
        #expect(world.outcome(of: change.id, on: "p")?.term == .accepted)
    }

    @Test func `an erasure withdraws an operation in flight and then empties the memory (E14)`() throws {
        let world = try world([])
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        world.network = { sent in .status(sent.request.url.hasSuffix("/changeAttributes") ? 500 : 200) }
        let change = try world.capture(.set("tier", "silver"))
        try world.capture(.erase)
        #expect(world.outcome(of: change.id, on: "p")?.term == .erased)
        #expect(try world.drain())
        try world.advance(by: .seconds(3600))
        #expect(requestCount(world, "/changeAttributes") == 2)
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") && !$0.contains("silver") })
        #expect(try world.account("p").balances)
    }
}

@Suite("Providers side by side") struct EngineObligationNeighbours {
    @Test func `providers with the same adapter have separate order, memory, pacing and accounts (E19)`() throws {
        let world = try VirtualWorld()
        world.network = { $0.provider == "slow" ? .silence : .status(200) }
        let slow = RoutingPlan.probe("slow") { $0.suppresses = true }.providers[0]
        try world.start(.probe("fast", others: [slow]) { $0.suppresses = true })
        for number in 0..<20 { try world.capture(.event("e-\(number)")) }
        try world.capture(.set("tier", "gold"))
        try world.capture(.set("tier", "gold"))
        try world.advance(by: .seconds(10))
        let fast = try world.account("fast")
        #expect((fast.total("accepted"), fast.total("unchanged"), fast.pending) == (21, 1, 0))
        #expect(try world.account("slow").pending == 22)
        #expect(try world.memory(of: "slow") == [:])
        #expect(try world.memory(of: "fast").count == 1)
        world.network = { _ in .status(200) }
        #expect(try world.drain())
        #expect(try world.account("slow").total("accepted") == 21)
        for account in try world.accounts() { #expect(account.balances) }
    }
}
