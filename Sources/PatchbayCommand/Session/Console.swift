import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

/// Writes data to standard output and messages to standard error.
@MainActor final class Console {
    /// Colours of messages. They are used on a terminal unless `NO_COLOR` is set or the terminal is `dumb`.
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

    /// Whether standard error is a terminal.
    let isWatched: Bool
    /// The number of columns at which messages are wrapped; nil without a terminal.
    private let width: Int?
    /// The time between two lines of progress; nil prints none.
    private let interval: Duration?
    private var lastProgress = ContinuousClock.now

    private static let bufferSize = 64 << 10

    /// Creates the console of this process.
    ///
    /// On a terminal, progress is shown five times a second. Otherwise a line of progress is printed every 60 s;
    /// `PATCHBAY_PROGRESS` sets the number of seconds, and 0 turns it off.
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

    /// Writes lines of text that contain no untrusted names.
    func data(lines: String) throws {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { try data(String(line)) }
    }

    /// Writes one line of text that may begin with a coloured part. Control characters, including line ends, are escaped.
    func data(_ text: String, _ colour: Colour? = nil, then rest: String = "") throws {
        buffer.raw(Self.shown(text, paintsOutput ? colour : nil) + Self.shown(rest))
        try endLine()
    }

    private func endLine() throws {
        buffer.endLine()
        if buffer.bytes.count >= Self.bufferSize { try flush() }
    }

    /// Writes all buffered data to standard output.
    func flush() throws {
        defer { buffer.reset() }
        if !buffer.bytes.isEmpty { try output.write(buffer.bytes) }
    }

    /// The text on one line, with control characters escaped so that a terminal does not obey them.
    private static func shown(_ text: String, _ colour: Colour? = nil) -> String {
        colour.map { "\u{1B}[\($0.rawValue)m\(text.onOneLine)\u{1B}[0m" } ?? text.onOneLine
    }

    // MARK: Messages

    /// Prints lines in which names are escaped already.
    func say(lines: String, _ colour: Colour? = nil) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { say(String(line), colour) }
    }

    /// Prints a message. Control characters, including line ends, are escaped.
    func say(_ text: String, _ colour: Colour? = nil) {
        // A failure to write to standard error cannot be reported anywhere.
        let lines = width.map { text.onOneLine.wrapped(at: $0) } ?? [text]
        for line in lines {
            try? failures.write(Array("\(clearLine)\(Self.shown(line, usesColour ? colour : nil))\n".utf8))
        }
    }

    /// Prints a finding with its location.
    func say(_ finding: Finding, at place: String) {
        say("\(place): \(finding.severity.rawValue): \(finding.sentence)", finding.severity.colour)
    }

    /// Prints the progress if the interval has passed since the last time. On a terminal, the next line replaces it.
    func show(progress text: @autoclosure () -> String) {
        guard let interval, ContinuousClock.now - lastProgress >= interval else { return }
        lastProgress = .now
        guard isWatched else { return say("patchbay: \(text())") }
        try? failures.write(Array("\(clearLine)\(Self.shown(text()))".utf8))
    }

    private var clearLine: String { isWatched ? "\r\u{1B}[K" : "" }
}

extension String {
    /// JSON with DEL and the C1 controls escaped. JSON allows them unescaped; they occur in strings alone.
    fileprivate var withControlsEscapedForJSON: String {
        // In UTF-8 the first byte of a C1 control is C2.
        guard utf8.contains(where: { $0 == 0x7F || $0 == 0xC2 }) else { return self }
        return unicodeScalars.map {
            (0x7F...0x9F).contains($0.value) ? "\\u00" + String($0.value, radix: 16) : String($0)
        }.joined()
    }
}

extension Finding.Severity {
    /// The colour of messages with this severity.
    var colour: Console.Colour? {
        switch self {
        case .error: .red
        case .warning: .yellow
        case .note, .foreign: nil
        }
    }

    /// Whether the exit status should report findings.
    var matters: Bool { self == .error || self == .warning }
}
