/// The exit status of the program.
enum ExitStatus: Equatable {
    /// Success.
    case fine
    /// Completed, with findings, rejects or pending work.
    case findings
    /// Failed.
    case failed
    /// The command line is wrong.
    case usage
    /// The configuration or a settings file is invalid.
    case configuration
    /// A signal ended the program; stored work is kept.
    case signal(Int32)

    /// The number that the shell receives.
    var code: Int32 {
        switch self {
        case .fine: 0
        case .findings: 1
        case .failed: 2
        case .usage: 64
        case .configuration: 78
        case .signal(let number): 128 + number
        }
    }

    /// The numbers with their meanings.
    static let table: [(code: String, meaning: String)] = table(findings: "completed, with findings or rejects")

    /// The numbers with their meanings, for one command.
    ///
    /// - Parameters:
    ///   - findings: The meaning of status 1; nil leaves it out.
    ///   - isConfigured: Whether the command reads a configuration or settings.
    /// - Returns: The rows, by number.
    static func table(findings: String?, isConfigured: Bool = true) -> [(code: String, meaning: String)] {
        [("0", "success")] + (findings.map { [("1", $0)] } ?? []) + [
            ("2", "failed, for example because a file cannot be read"),
            ("64", "wrong usage"),
        ] + (isConfigured ? [("78", "invalid configuration or settings")] : []) + [
            ("128+n", "ended by signal n, such as 130 for Ctrl-C; stored work is kept")
        ]
    }
}
