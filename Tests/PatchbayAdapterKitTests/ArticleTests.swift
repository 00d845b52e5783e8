import Foundation
import PatchbayTesting
import Testing

/// The article on writing an adapter lists the checks; the suite is the only list of them.
@Suite("Writing an adapter") struct ArticleTests {
    @Test func `the article names the checks of the suite, each under its obligation`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/Patchbay/Documentation.docc/WritingAnAdapter.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        var named: [String] = []
        for match in article.matches(of: /Checks (\w+): ([^.]+)\./) {
            for name in match.2.matches(of: /`([^`]+)`/) { named.append("\(match.1): \(name.1)") }
        }
        #expect(Set(named).count == named.count, "A check is listed twice.")
        #expect(
            named.map { $0.replacing("\n", with: " ") }.sorted() == ConformanceCheck.all.map(\.testDescription).sorted()
        )
    }

    @Test func `every obligation from A1 to A20 has a check`() {
        let requirements = Set(ConformanceCheck.all.map(\.requirement))
        #expect((1...20).map { "A\($0)" }.filter { !requirements.contains($0) } == [])
        #expect(Set(ConformanceCheck.all.map(\.name)).count == ConformanceCheck.all.count, "Two checks have one name.")
    }
}
