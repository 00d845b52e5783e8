import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft

@Suite("Altcraft server API") struct ServerTests {
    // MARK: Requests

    @Test(
        .shows("altcraft/V1", "altcraft/V2", "altcraft/V3", "altcraft/V5", "altcraft/V6", of: AltcraftServer.self)
    )
    func `profiles go in one request, the token in its header`() throws {
        let desk = try ServerDesk(["lanes": 1, "skipTriggers": true])
        try desk.world.capture((1...3).map { desk.operation("c-\($0)", ServerDesk.set("visits", .integer(Int64($0)))) })
        try desk.advance(10)
        let sent = try #require(desk.sent("importProfiles").first)
        #expect(desk.world.sent.count == 1)
        #expect(sent.request.url == "https://ru.altcraft.example/api/v1.1/profiles/import_batch")
        #expect(sent.request[header: "Authorization"] == "Bearer \(ServerFixture.token)")
        #expect(sent.request.redacted[header: "Authorization"] != "Bearer \(ServerFixture.token)")
        #expect(
            sent.request.json == [
                "db_id": 12, "matching": "custom", "field_name": "crm_id", "skip_triggers": true,
                "data": [
                    ["crm_id": "c-1", "visits": 1], ["crm_id": "c-2", "visits": 2], ["crm_id": "c-3", "visits": 3],
                ],
            ]
        )
        #expect(desk.account.violations.isEmpty)
    }

    @Test(.shows("altcraft/V2", "altcraft/V10", of: AltcraftServer.self), arguments: [401, 402, 403])
    func `what only a person can mend stops, and keeps everything`(_ code: Int) throws {
        let desk = try ServerDesk()
        // The number may stand beside HTTP 200, too.
        desk.instead = [
            ("/import_batch", code == 402 ? .json(200, ["error": 402, "error_text": "Tariff"]) : .status(code))
        ]
        let said = try desk.say("c-1", ServerDesk.set("town", "Turku"))
        try desk.advance(600)
        let codes = [401: "unauthenticated", 402: "tariff", 403: "forbidden"]
        #expect(try desk.parked?.code == "altcraft.server.reply.\(codes[code] ?? "")")
        #expect(desk.outcome(said) == nil)
        try desk.resume()
        try desk.advance(10)
        #expect(desk.outcome(said)?.term == .accepted)
    }

    @Test(.shows("altcraft/V7", of: AltcraftServer.self))
    func `a request has so many profiles and bytes, and a larger profile goes alone`() throws {
        let desk = try ServerDesk(["lanes": 1, "bytesPerRequest": 2_000, "profilesPerRequest": 10])
        let long = String(repeating: "x", count: 3_000)
        try desk.world.capture(
            (10...49).map { number in
                desk.operation("c-\(number)", ServerDesk.set("town", .string(number == 20 ? long : "Turku \(number)")))
            }
        )
        try desk.advance(60)
        #expect(desk.account.profiles.count == 40)
        let sizes = desk.sent("importProfiles").map {
            ($0.request.json?["data"]?.array?.count ?? 0, $0.request.body.count)
        }
        #expect(sizes.allSatisfy { $0.0 <= 10 && ($0.1 <= 2_000 || $0.0 == 1) })
        #expect(sizes.contains { $0.1 > 2_000 })
        // The limit of bytes to the byte: one profile more would not fit.
        let small = try ServerDesk(["lanes": 1, "bytesPerRequest": 1_000])
        try small.world.capture((10...99).map { small.operation("c-\($0)", ServerDesk.set("town", "Turku")) })
        try small.advance(60)
        let row = #"{"crm_id":"c-10","town":"Turku"},"#.utf8.count
        let first = small.sent("importProfiles")[0].request.body.count
        #expect(first <= 1_000 && first + row > 1_000)
    }

    @Test(.shows("altcraft/V4", "altcraft/V7", of: AltcraftServer.self))
    func `contacts whose keys look alike stay two`() throws {
        let desk = try ServerDesk(["lanes": 1])
        try desk.world.capture(
            ["Zo\u{EB}", "Zoe\u{308}"].enumerated().map { place, key in
                desk.operation(key, subject: "row-\(place)", ServerDesk.set("town", "Turku"))
            }
        )
        try desk.advance(60)
        let rows = desk.sent("importProfiles").first?.request.json?["data"]?.array ?? []
        #expect(rows.compactMap { $0["crm_id"] } == ["Zo\u{EB}", "Zoe\u{308}"])
    }

    // MARK: Verdicts

    @Test(.shows("altcraft/V8", "altcraft/F15", of: AltcraftServer.self))
    func `each profile has its verdict`() throws {
        let desk = try ServerDesk(["lanes": 1], vendor: ["poison": "poison"])
        let operations = (1...50).map { number in
            desk.operation("c-\(number)", ServerDesk.set("town", number == 31 ? "poison" : "Turku"))
        }
        try desk.world.capture(operations)
        try desk.advance(10)
        #expect(desk.world.sent.count == 1)
        let terms = operations.map { desk.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == 49)
        #expect(desk.outcome(operations[30].id)?.finding?.code == "altcraft.reply.profileField")
        #expect(desk.outcome(operations[30].id)?.finding?.vendor?.code == "400")
    }

    @Test(.shows("altcraft/V8", "altcraft/V22", of: AltcraftServer.self))
    func `a profile that the vendor can't take now goes again alone`() throws {
        let desk = try ServerDesk(["lanes": 1])
        desk.instead = [
            ("/import_batch", .json(200, ["error": 0, "result": [["error": 0], ["error": 500], ["error": 0]]]))
        ]
        let operations = (1...3).map { desk.operation("c-\($0)", ServerDesk.set("town", "Turku")) }
        try desk.world.capture(operations)
        try desk.advance(60)
        #expect(operations.map { desk.outcome($0.id)?.term } == [.accepted, .accepted, .accepted])
        #expect(desk.sent("importProfiles").map { $0.request.json?["data"]?.array?.count } == [3, 1])
        #expect(desk.fields(of: "c-2")?["town"] == "Turku")
    }

    @Test(.shows("altcraft/V9", of: AltcraftServer.self), arguments: ["refused", "beside 200", "no verdicts"])
    func `a request that says nothing of each profile goes again in halves`(_ how: String) throws {
        let isClear = how != "no verdicts"
        let desk = try ServerDesk(["lanes": 1], vendor: isClear ? ["poison": "poison", "refusesWhole": true] : [:])
        let vendor = desk.vendor
        desk.world.network = { sent in
            let reply = vendor.respond(to: sent.request, now: sent.now)
            guard how != "refused", let json = reply.json else { return .outcome(.replied(reply)) }
            let isLarge = (sent.request.json?["data"]?.array?.count ?? 0) > 1
            if how == "no verdicts", isLarge { return .outcome(.json(200, ["error": 0, "error_text": ""])) }
            return .outcome(.json(200, json))
        }
        let operations = (1...50).map { number in
            desk.operation("c-\(number)", ServerDesk.set("town", number == 31 && isClear ? "poison" : "Turku"))
        }
        try desk.world.capture(operations)
        try desk.advance(60)
        let terms = operations.map { desk.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == (isClear ? 49 : 50))
        #expect(terms[30] == (isClear ? .rejected : .accepted))
        #expect(desk.account.profiles.count == (isClear ? 49 : 50))
        #expect(desk.world.sent.count <= (isClear ? 14 : 100))
    }

    @Test(.shows("altcraft/V10", of: AltcraftServer.self))
    func `a yes is a number, not a status`() throws {
        let desk = try ServerDesk()
        desk.instead = [
            ("/import_batch", .json(200, ["error": 400, "error_text": "No"])),
            ("/import_batch", .json(200, ["error": 0, "result": [["error": 0], ["error": 0]]])),
            ("/import_batch", .status(418)),
        ]
        let ends = try (1...3).map { number -> String? in
            let id = try desk.say("c-1", ServerDesk.set("visits", .integer(Int64(number))))
            try desk.advance(10)
            return desk.outcome(id)?.finding?.code
        }
        let codes = ["reply.refused", "result.unclear", "reply.refused"].map { "altcraft.server.\($0)" }
        #expect(ends == codes)
    }

    // MARK: Content

    @Test(.shows("altcraft/V11", "altcraft/F9", "altcraft/F14", of: AltcraftServer.self))
    func `a contact has one profile in a request, and a field one instruction`() throws {
        let desk = try ServerDesk(["lanes": 1])
        // Two subjects may speak of one contact.
        try desk.world.capture([
            desk.operation("c-1", .changeTags(TagChange(replace: ["silver", "music"]))),
            desk.operation("c-1", .changeTags(TagChange(add: ["gold"], remove: ["silver"]))),
            desk.operation("c-1", subject: "s-1", ServerDesk.set("town", "Turku")),
            desk.operation("c-2", ServerDesk.set("town", "Oulu")),
        ])
        try desk.advance(30)
        for sent in desk.sent("importProfiles") {
            let keys = sent.request.json?["data"]?.array?.compactMap { $0["crm_id"]?.string } ?? []
            #expect(Set(keys).count == keys.count)
        }
        #expect(desk.fields(of: "c-1")?["labels"] == ["music", "gold"])
        #expect(desk.fields(of: "c-1")?["town"] == "Turku")
        let values = desk.world.sent.flatMap { $0.request.json?["data"]?.array ?? [] }.compactMap { $0["labels"] }
        #expect(
            values == [
                ["music", "silver"], ["action": "delete", "value": ["silver"]], ["action": "add", "value": ["gold"]],
            ]
        )
    }

    @Test(
        .shows("altcraft/V4", of: AltcraftServer.self),
        arguments: [
            ("email", " mila@shop.test ", "email", "mila@shop.test"),
            ("email_profile", "mila@shop.test", "email", "mila@shop.test"),
            ("phone", "+49 300 000-000", "phone", "+49300000000"), ("custom", "c-1", "field_value", "c-1"),
        ]
    )
    func `a profile is found by what the settings say`(_ row: (String, String, String, String)) throws {
        let (matching, contact, member, key) = row
        let desk = try ServerDesk(["matching": .string(matching)])
        let first = try desk.say(contact, ServerDesk.set("town", "Turku"))
        let second = try desk.say(contact, .track(.custom(name: "Visit")))
        try desk.advance(30)
        let third = try desk.say(contact, .erase)
        try desk.advance(30)
        #expect([first, second, third].map { desk.outcome($0)?.term } == [.accepted, .accepted, .accepted])
        #expect(desk.sent("goal").first?.request.json?[member] == .string(key))
        #expect(desk.sent("deleteProfile").first?.request.json?["matching"] == .string(matching))
        #expect(desk.account.deletions.count == 1)
        let bad = desk.adapter.examine(desk.operation("??", .erase)).map(\.code)
        #expect(bad == (matching == "custom" ? [] : ["altcraft.server.key.form"]))
        #expect(desk.adapter.examine(desk.operation(" ", .erase)).map(\.code) == ["altcraft.server.key.blank"])
    }

    @Test(.shows("altcraft/V5", "altcraft/F19", "altcraft/F20", of: AltcraftServer.self))
    func `identifiers are fields, and the key can't be changed`() throws {
        let desk = try ServerDesk(["identifierFields": ["email": "email", "phone": "phones", "loyalty_card": "card"]])
        try desk.say(
            "c-1",
            .identify([
                Identifier(.external, "c-1"), Identifier(.email, "mila@shop.test"),
                Identifier(.phone, "+49 300 000000"),
                Identifier("loyalty_card", "7"),
            ])
        )
        let known = try desk.say("c-1", .identify([Identifier(.external, "c-1")]))
        try desk.advance(10)
        #expect(
            desk.fields(of: "c-1") == [
                "crm_id": "c-1", "email": "mila@shop.test", "phones": ["+49300000000"], "card": "7",
            ]
        )
        #expect(desk.outcome(known)?.term == .unchanged)
        let refused: [(Action, [String])] = [
            (.identify([Identifier(.external, "c-2")]), ["altcraft.server.key.other"]),
            (.identify([Identifier("passport", "7")]), ["altcraft.server.identifier.unnamed"]),
            (.identify([Identifier(.email, "nobody")]), ["altcraft.attribute.form"]),
            (.identify([]), ["altcraft.server.nothing"]),
            (ServerDesk.set("crm_id", "c-2"), ["altcraft.server.key.other", "altcraft.attributes.none"]),
            (ServerDesk.set("subscriptions", "x"), ["altcraft.server.field.reserved", "altcraft.attributes.none"]),
            (.changeAttributes([:]), ["altcraft.attributes.empty"]),
            (.registerDevice(Corpus.phone), ["altcraft.server.device"]),
            (.switchContact(ContactSwitch(.logOut)), ["altcraft.server.contactSwitch"]),
            (.setConsent(Consent(purpose: .tracking, state: .granted)), ["altcraft.server.consent"]),
            (.track(.messageViewed(messageID: "m")), ["altcraft.server.event.kind"]),
        ]
        for (action, codes) in refused {
            let findings = desk.adapter.examine(desk.operation("c-1", action))
            #expect(findings.map(\.code) == codes)
            #expect(findings.contains { $0.severity == .error })
        }
        let phone = try ServerDesk(["matching": "phone"])
        try phone.say("+49300000000", .identify([Identifier(.phone, "+49300000001")]))
        try phone.advance(10)
        #expect(phone.account.profiles[0].fields["phones"] == ["+49300000000", "+49300000001"])
    }

    // MARK: Subscriptions

    @Test(
        .shows(
            "altcraft/V12",
            "altcraft/V13",
            "altcraft/V14",
            "altcraft/X3",
            "altcraft/X4",
            "altcraft/X6",
            of: AltcraftServer.self
        )
    )
    func `a subscription goes to the address that the platform knows`() throws {
        let desk = try ServerDesk()
        try desk.say("c-1", .identify([Identifier(.email, "mila@shop.test"), Identifier(.phone, "+49300000000")]))
        try desk.advance(10)
        let said: [Subscription] = [
            Subscription(channel: .email, state: .subscribed, fields: ["frequency": "weekly", "nested": .list([])]),
            Subscription(channel: .sms, state: .unsubscribed),
            Subscription(channel: .push, topic: "weekly_offers", state: .suspended),
        ]
        let ids = try said.map { try desk.say("c-1", .changeSubscription($0)) }
        try desk.advance(30)
        #expect(ids.map { desk.outcome($0)?.term } == [.accepted, .accepted, .accepted])
        let written = desk.sent("importProfiles").dropFirst().flatMap { $0.request.json?["data"]?.array ?? [] }
            .flatMap { $0["subscriptions"]?.array ?? [] }
        #expect(
            written == [
                [
                    "channel": "email", "resource_id": 33, "email": "mila@shop.test", "status": "subscribed",
                    "custom_fields": ["frequency": "weekly"],
                ],
                ["channel": "sms", "resource_id": 35, "phone": "+49300000000", "status": "unsubscribed"],
                [
                    "channel": "push", "resource_id": 32, "provider": "ios-apns",
                    "subscription_id": "device-65117f62736a0e1500000001", "status": "suspended",
                ],
            ]
        )
        #expect(desk.account.profiles[0].optOuts == 1)
        // The address of the resource comes before the profile's own.
        try desk.say("c-1", .identify([Identifier(.email, "new@shop.test")]))
        try desk.say("c-1", .changeSubscription(Subscription(channel: .email, state: .unsubscribed)))
        try desk.advance(30)
        #expect(desk.account.profiles[0].subscriptions.filter { $0["resource_id"] == 33 }.count == 1)
        let nowhere = try desk.say("c-9", .changeSubscription(Subscription(channel: .sms, state: .subscribed)))
        try desk.advance(10)
        #expect(desk.outcome(nowhere)?.finding?.code == "altcraft.server.subscription.address")
    }

    @Test(
        .shows("altcraft/V14", of: AltcraftServer.self),
        arguments: [Subscription.State.unsubscribed, .suspended]
    )
    func `a no in a channel without an address leaves nobody alone, and is told`(_ state: Subscription.State) throws {
        let desk = try ServerDesk()
        try desk.say("c-1", .identify([Identifier(.email, "mila@shop.test")]))
        let no = try desk.say("c-1", .changeSubscription(Subscription(channel: .sms, state: state)))
        let mail = try desk.say("c-1", .changeSubscription(Subscription(channel: .email, state: state)))
        try desk.advance(30)
        let outcome = try #require(desk.outcome(no))
        #expect(outcome.term == .unchanged)
        #expect(outcome.finding?.code == "altcraft.server.subscription.nobody")
        #expect(outcome.finding?.severity == .warning)
        #expect(outcome.finding?.path == "action.subscription.channel")
        #expect(desk.outcome(mail)?.term == .accepted)
        #expect(desk.account.profiles[0].subscriptions.allSatisfy { $0["channel"] != "sms" })
    }

    @Test(
        .shows("altcraft/V14", of: AltcraftServer.self),
        arguments: [
            (["phones": ["call me"]], true), (["phones": "call me"], true),
            (["phones": [], "email": "a@b.example"], false),
            (["subscriptions": [["channel": "sms", "resource_id": 35, "status": "subscribed"]]], true),
            (["subscriptions": [["channel": "sms", "status": "subscribed", "cc_data": ["phone": "7"]]]], true),
            (["subscriptions": [["resource_id": 35, "status": "subscribed"]]], true),
            (["subscriptions": ["channel": "sms"]], true),
            (["subscriptions": [["channel": "sms", "resource_id": 35, "is_delete": true]]], false),
            (["subscriptions": [["channel": "telegram_bot", "resource_id": 35]]], false),
            (["subscriptions": .null], false),
        ] as [(JSONObject, Bool)]
    )
    func `a no is kept where the platform may reach the contact by what can't be written here`(
        _ shown: JSONObject,
        _ isKept: Bool
    ) throws {
        let desk = try ServerDesk()
        var profile: JSONObject = ["crm_id": "c-1"]
        for member in shown { profile[member.name] = member.value }
        desk.instead = [("/list", .json(200, ["error": 0, "data": [.object(profile)]]))]
        let no = try desk.say("c-1", .changeSubscription(Subscription(channel: .sms, state: .unsubscribed)))
        try desk.advance(30)
        #expect(desk.outcome(no)?.term == (isKept ? .rejected : .unchanged))
        let code = isKept ? "address" : "nobody"
        #expect(desk.outcome(no)?.finding?.code == "altcraft.server.subscription.\(code)")
    }

    @Test(.shows("altcraft/V24", of: AltcraftServer.self))
    func `an opt-out of an unknown contact is applied when the contact is made`() throws {
        let desk = try ServerDesk()
        let off = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let optOut = try desk.say("c-1", off)
        try desk.advance(30)
        #expect(desk.outcome(optOut)?.summary == "unchanged altcraft.server.optOut.kept")
        #expect(desk.account.profiles.isEmpty)
        // The platform makes the contact with a phone that is subscribed.
        try desk.say("c-1", ServerDesk.set("town", "Turku"))
        try desk.advance(30)
        #expect(desk.account.profiles.first?.subscriptions.map { $0["status"] } == ["unsubscribed"])

        // A later opt-in takes its place.
        try desk.say("c-2", off)
        try desk.advance(30)
        try desk.say("c-2", ServerDesk.set("town", "Turku"))
        try desk.say("c-2", .changeSubscription(Subscription(channel: .push, state: .subscribed)))
        try desk.advance(30)
        #expect(desk.account.profiles.last?.subscriptions.map { $0["status"] } == ["subscribed"])
    }

    @Test func `a subscription is read in any letters, its resource as text, too`() throws {
        let adapter = try ServerDesk().adapter
        let profile: JSONValue = [
            "crm_id": "c-1",
            "subscriptions": [
                ["channel": "email", "resource_id": "33", "email": "a@b.example", "status": "Unsubscribed"],
                ["channel": "sms", "resource_id": 35, "phone": "+49300000000", "status": "SUBSCRIBED"],
                ["channel": "push", "resource_id": 31, "status": "subscribed", "is_delete": 1],
            ],
        ]
        let page = adapter.contacts(in: ["profiles": [profile]], to: .keys(["c-1"]))
        #expect(
            page.contacts.first?.contact.subscriptions == [
                Subscription(channel: .email, state: .unsubscribed), Subscription(channel: .sms, state: .subscribed),
            ]
        )
        #expect(SubscriptionTarget.subscribed(in: profile).map(\.channel) == ["sms"])
    }

    @Test(.shows("altcraft/V12", "altcraft/V13", of: AltcraftServer.self))
    func `what no subscription can be is refused`() throws {
        let desk = try ServerDesk()
        let refused: [(Subscription, String)] = [
            (Subscription(channel: .inApp, state: .subscribed), "channel"),
            (Subscription(channel: .email, topic: "nowhere", state: .subscribed), "resource"),
            (Subscription(channel: .email, state: .unknown), "unknown"),
        ]
        for (subscription, code) in refused {
            let findings = desk.adapter.examine(desk.operation("c-1", .changeSubscription(subscription)))
            #expect(findings.map(\.code) == ["altcraft.server.subscription.\(code)"])
        }
    }

    @Test(.shows("altcraft/V14", of: AltcraftServer.self))
    func `addresses are asked for together, and a farewell suspends what is subscribed`() throws {
        let desk = try ServerDesk(["lanes": 1])
        try desk.world.capture((1...5).map { desk.operation("c-\($0)", ServerDesk.set("town", "Turku")) })
        try desk.advance(10)
        try desk.say("c-5", .changeSubscription(Subscription(channel: .push, state: .unsubscribed)))
        try desk.advance(10)
        let operations = (1...6).map { desk.operation("c-\($0)", .farewell) }
        try desk.world.capture(operations)
        try desk.advance(30)
        #expect(desk.sent("lookUp").count == 2)
        #expect(desk.sent("importProfiles").count == 3)
        let terms = operations.map { desk.outcome($0.id)?.term }
        #expect(terms == [.accepted, .accepted, .accepted, .accepted, .unchanged, .unchanged])
        let states = desk.account.profiles.map { $0.subscriptions.map { $0["status"]?.string } }
        #expect(states == [["suspended"], ["suspended"], ["suspended"], ["suspended"], ["unsubscribed"]])
        #expect(desk.account.profiles.map(\.optOuts) == [0, 0, 0, 0, 1])
    }

    @Test func `an e-mail address is asked for in lower case, too, and found as it is spelt first`() throws {
        let adapter = try ServerDesk(["matching": "email"]).adapter
        let asked = adapter.question(for: .keys(["Mila@Shop.test", "leo@shop.test"]))
        #expect(
            asked.arguments["query"] == ["email": ["$in": ["Mila@Shop.test", "mila@shop.test", "leo@shop.test"]]]
        )
        let lower: JSONValue = ["email": "mila@shop.test", "town": "Turku"]
        let exact: JSONValue = ["email": "Mila@Shop.test", "town": "Oulu"]
        func town(of key: String, _ profiles: [JSONValue]) -> AttributeValue? {
            adapter.contacts(in: ["profiles": .array(profiles)], to: .keys([key])).contacts.first?.contact
                .attributes["town"]
        }
        #expect(town(of: "Mila@Shop.test", [lower]) == "Turku")
        #expect(town(of: "Mila@Shop.test", [lower, exact]) == "Oulu")
        #expect(town(of: "mila@shop.test", [exact, lower]) == "Turku")
        #expect(town(of: "leo@shop.test", [exact, lower]) == nil)
    }

    @Test func `an address is read however the platform shows it`() {
        let shown: [JSONValue] = [
            ["channel": "email", "resource_id": 5, "email_data": ["email": "mila@shop.test"]],
            ["channel": "email", "resource_id": 5, "email": "mila@shop.test"],
            ["channel": "sms", "resource_id": 5, "sms_data": ["phone": "+49300000000"]],
            ["channel": "sms", "resource_id": 5, "phone_data": ["phone": "+49300000000"]],
            ["channel": "push", "resource_id": 5, "push_data": ["provider": "ios-apns", "subscription_id": "0aa1"]],
        ]
        #expect(shown.allSatisfy { SubscriptionTarget(shown: $0) != nil })
        let unusable: [JSONValue] = [
            ["channel": "email", "resource_id": 5, "email": "mila@shop.test", "is_delete": true],
            ["channel": "email", "resource_id": 5],
            ["channel": "telegram_bot", "resource_id": 5, "cc_data": ["id": 1]],
            ["channel": "push", "resource_id": 5, "push_data": ["subscription_id": "0aa1"]], ["channel": "email"], "x",
        ]
        #expect(unusable.allSatisfy { SubscriptionTarget(shown: $0) == nil })
    }

    // MARK: Once

    @Test(.shows("altcraft/V16", "altcraft/V17", "altcraft/V18", of: AltcraftServer.self))
    func `a goal leaves once, also where nobody knows what became of it`() throws {
        let desk = try ServerDesk()
        try desk.say("c-1", ServerDesk.set("town", "Turku"))
        try desk.advance(10)
        let order = Action.track(.custom(name: "Order Placed", attributes: ["value": 41, "items": 3, "gift": false]))
        let first = try desk.say("c-1", order)
        try desk.advance(10)
        let body = desk.sent("goal")[0].request.json
        #expect(body?["goal"] == "Order Placed")
        #expect(body?["pixel_id"] == 7)
        #expect(body?["value"] == 41)
        #expect(body?["pixel_data"] == ["gift": false, "items": 3])
        #expect(desk.outcome(first)?.term == .accepted)
        for doubt in [Outcome.lost, .died, .status(500), .json(200, ["error": 500])] {
            desk.instead = [("/register", doubt)]
            let id = try desk.say("c-1", order)
            try desk.advance(600)
            #expect(desk.outcome(id)?.finding?.code == "altcraft.server.doubt")
        }
        // Who says that he can't now has not done it.
        desk.instead = [("/register", .status(503)), ("/register", .failed(TransportFailure(.notSent, "offline")))]
        let sure = try desk.say("c-1", order)
        try desk.advance(600)
        #expect(desk.outcome(sure)?.term == .accepted)
        #expect(desk.account.goals.count == 2)
        let eager = try ServerDesk(["inDoubt": "repeat"])
        try eager.say("c-1", ServerDesk.set("town", "Turku"))
        eager.instead = [("/register", .lost)]
        let again = try eager.say("c-1", order)
        try eager.advance(60)
        #expect(eager.outcome(again)?.term == .accepted)
    }

    @Test(.shows("altcraft/V18", "altcraft/F8", of: AltcraftServer.self))
    func `a number grows once`() throws {
        let desk = try ServerDesk(["lanes": 1])
        let grow = Action.changeAttributes(["points": .increment(ExactDecimal(5))])
        // What grows never goes with what can be repeated.
        let operations = (1...6).map { desk.operation("c-\($0)", $0 % 2 == 0 ? grow : ServerDesk.set("points", 1)) }
        try desk.world.capture(operations)
        try desk.advance(10)
        #expect(desk.endpoints == ["importProfiles", "increment"])
        #expect(desk.fields(of: "c-2")?["points"] == 5)
        desk.instead = [("/import_batch", .lost)]
        let lost = try desk.say("c-2", grow)
        try desk.advance(60)
        #expect(desk.outcome(lost)?.finding?.code == "altcraft.server.doubt")
        desk.instead = [("/import_batch", .json(200, ["error": 0, "result": [["error": 500]]]))]
        let unsure = try desk.say("c-2", grow)
        try desk.advance(60)
        #expect(desk.outcome(unsure)?.finding?.code == "altcraft.server.doubt")
        #expect(desk.fields(of: "c-2")?["points"] == 5)
        // A yes of which nobody knows whose it is, is no yes, and no reason to count again.
        desk.instead = [("/import_batch", .json(200, ["error": 0, "result": [["error": 0]]]))]
        let two = [desk.operation("c-2", grow), desk.operation("c-4", grow)]
        try desk.world.capture(two)
        try desk.advance(60)
        #expect(two.map { desk.outcome($0.id)?.finding?.code } == ["altcraft.server.doubt", "altcraft.server.doubt"])
        #expect(desk.sent("increment").count == 4)
    }

    @Test(.shows("altcraft/V16", "altcraft/V17", of: AltcraftServer.self))
    func `what no goal can be is refused, and a strange name is told of`() throws {
        let desk = try ServerDesk()
        func codes(_ name: String, _ attributes: [AttributeName: AttributeValue] = [:]) -> [String] {
            desk.adapter.examine(desk.operation("c-1", .track(.custom(name: name, attributes: attributes)))).map(\.code)
        }
        #expect(codes("Order #7 (€): да/нет") == [])
        #expect(codes(" ") == ["altcraft.server.goal.blank"])
        #expect(codes(String(repeating: "x", count: 129)) == ["altcraft.server.goal.long"])
        #expect(codes("Ordered 😀") == ["altcraft.server.goal.characters"])
        #expect(codes("Order", ["items": .list(["a"])]) == ["altcraft.server.goal.nested"])
        #expect(codes("Order", ["note": .string(String(repeating: "x", count: 1100))]) == ["altcraft.server.goal.data"])
        let bare = try ServerFixture.adapter(["pixelId": .null])
        let findings = bare.examine(desk.operation("c-1", .track(.custom(name: "Order"))))
        #expect(findings.map(\.code) == ["altcraft.server.goal.pixel"])
    }

    @Test(.shows("altcraft/V19", "altcraft/P1", "altcraft/P3", of: AltcraftServer.self))
    func `a push is told by its uid and a number`() throws {
        let desk = try ServerDesk(["uidKey": "extra_uid"])
        let payload: JSONObject = ["_ac_push": "1", "extra_uid": "e|2_4S|ios-apns"]
        for interaction in [PushInteraction.received, .tapped] {
            try desk.say("c-1", .track(.push(interaction, payload: payload)))
        }
        try desk.advance(10)
        #expect(
            desk.sent("pushEvent").map(\.request.json) == [
                ["events": 1, "uid": "e|2_4S|ios-apns"], ["events": 2, "uid": "e|2_4S|ios-apns"],
            ]
        )
        func codes(_ interaction: PushInteraction, _ payload: JSONObject) -> [String] {
            desk.adapter.examine(desk.operation("c-1", .track(.push(interaction, payload: payload)))).map(\.code)
        }
        #expect(codes(.tapped, ["extra_uid": "x"]) == ["altcraft.push.foreign"])
        #expect(codes(.tapped, ["_ac_push": "1"]) == ["altcraft.server.push.uid"])
        #expect(codes(.dismissed, payload) == ["altcraft.push.interaction"])
    }

    // MARK: Deleting and reading

    @Test(.shows("altcraft/V15", of: AltcraftServer.self))
    func `a profile is forgotten, and one that is not there needs no deletion`() throws {
        let desk = try ServerDesk()
        try desk.say("c-1", ServerDesk.set("town", "Turku"))
        try desk.advance(10)
        let first = try desk.say("c-1", .erase)
        try desk.advance(30)
        let second = try desk.say("c-1", .erase)
        try desk.advance(30)
        #expect(desk.outcome(first)?.term == .accepted)
        #expect(desk.outcome(second)?.finding?.code == "altcraft.server.erase.nobody")
        #expect(desk.account.profiles.isEmpty)
        // A status alone may come from whoever stands in between.
        desk.instead = [("/delete", .replied(WireResponse(404)))]
        let third = try desk.say("c-1", .erase)
        try desk.advance(30)
        #expect(desk.outcome(third)?.finding?.code == "altcraft.server.reply.notFound")
        #expect(
            desk.sent("deleteProfile")[0].request.json == [
                "db_id": 12, "matching": "custom", "field_name": "crm_id", "field_value": "c-1",
            ]
        )
    }

    @Test(.shows("altcraft/V20", of: AltcraftServer.self))
    func `profiles are read page by page`() throws {
        let desk = try ServerDesk()
        try desk.world.capture((10...34).map { desk.operation("c-\($0)", ServerDesk.set("town", "Turku")) })
        try desk.advance(10)
        var found: [JSONValue] = []
        var from: JSONValue?
        for page in 1...3 {
            var arguments: JSONObject = ["limit": 10, "fields": ["crm_id"], "query": ["town": "Turku"]]
            arguments["from"] = from
            let request = ReadRequest("profiles", arguments: arguments)
            let answer = try #require(try desk.ask("c-10", request, seconds: 2)?.answer)
            found += answer["profiles"]?.array ?? []
            from = answer["next"]
            #expect(answer["isLast"] == .bool(page == 3))
        }
        #expect(Set(found.compactMap { $0["crm_id"]?.string }).count == 25)
        #expect(from == .null)
        // Where the vendor names the next page, its word counts.
        desk.instead = [("/list", .json(200, ["error": 0, "next_id": "n-2", "data": [["id": "n-1"]]]))]
        let first = ReadRequest("profiles", arguments: ["limit": 1])
        #expect(try desk.ask("c-10", first, seconds: 2)?.answer?["next"] == "n-2")
        for request in [
            ReadRequest("rows"), ReadRequest("profiles", arguments: ["limit": 0]),
            ReadRequest("profiles", arguments: ["limit": 1001]), ReadRequest("profiles", arguments: ["page": 1]),
            ReadRequest("profiles", arguments: ["fields": ["a", 1]]),
        ] {
            let finding = desk.adapter.examine(desk.operation("c-1", .readBack(request))).map(\.code)
            #expect(finding == ["altcraft.server.question"])
        }
    }

    // MARK: Waiting

    @Test(.shows("altcraft/V21", of: AltcraftServer.self))
    func `a Retry-After keeps every lane back, over a restart`() throws {
        let desk = try ServerDesk()
        desk.instead = [("/import_batch", .json(429, ["error": 429], WireHeader("Retry-After", "300")))]
        try desk.say("c-1", ServerDesk.set("town", "Oulu"))
        try desk.advance(1)
        for number in 2...20 { try desk.say("c-\(number)", ServerDesk.set("town", "Oulu")) }
        try desk.world.restart()
        try desk.world.flush()
        try desk.advance(290)
        #expect(desk.world.sent.count == 1)
        try desk.advance(30)
        #expect(desk.account.profiles.count == 20)
    }

    @Test(.shows("altcraft/V22", of: AltcraftServer.self))
    func `a vendor that fails is asked less often each time, by all lanes together`() throws {
        let desk = try ServerDesk()
        desk.instead = (1...60).map { ("/import_batch", $0 % 2 == 0 ? .lost : .status(503)) }
        try desk.world.capture((1...400).map { desk.operation("c-\($0)", ServerDesk.set("town", "Oulu")) })
        try desk.advance(3600)
        let failed = desk.world.sent.count
        #expect((15...60).contains(failed), "\(failed) requests in an hour")
        desk.instead = []
        try desk.advance(900)
        #expect(desk.account.profiles.count == 400)
    }

    @Test(.shows("altcraft/V23", of: AltcraftServer.self))
    func `a web page is no answer, nor is a text`() throws {
        let desk = try ServerDesk()
        let page = WireResponse(
            200,
            headers: [WireHeader("Content-Type", "text/html")],
            body: Array("<html>".utf8)
        )
        desk.instead = [
            ("/import_batch", .replied(page)), ("/import_batch", .replied(WireResponse(200, body: Array("ok".utf8)))),
        ]
        let said = try desk.say("c-1", ServerDesk.set("town", "Turku"))
        try desk.advance(60)
        #expect(desk.sent("importProfiles").count == 3)
        #expect(desk.outcome(said)?.term == .accepted)
    }

    // MARK: Settings

    @Test(.shows("altcraft/V4", "altcraft/V12", of: AltcraftServer.self))
    func `settings that do not fit together are all found`() throws {
        let error = #expect(throws: SettingsError.self) {
            try ServerFixture.adapter(["matchingField": .null, "resources": ["email": "news", "push": "0"]])
        }
        #expect(
            error?.findings.map(\.path) == [
                "settings.matchingField", "settings.resources.email", "settings.resources.push",
            ]
        )
        // A resource holds one word of an address: two topics of a channel can't share it, two channels can.
        let shared = #expect(throws: SettingsError.self) {
            try ServerFixture.adapter([
                "resources": [
                    "email": "33", "email.a": "34", "email.b": "033", "email.c": "34", "push": "33", "sms": "33",
                    "sms.b": "33",
                ]
            ])
        }
        #expect(
            shared?.findings.map(\.path) == ["email.b", "email.c", "sms.b"].map { "settings.resources.\($0)" }
        )
        #expect(shared?.findings.allSatisfy { !$0.remedy.isEmpty } == true)
        #expect(throws: Never.self) {
            try ServerFixture.adapter(["resources": ["email": "33", "email.a": "34", "push": "33", "push.a": "34"]])
        }
        // The platform shows a profile's own id under these names.
        let bad: [JSONObject] = [
            ["matchingField": "id"], ["matchingField": "_id"], ["matchingField": "subscriptions"],
            ["apiToken": .null], ["apiToken": "a b"], ["dbId": 0], ["apiUrl": "http://ru.altcraft.example"],
        ]
        for changes in bad { #expect(throws: SettingsError.self) { try ServerFixture.adapter(changes) } }
    }
}
