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
    /// Unknown names, nested null, numbers whose text matters, and an order that must not change.
    private static let strange =
        #"{"z":{"deep":[null,{"n":null}]},"campaignStats":{"904401":{"views":10,"ratio":1.50,"big":123456789012345678901234567890,"e":1E+2}},"a":"é\"\\/😀"}"#

    private func answer(_ state: String) -> Outcome {
        .replied(WireResponse(200, body: Array("{\"deviceEventState\":\(state)}".utf8)))
    }

    private func stateText(_ sent: Bench.Sent?) throws -> String {
        let body = String(decoding: try #require(sent).request.body, as: UTF8.self)
        let start = try #require(body.firstRange(of: "\"deviceEventState\":"))
        let end =
            body[start.upperBound...].firstRange(of: ",\"language\"")?.lowerBound ?? body.index(before: body.endIndex)
        return String(body[start.upperBound..<end])
    }

    @Test(.shows("des/R17", "des/R23", "des/R1"))
    func `the state goes back as it came, in events and in inline requests`() throws {
        let bench = try Bench.started()
        bench.script = [answer(Self.strange), .status(204), .status(204)]
        bench.capture(.event("first"))
        #expect(bench.last?.body["deviceEventState"] == nil)
        bench.capture(.event("second"))
        #expect(try stateText(bench.last) == Self.strange)
        bench.capture(.inline("home-hero"))
        #expect(try stateText(bench.last) == Self.strange)
        #expect(
            bench.sent.map(\.request.url) == [
                "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/client/events",
                "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/client/events",
                "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/inline-messages",
            ]
        )
        bench.capture(.registerDevice(Device(pushToken: PushToken("0aa1"), facts: Corpus.phone.facts)))
        #expect(bench.sent.suffix(1).allSatisfy { $0.body["deviceEventState"] == nil })
    }

    @Test(.shows("des/R17")) func `the state survives storage byte for byte`() throws {
        var memory = DESMemory()
        memory.eventState = EventState(rawValue: Self.strange)
        let stored = try JSONEncoding.encode(memory)
        #expect(try JSONEncoding.decode(stored).eventState?.rawValue == Self.strange)
        let bench = try Bench.started()
        bench.memory.eventState = memory.eventState
        bench.script = [.status(204)]
        bench.capture(.event("x"))
        #expect(try stateText(bench.last) == Self.strange)
    }

    @Test(.shows("des/R23")) func `a new state replaces the old one as a whole, even an empty one`()
        throws
    {
        let bench = try Bench.started()
        bench.script = [answer(Self.strange), answer(#"{"campaignStats":{}}"#), answer("{}")]
        for expected in [Self.strange, #"{"campaignStats":{}}"#, "{}"] {
            bench.capture(.event("x"))
            #expect(bench.memory.eventState?.rawValue == expected)
        }
        bench.script = [answer(#"{"inline":true}"#)]
        bench.capture(.inline("x"))
        #expect(bench.memory.eventState == ["inline": true])
    }

    @Test(
        .shows("des/R24"),
        arguments: [
            "", "{}", "{\"deviceEventState\":null}", "{\"deviceEventState\":[1]}", "{\"deviceEventState\":\"{}\"}",
            "no JSON", "[]",
        ]
    )
    func `an answer without a state leaves it`(body: String) throws {
        let bench = try Bench.started()
        bench.script = [answer(Self.strange), .replied(WireResponse(200, body: Array(body.utf8)))]
        bench.capture(.event("x"))
        let id = bench.capture(.event("x"))
        #expect(bench.verdicts[id]?.isAccepted == true && bench.memory.eventState?.rawValue == Self.strange)
    }

    @Test(.shows("des/R24")) func `the state in another request's answer is not looked at`() throws {
        let bench = try Bench.started()
        bench.script = [answer(Self.strange), .status(204)]
        bench.capture(.logIn("c-1002"))
        #expect(bench.memory.eventState == nil)
        bench.capture(.event("x"))
    }

    @Test(.shows("des/R18", "des/R19", "des/R25"))
    func `each view and click is sent once, one by one in its order`() throws {
        let bench = try Bench.started()
        bench.capture(together: .view("1"), .view("2"), .view("1"), .click("1"))
        #expect(bench.last?.body.campaigns("viewedMessages") == ["1", "2", "1"])
        #expect(bench.last?.body.campaigns("clicks") == ["1"])
        bench.capture(together: .view("3"), .event("x"))
        #expect(bench.last?.body.campaigns("viewedMessages") == ["3"])
        #expect(bench.last?.body.campaigns("clicks") == [])
        #expect(bench.last?.body["clicks"] == [])
        // The vendor counts on top of the state that the client returned.
        let stats = bench.memory.eventState?["campaignStats"]
        #expect(stats?["1"]?["views"] == 2 && stats?["1"]?["clicks"] == 1 && stats?["3"]?["views"] == 1)
        #expect(stats?["1"]?["lastViewAt"] == "2031-03-09T07:05:11.042Z" && stats?["2"]?["lastClickAt"] == nil)
        #expect(bench.state.violations == [])
    }

    @Test(
        .shows("des/R27", "des/R25"),
        arguments: [Outcome.lost, .offline, .status(500), .status(503), .status(429), .status(408), .status(302)]
    )
    func `after a failure the same views and clicks go with the next request`(failure: Outcome) throws {
        let bench = try Bench.started()
        bench.capture(.event("state"))
        let before = bench.memory.eventState
        bench.script = [failure]
        bench.capture(together: .view("1"), .click("2"))
        #expect(bench.memory.eventState == before && bench.pendingCount == 2)
        bench.advance(1_000)
        bench.capture(.view("1"))
        #expect(bench.last?.body.campaigns("viewedMessages") == ["1", "1"])
        #expect(bench.last?.body.campaigns("clicks") == ["2"])
        #expect(bench.memory.views == [] && bench.memory.clicks == [] && bench.pendingCount == 0)
        #expect(bench.client?.views == ["1": 2])
    }

    @Test(.shows("des/R27", "des/R32"))
    func `views and clicks outlive the events that are given up`() throws {
        let bench = try Bench.started()
        bench.script = [.status(400)]
        let ids = bench.capture(together: .view("1"), .click("2"), .event("x"))
        #expect(ids.allSatisfy { bench.verdicts[$0]?.finding?.code == "des.reply.refused" })
        #expect(bench.memory.views.count == 1 && bench.memory.clicks.count == 1)
        bench.advance(1_000)
        bench.capture(.event("next"))
        #expect(bench.last?.body.campaigns("viewedMessages") == ["1"] && bench.last?.body.campaigns("clicks") == ["2"])
        #expect(bench.last?.eventNames == ["next"])
    }

    @Test(.shows("des/R25", "des/R28")) func `what is recorded while a request is in flight stays`()
        throws
    {
        let bench = try Bench.started()
        let adapter = bench.adapter
        var memory = bench.memory
        let rows = ["1", "1"].map { EngagementRow(campaignID: $0, at: Corpus.start) }
        memory.views = [rows[0]]
        memory.clicks = [EngagementRow(campaignID: "1", buttonID: "cta", at: Corpus.start)]
        // The request was sent with one view. A second one of the same campaign was recorded before the reply.
        let exchange = try Moments.exchange(
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
    func `an inline request takes the pending clicks along once, and no views`() throws {
        let bench = try Bench.started()
        bench.script = [.status(503)]
        bench.capture(together: .click("904418", "close"), .view("904418"))
        bench.script = [nil, .status(503)]
        let id = bench.capture(.inline("HOME-hero"))
        #expect(bench.endpoints == [.events, .inlineMessages, .events])
        let inline = bench.sent[1].body
        #expect(inline["viewIds"] == ["HOME-hero"])
        #expect(inline.campaigns("clicks") == ["904418"] && inline["viewedMessages"] == nil)
        #expect(bench.verdicts[id]?.answer?["html"] == "<html>Spring</html>")
        bench.wake()
        #expect(bench.last?.eventNames == ["inapp:click", "inapp:viewed"])
        #expect(bench.last?.body["clicks"] == [] && bench.last?.body.campaigns("viewedMessages") == ["904418"])
        #expect(bench.client?.clicks == ["904418": 1] && bench.client?.views == ["904418": 1])
    }

    @Test(.shows("des/R20"))
    func `an inline request can carry views too, as the vendor's page can be read`() throws {
        var account = Fixture.account
        account["inlineViews"] = true
        let bench = try Bench.started(["inlineViews": true], account: account)
        bench.script = [.status(503)]
        bench.capture(.view("1"))
        bench.capture(.inline("home-hero"))
        #expect(bench.endpoints == [.events, .inlineMessages, .events])
        #expect(bench.sent[1].body.campaigns("viewedMessages") == ["1"])
        #expect(bench.last?.body["viewedMessages"] == [] && bench.client?.views == ["1": 1])
    }

    @Test(.shows("des/R26", "des/R18", "des/R29", "des/R1"))
    func `v3 sends everything each time and deletes by oldCampaigns alone`() throws {
        var account = Fixture.account
        account["cancelledCampaigns"] = ["123456789", "spring"]
        let bench = try Bench.started(["eventService": "v3"])
        bench.memory.eventState = ["left": "over"]
        bench.capture(together: .view("123456789"), .click("spring"), .view("7"))
        #expect(bench.last?.request.url.contains("/v3/apps/ABCD1-234E6/client/events") == true)
        #expect(bench.last?.body["deviceEventState"] == nil)
        bench.capture(.event("x"))
        #expect(bench.last?.body.campaigns("viewedMessages") == ["123456789", "7"])
        bench.script = [.status(200, ["oldCampaigns": [123_456_789, "spring"], "deviceEventState": ["n": 1]])]
        bench.capture(.event("x"))
        #expect(bench.memory.views.map(\.campaignID) == ["7"] && bench.memory.clicks == [])
        #expect(bench.memory.eventState == ["left": "over"])
        bench.script = [.status(200, ["oldCampaigns": "7"]), .status(200, ["oldCampaigns": []])]
        bench.capture(.event("x"))
        bench.capture(.inline("home-hero"))
        #expect(bench.last?.request.url.contains("/v3/apps/ABCD1-234E6/inline-messages") == true)
        #expect(bench.memory.views.map(\.campaignID) == ["7"])
    }

    @Test(.shows("des/R26")) func `v4 ignores oldCampaigns`() throws {
        let bench = try Bench.started()
        bench.script = [.status(503)]
        bench.capture(.view("7"))
        bench.script = [.status(200, ["oldCampaigns": ["7"], "inlineMessages": []]), .status(503)]
        bench.capture(.inline("home-hero"))
        #expect(bench.memory.views.map(\.campaignID) == ["7"])
    }

    @Test(.shows("des/R23")) func `the vendor prunes a cancelled campaign, and the client follows`()
        throws
    {
        var account = Fixture.account
        let bench = try Bench.started(account: account)
        bench.capture(.view("7"))
        #expect(bench.memory.eventState?["campaignStats"]?["7"] != nil)
        account["cancelledCampaigns"] = ["7"]
        let later = try Bench(account: account)
        later.state = bench.state
        (later.memory, later.contact) = (bench.memory, bench.contact)
        later.capture(.event("x"))
        #expect(later.memory.eventState?["campaignStats"] == [:] && later.state.violations == [])
    }
}
