import Patchbay

extension Command {
    static let help = Command(
        "help",
        "Show the help of a command",
        task: .develop,
        arguments: [
            .optional(
                "COMMAND",
                "Command such as \"migrate apply\", or a group such as \"migrate\"",
                maximumWords: 3
            )
        ],
        optional: [.markdown],
        examples: [
            Example("Show the help of a command", "patchbay help migrate apply"),
            Example("List the commands of a group", "patchbay help outbox"),
        ]
    ) { session in
        guard !session.invocation.has(.markdown) else {
            try session.console.data(lines: HelpText.markdown)
            return .fine
        }
        let (words, help) = (session.invocation.arguments, HelpText(environment: session.environment))
        let commands = Command.all.filter { $0.words.starts(with: words) }
        switch (words.isEmpty, commands.count) {
        case (true, _): try session.console.data(lines: help.overview)
        case (_, 0):
            // Throws an error that lists the commands and suggests one.
            _ = try Invocation(parsing: words)
        case (_, 1): try session.console.data(lines: help.text(of: commands[0]))
        default: try session.console.data(lines: help.text(ofGroup: words, commands))
        }
        return .fine
    }
}
