public import Foundation
public import Testing

/// Stored expected texts: one file for each sample, reviewed by a person before it is committed.
///
/// If the environment has `UPDATE_GOLDENS=1` and no `CI`, tests rewrite the files that differ, each with a warning.
/// Otherwise a missing or different golden fails with the actual text attached.
public struct Goldens: Sendable {
    /// The kind of a golden. Each kind has its own folder.
    public enum Kind: String, Sendable, CaseIterable {
        /// The requests for a sample.
        case requests = "Requests"
        /// The reasons that a sample is not sent.
        case refusals = "Refusals"
        /// The meaning of replies.
        case replies = "Replies"
        /// Scenarios with several requests over time, and their events.
        case conversations = "Conversations"
        /// Records of export and import files.
        case records = "Records"
    }

    /// The folder that contains a folder for each kind.
    public let folder: URL
    /// The name of the API whose goldens are stored in a subfolder of each kind; nil for the first API of a vendor.
    public let subfolder: String?
    private let isUpdating: Bool
    private let isCI: Bool

    /// Creates the goldens of a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is created when a golden is first written.
    ///   - subfolder: The name of the API, if a vendor has several and this is not the first.
    ///   - environment: The environment, for `UPDATE_GOLDENS` and `CI`.
    public init(
        folder: URL,
        subfolder: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        (self.folder, self.subfolder) = (folder, subfolder)
        isUpdating = environment["UPDATE_GOLDENS"] == "1"
        isCI = environment["CI"].map { !$0.isEmpty && $0 != "false" && $0 != "0" } ?? false
    }

    /// Creates the goldens of a folder relative to a source file; by default `Goldens` beside the file's folder.
    public init(from file: String = #filePath, at relativePath: String = "../Goldens", subfolder: String? = nil) {
        let url = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent(relativePath)
        self.init(folder: url.standardizedFileURL, subfolder: subfolder)
    }

    /// Whether this run rewrites goldens.
    public var isRewriting: Bool { isUpdating && !isCI }

    /// Compares a text with its golden, or rewrites the golden.
    ///
    /// - Parameters:
    ///   - text: The actual text. One line break is added at its end.
    ///   - kind: The kind of the golden.
    ///   - name: The sample's name.
    ///   - sourceLocation: The source location of issues.
    public func check(
        _ text: String,
        _ kind: Kind,
        _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        check(text, kind, file: "\(name).txt", sourceLocation: sourceLocation)
    }

    func check(_ text: String, _ kind: Kind, file: String, sourceLocation: SourceLocation) {
        let label = "\(kind.rawValue)/\(file)"
        guard !isUpdating || !isCI else {
            Issue.record(
                "UPDATE_GOLDENS is refused where CI is set. Run `make goldens` on your machine, review the diff and commit it.",
                sourceLocation: sourceLocation
            )
            return
        }
        let actual = Data((text + "\n").utf8)
        let golden = try? Data(contentsOf: url(kind, file))
        guard golden != actual else { return }
        if isUpdating {
            write(actual, to: url(kind, file), label, sourceLocation)
            return
        }
        Attachment.record(text + "\n", named: "\(kind.rawValue)-\(file).actual.txt", sourceLocation: sourceLocation)
        let what = golden.map { difference($0, actual) } ?? "there is no golden yet."
        Issue.record(
            "\(label): \(what) If the new text is right, run `make goldens`, read the diff and commit it.",
            sourceLocation: sourceLocation
        )
    }

    /// The actual texts of samples, by name.
    typealias Texts = [(name: String, text: String)]

    /// Compares the texts of samples with one golden for each distinct text. `same.list` names the other samples with the
    /// same text.
    func check(eachDistinct texts: Texts, _ kind: Kind, sourceLocation: SourceLocation = #_sourceLocation) {
        let groups = Self.groups(texts)
        for group in groups { check(group.text, kind, group.names[0], sourceLocation: sourceLocation) }
        checkNoOrphans(kind, expected: Set(groups.map { $0.names[0] }), sourceLocation: sourceLocation)
        let same = groups.filter { $0.names.count > 1 }.map {
            "\($0.names[0]): \($0.names.dropFirst().joined(separator: ", "))"
        }
        checkList(same.sorted(), kind, "same", sourceLocation)
    }

    /// Compares the texts of samples with one file, in which each distinct text follows the names of its samples.
    func check(together texts: Texts, _ kind: Kind, sourceLocation: SourceLocation = #_sourceLocation) {
        let groups = Self.groups(texts).map { group in
            let lines = group.text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
            return (group.names + lines).joined(separator: "\n") + "\n"
        }
        checkNoOrphans(kind, expected: [], sourceLocation: sourceLocation)
        checkList(groups, kind, "all", sourceLocation)
    }

    /// The texts, each with the sorted names of its samples, in the order of the first name.
    private static func groups(_ texts: Texts) -> [(names: [String], text: String)] {
        Dictionary(grouping: texts, by: \.text).map { ($0.value.map(\.name).sorted(), $0.key) }
            .sorted { $0.names[0] < $1.names[0] }
    }

    /// Compares lines with a list, which does not exist if there are none.
    private func checkList(_ lines: [String], _ kind: Kind, _ name: String, _ sourceLocation: SourceLocation) {
        let file = "\(name).list"
        guard lines.isEmpty else {
            return check(lines.joined(separator: "\n"), kind, file: file, sourceLocation: sourceLocation)
        }
        checkNoOrphans(kind, suffix: ".list", expected: [], sourceLocation: sourceLocation)
    }

    /// Returns the names of the existing goldens of a kind.
    public func names(of kind: Kind) -> Set<String> { names(of: kind, suffix: ".txt") }

    func names(of kind: Kind, suffix: String) -> Set<String> {
        let files =
            (try? FileManager.default.contentsOfDirectory(atPath: place(of: kind).path))
        return Set((files ?? []).filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) })
    }

    /// All goldens in the folder, including those of other APIs, except the scenarios, which are inputs.
    var outputs: [(name: String, text: String)] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in [".txt", ".ndjson", ".list"].contains(where: name.hasSuffix) }.sorted().compactMap
        { name in
            guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
            return (name, String(decoding: data, as: UTF8.self))
        }
    }

    /// Reports goldens without a sample, or removes them if goldens are rewritten.
    ///
    /// - Parameters:
    ///   - kind: The kind of goldens.
    ///   - expected: The expected names.
    ///   - sourceLocation: The source location of issues.
    public func checkNoOrphans(
        _ kind: Kind,
        expected: Set<String>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        checkNoOrphans(kind, suffix: ".txt", expected: expected, sourceLocation: sourceLocation)
    }

    func checkNoOrphans(_ kind: Kind, suffix: String, expected: Set<String>, sourceLocation: SourceLocation) {
        for name in names(of: kind, suffix: suffix).subtracting(expected).sorted() {
            let label = "\(kind.rawValue)/\(name)\(suffix)"
            guard isRewriting else {
                Issue.record(
                    "\(label) has no sample or scenario. Run `make goldens` to remove it, or restore its source.",
                    sourceLocation: sourceLocation
                )
                continue
            }
            do {
                try FileManager.default.removeItem(at: url(kind, name + suffix))
                Issue.record("\(label) was removed.", severity: .warning, sourceLocation: sourceLocation)
            } catch {
                Issue.record(error, "\(label) cannot be removed.", sourceLocation: sourceLocation)
            }
        }
    }

    func url(_ kind: Kind, _ file: String) -> URL { place(of: kind).appendingPathComponent(file) }

    private func place(of kind: Kind) -> URL {
        let place = folder.appendingPathComponent(kind.rawValue)
        return subfolder.map { place.appendingPathComponent($0) } ?? place
    }

    private func write(_ data: Data, to url: URL, _ label: String, _ sourceLocation: SourceLocation) {
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: url, options: .atomic)
            Issue.record("\(label) was rewritten.", severity: .warning, sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, "\(label) cannot be written.", sourceLocation: sourceLocation)
        }
    }

    /// Returns a description of the first line that differs.
    private func difference(_ golden: Data, _ actual: Data) -> String {
        let old = String(decoding: golden, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let new = String(decoding: actual, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let line = zip(old, new).prefix { $0 == $1 }.count
        func show(_ lines: [Substring]) -> String { lines.indices.contains(line) ? "‹\(lines[line])›" : "the end" }
        return "line \(line + 1) should be \(show(old)) and is \(show(new))."
    }
}
