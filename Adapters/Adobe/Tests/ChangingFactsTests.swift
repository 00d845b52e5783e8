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

@Suite("Adobe: changes while operations wait") struct ChangingFactsTests {
    @Test(.shows("adobe/V6"), arguments: [true, false])
    func `applies a denial of messages again when the person returns`(_ isOnline: Bool) throws {
        let driver = try StandardDriver()
        if !isOnline { driver.goOffline() }
        driver.capture(.logIn("mira"))
        driver.capture(.consent(.messaging, .denied))
        driver.capture(.logIn("jose"))
        driver.goOnline()
        driver.drain()
        #expect(driver.heldTokens.keys.sorted() == [driver.ecid])
        if !isOnline { driver.goOffline() }
        driver.capture(.logIn("mira"))
        driver.capture(.registerDevice(device("0bb1")))
        driver.goOnline()
        driver.drain()
        #expect(driver.heldTokens.isEmpty)
        driver.capture(.consent(.messaging, .granted))
        driver.drain()
        #expect(driver.heldTokens == [driver.ecid: "0bb1"])
    }

    @Test(.shows("adobe/V6"))
    func `does not send the push token before a required consent to messages`() throws {
        let driver = try StandardDriver(device: nil)
        driver.requiredConsent = [.messaging]
        driver.restart()
        #expect(driver.deliver(.registerDevice(device("0bb1")))?.code == "adobe.token.withheld")
        driver.deliver(.logIn("mira"))
        #expect(driver.requests.allSatisfy { !$0.url.contains("0bb1") })
        driver.deliver(.consent(.messaging, .granted))
        driver.drain()
        #expect(driver.heldTokens == [driver.ecid: "0bb1"])
        driver.deliver(.logIn("jose"))
        #expect(driver.heldTokens.isEmpty)
        driver.deliver(.consent(.messaging, .granted, on: .push))
        driver.drain()
        #expect(driver.heldTokens == [driver.ecid: "0bb1"])
    }

    @Test(
        .shows("adobe/N4"),
        arguments: [
            (Action.logIn("jose"), true), (.logIn("jose"), false), (.identify([Identifier(.external, "jose")]), true),
        ]
    )
    func `sets the push token for the person after one who denied messages`(_ change: Action, _ hasFields: Bool) throws
    {
        let driver = try StandardDriver(["identifierFields": hasFields ? ["external": "cusNumber"] : [:]])
        driver.deliver(.logIn("mira"))
        driver.deliver(.consent(.messaging, .denied))
        #expect(driver.heldTokens.isEmpty)
        if change.kind == .identify {
            driver.deliver(.logOut)
            #expect(driver.heldTokens.isEmpty)
        }
        driver.deliver(change)
        driver.drain()
        #expect(driver.heldTokens.keys.sorted() == [driver.ecid])
        #expect(driver.pendingCount == 0)
    }

    @Test(.shows("adobe/I3"), arguments: ["0cc1", nil])
    func `the next person's registration does not restore a replaced push token`(_ token: String?)
        throws
    {
        let driver = try StandardDriver()
        driver.deliver(.logIn("mira"))
        driver.replyDelay = .seconds(2)
        driver.capture(.logIn("jose"))
        driver.capture(.registerDevice(device("0bb1")))
        let newest = driver.capture(.registerDevice(device(token)))
        driver.drain()
        #expect(Array(driver.heldTokens.values) == [token].compactMap(\.self))
        #expect(driver.outcome(of: newest)?.term != .superseded)
        #expect(driver.memory.token?.value == token)
    }

    @Test(.shows("adobe/N4"), arguments: [Action.logOut, .logIn("jose")])
    func `gives the person after a dropped log-in another identity`(_ change: Action) throws {
        let driver = try StandardDriver()
        driver.deliver(.set("city", "gold"))
        let former = driver.ecid
        driver.deliver(.consent(.profile, .denied))
        driver.deliver(.logIn("mira"))
        driver.deliver(change)
        driver.deliver(.set("city", "silver"))
        driver.drain()
        #expect(driver.ecid != former)
        #expect(driver.state.profiles.first { $0.ecid == former }?.fields["cusCity"] == "gold")
        #expect(driver.fields?["cusCity"] == "silver")
    }

    @Test(.shows("adobe/V5"))
    func `keeps a push token that is registered after an unanswered erasure`() throws {
        let driver = try StandardDriver()
        driver.deliver(.logIn("mira"))
        driver.nextOutcomesByEndpoint = [.pushToken: [.status(503)]]
        driver.capture(.erase)
        driver.contact = nil
        driver.capture(.registerDevice(device("0bb1")))
        driver.drain()
        #expect(driver.heldTokens == [driver.ecid: "0bb1"])
        #expect(driver.memory.token?.value == "0bb1")
    }
}

@Suite("Adobe Classic: changes while operations wait") struct ClassicChangingFactsTests {
    private func driver() throws -> ClassicDriver {
        let driver = try ClassicDriver()
        driver.deliver(.registerDevice(device("0aa1")))
        driver.deliver(.logIn("mira"))
        driver.forgetHistory()
        return driver
    }

    private func userKeys(_ driver: ClassicDriver) -> [String] {
        driver.state.subscribers.map(\.userKey).filter { !$0.isEmpty }
    }

    @Test(.shows("adobe/V6"), arguments: [Action.logOut, .logIn("jose")])
    func `applies a denial of messages again when the person returns`(_ change: Action) throws {
        let driver = try driver()
        driver.deliver(.consent(.messaging, .denied))
        driver.deliver(change)
        #expect(userKeys(driver) == (change == .logOut ? [] : ["jose"]))
        #expect(driver.deliver(.logIn("mira"))?.finding?.code == "adobe.token.withheld")
        driver.deliver(.set("tier", "gold"))
        #expect(userKeys(driver).isEmpty)
        #expect(driver.state.subscribers.allSatisfy { $0.parameters.isEmpty })
        #expect(driver.deliver(.consent(.messaging, .granted))?.code == "accepted")
        #expect(userKeys(driver) == ["mira"])
        #expect(driver.state.subscribers.map(\.parameters) == [["tier": "gold"]])
    }

    @Test(.shows("adobe/V6"), arguments: [true, false])
    func `registers no person before a required consent to messages`(_ isKnown: Bool) throws {
        let driver = try ClassicDriver()
        driver.requiredConsent = [.messaging]
        driver.restart()
        #expect(driver.deliver(.registerDevice(device("0aa1")))?.code == "adobe.token.withheld")
        if isKnown { driver.deliver(.logIn("mira")) }
        driver.deliver(.set("tier", "gold"))
        #expect(driver.requests.isEmpty)
        #expect(driver.deliver(.consent(.messaging, .granted))?.code == "accepted")
        #expect(driver.state.subscribers.map(\.userKey) == [isKnown ? "mira" : ""])
        #expect(driver.state.subscribers.map(\.parameters) == [["tier": "gold"]])
        if isKnown {
            driver.deliver(.logOut)
            driver.deliver(.logIn("jose"))
        }
        #expect(userKeys(driver).isEmpty && driver.pendingCount == 0)
    }

    @Test(.shows("adobe/C20", "adobe/C22"), arguments: [Action.logOut, .logIn("jose")])
    func `a change of person removes the former person from the old push token, too`(_ change: Action) throws {
        let driver = try driver()
        driver.goOffline()
        driver.capture(.registerDevice(device("0bb1")))
        driver.advance(by: .seconds(5))
        let id = driver.capture(change)
        driver.advance(by: .seconds(300))
        driver.goOnline()
        driver.drain()
        #expect(driver.outcome(of: id)?.isAccepted == true)
        #expect(userKeys(driver) == (change == .logOut ? [] : ["jose"]))
        #expect(driver.state.subscribers.map(\.token).sorted() == ["0aa1", "0bb1"])
    }

    @Test(.shows("adobe/V5"), arguments: ["0aa1", "0bb1"])
    func `keeps operations that are captured after an unanswered erasure`(_ token: String) throws {
        let driver = try driver()
        driver.deliver(.set("tier", "gold"))
        driver.goOffline()
        driver.capture(.erase)
        driver.contact = nil
        driver.capture(.set("store", "turku"))
        driver.capture(.registerDevice(device(token)))
        driver.goOnline()
        driver.drain()
        let kept = driver.state.subscribers.filter { $0.token == token }.map(\.parameters)
        #expect(userKeys(driver).isEmpty && kept == [["store": "turku"]])
        driver.deliver(.set("visits", "7"))
        #expect(driver.state.subscribers.first { $0.token == token }?.parameters == ["store": "turku", "visits": "7"])
        #expect(driver.state.subscribers.allSatisfy { $0.parameters["tier"] == nil })
    }
}
