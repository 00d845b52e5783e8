import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce simulator") struct SimulatorTests {
    private static let device = "6B0C7E51-2F6D-4D0B-9A51-0E5E7B1C9D22"

    /// A host with its state, at a time.
    private struct Host {
        var simulator: SalesforceSimulator
        var state: SalesforceAccount

        init(_ settings: JSONObject = [:]) throws {
            simulator = try SalesforceSimulator(settings: settings)
            state = simulator.initialState
        }

        @discardableResult
        mutating func send(_ request: WireRequest, at seconds: Int = 0) -> WireResponse {
            simulator.respond(to: request, state: &state, now: Bench.at(seconds))
        }
    }

    private func registration(_ actions: Action...) throws -> WireRequest {
        var bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        for action in actions { bench.capture(action, at: 0) }
        return try bench.transmission(at: 0).request
    }

    private func changed(_ request: WireRequest, _ change: (inout JSONObject) -> Void) throws -> WireRequest {
        var copy = request
        var body = try #require(request.json?.object)
        change(&body)
        copy.body = Array(JSONValue.object(body).text.utf8)
        return copy
    }

    @Test func `the adapter's registration is processed`() throws {
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
            ("platform", "ios"), ("device_Token", ""), ("dST", 0), ("registrationDateUtc", "2031-03-09T07:05:11Z"),
        ] as [(String, JSONValue)]
    )
    func `a wrong shape is received and refused later`(name: String, value: JSONValue) throws {
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

    @Test func `a missing required field makes the device inactive, an unknown one does not matter`() throws {
        var host = try Host()
        host.send(try changed(registration()) { $0["future"] = [1, 2] })
        #expect(host.state.device(Self.device)?.isActive == true)
        host.send(try changed(registration()) { $0["hwid"] = nil }, at: 60)
        #expect(host.state.device(Self.device)?.isActive == false)
    }

    @Test func `an undefined attribute is refused after the 201`() throws {
        var host = try Host(["accountAttributes": ["tier"]])
        #expect(host.send(try registration(.set("tier", "gold"))).status == 201)
        #expect(host.send(try registration(.set("Tier", "gold")), at: 60).status == 201)
        let device = try #require(host.state.device(Self.device))
        #expect(device.refusedLater.map(\.reasons) == [["attribute Tier is not defined."]])
        #expect(device.registration?.pairs == ["tier=gold"])
        #expect(host.state.violations == [])
    }

    @Test(arguments: [(59, 1), (60, 0)]) func `twice in a minute is a violation`(second: Int, count: Int) throws {
        var host = try Host()
        host.send(try registration())
        host.send(try registration(), at: second)
        #expect(host.state.violations.count == count)
    }

    @Test func `bad requests are answered as documented`() throws {
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

    @Test func `contacts without devices are told`() throws {
        var host = try Host()
        host.send(try registration())
        host.send(try registration(.identify("member-1")), at: 60)
        host.send(try registration(.identify("member-2")), at: 120)
        #expect(host.state.contacts.count == 3)
        #expect(host.state.orphanedContacts == ["invented-\(Self.device.lowercased())", "member-1"])
        #expect(host.state.device(Self.device)?.changes.last?.keys == ["subscriberKey"])
    }

    @Test func `events need the token, and repeats are noticed`() throws {
        var host = try Host()
        var bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        let reply = host.send(try bench.transmission(at: 0).request)
        try bench.exchange(at: 0, reply)
        bench.capture(.track(.custom(name: "Order Placed", attributes: ["total": 49])), at: 1)
        let request = try bench.transmission(at: 1).request
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

    @Test func `the state survives storage`() throws {
        var host = try Host()
        host.send(try registration(.identify("member-1")))
        let data = try JSONEncoder().encode(host.state)
        #expect(try JSONDecoder().decode(SalesforceAccount.self, from: data) == host.state)
    }
}
