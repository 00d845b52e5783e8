import Foundation
import Testing

/// The page of the engine's obligations lists exactly the tests that carry their numbers.
@Suite("The page of the engine's obligations") struct ObligationPageTests {
    private static let page = "Sources/Patchbay/Documentation.docc/EngineObligations.md"

    /// The obligations of the page, each with its text and the tests that it lists.
    private func sections() throws -> [(number: String, text: String, tests: [String])] {
        try Repository.text(Self.page).components(separatedBy: "\n### ").dropFirst().map { section in
            let lines = section.components(separatedBy: "\n")
            let tests = lines.filter { $0.hasPrefix("- `") && $0.hasSuffix("`") }.map {
                String($0.dropFirst(3).dropLast())
            }
            return (String(lines[0].prefix { $0 != ":" }), lines.dropFirst().joined(separator: "\n"), tests)
        }
    }

    /// The tests that carry an obligation's number, with the suite that each stands in.
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

    @Test func `the page has every obligation once, in order`() throws {
        #expect(try sections().map(\.number) == (1...20).map { "E\($0)" })
    }

    @Test func `an obligation lists the tests that carry its number, all of them and no other`() throws {
        let tests = try tests()
        #expect(tests.count > 60)
        for section in try sections() {
            let carrying = tests.filter { $0.numbers.contains(section.number) }.map(\.name)
            #expect(section.tests.sorted() == carrying.sorted(), "\(section.number)")
            #expect(!carrying.isEmpty || section.text.contains("Not built yet."), "\(section.number) has no test.")
            #expect(carrying.isEmpty || !section.text.contains("Not built yet."), "\(section.number) is built.")
        }
    }

    @Test func `every test of an obligation is run by the filter that the page names`() throws {
        let strays = try tests().filter { !$0.suite.hasPrefix("EngineObligation") }
        #expect(strays.isEmpty, "\(strays.map { "\($0.suite): \($0.name)" })")
    }
}
