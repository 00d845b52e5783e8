import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbaySandbox
import Testing

@Suite("Fault rules") struct FaultTests {
    private static func requests(_ server: SandboxServer) throws -> String {
        try Connection(port: server.port).exchange("GET", "/sandbox/state/echo").text
    }

    private static func lastLine(_ server: SandboxServer) throws -> JSONValue {
        try Connection(port: server.port).exchange("GET", "/sandbox/log").json
    }

    @Test(arguments: [true, false])
    func `a status fault replaces the answer before or after processing`(_ processed: Bool) throws {
        let response = WireResponse(503, headers: [WireHeader("Retry-After", "2")], body: Array("busy".utf8))
        let server = try SandboxServer.echo(faults: [FaultRule(.answer(response, processed: processed))])
        let reply = try Connection(port: server.port).exchange("POST", "/echo", body: [1])
        #expect(reply.status == 503 && reply.text == "busy" && reply.headers.contains("Retry-After: 2"))
        #expect(try Self.requests(server) == #"{"requests":\#(processed ? 1 : 0)}"#)
        let line = try Self.lastLine(server)
        #expect(line["fault"] == "status 503" && line["status"] == 503 && line["processed"] == .bool(processed))
    }

    @Test func `a drop fault processes the request and closes the connection without an answer`() throws {
        let server = try SandboxServer.echo(faults: [FaultRule(.drop)])
        let connection = try Connection(port: server.port)
        try connection.send("POST", "/echo", body: [1])
        #expect(try connection.end() == .closed)
        #expect(try Self.requests(server) == #"{"requests":1}"#)
        let line = try Self.lastLine(server)
        #expect(line["fault"] == "drop" && line["status"] == .null && line["processed"] == true)
    }

    @Test func `a reset fault resets the connection without processing the request`() throws {
        let server = try SandboxServer.echo(faults: [FaultRule(.reset)])
        let connection = try Connection(port: server.port)
        try connection.send("POST", "/echo", body: [1])
        #expect(try connection.end() == .reset)
        #expect(try Self.requests(server) == #"{"requests":0}"#)
        let line = try Self.lastLine(server)
        #expect(line["fault"] == "reset" && line["status"] == .null && line["processed"] == false)
    }

    @Test func `never answers a hanging request and delays no other request`() throws {
        let server = try SandboxServer.echo(faults: [FaultRule(.hang, count: 1)])
        let hanging = try Connection(port: server.port)
        try hanging.send("POST", "/echo", body: [1])
        while try Connection(port: server.port).exchange("GET", "/sandbox/log").body.isEmpty {}
        #expect(try Connection(port: server.port).exchange("GET", "/echo").status == 201)
        #expect(!hanging.isAnswered)
        server.stop()
        #expect(try hanging.end() == .closed)
    }

    @Test func `processes a delayed request at once and delays no other request`() throws {
        let server = try SandboxServer.echo(faults: [FaultRule(.delay(milliseconds: 3_600_000), count: 1)])
        let slow = try Connection(port: server.port)
        try slow.send("POST", "/echo", body: [1])
        while try Connection(port: server.port).exchange("GET", "/sandbox/log").body.isEmpty {}
        let line = try Self.lastLine(server)
        #expect(line["fault"] == "delay 3600000 ms" && line["status"] == 201 && line["processed"] == true)
        #expect(try Connection(port: server.port).exchange("GET", "/echo").json["request"] == 2)
        #expect(!slow.isAnswered)
    }

    @Test func `sends a delayed answer and keeps its connection open`() throws {
        let server = try SandboxServer.echo(faults: [FaultRule(.delay(milliseconds: 20), count: 1)])
        let connection = try Connection(port: server.port)
        #expect(try connection.exchange("POST", "/echo", body: [1]).json["request"] == 1)
        #expect(try connection.exchange("POST", "/echo", body: [1]).json["request"] == 2)
    }

    struct Course: CustomTestStringConvertible {
        let testDescription: String
        let rules: String
        let statuses: [Int]
    }

    @Test(arguments: [
        Course(testDescription: "always", rules: #"[{"effect":{"status":500}}]"#, statuses: [500, 500, 500, 500]),
        Course(
            testDescription: "first",
            rules: #"[{"first":2,"effect":{"status":500}}]"#,
            statuses: [500, 500, 201, 201]
        ),
        Course(
            testDescription: "every",
            rules: #"[{"every":2,"effect":{"status":500}}]"#,
            statuses: [201, 500, 201, 500]
        ),
        Course(
            testDescription: "count",
            rules: #"[{"every":2,"count":1,"effect":{"status":500}}]"#,
            statuses: [201, 500, 201, 201]
        ),
        Course(
            testDescription: "one after the other",
            rules: #"[{"first":1,"effect":{"status":500}},{"first":2,"effect":{"status":429}}]"#,
            statuses: [500, 429, 429, 201]
        ),
        Course(
            testDescription: "probability 1",
            rules: #"[{"probability":1,"effect":{"status":500}}]"#,
            statuses: [500, 500, 500, 500]
        ),
        Course(
            testDescription: "probability 0",
            rules: #"[{"probability":0,"effect":{"status":500}}]"#,
            statuses: [201, 201, 201, 201]
        ),
        Course(
            testDescription: "this vendor",
            rules: #"[{"vendor":"echo","effect":{"status":500}}]"#,
            statuses: [500, 500, 500, 500]
        ),
        Course(
            testDescription: "another vendor",
            rules: #"[{"vendor":"second","effect":{"status":500}}]"#,
            statuses: [201, 201, 201, 201]
        ),
        Course(
            testDescription: "this path",
            rules: #"[{"pathPrefix":"/v1/","effect":{"status":500}}]"#,
            statuses: [500, 500, 500, 500]
        ),
        Course(
            testDescription: "another path",
            rules: #"[{"pathPrefix":"/v2/","effect":{"status":500}}]"#,
            statuses: [201, 201, 201, 201]
        ),
        Course(
            testDescription: "this method",
            rules: #"[{"method":"get","effect":{"status":500}}]"#,
            statuses: [500, 500, 500, 500]
        ),
        Course(
            testDescription: "another method",
            rules: #"[{"method":"POST","effect":{"status":500}}]"#,
            statuses: [201, 201, 201, 201]
        ),
    ])
    func `applies a fault rule to the requests that it matches`(_ course: Course) throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        #expect(try connection.exchange("PUT", "/sandbox/faults", body: Array(course.rules.utf8)).status == 200)
        #expect(try (0..<4).map { _ in try connection.exchange("GET", "/echo/v1/x").status } == course.statuses)
        _ = try connection.exchange("DELETE", "/sandbox/faults")
        #expect(try connection.exchange("GET", "/echo/v1/x").status == 201)
    }

    @Test func `selects the same requests for the same seed and others for another seed`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        func statuses(seed: Int) throws -> [Int] {
            let rules = #"[{"probability":0.5,"seed":\#(seed),"effect":{"status":500}}]"#
            _ = try connection.exchange("PUT", "/sandbox/faults", body: Array(rules.utf8))
            return try (0..<64).map { _ in try connection.exchange("GET", "/echo").status }
        }
        let first = try statuses(seed: 7)
        #expect(try statuses(seed: 7) == first)
        #expect(try statuses(seed: 8) != first)
        #expect((16...48).contains(first.count { $0 == 500 }))
    }

    struct BadRule: CustomTestStringConvertible {
        let rules: String
        let places: [String]
        var testDescription: String { rules }
    }

    @Test(arguments: [
        BadRule(rules: #"{}"#, places: ["/"]),
        BadRule(rules: #"[1, {}]"#, places: ["/0", "/1/effect"]),
        BadRule(rules: #"[{"effect":"drip"}]"#, places: ["/0/effect"]),
        BadRule(rules: #"[{"effect":{"statu":500}}]"#, places: ["/0/effect"]),
        BadRule(rules: #"[{"effect":{"status":99}}]"#, places: ["/0/effect/status"]),
        BadRule(rules: #"[{"effect":{"status":500,"procesed":true}}]"#, places: ["/0/effect/procesed"]),
        BadRule(rules: #"[{"effect":{"status":500,"processed":1}}]"#, places: ["/0/effect/processed"]),
        BadRule(rules: #"[{"effect":{"status":500,"headers":{"A":1}}}]"#, places: ["/0/effect/headers/A"]),
        BadRule(rules: #"[{"effect":{"delayMilliseconds":-1}}]"#, places: ["/0/effect/delayMilliseconds"]),
        BadRule(rules: #"[{"first":0,"effect":"drop"}]"#, places: ["/0/first"]),
        BadRule(rules: #"[{"first":1,"every":2,"effect":"drop"}]"#, places: ["/0"]),
        BadRule(rules: #"[{"probability":1.5,"effect":"drop"}]"#, places: ["/0/probability"]),
        BadRule(rules: #"[{"seed":1,"effect":"drop"}]"#, places: ["/0/seed"]),
        BadRule(
            rules: #"[{"vendor":1,"method":2,"colour":3,"effect":"drop"}]"#,
            places: ["/0/colour", "/0/vendor", "/0/method"]
        ),
        BadRule(rules: #"[{"vendor":"unknown","effect":"drop"}]"#, places: ["/0/vendor"]),
        BadRule(rules: #"[{"effect""#, places: ["body"]),
    ])
    func `refuses a bad fault rule with each position and keeps the old rules`(_ row: BadRule) throws {
        let old = FaultRule(.answer(WireResponse(418), processed: false))
        let server = try SandboxServer.echo(faults: [old])
        let connection = try Connection(port: server.port)
        let reply = try connection.exchange("PUT", "/sandbox/faults", body: Array(row.rules.utf8))
        #expect(reply.status == 400)
        let errors = try #require(try reply.json["errors"]?.array)
        #expect(errors.map { $0["where"]?.string } == row.places)
        #expect(errors.allSatisfy { $0["problem"]?.string?.isEmpty == false && $0["remedy"]?.string?.isEmpty == false })
        #expect(try connection.exchange("GET", "/echo").status == 418)
    }
}
