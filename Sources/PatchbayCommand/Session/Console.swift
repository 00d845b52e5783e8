import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

/// Standard output for data, standard error for talk.
@MainActor final class Console {
    /// Colours, where a terminal shows them and nobody said no.
    enum Colour: String {
        case red = "31"
        case yellow = "33"
        case bold = "1"
        case dim = "2"
    }

    private let output = OutputFile.standardOutput()
    private let failures = OutputFile.standardError()
    private var buffer = JSONWriter()
    private let usesColour: Bool
    private let paintsOutput: Bool

    /// Whether a person watches standard error.
    let isWatched: Bool

    private static let bufferSize = 64 << 10

    /// The console of this process.
    init(environment: [String: String]) {
        let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false || environment["TERM"] == "dumb"
        isWatched = isatty(STDERR_FILENO) == 1
        usesColour = isWatched && !isPlain
        paintsOutput = isatty(STDOUT_FILENO) == 1 && !isPlain
    }

    // MARK: Data

    /// Writes one JSON object and a line end.
    func data(_ json: JSONValue) throws {
        buffer.value(json)
        try endLine()
    }

    /// Writes a line of text.
    func data(_ text: String) throws {
        buffer.raw(text)
        try endLine()
    }

    private func endLine() throws {
        buffer.endLine()
        if buffer.bytes.count >= Self.bufferSize { try flush() }
    }

    /// Hands over everything that was written.
    func flush() throws {
        defer { buffer.reset() }
        if !buffer.bytes.isEmpty { try output.write(buffer.bytes) }
    }

    /// The text in a colour, for a line of data.
    func paint(_ text: String, _ colour: Colour) -> String {
        paintsOutput ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    // MARK: Talk

    /// Says a line to the person.
    func say(_ text: String, _ colour: Colour? = nil) {
        let painted = colour.map { usesColour ? "\u{1B}[\($0.rawValue)m\(text)\u{1B}[0m" : text } ?? text
        // Where nobody can be told, there is nothing to do about it.
        try? failures.write(Array("\(clearLine)\(painted)\n".utf8))
    }

    /// Says a finding, with where it was found.
    func say(_ finding: Finding, at place: String) {
        say("\(place): \(finding.severity.rawValue) \(finding)", finding.severity.colour)
    }

    /// Shows a line that the next one replaces; only where a person watches.
    func show(progress text: String) {
        guard isWatched else { return }
        try? failures.write(Array("\(clearLine)\(text)".utf8))
    }

    private var clearLine: String { isWatched ? "\r\u{1B}[K" : "" }
}

extension Finding.Severity {
    /// How a person sees it.
    var colour: Console.Colour? {
        switch self {
        case .error: .red
        case .warning: .yellow
        case .note, .foreign: nil
        }
    }

    /// Whether the program should end with findings.
    var matters: Bool { self == .error || self == .warning }
}
