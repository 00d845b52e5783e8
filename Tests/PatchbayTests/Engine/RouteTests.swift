import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

extension RoutingPlan.Provider {
    /// Returns a provider that uses ``ProbeDevice`` on a route.
    static func route(
        _ name: String,
        _ mode: RoutingPlan.Mode?,
        _ percent: Range<Int> = 0..<100,
        sends: Bool = false,
        courtesy: Int = 0
    ) -> RoutingPlan.Provider {
        var settings = ProbeDevice.Settings()
        settings.courtesy = courtesy
        return RoutingPlan.Provider(
            name: name,
            adapter: ProbeDevice(settings: settings),
            mode: mode,
            share: Share(percent.lowerBound * 100..<percent.upperBound * 100),
            sendsShadow: sends
        )
    }

    /// Returns a provider that accepts no attributes.
    static func picky(_ name: String, _ mode: RoutingPlan.Mode? = .live) -> RoutingPlan.Provider {
        RoutingPlan.Provider(name: name, adapter: PickyDevice(settings: .init()), mode: mode)
    }
}

extension RoutingPlan {
    static func routes(
        _ policy: SwitchPolicy = .drain,
        _ providers: Provider...,
        onLoss: LossPolicy = .refuse
    ) -> RoutingPlan {
        RoutingPlan(providers: providers, onSwitch: policy, onLoss: onLoss)
    }
}

extension VirtualWorld {
    /// Returns the kinds of the operations that were sent to a provider, in order.
    func sentKinds(to provider: String) -> [String] {
        sent.filter { $0.provider == provider }.compactMap {
            $0.request.url.split(separator: "/").last.map(String.init)
        }
    }

    /// Returns the ids of the operations that were sent to a provider.
    func ids(_ provider: String) -> [String] {
        sent.filter { $0.provider == provider }.compactMap { $0.request[header: "Operation"] }
    }

    func expectSound() throws {
        for account in try accounts() { #expect(account.balances, "\(account.provider)") }
        #expect(try store.maintenance.verify().isSound)
    }
}

@Suite("Shadow routes") struct EngineObligationShadow {
    @Test func `examines a shadow beside the live provider without requests or outcomes (E19)`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("live", .live), .route("next", .shadow)))
        let good = try world.capture(.event("good"))
        let bad = try world.capture(.event("bad"))
        #expect(try world.drain())
        #expect(world.sentKinds(to: "next").isEmpty)
        let account = try world.account("next")
        #expect(account.total("captured") == 2)
        #expect(account.total("shadowed") == 2)
        #expect(account.lines["shadowed"] == ["": 1, "probe.refused": 1])
        #expect(account.total("accepted") == 0)
        #expect(world.outcome(of: good.id, on: "next")?.term == .shadowed)
        #expect(world.outcome(of: bad.id, on: "next")?.finding?.code == "probe.refused")
        #expect(try world.store.rejects.list(provider: "next", limit: 9).isEmpty)
        try world.expectSound()
    }

    @Test func `reports per kind what the shadow refuses alone and what all providers refuse`() throws {
        let world = try VirtualWorld()
        let picky = RoutingPlan.Provider.picky("next", .shadow)
        try world.start(.routes(.drain, .route("live", .live), picky))
        try world.capture(.event("good"))
        try world.capture(.event("bad"))
        try world.capture(.changeTags(TagChange(add: ["homeless"])))
        try world.capture(.set("city", .string("Turku")))
        try world.capture(.set("city", .string("Oulu")))
        #expect(
            try world.account("next").shadowRun == [
                ShadowRunLine(.taken, "track", count: 2),
                ShadowRunLine(.taken, "changeTags", count: 1),
                ShadowRunLine(.refused, "changeAttributes", count: 2),
                ShadowRunLine(.onlyHere, "action.changes.city", code: "picky.refused", count: 2),
                ShadowRunLine(.onlyLive, "action.event.name", code: "probe.refused", count: 1),
                ShadowRunLine(.onlyLive, "action.tags.add", code: "probe.refused", count: 1),
            ]
        )
    }

    @Test func `sends a shadow's requests to its sandbox and ignores the replies in the accounts (E19)`() throws {
        let world = try VirtualWorld()
        world.network = { sent in
            .outcome(.replied(WireResponse(sent.provider == "next" && sent.number > 2 ? 400 : 200)))
        }
        try world.start(.routes(.drain, .route("live", .live), .route("next", .shadow, sends: true)))
        try world.capture(.event("first"))
        try world.advance(by: .seconds(1))
        let second = try world.capture(.event("second"))
        #expect(try world.drain())
        #expect(world.sentKinds(to: "next") == ["track", "track"])
        #expect(world.outcome(of: second.id, on: "next")?.term == .shadowed)
        #expect(world.outcome(of: second.id, on: "next")?.finding?.code == "probe.refused")
        #expect(try world.account("next").total("shadowed") == 2)
        #expect(try world.account("next").total("rejected") == 0)
        try world.expectSound()
    }

    @Test(arguments: [false, true])
    func `a shadow that goes live starts with the whole state and an empty memory (E13, E19)`(
        sends: Bool
    ) throws {
        let world = try VirtualWorld()
        let shadow = RoutingPlan.Provider.route("next", .shadow, sends: sends, courtesy: 3_600_000)
        try world.start(.routes(.drain, .route("live", .live), shadow))
        try world.capture(.set("city", .string("Turku")))
        try world.capture(.event("shadowed"))
        try world.advance(by: .seconds(1))
        try world.reconfigure(.routes(.drain, .route("live", .live), .route("next", .live)))
        #expect(try world.drain())
        #expect(world.sentKinds(to: "next") == ["changeAttributes"])
        #expect(try world.account("next").total("accepted") == 1)
        try world.expectSound()
    }

    @Test func `refuses a sending shadow while real operations of its provider are pending`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("a", .live, courtesy: 3_600_000)))
        try world.capture(.event("real"))
        let refusal = #expect(throws: SwitchRefusal.self) {
            try world.reconfigure(.routes(.drain, .route("b", .live), .route("a", .shadow, sends: true)))
        }
        #expect(refusal?.count == 1)
        #expect(try world.drain())
        #expect(world.sentKinds(to: "a") == ["track"])
    }

    @Test
    func `a live provider becomes a sending shadow only after its unregister was sent (E13, E19)`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("a", .live), .route("b", .live)))
        try world.capture(.event("real"))
        #expect(try world.drain())
        let sandbox = RoutingPlan.routes(.drain, .route("b", .live), .route("a", .shadow, sends: true))
        let refusal = #expect(throws: SwitchRefusal.self) { try world.reconfigure(sandbox) }
        #expect(refusal?.reason.contains("unregister") == true)
        try world.reconfigure(.routes(.drain, .route("b", .live), .route("a", nil)))
        #expect(try world.drain())
        #expect(world.sentKinds(to: "a") == ["track", "unregister"])
        try world.reconfigure(sandbox)
        #expect(try world.drain())
        try world.expectSound()
    }

    @Test(arguments: [RoutingPlan.SwitchPolicy.retarget, .both], [false, true])
    func `retargets shadowed operations to the shadow once it is live (E13, E19)`(
        policy: RoutingPlan.SwitchPolicy,
        sends: Bool
    ) throws {
        let world = try VirtualWorld()
        let old = RoutingPlan.Provider.route("old", .live, courtesy: 3_600_000)
        try world.start(.routes(.drain, old, .route("next", .shadow, sends: sends, courtesy: 3_600_000)))
        let event = try world.capture(.event("shadowed, then real"))
        try world.advance(by: .seconds(1))
        try world.reconfigure(
            .routes(policy, .route("old", nil, courtesy: 3_600_000), .route("next", .live))
        )
        #expect(try world.drain())
        #expect(world.ids("next") == [event.id.rawValue])
        #expect(try world.account("next").total("accepted") == 1)
        #expect(world.ids("old").contains(event.id.rawValue) == (policy == .both))
        try world.expectSound()
    }

    @Test
    func `a live provider delivers and unregisters before it becomes a shadow (E13, E19)`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("a", .live, courtesy: 3_600_000), .route("b", .live)))
        let real = try world.capture(.event("real"))
        try world.restart(.routes(.drain, .route("a", .shadow, courtesy: 3_600_000), .route("b", .live)))
        let shadowed = try world.capture(.event("shadowed"))
        #expect(try world.drain())
        #expect(world.sentKinds(to: "a") == ["track", "unregister"])
        #expect(world.outcome(of: real.id, on: "a")?.term == .accepted)
        #expect(world.outcome(of: shadowed.id, on: "a")?.term == .shadowed)
        try world.expectSound()
    }

    @Test func `sends an erasure once to a shadow that has received data of the person (E19)`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("a", .live), .route("b", .live)))
        try world.capture(.set("city", "Turku"))
        #expect(try world.drain())
        try world.restart(.routes(.drain, .route("a", .shadow), .route("b", .live)))
        let erasure = try world.capture(.erase)
        #expect(try world.drain())
        #expect(world.outcome(of: erasure.id, on: "a")?.term == .accepted)
        #expect(world.ids("a").filter { $0 == erasure.id.rawValue }.count == 1)
        try world.expectSound()
    }

    @Test func `rejects a query to a shadow at once without a request (E12, E19)`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("live", .live), .route("next", .shadow)))
        let query = EngagementOperation(
            id: world.host.makeID(),
            subject: "installation-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest("status"))
        )
        try world.read(query, from: "next")
        #expect(world.outcome(of: query.id, on: "next")?.term == .rejected)
        #expect(world.sent.isEmpty)
    }
}

/// A vendor without attributes that accepts everything else.
struct PickyDevice: VendorAdapter {
    struct Settings: AdapterSettings {
        static let table = SettingsTable<Settings>([])
    }

    struct Memory: AdapterMemory {}
    enum Endpoint: String, AdapterEndpoint { case plain }
    enum Step: Codable, Sendable, Equatable { case only }

    static let refused = FindingRow(.error("picky.refused", .unsupported), reason: "No attributes", remedy: "None.")
    static let descriptor = AdapterDescriptor(
        id: "picky",
        title: "Picky",
        delivery: .init(window: 1),
        capabilities: [.operation(.track): .native()],
        tables: .init(
            rules: [],
            findings: [refused],
            replies: ReplyTable([], otherwise: .otherwise(.refused, refused, rule: RuleID("picky", "1")))
        )
    )

    init(settings: Settings) {}

    func examine(_ operation: EngagementOperation) -> [Finding] {
        guard case .changeAttributes(let changes) = operation.action else { return [] }
        return changes.keys.sorted().map { Self.refused.at("action.changes.\($0.rawValue)") }
    }

    func place(_ operation: EngagementOperation) -> Place { Place(lane: "", queue: "") }

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        .send(Transmission(.plain, WireRequest("POST", "http://picky.test/"), carrying: [pending[0]]))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in .accepted() }
    }
}

@Suite("Percentage routes") struct PercentageTests {
    /// Returns a contact in a share, found by trying.
    private func contact(in share: Share) throws -> String {
        try #require((0..<1000).map { "member-\($0)" }.first { share.holds($0, on: "any") })
    }

    private let small = Share(0..<1000)
    private let large = Share(1000..<10_000)

    @Test(arguments: [
        ("", 1652), ("member-1", 1769), ("aino@example.org", 2885), ("Åbo", 820),
    ])
    func `computes a contact's position in the percentage as other programs do`(contact: String, place: Int) {
        #expect(Share.place(of: contact) == place)
    }

    @Test func `a contact's share is the same for every installation, and the shares have the right size`() {
        let contacts = (0..<20_000).map { "member-\($0)" }
        let first = contacts.filter { small.holds($0, on: "one") }
        #expect(first == contacts.filter { small.holds($0, on: "another") })
        #expect(first.allSatisfy { !large.holds($0, on: "one") })
        #expect((1_800...2_200).contains(first.count))
    }

    private func plan(_ policy: RoutingPlan.SwitchPolicy = .drain, at border: Int, courtesy: Int = 0) -> RoutingPlan {
        .routes(
            policy,
            .route("new", .percentage, 0..<border, courtesy: courtesy),
            .route("old", .percentage, border..<100, courtesy: courtesy)
        )
    }

    @Test func `sends an operation only to its contact's share`() throws {
        let world = try VirtualWorld()
        try world.start(plan(at: 10))
        let (few, many) = (try contact(in: small), try contact(in: large))
        let a = try world.capture(.event("a"), subject: "s-1", contact: few)
        let b = try world.capture(.event("b"), subject: "s-2", contact: many)
        #expect(try world.drain())
        #expect(world.ids("new") == [a.id.rawValue])
        #expect(world.ids("old") == [b.id.rawValue])
        try world.expectSound()
    }

    @Test func `moves the state to the contact's share at a log-in and unregisters the other`() throws {
        let world = try VirtualWorld()
        try world.start(plan(at: 10))
        let (few, many) = (try contact(in: small), try contact(in: large))
        // The installation itself belongs to the larger side.
        let subject = Subject(rawValue: many)
        try world.capture(.set("city", .string("Turku")), subject: subject)
        try world.capture(.event("before"), subject: subject)
        let login = ContactSwitch(.logIn, identifiers: [Identifier(.external, few)])
        try world.capture(.switchContact(login), subject: subject, contact: few)
        try world.capture(.event("after"), subject: subject, contact: few)
        #expect(try world.drain())
        #expect(world.sentKinds(to: "old").last == "unregister")
        #expect(world.sentKinds(to: "old").count == 3)
        #expect(
            Set(world.sentKinds(to: "new")) == ["switchContact", "second", "identify", "changeAttributes", "track"]
        )
        #expect(world.sentKinds(to: "new").filter { $0 == "track" }.count == 1)
        try world.expectSound()
    }

    @Test func `sends the whole state again to a share that was empty for a while`() throws {
        let world = try VirtualWorld()
        let contact = try contact(in: small)
        func plan(_ percent: Int) -> RoutingPlan {
            .routes(.drain, .route("new", .percentage, 0..<percent), .route("old", .percentage, percent..<100))
        }
        try world.start(plan(10))
        try world.capture(.set("city", .string("Turku")), subject: "s", contact: contact)
        try world.capture(
            .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, contact)])),
            subject: "s",
            contact: contact
        )
        for percent in [0, 10] {
            #expect(try world.drain())
            try world.restart(plan(percent))
        }
        #expect(try world.drain())
        #expect(world.sentKinds(to: "new").filter { $0 == "changeAttributes" }.count == 2)
        #expect(world.sentKinds(to: "new").filter { $0 == "unregister" }.count == 1)
        try world.expectSound()
    }

    @Test(arguments: [RoutingPlan.SwitchPolicy.drain, .retarget, .both])
    func `a larger share moves exactly the contacts between the old and the new border`(
        policy: RoutingPlan.SwitchPolicy
    ) throws {
        let world = try VirtualWorld()
        try world.start(plan(policy, at: 10, courtesy: 3_600_000))
        let middle = try contact(in: Share(1000..<5000))
        let others = [try contact(in: small), try contact(in: Share(5000..<10_000))]
        let moved = try world.capture(.event("moves"), subject: "m", contact: middle)
        let stays = try others.map { try world.capture(.event("stays"), subject: Subject(rawValue: $0), contact: $0) }
        try world.reconfigure(plan(policy, at: 50))
        #expect(try world.drain())
        #expect(world.ids("new").contains(moved.id.rawValue) == (policy != .drain))
        #expect(world.ids("old").contains(moved.id.rawValue) == (policy != .retarget))
        #expect(world.ids("new").contains(stays[0].id.rawValue))
        #expect(world.ids("old").contains(stays[1].id.rawValue))
        #expect(world.sentKinds(to: "old").filter { $0 == "unregister" }.count == 1)
        #expect(world.sentKinds(to: "new").filter { $0 == "unregister" }.isEmpty)
        try world.reconfigure(plan(policy, at: 10))
        #expect(try world.drain())
        #expect(world.sentKinds(to: "new").filter { $0 == "unregister" }.count == 1)
        try world.expectSound()
    }
}

@Suite("Changing the configuration while work is pending") struct EngineObligationReconfigure {
    @Test func `settles a request in flight with its own provider and moves the rest (E13)`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(200)), after: .seconds(3)) }
        try world.start(.routes(.retarget, .route("a", .live)))
        let first = try world.capture(.event("in flight"))
        let second = try world.capture(.event("waits"))
        try world.reconfigure(.routes(.retarget, .route("a", nil), .route("b", .live)))
        #expect(try world.drain())
        #expect(world.outcome(of: first.id, on: "a")?.term == .accepted)
        #expect(world.ids("a").filter { $0 == first.id.rawValue }.count == 1)
        #expect(!world.ids("b").contains(first.id.rawValue))
        #expect(world.ids("b").filter { $0 == second.id.rawValue }.count == 1)
        #expect(!world.ids("a").contains(second.id.rawValue))
        try world.expectSound()
    }

    @Test func `policy both drains the old provider and also sends to the new one (E13)`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.both, .route("a", .live, courtesy: 60_000)))
        let operation = try world.capture(.event("pending"))
        try world.reconfigure(.routes(.both, .route("a", nil, courtesy: 60_000), .route("b", .live)))
        #expect(try world.drain())
        for name in ["a", "b"] { #expect(world.ids(name).filter { $0 == operation.id.rawValue }.count == 1) }
        #expect(world.sentKinds(to: "a").last == "unregister")
        #expect(try world.account("a").total("moved") == 0)
        try world.expectSound()
    }

    @Test(arguments: [false, true])
    func `refuses a switch that would lose pending operations, lists them and changes nothing (E13)`(
        atStart: Bool
    ) throws {
        let world = try VirtualWorld()
        let old = RoutingPlan.routes(.drain, .route("a", .live, courtesy: 60_000))
        try world.start(old)
        let picky = RoutingPlan.Provider.picky("b")
        let taken = try world.capture(.event("taken"))
        let lost = try world.capture(.set("city", .string("Turku")))
        let next = RoutingPlan.routes(.retarget, .route("a", nil), picky)
        let refusal = #expect(throws: SwitchRefusal.self) {
            if atStart { try world.restart(next) } else { try world.reconfigure(next) }
        }
        #expect(refusal?.operations.map(\.id) == [lost.id])
        #expect(refusal?.operations.first?.refusals["b"]?.code == "picky.refused")
        #expect(refusal?.description.contains("onLoss") == true)
        #expect(try world.store.state.providers().map(\.name) == ["a"])
        if atStart { try world.restart(old) }
        #expect(try world.drain())
        #expect(Set(world.ids("a")) == [taken.id.rawValue, lost.id.rawValue])
        try world.expectSound()
    }

    @Test func `keeps lost operations as rejects when the loss policy allows it`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.drain, .route("a", .live, courtesy: 60_000)))
        let picky = RoutingPlan.Provider.picky("b")
        let lost = try world.capture(.set("city", .string("Turku")))
        try world.reconfigure(.routes(.retarget, .route("a", nil), picky, onLoss: .reject))
        #expect(try world.drain())
        #expect(try world.store.rejects.list(provider: "b", limit: 9).map(\.operation.id).contains(lost.id.rawValue))
        try world.expectSound()
    }

    @Test(arguments: [false, true])
    func `refuses another adapter under the name of a provider that was not removed (E13)`(isPending: Bool) throws {
        let world = try VirtualWorld()
        let old = RoutingPlan.routes(.retarget, .route("crm", .live, courtesy: isPending ? 60_000 : 0))
        try world.start(old)
        try world.capture(.set("city", .string("Turku")))
        try world.advance(by: .seconds(1))
        let next = RoutingPlan.routes(.retarget, .picky("crm"))
        let refusal = #expect(throws: SwitchRefusal.self) { try world.restart(next) }
        #expect(refusal?.count == (isPending ? 1 : 0) && refusal?.operations.isEmpty == true)
        #expect(refusal?.reason.contains("crm cannot change its adapter") == true)
        // Nothing has changed: the old provider continues, is removed, and then its name is free.
        try world.restart(old)
        try world.restart(.routes(.drain, .route("crm", nil)))
        #expect(try world.drain())
        #expect(world.sentKinds(to: "crm").last == "unregister")
        let memories = try world.store.state.memories(provider: "crm")
        #expect(memories.count == 1)
        try world.restart(next)
        let taken = try world.capture(.event("e"))
        #expect(try world.drain())
        #expect(world.outcome(of: taken.id, on: "crm")?.term == .accepted)
        #expect(try world.store.state.providers().map(\.adapter) == [PickyDevice.descriptor.id.rawValue])
        try world.expectSound()
    }

    @Test func `does not retarget an operation to a provider that rejected it (E13)`() throws {
        let world = try VirtualWorld()
        let providers = [RoutingPlan.Provider.route("a", .live, courtesy: 60_000), .picky("b")]
        try world.start(RoutingPlan(providers: providers, onSwitch: .retarget, onLoss: .refuse))
        let lost = try world.capture(.set("city", .string("Turku")))
        try world.capture(.event("taken"))
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: lost.id, on: "b")?.term == .rejected)
        let refusal = #expect(throws: SwitchRefusal.self) {
            try world.reconfigure(.routes(.retarget, .route("a", nil, courtesy: 60_000), .picky("b")))
        }
        #expect(refusal?.operations.map(\.id) == [lost.id])
        #expect(refusal?.operations.first?.refusals["b"]?.code == "picky.refused")
        #expect(try world.account("a").pending == 2)
        try world.expectSound()
    }

    @Test func `repeats a pending query after a change or completes it when its provider is removed`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .silence }
        try world.start(.routes(.drain, .route("a", .live), .route("b", .live)))
        func startQuery(_ provider: String) throws -> OperationID {
            let query = EngagementOperation(
                id: world.host.makeID(),
                subject: "installation-1",
                capturedAt: world.host.date(),
                action: .readBack(ReadRequest("profile"))
            )
            try world.read(query, from: provider, timeout: .seconds(300))
            return query.id
        }
        let (kept, gone) = (try startQuery("a"), try startQuery("b"))
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        try world.reconfigure(.routes(.drain, .route("a", .live)))
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: kept, on: "a")?.term == .accepted)
        #expect(world.outcome(of: gone, on: "b") != nil)
    }
}
