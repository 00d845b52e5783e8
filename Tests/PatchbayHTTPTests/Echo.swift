import Foundation
import PatchbayAdapterKit
import PatchbayHTTP
import PatchbayJSON
import PatchbayModel
import PatchbaySandbox
import Testing

extension Duration {
    /// A timeout that no busy machine reaches.
    static let guardTime = Duration.seconds(3600)
}

/// A vendor that counts its requests and sends each back; a path that ends in `/bytes` answers with the body itself.
struct Echo: VendorSimulator {
    struct State: Codable, Sendable, Equatable {
        var requests = 0
    }

    static let id: AdapterID = "echo"
    let initialState = State()

    init(settings: JSONObject) throws(SettingsError) {}
    init() {}

    func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        state.requests += 1
        if request.url.hasSuffix("/bytes") { return WireResponse(200, body: request.body) }
        return WireResponse(
            201,
            headers: [WireHeader("X-Mixed-Case", "Kept As It Is"), WireHeader("Set-Cookie", "session=1")],
            json: [
                "method": .string(request.method),
                "url": .string(request.url),
                "headers": .object(JSONObject(request.headers.map { ($0.name, .string($0.value)) })),
                "body": .string(String(decoding: request.body, as: UTF8.self)),
            ]
        )
    }
}

/// A sandbox with the echo vendor, and a transport to it.
struct EchoFixture {
    let server: SandboxServer
    let transport = HTTPTransport()

    init(_ effect: FaultRule.Effect? = nil) throws {
        let faults = effect.map { [FaultRule($0, count: 1)] } ?? []
        server = try SandboxServer.start([Echo()], faults: faults) { Instant(milliseconds: 0) }
    }

    /// Sends a request to the vendor.
    func send(
        _ method: String,
        _ path: String = "/v1/x",
        headers: [WireHeader] = [],
        body: [UInt8] = [],
        replyLimit: Int = WireRequest.usualReplyLimit,
        timeout: Duration = .guardTime
    ) async -> Outcome {
        let url = server.url(of: "echo") + path
        let request = WireRequest(method, url, headers: headers, body: body, replyLimit: replyLimit)
        return await transport.send(request, timeout: timeout)
    }

    /// Returns the number of requests in the vendor's log, processed or not.
    func requestCount() async throws -> Int {
        let log = await transport.send(WireRequest("GET", server.url + "/sandbox/log"), timeout: .guardTime)
        return try #require(log.reply).body.count { $0 == 0x0A }
    }
}
