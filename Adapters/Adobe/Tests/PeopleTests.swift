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
    private func mixed(_ phone: StandardPhone) -> [MobileProfile] {
        phone.state.profiles.filter { profile in
            Set(profile.fields.values.compactMap { $0.split(separator: "-").first }).count > 1
        }
    }

    @Test(.shows("adobe/N4"), arguments: [false, true])
    func `each person has an identity, and the push token moves with the person`(_ isGiven: Bool) throws {
        let phone = try StandardPhone(["identifierFields": ["external": "cusNumber"]], device: nil)
        for person in ["anna", "bert"] {
            phone.capture(.registerDevice(device(isGiven ? person : nil)))
            phone.capture(.logIn(person))
            phone.capture(.track(.sessionStarted))
            phone.capture(.set("cusTier", "\(person)-gold"))
            phone.capture(.track(.push(.tapped, payload: Fixture.payload(["_mId": .string("h\(person)")]))))
            phone.drain()
            #expect(phone.fields == ["cusNumber": person, "cusTier": "\(person)-gold"])
            #expect(phone.heldTokens.keys.sorted() == [phone.ecid])
            if isGiven { #expect(phone.ecid == Self.given[person]) }
            phone.capture(.logOut)
            phone.drain()
            #expect(phone.heldTokens.keys.sorted() == [phone.ecid])
            #expect(phone.fields == nil)
        }
        #expect(mixed(phone).isEmpty)
        #expect(Set(phone.state.reports.map(\.ecid)).count == 2)
    }

    @Test(.shows("adobe/I10"))
    func `what waited for one person is sent under that person's identity`() throws {
        let phone = try StandardPhone(["identifierFields": ["external": "cusNumber"]], device: device("anna"))
        phone.capture(.logIn("anna"))
        phone.drain()
        phone.goOffline()
        phone.capture(.set("cusTier", "anna-gold"))
        phone.capture(.track(.push(.tapped, payload: Fixture.payload)))
        phone.capture(.logOut)
        phone.capture(.logIn("bert"))
        phone.capture(.registerDevice(device("bert")))
        phone.capture(.set("cusTier", "bert-silver"))
        phone.advance(by: .seconds(90))
        phone.restart()
        phone.goOnline()
        phone.drain()
        #expect(mixed(phone).isEmpty)
        #expect(phone.fields == ["cusNumber": "bert", "cusTier": "bert-silver"])
        let former = phone.state.profiles.first { $0.ecid == Self.given["anna"] }
        #expect(former?.fields == ["cusNumber": "anna", "cusTier": "anna-gold"])
        #expect(phone.state.reports.map(\.ecid) == Array(repeating: Self.given["anna"] ?? "", count: 2))
        #expect(phone.heldTokens.keys.sorted() == [Self.given["bert"]])
    }

    @Test(.shows("adobe/I2", "adobe/A6"))
    func `click and open carry one identity, and another identity has no values of the first`() throws {
        let phone = try StandardPhone(device: device("anna"))
        phone.deliver(.set("cusTier", "gold"))
        phone.nextOutcomes = [.status(200), .status(503)]
        phone.capture(.track(.push(.tapped, payload: Fixture.payload)))
        phone.capture(.registerDevice(device("bert")))
        phone.drain()
        #expect(Set(phone.state.reports.map(\.ecid)) == [Self.given["anna"]])
        #expect(phone.deliver(.set("cusTier", "gold"))?.code == "adobe.attributes.later")
        #expect(phone.fields == ["cusTier": "gold"] && phone.ecid == Self.given["bert"])
        #expect(phone.heldTokens.keys.sorted() == [Self.given["bert"]])
    }

    @Test(.shows("adobe/P6"))
    func `another app at the vendor has no values of the first`() throws {
        let phone = try StandardPhone()
        phone.deliver(.set("cusTier", "gold"))
        #expect(phone.deliver(.set("cusTier", "gold"))?.code == "adobe.attributes.known")
        try phone.restart(with: Fixture.adapter(["pkey": "another"]))
        #expect(phone.deliver(.set("cusTier", "gold"))?.code == "adobe.attributes.later")
        #expect(phone.state.profiles.map(\.pkey) == ["another", "b7e2f0c4d91a"])
    }

    @Test(.shows("adobe/I2"))
    func `an identity from the app is used again for its own person alone`() throws {
        let phone = try StandardPhone(device: nil)
        phone.deliver(.logIn("anna"))
        phone.deliver(.registerDevice(device("anna")))
        phone.deliver(.set("cusTier", "anna-gold"))
        phone.deliver(.logIn("bert"))
        #expect(phone.deliver(.registerDevice(device("anna")))?.code == "adobe.identity.ended")
        phone.deliver(.set("cusTier", "bert-gold"))
        phone.deliver(.logIn("anna"))
        #expect(phone.deliver(.registerDevice(device("anna")))?.code == "accepted")
        #expect(phone.deliver(.set("cusTier", "anna-gold"))?.code == "adobe.attributes.known")
        #expect(mixed(phone).isEmpty && phone.ecid == Self.given["anna"])
        #expect(phone.heldTokens.keys.sorted() == [phone.ecid])
    }

    @Test(.shows("adobe/N4"))
    func `a person whom the vendor has no field for has an identity, too`() throws {
        let phone = try StandardPhone(["identifierFields": [:]])
        phone.deliver(.logIn("anna"))
        phone.deliver(.set("cusTier", "anna-gold"))
        phone.deliver(.logIn("bert"))
        phone.deliver(.set("cusStore", "bert-turku"))
        #expect(mixed(phone).isEmpty && phone.state.profiles.count == 2)
        #expect(phone.examine(.logIn("bert")).map(\.severity) == [.warning, .warning])
    }

    @Test(.shows("adobe/I2"))
    func `a vendor that is left receives values under the identity that the app passed for their person`() throws {
        let phone = try StandardPhone(device: device("anna"))
        phone.goOffline()
        phone.capture(.logIn("bert"))
        phone.capture(.registerDevice(device("bert")))
        phone.capture(.set("cusTier", "bert-gold"))
        phone.capture(.unregister)
        phone.goOnline()
        phone.drain()
        #expect(phone.state.profiles.filter { $0.fields["cusTier"] != nil }.map(\.ecid) == [Self.given["bert"]])
        #expect(phone.heldTokens.isEmpty)
    }

    @Test(.shows("adobe/I2"))
    func `a consent counts for every identity of the person`() throws {
        let phone = try StandardPhone(["identifierFields": ["external": "cusNumber"]])
        phone.capture(.consent(.profile, .denied, on: .push))
        phone.capture(.logIn("anna"))
        phone.capture(.registerDevice(device("anna")))
        phone.capture(.set("cusTier", "anna-gold"))
        phone.capture(.consent(.profile, .granted, on: .push))
        phone.drain()
        #expect(phone.pending.isEmpty)
    }

    @Test(.shows("adobe/I5"))
    func `nothing captured behind an unanswered erasure is posted under the erased identity`() throws {
        let phone = try StandardPhone(device: device("anna"))
        phone.deliver(.logIn("anna"))
        phone.nextOutcomesByEndpoint = [.pushToken: [.status(503)]]
        phone.capture(.erase)
        phone.contact = nil
        phone.capture(.set("cusTier", "gold"))
        phone.drain()
        #expect(
            phone.state.profiles.filter { $0.fields["cusTier"] != nil }.allSatisfy { $0.ecid != Self.given["anna"] }
        )
        #expect(phone.state.profiles.contains { $0.fields["cusTier"] == "gold" })
        #expect(phone.heldTokens.isEmpty)
    }

    @Test(.shows("adobe/V6"))
    func `an opt-out captured behind an unanswered erasure survives it`() throws {
        let phone = try StandardPhone()
        phone.goOffline()
        phone.capture(.erase)
        phone.capture(.consent(.messaging, .denied))
        phone.capture(.set("cusTier", "gold"))
        phone.goOnline()
        phone.drain()
        phone.deliver(.registerDevice(device(token: "0bb1")))
        #expect(phone.heldTokens.isEmpty)

        let classic = try ClassicPhone()
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
    func `a second rotation after an unanswered one ends with the newest token`() throws {
        let phone = try StandardPhone()
        phone.processesReplacedRequests = true
        phone.nextOutcomes = [Silence.timedOut, Silence.timedOut]
        phone.capture(.registerDevice(device(token: "0bb1")))
        phone.capture(.registerDevice(device(token: "0cc1")))
        phone.drain()
        #expect(phone.heldTokens == [phone.ecid: "0cc1"])
    }

    @Test(.shows("adobe/N7"), arguments: [1, 2])
    func `an unregister comes last and covers every identity`(_ lost: Int) throws {
        let phone = try StandardPhone(device: device("anna"))
        phone.goOffline()
        phone.capture(.logIn("anna"))
        phone.capture(.logOut)
        phone.capture(.logIn("bert"))
        phone.capture(.set("cusTier", "bert-gold"))
        phone.capture(.registerDevice(device("bert", token: "0cc1")))
        let unregister = phone.capture(.unregister)
        phone.forgetHistory()
        phone.advance(by: .seconds(Double(lost) * 20))
        phone.goOnline()
        phone.drain()
        #expect(phone.heldTokens.isEmpty && phone.pendingCount == 0)
        #expect(phone.outcome(of: unregister) != nil)
        #expect(phone.requests.allSatisfy { !$0.url.contains("0cc1") })
        phone.capture(.track(.sessionStarted))
        #expect(phone.heldTokens.isEmpty)
    }
}

@Suite("Adobe Classic: several people on one device") struct ClassicPeopleTests {
    private let device = Device(pushToken: PushToken("0aa1f00d"), facts: Corpus.phone.facts)

    private func phone(_ settings: JSONObject = [:]) throws -> ClassicPhone {
        let phone = try ClassicPhone(settings)
        phone.deliver(.registerDevice(device))
        phone.deliver(.logIn("anna"))
        phone.deliver(.set("tier", "anna-gold"))
        phone.forgetHistory()
        return phone
    }

    @Test(.shows("adobe/C20", "adobe/C22"))
    func `a log-out or log-in that is not answered is repeated until the person is off the device`() throws {
        for action in [Action.logOut, .logIn("bert")] {
            let phone = try phone()
            phone.nextOutcomes = [Silence.timedOut, .status(503), Silence.offline]
            let outcome = phone.deliver(action)
            #expect(outcome?.code == "accepted")
            #expect(phone.intervals == [.seconds(30), .seconds(60), .seconds(120)])
            #expect(phone.state.subscribers.map(\.userKey) == [action == .logOut ? "" : "bert"])
            #expect(phone.state.subscribers.map(\.parameters) == [[:]])
        }
    }

    @Test(.shows("adobe/C20"))
    func `after a refused log-in nothing is registered for the person before`() throws {
        let phone = try phone()
        phone.nextOutcomes = [.status(404)]
        #expect(phone.deliver(.logIn("bert"))?.isRejected == true)
        phone.advance(by: .seconds(2))
        #expect(phone.deliver(.set("store", "bert-turku"))?.code == "accepted")
        #expect(phone.state.subscribers.map(\.userKey) == ["bert"])
        #expect(phone.state.subscribers.map(\.parameters) == [["store": "bert-turku"]])
    }

    @Test(.shows("adobe/C17", "adobe/C21", "adobe/V6"))
    func `opt-outs, erasures and the unregister take the person off the device`() throws {
        let ends: [(Action, String)] = [
            (.consent(.profile, .denied), "adobe.classic.detached"),
            (.consent(.messaging, .denied, on: .push), "adobe.classic.detached"), (.erase, "adobe.erase.byHand"),
            (.unregister, "adobe.classic.left"),
        ]
        for (action, code) in ends {
            let phone = try phone()
            phone.nextOutcomes = [Silence.timedOut]
            #expect(phone.deliver(action)?.code == code)
            #expect(phone.state.subscribers.map(\.userKey) == [""])
            #expect(phone.state.subscribers.map(\.parameters) == [[:]])
        }
        let phone = try ClassicPhone()
        #expect(phone.deliver(.unregister)?.code == "adobe.unregister.nothing")
    }

    @Test(.shows("adobe/V6"))
    func `messages granted again register the person again`() throws {
        let phone = try phone()
        phone.deliver(.consent(.messaging, .denied, on: .push))
        #expect(phone.deliver(.set("tier", "anna-silver"))?.code == "adobe.token.withheld")
        #expect(phone.deliver(.consent(.messaging, .granted, on: .push))?.code == "accepted")
        #expect(phone.state.subscribers.map(\.userKey) == ["anna"])
        #expect(phone.state.subscribers.map(\.parameters) == [["tier": "anna-silver"]])
    }

    @Test(.shows("adobe/C20"), arguments: [[Purpose.profile], [.messaging, .profile]])
    func `the denial of one person does not bind the next person`(_ purposes: [Purpose]) throws {
        let phone = try phone()
        for purpose in purposes { phone.deliver(.consent(purpose, .denied)) }
        #expect(phone.state.subscribers.map(\.userKey) == [""])
        #expect(phone.deliver(.logIn("bert"))?.code == "accepted")
        #expect(phone.deliver(.set("tier", "bert-gold"))?.code == "accepted")
        #expect(phone.state.subscribers.map(\.userKey) == ["bert"])
        #expect(phone.state.subscribers.map(\.parameters) == [["tier": "bert-gold"]])
    }

    @Test(.shows("adobe/I10"))
    func `what waited for a push token is not carried out for a person who left`() throws {
        let phone = try ClassicPhone()
        let logIn = phone.capture(.logIn("anna"))
        let gold = phone.capture(.set("tier", "anna-gold"))
        phone.capture(.logOut)
        phone.capture(.logIn("bert"))
        phone.capture(.registerDevice(device))
        phone.drain()
        #expect([logIn, gold].map { phone.outcome(of: $0)?.code } == ["adobe.person.left", "adobe.person.left"])
        #expect(!phone.requests.contains { String(decoding: $0.body, as: UTF8.self).contains("anna") })
        #expect(phone.state.subscribers.map(\.userKey) == ["bert"])
    }

    @Test(.shows("adobe/C16"))
    func `another app at the vendor holds no registration of the first`() throws {
        let phone = try phone()
        try phone.restart(with: ClassicFixture.adapter(["integrationKey": "another"]))
        #expect(phone.deliver(.set("tier", "anna-gold"))?.code == "accepted")
        #expect(phone.deliver(.logOut)?.code == "accepted")
        #expect(phone.state.subscribers.map(\.userKey) == ["", ""])
    }

    @Test(.shows("adobe/I9"))
    func `a malformed token is refused`() throws {
        let phone = try phone()
        #expect(phone.deliver(.registerDevice(Device(pushToken: PushToken("xyz"))))?.code == "adobe.token.form")
        #expect(phone.memory.token?.value == "0aa1f00d")
    }
}
