public import Foundation
public import PatchbayAdapterKit
import PatchbayJSON
import Synchronization
import Testing

/// Which test showed which rule, noted while tests ran.
///
/// With `PATCHBAY_EVIDENCE=<folder>` in the environment each passing test with claims appends one line per rule to a
/// file of its process in that folder. Evidence counts for a run that passed as a whole.
public struct RuleEvidence: Sendable, Equatable {
    /// The tests that showed each rule, sorted, each once.
    public let tests: [RuleID: [String]]

    /// Evidence that is known.
    public init(_ tests: [RuleID: [String]]) { self.tests = tests.mapValues { Set($0).sorted() } }

    /// Reads every evidence file in a folder and joins them.
    ///
    /// - Throws: if the folder can't be read, or a line that is complete is no evidence.
    public init(folder: URL) throws {
        var tests: [RuleID: [String]] = [:]
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for file in files.sorted() where file.hasSuffix(".ndjson") {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            // A process that died while writing leaves half a line, which is no evidence.
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

    /// The rules that no test showed.
    public func missing(of rules: [Rule]) -> [RuleID] {
        rules.map(\.id).filter { tests[$0] == nil }.sorted()
    }

    /// This process's file in each folder.
    private static let files = Mutex<[String: FileHandle]>([:])

    static func note(_ rules: [RuleID], test: Test) { note(rules, test: name(of: test)) }

    static func note(_ rules: [RuleID], test: String) {
        guard let folder = ProcessInfo.processInfo.environment["PATCHBAY_EVIDENCE"], !folder.isEmpty else { return }
        note(rules, test: test, folder: URL(fileURLWithPath: folder))
    }

    /// Appends one line per rule; a line is written in one piece.
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

    /// Module, suites and function, without the place in the file.
    static func name(of test: Test) -> String {
        let place = "/\(test.sourceLocation.fileName):"
        let id = "\(test.id)"
        return id.range(of: place, options: .backwards).map { String(id[..<$0.lowerBound]) } ?? id
    }
}

/// A file in an evidence folder holds something else.
struct EvidenceError: Error, CustomStringConvertible {
    let file: String
    var description: String { "\(file) holds a line that is no evidence. Empty the folder and run the tests again." }
}
