import Foundation
import PatchbaySimulation
import PatchbayTesting
import Testing

@Suite("Behaviour probes") struct BehaviourProbeTests {
    @Test(arguments: BehaviourProbe.all)
    func `a behaviour probe passes with every single fault`(_ probe: BehaviourProbe) throws {
        let disturbances = try probe.disturbances()
        #expect(disturbances.contains { if case .death = $0 { true } else { false } })
        for disturbance in disturbances {
            let problems = try probe.problems(disturbance)
            #expect(problems.isEmpty, "\(probe.name): \(problems.joined(separator: "\n"))")
        }
        print("\(probe.name): \(probe.behaviour) \(disturbances.count) runs, for \(probe.neededBy)")
    }

    @Test(arguments: BehaviourProbe.all.flatMap { probe in probe.brokenBy.map { (probe, $0) } })
    func `a mutated adapter fails its probe`(_ probe: BehaviourProbe, by mutation: ProbeMutation) throws {
        let isCaught = try probe.disturbances().contains { try !probe.problems($0, mutation: mutation).isEmpty }
        #expect(isCaught, "\(probe.name) does not notice an adapter that \(mutation.rawValue).")
    }

    @Test func `the adapter author's guide lists every probe`() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = root.appending(path: "Sources/Patchbay/Documentation.docc/WritingAnAdapter.md")
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        let listed = lines.drop { !$0.hasPrefix("<!-- probes") }.dropFirst().prefix { $0 != "<!-- end -->" }
        let rows = BehaviourProbe.all.map { "| `\($0.name)` | \($0.behaviour) | \($0.neededBy) |" }
        let table = ["| probe | behaviour | needed by |", "|---|---|---|"] + rows
        #expect(Array(listed) == table, "The table should be:\n\(table.joined(separator: "\n"))")
    }

    @Test func `every probe has mutations and a unique name and description`() {
        #expect(BehaviourProbe.all.allSatisfy { !$0.brokenBy.isEmpty && $0.behaviour.hasSuffix(".") })
        #expect(Set(BehaviourProbe.all.map(\.name)).count == BehaviourProbe.all.count)
        #expect(Set(BehaviourProbe.all.map(\.behaviour)).count == BehaviourProbe.all.count)
        let probed = Set(ProbeMutation.allCases).subtracting(ProbeMutation.foundByRandomRuns)
        #expect(Set(BehaviourProbe.all.flatMap(\.brokenBy)) == probed)
    }
}
