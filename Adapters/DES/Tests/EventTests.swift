import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES events") struct EventTests {
    private func event(_ action: Action, _ settings: JSONObject = [:], options: JSONObject = [:]) throws -> JSONValue {
        let bench = try Bench.started(settings)
        bench.capture(action, options: options)
        return try #require(bench.last?.body["events"]?[0])
    }

    @Test(.shows("des/B6", "des/R12", "des/R30"))
    func `an event has type, name and time, and no empty attributes`() throws {
        let plain = try event(.event("wishlist_added"))
        #expect(plain == ["type": "custom", "name": "wishlist_added", "timestamp": "2031-03-09T07:05:11.042Z"])
        let full = try event(.event("wishlist_added", ["sku": "LT-550"]))
        #expect(
            full["attributes"] == ["sku": "LT-550"]
                && full.object?.names == ["type", "name", "timestamp", "attributes"]
        )
    }

    @Test(
        .shows("des/T1"),
        arguments: [
            ("text", "text"), ("", ""), (true, "true"), (3, "3"),
            (.decimal(ExactDecimal(text: "49.90") ?? ExactDecimal(0)), "49.90"),
            (.decimal(ExactDecimal(text: "1e-3") ?? ExactDecimal(0)), "0.001"),
            (AttributeValue(text: "2028-02-29", as: .date) ?? "", "2028-02-29"),
            (AttributeValue(text: "2031-03-09T07:05:11+02:00", as: .timestamp) ?? "", "2031-03-09T05:05:11.000Z"),
        ] as [(AttributeValue, String)]
    )
    func `attributes become texts`(row: (value: AttributeValue, text: String)) throws {
        #expect(try event(.event("x", ["a": row.value]))["attributes"] == ["a": .string(row.text)])
    }

    @Test(.shows("des/R30")) func `points in time can follow the vendor's page`() throws {
        #expect(try event(.event("x"), ["timestamps": "local"])["timestamp"] == "2031-03-09T09:05:11.042+02:00")
        let bench = try Bench.started(["timestamps": "local"])
        bench.capture(.view("904417"))
        #expect(bench.last?.body["viewedMessages"]?[0]?["timestamp"] == "2031-03-09T09:05:11.042+02:00")
        #expect(bench.state.violations == [])
    }

    @Test(.shows("des/B7", "des/R14"))
    func `the opening of a push and its buttons have a form of their own`() throws {
        let text: JSONObject = ["u": "{\"sid\":\"abc\"}"]
        #expect(
            try event(.track(.push(.tapped, payload: Fixture.payload)))["attributes"] == [
                "origin": "main", "sid": "7a3_Hq9zL2",
            ]
        )
        #expect(try event(.track(.push(.opened, payload: text)))["attributes"] == ["origin": "main", "sid": "abc"])
        let button = try event(.track(.push(.tapped, payload: text, actionID: "buy")))
        #expect(button["attributes"] == ["origin": "button", "button_id": "buy", "sid": "abc"])
        #expect(button["type"] == "internal" && button["name"] == "push:click")
    }

    @Test(.shows("des/R13", "des/B7"))
    func `sessions begin, carry their id, and end with their length`() throws {
        let bench = try Bench.started()
        bench.capture(.track(.sessionStarted), options: ["appStart": true])
        bench.advance(1_500)
        bench.capture(together: .event("inside"), .track(.sessionEnded), .event("outside"))
        #expect(bench.sent.flatMap(\.eventNames) == ["app:start", "session:start", "inside", "session:end", "outside"])
        let events = bench.sent.flatMap { $0.body["events"]?.array ?? [] }
        #expect(events[0]["sessionId"] == nil && events[4]["sessionId"] == nil)
        #expect(Set(events[1...3].map { $0["sessionId"]?.string }).count == 1)
        #expect(events[3]["attributes"] == ["duration": "1500"])
        let again = bench.capture(.track(.sessionEnded))
        #expect(bench.verdicts[again]?.finding?.code == "des.session.none")
    }

    @Test(.shows("des/R13")) func `without a contact token the start of the app is not reported`()
        throws
    {
        let bench = try Bench.started()
        bench.memory.contactToken = nil
        bench.script = [.status(204)]
        bench.capture(.track(.sessionStarted), options: ["appStart": true])
        #expect(bench.last?.eventNames == ["session:start"])
    }

    @Test(.shows("des/B10", "des/R29", "des/R15"))
    func `a view and a click are recorded and reported`() throws {
        let bench = try Bench.started()
        bench.capture(together: .view("904417"), .click("904417", "cta-primary"))
        let body = try #require(bench.last?.body)
        #expect(body["viewedMessages"] == [["campaignId": "904417", "timestamp": "2031-03-09T07:05:11.042Z"]])
        #expect(
            body["clicks"] == [
                ["campaignId": "904417", "buttonId": "cta-primary", "timestamp": "2031-03-09T07:05:11.042Z"]
            ]
        )
        #expect(bench.last?.eventNames == ["inapp:viewed", "inapp:click"])
    }

    @Test(.shows("des/R29")) func `campaign ids can be numbers, as on the vendor's page`() throws {
        let bench = try Bench.started(["campaignIds": "number"])
        bench.capture(.click("123456789", "some-button"))
        #expect(bench.last?.body["clicks"]?[0]?["campaignId"] == 123_456_789)
        let refused = bench.capture(.view("spring"))
        #expect(bench.verdicts[refused]?.finding?.code == "des.message.campaignNumber")
    }

    @Test(.shows("des/B8")) func `messages that are not to be shown are told with each request`()
        throws
    {
        let bench = try Bench.started()
        let id = bench.capture(.inApp(.unsubscribed))
        #expect(bench.sent.isEmpty && bench.verdicts[id]?.finding?.code == "des.subscription.next")
        bench.capture(.event("quiet"))
        #expect(bench.last?.body["dnd"] == true && bench.state.events.last?.isPaused == true)
        #expect(bench.verdict(.inApp(.suspended))?.isUnchanged == true)
        bench.capture(.inApp(.subscribed))
        bench.capture(.event("loud"))
        #expect(bench.last?.body.object?.names.contains("dnd") == false)
        try bench.restart(["alwaysSendsDnd": true])
        bench.capture(.event("loud"))
        #expect(bench.last?.body["dnd"] == false)
    }

    @Test(.shows("des/B9")) func `language and versions go along, or not`() throws {
        let bench = try Bench.started()
        bench.capture(.event("x"))
        #expect(bench.last?.body["language"] == "fi" && bench.last?.body["ems_sdk"] == .string(Sender.version))
        #expect(bench.last?.body["application_version"] == "8.4.1")
        try bench.restart(["deviceFieldsInEvents": false])
        bench.capture(.event("x"))
        #expect(bench.last?.body.object?.names == ["viewedMessages", "clicks", "events", "deviceEventState"])
    }

    @Test(.shows("des/R16"))
    func `tags are lower-case, and with a fetched inbox only changes are sent`() throws {
        let bench = try Bench.started()
        bench.capture(.tag("inbox:tag:add", "msg-1", "SEEN"))
        #expect(bench.last?.body["events"]?[0]?["attributes"] == ["messageId": "msg-1", "tag": "seen"])
        #expect(bench.last?.body["events"]?[0]?["type"] == "internal")
        bench.capture(.readBack(ReadRequest("inbox")))
        bench.forget()
        #expect(bench.verdict(.tag("inbox:tag:add", "msg-1", "Seen"))?.isUnchanged == true)
        #expect(bench.verdict(.tag("inbox:tag:remove", "msg-1", "pinned"))?.isUnchanged == true)
        let unknown = bench.capture(.tag("inbox:tag:add", "msg-9", "seen"))
        #expect(bench.verdicts[unknown]?.finding?.code == "des.inbox.unknown")
        #expect(bench.sent.isEmpty)
        bench.capture(.tag("inbox:tag:add", "msg-1", "pinned"))
        #expect(bench.endpoints == [.events] && bench.memory.inbox == ["msg-1": ["seen", "pinned"]])
        #expect(bench.verdict(.tag("inbox:tag:add", "msg-1", "pinned"))?.isUnchanged == true)
        #expect(bench.state.tags == ["msg-1": ["seen", "pinned"]])
    }

    @Test(.shows("des/R16")) func `the last word about a tag counts while an earlier one waits`()
        throws
    {
        let bench = try Bench.started()
        bench.capture(.readBack(ReadRequest("inbox")))
        bench.forget()
        bench.script = [.status(503)]
        let first = bench.capture(.tag("inbox:tag:add", "msg-1", "pinned"))
        #expect(bench.verdicts[first] == nil && bench.pendingCount == 1)
        bench.advance(1_000)
        let last = bench.capture(.tag("inbox:tag:remove", "msg-1", "Pinned"))
        #expect(bench.verdicts[first]?.isAccepted == true && bench.verdicts[last]?.isAccepted == true)
        #expect(bench.last?.eventNames == ["inbox:tag:add", "inbox:tag:remove"])
        #expect(bench.state.tags == ["msg-1": ["seen"]] && bench.memory.inbox == ["msg-1": ["seen"]])
        #expect(bench.verdict(.tag("inbox:tag:remove", "msg-1", "pinned"))?.isUnchanged == true)
    }

    @Test(.shows("des/R16"), arguments: [nil, Outcome.status(503)])
    func `of words about tags that are captured at once, none is lost`(_ outcome: Outcome?) throws {
        let bench = try Bench.started()
        bench.capture(.readBack(ReadRequest("inbox")))
        bench.forget()
        bench.script = [outcome]
        let ids = bench.capture(
            together: .tag("inbox:tag:add", "msg-1", "pinned"),
            .tag("inbox:tag:remove", "msg-1", "seen"),
            .tag("inbox:tag:add", "msg-1", "seen"),
            .tag("inbox:tag:remove", "msg-1", "pinned"),
            .tag("inbox:tag:remove", "msg-1", "opened"),
            .tag("inbox:tag:add", "msg-9", "seen")
        )
        bench.wake()
        #expect(ids[..<4].allSatisfy { bench.verdicts[$0]?.isAccepted == true })
        #expect(bench.verdicts[ids[4]]?.isUnchanged == true)
        #expect(bench.verdicts[ids[5]]?.finding?.code == "des.inbox.unknown")
        #expect(
            bench.last?.eventNames == ["inbox:tag:add", "inbox:tag:remove", "inbox:tag:add", "inbox:tag:remove"]
        )
        #expect(bench.state.tags == ["msg-1": ["seen"]] && bench.memory.inbox == ["msg-1": ["seen"]])
    }

    @Test(.shows("des/A1", "des/R21", "des/R40"))
    func `a message in an answer goes to the app, one without HTML does not`() throws {
        let message: JSONObject = ["wishlist": ["campaignId": 904433, "html": "<html>Offer</html>", "note": nil]]
        let bench = try Bench.started(account: ["messages": .object(message)])
        bench.capture(.event("wishlist"))
        #expect(bench.incoming == [["kind": "message", "campaignId": "904433", "html": "<html>Offer</html>"]])
        bench.script = [
            .status(200, ["message": ["campaignId": "1", "html": nil]]), .status(500, ["message": ["html": "<p>"]]),
        ]
        bench.capture(.event("wishlist"))
        bench.capture(.event("wishlist"))
        #expect(bench.incoming.count == 1)
    }

    @Test(.shows("des/A2", "des/A3"))
    func `actions in an answer are carried out in order, then their campaign was viewed`() throws {
        let actions: JSONValue = [
            ["type": "MEAppEvent", "name": "refresh_home", "payload": ["tab": "deals"]],
            ["type": "MECustomEvent", "name": "offer_made", "payload": ["level": 2, "parts": [1, 2], "gone": nil]],
            ["type": "MEAppEvent"], ["type": "MEUnknown", "name": "x"],
            ["type": "OpenExternalUrl", "url": "https://a.example"],
            ["type": "BadgeCount", "method": "ADD", "value": 3],
        ]
        let bench = try Bench.started(account: ["actions": ["wishlist": ["campaignId": "904440", "actions": actions]]])
        bench.capture(.event("wishlist"))
        #expect(
            bench.incoming == [
                ["kind": "appEvent", "name": "refresh_home", "payload": ["tab": "deals"]],
                ["kind": "openUrl", "url": "https://a.example"], ["kind": "badgeCount", "method": "add", "value": 3],
            ]
        )
        #expect(bench.state.events.map(\.name) == ["wishlist", "offer_made", "inapp:viewed"])
        #expect(bench.state.events[1].attributes == ["level": "2", "parts": "[1,2]"])
        #expect(bench.client?.views == ["904440": 1])
        bench.script = [.status(200, ["onEventAction": ["campaignId": "904441"]])]
        bench.forget()
        bench.capture(.event("nothing"))
        #expect(bench.endpoints == [.events] && bench.incoming.isEmpty)
    }
}
