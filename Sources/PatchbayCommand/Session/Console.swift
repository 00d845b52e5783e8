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
    /// The columns after which lines to the person are wrapped; nil without a terminal.
    private let width: Int?
    /// How often progress is told; nil for never.
    private let interval: Duration?
    private var told = ContinuousClock.now

    private static let bufferSize = 64 << 10

    /// The console of this process.
    ///
    /// Where nobody watches, a line of progress a minute goes to the log; `PATCHBAY_PROGRESS` may say after how many seconds,
    /// and 0 for never.
    init(environment: [String: String]) {
        let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false || environment["TERM"] == "dumb"
        isWatched = isatty(STDERR_FILENO) == 1
        width = isWatched ? HelpText.columns(of: STDERR_FILENO, environment) : nil
        let seconds = environment["PATCHBAY_PROGRESS"].flatMap(Int.init) ?? 60
        interval = isWatched ? .milliseconds(200) : seconds > 0 ? .seconds(seconds) : nil
        usesColour = isWatched && !isPlain
        paintsOutput = isatty(STDOUT_FILENO) == 1 && !isPlain
    }

    // MARK: Data

    /// Writes one JSON object and a line end.
    func data(_ json: JSONValue) throws {
        var line = JSONWriter()
        line.value(json)
        buffer.raw(String(decoding: line.bytes, as: UTF8.self).withControlsEscapedForJSON)
        try endLine()
    }

    /// Writes lines of text that hold no names of others.
    func data(lines: String) throws {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { try data(String(line)) }
    }

    /// Writes one line of text, whose beginning may have a colour. Control characters, line ends too, are escaped.
    func data(_ text: String, _ colour: Colour? = nil, then rest: String = "") throws {
        buffer.raw(Self.shown(text, paintsOutput ? colour : nil) + Self.shown(rest))
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

    /// The text as a person gets it: on one line, without what a terminal would obey.
    private static func shown(_ text: String, _ colour: Colour? = nil) -> String {
        colour.map { "\u{1B}[\($0.rawValue)m\(text.onOneLine)\u{1B}[0m" } ?? text.onOneLine
    }

    // MARK: Talk

    /// Says lines whose names are escaped already.
    func say(lines: String, _ colour: Colour? = nil) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { say(String(line), colour) }
    }

    /// Says a line to the person. Control characters, line ends too, are escaped.
    func say(_ text: String, _ colour: Colour? = nil) {
        // Where nobody can be told, there is nothing to do about it.
        let lines = width.map { text.onOneLine.wrapped(at: $0) } ?? [text]
        for line in lines {
            try? failures.write(Array("\(clearLine)\(Self.shown(line, usesColour ? colour : nil))\n".utf8))
        }
    }

    /// Says a finding, with where it was found.
    func say(_ finding: Finding, at place: String) {
        say("\(place): \(finding.severity.rawValue): \(finding.sentence)", finding.severity.colour)
    }

    /// Shows how far the work is if it is time again: where a person watches, the next line replaces it.
    func show(progress text: @autoclosure () -> String) {
        guard let interval, ContinuousClock.now - told >= interval else { return }
        told = .now
        guard isWatched else { return say("patchbay: \(text())") }
        try? failures.write(Array("\(clearLine)\(Self.shown(text()))".utf8))
    }

    private var clearLine: String { isWatched ? "\r\u{1B}[K" : "" }
}

extension String {
    /// JSON in which DEL and the C1 controls, which JSON allows as they are, are escaped; they occur in strings alone.
    fileprivate var withControlsEscapedForJSON: String {
        // In UTF-8 a C1 control begins with C2.
        guard utf8.contains(where: { $0 == 0x7F || $0 == 0xC2 }) else { return self }
        return unicodeScalars.map {
            (0x7F...0x9F).contains($0.value) ? "\\u00" + String($0.value, radix: 16) : String($0)
        }.joined()
    }
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
