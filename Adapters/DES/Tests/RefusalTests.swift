import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayDES

/// Findings before any request: code and path.
@Suite("DES rejections") struct RefusalTests {
    private func findings(_ action: Action, _ settings: JSONObject = [:], options: JSONObject = [:]) throws -> [String]
    {
        let operation = EngagementOperation(
            id: "op",
            subject: "phone",
            capturedAt: Corpus.start,
            options: options.isEmpty ? [:] : ["des": options],
            action: action
        )
        return try Fixture.adapter(settings).examine(operation).map { "\($0.code) \($0.path)" }
    }

    private func device(_ change: (inout Device) -> Void) -> Action {
        var device = Corpus.phone
        change(&device)
        return .registerDevice(device)
    }

    @Test(.shows("des/U1", "des/U2", "des/U3", "des/U4"))
    func `rejects unsupported operations with a remedy`() throws {
        #expect(try findings(.changeAttributes(["city": .set("Turku")])) == ["des.attributes action.changes"])
        #expect(try findings(.changeTags(TagChange(add: ["vip"]))) == ["des.tags action.tags"])
        for channel in [Channel.email, .sms, "whatsapp"] {
            let subscription = Subscription(channel: channel, state: .subscribed)
            #expect(
                try findings(.changeSubscription(subscription)) == [
                    "des.subscription.channel action.subscription.channel"
                ]
            )
        }
        let topic = Subscription(channel: .push, topic: "news", state: .unknown, source: "form")
        #expect(
            try findings(.changeSubscription(topic)) == [
                "des.subscription.topic action.subscription.topic",
                "des.subscription.unknown action.subscription.state",
                "des.subscription.details action.subscription",
            ]
        )
        #expect(FindingRow.des.allSatisfy { !$0.remedy.isEmpty })
    }

    @Test(.shows("des/R14", "des/U5")) func `rejects pushes without an id and ignores those of other vendors`() throws {
        func push(_ interaction: PushInteraction, _ payload: JSONObject) throws -> [String] {
            try findings(.track(.push(interaction, payload: payload)))
        }
        let missing = ["des.push.withoutID action.event.payload.u.sid"]
        #expect(try push(.tapped, ["u": [:]]) == missing)
        #expect(try push(.tapped, ["u": "{}"]) == missing)
        #expect(try push(.tapped, ["u": "no JSON"]) == missing)
        #expect(try push(.opened, ["u": ["sid": ""]]) == missing)
        #expect(try push(.tapped, Corpus.foreignPush) == ["des.push.foreign action.event.payload"])
        #expect(try push(.received, Fixture.payload) == ["des.push.interaction action.event.interaction"])
        #expect(try push(.dismissed, Fixture.payload) == ["des.push.interaction action.event.interaction"])
        #expect(try push(.tapped, Fixture.payload) == [])
    }

    @Test(.shows("des/R15")) func `requires a campaign for views and clicks, and a button for clicks`() throws {
        #expect(try findings(.view("")) == ["des.message.campaign action.event.messageID"])
        #expect(
            try findings(.click("", nil)) == [
                "des.message.campaign action.event.messageID", "des.message.button action.event.buttonID",
            ]
        )
        #expect(try findings(.click("904417", "")) == ["des.message.button action.event.buttonID"])
    }

    @Test(.shows("des/T2", "des/T3", "des/B7", "des/R30"))
    func `requires event names of the app and plain attributes`() throws {
        #expect(try findings(.event(" ")) == ["des.event.name action.event.name"])
        for name in ["app:start", "session:start", "session:end", "push:click", "inapp:viewed", "inapp:click"] {
            #expect(try findings(.event(name)) == ["des.event.reserved action.event.name"])
        }
        let nested: [AttributeName: AttributeValue] = [
            "a": .list(["x"]), "b": .object(["c": "d"]), "c": .choices(["e"]), "d": "fine",
        ]
        #expect(
            try findings(.event("x", nested))
                == ["a", "b", "c"].map { "des.event.nested action.event.attributes.\($0)" }
        )
        let fine = AttributeValue(text: "2031-03-09T07:05:11.0425Z", as: .timestamp) ?? ""
        #expect(try findings(.event("x", ["at": fine])) == ["des.event.fraction action.event.attributes.at"])
        #expect(
            try findings(.event("inbox:tag:add", ["messageId": "m", "note": "x"])) == [
                "des.event.attributeMissing action.event.attributes.tag",
                "des.event.attributeStrange action.event.attributes.note",
            ]
        )
    }

    @Test(.shows("des/B1", "des/B3", "des/H2"))
    func `requires device facts, a known platform and a valid token`() throws {
        #expect(try findings(device { $0.facts = nil }) == ["des.device.facts action.device.facts"])
        #expect(
            try findings(device { $0.facts?.platform = "watchOS" }) == [
                "des.device.platform action.device.facts.platform"
            ]
        )
        for token in ["", "abc", "7c1f 3ad0", "<7c1f3ad0>", "zz"] {
            #expect(
                try findings(device { $0.pushToken?.value = token }) == [
                    "des.pushToken.form action.device.pushToken.value"
                ]
            )
        }
        #expect(try findings(device { $0.pushToken = PushToken("fcm:any_Text", service: .fcm) }) == [])
        #expect(
            try findings(device { $0.identities = [DESDevice.adoptedClient: "7"] }) == [
                "des.device.clientID action.device.identities.des.clientID"
            ]
        )
    }

    @Test(.shows("des/U6", "des/R8")) func `accepts one kind of identifier for contacts`() throws {
        #expect(
            try findings(.identify([Corpus.aino[1]])) == [
                "des.identifier.missing action.identifiers"
            ]
        )
        #expect(try findings(.identify([Corpus.aino[1]]), ["contactIdentifier": "email"]) == [])
        #expect(try findings(.logIn("")) == ["des.contact.anonymous action.switch.identifiers"])
        let many = Action.switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
        #expect(try findings(many) == [1, 2].map { "des.identifier.unused action.switch.identifiers[\($0)].kind" })
    }

    @Test(.shows("des/N5")) func `validates options at capture`() throws {
        #expect(try findings(.event("x"), options: ["sdi": "7"]) == ["des.option.unknown options.des.sdi"])
        #expect(try findings(.event("x"), options: ["sid": "7"]) == ["des.option.idle options.des.sid"])
        #expect(
            try findings(.view("1"), options: ["sid": 7, "url": ""]) == [
                "des.option.invalid options.des.sid", "des.option.invalid options.des.url",
            ]
        )
        #expect(
            try findings(.track(.sessionStarted), options: ["appStart": "yes"]) == [
                "des.option.invalid options.des.appStart"
            ]
        )
        let settings: JSONObject = ["alertStyle": "loud", "importance": "high", "sound": true]
        #expect(
            try findings(device { _ in }, options: ["pushSettings": .object(settings)]) == [
                "des.option.invalid options.des.pushSettings.alertStyle",
                "des.option.invalid options.des.pushSettings.importance",
                "des.option.unknown options.des.pushSettings.sound",
            ]
        )
    }

    @Test(.shows("des/R2"), arguments: ["", " ", "0", "null", "nil", "NULL"])
    func `rejects an empty or placeholder application code`(code: String) throws {
        #expect(throws: SettingsError.self) { try Fixture.adapter(["applicationCode": .string(code)]) }
        #expect(throws: SettingsError.self) { try DESDevice(settings: DESSettings()) }
        _ = try Fixture.adapter()
    }

    @Test(.shows("des/B4", "des/H6", "des/H7", "des/T4", "des/T5", "des/C1"))
    func `reports all errors of a configuration at once`() {
        let bad: JSONObject = [
            "applicationCode": "nil", "contactFieldId": "2575", "mode": "test", "eventService": "v5",
            "clientServiceUrl": "host",
            "basicAuthorization": 1, "onHostNotFound": "wait", "obeysRemoteConfig": "no", "color": "blue",
        ]
        do {
            _ = try DESSettings.table.read(bad, over: DESSettings(), at: "settings")
            Issue.record("it was taken")
        } catch {
            #expect(Set(error.findings.map(\.path)) == Set(bad.names.map { "settings.\($0)" }))
        }
        let good: JSONObject = [
            "applicationCode": "A-1", "contactFieldId": 3, "mode": "debug",
            "clientServiceUrl": "http://127.0.0.1:8080/des/",
            "basicAuthorization": true, "onHostNotFound": "keep", "obeysRemoteConfig": true,
        ]
        let settings = try? DESSettings.table.read(good, over: DESSettings(), at: "settings")
        #expect(settings?.clientServiceURL == "http://127.0.0.1:8080/des")
    }
}
