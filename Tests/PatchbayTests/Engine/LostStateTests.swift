import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// What a person allows, where the state that held it is lost.
@Suite("Lost states") struct LostStateTests {
    /// How a state gets lost.
    enum Loss: CaseIterable, Sendable { case damaged, unreadable, thrownAway }

    private func lose(_ loss: Loss, in world: VirtualWorld) throws {
        switch loss {
        case .damaged: try world.store.connection.run("UPDATE snapshot SET body = x'00'")
        case .unreadable: try world.store.state.setSnapshot(subject: "installation-1", body: [0x5B])
        case .thrownAway: try world.store.connection.run("DELETE FROM snapshot")
        }
        world.store.noteForeignCommit()
    }

    private func world(_ required: Set<Consent.Scope> = []) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: required))
        return world
    }

    /// What becomes of an action now: the code of its end, or its term.
    private func fate(_ action: Action, in world: VirtualWorld) throws -> String? {
        let operation = try world.capture(action)
        try world.advance(by: .seconds(1))
        let outcome = world.outcome(of: operation.id, on: "p")
        return outcome?.finding?.code ?? outcome?.term.rawValue
    }

    @Test(arguments: Loss.allCases, [false, true])
    func `a no outlives the state that held it`(loss: Loss, isRestarted: Bool) throws {
        let world = try world()
        try say(.tracking, .denied, in: world)
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try lose(loss, in: world)
        if isRestarted { try world.restart() }
        #expect(try fate(.event("after"), in: world) == "engine.consent.denied")
        #expect(try world.snapshot()?.consents == [Consent(purpose: .tracking, state: .denied)])
        #expect(try fate(.set("tier", "silver"), in: world) == "accepted")
        try say(.tracking, .granted, in: world)
        #expect(try fate(.event("later"), in: world) == "accepted")
        try world.expectSound()
    }

    @Test(arguments: Loss.allCases)
    func `a yes is asked for again, because nobody knows any more who said it`(loss: Loss) throws {
        let world = try world([.tracking])
        try say(.tracking, .granted, in: world)
        #expect(try world.drain())
        try lose(loss, in: world)
        #expect(try fate(.event("after"), in: world) == nil)
        #expect(try world.account("p").held == ["consent.tracking": 1])
    }

    @Test func `a no that was taken back, or erased, is none for a lost state`() throws {
        for isErased in [false, true] {
            let world = try world()
            try say(.tracking, .push, .denied, in: world)
            try say(.tracking, .denied, in: world)
            if isErased {
                try world.capture(.erase)
            } else {
                try say(.tracking, .push, .granted, in: world)
                try say(.tracking, .granted, in: world)
            }
            #expect(try world.drain())
            try lose(.thrownAway, in: world)
            #expect(try fate(.event("after"), in: world) == "accepted")
            #expect(try world.snapshot()?.consents == [])
        }
    }

    @Test func `a channel follows the word for every channel where it has none of its own`() throws {
        let texts = Action.changeSubscription(Subscription(channel: .sms, state: .subscribed))
        let world = try world()
        try say(.messaging, .sms, .granted, in: world)
        try say(.messaging, .denied, in: world)
        try lose(.thrownAway, in: world)
        #expect(try fate(texts, in: world) == "engine.consent.denied")
        try say(.messaging, .granted, in: world)
        #expect(try fate(texts, in: world) == "accepted")
        try say(.messaging, .sms, .denied, in: world)
        try lose(.thrownAway, in: world)
        #expect(try fate(texts, in: world) == "engine.consent.denied")
        let mails = Action.changeSubscription(Subscription(channel: .email, state: .subscribed))
        #expect(try fate(mails, in: world) == "accepted")
    }

    @Test func `a no outlives a recovery of the file that throws its state away`() async throws {
        let folder = TemporaryFolder()
        func client(_ transport: ScriptedTransport) async throws -> EngagementClient {
            try await EngagementClient(
                outbox: .file(folder.outbox),
                subject: "installation-1",
                plan: .probe(),
                transport: transport
            )
        }
        let first = try await client(ScriptedTransport())
        try await first.capture(.setConsent(Consent(purpose: .tracking, state: .denied))).durable()
        await first.close()
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            try store.connection.run("UPDATE snapshot SET body = x'00'")
            try store.maintenance.checkpoint()
        }
        let url = URL(filePath: folder.outbox)
        var bytes = try Data(contentsOf: url)
        for place in 0..<16 { bytes[place] = 0x5A }
        for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.outbox + ending) }
        try bytes.write(to: url)
        let transport = ScriptedTransport()
        let second = try await client(transport)
        let outcome = try await second.capture(.event("after")).outcome(on: "p")
        #expect(outcome.finding?.code == "engine.consent.denied")
        #expect(!transport.sent.contains { $0.url.hasSuffix("/track") })
        await second.close()
        #expect(FileManager.default.fileExists(atPath: folder.outbox + ".damaged-1"))
    }
}
