import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import Testing

@Suite("Reconfiguration of a client", .hangTimeLimit) struct ReconfigureTests {
    private func client(_ plan: RoutingPlan, _ transport: ScriptedTransport) async throws -> EngagementClient {
        try await EngagementClient(
            outbox: .memory,
            subject: "installation-1",
            plan: plan,
            transport: transport,
            credentials: CredentialSource { Secret("key of \($0.provider)") }
        )
    }

    private let newKeys = CredentialSource { Secret("new key of \($0.provider)") }

    @Test func `refuses an invalid configuration with every error and keeps the old one`() async throws {
        let transport = ScriptedTransport()
        let probe = Configuration.Provider(name: "a", adapter: ProbeDevice(settings: .init()))
        let valid = Configuration(providers: [probe], routes: [.init(to: "a")], outbox: .init(path: "unused"))
        let invalid = Configuration(
            providers: [probe, .init(name: "pool", adapter: PoolProbe(settings: PoolProbe.Settings()))],
            routes: [.init(to: "a", mode: .paused), .init(to: "a", mode: .paused), .init(to: "b", mode: .shadow)],
            outbox: .init(path: "unused")
        )
        let errors = [
            "configuration.provider.side at providers.pool.adapter", "configuration.route.twice at routes[1].provider",
            "configuration.route.provider at routes[2].provider", "configuration.route.none at routes",
        ]
        func client(_ configuration: Configuration) async throws -> EngagementClient {
            try await EngagementClient(
                configuration: configuration,
                subject: "installation-1",
                transport: transport,
                outbox: .memory
            )
        }
        let refused = await #expect(throws: ConfigurationError.self) { _ = try await client(invalid) }
        #expect(refused?.findings.map { "\($0.code) at \($0.path)" } == errors)
        let taken = try await client(valid)
        await #expect(throws: ConfigurationError.self) { try await taken.reconfigure(invalid) }
        #expect(try await taken.track("still here").outcome(on: "a").term == .accepted)
        await taken.close()
    }

    @Test func `keeps the credential source across a reconfiguration`() async throws {
        let transport = ScriptedTransport()
        let client = try await client(.routes(.retarget, .route("a", .live)), transport)
        try await client.reconfigure(.routes(.retarget, .route("a", nil), .route("b", .live)))
        #expect(try await client.track("after").outcome(on: "b").term == .accepted)
        #expect(transport.sent.last?[header: "Authorization"] == "key of b")
        await client.close()
    }

    @Test func `loses and duplicates no capture during a reconfiguration`() async throws {
        let transport = ScriptedTransport()
        let client = try await client(.routes(.retarget, .route("a", .live)), transport)
        let receipts = try await withThrowingTaskGroup(of: [Receipt].self) { group in
            for task in 0..<4 {
                group.addTask {
                    try (0..<50).map { try client.track("event \(task) \($0)") }
                }
            }
            try await client.reconfigure(
                .routes(.retarget, .route("a", nil), .route("b", .live)),
                credentials: newKeys
            )
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for receipt in receipts { try await receipt.durable() }
        await client.idle()
        let accounts = try await client.accounts()
        for account in accounts {
            #expect(account.balances)
            #expect(account.pending == 0)
        }
        let sent = transport.sent.filter { $0.url.hasSuffix("/track") }.compactMap { $0[header: "Operation"] }
        #expect(Set(sent) == Set(receipts.map(\.id.rawValue)))
        #expect(sent.count == receipts.count)
        let after = try client.track("after")
        #expect(try await after.outcome(on: "b").term == .accepted)
        #expect(transport.sent.last?[header: "Authorization"] == "new key of b")
        await #expect(throws: CaptureError.self) { try await after.outcome(on: "a") }
        await client.close()
    }

    @Test func `throws a refusal to the caller and keeps the old plan`() async throws {
        let transport = ScriptedTransport()
        let client = try await client(.routes(.drain, .route("a", .live, courtesy: 3_600_000)), transport)
        try await client.set(["city": .string("Turku")]).durable()
        let picky = RoutingPlan.Provider(name: "b", adapter: PickyDevice(settings: .init()), mode: .live)
        await #expect(throws: SwitchRefusal.self) {
            try await client.reconfigure(.routes(.retarget, .route("a", nil), picky))
        }
        try await client.flush()
        let receipt = try client.track("still here")
        try await client.flush()
        #expect(try await receipt.outcome(on: "a").term == .accepted)
        await client.close()
        await #expect(throws: CaptureError.self) { try await client.reconfigure(.routes(.drain, picky)) }
    }
}
