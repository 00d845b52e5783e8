import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES views, clicks and the device event state") struct StateTests {
    /// A state with unknown names, nested nulls, numbers whose text must stay, and a fixed order.
    private static let unusualState =
        #"{"z":{"deep":[null,{"n":null}]},"campaignStats":{"904401":{"views":10,"ratio":1.50,"big":123456789012345678901234567890,"e":1E+2}},"a":"é\"\\/😀"}"#

    private func answer(_ state: String) -> Outcome {
        .replied(WireResponse(200, body: Array("{\"deviceEventState\":\(state)}".utf8)))
    }

    private func stateText(_ sent: Driver.Sent?) throws -> String {
        let body = String(decoding: try #require(sent).request.body, as: UTF8.self)
        let start = try #require(body.firstRange(of: "\"deviceEventState\":"))
        let end =
            body[start.upperBound...].firstRange(of: ",\"language\"")?.lowerBound ?? body.index(before: body.endIndex)
        return String(body[start.upperBound..<end])
    }

    @Test(.shows("des/R17", "des/R23", "des/R1"))
    func `returns the state unchanged in events and inline requests`() throws {
        let driver = try Driver.started()
        driver.script = [answer(Self.unusualState), .status(204), .status(204)]
        driver.capture(.event("first"))
        #expect(driver.last?.body["deviceEventState"] == nil)
        driver.capture(.event("second"))
        #expect(try stateText(driver.last) == Self.unusualState)
        driver.capture(.inline("home-hero"))
        #expect(try stateText(driver.last) == Self.unusualState)
        #expect(
            driver.sent.map(\.request.url) == [
                "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/client/events",
                "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/client/events",
                "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/inline-messages",
            ]
        )
        driver.capture(.registerDevice(Device(pushToken: PushToken("0aa1"), facts: Corpus.phone.facts)))
        #expect(driver.sent.suffix(1).allSatisfy { $0.body["deviceEventState"] == nil })
    }

    @Test(.shows("des/R17")) func `stores the state byte for byte`() throws {
        var memory = DESMemory()
        memory.eventState = EventState(rawValue: Self.unusualState)
        let stored = try JSONEncoding.encode(memory)
        #expect(try JSONEncoding.decode(stored).eventState?.rawValue == Self.unusualState)
        let driver = try Driver.started()
        driver.memory.eventState = memory.eventState
        driver.script = [.status(204)]
        driver.capture(.event("x"))
        #expect(try stateText(driver.last) == Self.unusualState)
    }

    @Test(.shows("des/R23")) func `a new state replaces the old one completely, even if it is empty`()
        throws
    {
        let driver = try Driver.started()
        driver.script = [answer(Self.unusualState), answer(#"{"campaignStats":{}}"#), answer("{}")]
        for expected in [Self.unusualState, #"{"campaignStats":{}}"#, "{}"] {
            driver.capture(.event("x"))
            #expect(driver.memory.eventState?.rawValue == expected)
        }
        driver.script = [answer(#"{"inline":true}"#)]
        driver.capture(.inline("x"))
        #expect(driver.memory.eventState == ["inline": true])
    }

    @Test(
        .shows("des/R24"),
        arguments: [
            "", "{}", "{\"deviceEventState\":null}", "{\"deviceEventState\":[1]}", "{\"deviceEventState\":\"{}\"}",
            "no JSON", "[]",
        ]
    )
    func `keeps the state after an answer without one`(body: String) throws {
        let driver = try Driver.started()
        driver.script = [answer(Self.unusualState), .replied(WireResponse(200, body: Array(body.utf8)))]
        driver.capture(.event("x"))
        let id = driver.capture(.event("x"))
        #expect(driver.verdicts[id]?.isAccepted == true && driver.memory.eventState?.rawValue == Self.unusualState)
    }

    @Test(.shows("des/R24")) func `ignores the state in other requests' answers`() throws {
        let driver = try Driver.started()
        driver.script = [answer(Self.unusualState), .status(204)]
        driver.capture(.logIn("c-1002"))
        #expect(driver.memory.eventState == nil)
        driver.capture(.event("x"))
    }

    @Test(.shows("des/R18", "des/R19", "des/R25"))
    func `sends each view and click once and in order`() throws {
        let driver = try Driver.started()
        driver.capture(together: .view("1"), .view("2"), .view("1"), .click("1"))
        #expect(driver.last?.body.campaigns("viewedMessages") == ["1", "2", "1"])
        #expect(driver.last?.body.campaigns("clicks") == ["1"])
        driver.capture(together: .view("3"), .event("x"))
        #expect(driver.last?.body.campaigns("viewedMessages") == ["3"])
        #expect(driver.last?.body.campaigns("clicks") == [])
        #expect(driver.last?.body["clicks"] == [])
        // The vendor counts on top of the state that the client returned.
        let stats = driver.memory.eventState?["campaignStats"]
        #expect(stats?["1"]?["views"] == 2 && stats?["1"]?["clicks"] == 1 && stats?["3"]?["views"] == 1)
        #expect(stats?["1"]?["lastViewAt"] == "2031-03-09T07:05:11.042Z" && stats?["2"]?["lastClickAt"] == nil)
        #expect(driver.state.violations == [])
    }

    @Test(
        .shows("des/R27", "des/R25"),
        arguments: [Outcome.lost, .offline, .status(500), .status(503), .status(429), .status(408), .status(302)]
    )
    func `sends the same views and clicks with the next request after a failure`(failure: Outcome) throws {
        let driver = try Driver.started()
        driver.capture(.event("state"))
        let before = driver.memory.eventState
        driver.script = [failure]
        driver.capture(together: .view("1"), .click("2"))
        #expect(driver.memory.eventState == before && driver.pendingCount == 2)
        driver.advance(1_000)
        driver.capture(.view("1"))
        #expect(driver.last?.body.campaigns("viewedMessages") == ["1", "1"])
        #expect(driver.last?.body.campaigns("clicks") == ["2"])
        #expect(driver.memory.views == [] && driver.memory.clicks == [] && driver.pendingCount == 0)
        #expect(driver.client?.views == ["1": 2])
    }

    @Test(.shows("des/R27", "des/R32"))
    func `keeps views and clicks of rejected events`() throws {
        let driver = try Driver.started()
        driver.script = [.status(400)]
        let ids = driver.capture(together: .view("1"), .click("2"), .event("x"))
        #expect(ids.allSatisfy { driver.verdicts[$0]?.finding?.code == "des.reply.refused" })
        #expect(driver.memory.views.count == 1 && driver.memory.clicks.count == 1)
        driver.advance(1_000)
        driver.capture(.event("next"))
        #expect(
            driver.last?.body.campaigns("viewedMessages") == ["1"] && driver.last?.body.campaigns("clicks") == ["2"]
        )
        #expect(driver.last?.eventNames == ["next"])
    }

    @Test(.shows("des/R25", "des/R28")) func `keeps views and clicks recorded while a request is in flight`()
        throws
    {
        let driver = try Driver.started()
        let adapter = driver.adapter
        var memory = driver.memory
        let rows = ["1", "1"].map { EngagementRow(campaignID: $0, at: Corpus.start) }
        memory.views = [rows[0]]
        memory.clicks = [EngagementRow(campaignID: "1", buttonID: "cta", at: Corpus.start)]
        // The request was sent with one view. A second one of the same campaign was recorded before the reply.
        let exchange = try Exchanges.exchange(
            .event("x"),
            adapter,
            memory,
            answer: .status(200, ["deviceEventState": ["n": 2]])
        )
        memory.views.append(rows[1])
        _ = adapter.interpret(exchange, memory: &memory)
        #expect(memory.views == [rows[1]] && memory.clicks == [] && memory.eventState == ["n": 2])
    }

    @Test(.shows("des/R20", "des/R25", "des/B11"))
    func `an inline request sends the pending clicks once and no views`() throws {
        let driver = try Driver.started()
        driver.script = [.status(503)]
        driver.capture(together: .click("904418", "close"), .view("904418"))
        driver.script = [nil, .status(503)]
        let id = driver.capture(.inline("HOME-hero"))
        #expect(driver.endpoints == [.events, .inlineMessages, .events])
        let inline = driver.sent[1].body
        #expect(inline["viewIds"] == ["HOME-hero"])
        #expect(inline.campaigns("clicks") == ["904418"] && inline["viewedMessages"] == nil)
        #expect(driver.verdicts[id]?.answer?["html"] == "<html>Spring</html>")
        driver.wake()
        #expect(driver.last?.eventNames == ["inapp:click", "inapp:viewed"])
        #expect(driver.last?.body["clicks"] == [] && driver.last?.body.campaigns("viewedMessages") == ["904418"])
        #expect(driver.client?.clicks == ["904418": 1] && driver.client?.views == ["904418": 1])
    }

    @Test(.shows("des/R20"))
    func `an inline request sends views too if the settings say so`() throws {
        var account = Fixture.account
        account["inlineViews"] = true
        let driver = try Driver.started(["inlineViews": true], account: account)
        driver.script = [.status(503)]
        driver.capture(.view("1"))
        driver.capture(.inline("home-hero"))
        #expect(driver.endpoints == [.events, .inlineMessages, .events])
        #expect(driver.sent[1].body.campaigns("viewedMessages") == ["1"])
        #expect(driver.last?.body["viewedMessages"] == [] && driver.client?.views == ["1": 1])
    }

    @Test(.shows("des/R26", "des/R18", "des/R29", "des/R1"))
    func `v3 sends everything each time and deletes only by oldCampaigns`() throws {
        var account = Fixture.account
        account["cancelledCampaigns"] = ["123456789", "spring"]
        let driver = try Driver.started(["eventService": "v3"])
        driver.memory.eventState = ["left": "over"]
        driver.capture(together: .view("123456789"), .click("spring"), .view("7"))
        #expect(driver.last?.request.url.contains("/v3/apps/ABCD1-234E6/client/events") == true)
        #expect(driver.last?.body["deviceEventState"] == nil)
        driver.capture(.event("x"))
        #expect(driver.last?.body.campaigns("viewedMessages") == ["123456789", "7"])
        driver.script = [.status(200, ["oldCampaigns": [123_456_789, "spring"], "deviceEventState": ["n": 1]])]
        driver.capture(.event("x"))
        #expect(driver.memory.views.map(\.campaignID) == ["7"] && driver.memory.clicks == [])
        #expect(driver.memory.eventState == ["left": "over"])
        driver.script = [.status(200, ["oldCampaigns": "7"]), .status(200, ["oldCampaigns": []])]
        driver.capture(.event("x"))
        driver.capture(.inline("home-hero"))
        #expect(driver.last?.request.url.contains("/v3/apps/ABCD1-234E6/inline-messages") == true)
        #expect(driver.memory.views.map(\.campaignID) == ["7"])
    }

    @Test(.shows("des/R26")) func `v4 ignores oldCampaigns`() throws {
        let driver = try Driver.started()
        driver.script = [.status(503)]
        driver.capture(.view("7"))
        driver.script = [.status(200, ["oldCampaigns": ["7"], "inlineMessages": []]), .status(503)]
        driver.capture(.inline("home-hero"))
        #expect(driver.memory.views.map(\.campaignID) == ["7"])
    }

    @Test(.shows("des/R23")) func `removes a cancelled campaign that the vendor removed from the state`()
        throws
    {
        var account = Fixture.account
        let driver = try Driver.started(account: account)
        driver.capture(.view("7"))
        #expect(driver.memory.eventState?["campaignStats"]?["7"] != nil)
        account["cancelledCampaigns"] = ["7"]
        let later = try Driver(account: account)
        later.state = driver.state
        (later.memory, later.contact) = (driver.memory, driver.contact)
        later.capture(.event("x"))
        #expect(later.memory.eventState?["campaignStats"] == [:] && later.state.violations == [])
    }
}
