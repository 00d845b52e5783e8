package import Foundation
package import PatchbayAdapterKit
import PatchbayJSON
import Synchronization
package import Testing

/// A record of the tests that show each rule, and of the rules whose table rows (findings, replies, fields, settings) were
/// applied, written while tests run.
///
/// If the environment has `PATCHBAY_EVIDENCE=<folder>`, each passing test with claims appends one line per rule to a
/// file of its process in that folder. A line is also appended for each rule when its first row is applied. Use the
/// evidence only if all tests of the run passed.
package final class RuleEvidence: Sendable {
    /// The evidence of this test run; nil if the environment names no folder.
    static let ofRun: RuleEvidence? = {
        guard let folder = ProcessInfo.processInfo.environment["PATCHBAY_EVIDENCE"], !folder.isEmpty else { return nil }
        do {
            let evidence = try RuleEvidence(folder: URL(fileURLWithPath: folder))
            AppliedRules.report { evidence.add(applied: $0) }
            return evidence
        } catch {
            Issue.record("Evidence cannot be written to PATCHBAY_EVIDENCE: \(error). Name a writable folder.")
            return nil
        }
    }()

    private let handle: Mutex<FileHandle>

    /// Creates the file of this process in a folder.
    package init(folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("evidence-\(ProcessInfo.processInfo.processIdentifier).ndjson")
        try Data().write(to: url)
        handle = Mutex(try FileHandle(forWritingTo: url))
    }

    /// Adds the claims of a passing test.
    package func add(_ rules: [RuleID], shownBy test: String) {
        write(rules.map { ["rule": .string($0.text), "test": .string(test)] })
    }

    /// Adds a rule that has an applied table row.
    package func add(applied rule: RuleID) { write([["applied": .string(rule.text)]]) }

    /// Appends lines with one call.
    private func write(_ lines: [JSONValue]) {
        let text = lines.map { $0.text + "\n" }.joined()
        do {
            try handle.withLock { try $0.write(contentsOf: Data(text.utf8)) }
        } catch {
            Issue.record("Evidence cannot be written to PATCHBAY_EVIDENCE: \(error)")
        }
    }

    /// Returns the module, suites and function of a test, without the source location.
    package static func name(of test: Test) -> String {
        let place = "/\(test.sourceLocation.fileName):"
        let id = "\(test.id)"
        return id.range(of: place, options: .backwards).map { String(id[..<$0.lowerBound]) } ?? id
    }
}
