import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

/// Operations wait while the person, the consent, the credential or the push token changes.
@Suite("Altcraft: changes while operations wait") struct ChangingFactsTests {
    private static let subscribe = change(.subscribed)
    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    private static func logIn(_ contact: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, contact)]))
    }

    private static func change(_ state: Subscription.State, topic: String? = nil) -> Action {
        .changeSubscription(Subscription(channel: .push, topic: topic, state: state))
    }

    private static func device(_ token: String, allowsPush: Bool = true) -> Action {
        var device = Corpus.phone
        (device.pushToken, device.allowsPush) = (PushToken(token), allowsPush)
        return .registerDevice(device)
    }

    /// An installation of a visitor, whose app also has Aino's credential.
    private func driver() throws -> Driver { try Driver(account: ["databases": ["11", "12"]]) }

    /// The statuses by database and token.
    private func statuses(_ driver: Driver) -> Set<String> {
        Set(
            driver.state.profiles.flatMap { profile in
                profile.subscriptions.map { "\(profile.database) \($0.token.prefix(4)) \($0.status)" }
            }
        )
    }

    @Test(.shows("altcraft/L10"))
    func `a log-in followed by a log-out creates no subscription`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.credentials["aino"] = nil
        let logIn = driver.capture(Self.logIn("aino"))
        let subscribe = driver.capture(Self.subscribe)
        driver.advance(by: .seconds(60))
        driver.capture(Self.logOut)
        driver.credentials["aino"] = Token.aino
        driver.wake()
        driver.drain()
        #expect(driver.outcome(of: logIn)?.summary == "rejected altcraft.switch.overtaken")
        #expect(driver.outcome(of: subscribe)?.summary == "rejected altcraft.switch.overtaken")
        #expect(statuses(driver) == ["11 7c1f subscribed"])
        #expect(driver.pendingCount == 0)
    }

    @Test func `a topic does not start a subscription that a visitor opted out of before the log-in`() throws {
        let driver = try driver()
        driver.capture(Self.change(.unsubscribed))
        driver.capture(Self.change(.subscribed, topic: "tips"))
        driver.capture(.setConsent(Consent(purpose: .profile, state: .denied)))
        driver.capture(Self.logIn("aino"))
        let consents = [nil, Channel.push].flatMap { channel in
            [Purpose.profile, .messaging].map { Consent(purpose: $0, channel: channel, state: .granted) }
        }
        for consent in consents { driver.capture(.setConsent(consent)) }
        driver.capture(Self.device("7c1f3ad09be24c55"))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f unsubscribed", "12 7c1f unsubscribed"])
    }

    @Test func `sends opt-outs without waiting for permission, a token update or a failing request`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.deliver(Self.change(.subscribed, topic: "tips"))
        driver.deliver(Self.device("7c1f3ad09be24c55", allowsPush: false))
        driver.nextOutcomesByEndpoint[.tokenUpdate] = Array(repeating: .replied(WireResponse(503)), count: 8)
        driver.capture(Self.device("0aa1f00d5588aa10", allowsPush: false))
        let topic = driver.capture(Self.change(.unsubscribed, topic: "tips"))
        let whole = driver.capture(Self.change(.unsubscribed))
        driver.advance(by: .seconds(3))
        #expect(driver.outcome(of: topic)?.isAccepted == true)
        #expect(driver.outcome(of: whole)?.isAccepted == true)
        #expect(!statuses(driver).contains { $0.hasSuffix(" subscribed") })
        driver.drain()
        #expect(!statuses(driver).contains { $0.hasSuffix(" subscribed") })
    }

    @Test(.shows("altcraft/E7"))
    func `suspends the subscription without push permission and resubscribes with it`() throws {
        let token = "7c1f3ad09be24c55"
        for decision in [nil, Subscription.State.unsubscribed, .suspended] {
            let driver = try driver()
            driver.deliver(Self.subscribe)
            driver.nextOutcomesByEndpoint[.subscribe] = [.replied(WireResponse(503))]
            driver.deliver(Self.device(token, allowsPush: false))
            #expect(statuses(driver) == ["11 7c1f suspended"])
            #expect(driver.state.profiles.flatMap(\.subscriptions).map(\.optOuts) == [0])
            if let decision { driver.deliver(Self.change(decision)) }
            driver.deliver(Self.device(token))
            #expect(statuses(driver) == ["11 7c1f \(decision?.rawValue ?? "subscribed")"])
            #expect(driver.pendingCount == 0)
        }
    }

    @Test(.shows("altcraft/L14"), arguments: [Channel.push, nil])
    func `suspends the subscription on a profile denial and resubscribes on a grant`(_ channel: Channel?) throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.deliver(.setConsent(Consent(purpose: .profile, channel: channel, state: .denied)))
        #expect(statuses(driver) == ["11 7c1f suspended"])
        #expect(driver.state.profiles.flatMap(\.subscriptions).map(\.optOuts) == [0])
        driver.deliver(.setConsent(Consent(purpose: .profile, channel: channel, state: .granted)))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f subscribed"])
        #expect(driver.pendingCount == 0)
    }

    @Test func `a log-in without the permission does not resume the person's subscription`() throws {
        let token = "7c1f3ad09be24c55"
        let driver = try driver()
        driver.deliver(Self.logIn("aino"))
        driver.deliver(Self.logOut)
        driver.deliver(Self.device(token, allowsPush: false))
        driver.deliver(Self.logIn("aino"))
        #expect(statuses(driver) == ["11 7c1f suspended", "12 7c1f suspended"])
        driver.deliver(Self.device(token))
        #expect(statuses(driver) == ["11 7c1f suspended", "12 7c1f subscribed"])
        #expect(driver.pendingCount == 0)
    }

    @Test(.shows("altcraft/T9"))
    func `sends an opt-out before a failing subscribe, which is then superseded`() throws {
        let driver = try driver()
        driver.nextOutcomesByEndpoint[.subscribe] = [.replied(WireResponse(503))]
        let on = driver.capture(Self.subscribe)
        let off = driver.capture(Self.change(.unsubscribed))
        driver.drain()
        #expect(driver.outcome(of: on)?.term == .superseded)
        #expect(driver.outcome(of: off)?.isAccepted == true)
        #expect(statuses(driver) == ["11 7c1f unsubscribed"])
    }

    @Test(.shows("altcraft/R7"))
    func `captures during an outage do not shorten retry intervals or drop an opt-out`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.forgetHistory()
        driver.respond = { $0.endpoint == .subscribe ? .replied(WireResponse(503)) : nil }
        let optOut = driver.capture(Self.change(.unsubscribed))
        for _ in 0..<100 {
            driver.advance(by: .seconds(20))
            driver.capture(.changeAttributes(["city": .set("Turku")]))
        }
        let attempts = driver.sent.filter { $0.endpoint == .subscribe }
        let intervals = zip(attempts, attempts.dropFirst()).map { $1.at - $0.at }
        #expect(zip(intervals, intervals.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(attempts.count <= 6)
        driver.advance(by: .seconds(30 * 86_400))
        #expect(driver.sent.count { $0.endpoint == .subscribe } > 16)
        driver.respond = { _ in nil }
        driver.drain()
        #expect(driver.outcome(of: optOut)?.isAccepted == true)
        #expect(statuses(driver) == ["11 7c1f unsubscribed"])
    }

    @Test(.shows("altcraft/E2"), arguments: [nil, 503, 400] as [Int?])
    func `an erasure unsubscribes the person before it deletes stored data`(status: Int?) throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        // The erasure removes the opt-out with the person and applies it itself.
        driver.nextOutcomesByEndpoint[.subscribe] = [
            .replied(WireResponse(503)), status.map { .replied(WireResponse($0)) },
        ]
        .compactMap(\.self)
        driver.capture(Self.change(.unsubscribed))
        let erasure = driver.capture(.erase)
        driver.drain()
        let expected = status == 400 ? "unchanged" : "accepted"
        #expect(driver.outcome(of: erasure)?.summary == "\(expected) altcraft.erase.byHand")
        #expect(statuses(driver) == (status == 400 ? ["11 7c1f subscribed"] : ["11 7c1f unsubscribed"]))
        #expect(driver.pendingCount == 0)
    }

    @Test func `an erasure does not wait for a credential`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.credentials = [:]
        driver.restart()
        let erasure = driver.capture(.erase)
        driver.advance(by: .seconds(1))
        #expect(driver.outcome(of: erasure)?.summary == "unchanged altcraft.erase.byHand")
    }

    @Test func `applies an opt-out without a push token when a log-in creates the subscription`() throws {
        let driver = try Driver(Fixture.adapter([:]), AltcraftSimulator(settings: [:]))
        driver.credentials = ["": Token.visitor, "aino": Token.aino]
        driver.capture(Self.logIn("aino"))
        let optOut = driver.capture(Self.change(.unsubscribed))
        #expect(driver.outcome(of: optOut)?.summary == "unchanged altcraft.subscription.none")
        driver.capture(Self.logOut)
        driver.capture(Self.device("7c1f3ad09be24c55"))
        driver.capture(Self.logIn("aino"))
        driver.drain()
        #expect(statuses(driver) == ["12 7c1f unsubscribed"])
    }

    @Test func `a second token rotation after a lost reply registers the newest token`() throws {
        for isProcessed in [true, false] {
            let driver = try driver()
            driver.deliver(Self.subscribe)
            driver.processesReplacedRequests = isProcessed
            driver.nextOutcomesByEndpoint[.tokenUpdate] = [.failed(TransportFailure(.lost, "timedOut"))]
            driver.capture(Self.device("0aa1f00d5588aa10"))
            driver.capture(Self.device("1bb2e11e6699bb21"))
            driver.drain()
            #expect(statuses(driver) == ["11 1bb2 subscribed"])
        }
    }

    @Test func `a registration after an unfinished unregister subscribes the installation`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.nextOutcomes = [.replied(WireResponse(503)), .replied(WireResponse(503))]
        driver.capture(.unregister)
        driver.capture(Self.device("7c1f3ad09be24c5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d9"))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f subscribed"])
    }

    @Test(.shows("altcraft/L14"))
    func `unsubscribes on a denial of messages and resubscribes on a grant`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        func say(_ state: Consent.State) -> Action { .setConsent(Consent(purpose: .messaging, state: state)) }
        driver.nextOutcomes = [.replied(WireResponse(503))]
        let denial = driver.capture(say(.denied))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f unsubscribed"] && driver.outcome(of: denial)?.isAccepted == true)
        driver.capture(Self.logIn("aino"))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f unsubscribed"])
        driver.capture(say(.granted))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f unsubscribed", "12 7c1f subscribed"] && driver.pendingCount == 0)
        // A grant does not undo the person's own opt-out.
        driver.capture(Self.change(.unsubscribed))
        driver.capture(say(.denied))
        driver.capture(say(.granted))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f unsubscribed", "12 7c1f unsubscribed"] && driver.pendingCount == 0)
    }

    @Test(.shows("altcraft/L13"), arguments: [true, false])
    func `applies an opt-out before a log-in to the person who logs in`(isOnline: Bool) throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        if !isOnline { driver.nextOutcomes = Array(repeating: .replied(WireResponse(503)), count: 4) }
        driver.capture(Self.change(.unsubscribed))
        driver.capture(Self.logOut)
        driver.capture(Self.logIn("aino"))
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f unsubscribed", "12 7c1f unsubscribed"])
        driver.capture(Self.subscribe)
        driver.drain()
        #expect(statuses(driver) == ["11 7c1f unsubscribed", "12 7c1f subscribed"])
        // A person's own decision takes precedence over a later one of an unknown person.
        driver.capture(Self.change(.unsubscribed))
        driver.capture(Self.logOut)
        driver.capture(Self.subscribe)
        driver.capture(Self.logIn("aino"))
        driver.drain()
        #expect(statuses(driver).contains("12 7c1f unsubscribed") && driver.pendingCount == 0)
    }

    @Test func `keeps a suspension across a log-out whose unsuspend has no clear reply`() throws {
        let driver = try driver()
        driver.deliver(Self.change(.suspended))
        driver.capture(Self.logIn("aino"))
        driver.capture(Self.subscribe)
        driver.advance(by: .seconds(2))
        driver.processesReplacedRequests = true
        driver.nextOutcomesByEndpoint[.unsuspend] = [.replied(WireResponse(500))]
        let logOut = driver.capture(Self.logOut)
        driver.drain()
        #expect(driver.outcome(of: logOut)?.isAccepted == true)
        #expect(statuses(driver) == ["11 7c1f suspended", "12 7c1f suspended"])
    }

    @Test(.shows("altcraft/E6"))
    func `sends unregister last, and no waiting operation subscribes afterwards`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.nextOutcomesByEndpoint[.customEvent] = [.replied(WireResponse(503)), .replied(WireResponse(503))]
        driver.capture(.track(.custom(name: "opened")))
        driver.credentials["aino"] = nil
        let logIn = driver.capture(Self.logIn("aino"))
        driver.contact = nil
        driver.capture(.unregister)
        driver.drain()
        driver.credentials["aino"] = Token.aino
        driver.wake()
        driver.drain()
        #expect(driver.outcome(of: logIn)?.summary == "rejected altcraft.provider.left")
        #expect(driver.endpoints.last == .subscribe)
        #expect(driver.last?.body["subscription"]?["status"] == "suspended")
        #expect(statuses(driver) == ["11 7c1f suspended"])
    }

    @Test func `unregisters every contact under which the vendor may reach the installation`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.contact = "aino"
        // Without a log-in nothing suspends the visitor's subscription.
        driver.deliver(Self.subscribe)
        #expect(driver.memory.registeredContacts == [nil, "aino"])
        driver.deliver(.unregister)
        driver.contact = nil
        driver.deliver(.unregister)
        #expect(statuses(driver) == ["11 7c1f suspended", "12 7c1f suspended"])
        #expect(driver.memory.registeredContacts.isEmpty)
    }

    @Test func `sends no person's values in another person's request`() throws {
        let driver = try driver()
        driver.deliver(Self.subscribe)
        driver.goOffline()
        driver.capture(.changeAttributes(["given_name": .set("Visitor")]))
        driver.capture(Self.logIn("aino"))
        driver.capture(.changeAttributes(["given_name": .set("Aino")]))
        driver.capture(Self.logOut)
        driver.capture(.changeAttributes(["city": .set("Visitortown")]))
        driver.goOnline()
        driver.drain()
        #expect(driver.state.profiles(in: 11).map(\.fields) == [["_fname": "Visitor", "_city": "Visitortown"]])
        #expect(driver.state.profiles(in: 12).map(\.fields) == [["_fname": "Aino"]])
    }
}
