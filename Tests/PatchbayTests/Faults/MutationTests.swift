import Foundation
import PatchbayAdapterKit
import PatchbaySimulation
import PatchbayTesting
import Testing

/// A mutation of the adapters or of the simulated vendors. Those of the engine and the outbox are patches, see `make mutants`.
enum Mutation: Hashable, Sendable, CustomTestStringConvertible {
    case adapter(ProbeMutation)
    /// One of the vendors or the network, in the simulation alone.
    case simulation(SimulationMutation)
    /// One that breaks the adapter of one API.
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

    /// What a run of that seed finds, in order and its numbers left out; empty if it finds nothing.
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

    /// A sentence without what differs from seed to seed.
    private static func general(_ problem: String) -> String {
        problem.replacing(#/\[.*\]/#, with: "…").split(separator: " ")
            .map { $0.contains(where: \.isNumber) ? "…" : String($0) }.joined(separator: " ")
    }
}

/// The table in the article: which seed finds each mutation, and which invariants fail.
struct Proof {
    struct Row: Hashable, Sendable {
        let seed: UInt64
        /// The sentence of the invariant that the mutation must break; empty if any invariant will do.
        let invariant: String
        let verdict: String

        /// Whether a run with these sentences breaks the invariant.
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

    /// Writes a found row in the place of the old one.
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
    /// The proof is searched again with `UPDATE_PROOF=1`, or with a mutation's name: the first seed that finds it.
    private static let sought = ProcessInfo.processInfo.environment["UPDATE_PROOF"]
    private static let seeds: ClosedRange<UInt64> = 1...1500

    @Test(arguments: Mutation.all) func `a mutation is found, as the article says`(_ mutation: Mutation)
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
        #expect(verdicts.first == row.verdict, "Look at it, then UPDATE_PROOF=1.")
    }

    @Test func `the article lists no other`() throws {
        #expect(Set(try Proof.rows().keys) == Set(Mutation.all.map(\.name)))
    }
}
