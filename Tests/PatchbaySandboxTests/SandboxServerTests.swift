import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbaySandbox
import Testing

@Suite("The sandbox over HTTP") struct SandboxServerTests {
    @Test(arguments: ["GET", "POST", "PATCH", "PUT", "DELETE"])
    func `a simulator receives method, URL without prefix, headers and body`(_ method: String) throws {
        let server = try SandboxServer.echo()
        let body = Array("é\u{0} body".utf8)
        let reply = try Connection(port: server.port).exchange(
            method,
            "/echo/v1/a%2Fb/%C3%A9?q=1%202&q=3&flag",
            headers: ["X-One: 1"],
            body: body
        )
        #expect(reply.status == 201)
        #expect(reply.headers.contains("X-Echo: a") && reply.headers.contains("X-Echo: b"))
        let json = try reply.json
        #expect(json["method"]?.string == method)
        #expect(json["url"]?.string == "\(server.url)/v1/a%2Fb/%C3%A9?q=1%202&q=3&flag")
        #expect(json["headers"]?["X-One"]?.string == "1")
        #expect(json["bytes"]?.integer == Int64(body.count))
    }

    @Test func `answers HEAD with headers and no body`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        let reply = try connection.exchange("HEAD", "/echo/x")
        #expect(reply.status == 201)
        #expect(reply.body.isEmpty)
        #expect(reply.headers.contains { $0.hasPrefix("Content-Length: ") && $0 != "Content-Length: 0" })
        #expect(try connection.exchange("GET", "/echo/x").json["method"]?.string == "GET")
    }

    @Test func `a connection serves many requests`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        for number in 1...50 {
            #expect(
                try connection.exchange("POST", "/echo", body: [1, 2, 3]).json["request"]?.integer == Int64(number)
            )
        }
    }

    @Test func `vendors have separate prefixes and states`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        _ = try connection.exchange("GET", "/echo/x")
        _ = try connection.exchange("GET", "/echo/x")
        #expect(try connection.exchange("GET", "/second/y").json["request"]?.integer == 1)
        #expect(try connection.exchange("GET", "/sandbox/state/echo").text == #"{"requests":2}"#)
        #expect(try connection.exchange("GET", "/sandbox/state/second").text == #"{"requests":1}"#)
        let unknown = try connection.exchange("GET", "/unknown/x")
        #expect(unknown.status == 404)
        #expect(try unknown.json["errors"]?[0]?["remedy"]?.string == "Known: echo, second.")
    }

    @Test func `accepts a body at the limit and refuses a larger one with 413`() throws {
        let server = try SandboxServer.echo(bodyLimit: 100_000)
        let connection = try Connection(port: server.port)
        #expect(try connection.exchange("POST", "/echo", body: Array(repeating: 7, count: 100_000)).status == 201)
        let reply = try connection.exchange("POST", "/echo", body: Array(repeating: 7, count: 100_001))
        #expect(reply.status == 413)
        #expect(try connection.exchange("GET", "/sandbox/state/echo").text == #"{"requests":1}"#)
        let line = try connection.exchange("GET", "/sandbox/log?after=1").json
        #expect(line["status"] == 413 && line["processed"] == false && line["body"] == "")
    }

    @Test func `receives a body of 10 MB completely`() throws {
        let server = try SandboxServer.echo()
        // No two blocks of it are alike.
        let block = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let body = (0..<1_000).reduce(into: [UInt8]()) { $0 += Array("\($1)".utf8) + block }
        let connection = try Connection(port: server.port)
        let whole = try connection.exchange("POST", "/echo", body: body).json
        #expect(whole["bytes"]?.integer == 10_002_890 && whole["sum"]?.integer == -1_944_621_831_621_682_013)
    }

    @Test func `receives a chunked body completely`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        try connection.send("POST", "/echo", headers: ["Transfer-Encoding: chunked"])
        try connection.write(Array("3\r\nabc\r\n5\r\ndefgh\r\n0\r\n\r\n".utf8))
        #expect(try connection.reply().json["bytes"] == 8)
        #expect(try connection.exchange("GET", "/sandbox/log").json["body"] == "abcdefgh")
    }

    struct Unsendable: CustomTestStringConvertible {
        let response: WireResponse
        let place: String
        var testDescription: String { place }
    }

    @Test(arguments: [
        Unsendable(response: WireResponse(200, headers: [WireHeader("X-Broken", "a\r\nb")]), place: "X-Broken"),
        Unsendable(response: WireResponse(99), place: "status"),
        Unsendable(response: WireResponse(1000), place: "status"),
    ])
    func `replaces an answer that HTTP cannot represent with a 500 that states the reason`(_ row: Unsendable) throws {
        let server = try SandboxServer.echo(faults: [FaultRule(.answer(row.response, processed: false))])
        let reply = try Connection(port: server.port).exchange("GET", "/echo")
        #expect(reply.status == 500)
        #expect(try reply.json["errors"]?[0]?["where"]?.string == row.place)
    }

    @Test func `refuses an unreadable request and keeps serving`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        try connection.write(Array("POST /echo HTTP/1.1\r\nContent-Length: many\r\n\r\n".utf8))
        #expect(try connection.reply().status == 400)
        #expect(try Connection(port: server.port).exchange("GET", "/echo").status == 201)
    }

    @Test func `serves many clients at once and counts all their requests`() async throws {
        let server = try SandboxServer.echo()
        let port = server.port
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    (try? Connection(port: port).exchange("POST", "/echo/x", body: [1]).status) ?? 0
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [201: 64])
        #expect(try Connection(port: port).exchange("GET", "/sandbox/state/echo").text == #"{"requests":64}"#)
    }

    @Test func `stop closes the port, and a second stop has no effect`() throws {
        let server = try SandboxServer.echo()
        let idle = try Connection(port: server.port)
        _ = try idle.exchange("GET", "/echo")
        server.stop()
        server.stop()
        #expect(try idle.end() == .closed)
        #expect(throws: Connection.Failed.self) { try Connection(port: server.port) }
    }

    @Test func `refuses to start on a port that is in use`() throws {
        let first = try SandboxServer.echo()
        let error = #expect(throws: SandboxError.self) {
            _ = try SandboxServer.start([Echo()], port: first.port) { Echo.instant }
        }
        #expect(error?.code == .portUnavailable)
        #expect(error?.problems.first?.place == "127.0.0.1:\(first.port)")
    }

    @Test func `refuses to start with a fault rule for an unknown vendor`() {
        let error = #expect(throws: SandboxError.self) {
            _ = try SandboxServer.echo(faults: [FaultRule(.drop), FaultRule(.drop, vendor: "unknown")])
        }
        #expect(error?.code == .badFaultRule)
        #expect(error?.problems.map(\.place) == ["/1/vendor"])
    }

    @Test func `refuses a duplicate vendor and a vendor with the reserved name`() {
        for simulators: [any VendorSimulator] in [[Echo(), Echo()], [Reserved()]] {
            let error = #expect(throws: SandboxError.self) {
                _ = try SandboxServer.start(simulators) { Echo.instant }
            }
            #expect(error?.code == .badVendor)
        }
    }
}

@Suite("The sandbox's control endpoints") struct ControlTests {
    @Test func `the health endpoint returns the vendors and the newest log line`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        _ = try connection.exchange("GET", "/echo")
        let health = try connection.exchange("GET", "/sandbox/health").json
        #expect(health == ["status": "ok", "vendors": ["echo", "second"], "n": 1])
    }

    @Test func `resets states and rules and continues the log`() throws {
        let server = try SandboxServer.echo(faults: [FaultRule(.drop, method: "PUT", count: 1)])
        let connection = try Connection(port: server.port)
        _ = try connection.exchange("GET", "/echo")
        _ = try connection.exchange("DELETE", "/sandbox/faults")
        #expect(try connection.exchange("PUT", "/echo").status == 201)
        #expect(try connection.exchange("POST", "/sandbox/reset").json["n"] == 2)
        #expect(try connection.exchange("GET", "/sandbox/state/echo").text == #"{"requests":0}"#)
        try connection.send("PUT", "/echo")
        #expect(try connection.end() == .closed)
        let log = try Connection(port: server.port).exchange("GET", "/sandbox/log?after=2")
        #expect(try log.json["n"] == 3)
    }

    @Test func `closes connections over the limit and accepts new ones when others end`() throws {
        var limits = SandboxServer.Limits()
        limits.connections = 3
        let server = try SandboxServer.echo(limits: limits)
        var open: [Connection] = []
        for _ in 0..<3 {
            let connection = try Connection(port: server.port)
            #expect(try connection.exchange("GET", "/echo").status == 201)
            open.append(connection)
        }
        #expect(throws: Connection.Failed.self) { try Connection(port: server.port).exchange("GET", "/echo") }
        #expect(try open[0].exchange("GET", "/echo").status == 201)
        open.removeLast()
        let isFree = (0..<10_000).contains { _ in
            usleep(50_000)
            return (try? Connection(port: server.port).exchange("GET", "/echo").status) == 201
        }
        #expect(isFree)
    }

    @Test func `closes an idle connection before and within a request`() throws {
        var limits = SandboxServer.Limits()
        limits.idleSeconds = 1
        let server = try SandboxServer.echo(limits: limits)
        let (silent, half) = (try Connection(port: server.port), try Connection(port: server.port))
        try half.write(Array("GET /echo HTTP/1.1\r\nHost: 127".utf8))
        let start = ContinuousClock.now
        for connection in [silent, half] { _ = try? connection.end() }
        #expect(ContinuousClock.now - start >= .milliseconds(500))
        #expect(try Connection(port: server.port).exchange("GET", "/sandbox/state/echo").text == #"{"requests":0}"#)
    }

    @Test func `refuses headers over the limit`() throws {
        var limits = SandboxServer.Limits()
        limits.headerBytes = 16 << 10
        let server = try SandboxServer.echo(limits: limits)
        let large = "X-Large: " + String(repeating: "x", count: 32 << 10)
        let connection = try Connection(port: server.port)
        let status = (try? connection.exchange("GET", "/echo", headers: [large]))?.status
        #expect(status.map { (400...499).contains($0) } ?? true)
        #expect(try Connection(port: server.port).exchange("GET", "/sandbox/state/echo").text == #"{"requests":0}"#)
    }

    @Test func `limits the total size of all bodies`() throws {
        let server = try SandboxServer.echo(bodyLimit: 100_000)
        let body = [UInt8](repeating: 7, count: 90_000)
        // Four bodies wait for their last byte. The fifth exceeds the total limit.
        var waiting: [Connection] = []
        for _ in 0..<4 {
            let connection = try Connection(port: server.port)
            let head = "POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 90000\r\n\r\n"
            try connection.write(Array(head.utf8) + body.dropLast())
            waiting.append(connection)
        }
        let isRefused = (0..<10_000).contains { _ in
            usleep(50_000)
            return (try? Connection(port: server.port).exchange("POST", "/echo", body: body).status) == 413
        }
        #expect(isRefused)
        for connection in waiting {
            try connection.write([7])
            #expect(try connection.reply().status == 201)
        }
        #expect(try Connection(port: server.port).exchange("POST", "/echo", body: body).status == 201)
    }

    struct Refusal: CustomTestStringConvertible {
        let method: String
        let target: String
        let status: Int
        let place: String
        var testDescription: String { "\(method) \(target)" }
    }

    @Test(arguments: [
        Refusal(method: "GET", target: "/sandbox/nothing", status: 404, place: "/nothing"),
        Refusal(method: "GET", target: "/sandbox", status: 404, place: "/"),
        Refusal(method: "POST", target: "/sandbox/health", status: 405, place: "/health"),
        Refusal(method: "GET", target: "/sandbox/faults", status: 405, place: "/faults"),
        Refusal(method: "GET", target: "/sandbox/state/unknown", status: 400, place: "unknown"),
        Refusal(method: "GET", target: "/sandbox/log?vendor=unknown", status: 400, place: "unknown"),
        Refusal(method: "GET", target: "/sandbox/log?after=-1", status: 400, place: "after"),
        Refusal(method: "GET", target: "/sandbox/log?after=x", status: 400, place: "after"),
    ])
    func `refuses an invalid request with place and remedy`(_ row: Refusal) throws {
        let server = try SandboxServer.echo()
        let reply = try Connection(port: server.port).exchange(row.method, row.target)
        #expect(reply.status == row.status)
        let problem = try reply.json["errors"]?[0]
        #expect(problem?["where"]?.string == row.place)
        #expect(problem?["remedy"]?.string?.isEmpty == false)
    }
}
