import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import Testing

@Suite("Explanations of waits") struct WaitTests {
    private static let start = Instant(milliseconds: 1_900_000_000_000)

    private func world(_ outcome: @escaping (VirtualWorld.Sent) -> Outcome) throws -> VirtualWorld {
        let world = try VirtualWorld(start: Self.start)
        world.network = { .outcome(outcome($0)) }
        try world.start(.probe())
        return world
    }

    @Test func `describes a wait with operations, cause and next attempt`() throws {
        let world = try world { _ in .failed(TransportFailure(.notSent, "certificateSelfSigned")) }
        try world.capture(.event("a"))
        try world.capture(.event("b"))
        try world.advance(by: .seconds(1))
        let wait = try #require(try world.account("p").waits.first)
        #expect(wait.operations == 2 && wait.kinds == ["track": 2] && wait.since == Self.start)
        #expect(
            wait.text
                == "2 operations waiting since 2030-03-17T17:46:40.000Z (2 track). The TLS certificate of probe.test is not "
                + "trusted (self-signed). Next attempt: 2030-03-17T17:46:51.000Z. Install the certificate authority, or "
                + "correct the URL in the provider settings."
        )
        let json = wait.json
        #expect(json["operations"] == 2 && json["nextAttempt"] == "2030-03-17T17:46:51.000Z")
        #expect(json["reasons"]?.array?.count == 1)
    }

    @Test func `reads the same waits from a closed file`() throws {
        let world = try world { _ in .failed(TransportFailure(.notSent, "hostNotFound")) }
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        let known = try world.account("p").waits
        world.kill()
        let stored = try world.account("p").waits
        #expect(stored == known)
        #expect(stored.first?.text.contains("The host name probe.test cannot be resolved (DNS).") == true)
    }

    @Test func `reports an interrupted request as unanswered, not as in progress`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .silence }
        try world.start(.probe())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        #expect(try world.account("p").waits.first?.reasons.map(\.code) == ["engine.request.inProgress"])
        try world.quit()
        #expect(try world.account("p").waits.first?.reasons.map(\.code) == ["engine.request.unanswered"])
    }

    @Test func `reports an unconfirmed success as the reason of a retry`() throws {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(200, json: ["otherwise": "retry 60000"]))) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        let wait = try #require(try world.account("p").waits.first)
        #expect(wait.reasons.first?.reason.contains("HTTP 200, but did not confirm the operation") == true)
        #expect(wait.nextAttempt != nil)
    }

    @Test func `the reason of one queue does not hide the reason of another`() throws {
        let world = try world { sent in
            sent.request.url.hasSuffix("/track")
                ? .replied(WireResponse(503)) : .failed(TransportFailure(.lost, "timedOut"))
        }
        try world.capture(.event("a"))
        try world.capture(.set("city", "Turku"))
        try world.advance(by: .seconds(1))
        let reasons = try world.account("p").waits.map { $0.reasons.map(\.reason) }
        #expect(Set(reasons) == [["probe.test answered HTTP 503."], ["probe.test did not answer in time."]])
    }

    @Test(arguments: [404, 410, 401, 403]) func `the remedy for a permanent refusal does not advise to wait`(
        _ status: Int
    )
        throws
    {
        let world = try VirtualWorld()
        world.network = { _ in .outcome(.replied(WireResponse(status, json: ["otherwise": "retry 60000"]))) }
        try world.start(.pool())
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        let reason = try #require(try world.account("p").waits.first?.reasons.first)
        #expect(reason.reason.contains("HTTP \(status)"))
        #expect(reason.remedy.hasPrefix("Correct") || reason.remedy.hasPrefix("Check"))
    }

    @Test func `a provider without pending operations has no waits`() throws {
        let world = try world { _ in .replied(WireResponse(503)) }
        try world.capture(.event("a"))
        try world.advance(by: .seconds(1))
        world.network = { _ in .outcome(.replied(WireResponse(200, json: [:]))) }
        try world.advance(by: .seconds(60))
        #expect(try world.account("p").waits.isEmpty)
        world.kill()
        #expect(try world.account("p").waits.isEmpty)
    }

    @Test func `reports a required consent without an answer as the reason of a wait`() throws {
        let world = try VirtualWorld(start: Self.start)
        try world.start(.probe(requiredConsent: [Consent.Scope(.tracking)]))
        try world.capture(.event("a"))
        let wait = try #require(try world.account("p").waits.first)
        #expect(wait.reasons.map(\.code) == ["engine.consent.awaited"])
        #expect(wait.text.contains("consent.tracking"))
    }
}
