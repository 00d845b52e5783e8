import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import Testing

@Suite("The client takes another configuration", .endsAtAll) struct ReconfigureTests {
    private func client(_ plan: RoutingPlan, _ transport: ScriptedTransport) async throws -> EngagementClient {
        try await EngagementClient(
            outbox: .memory,
            subject: "installation-1",
            plan: plan,
            transport: transport,
            credentials: { provider, _ in Secret("key of \(provider)") }
        )
    }

    private func credential(_ provider: String, _ contact: String?) -> Secret? { Secret("new key of \(provider)") }

    @Test func `a plan that mixes an app's doors with a back end's is refused, and the old one goes on`() async throws {
        let transport = ScriptedTransport()
        let old = RoutingPlan.routes(.retarget, .route("a", .live))
        var mixed = old
        mixed.providers.append(
            RoutingPlan.Provider(name: "pool", adapter: PoolProbe(settings: PoolProbe.Settings()), mode: .live)
        )
        do {
            _ = try await client(mixed, transport)
            Issue.record("It was taken.")
        } catch let error as ConfigurationError {
            #expect(error.findings.map { $0.code } == ["configuration.provider.side"])
            #expect(error.findings.map { $0.path } == ["providers.pool"])
        }
        let taken = try await client(old, transport)
        do {
            try await taken.reconfigure(mixed, credentials: credential)
            Issue.record("It was taken.")
        } catch is ConfigurationError {}
        #expect(try await taken.track("still here").outcome(on: "a").term == .accepted)
        await taken.close()
    }

    @Test func `while everybody captures, nothing is lost and nothing reaches two vendors`() async throws {
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
                credentials: credential
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

    @Test func `a refusal is told to the caller, and the old plan goes on`() async throws {
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
