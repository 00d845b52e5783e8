import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// Consent per purpose and channel, in the real engine.
@Suite("Consent by channel") struct EngineObligationConsentByChannel {
    private static let sms = Subscription(channel: .sms, state: .subscribed)
    private static let email = Subscription(channel: .email, state: .subscribed)

    private func world(_ required: Set<Consent.Scope>, courtesy: Int = 0) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: required) { $0.courtesy = courtesy })
        return world
    }

    private func heard(_ world: VirtualWorld, _ path: String) -> Int {
        world.sent.count { $0.request.url.hasSuffix(path) }
    }

    private func code(_ operation: EngagementOperation, _ world: VirtualWorld) -> String? {
        world.outcome(of: operation.id, on: "p")?.finding?.code
    }

    @Test func `a word for one channel frees and ends what serves that channel alone (E14)`() throws {
        let world = try world([.messaging])
        let texts = try world.capture(.changeSubscription(Self.sms))
        let mails = try world.capture(.changeSubscription(Self.email))
        #expect(try world.account("p").held == ["consent.messaging.email": 1, "consent.messaging.sms": 1])
        try world.advance(by: .seconds(3600))
        try say(.messaging, .sms, .granted, in: world)
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: texts.id, on: "p")?.term == .accepted)
        let body = try #require(world.sent.first { $0.request.url.hasSuffix("/changeSubscription") }).request.body
        #expect(try EngagementOperation(jsonBytes: body).capturedAt == texts.capturedAt)
        #expect(try world.account("p").held == ["consent.messaging.email": 1])
        try say(.messaging, .email, .denied, in: world)
        #expect(code(mails, world) == "engine.consent.denied")
        #expect(try world.account("p").balances)
    }

    @Test func `a word for every channel holds where a channel has none of its own (E14)`() throws {
        let world = try world([.messaging])
        try say(.messaging, .sms, .denied, in: world)
        let texts = try world.capture(.changeSubscription(Self.sms))
        let mails = try world.capture(.changeSubscription(Self.email))
        try say(.messaging, .granted, in: world)
        try world.advance(by: .seconds(1))
        #expect(code(texts, world) == "engine.consent.denied")
        #expect(world.outcome(of: mails.id, on: "p")?.term == .accepted)
    }

    @Test func `a requirement for one channel lets the others pass until the person says no (E14)`() throws {
        let world = try world([Consent.Scope(.messaging, channel: .sms)])
        try world.capture(.changeSubscription(Self.sms))
        let mails = try world.capture(.changeSubscription(Self.email))
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: mails.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").held == ["consent.messaging.sms": 1])
        try say(.messaging, .email, .denied, in: world)
        #expect(code(try world.capture(.changeSubscription(Self.email)), world) == "engine.consent.denied")
        #expect(try world.account("p").held == ["consent.messaging.sms": 1])
    }

    @Test func `a push token and what a person does with a push serve push (E14)`() throws {
        let push = TrackingEvent.push(.tapped, payload: ["probe": true])
        let token = Device(pushToken: PushToken("aa"))
        let world = try world([.tracking, .profile])
        try world.capture(.track(push))
        try world.capture(.registerDevice(token))
        #expect(try world.account("p").held == ["consent.tracking.push": 1, "consent.profile.push": 1])
    }

    @Test func `a no counts where nothing is required, and what leaves stays allowed (E14)`() throws {
        let world = try world([])
        try world.capture(.event("before"))
        try say(.tracking, .denied, in: world)
        #expect(code(try world.capture(.event("after")), world) == "engine.consent.denied")
        try world.capture(.changeSubscription(Self.sms))
        try say(.messaging, .denied, in: world)
        let goodbye = try world.capture(.changeSubscription(Subscription(channel: .sms, state: .unsubscribed)))
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: goodbye.id, on: "p")?.term == .accepted)
        #expect(try world.drain())
        #expect(try world.account("p").balances)
    }

    @Test func `a no frees at once what makes the vendor send less, whoever hears the no itself (E14)`() throws {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: [.messaging]) { $0.ignoresConsent = true })
        let goodbye = try world.capture(.changeSubscription(Subscription(channel: .sms, state: .unsubscribed)))
        try world.advance(by: .seconds(60))
        #expect(try world.account("p").held == ["consent.messaging.sms": 1])
        try say(.messaging, .denied, in: world)
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: goodbye.id, on: "p")?.term == .accepted)
    }

    @Test func `what was said during a no is told after it, what was done never is (E14)`() throws {
        for isReset in [false, true] {
            let world = try world([.tracking, .profile])
            for purpose in [Purpose.tracking, .profile] { try say(purpose, .denied, in: world) }
            try world.capture(.set("tier", "gold"))
            try world.capture(.event("seen"))
            if isReset {
                for purpose in [Purpose.tracking, .profile] { try say(purpose, .unknown, in: world) }
                try world.capture(.set("tier", "silver"))
                try world.advance(by: .seconds(60))
                #expect(heard(world, "/changeAttributes") == 0)
            }
            for purpose in [Purpose.tracking, .profile] { try say(purpose, .granted, in: world) }
            #expect(try world.drain())
            #expect(heard(world, "/track") == 0)
            #expect(heard(world, "/changeAttributes") == (isReset ? 2 : 1))
            #expect(try world.account("p").balances)
        }
    }

    @Test func `an answer that is taken back makes what is pending wait again (E14)`() throws {
        let world = try world([.tracking, .profile], courtesy: 10_000)
        try say(.tracking, .granted, in: world)
        try say(.profile, .granted, in: world)
        try world.advance(by: .seconds(60))
        let event = try world.capture(.event("a"))
        let identify = try world.capture(.identify([Identifier(.email, "a@example.org")]))
        try say(.tracking, .unknown, in: world)
        try say(.profile, .unknown, in: world)
        #expect(try world.account("p").held == ["consent.tracking": 1])
        #expect(code(identify, world) == "engine.consent.unknown")
        try world.restart()
        try world.advance(by: .seconds(600))
        #expect(heard(world, "/track") == 0)
        try say(.tracking, .granted, in: world)
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: event.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").balances)
    }

    @Test func `one person's yes frees nothing that another one did (E14)`() throws {
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
        #expect(heard(world, "/track") == 1)
        #expect(try world.account("p").balances)
    }

    @Test func `another requirement at the next start is applied to what is pending (E14)`() throws {
        let world = try world([], courtesy: 10_000)
        try world.capture(.event("a"))
        try world.restart(.probe(requiredConsent: [.tracking]))
        try world.advance(by: .seconds(60))
        #expect(heard(world, "/track") == 0)
        #expect(try world.account("p").held == ["consent.tracking": 1])
        try world.restart(.probe())
        #expect(try world.drain())
        #expect(heard(world, "/track") == 1)
    }

    @Test func `a dot in a name is not the dot between purpose and channel (E14)`() throws {
        let world = try world([.messaging])
        let odd: Channel = "a.b%2E"
        try world.capture(.changeSubscription(Subscription(channel: odd, state: .subscribed)))
        #expect(try world.account("p").held == ["consent.messaging.a%2Eb%252E": 1])
        try say(.messaging, odd, .granted, in: world)
        #expect(try world.drain())
        #expect(heard(world, "/changeSubscription") == 1)
    }

    // MARK: The trail

    @Test func `every change stands in the trail, with what it did, and nobody's name (E14)`() throws {
        let world = try world([.tracking])
        try world.capture(.event("a"))
        try world.capture(.event("b"))
        try say(.tracking, .granted, in: world)
        try say(.tracking, .granted, in: world)
        #expect(try world.drain())
        try say(.tracking, .push, .denied, in: world)
        try say(.tracking, .denied, in: world)
        let trail = try world.store.consentTrail(subject: nil)
        #expect(
            trail.map { "\($0.purpose) \($0.channel ?? "-") \($0.before) \($0.after)" } == [
                "tracking - unknown granted", "tracking push granted denied", "tracking - granted denied",
            ]
        )
        #expect(trail[0].effects["p"]?.released == 2)
        let digest = try #require(try ConsentTrail.digest(of: "installation-1", in: world.store))
        #expect(trail.allSatisfy { $0.subject == digest && !digest.contains("installation") })
        #expect(try world.store.consentTrail(subject: digest).count == 3)
        #expect(try world.store.verify().isSound)
    }

    @Test func `the trail is bounded like the history, and goes with its transaction`() throws {
        let world = try world([])
        world.store.historyLimit = 2
        for state in [Consent.State.granted, .denied, .granted, .unknown] { try say(.tracking, state, in: world) }
        #expect(try world.store.consentTrail(subject: nil).map(\.after) == ["granted", "unknown"])
        struct Death: Error {}
        world.onStorage { if case .beforeCommit(.full) = $0 { throw Death() } }
        #expect(throws: Death.self) { try say(.tracking, .denied, in: world) }
        world.onStorage(nil)
        #expect(try world.store.consentTrail(subject: nil).map(\.after) == ["granted", "unknown"])
    }
}
