import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbaySimulation

extension Command {
    static let faults = Command(
        "faults",
        "Run random fault scenarios against simulators",
        task: .develop,
        details: """
            Runs the real engine and outbox under a virtual clock with crashes, outages and misleading replies, and checks that
            nothing is lost, duplicated or sent to another person's record. The same seed gives the same run. A failed run is
            reduced to its shortest form and printed with the command that repeats it.
            """,
        arguments: [.optional("SEEDS", "Last seed, or FIRST-LAST (default: 1-1000)")],
        optional: [.json],
        findings: "a run failed",
        examples: [
            Example("Run the seeds 1 to 20", "patchbay faults 20"),
            Example("Repeat the run of seed 7", "patchbay faults 7-7 --json"),
        ]
    ) { session in
        let seeds = try seeds(session.invocation.argument(0) ?? "1-1000")
        let apis = try Vendors.scenes.map { try SceneAPI($0, among: Vendors.modules.flatMap(\.apis)) }
        let (table, console) = (FaultTable(apis: apis), session.console)
        let (campaign, clock) = (FaultCampaign(table), ContinuousClock())
        let (count, begun) = ((Int(seeds.upperBound - seeds.lowerBound) + 1) * FaultCampaign.runsPerSeed, clock.now)
        let report = try await campaign.play(
            seeds,
            workers: Processors.usable,
            isCancelled: { [interruption = session.interruption] in interruption.signalNumber != nil }
        ) { report in
            let done = report.total
            let rate = Double(done.runs) / max(0.001, (clock.now - begun) / .seconds(1))
            await console.show(
                progress: "\(done.runs) of \(count) runs, \(Int(rate)) per second, \(done.failures) failed"
            )
        }
        if session.isJSON {
            for name in table.names { try console.data(report.tallies[name, default: FaultTally()].json(name)) }
            for failure in report.failures { try console.data(failure.json) }
        } else {
            let width = table.names.map(\.count).max() ?? 0
            for name in table.names {
                if let tally = report.tallies[name] { try console.data("\(name.padded(to: width))  \(tally.text)") }
            }
            try console.data("\("total".padded(to: width))  \(report.total.text)")
        }
        if report.total.runs < count { console.say("Interrupted after \(report.total.runs) of \(count) runs.") }
        for failure in report.failures.prefix(5) {
            for (place, line) in try lines(on: failure, campaign).enumerated() {
                console.say(line, place == 0 ? .red : nil)
            }
        }
        return report.failures.isEmpty ? .fine : .findings
    }

    /// The description of a failed run: the failure, the command that repeats the run, and the events that led to it.
    static func lines(on failure: FaultCampaign.Failure, _ campaign: FaultCampaign) throws -> [String] {
        let head = [
            "seed \(failure.seed) (\(failure.setup)): \(failure.problems.joined(separator: "; "))",
            "repeat: make simulate SEEDS=\(failure.seed)-\(failure.seed)",
        ]
        return try head + campaign.story(of: failure.seed).map { "    \($0)" }
    }

    private static func seeds(_ text: String) throws -> ClosedRange<UInt64> {
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        let last = bounds.last.flatMap { $0 } ?? 0
        let first = bounds.count == 2 ? bounds[0] ?? 0 : 1
        guard bounds.count <= 2, first > 0, first <= last, last < .max / 2 else {
            throw UsageError("SEEDS must be a number or FIRST-LAST, from 1.", command: "faults")
        }
        return first...last
    }
}

extension FaultTally {
    fileprivate var text: String {
        """
        \(runs) runs, \(failures) failed: \(crashes) crashes, \(requests) requests, \(verdicts) outcomes, \
        \(misleadingReplies) misleading replies
        """
    }

    fileprivate func json(_ name: String) -> JSONValue {
        [
            "setup": .string(name), "runs": .integer(Int64(runs)), "crashes": .integer(Int64(crashes)),
            "requests": .integer(Int64(requests)), "verdicts": .integer(Int64(verdicts)),
            "misleadingReplies": .integer(Int64(misleadingReplies)), "storagePoints": .integer(Int64(storagePoints)),
            "failures": .integer(Int64(failures)),
        ]
    }
}

extension FaultCampaign.Failure {
    fileprivate var json: JSONValue {
        [
            "seed": .integer(Int64(clamping: seed)), "setup": .string(setup),
            "problems": .array(problems.map(JSONValue.string)),
        ]
    }
}
