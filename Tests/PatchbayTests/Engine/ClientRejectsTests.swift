import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Testing

@Suite("Rejected operations of a client") struct ClientRejectsTests {
    /// A client whose vendor refuses events named "late" until the transport is changed.
    private func client(_ plan: RoutingPlan = .probe(), _ transport: ScriptedTransport) async throws -> EngagementClient
    {
        try await EngagementClient(outbox: .memory, subject: "installation-1", plan: plan, transport: transport)
    }

    private static let refusesFirst = { @Sendable (number: Int, _: WireRequest) -> Outcome in
        .replied(WireResponse(number == 1 ? 422 : 200, json: [:]))
    }

    @Test func `lists a rejected operation and replays it with its id`() async throws {
        let transport = ScriptedTransport(Self.refusesFirst)
        let client = try await client(.probe(), transport)
        let receipt = try client.track("Order Placed")
        #expect(try await receipt.outcome(on: "p").term == .rejected)
        let rejects = try await client.rejects(on: "p")
        #expect(rejects.map(\.id) == [receipt.id])
        #expect(rejects.first?.finding?.code == "probe.refused")
        #expect(try await client.rejects(code: "other.code").isEmpty)
        #expect(try await client.replay(rejects) == [.pending])
        // A capture wakes a lane whose last request failed after a second; a flush does so at once.
        try await client.flush()
        await client.idle()
        #expect(transport.sent.map { $0[header: "Operation"] } == [receipt.id.rawValue, receipt.id.rawValue])
        #expect(try await client.rejects().isEmpty)
        #expect(try await client.replay(rejects) == [.alreadyEnded])
        await client.close()
    }

    @Test func `reports why a reject cannot be replayed`() async throws {
        let client = try await client(.probe(), ScriptedTransport(Self.refusesFirst))
        #expect(try await client.track("Order Placed").outcome(on: "p").term == .rejected)
        var reject = try #require(try await client.rejects().first)
        reject.operation?.action = .event("bad")
        let results = try await client.replay([reject])
        guard case .ended(let outcome) = results.first else {
            Issue.record("\(results)")
            return
        }
        #expect(outcome.term == .rejected && outcome.finding?.path == "action.event.name")
        try await client.reconfigure(.routes(.drain, .route("q", .live)))
        guard case .refused(let finding) = try await client.replay([reject]).first else {
            Issue.record("It was replayed at a provider that is gone.")
            return
        }
        #expect(finding.code == "engine.replay.provider")
        await client.close()
    }

    @Test func `lists rejects page by page, newest first`() async throws {
        let client = try await client(.probe(), ScriptedTransport { _, _ in .replied(WireResponse(422)) })
        for number in 0..<5 { #expect(try await client.track("\(number)").outcome(on: "p").term == .rejected) }
        let first = try await client.rejects(limit: 3)
        let rest = try await client.rejects(after: first.last, limit: 3)
        #expect(first.count == 3 && rest.count == 2)
        #expect(Set((first + rest).map(\.id)).count == 5)
        await client.close()
    }
}

@Suite("Configuration of a client") struct ClientConfigurationTests {
    private let folder = TemporaryFolder()

    private func configuration(_ catalogue: [AttributeName: AttributeCatalogue.Entry], path: String? = nil)
        -> Configuration
    {
        Configuration(
            providers: [.init(name: "p", adapter: ProbeDevice(settings: .init()))],
            routes: [.init(to: "p")],
            catalogue: AttributeCatalogue(catalogue),
            outbox: .init(path: path ?? folder.outbox, history: 2, limits: OutboxLimits(rejects: 1))
        )
    }

    private func client(_ configuration: Configuration, _ transport: ScriptedTransport = ScriptedTransport())
        async throws
        -> EngagementClient
    {
        try await EngagementClient(configuration: configuration, subject: "installation-1", transport: transport)
    }

    @Test func `converts attribute values to their catalogued types and refuses others`() async throws {
        let transport = ScriptedTransport()
        let client = try await client(configuration(["points": .init(type: .integer)]), transport)
        #expect(try await client.set(["points": "12"]).outcome(on: "p").term == .accepted)
        #expect(String(decoding: transport.sent[0].body, as: UTF8.self).contains(#""points":{"set":12}"#))
        let error = #expect(throws: CaptureError.self) { try client.set(["points": "many", "city": "Turku"]) }
        #expect(error?.findings.map(\.code) == ["catalogue.attribute.type"])
        #expect(error?.findings.map(\.path) == ["action.changes.points.set"])
        await client.close()
    }

    @Test func `refuses a change of an attribute that the server owns`() async throws {
        let client = try await client(configuration(["points": .init(owner: .server)]))
        let error = #expect(throws: CaptureError.self) { try client.set(["points": 12]) }
        #expect(error?.findings.map(\.code) == ["catalogue.attribute.owner"])
        await client.close()
    }

    @Test func `applies the limits and types of a new configuration at once`() async throws {
        let client = try await client(configuration([:]), ScriptedTransport { _, _ in .replied(WireResponse(422)) })
        try client.set(["points": "many"])
        for number in 0..<3 { #expect(try await client.track("\(number)").outcome(on: "p").term == .rejected) }
        #expect(try await client.rejects().count == 1)
        try await client.reconfigure(configuration(["points": .init(type: .integer)]))
        #expect(throws: CaptureError.self) { try client.set(["points": "many"]) }
        await #expect(throws: ConfigurationError.self) {
            try await client.reconfigure(configuration([:], path: folder.outbox + "-other"))
        }
        await client.close()
    }
}
