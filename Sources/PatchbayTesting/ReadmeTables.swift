public import Foundation
public import PatchbayAdapterKit
public import Testing

/// The tables of an adapter's README that are generated from code, each between `<!-- table: name -->` and `<!-- end -->`.
///
/// A difference fails a test, as with a golden. `UPDATE_GOLDENS=1` rewrites the tables if `CI` is not set.
public struct ReadmeTables: Sendable {
    /// The README.
    public let file: URL
    private let goldens: Goldens

    /// Creates the tables of the README beside the folder of a test's source file.
    public init(from file: String = #filePath) {
        self.file =
            URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("../README.md")
            .standardizedFileURL
        goldens = Goldens(from: file)
    }

    /// Returns a Markdown table. Bars in cells are escaped.
    public static func markdown(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows)
            .map { "| " + $0.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }

    /// A table of the README: the name in its comment, and its Markdown.
    public typealias Named = (name: String, markdown: String)

    /// A part of an adapter descriptor that is shown as a table. The raw value is the table's name.
    public enum Part: String, Sendable {
        case capabilities, limits, fields, replies, findings, rules
    }

    /// Returns tables of an adapter descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of the API.
    ///   - parts: The parts.
    ///   - prefix: A prefix of the tables' names, such as `server-`, if a README describes several APIs.
    /// - Returns: The tables, in the order of `parts`.
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
        case .limits: markdown(["what", "limit"], descriptor.tables.limits.map { [$0.what, $0.limit] })
        case .fields: fields(descriptor.tables.fields)
        case .replies: descriptor.tables.replies.markdown
        case .findings:
            findings(descriptor.tables.findings)
        case .rules: rules(descriptor.tables.rules)
        }
    }

    /// Returns tables of fields, each with its title.
    public static func fields(_ tables: [FieldTableSummary]) -> String {
        tables.map { "**\($0.title)**\n\n\($0.markdown)" }.joined(separator: "\n\n")
    }

    /// Returns a table of findings, each with its remedy. A finding of several lists has one row.
    public static func findings(_ lists: [FindingRow]...) -> String {
        var known: Set<String> = []
        let rows = lists.flatMap(\.self).filter { known.insert($0.code).inserted }
        return markdown(
            ["finding", "severity", "what helps"],
            rows.map { ["`\($0.code)`", $0.severity.rawValue, $0.remedy] }
        )
    }

    /// Returns a table of rules, each with its number. A rule of several lists has one row.
    public static func rules(_ lists: [Rule]...) -> String {
        var known: Set<RuleID> = []
        let rules = lists.flatMap(\.self).filter { known.insert($0.id).inserted }
        return markdown(["rule", "what it says", "known from"], rules.map { [$0.id.number, $0.text, $0.source] })
    }

    /// Returns a table of a contact file's columns, from the rows of `ContactFile.markdown`.
    public static func columns(_ rows: [[String]]) -> String {
        markdown(["column", "holds", "type", "written", "consent values"], rows)
    }

    /// Returns a table of a vendor's consent values.
    public static func consent(_ table: ConsentTable) -> String {
        markdown(["columns or members", "about", "values", "meaning", "source"], table.markdown)
    }

    /// Compares the README's tables with these, by name, or rewrites them.
    ///
    /// - Parameters:
    ///   - tables: The names in the README's comments, each with its Markdown.
    ///   - sourceLocation: The source location of issues.
    /// - Throws: An error if the README cannot be read or written, or lacks a table.
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
