import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// Consent decisions whose stored state is lost.
@Suite("Lost states") struct LostStateTests {
    /// A way to lose a state.
    enum Loss: CaseIterable, Sendable { case damaged, unreadable, deleted }

    private func lose(_ loss: Loss, in world: VirtualWorld) throws {
        switch loss {
        case .damaged: try world.store.connection.run("UPDATE snapshot SET body = x'00'")
        case .unreadable: try world.store.state.setSnapshot(subject: "installation-1", body: [0x5B])
        case .deleted: try world.store.connection.run("DELETE FROM snapshot")
        }
        world.store.noteForeignCommit()
    }

    private func world(_ required: Set<Consent.Scope> = []) throws -> VirtualWorld {
        let world = try VirtualWorld()
        try world.start(.probe(requiredConsent: required))
        return world
    }

    /// Captures an action and returns the finding code of its outcome, or its outcome status.
    private func outcomeCode(_ action: Action, in world: VirtualWorld) throws -> String? {
        let operation = try world.capture(action)
        try world.advance(by: .seconds(1))
        let outcome = world.outcome(of: operation.id, on: "p")
        return outcome?.finding?.code ?? outcome?.term.rawValue
    }

    @Test(arguments: Loss.allCases, [false, true])
    func `keeps a denial when its state is lost`(loss: Loss, isRestarted: Bool) throws {
        let world = try world()
        try setConsent(.tracking, .denied, in: world)
        try world.capture(.set("tier", "gold"))
        #expect(try world.drain())
        try lose(loss, in: world)
        if isRestarted { try world.restart() }
        #expect(try outcomeCode(.event("after"), in: world) == "engine.consent.denied")
        #expect(try world.snapshot()?.consents == [Consent(purpose: .tracking, state: .denied)])
        #expect(try outcomeCode(.set("tier", "silver"), in: world) == "accepted")
        try setConsent(.tracking, .granted, in: world)
        #expect(try outcomeCode(.event("later"), in: world) == "accepted")
        try world.expectSound()
    }

    @Test(arguments: Loss.allCases)
    func `requires a new opt-in after its state is lost`(loss: Loss) throws {
        let world = try world([.tracking])
        try setConsent(.tracking, .granted, in: world)
        #expect(try world.drain())
        try lose(loss, in: world)
        #expect(try outcomeCode(.event("after"), in: world) == nil)
        #expect(try world.account("p").held == ["consent.tracking": 1])
    }

    @Test func `does not restore a withdrawn or erased denial after a lost state`() throws {
        for isErased in [false, true] {
            let world = try world()
            try setConsent(.tracking, .push, .denied, in: world)
            try setConsent(.tracking, .denied, in: world)
            if isErased {
                try world.capture(.erase)
            } else {
                try setConsent(.tracking, .push, .granted, in: world)
                try setConsent(.tracking, .granted, in: world)
            }
            #expect(try world.drain())
            try lose(.deleted, in: world)
            #expect(try outcomeCode(.event("after"), in: world) == "accepted")
            #expect(try world.snapshot()?.consents == [])
        }
    }

    @Test func `a channel without its own decision follows the one for all channels`() throws {
        let texts = Action.changeSubscription(Subscription(channel: .sms, state: .subscribed))
        let world = try world()
        try setConsent(.messaging, .sms, .granted, in: world)
        try setConsent(.messaging, .denied, in: world)
        try lose(.deleted, in: world)
        #expect(try outcomeCode(texts, in: world) == "engine.consent.denied")
        try setConsent(.messaging, .granted, in: world)
        #expect(try outcomeCode(texts, in: world) == "accepted")
        try setConsent(.messaging, .sms, .denied, in: world)
        try lose(.deleted, in: world)
        #expect(try outcomeCode(texts, in: world) == "engine.consent.denied")
        let mails = Action.changeSubscription(Subscription(channel: .email, state: .subscribed))
        #expect(try outcomeCode(mails, in: world) == "accepted")
    }

    @Test func `keeps a denial when a recovery discards its state`() async throws {
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
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.outbox + suffix) }
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
