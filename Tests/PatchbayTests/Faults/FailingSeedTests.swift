import PatchbaySimulation
import Testing

@Suite("Reduction of failing runs") struct FailingSeedTests {
    /// A list fails if it contains all of some numbers.
    @Test(arguments: [[], [0], [99], [3, 4], [0, 50, 99], [17, 18, 19, 71], Array(0..<100)])
    func `reduces a list to the elements that fail`(_ needed: [Int]) {
        var count = 0
        let found = Reduction.least(Array(0..<100)) { list in
            count += 1
            return needed.allSatisfy(list.contains)
        }
        #expect(found == needed)
        #expect(count < 1_000)
    }

    @Test func `keeps a list whose elements are all needed, and an empty list`() {
        #expect(Reduction.least([1, 2, 3]) { $0.count == 3 } == [1, 2, 3])
        #expect(Reduction.least([Int]()) { _ in true }.isEmpty)
    }

    @Test(arguments: [SimulationMutation.valuesOfAnother, .confirmedNotStored, .optOutForgotten])
    func `reduces a failing run to the fewest steps with the same problem`(
        _ mutation: SimulationMutation
    )
        throws
    {
        let row = try #require(try Proof.rows()["simulation.\(mutation.rawValue)"])
        let table = try FaultScenes.table()
        let campaign = FaultCampaign(table)
        #expect(try campaign.story(of: row.seed).isEmpty, "the run succeeds without the mutation")
        try SimulationMutation.$present.withValue(mutation) {
            // A set-up belongs to one run.
            func setup() throws -> FaultSimulation.Setup { try table.changingSetup(for: row.seed) }
            let whole = try FaultSimulation(seed: row.seed, setup())
            let problem = try #require(try whole.run().first)
            let few = try #require(try campaign.fewestSteps(of: row.seed))
            #expect(!few.steps.isEmpty && few.steps.count < whole.steps.count)
            let again = try FaultSimulation(steps: few.steps, seed: row.seed, setup(), isTraced: true)
            #expect(try again.run().contains { FaultCampaign.isLike($0, problem) })
            for place in few.steps.indices {
                var fewer = few.steps
                fewer.remove(at: place)
                let run = try FaultSimulation(steps: fewer, seed: row.seed, setup())
                #expect(try !run.run().contains { FaultCampaign.isLike($0, problem) }, "step \(place) is not needed")
            }
            let story = try campaign.story(of: row.seed)
            #expect(story == again.trace && !story.isEmpty)
        }
    }
}
