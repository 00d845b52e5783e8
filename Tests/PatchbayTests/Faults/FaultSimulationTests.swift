import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation
import Testing

/// Seeds of random runs: a number or a range from the environment (`PATCHBAY_SEEDS=1000`, `4-4`), or two hundred.
enum Seeds {
    static let all: [UInt64] = {
        let bounds = (ProcessInfo.processInfo.environment["PATCHBAY_SEEDS"] ?? "1-200").split(separator: "-").compactMap
        { UInt64($0) }
        let last = bounds.last ?? 200
        return Array((bounds.count == 2 ? bounds[0] : 1)...last)
    }()

    /// The seeds in groups, because a test case costs more than a run.
    static let groups: [[UInt64]] = stride(from: 0, to: all.count, by: 25).map {
        Array(all[$0..<min($0 + 25, all.count)])
    }
}

@Suite("Random runs with crashes and faults") struct FaultSimulationTests {
    @Test(arguments: Seeds.groups) func `one paced vendor comes out right`(seeds: [UInt64]) throws {
        for seed in seeds {
            let vendor = try SalesforceUnderFaults.vendor()
            let adapter = try SalesforceUnderFaults.adapter()
            let plan = RoutingPlan(providers: [.init(name: "a", adapter: adapter, mode: .live)])
            let run = try FaultSimulation(
                seed: seed,
                FaultSimulation.Setup(plans: [plan], vendors: ["a": vendor], action: SalesforceUnderFaults.action)
            )
            try run.run()
            try SalesforceUnderFaults.check(run, vendor)
            report(run, seed)
        }
    }

    @Test(arguments: Seeds.groups) func `one ordered vendor comes out right`(seeds: [UInt64]) throws {
        for seed in seeds {
            let vendor = try AltcraftUnderFaults.vendor()
            let adapter = try AltcraftUnderFaults.adapter()
            let plan = RoutingPlan(providers: [.init(name: "b", adapter: adapter, mode: .live)])
            let run = try FaultSimulation(
                seed: seed,
                FaultSimulation.Setup(
                    plans: [plan],
                    vendors: ["b": vendor],
                    credentials: AltcraftUnderFaults.credential,
                    closing: .registerDevice(SalesforceUnderFaults.device(locale: "fi_FI")),
                    action: AltcraftUnderFaults.action
                )
            )
            try run.run()
            AltcraftUnderFaults.check(run)
            report(run, seed)
        }
    }

    @Test(arguments: Seeds.groups) func `a switch from one to the other and back comes out right`(seeds: [UInt64])
        throws
    {
        for seed in seeds {
            let (first, second) = (try SalesforceUnderFaults.vendor(), try AltcraftUnderFaults.vendor())
            let providers = (
                a: try SalesforceUnderFaults.adapter() as any VendorAdapter,
                b: try AltcraftUnderFaults.adapter() as any VendorAdapter
            )
            let policy: RoutingPlan.SwitchPolicy = seed.isMultiple(of: 2) ? .drain : .retarget
            func plan(a: RoutingPlan.Mode?, b: RoutingPlan.Mode?) -> RoutingPlan {
                RoutingPlan(
                    providers: [
                        .init(name: "a", adapter: providers.a, mode: a),
                        .init(name: "b", adapter: providers.b, mode: b),
                    ],
                    onSwitch: policy
                )
            }
            let run = try FaultSimulation(
                seed: seed,
                FaultSimulation.Setup(
                    plans: [plan(a: .live, b: nil), plan(a: nil, b: .live), plan(a: .live, b: nil)],
                    vendors: ["a": first, "b": second],
                    credentials: AltcraftUnderFaults.credential,
                    closing: .registerDevice(SalesforceUnderFaults.device(locale: "fi_FI")),
                    action: SalesforceUnderFaults.action
                )
            )
            try run.run()
            AltcraftUnderFaults.checkRepeats(run)
            report(run, seed)
        }
    }
}

/// Fails with the problems, the trace, and the command that repeats the run.
func report(_ run: FaultSimulation, _ seed: UInt64, _ location: SourceLocation = #_sourceLocation) {
    guard !run.problems.isEmpty else { return }
    Issue.record(
        """
        seed \(seed): \(run.problems.joined(separator: "; "))
        repeat: make simulate SEEDS=\(seed)-\(seed)
        \(run.trace.suffix(40).joined(separator: "\n"))
        """,
        sourceLocation: location
    )
}
