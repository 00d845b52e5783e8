import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

@Suite("Adobe: several people on one device") struct PeopleTests {
    private static let given = ["anna": String(repeating: "1", count: 38), "bert": String(repeating: "2", count: 38)]

    private func device(_ person: String? = nil, token: String = "0aa1f00d") -> Device {
        var device = Device(pushToken: PushToken(token), facts: Corpus.phone.facts)
        if let given = person.flatMap({ Self.given[$0] }) { device.identities = ["adobe.ecid": given] }
        return device
    }

    /// Returns the mobile profiles with values of several people. Each value begins with the person's name.
    private func mixed(_ driver: StandardDriver) -> [MobileProfile] {
        driver.state.profiles.filter { profile in
            Set(profile.fields.values.compactMap { $0.split(separator: "-").first }).count > 1
        }
    }

    @Test(.shows("adobe/N4"), arguments: [false, true])
    func `gives each person an identity and moves the push token with the person`(_ isGiven: Bool) throws {
        let driver = try StandardDriver(["identifierFields": ["external": "cusNumber"]], device: nil)
        for person in ["anna", "bert"] {
            driver.capture(.registerDevice(device(isGiven ? person : nil)))
            driver.capture(.logIn(person))
            driver.capture(.track(.sessionStarted))
            driver.capture(.set("cusTier", "\(person)-gold"))
            driver.capture(.track(.push(.tapped, payload: Fixture.payload(["_mId": .string("h\(person)")]))))
            driver.drain()
            #expect(driver.fields == ["cusNumber": person, "cusTier": "\(person)-gold"])
            #expect(driver.heldTokens.keys.sorted() == [driver.ecid])
            if isGiven { #expect(driver.ecid == Self.given[person]) }
            driver.capture(.logOut)
            driver.drain()
            #expect(driver.heldTokens.keys.sorted() == [driver.ecid])
            #expect(driver.fields == nil)
        }
        #expect(mixed(driver).isEmpty)
        #expect(Set(driver.state.reports.map(\.ecid)).count == 2)
    }

    @Test(.shows("adobe/I10"))
    func `sends a person's waiting operations under that person's identity`() throws {
        let driver = try StandardDriver(["identifierFields": ["external": "cusNumber"]], device: device("anna"))
        driver.capture(.logIn("anna"))
        driver.drain()
        driver.goOffline()
        driver.capture(.set("cusTier", "anna-gold"))
        driver.capture(.track(.push(.tapped, payload: Fixture.payload)))
        driver.capture(.logOut)
        driver.capture(.logIn("bert"))
        driver.capture(.registerDevice(device("bert")))
        driver.capture(.set("cusTier", "bert-silver"))
        driver.advance(by: .seconds(90))
        driver.restart()
        driver.goOnline()
        driver.drain()
        #expect(mixed(driver).isEmpty)
        #expect(driver.fields == ["cusNumber": "bert", "cusTier": "bert-silver"])
        let former = driver.state.profiles.first { $0.ecid == Self.given["anna"] }
        #expect(former?.fields == ["cusNumber": "anna", "cusTier": "anna-gold"])
        #expect(driver.state.reports.map(\.ecid) == Array(repeating: Self.given["anna"] ?? "", count: 2))
        #expect(driver.heldTokens.keys.sorted() == [Self.given["bert"]])
    }

    @Test(.shows("adobe/I2", "adobe/A6"))
    func `sends click and open under one identity, and another identity gets none of its values`() throws {
        let driver = try StandardDriver(device: device("anna"))
        driver.deliver(.set("cusTier", "gold"))
        driver.nextOutcomes = [.status(200), .status(503)]
        driver.capture(.track(.push(.tapped, payload: Fixture.payload)))
        driver.capture(.registerDevice(device("bert")))
        driver.drain()
        #expect(Set(driver.state.reports.map(\.ecid)) == [Self.given["anna"]])
        #expect(driver.deliver(.set("cusTier", "gold"))?.code == "adobe.attributes.later")
        #expect(driver.fields == ["cusTier": "gold"] && driver.ecid == Self.given["bert"])
        #expect(driver.heldTokens.keys.sorted() == [Self.given["bert"]])
    }

    @Test(.shows("adobe/P6"))
    func `sends no values of one app to another app at the vendor`() throws {
        let driver = try StandardDriver()
        driver.deliver(.set("cusTier", "gold"))
        #expect(driver.deliver(.set("cusTier", "gold"))?.code == "adobe.attributes.known")
        try driver.restart(with: Fixture.adapter(["pkey": "another"]))
        #expect(driver.deliver(.set("cusTier", "gold"))?.code == "adobe.attributes.later")
        #expect(driver.state.profiles.map(\.pkey) == ["another", "b7e2f0c4d91a"])
    }

    @Test(.shows("adobe/I2"))
    func `reuses an identity from the app only for its own person`() throws {
        let driver = try StandardDriver(device: nil)
        driver.deliver(.logIn("anna"))
        driver.deliver(.registerDevice(device("anna")))
        driver.deliver(.set("cusTier", "anna-gold"))
        driver.deliver(.logIn("bert"))
        #expect(driver.deliver(.registerDevice(device("anna")))?.code == "adobe.identity.ended")
        driver.deliver(.set("cusTier", "bert-gold"))
        driver.deliver(.logIn("anna"))
        #expect(driver.deliver(.registerDevice(device("anna")))?.code == "accepted")
        #expect(driver.deliver(.set("cusTier", "anna-gold"))?.code == "adobe.attributes.known")
        #expect(mixed(driver).isEmpty && driver.ecid == Self.given["anna"])
        #expect(driver.heldTokens.keys.sorted() == [driver.ecid])
    }

    @Test(.shows("adobe/N4"))
    func `gives a person without an identifier field an identity, too`() throws {
        let driver = try StandardDriver(["identifierFields": [:]])
        driver.deliver(.logIn("anna"))
        driver.deliver(.set("cusTier", "anna-gold"))
        driver.deliver(.logIn("bert"))
        driver.deliver(.set("cusStore", "bert-turku"))
        #expect(mixed(driver).isEmpty && driver.state.profiles.count == 2)
        #expect(driver.examine(.logIn("bert")).map(\.severity) == [.warning, .warning])
    }

    @Test(.shows("adobe/I2"))
    func `sends a removed vendor values under the identity that the app passed for their person`() throws {
        let driver = try StandardDriver(device: device("anna"))
        driver.goOffline()
        driver.capture(.logIn("bert"))
        driver.capture(.registerDevice(device("bert")))
        driver.capture(.set("cusTier", "bert-gold"))
        driver.capture(.unregister)
        driver.goOnline()
        driver.drain()
        #expect(driver.state.profiles.filter { $0.fields["cusTier"] != nil }.map(\.ecid) == [Self.given["bert"]])
        #expect(driver.heldTokens.isEmpty)
    }

    @Test(.shows("adobe/I2"))
    func `applies a consent to every identity of the person`() throws {
        let driver = try StandardDriver(["identifierFields": ["external": "cusNumber"]])
        driver.capture(.consent(.profile, .denied, on: .push))
        driver.capture(.logIn("anna"))
        driver.capture(.registerDevice(device("anna")))
        driver.capture(.set("cusTier", "anna-gold"))
        driver.capture(.consent(.profile, .granted, on: .push))
        driver.drain()
        #expect(driver.pending.isEmpty)
    }

    @Test(.shows("adobe/I5"))
    func `sends nothing captured after an unanswered erasure under the erased identity`() throws {
        let driver = try StandardDriver(device: device("anna"))
        driver.deliver(.logIn("anna"))
        driver.nextOutcomesByEndpoint = [.pushToken: [.status(503)]]
        driver.capture(.erase)
        driver.contact = nil
        driver.capture(.set("cusTier", "gold"))
        driver.drain()
        #expect(
            driver.state.profiles.filter { $0.fields["cusTier"] != nil }.allSatisfy { $0.ecid != Self.given["anna"] }
        )
        #expect(driver.state.profiles.contains { $0.fields["cusTier"] == "gold" })
        #expect(driver.heldTokens.isEmpty)
    }

    @Test(.shows("adobe/V6"))
    func `keeps an opt-out captured after an unanswered erasure`() throws {
        let driver = try StandardDriver()
        driver.goOffline()
        driver.capture(.erase)
        driver.capture(.consent(.messaging, .denied))
        driver.capture(.set("cusTier", "gold"))
        driver.goOnline()
        driver.drain()
        driver.deliver(.registerDevice(device(token: "0bb1")))
        #expect(driver.heldTokens.isEmpty)

        let classic = try ClassicDriver()
        classic.deliver(.registerDevice(device()))
        classic.deliver(.logIn("anna"))
        classic.nextOutcomes = [.status(503)]
        classic.capture(.erase)
        classic.contact = nil
        classic.capture(.set("tier", "silver"))
        #expect(!classic.state.subscribers.contains { !$0.userKey.isEmpty && $0.parameters["tier"] != nil })
        classic.capture(.consent(.messaging, .denied))
        classic.drain()
        classic.deliver(.registerDevice(device()))
        classic.deliver(.set("tier", "gold"))
        #expect(classic.state.subscribers.allSatisfy { $0.userKey.isEmpty && $0.parameters.isEmpty })
    }

    @Test(.shows("adobe/I3"))
    func `a second token rotation after an unanswered one registers the newest token`() throws {
        let driver = try StandardDriver()
        driver.processesReplacedRequests = true
        driver.nextOutcomes = [NoReply.timedOut, NoReply.timedOut]
        driver.capture(.registerDevice(device(token: "0bb1")))
        driver.capture(.registerDevice(device(token: "0cc1")))
        driver.drain()
        #expect(driver.heldTokens == [driver.ecid: "0cc1"])
    }

    @Test(.shows("adobe/N7"), arguments: [1, 2])
    func `unregister is sent last and covers every identity`(_ lost: Int) throws {
        let driver = try StandardDriver(device: device("anna"))
        driver.goOffline()
        driver.capture(.logIn("anna"))
        driver.capture(.logOut)
        driver.capture(.logIn("bert"))
        driver.capture(.set("cusTier", "bert-gold"))
        driver.capture(.registerDevice(device("bert", token: "0cc1")))
        let unregister = driver.capture(.unregister)
        driver.forgetHistory()
        driver.advance(by: .seconds(Double(lost) * 20))
        driver.goOnline()
        driver.drain()
        #expect(driver.heldTokens.isEmpty && driver.pendingCount == 0)
        #expect(driver.outcome(of: unregister) != nil)
        #expect(driver.requests.allSatisfy { !$0.url.contains("0cc1") })
        driver.capture(.track(.sessionStarted))
        #expect(driver.heldTokens.isEmpty)
    }
}

@Suite("Adobe Classic: several people on one device") struct ClassicPeopleTests {
    private let device = Device(pushToken: PushToken("0aa1f00d"), facts: Corpus.phone.facts)

    private func driver(_ settings: JSONObject = [:]) throws -> ClassicDriver {
        let driver = try ClassicDriver(settings)
        driver.deliver(.registerDevice(device))
        driver.deliver(.logIn("anna"))
        driver.deliver(.set("tier", "anna-gold"))
        driver.forgetHistory()
        return driver
    }

    @Test(.shows("adobe/C20", "adobe/C22"))
    func `repeats an unanswered log-out or log-in until the person is off the device`() throws {
        for action in [Action.logOut, .logIn("bert")] {
            let driver = try driver()
            driver.nextOutcomes = [NoReply.timedOut, .status(503), NoReply.offline]
            let outcome = driver.deliver(action)
            #expect(outcome?.code == "accepted")
            #expect(driver.intervals == [.seconds(30), .seconds(60), .seconds(120)])
            #expect(driver.state.subscribers.map(\.userKey) == [action == .logOut ? "" : "bert"])
            #expect(driver.state.subscribers.map(\.parameters) == [[:]])
        }
    }

    @Test(.shows("adobe/C20"))
    func `registers nothing for the former person after a refused log-in`() throws {
        let driver = try driver()
        driver.nextOutcomes = [.status(404)]
        #expect(driver.deliver(.logIn("bert"))?.isRejected == true)
        driver.advance(by: .seconds(2))
        #expect(driver.deliver(.set("store", "bert-turku"))?.code == "accepted")
        #expect(driver.state.subscribers.map(\.userKey) == ["bert"])
        #expect(driver.state.subscribers.map(\.parameters) == [["store": "bert-turku"]])
    }

    @Test(.shows("adobe/C17", "adobe/C21", "adobe/V6"))
    func `opt-outs, erasures and unregister remove the person from the device`() throws {
        let ends: [(Action, String)] = [
            (.consent(.profile, .denied), "adobe.classic.detached"),
            (.consent(.messaging, .denied, on: .push), "adobe.classic.detached"), (.erase, "adobe.erase.byHand"),
            (.unregister, "adobe.classic.left"),
        ]
        for (action, code) in ends {
            let driver = try driver()
            driver.nextOutcomes = [NoReply.timedOut]
            #expect(driver.deliver(action)?.code == code)
            #expect(driver.state.subscribers.map(\.userKey) == [""])
            #expect(driver.state.subscribers.map(\.parameters) == [[:]])
        }
        let driver = try ClassicDriver()
        #expect(driver.deliver(.unregister)?.code == "adobe.unregister.nothing")
    }

    @Test(.shows("adobe/V6"))
    func `registers the person again after a new grant of messages`() throws {
        let driver = try driver()
        driver.deliver(.consent(.messaging, .denied, on: .push))
        #expect(driver.deliver(.set("tier", "anna-silver"))?.code == "adobe.token.withheld")
        #expect(driver.deliver(.consent(.messaging, .granted, on: .push))?.code == "accepted")
        #expect(driver.state.subscribers.map(\.userKey) == ["anna"])
        #expect(driver.state.subscribers.map(\.parameters) == [["tier": "anna-silver"]])
    }

    @Test(.shows("adobe/C20"), arguments: [[Purpose.profile], [.messaging, .profile]])
    func `one person's denial does not apply to the next person`(_ purposes: [Purpose]) throws {
        let driver = try driver()
        for purpose in purposes { driver.deliver(.consent(purpose, .denied)) }
        #expect(driver.state.subscribers.map(\.userKey) == [""])
        #expect(driver.deliver(.logIn("bert"))?.code == "accepted")
        #expect(driver.deliver(.set("tier", "bert-gold"))?.code == "accepted")
        #expect(driver.state.subscribers.map(\.userKey) == ["bert"])
        #expect(driver.state.subscribers.map(\.parameters) == [["tier": "bert-gold"]])
    }

    @Test(.shows("adobe/I10"))
    func `drops a former person's operations that waited for a push token`() throws {
        let driver = try ClassicDriver()
        let logIn = driver.capture(.logIn("anna"))
        let gold = driver.capture(.set("tier", "anna-gold"))
        driver.capture(.logOut)
        driver.capture(.logIn("bert"))
        driver.capture(.registerDevice(device))
        driver.drain()
        #expect([logIn, gold].map { driver.outcome(of: $0)?.code } == ["adobe.person.left", "adobe.person.left"])
        #expect(!driver.requests.contains { String(decoding: $0.body, as: UTF8.self).contains("anna") })
        #expect(driver.state.subscribers.map(\.userKey) == ["bert"])
    }

    @Test(.shows("adobe/C16"))
    func `sends a registration again to another app at the vendor`() throws {
        let driver = try driver()
        try driver.restart(with: ClassicFixture.adapter(["integrationKey": "another"]))
        #expect(driver.deliver(.set("tier", "anna-gold"))?.code == "accepted")
        #expect(driver.deliver(.logOut)?.code == "accepted")
        #expect(driver.state.subscribers.map(\.userKey) == ["", ""])
    }

    @Test(.shows("adobe/I9"))
    func `rejects a malformed token`() throws {
        let driver = try driver()
        #expect(driver.deliver(.registerDevice(Device(pushToken: PushToken("xyz"))))?.code == "adobe.token.form")
        #expect(driver.memory.token?.value == "0aa1f00d")
    }
}
