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
    private func isReached(_ bench: Bench) -> Bool { bench.client?.pushToken != nil }

    /// A new installation whose configuration requires these consents.
    private func bench(requiring scopes: Set<Consent.Scope>) throws -> Bench {
        let bench = try Bench()
        bench.requiredConsent = scopes
        bench.restart()
        return bench
    }

    @Test(.shows("des/N7"), arguments: [true, false])
    func `each person's last statement about push counts when the person comes back`(isOnline: Bool) throws {
        let bench = try Bench.started(contact: "anna")
        if !isOnline { bench.goOffline() }
        bench.capture(.push(.unsubscribed))
        bench.capture(.logOut)
        bench.capture(.logIn("bert"))
        bench.capture(.push(.subscribed))
        if !isOnline { bench.goOnline() }
        bench.drain()
        #expect(isReached(bench) && bench.client?.contact == "2575=bert")
        bench.forget()
        bench.capture(.logOut)
        bench.capture(.logIn("anna"))
        bench.drain()
        #expect(!isReached(bench) && bench.client?.contact == "2575=anna")
        // The push token is taken back before her contact is set.
        #expect(
            bench.sent.map(\.endpoint).firstIndex(of: .pushTokenRemoval) ?? 9 < bench.sent.map(\.endpoint).firstIndex(
                of: .contact
            ) ?? 0
        )
        bench.capture(.logIn("bert"))
        bench.drain()
        #expect(isReached(bench))
        bench.capture(.logIn("anna"))
        bench.capture(.registerDevice(Corpus.phone))
        bench.drain()
        #expect(!isReached(bench))
        bench.capture(.push(.subscribed))
        bench.drain()
        #expect(isReached(bench) && bench.pendingCount == 0)
    }

    @Test(.shows("des/N7")) func `an opt-out without a known person is the next person's`() throws {
        let bench = try Bench.started(contact: nil)
        bench.capture(.push(.unsubscribed))
        bench.capture(.logIn("anna"))
        bench.capture(.logIn("bert"))
        bench.capture(.push(.subscribed))
        bench.drain()
        #expect(isReached(bench))
        bench.capture(.logIn("anna"))
        bench.drain()
        #expect(!isReached(bench))
    }

    @Test(.shows("des/N7"), arguments: [true, false])
    func `an opt-out that overtakes a log-in wins over an earlier opt-in`(isLoggedOut: Bool) throws {
        let bench = try Bench.started(contact: isLoggedOut ? "anna" : nil)
        bench.respond = { $0.endpoint == .events ? .status(503) : nil }
        bench.capture(.event("Opened"))
        bench.capture(.push(.subscribed))
        bench.capture(isLoggedOut ? .logOut : .logIn("anna"))
        bench.capture(.push(.unsubscribed))
        bench.advance(by: .seconds(2))
        #expect(!isReached(bench))
        bench.respond = { _ in nil }
        bench.forget()
        bench.wake()
        bench.drain()
        #expect(!isReached(bench) && !bench.endpoints.contains(.pushToken) && bench.pendingCount == 0)
        #expect(bench.client?.contact == (isLoggedOut ? "anonymous" : "2575=anna"))
        bench.capture(.logIn("bert"))
        bench.capture(.push(.subscribed))
        bench.drain()
        #expect(isReached(bench))
    }

    @Test(.shows("des/N7")) func `an opt-out does not wait for the log-in of its person`() throws {
        let bench = try Bench.started(["contactProof": "openIdToken"], contact: nil)
        bench.credentials = ["anna": Secret("token-of-anna")]
        bench.capture(.logIn("anna"))
        bench.capture(.push(.subscribed))
        bench.capture(.logIn("bert"))
        bench.capture(.push(.unsubscribed))
        bench.drain()
        #expect(!isReached(bench) && bench.waits?.code == "des.credential.missing")
        bench.capture(.logIn("anna"))
        bench.drain()
        #expect(isReached(bench) && bench.pendingCount == 0)
        bench.credentials = ["bert": Secret("token-of-bert")]
        bench.capture(.logIn("bert"))
        bench.drain()
        #expect(!isReached(bench) && bench.client?.contact == "2575=token:token-of-bert")
    }

    @Test(.shows("des/N8"), arguments: [true, false])
    func `no push token is set while the vendor holds the contact of a person who denied messages`(isKnown: Bool) throws
    {
        let bench = try Bench.started(["contactProof": "openIdToken"], contact: nil)
        bench.credentials = ["anna": Secret("token-of-anna")]
        bench.capture(.logIn("anna"))
        bench.drain()
        if isKnown { bench.capture(consent(.denied)) }
        bench.drain()
        let before = bench.client?.pushToken
        var device = Corpus.phone
        device.pushToken?.value = "0aa1f00d5588aa10"
        bench.capture(.logIn("bert"))
        bench.capture(.registerDevice(device))
        bench.drain()
        // A new push token does not reach the device under the contact of a person who has logged out.
        #expect(bench.client?.contact == "2575=token:token-of-anna" && bench.client?.pushToken == before)
        bench.credentials["bert"] = Secret("token-of-bert")
        bench.wake()
        bench.drain()
        #expect(bench.client?.contact == "2575=token:token-of-bert" && bench.client?.pushToken == "0aa1f00d5588aa10")
        #expect(bench.pendingCount == 0 && bench.state.violations == [])
    }

    @Test(.shows("des/N8")) func `a log-in that comes late does not reach who denied messages`()
        throws
    {
        let bench = try Bench.started(contact: nil)
        bench.goOffline()
        bench.capture(.logIn("anna"))
        bench.capture(consent(.denied))
        bench.capture(.logIn("bert"))
        bench.capture(consent(.granted))
        bench.forget()
        bench.goOnline()
        bench.drain()
        #expect(isReached(bench) && bench.client?.contact == "2575=bert")
        let endpoints = bench.sent.map(\.endpoint)
        #expect(endpoints.firstIndex(of: .pushTokenRemoval) ?? 9 < endpoints.firstIndex(of: .contact) ?? 0)
    }

    @Test(.shows("des/N8"), arguments: [true, false])
    func `no push token is set until the person allows messages`(isRequired: Bool) throws {
        let bench = try bench(requiring: isRequired ? [.messaging] : [])
        if !isRequired { bench.capture(consent(.denied)) }
        bench.capture(.registerDevice(Corpus.phone))
        bench.capture(.logIn("anna"))
        bench.capture(.event("Opened"))
        bench.drain()
        #expect(!isReached(bench) && bench.state.events.map(\.name) == ["Opened"] && bench.pendingCount == 0)
        bench.capture(consent(.granted))
        bench.drain()
        #expect(isReached(bench))
        bench.capture(consent(.denied))
        bench.drain()
        #expect(!isReached(bench))
        bench.capture(consent(.granted))
        bench.drain()
        #expect(isReached(bench) && bench.pendingCount == 0)
    }

    @Test(.shows("des/N8")) func `the next person is not reached before that person's answer`()
        throws
    {
        let bench = try bench(requiring: [.messaging])
        bench.capture(.registerDevice(Corpus.phone))
        bench.capture(.logIn("anna"))
        bench.capture(consent(.granted))
        bench.drain()
        #expect(isReached(bench))
        bench.forget()
        bench.capture(.logIn("bert"))
        bench.drain()
        #expect(!isReached(bench) && bench.client?.contact == "2575=bert")
        #expect(bench.sent.first?.endpoint == .pushTokenRemoval)
        bench.capture(consent(.granted))
        bench.drain()
        #expect(isReached(bench))
    }

    @Test func `a denial does not wait for a request that fails again and again`() throws {
        let bench = try Bench.started()
        bench.respond = { $0.endpoint == .events ? .status(503) : nil }
        bench.capture(.event("Opened"))
        bench.advance(by: .seconds(2))
        bench.capture(consent(.denied))
        bench.advance(by: .seconds(2))
        #expect(!isReached(bench) && bench.pendingCount == 1)
    }

    @Test(.shows("des/N3"), arguments: [true, false], [true, false])
    func `an unregister does not wait for an event that fails again and again`(isEarlier: Bool, hasReply: Bool) throws {
        let bench = try Bench.started()
        bench.respond = {
            guard $0.endpoint == .events else { return nil }
            return hasReply ? .status(503) : .failed(TransportFailure(.lost, "timedOut"))
        }
        let event = bench.capture(.event("Opened"))
        if isEarlier { bench.advance(by: .seconds(60)) }
        let unregister = bench.capture(.unregister)
        bench.drain()
        #expect(!isReached(bench) && bench.client?.contact == "anonymous")
        #expect(bench.outcome(of: unregister)?.isAccepted == true)
        bench.wake()
        #expect(bench.outcome(of: event)?.summary == "rejected \(FindingRow.notSent.code)" && bench.pendingCount == 0)
    }

    @Test func `an unregister during an outage comes behind the event`() throws {
        let bench = try Bench.started()
        bench.goOffline()
        let event = bench.capture(.event("Opened"))
        let unregister = bench.capture(.unregister)
        bench.advance(by: .seconds(60))
        bench.goOnline()
        bench.drain()
        #expect(bench.outcome(of: event)?.isAccepted == true && bench.outcome(of: unregister)?.isAccepted == true)
        #expect(!isReached(bench) && bench.pendingCount == 0)
    }
}
