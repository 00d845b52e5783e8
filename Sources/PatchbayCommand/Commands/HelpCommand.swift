import Patchbay

extension Command {
    static let help = Command(
        "help",
        "tells more of a command",
        arguments: [.optional("COMMAND"), .optional("WORD"), .optional("WORD")],
        optional: [.markdown]
    ) { session in
        guard !session.invocation.has(.markdown) else {
            try session.console.data(HelpText.markdown)
            return .fine
        }
        let words = session.invocation.arguments
        let commands = Command.all.filter { $0.words.starts(with: words) }
        switch (words.isEmpty, commands.count) {
        case (true, _): try session.console.data(HelpText.overview)
        case (_, 0):
            // Says which commands there are, and which was meant.
            _ = try Invocation(parsing: words)
        default: try session.console.data(commands.map(HelpText.text).joined(separator: "\n\n"))
        }
        return .fine
    }
}
