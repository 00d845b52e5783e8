public import PatchbayAdapterKit
import Foundation
import PatchbayModel

/// The text form of wire values in goldens, with bodies as emitted and secrets hidden.
public enum WireText: Sendable {
    /// The replacement of a secret.
    public static let secret = "‹secret›"

    /// Returns the method and the URL, the headers sorted by name, an empty line, and the body as emitted.
    ///
    /// A body that is not UTF-8 is shown as Base64 after `base64:`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - secrets: Texts to hide everywhere, plain or percent-encoded. Values of secret headers are always hidden.
    /// - Returns: Lines without a line break at the end.
    public static func text(_ request: WireRequest, hiding secrets: [String] = []) -> String {
        join(["\(request.method) \(request.url)"] + lines(request.headers), request.body, hiding: secrets)
    }

    /// Returns the status, the headers sorted by name, an empty line, and the body as received.
    public static func text(_ response: WireResponse, hiding secrets: [String] = []) -> String {
        join(["HTTP \(response.status)"] + lines(response.headers), response.body, hiding: secrets)
    }

    /// Returns a finding in one line: severity, code, normalized cause, place, rule, reason and remedy.
    public static func text(_ finding: Finding) -> String {
        let error = finding.error.map { " (\($0.rawValue))" } ?? ""
        let path = finding.path.isEmpty ? "" : " at \(finding.path)"
        let rule = finding.rule.map { " [\($0)]" } ?? ""
        return "\(finding.severity.rawValue) \(finding.code)\(error)\(path)\(rule): \(finding.reason) \(finding.remedy)"
    }

    private static func lines(_ headers: [WireHeader]) -> [String] {
        headers.sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }
            .map { "\($0.name): \($0.isSecret ? secret : $0.value)" }
    }

    private static func join(_ head: [String], _ body: [UInt8], hiding secrets: [String]) -> String {
        var text = head.joined(separator: "\n")
        if !body.isEmpty {
            text += "\n\n"
            text += String(validating: body, as: UTF8.self) ?? "base64:" + Data(body).base64EncodedString()
        }
        return secrets.filter { !$0.isEmpty }.reduce(text) { text, value in
            text.replacing(value, with: secret).replacing(URLText.encode(value), with: secret)
        }
    }
}
