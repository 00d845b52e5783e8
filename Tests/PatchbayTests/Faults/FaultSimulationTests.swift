import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation
import Testing

/// Seeds of random runs: a range from the environment (`PATCHBAY_SEEDS=1-1000`), or two hundred.
enum Seeds {
    static let all: [UInt64] = {
        let bounds = (ProcessInfo.processInfo.environment["PATCHBAY_SEEDS"] ?? "1-200").split(separator: "-").compactMap
        { UInt64($0) }
        return Array((bounds.first ?? 1)...(bounds.last ?? 200))
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
