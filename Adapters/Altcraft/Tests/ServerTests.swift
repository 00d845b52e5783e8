import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer
@testable import PatchbayAltcraftFiles

@Suite("Altcraft server API") struct ServerTests {
    // MARK: Requests

    @Test(
        .shows("altcraft/V1", "altcraft/V2", "altcraft/V3", "altcraft/V5", "altcraft/V6")
    )
    func `sends several profiles in one request with the token in a header`() throws {
        let driver = try ServerDriver(["lanes": 1, "skipTriggers": true])
        try driver.world.capture(
            (1...3).map { driver.operation("c-\($0)", ServerDriver.set("visits", .integer(Int64($0)))) }
        )
        try driver.advance(10)
        let sent = try #require(driver.sent("importProfiles").first)
        #expect(driver.world.sent.count == 1)
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
        #expect(driver.account.violations.isEmpty)
    }

    @Test(.shows("altcraft/V2", "altcraft/V10"), arguments: [401, 402, 403])
    func `suspends the provider and keeps all operations if the error needs a manual fix`(_ code: Int) throws {
        let driver = try ServerDriver()
        // The error number may come with status 200, too.
        driver.instead = [
            ("/import_batch", code == 402 ? .json(200, ["error": 402, "error_text": "Tariff"]) : .status(code))
        ]
        let said = try driver.say("c-1", ServerDriver.set("town", "Turku"))
        try driver.advance(600)
        let codes = [401: "unauthenticated", 402: "tariff", 403: "forbidden"]
        #expect(try driver.suspended?.code == "altcraft.server.reply.\(codes[code] ?? "")")
        #expect(driver.outcome(said) == nil)
        try driver.resume()
        try driver.advance(10)
        #expect(driver.outcome(said)?.term == .accepted)
    }

    @Test(.shows("altcraft/V7"))
    func `limits a request by profiles and bytes and sends a larger profile alone`() throws {
        let driver = try ServerDriver(["lanes": 1, "bytesPerRequest": 2_000, "profilesPerRequest": 10])
        let long = String(repeating: "x", count: 3_000)
        try driver.world.capture(
            (10...49).map { number in
                driver.operation(
                    "c-\(number)",
                    ServerDriver.set("town", .string(number == 20 ? long : "Turku \(number)"))
                )
            }
        )
        try driver.advance(60)
        #expect(driver.account.profiles.count == 40)
        let sizes = driver.sent("importProfiles").map {
            ($0.request.json?["data"]?.array?.count ?? 0, $0.request.body.count)
        }
        #expect(sizes.allSatisfy { $0.0 <= 10 && ($0.1 <= 2_000 || $0.0 == 1) })
        #expect(sizes.contains { $0.1 > 2_000 })
        // The exact byte limit: one more profile would not fit.
        let small = try ServerDriver(["lanes": 1, "bytesPerRequest": 1_000])
        try small.world.capture((10...99).map { small.operation("c-\($0)", ServerDriver.set("town", "Turku")) })
        try small.advance(60)
        let row = #"{"crm_id":"c-10","town":"Turku"},"#.utf8.count
        let first = small.sent("importProfiles")[0].request.body.count
        #expect(first <= 1_000 && first + row > 1_000)
    }

    @Test(.shows("altcraft/V4", "altcraft/V7"))
    func `keeps contacts apart whose keys differ only in Unicode composition`() throws {
        let driver = try ServerDriver(["lanes": 1])
        try driver.world.capture(
            ["Zo\u{EB}", "Zoe\u{308}"].enumerated().map { place, key in
                driver.operation(key, subject: "row-\(place)", ServerDriver.set("town", "Turku"))
            }
        )
        try driver.advance(60)
        let rows = driver.sent("importProfiles").first?.request.json?["data"]?.array ?? []
        #expect(rows.compactMap { $0["crm_id"] } == ["Zo\u{EB}", "Zoe\u{308}"])
    }

    // MARK: Verdicts

    @Test(.shows("altcraft/V8", "altcraft/F15"))
    func `reports an outcome for each profile`() throws {
        let driver = try ServerDriver(["lanes": 1], vendor: ["poison": "poison"])
        let operations = (1...50).map { number in
            driver.operation("c-\(number)", ServerDriver.set("town", number == 31 ? "poison" : "Turku"))
        }
        try driver.world.capture(operations)
        try driver.advance(10)
        #expect(driver.world.sent.count == 1)
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == 49)
        #expect(driver.outcome(operations[30].id)?.finding?.code == "altcraft.reply.profileField")
        #expect(driver.outcome(operations[30].id)?.finding?.vendor?.code == "400")
    }

    @Test(.shows("altcraft/V8", "altcraft/V22"))
    func `resends a temporarily refused profile alone`() throws {
        let driver = try ServerDriver(["lanes": 1])
        driver.instead = [
            ("/import_batch", .json(200, ["error": 0, "result": [["error": 0], ["error": 500], ["error": 0]]]))
        ]
        let operations = (1...3).map { driver.operation("c-\($0)", ServerDriver.set("town", "Turku")) }
        try driver.world.capture(operations)
        try driver.advance(60)
        #expect(operations.map { driver.outcome($0.id)?.term } == [.accepted, .accepted, .accepted])
        #expect(driver.sent("importProfiles").map { $0.request.json?["data"]?.array?.count } == [3, 1])
        #expect(driver.fields(of: "c-2")?["town"] == "Turku")
    }

    @Test(.shows("altcraft/V9"), arguments: ["refused", "beside 200", "no verdicts"])
    func `splits a request in halves if the reply has no result per profile`(_ how: String) throws {
        let isClear = how != "no verdicts"
        let driver = try ServerDriver(["lanes": 1], vendor: isClear ? ["poison": "poison", "refusesWhole": true] : [:])
        let vendor = driver.vendor
        driver.world.network = { sent in
            let reply = vendor.respond(to: sent.request, now: sent.now)
            guard how != "refused", let json = reply.json else { return .outcome(.replied(reply)) }
            let isLarge = (sent.request.json?["data"]?.array?.count ?? 0) > 1
            if how == "no verdicts", isLarge { return .outcome(.json(200, ["error": 0, "error_text": ""])) }
            return .outcome(.json(200, json))
        }
        let operations = (1...50).map { number in
            driver.operation("c-\(number)", ServerDriver.set("town", number == 31 && isClear ? "poison" : "Turku"))
        }
        try driver.world.capture(operations)
        try driver.advance(60)
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == (isClear ? 49 : 50))
        #expect(terms[30] == (isClear ? .rejected : .accepted))
        #expect(driver.account.profiles.count == (isClear ? 49 : 50))
        #expect(driver.world.sent.count <= (isClear ? 14 : 100))
    }

    @Test(.shows("altcraft/V10"))
    func `determines success from the error number, not the status`() throws {
        let driver = try ServerDriver()
        driver.instead = [
            ("/import_batch", .json(200, ["error": 400, "error_text": "No"])),
            ("/import_batch", .json(200, ["error": 0, "result": [["error": 0], ["error": 0]]])),
            ("/import_batch", .status(418)),
        ]
        let ends = try (1...3).map { number -> String? in
            let id = try driver.say("c-1", ServerDriver.set("visits", .integer(Int64(number))))
            try driver.advance(10)
            return driver.outcome(id)?.finding?.code
        }
        let codes = ["reply.refused", "result.unclear", "reply.refused"].map { "altcraft.server.\($0)" }
        #expect(ends == codes)
    }

    // MARK: Content

    @Test(.shows("altcraft/V11", "altcraft/F9", "altcraft/F14"))
    func `merges a contact into one profile per request, with one instruction per field`() throws {
        let driver = try ServerDriver(["lanes": 1])
        // Two subjects may have the same contact.
        try driver.world.capture([
            driver.operation("c-1", .changeTags(TagChange(replace: ["silver", "music"]))),
            driver.operation("c-1", .changeTags(TagChange(add: ["gold"], remove: ["silver"]))),
            driver.operation("c-1", subject: "s-1", ServerDriver.set("town", "Turku")),
            driver.operation("c-2", ServerDriver.set("town", "Oulu")),
        ])
        try driver.advance(30)
        for sent in driver.sent("importProfiles") {
            let keys = sent.request.json?["data"]?.array?.compactMap { $0["crm_id"]?.string } ?? []
            #expect(Set(keys).count == keys.count)
        }
        #expect(driver.fields(of: "c-1")?["labels"] == ["music", "gold"])
        #expect(driver.fields(of: "c-1")?["town"] == "Turku")
        let values = driver.world.sent.flatMap { $0.request.json?["data"]?.array ?? [] }.compactMap { $0["labels"] }
        #expect(
            values == [
                ["music", "silver"], ["action": "delete", "value": ["silver"]], ["action": "add", "value": ["gold"]],
            ]
        )
    }

    @Test(
        .shows("altcraft/V4"),
        arguments: [
            ("email", " mila@shop.test ", "email", "mila@shop.test"),
            ("email_profile", "mila@shop.test", "email", "mila@shop.test"),
            ("phone", "+49 300 000-000", "phone", "+49300000000"), ("custom", "c-1", "field_value", "c-1"),
        ]
    )
    func `finds a profile by the configured matching`(_ row: (String, String, String, String)) throws {
        let (matching, contact, member, key) = row
        let driver = try ServerDriver(["matching": .string(matching)])
        let first = try driver.say(contact, ServerDriver.set("town", "Turku"))
        let second = try driver.say(contact, .track(.custom(name: "Visit")))
        try driver.advance(30)
        let third = try driver.say(contact, .erase)
        try driver.advance(30)
        #expect([first, second, third].map { driver.outcome($0)?.term } == [.accepted, .accepted, .accepted])
        #expect(driver.sent("goal").first?.request.json?[member] == .string(key))
        #expect(driver.sent("deleteProfile").first?.request.json?["matching"] == .string(matching))
        #expect(driver.account.deletions.count == 1)
        let bad = driver.adapter.examine(driver.operation("??", .erase)).map(\.code)
        #expect(bad == (matching == "custom" ? [] : ["altcraft.server.key.form"]))
        #expect(driver.adapter.examine(driver.operation(" ", .erase)).map(\.code) == ["altcraft.server.key.blank"])
    }

    @Test(.shows("altcraft/V5", "altcraft/F19", "altcraft/F20"))
    func `writes identifiers as fields and rejects a changed key`() throws {
        let driver = try ServerDriver([
            "identifierFields": ["email": "email", "phone": "phones", "loyalty_card": "card"]
        ])
        try driver.say(
            "c-1",
            .identify([
                Identifier(.external, "c-1"), Identifier(.email, "mila@shop.test"),
                Identifier(.phone, "+49 300 000000"),
                Identifier("loyalty_card", "7"),
            ])
        )
        let known = try driver.say("c-1", .identify([Identifier(.external, "c-1")]))
        try driver.advance(10)
        #expect(
            driver.fields(of: "c-1") == [
                "crm_id": "c-1", "email": "mila@shop.test", "phones": ["+49300000000"], "card": "7",
            ]
        )
        #expect(driver.outcome(known)?.term == .unchanged)
        let refused: [(Action, [String])] = [
            (.identify([Identifier(.external, "c-2")]), ["altcraft.server.key.other"]),
            (.identify([Identifier("passport", "7")]), ["altcraft.server.identifier.unnamed"]),
            (.identify([Identifier(.email, "not-an-address")]), ["altcraft.attribute.form"]),
            (.identify([]), ["altcraft.server.nothing"]),
            (ServerDriver.set("crm_id", "c-2"), ["altcraft.server.key.other", "altcraft.attributes.none"]),
            (ServerDriver.set("subscriptions", "x"), ["altcraft.server.field.reserved", "altcraft.attributes.none"]),
            (.changeAttributes([:]), ["altcraft.attributes.empty"]),
            (.registerDevice(Corpus.phone), ["altcraft.server.device"]),
            (.switchContact(ContactSwitch(.logOut)), ["altcraft.server.contactSwitch"]),
            (.setConsent(Consent(purpose: .tracking, state: .granted)), ["altcraft.server.consent"]),
            (.track(.messageViewed(messageID: "m")), ["altcraft.server.event.kind"]),
        ]
        for (action, codes) in refused {
            let findings = driver.adapter.examine(driver.operation("c-1", action))
            #expect(findings.map(\.code) == codes)
            #expect(findings.contains { $0.severity == .error })
        }
        let phone = try ServerDriver(["matching": "phone"])
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
            "altcraft/X6"
        )
    )
    func `sends a subscription to the address that the platform knows`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", .identify([Identifier(.email, "mila@shop.test"), Identifier(.phone, "+49300000000")]))
        try driver.advance(10)
        let said: [Subscription] = [
            Subscription(channel: .email, state: .subscribed, fields: ["frequency": "weekly", "nested": .list([])]),
            Subscription(channel: .sms, state: .unsubscribed),
            Subscription(channel: .push, topic: "weekly_offers", state: .suspended),
        ]
        let ids = try said.map { try driver.say("c-1", .changeSubscription($0)) }
        try driver.advance(30)
        #expect(ids.map { driver.outcome($0)?.term } == [.accepted, .accepted, .accepted])
        let written = driver.sent("importProfiles").dropFirst().flatMap { $0.request.json?["data"]?.array ?? [] }
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
        #expect(driver.account.profiles[0].optOuts == 1)
        // The address of the resource takes precedence over the profile's own.
        try driver.say("c-1", .identify([Identifier(.email, "new@shop.test")]))
        try driver.say("c-1", .changeSubscription(Subscription(channel: .email, state: .unsubscribed)))
        try driver.advance(30)
        #expect(driver.account.profiles[0].subscriptions.filter { $0["resource_id"] == 33 }.count == 1)
        let nowhere = try driver.say("c-9", .changeSubscription(Subscription(channel: .sms, state: .subscribed)))
        try driver.advance(10)
        #expect(driver.outcome(nowhere)?.finding?.code == "altcraft.server.subscription.address")
    }

    @Test(
        .shows("altcraft/V14"),
        arguments: [Subscription.State.unsubscribed, .suspended]
    )
    func `keeps an opt-out without an address on the channel, with a warning`(_ state: Subscription.State) throws {
        let driver = try ServerDriver()
        try driver.say("c-1", .identify([Identifier(.email, "mila@shop.test")]))
        let optOut = try driver.say("c-1", .changeSubscription(Subscription(channel: .sms, state: state)))
        let mail = try driver.say("c-1", .changeSubscription(Subscription(channel: .email, state: state)))
        try driver.advance(30)
        let outcome = try #require(driver.outcome(optOut))
        #expect(outcome.term == .unchanged)
        #expect(outcome.finding?.code == "altcraft.server.optOut.waits")
        #expect(outcome.finding?.severity == .warning)
        #expect(outcome.finding?.path == "action.subscription.channel")
        #expect(driver.outcome(mail)?.term == .accepted)
        #expect(driver.account.profiles[0].subscriptions.allSatisfy { $0["channel"] != "sms" })
    }

    @Test(
        .shows("altcraft/V14"),
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
    func `rejects an opt-out if the platform may reach the contact at an address that cannot be written`(
        _ shown: JSONObject,
        _ isRejected: Bool
    ) throws {
        let driver = try ServerDriver()
        var profile: JSONObject = ["crm_id": "c-1"]
        for member in shown { profile[member.name] = member.value }
        driver.instead = [("/list", .json(200, ["error": 0, "data": [.object(profile)]]))]
        let optOut = try driver.say("c-1", .changeSubscription(Subscription(channel: .sms, state: .unsubscribed)))
        try driver.advance(30)
        #expect(driver.outcome(optOut)?.term == (isRejected ? .rejected : .unchanged))
        let code = isRejected ? "subscription.address" : "optOut.waits"
        #expect(driver.outcome(optOut)?.finding?.code == "altcraft.server.\(code)")
    }

    @Test(.shows("altcraft/V24"))
    func `applies an opt-out of an unknown contact when the contact is created`() throws {
        let driver = try ServerDriver()
        let off = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let optOut = try driver.say("c-1", off)
        try driver.advance(30)
        #expect(driver.outcome(optOut)?.summary == "unchanged altcraft.server.optOut.kept")
        #expect(driver.account.profiles.isEmpty)
        // The platform creates the contact with a subscribed phone number.
        try driver.say("c-1", ServerDriver.set("town", "Turku"))
        try driver.advance(30)
        #expect(driver.account.profiles.first?.subscriptions.map { $0["status"] } == ["unsubscribed", "unsubscribed"])

        // A later opt-in replaces it.
        try driver.say("c-2", off)
        try driver.advance(30)
        try driver.say("c-2", ServerDriver.set("town", "Turku"))
        try driver.say("c-2", .changeSubscription(Subscription(channel: .push, state: .subscribed)))
        try driver.advance(30)
        #expect(driver.account.profiles.last?.subscriptions.map { $0["status"] } == ["subscribed", "unsubscribed"])
    }

    @Test(
        .shows("altcraft/V24"),
        arguments: [
            [ServerDriver.set("town", "Turku")], [.changeTags(TagChange(add: ["gold"], remove: ["silver"]))],
            [ServerDriver.set("town", "Turku"), ServerDriver.set("town", "Oulu")],
        ] as [[Action]]
    )
    func `keeps an opt-out until the contact has an address`(_ earlier: [Action]) throws {
        let driver = try ServerDriver()
        let optOut = try driver.say("c-1", Self.emailOptOut)
        try driver.advance(30)
        #expect(driver.outcome(optOut)?.summary == "unchanged altcraft.server.optOut.kept")
        for action in earlier {
            let said = try driver.say("c-1", action)
            try driver.advance(30)
            #expect(driver.outcome(said)?.summary == "accepted")
        }
        #expect(driver.emailStatuses(of: "c-1").isEmpty)
        let identified = try driver.say("c-1", Self.identification)
        try driver.advance(30)
        #expect(driver.outcome(identified)?.summary == "accepted")
        #expect(driver.emailStatuses(of: "c-1") == [33: "unsubscribed", 34: "unsubscribed"])
        // It is applied once.
        let requests = driver.world.sent.count
        try driver.say("c-1", ServerDriver.set("town", "Espoo"))
        try driver.advance(30)
        #expect(driver.world.sent.count == requests + 1)
    }

    @Test(.shows("altcraft/V14", "altcraft/V24"))
    func `keeps an opt-out of a known contact without an address`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("town", "Turku"))
        let optOut = try driver.say("c-1", Self.emailOptOut)
        try driver.advance(30)
        #expect(driver.outcome(optOut)?.summary == "unchanged altcraft.server.optOut.waits")
        try driver.world.restart()
        try driver.say("c-1", Self.identification)
        try driver.advance(30)
        #expect(driver.emailStatuses(of: "c-1") == [33: "unsubscribed", 34: "unsubscribed"])
    }

    @Test(.shows("altcraft/V24"))
    func `keeps an opt-out that the vendor refuses`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", Self.emailOptOut)
        try driver.advance(30)
        let vendor = driver.vendor
        driver.world.network = { sent in
            let isOptOut = sent.request.json?["data"]?.array?.first?["subscriptions"] != nil
            return .outcome(isOptOut ? .status(400) : .replied(vendor.respond(to: sent.request, now: sent.now)))
        }
        let identified = try driver.say("c-1", Self.identification)
        try driver.advance(30)
        #expect(driver.outcome(identified)?.summary == "accepted altcraft.server.optOut.refused")
        #expect(driver.emailStatuses(of: "c-1").isEmpty)
        driver.world.network = { sent in .outcome(.replied(vendor.respond(to: sent.request, now: sent.now))) }
        try driver.say("c-1", ServerDriver.set("town", "Turku"))
        try driver.advance(30)
        #expect(driver.emailStatuses(of: "c-1") == [33: "unsubscribed", 34: "unsubscribed"])
    }

    @Test(.shows("altcraft/V12", "altcraft/V24"))
    func `keeps an opt-out while the settings name no resource for it`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", Self.emailOptOut)
        try driver.advance(30)
        try driver.world.reconfigure(Self.plan(["push": "31"]))
        let identified = try driver.say("c-1", Self.identification)
        try driver.advance(30)
        #expect(driver.outcome(identified)?.term == .accepted)
        #expect(driver.emailStatuses(of: "c-1").isEmpty)
        try driver.world.reconfigure(Self.plan(["email": "33"]))
        try driver.say("c-1", ServerDriver.set("town", "Turku"))
        try driver.advance(30)
        #expect(driver.emailStatuses(of: "c-1") == [33: "unsubscribed"])
    }

    @Test(.shows("altcraft/V12", "altcraft/V14"))
    func `sends a pending opt-out to the resource that the settings name now`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", Self.identification)
        try driver.advance(30)
        driver.instead = [("/import_batch", .status(503))]
        let optOut = try driver.say("c-1", Self.emailOptOut)
        try driver.advance(1)
        try driver.world.reconfigure(Self.plan(["email": "40"]))
        try driver.advance(600)
        #expect(driver.outcome(optOut)?.term == .accepted)
        #expect(driver.emailStatuses(of: "c-1") == [40: "unsubscribed"])
    }

    @Test(.shows("altcraft/V14"))
    func `writes an opt-out from a whole channel for each of its topics`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", Self.identification)
        for topic in [nil, "weekly_offers"] {
            try driver.say("c-1", .changeSubscription(Subscription(channel: .email, topic: topic, state: .subscribed)))
        }
        try driver.advance(30)
        #expect(driver.emailStatuses(of: "c-1") == [33: "subscribed", 34: "subscribed"])
        let optOut = driver.operation("c-1", Self.emailOptOut)
        try driver.world.capture([optOut])
        try driver.advance(30)
        #expect(driver.emailStatuses(of: "c-1") == [33: "unsubscribed", 34: "unsubscribed"])
        #expect(driver.adapter.image(of: [optOut]).subscriptions.map(\.topic) == [nil, "weekly_offers"])
        try driver.say("c-1", .changeSubscription(Subscription(channel: .email, state: .subscribed)))
        try driver.advance(30)
        #expect(driver.emailStatuses(of: "c-1") == [33: "subscribed", 34: "unsubscribed"])
    }

    private static let emailOptOut = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
    private static let identification = Action.identify([Identifier(.email, "mila@shop.test")])

    private static func plan(_ resources: JSONObject) throws -> RoutingPlan {
        let adapter = try ServerFixture.adapter(["resources": .object(resources)])
        return RoutingPlan(providers: [.init(name: "vendor", adapter: adapter, mode: .live)])
    }

    @Test func `reads subscription status in any case and the resource as text`() throws {
        let adapter = try ServerDriver().adapter
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

    @Test(.shows("altcraft/V12", "altcraft/V13"))
    func `rejects subscriptions that the API cannot hold`() throws {
        let driver = try ServerDriver()
        let refused: [(Subscription, String)] = [
            (Subscription(channel: .inApp, state: .subscribed), "channel"),
            (Subscription(channel: .email, topic: "nowhere", state: .subscribed), "resource"),
            (Subscription(channel: .email, state: .unknown), "unknown"),
        ]
        for (subscription, code) in refused {
            let findings = driver.adapter.examine(driver.operation("c-1", .changeSubscription(subscription)))
            #expect(findings.map(\.code) == ["altcraft.server.subscription.\(code)"])
        }
    }

    @Test(.shows("altcraft/V14"))
    func `queries addresses in one request, and unregister suspends active subscriptions`() throws {
        let driver = try ServerDriver(["lanes": 1])
        try driver.world.capture((1...5).map { driver.operation("c-\($0)", ServerDriver.set("town", "Turku")) })
        try driver.advance(10)
        try driver.say("c-5", .changeSubscription(Subscription(channel: .push, state: .unsubscribed)))
        try driver.advance(10)
        let operations = (1...6).map { driver.operation("c-\($0)", .unregister) }
        try driver.world.capture(operations)
        try driver.advance(30)
        #expect(driver.sent("lookUp").count == 2)
        #expect(driver.sent("importProfiles").count == 3)
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms == [.accepted, .accepted, .accepted, .accepted, .unchanged, .unchanged])
        let states = driver.account.profiles.map { $0.subscriptions.map { $0["status"]?.string } }
        #expect(
            states == [["suspended"], ["suspended"], ["suspended"], ["suspended"], ["unsubscribed", "unsubscribed"]]
        )
        #expect(driver.account.profiles.map(\.optOuts) == [0, 0, 0, 0, 2])
    }

    @Test func `queries an e-mail address also in lower case and prefers the exact spelling`() throws {
        let adapter = try ServerDriver(["matching": "email"]).adapter
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

    @Test func `reads an address in every form that the platform returns`() {
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

    // MARK: Single delivery

    @Test(.shows("altcraft/V16", "altcraft/V17", "altcraft/V18"))
    func `sends a goal once, even if its delivery is uncertain`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("town", "Turku"))
        try driver.advance(10)
        let order = Action.track(.custom(name: "Order Placed", attributes: ["value": 41, "items": 3, "gift": false]))
        let first = try driver.say("c-1", order)
        try driver.advance(10)
        let body = driver.sent("goal")[0].request.json
        #expect(body?["goal"] == "Order Placed")
        #expect(body?["pixel_id"] == 7)
        #expect(body?["value"] == 41)
        #expect(body?["pixel_data"] == ["gift": false, "items": 3])
        #expect(driver.outcome(first)?.term == .accepted)
        for uncertainty in [Outcome.lost, .died, .status(500), .json(200, ["error": 500])] {
            driver.instead = [("/register", uncertainty)]
            let id = try driver.say("c-1", order)
            try driver.advance(600)
            #expect(driver.outcome(id)?.finding?.code == "altcraft.server.uncertainDelivery")
        }
        // After a temporary refusal or an unsent request, the goal was not accepted.
        driver.instead = [("/register", .status(503)), ("/register", .failed(TransportFailure(.notSent, "offline")))]
        let delivered = try driver.say("c-1", order)
        try driver.advance(600)
        #expect(driver.outcome(delivered)?.term == .accepted)
        #expect(driver.account.goals.count == 2)
        let repeating = try ServerDriver(["uncertainDelivery": "repeat"])
        try repeating.say("c-1", ServerDriver.set("town", "Turku"))
        repeating.instead = [("/register", .lost)]
        let again = try repeating.say("c-1", order)
        try repeating.advance(60)
        #expect(repeating.outcome(again)?.term == .accepted)
    }

    @Test(.shows("altcraft/V18", "altcraft/F8"))
    func `sends an increment once`() throws {
        let driver = try ServerDriver(["lanes": 1])
        let grow = Action.changeAttributes(["points": .increment(ExactDecimal(5))])
        // Increments never share a request with operations that can be repeated.
        let operations = (1...6).map { driver.operation("c-\($0)", $0 % 2 == 0 ? grow : ServerDriver.set("points", 1)) }
        try driver.world.capture(operations)
        try driver.advance(10)
        #expect(driver.endpoints == ["importProfiles", "increment"])
        #expect(driver.fields(of: "c-2")?["points"] == 5)
        driver.instead = [("/import_batch", .lost)]
        let lost = try driver.say("c-2", grow)
        try driver.advance(60)
        #expect(driver.outcome(lost)?.finding?.code == "altcraft.server.uncertainDelivery")
        driver.instead = [("/import_batch", .json(200, ["error": 0, "result": [["error": 500]]]))]
        let uncertain = try driver.say("c-2", grow)
        try driver.advance(60)
        #expect(driver.outcome(uncertain)?.finding?.code == "altcraft.server.uncertainDelivery")
        #expect(driver.fields(of: "c-2")?["points"] == 5)
        // A success that is ambiguous is neither a success nor a reason to increment again.
        driver.instead = [("/import_batch", .json(200, ["error": 0, "result": [["error": 0]]]))]
        let two = [driver.operation("c-2", grow), driver.operation("c-4", grow)]
        try driver.world.capture(two)
        try driver.advance(60)
        #expect(
            two.map { driver.outcome($0.id)?.finding?.code } == [
                "altcraft.server.uncertainDelivery", "altcraft.server.uncertainDelivery",
            ]
        )
        #expect(driver.sent("increment").count == 4)
    }

    @Test(.shows("altcraft/V16", "altcraft/V17"))
    func `rejects invalid goals and warns about an unusual name`() throws {
        let driver = try ServerDriver()
        func codes(_ name: String, _ attributes: [AttributeName: AttributeValue] = [:]) -> [String] {
            driver.adapter.examine(driver.operation("c-1", .track(.custom(name: name, attributes: attributes)))).map(
                \.code
            )
        }
        #expect(codes("Order #7 (€): да/нет") == [])
        #expect(codes(" ") == ["altcraft.server.goal.blank"])
        #expect(codes(String(repeating: "x", count: 129)) == ["altcraft.server.goal.long"])
        #expect(codes("Ordered 😀") == ["altcraft.server.goal.characters"])
        #expect(codes("Order", ["items": .list(["a"])]) == ["altcraft.server.goal.nested"])
        #expect(codes("Order", ["note": .string(String(repeating: "x", count: 1100))]) == ["altcraft.server.goal.data"])
        let bare = try ServerFixture.adapter(["pixelId": .null])
        let findings = bare.examine(driver.operation("c-1", .track(.custom(name: "Order"))))
        #expect(findings.map(\.code) == ["altcraft.server.goal.pixel"])
    }

    @Test(.shows("altcraft/V19", "altcraft/P1", "altcraft/P3"))
    func `reports a push interaction by uid and number`() throws {
        let driver = try ServerDriver(["uidKey": "extra_uid"])
        let payload: JSONObject = ["_ac_push": "1", "extra_uid": "e|2_4S|ios-apns"]
        for interaction in [PushInteraction.received, .tapped] {
            try driver.say("c-1", .track(.push(interaction, payload: payload)))
        }
        try driver.advance(10)
        #expect(
            driver.sent("pushEvent").map(\.request.json) == [
                ["events": 1, "uid": "e|2_4S|ios-apns"], ["events": 2, "uid": "e|2_4S|ios-apns"],
            ]
        )
        func codes(_ interaction: PushInteraction, _ payload: JSONObject) -> [String] {
            driver.adapter.examine(driver.operation("c-1", .track(.push(interaction, payload: payload)))).map(\.code)
        }
        #expect(codes(.tapped, ["extra_uid": "x"]) == ["altcraft.push.foreign"])
        #expect(codes(.tapped, ["_ac_push": "1"]) == ["altcraft.server.push.uid"])
        #expect(codes(.dismissed, payload) == ["altcraft.push.interaction"])
    }

    // MARK: Deleting and reading

    @Test(.shows("altcraft/V15"))
    func `deletes a profile, and a missing profile needs no deletion`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("town", "Turku"))
        try driver.advance(10)
        let first = try driver.say("c-1", .erase)
        try driver.advance(30)
        let second = try driver.say("c-1", .erase)
        try driver.advance(30)
        #expect(driver.outcome(first)?.term == .accepted)
        #expect(driver.outcome(second)?.finding?.code == "altcraft.server.erase.unknown")
        #expect(driver.account.profiles.isEmpty)
        // A bare status may come from a proxy.
        driver.instead = [("/delete", .replied(WireResponse(404)))]
        let third = try driver.say("c-1", .erase)
        try driver.advance(30)
        #expect(driver.outcome(third)?.finding?.code == "altcraft.server.reply.notFound")
        #expect(
            driver.sent("deleteProfile")[0].request.json == [
                "db_id": 12, "matching": "custom", "field_name": "crm_id", "field_value": "c-1",
            ]
        )
    }

    @Test(.shows("altcraft/V20"))
    func `reads profiles page by page`() throws {
        let driver = try ServerDriver()
        try driver.world.capture((10...34).map { driver.operation("c-\($0)", ServerDriver.set("town", "Turku")) })
        try driver.advance(10)
        var found: [JSONValue] = []
        var from: JSONValue?
        for page in 1...3 {
            var arguments: JSONObject = ["limit": 10, "fields": ["crm_id"], "query": ["town": "Turku"]]
            arguments["from"] = from
            let request = ReadRequest("profiles", arguments: arguments)
            let answer = try #require(try driver.ask("c-10", request, seconds: 2)?.answer)
            found += answer["profiles"]?.array ?? []
            from = answer["next"]
            #expect(answer["isLast"] == .bool(page == 3))
        }
        #expect(Set(found.compactMap { $0["crm_id"]?.string }).count == 25)
        #expect(from == .null)
        // The vendor's own pointer to the next page takes precedence.
        driver.instead = [("/list", .json(200, ["error": 0, "next_id": "n-2", "data": [["id": "n-1"]]]))]
        let first = ReadRequest("profiles", arguments: ["limit": 1])
        #expect(try driver.ask("c-10", first, seconds: 2)?.answer?["next"] == "n-2")
        for request in [
            ReadRequest("rows"), ReadRequest("profiles", arguments: ["limit": 0]),
            ReadRequest("profiles", arguments: ["limit": 1001]), ReadRequest("profiles", arguments: ["page": 1]),
            ReadRequest("profiles", arguments: ["fields": ["a", 1]]),
        ] {
            let finding = driver.adapter.examine(driver.operation("c-1", .readBack(request))).map(\.code)
            #expect(finding == ["altcraft.server.question"])
        }
    }

    // MARK: Waiting

    @Test(.shows("altcraft/V21"))
    func `Retry-After delays all lanes, also after a restart`() throws {
        let driver = try ServerDriver()
        driver.instead = [("/import_batch", .json(429, ["error": 429], WireHeader("Retry-After", "300")))]
        try driver.say("c-1", ServerDriver.set("town", "Oulu"))
        try driver.advance(1)
        for number in 2...20 { try driver.say("c-\(number)", ServerDriver.set("town", "Oulu")) }
        try driver.world.restart()
        try driver.world.flush()
        try driver.advance(290)
        #expect(driver.world.sent.count == 1)
        try driver.advance(30)
        #expect(driver.account.profiles.count == 20)
    }

    @Test(.shows("altcraft/V22"))
    func `retries with growing intervals shared by all lanes`() throws {
        let driver = try ServerDriver()
        driver.instead = (1...60).map { ("/import_batch", $0 % 2 == 0 ? .lost : .status(503)) }
        try driver.world.capture((1...400).map { driver.operation("c-\($0)", ServerDriver.set("town", "Oulu")) })
        try driver.advance(3600)
        let failed = driver.world.sent.count
        #expect((15...60).contains(failed), "\(failed) requests in an hour")
        driver.instead = []
        try driver.advance(900)
        #expect(driver.account.profiles.count == 400)
    }

    @Test(.shows("altcraft/V23"))
    func `treats a web page or plain text as no answer`() throws {
        let driver = try ServerDriver()
        let page = WireResponse(
            200,
            headers: [WireHeader("Content-Type", "text/html")],
            body: Array("<html>".utf8)
        )
        driver.instead = [
            ("/import_batch", .replied(page)), ("/import_batch", .replied(WireResponse(200, body: Array("ok".utf8)))),
        ]
        let said = try driver.say("c-1", ServerDriver.set("town", "Turku"))
        try driver.advance(60)
        #expect(driver.sent("importProfiles").count == 3)
        #expect(driver.outcome(said)?.term == .accepted)
    }

    // MARK: Settings

    @Test(.shows("altcraft/V4", "altcraft/V12"))
    func `reports all conflicting settings at once`() throws {
        let error = #expect(throws: SettingsError.self) {
            try ServerFixture.adapter(["matchingField": .null, "resources": ["email": "news", "push": "0"]])
        }
        #expect(
            error?.findings.map(\.path) == [
                "settings.matchingField", "settings.resources.email", "settings.resources.push",
            ]
        )
        // A resource has one status per address: two topics of a channel can't share it, two channels can.
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
