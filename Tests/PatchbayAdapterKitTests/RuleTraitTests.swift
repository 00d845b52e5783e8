import Foundation
import PatchbayAdapterKit
import PatchbayModel
import PatchbayTesting
import Testing

@Suite("The rule trait") struct RuleTraitTests {
    @Test func `records an issue for a claim that names no rule`() async throws {
        let test = try #require(Test.current)
        let texts = try await collectedIssues {
            try await RuleTrait.shows("A1").provideScope(for: test, testCase: nil) {}
        }.failureTexts
        #expect(texts == ["A claim names no rule. Write it as <adapter>/<number>."])
    }

    @Test func `keeps the issue of a failing test`() async throws {
        let test = try #require(Test.current)
        let texts = try await collectedIssues {
            try await RuleTrait.shows("probe/A1").provideScope(for: test, testCase: nil) {
                Issue.record("The test itself fails.")
            }
        }.failureTexts
        #expect(texts == ["The test itself fails."])
    }
}

@Suite("Rule evidence") struct RuleEvidenceTests {
    @Test func `writes a line per rule with its test or as applied`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let evidence = try RuleEvidence(folder: folder)
        evidence.add(["A1", "A2"].map { RuleID("probe", $0) }, shownBy: "Probe/first()")
        evidence.add(applied: RuleID("probe", "A2"))

        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        #expect(
            text == """
                {"rule":"probe/A1","test":"Probe/first()"}
                {"rule":"probe/A2","test":"Probe/first()"}
                {"applied":"probe/A2"}

                """
        )
    }

    @Test func `a test's name has module, suite and function`() throws {
        let name = RuleEvidence.name(of: try #require(Test.current))
        #expect(name == "PatchbayAdapterKitTests.RuleEvidenceTests/`a test's name has module, suite and function`()")
    }
}
