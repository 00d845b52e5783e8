import Foundation
import Testing

/// The page of the engine's obligations lists exactly the tests that carry their numbers.
@Suite("Page of engine obligations") struct ObligationPageTests {
    private static let page = "Sources/Patchbay/Documentation.docc/EngineObligations.md"

    /// Returns the obligations of the page, each with its text and the tests that it lists.
    private func sections() throws -> [(number: String, text: String, tests: [String])] {
        try Repository.text(Self.page).components(separatedBy: "\n### ").dropFirst().map { section in
            let lines = section.components(separatedBy: "\n")
            let tests = lines.filter { $0.hasPrefix("- `") && $0.hasSuffix("`") }.map {
                String($0.dropFirst(3).dropLast())
            }
            return (String(lines[0].prefix { $0 != ":" }), lines.dropFirst().joined(separator: "\n"), tests)
        }
    }

    /// Returns the tests that carry an obligation's number, each with its suite.
    private func tests() throws -> [(suite: String, name: String, numbers: [String])] {
        let test = try Regex(#"func `([^`]+) \((E[0-9]+(?:, E[0-9]+)*)\)`"#)
        let suite = try Regex(#"struct (\w+)"#)
        return try Repository.files("Tests").flatMap { file in
            var found: [(String, String, [String])] = []
            var standsIn = ""
            for line in file.text.components(separatedBy: "\n") {
                if let match = try suite.firstMatch(in: line), line.contains("@Suite") {
                    standsIn = String(match[1].substring ?? "")
                }
                guard let match = try test.firstMatch(in: line), let name = match[1].substring,
                    let numbers = match[2].substring
                else { continue }
                found.append((standsIn, String(name), numbers.components(separatedBy: ", ")))
            }
            return found
        }
    }

    @Test func `the page lists every obligation once, in order`() throws {
        #expect(try sections().map(\.number) == (1...20).map { "E\($0)" })
    }

    @Test func `an obligation lists exactly the tests that carry its number`() throws {
        let tests = try tests()
        #expect(tests.count > 60)
        for section in try sections() {
            let carrying = tests.filter { $0.numbers.contains(section.number) }.map(\.name)
            #expect(section.tests.sorted() == carrying.sorted(), "\(section.number)")
            #expect(!carrying.isEmpty || section.text.contains("Not built yet."), "\(section.number) has no test.")
            #expect(carrying.isEmpty || !section.text.contains("Not built yet."), "\(section.number) is built.")
        }
    }

    @Test func `the filter on the page runs every test of an obligation`() throws {
        let strays = try tests().filter { !$0.suite.hasPrefix("EngineObligation") }
        #expect(strays.isEmpty, "\(strays.map { "\($0.suite): \($0.name)" })")
    }
}
