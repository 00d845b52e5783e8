import Foundation

/// Help for a terminal, written from the tables of commands and options.
struct HelpText {
    /// The number of columns to wrap at.
    let width: Int

    init(width: Int) { self.width = min(max(width, 40), 120) }

    /// Help for the terminal at standard output: `COLUMNS`, else the width of the terminal, else 80 columns.
    init(environment: [String: String]) {
        self.init(width: Self.columns(of: STDOUT_FILENO, environment))
    }

    /// `COLUMNS`, else the width of the terminal at a descriptor, else 80 columns.
    static func columns(of descriptor: Int32, _ environment: [String: String]) -> Int {
        var size = winsize()
        let isTerminal = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return environment["COLUMNS"].flatMap(Int.init) ?? (isTerminal ? Int(size.ws_col) : 80)
    }

    // MARK: Pages

    /// The commands, grouped by task.
    var overview: String {
        let longest = Command.all.map(\.name.count).max() ?? 0
        let groups = Command.Task.allCases.map { task in
            let rows = Command.all.filter { $0.task == task }.map { ($0.name, $0.summary) }
            return section(task.rawValue, rows, longest: longest)
        }
        let intro = """
            Send customer data and events to any engagement vendor, switch vendors, and migrate contacts.

            Usage: patchbay COMMAND [OPTIONS] [ARGUMENTS]
            """
        let end = """
            Run `patchbay help COMMAND` for options, examples and exit status. `patchbay --version` prints the version.
            """
        return ([wrapped(intro)] + groups + [wrapped(end)]).joined(separator: "\n\n")
    }

    /// The help of one command.
    func text(of command: Command) -> String {
        var parts = [wrapped(command.summary), "Usage:\n\(usage(of: command))"]
        if !command.details.isEmpty { parts.append(wrapped(command.details)) }
        if !command.arguments.isEmpty {
            parts.append(section("Arguments", command.arguments.map { ($0.name, $0.summary) }))
        }
        parts += Self.topics(of: command).map { title, flags in
            section(title, flags.map { ($0.usage, command.description(of: $0)) })
        }
        let examples = command.examples.map { "  \($0.purpose):\n\(broken($0.line, indent: 4))" }
        parts.append("Examples:\n\(examples.joined(separator: "\n"))")
        parts.append(section("Exit status", command.exitStatuses))
        return parts.joined(separator: "\n\n")
    }

    /// The help of a group of commands, such as `migrate`.
    func text(ofGroup words: [String], _ commands: [Command]) -> String {
        let name = words.joined(separator: " ")
        return [
            "Usage:\n  patchbay \(name) COMMAND [OPTIONS] [ARGUMENTS]",
            section("Commands", commands.map { ($0.name, $0.summary) }),
            wrapped("Run `patchbay help \(name) COMMAND` for options, examples and exit status."),
        ].joined(separator: "\n\n")
    }

    /// The options of a command by heading: many options are grouped, required ones come first.
    private static func topics(of command: Command) -> [(String, [Flag])] {
        let rest = command.optional + [.help]
        let required = command.required.isEmpty ? [] : [("Required options", command.required)]
        guard rest.count > 7 else { return required + [("Options", rest)] }
        return required
            + Flag.Topic.allCases.compactMap { topic in
                let flags = rest.filter { $0.topic == topic }
                return flags.isEmpty ? nil : ("\(topic.rawValue) options", flags)
            }
    }

    /// Returns `help migrate` for `migrate --help`, if the words before `--help` name a group of commands; nil for any other
    /// line.
    static func askedForGroup(in line: [String]) -> [String]? {
        let words = Array(line.dropLast())
        guard let last = line.last, ["--help", "-h"].contains(last), !words.isEmpty,
            Command.all.contains(where: { $0.words.count > words.count && $0.words.starts(with: words) })
        else { return nil }
        return ["help"] + words
    }

    // MARK: Layout

    /// A heading and rows of a name and a description; descriptions are aligned and wrapped.
    private func section(_ title: String, _ rows: [(String, String)], longest: Int? = nil) -> String {
        let longest = longest ?? rows.map(\.0.count).max() ?? 0
        let column = min(longest, width < 60 ? 6 : 23) + 4
        let lines = rows.flatMap { name, description -> [String] in
            let text = self.lines(of: description, width: width - column)
            let fits = name.count <= column - 4
            let head = fits ? "  \(name.padded(to: column - 2))\(text.first ?? "")" : "  \(name)"
            return [head]
                + text.dropFirst(fits ? 1 : 0).map { String(repeating: " ", count: column) + $0 }
        }
        return "\(title):\n\(lines.joined(separator: "\n"))"
    }

    private func usage(of command: Command) -> String {
        let text = lines(of: command.usage, width: width - 2)
        return text.enumerated().map { ($0.offset == 0 ? "  " : "      ") + $0.element }.joined(separator: "\n")
    }

    /// Paragraphs, each wrapped; a line that begins with a space stays as it is.
    private func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).reduce(into: [String]()) { lines, line in
            if line.hasPrefix(" ") || line.isEmpty {
                lines.append(String(line))
            } else if let last = lines.last, !last.isEmpty, !last.hasPrefix(" ") {
                lines[lines.count - 1] += " \(line)"
            } else {
                lines.append(String(line))
            }
        }
        .flatMap { $0.hasPrefix(" ") || $0.isEmpty ? [$0] : lines(of: $0, width: width) }
        .joined(separator: "\n")
    }

    /// The lines of a paragraph.
    private func lines(of text: String, width: Int) -> [String] {
        text.split(separator: " ").reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }

    /// A command line, broken before an option where it is too long; the shell reads the lines as one.
    private func broken(_ line: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        let pieces = line.replacing(" --", with: "\n--").replacing(" | ", with: " |\n").split(separator: "\n")
            .flatMap { (piece: Substring) -> [Substring] in
                piece.count > width - indent - 6 ? piece.split(separator: " ") : [piece]
            }
        var lines: [String] = []
        for piece in pieces {
            let room = width - indent - (lines.count > 1 ? 4 : 0) - 2
            if let last = lines.last, last.count + 1 + piece.count <= room {
                lines[lines.count - 1] += " \(piece)"
            } else {
                lines.append(String(piece))
            }
        }
        return margin + lines.joined(separator: " \\\n\(margin)    ")
    }
}

extension HelpText {
    /// The reference of all commands, an article of the documentation.
    static var markdown: String {
        let groups = Command.Task.allCases.map { task in
            let commands = Command.all.filter { $0.task == task }.map(Self.markdown)
            return "## \(task.rawValue)\n\n\(commands.joined(separator: "\n\n"))"
        }
        return """
            # Command reference

            Every command of `patchbay`, with its options, examples and exit status.

            ## Overview

            `patchbay help --markdown` prints this page. The examples use the files in `Examples/Bookshop`. Data goes to
            standard output and messages go to standard error.

            | exit status | meaning |
            |---|---|
            \(rows(ExitStatus.table.map { ["\($0.code)", $0.meaning] }))

            \(groups.joined(separator: "\n\n"))
            """
    }

    private static func markdown(_ command: Command) -> String {
        let details = command.details.isEmpty ? "" : "\n\(blocks(command.details))\n"
        let options = command.flags.map {
            ["`\($0.usage)`", command.required.contains($0) ? "yes" : "", command.description(of: $0)]
        }
        let arguments = command.arguments.map { ["`\($0.name)`", $0.isOptional ? "" : "yes", $0.summary] }
        let examples = command.examples.map { "# \($0.purpose)\n\($0.line)" }
        let status = command.findings.map { "\nExit status 1: \($0).\n" } ?? ""
        return """
            ### patchbay \(command.name)

            \(command.summary).
            \(details)
            ```
            \(command.usage)
            ```

            | option | required | meaning |
            |---|---|---|
            \(rows(arguments + options))
            \(status)
            ```sh
            \(examples.joined(separator: "\n"))
            ```
            """
    }

    /// Paragraphs, with lines that begin with a space as code.
    private static func blocks(_ text: String) -> String {
        text.split(separator: "\n\n").map { $0.hasPrefix(" ") ? "```\n\($0)\n```" : "\($0)" }.joined(separator: "\n\n")
    }

    private static func rows(_ rows: [[String]]) -> String {
        rows.map { "| \($0.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |" }.joined(separator: "\n")
    }
}

extension String {
    /// The lines of the text on a terminal: broken at spaces, further lines with an indent.
    func wrapped(at width: Int) -> [String] {
        guard count > width, width > 20 else { return [self] }
        return split(separator: " ", omittingEmptySubsequences: false).reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(lines.isEmpty ? String(word) : "    \(word)")
            }
        }
    }

    /// The text, followed by spaces up to a number of characters.
    func padded(to width: Int) -> String { self + padding(to: width) }

    /// The text, preceded by spaces up to a number of characters, as numbers in a column are.
    func rightAligned(to width: Int) -> String { padding(to: width) + self }

    private func padding(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) }
}
