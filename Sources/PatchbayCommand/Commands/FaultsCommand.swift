import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbaySimulation

extension Command {
    static let faults = Command(
        "faults",
        "plays random days of crashes, outages and lies against all vendors' simulators",
        details: """
            The real engine and the real outbox under a virtual clock. SEEDS is a number, or first-last; 1-1000 unless said
            otherwise. The same seed gives the same run. A run that comes out wrong is told with as few steps as it takes,
            and with the command that repeats it.
            """,
        arguments: [.optional("SEEDS")],
        optional: [.json]
    ) { session in
        let seeds = try seeds(session.invocation.argument(0) ?? "1-1000")
        let doors = try Vendors.scenes.map { try SceneAPI($0, among: Vendors.modules.flatMap(\.doors)) }
        let (table, console) = (FaultTable(doors: doors), session.console)
        let (campaign, clock) = (FaultCampaign(table), ContinuousClock())
        let (count, begun) = (Int(seeds.upperBound - seeds.lowerBound) + 1, clock.now)
        let report = try await campaign.play(
            seeds,
            workers: Processors.usable,
            isCancelled: { [interruption = session.interruption] in interruption.signalNumber != nil }
        ) { report in
            let done = report.total
            let rate = Double(done.runs) / max(0.001, (clock.now - begun) / .seconds(1))
            await console.show(
                progress: "\(done.runs) of \(count) runs, \(Int(rate)) a second, \(done.failures) came out wrong"
            )
        }
        if session.isJSON {
            for name in table.names { try console.data(report.tallies[name, default: FaultTally()].json(name)) }
            for failure in report.failures { try console.data(failure.json) }
        } else {
            let width = table.names.map(\.count).max() ?? 0
            for name in table.names {
                try console.data("\(name.padded(to: width))  \(report.tallies[name, default: FaultTally()].text)")
            }
            try console.data("\("together".padded(to: width))  \(report.total.text)")
        }
        if report.total.runs < count { console.say("Stopped after \(report.total.runs) of \(count) runs.") }
        for failure in report.failures.prefix(5) {
            for (place, line) in try lines(on: failure, campaign).enumerated() {
                console.say(line, place == 0 ? .red : nil)
            }
        }
        return report.failures.isEmpty ? .fine : .findings
    }

    /// What is said of a run that came out wrong: what, the command that repeats it, and how it came to that.
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
            throw UsageError("SEEDS is a number, or first-last, from 1.")
        }
        return first...last
    }
}

extension FaultTally {
    fileprivate var text: String {
        "\(runs) runs, \(crashes) crashes, \(requests) requests, \(verdicts) verdicts, \(lies) lies, \(failures) wrong"
    }

    fileprivate func json(_ name: String) -> JSONValue {
        [
            "setup": .string(name), "runs": .integer(Int64(runs)), "crashes": .integer(Int64(crashes)),
            "requests": .integer(Int64(requests)), "verdicts": .integer(Int64(verdicts)),
            "lies": .integer(Int64(lies)), "storagePoints": .integer(Int64(storagePoints)),
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
