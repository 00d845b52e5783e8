import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

/// No person who has logged out stays reachable, regardless of the next person's consent and the vendor's replies.
@Suite("Altcraft: changes of person and consent") struct PushConsentTests {
    private static func push(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .push, state: state))
    }

    private static func consent(_ state: Consent.State) -> Action {
        .setConsent(Consent(purpose: .messaging, state: state))
    }

    private static let logOut = Action.switchContact(ContactSwitch(.logOut))
    private static let logIn = Action.switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "aino")]))

    /// An installation of Aino, who allowed messages and is subscribed, where messages need consent.
    private func aino() throws -> Driver {
        let driver = try Driver(account: ["databases": ["11", "12"]])
        driver.requiredConsent = [.messaging]
        driver.restart()
        driver.capture(Self.logIn)
        driver.capture(Self.consent(.granted))
        driver.capture(Self.push(.subscribed))
        driver.drain()
        #expect(statuses(driver) == ["12 subscribed"])
        return driver
    }

    private func statuses(_ driver: Driver) -> Set<String> {
        Set(
            driver.state.profiles.flatMap { profile in profile.subscriptions.map { "\(profile.database) \($0.status)" }
            }
        )
    }

    @Test(.shows("altcraft/L11"))
    func `a log-out suspends the former person and waits for consent before it subscribes`() throws {
        let driver = try aino()
        driver.forgetHistory()
        let logOut = driver.capture(Self.logOut)
        driver.drain()
        #expect(statuses(driver) == ["12 suspended"])
        #expect(driver.outcome(of: logOut)?.summary == "accepted altcraft.switch.withoutConsent")
        #expect(driver.pendingCount == 0)
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(statuses(driver) == ["11 subscribed", "12 suspended"])
    }

    @Test(
        .shows("altcraft/R7"),
        arguments: [408, 429, 503],
        [
            consent(.denied), .setConsent(Consent(purpose: .profile, state: .denied)), logOut, push(.unsubscribed),
            .unregister, .erase,
        ]
    )
    func `repeats a request that ends a subscription until the vendor accepts it`(_ status: Int, _ action: Action)
        throws
    {
        let driver = try aino()
        let busy = Outcome.replied(WireResponse(status))
        // Of the queries and the requests to subscribe, more than the vendor's retry limit.
        driver.nextOutcomesByEndpoint[.status] = Array(repeating: busy, count: 20)
        driver.nextOutcomesByEndpoint[.subscribe] = Array(repeating: busy, count: 20)
        let operation = driver.capture(action)
        driver.advance(by: .seconds(30 * 86_400))
        driver.drain()
        #expect(driver.outcome(of: operation)?.isAccepted == true)
        #expect(!statuses(driver).contains("12 subscribed"))
        #expect(driver.pendingCount == 0)
    }

    @Test(.shows("altcraft/L14"))
    func `a denial of messages unsubscribes a suspended subscription, which a release would resume`() throws {
        let driver = try aino()
        driver.capture(Self.push(.suspended))
        driver.drain()
        #expect(statuses(driver) == ["12 suspended"])
        driver.capture(Self.consent(.denied))
        driver.drain()
        #expect(statuses(driver) == ["12 unsubscribed"])
    }

    @Test func `no earlier opt-in to a topic follows an opt-out that the vendor refused`() throws {
        let driver = try aino()
        func topic(_ state: Subscription.State) -> Action {
            .changeSubscription(Subscription(channel: .push, topic: "news", state: state))
        }
        // The opt-in has no answer, so the opt-out asks for the status first.
        driver.nextOutcomesByEndpoint[.subscribe] = [.failed(TransportFailure(.lost, "timedOut"))]
        driver.nextOutcomesByEndpoint[.status] = [.replied(WireResponse(404))]
        let optIn = driver.capture(topic(.subscribed))
        driver.advance(by: .milliseconds(200))
        let optOut = driver.capture(topic(.unsubscribed))
        driver.drain()
        #expect(driver.outcome(of: optOut)?.term == .rejected)
        #expect(driver.outcome(of: optIn)?.term == .superseded)
    }

    @Test(.shows("altcraft/L11"))
    func `unsubscribes before an unsuspend that lacks consent and resubscribes with it`() throws {
        let driver = try aino()
        driver.capture(Self.logOut)
        driver.capture(Self.consent(.granted))
        driver.drain()
        driver.capture(Self.logIn)
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(statuses(driver) == ["11 suspended", "12 subscribed"])
        driver.forgetHistory()
        driver.capture(Self.logOut)
        driver.drain()
        #expect(statuses(driver) == ["11 unsubscribed", "12 suspended"])
        #expect(!driver.sent.contains { $0.body["subscription"]?["status"] == "subscribed" })
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(statuses(driver) == ["11 subscribed", "12 suspended"] && driver.pendingCount == 0)
    }

    @Test(.shows("altcraft/L11"))
    func `a denial keeps the log-out without a subscription, and a later grant subscribes`() throws {
        let driver = try aino()
        driver.capture(Self.logOut)
        driver.capture(Self.consent(.denied))
        driver.drain()
        #expect(statuses(driver) == ["12 suspended"] && driver.pendingCount == 0)
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(statuses(driver) == ["11 subscribed", "12 suspended"])
    }

    @Test func `a grant does not subscribe a person who opted out in the meantime`() throws {
        let driver = try aino()
        driver.capture(Self.logOut)
        driver.capture(Self.push(.unsubscribed))
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(!statuses(driver).contains { $0.hasSuffix(" subscribed") } && driver.pendingCount == 0)
    }

    @Test(
        .shows("altcraft/L12"),
        arguments: [Outcome.replied(WireResponse(500)), .failed(TransportFailure(.lost, "timedOut"))]
    )
    func `retries a change of person while the vendor may still reach the former person`(_ outcome: Outcome) throws {
        let driver = try Driver(account: ["databases": ["11", "12"]])
        driver.capture(Self.logIn)
        driver.capture(Self.push(.subscribed))
        driver.drain()
        driver.nextOutcomesByEndpoint[.unsuspend] = [outcome, outcome]
        let logOut = driver.capture(Self.logOut)
        driver.drain()
        #expect(driver.outcome(of: logOut)?.isAccepted == true)
        #expect(statuses(driver) == ["11 subscribed", "12 suspended"] && driver.pendingCount == 0)
    }

    @Test func `applies each person's last push decision when the person returns`() throws {
        let driver = try Driver(account: ["databases": ["11", "12"]])
        driver.capture(Self.logIn)
        driver.capture(Self.push(.unsubscribed))
        driver.capture(Self.logOut)
        driver.capture(Self.push(.subscribed))
        driver.drain()
        #expect(statuses(driver) == ["11 subscribed", "12 unsubscribed"])
        driver.capture(Self.logIn)
        driver.drain()
        #expect(statuses(driver) == ["11 suspended", "12 unsubscribed"])
    }
}
