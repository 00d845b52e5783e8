import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

@Suite("Altcraft profiles") struct ProfileTests {
    @Test(arguments: [
        ("a@b", true), ("a@b.c", true), ("ä@b", true), ("a@ü.example", true), ("", false), ("@", false), ("a@", false),
        ("@b", false), ("a@@b", false), ("a@b@c", false), ("ab", false), ("a b@c", false), ("a@b\t", false),
        ("a@b\r\n", false), ("ä@", false), ("a@b\u{A0}", false), ("@ä@", false),
    ]) func `accepts e-mail addresses with one at sign, both parts and no white space`(_ text: String, _ isFine: Bool) {
        #expect(Address.isEmail(text) == isFine)
    }

    @Test(
        arguments: [
            ("+358 40 123-4567", "+358401234567"), ("(040) 12.34", "0401234"), ("040\u{A0}1234", "0401234"),
            ("1234", nil),
            ("+1234567890123456", nil), ("12+345", nil), ("12\r\n345", nil), ("١٢٣٤٥", nil), ("", nil),
        ] as [(String, String?)]
    ) func `accepts phone numbers of 5 to 15 digits apart from separators`(_ text: String, _ number: String?) {
        #expect(Address.phone(text) == number)
    }

    @Test(.shows("altcraft/Q8", "altcraft/B10", "altcraft/F1", "altcraft/F20"))
    func `sends attributes as profile fields of any JSON type`() throws {
        let request = try #require(
            PlanFixture()
                .request(
                    .changeAttributes([
                        .givenName: .set("Aino"), "visits": .set(.integer(.max)),
                        "interests": .set(.choices(["a", "b"])),
                        "address": .set(.object(["street": "A 52"])), "orders": .set(.list([1, "x"])),
                        "reads": .set(true),
                    ]),
                    options: ["skipTriggers": true, "profileFields": ["_lname": "Virtanen"]]
                )
        )
        #expect(request.url == "https://push.altcraft.example/profile/update")
        #expect(
            request.json == [
                "profile_fields": [
                    "address": ["street": "A 52"], "_fname": "Aino", "interests": ["a", "b"], "orders": [1, "x"],
                    "reads": true, "visits": 9_223_372_036_854_775_807, "_lname": "Virtanen",
                ], "skip_triggers": true,
            ]
        )
    }

    @Test(
        .shows(
            "altcraft/F7",
            "altcraft/F8",
            "altcraft/F9",
            "altcraft/F11",
            "altcraft/F12",
            "altcraft/F13",
            "altcraft/F19",
            "altcraft/F21",
            "altcraft/F22"
        ),
        arguments: [
            ("_status", .set("3"), "3"), ("_regdate", .set("2031-03-09"), #""2031-03-09""#),
            (
                "basket", .set(.object(["action": "unset", "value": 1])),
                #"{"action":"set","value":{"action":"unset","value":1}}"#
            ),
            ("visits", .unset, #"{"action":"unset","value":null}"#),
            ("bonus", .increment(ExactDecimal(text: "-2.50")!), #"{"action":"incr","value":-2.50}"#),
            ("orders", .append(["A-1"]), #"{"action":"add","value":["A-1"]}"#),
            ("orders", .remove(["A-1"]), #"{"action":"delete","value":["A-1"]}"#),
            ("total", .set(.decimal(ExactDecimal(text: "49.90")!)), "49.90"),
            (.birthDate, .set("1990-04-01"), #""1990-04-01""#),
            (.gender, .set("female"), #""female""#),
            (.postalCode, .set("39000"), "39000"),
            (.country, .set("fi"), #""FI""#),
            ("phones", .set("+358 40 123-4567"), #"["+358401234567"]"#),
            ("email", .set("aino@example.com"), #""aino@example.com""#),
        ] as [(AttributeName, AttributeChange, String)]
    )
    func `writes a change in the form of its field`(_ name: AttributeName, _ change: AttributeChange, _ text: String)
        throws
    {
        let fixture = try PlanFixture()
        let action = Action.changeAttributes([name: change])
        #expect(fixture.examine(action).isEmpty)
        let fields = try #require(fixture.request(action)?.json?["profile_fields"]?.object)
        #expect(fields.count == 1)
        #expect(fields.first?.value.text == text)
    }

    @Test(
        .shows(
            "altcraft/F9",
            "altcraft/F10",
            "altcraft/F11",
            "altcraft/F1",
            "altcraft/F12",
            "altcraft/F13",
            "altcraft/F19"
        ),
        arguments: [
            ("email", .unset, "altcraft.attribute.email"), ("email", .set("not-an-address"), "altcraft.attribute.form"),
            ("orders", .append([1]), "altcraft.attribute.elements"),
            (.birthDate, .set("soon"), "altcraft.attribute.form"),
            (.gender, .set("other"), "altcraft.attribute.form"),
            (.postalCode, .set("00100"), "altcraft.attribute.form"),
            ("phones", .set("call me"), "altcraft.attribute.form"),
            (.country, .set("Narnia"), "altcraft.attribute.form"),
            ("_status", .set("gold"), "altcraft.attribute.form"), ("_regdate", .set("soon"), "altcraft.attribute.form"),
        ] as [(AttributeName, AttributeChange, String)]
    )
    func `omits and reports a value that does not fit and sends the others`(
        _ name: AttributeName,
        _ change: AttributeChange,
        _ code: String
    )
        throws
    {
        let fixture = try PlanFixture()
        let alone = fixture.examine(.changeAttributes([name: change]))
        #expect(alone.map(\.code) == [code, "altcraft.attributes.none"])
        #expect(alone.first?.path == "action.changes.\(name.rawValue)")
        let together = Action.changeAttributes([name: change, "visits": .set(1)])
        #expect(fixture.examine(together).map(\.code) == [code])
        #expect(fixture.request(together)?.json?["profile_fields"] == ["visits": 1])
    }

    @Test func `rejects two attributes for one field and a change without attributes`() throws {
        let fixture = try PlanFixture(["fieldNames": ["nickname": "_fname"]])
        let action = Action.changeAttributes([.givenName: .set("Aino"), "nickname": .set("A")])
        #expect(fixture.examine(action).map(\.path) == ["action.changes.nickname"])
        #expect(fixture.examine(.changeAttributes([:])).map(\.code) == ["altcraft.attributes.empty"])
        let code = try PlanFixture(["genderForm": "code"]).request(.changeAttributes([.gender: .set("female")]))
        #expect(code?.json?["profile_fields"] == ["_sex": 2])
    }

    @Test(.shows("altcraft/F14", "altcraft/F9"))
    func `deletes tags before it adds others`() throws {
        let fixture = try PlanFixture()
        let swap = Action.changeTags(TagChange(add: ["gold"], remove: ["silver"]))
        let first = fixture.request(swap)?.json?["profile_fields"]
        #expect(first == ["labels": ["action": "delete", "value": ["silver"]]])
        let second = fixture.request(swap, step: .addTags)?.json?["profile_fields"]
        #expect(second == ["labels": ["action": "add", "value": ["gold"]]])
        let all = fixture.request(.changeTags(TagChange(replace: ["b", "a"], add: ["c"])))?.json?["profile_fields"]
        #expect(all == ["labels": ["a", "b", "c"]])
        #expect(fixture.plan(fixture.pending(.changeTags(TagChange()))).settled?.finding?.code == "altcraft.tags.empty")
        let findings = try PlanFixture(["tagsField": nil]).examine(swap)
        #expect(findings.map(\.code) == ["altcraft.tags.field"])
        #expect(findings.first?.remedy.contains("tagsField") == true)
    }

    @Test(.shows("altcraft/E4"))
    func `takes the identity from the credential and writes identifiers as fields by a setting`() throws {
        let fixture = try PlanFixture()
        let action = Action.identify(Corpus.aino + [Identifier("card", "6004")])
        #expect(fixture.plan(fixture.pending(action)).settled?.finding?.code == "altcraft.identity.credential")
        #expect(fixture.examine(action).map(\.path) == ["action.identifiers[3].kind"])
        let fields = try PlanFixture(["identifiersAsFields": true]).request(action)?.json?["profile_fields"]
        #expect(fields == ["email": "aino.virtanen@example.com", "phones": ["+358401234567"]])
    }

    @Test(.shows("altcraft/E2", "altcraft/E3"))
    func `keeps consent locally and names the manual step of an erasure`() throws {
        let fixture = try PlanFixture()
        let consent = fixture.plan(fixture.pending(.setConsent(Consent(purpose: .tracking, state: .granted))))
        #expect(consent.settled?.finding?.code == "altcraft.consent.kept")
        guard case .settle(let verdicts, let remembered) = fixture.plan(fixture.pending(.erase)) else {
            Issue.record("An erasure is settled at once.")
            return
        }
        #expect(verdicts.first?.value.finding?.code == "altcraft.erase.byHand")
        #expect(remembered == AltcraftMemory())
    }

    @Test(.shows("altcraft/Q8"))
    func `profile fields in a subscription request do not change the subscription status`() throws {
        var fixture = try PlanFixture(["profileUpdates": "subscribe"])
        let action = Action.changeAttributes(["visits": .set(1)])
        #expect(fixture.request(action)?.method == "GET")
        fixture.show("unsubscribed")
        let request = try #require(fixture.request(action))
        #expect(request.json?["subscription"]?["status"] == "unsubscribed")
        #expect(request.json?["profile_fields"] == ["visits": 1])
        fixture.show(nil)
        #expect(fixture.plan(fixture.pending(action)).settled?.finding?.code == "altcraft.profile.noSubscription")
    }

    @Test(.shows("altcraft/F23"))
    func `sends or omits null fields as the setting says and reports them`() throws {
        let options: JSONObject = [
            "profileFields": ["_fname": nil, "_lname": "Virtanen", "tree": ["a": nil]], "customFields": ["note": nil],
        ]
        for (word, code, isSent) in [
            ("send", "altcraft.field.null", true), ("omit", "altcraft.field.nullLeftOut", false),
        ] {
            let fixture = try PlanFixture(["nullFields": .string(word)])
            let findings = fixture.examine(RequestTests.subscribe, options: options)
            #expect(findings.map(\.code) == [code, code])
            #expect(
                findings.map(\.path) == [
                    "options.altcraft.profileFields._fname", "options.altcraft.customFields.note",
                ]
            )
            let body = try #require(fixture.request(RequestTests.subscribe, options: options)?.json)
            #expect((body["profile_fields"]?["_fname"] == .null) == isSent)
            #expect((body["subscription"]?["fields"]?["note"] == .null) == isSent)
            #expect(body["profile_fields"]?["tree"] == ["a": nil])
        }
    }

    @Test(.shows("altcraft/F24", "altcraft/F10"))
    func `rejects an unknown field instruction`() throws {
        let good: JSONValue = [
            "a": ["action": "set", "value": [1]], "b": ["action": "unset", "value": nil],
            "c": ["action": "incr", "value": -2], "d": ["action": "add", "value": ["x"]],
            "e": ["action": "delete", "value": ["x"]], "f": ["action": "upsert", "value": ["x": 1], "submatch": "y"],
            "g": ["plain": "object"],
        ]
        #expect(try PlanFixture().examine(RequestTests.subscribe, options: ["profileFields": good]).isEmpty)
        let bad: JSONValue = [
            "a": ["action": "raise", "value": 1], "b": ["action": "unset", "value": 1],
            "c": ["action": "incr", "value": "2"], "d": ["action": "add", "value": "x"],
            "e": ["action": "delete", "value": [1]], "f": ["action": "upsert", "value": []],
            "email": ["action": "unset", "value": nil],
        ]
        let findings = try PlanFixture().examine(RequestTests.subscribe, options: ["profileFields": bad])
        #expect(findings.map(\.code) == Array(repeating: "altcraft.option.instruction", count: 7))
        #expect(findings.last?.path == "options.altcraft.profileFields.email")
    }

    @Test(.shows("altcraft/F25"))
    func `rejects blank names of attributes, topics and fields with their paths`() throws {
        let fixture = try PlanFixture()
        #expect(
            fixture.examine(.changeAttributes(["": .set(1), "visits": .set(1)])).map(\.code) == ["altcraft.field.blank"]
        )
        let topic = Subscription(channel: .push, topic: " ", state: .subscribed, fields: ["": 1])
        #expect(
            fixture.examine(.changeSubscription(topic)).map(\.code) == ["altcraft.topic.blank", "altcraft.field.blank"]
        )
        let event = Action.track(.custom(name: "Ordered", attributes: [" ": 1]))
        #expect(fixture.examine(event).map(\.code) == ["altcraft.field.blank"])
        let options: JSONObject = ["profileFields": ["": 1], "customFields": [" ": 1], "cats": [["name": " "]]]
        #expect(
            fixture.examine(RequestTests.subscribe, options: options).map(\.code)
                == ["altcraft.field.blank", "altcraft.field.blank", "altcraft.option.invalid"]
        )
    }

    @Test(.shows("altcraft/F18", "altcraft/F2", "altcraft/B10"))
    func `reports all invalid options at once`() throws {
        let findings = try PlanFixture()
            .examine(
                RequestTests.subscribe,
                options: [
                    "sync": "yes", "replase": true, "customFields": ["a": [1], "b": ["c": 1], "d": 1],
                    "cats": [["active": "on"], "news", ["name": "x", "colour": "red"]], "uid": "m",
                ]
            )
        #expect(
            findings.map { "\($0.severity.rawValue) \($0.path)" } == [
                "error options.altcraft.sync", "error options.altcraft.replase",
                "error options.altcraft.customFields.a",
                "error options.altcraft.customFields.b", "error options.altcraft.cats[0].name",
                "error options.altcraft.cats[0].active", "error options.altcraft.cats[1]",
                "error options.altcraft.cats[2].colour", "warning options.altcraft.uid",
            ]
        )
        let idle = try PlanFixture().examine(.changeAttributes(["visits": .set(1)]), options: ["replace": true])
        #expect(idle.map(\.code) == ["altcraft.option.idle"])
    }

    @Test(
        .shows("altcraft/M8"),
        arguments: [
            (["channel": "email", "resource_id": 31, "email": "a@b.example"], ""),
            (["channel": "sms", "resource_id": 31, "phone": "+358401234567", "status": "suspended"], ""),
            (["channel": "push", "resource_id": 31, "provider": "ios-apns", "subscription_id": "t"], ""),
            (["channel": "telegram_bot", "resource_id": 31, "cc_data": ["id": 1], "cats": ["news"]], ""),
            (["channel": "email", "resource_id": "31", "email": "a@b.example"], "resource_id"),
            (["channel": "email", "resource_id": 31], "email"),
            (["channel": "pigeon", "resource_id": 31, "cc_data": [:]], "channel"),
            (["channel": "sms", "resource_id": 31, "phone": "+358401234567", "customFields": [:]], "customFields"),
            (["channel": "sms", "resource_id": 31, "phone": "+358401234567", "cats": [["name": "news"]]], "cats"),
            (["channel": "push", "resource_id": 31, "provider": "ios-pigeon", "subscription_id": "t"], "provider"),
            (["channel": "sms", "resource_id": 31, "phone": "+358401234567", "status": "paused"], "status"),
            (["channel": "sms", "resource_id": 31, "phone": "+358401234567", "priority": "high"], "priority"),
        ] as [(JSONValue, String)]
    )
    func `accepts four forms of a subscription attached to an event`(_ subscription: JSONValue, _ wrong: String) throws
    {
        let fixture = try PlanFixture()
        let action = Action.track(.custom(name: "Ordered"))
        let findings = fixture.examine(action, options: ["subscription": subscription])
        #expect(findings.map(\.path) == (wrong.isEmpty ? [] : ["options.altcraft.subscription.\(wrong)"]))
        let body = fixture.request(action, options: ["subscription": subscription])?.body ?? []
        #expect(String(decoding: body, as: UTF8.self).contains("name=\"sn\""))
    }
}
