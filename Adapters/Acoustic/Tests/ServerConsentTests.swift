import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic
@testable import PatchbayAcousticServer

@Suite("Acoustic server consents") struct ServerConsentTests {
    private static let device: JSONObject = ["userId": "mu-7", "channelId": "ch-9"]

    private func push(_ state: Subscription.State, _ change: (inout Subscription) -> Void = { _ in }) -> Action {
        var subscription = Subscription(channel: .push, topic: "device", state: state)
        change(&subscription)
        return .changeSubscription(subscription)
    }

    private func alerts(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .sms, topic: "alerts", state: state))
    }

    @Test(.shows("acoustic/S50", "acoustic/S51", "acoustic/S53"))
    func `writes a push consent per device with its date and source`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        let decision = push(.unsubscribed) {
            $0.changedAt = Timestamp(text: "2031-03-08T22:15:00.250Z")
            $0.source = "preferences screen"
        }
        let optOut = try driver.say("c-1", decision, Self.device)
        try driver.advance(5)
        #expect(driver.outcome(optOut)?.term == .accepted)
        #expect(driver.sent("writeConsent").count == 1 && driver.sent("readConsent").isEmpty)
        let sent = driver.sent("writeConsent")[0].request
        #expect(
            sent.url
                == "https://api-campaign-eu-1.goacoustic.com/rest/databases/771100/consent/PUSH-gcb4hVDsXq/c-1/mu-7%7Cch-9"
        )
        #expect(
            sent.json == [
                "status": "OPTED-OUT", "consentDate": "2031-03-08T22:15:00.250Z",
                "consentSource": "preferences screen",
            ]
        )
        let request = ReadRequest("consent", arguments: Self.device.with(["channel": "push.device"]))
        let answer = try driver.ask("c-1", request, seconds: 5)?.answer
        #expect(
            answer == [
                "state": "unsubscribed", "status": "OPTED-OUT", "consentDate": "2031-03-08T22:15:00.250Z",
                "consentSource": "preferences screen",
            ]
        )
        try driver.say("c-1", push(.subscribed), Self.device)
        try driver.advance(5)
        #expect(driver.account.consents["PUSH-gcb4hVDsXq/mu-7|ch-9"]?.status == "OPTED-IN")
        #expect(driver.sent("writeConsent")[1].request.json == ["status": "OPTED-IN"])
        // A suspended subscription is an opt-out. A contact without a consent has none to replace.
        try driver.say("c-1", push(.suspended), Self.device)
        let withoutConsent = try driver.say("c-9", push(.subscribed), Self.device)
        try driver.advance(5)
        #expect(driver.account.consents["PUSH-gcb4hVDsXq/mu-7|ch-9"]?.status == "OPTED-OUT")
        #expect(driver.outcome(withoutConsent)?.finding?.code == "acoustic.server.consent.none")
        #expect(try driver.suspended == nil)
    }

    @Test(.shows("acoustic/S52", "acoustic/S53"))
    func `writes an opt-out from text messages only over an opt-in`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        let unknown = try driver.say("c-1", alerts(.unsubscribed))
        try driver.advance(5)
        #expect(driver.outcome(unknown)?.finding?.code == "acoustic.server.consent.number")
        try driver.say("c-1", .identify([Identifier(.phone, "+358 40 123")]))
        let spaced = try driver.say("c-1", alerts(.subscribed))
        try driver.advance(5)
        #expect(driver.outcome(spaced)?.finding?.code == "acoustic.server.consent.number")
        try driver.say("c-1", .identify([Identifier(.phone, "+358401234567")]))
        let first = try driver.say("c-1", alerts(.unsubscribed))
        try driver.advance(5)
        #expect(driver.outcome(first)?.finding?.code == "acoustic.server.consent.none")
        #expect(driver.account.consents.isEmpty, "an opt-in that the person never gave must not be written first")
        #expect(driver.sent("writeConsent").isEmpty)
        let optIn = try driver.say("c-1", alerts(.subscribed))
        let optOut = try driver.say("c-1", alerts(.unsubscribed))
        let again = try driver.say("c-1", alerts(.unsubscribed))
        try driver.advance(5)
        #expect([optIn, optOut, again].map { driver.outcome($0)?.term } == [.accepted, .accepted, .unchanged])
        #expect(driver.account.consents["SMS-24680/358401234567"]?.status == "OPTED-OUT")
        #expect(driver.sent("writeConsent").count == 2)
        // A back end that knows the number saves the query for it.
        let count = driver.sent("selectRecipient").count
        try driver.say("c-1", alerts(.subscribed), ["phone": "+358407654321"])
        try driver.advance(5)
        #expect(driver.account.consents["SMS-24680/358407654321"]?.status == "OPTED-IN")
        #expect(driver.sent("selectRecipient").count == count)
        let answer = try driver.ask(
            "c-1",
            ReadRequest("consent", arguments: ["channel": "sms.alerts"]),
            seconds: 5
        )?.answer
        #expect(answer == ["state": "unsubscribed", "status": "OPTED-OUT"])
    }

    @Test(
        .shows("acoustic/S51"),
        arguments: [
            ("OPTED-IN", "subscribed"), ("OPT-IN", "subscribed"), ("OPTED-OUT", "unsubscribed"),
            ("OPT-OUT", "unsubscribed"), ("opted-in", "subscribed"), ("PENDING", "unknown"), ("", "unknown"),
            ("OPTED-IN-NOT", "unknown"), (nil, "unknown"),
        ]
    ) func `reads all four consent spellings and treats any other value as unknown`(_ status: String?, _ state: String)
        throws
    {
        let driver = try ServerDriver()
        let data = JSONObject(status.map { [("status", .string($0))] } ?? [])
        driver.instead = [("readConsent", .json(200, ["data": .object(data)]))]
        let request = ReadRequest("consent", arguments: ["channel": "sms.alerts", "phone": "358401234567"])
        #expect(try driver.ask("c-1", request, seconds: 5)?.answer?["state"]?.string == state)
    }

    @Test(.shows("acoustic/S50"))
    func `rejects an unknown consent without suspending, and retries after an unclear reply`() throws {
        let driver = try ServerDriver()
        driver.instead = [("writeConsent", .lost), ("writeConsent", .status(503))]
        let id = try driver.say("c-1", alerts(.subscribed), ["phone": "358401234567"])
        try driver.advance(120)
        #expect(driver.outcome(id)?.term == .accepted)
        #expect(driver.sent("writeConsent").count == 3)
        for status in [404, 400, 409] {
            driver.instead = [("writeConsent", .status(status))]
            let refused = try driver.say("c-1", alerts(.subscribed), ["phone": "358401234567"])
            try driver.advance(5)
            let code = status == 404 ? "consent.none" : "reply.refused"
            #expect(driver.outcome(refused)?.finding?.code == "acoustic.server.\(code)")
        }
        #expect(try driver.suspended == nil)
    }

    @Test(.shows("acoustic/S50", "acoustic/S51", "acoustic/S53"))
    func `reports missing parts of a consent before the request is sent`() throws {
        let driver = try ServerDriver()
        #expect(driver.codes(push(.subscribed)) == ["consent.device"])
        #expect(driver.codes(push(.subscribed), ["userId": "mu-7"]) == ["consent.device"])
        let split: JSONObject = ["userId": "mu|7", "channelId": "c"]
        #expect(driver.codes(push(.subscribed), split) == ["option.value", "consent.device"])
        #expect(driver.codes(push(.unknown), Self.device) == ["subscription.unknown"])
        #expect(driver.codes(push(.suspended), Self.device) == ["subscription.suspended"])
        #expect(driver.codes(push(.subscribed) { $0.evidence = "form 7" }, Self.device) == ["consent.details"])
        for phone in ["0401234567", "358 40 123 4567", "12", "x"] {
            #expect(driver.codes(alerts(.subscribed), ["phone": .string(phone)]) == ["option.value"])
        }
        let bare = try ServerDriver(["identifierColumns": [:]])
        #expect(bare.codes(alerts(.subscribed)) == ["consent.number"])
        #expect(bare.codes(alerts(.subscribed), ["phone": "358401234567"]) == [])
        let queries: [(JSONObject, [String])] = [
            ([:], ["question"]), (["channel": "email"], ["consent.unnamed"]),
            (["channel": "push.device"], ["consent.device"]),
            (["channel": "push.device", "userId": "mu-7"], ["question"]),
            (["channel": "sms.alerts", "phone": "12"], ["question"]), (["channel": "sms.alerts"], []),
        ]
        for (arguments, codes) in queries {
            #expect(driver.codes(.readBack(ReadRequest("consent", arguments: arguments))) == codes)
        }
    }

    @Test(.shows("acoustic/S50"))
    func `takes consent paths from the settings and reports invalid ones`() throws {
        let driver = try ServerDriver([
            "consentPaths": ["sms": "/rest/v2/{databaseId}/SMS-{qualifier}/{key}/{destination}"]
        ])
        try driver.say("c-1", alerts(.subscribed), ["phone": "358401234567"])
        try driver.advance(5)
        #expect(
            driver.sent("writeConsent")[0].request.url
                == "https://api-campaign-eu-1.goacoustic.com/rest/v2/771100/SMS-24680/c-1/358401234567"
        )
        let error = #expect(throws: SettingsError.self) {
            try ServerFixture.adapter([
                "consentQualifiers": ["email": "x", "sms": "1"],
                "consentPaths": [
                    "email": "/rest/{qualifier}/{destination}", "push": "/rest/{qualifier}/{phone}/{destination}",
                    "sms": "https://elsewhere.example/{qualifier}/{destination}",
                ],
            ])
        }
        #expect(
            error?.findings.map { "\($0.code.dropFirst("acoustic.server.".count)) \($0.path)" } == [
                "consent.channel settings.consentQualifiers.email", "consent.twice settings.consentQualifiers.sms",
                "consent.channel settings.consentPaths.email", "consent.path settings.consentPaths.push",
                "consent.path settings.consentPaths.sms",
            ]
        )
    }
}
