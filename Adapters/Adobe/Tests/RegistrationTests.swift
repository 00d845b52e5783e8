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
    func `a new identity registers at once, and again when the delay is over`() throws {
        let phone = try StandardPhone()
        #expect(phone.deliver(Self.session)?.code == "accepted")
        phone.advance(by: Self.day * 7 + .milliseconds(-1))
        #expect(phone.deliver(Self.session)?.code == "adobe.registration.notDue")
        phone.advance(by: .milliseconds(1))
        #expect(phone.deliver(Self.session)?.code == "accepted")
        #expect(phone.state.profiles.map(\.registrations) == [2])
    }

    @Test(.shows("adobe/R5"))
    func `a delay of 0 registers at each session`() throws {
        let phone = try StandardPhone(["registrationDelay": 0])
        for _ in 0..<3 { #expect(phone.deliver(Self.session)?.code == "accepted") }
        #expect(phone.state.profiles.map(\.registrations) == [3])
    }

    @Test(.shows("adobe/R6"))
    func `a pause sends nothing and remembers nothing`() throws {
        let phone = try StandardPhone(["registrationPaused": true])
        let before = phone.memory
        let verdict = phone.deliver(Self.session)
        #expect(verdict?.code == "adobe.registration.paused")
        #expect(verdict?.isDropped == true)
        #expect(phone.memory == before)
        #expect(phone.requests.isEmpty)
    }

    @Test(.shows("adobe/R7"), arguments: [("anyHit", 1), ("registration", 2)])
    func `a push event postpones the registration, unless the settings say otherwise`(_ clock: String, _ count: Int)
        throws
    {
        let phone = try StandardPhone(["registrationClock": .string(clock)])
        phone.deliver(Self.session)
        phone.advance(by: Self.day * 6)
        _ = phone.push(.received)
        phone.advance(by: Self.day * 2)
        phone.deliver(Self.session)
        #expect(phone.state.profiles.map(\.registrations) == [count])
    }

    @Test(.shows("adobe/R4", "adobe/Q4"), arguments: [404, 201, 204])
    func `an identity counts as registered before the answer`(_ status: Int) throws {
        let phone = try StandardPhone()
        _ = phone.push(.received)
        phone.nextOutcomes = [.status(status)]
        #expect(phone.deliver(Self.session)?.isRejected == true)
        #expect(phone.memory.registeredECID == phone.ecid)
        phone.advance(by: Self.day)
        #expect(phone.deliver(Self.session)?.code == "adobe.registration.notDue")
        phone.advance(by: Self.day * 6)
        #expect(phone.deliver(Self.session)?.code == "accepted")
    }

    @Test func `without any success the next session tries again`() throws {
        let phone = try StandardPhone()
        phone.nextOutcomes = [.status(404)]
        #expect(phone.deliver(Self.session)?.isRejected == true)
        #expect(phone.deliver(Self.session)?.code == "accepted")
    }

    @Test(.shows("adobe/R5", "adobe/R7"))
    func `a session is judged by what was known when it began`() throws {
        let phone = try StandardPhone()
        phone.deliver(Self.session)
        phone.advance(by: Self.day * 8)
        // Both wait. The push event is sent first and would postpone the registration.
        phone.forgetHistory()
        phone.capture(together: .track(.push(.tapped, payload: Fixture.payload)), Self.session)
        #expect(phone.endpoints == [.tracking, .tracking, .registration])
    }

    @Test(.shows("adobe/R5", "adobe/R7"))
    func `a session that begins while a click is in flight registers when it is due`() throws {
        let phone = try StandardPhone()
        phone.deliver(Self.session)
        phone.advance(by: Self.day * 8)
        phone.forgetHistory()
        phone.replyDelay = .seconds(3)
        phone.capture(.track(.push(.tapped, payload: Fixture.payload)))
        phone.advance(by: .seconds(1))
        phone.capture(Self.session)
        phone.advance(by: .seconds(30))
        #expect(phone.endpoints == [.tracking, .tracking, .registration])
    }

    @Test(.shows("adobe/R8"))
    func `without pkey nothing is registered, and tracking goes on`() throws {
        let phone = try StandardPhone(["pkey": nil])
        #expect(phone.deliver(Self.session)?.code == "adobe.pkey.missing")
        #expect(phone.deliver(.changeAttributes(["cusTier": .set("gold")]))?.code == "adobe.pkey.missing")
        #expect(phone.push(.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q9"))
    func `nothing leaves before the device is known`() throws {
        let phone = try StandardPhone(device: nil)
        for action in [
            Self.session, .track(.push(.received, payload: Fixture.payload)), .changeAttributes(["cusTier": .set("a")]),
        ] {
            phone.capture(action)
            #expect(phone.waitReason?.code == "adobe.device.missing")
        }
        #expect(phone.requests.isEmpty)
        phone.deliver(.registerDevice(Corpus.phone))
        #expect(phone.deliver(Self.session)?.code == "adobe.registration.notDue")
        #expect(Set(phone.endpoints) == [.pushToken, .registration, .tracking, .attributes])
    }

    // MARK: Privacy

    @Test(.shows("adobe/V1", "adobe/V2"))
    func `without the person's word tracking is dropped, and the rest waits`() throws {
        let phone = try StandardPhone()
        let waits: [(Action, Bool)] = [
            (.track(.push(.tapped, payload: Fixture.payload)), false), (Self.session, true),
            (.changeAttributes(["cusTier": .set("gold")]), true), (.registerDevice(Corpus.phone), true),
        ]
        for (action, isHeld) in waits {
            #expect(phone.adapter.place(phone.operation(action)).waitsForConsent == isHeld)
        }
    }

    @Test(.shows("adobe/V3", "adobe/V6", "adobe/I1", "adobe/I2", "adobe/I8", "adobe/R4"))
    func `a denial of tracking and profile ends the identity, in either order`() throws {
        for order in [[Purpose.tracking, .profile], [.profile, .tracking]] {
            let phone = try StandardPhone(device: Fixture.adoptedPhone)
            phone.deliver(Self.session)
            let old = phone.ecid
            phone.forgetHistory()
            phone.deliver(.consent(order[0], .denied))
            #expect(phone.ecid == old)
            #expect(phone.deliver(.consent(order[1], .denied))?.code == "adobe.consent.optedOut")
            #expect(phone.endpoints == [.pushToken, .optOut])
            #expect(phone.heldTokens.isEmpty && phone.state.optOuts == [old])
            for purpose in order { phone.deliver(.consent(purpose, .granted)) }
            #expect(phone.ecid != old)
            // The app still passes the old identity, which ended.
            #expect(phone.deliver(.registerDevice(Fixture.adoptedPhone))?.code == "adobe.identity.ended")
            #expect(phone.deliver(Self.session)?.code == "accepted")
            #expect(Set(phone.state.profiles.map(\.ecid)) == [old, phone.ecid])
            // A new identity of the vendor's SDK is used.
            var renewed = Fixture.adoptedPhone
            renewed.identities = ["adobe.ecid": "11111111111111111111111111111111111111"]
            phone.deliver(.registerDevice(renewed))
            #expect(phone.deliver(Self.session)?.code == "accepted")
            #expect(phone.state.profiles.map(\.ecid).contains("11111111111111111111111111111111111111"))
            #expect(phone.heldTokens.keys.sorted() == ["11111111111111111111111111111111111111"])
        }
    }

    @Test func `an identity under which nothing was sent is not replaced`() throws {
        let phone = try StandardPhone(["organizationId": nil])
        for purpose in [Purpose.tracking, .profile] { phone.deliver(.consent(purpose, .denied)) }
        let fresh = phone.ecid
        phone.deliver(.consent(.tracking, .denied))
        #expect(phone.ecid == fresh)
    }

    @Test(.shows("adobe/V6"), arguments: [Purpose.profile, .messaging])
    func `a denial on push takes the push token back, and a grant sends it again`(_ purpose: Purpose) throws {
        let phone = try StandardPhone(["noAnswer": "iOS"])
        phone.nextOutcomes = [Silence.timedOut, .status(503)]
        #expect(phone.deliver(.consent(purpose, .denied, on: .push))?.code == "adobe.consent.token")
        #expect(phone.heldTokens.isEmpty && phone.state.optOuts.isEmpty)
        if purpose == .messaging {
            #expect(phone.deliver(.registerDevice(Corpus.phone))?.code == "adobe.token.withheld")
        }
        phone.deliver(.consent(purpose, .granted, on: .push))
        phone.drain()
        #expect(phone.heldTokens == [phone.ecid: Corpus.phone.pushToken?.value.lowercased() ?? ""])
    }

    @Test(.shows("adobe/V6"))
    func `nothing is registered without consent to the profile`() throws {
        let phone = try StandardPhone()
        phone.deliver(.consent(.profile, .denied))
        phone.forgetHistory()
        phone.capture(.track(.push(.received, payload: Fixture.payload)))
        phone.capture(Self.session)
        phone.advance(by: Self.day)
        #expect(phone.requests.isEmpty)
        #expect(phone.waitReason?.code == "adobe.profile.denied")
        phone.deliver(.consent(.profile, .granted))
        phone.drain()
        #expect(phone.endpoints.contains(.registration) && phone.endpoints.contains(.tracking))
        #expect(phone.pendingCount == 0)
    }

    @Test(.shows("adobe/V4", "adobe/V5"))
    func `other decisions change nothing, and an erasure begins again`() throws {
        let phone = try StandardPhone(device: Fixture.adoptedPhone)
        let before = phone.ecid
        #expect(phone.deliver(.consent(.messaging, .denied, on: .email))?.code == "adobe.consent.kept")
        #expect(phone.deliver(.consent(.tracking, .unknown))?.code == "adobe.consent.kept")
        #expect(phone.ecid == before && phone.requests.isEmpty)
        #expect(phone.deliver(.erase)?.code == "adobe.erase.byHand")
        #expect(phone.heldTokens.isEmpty)
        #expect(phone.deliver(.registerDevice(Fixture.adoptedPhone))?.code == "adobe.identity.ended")
        #expect(phone.ecid != before)
    }
}
