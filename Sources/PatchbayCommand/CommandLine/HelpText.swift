/// Help and reference, written from the tables of commands and flags.
enum HelpText {
    /// What the program is and which commands it has.
    static var overview: String {
        let width = Command.all.map(\.name.count).max() ?? 0
        let commands = Command.all.map { "  \($0.name.padded(to: width))  \($0.summary)" }
        return """
            One model, any engagement vendor: look inside, send, and move contacts.

            usage: patchbay COMMAND [FLAGS] [FILE]

            \(commands.joined(separator: "\n"))

            Data goes to standard output, one JSON object a line where programs read it; talk goes to standard error.
            `patchbay help COMMAND` tells more of one.

            exit status
            \(exitStatus)
            """
    }

    /// One command with its flags.
    static func text(of command: Command) -> String {
        let width = command.flags.map(\.usage.count).max() ?? 0
        let flags = command.flags.map { "  \($0.usage.padded(to: width))  \($0.summary)" }
        let details = command.details.isEmpty ? "" : "\(command.details)\n\n"
        return """
            \(command.summary)

            usage: \(command.usage)

            \(details)flags
            \(flags.joined(separator: "\n"))
            """
    }

    /// The line that asks for help on a word that leads to several commands, where it is asked for behind that word:
    /// `help migrate` for `migrate --help`; nil for any other line.
    static func askedForGroup(in line: [String]) -> [String]? {
        let words = Array(line.dropLast())
        guard let last = line.last, ["--help", "-h"].contains(last), !words.isEmpty,
            Command.all.contains(where: { $0.words.count > words.count && $0.words.starts(with: words) })
        else { return nil }
        return ["help"] + words
    }

    /// Every command with its flags, for the README.
    static var markdown: String {
        let overview = Command.all.map { "| `patchbay \($0.name)` | \($0.summary) |" }
        let sections = Command.all.map { command in
            let flags = command.flags.map { flag in
                "| `\(flag.usage)` | \(command.required.contains(flag) ? "yes" : "no") | \(flag.summary) |"
            }
            let details = command.details.isEmpty ? "" : "\n\(command.details)\n"
            return """
                ### patchbay \(command.name)

                \(command.summary)
                \(details)
                ```
                \(command.usage)
                ```

                | flag | needed | meaning |
                |---|---|---|
                \(flags.joined(separator: "\n"))
                """
        }
        let statuses = ExitStatus.table.map { "| \($0.code) | \($0.meaning) |" }
        return """
            | command | does |
            |---|---|
            \(overview.joined(separator: "\n"))

            | exit status | meaning |
            |---|---|
            \(statuses.joined(separator: "\n"))

            \(sections.joined(separator: "\n\n"))
            """
    }

    private static var exitStatus: String {
        let width = ExitStatus.table.map(\.code.count).max() ?? 0
        return ExitStatus.table.map { "  \($0.code.padded(to: width))  \($0.meaning)" }.joined(separator: "\n")
    }
}

extension String {
    /// The text with spaces behind it, up to a width in letters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
