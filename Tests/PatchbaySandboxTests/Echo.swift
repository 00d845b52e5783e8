import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySandbox

/// A vendor that counts its requests and sends each back as JSON.
struct Echo: VendorSimulator {
    struct State: Codable, Sendable, Equatable {
        var requests = 0
    }

    static let id: AdapterID = "echo"
    static let instant = Instant(milliseconds: 1_790_000_000_000)
    let initialState = State()

    init(settings: JSONObject) throws(SettingsError) {}
    init() {}

    /// Returns a checksum of bytes and their order. Reads eight bytes at a time, so that a debug build is fast.
    static func sum(of bytes: [UInt8]) -> Int64 {
        bytes.withUnsafeBytes { bytes in
            let words = bytes.count / 8
            var sum: UInt64 = 0
            for word in 0..<words {
                sum = sum &* 31 &+ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self))
            }
            for byte in bytes[(8 * words)...] { sum = sum &* 31 &+ UInt64(byte) }
            return Int64(bitPattern: sum)
        }
    }

    func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        state.requests += 1
        let headers = JSONObject(request.headers.map { ($0.name, .string($0.value)) })
        let reply: JSONValue = [
            "method": .string(request.method),
            "url": .string(request.url),
            "headers": .object(headers),
            "bytes": .integer(request.body.count),
            "sum": .integer(Self.sum(of: request.body)),
            "request": .integer(state.requests),
        ]
        return WireResponse(
            201,
            headers: [
                WireHeader("Content-Type", "application/json"), WireHeader("X-Echo", "a"), WireHeader("X-Echo", "b"),
            ],
            body: Array(reply.text.utf8)
        )
    }
}

/// The same vendor under another name.
struct Second: VendorSimulator {
    static let id: AdapterID = "second"
    let initialState = Echo.State()

    init(settings: JSONObject) throws(SettingsError) {}
    init() {}

    func respond(to request: WireRequest, state: inout Echo.State, now: Instant) -> WireResponse {
        Echo().respond(to: request, state: &state, now: now)
    }
}

/// A vendor whose id is reserved by the sandbox.
struct Reserved: VendorSimulator {
    static let id: AdapterID = "sandbox"
    let initialState = Echo.State()

    init(settings: JSONObject) throws(SettingsError) {}
    init() {}

    func respond(to request: WireRequest, state: inout Echo.State, now: Instant) -> WireResponse {
        WireResponse(200)
    }
}

extension SandboxServer {
    /// A server of the echo vendors at a fixed time.
    static func echo(
        faults: [FaultRule] = [],
        logPath: String? = nil,
        bodyLimit: Int = defaultBodyLimit,
        limits: Limits = Limits()
    ) throws -> SandboxServer {
        try start([Echo(), Second()], faults: faults, logPath: logPath, bodyLimit: bodyLimit, limits: limits) {
            Echo.instant
        }
    }
}
