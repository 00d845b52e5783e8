public import Foundation
public import PatchbayAdapterKit
import PatchbayJSON
import Synchronization
import Testing

/// A record of the tests that showed each rule, written while tests run.
///
/// If the environment has `PATCHBAY_EVIDENCE=<folder>`, each passing test with claims appends one line per rule to a
/// file of its process in that folder. Use the evidence only if all tests of the run passed.
public struct RuleEvidence: Sendable, Equatable {
    /// The tests that showed each rule, sorted, each once.
    public let tests: [RuleID: [String]]

    /// Creates evidence from the tests of each rule.
    public init(_ tests: [RuleID: [String]]) { self.tests = tests.mapValues { Set($0).sorted() } }

    /// Reads and merges all evidence files in a folder.
    ///
    /// - Throws: An error if the folder cannot be read or a complete line is invalid.
    public init(folder: URL) throws {
        var tests: [RuleID: [String]] = [:]
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for file in files.sorted() where file.hasSuffix(".ndjson") {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            // A process that died while writing leaves an incomplete line, which does not count.
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let note = try JSONValue(parsing: String(line))
                guard let rule = note["rule"]?.string.flatMap(RuleID.init(text:)), let test = note["test"]?.string
                else {
                    throw EvidenceError(file: file)
                }
                tests[rule, default: []].append(test)
            }
        }
        self.init(tests)
    }

    /// Returns the rules that no test showed.
    public func missing(of rules: [Rule]) -> [RuleID] {
        rules.map(\.id).filter { tests[$0] == nil }.sorted()
    }

    /// The file of this process in each folder.
    private static let files = Mutex<[String: FileHandle]>([:])

    static func note(_ rules: [RuleID], test: Test) { note(rules, test: name(of: test)) }

    static func note(_ rules: [RuleID], test: String) {
        guard let folder = ProcessInfo.processInfo.environment["PATCHBAY_EVIDENCE"], !folder.isEmpty else { return }
        note(rules, test: test, folder: URL(fileURLWithPath: folder))
    }

    /// Appends one line per rule. Each line is written with one call.
    static func note(_ rules: [RuleID], test: String, folder: URL) {
        var writer = JSONWriter()
        for rule in rules {
            writer.value(["rule": .string(rule.text), "test": .string(test)])
            writer.endLine()
        }
        do {
            try files.withLock { files in
                let handle = try files[folder.path] ?? open(in: folder)
                files[folder.path] = handle
                try handle.write(contentsOf: writer.bytes)
            }
        } catch {
            Issue.record("Evidence can't be written to PATCHBAY_EVIDENCE: \(error). Name a folder that can be written.")
        }
    }

    private static func open(in folder: URL) throws -> FileHandle {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("evidence-\(ProcessInfo.processInfo.processIdentifier).ndjson")
        if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
        let handle = try FileHandle(forWritingTo: url)
        try handle.seekToEnd()
        return handle
    }

    /// Returns the module, suites and function of a test, without the source location.
    static func name(of test: Test) -> String {
        let place = "/\(test.sourceLocation.fileName):"
        let id = "\(test.id)"
        return id.range(of: place, options: .backwards).map { String(id[..<$0.lowerBound]) } ?? id
    }
}

/// An invalid line in an evidence file.
struct EvidenceError: Error, CustomStringConvertible {
    let file: String
    var description: String { "\(file) holds a line that is no evidence. Empty the folder and run the tests again." }
}
