import Foundation
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

@testable import Patchbay

@Suite("Many lanes") struct ManyLanesTests {
    private let folder = TemporaryFolder()

    private static let count = 400

    private func events(_ world: VirtualWorld) -> [EngagementOperation] {
        (0..<Self.count).map {
            EngagementOperation(
                id: OperationID(rawValue: "o-\($0)"),
                subject: Subject(rawValue: "s-\($0)"),
                capturedAt: world.host.date(),
                action: .event("e")
            )
        }
    }

    private func expectAgreement(_ world: VirtualWorld) throws {
        let account = try world.account("p")
        #expect(account.total("accepted") == Self.count)
        #expect(account.balances)
        #expect(Set(world.sentOperations).count == Self.count)
    }

    @Test func `serves every lane once at a start and keeps few lanes in memory`() throws {
        let path = folder.outbox
        let world = try VirtualWorld()
        func engine() throws -> Engine {
            try Engine(store: .open(.file(path)), plan: .probe(), host: world.host, credentials: { _, _ in nil })
        }
        do {
            let captures = events(world).map { Engine.Capture($0, uptime: world.host.uptime()) }
            try engine().commit(captures)
        }
        let engine = try engine()
        #expect(try engine.start())
        let runner = try #require(engine.runners.first)
        var (sent, mostLanes, rounds): ([String], Int, Int) = ([], 0, 0)
        while rounds < 2 * Self.count, let next = engine.nextAdvance, next <= engine.now {
            rounds += 1
            var dispatches: [Dispatch] = []
            try engine.advance { dispatches.append($0) }
            for dispatch in dispatches {
                sent.append(try #require(dispatch.request[header: "Operation"]))
                try engine.finish(dispatch, .replied(WireResponse(200)))
            }
            mostLanes = max(mostLanes, runner.lanes.count)
        }
        #expect(sent.count == Self.count && Set(sent).count == Self.count)
        #expect(mostLanes < Self.count)
        #expect(try engine.store.operations.pendingCount(provider: "p") == 0)
    }

    @Test func `retries each of many waiting lanes after its interval`() throws {
        let world = try VirtualWorld()
        var answers = 0
        world.network = { _ in
            answers += 1
            return .status(answers <= Self.count ? 503 : 200)
        }
        try world.start(.probe())
        try world.capture(events(world))
        #expect(try world.drain())
        try expectAgreement(world)
        #expect(world.sent.count == 2 * Self.count)
        var first: [String: Instant] = [:]
        for sent in world.sent {
            let id = try #require(sent.request[header: "Operation"])
            if let before = first[id] { #expect(sent.now >= before + .seconds(10)) } else { first[id] = sent.now }
        }
    }

    @Test func `a wake reaches resting lanes, and a capture does not shorten their intervals`() throws {
        let world = try VirtualWorld()
        var isDown = true
        // A status that no breaker opens for: each lane keeps its own policy.
        world.network = { _ in .outcome(.replied(WireResponse(isDown ? 302 : 200)), after: .milliseconds(1)) }
        try world.start(.probe())
        let start = world.host.date()
        try world.capture(events(world))
        try world.advance(by: .seconds(2))
        #expect(world.sent.count == Self.count)
        isDown = false
        let extra = try world.capture(.event("extra"), subject: "s-7")
        try world.advance(by: .seconds(2))
        #expect(world.sent.count == Self.count)
        try world.wake()
        try world.advance(by: .seconds(2))
        #expect(world.outcome(of: extra.id, on: "p")?.term == .accepted)
        #expect(world.host.date() < start + .seconds(10))
        #expect(try world.account("p").total("accepted") == Self.count + 1)
        #expect(world.sent.count == 2 * Self.count + 1)
    }

    @Test func `resting lanes keep their due instants and reasons and are removed when taken`() throws {
        var lanes = RestingLanes()
        var random = SplitMix(state: 3)
        var model: [String: Instant] = [:]
        for round in 0..<2_000 {
            let key = "lane-\(random.next() % 100)"
            let due = Instant(milliseconds: Int64(random.next() % 1_000))
            if model.removeValue(forKey: key) != nil {
                #expect(lanes.take(key) != nil)
            } else {
                model[key] = due
                lanes.add(key, due: due, flush: false, because: ProbeDevice.waiting.at(detail: "\(round % 3)"))
            }
            #expect(lanes.nextDue == model.values.min())
            #expect(lanes.reasons.count == model.count)
        }
        while let key = lanes.firstDue(at: Instant(milliseconds: 10_000)) {
            #expect(model[key] == model.values.min())
            model[key] = nil
            #expect(lanes.take(key)?.because?.code == "probe.waiting")
        }
        #expect(model.isEmpty && lanes.isEmpty)
    }

    @Test func `reads commits of another process before using kept memory`() throws {
        let path = folder.outbox
        func engine(_ name: String) throws -> Engine {
            try Engine(
                store: .open(.file(path)),
                plan: .probe(requiredConsent: [.profile]) { $0.suppresses = true },
                host: StillProcess(name, Instant(milliseconds: 1_900_000_000_000)),
                credentials: { _, _ in nil }
            )
        }
        let (deliverer, other) = (try engine("deliverer"), try engine("other"))
        #expect(try deliverer.start() && !other.start())
        func capture(_ id: OperationID, _ action: Action, _ engine: Engine) throws {
            let operation = EngagementOperation(id: id, subject: "s", capturedAt: engine.now, action: action)
            try engine.commit([Engine.Capture(operation, uptime: Instant(milliseconds: 0))])
        }
        func deliver() throws -> [String] {
            var sent: [String] = []
            while true {
                var dispatches: [Dispatch] = []
                try deliverer.advance { dispatches.append($0) }
                if dispatches.isEmpty { return sent }
                for dispatch in dispatches {
                    sent.append(dispatch.request.url)
                    try deliverer.finish(dispatch, .replied(WireResponse(200)))
                }
            }
        }
        let consent = { (state: Consent.State) in Action.setConsent(Consent(purpose: .profile, state: state)) }
        try capture("a", consent(.granted), deliverer)
        try capture("b", .set("tier", "gold"), deliverer)
        _ = try deliver()
        try capture("c", .set("tier", "gold"), deliverer)
        #expect(try deliver().isEmpty)
        try capture("d", consent(.denied), other)
        try capture("e", consent(.granted), deliverer)
        #expect(try deliver().contains { $0.hasSuffix("/changeAttributes") })
    }
}

private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
