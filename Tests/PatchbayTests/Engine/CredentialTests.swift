import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel
import PatchbaySimulation
import Synchronization
import Testing

/// A JSON Web Token that expires at an instant.
private func token(_ name: String, expiring instant: Instant? = nil) -> Secret {
    func part(_ json: JSONValue) -> String {
        Data(json.text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
    var payload: JSONObject = ["sub": .string(name)]
    if let instant { payload["exp"] = .integer(instant.milliseconds / 1_000) }
    return Secret("\(part(["alg": "none"])).\(part(.object(payload))).c2ln")
}

/// A credential source that records its requests and returns scripted answers.
private final class Source: Sendable {
    private let state: Mutex<(asked: [CredentialRequest], answers: [@Sendable () throws -> Secret?])>

    init(_ answers: (@Sendable () throws -> Secret?)...) { state = Mutex(([], answers)) }

    var asked: [CredentialRequest] { state.withLock { $0.asked } }

    var source: CredentialSource {
        CredentialSource { [self] request in
            let answer = state.withLock { state in
                state.asked.append(request)
                return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
            }
            return try answer()
        }
    }
}

@Suite("Credentials") struct CredentialTests {
    private static let plan = RoutingPlan.probe { $0.needsCredential = true }

    /// Returns a vendor that replies 401 to every credential except the given ones.
    private static func accepting(_ accepted: String...) -> @Sendable (WireRequest) -> Outcome {
        { request in
            let isAccepted = accepted.contains(request[header: "Authorization"] ?? "")
            return .replied(WireResponse(isAccepted ? 200 : 401, json: [:]))
        }
    }

    private func world(_ credential: Secret?, accepting: String...) throws -> VirtualWorld {
        let world = try VirtualWorld()
        world.network = { sent in
            let isAccepted = accepting.contains(sent.request[header: "Authorization"] ?? "")
            return .outcome(.replied(WireResponse(isAccepted ? 200 : 401, json: [:])))
        }
        world.credentials = { _, _ in credential }
        try world.start(Self.plan)
        return world
    }

    // MARK: Expiry

    @Test func `holds operations with an expired token and sends them with a new one`() throws {
        let start = Instant(milliseconds: 1_900_000_000_000)
        let (old, new) = (token("old", expiring: start + .seconds(60)), token("new", expiring: start + .seconds(7_200)))
        let world = try world(old, accepting: old.value, new.value)
        try world.capture(.event("before"), contact: "aino")
        try world.advance(by: .seconds(3_600))
        #expect(world.sent.count == 1)
        try world.capture(.event("after"), contact: "aino")
        try world.advance(by: .seconds(3_600))
        #expect(world.sent.count == 1)
        let wait = try #require(try world.account("p").waits.first)
        #expect(wait.reasons.map(\.code) == ["probe.credential.missing", "engine.credential.expired"])
        #expect(wait.text.contains((start + .seconds(60)).text))
        world.credentials = { _, _ in token("new", expiring: start + .seconds(14_400)) }
        try world.credentialDidChange(for: "aino")
        try world.advance(by: .seconds(1))
        #expect(world.sent.count == 2)
        #expect(try world.account("p").total("accepted") == 1)
    }

    @Test(arguments: ["opaque", "a.b.c", "a.b", "e30.e30.x", "e30.eyJleHAiOiJzb29uIn0.x", "e30.eyJleHAiOjF9"])
    func `sends a credential without a readable expiry unchanged`(_ text: String) throws {
        let world = try world(Secret(text), accepting: text)
        try world.capture(.event("e"))
        try world.advance(by: .seconds(1))
        #expect(world.sent.first?.request[header: "Authorization"] == text)
    }

    @Test func `a token that expired in 1970 is not sent`() throws {
        let world = try world(Secret("e30.eyJleHAiOjF9.x"))
        try world.capture(.event("e"))
        try world.advance(by: .seconds(60))
        #expect(world.sent.isEmpty)
    }

    // MARK: Refusals

    @Test func `a refused credential keeps the operation pending until another one is known`() throws {
        let world = try world("first", accepting: "second")
        let event = try world.capture(.event("e"), contact: "aino")
        try world.advance(by: .seconds(600))
        #expect(world.sent.count == 1)
        #expect(world.outcome(of: event.id, on: "p") == nil)
        let wait = try #require(try world.account("p").waits.first)
        #expect(wait.reasons.last?.code == "engine.credential.refused")
        #expect(wait.text.contains("probe.test: HTTP 401"))
        world.credentials = { _, _ in "second" }
        try world.credentialDidChange(for: "aino")
        try world.advance(by: .seconds(1))
        #expect(world.outcome(of: event.id, on: "p")?.term == .accepted)
    }

    @Test func `rejects an operation when a second credential is refused`() throws {
        let world = try world("first")
        let event = try world.capture(.event("e"), contact: "aino")
        try world.advance(by: .seconds(60))
        world.credentials = { _, _ in "second" }
        try world.wake()
        try world.advance(by: .seconds(60))
        #expect(world.sent.count == 2)
        #expect(world.outcome(of: event.id, on: "p")?.term == .rejected)
    }

    @Test func `retries an announced unchanged credential and rejects after a second one is refused`()
        throws
    {
        let world = try world("first")
        let event = try world.capture(.event("e"), contact: "aino")
        try world.advance(by: .seconds(60))
        try world.credentialDidChange(for: "aino")
        try world.advance(by: .seconds(60))
        #expect(world.sent.count == 2 && world.outcome(of: event.id, on: "p") == nil)
        world.credentials = { _, _ in "second" }
        try world.credentialDidChange(for: "aino")
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: event.id, on: "p")?.term == .rejected)
    }

    @Test func `keeps an operation pending when a formerly accepted credential is refused`() throws {
        let world = try world("first", accepting: "first")
        try world.capture(.event("a"), contact: "aino")
        try world.advance(by: .seconds(60))
        world.network = { _ in .outcome(.replied(WireResponse(401, json: [:]))) }
        let event = try world.capture(.event("b"), contact: "aino")
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: event.id, on: "p") == nil)
        #expect(try world.account("p").pending == 1)
    }

    @Test func `a refused credential of one contact does not block another contact`() throws {
        let world = try world(nil, accepting: "bo")
        world.credentials = { _, contact in contact == "bo" ? "bo" : "refused" }
        try world.capture(.event("a"), subject: "s-1", contact: "aino")
        let event = try world.capture(.event("b"), subject: "s-2", contact: "bo")
        try world.advance(by: .seconds(60))
        #expect(world.outcome(of: event.id, on: "p")?.term == .accepted)
        #expect(try world.account("p").pending == 1)
    }

    @Test func `does not retry a refused credential after a configuration change`() throws {
        let world = try world("first")
        try world.capture(.event("e"), contact: "aino")
        try world.advance(by: .seconds(60))
        try world.reconfigure(Self.plan)
        try world.advance(by: .seconds(60))
        #expect(world.sent.count == 1)
    }

    // MARK: The client

    private func client(_ source: Source, _ transport: ScriptedTransport) async throws -> EngagementClient {
        try await EngagementClient(
            outbox: .memory,
            subject: "installation-1",
            plan: Self.plan,
            transport: transport,
            credentials: source.source
        )
    }

    @Test func `asks the credential source once per contact, and idle waits for the answer`() async throws {
        let (source, transport) = (Source({ "key" }), ScriptedTransport { Self.accepting("key")($1) })
        let client = try await client(source, transport)
        for number in 0..<20 { try client.track("event \(number)") }
        await client.idle()
        #expect(transport.sent.count == 20)
        #expect(source.asked == [CredentialRequest(provider: "p", contact: nil)])
        await client.close()
    }

    @Test func `asks the source again with the refused credential after a refusal`() async throws {
        let (source, transport) = (Source({ "old" }, { "new" }), ScriptedTransport { Self.accepting("new")($1) })
        let client = try await client(source, transport)
        #expect(try await client.track("event").outcome(on: "p").term == .accepted)
        #expect(source.asked.map(\.replacing) == [nil, "old"])
        await client.close()
    }

    @Test func `a new credential wakes waiting operations`() async throws {
        let (source, transport) = (Source({ nil }, { "key" }), ScriptedTransport { Self.accepting("key")($1) })
        let client = try await client(source, transport)
        let receipt = try client.track("event")
        try await receipt.durable()
        await client.idle()
        #expect(transport.sent.isEmpty)
        let wait = try #require(try await client.accounts().first?.waits.first)
        #expect(wait.reasons.map(\.code) == ["probe.credential.missing", "engine.credential.missing"])
        try await client.credentialDidChange(for: nil)
        #expect(try await receipt.outcome(on: "p").term == .accepted)
        await client.close()
    }

    private struct Offline: Error {}

    @Test func `asks a failed credential source again when the network returns`() async throws {
        let source = Source({ throw Offline() }, { "key" })
        let client = try await client(source, ScriptedTransport { Self.accepting("key")($1) })
        let receipt = try client.track("event")
        try await receipt.durable()
        await client.idle()
        let reasons = try #require(try await client.accounts().first?.waits.first?.reasons)
        #expect(reasons.last?.code == "engine.credential.failed" && reasons.last?.reason.contains("Offline") == true)
        try await client.networkIsBack()
        #expect(try await receipt.outcome(on: "p").term == .accepted)
        await client.close()
    }
}

extension Secret: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}
