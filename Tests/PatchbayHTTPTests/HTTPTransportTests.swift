import Foundation
import PatchbayAdapterKit
import PatchbayHTTP
import PatchbayJSON
import PatchbaySandbox
import Testing

@Suite("HTTP transport: replies") struct TransportReplyTests {
    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
    func `sends method, URL, headers and body unchanged`(_ method: String) async throws {
        let fixture = try EchoFixture()
        let outcome = await fixture.send(
            method,
            "/v1/a%2Fb/%C3%A9?q=1%202&q=3",
            headers: [WireHeader("X-One", "1"), WireHeader("Content-Type", "application/json; charset=utf-8")],
            body: method == "GET" ? [] : Array(#"{"name":"Zoë"}"#.utf8)
        )
        let reply = try #require(outcome.reply)
        #expect(reply.status == 201)
        let json = try #require(reply.json)
        #expect(json["method"]?.string == method)
        #expect(json["url"]?.string == "\(fixture.server.url)/v1/a%2Fb/%C3%A9?q=1%202&q=3")
        #expect(json["headers"]?["X-One"] == "1")
        #expect(json["headers"]?["Content-Type"] == "application/json; charset=utf-8")
        #expect(json["body"]?.string == (method == "GET" ? "" : #"{"name":"Zoë"}"#))
    }

    @Test func `the reply's headers keep their names`() async throws {
        let reply = try #require(try await EchoFixture().send("GET").reply)
        #expect(reply.headers.contains(WireHeader("X-Mixed-Case", "Kept As It Is")))
        #expect(reply[header: "content-type"] == "application/json")
    }

    @Test(arguments: [200, 204, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503])
    func `returns every status as a reply and follows no redirect`(_ status: Int) async throws {
        let response = WireResponse(
            status,
            headers: [WireHeader("Location", "/echo/other"), WireHeader("WWW-Authenticate", "Bearer")],
            body: status == 204 ? [] : Array("reason".utf8)
        )
        let fixture = try EchoFixture(.answer(response, processed: false))
        let reply = try #require(await fixture.send("POST", body: [1]).reply)
        #expect(reply.status == status)
        #expect(reply[header: "Location"] == "/echo/other")
        #expect(reply.body == response.body)
        #expect(try await fixture.requestCount() == 1)
    }

    @Test func `does not send back a cookie that the vendor set`() async throws {
        let fixture = try EchoFixture()
        _ = await fixture.send("GET")
        let reply = try #require(await fixture.send("GET").reply)
        #expect(reply.json?["headers"]?.object?["Cookie"] == nil)
        #expect(reply.json?["headers"]?.object != nil)
    }

    @Test func `sends the user agent of the request, else of the transport`() async throws {
        let fixture = try EchoFixture()
        let silent = try #require(await fixture.send("GET").reply)
        #expect(silent.json?["headers"]?["User-Agent"] == .string(Sender.name))
        let named = try #require(await fixture.send("GET", headers: [WireHeader("user-agent", "App/7")]).reply)
        let agents = named.json?["headers"]?.object?.filter { $0.name.lowercased() == "user-agent" }.map(\.value)
        #expect(agents == ["App/7"])
    }

    @Test func `sends and receives a body of 10 MB within the reply limit`() async throws {
        let fixture = try EchoFixture()
        // No two blocks of it are alike.
        let block = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let body = (0..<1_000).reduce(into: [UInt8]()) { $0 += Array("\($1)".utf8) + block }
        let whole = await fixture.send("POST", "/bytes", body: body, replyLimit: body.count)
        #expect(whole.reply?.body == body)
        let longer = await fixture.send("POST", "/bytes", body: body, replyLimit: body.count - 1)
        #expect(longer == .failed(TransportFailure(.lost, "replyTooLong")))
    }

    @Test func `returns its own reply to each of 200 concurrent requests`() async throws {
        let fixture = try EchoFixture()
        let bodies = await withTaskGroup(of: [UInt8]?.self) { group in
            for number in 0..<200 {
                group.addTask {
                    await fixture.send("POST", "/bytes", body: Array("request \(number)".utf8)).reply?.body
                }
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(bodies == Set((0..<200).map { Array("request \($0)".utf8) }))
        #expect(try await fixture.requestCount() == 200)
    }
}

@Suite("HTTP transport: failures") struct TransportFailureTests {
    struct Fault: CustomTestStringConvertible {
        let method: String
        let effect: FaultRule.Effect
        let code: String
        let timeout: Duration
        var testDescription: String { "\(method), \(effect)" }
    }

    private static let faults = ["GET", "POST", "DELETE"].flatMap { method in
        [
            Fault(method: method, effect: .drop, code: "connectionLost", timeout: .guardTime),
            Fault(method: method, effect: .reset, code: "connectionLost", timeout: .guardTime),
            Fault(method: method, effect: .hang, code: "timedOut", timeout: .seconds(2)),
            Fault(method: method, effect: .delay(milliseconds: 3_600_000), code: "timedOut", timeout: .seconds(2)),
        ]
    }

    @Test(arguments: faults)
    func `reports an unanswered request as lost and sends it once on a reused connection`(
        _ fault: Fault
    ) async throws {
        let fixture = try EchoFixture()
        #expect(await fixture.send("GET").reply?.status == 201)
        let rules = #"[{"count":1,"effect":\#(fault.effect.json)}]"#
        let put = WireRequest("PUT", fixture.server.url + "/sandbox/faults", body: Array(rules.utf8))
        #expect(await fixture.transport.send(put, timeout: .guardTime).reply?.status == 200)
        let body: [UInt8] = fault.method == "POST" ? [1] : []
        let outcome = await fixture.send(fault.method, body: body, timeout: fault.timeout)
        #expect(outcome == .failed(TransportFailure(.lost, fault.code)))
        #expect(try await fixture.requestCount() == 2)
    }

    struct Unsendable: CustomTestStringConvertible {
        let url: String
        let failure: TransportFailure
        var testDescription: String { url }
    }

    @Test(arguments: [
        Unsendable(url: "https://no-such-host.invalid/x", failure: TransportFailure(.notSent, "hostNotFound")),
        Unsendable(url: "ftp://127.0.0.1/x", failure: TransportFailure(.unsupportedURL)),
        Unsendable(url: "nonsense", failure: TransportFailure(.badURL)),
        Unsendable(url: "http://", failure: TransportFailure(.badURL)),
        Unsendable(url: "", failure: TransportFailure(.badURL)),
    ])
    func `reports a request to an unreachable URL as not sent`(_ row: Unsendable) async {
        let outcome = await HTTPTransport().send(WireRequest("POST", row.url, body: [1]), timeout: .guardTime)
        #expect(outcome == .failed(row.failure))
    }

    @Test(arguments: ["http", "https"])
    func `reports a request to a closed port as not sent`(_ scheme: String) async throws {
        let server = try EchoFixture().server
        server.stop()
        let request = WireRequest("POST", "\(scheme)://127.0.0.1:\(server.port)/x", body: [1])
        let outcome = await HTTPTransport().send(request, timeout: .guardTime)
        #expect(outcome == .failed(TransportFailure(.notSent, "cannotConnect")))
    }

    @Test(.enabled(if: SilentListener.isPossible, "needs IPv6 on the loopback interface"))
    func `reports a request as lost when the second address of a host accepted it`() async throws {
        let listener = try SilentListener()
        let taken = Task.detached { listener.readOneRequest() }
        let request = WireRequest("POST", "http://localhost:\(listener.port)/x", body: [1])
        guard case .failed(let failure) = await HTTPTransport().send(request, timeout: .guardTime) else {
            Issue.record("a listener that never answers should not reply")
            return
        }
        #expect(await taken.value > 0)
        #expect(failure.delivery == .lost)
    }

    @Test func `a timeout of zero ends with a reply or a timeout failure`() async throws {
        let fixture = try EchoFixture()
        for _ in 0..<50 {
            guard case .failed(let failure) = await fixture.send("POST", body: [1], timeout: .zero) else { continue }
            #expect(failure.code == "timedOut")
        }
        #expect(await fixture.send("GET").reply?.status == 201)
    }

    @Test func `sends nothing for a task that is already cancelled`() async throws {
        let fixture = try EchoFixture()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await fixture.send("POST", body: [1])
        }
        #expect(await task.value == .failed(TransportFailure(.notSent, "cancelled")))
        #expect(try await fixture.requestCount() == 0)
    }

    @Test func `reports a request as lost when its task is cancelled in flight`() async throws {
        let fixture = try EchoFixture(.hang)
        let task = Task { await fixture.send("POST", body: [1]) }
        while try await fixture.requestCount() == 0 {}
        task.cancel()
        #expect(await task.value == .failed(TransportFailure(.lost, "cancelled")))
    }
}

extension FaultRule.Effect {
    /// The effect as the control endpoint reads it.
    fileprivate var json: String {
        switch self {
        case .delay(let milliseconds): #"{"delayMilliseconds":\#(milliseconds)}"#
        default: #""\#(self)""#
        }
    }
}
