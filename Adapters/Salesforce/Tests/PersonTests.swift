import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

/// An installation of the app connected to the simulated account.
typealias DeviceDriver = AdapterTestDriver<SalesforceDevice, SalesforceSimulator>

extension AdapterTestDriver<SalesforceDevice, SalesforceSimulator> {
    convenience init(_ changes: JSONObject = [:]) throws {
        try self.init(TestDriver.adapter(changes), SalesforceSimulator(settings: [:]))
        capture(.registerDevice(.sample))
    }

    /// The sent registrations.
    var registrations: [JSONValue] { sent.filter { $0.endpoint == .registration }.map(\.body) }

    /// The device in the account.
    var device: SimulatedDevice? { state.devices.first }

    /// Whether any registration or event under a contact key contains a text.
    func holds(_ text: String, under key: String) -> Bool {
        registrations.contains { $0["subscriberKey"]?.string == key && $0.text.contains(text) }
            || device?.events.contains { $0.contactKey == key && $0.attributes.text.contains(text) } == true
    }
}

@Suite("Salesforce and several people on one device") struct PersonTests {
    private static func lesson(_ mark: String) -> Action {
        .track(.custom(name: "Lesson", attributes: ["mark": .string(mark)]))
    }

    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    @Test(.shows("salesforce/A14"), arguments: [Action.logIn("bert"), .identify("bert")])
    func `clears the former person's data for the next contact and reports it`(_ change: Action) throws {
        let driver = try DeviceDriver()
        driver.capture(together: .logIn("anna"), .set("tier", "anna-gold"), .add("anna-tag"))
        driver.drain()
        let id = driver.capture(change)
        driver.capture(.set("city", "bert-turku"))
        driver.drain()
        #expect(driver.holds("anna-gold", under: "anna") && !driver.holds("anna-", under: "bert"))
        #expect(driver.device?.attributes == ["tier": "", "city": "bert-turku"])
        let reason = try #require(driver.outcome(of: id)?.finding?.reason)
        #expect(reason.contains("tier") && reason.contains("1 tag") && !reason.contains("anna-"))
    }

    @Test(.shows("salesforce/A12"))
    func `carries attributes over and reports them if contactChange is keep`()
        throws
    {
        let driver = try DeviceDriver(["contactChange": "keep"])
        driver.capture(together: .logIn("anna"), .set("tier", "gold"))
        driver.drain()
        let id = driver.capture(.logIn("bert"))
        driver.drain()
        #expect(driver.device?.attributes == ["tier": "gold"])
        #expect(
            driver.outcome(of: id)?.finding?.reason.contains("carried over from the person before: attributes tier")
                == true
        )
    }

    @Test(.shows("salesforce/A14"))
    func `supersedes a tag that a log-out cleared before it was sent`() throws {
        let driver = try DeviceDriver()
        driver.capture(.logIn("anna"))
        driver.drain()
        let count = driver.registrations.count
        driver.goOffline()
        let tag = driver.capture(.add("anna-tag"))
        driver.capture(Self.logOut)
        driver.goOnline()
        driver.drain()
        #expect(driver.outcome(of: tag)?.term == .superseded && driver.registrations.count == count)
    }

    @Test(.shows("salesforce/A14")) func `keeps offline operations of two people apart`() throws {
        let driver = try DeviceDriver()
        driver.drain()
        driver.goOffline()
        for person in ["anna", "bert"] {
            driver.capture(
                together: .logIn(person),
                .set("tier", .string(person + "-gold")),
                Self.lesson(person + "-event")
            )
        }
        driver.advance(by: .seconds(600))
        driver.goOnline()
        driver.drain()
        #expect(!driver.holds("anna-", under: "bert") && !driver.holds("bert-", under: "anna"))
        #expect(driver.holds("bert-gold", under: "bert") && driver.holds("bert-event", under: "bert"))
        #expect(driver.holds("anna-event", under: "anna"))
        #expect(driver.pendingCount == 0)
    }

    @Test(.shows("salesforce/A14")) func `a lost reply does not mix data of two people`() throws {
        let driver = try DeviceDriver()
        driver.capture(.logIn("anna"))
        driver.drain()
        driver.processesReplacedRequests = true
        driver.nextOutcomes = [lost, lost]
        driver.capture(together: .set("tier", "anna-gold"), .logIn("bert"), .set("city", "bert-turku"))
        driver.drain()
        #expect(!driver.holds("anna-gold", under: "bert"))
        #expect(driver.device?.attributes["city"] == "bert-turku" && driver.device?.attributes["tier"] != "anna-gold")
        #expect(driver.pendingCount == 0)
    }

    @Test(.shows("salesforce/K3"))
    func `operations after a log-out wait for the next contact, except an opt-out`()
        throws
    {
        let driver = try DeviceDriver()
        driver.capture(.logIn("anna"))
        driver.drain()
        driver.capture(Self.logOut)
        driver.capture(together: .set("tier", "next-gold"), Self.lesson("next-event"))
        let optOut = driver.capture(.push(.unsubscribed))
        driver.drain()
        #expect(driver.outcome(of: optOut)?.isAccepted == true && driver.device?.isReachable == false)
        #expect(!driver.holds("next-", under: "anna") && driver.pendingCount == 2)
        #expect(driver.waitReasons.map(\.code).contains("salesforce.contact.waiting"))
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(driver.holds("next-gold", under: "bert") && driver.holds("next-event", under: "bert"))
        #expect(driver.pendingCount == 0 && driver.device?.isReachable == false)
    }

    @Test(.shows("salesforce/D8")) func `a denial for another channel does not change the registration`() throws {
        let driver = try DeviceDriver()
        driver.capture(together: .logIn("anna"), .set("tier", "gold"))
        driver.drain()
        let (count, memory) = (driver.registrations.count, driver.memory)
        for (purpose, channel) in [(Purpose.messaging, Channel.email), (.profile, .sms), (.tracking, nil)] {
            #expect(memory.afterDenial(of: Consent.Scope(purpose, channel: channel)) == memory)
            driver.capture(.setConsent(Consent(purpose: purpose, channel: channel, state: .denied)))
        }
        driver.drain()
        #expect(driver.registrations.count == count && driver.device?.isReachable == true)
        let denied = memory.afterDenial(of: .profile)
        #expect(denied.registration.attributes == ["tier": ""] && denied.registration.contactKey == "anna")
        #expect(denied.afterDenial(of: Consent.Scope(.profile, channel: .push)).registration.pushToken == nil)
    }

    @Test(.shows("salesforce/D8")) func `sends opt-outs but no opt-ins while the profile is denied`() throws {
        let driver = try DeviceDriver()
        driver.capture(.logIn("anna"))
        driver.drain()
        driver.capture(.setConsent(Consent(purpose: .profile, state: .denied)))
        driver.drain()
        let count = driver.registrations.count
        let optIn = driver.capture(.push(.subscribed))
        driver.drain()
        #expect(
            driver.registrations.count == count && driver.outcome(of: optIn)?.summary == "dropped engine.consent.denied"
        )
        driver.capture(.push(.unsubscribed))
        driver.drain()
        #expect(driver.device?.isReachable == false && driver.pendingCount == 0)
    }

    @Test(.shows("salesforce/D8")) func `an opt-in waits for the profile's consent`() throws {
        let driver = try DeviceDriver()
        driver.capture(.logIn("anna"))
        driver.drain()
        let denied = driver.memory.afterDenial(of: .profile)
        let optIn = Pending<SalesforceDevice>(
            operation: Corpus().operation(1, 0, contact: "anna", .push(.subscribed)),
            sequence: 99,
            since: Corpus.start,
            queue: ""
        )
        let now = Moment(now: Corpus.start, date: Corpus.start)
        let plan = try TestDriver.adapter([:]).plan(PendingOperations([optIn]), memory: denied, at: now)
        guard case .wait(_, let finding) = plan else { return #expect(Bool(false), "\(plan)") }
        #expect(finding.code == "salesforce.consent.waiting")
    }

    @Test(.shows("salesforce/D9")) func `an opt-out before the first registration is sent with that registration`()
        throws
    {
        let driver = try DeviceDriver(["delayRegistrationUntilContactKeyIsSet": true])
        let optOut = driver.capture(.push(.unsubscribed))
        #expect(driver.outcome(of: optOut)?.summary == "unchanged salesforce.optOut.kept")
        driver.capture(.logIn("anna"))
        driver.drain()
        #expect(driver.registrations.map { $0["push_Enabled"] } == [false])
    }

    @Test(.shows("salesforce/W6")) func `rejects a malformed push token and keeps the former one`() throws {
        let driver = try DeviceDriver()
        driver.drain()
        for token in ["", " ", "<0f1e 2d3c>", "0f1e\u{7}", "nothex"] {
            var device = Device.sample
            device.pushToken = PushToken(token)
            let id = driver.capture(.registerDevice(device))
            #expect(driver.outcome(of: id)?.isRejected == true, "\(token)")
        }
        driver.drain()
        #expect(driver.device?.registration?["device_Token"]?.string == Device.sample.pushToken?.value)
    }

    @Test(.shows("salesforce/W19"))
    func `derives the UTC offset from the time zone at the time of capture`()
        throws
    {
        let date = Instant(milliseconds: 1_941_170_400_000)  // 2031-07-07
        var facts = try #require(Device.sample.facts)
        (facts.utcOffsetSeconds, facts.timeZone) = (0, "America/New_York")
        #expect(FactRules.offset(of: facts, at: date) == (-14_400, true))
        #expect(FactRules.judge(facts, at: date).map(\.code) == ["salesforce.device.zone"])
        facts.timeZone = "Mars/Phobos"
        #expect(FactRules.judge(facts, at: date).map(\.code) == ["salesforce.device.zoneUnknown"])
        facts.utcOffsetSeconds = 3600
        #expect(FactRules.judge(facts, at: date).isEmpty)
    }

    @Test(.shows("salesforce/S12")) func `sends a contact key beyond the window with the operations in the window`()
        throws
    {
        let driver = try TestDriver(["delayRegistrationUntilContactKeyIsSet": true])
        driver.capture(.registerDevice(.sample), at: 0)
        for number in 0..<SalesforceDevice.descriptor.delivery.window {
            driver.capture(.add(PatchbayModel.Tag(rawValue: "t\(number % 100)")), at: 0)
        }
        let id = driver.capture(.identify("anna"), at: 0)
        let sent = try driver.transmission(at: 0)
        #expect(sent.request.json?["subscriberKey"] == "anna" && !sent.operations.contains(id))
        try driver.exchange(at: 0)
        driver.advance(to: 120)
        #expect(driver.summary(of: id) == "unchanged")
    }

    @Test(.shows("salesforce/D2")) func `unregisters under the contact key that the vendor knows`() throws {
        let driver = try TestDriver.registered([:], .identify("anna"), .set("tier", "gold"))
        let ids = [Action.logIn("bert"), .set("tier", "bert-gold"), .unregister].map { driver.capture($0, at: 10) }
        let body = try driver.exchange(at: 70).json
        #expect(body?["subscriberKey"] == "anna" && body?["push_Enabled"] == false && body?.pairs == ["tier=gold"])
        #expect(
            ids.map { driver.summary(of: $0) } == [
                "dropped salesforce.neverSent", "dropped salesforce.neverSent", "accepted salesforce.left",
            ]
        )
    }

    @Test(.shows("salesforce/D2"), arguments: [lost, interrupted])
    func `unregisters a device whose registration is unacknowledged`(_ outcome: Outcome) throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, outcome)
        let id = driver.capture(.unregister, at: 1)
        #expect(try driver.exchange(at: 60).json?["push_Enabled"] == false)
        #expect(driver.summary(of: id) == "accepted salesforce.left")
    }

    @Test(.shows("salesforce/D2"), arguments: [[Action.logIn("bert")], [logOut], [logOut, .logIn("bert")]])
    func `unregisters the device while a change of person is pending`(
        _ change: [Action]
    ) throws {
        for policy in [RoutingPlan.SwitchPolicy.retarget, .drain, .both] {
            let driver = try TestDriver.registered([:], .logIn("anna"))
            for action in change { driver.capture(action, at: 10) }
            if (try? driver.transmission(at: 70)) != nil { try driver.exchange(at: 70, notSent) }
            driver.advance(to: 80)
            try driver.leave(onSwitch: policy)
            let body = try driver.exchange(at: 1000).json
            #expect(body?["push_Enabled"] == false && body?["subscriberKey"] == "anna", "\(policy)")
            #expect(driver.pending.isEmpty)
        }
    }
}
