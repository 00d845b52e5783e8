#if !canImport(Darwin)
import Foundation
import PatchbayAdapterKit
import PatchbaySandbox
import Testing

@testable import PatchbayHTTP

/// Against real TLS servers of Python's `ssl` module, with certificates that `openssl` makes.
@Suite("HTTP transport: TLS") struct TLSTests {
    @Test(arguments: [
        ("self-signed", "certificateSelfSigned"), ("wrong-host", "certificateOfAnotherHost"),
        ("expired", "certificateExpired"), ("plain", "secureConnectionFailed"), ("closed", "secureConnectionFailed"),
    ])
    func `a server that cannot prove its identity receives nothing`(kind: String, code: String) async throws {
        let server = try TLSServer(kind)
        let outcome = await server.transport.send(server.request, timeout: .guardTime)
        #expect(outcome == .failed(TransportFailure(.notSent, code)))
    }

    @Test func `accepts a server with a valid certificate and refuses an untrusted authority`()
        async throws
    {
        let server = try TLSServer("good")
        #expect(await server.transport.send(server.request, timeout: .guardTime).reply?.body == server.firstLine)
        let outcome = await HTTPTransport().send(server.request, timeout: .guardTime)
        #expect(outcome == .failed(TransportFailure(.notSent, "certificateRefused")))
    }

    @Test func `an unanswered handshake ends at the timeout as not sent`() async throws {
        let server = try TLSServer("silent")
        let outcome = await server.transport.send(server.request, timeout: .milliseconds(500))
        #expect(outcome == .failed(TransportFailure(.notSent, "timedOut")))
    }

    @Test func `returns an authentication challenge as a reply`() async throws {
        let server = try TLSServer("basic")
        let reply = try #require(await server.transport.send(server.request, timeout: .guardTime).reply)
        #expect(reply.status == 401 && reply[header: "WWW-Authenticate"] == #"Basic realm="test""#)
        #expect(reply.body == server.firstLine)
    }

    @Test func `uses the proxy for other machines and not for this one`() async throws {
        let proxy = try TLSServer("proxy")
        let settings = HTTPSettings(
            proxy: "http://127.0.0.1:\(proxy.port)",
            certificateAuthorities: proxy.authorities
        )
        let request = WireRequest("POST", "https://vendor.example/x", body: Array("secret".utf8))
        let reply = await HTTPTransport(settings).send(request, timeout: .guardTime).reply
        #expect(reply?.body == proxy.firstLine)
        let server = try TLSServer("good")
        let toServer = HTTPSettings(proxy: "http://127.0.0.1:1", certificateAuthorities: server.authorities)
        #expect(await HTTPTransport(toServer).send(server.request, timeout: .guardTime).reply != nil)
        let echo = try EchoFixture().server
        let plain = WireRequest("GET", "http://127.0.0.1:\(echo.port)/echo/x")
        #expect(await HTTPTransport(toServer).send(plain, timeout: .guardTime).reply != nil)
    }

    @Test func `reports a request that the proxy refuses as not sent`() async throws {
        let echo = try EchoFixture().server
        let transport = HTTPTransport(proxy: "http://127.0.0.1:\(echo.port)")
        let outcome = await transport.send(WireRequest("POST", "https://vendor.example/x"), timeout: .guardTime)
        #expect(outcome == .failed(TransportFailure(.notSent, "proxyRefused")))
    }
}

/// A process of `tls_server.py`. It ends with this object.
private final class TLSServer {
    let port: Int
    let request: WireRequest
    let firstLine = Array("POST /x HTTP/1.1".utf8)
    let authorities: String
    let transport: HTTPTransport
    private let process = Process()
    /// The server ends when this pipe is closed.
    private let input = Pipe()
    private let folder: URL

    init(_ kind: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "tls_server.py").path()
        process.arguments = ["python3", script, kind, folder.path()]
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
        request = WireRequest("POST", "https://127.0.0.1:\(port)/x", body: Array("secret".utf8))
        authorities = folder.appending(path: "ca.pem").path()
        transport = HTTPTransport(HTTPSettings(certificateAuthorities: authorities))
    }

    deinit {
        try? input.fileHandleForWriting.close()
        // Another child process may have a copy of the pipe.
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
#endif
