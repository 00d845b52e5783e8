import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration

/// The tests that show each rule. A test run with `PATCHBAY_EVIDENCE=<folder>` writes them as NDJSON.
struct RuleEvidence {
    /// The tests by rule, sorted.
    private(set) var tests: [RuleID: [String]] = [:]

    /// Creates evidence without tests.
    init() {}

    /// Reads the evidence in an NDJSON file, or in the NDJSON files of a folder.
    ///
    /// - Throws: ``FileError`` if the file or the folder cannot be read.
    init(path: String) throws(FileError) {
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        let files = names?.sorted().filter { $0.hasSuffix(".ndjson") }.map { "\(path)/\($0)" } ?? [path]
        var found: [RuleID: Set<String>] = [:]
        for file in files {
            let text = String(decoding: try FileSource.contents(of: file), as: UTF8.self)
            for line in text.split(separator: "\n") {
                guard let json = try? JSONValue(parsing: String(line)), let test = json["test"]?.string,
                    let rule = json["rule"]?.string.flatMap(RuleID.init(text:))
                else { continue }
                found[rule, default: []].insert(test)
            }
        }
        tests = found.mapValues { $0.sorted() }
    }
}
