import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

@Suite("Adobe registrations") struct RegistrationTests {
    private static let day = Duration.seconds(86_400)
    private static let session = Action.track(.sessionStarted)

    @Test(.shows("adobe/R4", "adobe/R5"))
    func `registers a new identity at once and again after the delay`() throws {
        let driver = try StandardDriver()
        #expect(driver.deliver(Self.session)?.code == "accepted")
        driver.advance(by: Self.day * 7 + .milliseconds(-1))
        #expect(driver.deliver(Self.session)?.code == "adobe.registration.notDue")
        driver.advance(by: .milliseconds(1))
        #expect(driver.deliver(Self.session)?.code == "accepted")
        #expect(driver.state.profiles.map(\.registrations) == [2])
    }

    @Test(.shows("adobe/R5"))
    func `registers at each session if the delay is 0`() throws {
        let driver = try StandardDriver(["registrationDelay": 0])
        for _ in 0..<3 { #expect(driver.deliver(Self.session)?.code == "accepted") }
        #expect(driver.state.profiles.map(\.registrations) == [3])
    }

    @Test(.shows("adobe/R6"))
    func `sends and stores nothing while registration is paused`() throws {
        let driver = try StandardDriver(["registrationPaused": true])
        let before = driver.memory
        let verdict = driver.deliver(Self.session)
        #expect(verdict?.code == "adobe.registration.paused")
        #expect(verdict?.isDropped == true)
        #expect(driver.memory == before)
        #expect(driver.requests.isEmpty)
    }

    @Test(.shows("adobe/R7"), arguments: [("anyHit", 1), ("registration", 2)])
    func `a push event postpones the registration unless the settings say otherwise`(_ clock: String, _ count: Int)
        throws
    {
        let driver = try StandardDriver(["registrationClock": .string(clock)])
        driver.deliver(Self.session)
        driver.advance(by: Self.day * 6)
        _ = driver.push(.received)
        driver.advance(by: Self.day * 2)
        driver.deliver(Self.session)
        #expect(driver.state.profiles.map(\.registrations) == [count])
    }

    @Test(.shows("adobe/R4", "adobe/Q4"), arguments: [404, 201, 204])
    func `treats an identity as registered before the answer`(_ status: Int) throws {
        let driver = try StandardDriver()
        _ = driver.push(.received)
        driver.nextOutcomes = [.status(status)]
        #expect(driver.deliver(Self.session)?.isRejected == true)
        #expect(driver.memory.registeredECID == driver.ecid)
        driver.advance(by: Self.day)
        #expect(driver.deliver(Self.session)?.code == "adobe.registration.notDue")
        driver.advance(by: Self.day * 6)
        #expect(driver.deliver(Self.session)?.code == "accepted")
    }

    @Test func `tries again in the next session if no request has succeeded`() throws {
        let driver = try StandardDriver()
        driver.nextOutcomes = [.status(404)]
        #expect(driver.deliver(Self.session)?.isRejected == true)
        #expect(driver.deliver(Self.session)?.code == "accepted")
    }

    @Test(.shows("adobe/R5", "adobe/R7"))
    func `decides about a session by the state at its start`() throws {
        let driver = try StandardDriver()
        driver.deliver(Self.session)
        driver.advance(by: Self.day * 8)
        // Both operations wait. The push event is sent first and would postpone the registration.
        driver.forgetHistory()
        driver.capture(together: .track(.push(.tapped, payload: Fixture.payload)), Self.session)
        #expect(driver.endpoints == [.tracking, .tracking, .registration])
    }

    @Test(.shows("adobe/R5", "adobe/R7"))
    func `registers a due session that starts while a click is in flight`() throws {
        let driver = try StandardDriver()
        driver.deliver(Self.session)
        driver.advance(by: Self.day * 8)
        driver.forgetHistory()
        driver.replyDelay = .seconds(3)
        driver.capture(.track(.push(.tapped, payload: Fixture.payload)))
        driver.advance(by: .seconds(1))
        driver.capture(Self.session)
        driver.advance(by: .seconds(30))
        #expect(driver.endpoints == [.tracking, .tracking, .registration])
    }

    @Test(.shows("adobe/R8"))
    func `tracks but does not register without pkey`() throws {
        let driver = try StandardDriver(["pkey": nil])
        #expect(driver.deliver(Self.session)?.code == "adobe.pkey.missing")
        #expect(driver.deliver(.changeAttributes(["cusTier": .set("gold")]))?.code == "adobe.pkey.missing")
        #expect(driver.push(.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q9"))
    func `sends nothing before the device is registered`() throws {
        let driver = try StandardDriver(device: nil)
        for action in [
            Self.session, .track(.push(.received, payload: Fixture.payload)), .changeAttributes(["cusTier": .set("a")]),
        ] {
            driver.capture(action)
            #expect(driver.waitReason?.code == "adobe.device.missing")
        }
        #expect(driver.requests.isEmpty)
        driver.deliver(.registerDevice(Corpus.phone))
        #expect(driver.deliver(Self.session)?.code == "adobe.registration.notDue")
        #expect(Set(driver.endpoints) == [.pushToken, .registration, .tracking, .attributes])
    }

    // MARK: Privacy

    @Test(.shows("adobe/V1", "adobe/V2"))
    func `drops tracking without consent and keeps the rest waiting`() throws {
        let driver = try StandardDriver()
        let waits: [(Action, Bool)] = [
            (.track(.push(.tapped, payload: Fixture.payload)), false), (Self.session, true),
            (.changeAttributes(["cusTier": .set("gold")]), true), (.registerDevice(Corpus.phone), true),
        ]
        for (action, isHeld) in waits {
            #expect(driver.adapter.place(driver.operation(action)).waitsForConsent == isHeld)
        }
    }

    @Test(.shows("adobe/V3", "adobe/V6", "adobe/I1", "adobe/I2", "adobe/I8", "adobe/R4"))
    func `denials of tracking and profile end the identity in either order`() throws {
        for order in [[Purpose.tracking, .profile], [.profile, .tracking]] {
            let driver = try StandardDriver(device: Fixture.adoptedPhone)
            driver.deliver(Self.session)
            let old = driver.ecid
            driver.forgetHistory()
            driver.deliver(.consent(order[0], .denied))
            #expect(driver.ecid == old)
            #expect(driver.deliver(.consent(order[1], .denied))?.code == "adobe.consent.optedOut")
            #expect(driver.endpoints == [.pushToken, .optOut])
            #expect(driver.heldTokens.isEmpty && driver.state.optOuts == [old])
            for purpose in order { driver.deliver(.consent(purpose, .granted)) }
            #expect(driver.ecid != old)
            // The app still passes the old identity, which ended.
            #expect(driver.deliver(.registerDevice(Fixture.adoptedPhone))?.code == "adobe.identity.ended")
            #expect(driver.deliver(Self.session)?.code == "accepted")
            #expect(Set(driver.state.profiles.map(\.ecid)) == [old, driver.ecid])
            // A new identity of the vendor's SDK is used.
            var renewed = Fixture.adoptedPhone
            renewed.identities = ["adobe.ecid": "11111111111111111111111111111111111111"]
            driver.deliver(.registerDevice(renewed))
            #expect(driver.deliver(Self.session)?.code == "accepted")
            #expect(driver.state.profiles.map(\.ecid).contains("11111111111111111111111111111111111111"))
            #expect(driver.heldTokens.keys.sorted() == ["11111111111111111111111111111111111111"])
        }
    }

    @Test func `keeps an identity under which nothing was sent`() throws {
        let driver = try StandardDriver(["organizationId": nil])
        for purpose in [Purpose.tracking, .profile] { driver.deliver(.consent(purpose, .denied)) }
        let fresh = driver.ecid
        driver.deliver(.consent(.tracking, .denied))
        #expect(driver.ecid == fresh)
    }

    @Test(.shows("adobe/V6"), arguments: [Purpose.profile, .messaging])
    func `a denial on push removes the push token, and a grant sends it again`(_ purpose: Purpose) throws {
        let driver = try StandardDriver(["noAnswer": "iOS"])
        driver.nextOutcomes = [NoReply.timedOut, .status(503)]
        #expect(driver.deliver(.consent(purpose, .denied, on: .push))?.code == "adobe.consent.token")
        #expect(driver.heldTokens.isEmpty && driver.state.optOuts.isEmpty)
        if purpose == .messaging {
            #expect(driver.deliver(.registerDevice(Corpus.phone))?.code == "adobe.token.withheld")
        }
        driver.deliver(.consent(purpose, .granted, on: .push))
        driver.drain()
        #expect(driver.heldTokens == [driver.ecid: Corpus.phone.pushToken?.value.lowercased() ?? ""])
    }

    @Test(.shows("adobe/V6"))
    func `registers nothing without consent to the profile`() throws {
        let driver = try StandardDriver()
        driver.deliver(.consent(.profile, .denied))
        driver.forgetHistory()
        driver.capture(.track(.push(.received, payload: Fixture.payload)))
        driver.capture(Self.session)
        driver.advance(by: Self.day)
        #expect(driver.requests.isEmpty)
        #expect(driver.waitReason?.code == "adobe.profile.denied")
        driver.deliver(.consent(.profile, .granted))
        driver.drain()
        #expect(driver.endpoints.contains(.registration) && driver.endpoints.contains(.tracking))
        #expect(driver.pendingCount == 0)
    }

    @Test(.shows("adobe/V4", "adobe/V5"))
    func `other decisions change nothing, and an erasure starts a new identity`() throws {
        let driver = try StandardDriver(device: Fixture.adoptedPhone)
        let before = driver.ecid
        #expect(driver.deliver(.consent(.messaging, .denied, on: .email))?.code == "adobe.consent.kept")
        #expect(driver.deliver(.consent(.tracking, .unknown))?.code == "adobe.consent.kept")
        #expect(driver.ecid == before && driver.requests.isEmpty)
        #expect(driver.deliver(.erase)?.code == "adobe.erase.byHand")
        #expect(driver.heldTokens.isEmpty)
        #expect(driver.deliver(.registerDevice(Fixture.adoptedPhone))?.code == "adobe.identity.ended")
        #expect(driver.ecid != before)
    }
}
