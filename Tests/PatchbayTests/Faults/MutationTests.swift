import Foundation
import PatchbayAdapterKit
import PatchbaySimulation
import PatchbayTesting
import Testing

/// A mutation of the adapters or of the simulated vendors. The mutations of the engine and the outbox are patches, which
/// `make mutants` applies.
enum Mutation: Hashable, Sendable, CustomTestStringConvertible {
    case adapter(ProbeMutation)
    /// A mutation of the vendors or the network in the simulation.
    case simulation(SimulationMutation)
    /// A mutation of the adapter of one API.
    case api(String, ProbeMutation)

    static let all: [Mutation] =
        [
            .forgets, .trustsMemory, .believes, .hurries, .keepsNoJournal, .foreseesNoUncertainty,
            .forgetsFailures, .waitsInSilence,
        ].map(Mutation.adapter)
        + SimulationMutation.allCases.map(Mutation.simulation)
        + ["adobe-classic", "altcraft", "des"].map { .api($0, .losesValues) }
        + [.api("adobe-classic", .repeatsRefusals), .api("salesforce", .waitsForContact)]

    var name: String {
        switch self {
        case .simulation(let mutation): "simulation.\(mutation.rawValue)"
        case .adapter(let mutation): "adapter.\(mutation.rawValue)"
        case .api(let id, let mutation): "\(id).\(mutation.rawValue)"
        }
    }

    var testDescription: String { name }

    /// Returns the problems that a run of a seed reports, in order and without numbers.
    func verdicts(of seed: UInt64) throws -> [String] {
        let campaign = FaultCampaign(try table())
        let report =
            switch self {
            case .simulation(let mutation):
                try SimulationMutation.$present.withValue(mutation) { try campaign.play(seed) }
            case .adapter, .api: try campaign.play(seed)
            }
        return report.failures.flatMap(\.problems).map(Self.general)
    }

    private func table() throws -> FaultTable {
        let (id, mutation): (String?, ProbeMutation)
        switch self {
        case .simulation: return try FaultScenes.table()
        case .adapter(let all): (id, mutation) = (nil, all)
        case .api(let one, let its): (id, mutation) = (one, its)
        }
        func broken<Adapter: VendorAdapter>(_ adapter: Adapter) -> any VendorAdapter { mutation.breaking(adapter) }
        return FaultTable(
            apis: try FaultScenes.apis().map { id ?? $0.id == $0.id ? $0.replacing { broken($0) } : $0 }
        )
    }

    /// Returns a problem without the parts that differ between seeds.
    private static func general(_ problem: String) -> String {
        problem.replacing(#/\[.*\]/#, with: "…").split(separator: " ")
            .map { $0.contains(where: \.isNumber) ? "…" : String($0) }.joined(separator: " ")
    }
}

/// The table in the article: which seed finds each mutation, and which invariants fail.
struct Proof {
    struct Row: Hashable, Sendable {
        let seed: UInt64
        /// The text of the invariant that the mutation must break; empty for any invariant.
        let invariant: String
        let verdict: String

        /// Returns whether a run with these problems breaks the invariant.
        func isTripped(by verdicts: [String]) -> Bool {
            invariant.isEmpty ? !verdicts.isEmpty : verdicts.contains { $0.contains(invariant) }
        }
    }

    static let path = "Sources/Patchbay/Documentation.docc/Proof.md"
    private static let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: path)

    static func text() throws -> String { try String(contentsOf: url, encoding: .utf8) }

    static func rows() throws -> [String: Row] {
        var rows: [String: Row] = [:]
        for line in try text().split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, let seed = UInt64(cells[2]) else { continue }
            rows[cells[0].replacing("`", with: "")] = Row(seed: seed, invariant: cells[3], verdict: cells[4])
        }
        return rows
    }

    /// Replaces a row of the table.
    static func write(_ name: String, _ row: Row) throws {
        let lines = try text().split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.hasPrefix("| `\(name)` |") else { return String(line) }
            let cells = line.split(separator: "|")
            return "| `\(name)` |\(cells[1])| \(row.seed) |\(cells[3])| \(row.verdict) |"
        }
        try lines.joined(separator: "\n").write(to: url, atomically: true, encoding: .utf8)
    }
}

@Suite("Mutations", .serialized) struct MutationTests {
    /// With `UPDATE_PROOF=1` or a mutation's name, the test searches for the first seed that finds the mutation.
    private static let sought = ProcessInfo.processInfo.environment["UPDATE_PROOF"]
    private static let seeds: ClosedRange<UInt64> = 1...1500

    @Test(arguments: Mutation.all) func `the seed in the article finds its mutation`(_ mutation: Mutation)
        throws
    {
        let row = try #require(try Proof.rows()[mutation.name], "\(Proof.path) has no row for \(mutation.name).")
        if Self.sought == "1" || Self.sought == mutation.name {
            for seed in Self.seeds {
                let verdicts = try mutation.verdicts(of: seed)
                guard let first = verdicts.first, row.isTripped(by: verdicts) else { continue }
                return try Proof.write(mutation.name, Proof.Row(seed: seed, invariant: row.invariant, verdict: first))
            }
            Issue.record("\(Self.seeds.count) seeds do not find \(mutation.name): strengthen the simulation.")
        }
        let verdicts = try mutation.verdicts(of: row.seed)
        #expect(row.isTripped(by: verdicts), "The invariant \"\(row.invariant)\" must fail, too: \(verdicts)")
        #expect(verdicts.first == row.verdict, "Check the difference, then set UPDATE_PROOF=1.")
    }

    @Test func `the article lists exactly the mutations of the tests`() throws {
        #expect(Set(try Proof.rows().keys) == Set(Mutation.all.map(\.name)))
    }
}
