import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe

@Suite("Adobe registrations") struct RegistrationTests {
    private static let day = Duration.seconds(86_400)
    private static let session = Action.track(.sessionStarted)

    @Test(.shows("adobe/R4", "adobe/R5", of: AdobeDevice.self))
    func `a new identity registers at once, and again when the delay is over`() throws {
        var phone = try StandardPhone()
        #expect(phone.deliver(Self.session)?.code == "accepted")
        phone.now = phone.now + Self.day * 7 + .milliseconds(-1)
        #expect(phone.deliver(Self.session)?.code == "adobe.registration.notDue")
        phone.now = phone.now + .milliseconds(1)
        #expect(phone.deliver(Self.session)?.code == "accepted")
        #expect(phone.state.profiles.map(\.registrations) == [2])
    }

    @Test(.shows("adobe/R5", of: AdobeDevice.self))
    func `a delay of 0 registers at each session`() throws {
        var phone = try StandardPhone(["registrationDelay": 0])
        for _ in 0..<3 { #expect(phone.deliver(Self.session)?.code == "accepted") }
        #expect(phone.state.profiles.map(\.registrations) == [3])
    }

    @Test(.shows("adobe/R6", of: AdobeDevice.self))
    func `a pause sends nothing and remembers nothing`() throws {
        var phone = try StandardPhone(["registrationPaused": true])
        let before = phone.memory
        let verdict = phone.deliver(Self.session)
        #expect(verdict?.code == "adobe.registration.paused")
        #expect(verdict?.isDropped == true)
        #expect(phone.memory == before)
        #expect(phone.requests.isEmpty)
    }

    @Test(.shows("adobe/R7", of: AdobeDevice.self), arguments: [("anyHit", 1), ("registration", 2)])
    func `a push event postpones the registration, unless the settings say otherwise`(_ clock: String, _ count: Int)
        throws
    {
        var phone = try StandardPhone(["registrationClock": .string(clock)])
        phone.deliver(Self.session)
        phone.now = phone.now + Self.day * 6
        _ = phone.push(.received)
        phone.now = phone.now + Self.day * 2
        phone.deliver(Self.session)
        #expect(phone.state.profiles.map(\.registrations) == [count])
    }

    @Test(.shows("adobe/R4", "adobe/Q4", of: AdobeDevice.self), arguments: [404, 201, 204])
    func `an identity counts as registered before the answer`(_ status: Int) throws {
        var phone = try StandardPhone()
        _ = phone.push(.received)
        phone.instead = [.status(status)]
        #expect(phone.deliver(Self.session)?.isRejected == true)
        #expect(phone.memory.registeredECID == phone.ecid)
        phone.now = phone.now + Self.day
        #expect(phone.deliver(Self.session)?.code == "adobe.registration.notDue")
        phone.now = phone.now + Self.day * 6
        #expect(phone.deliver(Self.session)?.code == "accepted")
    }

    @Test func `without any success the next session tries again`() throws {
        var phone = try StandardPhone()
        phone.instead = [.status(404)]
        #expect(phone.deliver(Self.session)?.isRejected == true)
        #expect(phone.deliver(Self.session)?.code == "accepted")
    }

    @Test(.shows("adobe/R5", "adobe/R7", of: AdobeDevice.self))
    func `a session is judged by what was known when it began`() throws {
        var phone = try StandardPhone()
        phone.deliver(Self.session)
        phone.now = phone.now + Self.day * 8
        let push = phone.pending(phone.operation(.track(.push(.tapped, payload: Fixture.payload))))
        var session = phone.pending(phone.operation(Self.session))
        // Both wait; the push goes first, and would postpone the registration.
        guard case .settle(let verdicts, nil) = phone.plan(push, session) else {
            Issue.record("Nothing was decided.")
            return
        }
        #expect(verdicts == [session.id: .underway(AdobeDevice.Step(.register))])
        phone.memory.registeredAt = phone.now
        session = phone.pending(session.operation, step: AdobeDevice.Step(.register))
        guard case .send(let transmission) = phone.plan(session) else {
            Issue.record("Nothing is sent.")
            return
        }
        #expect(transmission.endpoint == .registration)
    }

    @Test(.shows("adobe/R8", of: AdobeDevice.self))
    func `without pkey nothing is registered, and tracking goes on`() throws {
        var phone = try StandardPhone(["pkey": nil])
        #expect(phone.deliver(Self.session)?.code == "adobe.pkey.missing")
        #expect(phone.deliver(.changeAttributes(["cusTier": .set("gold")]))?.code == "adobe.pkey.missing")
        #expect(phone.push(.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q9", of: AdobeDevice.self))
    func `nothing leaves before the device is known`() throws {
        var phone = StandardPhone(try Fixture.adapter(), try .init(settings: [:]))
        for action in [
            Self.session, .track(.push(.received, payload: Fixture.payload)), .changeAttributes(["cusTier": .set("a")]),
        ] {
            let pending = phone.pending(phone.operation(action))
            guard case .wait(nil, let because) = phone.plan(pending) else {
                Issue.record("\(action.kind) does not wait.")
                continue
            }
            #expect(because.code == "adobe.device.missing")
        }
        phone.deliver(.registerDevice(Corpus.phone))
        #expect(phone.deliver(Self.session)?.code == "accepted")
    }

    // MARK: Privacy

    @Test(.shows("adobe/V1", "adobe/V2", of: AdobeDevice.self))
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

    @Test(.shows("adobe/V3", "adobe/I1", "adobe/R4", of: AdobeDevice.self), arguments: [Purpose.tracking, .profile])
    func `an opt-out ends the identity, and the next one registers`(_ purpose: Purpose) throws {
        var phone = StandardPhone(try Fixture.adapter(), try .init(settings: [:]))
        phone.deliver(.registerDevice(Fixture.adoptedPhone))
        phone.deliver(Self.session)
        let old = phone.ecid
        let no = phone.deliver(.setConsent(Consent(purpose: purpose, state: .denied)))
        #expect(no?.code == "adobe.consent.optedOut")
        phone.deliver(.setConsent(Consent(purpose: purpose, state: .granted)))
        #expect(phone.ecid != old)
        // The app still names the old identity; it counts no more.
        phone.deliver(.registerDevice(Fixture.adoptedPhone))
        #expect(phone.deliver(Self.session)?.code == "accepted")
        #expect(Set(phone.state.profiles.map(\.ecid)) == [old, phone.ecid])
    }

    @Test(.shows("adobe/V3", of: AdobeDevice.self))
    func `an identity that nobody heard of is not replaced`() throws {
        var phone = try StandardPhone()
        let no = Action.setConsent(Consent(purpose: .tracking, state: .denied))
        phone.deliver(no)
        let fresh = phone.ecid
        phone.deliver(no)
        #expect(phone.ecid == fresh)
        _ = phone.push(.received)
        phone.deliver(no)
        #expect(phone.ecid != fresh)
    }

    @Test(.shows("adobe/V4", "adobe/V5", of: AdobeDevice.self))
    func `other words are kept, and an erasure begins anew`() throws {
        var phone = try StandardPhone()
        let email = Consent(purpose: .messaging, channel: .email, state: .denied)
        let before = phone.ecid
        #expect(phone.deliver(.setConsent(email))?.code == "adobe.consent.kept")
        #expect(phone.deliver(.setConsent(Consent(purpose: .tracking, state: .unknown)))?.code == "adobe.consent.kept")
        #expect(phone.ecid == before)
        #expect(phone.deliver(.erase)?.code == "adobe.erase.byHand")
        #expect(phone.memory.afterErase.generation == 1)
        #expect(phone.memory.afterErase.known.isEmpty)
        #expect(phone.memory.afterErase.platform == "apns")
        #expect(!phone.memory.afterErase.hasToken)
    }
}
