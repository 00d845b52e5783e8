import Foundation

/// Figures of one kind, in microseconds.
struct Spread {
    private let sorted: [Double]

    init(_ figures: [Double]) { sorted = figures.sorted() }

    /// The figure below which that share of all lies.
    func quantile(_ share: Double) -> Double { sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] }

    var median: Double { quantile(0.5) }
}

/// The same figures taken several times; of each quantile the middle one counts, because other programs disturb some.
struct Runs {
    private let spreads: [Spread]

    init(_ count: Int, _ body: () async throws -> Spread) async rethrows {
        var spreads: [Spread] = []
        for _ in 0..<count { spreads.append(try await body()) }
        self.spreads = spreads
    }

    func quantile(_ share: Double) -> Double { Spread(spreads.map { $0.quantile(share) }).median }

    var median: Double { quantile(0.5) }
}

/// Runs something and gives the microseconds that it took.
func microseconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    return try clock.measure(body) / .microseconds(1)
}

/// Runs something that waits and gives the microseconds that it took.
func microseconds(_ body: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try await body()
    return (clock.now - start) / .microseconds(1)
}

/// The microseconds that all threads of this process have computed so far.
func processorMicroseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}

/// The number of times that the system has preempted this thread; 0 on systems that do not count them.
func interruptionsOfThread() -> Int {
    #if os(Linux)
    // RUSAGE_THREAD, which the header shows to GNU programs alone.
    let thread = __rusage_who_t(1)
    var usage = rusage()
    getrusage(thread, &usage)
    return usage.ru_nivcsw
    #else
    return 0
    #endif
}

/// Runs a measurement several times; the middle one counts, because other programs disturb some.
func middle(of runs: Int, _ body: () async throws -> Double) async rethrows -> Double {
    var figures: [Double] = []
    for _ in 0..<runs { figures.append(try await body()) }
    return Spread(figures).median
}

/// A folder that goes when the program ends well.
struct Workplace {
    private let folder: URL
    private var count = 0

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("patchbay-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The path of a file that is not there yet.
    mutating func newFile() -> String {
        count += 1
        return folder.appendingPathComponent("\(count).sqlite").path
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// What one program writes: a row a goal, and rows that others stand beside.
struct Report {
    private struct Row {
        var goal, what, wanted, figure, reached: String
    }

    private var rows: [Row] = []

    /// A figure that a goal asks for; `isReached` is nil where the figure only stands beside others.
    mutating func add(_ goal: String, _ what: String, wanted: String = "", _ figure: String, isReached: Bool? = nil) {
        let reached = isReached.map { $0 ? "yes" : "**no**" } ?? ""
        rows.append(Row(goal: goal, what: what, wanted: wanted, figure: figure, reached: reached))
        FileHandle.standardError.write(Data("\(goal) \(what): \(figure) \(wanted) \(reached)\n".utf8))
    }

    var markdown: String {
        let lines = rows.map { "| \($0.goal) | \($0.what) | \($0.wanted) | \($0.figure) | \($0.reached) |" }
        return (["| goal | what | wanted | figure | reached |", "|---|---|---|---|---|"] + lines).joined(
            separator: "\n"
        )
    }
}

extension Double {
    /// Whether a goal is reached, within 10 %, that wants no less.
    func isAtLeast(_ goal: Double) -> Bool { self >= 0.9 * goal }

    /// Whether a goal is reached, within 10 %, that wants no more.
    func isAtMost(_ goal: Double) -> Bool { self <= 1.1 * goal }

    /// Three digits that count.
    var short: String {
        switch self {
        case ..<10: String(format: "%.2f", self)
        case ..<100: String(format: "%.1f", self)
        case ..<10_000: String(format: "%.0f", self)
        default: String(format: "%.0f k", self / 1000)
        }
    }
}
