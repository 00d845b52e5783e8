import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@Suite("The delivery engine") struct EngineObligationBasics {
    @Test func `sends captured operations in order and counts them`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        let ids = try (1...5).map { try world.capture(.event("e\($0)")).id.rawValue }
        #expect(try world.drain())
        #expect(world.sentOperations == ids)
        let account = try world.account("p")
        #expect(account.total("captured") == 5)
        #expect(account.total("accepted") == 5)
        #expect(account.balances)
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `a lane has one request in flight, and lanes run in parallel (E4)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        for subject: Subject in ["a", "a", "b", "b"] { try world.capture(.event("e"), subject: subject) }
        #expect(world.sent.count == 2)
        #expect(try world.drain())
        #expect(world.sent.count == 4)
    }

    @Test func `keeps a rejected operation with its finding for replay and sends the next one`() throws {
        let world = try VirtualWorld()
        world.network = {
            $0.number == 1 ? .outcome(.replied(WireResponse(422))) : .outcome(.replied(WireResponse(200)))
        }
        try world.start(.probe())
        let first = try world.capture(.event("a"))
        let second = try world.capture(.event("b"))
        #expect(try world.drain())
        #expect(world.outcome(of: first.id, on: "p")?.finding?.code == "probe.refused")
        #expect(world.outcome(of: second.id, on: "p")?.term == .accepted)
        let rejects = try world.store.rejects.list(provider: "p", limit: 10)
        #expect(rejects.map(\.operation.id) == [first.id.rawValue])
        #expect(try EngagementOperation(jsonBytes: #require(rejects.first).operation.body) == first)
    }

    @Test func `replays a reject once and leaves completed operations alone`() throws {
        let world = try VirtualWorld()
        world.network = { $0.number == 1 ? .status(422) : .status(200) }
        try world.start(.probe())
        let event = try world.capture(.event("a"))
        #expect(try world.drain())
        func replay(_ operation: EngagementOperation) throws -> [ReplayResult] {
            try Engine(store: world.store, plan: .probe(), host: world.host) { _, _ in nil }
                .replay([Engine.Replay(operation, on: "p")])
        }
        #expect(try replay(event) == [.pending])
        #expect(try replay(event) == [.alreadyPending])
        try world.restart(.probe())
        #expect(try world.drain())
        #expect(world.outcome(of: event.id, on: "p")?.term == .accepted)
        #expect(try replay(event) == [.alreadyEnded])
        // A reject of another outbox may be replayed here.
        var unknown = event
        unknown.id = "unknown"
        #expect(try replay(unknown) == [.pending])
        #expect(world.sent.count == 2)
        #expect(try world.account("p").balances)
    }

    @Test func `never sends a refused operation and does not count another vendor's push`() throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        let bad = try world.capture(.event("bad"))
        try world.capture(.track(.push(.tapped, payload: ["else": 1])))
        try world.capture(.track(.push(.tapped, payload: ["probe": 1])))
        #expect(try world.drain())
        #expect(world.sent.count == 1)
        #expect(world.outcome(of: bad.id, on: "p")?.term == .rejected)
        #expect(try world.account("p").total("captured") == 2)
        #expect(try world.account("p").balances)
    }

    @Test func `a failing queue hides no other queue (E7)`() throws {
        let world = try VirtualWorld()
        world.network = { sent in
            sent.request.url.hasSuffix("/track")
                ? .outcome(.replied(WireResponse(503))) : .outcome(.replied(WireResponse(200)))
        }
        try world.start(.probe())
        for _ in 1...100 { try world.capture(.event("e")) }
        let attribute = try world.capture(.set("tier", "gold"))
        try world.advance(by: .seconds(5))
        #expect(world.outcome(of: attribute.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").pending == 100)
    }

    @Test func `a retry waits until the instant of its verdict or a wake (E9)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(500))) }
        try world.start(.probe())
        try world.capture(.event("e"))
        try world.advance(by: .seconds(9))
        #expect(world.sent.count == 1)
        try world.advance(by: .seconds(2))
        #expect(world.sent.count == 2)
        try world.wake()
        #expect(world.sent.count == 3)
    }

    @Test func `a capture does not shorten the wait of a retry (E9)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(500))) }
        try world.start(.probe { $0.separatesEvents = false })
        try world.capture(.event("e"))
        for _ in 0..<4 {
            try world.advance(by: .seconds(2))
            try world.capture(.event("f"))
        }
        #expect(world.sent.count == 1)
        try world.advance(by: .seconds(3))
        #expect(world.sent.count == 2)
    }

    @Test func `an operation with two requests stays at the head of its queue`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.separatesEvents = false })
        let login = try world.capture(
            .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "c-1")]))
        )
        let event = try world.capture(.event("after"))
        #expect(try world.drain())
        #expect(world.sentOperations == [login.id, login.id, event.id].map(\.rawValue))
        #expect(world.sent[1].request.url.hasSuffix("/second"))
    }

    @Test func `each request has the credential of the contact of its operation`() throws {
        let world = try VirtualWorld()
        world.credentials = { _, contact in contact.map { Secret("token of \($0)") } }
        try world.start(.probe())
        try world.capture(.event("a"), contact: "anna")
        try world.capture(.event("b"), contact: "bo")
        #expect(try world.drain())
        #expect(world.sent.map { $0.request[header: "Authorization"] } == ["token of anna", "token of bo"])
    }

    @Test func `subjects and contacts that look alike have separate lanes, memory and credentials`() throws {
        let world = try VirtualWorld()
        world.credentials = { _, contact in contact.map { Secret("\($0.utf8.count) bytes") } }
        try world.start(.probe { $0.suppresses = true })
        let names = ["Zo\u{EB}", "Zoe\u{308}"]
        for name in names { try world.capture(.set("tier", "gold"), subject: Subject(rawValue: name), contact: name) }
        #expect(try world.drain())
        #expect(Set(world.sent.map { $0.request[header: "Authorization"] }) == ["4 bytes", "5 bytes"])
        #expect(try world.store.state.memories(provider: "p").count == 2)
        for name in names {
            let again = try world.capture(.set("tier", "gold"), subject: Subject(rawValue: name), contact: name)
            #expect(try world.drain())
            #expect(world.outcome(of: again.id, on: "p")?.term == .unchanged)
        }
        #expect(try world.account("p").balances)
    }

    @Test func `a courtesy delay ends at its instant, and a flush skips it (E6)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 30_000 })
        try world.capture(.event("a"))
        try world.advance(by: .seconds(29))
        #expect(world.sent.isEmpty)
        #expect(try world.waits(of: "p").map(\.code) == ["probe.waiting"])
        try world.advance(by: .seconds(2))
        #expect(world.sent.count == 1)
        try world.capture(.event("b"))
        try world.flush()
        #expect(world.sent.count == 2)
    }

    @Test func `settles an unchanged value without a request, also after a restart (E1)`() throws {
        let world = try VirtualWorld()
        let plan = RoutingPlan.probe { $0.suppresses = true }
        try world.start(plan)
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try world.restart()
        let again = try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        #expect(world.sent.count == 1)
        #expect(world.outcome(of: again.id, on: "p")?.term == .unchanged)
    }

    @Test func `a query bypasses a blocked queue and ends at its deadline (E11)`() throws {
        let world = try VirtualWorld()
        world.network = { sent in
            sent.request.url.hasSuffix("/readBack")
                ? .outcome(.replied(WireResponse(200, json: ["answer": 42]))) : .outcome(.replied(WireResponse(500)))
        }
        try world.start(.probe { $0.separatesEvents = false })
        try world.capture(.event("stuck"))
        try world.advance(by: .seconds(1))
        let query = EngagementOperation(
            id: "q-1",
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("status"))
        )
        try world.read(query, from: "p")
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: "q-1", on: "p")?.answer == ["answer": 42])
        world.network = { _ in .silence }
        var late = query
        late.id = "q-2"
        try world.read(late, from: "p", timeout: .seconds(90))
        try world.advance(by: .seconds(200))
        #expect(world.outcome(of: "q-2", on: "p")?.finding?.code == "engine.read.deadline")
        #expect(try world.account("p").total("captured") == 1)
    }

    @Test func `reports the reason while a query waits for its retry`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(503))) }
        try world.start(.probe())
        let query = EngagementOperation(
            id: "q-1",
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("status"))
        )
        try world.read(query, from: "p", timeout: .seconds(3_600))
        try world.advance(by: .seconds(1))
        #expect(try world.waits(of: "p").first?.reason.contains("503") == true)
        world.network = { _ in .outcome(.replied(WireResponse(200, json: ["answer": 42]))) }
        try world.advance(by: .seconds(600))
        #expect(world.outcome(of: "q-1", on: "p")?.answer == ["answer": 42])
        #expect(try world.waits(of: "p").isEmpty)
    }
}

@Suite("The engine and faulty adapters") struct EngineObligationFaultyAdapters {
    @Test func `suspends an adapter that plans in circles and keeps its operations (E10)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.plansInCircles = true })
        try world.capture(.event("e"))
        #expect(try world.suspended("p")?.code == "engine.adapter.loops")
        #expect(try world.account("p").pending == 1)
        try world.restart(.probe())
        #expect(try world.drain())
        #expect(try world.account("p").balances)
    }

    @Test func `treats a missing verdict as a retry after a minute and reports a finding (E10)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.returnsNoVerdict = true })
        try world.capture(.event("e"))
        try world.advance(by: .seconds(59))
        #expect(world.sent.count == 1)
        #expect(
            world.reportedEvents.contains {
                if case .noticed("p", let f) = $0.event { f.code == "engine.adapter.verdictMissing" } else { false }
            }
        )
        try world.advance(by: .seconds(3))
        #expect(world.sent.count == 2)
    }
}

@Suite("The engine and time") struct EngineObligationTime {
    @Test(arguments: [-1_000_000, 1_000_000]) func `a jump of the wall clock does not change a wait (E8)`(seconds: Int)
        throws
    {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 30_000 })
        try world.capture(.event("a"))
        world.host.jump(by: .seconds(seconds))
        try world.advance(by: .seconds(29))
        #expect(world.sent.isEmpty)
        try world.advance(by: .seconds(1))
        #expect(world.sent.count == 1)
    }

    @Test func `counts the time without a process and over a reboot and never runs backward (E8)`() throws {
        let world = try VirtualWorld()
        let plan = RoutingPlan.probe { $0.courtesy = 3_600_000 }
        try world.start(plan)
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1800))
        try world.reboot(after: .seconds(1801))
        try world.advance(by: .seconds(1))
        #expect(world.sent.count == 1)
        try world.capture(.event("b"))
        world.host.jump(by: .seconds(-86_400 * 365))
        try world.reboot(after: .seconds(1))
        try world.advance(by: .seconds(3500))
        #expect(world.sent.count == 1)
        try world.advance(by: .seconds(200))
        #expect(world.sent.count == 2)
    }

    @Test func `the time of a request is never earlier than that of the previous request (E8)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 60_000 })
        try world.capture(.event("a"))
        // The request leaves a minute after the last transaction and is in flight when the machine is switched off.
        world.network = { _ in .silence }
        try world.advance(by: .seconds(61))
        #expect(world.sent.count == 1)
        world.host.jump(by: .seconds(-86_400))
        try world.reboot(after: .seconds(1))
        // A minute later by the engine's time. A timeline that ran backwards would be at the start of that minute.
        try world.capture(.event("b"), subject: "other")
        try world.advance(by: .seconds(61))
        #expect(world.sent.count > 1)
        #expect(world.now.map { $0 > world.sent[0].now + .seconds(60) } ?? false)
        #expect(world.sent[0].now <= world.sent[1].now)
    }
}

@Suite("The engine and crashes") struct EngineObligationDeath {
    struct Death: Error {}

    @Test func `sends captured operations at the next start (E3)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 1000 })
        try world.capture(.event("a"))
        try world.restart()
        #expect(try world.drain())
        #expect(world.sent.count == 1)
    }

    @Test func `repeats a plain request in flight at a crash and queries a journaled one (E3)`() throws {
        for isJournaled in [false, true] {
            let world = try VirtualWorld()
            try world.start(.probe { $0.isJournaled = isJournaled })
            let operation = try world.capture(.event("a"))
            #expect(world.sent.count == 1)
            try world.restart()
            #expect(try world.drain())
            #expect(world.sent.count == (isJournaled ? 1 : 2))
            #expect(
                world.outcome(of: operation.id, on: "p")?.finding?.reason.contains("interrupted") ?? false
                    == isJournaled
            )
            #expect(try world.account("p").balances)
        }
    }

    @Test func `the journal contains no secret`() throws {
        let world = try VirtualWorld()
        world.credentials = { _, _ in Secret("s3cret") }
        try world.start(.probe { $0.isJournaled = true })
        try world.capture(.event("a"))
        let journal = try #require(try world.store.state.journal(provider: "p").first)
        #expect(!String(decoding: journal.request, as: UTF8.self).contains("s3cret"))
    }

    @Test(arguments: [StoragePoint.begin(.full), .beforeCommit(.full), .afterCommit(.full)])
    func `a crash during a capture loses no acknowledged operation (E3)`(point: StoragePoint) throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 1000 })
        try world.capture(.event("before"))
        world.onStorage { if $0 == point { throw Death() } }
        #expect(throws: Death.self) { try world.capture(.event("during")) }
        world.onStorage(nil)
        try world.restart()
        #expect(try world.drain())
        #expect(try world.account("p").total("captured") == (point == .afterCommit(.full) ? 2 : 1))
        #expect(try world.account("p").balances)
    }

    @Test(arguments: [StoragePoint.beforeCommit(.normal), .afterCommit(.normal)])
    func `a crash during a settlement leaves one outcome per operation (E3)`(point: StoragePoint) throws {
        let world = try VirtualWorld()
        try world.start(.probe())
        let operation = try world.capture(.event("a"))
        world.onStorage { if $0 == point { throw Death() } }
        #expect(throws: Death.self) { try world.advance(by: .seconds(1)) }
        world.onStorage(nil)
        try world.restart()
        #expect(try world.drain())
        #expect(world.sent.count == (point == .afterCommit(.normal) ? 1 : 2))
        #expect(try world.store.history.entries(provider: "p", limit: 10).map(\.id) == [operation.id.rawValue])
        #expect(try world.account("p").balances)
    }
}

@Suite("Switching providers") struct EngineObligationSwitch {
    private func attributes(_ world: VirtualWorld, _ provider: String) -> [String] {
        world.sent.filter { $0.provider == provider }.map { String(decoding: $0.request.body, as: UTF8.self) }
    }

    private func old(_ change: (inout ProbeDevice.Settings) -> Void = { _ in }) -> RoutingPlan.Provider {
        RoutingPlan.probe("old", mode: nil, change).providers[0]
    }

    @Test func `sends the whole state to an added provider before new captures (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old"))
        try world.capture(.set("tier", "gold"))
        try world.capture(.changeTags(TagChange(add: ["sports"])))
        #expect(try world.drain())
        try world.restart(.probe("new", others: [old()]))
        try world.capture(.event("first"))
        #expect(try world.drain())
        let received = attributes(world, "new")
        #expect(received.count == 3)
        #expect(received[0].contains("gold"))
        #expect(received[1].contains("sports"))
        let account = try world.account("new")
        #expect(account.lines["created"] == ["snapshot": 2])
        #expect(account.total("captured") == 1)
        #expect(account.balances)
    }

    @Test func `drain delivers pending operations to the old provider and its unregister last (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old") { $0.courtesy = 10_000 })
        try world.capture(.event("a"))
        try world.capture(.event("b"))
        try world.restart(.probe("new", onSwitch: .drain, others: [old()]))
        #expect(try world.drain())
        #expect(world.sent.filter { $0.provider == "old" }.count == 3)
        #expect(world.sent.filter { $0.provider == "new" }.isEmpty)
        #expect(world.sent.last?.request.url.hasSuffix("/unregister") ?? false)
        #expect(try world.account("old").balances)
        try world.restart()
        #expect(try world.drain())
        #expect(world.sent.filter { $0.request.url.hasSuffix("/unregister") }.count == 1)
    }

    @Test func `retarget moves operations that have not begun exactly once (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old") { $0.courtesy = 10_000 })
        let ids = try ["a", "b"].map { try world.capture(.event($0)).id.rawValue }
        try world.restart(.probe("new", onSwitch: .retarget, others: [old()]))
        #expect(try world.drain())
        #expect(world.sent.filter { $0.provider == "new" }.compactMap { $0.request[header: "Operation"] } == ids)
        #expect(
            world.sent.filter { $0.provider == "old" }.map(\.request.url).allSatisfy { $0.hasSuffix("/unregister") }
        )
        #expect(try world.account("old").total("moved") == 2)
        for account in try world.accounts() { #expect(account.balances) }
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `the old provider completes an operation that it has begun (E13)`() throws {
        let world = try VirtualWorld()
        world.network = {
            $0.number == 1 ? .outcome(.replied(WireResponse(200))) : .outcome(.replied(WireResponse(500)))
        }
        try world.start(.probe("old"))
        let login = try world.capture(.switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "c")])))
        try world.advance(by: .seconds(1))
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        try world.restart(.probe("new", onSwitch: .retarget, others: [old()]))
        #expect(try world.drain())
        #expect(world.outcome(of: login.id, on: "old")?.term == .accepted)
        #expect(!world.sent.contains { $0.provider == "new" && $0.request[header: "Operation"] == login.id.rawValue })
    }

    @Test func `keeps and reports operations of a provider that the configuration no longer names (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe("old") { $0.courtesy = 10_000 })
        try world.capture(.event("a"))
        try world.restart(.probe("new"))
        #expect(
            world.reportedEvents.contains {
                if case .noticed("old", let f) = $0.event { f.code == "engine.provider.unconfigured" } else { false }
            }
        )
        #expect(try world.account("old").pending == 1)
        #expect(try world.account("old").balances)
    }
}

@Suite("Consent and erasure in the engine") struct EngineObligationConsent {
    @Test func `unknown consent holds operations, and a grant releases them with original times (E14)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: [.tracking]))
        let operation = try world.capture(.event("a"))
        try world.advance(by: .seconds(60))
        #expect(world.sent.isEmpty)
        #expect(try world.account("p").held == ["consent.tracking": 1])
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .granted)))
        #expect(try world.drain())
        let body = try #require(world.sent.first { $0.request.url.hasSuffix("/track") }).request.body
        #expect(try EngagementOperation(jsonBytes: body).capturedAt == operation.capturedAt)
    }

    @Test func `a denial drops waiting and later operations (E14)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: [.tracking]))
        try world.capture(.event("a"))
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .denied)))
        try world.capture(.event("b"))
        #expect(try world.drain())
        #expect(!world.sent.contains { $0.request.url.hasSuffix("/track") })
        #expect(try world.account("p").lines["dropped"] == ["engine.consent.denied": 2])
        #expect(try world.account("p").balances)
    }

    @Test func `drops an operation that does not wait for consent and reports the reason (E14)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: [.profile]))
        let identify = try world.capture(.identify([Identifier(.email, "a@example.org")]))
        #expect(world.outcome(of: identify.id, on: "p")?.finding?.code == "engine.consent.unknown")
    }

    @Test func `an erasure withdraws pending operations and deletes the subject snapshot (E14)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe { $0.courtesy = 10_000 })
        try world.capture(.set("tier", "gold"))
        try world.capture(.erase)
        #expect(try world.account("p").total("erased") == 1)
        #expect(try world.snapshot()?.attributes.isEmpty ?? true)
        #expect(try world.drain())
        #expect(world.sent.count == 1)
        #expect(try world.account("p").balances)
    }
}

@Suite("Several providers at once") struct FanOutTests {
    @Test(arguments: [["a", "b"], ["b", "a"]])
    func `delivers an operation to one provider when the other refuses it`(names: [String]) throws {
        let world = try VirtualWorld()
        let open = RoutingPlan.Provider(
            name: names[1],
            adapter: TolerantProbe(settings: TolerantProbe.Settings()),
            mode: .live
        )
        try world.start(.probe(names[0], others: [open]))
        let operation = try world.capture(.event("bad"))
        #expect(try world.drain())
        #expect(world.outcome(of: operation.id, on: names[0])?.term == .rejected)
        #expect(world.outcome(of: operation.id, on: names[1])?.term == .accepted)
        for account in try world.accounts() { #expect(account.balances) }
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `keeps one reject per provider and deletes an operation that all refuse`() throws {
        let world = try VirtualWorld()
        let second = RoutingPlan.probe("b").providers
        try world.start(.probe("a", others: second))
        try world.capture(.event("bad"))
        #expect(try world.store.rejects.list(provider: nil, limit: 10).map(\.provider).sorted() == ["a", "b"])
        let report = try world.store.maintenance.verify()
        #expect(report.isSound)
        #expect(report.operations == 0)
    }
}

/// A vendor that accepts everything.
struct TolerantProbe: VendorAdapter {
    struct Settings: AdapterSettings { static let table = SettingsTable<Settings>([]) }
    enum Endpoint: String, AdapterEndpoint { case all }
    static let descriptor = AdapterDescriptor(
        id: "tolerant",
        title: "Tolerant",
        capabilities: [:],
        tables: .init(
            rules: [],
            findings: [],
            replies: ReplyTable([], otherwise: .otherwise(.accepted, rule: RuleID("tolerant", "1")))
        )
    )

    init(settings: Settings) {}

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .send(Transmission(.all, WireRequest("POST", "http://tolerant.test/"), carrying: [pending[0]]))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in .accepted() }
    }
}

@Suite("The system host") struct SystemHostTests {
    @Test func `treats clients of one process as alive and an earlier process with the same number as dead`() throws {
        let (one, other) = (SystemHost(), SystemHost())
        #expect(one.process != other.process)
        #expect(!one.isDead(other.process))
        #expect(!one.isDead(one.process))
        let parts = one.process.split(separator: "/")
        let numbers = try #require(parts.count == 4 ? parts[3] : nil)
        #expect(one.isDead("\(parts[0])/\(parts[1])/none/\(numbers)"))
        #expect(one.isDead("\(parts[0])/another-boot/\(parts[2])/\(numbers)"))
        #expect(one.isDead("\(Self.unusedProcessNumber)/\(parts[1])/gone/\(numbers)"))
        #expect(!one.isDead("1/\(parts[1])/init/\(numbers)"))
        #expect(!one.isDead("x/\(parts[1])/init/\(numbers)"))
    }

    /// A process number that no system assigns.
    private static let unusedProcessNumber = Int32.max

    @Test func `does not treat a process of another container as dead`() throws {
        let host = SystemHost()
        let boot = host.boot
        for number in ["1", "\(host.process.prefix { $0 != "/" })", "\(Self.unusedProcessNumber)"] {
            #expect(!host.isDead("\(number)/\(boot)/none/another"))
            #expect(!host.isDead("\(number)/another-boot/none/another"))
        }
    }

    @Test func `reads a process name of an earlier release without a container`() throws {
        let host = SystemHost()
        #expect(host.isDead("\(host.process.prefix { $0 != "/" })/\(host.boot)/none"))
        #expect(host.isDead("\(Self.unusedProcessNumber)/\(host.boot)/none"))
        #expect(host.isDead("1/another-boot/none"))
        #expect(!host.isDead("1/\(host.boot)/init"))
        #expect(!host.isDead("") && !host.isDead("a/b"))
    }

    @Test func `ids are ordered by time and never repeat`() {
        let host = SystemHost()
        let ids = (0..<1000).map { _ in host.makeID().rawValue }
        #expect(Set(ids).count == 1000)
        #expect(ids.allSatisfy { $0.utf8.count == 36 && $0.dropFirst(14).first == "7" })
        #expect(ids.allSatisfy { "89ab".contains($0.dropFirst(19).prefix(1)) })
        // The order includes the counter within a millisecond, unless it restarts or the clock is set back once.
        #expect(zip(ids, ids.dropFirst()).count { $0 >= $1 } <= 2)
        // The 62 random bits differ in every id.
        #expect(Set(ids.map { $0.suffix(17) }).count == 1000)
    }
}
