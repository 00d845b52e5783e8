import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayDES

/// The simulator is strict and keeps its own state.
@Suite("DES simulator") struct SimulatorTests {
    /// Changes the last request and sends it again.
    private func again(_ driver: Driver, _ change: (inout WireRequest) throws -> Void) throws -> WireResponse {
        var request = try #require(driver.last?.request)
        try change(&request)
        return driver.simulator.respond(to: request, state: &driver.state, now: driver.now)
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
    func `refuses events in another form and counts nothing`(row: (name: String, value: JSONValue?)) throws {
        let driver = try Driver.started()
        driver.capture(.event("x"))
        let before = driver.state
        let reply = try again(driver) { try changed(&$0) { $0[row.name] = row.value } }
        #expect(reply.status == 400 && driver.state.violations.count == 1)
        #expect(driver.state.events == before.events && driver.state.clients.last?.views == before.clients.last?.views)
    }

    @Test(
        arguments: [
            ("Content-Type", "text/plain", 415), ("X-Client-Id", "7", 400), ("X-Client-Id", nil, 400),
            ("X-Request-Order", nil, 400), ("X-Request-Order", "today", 400), ("X-EMARSYS-SDK-VERSION", nil, 400),
            ("X-EMARSYS-SDK-MODE", "test", 400), ("X-Contact-Token", nil, 401), ("X-Contact-Token", "stolen", 401),
            ("X-Client-State", "of-another", 400),
        ] as [(String, String?, Int)]
    )
    func `validates headers`(row: (name: String, value: String?, status: Int)) throws {
        let driver = try Driver.started()
        driver.capture(.event("x"))
        let reply = try again(driver) { request in
            request.headers.removeAll { $0.name == row.name }
            if let value = row.value { request.headers.append(WireHeader(row.name, value)) }
        }
        #expect(reply.status == row.status)
    }

    @Test func `requires the last state to be returned after the client returned one`() throws {
        let driver = try Driver.started()
        driver.capture(.view("1"))
        driver.capture(.event("x"))
        #expect(driver.state.violations == [])
        let missing = try again(driver) { try changed(&$0) { $0["deviceEventState"] = nil } }
        let altered = try again(driver) { try changed(&$0) { $0["deviceEventState"] = ["campaignStats": [:]] } }
        #expect(missing.status == 400 && altered.status == 400)
    }

    @Test func `counts on top of the returned state and accepts a state whose reply was lost`() throws {
        let driver = try Driver.started()
        driver.capture(.view("1"))
        let second = try again(driver) { try changed(&$0) { $0["deviceEventState"] = nil } }
        // The client never received the first reply and repeats the request. The vendor can't detect that.
        #expect(second.json?["deviceEventState"]?["campaignStats"]?["1"]?["views"] == 1)
        #expect(driver.client?.views == ["1": 2])
        driver.capture(together: .view("1"), .click("1"))
        let stats = driver.memory.eventState?["campaignStats"]?["1"]
        #expect(stats?["views"] == 2 && stats?["clicks"] == 1 && driver.state.violations == [])
    }

    @Test func `expires contact tokens and renews them only with the right refresh token`() throws {
        let driver = try Driver.started(account: ["tokenLifetimeSeconds": 60])
        driver.advance(59_999)
        driver.capture(.event("x"))
        #expect(driver.endpoints == [.events])
        driver.advance(1)
        driver.capture(.event("y"))
        #expect(driver.endpoints == [.events, .events, .contactToken])
        let wrong = try again(driver) { try changed(&$0) { $0["refreshToken"] = "guessed" } }
        let signed = try again(driver) { $0.headers.append(WireHeader("X-Contact-Token", "contact-1")) }
        #expect(wrong.status == 403 && signed.status == 400)
    }

    @Test func `requires complete registrations of a known platform`() throws {
        let driver = try Driver()
        driver.script = [nil, .status(500)]
        driver.capture(.registerDevice(Corpus.phone))
        let request = try #require(driver.sent.first?.request)
        let wrong: [(String, JSONValue?)] = [
            ("platform", "watchos"), ("deviceModel", nil), ("timezone", "+02:00"), ("osVersion", .null),
            ("pushSettings", [:]),
            ("pushSettings", ["areNotificationsEnabled": true, "importance": 3]), ("color", "blue"),
        ]
        for (name, value) in wrong {
            var copy = request
            try changed(&copy) { $0[name] = value }
            #expect(driver.simulator.respond(to: copy, state: &driver.state, now: driver.now).status == 400, "\(name)")
        }
        #expect(driver.state.clients.count == 1 && driver.client?.registrations == 1)
    }

    @Test(
        arguments: [
            ("GET", "/v3/apps/ABCD1-234E6/client/events", 405), ("POST", "/v5/apps/ABCD1-234E6/client/events", 404),
            ("POST", "/v4/apps/ABCD1-234E6/client", 404), ("POST", "/v3/apps/OTHER/client", 400),
            ("GET", "/OTHER", 404), ("GET", "/v4/apps/ABCD1-234E6/messages/1", 400), ("GET", "/v4/apps", 404),
        ]
    )
    func `refuses unknown addresses`(row: (method: String, path: String, status: Int)) throws {
        let driver = try Driver.started(account: ["applicationCodes": ["ABCD1-234E6"]])
        driver.capture(.event("x"))
        let reply = try again(driver) { request in
            (request.method, request.url) = (row.method, "https://des.example\(row.path)")
            if row.path == "/OTHER" { request.headers.removeAll { $0.name.hasPrefix("X-C") } }
        }
        #expect(reply.status == row.status)
    }

    @Test func `v3 has no device event state`() throws {
        let driver = try Driver.started(["eventService": "v3"], account: ["cancelledCampaigns": ["7", "spring"]])
        driver.capture(.view("7"))
        let reply = try again(driver) { _ in }
        #expect(reply.json == ["oldCampaigns": [7, "spring"]])
        #expect(try again(driver) { try changed(&$0) { $0["deviceEventState"] = [:] } }.status == 400)
    }

    @Test func `reports all errors of an account at once`() {
        do {
            _ = try DESSimulator(settings: ["messages": [], "inbox": [1], "tokenLifetimeSeconds": 0, "colour": 1])
            Issue.record("it was taken")
        } catch {
            #expect(Set(error.findings.map(\.path)) == ["messages", "inbox", "tokenLifetimeSeconds", "colour"])
        }
    }

    @Test func `treats an empty answer as a success`() throws {
        let driver = try Driver.started(account: ["emptyAnswers": true])
        let id = driver.capture(.view("1"))
        #expect(driver.verdicts[id]?.isAccepted == true && driver.memory.views == [] && driver.memory.eventState == nil)
    }
}
