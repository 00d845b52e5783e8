import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

@Suite("Salesforce server API") struct ServerTests {
    // MARK: Tokens

    @Test(.shows("salesforce/V1", "salesforce/V2", "salesforce/V5"))
    func `requests one token for all lanes, and another after it expires`() throws {
        let driver = try ServerDriver(["scope": "data_extensions_write"])
        for number in 1...40 { try driver.say("c-\(number)", ServerDriver.set("city", "Turku")) }
        try driver.advance(60)
        #expect(driver.sent("token").count == 1)
        #expect(driver.rows.count == 40)
        #expect(Set(driver.sent("rows").map(\.lane)).count == 4)
        let body = driver.sent("token")[0].request.json
        #expect(body?["scope"] == "data_extensions_write")
        #expect(body?["account_id"] == "7001234")
        #expect(driver.sent("token")[0].request.redacted.json == nil)
        try driver.advance(900)
        try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(10)
        #expect(driver.sent("token").count == 1)
        try driver.advance(200)
        #expect(driver.sent("token").count == 1, "no token is requested while no request is pending")
        try driver.say("c-1", ServerDriver.set("city", "Vaasa"))
        try driver.advance(10)
        #expect(driver.sent("token").count == 2)
        #expect(driver.rows["c-1"]?["city"] == "Vaasa")
    }

    @Test(.shows("salesforce/V3"))
    func `requests one new token after a 401 and suspends after a second 401`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        driver.instead = [("/rowset", .status(401))]
        let second = try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(10)
        #expect(driver.outcome(second)?.term == .accepted)
        #expect(driver.sent("token").count == 2)
        driver.instead = [("/rowset", .status(401)), ("/rowset", .status(401))]
        let third = try driver.say("c-1", ServerDriver.set("city", "Vaasa"))
        try driver.advance(4000)
        #expect(try driver.suspended?.code == "salesforce.server.token.refusedTwice")
        #expect(driver.sent("token").count == 3)
        #expect(driver.outcome(third) == nil)
        try driver.resume()
        try driver.advance(10)
        #expect(driver.outcome(third)?.term == .accepted)
    }

    @Test(.shows("salesforce/V3"))
    func `four requests with the same refused token cause one token request`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        driver.instead = (1...4).map { _ in ("/rowset", .status(401)) }
        try driver.world.capture((1...40).map { driver.operation("c-\($0)", ServerDriver.set("city", "Oulu")) })
        try driver.advance(60)
        #expect(driver.sent("token").count == 2)
        #expect(driver.rows.count == 40)
        #expect(try driver.suspended == nil)
    }

    @Test(.shows("salesforce/V1", "salesforce/V28"))
    func `suspends for an unknown client and retries after a failure of the token host`() throws {
        let driver = try ServerDriver(vendor: ["clientSecret": "another"])
        driver.instead = [("/token", .status(500)), ("/token", .lost)]
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(60)
        #expect(driver.sent("token").count == 4)
        #expect(try driver.suspended?.code == "salesforce.server.token.refused")
        let times = driver.sent("token").map(\.now)
        #expect(times[1] - times[0] >= .seconds(1))
        #expect(times[2] - times[1] >= .seconds(3))
    }

    @Test(
        .shows("salesforce/V4"),
        arguments: [
            ("mc1.rest.example", "https://mc1.rest.example"), ("https://mc1.rest.example/", "https://mc1.rest.example"),
            ("http://127.0.0.1:8080/salesforce-server/", "http://127.0.0.1:8080/salesforce-server"),
            ("http://mc1.rest.example/", nil), ("https://", nil), ("https://a@b.example", nil),
            ("https://mc1.rest.example/?x", nil), ("https://mc1.rest.example/..", nil), ("", nil),
        ] as [(String, String?)]
    )
    func `uses the REST host that the token reply names`(_ named: String, _ used: String?) throws {
        let driver = try ServerDriver(["restUrl": .null], vendor: ["restUrl": .string(named.isEmpty ? "x x" : named)])
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(1)
        guard let used else {
            #expect(try driver.suspended?.code == "salesforce.server.host.unknown")
            return
        }
        #expect(driver.sent("rows")[0].request.url == "\(used)/hub/v1/dataevents/key:Shop%2FPeople/rowset")
    }

    // MARK: Row sets

    @Test(.shows("salesforce/V8", "salesforce/V9", "salesforce/V11", "salesforce/V37"))
    func `a row set contains at most 50 rows of 50 contacts`() throws {
        let driver = try ServerDriver(["lanes": 1])
        try driver.world.capture(
            (1...120).map { driver.operation("c-\($0)", ServerDriver.set("visits", .integer(Int64($0)))) }
        )
        try driver.advance(60)
        let sets = driver.sent("rows").map { $0.request.json?.array?.count }
        #expect(sets == [50, 50, 20])
        #expect(driver.rows.count == 120)
        #expect(driver.rows["c-7"]?["visits"] == 7)
        #expect(driver.account.violations.isEmpty)
    }

    @Test(.shows("salesforce/V43"))
    func `combines changes of one contact in one row with the latest values`() throws {
        let driver = try ServerDriver()
        let changes: [Action] = [
            ServerDriver.set("city", "Turku"), .changeAttributes(["city": .set("Oulu"), "visits": .set(7)]),
            ServerDriver.set("visits", 8), .changeTags(TagChange(add: ["sports"])),
        ]
        let operations = changes.map { driver.operation("c-1", $0) }
        try driver.world.capture(operations)
        try driver.advance(10)
        #expect(driver.sent("rows").count == 1)
        #expect(
            driver.sent("rows")[0].request.json == [
                [
                    "keys": ["ContactKey": "c-1"], "values": ["city": "Oulu", "visits": 8, "IsSports": true],
                ]
            ]
        )
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms == [.superseded, .accepted, .accepted, .accepted])
    }

    @Test(.shows("salesforce/V10"), arguments: ["refused", "hidden"])
    func `isolates a bad row and sends all others`(_ how: String) throws {
        let driver = try ServerDriver(["lanes": 1], vendor: ["poison": "poison"])
        if how == "hidden" {
            // Every set that contains the bad row gets status 200 with an error inside.
            let vendor = driver.vendor
            driver.world.network = { sent in
                let reply = vendor.respond(to: sent.request, now: sent.now)
                guard reply.status == 400 else { return .outcome(.replied(reply)) }
                return .outcome(.json(200, ["hasErrors": true, "resultMessages": []]))
            }
        }
        let operations = (1...50).map { number in
            driver.operation("c-\(number)", ServerDriver.set("city", number == 31 ? "poison" : "Turku"))
        }
        try driver.world.capture(operations)
        try driver.advance(60)
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == 49)
        #expect(terms[30] == .rejected)
        let code = how == "hidden" ? "salesforce.server.reply.hasErrors" : "salesforce.server.reply.refused"
        #expect(driver.outcome(operations[30].id)?.finding?.code == code)
        #expect(driver.rows.count == 49)
        #expect(driver.sent("rows").count <= 14)
    }

    @Test(.shows("salesforce/V31", "salesforce/V30", "salesforce/V14"))
    func `suspends the provider and keeps all operations if the error needs a manual fix`() throws {
        let driver = try ServerDriver(vendor: ["dataExtensions": ["Other"]])
        let first = try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        #expect(try driver.suspended?.code == "salesforce.server.dataExtension.unknown")
        #expect(driver.outcome(first) == nil)
        let other = try ServerDriver(["route": "asyncRows"], vendor: ["dataExtensions": ["Other"]])
        try other.say("c-1", ServerDriver.set("city", "Turku"))
        try other.advance(10)
        #expect(try other.suspended?.code == "salesforce.server.job.notQueued")
        let third = try ServerDriver()
        third.instead = [("/rowset", .status(403))]
        try third.say("c-1", ServerDriver.set("city", "Turku"))
        try third.advance(10)
        #expect(try third.suspended?.code == "salesforce.server.reply.forbidden")
    }

    // MARK: Waiting

    @Test(.shows("salesforce/V26"), arguments: ["header", "body"])
    func `a Retry-After delays every lane and survives a restart`(_ place: String) throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        let body: JSONValue = ["message": "Too many", "errorcode": 50_100, "retryAfter": 300]
        driver.instead = [
            (
                "/rowset",
                place == "body" ? .json(429, body) : .status(429, WireHeader("Retry-After", "300"))
            )
        ]
        try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(1)
        let count = driver.world.sent.count
        for number in 2...20 { try driver.say("c-\(number)", ServerDriver.set("city", "Oulu")) }
        try driver.world.restart()
        try driver.world.flush()
        try driver.advance(290)
        #expect(driver.world.sent.count == count)
        try driver.advance(30)
        #expect(driver.rows.count == 20)
        #expect(driver.rows["c-1"]?["city"] == "Oulu")
    }

    @Test(.shows("salesforce/V27", "salesforce/V28"))
    func `all lanes share an increasing retry delay while the vendor fails`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        let blocked = Outcome.json(429, ["message": "Blocked", "errorcode": 50_200])
        driver.instead = (1...40).map { ("/rowset", $0 % 2 == 0 ? blocked : .status(503)) }
        try driver.world.capture((1...400).map { driver.operation("c-\($0)", ServerDriver.set("city", "Oulu")) })
        try driver.advance(3600)
        let failed = driver.sent("rows").count - 1
        #expect((15...60).contains(failed), "\(failed) requests in an hour")
        driver.instead = []
        try driver.advance(900)
        #expect(driver.rows.count == 400)
    }

    @Test(.shows("salesforce/V29"))
    func `resends rows after a lost reply`() throws {
        let driver = try ServerDriver()
        driver.instead = [("/rowset", .lost)]
        let id = try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(60)
        #expect(driver.endpoints == ["token", "rows", "rows"])
        #expect(driver.rows["c-1"]?["city"] == "Turku")
        #expect(driver.outcome(id)?.term == .accepted)
    }

    // MARK: Jobs

    @Test(
        .shows(
            "salesforce/V12",
            "salesforce/V13",
            "salesforce/V15",
            "salesforce/V6"
        )
    )
    func `queries a job every five seconds and holds back later rows of its contacts`() throws {
        let driver = try ServerDriver(["route": "asyncRows", "lanes": 1])
        let first = try driver.say("c-1", ServerDriver.set("visits", 7))
        try driver.advance(1)
        let later = try driver.say("c-1", ServerDriver.set("visits", 8))
        let other = try driver.say("c-2", ServerDriver.set("visits", 9))
        try driver.advance(2)
        // The job of another contact is started meanwhile.
        #expect(driver.endpoints == ["token", "asyncRows", "asyncRows"])
        #expect(driver.sent("asyncRows")[0].request.json == ["items": [["ContactKey": "c-1", "visits": "7"]]])
        #expect(driver.sent("asyncRows")[1].request.json == ["items": [["ContactKey": "c-2", "visits": "9"]]])
        try driver.world.restart()
        try driver.advance(60)
        #expect(driver.rows["c-1"]?["visits"] == "8")
        #expect([first, later, other].map { driver.outcome($0)?.term } == [.accepted, .accepted, .accepted])
        #expect(driver.sent("asyncRows").count == 3)
        #expect(driver.account.violations.isEmpty)
        #expect(driver.sent("asyncResults").isEmpty)
    }

    @Test(.shows("salesforce/V16"))
    func `reads the results of a job with errors page by page, one verdict per row`() throws {
        let driver = try ServerDriver(["route": "asyncRows", "lanes": 1], vendor: ["poison": "poison"])
        let operations = (1...120).map { number in
            driver.operation("c-\(number)", ServerDriver.set("city", number % 60 == 7 ? "poison" : "Turku"))
        }
        try driver.world.capture(operations)
        try driver.advance(120)
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == 118)
        #expect([6, 66].map { terms[$0] } == [.rejected, .rejected])
        let finding = driver.outcome(operations[6].id)?.finding
        #expect(finding?.code == "salesforce.server.row.refused")
        #expect(finding?.vendor?.code == "InvalidValue")
        #expect(driver.sent("asyncRows").count == 1)
        #expect(driver.sent("asyncResults").count == 3)
    }

    @Test(.shows("salesforce/V16"))
    func `resends the rows of a job in halves if its results do not match the rows`() throws {
        let driver = try ServerDriver(["route": "asyncRows", "lanes": 1], vendor: ["poison": "poison"])
        let vendor = driver.vendor
        driver.world.network = { sent in
            let reply = vendor.respond(to: sent.request, now: sent.now)
            guard sent.endpoint == "asyncResults", let json = reply.json else { return .outcome(.replied(reply)) }
            let errors = (json["items"]?.array ?? []).filter { $0["status"] == "Error" }
            return .outcome(
                .json(200, ["page": 1, "pageSize": 50, "count": .integer(errors.count), "items": .array(errors)])
            )
        }
        let operations = (1...8).map { number in
            driver.operation("c-\(number)", ServerDriver.set("city", number == 3 ? "poison" : "Turku"))
        }
        try driver.world.capture(operations)
        try driver.advance(600)
        let terms = operations.map { driver.outcome($0.id)?.term }
        #expect(terms.filter { $0 == .accepted }.count == 7)
        #expect(terms[2] == .rejected)
    }

    @Test(.shows("salesforce/V17"))
    func `limits a job by rows and bytes and sends a larger row alone`() throws {
        let driver = try ServerDriver(["route": "asyncRows", "lanes": 1, "bytesPerJob": 2_000, "rowsPerJob": 10])
        let long = String(repeating: "x", count: 3_000)
        try driver.world.capture(
            (1...40).map { number in
                driver.operation(
                    "c-\(number)",
                    ServerDriver.set("city", .string(number == 20 ? long : "Turku \(number)"))
                )
            }
        )
        try driver.advance(120)
        #expect(driver.rows.count == 40)
        let jobs = driver.sent("asyncRows").map {
            ($0.request.json?["items"]?.array?.count ?? 0, $0.request.body.count)
        }
        #expect(jobs.allSatisfy { $0.0 <= 10 && ($0.1 <= 2_000 || $0.0 == 1) })
        #expect(jobs.contains { $0.1 > 2_000 })
        // The size limit is exact: one more row would exceed it.
        let small = try ServerDriver(["route": "asyncRows", "lanes": 1, "bytesPerJob": 1_000])
        try small.world.capture((10...99).map { small.operation("c-\($0)", ServerDriver.set("city", "Turku")) })
        try small.advance(120)
        let row = #"{"ContactKey":"c-10","city":"Turku"},"#.utf8.count
        let first = small.sent("asyncRows")[0].request.body.count
        #expect(first <= 1_000 && first + row > 1_000)
    }

    @Test(.shows("salesforce/V46"))
    func `repeats a job that the vendor lost and rejects it after three losses`() throws {
        let unknown = Outcome.json(
            200,
            ["resultMessages": [["resultClass": "Error", "resultCode": "AsyncRequestStatusNotFound"]]]
        )
        let driver = try ServerDriver(["route": "asyncRows"])
        driver.instead = [("/status", unknown)]
        let first = try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(60)
        #expect(driver.outcome(first)?.term == .accepted)
        #expect(driver.sent("asyncRows").count == 2)
        driver.instead = (1...3).map { _ in ("/status", unknown) }
        let second = try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(60)
        #expect(driver.outcome(second)?.finding?.code == "salesforce.server.job.lost")
    }

    // MARK: Contacts, events, deletions

    @Test(.shows("salesforce/V18", "salesforce/V19", "salesforce/V20"))
    func `creates a contact, or updates it if it exists`() throws {
        let driver = try ServerDriver(["route": "contacts"])
        let tier = Action.changeAttributes([.loyaltyTier: .set("gold"), "newsletter_reader": .set(true)])
        let first = try driver.say("c-1", tier)
        try driver.advance(10)
        #expect(driver.endpoints == ["token", "createContact"])
        let second = try driver.say("c-1", tier)
        try driver.advance(10)
        #expect(driver.endpoints.suffix(2) == ["createContact", "updateContact"])
        #expect([first, second].map { driver.outcome($0)?.term } == [.accepted, .accepted])
        #expect(driver.account.contacts["c-1"] == ["Shop/Tier": "gold", "Email Addresses/HTML Enabled": true])
        let other = try ServerDriver(["route": "contacts", "contactsFirst": "update"])
        let third = try other.say("c-1", .identify([Identifier(.email, "aino@example.com")]))
        try other.advance(10)
        #expect(other.endpoints == ["token", "updateContact", "createContact"])
        #expect(other.outcome(third)?.term == .accepted)
        let nowhere = try other.say("c-2", .changeAttributes([.loyaltyTier: .set("gold")]))
        #expect(other.outcome(nowhere)?.finding?.code == "salesforce.server.sets.channel")
        // If neither request fits, the operation is rejected.
        let lost = try ServerDriver(["route": "contacts"])
        lost.instead = [("/contacts", .status(409)), ("/contacts", .status(404))]
        let fourth = try lost.say("c-1", tier)
        try lost.advance(10)
        #expect(lost.outcome(fourth)?.term == .rejected)
        #expect(lost.endpoints == ["token", "createContact", "updateContact"])
    }

    @Test(.shows("salesforce/V19"))
    func `takes the contact's address from an option if the operation has none`() throws {
        let driver = try ServerDriver(["route": "contacts"])
        let address: JSONObject = ["address": ["Email Addresses / Email Address": "aino@example.com"]]
        let tier = driver.operation("c-1", .changeAttributes([.loyaltyTier: .set("gold")]), address)
        try driver.world.capture([tier])
        try driver.advance(10)
        #expect(driver.outcome(tier.id)?.term == .accepted)
        #expect(
            driver.account.contacts["c-1"] == [
                "Shop/Tier": "gold", "Email Addresses/Email Address": "aino@example.com",
                "Email Addresses/HTML Enabled": false,
            ]
        )
        // Values of operations take precedence over the option `address`, regardless of their order.
        let email = driver.operation("c-1", .identify([Identifier(.email, "a.virta@example.com")]))
        let silver = driver.operation("c-1", .changeAttributes([.loyaltyTier: .set("silver")]), address)
        try driver.world.capture([email, silver])
        try driver.advance(10)
        #expect(driver.endpoints.suffix(2) == ["createContact", "updateContact"])
        #expect([email, silver].map { driver.outcome($0.id)?.term } == [.accepted, .accepted])
        #expect(driver.account.contacts["c-1"]?["Email Addresses/Email Address"] == "a.virta@example.com")
        let others: [JSONValue] = [
            "aino@example.com", ["Shop/Tier": "gold"], ["Email Addresses": "x"],
            ["Email Addresses/Email Address": .null],
            ["Email Addresses/Email Address": " "], ["Email Addresses/Email Address": ["x"]],
        ]
        for other in others {
            let operation = driver.operation("c-1", .changeAttributes([.loyaltyTier: .set("gold")]), ["address": other])
            #expect(
                driver.adapter.examine(operation).map(\.code).first == "salesforce.server.option.address",
                "\(other)"
            )
        }
    }

    @Test(.shows("salesforce/V47"))
    func `rejects a contact whose attribute set is incomplete`() throws {
        let names: JSONObject = ["identifier.email": "Email Addresses/Email Address"]
        let adapter = try ServerFixture.adapter(
            ["route": "contacts", "contactAttributes": .object(names), "contactDefaults": [:]]
        )
        let operation = try ServerDriver().operation("c-1", .identify([Identifier(.email, "aino@example.com")]))
        #expect(adapter.examine(operation).map(\.code).contains("salesforce.server.sets.incomplete"))
    }

    @Test(.shows("salesforce/V19", "salesforce/V42"))
    func `derives a contact from the attributes of its sets`() throws {
        let names: JSONObject = [
            "identifier.email": "Email Addresses/Email Address", "given_name": "Email Addresses /Given",
            "tag.sports": "Email Addresses/Sports", "subscription.sms.news": "Email Addresses/Sms News",
            "city": "Email Addresses/City", "phone_home": "MobileConnect Demographics/Locale",
        ]
        let adapter = try ServerFixture.adapter(["route": "contacts", "contactAttributes": .object(names)])
        let actions: [Action] = [
            .identify([Identifier(.external, "c-1"), Identifier(.email, "aino@example.com")]),
            .changeAttributes([.givenName: .set("Aino"), .city: .unset, "phone_home": .set("FI")]),
            .changeTags(TagChange(add: ["sports"])),
            .changeSubscription(Subscription(channel: .sms, topic: "news", state: .unsubscribed)),
        ]
        let driver = try ServerDriver()
        let operations = actions.map { driver.operation("c-1", $0) }
        let image = adapter.image(of: operations)
        #expect(image.identifiers == [Identifier(.external, "c-1"), Identifier(.email, "aino@example.com")])
        #expect(image.attributes == [.givenName: "Aino", "phone_home": "FI"])
        #expect(image.tags == ["sports"])
        #expect(image.subscriptions == [Subscription(channel: .sms, topic: "news", state: .unsubscribed)])
        #expect(adapter.emptied(by: operations) == [.city])
        // The option contains the identifiers and the other parts of the address, but no other values of the same sets.
        #expect(
            adapter.options(for: image)
                == [
                    "address": [
                        "MobileConnect Demographics/Locale": "FI", "Email Addresses/Email Address": "aino@example.com",
                    ]
                ]
        )
        #expect(adapter.options(for: Contact(identifiers: [Identifier(.external, "c-1")])) == nil)
        #expect(adapter.options(for: Contact(identifiers: [Identifier(.email, " ")])) == nil)
        #expect(try ServerFixture.adapter().options(for: image) == nil)
    }

    @Test(.shows("salesforce/V21"))
    func `rejects a successful status with errors in the body`() throws {
        let driver = try ServerDriver(["route": "contacts"])
        driver.instead = [("/contacts", .json(200, ["operationStatus": "Error", "hasErrors": true]))]
        let first = try driver.say("c-1", ServerDriver.set("newsletter_reader", true))
        try driver.advance(10)
        #expect(driver.outcome(first)?.finding?.code == "salesforce.server.reply.hasErrors")
    }

    @Test(.shows("salesforce/V23", "salesforce/V24", "salesforce/V25"))
    func `sends an event once, even if its delivery is uncertain`() throws {
        let driver = try ServerDriver()
        let order = Action.track(.custom(name: "Order Placed", attributes: ["total": "49.90", "items": 3]))
        let first = try driver.say("c-1", order)
        try driver.advance(10)
        #expect(
            driver.sent("event")[0].request.json == [
                "ContactKey": "c-1", "EventDefinitionKey": "APIEvent-order-placed",
                "Data": ["items": "3", "total": "49.90"],
            ]
        )
        #expect(driver.outcome(first)?.answer != nil)
        for uncertainty in [Outcome.lost, .died, .status(500)] {
            driver.instead = [("/events", uncertainty)]
            let id = try driver.say("c-1", order)
            try driver.advance(600)
            #expect(driver.outcome(id)?.finding?.code == "salesforce.server.event.unknown")
        }
        // A refusal for now, and a request that was not sent, mean that the event was not accepted.
        driver.instead = [("/events", .status(503)), ("/events", .failed(TransportFailure(.notSent, "offline")))]
        let sure = try driver.say("c-1", order)
        try driver.advance(600)
        #expect(driver.outcome(sure)?.term == .accepted)
        #expect(driver.account.events.count == 2)
        let eager = try ServerDriver(["uncertainEvents": "repeat"])
        eager.instead = [("/events", .lost)]
        let again = try eager.say("c-1", order)
        try eager.advance(60)
        #expect(eager.outcome(again)?.term == .accepted)
    }

    @Test(.shows("salesforce/V22", "salesforce/V44"))
    func `deletes contacts together and completes only on a clear reply`() throws {
        let driver = try ServerDriver(["lanes": 1])
        for number in 1...3 { try driver.say("c-\(number)", ServerDriver.set("city", "Turku")) }
        try driver.advance(10)
        driver.instead = [("/delete", .json(200, [:]))]
        let operations = (1...3).map { driver.operation("c-\($0)", .erase) }
        try driver.world.capture(operations)
        try driver.advance(60)
        #expect(driver.sent("deleteContacts").count == 2)
        #expect(
            driver.sent("deleteContacts")[1].request.json == [
                "values": ["c-1", "c-2", "c-3"], "DeleteOperationType": "ContactAndAttributes",
            ]
        )
        #expect(operations.map { driver.outcome($0.id)?.term } == [.accepted, .accepted, .accepted])
        #expect(driver.rows.isEmpty)
        // The state that all lanes share contains no personal data and stays.
        try driver.say("c-4", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        #expect(driver.sent("token").count == 1)
    }

    @Test(.shows("salesforce/V9", "salesforce/V18", "salesforce/V22"))
    func `distinguishes contacts with canonically equivalent keys`() throws {
        let driver = try ServerDriver(["lanes": 1])
        let keys: [JSONValue] = ["Zo\u{EB}", "Zoe\u{308}"]
        func say(_ action: Action, route: String? = nil) throws {
            try driver.world.capture(
                ["Zo\u{EB}", "Zoe\u{308}"].enumerated().map { place, key in
                    var operation = driver.operation(key, action, route.map { ["route": .string($0)] } ?? [:])
                    operation.subject = Subject(rawValue: "row-\(place)")
                    return operation
                }
            )
            try driver.advance(60)
        }
        try say(ServerDriver.set("newsletter_reader", true))
        let rows = driver.sent("rows").first?.request.json?.array ?? []
        #expect(rows.compactMap { $0["keys"]?.object?.first?.value } == keys)
        try say(ServerDriver.set("newsletter_reader", true), route: "contacts")
        #expect(driver.sent("createContact").compactMap { $0.request.json?["contactKey"] } == keys)
        try say(.erase)
        #expect(driver.sent("deleteContacts").first?.request.json?["values"] == .array(keys))
    }

    // MARK: Reading

    @Test(.shows("salesforce/V34"))
    func `reads rows page by page`() throws {
        let driver = try ServerDriver()
        try driver.world.capture((10...34).map { driver.operation("c-\($0)", ServerDriver.set("city", "Turku")) })
        try driver.advance(10)
        var found: [JSONValue] = []
        for page in 1...3 {
            let request = ReadRequest("rows", arguments: ["page": .integer(page), "pageSize": 10])
            let answer = try #require(try driver.ask("c-10", request, seconds: 2)?.answer)
            found += answer["items"]?.array ?? []
            #expect(answer["isLast"] == .bool(page == 3))
            #expect(answer["count"] == 25)
        }
        #expect(found.count == 25)
        #expect(found[0]["values"]?["city"] == "Turku")
        #expect(RowsPage(["count": 0, "page": 1, "pageSize": 10])?.answer["items"] == [])
        #expect(RowsPage(["items": []]) == nil)
        for request in [
            ReadRequest("profile"), ReadRequest("rows", arguments: ["page": 0]),
            ReadRequest("rows", arguments: ["pageSize": 2501]), ReadRequest("rows", arguments: ["key": "x"]),
        ] {
            let finding = driver.adapter.examine(driver.operation("c-1", .readBack(request))).map(\.code)
            #expect(finding == ["salesforce.server.question"])
        }
    }

    @Test func `drops an unsent query when its person is erased`() throws {
        let driver = try ServerDriver()
        let query = try driver.ask("c-1", ReadRequest("rows"))
        try driver.say("c-1", .erase)
        try driver.advance(60)
        #expect(driver.endpoints == ["token", "deleteContacts"])
        #expect(driver.outcome(query)?.term == .dropped)
    }

    // MARK: Settings and values

    @Test(.shows("salesforce/V7", "salesforce/V19"))
    func `reports all conflicting settings at once`() throws {
        let error = #expect(throws: SettingsError.self) {
            try ServerFixture.adapter([
                "dataExtension": .null, "attributeNames": ["a": "Same", "b": "same", "c": "contactkey"],
                "contactAttributes": ["a": "NoSet"],
            ])
        }
        let paths = error?.findings.map(\.path)
        #expect(
            paths == [
                "settings.dataExtension", "settings.contactAttributes.a", "settings.attributeNames",
                "settings.attributeNames",
            ]
        )
        #expect(throws: SettingsError.self) { try ServerFixture.adapter(["accountId": "BU-1"]) }
        #expect(throws: SettingsError.self) { try ServerFixture.adapter(["dataExtension": ".."]) }
        #expect(throws: SettingsError.self) { try ServerFixture.adapter(["clientSecret": .null]) }
    }

    @Test(.shows("salesforce/V35", "salesforce/V38", "salesforce/V39", "salesforce/V42"))
    func `omits values that a column cannot store and sends the others`() throws {
        let driver = try ServerDriver(["columns": ["City", "Visits", "Since"], "unset": "null"])
        let rest = try driver.say(
            "c-1",
            .changeAttributes([
                "city": .set("Turku"), "Visits": .set(7), "since": .unset, "colour": .set("blue"),
                "contactkey": .set("c-9"),
            ])
        )
        let examined = driver.adapter.examine(
            driver.operation(
                "c-1",
                .changeAttributes([
                    "city": .set(.string(String(repeating: "x", count: 4001))), "since": .set(.list(["a"])),
                    "visits": .increment(ExactDecimal(1)), "CITY": .set(.choices(["a;b"])),
                ])
            )
        )
        try driver.advance(10)
        #expect(driver.outcome(rest)?.term == .accepted)
        #expect(driver.rows["c-1"] == ["city": "Turku", "visits": 7, "since": .null])
        #expect(Set(examined.map(\.severity)) == [.error])
        #expect(
            Set(examined.map(\.code)) == [
                "salesforce.server.value.long", "salesforce.server.value.nested", "salesforce.server.value.arithmetic",
                "salesforce.server.value.separator",
            ]
        )
    }

    @Test(.shows("salesforce/V40", "salesforce/V41", "salesforce/V45"))
    func `writes tags and subscriptions as columns and rejects the state unknown`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", .changeTags(TagChange(replace: ["gold"])))
        try driver.say(
            "c-1",
            .changeSubscription(Subscription(channel: .email, topic: "weekly_offers", state: .suspended))
        )
        try driver.advance(10)
        #expect(driver.rows["c-1"]?["isgold"] == true)
        #expect(driver.rows["c-1"]?["issports"] == false)
        #expect(driver.rows["c-1"]?["mailweekly"] == false)
        let refused: [(Action, String)] = [
            (.changeSubscription(Subscription(channel: .email, state: .unknown)), "subscription.unknown"),
            (.changeTags(TagChange(add: ["nowhere"])), "name.missing"),
            (.identify([Identifier("loyalty_card", "7")]), "name.missing"),
            (.identify([Identifier(.external, "c-2")]), "key.other"),
            (.registerDevice(Corpus.phone), "device"),
            (.setConsent(Consent(purpose: .tracking, state: .granted)), "consent"),
        ]
        for (action, code) in refused {
            let findings = driver.adapter.examine(driver.operation("c-1", action))
            #expect(findings.map(\.code) == ["salesforce.server.\(code)"])
            #expect(findings.first?.severity == .error)
        }
    }

    @Test(.shows("salesforce/V9")) func `warns about more than 50 columns`() throws {
        let driver = try ServerDriver(["columns": []])
        func codes(_ count: Int) -> [String] {
            let changes = (1...count).map {
                (AttributeName(rawValue: "column_\($0)"), AttributeChange.set(.integer(7)))
            }
            let action = Action.changeAttributes(Dictionary(changes) { $1 })
            return driver.adapter.examine(driver.operation("c-1", action)).map(\.code)
        }
        #expect(codes(50) == [])
        #expect(codes(51) == ["salesforce.server.column.many"])
    }

    @Test(.shows("salesforce/V32", "salesforce/V33"))
    func `limits the request rate, retries after a web page and rejects refused rows`() throws {
        let driver = try ServerDriver()
        #expect(SalesforceServer.descriptor.delivery.rate == Rate(2500, per: .seconds(60)))
        driver.instead = [
            (
                "/rowset",
                .replied(
                    WireResponse(200, headers: [WireHeader("Content-Type", "text/html")], body: Array("<html>".utf8))
                )
            ),
            ("/rowset", .status(596)),
        ]
        let first = try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(60)
        #expect(driver.sent("rows").count == 2)
        #expect(driver.outcome(first)?.finding?.code == "salesforce.server.reply.refused")
    }
}
