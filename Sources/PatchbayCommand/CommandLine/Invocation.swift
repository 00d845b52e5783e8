import PatchbayJSON

/// A parsed command line.
struct Invocation: Sendable {
    /// The command.
    let command: Command
    /// Positional arguments.
    let arguments: [String]
    private let values: [Flag: [String]]

    /// Whether an option was given.
    func has(_ flag: Flag) -> Bool { values[flag] != nil }

    /// The value of an option.
    func text(_ flag: Flag) -> String? { values[flag]?.last }

    /// The file that an option names; nil for none, and for standard input or output.
    func file(_ flag: Flag) -> String? { text(flag).flatMap { $0 == "-" ? nil : $0 } }

    /// The values of an option that may be repeated.
    func texts(_ flag: Flag) -> [String] { values[flag] ?? [] }

    /// The number after an option; parsing has checked its range.
    func number(_ flag: Flag) -> Int? { text(flag).flatMap { Int($0) } }

    /// The positional argument at an index.
    func argument(_ place: Int) -> String? { arguments.indices.contains(place) ? arguments[place] : nil }
}

/// A wrong command line, with every problem at once.
struct UsageError: Error, Equatable {
    /// The problems, each with its remedy.
    let problems: [String]
    /// The command that the line names, if known.
    let command: String?

    init(_ problems: [String], command: String? = nil) { (self.problems, self.command) = (problems, command) }

    init(_ problem: String, command: String? = nil) { self.init([problem], command: command) }
}

extension Invocation {
    /// Parses a command line, without the program's name.
    ///
    /// - Throws: ``UsageError`` with every problem.
    init(parsing line: [String], commands: [Command] = Command.all) throws(UsageError) {
        let (command, rest) = try Self.command(of: line, among: commands)
        var (values, arguments, problems) = ([Flag: [String]](), [String](), [String]())
        var words = rest[...]
        while let word = words.popFirst() {
            if word == "--" {
                arguments += words
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                arguments.append(word)
                continue
            }
            let parts = word.drop { $0 == "-" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = word == "-h" ? Flag.help.name : parts.first.map(String.init) ?? ""
            guard let flag = command.flags.first(where: { $0.name == name }), word == "-h" || word.hasPrefix("--")
            else {
                problems.append(Self.unknown(word, name, command))
                continue
            }
            let isNext = parts.count == 1 && words.first.map { !$0.hasPrefix("--") } == true
            switch flag.value {
            case .none where parts.count == 2: problems.append("Option --\(name) takes no value.")
            case .none: values[flag] = []
            case .text(let placeholder), .number(let placeholder, _):
                guard let value = parts.count == 2 ? String(parts[1]) : isNext ? words.popFirst() : nil, !value.isEmpty
                else {
                    problems.append("Option \(flag.usage) needs a value (\(flag.summary.loweredFirst)).")
                    continue
                }
                if case .number(_, let range) = flag.value, Int(value).map({ range.contains($0) }) != true {
                    let limits = "\(range.lowerBound) to \(range.upperBound)"
                    problems.append("Option --\(name): \(placeholder) must be a whole number from \(limits).")
                }
                if values[flag] != nil, !flag.isRepeatable {
                    problems.append("Option --\(name) is given twice. Keep one.")
                }
                values[flag, default: []].append(value)
            }
        }
        if values[.help] == nil {
            for flag in command.required
            where values[flag] == nil && !problems.contains(where: { $0.hasPrefix("Option --\(flag.name)") }) {
                problems.append("Option \(flag.usage) is missing (\(flag.summary.loweredFirst)).")
            }
            problems += Self.problems(of: arguments, command)
        }
        if !problems.isEmpty { throw UsageError(problems, command: command.name) }
        (self.command, self.arguments, self.values) = (command, arguments, values)
    }

    /// The command at the start of a line, and the rest of the line.
    private static func command(of line: [String], among commands: [Command]) throws(UsageError) -> (Command, [String])
    {
        let isCommand = { (command: Command) in line.starts(with: command.words) }
        if let command = commands.filter(isCommand).max(by: { $0.words.count < $1.words.count }) {
            return (command, Array(line.dropFirst(command.words.count)))
        }
        guard !line.isEmpty else { throw UsageError("No command is given.") }
        // The words that lead to a command; the next one is wrong or missing.
        var (group, depth) = (commands, 0)
        while depth < line.count {
            let next = group.filter { $0.words.count > depth + 1 && $0.words[depth] == line[depth] }
            if next.isEmpty { break }
            (group, depth) = (next, depth + 1)
        }
        let prefix = line.prefix(depth).joined(separator: " ")
        let word = line.dropFirst(depth).first ?? ""
        let known = group.reduce(into: [String]()) { names, command in
            if !names.contains(command.words[depth]) { names.append(command.words[depth]) }
        }
        let start = prefix.isEmpty ? "" : "\(prefix) "
        let guess = word.nearest(in: known).map { " Did you mean \"patchbay \(start)\($0)\"?" } ?? ""
        let what = word.isEmpty ? "\"\(prefix)\" needs a subcommand." : "Unknown command \"\(start)\(word)\"."
        throw UsageError(
            "\(what)\(guess) Commands: \(known.joined(separator: ", ")).",
            command: prefix.isEmpty ? nil : prefix
        )
    }

    private static func unknown(_ word: String, _ name: String, _ command: Command) -> String {
        let guess = name.nearest(in: command.flags.map(\.name)).map { " Did you mean --\($0)?" } ?? ""
        let known = command.flags.map { "--\($0.name)" }.joined(separator: ", ")
        return "Unknown option \(word.prefix { $0 != "=" }).\(guess) Options of \"\(command.name)\": \(known)."
    }

    private static func problems(of arguments: [String], _ command: Command) -> [String] {
        let missing = command.arguments.dropFirst(arguments.count).filter { !$0.isOptional }
        if !missing.isEmpty { return missing.map { "Argument \($0.name) is missing (\($0.summary.loweredFirst))." } }
        let extra = arguments.dropFirst(command.arguments.reduce(0) { $0 + $1.maximumWords })
        guard !extra.isEmpty else { return [] }
        let names = extra.map { "\"\($0)\"" }.joined(separator: ", ")
        return [
            "Unexpected argument\(extra.count == 1 ? "" : "s") \(names). Remove \(extra.count == 1 ? "it" : "them"). Usage: \(command.usage)"
        ]
    }
}

extension Int {
    /// The number with a noun, in the plural unless it is one: `1 record`, `2 records`.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension String {
    /// The text with its first letter in lower case, for the middle of a sentence.
    var loweredFirst: String { prefix(1).lowercased() + dropFirst() }
}
