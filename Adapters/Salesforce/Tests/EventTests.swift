import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

@Suite("Salesforce events") struct EventTests {
    private let lesson = Action.track(
        .custom(name: " Lesson Finished ", attributes: ["course": "Finnish 2", "passed": true, "score": 87])
    )

    @Test(.shows("salesforce/E10")) func `events wait for the subscriber token`() throws {
        let driver = try TestDriver()
        driver.capture(lesson, at: 0)
        #expect(driver.due(at: 0) == nil && driver.wait(at: 0) == FindingRow.subscriberTokenMissing.at())
        driver.capture(.registerDevice(.sample), at: 5)
        try driver.exchange(at: 5, WireResponse(201, headers: [WireHeader("x-subscriber-token", "jwt-1")]))
        #expect(try driver.transmission(at: 5).endpoint == .events)
    }

    @Test(.shows("salesforce/E1", "salesforce/E11", "salesforce/E13", "salesforce/W27"))
    func `encodes an event in its envelope`() throws {
        let driver = try TestDriver.registered()
        let id = driver.capture(lesson, at: 10)
        let request = try driver.transmission(at: 10).request
        #expect(request.url.hasSuffix(".device.marketingcloudapis.com/devicestatistics/v1/event"))
        #expect(request[header: "X-Subscriber-Token"] == "jwt-1")
        #expect(
            String(decoding: request.body, as: UTF8.self) == """
                {"applicationId":"c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d","deviceId":"6B0C7E51-2F6D-4D0B-9A51-0E5E7B1C9D22",\
                "nodes":[{"name":"event","version":1,"items":[{"eventType":105,"event":{\
                "eventId":"\(UUIDText.named(id.rawValue, in: "patchbay.salesforce.event"))","eventName":"Lesson Finished",\
                "eventDateUtc":"2031-03-09T07:05:21.042Z","attributes":{"course":"Finnish 2","passed":true,"score":87}\
                }}]}]}
                """
        )
    }

    @Test(.shows("salesforce/E2"), arguments: ["", " ", "order-placed", "Tilaus ✓", "é", "a.b", "ｗｉｄｅ"])
    func `rejects an invalid event name`(_ name: String) throws {
        #expect(try TestDriver().words(.track(.custom(name: name))) == ["error salesforce.event.name"])
    }

    @Test(arguments: ["Order Placed", "order_placed", "A1", " padded "]) func `accepts a valid event name`(
        _ name: String
    )
        throws
    {
        #expect(try TestDriver().words(.track(.custom(name: name))).isEmpty)
    }

    @Test(.shows("salesforce/E3", "salesforce/E4", "salesforce/E5"))
    func `omits invalid attributes and sends the event`() throws {
        let driver = try TestDriver.registered()
        let event = Action.track(
            .custom(
                name: "Order",
                attributes: [
                    "a.b": 1, "$x": 1, " ": 1, "line\nbreak": 1, "Total": 1, "total": 2, "list": .list([1]),
                    "object": .object(["a": 1]), "day": AttributeTests.Value.read("2031-03-09", .date),
                    "price": AttributeTests.Value.read("49.90", .decimal),
                ]
            )
        )
        let codes = driver.words(event).map { $0.replacing("warning salesforce.event.", with: "") }
        #expect(
            codes == [
                "attributeKey", "attributeKey", "attributeKey", "attributeKey", "attributeNested", "attributeNested",
                "attributeRepeated",
            ]
        )
        driver.capture(event, at: 0)
        let sent = try #require(driver.body(at: 0)["nodes"]?[0]?["items"]?[0]?["event"]?["attributes"])
        #expect(sent.text == #"{"Total":1,"day":"2031-03-09","price":49.90}"#)
    }

    @Test(.shows("salesforce/E6", "salesforce/E12")) func `reports that an accepted event needs a definition`() throws {
        let driver = try TestDriver.registered()
        let id = driver.capture(lesson, at: 0)
        try driver.exchange(at: 0, WireResponse(202))
        #expect(driver.summary(of: id) == "accepted salesforce.event.needsDefinition")
    }

    @Test(.shows("salesforce/E9"))
    func `rejects events of its own push messages; those of other vendors are not applicable`() throws {
        let driver = try TestDriver()
        #expect(driver.words(.track(.push(.tapped, payload: ["_sid": "SFMC"]))) == ["error salesforce.event.pushOwn"])
        #expect(driver.words(.track(.push(.tapped, payload: ["aps": [:]]))) == ["foreign salesforce.event.pushForeign"])
    }

    @Test(
        .shows("salesforce/E15"),
        arguments: [
            TrackingEvent.sessionStarted, .sessionEnded, .messageViewed(messageID: "m"),
            .messageClicked(messageID: "m"),
        ]
    )
    func `rejects other kinds of events with a remedy`(_ event: TrackingEvent) throws {
        let findings = try TestDriver().examine(.track(event))
        #expect(findings.map(\.code) == ["salesforce.event.kind"])
        #expect(findings.first?.remedy.contains("custom event") == true)
    }

    @Test(.shows("salesforce/E11")) func `sends at most 1000 events per request`() throws {
        let driver = try TestDriver.registered()
        for _ in 0..<1001 { driver.capture(lesson, at: 0) }
        #expect(try driver.body(at: 0)["nodes"]?[0]?["items"]?.array?.count == 1000)
        try driver.exchange(at: 0)
        #expect(driver.pending.count == 1)
    }

    @Test(.shows("salesforce/E12", "salesforce/S8"))
    func `retries a failed event with increasing delays and the same id`()
        throws
    {
        let driver = try TestDriver.registered()
        driver.capture(lesson, at: 0)
        var (start, waits, bodies): (Int, [Int], [[UInt8]]) = (0, [], [])
        for _ in 0..<4 {
            bodies.append(try driver.exchange(at: start, lost).body)
            let next = try #require(driver.due(at: start))
            waits.append(next - start)
            start = next
        }
        #expect(waits == [60, 120, 240, 480])
        bodies.append(try driver.transmission(at: start).request.body)
        #expect(Set(bodies).count == 1)
    }

    @Test(.shows("salesforce/D6"), arguments: [Action.identify("member-2"), .logIn("member-2"), .erase])
    func `holds back events of the next contact until the vendor knows the new contact key`(_ change: Action) throws {
        let driver = try TestDriver.registered([:], .identify("member-1"))
        let early = driver.capture(lesson, at: 10)
        driver.capture(change, at: 11)
        let late = driver.capture(lesson, at: 12)
        #expect(try driver.transmission(at: 12).operations == [early])
        try driver.exchange(at: 12)
        #expect(driver.due(at: 12) == 71)
        #expect(try driver.transmission(at: 71).endpoint == .registration)
        try driver.exchange(at: 71)
        if change == .erase {
            // The erasure removes the subscriber token. The next registration returns another.
            #expect(driver.due(at: 71) == nil && driver.reason(at: 71) == "salesforce.subscriberToken.missing")
            driver.capture(.registerDevice(.sample), at: 72)
            try driver.exchange(at: 132, WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-2")]))
        }
        #expect(try driver.transmission(at: change == .erase ? 132 : 71).operations == [late])
    }

    @Test(.shows("salesforce/D6")) func `changes that keep the contact do not delay events`() throws {
        let driver = try TestDriver.registered([:], .identify("member-1"))
        driver.capture(.identify("member-1"), at: 10)
        driver.capture(.add("sports"), at: 10)
        let event = driver.capture(lesson, at: 11)
        #expect(try driver.transmission(at: 11).operations == [event])
        try driver.exchange(at: 11)
        driver.capture(lesson, at: 12)
        #expect(try driver.transmission(at: 12).endpoint == .events)
        try driver.exchange(at: 12)
        // A change to another contact, however, delays the event.
        driver.capture(.identify("member-2"), at: 13)
        driver.capture(lesson, at: 14)
        #expect(driver.due(at: 14) == 70)
        #expect(try driver.transmission(at: 70).endpoint == .registration)
    }

    @Test func `events wait behind changes that fill the window`() throws {
        let window = SalesforceDevice.descriptor.delivery.window
        for (count, isSent) in [(window / 2, true), (window + 1, false)] {
            let driver = try TestDriver.registered([:], .identify("member-1"))
            for number in 0..<count { driver.capture(.set("n", .integer(Int64(number))), at: 10) }
            driver.capture(lesson, at: 10)
            #expect((try? driver.transmission(at: 11).endpoint) == (isSent ? .events : nil), "\(count)")
        }
    }

    @Test(.shows("salesforce/E14", "salesforce/W27"), arguments: [401, 403])
    func `renews a refused subscriber token with a registration and sends the event`(_ status: Int) throws {
        let driver = try TestDriver.registered([:], .set("tier", "gold"))
        let id = driver.capture(lesson, at: 10)
        try driver.exchange(at: 10, WireResponse(status))
        #expect(driver.memory.subscriberToken == nil)
        #expect(driver.reason(at: 11) == "salesforce.reply.credentials" && driver.due(at: 11) == 70)
        let renewal = try driver.exchange(
            at: 70,
            WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-2")])
        )
        #expect(renewal.url.hasSuffix("/device/v1/registration"))
        #expect(renewal.json?.pairs == ["tier=gold"])
        #expect(driver.summary(of: id) == nil)
        #expect(try driver.exchange(at: 70)[header: "X-Subscriber-Token"] == "jwt-2")
        #expect(driver.summary(of: id)?.hasPrefix("accepted") == true)
    }

    @Test(.shows("salesforce/E14")) func `a token renewal respects the spacing and stops if the reply has no token`()
        throws
    {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 0)
        try driver.exchange(at: 60)
        driver.capture(lesson, at: 61)
        try driver.exchange(at: 61, WireResponse(401))
        #expect(driver.due(at: 61) == 121)
        try driver.exchange(at: 121, WireResponse(503))
        #expect(driver.due(at: 121) == 181)
        try driver.exchange(at: 181, WireResponse(201))
        #expect(driver.due(at: 181) == nil && driver.wait(at: 181) == FindingRow.subscriberTokenMissing.at())
    }

    @Test(.shows("salesforce/E14")) func `a pending change renews the token without an extra registration`() throws {
        let driver = try TestDriver.registered()
        driver.capture(lesson, at: 10)
        try driver.exchange(at: 10, WireResponse(401))
        let tag = driver.capture(.add("sports"), at: 20)
        #expect(driver.due(at: 70) == 80)
        try driver.exchange(at: 80, WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-2")]))
        #expect(driver.summary(of: tag)?.hasPrefix("accepted") == true)
        #expect(try driver.transmission(at: 80).endpoint == .events)
    }

    @Test(.shows("salesforce/E14")) func `keeps a refused token if renewSubscriberToken is false`() throws {
        let driver = try TestDriver.registered(["renewSubscriberToken": false])
        driver.capture(lesson, at: 10)
        try driver.exchange(at: 10, WireResponse(401))
        #expect(try driver.transmission(at: 70).request[header: "X-Subscriber-Token"] == "jwt-1")
    }

    @Test(.shows("salesforce/S11")) func `Retry-After delays only the endpoint that returned it`() throws {
        let driver = try TestDriver.registered()
        driver.capture(lesson, at: 0)
        try driver.exchange(at: 0, WireResponse(429, headers: [WireHeader("Retry-After", "500")]))
        #expect(driver.reason(at: 99) == "salesforce.reply.tooOften")
        #expect(driver.due(at: 99) == 500)
        driver.capture(.add("sports"), at: 100)
        #expect(try driver.transmission(at: 160).endpoint == .registration)
        try driver.exchange(at: 160)
        #expect(driver.due(at: 160) == 500)
        #expect(try driver.transmission(at: 500).endpoint == .events)
    }
}
