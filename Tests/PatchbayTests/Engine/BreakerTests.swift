import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// The pool's policy repeats a failed request after 10 seconds or a wake; eight subjects are eight lanes.
@Suite("Outages and rates") struct BreakerTests {
    private static let start = Instant(milliseconds: 1_900_000_000_000)

    private func world(_ plan: RoutingPlan = .pool(), lanes: Int = 8) throws -> VirtualWorld {
        let world = try VirtualWorld(start: Self.start)
        world.host.fix(chance: 0.5)
        world.network = { _ in .outcome(.failed(TransportFailure(.lost, "timedOut")), after: .milliseconds(10)) }
        try world.start(plan)
        for lane in 0..<lanes { try world.capture(.event("e-\(lane)"), subject: Subject(rawValue: "s-\(lane)")) }
        return world
    }

    private func seconds(_ world: VirtualWorld) -> [Int64] {
        world.sent.map { ($0.date - Self.start).components.seconds }
    }

    private func events(_ world: VirtualWorld) -> [String] {
        world.reportedEvents.compactMap {
            switch $0.event {
            case .outage(_, let finding), .recovered(_, let finding): finding.code
            default: nil
            }
        }
    }

    /// The number of failures of each pending operation.
    private func failures(_ world: VirtualWorld) throws -> [Int] {
        var failures: [Int] = []
        try world.store.queues.forEachRow(provider: "p", subject: nil) { failures.append($0.failures) }
        return failures
    }

    @Test func `tries an unavailable provider from one lane at a time with growing delays`() throws {
        let world = try world()
        try world.advance(by: .seconds(600))
        let times = seconds(world)
        // Eight lanes alone would send 480 requests. After the first eight, the intervals are 5, 10, 20 … seconds.
        #expect(times.count < 20)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }.filter { $0 > 0 }
        #expect(gaps.prefix(5) == [5, 10, 20, 40, 80])
        #expect(events(world) == ["engine.provider.outage"])
    }

    @Test func `reports cause, time and next attempt of an outage without counting attempts of waiting lanes`() throws {
        let world = try world()
        try world.advance(by: .seconds(60))
        let reasons = try world.waits(of: "p").filter { $0.code == "engine.provider.outage" }
        #expect(reasons.count >= 7)
        let reason = try #require(reasons.first)
        #expect(reason.error == .unreachable)
        #expect(reason.reason.contains("since 2030-03-17T17:46:40"))
        #expect(reason.reason.contains("one request at a time, next at 2030-03-17T17:4"))
        #expect(try failures(world).reduce(0, +) == world.sent.count)
    }

    @Test func `resumes every lane after the first successful request`() throws {
        let world = try world()
        try world.advance(by: .seconds(60))
        world.network = { _ in .says([:]) }
        try world.advance(by: .seconds(60))
        #expect(try world.accounts().map(\.pending) == [0])
        #expect(events(world) == ["engine.provider.outage", "engine.provider.back"])
        #expect(try world.store.state.meta("breaker.p") == nil)
    }

    @Test func `sends one request at once when woken`() throws {
        let world = try world()
        try world.advance(by: .seconds(200))
        let before = world.sent.count
        try world.wake()
        try world.advance(by: .seconds(1))
        #expect(world.sent.count == before + 1)
    }

    @Test func `sends nothing early after a restart`() throws {
        let world = try world()
        try world.advance(by: .seconds(100))
        let before = world.sent.count
        let kept = try #require(try world.store.state.meta("breaker.p"))
        for _ in 0..<5 { try world.restart() }
        #expect(world.sent.count == before)
        #expect(try world.store.state.meta("breaker.p") == kept)
        #expect(Set(try world.waits(of: "p").map(\.code)) == ["engine.provider.outage"])
    }

    @Test func `a single lane keeps the intervals of the vendor's retry policy`() throws {
        let world = try world(lanes: 1)
        try world.advance(by: .seconds(300))
        let gaps = zip(seconds(world), seconds(world).dropFirst()).map { $1 - $0 }
        #expect(gaps.count == 29)
        #expect(Set(gaps) == [10])
        #expect(events(world) == ["engine.provider.outage"])
    }

    /// An outcome of every request, and whether it opens the breaker.
    private static let outcomes: [(outcome: Outcome, opens: Bool)] = [
        (.failed(TransportFailure(.notSent, "hostNotFound")), true),
        (.failed(TransportFailure(.lost, "timedOut")), true),
        (.replied(WireResponse(500)), true), (.replied(WireResponse(503)), true),
        (.replied(WireResponse(401)), true), (.replied(WireResponse(403)), true),
        (.replied(WireResponse(429)), false), (.replied(WireResponse(400)), false),
        (.replied(WireResponse(404)), false),
        (.replied(WireResponse(200, json: ["otherwise": "rejected"])), false),
    ]

    @Test(arguments: outcomes)
    func `opens for an unavailable provider or refused credentials, not for rejected operations`(
        _ row: (outcome: Outcome, opens: Bool)
    ) throws {
        let world = try world(lanes: 0)
        world.network = { _ in .outcome(row.outcome, after: .milliseconds(10)) }
        for lane in 0..<8 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        try world.advance(by: .seconds(5))
        #expect(events(world) == (row.opens ? ["engine.provider.outage"] : []))
    }

    // MARK: Rates

    @Test func `never exceeds the configured rate over all lanes`() throws {
        let world = try VirtualWorld(start: Self.start)
        world.network = { _ in .outcome(.replied(WireResponse(200, json: [:])), after: .milliseconds(1)) }
        var plan = RoutingPlan.pool()
        plan.providers[0].rate = Rate(10, per: .seconds(1))
        try world.start(plan)
        for lane in 0..<40 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        let reason = try world.waits(of: "p").first
        #expect(reason?.code == "engine.provider.rate")
        #expect(reason?.reason.contains("at most 10 requests in 1.0 seconds") == true)
        try world.advance(by: .seconds(10))
        let instants = world.sent.map(\.now)
        #expect(instants.count == 40)
        for (number, instant) in instants.enumerated() where number >= 10 {
            #expect(instant - instants[number - 10] >= .seconds(1))
        }
    }

    @Test func `sends a burst at once after a pause and then at the configured rate`() throws {
        let world = try VirtualWorld(start: Self.start)
        var plan = RoutingPlan.pool()
        plan.providers[0].rate = Rate(2, per: .seconds(1), burst: 3)
        world.network = { _ in .outcome(.replied(WireResponse(200, json: [:])), after: .zero) }
        try world.start(plan)
        try world.advance(by: .seconds(60))
        let begin = world.host.date()
        for lane in 0..<5 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        try world.advance(by: .seconds(60))
        #expect(world.sent.map { ($0.date - begin).wholeMilliseconds / 100 } == [0, 0, 0, 5, 10])
    }

    @Test func `keeps a slow rate over restarts and does not delay the first request`() throws {
        let world = try VirtualWorld(start: Self.start)
        var plan = RoutingPlan.pool()
        plan.providers[0].rate = Rate(1, per: .seconds(60))
        world.network = { _ in .says([:]) }
        try world.start(plan)
        for lane in 0..<3 { try world.capture(.event("e"), subject: Subject(rawValue: "s-\(lane)")) }
        #expect(seconds(world) == [0])
        for _ in 0..<10 {
            try world.advance(by: .seconds(12))
            try world.restart()
        }
        #expect(seconds(world) == [0, 60, 120])
    }

    // MARK: Waits

    /// The outcome of the first request, and the second when the next one leaves if the process ends after 0.2 s.
    private static let waits: [(name: String, fate: VirtualWorld.Fate, second: Int64)] = [
        ("until an instant", .says(["otherwise": "retry 3600000"]), 3600),
        ("until an instant or a wake (a start is a wake)", .status(500), 0),
        ("until a wake", .says(["otherwise": "woken"]), 0),
    ]

    @Test(arguments: waits) func `keeps a wait and its failure counters over a restart`(
        _ row: (name: String, fate: VirtualWorld.Fate, second: Int64)
    ) throws {
        let world = try world(lanes: 0)
        world.network = { $0.number == 1 ? row.fate : .says([:]) }
        try world.capture(.event("e"))
        try world.advance(by: .milliseconds(200))
        #expect(try failures(world) == [1])
        world.kill()
        #expect(try failures(world) == [1])
        try world.restart()
        try world.advance(by: .seconds(row.second + 1))
        #expect(seconds(world) == [0, row.second])
        #expect(try world.accounts().map(\.pending) == [0])
    }
}
