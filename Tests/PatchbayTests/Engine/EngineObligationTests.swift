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

@Suite("Transactions and what is told of them") struct EngineObligationTransactions {
    struct Death: Error {}

    @Test(arguments: [true, false])
    func `captures, their places, a journaled send and a settle are one transaction each, and there is no other (E1)`(
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

    @Test func `a settle is stored as a whole or not at all (E1)`() throws {
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

    @Test func `an operation is examined and placed once on each route (E2)`() throws {
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
    func `nothing is told before it is committed (E2)`(point: StoragePoint) throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        world.onStorage { if $0 == point { throw Death() } }
        _ = try? world.capture(.event("bad"))
        _ = try? world.capture(.event("good"))
        _ = try? world.advance(by: .seconds(1))
        let ended = world.told.count { if case .ended = $0.event { true } else { false } }
        #expect(ended == 0)
        world.onStorage(nil)
        try world.restart()
        #expect(try world.drain())
        let account = try world.account("p")
        // What reached the disk before the death gets its places after it.
        #expect(account.total("rejected") == (point == .beforeCommit(.full) ? 0 : 1))
        #expect(account.total("accepted") == (point == .beforeCommit(.full) ? 0 : 1))
    }

    @Test func `memory is stored only when it has changed (E5)`() throws {
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

@Suite("When plans are made, and of what") struct EngineObligationPlans {
    @Test func `a plan is shown something, and never more than its window, however much waits (E6, E20)`() throws {
        let world = try VirtualWorld()
        let log = AdapterLog()
        try world.start(.watched(log))
        try world.capture(world.events((0..<500).map(String.init)))
        try world.wake()
        try world.flush()
        try world.keepHouse()
        #expect(try world.drain())
        try world.wake()
        #expect(log.entries.windows.allSatisfy { (1...16).contains($0) })
        #expect(log.entries.windows.count == 500)
        #expect(log.entries.windows.first == 16)
    }

    @Test func `a wake that comes while a request is in flight is not lost (E6)`() throws {
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
            let heard = world.sentBodies.flatMap { $0.split(separator: ",") }.filter { $0.hasPrefix(name) }
            #expect(heard.map(String.init) == sent.map { PoolProbe.name($0) })
        }
    }

    @Test func `what waits for a person's consent hides nobody (E7)`() throws {
        let world = try VirtualWorld()
        var plan = RoutingPlan.probe { $0.separatesEvents = false }
        plan.requiredConsent = [.tracking]
        try world.start(plan)
        try world.capture(world.events((0..<200).map { "held \($0)" }, subject: "installation-1"))
        let change = try world.capture(.set("tier", "gold"))
        try world.advance(by: .seconds(1))
        #expect(world.sentOperations == [change.id.rawValue])
    }

    @Test func `a queue that waits to be woken is open after a start (E9)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(400) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(86_400))
        #expect(world.sent.count == 1)
        try world.restart()
        #expect(world.sent.count == 2)
    }

    @Test func `each queue keeps its order, whatever happens in the others (E17)`() throws {
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

@Suite("Questions that end at once") struct EngineObligationReads {
    private func ask(_ world: VirtualWorld, _ id: OperationID = "q") throws {
        let question = EngagementOperation(
            id: id,
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("status"))
        )
        try world.read(question, from: "p")
    }

    @Test func `a stopped and a paused provider answer at once that they are (E11)`() throws {
        let stopped = try VirtualWorld()
        stopped.network = { _ in .says(["suspension": true]) }
        try stopped.start(.pool())
        try stopped.capture(.event("a"))
        try stopped.advance(by: .seconds(1))
        try ask(stopped)
        #expect(stopped.outcome(of: "q", on: "p")?.finding?.code == "probe.refused")
        let paused = try VirtualWorld()
        try paused.start(.pool(mode: .paused))
        try ask(paused)
        #expect(paused.outcome(of: "q", on: "p")?.finding?.code == "engine.provider.stopped")
        #expect(paused.sent.isEmpty)
    }

    @Test func `nobody is asked about a person who has not allowed it (E11)`() throws {
        let world = try VirtualWorld()
        var plan = RoutingPlan.pool { $0.waitsForEver = true }
        plan.requiredConsent = [.profile]
        try world.start(plan)
        try ask(world, "unknown")
        #expect(world.outcome(of: "unknown", on: "p")?.finding?.code == "engine.consent.unknown")
        try world.capture(.setConsent(Consent(purpose: .profile, state: .granted)))
        try ask(world, "granted")
        #expect(world.outcome(of: "granted", on: "p") == nil)
        try world.capture(.setConsent(Consent(purpose: .profile, state: .denied)))
        #expect(world.outcome(of: "granted", on: "p")?.finding?.code == "engine.consent.denied")
        try ask(world, "denied")
        #expect(world.outcome(of: "denied", on: "p")?.finding?.code == "engine.consent.denied")
        #expect(world.sent.isEmpty)
    }
}

@Suite("Providers that a person has to let go on") struct EngineObligationSuspending {
    @Test func `a stopped provider is tried once at a start and once when it is resumed, and not else (E12)`() throws {
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

    @Test func `settings that are mended let a stopped provider go on (E12)`() throws {
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

    @Test func `a plan that settles nothing stops the provider (E10)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.settlesNothing = true })
        try world.capture(.event("a"))
        #expect(try world.suspended("p")?.code == "engine.adapter.unknown")
        #expect(try world.account("p").pending == 1)
    }

    @Test func `a provider that comes back finds its memory, and hears the subject snapshot (E13)`() throws {
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

    @Test func `what a process died of is unknown, although a switch took it away (E3)`() throws {
        let world = try VirtualWorld()
        func plan(_ live: String, _ left: String) -> RoutingPlan {
            var plan = RoutingPlan.probe(live, onSwitch: .retarget) { $0.suppresses = true }
            plan.providers += RoutingPlan.probe(left, mode: nil) { $0.suppresses = true }.providers
            plan.onUnacknowledged = .move
            return plan
        }
        func told(_ provider: String) -> [String?] {
            world.sent.filter { $0.provider == provider }.map {
                $0.request.json?["action"]?["changes"]?["tier"]?["set"]?.string
            }
            .filter { $0 != nil }
        }
        try world.start(plan("a", "b"))
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        // The vendor hears of silver, and the process dies of it; the next one gives it to another vendor.
        try world.capture(.set("tier", "silver"))
        #expect(told("a") == ["gold", "silver"])
        try world.restart(plan("b", "a"))
        #expect(try world.drain())
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        #expect(told("a") == ["gold", "silver"])
        try world.restart(plan("a", "b"))
        #expect(try world.drain())
        #expect(told("a") == ["gold", "silver", "gold"])
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

@Suite("A person's no") struct EngineObligationDenials {
    private func world(_ required: Set<Purpose>, isJournaled: Bool = false) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(
            .probe(requiredConsent: Set(required.map { Consent.Scope($0) })) { $0.isJournaled = isJournaled }
        )
        for purpose in required.sorted(by: { $0.rawValue < $1.rawValue }) { try say(purpose, .granted, in: world) }
        #expect(try world.drain())
        return world
    }

    private func heard(_ world: VirtualWorld, _ path: String) -> Int {
        world.sent.count { $0.request.url.hasSuffix(path) }
    }

    @Test(arguments: [200, 500], [false, true])
    func `a reply that comes after the no changes nothing (E14)`(status: Int, isJournaled: Bool) throws {
        let world = try world([.profile], isJournaled: isJournaled)
        world.network = { sent in .status(sent.request.url.hasSuffix("/changeAttributes") ? status : 200) }
        let change = try world.capture(.set("tier", "gold"))
        #expect(heard(world, "/changeAttributes") == 1)
        try say(.profile, .denied, in: world)
        #expect(world.outcome(of: change.id, on: "p")?.finding?.code == "engine.consent.withdrawn")
        #expect(try world.drain())
        try world.advance(by: .seconds(3600))
        #expect(heard(world, "/changeAttributes") == 1)
        #expect(world.outcome(of: change.id, on: "p")?.term == .dropped)
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") })
        #expect(try world.store.state.journal(provider: "p").isEmpty)
        #expect(try world.store.history.entries(provider: "p", limit: 99).count { $0.id == change.id.rawValue } == 1)
        #expect(try world.account("p").balances)
    }

    @Test(arguments: [false, true])
    func `a no outlives the process that had the request in flight (E14)`(isJournaled: Bool) throws {
        let world = try world([.profile], isJournaled: isJournaled)
        try world.capture(.set("tier", "gold"))
        try say(.profile, .denied, in: world)
        try world.restart()
        #expect(try world.drain())
        #expect(heard(world, "/changeAttributes") == 1)
        #expect(try world.account("p").lines["dropped"] == ["engine.consent.withdrawn": 1])
        #expect(try world.store.state.journal(provider: "p").isEmpty)
        #expect(try world.account("p").balances)
    }

    @Test(arguments: [true, false])
    func `a no that another process captured counts for this one's requests and memory (E14, E16)`(
        isInFlight: Bool
    ) throws {
        let world = try world([.tracking, .profile])
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        if isInFlight { try world.capture(.set("tier", "silver")) }
        let requests = world.sent.count
        try captureElsewhere(.setConsent(Consent(purpose: .profile, state: .denied)), in: world)
        try world.advance(by: .seconds(1))
        try world.keepHouse()
        #expect(try world.drain())
        let again = try world.capture(.set("tier", "gold"))
        #expect(world.outcome(of: again.id, on: "p")?.term == .dropped)
        // Nothing left but the word itself.
        #expect(world.sent.dropFirst(requests).map(\.request.url).allSatisfy { $0.hasSuffix("/setConsent") })
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") && !$0.contains("silver") })
        #expect(try world.account("p").balances)
    }

    /// Another process over the same outbox, which captures something.
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

    @Test func `a no that another process captures while an uncertain delivery waits for the disk stays (E14, E16)`()
        throws
    {
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

    @Test func `what another process captures meanwhile makes nobody forget (E5, E16)`() throws {
        let world = try world([.tracking, .profile])
        try world.capture(.set("city", "Oulu"))
        #expect(try world.drain())
        world.network = { _ in .outcome(.replied(WireResponse(400)), after: .seconds(5)) }
        try world.capture(.set("city", "Turku"))
        // A process that died now would not know what the vendor holds; this one does.
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("Oulu") })
        try captureElsewhere(.track(.custom(name: "a")), in: world)
        world.network = { _ in .status(200) }
        #expect(try world.drain())
        #expect(try world.memory(of: "p").values.contains { $0.contains("Oulu") })
        #expect(try world.account("p").balances)
    }

    @Test func `a no empties what a lane remembers, and what is still allowed is told again (E14)`() throws {
        let world = try world([.tracking, .profile])
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        #expect(try world.memory(of: "p").values.contains { $0.contains("gold") })
        world.network = { _ in .silence }
        try say(.tracking, .denied, in: world)
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") })
        world.network = { _ in .status(200) }
        try world.advance(by: .seconds(120))
        #expect(try world.drain())
        #expect(try world.account("p").lines["created"] == ["snapshot": 1])
        #expect(try world.memory(of: "p").values.contains { $0.contains("gold") })
        // Said again it is nothing new.
        try say(.tracking, .denied, in: world)
        #expect(try world.drain())
        #expect(try world.account("p").total("created") == 1)
        #expect(try world.account("p").balances)
    }

    @Test func `a yes that takes back a no tells what the person said meanwhile (E14)`() throws {
        let world = try world([.profile])
        try say(.profile, .denied, in: world)
        let silent = try world.capture(.set("tier", "silver"))
        #expect(world.outcome(of: silent.id, on: "p")?.term == .dropped)
        #expect(try world.drain())
        #expect(heard(world, "/changeAttributes") == 0)
        try say(.profile, .granted, in: world)
        #expect(try world.drain())
        #expect(heard(world, "/changeAttributes") == 1)
        #expect(try world.memory(of: "p").values.contains { $0.contains("silver") })
        #expect(try world.account("p").balances)
    }

    @Test func `a no for one purpose leaves another's reply its say (E14)`() throws {
        let world = try world([.tracking, .profile])
        let change = try world.capture(.set("tier", "gold"))
        try say(.tracking, .denied, in: world)
        #expect(try world.drain())
        #expect(world.outcome(of: change.id, on: "p")?.term == .accepted)
    }

    @Test func `an erase ends what is in flight, and once settled the memory is empty (E14)`() throws {
        let world = try world([])
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        world.network = { sent in .status(sent.request.url.hasSuffix("/changeAttributes") ? 500 : 200) }
        let change = try world.capture(.set("tier", "silver"))
        try world.capture(.erase)
        #expect(world.outcome(of: change.id, on: "p")?.term == .erased)
        #expect(try world.drain())
        try world.advance(by: .seconds(3600))
        #expect(heard(world, "/changeAttributes") == 2)
        #expect(try world.memory(of: "p").values.allSatisfy { !$0.contains("gold") && !$0.contains("silver") })
        #expect(try world.account("p").balances)
    }
}

@Suite("Providers side by side") struct EngineObligationNeighbours {
    @Test func `two providers with the same adapter share nothing: order, memory, pace and accounts (E19)`() throws {
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
