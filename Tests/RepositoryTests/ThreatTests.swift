import Foundation
import Testing

/// SECURITY.md names the tests, checks and programs that answer each threat. All of them exist.
@Suite("Page of threats") struct ThreatTests {
    /// Returns the threats of the page: each heading with the lines below it.
    private func threats() throws -> [(name: String, lines: [String])] {
        let attacks = try Repository.text("SECURITY.md").components(separatedBy: "\n## Not defended")[0]
        return attacks.components(separatedBy: "\n### ").dropFirst().map { section in
            let lines = section.components(separatedBy: "\n## ")[0].components(separatedBy: "\n")
            return (lines[0], Array(lines.dropFirst()))
        }
    }

    /// Returns the kind and name in a line such as "- test: `name`"; nil for any other line.
    private func answer(_ line: String) -> (kind: String, name: String)? {
        guard line.hasPrefix("- "), line.hasSuffix("`"), let mark = line.range(of: ": `") else { return nil }
        return (String(line.dropFirst(2).prefix { $0 != ":" }), String(line[mark.upperBound...].dropLast()))
    }

    private func exists(_ kind: String, _ name: String) throws -> Bool {
        switch kind {
        case "test": Self.tests.contains { $0.text.contains("func `\(name)`(") }
        case "check": Self.checks.contains { $0.text.contains("(\"\(name)\", \"") }
        case "program":
            try name.split(separator: " ").reduce(true) { isThere, word in
                let file = name.prefix { $0 != " " }
                return try isThere
                    && (word == file || Repository.text("Tests/EndToEnd/\(file)").contains("def \(word)("))
            } && !Repository.text("Tests/EndToEnd/\(name.prefix { $0 != " " })").isEmpty
        default: false
        }
    }

    private static let tests = Repository.files("Tests", "Adapters")
    private static let checks = Repository.files("Sources/PatchbayTesting")

    @Test func `every threat has an answer, and every answer exists`() throws {
        let threats = try threats()
        #expect(threats.count > 15)
        for threat in threats {
            let answers = threat.lines.filter { $0.hasPrefix("- ") }
            #expect(!answers.isEmpty, "Nothing answers \"\(threat.name)\".")
            for line in answers {
                let named = try #require(answer(line), "\(line) is not \"- test: `name`\", check or program.")
                #expect(try exists(named.kind, named.name), "There is no \(named.kind) \"\(named.name)\".")
            }
        }
    }

    @Test func `detects a name that does not exist`() throws {
        #expect(try !exists("test", "no such test at all"))
        #expect(try !exists("check", "no such check at all"))
        #expect(try !exists("program", "end_to_end.py check_nothing"))
        #expect(throws: (any Error).self) { try exists("program", "nothing.py") }
    }

    @Test func `the package depends on no other package`() throws {
        for file in Repository.files("Sources", "Adapters") + [
            Repository.File(path: "Package.swift", text: try Repository.text("Package.swift"))
        ] {
            #expect(!file.text.contains(".package" + "("), "\(file.path) names another package.")
        }
    }
}
