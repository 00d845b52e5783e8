import Patchbay

/// One flag: parsing, help and reference all read it.
struct Flag: Hashable, Sendable {
    /// What follows the flag.
    enum Value: Hashable, Sendable {
        /// Nothing.
        case none
        /// Text, by the word that help shows for it.
        case text(String)
        /// A whole number in a range, by the word that help shows for it.
        case number(String, ClosedRange<Int>)

        var placeholder: String? {
            switch self {
            case .none: nil
            case .text(let word), .number(let word, _): word
            }
        }
    }

    /// The name, without its hyphens.
    let name: String
    /// What follows it.
    let value: Value
    /// Whether it may be given more than once.
    let isRepeatable: Bool
    /// What it does, in a few words.
    let summary: String

    private init(_ name: String, _ value: Value, isRepeatable: Bool = false, _ summary: String) {
        (self.name, self.value, self.isRepeatable, self.summary) = (name, value, isRepeatable, summary)
    }

    /// As a person types it: `--config FILE`.
    var usage: String { "--\(name)" + (value.placeholder.map { " \($0)" } ?? "") }

    static let after = Flag(
        "after",
        .text("FILE"),
        "a file that was moved before, of which --in has mended rows: whoever says no in it stays at no"
    )
    static let code = Flag("code", .text("CODE"), "only what was rejected with this code")
    static let companion = Flag(
        "companion",
        .text("FILE"),
        "what the source's vendor keeps beside it, such as a map of its columns; `none` for nothing"
    )
    static let config = Flag("config", .text("FILE"), "the configuration file")
    static let contact = Flag("contact", .text("ID"), "the contact whose subjects are meant")
    static let dryRun = Flag("dry-run", .none, "count and find, write nothing")
    static let activity = Flag("activity", .text("NAME"), "the attribute that shows when a person was last seen")
    static let html = Flag("html", .text("FILE"), "also write a page for people: one file, no request to anywhere")
    static let rate = Flag("rate", .number("N", 1...1_000_000), "requests a second that the target's contract allows")
    static let checkpoint = Flag(
        "checkpoint",
        .number("SECONDS", 0...3600),
        "keep where it stands so often, every 2 unless said otherwise"
    )
    static let consentEvidence = Flag(
        "evidence",
        .text("FILE"),
        "write what became of each word about consent, for an auditor"
    )
    static let journal = Flag("journal", .text("FILE"), "keep the way back for `patchbay migrate undo`")
    static let restart = Flag("restart", .none, "begin anew, whatever an unfinished run has left")
    static let evidence = Flag(
        "evidence",
        .text("FOLDER"),
        "with --rules: take what a test run left there, and refresh the list that is built in"
    )
    static let faults = Flag("faults", .text("FILE"), "rules for faults, a JSON list")
    static let from = Flag("from", .text("FORMAT"), "the format that is read")
    static let help = Flag("help", .none, "show help")
    static let input = Flag("in", .text("FILE"), "read this file instead of standard input")
    static let json = Flag("json", .none, "write JSON, for programs")
    static let limit = Flag("limit", .number("N", 1...10_000_000), "at most so many, 100 unless said otherwise")
    static let log = Flag("log", .text("FILE"), "append a JSON line for each request")
    static let logLevel = Flag(
        "log",
        .text("LEVEL"),
        "tell standard error what happens, from this level on: \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))"
    )
    static let markdown = Flag("markdown", .none, "write the reference of all commands as Markdown")
    static let output = Flag("out", .text("FILE"), "write this file instead of standard output")
    static let outbox = Flag("outbox", .text("FILE"), "report what the configuration would do to this outbox")
    static let port = Flag("port", .number("N", 0...65_535), "the port to listen on, any free one unless given")
    static let provider = Flag("provider", .text("NAME"), "a provider of the configuration")
    static let rejects = Flag("rejects", .text("FILE"), "where rejected records go, with the reasons")
    static let replay = Flag("replay", .none, "capture each operation when the clock reaches its capturedAt")
    static let rules = Flag("rules", .none, "the vendors' rules, each with the tests that show it")
    static let sample = Flag(
        "sample",
        .number("N", 1...1_000_000),
        "look at so many contacts of each stratum, not at all"
    )
    static let seed = Flag("seed", .number("N", 0...1_000_000_000), "which contacts a sample has")
    static let size = Flag("size", .number("BYTES", 1...1_000_000_000_000), "most bytes of a file")
    static let target = Flag(
        "target",
        .text("FILE"),
        "the file that was written, an export of the target, or a door's verdicts"
    )
    static let settings = Flag("settings", .text("FILE"), "settings, a JSON object")
    static let subject = Flag("subject", .text("NAME"), "the subject of operations that name none")
    static let whose = Flag("subject", .text("NAME"), "the subject that is meant")
    static let to = Flag("to", .text("FORMAT"), "the format that is written, or a vendor's server door")
    static let untilIdle = Flag(
        "until-idle",
        .number("SECONDS", 0...604_800),
        "wait so long for what is pending, 30 unless said otherwise"
    )
    static let values = Flag("values", .none, "show what operations say, with people's data")
    static let vendor = Flag("vendor", .text("ID"), isRepeatable: true, "only this vendor; may stand several times")
    static let `where` = Flag("where", .text("EXPRESSION"), "which operations, such as \"kind=track older=30d\"")
    static let yes = Flag("yes", .none, "do it; without it the command only says what it would do")
    static let version = Flag("version", .none, "show the version")
}
