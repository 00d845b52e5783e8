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

@Suite("Acoustic server API") struct ServerTests {
    // MARK: Tokens

    @Test(.shows("acoustic/S1", "acoustic/S2", "acoustic/S4"))
    func `requests one token for all lanes, and another after it expires`() throws {
        let driver = try ServerDriver()
        for number in 1...40 { try driver.say("c-\(number)", ServerDriver.set("city", "Turku")) }
        try driver.advance(60)
        #expect(driver.sent("token").count == 1)
        #expect(driver.account.contacts.count == 40)
        #expect(Set(driver.sent("addRecipient").map(\.lane)).count == 4)
        let form = driver.body(driver.sent("token")[0])
        #expect(form.hasPrefix("grant_type=refresh_token&client_id=8a1e0f5c-client&client_secret="))
        #expect(
            driver.body(driver.sent("token")[0])
                != String(decoding: driver.sent("token")[0].request.redacted.body, as: UTF8.self)
        )
        try driver.advance(14_000)
        try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(10)
        #expect(driver.sent("token").count == 1)
        try driver.advance(600)
        #expect(driver.sent("token").count == 1, "no token is requested while no request is pending")
        try driver.say("c-1", ServerDriver.set("city", "Vaasa"))
        try driver.advance(10)
        #expect(driver.sent("token").count == 2)
        #expect(driver.columns("c-1")?["City"] == "Vaasa")
    }

    @Test(.shows("acoustic/S3"), arguments: ["401", "fault 145"])
    func `requests one new token after a refusal and suspends after a second refusal`(_ how: String) throws {
        let refusal: Outcome = how == "401" ? .status(401) : .fault(145)
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        driver.instead = [("addRecipient", refusal)]
        let second = try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(10)
        #expect(driver.outcome(second)?.term == .accepted)
        #expect(driver.sent("token").count == 2)
        #expect(driver.account.tokens.count == 1, "the vendor returns the same token")
        driver.instead = [("addRecipient", refusal), ("addRecipient", refusal)]
        let third = try driver.say("c-1", ServerDriver.set("city", "Vaasa"))
        try driver.advance(4000)
        #expect(try driver.suspended?.code == "acoustic.server.token.refusedTwice")
        #expect(driver.sent("token").count == 3)
        #expect(driver.outcome(third) == nil)
        try driver.resume()
        try driver.advance(10)
        #expect(driver.outcome(third)?.term == .accepted)
    }

    @Test(.shows("acoustic/S3"))
    func `four requests with the same refused token cause one token request`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        driver.instead = (1...4).map { _ in ("addRecipient", .status(401)) }
        try driver.world.capture((1...40).map { driver.operation("c-\($0)", ServerDriver.set("city", "Oulu")) })
        try driver.advance(60)
        #expect(driver.sent("token").count == 2)
        #expect(driver.account.contacts.count == 40)
        #expect(try driver.suspended == nil)
    }

    @Test(.shows("acoustic/S1", "acoustic/S43"))
    func `suspends for an unknown client and retries after a failure of the token host`() throws {
        let driver = try ServerDriver(vendor: ["refreshToken": "another"])
        driver.instead = [("token", .status(500)), ("token", .lost), ("token", .json(200, ["access_token": "a b"]))]
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(120)
        #expect(driver.sent("token").count == 4)
        #expect(try driver.suspended?.code == "acoustic.server.token.refused")
        let times = driver.sent("token").map(\.now)
        #expect(times[1] - times[0] >= .seconds(1))
        #expect(times[2] - times[1] >= .seconds(3))
    }

    // MARK: Contacts

    @Test(
        .shows(
            "acoustic/S5",
            "acoustic/S6",
            "acoustic/S9",
            "acoustic/S14",
            "acoustic/S15",
            "acoustic/S16",
            "acoustic/S17",
            "acoustic/S18",
            "acoustic/S20",
            "acoustic/S27"
        )
    )
    func `adds a contact with its key and columns`() throws {
        let driver = try ServerDriver(["countries": "upper"])
        let instant = AttributeValue(text: "2031-03-08T22:15:00.750Z", as: .timestamp) ?? ""
        try driver.say(
            " c-1 ",
            .changeAttributes([
                "city": .set("Turku & <Åbo>"), "visits": .set(7), "newsletter_reader": .set(true),
                "birth_date": .set("1990-04-01"), "delivery_hour": .set("08:30"), "last_visit": .set(instant),
                "shipping_country": .set("fi"), "interests": .set(.choices(["gardening", "sailing"])),
                "Mobile": .set("+358401234567"), "favourite_colour": .unset,
            ])
        )
        try driver.advance(5)
        let body = driver.body(driver.sent("addRecipient")[0])
        #expect(
            body.hasPrefix(
                "<Envelope><Body><AddRecipient><LIST_ID>771100</LIST_ID><CREATED_FROM>1</CREATED_FROM>"
                    + "<UPDATE_IF_FOUND>true</UPDATE_IF_FOUND><SYNC_FIELDS><SYNC_FIELD><NAME>MemberNo</NAME>"
                    + "<VALUE>c-1</VALUE></SYNC_FIELD></SYNC_FIELDS><COLUMN><NAME>MemberNo</NAME><VALUE>c-1</VALUE></COLUMN>"
            )
        )
        #expect(body.contains("<NAME>City</NAME><VALUE>Turku &amp; &lt;Åbo&gt;</VALUE>"))
        #expect(body.contains("<NAME>FavouriteColour</NAME><VALUE/>"))
        #expect(
            driver.columns("c-1") == [
                "City": "Turku & &lt;Åbo&gt;", "Visits": "7", "NewsletterReader": "Yes", "Birthday": "04/01/1990",
                "DeliveryHour": "08:30:00", "LastVisit": "03/08/2031 22:15:00", "ShippingCountry": "FI",
                "Interests": "gardening;sailing", "Mobile": "358401234567",
            ]
        )
        #expect(driver.account.contacts["c-1"]?.createdFrom == "1")
    }

    @Test(.shows("acoustic/S7", "acoustic/S8", "acoustic/S9"))
    func `uses the other of the add and update calls once if the first does not fit`() throws {
        let driver = try ServerDriver()
        driver.instead = [("addRecipient", .fault(122))]
        let first = try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(5)
        // The vendor reported that the contact exists, and then that it does not. The second reply is final.
        #expect(driver.endpoints == ["token", "addRecipient", "updateRecipient"])
        #expect(driver.outcome(first)?.finding?.code == "acoustic.server.contact.unknown")
        #expect(driver.outcome(first)?.finding?.vendor?.code == "123")
        let strict = try ServerDriver(["unknownContacts": "refuse"])
        let second = try strict.say("c-1", ServerDriver.set("city", "Turku"))
        let third = try strict.say("c-1", ServerDriver.set("city", "Oulu"), ["unknownContacts": "add"])
        let fourth = try strict.say("c-1", ServerDriver.set("city", "Vaasa"))
        try strict.advance(5)
        #expect([second, third, fourth].map { strict.outcome($0)?.term } == [.rejected, .accepted, .accepted])
        #expect(strict.columns("c-1")?["City"] == "Vaasa")
        let keyed = try ServerDriver(
            ["database": "keyed", "keyColumn": "EMAIL", "emailColumn": "EMAIL", "identifierColumns": [:]],
            vendor: ["flexible": false, "keyColumn": "EMAIL"]
        )
        keyed.instead = [("addRecipient", .fault(122))]
        try keyed.say("a@example.com", ServerDriver.set("city", "Turku"))
        try keyed.advance(5)
        #expect(!keyed.body(keyed.sent("addRecipient")[0]).contains("SYNC_FIELDS"))
        #expect(keyed.body(keyed.sent("updateRecipient")[0]).contains("<OLD_EMAIL>a@example.com</OLD_EMAIL>"))
    }

    @Test(.shows("acoustic/S25"))
    func `combines changes of one contact in one call with the latest values`() throws {
        let driver = try ServerDriver()
        let changes: [Action] = [
            ServerDriver.set("city", "Turku"), .changeAttributes(["city": .set("Oulu"), "visits": .set(7)]),
            ServerDriver.set("visits", 8), .changeTags(TagChange(add: ["sports"])),
        ]
        let operations = changes.map { driver.operation("c-1", $0) }
        try driver.world.capture(operations)
        try driver.advance(10)
        #expect(driver.sent("addRecipient").count == 1)
        #expect(driver.columns("c-1") == ["City": "Oulu", "Visits": "8", "IsSports": "Yes"])
        #expect(operations.map { driver.outcome($0.id)?.term } == [.superseded, .accepted, .accepted, .accepted])
    }

    @Test(.shows("acoustic/S10", "acoustic/S11", "acoustic/S26"))
    func `retries a rejected call in halves until the bad value is isolated`() throws {
        let driver = try ServerDriver()
        let operations = (1...9).map { number in
            driver.operation(
                "c-1",
                number == 6
                    ? ServerDriver.set("favourite_colour", "poison")
                    : ServerDriver.set("visits", .integer(Int64(number)))
            )
        }
        try driver.world.capture(operations)
        try driver.advance(60)
        #expect(driver.outcome(operations[5].id)?.term == .rejected)
        #expect(driver.outcome(operations[5].id)?.finding?.code == "acoustic.server.fault.value")
        #expect(driver.outcome(operations[5].id)?.finding?.vendor?.code == "1017")
        #expect(operations.filter { driver.outcome($0.id)?.term == .rejected }.count == 1)
        #expect(driver.columns("c-1") == ["Visits": "9"])
    }

    @Test(.shows("acoustic/S12"))
    func `retries a server fault, five attempts in all, without blocking other contacts`() throws {
        let driver = try ServerDriver()
        driver.instead = [("addRecipient", .fault(50)), ("addRecipient", .fault(120))]
        let first = try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(30)
        #expect(driver.outcome(first)?.term == .accepted)
        let vendor = driver.vendor
        driver.world.network = { sent in
            let isBad = String(decoding: sent.request.body, as: UTF8.self).hasBytes(of: "<VALUE>c-1</VALUE>")
            return .outcome(isBad ? .fault(1003) : .replied(vendor.respond(to: sent.request, now: sent.now)))
        }
        let second = try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        let other = try driver.say("c-2", ServerDriver.set("city", "Oulu"))
        try driver.advance(1)
        #expect(driver.outcome(other)?.term == .accepted)
        try driver.advance(600)
        #expect(driver.outcome(second)?.finding?.code == "acoustic.server.fault.server")
        #expect(driver.sent("addRecipient").count == 9)
    }

    @Test(
        .shows("acoustic/S13", "acoustic/S44"),
        arguments: [
            (106, "fault.database"), (310, "fault.database"), (150, "fault.organisation"), (403, "reply.forbidden"),
        ]
    )
    func `suspends the provider and keeps all operations if the error needs a manual fix`(
        _ number: Int,
        _ code: String
    ) throws {
        let driver = try ServerDriver()
        driver.instead = [("addRecipient", number == 403 ? .status(403) : .fault(number))]
        let id = try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(5)
        #expect(try driver.suspended?.code == "acoustic.server.\(code)")
        #expect(driver.outcome(id) == nil)
        try driver.resume()
        try driver.advance(5)
        #expect(driver.outcome(id)?.term == .accepted)
    }

    @Test(.shows("acoustic/S44"))
    func `suspends the provider if the database does not exist`() throws {
        let driver = try ServerDriver()
        driver.instead = [("gdprErasure", .status(404))]
        try driver.say("c-1", .erase)
        try driver.advance(5)
        #expect(try driver.suspended?.code == "acoustic.server.reply.notFound")
    }

    // MARK: Waiting

    @Test(.shows("acoustic/S43"))
    func `a Retry-After delays every lane and survives a restart`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        driver.instead = [("addRecipient", .status(429, WireHeader("Retry-After", "300")))]
        try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(1)
        let count = driver.world.sent.count
        for number in 2...20 { try driver.say("c-\(number)", ServerDriver.set("city", "Oulu")) }
        try driver.world.restart()
        try driver.world.flush()
        try driver.advance(290)
        #expect(driver.world.sent.count == count)
        try driver.advance(30)
        #expect(driver.account.contacts.count == 20)
    }

    @Test(.shows("acoustic/S43"))
    func `all lanes share an increasing retry delay while the vendor fails`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        driver.instead = (1...60).map { _ in ("addRecipient", .status(503)) }
        try driver.world.capture((1...200).map { driver.operation("c-\($0)", ServerDriver.set("city", "Oulu")) })
        try driver.advance(3600)
        let failed = driver.sent("addRecipient").count - 1
        #expect((12...60).contains(failed), "\(failed) requests in an hour")
        driver.instead = []
        try driver.advance(1200)
        #expect(driver.account.contacts.count == 200)
    }

    @Test(.shows("acoustic/S45", "acoustic/S49"))
    func `retries a call after an unclear reply`() throws {
        let page = WireResponse(200, headers: [WireHeader("Content-Type", "text/html")], body: Array("<html>".utf8))
        let unclearReplies: [Outcome] = [
            .lost, .replied(page), .replied(WireResponse(200)), .json(200, ["a": 1]),
            .replied(WireResponse(200, body: Array("<Envelope><Body/></Envelope>".utf8))),
            .replied(WireResponse(200, body: Array("<!DOCTYPE x><Envelope/>".utf8))),
        ]
        for reply in unclearReplies {
            let driver = try ServerDriver()
            driver.instead = [("addRecipient", reply)]
            let id = try driver.say("c-1", ServerDriver.set("city", "Turku"))
            try driver.advance(60)
            #expect(driver.endpoints == ["token", "addRecipient", "addRecipient"])
            #expect(driver.outcome(id)?.term == .accepted)
        }
    }

    // MARK: Opt-outs and erasure

    @Test(.shows("acoustic/S62"))
    func `an opt-out waits for its missing contact and blocks no other operation`() throws {
        let driver = try ServerDriver(["lanes": 1])
        let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        let early = try driver.say("c-1", out)
        try driver.advance(5)
        #expect(driver.outcome(early) == nil)
        #expect(try driver.world.waits(of: "vendor").map(\.code) == ["acoustic.server.optOut.waits"])
        // Other contacts are served, and so are other operations of this contact.
        let other = try driver.say("c-2", ServerDriver.set("city", "Turku"))
        let city = try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(5)
        #expect(driver.outcome(other)?.term == .accepted && driver.outcome(city)?.term == .accepted)
        // The contact has no address yet, so no mail reaches it and the opt-out keeps waiting.
        #expect(driver.outcome(early) == nil)
        let address = try driver.say("c-1", .identify([Identifier(.email, "a@example.com")]))
        let event = try driver.say("c-1", ServerDriver.event("Visit"))
        try driver.advance(5)
        #expect([early, address, event].allSatisfy { driver.outcome($0)?.term == .accepted })
        #expect(driver.account.contacts["c-1"]?.isOut == true && driver.account.contacts["c-2"]?.isOut == false)
        // The opt-out follows the address before any other operation of the contact.
        let last = driver.endpoints.suffix(5)
        #expect(Array(last.prefix(3)) == ["addRecipient", "selectRecipient", "optOutRecipient"])
    }

    @Test(.shows("acoustic/S62"), arguments: [1, 4])
    func `a waiting opt-out follows its contact when another subject writes it`(_ lanes: Int) throws {
        for number in 2...5 {
            let driver = try ServerDriver(["lanes": .integer(Int64(lanes))])
            let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
            let early = driver.operation("c-1", subject: "web-1", out)
            try driver.world.capture([early])
            try driver.advance(5)
            #expect(driver.outcome(early.id) == nil)
            let identify = Action.identify([Identifier(.email, "a@example.com")])
            let address = driver.operation("c-1", subject: "web-\(number)", identify)
            try driver.world.capture([address])
            try driver.advance(5)
            #expect([early, address].allSatisfy { driver.outcome($0.id)?.term == .accepted })
            #expect(driver.account.contacts["c-1"]?.isOut == true)
        }
    }

    @Test(.shows("acoustic/S62"))
    func `a waiting opt-out follows its contact while another operation of the lane is delayed`() throws {
        let driver = try ServerDriver(["lanes": 1])
        let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        let early = try driver.say("c-1", out)
        try driver.advance(5)
        driver.instead = [("addRecipient", .fault(50))]
        let delayed = try driver.say("c-2", ServerDriver.set("city", "Turku"))
        try driver.advance(1)
        #expect(driver.outcome(delayed) == nil)
        let address = driver.operation("c-1", subject: "web-1", .identify([Identifier(.email, "a@example.com")]))
        try driver.world.capture([address])
        try driver.advance(1)
        #expect(driver.outcome(address.id)?.term == .accepted && driver.outcome(early)?.term == .accepted)
    }

    @Test(.shows("acoustic/S62"))
    func `queries again for the contact of a waiting opt-out, at growing intervals`() throws {
        let driver = try ServerDriver()
        let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        let early = try driver.say("c-1", out)
        try driver.advance(3 * 86_400)
        #expect(driver.outcome(early) == nil)
        let times = driver.sent("selectRecipient").map(\.now)
        #expect(times.count == 8)
        let pauses = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(zip(pauses.dropFirst(), pauses).allSatisfy { $0 >= $1 })
        #expect(pauses.allSatisfy { $0 >= .seconds(3600) && $0 < .seconds(86_460) })
        // The contact is created outside the driver, for example by an import.
        let key = "<COLUMN><NAME>MemberNo</NAME><VALUE>c-1</VALUE></COLUMN>"
        driver.instead = [
            (
                "selectRecipient",
                .replied(ServerFixture.success("<RecipientId>7</RecipientId><EMAIL>a@example.com</EMAIL>\(key)"))
            ), ("optOutRecipient", .replied(ServerFixture.success())),
        ]
        try driver.world.restart()
        try driver.advance(2 * 86_400)
        #expect(driver.outcome(early)?.term == .accepted)
        #expect(driver.body(driver.sent("optOutRecipient")[0]).contains("<EMAIL>a@example.com</EMAIL>"))
        #expect(driver.sent("selectRecipient").count == 9)
    }

    @Test func `adds and opts out a contact whose key is the e-mail address`() throws {
        let driver = try ServerDriver(
            ["keyColumn": "EMAIL", "identifierColumns": [:]],
            vendor: ["keyColumn": "EMAIL"]
        )
        let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        let early = try driver.say("a@example.com", out)
        try driver.advance(5)
        #expect(driver.outcome(early)?.term == .accepted)
        #expect(driver.account.contacts["a@example.com"]?.isOut == true)
    }

    @Test func `completes a waiting opt-out when its contact is unregistered`() throws {
        let driver = try ServerDriver(["lanes": 1])
        let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        let (first, second) = (try driver.say("c-1", out), try driver.say("c-2", out))
        try driver.advance(60)
        #expect(driver.sent("selectRecipient").count == 2)
        let unregister = try driver.say("c-2", .unregister)
        try driver.advance(5)
        #expect(driver.outcome(second)?.finding?.code == "acoustic.server.contact.unknown")
        #expect(driver.outcome(unregister)?.term == .unchanged && driver.outcome(first) == nil)
    }

    @Test(.shows("acoustic/S16")) func `removes fractions of a second and reports it`()
        throws
    {
        let driver = try ServerDriver()
        let whole = AttributeValue.timestamp(try #require(Timestamp(text: "2019-12-31T23:59:59-05:00")))
        let fraction = AttributeValue.timestamp(try #require(Timestamp(text: "2019-12-31T23:59:59.999-05:00")))
        #expect(driver.codes(ServerDriver.set("last_visit", whole)) == [])
        #expect(driver.codes(ServerDriver.set("last_visit", fraction)) == ["value.precision"])
        let id = try driver.say("c-1", ServerDriver.set("last_visit", fraction))
        try driver.advance(5)
        #expect(driver.outcome(id)?.term == .accepted)
        #expect(driver.columns("c-1")?["LastVisit"] == "01/01/2020 04:59:59")
    }

    @Test(.shows("acoustic/S30", "acoustic/S31"))
    func `an opt-out queries the contact's address first`() throws {
        let driver = try ServerDriver()
        let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        let missing = try driver.say("c-1", out, ["optOutWaits": false])
        try driver.advance(5)
        #expect(driver.outcome(missing)?.finding?.code == "acoustic.server.contact.unknown")
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        let bare = try driver.say("c-1", out, ["optOutWaits": false])
        try driver.advance(5)
        #expect(driver.outcome(bare)?.finding?.code == "acoustic.server.subscription.noAddress")
        try driver.say("c-1", .identify([Identifier(.email, "a@example.com")]))
        let taken = try driver.say("c-1", out)
        let again = try driver.say("c-1", out)
        try driver.advance(5)
        #expect(driver.outcome(taken)?.term == .accepted)
        #expect(driver.outcome(again)?.term == .unchanged)
        #expect(driver.account.contacts["c-1"]?.isOut == true)
        #expect(
            driver.body(driver.sent("optOutRecipient")[0]).contains(
                "<EMAIL>a@example.com</EMAIL><COLUMN><NAME>MemberNo</NAME><VALUE>c-1</VALUE></COLUMN>"
            )
        )
        #expect(
            driver.codes(.changeSubscription(Subscription(channel: .email, state: .subscribed))) == [
                "subscription.optIn"
            ]
        )
        let asColumn = try ServerDriver(["subscriptionColumns": ["email": "Push"]])
        try asColumn.say("c-1", out)
        try asColumn.advance(5)
        #expect(asColumn.columns("c-1") == ["Push": "No"])
        let byAddress = try ServerDriver(
            ["keyColumn": "EMAIL", "identifierColumns": [:]],
            vendor: ["keyColumn": "EMAIL"]
        )
        try byAddress.say("a@example.com", ServerDriver.set("city", "Turku"))
        try byAddress.say("a@example.com", out)
        try byAddress.advance(5)
        #expect(byAddress.endpoints == ["token", "addRecipient", "optOutRecipient"])
    }

    @Test(.shows("acoustic/S31", "acoustic/S32"))
    func `a removal deletes the contact from the database`() throws {
        let driver = try ServerDriver(["erasure": "remove"])
        try driver.say("c-1", .identify([Identifier(.email, "a@example.com")]))
        try driver.say("c-3", ServerDriver.set("city", "Turku"))
        try driver.advance(10)
        #expect(driver.account.contacts.count == 2)
        let first = try driver.say("c-1", .erase)
        let missing = try driver.say("c-2", .erase)
        try driver.say("c-3", .erase)
        try driver.advance(10)
        #expect(driver.account.contacts.isEmpty)
        #expect(driver.outcome(first)?.finding?.code == "acoustic.server.erase.removed")
        #expect(driver.outcome(missing)?.finding?.code == "acoustic.server.erase.nothing")
        #expect(
            driver.sent("removeRecipient").map(driver.body).contains { $0.contains("<EMAIL>a@example.com</EMAIL>") }
        )
    }

    @Test(.shows("acoustic/S33", "acoustic/S34"))
    func `erases contacts in one job and queries it until it has no status`() throws {
        let driver = try ServerDriver(["lanes": 1], vendor: ["jobTime": 40_000])
        let names = ["c-1", "c,2", "c\"3"]
        for name in names { try driver.say(name, ServerDriver.set("city", "Turku")) }
        try driver.advance(10)
        let operations = names.map { driver.operation($0, .erase) }
        try driver.world.capture(operations)
        let later = try driver.say("c-1", ServerDriver.set("city", "Oulu"))
        try driver.advance(20)
        #expect(driver.body(driver.sent("gdprErasure")[0]) == "MemberNo,c-1\nMemberNo,\"c,2\"\nMemberNo,\"c\"\"3\"\n")
        #expect(driver.sent("gdprStatus").isEmpty)
        #expect(driver.account.contacts.count == 3)
        try driver.world.restart()
        try driver.advance(100)
        #expect(driver.sent("gdprErasure").count == 1)
        #expect(driver.sent("gdprStatus").count == 2)
        // The vendor's own link names another host and is not followed.
        #expect(
            driver.sent("gdprStatus")[0].request.url
                == "https://api-campaign-eu-1.goacoustic.com/rest/gdpr_jobs/4471/status"
        )
        #expect(operations.map { driver.outcome($0.id)?.term } == [.accepted, .accepted, .accepted])
        #expect(driver.account.erased == names)
        // An operation that was captured later waited for the job.
        #expect(driver.outcome(later)?.term == .accepted)
        #expect(driver.columns("c-1") == ["City": "Oulu"])
    }

    @Test(.shows("acoustic/S27", "acoustic/S33"))
    func `distinguishes contacts with canonically equivalent keys`() throws {
        let driver = try ServerDriver(["lanes": 1])
        func say(_ action: Action) throws {
            try driver.world.capture(
                ["Zo\u{EB}", "Zoe\u{308}"].enumerated().map { place, key in
                    var operation = driver.operation(key, action)
                    operation.subject = Subject(rawValue: "row-\(place)")
                    return operation
                }
            )
            try driver.advance(60)
        }
        try say(ServerDriver.set("city", "Turku"))
        #expect(driver.sent("addRecipient").count == 2)
        try say(.erase)
        #expect(
            driver.sent("gdprErasure").first?.request.body == Array("MemberNo,Zo\u{EB}\nMemberNo,Zoe\u{308}\n".utf8)
        )
    }

    @Test(.shows("acoustic/S35", "acoustic/S26"))
    func `repeats a job that the vendor lost and halves a refused job`() throws {
        let driver = try ServerDriver(["lanes": 1])
        driver.instead = [("gdprStatus", .status(404))]
        let first = try driver.say("c-1", .erase)
        try driver.advance(300)
        #expect(driver.outcome(first)?.term == .accepted)
        #expect(driver.sent("gdprErasure").count == 2)
        driver.instead = (1...3).map { _ in ("gdprStatus", .status(404)) }
        let second = try driver.say("c-1", .erase)
        try driver.advance(600)
        #expect(driver.outcome(second)?.finding?.code == "acoustic.server.job.lost")
        driver.instead = [("gdprStatus", .json(200, ["data": ["status": "ERROR"]])), ("gdprErasure", .status(400))]
        let group = (1...4).map { driver.operation("c-\($0)", .erase) }
        try driver.world.capture(group)
        try driver.advance(600)
        #expect(group.filter { driver.outcome($0.id)?.term == .accepted }.count == 4)
        #expect(driver.sent("gdprErasure").suffix(5).map(\.operations.count) == [4, 2, 2, 1, 1])
        #expect(driver.account.erased.count == 4)
    }

    // MARK: Events

    @Test(
        .shows(
            "acoustic/S36",
            "acoustic/S37",
            "acoustic/S39",
            "acoustic/S40",
            "acoustic/S41"
        )
    )
    func `queries the contact's number before its events and sends events in batches`() throws {
        let driver = try ServerDriver(["lanes": 1, "eventsPerRequest": 3])
        for number in 1...2 { try driver.say("c-\(number)", ServerDriver.set("city", "Turku")) }
        try driver.advance(10)
        let start = driver.world.sent.count
        let events: [(String, Action)] = [
            ("c-1", .track(.custom(name: "Order Placed", attributes: ["total": "49.90", "lines": .list(["a"])]))),
            ("c-1", ServerDriver.event("Wishlist Opened")), ("c-2", .track(.sessionStarted)),
            ("c-2", .track(.push(.opened, payload: Fixture.push))),
        ]
        let operations = events.map { driver.operation($0.0, $0.1) }
        try driver.world.capture(operations)
        try driver.advance(10)
        #expect(Array(driver.endpoints[start...]) == ["selectRecipient", "events", "selectRecipient", "events"])
        #expect(driver.sent("events").allSatisfy { $0.operations.count <= 3 })
        let first = driver.sent("events")[0].request.json?["events"]?.array?.first
        #expect(
            first == [
                "eventTypeCode": "211", "eventTimestamp": .string(operations[0].capturedAt.text),
                "contactId": "881200001",
                "attributes": [["name": "Event Name", "value": "Order Placed"], ["name": "total", "value": "49.90"]],
            ]
        )
        #expect(driver.account.events.map(\.code).sorted() == ["13", "17", "211", "49"])
        #expect(operations.allSatisfy { driver.outcome($0.id)?.term == .accepted })
        // A back end that knows the number saves the query.
        try driver.say("c-1", ServerDriver.event("Late"), ["contactId": "881200001", "eventCode": "16"])
        try driver.advance(5)
        #expect(driver.sent("selectRecipient").count == 2)
        #expect(driver.account.events.last?.code == "16")
        let missing = try driver.say("c-9", ServerDriver.event("Lost"), ["unknownContacts": "refuse"])
        try driver.advance(5)
        #expect(driver.outcome(missing)?.finding?.code == "acoustic.server.contact.unknown")
        // An event may be the first operation of a contact.
        let first9 = try driver.say("c-9", ServerDriver.event("First"))
        try driver.advance(5)
        #expect(driver.outcome(first9)?.term == .accepted)
        #expect(driver.endpoints.suffix(3) == ["selectRecipient", "addRecipient", "events"])
        #expect(driver.columns("c-9") == [:])
    }

    @Test(.shows("acoustic/S42", "acoustic/S26"), arguments: [400, 409, 200])
    func `isolates the bad event of a refused batch`(_ status: Int) throws {
        let driver = try ServerDriver(["lanes": 1])
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(5)
        let vendor = driver.vendor
        driver.world.network = { sent in
            let reply = vendor.respond(to: sent.request, now: sent.now)
            guard reply.status == 400 else { return .outcome(.replied(reply)) }
            return .outcome(.json(status, ["meta": ["generalErrors": ["No."]], "data": [:]]))
        }
        let operations = (1...12).map {
            driver.operation("c-1", ServerDriver.event($0 == 5 ? "poison" : "Lesson \($0)"))
        }
        try driver.world.capture(operations)
        try driver.advance(60)
        #expect(driver.account.events.count == 11)
        #expect(driver.outcome(operations[4].id)?.term == .rejected)
        #expect(operations.filter { driver.outcome($0.id)?.term == .rejected }.count == 1)
        // The order of the other events is kept.
        #expect(driver.account.events.map(\.name) == (1...12).filter { $0 != 5 }.map { "Lesson \($0)" })
    }

    @Test(.shows("acoustic/S38"))
    func `sends an event once, even if its delivery is uncertain`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.advance(5)
        for uncertainty in [Outcome.lost, .died, .status(500)] {
            driver.instead = [("events", uncertainty)]
            let id = try driver.say("c-1", ServerDriver.event("Lesson"))
            try driver.advance(600)
            #expect(driver.outcome(id)?.finding?.code == "acoustic.server.event.unknown")
        }
        // A refusal for now, and a request that was not sent, mean that the event was not accepted.
        driver.instead = [("events", .status(503)), ("events", .failed(TransportFailure(.notSent, "offline")))]
        let sure = try driver.say("c-1", ServerDriver.event("Lesson"))
        try driver.advance(600)
        #expect(driver.outcome(sure)?.term == .accepted)
        #expect(driver.account.events.count == 1)
        let eager = try ServerDriver(["uncertainEvents": "repeat"])
        try eager.say("c-1", ServerDriver.set("city", "Turku"))
        eager.instead = [("events", .lost)]
        let again = try eager.say("c-1", ServerDriver.event("Lesson"))
        try eager.advance(60)
        #expect(eager.outcome(again)?.term == .accepted)
    }

    // MARK: Reading and jobs

    @Test(arguments: [
        ("08:30:00", "08:30"), ("08:30", "08:30"), ("01:05:00 PM", "13:05"), ("1:05 pm", "13:05"),
        ("12:00:00 AM", "00:00"), ("12:30:00 PM", "12:30"), ("13:05:30", "13:05"), ("13:05:00 PM", nil),
        ("0:05:00 AM", nil), ("25:00:00", nil), ("08:30:61", nil), ("08:30 or so", nil),
    ]) func `reads 24-hour and 12-hour times and keeps other values as text`(_ text: String, _ time: String?) throws {
        let api = try ServerFixture.adapter()
        let answer: JSONValue = ["columns": ["MemberNo": "c-1", "DeliveryHour": .string(text)]]
        let contact = api.contacts(in: answer, to: .keys(["c-1"])).contacts.first?.contact
        let value = try time.map { try typed($0, .time) } ?? .string(text)
        #expect(contact?.attributes == ["delivery_hour": value])
    }

    @Test(arguments: [
        ("03/08/2031 22:15:00", "2031-03-08T22:15:00Z"), ("03/08/2031 10:15:00 PM", "2031-03-08T22:15:00Z"),
        ("03/08/2031 22:15:00 GMT", "2031-03-08T22:15:00Z"), ("08.03.2031 22:15:00", nil),
    ]) func `reads 24-hour and 12-hour timestamps and keeps other values as text`(_ text: String, _ instant: String?)
        throws
    {
        let api = try ServerFixture.adapter()
        let answer: JSONValue = ["columns": ["MemberNo": "c-1", "LastVisit": .string(text)]]
        let contact = api.contacts(in: answer, to: .keys(["c-1"])).contacts.first?.contact
        let value = try instant.map { try typed($0, .timestamp) } ?? .string(text)
        #expect(contact?.attributes == ["last_visit": value])
    }

    @Test(.shows("acoustic/S46"))
    func `reads a contact and rejects malformed queries`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", .changeAttributes(["city": .set("Turku"), "visits": .set(7)]))
        try driver.say("c-1", .identify([Identifier(.email, "a@example.com")]))
        try driver.advance(5)
        let answer = try driver.ask("c-1", ReadRequest("contact"), seconds: 5)?.answer
        #expect(answer?["contactId"] == "881200001")
        #expect(answer?["email"] == "a@example.com")
        #expect(answer?["columns"] == ["City": "Turku", "EMAIL": "a@example.com", "MemberNo": "c-1", "Visits": "7"])
        #expect(
            try driver.ask("c-2", ReadRequest("contact"), seconds: 5)?.finding?.code
                == "acoustic.server.contact.unknown"
        )
        for request in [
            ReadRequest("profile"), ReadRequest("contact", arguments: ["id": "7"]), ReadRequest("job"),
            ReadRequest("job", arguments: ["id": "x"]), ReadRequest("import", arguments: ["mapFile": "m"]),
            ReadRequest("import", arguments: ["mapFile": "m", "sourceFile": "s", "encoding": "EBCDIC"]),
            ReadRequest("import", arguments: ["mapFile": "m", "sourceFile": "s\u{0}"]),
        ] {
            #expect(driver.codes(.readBack(request)) == ["question"])
        }
    }

    @Test(.shows("acoustic/S47"))
    func `imports a file with a job and reports dropped rows`() throws {
        let driver = try ServerDriver(["pollSeconds": 3])
        func files(_ name: String) -> ReadRequest {
            ReadRequest("import", arguments: ["mapFile": "map.xml", "sourceFile": .string(name)])
        }
        let whole = try driver.ask("c-1", files("people.csv"), seconds: 30)
        #expect(whole?.term == .accepted)
        #expect(whole?.finding?.code == "acoustic.server.import.complete")
        #expect(whole?.answer?["parameters"]?["TOTAL_ROWS"] == "10")
        #expect(driver.sent("jobStatus").count == 4)
        let dropped = try driver.ask("c-1", files("dropped.csv"), seconds: 30)
        #expect(dropped?.finding?.code == "acoustic.server.import.dropped")
        let broken = try driver.ask("c-1", files("broken.csv"), seconds: 30)
        #expect(broken?.finding?.code == "acoustic.server.job.refused")
        let state = try driver.ask("c-1", ReadRequest("job", arguments: ["id": "4472"]), seconds: 5)
        #expect(state?.answer?["state"] == "COMPLETE")
        driver.instead = [("importList", .lost)]
        let lost = try driver.ask("c-1", files("people.csv"), seconds: 30)
        #expect(lost?.finding?.code == "acoustic.server.import.unknown")
    }

    // MARK: Settings and values

    @Test(.shows("acoustic/S14", "acoustic/S9", "acoustic/S37"))
    func `reports all conflicting settings at once`() throws {
        let error = #expect(throws: SettingsError.self) {
            try ServerFixture.adapter([
                "keyColumn": "Nowhere", "attributeNames": ["a": "City", "b": "City", "c": "Nowhere", "d": "city"],
                "identifierColumns": [:], "eventCodes": ["Order": "x1"],
            ])
        }
        #expect(
            error?.findings.map(\.path) == [
                "settings.attributeNames.b", "settings.attributeNames.c", "settings.attributeNames.c",
                "settings.attributeNames.d", "settings.keyColumn", "settings.eventCodes.Order",
            ]
        )
        #expect(throws: SettingsError.self) { try ServerFixture.adapter(["databaseId": "db-1"]) }
        #expect(throws: SettingsError.self) { try ServerFixture.adapter(["refreshToken": .null]) }
    }

    @Test(
        .shows(
            "acoustic/S14",
            "acoustic/S15",
            "acoustic/S18",
            "acoustic/S19",
            "acoustic/S20",
            "acoustic/S21",
            "acoustic/S22",
            "acoustic/S23",
            "acoustic/S24"
        )
    )
    func `rejects or omits values that a column cannot store`() throws {
        let driver = try ServerDriver()
        let bad: [(AttributeName, AttributeValue, String)] = [
            ("nowhere", "x", "column.unknown"), ("FirstName ", "x", "column.unknown"), ("MemberNo", "x", "column.key"),
            ("Segment", "x", "column.unwritable"), ("visits", "many", "value.type"),
            ("city", .string(String(repeating: "x", count: 4001)), "value.long"), ("city", "a\u{0}b", "value.control"),
            ("loyalty_tier", "platinum", "value.choice"), ("interests", .choices(["a;b"]), "value.choice"),
            ("city", .list(["a"]), "value.nested"), ("Mobile", "12", "value.phone"),
        ]
        for (name, value, code) in bad {
            #expect(driver.codes(.changeAttributes([name: .set(value), "family_name": .set("Virtanen")])) == [code])
        }
        #expect(driver.codes(.changeAttributes(["visits": .increment(ExactDecimal(1))])) == ["value.arithmetic"])
        #expect(driver.codes(ServerDriver.set("city", "<b>")) == ["value.markup"])
        #expect(driver.codes(.changeAttributes([:])) == ["nothing"])
        let lenient = try ServerDriver(["onInvalid": "sendValid", "unset": "refuse", "allowHtml": true])
        let rest = try lenient.say(
            "c-1",
            .changeAttributes(["city": .set("<b>"), "nowhere": .set("x"), "visits": .unset])
        )
        try lenient.advance(5)
        #expect(lenient.outcome(rest)?.term == .accepted)
        #expect(lenient.columns("c-1") == ["City": "<b>"])
        var columns = Fixture.columns
        columns["City"] = ["type": "text", "owner": "device"]
        let shared = try ServerDriver([
            "columns": .object(columns), "tagColumns": [:], "subscriptionColumns": [:],
        ])
        #expect(shared.codes(ServerDriver.set("city", "Turku")) == ["column.device"])
        let untyped = try ServerDriver(["columns": [:]])
        #expect(untyped.codes(ServerDriver.set("id", "1")) == ["column.name"])
        try untyped.say("c-1", .changeAttributes(["anything": .set(true), "since": .set(.choices(["a", "b"]))]))
        try untyped.advance(5)
        #expect(untyped.columns("c-1") == ["anything": "Yes", "since": "a;b"])
    }

    @Test(.shows("acoustic/S27", "acoustic/S28", "acoustic/S29", "acoustic/S48"))
    func `writes tags and subscriptions as columns and rejects unsupported operations`() throws {
        let driver = try ServerDriver()
        try driver.say("c-1", .changeTags(TagChange(replace: ["gold"])))
        try driver.say("c-1", .changeSubscription(Subscription(channel: .sms, state: .suspended)))
        try driver.advance(5)
        #expect(driver.columns("c-1")?["IsGold"] == "Yes")
        #expect(driver.columns("c-1")?["IsSports"] == "No")
        #expect(driver.columns("c-1")?["Sms"] == "No")
        let refused: [(Action, String)] = [
            (.changeSubscription(Subscription(channel: .sms, state: .unknown)), "subscription.unknown"),
            (.changeSubscription(Subscription(channel: .inApp, state: .subscribed)), "subscription.channel"),
            (.changeSubscription(Subscription(channel: .sms, topic: "x", state: .subscribed)), "name.missing"),
            (.changeTags(TagChange(add: ["nowhere"])), "name.missing"),
            (.identify([Identifier("loyalty_card", "7")]), "name.missing"),
            (.identify([Identifier(.external, "c-2")]), "key.other"), (.registerDevice(Corpus.phone), "device"),
            (.setConsent(Consent(purpose: .tracking, state: .granted)), "consent"),
            (.switchContact(ContactSwitch(.logOut)), "contactSwitch"), (ServerDriver.event(" "), "event.blank"),
            (.track(.messageViewed(messageID: "m")), "event.kind"),
            (.track(.push(.opened, payload: Corpus.foreignPush)), "event.foreign"),
        ]
        for (action, code) in refused { #expect(driver.codes(action) == [code]) }
        #expect(driver.codes(.erase, ["erasure": "burn", "colour": "red"]) == ["option.value", "option.unknown"])
        #expect(driver.adapter.examine(driver.operation("  ", .erase)).map(\.code) == ["acoustic.server.key.blank"])
        #expect(
            driver.adapter.examine(driver.operation("a\u{1}", .erase)).map(\.code) == ["acoustic.server.key.control"]
        )
    }

    // MARK: Mutated replies

    /// Checks that every mutated reply gets a verdict and that no request goes to another host.
    @Test func `mutated replies cause no crash and no endless exchange`() throws {
        let replies = [
            "<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId>881200001</RecipientId><EMAIL>a@example.com</EMAIL></RESULT>",
            "<RESULT><SUCCESS>false</SUCCESS></RESULT><Fault><detail><error><errorid>50</errorid></error></detail></Fault>",
        ].map { Array("<Envelope><Body>\($0)</Body></Envelope>".utf8) }
        let marks = ["<", ">", "&#38;", "]]>", "<!--", "<![CDATA[", "TRUE", "145", "150", "\u{0}", "<A>", "</RESULT>"]
        var random = SeededGenerator(seed: 23)
        for _ in 0..<60 {
            let driver = try ServerDriver()
            let vendor = driver.vendor
            var remaining = 8
            driver.world.network = { sent in
                remaining -= 1
                guard sent.endpoint != "token", remaining > 0 else {
                    return .outcome(.replied(vendor.respond(to: sent.request, now: sent.now)))
                }
                var bytes = random.pick(replies)
                for _ in 0...random.below(2) {
                    let place = random.below(bytes.count)
                    switch random.below(3) {
                    case 0: bytes[place] = UInt8(random.below(256))
                    case 1: bytes.removeSubrange(place..<min(bytes.count, place + 9))
                    default: bytes.insert(contentsOf: Array(random.pick(marks).utf8), at: place)
                    }
                    if bytes.isEmpty { bytes = [0x3C] }
                }
                return .outcome(.replied(WireResponse(200, body: bytes)))
            }
            try driver.say("c-1", ServerDriver.set("city", "Turku"))
            try driver.say("c-1", ServerDriver.event("Lesson"))
            try driver.say("c-1", .changeSubscription(Subscription(channel: .email, state: .unsubscribed)))
            try driver.advance(20_000)
            if try driver.suspended == nil {
                let accounts = try driver.world.accounts()
                let waits = try driver.world.waits(of: "vendor").map(\.code)
                #expect(accounts.allSatisfy { $0.balances })
                // The contact has no address, so its opt-out may wait for one.
                #expect(accounts.allSatisfy { $0.pending == 0 } || waits == ["acoustic.server.optOut.waits"])
            }
        }
    }
}
