import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// An adapter that reports what the engine shows it. Its settings decide which operations it accepts.
private struct FactsDevice: VendorAdapter {
    struct Settings: AdapterSettings {
        var refusedEvent = ""
        static let table = SettingsTable<Settings>([])
    }

    enum Endpoint: String, AdapterEndpoint { case post }

    struct Memory: AdapterMemory {
        var registered: [String?] = []
        var values: [String: String] = [:]
        var registeredContacts: [String?] { registered }

        func afterDenial(of scope: Consent.Scope) -> Memory {
            var memory = self
            if scope.purpose == .profile { memory.values = [:] }
            return memory
        }
    }

    static let refused = FindingRow(.error("facts.refused", .invalid), reason: "Not accepted", remedy: "Rename it.")
    static let descriptor = AdapterDescriptor(
        id: "facts",
        title: "Facts",
        delivery: .init(window: 4, usesCredentials: true),
        capabilities: [:],
        tables: .init(
            rules: [],
            findings: [refused],
            replies: ReplyTable([], otherwise: .otherwise(.refused, refused, rule: RuleID("facts", "1")))
        )
    )

    let settings: Settings
    init(settings: Settings = Settings()) { self.settings = settings }

    func examine(_ operation: EngagementOperation) -> [Finding] {
        guard case .track(.custom(let name, _)) = operation.action, name == settings.refusedEvent else { return [] }
        return [Self.refused.at("action.event.name")]
    }

    func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue)
    }

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        let body: JSONValue = [
            "kind": .string(head.operation.action.kind.rawValue),
            "contact": head.operation.contact.map { .string($0) } ?? .null,
            "hiddenKeys": .array(
                [pending.hidden.first(.switchContact), pending.hidden.last(.switchContact)]
                    .compactMap { $0?.operation.contact.map { .string($0) } }
            ),
            "isLeaving": .bool(pending.isLeaving),
        ]
        return .send(
            Transmission(
                .post,
                WireRequest("POST", "http://facts.test/", headers: [], body: Array(body.text.utf8)),
                carrying: [head]
            )
        )
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        guard exchange.outcome.reply?.isSuccess == true else {
            return Interpretation(exchange.operations) { _ in .retry(.at(exchange.moment.now + .seconds(10))) }
        }
        for pending in exchange.operations {
            if pending.operation.action.kind == .switchContact { memory.registered.append(pending.operation.contact) }
            if case .changeAttributes(let changes) = pending.operation.action {
                for name in changes.keys { memory.values[name.rawValue] = "known" }
            }
        }
        return Interpretation(exchange.operations) { _ in .accepted() }
    }
}

@Suite("Settings, consent and providers that change while operations wait") struct ChangingFactsTests {
    private func plan(
        _ name: String = "a",
        settings: FactsDevice.Settings = FactsDevice.Settings(),
        required: Set<Consent.Scope> = [],
        isLeft: Bool = false,
        digest: String = "1"
    ) -> RoutingPlan {
        let provider = RoutingPlan.Provider(
            name: name,
            adapter: FactsDevice(settings: settings),
            mode: isLeft ? nil : .live,
            settingsDigest: digest
        )
        return RoutingPlan(providers: [provider], requiredConsent: required)
    }

    private func logIn(_ contact: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, contact)]))
    }

    private func bodies(_ world: VirtualWorld, _ provider: String = "a") -> [JSONValue] {
        world.sent.filter { $0.provider == provider }.map { $0.request.json ?? .null }
    }

    private let refusing: (VirtualWorld.Sent) -> VirtualWorld.Fate = { _ in
        .outcome(.failed(TransportFailure(.notSent, "offline")))
    }

    @Test func `shows the first and the last hidden operation of a kind`() throws {
        let world = try VirtualWorld()
        world.network = refusing
        try world.start(plan())
        for number in 1...20 { try world.capture(.event("e\(number)")) }
        try world.capture(logIn("anna"), contact: "anna")
        try world.capture(logIn("bert"), contact: "bert")
        let before = world.sent.count
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        #expect(try world.drain())
        let keys = bodies(world).dropFirst(before).map { $0["hiddenKeys"]?.array?.compactMap(\.string) ?? [] }
        #expect(keys.first == ["anna", "bert"])
        #expect(keys.last == [])
    }

    @Test func `rejects pending operations that the new settings refuse and keeps them for replay`() throws {
        let world = try VirtualWorld()
        world.network = refusing
        try world.start(plan())
        let fits = try world.capture(.event("kept"))
        let misfit = try world.capture(.event("gone"))
        try world.restart(plan(settings: .init(refusedEvent: "gone"), digest: "2"))
        #expect(world.outcome(of: misfit.id, on: "a")?.finding?.code == "facts.refused")
        #expect(try world.store.rejects.list(provider: "a", id: misfit.id.rawValue).count == 1)
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        #expect(try world.drain())
        #expect(world.outcome(of: fits.id, on: "a")?.term == .accepted)
        #expect(try world.account("a").balances)
    }

    @Test func `examines an interrupted operation under the new settings`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .silence }
        try world.start(plan())
        let inFlight = try world.capture(.event("gone"))
        #expect(world.sent.count == 1)
        try world.restart(plan(settings: .init(refusedEvent: "gone"), digest: "2"))
        #expect(world.outcome(of: inFlight.id, on: "a")?.finding?.code == "facts.refused")
        #expect(world.sent.count == 1)
    }

    @Test(arguments: [
        [Consent(purpose: .messaging, channel: .email, state: .denied)],
        [Consent(purpose: .messaging, state: .denied), Consent(purpose: .tracking, state: .denied)],
        [Consent(purpose: .tracking, state: .denied), Consent(purpose: .messaging, state: .denied)],
    ])
    func `an unrelated denial changes no memory and resends nothing`(_ denials: [Consent]) throws {
        let world = try VirtualWorld()
        try world.start(plan())
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        let memory = try world.memory(of: "a")
        for denial in denials { try world.capture(.setConsent(denial)) }
        #expect(try world.drain())
        #expect(try world.memory(of: "a") == memory)
        #expect(bodies(world).map { $0["kind"]?.string } == ["changeAttributes"] + denials.map { _ in "setConsent" })
    }

    @Test func `creates an unregister per contact that the vendor may know and sets isLeaving`()
        throws
    {
        let world = try VirtualWorld()
        try world.start(plan())
        try world.capture(logIn("anna"), contact: "anna")
        #expect(try world.drain())
        world.network = refusing
        try world.capture(logIn("bert"), contact: "bert")
        let before = world.sent.count
        var next = plan(isLeft: true)
        next.providers += plan("b").providers
        try world.restart(next)
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        #expect(try world.drain())
        let sent = bodies(world).dropFirst(before)
        #expect(sent.allSatisfy { $0["isLeaving"] == true })
        let left = sent.filter { $0["kind"] == "unregister" }.compactMap { $0["contact"]?.string }
        #expect(left.sorted() == ["anna", "bert"])
        #expect(sent.last?["kind"] == "unregister")
    }

    @Test func `moves operations that wait for consent when their provider is removed`() throws {
        let world = try VirtualWorld()
        try world.start(plan(required: [.tracking]))
        let event = try world.capture(.event("seen"))
        var next = plan(required: [.tracking], isLeft: true)
        next.providers += plan("b").providers
        try world.restart(next)
        #expect(world.outcome(of: event.id, on: "a")?.term == .moved)
        try setConsent(.tracking, .granted, in: world)
        #expect(try world.drain())
        #expect(world.outcome(of: event.id, on: "b")?.term == .accepted)
        #expect(!bodies(world).contains { $0["kind"] == "track" })
    }

    @Test func `keeps operations that wait for consent as rejects when no provider can take them over`() throws {
        let world = try VirtualWorld()
        try world.start(plan(required: [.tracking]))
        let event = try world.capture(.event("seen"))
        var next = plan(required: [.tracking], isLeft: true)
        next.providers += plan("b", settings: .init(refusedEvent: "seen")).providers
        try world.restart(next)
        #expect(world.outcome(of: event.id, on: "a")?.finding?.code == "engine.provider.left")
        #expect(try world.store.rejects.list(provider: "a", id: event.id.rawValue).count == 1)
    }

    @Test func `a removed vendor receives erasures and opt-outs before the unregister`() throws {
        let world = try VirtualWorld()
        world.network = refusing
        try world.start(plan())
        let optOut = try world.capture(.changeSubscription(Subscription(channel: .sms, state: .unsubscribed)))
        let event = try world.capture(.event("seen"))
        let erasure = try world.capture(.erase, subject: "installation-2")
        // The first attempts have failed by then: nothing is in flight.
        try world.advance(by: .seconds(1))
        var next = plan(isLeft: true)
        next.providers += plan("b").providers
        next.onSwitch = .retarget
        try world.restart(next)
        world.network = { _ in .outcome(.replied(WireResponse(200))) }
        #expect(try world.drain())
        #expect(world.outcome(of: optOut.id, on: "a")?.term == .accepted)
        #expect(world.outcome(of: optOut.id, on: "b")?.term == .accepted)
        #expect(world.outcome(of: event.id, on: "a")?.term == .moved)
        #expect(world.outcome(of: erasure.id, on: "a")?.term == .accepted)
        #expect(world.outcome(of: erasure.id, on: "b") == nil)
        #expect(bodies(world).last { $0["contact"] == .null }?["kind"] == "unregister")
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `registers the installation for the next person after a denial`() throws {
        let world = try VirtualWorld()
        try world.start(plan())
        try world.capture(logIn("bert"), contact: "bert")
        try world.capture(.setConsent(Consent(purpose: .profile, state: .denied)), contact: "bert")
        try world.capture(.registerDevice(Device(pushToken: PushToken("aa"))), contact: "bert")
        #expect(try world.drain())
        #expect(!bodies(world).contains { $0["kind"] == "registerDevice" })
        try world.capture(logIn("anna"), contact: "anna")
        #expect(try world.drain())
        #expect(bodies(world).contains { $0["kind"] == "registerDevice" && $0["contact"] == "anna" })
    }
}
