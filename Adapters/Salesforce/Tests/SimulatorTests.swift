import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce simulator") struct SimulatorTests {
    private static let device = "6B0C7E51-2F6D-4D0B-9A51-0E5E7B1C9D22"

    /// The simulated host with its state.
    private struct Host {
        var simulator: SalesforceSimulator
        var state: SalesforceAccount

        init(_ settings: JSONObject = [:]) throws {
            simulator = try SalesforceSimulator(settings: settings)
            state = simulator.initialState
        }

        @discardableResult
        mutating func send(_ request: WireRequest, at seconds: Int = 0) -> WireResponse {
            simulator.respond(to: request, state: &state, now: TestDriver.at(seconds))
        }
    }

    private func registration(_ actions: Action...) throws -> WireRequest {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        for action in actions { driver.capture(action, at: 0) }
        return try driver.transmission(at: 0).request
    }

    private func changed(_ request: WireRequest, _ change: (inout JSONObject) -> Void) throws -> WireRequest {
        var copy = request
        var body = try #require(request.json?.object)
        change(&body)
        copy.body = Array(JSONValue.object(body).text.utf8)
        return copy
    }

    @Test func `processes the adapter's registration`() throws {
        var host = try Host(["accessToken": "q1w2e3r4t5y6u7i8o9p0zxcv"])
        let reply = host.send(try registration(.identify("member-1"), .set("tier", "gold"), .add("sports")))
        #expect(reply.status == 201)
        #expect(reply[header: "X-Subscriber-Token"] != nil)
        let device = try #require(host.state.device(Self.device))
        #expect(device.isActive && device.contactKey == "member-1")
        #expect(device.registration?.pairs == ["tier=gold"])
        #expect(host.state.violations == [])
        #expect(host.state.counts == ["/device/v1/registration 201": 1])
    }

    @Test(
        arguments: [
            ("timeZone", 7200), ("timeZone", "two hours"), ("timeZone", nil), ("attributes", ["tier": "gold"]),
            ("attributes", [["key": "tier", "value": 1]]), ("attributes", [["key": "", "value": "x"]]),
            ("attributes", [["key": "a", "value": "1"], ["key": "a", "value": "2"]]), ("tags", ["ALL", "ALL"]),
            ("tags", ["IOS"]), ("tags", "ALL"), ("subscriberKey", nil), ("subscriberKey", ""), ("push_Enabled", "true"),
            ("etAppId", "\tc0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d"), ("registrationId", "7"), ("locale", "fi-FI"),
            ("attributes", [["key": "Status", "value": "x"]]), ("attributes", [["key": "a", "value": " x"]]),
            ("tags", ["ALL", "IOS", " x"]), ("tags", ["ALL", "Android"]),
            ("uuid", "6b0c7e51-2f6d-4d0b-9a51-0e5e7b1c9d22"),
            ("device_Token", "0f 1e"), ("device_Token", "f:x"), ("platform", "ios"), ("device_Token", ""), ("dST", 0),
            ("registrationDateUtc", "2031-03-09T07:05:11Z"),
        ] as [(String, JSONValue)]
    )
    func `accepts a malformed registration and refuses it later`(name: String, value: JSONValue) throws {
        var host = try Host()
        host.send(try registration())
        let reply = host.send(try changed(registration()) { $0[name] = value }, at: 100)
        #expect(reply.status == 201)
        let device = try #require(host.state.device(Self.device))
        #expect(device.refusedLater.count == 1 && !device.isActive)
        #expect(host.state.violations.count == 1)
        #expect(host.state.violations.first?.what.hasPrefix(name) == true)
        #expect(device.registration?["timeZone"] == "7200")
    }

    @Test func `a missing required field makes the device inactive; an unknown field has no effect`() throws {
        var host = try Host()
        host.send(try changed(registration()) { $0["future"] = [1, 2] })
        #expect(host.state.device(Self.device)?.isActive == true)
        host.send(try changed(registration()) { $0["hwid"] = nil }, at: 60)
        #expect(host.state.device(Self.device)?.isActive == false)
    }

    @Test func `refuses an undefined attribute after the 201`() throws {
        var host = try Host(["accountAttributes": ["tier"]])
        #expect(host.send(try registration(.set("tier", "gold"))).status == 201)
        #expect(host.send(try registration(.set("Tier", "gold")), at: 60).status == 201)
        let device = try #require(host.state.device(Self.device))
        #expect(device.refusedLater.map(\.reasons) == [["attribute Tier is not defined."]])
        #expect(device.registration?.pairs == ["tier=gold"])
        #expect(host.state.violations == [])
    }

    @Test(arguments: [(59, 1), (60, 0)]) func `records a violation for two registrations within a minute`(
        second: Int,
        count: Int
    ) throws {
        var host = try Host()
        host.send(try registration())
        host.send(try registration(), at: second)
        #expect(host.state.violations.count == count)
    }

    @Test func `answers bad requests with the documented status`() throws {
        var host = try Host(["applicationId": "c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d"])
        let good = try registration()
        func with(_ change: (inout WireRequest) -> Void) -> WireRequest {
            var copy = good
            change(&copy)
            return copy
        }
        func header(_ name: String, _ value: String?) -> WireRequest {
            with { request in
                request.headers.removeAll { $0.name == name }
                if let value { request.headers.append(WireHeader(name, value)) }
            }
        }
        let other = try changed(good) { $0["etAppId"] = "00000000-4e5f-4a6b-8c7d-9e0f1a2b3c4d" }
        let requests: [(WireRequest, Int)] = [
            (header("Authorization", nil), 401), (header("Authorization", "Bearer short"), 401),
            (header("Content-Type", "text/plain"), 415), (header("X-SDK-Version", nil), 400),
            (with { $0.body = Array("{".utf8) }, 400), (with { $0.body = Array("[]".utf8) }, 400),
            (with { $0.url = $0.url.replacing("registration", with: "elsewhere") }, 404),
            (with { $0.method = "GET" }, 405), (other, 404), (try changed(good) { $0["deviceID"] = "x" }, 400),
            (header("Content-Type", "application/json; charset=utf-8"), 201),
        ]
        #expect(requests.map { host.send($0.0).status } == requests.map(\.1))
    }

    @Test func `reports contacts without devices`() throws {
        var host = try Host()
        host.send(try registration())
        host.send(try registration(.identify("member-1")), at: 60)
        host.send(try registration(.identify("member-2")), at: 120)
        #expect(host.state.contacts.count == 3)
        #expect(host.state.orphanedContacts == ["invented-\(Self.device.lowercased())", "member-1"])
        #expect(host.state.device(Self.device)?.changes.last?.keys == ["subscriberKey"])
    }

    @Test func `requires the subscriber token for events and counts repeated events`() throws {
        var host = try Host()
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        let reply = host.send(try driver.transmission(at: 0).request)
        try driver.exchange(at: 0, reply)
        driver.capture(.track(.custom(name: "Order Placed", attributes: ["total": 49])), at: 1)
        let request = try driver.transmission(at: 1).request
        var bare = request
        bare.headers.removeAll { $0.name == "X-Subscriber-Token" }
        #expect(host.send(bare).status == 401)
        #expect(host.send(request).status == 201)
        #expect(host.send(request).status == 201)
        let device = try #require(host.state.device(Self.device))
        #expect(device.events.map(\.name) == ["Order Placed"])
        #expect(device.repeatedEvents == 1)
        #expect(host.state.violations == [])
    }

    @Test func `registrations become visible in order after 15 minutes`() throws {
        var host = try Host()
        host.send(try registration(.set("tier", "silver")))
        host.send(try registration(.set("tier", "gold")), at: 60)
        host.send(try registration(.set("tier", "black")), at: 900)
        let device = try #require(host.state.device(Self.device))
        func shown(_ seconds: Int) -> [String]? { device.visible(at: TestDriver.at(seconds))?.pairs }
        #expect(device.registration?.pairs == ["tier=black"])
        #expect(
            [900, 959, 960, 1799, 1800].map { shown($0) }
                == ["silver", "silver", "gold", "gold", "black"].map { ["tier=\($0)"] }
        )
        #expect(device.spreading.count == 2)
        var immediate = try Host(["propagation": 0])
        immediate.send(try registration(.set("tier", "silver")))
        #expect(immediate.state.device(Self.device)?.visible(at: TestDriver.at(0))?.pairs == ["tier=silver"])
        var delayed = try Host()
        delayed.send(try registration())
        #expect(delayed.state.device(Self.device)?.visible(at: TestDriver.at(899)) == nil)
    }

    @Test func `a device without a contact key belongs to the contact of its push token`() throws {
        var host = try Host()
        host.send(try registration(.identify("member-1")))
        let other = try changed(registration()) { $0["deviceID"] = "00000000-2F6D-4D0B-9A51-0E5E7B1C9D22" }
        host.send(other, at: 60)
        #expect(host.state.device("00000000-2F6D-4D0B-9A51-0E5E7B1C9D22")?.contactKey == "member-1")
        let unknown = try changed(other) {
            ($0["deviceID"], $0["device_Token"]) = ("00000000-2F6D-4D0B-9A51-0E5E7B1C9D23", "ff00")
        }
        host.send(unknown, at: 120)
        #expect(host.state.contacts == ["invented-00000000-2f6d-4d0b-9a51-0e5e7b1c9d23", "member-1"])
    }

    @Test func `keeps omitted attributes and clears blank ones`() throws {
        var host = try Host()
        host.send(try registration(.set("tier", "gold"), .set("city", "Turku")))
        host.send(try registration(.set("city", "")), at: 60)
        #expect(host.state.device(Self.device)?.attributes == ["tier": "gold", "city": ""])
    }

    @Test func `the newer of opt-in and opt-out applies`() throws {
        var host = try Host()
        let on = try registration()
        let off = try registration(.push(.unsubscribed))
        var reachable: [Bool?] = []
        for (place, request) in [on, off, off, on].enumerated() {
            host.send(request, at: place * 60)
            reachable.append(host.state.device(Self.device)?.isReachable)
        }
        #expect(reachable == [true, false, false, true])
        #expect(host.state.device(Self.device)?.optedOutAt == TestDriver.at(60))
        #expect(host.state.device(Self.device)?.optedInAt == TestDriver.at(180))
    }

    @Test func `the adapter renews an expired subscriber token`() throws {
        var host = try Host(["tokenLifetime": 100_000])
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        func exchange(at seconds: Int) throws -> WireResponse {
            let reply = host.send(try driver.transmission(at: seconds).request, at: seconds)
            try driver.exchange(at: seconds, reply)
            return reply
        }
        #expect(try exchange(at: 0).status == 201)
        driver.capture(.track(.custom(name: "Order Placed")), at: 99)
        #expect(try exchange(at: 99).status == 201)
        driver.capture(.track(.custom(name: "Order Placed")), at: 100)
        #expect(try exchange(at: 100).status == 401)
        #expect(try exchange(at: 160).status == 201)
        #expect(try exchange(at: 160).status == 201)
        let device = try #require(host.state.device(Self.device))
        #expect(device.events.count == 2 && device.received == 2 && driver.pending.isEmpty)
        #expect(host.state.violations == [])
    }

    @Test func `an event that the account does not define has no effect`() throws {
        var host = try Host(["accountEvents": ["Order Placed"]])
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, host.send(try driver.transmission(at: 0).request))
        for name in ["order placed", "Other"] { driver.capture(.track(.custom(name: name)), at: 1) }
        #expect(host.send(try driver.transmission(at: 1).request, at: 1).status == 201)
        let device = try #require(host.state.device(Self.device))
        #expect(device.events.map(\.name) == ["order placed"] && device.undefinedEvents == 1)
    }

    @Test func `the account state survives encoding and decoding`() throws {
        var host = try Host()
        host.send(try registration(.identify("member-1")))
        let data = try JSONEncoder().encode(host.state)
        #expect(try JSONDecoder().decode(SalesforceAccount.self, from: data) == host.state)
    }
}
