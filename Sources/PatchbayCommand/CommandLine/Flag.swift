import Patchbay

/// One option of the command line: parsing, help and the command reference read it.
struct Flag: Hashable, Sendable {
    /// The value that follows the option.
    enum Value: Hashable, Sendable {
        /// None.
        case none
        /// Text, with its placeholder.
        case text(String)
        /// A whole number in a range, with its placeholder.
        case number(String, ClosedRange<Int>)

        var placeholder: String? {
            switch self {
            case .none: nil
            case .text(let word), .number(let word, _): word
            }
        }
    }

    /// The heading under which the help of a command with many options shows it.
    enum Topic: String, CaseIterable {
        case input = "Input"
        case output = "Output"
        case general = "General"
    }

    /// The name, without its hyphens.
    let name: String
    /// The value that follows it.
    let value: Value
    /// Whether it may be given more than once.
    let isRepeatable: Bool
    /// The heading under which help shows it.
    let topic: Topic
    /// A short phrase that describes the effect.
    let summary: String
    /// The value that applies without it, where there is one.
    let fallback: String?

    private init(
        _ name: String,
        _ value: Value,
        _ summary: String,
        topic: Topic = .general,
        isRepeatable: Bool = false,
        default fallback: String? = nil
    ) {
        (self.name, self.value, self.isRepeatable, self.topic) = (name, value, isRepeatable, topic)
        (self.summary, self.fallback) = (summary, fallback)
    }

    /// The option as typed: `--config FILE`.
    var usage: String { "--\(name)" + (value.placeholder.map { " \($0)" } ?? "") }

    /// The summary with the default.
    var description: String {
        let repeats = isRepeatable ? "; may be repeated" : ""
        return summary + repeats + (fallback.map { " (default: \($0))" } ?? "")
    }

    static let after = Flag(
        "after",
        .text("FILE"),
        "Source file of an earlier run whose corrected rejects --in holds; its opt-outs remain in force",
        topic: .input
    )
    static let code = Flag("code", .text("CODE"), "Only operations rejected with this code")
    static let sidecar = Flag(
        "sidecar",
        .text("FILE"),
        "File that describes the columns of the source, or \"none\"",
        topic: .input,
        default: "the file beside the source, if there is one"
    )
    static let config = Flag("config", .text("FILE"), "Configuration file", topic: .input)
    static let contact = Flag("contact", .text("ID"), "Contact to erase, with all of its installations")
    static let erased = Flag("subject", .text("NAME"), "Installation or other subject to erase")
    static let dryRun = Flag("dry-run", .none, "Read, convert and count, but write no file")
    static let activity = Flag(
        "activity",
        .text("NAME"),
        "Attribute with the time a person was last seen, to report the age of push tokens",
        topic: .input
    )
    static let html = Flag("html", .text("FILE"), "Write the plan as a web page in a single file", topic: .output)
    static let rate = Flag(
        "rate",
        .number("N", 1...1_000_000),
        "Requests per second that the contract with the vendor allows",
        topic: .input,
        default: "the vendor's documented rate"
    )
    static let checkpoint = Flag(
        "checkpoint",
        .number("SECONDS", 0...3600),
        "Interval between checkpoints, from which an interrupted run resumes",
        default: "2"
    )
    static let consentEvidence = Flag(
        "evidence",
        .text("FILE"),
        "Record each consent value before and after the migration",
        topic: .output
    )
    static let journal = Flag("journal", .text("FILE"), "Record what `patchbay migrate undo` needs", topic: .output)
    static let restart = Flag("restart", .none, "Discard the progress of an interrupted run and start over")
    static let evidence = Flag(
        "evidence",
        .text("PATH"),
        "With --rules: the tests that show each rule, an NDJSON file such as `Tests/rule-evidence.ndjson` or a folder of them"
    )
    static let faults = Flag("faults", .text("FILE"), "Fault rules, a JSON array")
    static let from = Flag(
        "from",
        .text("FORMAT"),
        "Source format; `patchbay adapters` lists the formats",
        topic: .input
    )
    static let help = Flag("help", .none, "Show this help")
    static let input = Flag("in", .text("FILE"), "Input file", topic: .input, default: "standard input")
    static let json = Flag("json", .none, "Print JSON for scripts")
    static let limit = Flag("limit", .number("N", 1...10_000_000), "Maximum number of lines", default: "100")
    static let log = Flag("log", .text("FILE"), "Append one JSON object per request to FILE")
    static let logLevel = Flag(
        "log",
        .text("LEVEL"),
        "Log to standard error from this level on: \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))"
    )
    static let markdown = Flag("markdown", .none, "Print the reference of all commands as Markdown")
    static let output = Flag("out", .text("FILE"), "Output file", topic: .output, default: "standard output")
    static let undone = Flag(
        "out",
        .text("FILE"),
        "File for the result of each contact",
        topic: .output,
        default: "JOURNAL.undone"
    )
    static let parts = Flag(
        "out",
        .text("FILE"),
        "File name from which the parts are named",
        topic: .output,
        default: "FILE"
    )
    static let outbox = Flag("outbox", .text("FILE"), "Report what the configuration would do to this outbox")
    static let port = Flag("port", .number("N", 0...65_535), "Port to listen on", default: "a free port")
    static let provider = Flag("provider", .text("NAME"), "Provider, by its name in the configuration", topic: .input)
    static let rejects = Flag(
        "rejects",
        .text("FILE"),
        "Write rejected records to FILE, each with reason and remedy",
        topic: .output
    )
    static let maxRejects = Flag(
        "max-rejects",
        .number("PERCENT", 0...100),
        "Stop if more than PERCENT of the first 10,000 records, or of all records of a shorter source, are rejected",
        topic: .output,
        default: "50 from 100 records on"
    )
    static let replay = Flag("replay", .none, "Wait until the time in `capturedAt` before capturing each operation")
    static let rules = Flag("rules", .none, "List the vendors' rules, each with its source and the tests that show it")
    static let sample = Flag(
        "sample",
        .number("N", 1...1_000_000),
        "Compare only N contacts of each group",
        topic: .input,
        default: "all contacts"
    )
    static let seed = Flag("seed", .number("N", 0...1_000_000_000), "Seed of the sample", topic: .input, default: "1")
    static let size = Flag(
        "size",
        .number("BYTES", 1...1_000_000_000_000),
        "Maximum size of a part",
        default: "the limit that the vendor documents"
    )
    static let target = Flag(
        "target",
        .text("FILE"),
        "Migrated file, an export of the target, or the results of a migration to a server API",
        topic: .input
    )
    static let settings = Flag("settings", .text("FILE"), "Settings, a JSON object", topic: .input)
    static let subject = Flag("subject", .text("NAME"), "Subject of operations that name none")
    static let whose = Flag("subject", .text("NAME"), "Subject to look up")
    static let to = Flag(
        "to",
        .text("FORMAT"),
        "Target format, or the id of a server API (requires --config)",
        topic: .output
    )
    static let partFormat = Flag("to", .text("FORMAT"), "Format of FILE; `patchbay adapters` lists the formats")
    static let untilIdle = Flag(
        "until-idle",
        .number("SECONDS", 0...604_800),
        "Maximum time to wait for pending work",
        default: "30"
    )
    static let values = Flag("values", .none, "Show the values of operations, which are personal data")
    static let digestKeys = Flag("values", .none, "Name contacts by their keys, which are personal data")
    static let vendor = Flag(
        "vendor",
        .text("ID"),
        "Adapter to simulate",
        isRepeatable: true,
        default: "all adapters"
    )
    static let `where` = Flag("where", .text("EXPRESSION"), "Operations to select, such as \"kind=track older=30d\"")
    static let yes = Flag("yes", .none, "Apply the change", default: "only count")
    static let version = Flag("version", .none, "Show the version")
}
