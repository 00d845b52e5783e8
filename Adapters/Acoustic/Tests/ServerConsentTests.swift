import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

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

    @Test(.shows("acoustic/S50", "acoustic/S51", "acoustic/S53", of: AcousticServer.self))
    func `a consent to push messages is one device's, with its date and source`() throws {
        let desk = try ServerDesk()
        try desk.say("c-1", ServerDesk.set("city", "Turku"))
        let said = push(.unsubscribed) {
            $0.changedAt = Timestamp(text: "2031-03-08T22:15:00.250Z")
            $0.source = "preferences screen"
        }
        let no = try desk.say("c-1", said, Self.device)
        try desk.advance(5)
        #expect(desk.outcome(no)?.term == .accepted)
        #expect(desk.sent("writeConsent").count == 1 && desk.sent("readConsent").isEmpty)
        let sent = desk.sent("writeConsent")[0].request
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
        let answer = try desk.ask("c-1", request, seconds: 5)?.answer
        #expect(
            answer == [
                "state": "unsubscribed", "status": "OPTED-OUT", "consentDate": "2031-03-08T22:15:00.250Z",
                "consentSource": "preferences screen",
            ]
        )
        try desk.say("c-1", push(.subscribed), Self.device)
        try desk.advance(5)
        #expect(desk.account.consents["PUSH-gcb4hVDsXq/mu-7|ch-9"]?.status == "OPTED-IN")
        #expect(desk.sent("writeConsent")[1].request.json == ["status": "OPTED-IN"])
        // A pause is a no, and a contact without a consent has none.
        try desk.say("c-1", push(.suspended), Self.device)
        let nobody = try desk.say("c-9", push(.subscribed), Self.device)
        try desk.advance(5)
        #expect(desk.account.consents["PUSH-gcb4hVDsXq/mu-7|ch-9"]?.status == "OPTED-OUT")
        #expect(desk.outcome(nobody)?.finding?.code == "acoustic.server.consent.none")
        #expect(try desk.parked == nil)
    }

    @Test(.shows("acoustic/S52", "acoustic/S53", of: AcousticServer.self))
    func `a no to text messages is written over a yes alone, and never as a first word`() throws {
        let desk = try ServerDesk()
        try desk.say("c-1", ServerDesk.set("city", "Turku"))
        let unknown = try desk.say("c-1", alerts(.unsubscribed))
        try desk.advance(5)
        #expect(desk.outcome(unknown)?.finding?.code == "acoustic.server.consent.number")
        try desk.say("c-1", .identify([Identifier(.phone, "+358 40 123")]))
        let spaced = try desk.say("c-1", alerts(.subscribed))
        try desk.advance(5)
        #expect(desk.outcome(spaced)?.finding?.code == "acoustic.server.consent.number")
        try desk.say("c-1", .identify([Identifier(.phone, "+358401234567")]))
        let first = try desk.say("c-1", alerts(.unsubscribed))
        try desk.advance(5)
        #expect(desk.outcome(first)?.finding?.code == "acoustic.server.consent.none")
        #expect(desk.account.consents.isEmpty, "a yes that nobody gave is not written so that it can be taken back")
        #expect(desk.sent("writeConsent").isEmpty)
        let yes = try desk.say("c-1", alerts(.subscribed))
        let no = try desk.say("c-1", alerts(.unsubscribed))
        let again = try desk.say("c-1", alerts(.unsubscribed))
        try desk.advance(5)
        #expect([yes, no, again].map { desk.outcome($0)?.term } == [.accepted, .accepted, .unchanged])
        #expect(desk.account.consents["SMS-24680/358401234567"]?.status == "OPTED-OUT")
        #expect(desk.sent("writeConsent").count == 2)
        // Whoever knows the number saves the question for it.
        let count = desk.sent("selectRecipient").count
        try desk.say("c-1", alerts(.subscribed), ["phone": "+358407654321"])
        try desk.advance(5)
        #expect(desk.account.consents["SMS-24680/358407654321"]?.status == "OPTED-IN")
        #expect(desk.sent("selectRecipient").count == count)
        let answer = try desk.ask(
            "c-1",
            ReadRequest("consent", arguments: ["channel": "sms.alerts"]),
            seconds: 5
        )?.answer
        #expect(answer == ["state": "unsubscribed", "status": "OPTED-OUT"])
    }

    @Test(
        .shows("acoustic/S51", of: AcousticServer.self),
        arguments: [
            ("OPTED-IN", "subscribed"), ("OPT-IN", "subscribed"), ("OPTED-OUT", "unsubscribed"),
            ("OPT-OUT", "unsubscribed"), ("opted-in", "subscribed"), ("PENDING", "unknown"), ("", "unknown"),
            ("OPTED-IN-NOT", "unknown"), (nil, "unknown"),
        ]
    ) func `all four spellings are read, and what is none of them is no yes`(_ word: String?, _ state: String) throws {
        let desk = try ServerDesk()
        let data = JSONObject(word.map { [("status", .string($0))] } ?? [])
        desk.instead = [("readConsent", .json(200, ["data": .object(data)]))]
        let request = ReadRequest("consent", arguments: ["channel": "sms.alerts", "phone": "358401234567"])
        #expect(try desk.ask("c-1", request, seconds: 5)?.answer?["state"]?.string == state)
    }

    @Test(.shows("acoustic/S50", of: AcousticServer.self))
    func `a consent that is unknown ends alone, and without a clear answer it goes again`() throws {
        let desk = try ServerDesk()
        desk.instead = [("writeConsent", .lost), ("writeConsent", .status(503))]
        let said = try desk.say("c-1", alerts(.subscribed), ["phone": "358401234567"])
        try desk.advance(120)
        #expect(desk.outcome(said)?.term == .accepted)
        #expect(desk.sent("writeConsent").count == 3)
        for status in [404, 400, 409] {
            desk.instead = [("writeConsent", .status(status))]
            let refused = try desk.say("c-1", alerts(.subscribed), ["phone": "358401234567"])
            try desk.advance(5)
            let code = status == 404 ? "consent.none" : "reply.refused"
            #expect(desk.outcome(refused)?.finding?.code == "acoustic.server.\(code)")
        }
        #expect(try desk.parked == nil)
    }

    @Test(.shows("acoustic/S50", "acoustic/S51", "acoustic/S53", of: AcousticServer.self))
    func `what a consent lacks is told before it leaves`() throws {
        let desk = try ServerDesk()
        #expect(desk.codes(push(.subscribed)) == ["consent.device"])
        #expect(desk.codes(push(.subscribed), ["userId": "mu-7"]) == ["consent.device"])
        let parted: JSONObject = ["userId": "mu|7", "channelId": "c"]
        #expect(desk.codes(push(.subscribed), parted) == ["option.value", "consent.device"])
        #expect(desk.codes(push(.unknown), Self.device) == ["subscription.unknown"])
        #expect(desk.codes(push(.suspended), Self.device) == ["subscription.suspended"])
        #expect(desk.codes(push(.subscribed) { $0.evidence = "form 7" }, Self.device) == ["consent.details"])
        for phone in ["0401234567", "358 40 123 4567", "12", "x"] {
            #expect(desk.codes(alerts(.subscribed), ["phone": .string(phone)]) == ["option.value"])
        }
        let bare = try ServerDesk(["identifierColumns": [:]])
        #expect(bare.codes(alerts(.subscribed)) == ["consent.number"])
        #expect(bare.codes(alerts(.subscribed), ["phone": "358401234567"]) == [])
        let questions: [(JSONObject, [String])] = [
            ([:], ["question"]), (["channel": "email"], ["consent.unnamed"]),
            (["channel": "push.device"], ["consent.device"]),
            (["channel": "push.device", "userId": "mu-7"], ["question"]),
            (["channel": "sms.alerts", "phone": "12"], ["question"]), (["channel": "sms.alerts"], []),
        ]
        for (arguments, codes) in questions {
            #expect(desk.codes(.readBack(ReadRequest("consent", arguments: arguments))) == codes)
        }
    }

    @Test(.shows("acoustic/S50", of: AcousticServer.self))
    func `where consents stand is a setting, and settings that do not fit are found`() throws {
        let desk = try ServerDesk([
            "consentPaths": ["sms": "/rest/v2/{databaseId}/SMS-{qualifier}/{key}/{destination}"]
        ])
        try desk.say("c-1", alerts(.subscribed), ["phone": "358401234567"])
        try desk.advance(5)
        #expect(
            desk.sent("writeConsent")[0].request.url
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
