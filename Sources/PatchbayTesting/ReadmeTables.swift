public import Foundation
public import PatchbayAdapterKit
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

    /// A table of the README: the name that stands in its mark, and its Markdown.
    public typealias Named = (name: String, markdown: String)

    /// What an API says of itself that is told as a table; the raw value is the table's name.
    public enum Part: String, Sendable {
        case capabilities, limits, fields, replies, findings, rules
    }

    /// Tables of what an API says of itself.
    ///
    /// - Parameters:
    ///   - descriptor: the API's.
    ///   - parts: which.
    ///   - prefix: stands before the tables' names, where a README is of several APIs: `server-`.
    /// - Returns: the tables, in that order.
    public static func of(_ descriptor: AdapterDescriptor, _ parts: [Part], prefix: String = "") -> [Named] {
        parts.map { ("\(prefix)\($0.rawValue)", markdown($0, of: descriptor)) }
    }

    private static func markdown(_ part: Part, of descriptor: AdapterDescriptor) -> String {
        switch part {
        case .capabilities:
            markdown(
                ["capability", "support", "note"],
                descriptor.capabilities.listed.map {
                    ["`\($0.capability.rawValue)`", $0.support.word, $0.support.note]
                }
            )
        case .limits: markdown(["what", "limit"], descriptor.limits.map { [$0.what, $0.limit] })
        case .fields: descriptor.fields.map { "**\($0.title)**\n\n\($0.markdown)" }.joined(separator: "\n\n")
        case .replies: descriptor.replies.markdown
        case .findings:
            markdown(
                ["finding", "severity", "what helps"],
                descriptor.findings.map { ["`\($0.code)`", $0.severity.rawValue, $0.remedy] }
            )
        case .rules: rules(descriptor.rules)
        }
    }

    /// A table of rules, each with its number among the adapter's.
    public static func rules(_ rules: [Rule]) -> String {
        markdown(["rule", "what it says", "known from"], rules.map { [$0.id.number, $0.text, $0.source] })
    }

    /// A table of a contact file's columns, as `ContactFile.markdown` gives them.
    public static func columns(_ rows: [[String]]) -> String {
        markdown(["column", "holds", "type", "written", "consent values"], rows)
    }

    /// A table of a vendor's consent values.
    public static func consent(_ table: ConsentTable) -> String {
        markdown(["columns or members", "about", "values", "meaning", "source"], table.markdown)
    }

    /// Compares the README's tables with these, by name, or rewrites them.
    ///
    /// - Parameters:
    ///   - tables: the names that stand in the marks, each with its Markdown.
    ///   - sourceLocation: where an issue is shown.
    /// - Throws: An error if the README can't be read or written, or lacks a table.
    public func check(
        _ tables: [Named],
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
