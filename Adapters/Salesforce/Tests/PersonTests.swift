import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

/// An installation of the app before the simulated account.
typealias Phone = AdapterTestDriver<SalesforceDevice, SalesforceSimulator>

extension AdapterTestDriver<SalesforceDevice, SalesforceSimulator> {
    convenience init(_ changes: JSONObject = [:]) throws {
        try self.init(Bench.adapter(changes), SalesforceSimulator(settings: [:]))
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
    func `the next contact gets nothing of the person before, and the finding names it`(_ change: Action) throws {
        let phone = try Phone()
        phone.capture(together: .logIn("anna"), .set("tier", "anna-gold"), .add("anna-tag"))
        phone.drain()
        let id = phone.capture(change)
        phone.capture(.set("city", "bert-turku"))
        phone.drain()
        #expect(phone.holds("anna-gold", under: "anna") && !phone.holds("anna-", under: "bert"))
        #expect(phone.device?.attributes == ["tier": "", "city": "bert-turku"])
        let reason = try #require(phone.outcome(of: id)?.finding?.reason)
        #expect(reason.contains("tier") && reason.contains("1 tag") && !reason.contains("anna-"))
    }

    @Test(.shows("salesforce/A12"))
    func `a setting keeps attributes as the vendor's SDK does, and the finding names them`()
        throws
    {
        let phone = try Phone(["contactChange": "keep"])
        phone.capture(together: .logIn("anna"), .set("tier", "gold"))
        phone.drain()
        let id = phone.capture(.logIn("bert"))
        phone.drain()
        #expect(phone.device?.attributes == ["tier": "gold"])
        #expect(
            phone.outcome(of: id)?.finding?.reason.contains("carried over from the person before: attributes tier")
                == true
        )
    }

    @Test(.shows("salesforce/A14"))
    func `a tag that a log-out cleared before it was sent is not called unchanged`() throws {
        let phone = try Phone()
        phone.capture(.logIn("anna"))
        phone.drain()
        let count = phone.registrations.count
        phone.goOffline()
        let tag = phone.capture(.add("anna-tag"))
        phone.capture(Self.logOut)
        phone.goOnline()
        phone.drain()
        #expect(phone.outcome(of: tag)?.term == .superseded && phone.registrations.count == count)
    }

    @Test(.shows("salesforce/A14")) func `work of two people that waited offline is kept apart`() throws {
        let phone = try Phone()
        phone.drain()
        phone.goOffline()
        for person in ["anna", "bert"] {
            phone.capture(
                together: .logIn(person),
                .set("tier", .string(person + "-gold")),
                Self.lesson(person + "-event")
            )
        }
        phone.advance(by: .seconds(600))
        phone.goOnline()
        phone.drain()
        #expect(!phone.holds("anna-", under: "bert") && !phone.holds("bert-", under: "anna"))
        #expect(phone.holds("bert-gold", under: "bert") && phone.holds("bert-event", under: "bert"))
        #expect(phone.holds("anna-event", under: "anna"))
        #expect(phone.pendingCount == 0)
    }

    @Test(.shows("salesforce/A14")) func `a lost reply does not mix two people`() throws {
        let phone = try Phone()
        phone.capture(.logIn("anna"))
        phone.drain()
        phone.processesReplacedRequests = true
        phone.nextOutcomes = [lost, lost]
        phone.capture(together: .set("tier", "anna-gold"), .logIn("bert"), .set("city", "bert-turku"))
        phone.drain()
        #expect(!phone.holds("anna-gold", under: "bert"))
        #expect(phone.device?.attributes["city"] == "bert-turku" && phone.device?.attributes["tier"] != "anna-gold")
        #expect(phone.pendingCount == 0)
    }

    @Test(.shows("salesforce/K3"))
    func `what is captured after a log-out waits for the next contact, an opt-out does not`()
        throws
    {
        let phone = try Phone()
        phone.capture(.logIn("anna"))
        phone.drain()
        phone.capture(Self.logOut)
        phone.capture(together: .set("tier", "next-gold"), Self.lesson("next-event"))
        let optOut = phone.capture(.push(.unsubscribed))
        phone.drain()
        #expect(phone.outcome(of: optOut)?.isAccepted == true && phone.device?.isReachable == false)
        #expect(!phone.holds("next-", under: "anna") && phone.pendingCount == 2)
        #expect(phone.waitReasons.map(\.code).contains("salesforce.contact.waiting"))
        phone.capture(.logIn("bert"))
        phone.drain()
        #expect(phone.holds("next-gold", under: "bert") && phone.holds("next-event", under: "bert"))
        #expect(phone.pendingCount == 0 && phone.device?.isReachable == false)
    }

    @Test(.shows("salesforce/D8")) func `a denial of another channel leaves the registration as it is`() throws {
        let phone = try Phone()
        phone.capture(together: .logIn("anna"), .set("tier", "gold"))
        phone.drain()
        let (count, memory) = (phone.registrations.count, phone.memory)
        for (purpose, channel) in [(Purpose.messaging, Channel.email), (.profile, .sms), (.tracking, nil)] {
            #expect(memory.afterDenial(of: Consent.Scope(purpose, channel: channel)) == memory)
            phone.capture(.setConsent(Consent(purpose: purpose, channel: channel, state: .denied)))
        }
        phone.drain()
        #expect(phone.registrations.count == count && phone.device?.isReachable == true)
        let denied = memory.afterDenial(of: .profile)
        #expect(denied.registration.attributes == ["tier": ""] && denied.registration.contactKey == "anna")
        #expect(denied.afterDenial(of: Consent.Scope(.profile, channel: .push)).registration.pushToken == nil)
    }

    @Test(.shows("salesforce/D8")) func `while the profile is denied an opt-out is sent and no opt-in`() throws {
        let phone = try Phone()
        phone.capture(.logIn("anna"))
        phone.drain()
        phone.capture(.setConsent(Consent(purpose: .profile, state: .denied)))
        phone.drain()
        let count = phone.registrations.count
        let optIn = phone.capture(.push(.subscribed))
        phone.drain()
        #expect(
            phone.registrations.count == count && phone.outcome(of: optIn)?.summary == "dropped engine.consent.denied"
        )
        phone.capture(.push(.unsubscribed))
        phone.drain()
        #expect(phone.device?.isReachable == false && phone.pendingCount == 0)
    }

    @Test(.shows("salesforce/D8")) func `an opt-in waits for the profile's consent`() throws {
        let phone = try Phone()
        phone.capture(.logIn("anna"))
        phone.drain()
        let denied = phone.memory.afterDenial(of: .profile)
        let optIn = Pending<SalesforceDevice>(
            operation: Corpus().operation(1, 0, contact: "anna", .push(.subscribed)),
            sequence: 99,
            since: Corpus.start,
            queue: ""
        )
        let now = Moment(now: Corpus.start, date: Corpus.start)
        let plan = try Bench.adapter([:]).plan(PendingOperations([optIn]), memory: denied, at: now)
        guard case .wait(_, let finding) = plan else { return #expect(Bool(false), "\(plan)") }
        #expect(finding.code == "salesforce.consent.waiting")
    }

    @Test(.shows("salesforce/D9")) func `an opt-out before the first registration ends, and that registration says it`()
        throws
    {
        let phone = try Phone(["delayRegistrationUntilContactKeyIsSet": true])
        let optOut = phone.capture(.push(.unsubscribed))
        #expect(phone.outcome(of: optOut)?.summary == "unchanged salesforce.optOut.kept")
        phone.capture(.logIn("anna"))
        phone.drain()
        #expect(phone.registrations.map { $0["push_Enabled"] } == [false])
    }

    @Test(.shows("salesforce/W6")) func `a malformed token does not replace a good one`() throws {
        let phone = try Phone()
        phone.drain()
        for token in ["", " ", "<0f1e 2d3c>", "0f1e\u{7}", "nothex"] {
            var device = Device.sample
            device.pushToken = PushToken(token)
            let id = phone.capture(.registerDevice(device))
            #expect(phone.outcome(of: id)?.isRejected == true, "\(token)")
        }
        phone.drain()
        #expect(phone.device?.registration?["device_Token"]?.string == Device.sample.pushToken?.value)
    }

    @Test(.shows("salesforce/W19"))
    func `a zone without an offset gives its own at the time of capture`()
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

    @Test(.shows("salesforce/S12")) func `a contact key behind the window is sent with what the window shows`() throws {
        let bench = try Bench(["delayRegistrationUntilContactKeyIsSet": true])
        bench.capture(.registerDevice(.sample), at: 0)
        for number in 0..<SalesforceDevice.descriptor.delivery.window {
            bench.capture(.add(PatchbayModel.Tag(rawValue: "t\(number % 100)")), at: 0)
        }
        let id = bench.capture(.identify("anna"), at: 0)
        let sent = try bench.transmission(at: 0)
        #expect(sent.request.json?["subscriberKey"] == "anna" && !sent.operations.contains(id))
        try bench.exchange(at: 0)
        bench.advance(to: 120)
        #expect(bench.summary(of: id) == "unchanged")
    }

    @Test(.shows("salesforce/D2")) func `the unregister names the contact that the vendor knows`() throws {
        let bench = try Bench.registered([:], .identify("anna"), .set("tier", "gold"))
        let ids = [Action.logIn("bert"), .set("tier", "bert-gold"), .unregister].map { bench.capture($0, at: 10) }
        let body = try bench.exchange(at: 70).json
        #expect(body?["subscriberKey"] == "anna" && body?["push_Enabled"] == false && body?.pairs == ["tier=gold"])
        #expect(
            ids.map { bench.summary(of: $0) } == [
                "dropped salesforce.neverSent", "dropped salesforce.neverSent", "accepted salesforce.left",
            ]
        )
    }

    @Test(.shows("salesforce/D2"), arguments: [lost, interrupted])
    func `a device that may have been registered is unregistered`(_ outcome: Outcome) throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0, outcome)
        let id = bench.capture(.unregister, at: 1)
        #expect(try bench.exchange(at: 60).json?["push_Enabled"] == false)
        #expect(bench.summary(of: id) == "accepted salesforce.left")
    }

    @Test(.shows("salesforce/D2"), arguments: [[Action.logIn("bert")], [logOut], [logOut, .logIn("bert")]])
    func `a vendor that is left while a change of person waits does not keep the device for the earlier person`(
        _ change: [Action]
    ) throws {
        for policy in [RoutingPlan.SwitchPolicy.retarget, .drain, .both] {
            let bench = try Bench.registered([:], .logIn("anna"))
            for action in change { bench.capture(action, at: 10) }
            if (try? bench.transmission(at: 70)) != nil { try bench.exchange(at: 70, notSent) }
            bench.advance(to: 80)
            try bench.leave(onSwitch: policy)
            let body = try bench.exchange(at: 1000).json
            #expect(body?["push_Enabled"] == false && body?["subscriberKey"] == "anna", "\(policy)")
            #expect(bench.pending.isEmpty)
        }
    }
}
