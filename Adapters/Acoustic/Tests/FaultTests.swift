import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

/// Runs the real engine with random crashes and faults, and checks that the vendor holds the app's latest values at the
/// end.
@Suite("Acoustic under faults") struct FaultTests {
    private static let columns: JSONObject = [
        "City": ["type": "text"], "Visits": ["type": "numeric"],
        "Tags": ["type": "multiSelection", "values": ["a", "b", "c"]],
    ]
    private static let seeds = stride(from: 1 as UInt64, to: 41, by: 20).map { Array($0..<($0 + 20)) }

    @Test(arguments: seeds) func `the vendor ends up with the app's latest values`(_ seeds: [UInt64]) throws {
        for seed in seeds {
            let vendor = SimulatedVendor(
                try AcousticSimulator(settings: ["columns": .object(Self.columns), "updatesPerMinute": 100_000])
            )
            let adapter = try AcousticDevice(
                settings: TestDriver.settings([
                    "columns": .object(Self.columns), "attributeNames": [:], "registration": "requested",
                    "tagsColumn": "Tags",
                ])
            )
            let plan = RoutingPlan(providers: [.init(name: "a", adapter: adapter, mode: .live)])
            let run = try FaultSimulation(
                seed: seed,
                FaultSimulation.Setup(
                    plans: [plan],
                    vendors: ["a": vendor],
                    closing: .registerDevice(Fixture.phone),
                    action: Self.action
                )
            )
            try run.run()
            check(run, vendor)
            if !run.problems.isEmpty {
                Issue.record(
                    "seed \(seed): \(run.problems.joined(separator: "; "))\n\(run.trace.suffix(40).joined(separator: "\n"))"
                )
            }
        }
    }

    /// Returns a random operation of an app.
    private static func action(_ random: inout SeededGenerator, _ number: Int) -> Action {
        if number == 1 { return .registerDevice(Fixture.phone) }
        switch random.below(8) {
        case 0: return .registerDevice(Fixture.phone)
        case 1: return .changeTags(TagChange(add: [random.pick(["a", "b", "c"])]))
        case 2: return .changeTags(TagChange(remove: [random.pick(["a", "b", "c"])]))
        case 3: return .unset(random.pick(["City", "Visits"]))
        case 4: return .event("Lesson \(number)")
        case 5: return .changeAttributes(["City": .set("x"), "Visits": .unset])
        case 6: return .set("Visits", .integer(Int64(random.below(4))))
        default: return .set("City", .string("v\(random.below(3))"))
        }
    }

    private func check(_ run: FaultSimulation, _ vendor: SimulatedVendor) {
        guard let account = vendor.state(as: AcousticAccount.self) else { return run.expect(false, "no state") }
        for violation in account.violations { run.expect(false, "rule violated: \(violation.what)") }
        run.expect(account.users.count <= 1, "\(account.users.count) users were created for one installation")
        guard let user = account.users.first else { return }
        run.expect(user.lost.isEmpty, "the vendor lost \(user.lost.flatMap(\.columns))")
        var expected: [String: JSONValue] = [:]
        var tags: Set<PatchbayModel.Tag> = []
        for operation in run.acknowledged {
            switch operation.action {
            case .changeAttributes(let changes):
                for (name, change) in changes {
                    guard case .set(let value) = change else {
                        expected[name.rawValue] = nil
                        continue
                    }
                    expected[name.rawValue] = value.json
                }
            case .changeTags(let change): tags = change.applied(to: tags)
            default: break
            }
        }
        if !tags.isEmpty { expected["Tags"] = .string(tags.sorted().map(\.rawValue).joined(separator: ";")) }
        run.expect(user.finalRow == expected, "the vendor holds \(user.finalRow), expected \(expected)")
        let eventNames = Set(
            run.acknowledged.compactMap { operation -> String? in
                if case .track(.custom(let name, _)) = operation.action { name } else { nil }
            }
        )
        run.expect(eventNames.isSubset(of: Set(user.events.map(\.name))), "an event was lost")
    }

    @Test func `delivers all operations after a one-week outage`() throws {
        let world = try VirtualWorld()
        let adapter = try AcousticDevice(settings: TestDriver.settings())
        try world.start(RoutingPlan(providers: [.init(name: "a", adapter: adapter, mode: .live)]))
        world.network = { _ in .outcome(.failed(TransportFailure(.notSent, "hostNotFound"))) }
        try world.capture(.registerDevice(Fixture.adopted))
        try world.capture(.set("City", "Turku"))
        try world.advance(by: .seconds(7 * 86_400))
        #expect(try world.suspended("a") == nil)
        #expect(world.sent.count > 100)
        world.network = { _ in .outcome(.replied(WireResponse(200, json: [:]))) }
        #expect(try world.drain())
    }
}

extension Fixture {
    fileprivate static var phone: Device {
        Device(
            pushToken: PushToken("0f1e2d3c4b5a6978"),
            facts: DeviceFacts(
                platform: "iOS",
                platformVersion: "24.3",
                model: "iPhone21,2",
                locale: "fi_FI",
                appVersion: "8.4.1"
            )
        )
    }
}
