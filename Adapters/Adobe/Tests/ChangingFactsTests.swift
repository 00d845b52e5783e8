import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe

private func device(_ token: String?) -> Device {
    Device(pushToken: token.map { PushToken($0) }, facts: Corpus.phone.facts)
}

@Suite("Adobe: facts that change while work waits") struct ChangingFactsTests {
    @Test(.shows("adobe/V6"), arguments: [true, false])
    func `a denial of messages counts again when the person comes back`(_ isOnline: Bool) throws {
        let phone = try StandardPhone()
        if !isOnline { phone.goOffline() }
        phone.capture(.logIn("mira"))
        phone.capture(.consent(.messaging, .denied))
        phone.capture(.logIn("jose"))
        phone.goOnline()
        phone.drain()
        #expect(phone.heldTokens.keys.sorted() == [phone.ecid])
        if !isOnline { phone.goOffline() }
        phone.capture(.logIn("mira"))
        phone.capture(.registerDevice(device("0bb1")))
        phone.goOnline()
        phone.drain()
        #expect(phone.heldTokens.isEmpty)
        phone.capture(.consent(.messaging, .granted))
        phone.drain()
        #expect(phone.heldTokens == [phone.ecid: "0bb1"])
    }

    @Test(.shows("adobe/V6"))
    func `the push token is not sent before a required consent to messages`() throws {
        let phone = try StandardPhone(device: nil)
        phone.requiredConsent = [.messaging]
        phone.restart()
        #expect(phone.deliver(.registerDevice(device("0bb1")))?.code == "adobe.token.withheld")
        phone.deliver(.logIn("mira"))
        #expect(phone.requests.allSatisfy { !$0.url.contains("0bb1") })
        phone.deliver(.consent(.messaging, .granted))
        phone.drain()
        #expect(phone.heldTokens == [phone.ecid: "0bb1"])
        phone.deliver(.logIn("jose"))
        #expect(phone.heldTokens.isEmpty)
        phone.deliver(.consent(.messaging, .granted, on: .push))
        phone.drain()
        #expect(phone.heldTokens == [phone.ecid: "0bb1"])
    }

    @Test(
        .shows("adobe/N4"),
        arguments: [
            (Action.logIn("jose"), true), (.logIn("jose"), false), (.identify([Identifier(.external, "jose")]), true),
        ]
    )
    func `the person after one who denied messages has the push token`(_ change: Action, _ hasFields: Bool) throws {
        let phone = try StandardPhone(["identifierFields": hasFields ? ["external": "cusNumber"] : [:]])
        phone.deliver(.logIn("mira"))
        phone.deliver(.consent(.messaging, .denied))
        #expect(phone.heldTokens.isEmpty)
        if change.kind == .identify {
            phone.deliver(.logOut)
            #expect(phone.heldTokens.isEmpty)
        }
        phone.deliver(change)
        phone.drain()
        #expect(phone.heldTokens.keys.sorted() == [phone.ecid])
        #expect(phone.pendingCount == 0)
    }

    @Test(.shows("adobe/I3"), arguments: ["0cc1", nil])
    func `a registration for the next person never brings back a push token that the app replaced`(_ token: String?)
        throws
    {
        let phone = try StandardPhone()
        phone.deliver(.logIn("mira"))
        phone.replyDelay = .seconds(2)
        phone.capture(.logIn("jose"))
        phone.capture(.registerDevice(device("0bb1")))
        let newest = phone.capture(.registerDevice(device(token)))
        phone.drain()
        #expect(Array(phone.heldTokens.values) == [token].compactMap(\.self))
        #expect(phone.outcome(of: newest)?.term != .superseded)
        #expect(phone.memory.token?.value == token)
    }

    @Test(.shows("adobe/N4"), arguments: [Action.logOut, .logIn("jose")])
    func `the person after one whose log-in was dropped has another identity`(_ change: Action) throws {
        let phone = try StandardPhone()
        phone.deliver(.set("city", "gold"))
        let former = phone.ecid
        phone.deliver(.consent(.profile, .denied))
        phone.deliver(.logIn("mira"))
        phone.deliver(change)
        phone.deliver(.set("city", "silver"))
        phone.drain()
        #expect(phone.ecid != former)
        #expect(phone.state.profiles.first { $0.ecid == former }?.fields["cusCity"] == "gold")
        #expect(phone.fields?["cusCity"] == "silver")
    }

    @Test(.shows("adobe/V5"))
    func `a push token that is registered behind an unanswered erasure survives it`() throws {
        let phone = try StandardPhone()
        phone.deliver(.logIn("mira"))
        phone.nextOutcomesByEndpoint = [.pushToken: [.status(503)]]
        phone.capture(.erase)
        phone.contact = nil
        phone.capture(.registerDevice(device("0bb1")))
        phone.drain()
        #expect(phone.heldTokens == [phone.ecid: "0bb1"])
        #expect(phone.memory.token?.value == "0bb1")
    }
}

@Suite("Adobe Classic: facts that change while work waits") struct ClassicChangingFactsTests {
    private func phone() throws -> ClassicPhone {
        let phone = try ClassicPhone()
        phone.deliver(.registerDevice(device("0aa1")))
        phone.deliver(.logIn("mira"))
        phone.forgetHistory()
        return phone
    }

    private func userKeys(_ phone: ClassicPhone) -> [String] {
        phone.state.subscribers.map(\.userKey).filter { !$0.isEmpty }
    }

    @Test(.shows("adobe/V6"), arguments: [Action.logOut, .logIn("jose")])
    func `a denial of messages counts again when the person comes back`(_ change: Action) throws {
        let phone = try phone()
        phone.deliver(.consent(.messaging, .denied))
        phone.deliver(change)
        #expect(userKeys(phone) == (change == .logOut ? [] : ["jose"]))
        #expect(phone.deliver(.logIn("mira"))?.finding?.code == "adobe.token.withheld")
        phone.deliver(.set("tier", "gold"))
        #expect(userKeys(phone).isEmpty)
        #expect(phone.state.subscribers.allSatisfy { $0.parameters.isEmpty })
        #expect(phone.deliver(.consent(.messaging, .granted))?.code == "accepted")
        #expect(userKeys(phone) == ["mira"])
        #expect(phone.state.subscribers.map(\.parameters) == [["tier": "gold"]])
    }

    @Test(.shows("adobe/V6"), arguments: [true, false])
    func `no person is registered before a required consent to messages`(_ isKnown: Bool) throws {
        let phone = try ClassicPhone()
        phone.requiredConsent = [.messaging]
        phone.restart()
        #expect(phone.deliver(.registerDevice(device("0aa1")))?.code == "adobe.token.withheld")
        if isKnown { phone.deliver(.logIn("mira")) }
        phone.deliver(.set("tier", "gold"))
        #expect(phone.requests.isEmpty)
        #expect(phone.deliver(.consent(.messaging, .granted))?.code == "accepted")
        #expect(phone.state.subscribers.map(\.userKey) == [isKnown ? "mira" : ""])
        #expect(phone.state.subscribers.map(\.parameters) == [["tier": "gold"]])
        if isKnown {
            phone.deliver(.logOut)
            phone.deliver(.logIn("jose"))
        }
        #expect(userKeys(phone).isEmpty && phone.pendingCount == 0)
    }

    @Test(.shows("adobe/C20", "adobe/C22"), arguments: [Action.logOut, .logIn("jose")])
    func `a change of person takes the former one off the push token before, too`(_ change: Action) throws {
        let phone = try phone()
        phone.goOffline()
        phone.capture(.registerDevice(device("0bb1")))
        phone.advance(by: .seconds(5))
        let id = phone.capture(change)
        phone.advance(by: .seconds(300))
        phone.goOnline()
        phone.drain()
        #expect(phone.outcome(of: id)?.isAccepted == true)
        #expect(userKeys(phone) == (change == .logOut ? [] : ["jose"]))
        #expect(phone.state.subscribers.map(\.token).sorted() == ["0aa1", "0bb1"])
    }

    @Test(.shows("adobe/V5"), arguments: ["0aa1", "0bb1"])
    func `what is captured behind an unanswered erasure survives it`(_ token: String) throws {
        let phone = try phone()
        phone.deliver(.set("tier", "gold"))
        phone.goOffline()
        phone.capture(.erase)
        phone.contact = nil
        phone.capture(.set("store", "turku"))
        phone.capture(.registerDevice(device(token)))
        phone.goOnline()
        phone.drain()
        let kept = phone.state.subscribers.filter { $0.token == token }.map(\.parameters)
        #expect(userKeys(phone).isEmpty && kept == [["store": "turku"]])
        phone.deliver(.set("visits", "7"))
        #expect(phone.state.subscribers.first { $0.token == token }?.parameters == ["store": "turku", "visits": "7"])
        #expect(phone.state.subscribers.allSatisfy { $0.parameters["tier"] == nil })
    }
}
