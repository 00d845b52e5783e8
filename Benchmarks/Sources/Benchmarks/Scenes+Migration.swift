import Foundation
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayMigration
import PatchbayRecords
import PatchbaySalesforceFiles

/// One migration in a process of its own: contacts of the neutral model to the vendor's import lines.
enum MigrationChild {
    /// Runs the migration that the arguments describe, and prints records, seconds and peak memory.
    static func run(_ words: [String]) throws {
        guard let workers = Int(words[2]), let settings = try JSONValue(parsing: MigrationData.settings).object else {
            throw WrongResult("The child was asked for something else.")
        }
        func format(_ files: VendorFiles) -> RecordFormat {
            files.formats.first { $0.makeReader != nil } ?? .neutralContacts
        }
        let form = MigrationData.Form(path: words[3])
        let (source, target): (RecordFormat, RecordFormat) =
            switch form {
            case .lines: (.neutralContacts, .altcraftProfiles)
            case .rows: (format(.salesforce), .altcraftProfiles)
            case .export: (format(.adobe), format(.des))
            }
        let rules = words[1] == "mapped" ? MigrationData.mapping : "[]"
        let migration = try Migration(
            from: source,
            to: target,
            targetSettings: form == .export ? [:] : settings,
            mapping: try ContactMapping(json: try JSONValue(parsing: rules))
        )
        print(try report(migration, workers, words).json.text)
        print(Child.peakMemory)
    }

    private static func report(_ migration: Migration, _ workers: Int, _ words: [String]) throws -> MigrationReport {
        if words[4] == "plan" {
            var source = try FileSource(path: words[3], chunk: FileSource.planChunk)
            return try migration.plan(&source, workers: workers).report
        }
        var source = try FileSource(path: words[3])
        guard words.count > 5 else {
            let output = try OutputFile(path: words[4])
            let report = try migration.run(&source, to: output, workers: workers)
            try output.commit()
            return report
        }
        var files = ResumableMigration.Files(input: words[3], output: words[4])
        files.rejects = (words[5], words[5] + ".ndjson")
        var shown = 0
        return try ResumableMigration(migration, files, settings: "bench", interval: .seconds(1), workers: workers)
            .run(restarts: true, progress: { shown += $0.records & 1 }, isCancelled: { false }).report
    }
}

extension Scenes {
    /// A program that is measured, and whether its output is the same to the byte.
    private typealias Entrant = (name: String, words: [String], isExact: Bool)

    /// What one run of a program took.
    private struct Took {
        var seconds: Double
        var processor: Double
    }

    /// What a program took until what it wrote to a file, if it did, is on the disk: ours has brought it there itself.
    private func took(_ words: [String], bringing output: String?) throws -> Took {
        let before = Self.childrenSeconds
        var milliseconds = try Child.run(words).milliseconds
        if let output, FileManager.default.fileExists(atPath: output) {
            let disk = Disk(output)
            milliseconds += microseconds { disk.sync() } / 1000
            disk.close()
        }
        return Took(seconds: milliseconds / 1000, processor: Self.childrenSeconds - before)
    }

    /// Seconds that all programs that were run have computed.
    private static var childrenSeconds: Double {
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_CHILDREN, &usage)
        #else
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The number of rounds for a fast program. It is a multiple of three.
    private static let rounds = 15

    /// Seconds from which on a program takes long.
    private static let long = 5.0

    private static let peers = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Peers").standardizedFileURL.path

    /// DuckDB, and which: each version has a pace of its own.
    private static func duckDB(_ python: String) throws -> String {
        try "DuckDB " + Child.run([python, "-c", "import duckdb; print(duckdb.__version__, end='')"]).output
    }

    /// A million contacts from the neutral file to a vendor's import, beside others who do the same.
    mutating func migration() throws {
        let folder = "\(Self.peers)/../.build/peers"
        try Child.run(["/bin/bash", "\(Self.peers)/setup", folder])
        let count = ProcessInfo.processInfo.environment["PATCHBAY_RECORDS"].flatMap { Int($0) } ?? 1_000_000
        let (source, ours, theirs, rejects) = (
            workplace.newFile(), workplace.newFile(), workplace.newFile(), workplace.newFile()
        )
        try MigrationData.write(count, to: source)
        let one = ["/usr/bin/env", "taskset", "-c", "0"]
        let python = "\(folder)/python/bin/python"
        let command = try applying(source, ours, rejects) ?? us(2, keeps: true)
        func us(_ workers: Int, keeps: Bool = false) -> [String] {
            [CommandLine.arguments[0], "migrate", String(workers), source, ours] + (keeps ? [rejects] : [])
        }
        let duck = try Self.duckDB(python)
        // Programs that are compared run one after the other, because the machine's phases are shorter than a round. The
        // program after DuckDB is compared with nothing, because it pays for the memory that DuckDB freed.
        let rows: [Entrant] = [
            ("the command", one + command, true),
            ("the command on 2", command, true),
            ("\(duck) on 2", [python, "\(Self.peers)/map_duckdb.py", "2", source, theirs], false),
            ("\(duck) on 1", one + [python, "\(Self.peers)/map_duckdb.py", "1", source, theirs], false),
            (
                "ours under a mapping", one + [CommandLine.arguments[0], "mapped", "1", source, workplace.newFile()],
                true
            ),
            ("ours", one + us(1, keeps: true), true),
            ("ours as a stream", one + us(1), true),
            ("plan", one + [CommandLine.arguments[0], "migrate", "1", source, "plan"], true),
            ("simdjson", one + ["\(folder)/map_simdjson", source, theirs], true),
            ("orjson", one + [python, "\(Self.peers)/map_python.py", "orjson", source, theirs], true),
            ("msgspec", one + [python, "\(Self.peers)/map_python.py", "msgspec", source, theirs], true),
            ("polars", [python, "\(Self.peers)/map_polars.py", source, theirs], false),
            ("cp", ["/bin/cp", source, theirs], true),
            (Self.inMemory, ["/bin/cp", source, theirs], true),
        ]
        tell(try measured(rows, ours, theirs, python), duck, records: Double(count))
        try tellScripts(max(1, count / 50), python)
        try tellRows(count, python, duck)
        try tellMemory(count)
    }

    /// The built command, which `PATCHBAY_STATIC` names, as people run it: rejects, progress and checkpoints are on, and it
    /// takes as many processors as it may; nil without one.
    private mutating func applying(_ source: String, _ output: String, _ rejects: String) throws -> [String]? {
        guard let command = ProcessInfo.processInfo.environment["PATCHBAY_STATIC"] else { return nil }
        let settings = workplace.newFile()
        try Data("{\"to\":\(MigrationData.settings)}".utf8).write(to: URL(fileURLWithPath: settings))
        let format = MigrationData.Form(path: source) == .rows ? "salesforce.contacts" : "neutral.contacts"
        return [
            command, "migrate", "apply", "--from", format, "--to", "altcraft.profiles",
            "--settings", settings, "--in", source, "--out", output, "--rejects", rejects,
        ]
    }

    /// What is written in a line or two of a shell, for a fiftieth of the contacts: it takes as long as all others together.
    private mutating func tellScripts(_ count: Int, _ python: String) throws {
        let (source, ours, theirs) = (workplace.newFile(), workplace.newFile(), workplace.newFile())
        try MigrationData.write(count, to: source)
        func shell(_ line: String, _ script: String) -> [String] {
            ["/usr/bin/env", "taskset", "-c", "0", "/bin/sh", "-c", line, "\(Self.peers)/\(script)", source, theirs]
        }
        let rows: [Entrant] = [
            (
                "ours", ["/usr/bin/env", "taskset", "-c", "0", CommandLine.arguments[0], "migrate", "1", source, ours],
                true
            ),
            ("jq", shell(#"jq -cRf "$0" "$1" >"$2""#, "map.jq"), false),
            ("Miller", shell(#"mlr --inidx --ifs tab --ojsonl put -q -f "$0" "$1" >"$2""#, "map.mlr"), false),
        ]
        let figures = try measured(rows, ours, theirs, python)
        for row in rows {
            let each = Spread(figures[row.name, default: []].map(\.processor)).median / Double(count) * 1e6
            report.add("P1", "\(row.name), \(count) contacts, its start with it", "\(each.short) µs of processor each")
        }
    }

    /// The same people as an export of delimited text.
    private mutating func tellRows(_ count: Int, _ python: String, _ duck: String) throws {
        let source = workplace.newFile() + ".csv"
        let (ours, theirs) = (workplace.newFile(), workplace.newFile())
        try MigrationData.write(count, to: source)
        let one = ["/usr/bin/env", "taskset", "-c", "0"]
        let rows: [Entrant] = [
            ("ours", one + [CommandLine.arguments[0], "migrate", "1", source, ours], true),
            ("csv and orjson", one + [python, "\(Self.peers)/map_rows.py", source, theirs], true),
            (duck, one + [python, "\(Self.peers)/rows_duckdb.py", "1", source, theirs], false),
        ]
        let figures = try measured(rows, ours, theirs, python)
        func processor(_ name: String) -> Double { Spread(figures[name, default: []].map(\.processor)).median }
        let each = processor("ours") / Double(count) * 1e6
        report.add("P3", "rows of delimited text to import lines, one core", "\(each.short) µs of processor each")
        for (name, goal) in [("csv and orjson", 8.0), (duck, 4)] {
            let ratio = processor(name) / processor("ours")
            report.add(
                "P3",
                "beside \(name), by processor time",
                wanted: "≥ \(goal) ×",
                "\(ratio.short) ×",
                isReached: ratio.isAtLeast(goal)
            )
        }
        try tellExport(count, python)
    }

    /// One vendor's export to another vendor's import, with days in their forms and words about consent.
    private mutating func tellExport(_ count: Int, _ python: String) throws {
        let source = workplace.newFile() + ".txt"
        let (ours, theirs) = (workplace.newFile(), workplace.newFile())
        try MigrationData.write(count, to: source)
        let one = ["/usr/bin/env", "taskset", "-c", "0"]
        let rows: [Entrant] = [
            ("ours", one + [CommandLine.arguments[0], "migrate", "1", source, ours], true),
            ("csv", one + [python, "\(Self.peers)/map_export.py", source, theirs], true),
        ]
        let figures = try measured(rows, ours, theirs, python)
        func processor(_ name: String) -> Double { Spread(figures[name, default: []].map(\.processor)).median }
        let each = processor("ours") / Double(count) * 1e6
        report.add("P3", "an export of Adobe to an import of DES, one core", "\(each.short) µs of processor each")
        let ratio = processor("csv") / processor("ours")
        report.add("P3", "the same beside Python's csv, by processor time", "\(ratio.short) ×")
    }

    /// The microseconds of the mapping by hand on the machine on which the goals were set that are no ratio: C2's captures a
    /// second, D1, D2 and S2.
    private static let yardstickOfGoals = 0.893

    /// A copy that stays in the system's memory.
    private static let inMemory = "cp, to the system's memory"

    /// Checks that all outputs are the same, and returns the measurements of each program, taken in turn.
    ///
    /// A slow phase of the machine is longer than a run of a third of a second and shorter than one of ten seconds: of five
    /// short runs, three may fall into it. A slow program therefore runs in every third round only.
    private func measured(
        _ rows: [Entrant],
        _ ours: String,
        _ theirs: String,
        _ python: String
    ) throws -> [String: [Took]] {
        try check(rows, ours, theirs, python)
        var figures: [String: [Took]] = [:]
        for round in 0..<Self.rounds {
            let isEverybodys = round.isMultiple(of: 3)
            for row in rows where isEverybodys || figures[row.name, default: []][0].seconds < Self.long {
                // To free what stood there takes the system a fifth of the time that we take on two cores, and is no work of ours.
                for path in [ours, theirs] { try? FileManager.default.removeItem(atPath: path) }
                let output = row.name == Self.inMemory ? nil : theirs
                figures[row.name, default: []].append(try took(row.words, bringing: output))
            }
        }
        return figures
    }

    /// Every output is the same before a figure counts.
    private func check(
        _ rows: [Entrant],
        _ ours: String,
        _ theirs: String,
        _ python: String
    ) throws {
        let first = "\(ours).first"
        for row in rows where !row.name.hasPrefix("cp") {
            try Child.run(row.words)
            if row.words.contains(ours) {
                let isFirst = !FileManager.default.fileExists(atPath: first)
                try Child.run([isFirst ? "/bin/cp" : "/usr/bin/cmp", ours, first])
            }
            if row.words.last == theirs, row.isExact { try Child.run(["/usr/bin/cmp", ours, theirs]) }
            if !row.isExact { try Child.run([python, "\(Self.peers)/same.py", ours, theirs]) }
        }
        try FileManager.default.removeItem(atPath: first)
    }

    private mutating func tell(_ figures: [String: [Took]], _ duck: String, records: Double) {
        func wall(_ name: String) -> Double { Spread(figures[name, default: []].map(\.seconds)).median }
        func processor(_ name: String) -> Double { Spread(figures[name, default: []].map(\.processor)).median }
        func rate(_ name: String) -> String {
            "\((records / wall(name)).short)/s, \((processor(name) / records * 1e6).short) µs of processor each"
        }
        let yardstick = processor("simdjson") / records * 1e6
        report.add(
            "",
            "the mapping by hand with simdjson, \(yardstick.short) µs of processor: this machine beside that of the goals",
            "\((yardstick / Self.yardstickOfGoals).short) × as long"
        )
        report.add("P1", "contacts to import lines, one core", rate("the command"))
        for (name, goal) in [("simdjson", 0.8), ("orjson", 8), ("msgspec", 0), ("polars", 0), ("\(duck) on 1", 5)] {
            let ratio = processor(name) / processor("the command")
            report.add(
                "P1",
                "beside \(name): \(rate(name))",
                wanted: goal > 0 ? "≥ \(goal) ×" : "",
                "\(ratio.short) × by processor time, \((wall(name) / wall("the command")).short) × by the clock",
                isReached: goal > 0 ? ratio.isAtLeast(goal) : nil
            )
        }
        let mapped = processor("ours under a mapping") / records * 1e6
        report.add(
            "P1",
            "the same as a stream under a mapping by configuration, five rules",
            "\(mapped.short) µs of processor each"
        )
        let (both, alone) = (wall("the command on 2"), wall("the command"))
        report.add(
            "P2",
            "the same on two cores",
            wanted: "≥ 1.5 × one core",
            "\((records / both).short)/s, \((alone / both).short) ×",
            isReached: (alone / both).isAtLeast(1.5)
        )
        let duckTwice = wall("\(duck) on 2") / both
        report.add("P2", "beside \(duck)", "\(duckTwice.short) ×")
        let copy = wall("cp") / both
        report.add("P2", "beside cp of the input", "\(copy.short) ×")
        report.add(
            "P2",
            "beside cp that leaves its copy in the system's memory",
            "\((wall(Self.inMemory) / both).short) ×"
        )
        let stream = processor("ours as a stream") / records * 1e6
        report.add("P1", "the same as a stream, which cannot be read twice", "\(stream.short) µs of processor each")
        let plan = processor("ours") / processor("plan")
        report.add(
            "P6",
            "plan, beside the migration itself: \(rate("plan"))",
            wanted: "≥ 0.7 ×",
            "\(plan.short) ×",
            isReached: plan.isAtLeast(0.7)
        )
    }

    /// The most memory, with ten times fewer contacts beside: of the built command, which `PATCHBAY_STATIC` names, or of
    /// this program, which holds all vendors' APIs besides.
    private mutating func tellMemory(_ count: Int) throws {
        for (kind, suffix) in [("contacts", ""), ("rows", ".csv")] {
            var peaks: [Double] = []
            for (part, workers) in [(count / 10, 1), (count, 1), (count, 2)] {
                peaks.append(try tellMemory(part, kind, workers, workplace.newFile() + suffix))
            }
            let growth = peaks[1] - peaks[0]
            report.add("P4", "ten times as many \(kind)", "\(growth.short) MiB more")
        }
    }

    private mutating func tellMemory(_ count: Int, _ kind: String, _ workers: Int, _ source: String) throws -> Double {
        let output = workplace.newFile()
        try MigrationData.write(count, to: source)
        let command = try applying(source, output, "\(output).rejects")
        let words =
            command.map { (workers == 1 ? ["taskset", "-c", "0"] : []) + $0 }
            ?? [CommandLine.arguments[0], "migrate", String(workers), source, output, "\(output).rejects"]
        let peak = try Child.peakMemory(of: words)
        guard FileManager.default.fileExists(atPath: output) else {
            throw WrongResult("\(words.joined(separator: " ")) wrote nothing.")
        }
        report.add(
            "P4",
            "\(count) \(kind), \(workers) workers\(command == nil ? "" : ", the static command"): peak memory",
            wanted: "≤ 64 MiB",
            "\(peak.short) MiB",
            isReached: peak.isAtMost(64)
        )
        return peak
    }
}
