public import Foundation
public import Testing

/// The tables of an adapter's README that come from its code: each stands between `<!-- table: name -->` and
/// `<!-- end -->`.
///
/// Like a golden, a difference fails, and `UPDATE_GOLDENS=1` rewrites it where `CI` is not set.
public struct ReadmeTables: Sendable {
    /// The README.
    public let file: URL
    private let goldens: Goldens

    /// The README beside the folder of a test's source file.
    public init(from file: String = #filePath) {
        self.file =
            URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("../README.md")
            .standardizedFileURL
        goldens = Goldens(from: file)
    }

    /// A Markdown table; a bar inside a cell is escaped.
    public static func markdown(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows)
            .map { "| " + $0.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }

    /// Compares the README's tables with these, by name, or rewrites them.
    ///
    /// - Parameters:
    ///   - tables: the names that stand in the marks, each with its Markdown.
    ///   - sourceLocation: where an issue is shown.
    /// - Throws: An error if the README can't be read or written, or lacks a table.
    public func check(
        _ tables: [(name: String, markdown: String)],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        var expected = text
        for (name, markdown) in tables {
            let (open, close) = ("<!-- table: \(name) -->\n", "<!-- end -->")
            let start = try #require(
                expected.firstRange(of: open),
                "The README has no table \(name).",
                sourceLocation: sourceLocation
            ).upperBound
            let end = try #require(expected[start...].firstRange(of: close), sourceLocation: sourceLocation).lowerBound
            expected.replaceSubrange(start..<end, with: markdown + "\n")
        }
        guard expected != text else { return }
        if goldens.isRewriting {
            try expected.write(to: file, atomically: true, encoding: .utf8)
            Issue.record("README.md was rewritten.", severity: .warning, sourceLocation: sourceLocation)
        } else {
            Issue.record(
                "README.md's tables differ from the code. Run `make goldens`, read the diff and commit it.",
                sourceLocation: sourceLocation
            )
        }
    }
}
