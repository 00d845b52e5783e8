import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

/// Two databases: visitors in 11, registered people in 12, as the vendor recommends.
@Suite("Altcraft log-in and log-out") struct LogInTests {
    private static let logIn = Action.switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    private func visitor() throws -> Driver {
        let driver = try Driver(account: ["databases": ["11", "12"]])
        driver.deliver(Driver.operation(RequestTests.subscribe, "visit"))
        driver.forgetHistory()
        return driver
    }

    private func statuses(_ driver: Driver) -> [String] {
        [11, 12].flatMap { database in
            driver.state.profiles(in: database).flatMap(\.subscriptions).map { "\(database) \($0.status)" }
        }
    }

    @Test(
        .shows("altcraft/L1", "altcraft/L2", "altcraft/L5", "altcraft/L7", "altcraft/L9")
    )
    func `a first log-in suspends the visitor and subscribes the person`() throws {
        let driver = try visitor()
        #expect(statuses(driver) == ["11 subscribed"])
        let verdict = driver.deliver(Driver.operation(Self.logIn, "in", contact: "aino"))
        #expect(verdict?.answer.flatMap(AltcraftAnswer.init)?.profile?.subscription?.status == "subscribed")
        #expect(driver.endpoints == [.unsuspend, .subscribe])
        #expect(statuses(driver) == ["11 suspended", "12 subscribed"])
    }

    @Test(.shows("altcraft/L5", "altcraft/L6", "altcraft/L8"))
    func `a log-out subscribes the visitor's push token again`() throws {
        let driver = try visitor()
        driver.deliver(Driver.operation(Self.logIn, "in", contact: "aino"))
        driver.forgetHistory()
        #expect(driver.deliver(Driver.operation(Self.logOut, "out"))?.isAccepted == true)
        #expect(driver.endpoints == [.unsuspend])
        #expect(statuses(driver) == ["11 subscribed", "12 suspended"])
        #expect(driver.deliver(Driver.operation(Self.logIn, "again", contact: "aino"))?.isAccepted == true)
        #expect(driver.endpoints == [.unsuspend, .unsuspend])
        #expect(statuses(driver) == ["11 suspended", "12 subscribed"])
        #expect(driver.state.profiles.flatMap(\.subscriptions).map(\.optOuts) == [0, 0])
        #expect(driver.state.duplicates.isEmpty)
    }

    @Test(.shows("altcraft/L3", "altcraft/R8"))
    func `creates no subscription after an unclear reply to a log-in`() throws {
        let driver = try Driver(account: ["databases": ["11", "12"]])
        driver.nextOutcomesByEndpoint[.unsuspend] = [.replied(WireResponse(500))]
        let verdict = driver.deliver(Driver.operation(Self.logIn, "in", contact: "aino"))
        #expect(verdict?.finding?.code == "altcraft.switch.askAgain")
        #expect(driver.endpoints == [.unsuspend])
        #expect(statuses(driver).isEmpty)
        #expect(driver.deliver(Driver.operation(Self.logIn, "replayed", contact: "aino"))?.isAccepted == true)
        #expect(statuses(driver) == ["12 subscribed"])
    }

    @Test(.shows("altcraft/L12"))
    func `retries a log-in that was not sent or was throttled`() throws {
        for outcome in [Outcome.failed(TransportFailure(.notSent, "offline")), .replied(WireResponse(429))] {
            let driver = try Driver(account: ["databases": ["11", "12"]])
            driver.nextOutcomesByEndpoint[.unsuspend] = [outcome, outcome]
            #expect(driver.deliver(Driver.operation(Self.logIn, "in", contact: "aino"))?.isAccepted == true)
            #expect(driver.endpoints == [.unsuspend, .unsuspend, .unsuspend, .subscribe])
            #expect(statuses(driver) == ["12 subscribed"])
        }
    }

    @Test func `applies an opt-out that was sent before a waiting log-in and subscribe`() throws {
        for state in [Subscription.State.suspended, .unsubscribed] {
            let driver = try Driver(account: ["databases": ["11", "12"]])
            driver.nextOutcomesByEndpoint[.unsuspend] = [.replied(WireResponse(429))]
            driver.capture(together: [
                Driver.operation(Self.logIn, "in", contact: "aino"),
                Driver.operation(RequestTests.subscribe, "yes", contact: "aino"),
                Driver.operation(
                    .changeSubscription(Subscription(channel: .push, state: state)),
                    "no",
                    contact: "aino"
                ),
            ])
            driver.drain()
            #expect(statuses(driver) == ["12 \(state.rawValue)"])
            #expect(driver.pendingCount == 0)
        }
    }

    @Test func `retries the subscribe of a log-in like any other request`() throws {
        let driver = try visitor()
        driver.nextOutcomesByEndpoint[.subscribe] = [.replied(WireResponse(503))]
        #expect(driver.deliver(Driver.operation(Self.logIn, "in", contact: "aino"))?.isAccepted == true)
        #expect(driver.endpoints == [.unsuspend, .subscribe, .subscribe])
        #expect(statuses(driver) == ["11 suspended", "12 subscribed"])
    }

    @Test(.shows("altcraft/L8"))
    func `a log-in does not subscribe a person who opted out`() throws {
        let driver = try visitor()
        driver.deliver(Driver.operation(Self.logIn, "in", contact: "aino"))
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        driver.deliver(Driver.operation(optOut, "no", contact: "aino"))
        driver.deliver(Driver.operation(Self.logOut, "out"))
        #expect(driver.deliver(Driver.operation(Self.logIn, "again", contact: "aino"))?.isAccepted == true)
        #expect(statuses(driver) == ["11 suspended", "12 unsubscribed"])
    }

    @Test func `keeps a rotated token across a log-out`() throws {
        let driver = try visitor()
        driver.deliver(Driver.operation(Self.logIn, "in", contact: "aino"))
        driver.deliver(Driver.operation(.registerDevice(Fixture.renewedPhone), "new", contact: "aino"))
        driver.deliver(Driver.operation(Self.logOut, "out"))
        let held = driver.state.profiles.flatMap { profile in
            profile.subscriptions.map { "\(profile.database) \($0.token.prefix(4)) \($0.status)" }
        }
        #expect(held == ["11 0AA1 subscribed", "12 0AA1 suspended"])
    }

    @Test(.shows("altcraft/S1", "altcraft/S5", "altcraft/S6", "altcraft/S7"))
    func `queries return the subscription that was sent to the vendor`() throws {
        let driver = try visitor()
        let answer = driver.deliver(Driver.operation(.readBack(ReadRequest("current")), "ask"))?.answer
        let subscription = answer.flatMap(AltcraftAnswer.init)?.profile?.subscription
        #expect(subscription?.provider == "ios-apns")
        #expect(subscription?.fields?["_os_ver"] == ["raw": "24.3", "ver": #"["24.0", "3.0"]"#])
        #expect(answer?["eventCode"] == 233)
        let unknown = driver.deliver(Driver.operation(.readBack(ReadRequest("latest")), "ask-2", contact: "aino"))?
            .answer
        #expect(unknown?["profile"] == .null)
    }
}
