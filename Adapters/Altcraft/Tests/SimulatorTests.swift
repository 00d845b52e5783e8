import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

@Suite("Altcraft simulator") struct SimulatorTests {
    private static let base = "https://push.altcraft.example"

    /// Returns the reply to a request of the adapter that the test changes.
    private func respond(
        _ action: Action,
        options: JSONObject = [:],
        settings: JSONObject = [:],
        account: JSONObject = [:],
        _ change: (inout WireRequest) -> Void
    ) throws -> WireResponse {
        var request = try #require(PlanFixture(settings).request(action, options: options))
        change(&request)
        let simulator = try AltcraftSimulator(settings: account)
        var state = simulator.initialState
        return simulator.respond(to: request, state: &state, now: Corpus.start)
    }

    private func setBody(_ request: inout WireRequest, _ path: String..., to value: JSONValue?) {
        func replace(_ json: JSONValue, _ path: ArraySlice<String>) -> JSONValue {
            guard let name = path.first, var object = json.object else { return json }
            object[name] = path.count == 1 ? value : replace(object[name] ?? [:], path.dropFirst())
            return .object(object)
        }
        request.body = Array(replace(request.json ?? [:], path[...]).text.utf8)
    }

    private func setHeader(_ request: inout WireRequest, _ name: String, _ value: String?) {
        request.headers.removeAll { $0.name == name }
        if let value { request.headers.append(WireHeader(name, value)) }
    }

    @Test func `refuses invalid credentials and headers`() throws {
        let cases: [(String, String?, Int)] = [
            ("Authorization", nil, 401), ("Authorization", "Bearer x", 401), ("Authorization", "Bearer rtoken@x", 403),
            ("Request-ID", nil, 400), ("Request-ID", "order-17", 400), ("Content-Type", "text/plain", 415),
        ]
        for (name, value, status) in cases {
            let response = try respond(RequestTests.subscribe) { setHeader(&$0, name, value) }
            #expect(response.status == status)
            #expect(response.json?["error"] == .integer(status))
            #expect(response.json?["profile"] == .null)
        }
        #expect(try respond(RequestTests.subscribe, account: ["databases": ["99"]]) { _ in }.status == 403)
        #expect(try respond(RequestTests.subscribe) { $0.url = "\(Self.base)/nowhere" }.status == 404)
        #expect(try respond(RequestTests.subscribe) { $0.method = "PUT" }.status == 405)
    }

    @Test func `refuses invalid subscription requests`() throws {
        let changes: [(inout WireRequest) -> Void] = [
            { setBody(&$0, "time", to: 1_760_000_000_000) }, { setBody(&$0, "time", to: 0) },
            { setBody(&$0, "subscription_id", to: "other") },
            { setBody(&$0, "subscription", "provider", to: "ios-huawei") },
            { setBody(&$0, "subscription", "status", to: "paused") }, { setBody(&$0, "subscription", "cats", to: nil) },
            { setBody(&$0, "replace", to: nil) }, { setBody(&$0, "extra", to: true) },
            { $0.url = $0.url.replacing("ios-apns", with: "ios-pigeon") },
            { $0.url = $0.url.replacing("matching_mode=phone", with: "matching_mode=email") },
            { $0.url = $0.url.replacing("sync=true", with: "sync=yes") }, { $0.body = Array("{".utf8) },
        ]
        for change in changes {
            #expect(try respond(RequestTests.subscribe, change).status == 400)
        }
        #expect(try respond(RequestTests.subscribe) { _ in }.status == 200)
    }

    @Test func `answers unknown names with the vendor's error texts`() throws {
        let account: JSONObject = [
            "profileFields": ["tier"], "subscriptionFields": ["shop"], "categories": ["news"],
        ]
        let cases: [(JSONObject, String)] = [
            (["profileFields": ["level": 1]], "with field \"level\": Incorrect field"),
            (["profileFields": ["_bdate": "soon"]], "with field \"_bdate\": Incorrect field"),
            (["customFields": ["vip": true]], "field \"vip\" is not valid: failed convert custom field"),
            (["cats": [["name": "tips"]]], "field \"subscriptions.cats\" is not valid: category not found in resource"),
        ]
        for (options, text) in cases {
            let response = try respond(RequestTests.subscribe, options: options, account: account) { _ in }
            #expect(response.status == 400)
            #expect(response.json?["error_text"] == .string("Platform profile processing error: \(text)"))
        }
        let good: JSONObject = [
            "profileFields": ["tier": 1], "customFields": ["shop": 1], "cats": [["name": "news"]],
        ]
        #expect(try respond(RequestTests.subscribe, options: good, account: account) { _ in }.status == 200)
    }

    @Test func `returns a profile only for synchronous calls`() throws {
        let synchronous = try respond(RequestTests.subscribe) { _ in }
        #expect(synchronous.json?["profile"]?["subscription"]?["status"] == "subscribed")
        let asynchronous = try respond(RequestTests.subscribe, options: ["sync": false]) { _ in }
        #expect(asynchronous.status == 200)
        #expect(asynchronous.json?["profile"] == .null)
    }

    @Test(.shows("altcraft/B13", "altcraft/B14"))
    func `replace unsubscribes other profiles of the database that have the token`() throws {
        let driver = try Driver()
        driver.credentials["jose"] = Token.phone("+34600111222", database: 12)
        driver.deliver(Driver.operation(RequestTests.subscribe, "a", contact: "aino"))
        driver.deliver(Driver.operation(RequestTests.subscribe, "v"))
        driver.deliver(
            Driver.operation(
                RequestTests.subscribe,
                "j",
                contact: "jose",
                options: ["replace": true, "skipTriggers": true]
            )
        )
        let statuses = driver.state.profiles.map { "\($0.database) \($0.subscriptions.map(\.status))" }
        #expect(statuses == [#"12 ["unsubscribed"]"#, #"11 ["subscribed"]"#, #"12 ["subscribed"]"#])
    }

    @Test func `refuses an expired token, an unknown mode and another device's subscription`() throws {
        let old = Token.signed(
            #"{"matching":"{\"db_id\":1,\"matching\":\"email\",\"email\":\"a@b\"}","exp":1900000000}"#
        )
        let response = try respond(RequestTests.subscribe) { setHeader(&$0, "Authorization", "Bearer \(old.value)") }
        #expect(response.status == 401)
        let role = try respond(RequestTests.subscribe, settings: ["rToken": "role-1"], account: ["rToken": "role-1"]) {
            $0.url = $0.url.replacing("push_sub", with: "phone")
        }
        #expect(role.status == 400)
        for (every, status) in [(false, "suspended"), (true, "subscribed")] {
            let driver = try Driver(account: ["releasesEveryToken": .bool(every)])
            driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
            let pause = Action.changeSubscription(Subscription(channel: .push, state: .suspended))
            driver.deliver(Driver.operation(pause, "p", contact: "aino"))
            driver.memory.saved = nil
            driver.deliver(Driver.operation(.registerDevice(Fixture.renewedPhone), "n", contact: "aino"))
            driver.deliver(
                Driver.operation(.switchContact(ContactSwitch(.logIn)), "i", contact: "aino")
            )
            #expect(driver.state.profiles(in: 12).first?.subscriptions.first?.status == status)
        }
    }

    @Test func `functional updates change the stored fields`() throws {
        let driver = try Driver()
        let changes: [[AttributeName: AttributeChange]] = [
            [
                "visits": .set(40), "orders": .set(.list(["a", "b"])), "colour": .set("blue"),
                "total": .set(.decimal(ExactDecimal(text: "1.20")!)),
            ],
            [
                "visits": .increment(ExactDecimal(2)), "orders": .append(["c", "a"]),
                "total": .increment(ExactDecimal(text: "0.1")!),
            ],
            ["orders": .remove(["b"]), "colour": .unset],
        ]
        for (number, change) in changes.enumerated() {
            let operation = Driver.operation(.changeAttributes(change), "c-\(number)", contact: "aino")
            #expect(driver.deliver(operation)?.isAccepted == true)
        }
        let swap = Action.changeTags(TagChange(add: ["gold"], remove: ["silver"]))
        #expect(driver.deliver(Driver.operation(swap, "t", contact: "aino"))?.isAccepted == true)
        let fields = driver.state.profiles(in: 12).first?.fields
        #expect(
            fields?.canonical == [
                "labels": ["gold"], "orders": ["a", "c"], "total": .number(JSONNumber(text: "1.30")!), "visits": 42,
            ]
        )
        #expect(driver.state.duplicates.isEmpty)
    }

    @Test func `stores events unchanged`() throws {
        let driver = try Driver()
        driver.deliver(Driver.operation(.track(.push(.received, payload: Fixture.payload)), "d", contact: "aino"))
        driver.deliver(Driver.operation(.track(.push(.tapped, payload: Fixture.payload)), "o", contact: "aino"))
        #expect(driver.state.pushEvents.map { "\($0.kind) \($0.message)" } == ["delivery a81f3c-9e", "open a81f3c-9e"])
        let options: JSONObject = [
            "profileFields": ["_city": "Oulu"],
            "subscription": ["channel": "sms", "resource_id": 31, "phone": "+358401234567"],
        ]
        let hostile = Corpus.hostileTexts.map(\.text).joined()
        let event = Action.track(.custom(name: "Ordered", attributes: ["note": .string(hostile)]))
        #expect(driver.deliver(Driver.operation(event, "e", contact: "aino", options: options))?.isAccepted == true)
        let kept = try #require(driver.state.customEvents.first)
        #expect(kept.pixel == "SHOP-PX-7")
        #expect(try JSONValue(parsing: kept["wd"] ?? "") == ["note": .string(hostile)])
        #expect(driver.state.profiles(in: 12).first?.fields == ["_city": "Oulu"])
        #expect(driver.state.profiles(in: 12).first?.attached.count == 1)
        let stored = try JSONEncoder().encode(driver.state)
        #expect(try JSONDecoder().decode(AltcraftState.self, from: stored) == driver.state)
    }

    @Test func `refuses invalid events`() throws {
        let push = Action.track(.push(.tapped, payload: Fixture.payload))
        #expect(try respond(push) { setBody(&$0, "type", to: "open") }.status == 400)
        #expect(try respond(push) { setBody(&$0, "smid", to: "") }.status == 400)
        let event = Action.track(.custom(name: "Ordered"))
        let changes: [(inout WireRequest) -> Void] = [
            { $0.url = $0.url.replacing("v=2", with: "v=1") }, { $0.body.removeLast(4) }, { $0.body.append(10) },
            { $0.body = Array(String(decoding: $0.body, as: UTF8.self).replacing("\"tz\"", with: "\"ty\"").utf8) },
            { $0.body = Array(String(decoding: $0.body, as: UTF8.self).replacing("1930806311", with: "soon").utf8) },
            {
                $0.body = Array(
                    String(decoding: $0.body, as: UTF8.self).replacing("text/plain", with: "text/html").utf8
                )
            },
        ]
        for change in changes { #expect(try respond(event, change).status == 400) }
        #expect(try respond(event, account: ["pixels": ["OTHER"]]) { _ in }.status == 404)
        #expect(try respond(event) { _ in }.status == 200)
    }

    @Test func `counts a repeated request id and still processes the request`() throws {
        let simulator = try AltcraftSimulator(settings: [:])
        var state = simulator.initialState
        let request = try #require(PlanFixture().request(.track(.custom(name: "Ordered"))))
        for _ in 0..<2 { #expect(simulator.respond(to: request, state: &state, now: Corpus.start).status == 200) }
        #expect(state.duplicates == ["0b5e4c1a-2d3f-4a6b-8c7d-000000000001"])
        #expect(state.customEvents.count == 2)
    }

    @Test func `a role token finds profiles by push token`() throws {
        let role: JSONObject = ["rToken": "role-1", "rTokenDatabase": 5]
        let driver = try Driver(settings: ["rToken": "role-1"], account: role)
        #expect(driver.deliver(Driver.operation(RequestTests.subscribe, "s"))?.isAccepted == true)
        driver.deliver(Driver.operation(.registerDevice(Fixture.renewedPhone), "r"))
        #expect(driver.state.profiles(in: 5).flatMap(\.subscriptions).map { $0.token.prefix(8) } == ["0AA1F00D"])
        let named = try Driver(settings: ["rToken": "role-1", "profileUpdates": "profileUpdate"], account: role)
        named.deliver(Driver.operation(RequestTests.subscribe, "s"))
        #expect(named.deliver(Driver.operation(.changeAttributes(["visits": .set(1)]), "u"))?.isRejected == true)
    }

    @Test func `the import requires its own token, a database and a matching value`() throws {
        let simulator = try AltcraftSimulator(settings: ["apiToken": "api-1", "databases": ["12"]])
        var state = simulator.initialState
        let cases: [(JSONValue, Int)] = [
            (["db_id": 12, "matching": "email", "email": "a@b.example", "data": [:]], 401),
            (["token": "api-1", "db_id": 13, "matching": "email", "email": "a@b.example", "data": [:]], 400),
            (["token": "api-1", "db_id": 12, "matching": "email", "data": [:]], 400),
            (["token": "api-1", "db_id": 12, "matching": "email", "email": "a@b.example", "data": ["_sex": "x"]], 400),
            (["token": "api-1", "db_id": 12, "matching": "email", "email": "a@b.example", "data": ["_sex": 1]], 200),
        ]
        for (body, status) in cases {
            let url = "https://mp.altcraft.example/api/v1.1/profiles/import"
            let request = WireRequest("POST", url, body: Array(body.text.utf8))
            #expect(simulator.respond(to: request, state: &state, now: Corpus.start).status == status)
        }
        #expect(state.profiles.map(\.keys) == [["email=a@b.example"]])
    }
}
