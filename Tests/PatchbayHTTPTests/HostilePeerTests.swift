import Foundation
import PatchbayAdapterKit
import PatchbayHTTP
import PatchbaySandbox
import Testing

@Suite("HTTP transport: hostile peers") struct HostilePeerTests {
    /// Targets of a redirect: another port, another name of the same host, and a URL without a scheme.
    private static let targets: [@Sendable (SandboxServer) -> String] = [
        { "http://127.0.0.1:\($0.port)/echo/stolen" }, { "http://localhost:\($0.port)/echo/stolen" },
        { "//127.0.0.1:\($0.port)/echo/stolen" },
    ]

    @Test(arguments: [301, 302, 303, 307, 308], ["GET", "POST"])
    func `sends nothing to the target of a redirect`(_ status: Int, _ method: String) async throws {
        let other = try EchoFixture()
        for target in Self.targets {
            let location = WireHeader("Location", target(other.server))
            let fixture = try EchoFixture(.answer(WireResponse(status, headers: [location]), processed: false))
            let secrets = [
                WireHeader("Authorization", "Bearer canary", isSecret: true), WireHeader("Cookie", "canary=1"),
            ]
            let outcome = await fixture.send(method, headers: secrets, body: method == "GET" ? [] : [1])
            #expect(outcome.reply?.status == status)
            #expect(outcome.reply?[header: "Location"] == location.value)
            #expect(try await fixture.requestCount() == 1)
        }
        #expect(try await other.requestCount() == 0)
    }

    @Test(arguments: [
        WireHeader("X-Name", "x\r\nEvil: y"), WireHeader("X-Name", "x\nEvil: y"), WireHeader("X-Name", "x\0y"),
        WireHeader("X-Name: y\r\nEvil", "z"), WireHeader("", "z"),
    ])
    func `refuses a header that could inject another header`(_ header: WireHeader) async throws {
        let fixture = try EchoFixture()
        let outcome = await fixture.send("POST", headers: [header], body: [1])
        #expect(outcome == .failed(TransportFailure(.badHeader)))
        #expect(try await fixture.requestCount() == 0)
    }

    @Test(arguments: [
        ("/v1/../admin", WireFault.climbingURL), ("/v1/%2e%2e/admin", .climbingURL), ("/v1/a b", .badURL),
        ("/v1/a\r\nEvil: y", .badURL), ("/v1/a\\b", .badURL), ("/v1/\0", .badURL),
    ])
    func `refuses a path that could lead elsewhere`(row: (path: String, fault: WireFault)) async throws {
        let fixture = try EchoFixture()
        let outcome = await fixture.send("POST", row.path, body: [1])
        #expect(outcome == .failed(TransportFailure(row.fault)))
        #expect(try await fixture.requestCount() == 0)
    }

    @Test(arguments: ["http://vendor.example/x", "http://10.1.2.3:80/x", "http://localhost.vendor.example/x"])
    func `sends no unencrypted request to another machine`(_ url: String) async {
        let request = WireRequest("POST", url, headers: [WireHeader("Authorization", "canary", isSecret: true)])
        let outcome = await HTTPTransport().send(request, timeout: .guardTime)
        #expect(outcome == .failed(TransportFailure(.insecureURL)))
    }

    @Test(arguments: ["220 ftp ready\r\n", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/9.9 200 OK\r\n\r\n"])
    func `reports a request as lost when the answer is not HTTP`(_ answer: String) async throws {
        let server = try RawServer()
        async let written = server.answer(answer, then: [], limit: answer.utf8.count)
        let request = WireRequest("POST", server.url, body: [1])
        guard case .failed(let failure) = await HTTPTransport().send(request, timeout: .guardTime) else {
            Issue.record("an answer that is not HTTP counts as a reply")
            return
        }
        #expect(failure.delivery == .lost && failure.fault == nil)
        #expect(await written == answer.utf8.count)
    }

    @Test(.serialized, arguments: ["Content-Length: 10000000000", "Transfer-Encoding: chunked", "Connection: close"])
    func `closes the connection when an endless reply exceeds the limit`(_ header: String) async throws {
        let server = try RawServer()
        let block = [UInt8](repeating: 0x20, count: 1 << 16)
        let isChunked = header.hasPrefix("Transfer")
        let piece = isChunked ? Array("10000\r\n".utf8) + block + Array("\r\n".utf8) : block
        async let written = server.answer(
            "HTTP/1.1 200 OK\r\n\(header)\r\n\r\n",
            then: piece,
            pause: 5_000,
            limit: 10_000_000_000
        )
        // Not a measure of speed: with all suites under the thread sanitizer, 600 seconds were not enough.
        let outcome = await HTTPTransport().send(WireRequest("GET", server.url), timeout: .seconds(7_200))
        #expect(outcome == .failed(TransportFailure(.lost, "replyTooLong")))
        // The limit, and the bytes that were written while a busy machine closed the connection.
        #expect(await written < 1 << 28)
    }

    @Test func `receives a reply in 3,000 one-byte chunks completely`() async throws {
        let server = try RawServer()
        let answer = Self.chunked + String(repeating: "1\r\na\r\n", count: 3_000) + "0\r\n\r\n"
        async let written = server.answer(answer, then: [], limit: answer.utf8.count)
        let request = WireRequest("GET", server.url, replyLimit: 3_000)
        let outcome = await HTTPTransport().send(request, timeout: .seconds(7_200))
        #expect(outcome.reply?.body == [UInt8](repeating: 0x61, count: 3_000))
        #expect(await written == answer.utf8.count)
    }

    @Test func `ends an endless chunk extension at the timeout while the server still writes`()
        async throws
    {
        let server = try RawServer()
        let piece = [UInt8](repeating: 0x61, count: 1 << 16)
        async let written = server.answer(Self.chunked + "1;", then: piece, limit: .max, seconds: 1)
        let outcome = await HTTPTransport().send(WireRequest("GET", server.url), timeout: .milliseconds(500))
        #expect(outcome == .failed(TransportFailure(.lost, "timedOut")))
        _ = await written
    }

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func `ends a reply that arrives byte by byte at the timeout`() async throws {
        let server = try RawServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
        async let written = server.answer(head, then: [0x20], pause: 50_000, limit: 1 << 20)
        let outcome = await HTTPTransport().send(WireRequest("GET", server.url), timeout: .milliseconds(800))
        #expect(outcome == .failed(TransportFailure(.lost, "timedOut")))
        #expect(await written < 2_000)
    }
}
