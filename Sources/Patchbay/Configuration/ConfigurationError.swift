public import PatchbayAdapterKit

/// A configuration that can't be used: every problem at once, each with its place and remedy.
///
/// It never holds a value of the configuration, which may be a secret.
public struct ConfigurationError: Error, Hashable, Sendable {
    /// The file, as it was named.
    public let file: String
    /// The problems, with the warnings beside them. Paths are JSON paths: `providers.crm.settings.endpoint`.
    public let findings: [Finding]

    private let positions: [SourcePosition?]

    init(file: String, findings: [Finding], positions: [SourcePosition?]) {
        (self.file, self.findings, self.positions) = (file, findings, positions)
    }

    /// A configuration with one problem that has no place in the text: an unreadable file.
    package init(file: String, _ finding: Finding) {
        var finding = finding
        if finding.path == file { finding.path = "" }
        self.init(file: file, findings: [finding], positions: [nil])
    }

    /// The problems with their places: the line and column of the value, or of the nearest one around it.
    public var placed: [(finding: Finding, position: SourcePosition?)] { Array(zip(findings, positions)) }
}

extension ConfigurationError: CustomStringConvertible {
    /// One line per problem: `file:line:column: code at path: reason remedy`.
    public var description: String {
        placed.map { finding, position in
            "\(file)\(position.map { ":\($0.line):\($0.column)" } ?? ""): \(finding.sentence)"
        }.joined(separator: "\n")
    }
}
