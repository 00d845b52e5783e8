import Foundation
import PatchbaySimulation
import Synchronization
import Testing

/// Seeds of random runs: a number or a range from the environment (`PATCHBAY_SEEDS=5000`, `4-4`), or forty.
/// `make simulate` plays many more with a release build, and CI the next 760.
enum Seeds {
    static let all: [UInt64] = {
        let bounds = (ProcessInfo.processInfo.environment["PATCHBAY_SEEDS"] ?? "1-40").split(separator: "-")
            .compactMap { UInt64($0) }
        let last = bounds.last ?? 40
        return Array((bounds.count == 2 ? bounds[0] : 1)...last)
    }()

    /// The seeds in groups, because a test case costs more than a run.
    static let groups: [[UInt64]] = stride(from: 0, to: all.count, by: 20).map {
        Array(all[$0..<min($0 + 20, all.count)])
    }
}

@Suite("Random runs with crashes and faults") struct FaultSimulationTests {
    @Test(arguments: Seeds.groups) func `a random run breaks no invariant`(seeds: [UInt64]) throws {
        let campaign = FaultCampaign(try FaultScenes.table())
        for seed in seeds {
            for failure in try campaign.play(seed).failures {
                Issue.record(
                    """
                    seed \(seed) (\(failure.setup)): \(failure.problems.joined(separator: "; "))
                    repeat: make simulate SEEDS=\(seed)-\(seed)
                    \(try campaign.story(of: seed).joined(separator: "\n"))
                    """
                )
            }
        }
    }

    @Test func `returns a partial report when a campaign is cancelled`() async throws {
        let campaign = FaultCampaign(try FaultScenes.table())
        let isCancelled = Atomic(false)
        let report = try await campaign.play(
            1...100_000,
            workers: 1,
            isCancelled: { isCancelled.load(ordering: .relaxed) },
            progress: { _ in isCancelled.store(true, ordering: .relaxed) }
        )
        #expect((1..<100).contains(report.total.runs))
        #expect(report.failures.isEmpty)
    }
}
