public import PatchbayAdapterKit

/// The errors of a configuration, each with its position and remedy.
///
/// It never contains a value of the configuration, which may be secret.
public struct ConfigurationError: Error, Hashable, Sendable {
    /// The file, as the caller named it.
    public let file: String
    /// The errors and warnings. Paths are JSON paths such as `providers.crm.settings.endpoint`.
    public let findings: [Finding]

    private let positions: [SourcePosition?]

    init(file: String, findings: [Finding], positions: [SourcePosition?]) {
        (self.file, self.findings, self.positions) = (file, findings, positions)
    }

    /// Creates an error without a position in the text, such as an unreadable file.
    package init(file: String, _ finding: Finding) {
        var finding = finding
        if finding.path == file { finding.path = "" }
        self.init(file: file, findings: [finding], positions: [nil])
    }

    /// The errors with the line and column of the value, or of the closest value around it.
    public var placed: [(finding: Finding, position: SourcePosition?)] { Array(zip(findings, positions)) }
}

extension ConfigurationError: CustomStringConvertible {
    /// One line per error: `file:line:column: code at path: reason remedy`.
    public var description: String {
        placed.map { finding, position in
            "\(file)\(position.map { ":\($0.line):\($0.column)" } ?? ""): \(finding.sentence)"
        }.joined(separator: "\n")
    }
}
