import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

@Suite("Adobe server API") struct ServerTests {
    private static let tier = AttributeName.loyaltyTier

    // MARK: Requests

    @Test(.shows("adobe/B1", "adobe/B2", "adobe/B4", "adobe/B5"))
    func `uses one token for every lane and sends it with every request`() throws {
        let driver = try ServerDriver()
        try driver.world.capture((1...6).map { driver.operation("c-\($0)", ServerDriver.set(Self.tier, "gold")) })
        try driver.advance(10)
        let token = try #require(driver.sent("token").first?.request)
        #expect(driver.sent("token").count == 1)
        #expect(token.url == "https://ims-na1.adobelogin.com/ims/token/v3")
        #expect(token.hidesBody && !String(decoding: token.redacted.body, as: UTF8.self).contains("secret"))
        for sent in driver.world.sent.dropFirst() {
            #expect(sent.request[header: "Authorization"] == "Bearer token-1")
            #expect(sent.request.redacted[header: "Authorization"] == "•••")
            #expect(sent.request[header: "X-Api-Key"] == "a1b2c3d4e5f60718")
            #expect(sent.request.url.hasPrefix("https://mc.adobe.io/acmecorp/campaign/profileAndServicesExt/profile"))
        }
        #expect(driver.account.profiles.count == 6 && driver.account.violations.isEmpty)
    }

    @Test(
        .shows("adobe/B6", "adobe/B7", "adobe/B10", "adobe/B11"),
        arguments: [
            ("email", " Mila@shop.test ", "profile/byEmail?email=Mila%40shop.test", "email"),
            (
                "text", "c 1",
                "profile/byText?text=c%201&filterType=cusNumber&_lineCount=100&_forcePagination=true", "cusNumber"
            ),
            ("filter", "c&1", "profile/byCusNumber?cusNumber_parameter=c%261", "cusNumber"),
        ]
    )
    func `finds a profile by the configured matching and creates a missing one`(
        _ row: (matching: String, contact: String, address: String, field: String)
    ) throws {
        let driver = try ServerDriver(["matching": .string(row.matching), "keyField": .string(row.field)])
        let first = try driver.say(row.contact, ServerDriver.set(Self.tier, "silver"))
        try driver.advance(10)
        let second = try driver.say(row.contact.lowercased(), ServerDriver.set(Self.tier, "gold"))
        try driver.advance(10)
        let third = try driver.say(row.contact, .erase)
        try driver.advance(10)
        #expect([first, second, third].map { driver.outcome($0)?.term } == [.accepted, .accepted, .accepted])
        #expect(driver.calls == ["find", "create", "find", "update", "find", "delete"])
        #expect(driver.sent("find")[0].request.url.hasSuffix("/profileAndServicesExt/\(row.address)"))
        let made = driver.sent("create")[0].request.json
        #expect(made?[row.field] == .string(row.contact.trimmed) && made?["cusLoyaltyTier"] == "silver")
        #expect(driver.sent("update")[0].request.json == ["cusLoyaltyTier": "gold"])
        #expect(driver.account.profiles.isEmpty && driver.account.deleted.count == 1)
    }

    @Test(.shows("adobe/B35", "adobe/B36"))
    func `keeps contacts apart whose keys differ only in Unicode composition`() throws {
        let driver = try ServerDriver(["lanes": 1, "matching": "key", "filter": .null, "filterParameter": .null])
        try driver.world.capture(
            ["Zo\u{EB}", "Zoe\u{308}"].enumerated().map { place, key in
                driver.operation(key, subject: "row-\(place)", ServerDriver.set(Self.tier, "silver"))
            }
        )
        try driver.advance(60)
        let addresses = Set(driver.sent("update").map(\.request.url))
        #expect(addresses.count == 2)
        #expect(addresses.contains { $0.contains("Zo%C3%AB") } && addresses.contains { $0.contains("Zoe%CC%88") })
    }

    @Test(.shows("adobe/B6", "adobe/B26"))
    func `addresses a profile by the account's key without a query`() throws {
        let driver = try ServerDriver(["matching": "key", "filter": .null, "filterParameter": .null])
        try driver.say("c/1", ServerDriver.set(Self.tier, "silver"))
        try driver.advance(10)
        try driver.say("c/1", ServerDriver.set(Self.tier, "gold"))
        try driver.say("c/1", ServerDriver.topic("weekly_offers", .subscribed))
        try driver.advance(10)
        let erased = try driver.say("c/1", .erase)
        let again = try driver.say("c/1", .erase)
        try driver.advance(10)
        #expect(
            driver.calls == [
                "update", "create", "update", "find", "service", "subscriptions", "subscribe", "delete", "delete",
            ]
        )
        #expect(driver.world.sent[1].request.url.hasSuffix("/profileAndServicesExt/profile/c%2F1"))
        #expect(driver.outcome(erased)?.finding?.code == "adobe.server.erased")
        #expect(driver.outcome(again)?.finding?.code == "adobe.server.erased.unknown")
        // A bare status may come from a proxy, so it never completes an opt-out.
        let optOuts: [(String, Action)] = [
            ("delete", .erase), ("find", ServerDriver.topic("weekly_offers", .unsubscribed)),
            ("update", .changeSubscription(Subscription(channel: .email, state: .unsubscribed))),
        ]
        for (endpoint, action) in optOuts {
            driver.instead = [(endpoint, .text(404))]
            let uncertain = try driver.say("c/1", action)
            try driver.advance(10)
            #expect(try driver.suspended?.code == "adobe.server.filter.unknown")
            #expect(driver.outcome(uncertain) == nil)
            try driver.resume()
            try driver.advance(10)
            #expect(driver.outcome(uncertain) != nil)
        }
    }

    @Test(.shows("adobe/B9"))
    func `rejects an operation if two profiles have its key`() throws {
        let driver = try ServerDriver()
        driver.instead = [
            (
                "find",
                .json(
                    200,
                    ["content": [["PKey": "@p1", "cusNumber": "c-1"], ["PKey": "@p2", "cusNumber": "c-1"]]]
                )
            ),
            ("find", .json(200, ["content": [["PKey": "@p1", "email": "x@shop.test"]]])),
        ]
        let said = try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
        try driver.advance(10)
        #expect(driver.outcome(said)?.finding?.code == "adobe.server.contact.several")
        // A profile that does not show the key does not cause a new profile.
        try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
        try driver.advance(10)
        #expect(try driver.suspended?.code == "adobe.server.key.unseen")
        #expect(driver.sent("create").isEmpty)
    }

    @Test(.shows("adobe/B9"))
    func `applies an opt-out to every profile with the contact's key`() throws {
        let driver = try ServerDriver()
        let profileAddress = "https://mc.adobe.io/acmecorp/campaign/profileAndServicesExt/profile"
        let profiles: JSONValue = .array(
            ["@p1", "@p2"].map { key in
                [
                    "PKey": .string(key), "cusNumber": "c-1",
                    "subscriptions": ["href": .string("\(profileAddress)/\(key)/subscriptions/")],
                ]
            }
        )
        driver.instead = [("find", .json(200, ["content": profiles]))]
        driver.instead += ["@p1", "@p2"].map { ("update", .json(200, ["PKey": .string($0)])) }
        let email = try driver.say("c-1", .changeSubscription(Subscription(channel: .email, state: .unsubscribed)))
        try driver.advance(10)
        #expect(driver.outcome(email)?.term == .accepted)
        #expect(
            driver.sent("update").map { $0.request.url.hasSuffix("@p1") || $0.request.url.hasSuffix("@p2") } == [
                true, true,
            ]
        )
        driver.instead = [("find", .json(200, ["content": profiles]))]
        for key in ["@s1", "@s2"] {
            let address = "\(profileAddress)/@p/subscriptions/\(key)"
            let subscription: JSONValue = [
                "PKey": .string(key), "serviceName": "weeklyOffers", "href": .string(address),
            ]
            driver.instead += [
                ("service", .json(200, ["PKey": "@w", "name": "weeklyOffers"])),
                ("subscriptions", .json(200, ["content": [subscription]])),
                ("unsubscribe", .text(204)),
            ]
        }
        let topic = try driver.say("c-1", ServerDriver.topic("weekly_offers", .unsubscribed))
        try driver.advance(30)
        #expect(driver.outcome(topic)?.term == .accepted)
        #expect(driver.sent("unsubscribe").map { $0.request.url.hasSuffix("@s1") } == [true, false])
    }

    @Test(.shows("adobe/B8"))
    func `follows pages only at the API's own address and up to a limit`() throws {
        let elsewhere = [
            "https://evil.example/campaign/profileAndServicesExt/profile", "profileAndServicesExt/profile",
            "https://mc.adobe.io@evil.example/acmecorp/campaign/profileAndServicesExt/profile",
            "https://mc.adobe.io/acmecorp/campaign/profileAndServicesExt/../../../x",
            "https://mc.adobe.io/othercorp/campaign/profileAndServicesExt/profile",
            "https://mc.adobe.io/acmecorp/campaign/privacy/profile",
            "https://mc.adobe.io/acmecorp/campaign/profileAndServicesExt/profile?\(String(repeating: "x", count: 200))",
        ]
        let driver = try ServerDriver()
        for address in elsewhere {
            driver.instead = [("find", .json(200, ["content": [], "next": ["href": .string(address)]]))]
            let said = try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
            try driver.advance(10)
            #expect(driver.outcome(said)?.finding?.code == "adobe.server.reply.address")
        }
        // Behind a proxy, the vendor's replies name another host. Only the configured host gets requests.
        let next = "https://evil.example/acmecorp/campaign/profileAndServicesExt/profile?_lineStart=@25"
        driver.instead = (0..<40).map { _ in ("find", .json(200, ["content": [], "next": ["href": .string(next)]])) }
        let said = try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
        try driver.advance(10)
        #expect(driver.outcome(said)?.finding?.code == "adobe.server.contact.pages")
        let ours = next.replacing("evil.example", with: "mc.adobe.io")
        #expect(driver.sent("find").suffix(19).allSatisfy { $0.request.url == ours })
    }

    @Test(.shows("adobe/B10"))
    func `rejects unknown contacts if the settings say so`() throws {
        let driver = try ServerDriver(["unknownContacts": "refuse"])
        let operations = [
            driver.operation("c-1", ServerDriver.set(Self.tier, "gold")),
            driver.operation("c-2", ServerDriver.topic("weekly_offers", .subscribed)),
            driver.operation("c-3", .readBack(ReadRequest("profile"))),
        ]
        try driver.world.capture(operations)
        try driver.advance(10)
        #expect(
            operations.map { driver.outcome($0.id)?.finding?.code }
                == Array(repeating: "adobe.server.contact.unknown", count: 3)
        )
        #expect(driver.account.profiles.isEmpty)
    }

    @Test(.shows("adobe/B12", "adobe/B13"))
    func `queries a profile after uncertain delivery and creates a missing one again`() throws {
        let driver = try ServerDriver()
        driver.instead = [("create", .lost), ("create", .text(503)), ("create", .text(500, "PGS-220000 duplicate"))]
        let said = try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
        try driver.advance(60)
        #expect(driver.outcome(said)?.term == .accepted)
        #expect(
            driver.calls == ["find", "create", "find", "create", "find", "create", "find", "create"]
        )
        #expect(driver.account.profiles.count == 1)
        let missing = Outcome.text(404, "RST-360011 unable to find document")
        driver.instead = [("update", missing), ("update", .text(500, "XTK-170036 bad key"))]
        let again = try driver.say("c-1", ServerDriver.set(Self.tier, "silver"))
        try driver.advance(10)
        #expect(driver.outcome(again)?.term == .accepted)
        driver.instead = (0..<4).map { _ in ("update", missing) }
        let gone = try driver.say("c-1", ServerDriver.set(Self.tier, "bronze"))
        try driver.advance(10)
        #expect(driver.outcome(gone)?.finding?.code == "adobe.server.contact.vanished")
        #expect(driver.fields(of: "c-1")?["cusLoyaltyTier"] == "silver")
    }

    // MARK: Fields

    @Test(.shows("adobe/B14", "adobe/B16", "adobe/B17", "adobe/B18"))
    func `writes values in the forms of their fields`() throws {
        let moment = AttributeValue(text: "2031-03-08T22:15:00.250Z", as: .timestamp) ?? ""
        let changes: [AttributeName: AttributeChange] = [
            .givenName: .set("Mila"), .birthDate: .set("1990-04-01"), .gender: .set("female"),
            "timeZone": .set("europe"),
            "ccpaOptOut": .set("true"), "visits": .set(7), "last_visit": .set(moment), "newsletter_reader": .set(false),
            "cusOwn": .set("x"), .city: .unset,
        ]
        let said: JSONValue = [
            "firstName": "Mila", "timeZone": "europe", "birthDate": "1990-04-01", "gender": "female",
            "ccpaOptOut": true, "cusNumber": "c-1", "cusCity": "", "cusLastVisit": "2031-03-08 22:15:00.250Z",
            "cusNewsletterReader": false, "cusOwn": "x", "cusVisits": 7,
        ]
        let driver = try ServerDriver()
        try driver.say("c-1", .changeAttributes(changes))
        try driver.advance(10)
        let body = try #require(driver.sent("create").first?.request.json?.object)
        #expect(Set(body.names) == Set(said.object?.names ?? []))
        for member in body { #expect(member.value == said[member.name]) }
        let other = try ServerDriver(["unset": "null", "timeForm": "iso"])
        try other.say("c-1", .changeAttributes(["last_visit": .set(moment), .city: .unset]))
        try other.advance(10)
        #expect(
            other.sent("create").first?.request.json
                == ["cusNumber": "c-1", "cusCity": nil, "cusLastVisit": "2031-03-08T22:15:00.250Z"]
        )
    }

    @Test(
        .shows(
            "adobe/B14",
            "adobe/B15",
            "adobe/B16",
            "adobe/B17",
            "adobe/B19",
            "adobe/B20",
            "adobe/B36",
            "adobe/B37"
        )
    )
    func `rejects unsupported changes with the reason`() throws {
        let driver = try ServerDriver()
        let long = AttributeValue.string(String(repeating: "x", count: 31))
        let refused: [(Action, [String])] = [
            (.changeAttributes([:]), ["nothing"]),
            (.changeAttributes(["nowhere": .set("x")]), ["name.missing"]),
            (.changeAttributes([.givenName: .set(long)]), ["value.long"]),
            (.changeAttributes([.gender: .set("F")]), ["value.word"]),
            (.changeAttributes([.birthDate: .set("soon")]), ["value.form"]),
            (.changeAttributes(["ccpaOptOut": .set("perhaps")]), ["value.form"]),
            (.changeAttributes(["age": .set(7)]), ["field.readOnly"]),
            (.changeAttributes(["location": .set("Turku")]), ["field.readOnly"]),
            (.changeAttributes(["visits": .increment(ExactDecimal(1))]), ["value.arithmetic"]),
            (.changeAttributes(["interests": .set(.choices(["a"]))]), ["value.nested"]),
            (.changeAttributes(["cusNumber": .set("c-2")]), ["key.other"]),
            (.changeAttributes(["cusVisits": .set(1), "visits": .set(2)]), ["field.collision"]),
            (.changeTags(TagChange(add: ["nowhere"])), ["name.missing"]),
            (.identify([Identifier(.external, "c-2")]), ["key.other"]),
            (.identify([Identifier("passport", "7")]), ["name.missing"]),
            (.changeSubscription(Subscription(channel: .inApp, state: .subscribed)), ["subscription.channel"]),
            (.changeSubscription(Subscription(channel: .email, state: .unknown)), ["subscription.unknown"]),
            (ServerDriver.topic("nowhere", .subscribed), ["service.missing"]),
            (ServerDriver.topic("weekly_offers", .subscribed, on: .push), ["subscription.topicChannel"]),
            (ServerDriver.topic("weekly_offers", .unknown), ["subscription.unknown"]),
            (.registerDevice(Corpus.phone), ["device"]), (.switchContact(ContactSwitch(.logOut)), ["contactSwitch"]),
            (.setConsent(Consent(purpose: .tracking, state: .granted)), ["consent"]),
            (.track(.custom(name: "Order Placed")), ["event"]),
            (.track(.push(.tapped, payload: Corpus.plainPush)), ["event.push"]),
            (.readBack(ReadRequest("forecast")), ["question"]),
        ]
        for (action, codes) in refused {
            let findings = driver.adapter.examine(driver.operation("c-1", action))
            #expect(findings.map(\.code) == codes.map { "adobe.server.\($0)" })
            let isLeft = codes == ["field.collision"]
            #expect(findings.contains { $0.severity == .error || $0.severity == .foreign } != isLeft)
        }
        func codes(_ contact: String, _ matching: JSONObject) throws -> [String] {
            try ServerFixture.adapter(matching).examine(driver.operation(contact, .erase)).map(\.code)
        }
        #expect(try codes(" ", [:]) == ["adobe.server.key.blank"])
        #expect(try codes("c-1\n2", [:]) == ["adobe.server.key.form"])
        #expect(try codes("c-1", ["matching": "email", "keyField": "email"]) == ["adobe.server.key.form"])
        #expect(try codes("..", ["matching": "key"]) == ["adobe.server.key.form"])
        #expect(try codes(String(repeating: "9", count: 101), ["keyField": "externalId"]) == ["adobe.server.key.long"])
    }

    @Test(.shows("adobe/B19", "adobe/B20", "adobe/B35"))
    func `writes tags and channels as flags in one request per contact`() throws {
        let driver = try ServerDriver(["lanes": 1])
        let operations: [EngagementOperation] = [
            driver.operation("c-1", .changeTags(TagChange(replace: ["sports"]))),
            driver.operation("c-1", subject: "s-1", .changeTags(TagChange(add: ["gold"], remove: ["sports"]))),
            driver.operation("c-1", .changeSubscription(Subscription(channel: .sms, state: .suspended))),
            driver.operation("c-1", .changeSubscription(Subscription(channel: "postal_mail", state: .subscribed))),
            driver.operation("c-1", .identify([Identifier(.phone, "+4930123")])),
            driver.operation("c-1", .identify([Identifier(.phone, "+4930124")])),
            driver.operation("c-1", .identify([Identifier(.external, "c-1")])), driver.operation("c-1", .unregister),
        ]
        try driver.world.capture(operations)
        try driver.advance(10)
        // Two subjects may have the same contact. Its profile is created once.
        #expect(driver.calls == ["find", "create"])
        #expect(
            operations.map { driver.outcome($0.id)?.term } == [
                .accepted, .accepted, .accepted, .accepted, .superseded, .accepted, .unchanged, .unchanged,
            ]
        )
        let fields = try #require(driver.fields(of: "c-1"))
        #expect(fields["blackListMobile"] == true && fields["blackListPostalMail"] == false)
        #expect(fields["mobilePhone"] == "+4930124")
        #expect(fields["cusTagSports"] == false && fields["cusTagGold"] == true && fields["cusTagMusic"] == false)
        let paused = Subscription(channel: .sms, state: .suspended)
        let finding = driver.adapter.examine(driver.operation("c-1", .changeSubscription(paused)))
        #expect(finding.map(\.code) == ["adobe.server.subscription.suspended"])
    }

    @Test(.shows("adobe/B35"))
    func `rejects only the invalid value, also before the profile exists`() throws {
        let driver = try ServerDriver()
        let operations = (1...8).map { number in
            driver.operation(
                "c-1",
                ServerDriver.set(AttributeName(rawValue: "cusField\(number)"), number == 3 ? "poison" : "x")
            )
        }
        try driver.world.capture(operations)
        try driver.advance(10)
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == 7 && terms[2] == .rejected)
        #expect(driver.outcome(operations[2].id)?.finding?.vendor?.code == "RST-360011")
        #expect(driver.account.profiles.count == 1 && driver.fields(of: "c-1")?.count == 8)
    }

    // MARK: Topics

    @Test func `counts the requests for a contact and its topics in a plan`() throws {
        let driver = try ServerDriver()
        for contact in ["c-1", "c-2", "c-3"] {
            try driver.world.capture([
                driver.operation(contact, ServerDriver.set("town", "Turku")),
                driver.operation(contact, ServerDriver.set("visits", 7)),
                driver.operation(contact, ServerDriver.topic("weekly_offers", .subscribed)),
            ])
        }
        try driver.advance(600)
        let amount = ServerAmount(
            contacts: 3,
            operations: [.changeAttributes: 6, .changeSubscription: 3],
            topics: 3
        )
        let work = driver.adapter.work(for: amount)
        #expect(work.map(\.requests).reduce(0, +) == driver.calls.count)
        #expect(work.first { $0.name == "find" }?.requests == driver.calls.count { $0 == "find" })
    }

    @Test(.shows("adobe/B21", "adobe/B22", "adobe/B23", "adobe/B24", "adobe/B25"))
    func `changes a topic as a service with a subscription record`() throws {
        let driver = try ServerDriver(["unknownServices": "refuse"])
        driver.instead = [("subscribe", .lost)]
        let steps: [(Subscription.State, OperationOutcome.Term)] = [
            (.unsubscribed, .unchanged), (.subscribed, .accepted), (.subscribed, .unchanged),
            (.unsubscribed, .accepted), (.unsubscribed, .unchanged),
        ]
        for (state, term) in steps {
            let said = try driver.say("c-1", ServerDriver.topic("weekly_offers", state))
            try driver.advance(30)
            #expect(driver.outcome(said)?.term == term)
        }
        let other = try driver.say("c-1", ServerDriver.topic("delivery", .subscribed, on: .sms))
        try driver.advance(10)
        #expect(driver.outcome(other)?.term == .accepted)
        #expect(driver.account.subscriptions.map(\.service) == ["deliveryNews"])
        #expect(driver.sent("create").count == 1)
        #expect(driver.sent("subscribe").first?.request.json == ["service": ["PKey": "@s1"]])
        #expect(driver.account.violations.isEmpty)
        // A missing or different service affects only its own operation.
        driver.instead = [("service", .text(404)), ("service", .json(200, ["PKey": "@s9", "name": "other"]))]
        for _ in 1...2 {
            let said = try driver.say("c-1", ServerDriver.topic("weekly_offers", .subscribed))
            try driver.advance(10)
            #expect(driver.outcome(said)?.finding?.code == "adobe.server.service.unknown")
        }
        // Another client subscribed first.
        driver.instead = [("subscribe", .text(500, "PGS-220000 duplicate")), ("unsubscribe", .text(404))]
        let late = try driver.say("c-1", ServerDriver.topic("weekly_offers", .subscribed))
        try driver.advance(10)
        #expect(driver.outcome(late)?.finding?.code == "adobe.server.service.subscribed")
        let gone = try driver.say("c-1", ServerDriver.topic("delivery", .unsubscribed, on: .sms))
        try driver.advance(10)
        #expect(driver.outcome(gone)?.term == .accepted && driver.account.subscriptions.isEmpty)
    }

    @Test(.shows("adobe/B8", "adobe/B22"))
    func `reads paged subscriptions`() throws {
        let services = (1...6).map { "news\($0)" }
        let topics = JSONObject(services.map { ("email.\($0)", .string($0)) })
        let driver = try ServerDriver(
            ["services": .object(topics)],
            vendor: ["services": .array(services.map { .string($0) }), "mostRows": 2]
        )
        for service in services {
            try driver.say("c-1", ServerDriver.topic(service, .subscribed))
            try driver.advance(10)
        }
        #expect(driver.account.subscriptions.map(\.service) == services)
        try driver.say("c-1", ServerDriver.topic("news6", .unsubscribed))
        try driver.advance(10)
        #expect(driver.account.subscriptions.map(\.service) == Array(services.dropLast()))
    }

    @Test(.shows("adobe/B41"))
    func `creates a missing service once if the settings say so`() throws {
        let driver = try ServerDriver()
        let unnecessary = try driver.say("c-1", ServerDriver.topic("flash_sales", .unsubscribed, on: .sms))
        try driver.advance(10)
        #expect(driver.outcome(unnecessary)?.finding?.code == "adobe.server.service.unsubscribed")
        // The service is created and the reply is lost: the adapter queries the service and does not create it again.
        driver.instead = [("makeService", .lost)]
        let said = try ["c-1", "c-2"].map {
            try driver.say($0, ServerDriver.topic("flash_sales", .subscribed, on: .sms))
        }
        try driver.advance(60)
        #expect(said.allSatisfy { driver.outcome($0)?.term == .accepted })
        #expect(driver.account.services.map(\.name) == ["weeklyOffers", "deliveryNews", "flashSales"])
        #expect(driver.account.services.last?.messageType == "sms")
        #expect(driver.account.subscriptions.map(\.service) == ["flashSales", "flashSales"])
        // If the account does not accept a name in place of a key, the number of attempts is limited.
        driver.instead = Array(repeating: ("service", .text(404)), count: 8)
        let late = try driver.say("c-3", ServerDriver.topic("flash_sales", .subscribed, on: .sms))
        try driver.advance(60)
        #expect(driver.outcome(late)?.finding?.code == "adobe.server.service.unknown")
        #expect(driver.account.services.count == 3)
    }

    // MARK: Answers

    @Test(.shows("adobe/B29", "adobe/B32", "adobe/B33", "adobe/B38"))
    func `interprets each answer as its table says`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
        try driver.advance(10)
        let page = Outcome.replied(
            WireResponse(200, headers: [WireHeader("Content-Type", "text/html")], body: Array("<html>".utf8))
        )
        // A success with unexpected content counts as a missing reply.
        for answer in [page, .json(200, ["PKey": "../x"]), .text(200, "ok"), .json(200, ["content": []])] {
            driver.instead = [("update", answer)]
            let said = try driver.say("c-1", ServerDriver.set(Self.tier, "silver"))
            try driver.advance(60)
            #expect(driver.outcome(said)?.term == .accepted && driver.instead.isEmpty)
        }
        let refusals: [(Outcome, String, String?)] = [
            (.json(200, ["error_code": "400100", "message": "No"]), "hidden", "400100"),
            (.text(200, "RST-360011 no"), "hidden", "RST-360011"), (.text(400), "refused", nil),
            (.json(400, ["error_code": "400101"]), "refused", "400101"),
            (.json(500, "BAS-010040 wrong type"), "value", "BAS-010040"),
            (.text(500, "RST-360012 key"), "keyChange", "RST-360012"),
        ]
        for (answer, code, vendor) in refusals {
            driver.instead = [("update", answer)]
            let said = try driver.say("c-1", ServerDriver.set(Self.tier, "bronze"))
            try driver.advance(10)
            #expect(driver.outcome(said)?.finding?.code == "adobe.server.reply.\(code)")
            #expect(driver.outcome(said)?.finding?.vendor?.code == vendor)
        }
        driver.instead = [("find", .json(403, ["error_code": "403023", "message": "Profile is not valid"]))]
        let kept = try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
        try driver.advance(10)
        #expect(try driver.suspended?.code == "adobe.server.reply.forbidden")
        #expect(driver.outcome(kept) == nil)
        try driver.resume()
        try driver.advance(10)
        #expect(driver.outcome(kept)?.term == .accepted)
    }

    @Test(.shows("adobe/B34"))
    func `reads a profile or the pages of a collection`() throws {
        let driver = try ServerDriver(vendor: ["mostRows": 2])
        try driver.world.capture((1...5).map { driver.operation("c-\($0)", ServerDriver.set(Self.tier, "gold")) })
        try driver.advance(10)
        var seen: [JSONValue] = []
        var next: JSONValue?
        repeat {
            let arguments: JSONObject = next.map { ["next": $0] } ?? ["rows": 2]
            let operation = driver.operation("c-1", .readBack(ReadRequest("profiles", arguments: arguments)))
            #expect(driver.adapter.examine(operation).isEmpty)
            try driver.world.capture([operation])
            try driver.advance(10)
            let reply = try #require(driver.sent("page").last?.request)
            let page = try #require(
                ServerPage(
                    driver.vendor.respond(to: reply, now: driver.world.host.date()).json,
                    isSingle: false,
                    driver.adapter.settings
                )
            )
            seen += page.answer["content"]?.array ?? []
            next = page.answer["next"]?.string.map(JSONValue.string)
            #expect((page.answer["isLast"] == true) == (next == nil))
        } while next != nil && seen.count < 20
        #expect(Set(seen.compactMap { $0["cusNumber"]?.string }).count == 5 && seen.count == 5)
        let bad: [JSONObject] = [
            ["rows": 0], ["rows": 1001], ["next": "privacy/x"], ["next": "profileAndServices/../x"], ["page": 1],
            ["next": "//evil.example/x"],
        ]
        for arguments in bad {
            let operation = driver.operation("c-1", .readBack(ReadRequest("profiles", arguments: arguments)))
            #expect(driver.adapter.examine(operation).map(\.code) == ["adobe.server.question"])
        }
    }

    private func page(_ answer: JSONValue, _ driver: ServerDriver, to wanted: ContactQuestion = .keys(["c-1"]))
        -> ContactPage
    {
        driver.adapter.contacts(in: answer, to: wanted)
    }

    @Test(.shows("adobe/B39"))
    func `reads a profile in neutral terms with opt-out flags and without default values`() throws {
        let driver = try ServerDriver()
        let profile: JSONValue = [
            "PKey": "@p1", "href": "x", "cusNumber": "c-1", "email": "a@b.example", "mobilePhone": "",
            "firstName": "Aino",
            "gender": "unknown", "age": 41, "lastModified": "2031-05-06 07:08:09.123Z", "location": ["city": "Oulu"],
            "cusLoyaltyTier": "gold", "cusVisits": 7, "cusTagSports": true, "cusTagGold": false, "cusOwn": "x",
            "blackList": false, "blackListEmail": true, "blackListPhone": true, "blackListMobile": false,
            "ccpaOptOut": false, "subscriptions": ["href": "x"],
        ]
        let found = page(
            ["profiles": [profile], "subscriptions": "profileAndServicesExt/profile/@p1/subscriptions/"],
            driver
        )
        let contact = try #require(found.contacts.first?.contact)
        #expect(contact.identifiers == [Identifier(.external, "c-1"), Identifier(.email, "a@b.example")])
        #expect(
            contact.attributes == [.givenName: "Aino", .loyaltyTier: "gold", "visits": 7, "cusOwn": "x"]
        )
        #expect(contact.tags == ["sports"])
        #expect(
            contact.subscriptions.map { "\($0.channel.rawValue) \($0.state.rawValue)" }
                == ["email unsubscribed", "phone unsubscribed", "sms subscribed"]
        )
        #expect(found.next?["next"] == "profileAndServicesExt/profile/@p1/subscriptions/")
        var refused = profile.object ?? [:]
        refused["blackList"] = true
        let states = page(["profiles": [.object(refused)]], driver).contacts.first?.contact.subscriptions.map(\.state)
        // The flag also applies to channels that the profile does not show.
        #expect(states == ProfileFlags.channels.map { _ in .unsubscribed })
        let careful = try ServerDriver(["notOptedOut": "unknown"])
        let said = page(["profiles": [profile]], careful).contacts.first?.contact.subscriptions.map(\.state)
        #expect(said == [.unsubscribed, .unsubscribed, .unknown])
        // Two profiles with one key are no answer.
        #expect(page(["profiles": [profile, profile]], driver).contacts.isEmpty)
    }

    @Test(.shows("adobe/B40"))
    func `reports missing subscriptions after the last page of a profile's subscriptions`() throws {
        let driver = try ServerDriver()
        let start: JSONValue = ["key": "c-1", "next": "profileAndServicesExt/profile/@p1/subscriptions/"]
        let question = driver.adapter.question(for: .page(start))
        #expect(driver.adapter.examine(driver.operation("c-1", .readBack(question))).isEmpty)
        let record: JSONValue = ["PKey": "@b1", "serviceName": "weeklyOffers", "service": ["PKey": "@s1"]]
        let first = page(
            ["content": [record], "next": "profileAndServicesExt/profile/@p1/subscriptions/?x", "isLast": false],
            driver,
            to: .page(start)
        )
        #expect(first.contacts.isEmpty)
        let next = try #require(first.next)
        let last = page(["content": [], "next": .null, "isLast": true], driver, to: .page(next))
        #expect(last.next == nil)
        #expect(
            last.contacts.map(\.contact.subscriptions) == [
                [
                    Subscription(channel: .email, topic: "weekly_offers", state: .subscribed),
                    Subscription(channel: .sms, topic: "delivery", state: .unsubscribed),
                    Subscription(channel: .sms, topic: "flash_sales", state: .unsubscribed),
                ]
            ]
        )
    }

    @Test(.shows("adobe/B8", "adobe/B9"))
    func `rejects an incomplete list of subscriptions as an answer`() throws {
        let driver = try ServerDriver()
        let contact = ReadRequest("contact")
        try driver.say("c-1", ServerDriver.set(Self.tier, "gold"))
        try driver.advance(10)
        let found = try driver.say("c-1", .readBack(contact))
        try driver.advance(10)
        #expect(driver.outcome(found)?.term == .accepted)
        let profile: JSONValue = [
            "PKey": "@p1", "cusNumber": "c-1", "subscriptions": ["href": "https://evil.example/x"],
        ]
        driver.instead = [("find", .json(200, ["content": [profile]]))]
        let hidden = try driver.say("c-1", .readBack(contact))
        try driver.advance(10)
        #expect(driver.outcome(hidden)?.finding?.code == "adobe.server.reply.address")
        driver.instead = [("find", .json(200, ["content": [profile, profile]]))]
        let several = try driver.say("c-1", .readBack(contact))
        try driver.advance(10)
        #expect(driver.outcome(several)?.term == .accepted)
        driver.instead = [("page", .json(200, ["content": [], "next": ["href": "https://evil.example/x"]]))]
        let rest = "profileAndServicesExt/profile/@p1/subscriptions/"
        let cut = try driver.say("c-1", .readBack(ReadRequest("subscriptions", arguments: ["next": .string(rest)])))
        try driver.advance(10)
        #expect(driver.outcome(cut)?.finding?.code == "adobe.server.reply.address")
        for arguments in [[:], ["rows": 5, "next": .string(rest)], ["next": ""]] as [JSONObject] {
            let operation = driver.operation("c-1", .readBack(ReadRequest("subscriptions", arguments: arguments)))
            #expect(driver.adapter.examine(operation).map(\.code) == ["adobe.server.question"])
        }
    }

    // MARK: Settings

    @Test func `requires a valid name for a service to create`() throws {
        let long: JSONObject = ["services": ["email.offers": .string(String(repeating: "n", count: 65))]]
        #expect(throws: SettingsError.self) { try ServerFixture.adapter(long) }
        var refusing = long
        refusing["unknownServices"] = "refuse"
        _ = try ServerFixture.adapter(refusing)
    }

    @Test func `reports all invalid settings at once`() throws {
        func problems(_ changes: JSONObject) -> [String] {
            do {
                _ = try ServerFixture.adapter(changes)
                return []
            } catch { return (error as? SettingsError)?.findings.map(\.path) ?? ["other"] }
        }
        #expect(problems([:]).isEmpty)
        #expect(problems(["matching": "email"]) == ["settings.keyField"])
        #expect(
            problems(["filter": .null, "filterParameter": .null]) == ["settings.filter", "settings.filterParameter"]
        )
        #expect(
            problems(["resource": "profileAndServices", "fieldNames": .null, "tagFields": .null])
                == ["settings.resource"]
        )
        #expect(
            problems(["fieldNames": ["a": "age", "b": "nosuch", "c": "cusX", "d": "cusX"]])
                == ["settings.fieldNames.a", "settings.fieldNames.b", "settings.fieldNames"]
        )
        #expect(
            problems(["services": ["offers": "x", "push.offers": "y", "email.offers": ".."]])
                == ["settings.services.email.offers", "settings.services.offers", "settings.services.push.offers"]
        )
        #expect(problems(["keyField": "age"]) == ["settings.keyField"])
        #expect(problems(["organization": "a/b", "clientId": "a b", "filter": ".."]).count == 3)
    }
}
