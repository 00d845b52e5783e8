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
    ]) func `an address is something, one at sign, something, and no white space`(_ text: String, _ isFine: Bool) {
        #expect(Address.isEmail(text) == isFine)
    }

    @Test(
        arguments: [
            ("+358 40 123-4567", "+358401234567"), ("(040) 12.34", "0401234"), ("040\u{A0}1234", "0401234"),
            ("1234", nil),
            ("+1234567890123456", nil), ("12+345", nil), ("12\r\n345", nil), ("١٢٣٤٥", nil), ("", nil),
        ] as [(String, String?)]
    ) func `a phone number is 5 to 15 digits without the usual signs`(_ text: String, _ number: String?) {
        #expect(Address.phone(text) == number)
    }

    @Test(.shows("altcraft/Q8", "altcraft/B10", "altcraft/F1", "altcraft/F20"))
    func `attributes become profile fields of any JSON`() throws {
        let request = try #require(
            Scene()
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
    func `a change is written in its field's form`(_ name: AttributeName, _ change: AttributeChange, _ text: String)
        throws
    {
        let scene = try Scene()
        let action = Action.changeAttributes([name: change])
        #expect(scene.examine(action).isEmpty)
        let fields = try #require(scene.request(action)?.json?["profile_fields"]?.object)
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
            ("email", .unset, "altcraft.attribute.email"), ("email", .set("nobody"), "altcraft.attribute.form"),
            ("orders", .append([1]), "altcraft.attribute.elements"),
            (.birthDate, .set("soon"), "altcraft.attribute.form"),
            (.gender, .set("other"), "altcraft.attribute.form"),
            (.postalCode, .set("00100"), "altcraft.attribute.form"),
            ("phones", .set("call me"), "altcraft.attribute.form"),
            (.country, .set("Narnia"), "altcraft.attribute.form"),
            ("_status", .set("gold"), "altcraft.attribute.form"), ("_regdate", .set("soon"), "altcraft.attribute.form"),
        ] as [(AttributeName, AttributeChange, String)]
    )
    func `what does not fit is left out, and the rest goes`(
        _ name: AttributeName,
        _ change: AttributeChange,
        _ code: String
    )
        throws
    {
        let scene = try Scene()
        let alone = scene.examine(.changeAttributes([name: change]))
        #expect(alone.map(\.code) == [code, "altcraft.attributes.none"])
        #expect(alone.first?.path == "action.changes.\(name.rawValue)")
        let together = Action.changeAttributes([name: change, "visits": .set(1)])
        #expect(scene.examine(together).map(\.code) == [code])
        #expect(scene.request(together)?.json?["profile_fields"] == ["visits": 1])
    }

    @Test func `two attributes never share a field, and no attribute at all is an error`() throws {
        let scene = try Scene(["fieldNames": ["nickname": "_fname"]])
        let action = Action.changeAttributes([.givenName: .set("Aino"), "nickname": .set("A")])
        #expect(scene.examine(action).map(\.path) == ["action.changes.nickname"])
        #expect(scene.examine(.changeAttributes([:])).map(\.code) == ["altcraft.attributes.empty"])
        let code = try Scene(["genderForm": "code"]).request(.changeAttributes([.gender: .set("female")]))
        #expect(code?.json?["profile_fields"] == ["_sex": 2])
    }

    @Test(.shows("altcraft/F14", "altcraft/F9"))
    func `tags are deleted first, then added`() throws {
        let scene = try Scene()
        let swap = Action.changeTags(TagChange(add: ["gold"], remove: ["silver"]))
        let first = scene.request(swap)?.json?["profile_fields"]
        #expect(first == ["labels": ["action": "delete", "value": ["silver"]]])
        let second = scene.request(swap, step: .addTags)?.json?["profile_fields"]
        #expect(second == ["labels": ["action": "add", "value": ["gold"]]])
        let all = scene.request(.changeTags(TagChange(replace: ["b", "a"], add: ["c"])))?.json?["profile_fields"]
        #expect(all == ["labels": ["a", "b", "c"]])
        #expect(scene.plan(scene.pending(.changeTags(TagChange()))).settled?.finding?.code == "altcraft.tags.empty")
        let findings = try Scene(["tagsField": nil]).examine(swap)
        #expect(findings.map(\.code) == ["altcraft.tags.field"])
        #expect(findings.first?.remedy.contains("tagsField") == true)
    }

    @Test(.shows("altcraft/E4"))
    func `identity stands in the credential; fields are a setting`() throws {
        let scene = try Scene()
        let action = Action.identify(Corpus.aino + [Identifier("card", "6004")])
        #expect(scene.plan(scene.pending(action)).settled?.finding?.code == "altcraft.identity.credential")
        #expect(scene.examine(action).map(\.path) == ["action.identifiers[3].kind"])
        let fields = try Scene(["identifiersAsFields": true]).request(action)?.json?["profile_fields"]
        #expect(fields == ["email": "aino.virtanen@example.com", "phones": ["+358401234567"]])
    }

    @Test(.shows("altcraft/E2", "altcraft/E3"))
    func `consent is kept, and erasing names the step that a person must do`() throws {
        let scene = try Scene()
        let consent = scene.plan(scene.pending(.setConsent(Consent(purpose: .tracking, state: .granted))))
        #expect(consent.settled?.finding?.code == "altcraft.consent.kept")
        guard case .settle(let verdicts, let remembered) = scene.plan(scene.pending(.erase)) else {
            Issue.record("An erasure is settled at once.")
            return
        }
        #expect(verdicts.first?.value.finding?.code == "altcraft.erase.byHand")
        #expect(remembered == AltcraftMemory())
    }

    @Test(.shows("altcraft/Q8"))
    func `profile fields in a subscription request never change what the person wants`() throws {
        var scene = try Scene(["profileUpdates": "subscribe"])
        let action = Action.changeAttributes(["visits": .set(1)])
        #expect(scene.request(action)?.method == "GET")
        scene.stand("unsubscribed")
        let request = try #require(scene.request(action))
        #expect(request.json?["subscription"]?["status"] == "unsubscribed")
        #expect(request.json?["profile_fields"] == ["visits": 1])
        scene.stand(nil)
        #expect(scene.plan(scene.pending(action)).settled?.finding?.code == "altcraft.profile.noSubscription")
    }

    @Test(.shows("altcraft/F23"))
    func `what becomes of a null is a setting, and is told`() throws {
        let options: JSONObject = [
            "profileFields": ["_fname": nil, "_lname": "Virtanen", "tree": ["a": nil]], "customFields": ["note": nil],
        ]
        for (word, code, isSent) in [
            ("send", "altcraft.field.null", true), ("omit", "altcraft.field.nullLeftOut", false),
        ] {
            let scene = try Scene(["nullFields": .string(word)])
            let findings = scene.examine(RequestTests.subscribe, options: options)
            #expect(findings.map(\.code) == [code, code])
            #expect(
                findings.map(\.path) == [
                    "options.altcraft.profileFields._fname", "options.altcraft.customFields.note",
                ]
            )
            let body = try #require(scene.request(RequestTests.subscribe, options: options)?.json)
            #expect((body["profile_fields"]?["_fname"] == .null) == isSent)
            #expect((body["subscription"]?["fields"]?["note"] == .null) == isSent)
            #expect(body["profile_fields"]?["tree"] == ["a": nil])
        }
    }

    @Test(.shows("altcraft/F24", "altcraft/F10"))
    func `an instruction that the vendor does not know is refused`() throws {
        let good: JSONValue = [
            "a": ["action": "set", "value": [1]], "b": ["action": "unset", "value": nil],
            "c": ["action": "incr", "value": -2], "d": ["action": "add", "value": ["x"]],
            "e": ["action": "delete", "value": ["x"]], "f": ["action": "upsert", "value": ["x": 1], "submatch": "y"],
            "g": ["plain": "object"],
        ]
        #expect(try Scene().examine(RequestTests.subscribe, options: ["profileFields": good]).isEmpty)
        let bad: JSONValue = [
            "a": ["action": "raise", "value": 1], "b": ["action": "unset", "value": 1],
            "c": ["action": "incr", "value": "2"], "d": ["action": "add", "value": "x"],
            "e": ["action": "delete", "value": [1]], "f": ["action": "upsert", "value": []],
            "email": ["action": "unset", "value": nil],
        ]
        let findings = try Scene().examine(RequestTests.subscribe, options: ["profileFields": bad])
        #expect(findings.map(\.code) == Array(repeating: "altcraft.option.instruction", count: 7))
        #expect(findings.last?.path == "options.altcraft.profileFields.email")
    }

    @Test(.shows("altcraft/F25"))
    func `what has no name is refused at its place`() throws {
        let scene = try Scene()
        #expect(
            scene.examine(.changeAttributes(["": .set(1), "visits": .set(1)])).map(\.code) == ["altcraft.field.blank"]
        )
        let topic = Subscription(channel: .push, topic: " ", state: .subscribed, fields: ["": 1])
        #expect(
            scene.examine(.changeSubscription(topic)).map(\.code) == ["altcraft.topic.blank", "altcraft.field.blank"]
        )
        let event = Action.track(.custom(name: "Ordered", attributes: [" ": 1]))
        #expect(scene.examine(event).map(\.code) == ["altcraft.field.blank"])
        let options: JSONObject = ["profileFields": ["": 1], "customFields": [" ": 1], "cats": [["name": " "]]]
        #expect(
            scene.examine(RequestTests.subscribe, options: options).map(\.code)
                == ["altcraft.field.blank", "altcraft.field.blank", "altcraft.option.invalid"]
        )
    }

    @Test(.shows("altcraft/F18", "altcraft/F2", "altcraft/B10"))
    func `options are checked all at once`() throws {
        let findings = try Scene()
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
        let idle = try Scene().examine(.changeAttributes(["visits": .set(1)]), options: ["replace": true])
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
    func `an event attaches a subscription of one of four forms`(_ subscription: JSONValue, _ wrong: String) throws {
        let scene = try Scene()
        let action = Action.track(.custom(name: "Ordered"))
        let findings = scene.examine(action, options: ["subscription": subscription])
        #expect(findings.map(\.path) == (wrong.isEmpty ? [] : ["options.altcraft.subscription.\(wrong)"]))
        let body = scene.request(action, options: ["subscription": subscription])?.body ?? []
        #expect(String(decoding: body, as: UTF8.self).contains("name=\"sn\""))
    }
}
