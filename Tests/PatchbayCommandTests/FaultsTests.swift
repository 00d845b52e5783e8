import PatchbayAdapterKit
import PatchbayOutbox
import PatchbaySimulation
import Testing

@testable import PatchbayCommand

@Suite("patchbay faults") struct FaultsTests {
    @Test func `reports a failed run with the command that repeats it and the steps that led to it`() throws {
        let apis = try Vendors.scenes.map { try SceneAPI($0, among: Vendors.modules.flatMap(\.apis)) }
        let campaign = FaultCampaign(FaultTable(apis: apis))
        try SimulationMutation.$present.withValue(.optOutIgnored) {
            var found: FaultCampaign.Failure?
            var seed: UInt64 = 1
            while found == nil, seed <= 300 {
                found = try campaign.play(seed).failures.first
                seed += 1
            }
            let failure = try #require(found)
            let lines = try Command.lines(on: failure, campaign)
            #expect(
                lines[0].hasPrefix("seed \(failure.seed) (\(failure.setup)): ")
                    && lines[0].contains(failure.problems[0])
            )
            #expect(lines[1] == "repeat: make simulate SEEDS=\(failure.seed)-\(failure.seed)")
            #expect(lines.count > 2 && lines.dropFirst(2).allSatisfy { $0.hasPrefix("    ") })
        }
    }
}
