import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayDES

/// The vendor's side, which is strict and has a state of its own.
@Suite("DES simulator") struct SimulatorTests {
    /// Sends the last request once more, changed.
    private func again(_ bench: Bench, _ change: (inout WireRequest) throws -> Void) throws -> WireResponse {
        var request = try #require(bench.last?.request)
        try change(&request)
        return bench.simulator.respond(to: request, state: &bench.state, now: bench.now)
    }

    private func changed(_ request: inout WireRequest, _ change: (inout JSONObject) -> Void) throws {
        var body = try #require(request.json?.object)
        change(&body)
        request.body = Array(JSONValue.object(body).text.utf8)
    }

    private static let views: JSONValue = [["campaignId": "1", "timestamp": "2031-03-09T07:05:11.042Z"]]

    @Test(
        arguments: [
            ("viewedMessages", nil), ("viewedMessages", [["campaignId": "1"]]), ("clicks", "none"),
            ("clicks", [["campaignId": "1", "timestamp": "2031-03-09T07:05:11.042Z"]]), ("clicks", .null),
            ("viewedMessages", [["campaignId": "1", "timestamp": "2031-03-09T07:05:11Z"]]),
            ("viewedMessages", [["campaignId": "1", "timestamp": "2031-03-09T07:05:11.042Z", "views": 2]]),
            ("events", []), ("events", [["type": "other", "name": "x", "timestamp": "2031-03-09T07:05:11.042Z"]]),
            ("events", [["type": "internal", "name": "x", "timestamp": "2031-03-09T07:05:11.042Z"]]),
            ("events", [["type": "custom", "name": "x", "timestamp": "2031-03-09T07:05:11.042Z", "attributes": [:]]]),
            (
                "events",
                [["type": "custom", "name": "x", "timestamp": "2031-03-09T07:05:11.042Z", "attributes": ["n": 1]]]
            ),
            ("deviceEventState", "{}"), ("deviceEventState", ["campaignStats": [:]]), ("dnd", "true"), ("more", 1),
        ] as [(String, JSONValue?)]
    )
    func `events in another form are refused, and nothing is counted`(row: (name: String, value: JSONValue?)) throws {
        let bench = try Bench.started()
        bench.capture(.event("x"))
        let before = bench.state
        let reply = try again(bench) { try changed(&$0) { $0[row.name] = row.value } }
        #expect(reply.status == 400 && bench.state.violations.count == 1)
        #expect(bench.state.events == before.events && bench.state.clients.last?.views == before.clients.last?.views)
    }

    @Test(
        arguments: [
            ("Content-Type", "text/plain", 415), ("X-Client-Id", "7", 400), ("X-Client-Id", nil, 400),
            ("X-Request-Order", nil, 400), ("X-Request-Order", "today", 400), ("X-EMARSYS-SDK-VERSION", nil, 400),
            ("X-EMARSYS-SDK-MODE", "test", 400), ("X-Contact-Token", nil, 401), ("X-Contact-Token", "stolen", 401),
            ("X-Client-State", "of-another", 400),
        ] as [(String, String?, Int)]
    )
    func `headers are looked at`(row: (name: String, value: String?, status: Int)) throws {
        let bench = try Bench.started()
        bench.capture(.event("x"))
        let reply = try again(bench) { request in
            request.headers.removeAll { $0.name == row.name }
            if let value = row.value { request.headers.append(WireHeader(row.name, value)) }
        }
        #expect(reply.status == row.status)
    }

    @Test func `the state that was handed out must come back, once it did`() throws {
        let bench = try Bench.started()
        bench.capture(.view("1"))
        bench.capture(.event("x"))
        #expect(bench.state.violations == [])
        let missing = try again(bench) { try changed(&$0) { $0["deviceEventState"] = nil } }
        let altered = try again(bench) { try changed(&$0) { $0["deviceEventState"] = ["campaignStats": [:]] } }
        #expect(missing.status == 400 && altered.status == 400)
    }

    @Test func `counts grow on top of what comes back, and a state whose answer was lost is taken, too`() throws {
        let bench = try Bench.started()
        bench.capture(.view("1"))
        let second = try again(bench) { try changed(&$0) { $0["deviceEventState"] = nil } }
        // The client never received the first reply and repeats the request. The vendor can't detect that.
        #expect(second.json?["deviceEventState"]?["campaignStats"]?["1"]?["views"] == 1)
        #expect(bench.client?.views == ["1": 2])
        bench.capture(together: .view("1"), .click("1"))
        let stats = bench.memory.eventState?["campaignStats"]?["1"]
        #expect(stats?["views"] == 2 && stats?["clicks"] == 1 && bench.state.violations == [])
    }

    @Test func `contact tokens grow old, and renewals work with the right token alone`() throws {
        let bench = try Bench.started(account: ["tokenLifetimeSeconds": 60])
        bench.advance(59_999)
        bench.capture(.event("x"))
        #expect(bench.endpoints == [.events])
        bench.advance(1)
        bench.capture(.event("y"))
        #expect(bench.endpoints == [.events, .events, .contactToken])
        let wrong = try again(bench) { try changed(&$0) { $0["refreshToken"] = "guessed" } }
        let signed = try again(bench) { $0.headers.append(WireHeader("X-Contact-Token", "contact-1")) }
        #expect(wrong.status == 403 && signed.status == 400)
    }

    @Test func `a registration is complete, and of a known platform`() throws {
        let bench = try Bench()
        bench.script = [nil, .status(500)]
        bench.capture(.registerDevice(Corpus.phone))
        let request = try #require(bench.sent.first?.request)
        let wrong: [(String, JSONValue?)] = [
            ("platform", "watchos"), ("deviceModel", nil), ("timezone", "+02:00"), ("osVersion", .null),
            ("pushSettings", [:]),
            ("pushSettings", ["areNotificationsEnabled": true, "importance": 3]), ("color", "blue"),
        ]
        for (name, value) in wrong {
            var copy = request
            try changed(&copy) { $0[name] = value }
            #expect(bench.simulator.respond(to: copy, state: &bench.state, now: bench.now).status == 400, "\(name)")
        }
        #expect(bench.state.clients.count == 1 && bench.client?.registrations == 1)
    }

    @Test(
        arguments: [
            ("GET", "/v3/apps/ABCD1-234E6/client/events", 405), ("POST", "/v5/apps/ABCD1-234E6/client/events", 404),
            ("POST", "/v4/apps/ABCD1-234E6/client", 404), ("POST", "/v3/apps/OTHER/client", 400),
            ("GET", "/OTHER", 404), ("GET", "/v4/apps/ABCD1-234E6/messages/1", 400), ("GET", "/v4/apps", 404),
        ]
    )
    func `strange addresses are refused`(row: (method: String, path: String, status: Int)) throws {
        let bench = try Bench.started(account: ["applicationCodes": ["ABCD1-234E6"]])
        bench.capture(.event("x"))
        let reply = try again(bench) { request in
            (request.method, request.url) = (row.method, "https://des.example\(row.path)")
            if row.path == "/OTHER" { request.headers.removeAll { $0.name.hasPrefix("X-C") } }
        }
        #expect(reply.status == row.status)
    }

    @Test func `v3 knows no device event state`() throws {
        let bench = try Bench.started(["eventService": "v3"], account: ["cancelledCampaigns": ["7", "spring"]])
        bench.capture(.view("7"))
        let reply = try again(bench) { _ in }
        #expect(reply.json == ["oldCampaigns": [7, "spring"]])
        #expect(try again(bench) { try changed(&$0) { $0["deviceEventState"] = [:] } }.status == 400)
    }

    @Test func `an account's mistakes are told at once`() {
        do {
            _ = try DESSimulator(settings: ["messages": [], "inbox": [1], "tokenLifetimeSeconds": 0, "colour": 1])
            Issue.record("it was taken")
        } catch {
            #expect(Set(error.findings.map(\.path)) == ["messages", "inbox", "tokenLifetimeSeconds", "colour"])
        }
    }

    @Test func `empty answers are a form of yes`() throws {
        let bench = try Bench.started(account: ["emptyAnswers": true])
        let id = bench.capture(.view("1"))
        #expect(bench.verdicts[id]?.isAccepted == true && bench.memory.views == [] && bench.memory.eventState == nil)
    }
}
