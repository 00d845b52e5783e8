/// A set of randomized runs, which several workers execute in parallel.
public struct FaultCampaign: Sendable {
    /// A run with a problem.
    public struct Failure: Sendable {
        /// The seed with which the run can be repeated.
        public let seed: UInt64
        /// The set-up that the seed chose.
        public let setup: String
        /// The problems.
        public let problems: [String]
    }

    /// The results of runs.
    public struct Report: Sendable {
        /// The counts of the runs, by set-up.
        public private(set) var tallies: [String: FaultTally] = [:]
        /// The failed runs, by seed.
        public private(set) var failures: [Failure] = []

        /// The sum of all counts.
        public var total: FaultTally { tallies.values.reduce(into: FaultTally()) { $0 += $1 } }

        /// Creates an empty report.
        public init() {}

        /// Adds the results of other runs.
        public mutating func add(_ other: Report) {
            for (setup, tally) in other.tallies { tallies[setup, default: FaultTally()] += tally }
            failures = (failures + other.failures).sorted { $0.seed < $1.seed }
        }

        mutating func add(_ setup: String, _ run: FaultSimulation, seed: UInt64) {
            tallies[setup, default: FaultTally()] += run.tally
            if !run.problems.isEmpty { failures.append(Failure(seed: seed, setup: setup, problems: run.problems)) }
        }
    }

    private let table: FaultTable
    private static let portion: UInt64 = 25
    /// The number of runs for each seed.
    public static let runsPerSeed = 2

    /// Creates a campaign over the set-ups of a table.
    public init(_ table: FaultTable) { self.table = table }

    /// Runs the two runs of a seed: one with fixed facts, one in which people, consents and configurations change.
    public func play(_ seed: UInt64) throws -> Report {
        var report = Report()
        for setup in try [table.setup(for: seed), table.changingSetup(for: seed)] {
            let run = try FaultSimulation(seed: seed, setup)
            try run.run()
            report.add(setup.name, run, seed: seed)
        }
        return report
    }

    /// Runs all seeds, 25 at a time per worker, and reports the results so far after each such portion. After a
    /// cancellation it starts no more portions.
    public func play(
        _ seeds: ClosedRange<UInt64>,
        workers: Int,
        isCancelled: @Sendable () -> Bool = { false },
        progress: @Sendable (Report) async -> Void = { _ in }
    ) async throws -> Report {
        let portions = stride(from: seeds.lowerBound, through: seeds.upperBound, by: UInt64.Stride(Self.portion))
        var next = portions.makeIterator()
        return try await withThrowingTaskGroup(of: Report.self) { group in
            func begin() {
                guard !isCancelled(), let first = next.next() else { return }
                let last = min(first + (Self.portion - 1), seeds.upperBound)
                group.addTask {
                    var report = Report()
                    for seed in first...last { report.add(try play(seed)) }
                    return report
                }
            }
            var report = Report()
            for _ in 0..<max(1, workers) { begin() }
            while let part = try await group.next() {
                report.add(part)
                await progress(report)
                begin()
            }
            return report
        }
    }

    /// Returns the trace of a failing run that is reduced to the necessary steps; empty if the seed has no problem.
    public func story(of seed: UInt64) throws -> [String] { try fewestSteps(of: seed)?.trace ?? [] }

    /// Returns a failing run with the fewest steps that lead to the same problem; nil if the seed has no problem.
    package func fewestSteps(of seed: UInt64) throws -> FaultSimulation? {
        try fewestSteps(of: seed, in: table.setup) ?? fewestSteps(of: seed, in: table.changingSetup)
    }

    private func fewestSteps(of seed: UInt64, in setup: (UInt64) throws -> FaultSimulation.Setup) throws
        -> FaultSimulation?
    {
        func play(_ steps: [FaultStep], isTraced: Bool = false) throws -> FaultSimulation {
            let run = try FaultSimulation(steps: steps, seed: seed, setup(seed), isTraced: isTraced)
            try run.run()
            return run
        }
        let whole = try FaultSimulation(seed: seed, setup(seed))
        guard let problem = try whole.run().first else { return nil }
        let few = try Reduction.least(whole.steps) { try play($0).problems.contains { Self.isLike($0, problem) } }
        return try play(few, isTraced: true)
    }

    /// Returns whether two problems are equal except for decimal and hexadecimal digits.
    package static func isLike(_ left: String, _ right: String) -> Bool {
        left.filter { !$0.isNumber && !$0.isHexDigit } == right.filter { !$0.isNumber && !$0.isHexDigit }
    }
}

/// Delta debugging: the reduction of a list to the elements that a failure needs.
package enum Reduction: Sendable {
    /// Returns a part of the list that still fails and cannot be reduced further; the list itself if it does not fail.
    package static func least<Element>(_ all: [Element], failing: ([Element]) throws -> Bool) rethrows -> [Element] {
        var list = all
        var size = max(1, list.count / 2)
        while true {
            var place = 0
            var hasShrunk = false
            while place < list.count {
                var shorter = list
                shorter.removeSubrange(place..<min(place + size, list.count))
                if try failing(shorter) {
                    (list, hasShrunk) = (shorter, true)
                } else {
                    place += size
                }
            }
            if size == 1, !hasShrunk { return list }
            size = max(1, size / 2)
        }
    }
}
