import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic simulator") struct SimulatorTests {
    /// The simulated service with its state.
    private struct Host {
        var simulator: AcousticSimulator
        var state: AcousticAccount

        init(_ more: JSONObject = [:]) throws {
            var settings: JSONObject = ["columns": .object(Fixture.columns), "knowsEveryUser": true]
            for member in more { settings[member.name] = member.value }
            simulator = try AcousticSimulator(settings: settings)
            state = simulator.initialState
        }

        var user: SimulatedUser? { state.users.first }

        @discardableResult
        mutating func send(_ request: WireRequest, at seconds: Int = 0) -> WireResponse {
            simulator.respond(to: request, state: &state, now: TestDriver.at(seconds))
        }

        @discardableResult
        mutating func update(_ key: String, _ type: String, _ value: JSONValue, at seconds: Int = 0) -> Int {
            send(SimulatorTests.update(key, type, value), at: seconds).status
        }

        @discardableResult
        mutating func delete(_ keys: String..., at seconds: Int = 0) -> Int {
            send(
                SimulatorTests.request("DELETE", "users/u-1/attributes", ["keys": .array(keys.map(JSONValue.string))]),
                at: seconds
            ).status
        }
    }

    private static func request(_ method: String, _ path: String, _ body: JSONValue?) -> WireRequest {
        WireRequest(
            method,
            "https://host.example/3.0/apps/key/\(path)",
            headers: [WireHeader("Content-Type", "application/json")],
            body: body.map { Array($0.text.utf8) } ?? []
        )
    }

    private static func update(_ key: String, _ type: String, _ value: JSONValue) -> WireRequest {
        request(
            "PATCH",
            "users/u-1/attributes",
            ["attributes": [["key": .string(key), "type": .string(type), "value": value]]]
        )
    }

    @Test func `a valid write becomes visible after five minutes`() throws {
        var host = try Host()
        #expect(host.update("City", "string", "Turku") == 200)
        #expect(host.user?.row(at: TestDriver.at(299)) == [:])
        #expect(host.user?.row(at: TestDriver.at(300)) == ["City": "Turku"])
    }

    @Test func `one bad entry loses the whole group despite status 200`() throws {
        var host = try Host()
        let body: JSONValue = [
            "attributes": [
                ["key": "City", "type": "string", "value": "Turku"], ["key": "Town", "type": "string", "value": "x"],
            ]
        ]
        #expect(host.send(Self.request("PATCH", "users/u-1/attributes", body)).status == 200)
        #expect(host.user?.finalRow == [:])
        #expect(host.user?.lost.map(\.columns) == [["City", "Town"]])
    }

    @Test(
        arguments: [
            ("Visits", "string", "7"), ("FirstName", "number", 7), ("Birthday", "date", "2031-03-09T07:05:11.042Z"),
            ("LastVisit", "string", "2031-03-09T07:05:11.042Z"), ("MemberNo", "string", "M-1"), ("city", "string", "x"),
            ("LoyaltyTier", "string", "platinum"), ("Interests", "string", "gardening, sailing"),
            ("Birthday", "string", "1.6.16"),
            ("DeliveryHour", "string", "8 pm"), ("EMAIL", "string", "a@b.example"),
        ] as [(String, String, JSONValue)]
    )
    func `an invalid value is lost and breaks later updates until it is deleted`(
        _ row: (key: String, type: String, value: JSONValue)
    ) throws {
        var host = try Host()
        #expect(host.update(row.key, row.type, row.value) == 200)
        #expect(host.update("City", "string", "Turku", at: 10) == 200)
        #expect(host.user?.finalRow == [:])
        #expect(host.user?.lost.count == 2)
        #expect(host.delete(row.key, at: 20) == 200)
        // The cache contains the lost value and ignores the same value.
        host.update("City", "string", "Turku", at: 30)
        #expect(host.user?.finalRow["City"] == nil)
        host.delete("City", at: 40)
        host.update("City", "string", "Turku", at: 50)
        #expect(host.user?.finalRow == ["City": "Turku"])
    }

    @Test func `a column can be set again after the adapter deletes the bad value`() throws {
        var host = try Host()
        host.update("LoyaltyTeir", "string", "gold")
        let driver = try TestDriver.ready()
        for action in [Action.unset("LoyaltyTeir"), .set("LoyaltyTier", "gold")] { driver.capture(action, at: 0) }
        for _ in 0..<2 {
            let url = try driver.transmission(at: 10).request.url
            var request = try driver.exchange(at: 10)
            request.url = url.replacing("user-from-sdk", with: "u-1")
            #expect(host.send(request, at: 10).status == 200)
        }
        #expect(host.user?.finalRow == ["LoyaltyTier": "gold"])
        #expect(host.user?.poison == [])
    }

    @Test func `accepts an upper-case country and records a violation`() throws {
        var host = try Host()
        #expect(host.update("HomeCountry", "string", "FI") == 200)
        #expect(host.state.violations.count == 1)
        #expect(host.user?.finalRow == ["HomeCountry": "FI"])
    }

    static let refused: [(WireRequest, Int)] = [
        (request("PUT", "users/u-1/attributes", ["attributes": []]), 405),
        (request("PATCH", "users/u-1/attributes", ["attributes": []]), 400),
        (request("PATCH", "users/u-1/attributes", ["attributes": ["City": "x"]]), 400),
        (request("PATCH", "users/u-1/attributes", [:]), 400), (request("PATCH", "users/u-1/attributes", []), 400),
        (request("PATCH", "users/u-1/things", [:]), 404), (request("GET", "users/u-1", nil), 404),
        (request("GET", "users/u-1/channels/c-1", nil), 404),
        (update("City", "text", "x"), 400), (update("City", "string", 7), 400), (update("Visits", "number", "7"), 400),
        (update("NewsletterReader", "boolean", 1), 400), (update("LastVisit", "date", "2031-03-09"), 400),
        (update("", "string", "x"), 400), (update("City", "string", nil), 400),
        (request("DELETE", "users/u-1/attributes", ["keys": []]), 400),
        (request("DELETE", "users/u-1/attributes", ["keys": ["a", "a"]]), 400),
        (request("DELETE", "users/u-1/attributes", ["keys": [7]]), 400),
        (request("POST", "users/u-1/channels/c-1/events", ["events": []]), 400),
        (request("POST", "users/u-1/channels/c-1/events", ["events": [["type": "custom", "name": ""]]]), 400),
        (request("POST", "registrations", ["installId": "i"]), 400),
    ]

    @Test(arguments: refused.indices) func `refuses malformed requests`(_ number: Int) throws {
        var host = try Host()
        let (request, status) = Self.refused[number]
        #expect(host.send(request).status == status)
        #expect(host.user?.writes.isEmpty ?? true)
        #expect(host.state.violations.count == 1)
    }

    @Test(
        arguments: [
            ("type", "application"), ("name", " "), ("timestamp", "2031-03-09T07:05:11.042+02:00"), ("timestamp", nil),
            ("mailingId", "spring"), ("attributes", ["a": 1]),
            ("attributes", [["key": "a", "type": "string", "value": [1]]]),
            ("extra", 1), ("attribution", 7),
        ] as [(String, JSONValue)]
    )
    func `refuses malformed events`(_ row: (name: String, value: JSONValue)) throws {
        var host = try Host()
        var event: JSONObject = ["type": "custom", "name": "x", "timestamp": "2031-03-09T07:05:11.042Z"]
        let path = "users/u-1/channels/c-1/events"
        #expect(host.send(Self.request("POST", path, ["events": [.object(event)]])).status == 200)
        event[row.name] = row.value.isNull ? nil : row.value
        #expect(host.send(Self.request("POST", path, ["events": [.object(event)]])).status == 400)
        #expect(host.user?.events.count == 1)
    }

    @Test func `hides custom events unless the account enables them`() throws {
        let body: JSONValue = ["events": [["type": "custom", "name": "x", "timestamp": "2031-03-09T07:05:11.042Z"]]]
        for isOn in [false, true] {
            var host = try Host(["showsCustomEvents": .bool(isOn)])
            host.send(Self.request("POST", "users/u-1/channels/c-1/events", body))
            #expect(host.user?.events.map(\.isVisible) == [isOn])
        }
    }

    @Test func `too many updates are throttled`() throws {
        var host = try Host(["updatesPerMinute": 2])
        #expect((0..<3).map { host.update("Visits", "number", .integer($0), at: $0) } == [200, 200, 429])
        #expect(host.update("Visits", "number", 9, at: 61) == 200)
    }

    @Test func `an installation has one user, and invalidateExistingUser makes a new one after a reinstall`() throws {
        var host = try Host(["knowsEveryUser": false])
        func register(_ token: String, _ invalidates: Bool) -> JSONValue? {
            host.send(
                Self.request(
                    "POST",
                    "registrations",
                    [
                        "installId": "i-1", "pushEnabled": true, "invalidateExistingUser": .bool(invalidates),
                        "pushToken": .string(token),
                    ]
                )
            ).json?["userId"]
        }
        #expect(register("t-1", false) == "user-1")
        #expect(register("t-2", false) == "user-1")
        #expect(register("t-2", true) == "user-1")
        #expect(register("t-3", true) == "user-2")
        #expect(host.state.users.map(\.id) == ["user-2"])
        let old = Self.request(
            "PATCH",
            "users/user-1/attributes",
            ["attributes": [["key": "City", "type": "string", "value": "x"]]]
        )
        #expect(host.send(old).status == 404)
        #expect(host.send(Self.request("GET", "users/user-2/channels/channel-2", nil)).json?["userId"] == "user-2")
    }

    @Test func `returns the new ids of a merged user`() throws {
        var host = try Host(["merged": ["u-1": "u-2"]])
        host.send(
            Self.request(
                "PATCH",
                "users/u-2/attributes",
                ["attributes": [["key": "City", "type": "string", "value": "x"]]]
            )
        )
        host.send(
            Self.request(
                "POST",
                "users/u-2/channels/c-2/events",
                ["events": [["type": "custom", "name": "x", "timestamp": "2031-03-09T07:05:11.042Z"]]]
            )
        )
        #expect(
            host.send(Self.request("GET", "users/u-1/channels/c-1", nil)).json == ["userId": "u-2", "channelId": "c-2"]
        )
    }

    @Test func `refuses another app, another content type and a configured column`() throws {
        var host = try Host(["appKey": "other", "refusedColumns": ["City"]])
        #expect(host.update("City", "string", "x") == 404)
        host = try Host(["refusedColumns": ["City"]])
        #expect(host.update("City", "string", "x") == 400)
        #expect(host.delete("City") == 400)
        #expect(host.update("Visits", "number", 1) == 200)
        var plain = Self.update("Visits", "number", 2)
        plain.headers = [WireHeader("Content-Type", "text/plain")]
        #expect(host.send(plain).status == 415)
    }

    @Test func `reports invalid settings by path`() {
        let error = #expect(throws: SettingsError.self) {
            try AcousticSimulator(settings: ["columns": ["City": "text"], "eventLimit": 0, "no": 1])
        }
        #expect(Set(error?.findings.map(\.path) ?? []) == ["columns", "eventLimit", "no"])
    }
}
