import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// Consent by purpose and channel in the engine.
@Suite("Consent by channel") struct EngineObligationConsentByChannel {
    private static let sms = Subscription(channel: .sms, state: .subscribed)
    private static let email = Subscription(channel: .email, state: .subscribed)

    private func world(_ required: Set<Consent.Scope>, courtesy: Int = 0) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: required) { $0.courtesy = courtesy })
        return world
    }

    private func requests(_ world: VirtualWorld, _ path: String) -> Int {
        world.sent.count { $0.request.url.hasSuffix(path) }
    }

    private func code(_ operation: EngagementOperation, _ world: VirtualWorld) -> String? {
        world.outcome(of: operation.id, on: "p")?.finding?.code
    }

    @Test func `a consent decision for a channel releases or drops operations of that channel only (E14)`() throws {
        let world = try world([.messaging])
        let texts = try world.capture(.changeSubscription(Self.sms))
        let mails = try world.capture(.changeSubscription(Self.email))
        #expect(try world.account("p").held == ["consent.messaging.email": 1, "consent.messaging.sms": 1])
        try world.advance(by: .seconds(3600))
        try setConsent(.messaging, .sms, .granted, in: world)
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: texts.id, on: "p")?.term == .accepted)
        let body = try #require(world.sent.first { $0.request.url.hasSuffix("/changeSubscription") }).request.body
        #expect(try EngagementOperation(jsonBytes: body).capturedAt == texts.capturedAt)
        #expect(try world.account("p").held == ["consent.messaging.email": 1])
        try setConsent(.messaging, .email, .denied, in: world)
        #expect(code(mails, world) == "engine.consent.denied")
        #expect(try world.account("p").balances)
    }

    @Test func `a decision for all channels applies to channels without their own decision (E14)`() throws {
        let world = try world([.messaging])
        try setConsent(.messaging, .sms, .denied, in: world)
        let texts = try world.capture(.changeSubscription(Self.sms))
        let mails = try world.capture(.changeSubscription(Self.email))
        try setConsent(.messaging, .granted, in: world)
        try world.advance(by: .seconds(1))
        #expect(code(texts, world) == "engine.consent.denied")
        #expect(world.outcome(of: mails.id, on: "p")?.term == .accepted)
    }

    @Test func `a consent required for one channel does not hold other channels until a denial (E14)`() throws {
        let world = try world([Consent.Scope(.messaging, channel: .sms)])
        try world.capture(.changeSubscription(Self.sms))
        let mails = try world.capture(.changeSubscription(Self.email))
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: mails.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").held == ["consent.messaging.sms": 1])
        try setConsent(.messaging, .email, .denied, in: world)
        #expect(code(try world.capture(.changeSubscription(Self.email)), world) == "engine.consent.denied")
        #expect(try world.account("p").held == ["consent.messaging.sms": 1])
    }

    @Test func `push tokens and push interactions need the consent for the push channel (E14)`() throws {
        let push = TrackingEvent.push(.tapped, payload: ["probe": true])
        let token = Device(pushToken: PushToken("aa"))
        let world = try world([.tracking, .profile])
        try world.capture(.track(push))
        try world.capture(.registerDevice(token))
        #expect(try world.account("p").held == ["consent.tracking.push": 1, "consent.profile.push": 1])
    }

    @Test func `a push opt-in waits for the messaging and the profile consent (E14)`() throws {
        let push = Subscription(channel: .push, state: .subscribed)
        let world = try world([.messaging, .profile])
        let optIn = try world.capture(.changeSubscription(push))
        #expect(try world.account("p").held == ["consent.messaging.push+consent.profile.push": 1])
        try setConsent(.messaging, .granted, in: world)
        #expect(try world.account("p").held == ["consent.profile.push": 1])
        try setConsent(.messaging, .unknown, in: world)
        #expect(try world.account("p").held == ["consent.messaging.push+consent.profile.push": 1])
        try setConsent(.profile, .granted, in: world)
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: optIn.id, on: "p") == nil)
        try setConsent(.messaging, .push, .granted, in: world)
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: optIn.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").balances)
    }

    @Test func `a profile denial drops a pending push opt-in, and a later grant sends it (E14)`()
        throws
    {
        let world = try world([])
        world.network = { _ in .outcome(.failed(TransportFailure(.notSent, "hostNotFound"))) }
        let optIn = try world.capture(.changeSubscription(Subscription(channel: .push, state: .subscribed)))
        try world.advance(by: .seconds(1))
        try setConsent(.profile, .denied, in: world)
        #expect(code(optIn, world) == "engine.consent.denied")
        world.network = { _ in .status(200) }
        let attempts = requests(world, "/changeSubscription")
        try world.advance(by: .seconds(3600))
        #expect(requests(world, "/changeSubscription") == attempts)
        try setConsent(.profile, .granted, in: world)
        try world.advance(by: .seconds(60))
        #expect(requests(world, "/changeSubscription") == attempts + 1)
        #expect(try world.account("p").balances)
    }

    @Test func `applies a denial without a consent requirement but still sends an opt-out (E14)`() throws {
        let world = try world([])
        try world.capture(.event("before"))
        try setConsent(.tracking, .denied, in: world)
        #expect(code(try world.capture(.event("after")), world) == "engine.consent.denied")
        try world.capture(.changeSubscription(Self.sms))
        try setConsent(.messaging, .denied, in: world)
        let optOut = try world.capture(.changeSubscription(Subscription(channel: .sms, state: .unsubscribed)))
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: optOut.id, on: "p")?.term == .accepted)
        #expect(try world.drain())
        #expect(try world.account("p").balances)
    }

    @Test func `sends an opt-out although a required consent is unknown (E14)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: [.messaging]) { $0.ignoresConsent = true })
        let optOut = try world.capture(.changeSubscription(Subscription(channel: .sms, state: .unsubscribed)))
        let optIn = try world.capture(.changeSubscription(Subscription(channel: .email, state: .subscribed)))
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: optOut.id, on: "p")?.term == .accepted)
        #expect(world.outcome(of: optIn.id, on: "p") == nil)
        #expect(try world.account("p").held == ["consent.messaging.email": 1])
    }

    @Test func `sends the state but not the events from the time of a denial after a grant (E14)`() throws {
        for isReset in [false, true] {
            let world = try world([.tracking, .profile])
            for purpose in [Purpose.tracking, .profile] { try setConsent(purpose, .denied, in: world) }
            try world.capture(.set("tier", "gold"))
            try world.capture(.event("seen"))
            if isReset {
                for purpose in [Purpose.tracking, .profile] { try setConsent(purpose, .unknown, in: world) }
                try world.capture(.set("tier", "silver"))
                try world.advance(by: .seconds(60))
                #expect(requests(world, "/changeAttributes") == 0)
            }
            for purpose in [Purpose.tracking, .profile] { try setConsent(purpose, .granted, in: world) }
            #expect(try world.drain())
            #expect(requests(world, "/track") == 0)
            #expect(requests(world, "/changeAttributes") == (isReset ? 2 : 1))
            #expect(try world.account("p").balances)
        }
    }

    @Test func `holds pending operations again when consent returns to unknown (E14)`() throws {
        let world = try world([.tracking, .profile], courtesy: 10_000)
        try setConsent(.tracking, .granted, in: world)
        try setConsent(.profile, .granted, in: world)
        try world.advance(by: .seconds(60))
        let event = try world.capture(.event("a"))
        let identify = try world.capture(.identify([Identifier(.email, "a@example.org")]))
        try setConsent(.tracking, .unknown, in: world)
        try setConsent(.profile, .unknown, in: world)
        #expect(try world.account("p").held == ["consent.tracking": 1])
        #expect(code(identify, world) == "engine.consent.unknown")
        try world.restart()
        try world.advance(by: .seconds(600))
        #expect(requests(world, "/track") == 0)
        try setConsent(.tracking, .granted, in: world)
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: event.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").balances)
    }

    @Test func `releases no operation of one person with the opt-in of another (E14)`() throws {
        let world = try world([.tracking, .messaging])
        let (aino, eero) = (Identifier(.external, "aino"), Identifier(.external, "eero"))
        try world.capture(.switchContact(ContactSwitch(.logIn, identifiers: [aino])), contact: "aino")
        let device = try world.capture(
            .registerDevice(Device(pushToken: PushToken("7c1f"))),
            contact: "aino"
        )
        let hers = try world.capture(.event("hers"), contact: "aino")
        try world.capture(.switchContact(ContactSwitch(.logIn, identifiers: [eero])), contact: "eero")
        #expect(code(hers, world) == "engine.consent.unanswered")
        let his = try world.capture(.event("his"), contact: "eero")
        for purpose in [Purpose.tracking, .messaging] {
            try world.capture(.setConsent(Consent(purpose: purpose, state: .granted)), contact: "eero")
        }
        #expect(try world.drain())
        #expect(world.outcome(of: his.id, on: "p")?.term == .accepted)
        #expect(world.outcome(of: device.id, on: "p")?.term == .accepted)
        #expect(requests(world, "/track") == 1)
        #expect(try world.account("p").balances)
    }

    @Test func `applies a changed consent requirement to pending operations at the next start (E14)`() throws {
        let world = try world([], courtesy: 10_000)
        try world.capture(.event("a"))
        try world.restart(.probe(requiredConsent: [.tracking]))
        try world.advance(by: .seconds(60))
        #expect(requests(world, "/track") == 0)
        #expect(try world.account("p").held == ["consent.tracking": 1])
        try world.restart(.probe())
        #expect(try world.drain())
        #expect(requests(world, "/track") == 1)
    }

    @Test func `escapes a dot in a channel name in the reason of a hold (E14)`() throws {
        let world = try world([.messaging])
        let odd: Channel = "a.b%2E"
        try world.capture(.changeSubscription(Subscription(channel: odd, state: .subscribed)))
        #expect(try world.account("p").held == ["consent.messaging.a%2Eb%252E": 1])
        try setConsent(.messaging, odd, .granted, in: world)
        #expect(try world.drain())
        #expect(requests(world, "/changeSubscription") == 1)
    }

    // MARK: Several people

    private func logIn(_ names: String..., in world: VirtualWorld) throws {
        let identifiers = names.map { Identifier(IdentifierKind(rawValue: "kind-\($0)"), $0) }
        try world.capture(.switchContact(ContactSwitch(.logIn, identifiers: identifiers)), contact: names[0])
    }

    private func logOut(_ world: VirtualWorld) throws { try world.capture(.switchContact(ContactSwitch(.logOut))) }

    private func decide(_ purpose: Purpose, _ state: Consent.State, by contact: String?, _ world: VirtualWorld) throws {
        try world.capture(.setConsent(Consent(purpose: purpose, state: state)), contact: contact)
    }

    @Test(
        arguments: [false, true]
    ) func `drops no permitted operation of one person with the denial of another (E14)`(isRequired: Bool) throws {
        let world = try world(isRequired ? [.tracking] : [], courtesy: 10_000)
        // No person is known: the first person to log in counts as the previous anonymous one.
        if isRequired { try decide(.tracking, .granted, by: nil, world) }
        let early = try world.capture(.event("before aino"))
        try logIn("aino", in: world)
        let hers = try world.capture(.event("hers"), contact: "aino")
        try logIn("eero", in: world)
        let his = try world.capture(.event("his"), contact: "eero")
        try decide(.tracking, .denied, by: "eero", world)
        #expect(code(his, world) == "engine.consent.denied" || code(his, world) == "engine.consent.withdrawn")
        try world.restart()
        #expect(try world.drain())
        #expect(world.outcome(of: early.id, on: "p")?.term == .accepted)
        #expect(world.outcome(of: hers.id, on: "p")?.term == .accepted)
        #expect(requests(world, "/track") == 2)
        #expect(try world.account("p").balances)
    }

    @Test func `keeps the operations of a logged-out person after an anonymous denial (E14)`() throws {
        let world = try world([], courtesy: 10_000)
        try logIn("aino", in: world)
        let hers = try world.capture(.event("hers"), contact: "aino")
        try logOut(world)
        let anonymous = try world.capture(.event("anonymous"))
        try decide(.tracking, .denied, by: nil, world)
        try logIn("eero", in: world)
        try decide(.tracking, .denied, by: "eero", world)
        #expect(try world.drain())
        #expect(world.outcome(of: hers.id, on: "p")?.term == .accepted)
        #expect(code(anonymous, world) == "engine.consent.denied")
        #expect(requests(world, "/track") == 1)
    }

    @Test func `a denial drops anonymous operations unless another person logged in between`() throws {
        let world = try world([], courtesy: 10_000)
        let event = try world.capture(.event("early"))
        try logIn("aino", in: world)
        try decide(.tracking, .denied, by: "aino", world)
        #expect(code(event, world) == "engine.consent.denied")
        // A back-end API has no log-in: a decision of the subject applies to all operations of the subject.
        let back = try self.world([], courtesy: 10_000)
        let order = try back.capture(.event("order"), contact: "c-17")
        try decide(.tracking, .denied, by: nil, back)
        #expect(code(order, back) == "engine.consent.denied")
    }

    @Test func `a returning person's denial drops their earlier operations under any of their names`() throws {
        let world = try world([], courtesy: 10_000)
        try logIn("aino", in: world)
        let first = try world.capture(.event("first"), contact: "aino")
        try logOut(world)
        try logIn("aino", in: world)
        try decide(.tracking, .denied, by: "aino", world)
        #expect(code(first, world) == "engine.consent.denied")
        let other = try self.world([], courtesy: 10_000)
        try logIn("aino@example.org", "aino", in: other)
        let renamed = try other.capture(.event("renamed"), contact: "aino@example.org")
        try logIn("aino", in: other)
        try decide(.tracking, .denied, by: "aino", other)
        #expect(code(renamed, other) == "engine.consent.denied")
    }

    @Test func `applies the consent of the current person to the device registration`() throws {
        let world = try world([], courtesy: 10_000)
        try logIn("aino", in: world)
        let device = try world.capture(.registerDevice(Device(pushToken: PushToken("7c1f"))), contact: "aino")
        try logIn("eero", in: world)
        try decide(.profile, .denied, by: "eero", world)
        #expect(code(device, world) == "engine.consent.denied")
    }

    @Test func `retargets permitted operations of one person after the denial of the next (E14)`() throws {
        let world = try VirtualWorld()
        try world.start(.routes(.retarget, .route("old", .live, courtesy: 100_000)))
        try logIn("aino", in: world)
        let hers = try world.capture(.event("hers"), contact: "aino")
        try logIn("eero", in: world)
        let his = try world.capture(.event("his"), contact: "eero")
        try decide(.tracking, .denied, by: "eero", world)
        #expect(world.outcome(of: his.id, on: "old")?.term == .dropped)
        try world.restart(.routes(.retarget, .route("old", nil, courtesy: 1), .route("new", .live)))
        #expect(try world.drain())
        #expect(world.outcome(of: hers.id, on: "new")?.term == .accepted)
        for account in try world.accounts() { #expect(account.balances) }
    }

    @Test func `a new requirement drops operations without consent of a person who has logged out`() throws {
        for wasRequired in [false, true] {
            let world = try world(wasRequired ? [.tracking] : [], courtesy: 10_000)
            try logIn("aino", in: world)
            if wasRequired { try decide(.tracking, .granted, by: "aino", world) }
            let hers = try world.capture(.event("hers"), contact: "aino")
            try logIn("eero", in: world)
            try decide(.tracking, .granted, by: "eero", world)
            try world.restart(.probe(requiredConsent: [.tracking, .messaging]) { $0.courtesy = 10_000 })
            #expect(try world.drain())
            let outcome = world.outcome(of: hers.id, on: "p")
            #expect(outcome?.term == (wasRequired ? .accepted : .dropped))
            #expect(outcome?.finding?.code == (wasRequired ? nil : "engine.consent.unanswered"))
            #expect(try world.account("p").balances)
        }
    }

    // MARK: The consent trail

    @Test func `the consent trail lists every change with its effects and without names (E14)`() throws {
        let world = try world([.tracking])
        try world.capture(.event("a"))
        try world.capture(.event("b"))
        try setConsent(.tracking, .granted, in: world)
        try setConsent(.tracking, .granted, in: world)
        #expect(try world.drain())
        try setConsent(.tracking, .push, .denied, in: world)
        try setConsent(.tracking, .denied, in: world)
        let trail = try world.store.state.consentTrail(subject: nil)
        #expect(
            trail.map { "\($0.purpose) \($0.channel ?? "-") \($0.before) \($0.after)" } == [
                "tracking - unknown granted", "tracking push granted denied", "tracking - granted denied",
            ]
        )
        #expect(trail[0].effects["p"]?.released == 2)
        let digest = try #require(try ConsentTrail.digest(of: "installation-1", in: world.store))
        #expect(trail.allSatisfy { $0.subject == digest && !digest.contains("installation") })
        #expect(try world.store.state.consentTrail(subject: digest).count == 3)
        #expect(try world.store.maintenance.verify().isSound)
    }

    @Test func `the consent trail has the history limit and is rolled back with its transaction`() throws {
        let world = try world([])
        world.store.history.limit = 2
        for state in [Consent.State.granted, .denied, .granted, .unknown] {
            try setConsent(.tracking, state, in: world)
        }
        #expect(try world.store.state.consentTrail(subject: nil).map(\.after) == ["granted", "unknown"])
        struct Death: Error {}
        world.onStorage { if case .beforeCommit(.full) = $0 { throw Death() } }
        #expect(throws: Death.self) { try setConsent(.tracking, .denied, in: world) }
        world.onStorage(nil)
        #expect(try world.store.state.consentTrail(subject: nil).map(\.after) == ["granted", "unknown"])
    }
}
