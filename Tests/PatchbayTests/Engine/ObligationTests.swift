import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("Slots, maintenance requests and shared memory") struct EngineObligationSlots {
    @Test func `one lane sends a maintenance request for all lanes (E4)`() throws {
        let world = try VirtualWorld()
        world.network = { sent in sent.request.url.hasSuffix("/token") ? .says(["token": "t"]) : .status(200) }
        try world.start(.pool { $0.needsToken = true })
        for subject: Subject in ["a", "b", "c"] { try world.capture(.event("e"), subject: subject) }
        #expect(try world.drain())
        #expect(world.sent.count { $0.request.url.hasSuffix("/token") } == 1)
        #expect(world.sent.dropFirst().allSatisfy { $0.request[header: "Token"] == "t" })
        #expect(world.sent.count == 4)
    }

    @Test func `sends no more requests than slots and starves no lane (E4)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        let subjects: [Subject] = ["a", "b", "c", "d", "e"]
        let operations = (0..<100).map { number in
            EngagementOperation(
                id: world.host.makeID(),
                subject: subjects[number % 5],
                capturedAt: world.host.date(),
                action: .event("\(subjects[number % 5].rawValue)\(number / 5)")
            )
        }
        try world.capture(operations)
        #expect(world.sent.count == 2)
        #expect(try world.drain())
        #expect(Set(world.sentBodies.prefix(10).map { $0.prefix(1) }).count == 5)
        for subject in subjects {
            let own = world.sentBodies.filter { $0.hasPrefix(subject.rawValue) }
            #expect(own == (0..<20).map { "\(subject.rawValue)\($0)" })
        }
    }

    @Test func `interprets a reply with the newest memory (E5)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        for subject: Subject in ["a", "b"] { try world.capture(.event("e"), subject: subject) }
        #expect(try world.drain())
        #expect(try world.memory(of: "p") == ["": #"{"requests":2,"token":""}"#])
    }

    @Test func `an accepted operation does not shorten the wait of another in its batch (E9)`() throws {
        let world = try VirtualWorld()
        world.network = { $0.number == 1 ? .says(["verdicts": ["a": "retry 60000"]]) : .status(200) }
        try world.start(
            .pool {
                $0.batch = 3; $0.wait = nil
            }
        )
        let operations = ["a", "b"].map {
            EngagementOperation(
                id: world.host.makeID(),
                subject: "s",
                capturedAt: world.host.date(),
                action: .event($0)
            )
        }
        try world.capture(operations)
        try world.advance(by: .seconds(59))
        #expect(world.sentBodies == ["a,b"])
        try world.advance(by: .seconds(2))
        #expect(world.sentBodies == ["a,b", "a"])
    }

    @Test func `a follow-up joins the end of its provider's queue and counts as created (E18)`() throws {
        let world = try VirtualWorld()
        world.network = { $0.provider == "p" && $0.number < 3 ? .says(["followUp": "a"]) : .status(200) }
        var plan = RoutingPlan.pool()
        plan.providers += RoutingPlan.pool("other").providers
        try world.start(plan)
        for name in ["a", "b"] { try world.capture(.event(name)) }
        #expect(try world.drain())
        #expect(
            world.sent.filter { $0.provider == "p" }.map { String(decoding: $0.request.body, as: UTF8.self) }
                == ["a", "b", "follow-up"]
        )
        #expect(world.sent.count { $0.provider == "other" } == 2)
        #expect(try world.account("p").lines["created"] == ["followUp": 1])
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `drops a follow-up at a removed provider instead of holding it for consent`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(503) }
        var plan = RoutingPlan.pool()
        plan.providers += RoutingPlan.pool("other").providers
        plan.requiredConsent = [.tracking]
        try world.start(plan)
        try world.capture(.setConsent(Consent(purpose: .messaging, state: .granted)))
        world.network = { $0.provider == "p" ? .says(["followUp": "setConsent"]) : .status(200) }
        plan.providers[0].mode = nil
        try world.restart(plan)
        #expect(try world.drain())
        let account = try world.account("p")
        #expect(account.pending == 0 && account.balances)
        #expect(account.lines["dropped"] == ["engine.provider.left": 1])
    }
}

@Suite("Windows, waits and wakes") struct EngineObligationWindows {
    @Test func `3,000 waiting operations hide no later operation (E7)`() throws {
        let world = try VirtualWorld()
        world.network = { sent in sent.request[header: "Operation"] == "first" ? .status(500) : .status(200) }
        try world.start(.probe { $0.courtesy = 0 })
        world.network = { sent in sent.request.url.hasSuffix("/track") ? .status(500) : .status(200) }
        let events = (0..<3000).map { number in
            EngagementOperation(
                id: world.host.makeID(),
                subject: "installation-1",
                capturedAt: world.host.date(),
                action: .event("e\(number)")
            )
        }
        try world.capture(events)
        let late = try world.capture(.set("tier", "gold"))
        try world.advance(by: .seconds(2))
        #expect(world.outcome(of: late.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").pending == 3000)
    }

    @Test func `does not split an explicit group (E7)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(500) }
        try world.start(.pool { $0.batch = 100 })
        let operations = (0..<12).map { number in
            EngagementOperation(
                id: world.host.makeID(),
                subject: "s",
                group: number < 6 ? nil : "screen",
                capturedAt: world.host.date(),
                action: .event("\(number)")
            )
        }
        try world.capture(operations)
        #expect(world.sentBodies.first == (0..<12).map(String.init).joined(separator: ","))
    }

    @Test func `a wait in the past counts as 10 ms (E9)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.wait = -1000 })
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        #expect(world.sent.isEmpty)
        #expect(try world.suspended("p") == nil)
        try world.restart(.pool())
        #expect(try world.drain())
    }

    @Test func `combines wakes by captures to one per second while the vendor fails (E6)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(400) }
        try world.start(.pool { $0.suffix = "" })
        try world.capture(.event("first"))
        try world.advance(by: .milliseconds(200))
        #expect(world.sent.count == 1)
        // The next capture wakes the queue; twenty more within the second are joined to one wake at its end.
        try world.advance(by: .seconds(5))
        try world.capture(.event("wake"))
        #expect(world.sent.count == 2)
        for _ in 0..<20 {
            try world.advance(by: .milliseconds(25))
            try world.capture(.event("more"))
        }
        #expect(world.sent.count == 2)
        try world.advance(by: .milliseconds(600))
        #expect(world.sent.count == 3)
        try world.advance(by: .seconds(60))
        #expect(world.sent.count == 3)
    }

    @Test func `a flush without operations does not send later operations early`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 1000 })
        try world.capture(.event("a"))
        #expect(try world.drain())
        try world.flush()
        try world.advance(by: .seconds(60))
        try world.capture(.event("b"))
        #expect(world.sent.count == 1)
        #expect(try world.drain())
    }

    @Test func `a closed queue stays closed over a restart with a request in flight (E3, E9)`() throws {
        let world = try VirtualWorld()
        world.network = { $0.number == 1 ? .says(["otherwise": "retry 3600000"]) : .silence }
        try world.start(.pool { $0.isJournaled = true })
        try world.capture(.event("paced"), contact: "one")
        try world.advance(by: .seconds(1))
        try world.capture(.event("in flight"), contact: "two")
        #expect(world.sentBodies == ["paced", "in flight"])
        world.network = { _ in .status(200) }
        try world.restart()
        try world.advance(by: .seconds(60))
        #expect(!world.sentBodies.dropFirst(2).contains("paced"))
        try world.advance(by: .seconds(3600))
        #expect(world.sentBodies.dropFirst(2).contains("paced"))
    }

    @Test func `a query ends at its deadline even if the adapter waits indefinitely (E11)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.waitsIndefinitely = true })
        try world.read(query("q", world), from: "p", timeout: .seconds(5))
        try world.advance(by: .seconds(4))
        #expect(world.outcome(of: "q", on: "p") == nil)
        try world.advance(by: .seconds(2))
        #expect(world.outcome(of: "q", on: "p")?.finding?.code == "engine.read.deadline")
    }

    @Test func `a query in flight ends at its deadline (E11)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .silence }
        try world.start(.pool())
        try world.read(query("q", world), from: "p", timeout: .seconds(5))
        try world.advance(by: .seconds(6))
        #expect(world.outcome(of: "q", on: "p")?.finding?.code == "engine.read.deadline")
        try world.advance(by: .seconds(120))
        #expect(world.sent.count == 1)
    }

    private func query(_ id: OperationID, _ world: VirtualWorld) -> EngagementOperation {
        EngagementOperation(
            id: id,
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("status"))
        )
    }
}

@Suite("Suspension of faulty adapters") struct EngineObligationFaults {
    @Test func `suspends the provider after 64 exchanges without an outcome or a wait (E10)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .says(["otherwise": "begun"]) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(600))
        #expect(world.sent.count == 64)
        #expect(try world.suspended("p")?.code == "engine.adapter.loops")
        #expect(try world.account("p").pending == 1)
    }

    @Test func `suspends the provider after a maintenance request that changes nothing (E10)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .says(["token": ""]) }
        try world.start(.pool { $0.needsToken = true })
        try world.capture(.event("a"))
        try world.advance(by: .seconds(600))
        #expect(world.sent.count == 64)
        #expect(try world.suspended("p")?.code == "engine.adapter.loops")
    }

    @Test func `suspends the provider when a plan names an unknown operation (E10)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.settlesUnknownOperation = true })
        try world.capture(.event("a"))
        #expect(try world.suspended("p")?.code == "engine.adapter.unknown")
        #expect(try world.account("p").pending == 1)
    }

    @Test func `suspends the provider after one request that must not be sent (E10)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.failed(TransportFailure(WireFault.climbingURL))) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(86_400))
        #expect(world.sent.count == 1)
        #expect(try world.suspended("p")?.code == "engine.adapter.unsafe")
        #expect(try world.account("p").pending == 1)
    }

    @Test(arguments: WireFault.allCases) func `suspends no provider for a transport code that equals a wire fault`(
        _ fault: WireFault
    ) throws {
        let world = try VirtualWorld()
        let failure = TransportFailure(.notSent, fault.rawValue)
        world.network = { $0.number == 1 ? .outcome(.failed(failure)) : .status(200) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(86_400))
        #expect(try world.suspended("p") == nil)
        #expect(world.sent.count > 1)
        #expect(try world.account("p").pending == 0)
    }

    @Test func `a capture does not open a queue that is closed until an instant`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(500))) }
        try world.start(.probe())
        try world.capture(.event("a"))
        try world.advance(by: .milliseconds(300))
        try world.capture(.event("soon after the failure"))
        try world.advance(by: .seconds(9))
        #expect(world.sent.count == 1)
        try world.capture(.event("shortly before the next attempt"))
        try world.advance(by: .milliseconds(500))
        #expect(world.sent.count == 1)
        try world.advance(by: .seconds(1))
        #expect(world.sent.count == 2)
    }

    @Test func `combines lanes with the same reason into one wait and lists the oldest waits`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 3_600_000 })
        for number in 0..<20 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(number)")) }
        #expect(try world.account("p").waits.map(\.operations) == [20])
        for number in 0..<19 {
            try world.advance(by: .seconds(1))
            try world.capture(.event("e"), subject: Subject(rawValue: "t-\(number)"))
        }
        let account = try world.account("p")
        #expect(account.waits.count == 8 && account.otherWaits == 12)
        #expect(account.json["otherWaits"]?.integer == 12)
    }

    @Test func `suspends the provider for a verdict on an unknown operation and applies the others (E10)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .says(["unknown": true]) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        #expect(try world.suspended("p")?.code == "engine.adapter.unknown")
        #expect(try world.account("p").total("accepted") == 1)
    }

    @Test func `does not count many operations without a request as a loop (E10)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.suppresses = true })
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try world.capture(
            (0..<600).map { _ in
                EngagementOperation(
                    id: world.host.makeID(),
                    subject: "installation-1",
                    capturedAt: world.host.date(),
                    action: .set("tier", "gold")
                )
            }
        )
        #expect(try world.suspended("p") == nil)
        #expect(try world.account("p").total("unchanged") == 600)
    }
}

@Suite("Stored state of other versions") struct EngineObligationVersions {
    private func begun(_ world: VirtualWorld) throws {
        world.network = { _ in .status(500) }
        try world.start(.versioned(FirstVersion.self))
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        world.network = { _ in .status(200) }
    }

    @Test func `upgrades older state and routes its operations again (E15)`() throws {
        let world = try VirtualWorld()
        try begun(world)
        try world.restart(.versioned(SecondVersion.self))
        #expect(try world.drain())
        #expect(world.sent.last?.request[header: "Seen"] == "upgraded")
        #expect(world.sent.last?.request[header: "Step"] == "2")
        #expect(try world.account("p").balances)
    }

    @Test func `keeps newer state unchanged and suspends the provider (E15)`() throws {
        let world = try VirtualWorld()
        try begun(world)
        try world.restart(.versioned(SecondVersion.self))
        try world.advance(by: .seconds(7200))
        let memory = try world.memory(of: "p")
        try world.capture(.event("b"))
        for _ in 0..<3 {
            try world.restart(.versioned(FirstVersion.self))
            #expect(try world.suspended("p")?.code == "engine.state.newer")
            try world.resume("p")
            #expect(try world.suspended("p")?.code == "engine.state.newer")
        }
        #expect(try world.memory(of: "p") == memory)
        try world.restart(.versioned(SecondVersion.self))
        #expect(try world.drain())
    }

    @Test func `keeps state that cannot be upgraded and suspends the provider (E15)`() throws {
        let world = try VirtualWorld()
        try begun(world)
        let memory = try world.memory(of: "p")
        for _ in 0..<2 {
            try world.restart(.versioned(CarelessVersion.self))
            #expect(try world.suspended("p")?.code == "engine.state.unreadable")
            try world.resume("p")
            #expect(try world.suspended("p")?.code == "engine.state.unreadable")
        }
        #expect(try world.memory(of: "p") == memory)
        try world.restart(.versioned(SecondVersion.self))
        #expect(try world.drain())
    }

    @Test func `neither uses nor overwrites unreadable memory (E15)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        try world.store.state.setMemory(provider: "p", lane: "", version: 1, body: Array(#"{"token":7}"#.utf8))
        try world.restart()
        try world.capture(.event("a"))
        #expect(world.sent.isEmpty)
        #expect(try world.suspended("p")?.code == "engine.state.unreadable")
        try world.resume("p")
        #expect(world.sent.isEmpty)
        #expect(try world.memory(of: "p") == ["": #"{"token":7}"#])
        try world.store.state.clearMemory(provider: "p", lane: nil)
        try world.resume("p")
        #expect(try world.drain())
    }

    @Test func `keeps an unreadable step and suspends the provider (E15)`() throws {
        let world = try VirtualWorld()
        world.network = { $0.number == 1 ? .says(["otherwise": "begun"]) : .silence }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        let sequence = try #require(try world.store.queues.list(provider: "p", limit: 1).first).operation.sequence
        try world.store.settlement.progress(provider: "p", sequence: sequence, step: [0x37], failures: 0, refusals: 0)
        try world.restart()
        #expect(try world.suspended("p")?.code == "engine.state.unreadable")
        #expect(try world.account("p").pending == 1)
        #expect(try world.store.queues.list(provider: "p", limit: 1).first?.step == [0x37])
    }

    @Test func `changed settings route pending operations again (E15)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(500) }
        try world.start(.pool(digest: "1"))
        try world.capture(.event("a"))
        world.network = { _ in .status(200) }
        try world.restart(
            .pool(digest: "2") {
                $0.suffix = "-2"; $0.waitsIndefinitely = true
            }
        )
        #expect(try world.store.queues.list(provider: "p", limit: 9).map(\.queue) == ["main-2"])
        try world.restart(.pool(digest: "2") { $0.suffix = "-2" })
        #expect(try world.drain())
        #expect(try world.account("p").balances)
    }
}

@Suite("Changed settings of a provider that is only drained") struct EngineObligationDraining {
    @Test func `changed settings route the operations of a drained provider again (E15)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .status(500) }
        try world.start(.pool(digest: "1"))
        try world.capture(.event("a"))
        try world.restart(.pool(mode: nil, digest: "1"))
        try world.restart(.pool(mode: nil, digest: "2") { $0.suffix = "-2" })
        #expect(try world.store.queues.list(provider: "p", limit: 9).map(\.queue).contains("main-2"))
        world.network = { _ in .status(200) }
        try world.restart()
        #expect(try world.drain())
        #expect(try world.account("p").balances)
    }
}

@Suite("One process delivers") struct EngineObligationLease {
    private func takeOver(_ world: VirtualWorld) throws -> Int64 {
        let now = world.host.date().milliseconds
        return try #require(
            try world.store.lease.acquire(owner: "another", now: now, duration: 30_000, isDead: { _ in true })
        )
    }

    @Test(arguments: [false, true])
    func `ignores a reply after the lease was lost and resumes delivery with the lease (E16)`(
        journaled: Bool
    ) throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.isJournaled = journaled })
        let operation = try world.capture(.event("a"))
        let epoch = try takeOver(world)
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: operation.id, on: "p") == nil)
        #expect(try world.account("p").pending == 1)
        #expect(try world.memory(of: "p") == [:])
        #expect(try world.store.state.journal(provider: "p").count == (journaled ? 1 : 0))
        try world.store.lease.release(owner: "another", epoch: epoch)
        try world.performMaintenance()
        #expect(try world.drain())
        #expect(world.sent.count == 2)
        #expect(try world.memory(of: "p") == ["": #"{"requests":1,"token":""}"#])
    }

    @Test func `a reply after a lost lease leaves no lane blocked (E16)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        try world.capture(.event("a"))
        let epoch = try takeOver(world)
        try world.performMaintenance()
        try world.advance(by: .seconds(1))
        try world.store.lease.release(owner: "another", epoch: epoch)
        try world.performMaintenance()
        #expect(try world.drain())
        #expect(try world.account("p").balances)
    }

    @Test(arguments: [Duration.seconds(29), .seconds(31)])
    func `a process checks an expired lease before it sends without a journal (E16)`(asleep: Duration) throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        let epoch = try takeOver(world)
        world.host.advance(by: asleep)
        try world.capture(.event("a"))
        // During its lease no other live process can take over, so it need not check the lease.
        #expect(world.sent.isEmpty == (asleep > .seconds(30)))
        try world.store.lease.release(owner: "another", epoch: epoch)
        // One look finds that it is lost, if that is not known yet; the next takes it back.
        try world.performMaintenance()
        try world.performMaintenance()
        #expect(try world.drain())
        #expect(try world.account("p").balances)
    }

    @Test func `a process without the lease writes no journal (E16)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool { $0.isJournaled = true })
        _ = try takeOver(world)
        try world.capture(.event("a"))
        #expect(world.sent.isEmpty)
        #expect(try world.store.state.journal(provider: "p").isEmpty)
    }

    @Test func `a query in a process that does not deliver ends at its deadline (E11)`() throws {
        let world = try VirtualWorld()
        try world.start(.pool())
        _ = try takeOver(world)
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        let query = EngagementOperation(
            id: "q",
            subject: "s",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("status"))
        )
        try world.read(query, from: "p", timeout: .seconds(5))
        try world.advance(by: .seconds(6))
        #expect(world.outcome(of: "q", on: "p")?.finding?.code == "engine.read.deadline")
    }
}
