import Foundation
import PatchbayAdapterKit
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce README") struct ReadmeTests {
    /// The tables of the README, by the name that stands in their marks.
    private var tables: [(name: String, markdown: String)] {
        let descriptor = SalesforceDevice.descriptor
        return [
            ("settings", SalesforceSettings.table.markdown),
            (
                "capabilities",
                table(
                    ["capability", "support", "note"],
                    descriptor.capabilities.listed.map {
                        ["`\($0.capability.rawValue)`", $0.support.word, $0.support.note]
                    }
                )
            ),
            ("limits", table(["what", "limit"], descriptor.limits.map { [$0.what, $0.limit] })),
            ("registration", descriptor.fields[0].markdown),
            ("event", descriptor.fields[1].markdown),
            ("replies", descriptor.replies.markdown),
            ("file-settings", ContactFileSettings.table.markdown),
            (
                "columns",
                table(
                    ["column", "fills"],
                    ContactFileSettings.defaultColumns.map { ["`\($0.column)`", "`\($0.target)`"] }
                )
            ),
            (
                "rules",
                table(
                    ["rule", "what it says", "known from"],
                    descriptor.rules.map { [$0.id.number, $0.text, $0.source] }
                )
            ),
        ]
    }

    private func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows)
            .map { "| " + $0.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }

    @Test func `the tables are those of the code`() throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../README.md")
            .standardizedFileURL
        let text = try String(contentsOf: url, encoding: .utf8)
        var expected = text
        for (name, markdown) in tables {
            let (open, close) = ("<!-- table: \(name) -->\n", "<!-- end -->")
            let start = try #require(expected.firstRange(of: open), "The README has no table \(name).").upperBound
            let end = try #require(expected[start...].firstRange(of: close)).lowerBound
            expected.replaceSubrange(start..<end, with: markdown + "\n")
        }
        guard expected != text else { return }
        if Goldens().isRewriting {
            try expected.write(to: url, atomically: true, encoding: .utf8)
            Issue.record("README.md was rewritten.", severity: .warning)
        } else {
            Issue.record("README.md's tables differ from the code. Run `make goldens`, read the diff and commit it.")
        }
    }
}
