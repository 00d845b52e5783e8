import Foundation
import PatchbayAdapterKit
import PatchbayModel
import Testing

@testable import PatchbayTesting

private let a1 = RuleID("probe", "A1")
private let a2 = RuleID("probe", "A2")

@Suite("The rule trait") struct RuleTraitTests {
    @Test(.shows("probe/A1", "probe/A2")) func `a claim holds where the rules fire`() {
        a1.fire()
        a2.fire()
    }

    @Test(.shows("probe/A1"), arguments: 1...5) func `a claim holds if one argument shows it`(_ number: Int) {
        if number == 4 { a1.fire() }
    }

    @Test(.shows("probe/A1"), .shows("probe/A2")) func `traits stack`() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { a1.fire() }
            group.addTask { a2.fire() }
        }
    }

    @Test(
        arguments: [
            (claim: "probe/A1", text: "did not fire here; fired: probe/A2. Make the test"),
            (claim: "A1", text: "names no rule. Write it as <adapter>/<number>"),
        ]
    )
    func `a claim that does not fire is an issue`(_ row: (claim: String, text: String)) async throws {
        let test = try #require(Test.current)
        let texts = try await collectedIssues {
            try await RuleTrait.shows(row.claim).provideScope(for: test, testCase: nil) { a2.fire() }
        }.failureTexts
        #expect(texts.count == 1)
        #expect(texts.first?.contains(row.text) == true)
    }

    @Test func `a failing test is no evidence, and its issue stays`() async throws {
        let test = try #require(Test.current)
        let texts = try await collectedIssues {
            try await RuleTrait.shows("probe/A1").provideScope(for: test, testCase: nil) {
                a1.fire()
                Issue.record("The test itself fails.")
            }
        }.failureTexts
        #expect(texts == ["The test itself fails."])
    }

    @Test func `nobody listens outside a claim`() {
        #expect(RuleTrace.recorder == nil)
        a1.fire()
    }
}

@Suite("Rule evidence") struct RuleEvidenceTests {
    @Test func `lines of several files are joined and sorted, half a line is left out`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        RuleEvidence.note([a1, a2], test: "Probe/second()", folder: folder)
        RuleEvidence.note([a1], test: "Probe/first()", folder: folder)
        RuleEvidence.note([a1], test: "Probe/first()", folder: folder)
        let other = #"{"rule":"probe/A2","test":"Probe/other()"}"# + "\n" + #"{"rule":"probe/A3","te"#
        try Data(other.utf8).write(to: folder.appendingPathComponent("evidence-1.ndjson"))

        let evidence = try RuleEvidence(folder: folder)
        #expect(
            evidence.tests == [a1: ["Probe/first()", "Probe/second()"], a2: ["Probe/other()", "Probe/second()"]]
        )
        let rules = [a1, a2, RuleID("probe", "A3")].map { Rule($0, "…", source: "…") }
        #expect(evidence.missing(of: rules) == [RuleID("probe", "A3")])
    }

    @Test func `a test's name has module, suite and function`() throws {
        let name = RuleEvidence.name(of: try #require(Test.current))
        #expect(name == "PatchbayAdapterKitTests.RuleEvidenceTests/`a test's name has module, suite and function`()")
    }
}
