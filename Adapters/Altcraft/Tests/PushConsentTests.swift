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
