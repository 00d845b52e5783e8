import Foundation

/// Where the figures come from.
struct Machine {
    private let loadBefore = Machine.load

    /// One line: machine, versions, commit, and how busy the machine was.
    var words: String {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        let swift = (try? Child.run(["/usr/bin/env", "swift", "--version"]).output.split(separator: "\n").first) ?? "?"
        let commit = (try? Child.run(["/usr/bin/env", "git", "rev-parse", "--short", "HEAD"]).output) ?? "unknown"
        let processor = ProcessInfo.processInfo.environment["PATCHBAY_PROCESSOR"] ?? ""
        return """
            Commit \(commit.trimmingCharacters(in: .whitespacesAndNewlines)), built for \
            \(processor.isEmpty ? "any processor of its kind" : "the processor: \(processor)"). \(cores) cores, \(system); \(swift); \
            SQLite \(PlainDatabase.version). Load average \(loadBefore) before, \(Self.load) after.
            """
    }

    private static var load: String {
        var loads = [0.0, 0.0, 0.0]
        guard getloadavg(&loads, 3) == 3 else { return "unknown" }
        return String(format: "%.1f", loads[0])
    }
}

/// The file that keeps the last table; what stands above its mark is written by people.
enum Results {
    private static let mark = "<!-- what follows is written by `make bench` -->\n"

    static func write(_ table: String, to path: String) throws {
        let old = (try? String(contentsOfFile: path, encoding: .utf8)) ?? "# Results\n\n"
        let head = old.range(of: mark).map { String(old[..<$0.lowerBound]) } ?? old + "\n"
        try (head + mark + "\n" + table).write(toFile: path, atomically: true, encoding: .utf8)
    }
}
