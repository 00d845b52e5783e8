import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration

/// The tests that show each rule. A test run with `PATCHBAY_EVIDENCE=<folder>` collects them, and the list is built into
/// the program.
struct RuleEvidence {
    /// The tests by rule, sorted.
    let tests: [RuleID: [String]]

    /// The evidence that was known when the program was built.
    static let builtIn = RuleEvidence(ndjson: builtInNDJSON)

    /// The source file of the built-in list.
    private static let file = "Sources/PatchbayCommand/Commands/RuleEvidence+BuiltIn.swift"

    private init(ndjson: String) {
        var tests: [RuleID: Set<String>] = [:]
        for line in ndjson.split(separator: "\n") {
            guard let json = try? JSONValue(parsing: String(line)), let test = json["test"]?.string,
                let rule = json["rule"]?.string.flatMap(RuleID.init(text:))
            else { continue }
            tests[rule, default: []].insert(test)
        }
        self.tests = tests.mapValues { $0.sorted() }
    }

    /// Reads the evidence that a test run left in a folder.
    ///
    /// - Throws: ``FileError`` if the folder can't be read.
    init(folder: String) throws(FileError) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw FileError(folder, .open, number: ENOENT)
        }
        var text = ""
        for name in names.sorted() where name.hasSuffix(".ndjson") {
            text += String(decoding: try FileSource.contents(of: "\(folder)/\(name)"), as: UTF8.self)
        }
        self.init(ndjson: text)
    }

    /// Writes the evidence of these rules into the source file of the built-in list, for the next build.
    ///
    /// - Throws: ``FileError`` if the file can't be written.
    @MainActor func refresh(for rules: [Rule], on console: Console) throws {
        guard FileManager.default.fileExists(atPath: Self.file) else {
            return console.say("\(Self.file) is not here: run this in the folder of Package.swift to refresh it.")
        }
        let lines = Set(rules.map(\.id)).sorted().flatMap { rule in
            (tests[rule] ?? []).map { test in
                let line: JSONValue = ["rule": .string(rule.text), "test": .string(test)]
                return "        \(line.text)\n"
            }
        }
        let file = try OutputFile(path: Self.file, isPrivate: false)
        try file.write(Array((Self.opening + lines.joined() + Self.closing).utf8))
        try file.commit()
        console.say("\(Self.file): \(lines.count) lines.")
    }

    private static let opening = """
        // Written by `make rules` from a test run; don't edit it.
        extension RuleEvidence {
            static let builtInNDJSON = #\"""

        """
    private static let closing = """
                \"""#
        }

        """
}
