/// One command: parsing, help and the command reference read it.
package struct Command: Sendable {
    /// A positional argument.
    struct Argument: Sendable {
        /// The placeholder that help shows.
        let name: String
        /// Whether it may be left out.
        let isOptional: Bool
        /// A noun phrase that describes the argument.
        let summary: String
        /// The maximum number of words that it takes.
        var maximumWords = 1

        static func required(_ name: String, _ summary: String) -> Argument {
            Argument(name: name, isOptional: false, summary: summary)
        }

        static func optional(_ name: String, _ summary: String, maximumWords: Int = 1) -> Argument {
            Argument(name: name, isOptional: true, summary: summary, maximumWords: maximumWords)
        }

        var usage: String { isOptional ? "[\(name)]" : name }
    }

    /// The task by which the overview groups commands.
    enum Task: String, CaseIterable {
        case attempt = "Try"
        case send = "Send"
        case inspect = "Inspect"
        case migrate = "Migrate"
        case develop = "Develop"
    }

    /// A command line that help shows. A test runs each in a copy of `Examples/Bookshop`.
    struct Example: Sendable {
        /// The purpose, in the imperative.
        let purpose: String
        /// The complete command line.
        let line: String

        init(_ purpose: String, _ line: String) { (self.purpose, self.line) = (purpose, line) }
    }

    /// The words of the command: `outbox`, `list`.
    let words: [String]
    /// A summary of one line, in the imperative.
    let summary: String
    /// The task that it belongs to.
    let task: Task
    /// More about it: paragraphs with an empty line between. A line that begins with two spaces is not wrapped.
    let details: String
    /// Positional arguments, in order; optional ones last.
    let arguments: [Argument]
    /// Options that must be given.
    let required: [Flag]
    /// Options that may be given.
    let optional: [Flag]
    /// The meaning of exit status 1; nil if the command never ends with it.
    let findings: String?
    /// At least two examples.
    let examples: [Example]
    /// Runs the command.
    let run: @MainActor @Sendable (Session) async throws -> ExitStatus

    init(
        _ words: String,
        _ summary: String,
        task: Task,
        details: String = "",
        arguments: [Argument] = [],
        required: [Flag] = [],
        optional: [Flag] = [],
        findings: String? = nil,
        examples: [Example],
        run: @escaping @MainActor @Sendable (Session) async throws -> ExitStatus
    ) {
        self.words = words.split(separator: " ").map(String.init)
        (self.summary, self.task, self.details, self.arguments) = (summary, task, details, arguments)
        (self.required, self.optional, self.findings, self.examples) = (required, optional, findings, examples)
        self.run = run
    }

    /// Every command, in the order of help.
    static let all: [Command] = [
        sandbox, check, map, shadow, send, erase, rejectsReplay, outboxRetarget, outboxClear, adapters, compare,
        outboxStats, outboxList, outboxVerify, outboxConsent, outboxShadow, rejectsList, rejectsExport, quarantineList,
        migratePlan, migrateApply, migrateVerify, migrateUndo, migrateSplit, simulate, faults, help,
    ]

    /// The command as typed, without the program's name: `outbox list`.
    var name: String { words.joined(separator: " ") }

    /// Every option, the required ones first.
    var flags: [Flag] { required + optional + [.help] }

    /// The description of one of its options. A required option has no default.
    func description(of flag: Flag) -> String { required.contains(flag) ? flag.summary : flag.description }

    /// The exit statuses that it can end with.
    var exitStatuses: [(code: String, meaning: String)] {
        let isConfigured = flags.contains { [.config, .settings].contains($0) } || name == "simulate"
        return ExitStatus.table(findings: findings, isConfigured: isConfigured)
    }

    /// The command line in short: required options, `[OPTIONS]`, and arguments.
    var usage: String {
        let parts = ["patchbay", name] + required.map(\.usage) + ["[OPTIONS]"] + arguments.map(\.usage)
        return parts.joined(separator: " ")
    }
}
