import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayDES

/// Push reachability: statements of several people on one installation, consent to messages, and an unregistration.
@Suite("DES push by person and consent") struct PushPersonTests {
    private func consent(_ state: Consent.State, _ purpose: Purpose = .messaging) -> Action {
        .setConsent(Consent(purpose: purpose, state: state))
    }

    /// Whether the vendor holds a push token of the installation.
    private func isReached(_ driver: Driver) -> Bool { driver.client?.pushToken != nil }

    /// A new installation whose configuration requires these consents.
    private func driver(requiring scopes: Set<Consent.Scope>) throws -> Driver {
        let driver = try Driver()
        driver.requiredConsent = scopes
        driver.restart()
        return driver
    }

    @Test(.shows("des/N7"), arguments: [true, false])
    func `applies each person's last push decision when the person returns`(isOnline: Bool) throws {
        let driver = try Driver.started(contact: "anna")
        if !isOnline { driver.goOffline() }
        driver.capture(.push(.unsubscribed))
        driver.capture(.logOut)
        driver.capture(.logIn("bert"))
        driver.capture(.push(.subscribed))
        if !isOnline { driver.goOnline() }
        driver.drain()
        #expect(isReached(driver) && driver.client?.contact == "2575=bert")
        driver.forget()
        driver.capture(.logOut)
        driver.capture(.logIn("anna"))
        driver.drain()
        #expect(!isReached(driver) && driver.client?.contact == "2575=anna")
        // The push token is removed before the contact is set.
        #expect(
            driver.sent.map(\.endpoint).firstIndex(of: .pushTokenRemoval) ?? 9 < driver.sent.map(\.endpoint).firstIndex(
                of: .contact
            ) ?? 0
        )
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(isReached(driver))
        driver.capture(.logIn("anna"))
        driver.capture(.registerDevice(Corpus.phone))
        driver.drain()
        #expect(!isReached(driver))
        driver.capture(.push(.subscribed))
        driver.drain()
        #expect(isReached(driver) && driver.pendingCount == 0)
    }

    @Test(.shows("des/N7")) func `applies an opt-out without a known person to the next person`() throws {
        let driver = try Driver.started(contact: nil)
        driver.capture(.push(.unsubscribed))
        driver.capture(.logIn("anna"))
        driver.capture(.logIn("bert"))
        driver.capture(.push(.subscribed))
        driver.drain()
        #expect(isReached(driver))
        driver.capture(.logIn("anna"))
        driver.drain()
        #expect(!isReached(driver))
    }

    @Test(.shows("des/N7"), arguments: [true, false])
    func `an opt-out sent before a pending log-in overrides an earlier opt-in`(isLoggedOut: Bool) throws {
        let driver = try Driver.started(contact: isLoggedOut ? "anna" : nil)
        driver.respond = { $0.endpoint == .events ? .status(503) : nil }
        driver.capture(.event("Opened"))
        driver.capture(.push(.subscribed))
        driver.capture(isLoggedOut ? .logOut : .logIn("anna"))
        driver.capture(.push(.unsubscribed))
        driver.advance(by: .seconds(2))
        #expect(!isReached(driver))
        driver.respond = { _ in nil }
        driver.forget()
        driver.wake()
        driver.drain()
        #expect(!isReached(driver) && !driver.endpoints.contains(.pushToken) && driver.pendingCount == 0)
        #expect(driver.client?.contact == (isLoggedOut ? "anonymous" : "2575=anna"))
        driver.capture(.logIn("bert"))
        driver.capture(.push(.subscribed))
        driver.drain()
        #expect(isReached(driver))
    }

    @Test(.shows("des/N7")) func `an opt-out does not wait for the log-in of its person`() throws {
        let driver = try Driver.started(["contactProof": "openIdToken"], contact: nil)
        driver.credentials = ["anna": Secret("token-of-anna")]
        driver.capture(.logIn("anna"))
        driver.capture(.push(.subscribed))
        driver.capture(.logIn("bert"))
        driver.capture(.push(.unsubscribed))
        driver.drain()
        #expect(!isReached(driver) && driver.waits?.code == "des.credential.missing")
        driver.capture(.logIn("anna"))
        driver.drain()
        #expect(isReached(driver) && driver.pendingCount == 0)
        driver.credentials = ["bert": Secret("token-of-bert")]
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(!isReached(driver) && driver.client?.contact == "2575=token:token-of-bert")
    }

    @Test(.shows("des/N8"), arguments: [true, false])
    func `sets no push token while the vendor holds the contact of a person who denied messages`(isKnown: Bool) throws {
        let driver = try Driver.started(["contactProof": "openIdToken"], contact: nil)
        driver.credentials = ["anna": Secret("token-of-anna")]
        driver.capture(.logIn("anna"))
        driver.drain()
        if isKnown { driver.capture(consent(.denied)) }
        driver.drain()
        let before = driver.client?.pushToken
        var device = Corpus.phone
        device.pushToken?.value = "0aa1f00d5588aa10"
        driver.capture(.logIn("bert"))
        driver.capture(.registerDevice(device))
        driver.drain()
        // A new push token does not reach the device under the contact of a person who has logged out.
        #expect(driver.client?.contact == "2575=token:token-of-anna" && driver.client?.pushToken == before)
        driver.credentials["bert"] = Secret("token-of-bert")
        driver.wake()
        driver.drain()
        #expect(driver.client?.contact == "2575=token:token-of-bert" && driver.client?.pushToken == "0aa1f00d5588aa10")
        #expect(driver.pendingCount == 0 && driver.state.violations == [])
    }

    @Test(.shows("des/N8")) func `a delayed log-in does not make a person reachable who denied messages`()
        throws
    {
        let driver = try Driver.started(contact: nil)
        driver.goOffline()
        driver.capture(.logIn("anna"))
        driver.capture(consent(.denied))
        driver.capture(.logIn("bert"))
        driver.capture(consent(.granted))
        driver.forget()
        driver.goOnline()
        driver.drain()
        #expect(isReached(driver) && driver.client?.contact == "2575=bert")
        let endpoints = driver.sent.map(\.endpoint)
        #expect(endpoints.firstIndex(of: .pushTokenRemoval) ?? 9 < endpoints.firstIndex(of: .contact) ?? 0)
    }

    @Test(.shows("des/N8"), arguments: [true, false])
    func `sets no push token until the person allows messages`(isRequired: Bool) throws {
        let driver = try driver(requiring: isRequired ? [.messaging] : [])
        if !isRequired { driver.capture(consent(.denied)) }
        driver.capture(.registerDevice(Corpus.phone))
        driver.capture(.logIn("anna"))
        driver.capture(.event("Opened"))
        driver.drain()
        #expect(!isReached(driver) && driver.state.events.map(\.name) == ["Opened"] && driver.pendingCount == 0)
        driver.capture(consent(.granted))
        driver.drain()
        #expect(isReached(driver))
        driver.capture(consent(.denied))
        driver.drain()
        #expect(!isReached(driver))
        driver.capture(consent(.granted))
        driver.drain()
        #expect(isReached(driver) && driver.pendingCount == 0)
    }

    @Test(.shows("des/N8")) func `does not reach the next person before that person's decision`()
        throws
    {
        let driver = try driver(requiring: [.messaging])
        driver.capture(.registerDevice(Corpus.phone))
        driver.capture(.logIn("anna"))
        driver.capture(consent(.granted))
        driver.drain()
        #expect(isReached(driver))
        driver.forget()
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(!isReached(driver) && driver.client?.contact == "2575=bert")
        #expect(driver.sent.first?.endpoint == .pushTokenRemoval)
        driver.capture(consent(.granted))
        driver.drain()
        #expect(isReached(driver))
    }

    @Test func `a denial does not wait for a request that keeps failing`() throws {
        let driver = try Driver.started()
        driver.respond = { $0.endpoint == .events ? .status(503) : nil }
        driver.capture(.event("Opened"))
        driver.advance(by: .seconds(2))
        driver.capture(consent(.denied))
        driver.advance(by: .seconds(2))
        #expect(!isReached(driver) && driver.pendingCount == 1)
    }

    @Test(.shows("des/N3"), arguments: [true, false], [true, false])
    func `unregister does not wait for an event that keeps failing`(isEarlier: Bool, hasReply: Bool) throws {
        let driver = try Driver.started()
        driver.respond = {
            guard $0.endpoint == .events else { return nil }
            return hasReply ? .status(503) : .failed(TransportFailure(.lost, "timedOut"))
        }
        let event = driver.capture(.event("Opened"))
        if isEarlier { driver.advance(by: .seconds(60)) }
        let unregister = driver.capture(.unregister)
        driver.drain()
        #expect(!isReached(driver) && driver.client?.contact == "anonymous")
        #expect(driver.outcome(of: unregister)?.isAccepted == true)
        driver.wake()
        #expect(driver.outcome(of: event)?.summary == "rejected \(FindingRow.notSent.code)" && driver.pendingCount == 0)
    }

    @Test func `unregister during an outage follows the event`() throws {
        let driver = try Driver.started()
        driver.goOffline()
        let event = driver.capture(.event("Opened"))
        let unregister = driver.capture(.unregister)
        driver.advance(by: .seconds(60))
        driver.goOnline()
        driver.drain()
        #expect(driver.outcome(of: event)?.isAccepted == true && driver.outcome(of: unregister)?.isAccepted == true)
        #expect(!isReached(driver) && driver.pendingCount == 0)
    }
}
