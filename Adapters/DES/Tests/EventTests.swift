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
        let driver = try Driver.started(settings)
        driver.capture(action, options: options)
        return try #require(driver.last?.body["events"]?[0])
    }

    @Test(.shows("des/B6", "des/R12", "des/R30"))
    func `sends an event with type, name and time and omits empty attributes`() throws {
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
    func `sends attributes as text`(row: (value: AttributeValue, text: String)) throws {
        #expect(try event(.event("x", ["a": row.value]))["attributes"] == ["a": .string(row.text)])
    }

    @Test(.shows("des/R30")) func `writes local timestamps if the settings say so`() throws {
        #expect(try event(.event("x"), ["timestamps": "local"])["timestamp"] == "2031-03-09T09:05:11.042+02:00")
        let driver = try Driver.started(["timestamps": "local"])
        driver.capture(.view("904417"))
        #expect(driver.last?.body["viewedMessages"]?[0]?["timestamp"] == "2031-03-09T09:05:11.042+02:00")
        #expect(driver.state.violations == [])
    }

    @Test(.shows("des/B7", "des/R14"))
    func `sends push opens and button clicks in their own form`() throws {
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
    func `starts sessions, sends their id and ends them with their duration`() throws {
        let driver = try Driver.started()
        driver.capture(.track(.sessionStarted), options: ["appStart": true])
        driver.advance(1_500)
        driver.capture(together: .event("inside"), .track(.sessionEnded), .event("outside"))
        #expect(
            driver.sent.flatMap(\.eventNames) == ["app:start", "session:start", "inside", "session:end", "outside"]
        )
        let events = driver.sent.flatMap { $0.body["events"]?.array ?? [] }
        #expect(events[0]["sessionId"] == nil && events[4]["sessionId"] == nil)
        #expect(Set(events[1...3].map { $0["sessionId"]?.string }).count == 1)
        #expect(events[3]["attributes"] == ["duration": "1500"])
        let again = driver.capture(.track(.sessionEnded))
        #expect(driver.verdicts[again]?.finding?.code == "des.session.none")
    }

    @Test(.shows("des/R13")) func `does not report the app start without a contact token`()
        throws
    {
        let driver = try Driver.started()
        driver.memory.contactToken = nil
        driver.script = [.status(204)]
        driver.capture(.track(.sessionStarted), options: ["appStart": true])
        #expect(driver.last?.eventNames == ["session:start"])
    }

    @Test(.shows("des/B10", "des/R29", "des/R15"))
    func `records and reports a view and a click`() throws {
        let driver = try Driver.started()
        driver.capture(together: .view("904417"), .click("904417", "cta-primary"))
        let body = try #require(driver.last?.body)
        #expect(body["viewedMessages"] == [["campaignId": "904417", "timestamp": "2031-03-09T07:05:11.042Z"]])
        #expect(
            body["clicks"] == [
                ["campaignId": "904417", "buttonId": "cta-primary", "timestamp": "2031-03-09T07:05:11.042Z"]
            ]
        )
        #expect(driver.last?.eventNames == ["inapp:viewed", "inapp:click"])
    }

    @Test(.shows("des/R29")) func `sends campaign ids as numbers if the settings say so`() throws {
        let driver = try Driver.started(["campaignIds": "number"])
        driver.capture(.click("123456789", "some-button"))
        #expect(driver.last?.body["clicks"]?[0]?["campaignId"] == 123_456_789)
        let refused = driver.capture(.view("spring"))
        #expect(driver.verdicts[refused]?.finding?.code == "des.message.campaignNumber")
    }

    @Test(.shows("des/B8")) func `reports with each request that messages must not be shown`() throws {
        let driver = try Driver.started()
        let id = driver.capture(.inApp(.unsubscribed))
        #expect(driver.sent.isEmpty && driver.verdicts[id]?.finding?.code == "des.subscription.next")
        driver.capture(.event("quiet"))
        #expect(driver.last?.body["dnd"] == true && driver.state.events.last?.isPaused == true)
        #expect(driver.verdict(.inApp(.suspended))?.isUnchanged == true)
        driver.capture(.inApp(.subscribed))
        driver.capture(.event("loud"))
        #expect(driver.last?.body.object?.names.contains("dnd") == false)
        try driver.restart(["alwaysSendsDnd": true])
        driver.capture(.event("loud"))
        #expect(driver.last?.body["dnd"] == false)
    }

    @Test(.shows("des/B9")) func `sends language and versions with events unless the settings disable it`() throws {
        let driver = try Driver.started()
        driver.capture(.event("x"))
        #expect(driver.last?.body["language"] == "fi" && driver.last?.body["ems_sdk"] == .string(Sender.version))
        #expect(driver.last?.body["application_version"] == "8.4.1")
        try driver.restart(["deviceFieldsInEvents": false])
        driver.capture(.event("x"))
        #expect(driver.last?.body.object?.names == ["viewedMessages", "clicks", "events", "deviceEventState"])
    }

    @Test(.shows("des/R16"))
    func `sends tags in lower case, and only changes once the inbox was fetched`() throws {
        let driver = try Driver.started()
        driver.capture(.tag("inbox:tag:add", "msg-1", "SEEN"))
        #expect(driver.last?.body["events"]?[0]?["attributes"] == ["messageId": "msg-1", "tag": "seen"])
        #expect(driver.last?.body["events"]?[0]?["type"] == "internal")
        driver.capture(.readBack(ReadRequest("inbox")))
        driver.forget()
        #expect(driver.verdict(.tag("inbox:tag:add", "msg-1", "Seen"))?.isUnchanged == true)
        #expect(driver.verdict(.tag("inbox:tag:remove", "msg-1", "pinned"))?.isUnchanged == true)
        let unknown = driver.capture(.tag("inbox:tag:add", "msg-9", "seen"))
        #expect(driver.verdicts[unknown]?.finding?.code == "des.inbox.unknown")
        #expect(driver.sent.isEmpty)
        driver.capture(.tag("inbox:tag:add", "msg-1", "pinned"))
        #expect(driver.endpoints == [.events] && driver.memory.inbox == ["msg-1": ["seen", "pinned"]])
        #expect(driver.verdict(.tag("inbox:tag:add", "msg-1", "pinned"))?.isUnchanged == true)
        #expect(driver.state.tags == ["msg-1": ["seen", "pinned"]])
    }

    @Test(.shows("des/R16")) func `applies the last change of a tag while an earlier one waits`()
        throws
    {
        let driver = try Driver.started()
        driver.capture(.readBack(ReadRequest("inbox")))
        driver.forget()
        driver.script = [.status(503)]
        let first = driver.capture(.tag("inbox:tag:add", "msg-1", "pinned"))
        #expect(driver.verdicts[first] == nil && driver.pendingCount == 1)
        driver.advance(1_000)
        let last = driver.capture(.tag("inbox:tag:remove", "msg-1", "Pinned"))
        #expect(driver.verdicts[first]?.isAccepted == true && driver.verdicts[last]?.isAccepted == true)
        #expect(driver.last?.eventNames == ["inbox:tag:add", "inbox:tag:remove"])
        #expect(driver.state.tags == ["msg-1": ["seen"]] && driver.memory.inbox == ["msg-1": ["seen"]])
        #expect(driver.verdict(.tag("inbox:tag:remove", "msg-1", "pinned"))?.isUnchanged == true)
    }

    @Test(.shows("des/R16"), arguments: [nil, Outcome.status(503)])
    func `keeps all tag changes that are captured at once`(_ outcome: Outcome?) throws {
        let driver = try Driver.started()
        driver.capture(.readBack(ReadRequest("inbox")))
        driver.forget()
        driver.script = [outcome]
        let ids = driver.capture(
            together: .tag("inbox:tag:add", "msg-1", "pinned"),
            .tag("inbox:tag:remove", "msg-1", "seen"),
            .tag("inbox:tag:add", "msg-1", "seen"),
            .tag("inbox:tag:remove", "msg-1", "pinned"),
            .tag("inbox:tag:remove", "msg-1", "opened"),
            .tag("inbox:tag:add", "msg-9", "seen")
        )
        driver.wake()
        #expect(ids[..<4].allSatisfy { driver.verdicts[$0]?.isAccepted == true })
        #expect(driver.verdicts[ids[4]]?.isUnchanged == true)
        #expect(driver.verdicts[ids[5]]?.finding?.code == "des.inbox.unknown")
        #expect(
            driver.last?.eventNames == ["inbox:tag:add", "inbox:tag:remove", "inbox:tag:add", "inbox:tag:remove"]
        )
        #expect(driver.state.tags == ["msg-1": ["seen"]] && driver.memory.inbox == ["msg-1": ["seen"]])
    }

    @Test(.shows("des/A1", "des/R21", "des/R40"))
    func `passes a message with HTML in an answer to the app`() throws {
        let message: JSONObject = ["wishlist": ["campaignId": 904433, "html": "<html>Offer</html>", "note": nil]]
        let driver = try Driver.started(account: ["messages": .object(message)])
        driver.capture(.event("wishlist"))
        #expect(driver.incoming == [["kind": "message", "campaignId": "904433", "html": "<html>Offer</html>"]])
        driver.script = [
            .status(200, ["message": ["campaignId": "1", "html": nil]]), .status(500, ["message": ["html": "<p>"]]),
        ]
        driver.capture(.event("wishlist"))
        driver.capture(.event("wishlist"))
        #expect(driver.incoming.count == 1)
    }

    @Test(.shows("des/A2", "des/A3"))
    func `reports actions in an answer in order and then views their campaign`() throws {
        let actions: JSONValue = [
            ["type": "MEAppEvent", "name": "refresh_home", "payload": ["tab": "deals"]],
            ["type": "MECustomEvent", "name": "offer_made", "payload": ["level": 2, "parts": [1, 2], "gone": nil]],
            ["type": "MEAppEvent"], ["type": "MEUnknown", "name": "x"],
            ["type": "OpenExternalUrl", "url": "https://a.example"],
            ["type": "BadgeCount", "method": "ADD", "value": 3],
        ]
        let driver = try Driver.started(account: [
            "actions": ["wishlist": ["campaignId": "904440", "actions": actions]]
        ])
        driver.capture(.event("wishlist"))
        #expect(
            driver.incoming == [
                ["kind": "appEvent", "name": "refresh_home", "payload": ["tab": "deals"]],
                ["kind": "openUrl", "url": "https://a.example"], ["kind": "badgeCount", "method": "add", "value": 3],
            ]
        )
        #expect(driver.state.events.map(\.name) == ["wishlist", "offer_made", "inapp:viewed"])
        #expect(driver.state.events[1].attributes == ["level": "2", "parts": "[1,2]"])
        #expect(driver.client?.views == ["904440": 1])
        driver.script = [.status(200, ["onEventAction": ["campaignId": "904441"]])]
        driver.forget()
        driver.capture(.event("nothing"))
        #expect(driver.endpoints == [.events] && driver.incoming.isEmpty)
    }
}
