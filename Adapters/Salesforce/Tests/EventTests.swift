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
        let bench = try Bench()
        bench.capture(lesson, at: 0)
        #expect(bench.due(at: 0) == nil && bench.wait(at: 0) == FindingRow.subscriberTokenMissing.at())
        bench.capture(.registerDevice(.sample), at: 5)
        try bench.exchange(at: 5, WireResponse(201, headers: [WireHeader("x-subscriber-token", "jwt-1")]))
        #expect(try bench.transmission(at: 5).endpoint == .events)
    }

    @Test(.shows("salesforce/E1", "salesforce/E11", "salesforce/E13", "salesforce/W27"))
    func `an event stands in its envelope`() throws {
        let bench = try Bench.registered()
        let id = bench.capture(lesson, at: 10)
        let request = try bench.transmission(at: 10).request
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
    func `a bad name is refused`(_ name: String) throws {
        #expect(try Bench().words(.track(.custom(name: name))) == ["error salesforce.event.name"])
    }

    @Test(arguments: ["Order Placed", "order_placed", "A1", " padded "]) func `a good name passes`(_ name: String)
        throws
    {
        #expect(try Bench().words(.track(.custom(name: name))).isEmpty)
    }

    @Test(.shows("salesforce/E3", "salesforce/E4", "salesforce/E5"))
    func `bad attributes are left out and the event goes`() throws {
        let bench = try Bench.registered()
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
        let codes = bench.words(event).map { $0.replacing("warning salesforce.event.", with: "") }
        #expect(
            codes == [
                "attributeKey", "attributeKey", "attributeKey", "attributeKey", "attributeNested", "attributeNested",
                "attributeRepeated",
            ]
        )
        bench.capture(event, at: 0)
        let sent = try #require(bench.body(at: 0)["nodes"]?[0]?["items"]?[0]?["event"]?["attributes"])
        #expect(sent.text == #"{"Total":1,"day":"2031-03-09","price":49.90}"#)
    }

    @Test(.shows("salesforce/E6", "salesforce/E12")) func `an accepted event needs a definition`() throws {
        let bench = try Bench.registered()
        let id = bench.capture(lesson, at: 0)
        try bench.exchange(at: 0, WireResponse(202))
        #expect(bench.summary(of: id) == "accepted salesforce.event.needsDefinition")
    }

    @Test(.shows("salesforce/E9")) func `a push of its own is refused, another vendor's is foreign`() throws {
        let bench = try Bench()
        #expect(bench.words(.track(.push(.tapped, payload: ["_sid": "SFMC"]))) == ["error salesforce.event.pushOwn"])
        #expect(bench.words(.track(.push(.tapped, payload: ["aps": [:]]))) == ["foreign salesforce.event.pushForeign"])
    }

    @Test(
        .shows("salesforce/E15"),
        arguments: [
            TrackingEvent.sessionStarted, .sessionEnded, .messageViewed(messageID: "m"),
            .messageClicked(messageID: "m"),
        ]
    )
    func `other events are refused with a remedy`(_ event: TrackingEvent) throws {
        let findings = try Bench().examine(.track(event))
        #expect(findings.map(\.code) == ["salesforce.event.kind"])
        #expect(findings.first?.remedy.contains("custom event") == true)
    }

    @Test(.shows("salesforce/E11")) func `a request carries at most 1000 events`() throws {
        let bench = try Bench.registered()
        for _ in 0..<1001 { bench.capture(lesson, at: 0) }
        #expect(try bench.body(at: 0)["nodes"]?[0]?["items"]?.array?.count == 1000)
        try bench.exchange(at: 0)
        #expect(bench.pending.count == 1)
    }

    @Test(.shows("salesforce/E12", "salesforce/S8")) func `a failed event is kept and delayed, with the same id`()
        throws
    {
        let bench = try Bench.registered()
        bench.capture(lesson, at: 0)
        var (start, waits, bodies): (Int, [Int], [[UInt8]]) = (0, [], [])
        for _ in 0..<4 {
            bodies.append(try bench.exchange(at: start, lost).body)
            let next = try #require(bench.due(at: start))
            waits.append(next - start)
            start = next
        }
        #expect(waits == [60, 120, 240, 480])
        bodies.append(try bench.transmission(at: start).request.body)
        #expect(Set(bodies).count == 1)
    }

    @Test(.shows("salesforce/D6"), arguments: [Action.identify("member-2"), .logIn("member-2"), .erase])
    func `what another contact did waits until the vendor knows of the hand-over`(_ handOver: Action) throws {
        let bench = try Bench.registered([:], .identify("member-1"))
        let early = bench.capture(lesson, at: 10)
        bench.capture(handOver, at: 11)
        let late = bench.capture(lesson, at: 12)
        #expect(try bench.transmission(at: 12).operations == [early])
        try bench.exchange(at: 12)
        #expect(bench.due(at: 12) == 71)
        #expect(try bench.transmission(at: 71).endpoint == .registration)
        try bench.exchange(at: 71)
        if handOver == .erase {
            // The erasure ends the subscriber token. The next registration brings another.
            #expect(bench.due(at: 71) == nil && bench.reason(at: 71) == "salesforce.subscriberToken.missing")
            bench.capture(.registerDevice(.sample), at: 72)
            try bench.exchange(at: 132, WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-2")]))
        }
        #expect(try bench.transmission(at: handOver == .erase ? 132 : 71).operations == [late])
    }

    @Test(.shows("salesforce/D6")) func `changes that leave the contact hold up no event`() throws {
        let bench = try Bench.registered([:], .identify("member-1"))
        bench.capture(.identify("member-1"), at: 10)
        bench.capture(.add("sports"), at: 10)
        let event = bench.capture(lesson, at: 11)
        #expect(try bench.transmission(at: 11).operations == [event])
        try bench.exchange(at: 11)
        bench.capture(lesson, at: 12)
        #expect(try bench.transmission(at: 12).endpoint == .events)
        try bench.exchange(at: 12)
        // The rule at work: the same with another contact waits.
        bench.capture(.identify("member-2"), at: 13)
        bench.capture(lesson, at: 14)
        #expect(bench.due(at: 14) == 70)
        #expect(try bench.transmission(at: 70).endpoint == .registration)
    }

    @Test func `where the window is full, events behind its changes wait`() throws {
        let window = SalesforceDevice.descriptor.delivery.window
        for (count, isSent) in [(window / 2, true), (window + 1, false)] {
            let bench = try Bench.registered([:], .identify("member-1"))
            for number in 0..<count { bench.capture(.set("n", .integer(Int64(number))), at: 10) }
            bench.capture(lesson, at: 10)
            #expect((try? bench.transmission(at: 11).endpoint) == (isSent ? .events : nil), "\(count)")
        }
    }

    @Test(.shows("salesforce/E14", "salesforce/W27"), arguments: [401, 403])
    func `a refused subscriber token is renewed by the registration, and the event goes`(_ status: Int) throws {
        let bench = try Bench.registered([:], .set("tier", "gold"))
        let id = bench.capture(lesson, at: 10)
        try bench.exchange(at: 10, WireResponse(status))
        #expect(bench.memory.subscriberToken == nil)
        #expect(bench.reason(at: 11) == "salesforce.reply.credentials" && bench.due(at: 11) == 70)
        let renewal = try bench.exchange(
            at: 70,
            WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-2")])
        )
        #expect(renewal.url.hasSuffix("/device/v1/registration"))
        #expect(renewal.json?.pairs == ["tier=gold"])
        #expect(bench.summary(of: id) == nil)
        #expect(try bench.exchange(at: 70)[header: "X-Subscriber-Token"] == "jwt-2")
        #expect(bench.summary(of: id)?.hasPrefix("accepted") == true)
    }

    @Test(.shows("salesforce/E14")) func `a renewal keeps the vendor's pace, and is given up where no token comes`()
        throws
    {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: 0)
        try bench.exchange(at: 60)
        bench.capture(lesson, at: 61)
        try bench.exchange(at: 61, WireResponse(401))
        #expect(bench.due(at: 61) == 121)
        try bench.exchange(at: 121, WireResponse(503))
        #expect(bench.due(at: 121) == 181)
        try bench.exchange(at: 181, WireResponse(201))
        #expect(bench.due(at: 181) == nil && bench.wait(at: 181) == FindingRow.subscriberTokenMissing.at())
    }

    @Test(.shows("salesforce/E14")) func `a change that leaves anyway renews the token`() throws {
        let bench = try Bench.registered()
        bench.capture(lesson, at: 10)
        try bench.exchange(at: 10, WireResponse(401))
        let tag = bench.capture(.add("sports"), at: 20)
        #expect(bench.due(at: 70) == 80)
        try bench.exchange(at: 80, WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-2")]))
        #expect(bench.summary(of: tag)?.hasPrefix("accepted") == true)
        #expect(try bench.transmission(at: 80).endpoint == .events)
    }

    @Test(.shows("salesforce/E14")) func `a setting keeps a refused token`() throws {
        let bench = try Bench.registered(["renewSubscriberToken": false])
        bench.capture(lesson, at: 10)
        try bench.exchange(at: 10, WireResponse(401))
        #expect(try bench.transmission(at: 70).request[header: "X-Subscriber-Token"] == "jwt-1")
    }

    @Test(.shows("salesforce/S11")) func `Retry-After closes one endpoint, not the other`() throws {
        let bench = try Bench.registered()
        bench.capture(lesson, at: 0)
        try bench.exchange(at: 0, WireResponse(429, headers: [WireHeader("Retry-After", "500")]))
        #expect(bench.reason(at: 99) == "salesforce.reply.tooOften")
        #expect(bench.due(at: 99) == 500)
        bench.capture(.add("sports"), at: 100)
        #expect(try bench.transmission(at: 160).endpoint == .registration)
        try bench.exchange(at: 160)
        #expect(bench.due(at: 160) == 500)
        #expect(try bench.transmission(at: 500).endpoint == .events)
    }
}
