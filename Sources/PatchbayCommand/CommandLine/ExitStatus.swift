/// How the program ends, for the shell.
enum ExitStatus: Equatable {
    /// All is well.
    case fine
    /// It was done, and something was found or rejected.
    case findings
    /// It could not be done.
    case failed
    /// The command line is wrong.
    case usage
    /// The configuration, or a file of settings, is wrong.
    case configuration
    /// A signal ended it; what was promised is kept.
    case signal(Int32)

    /// The number that the shell sees.
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

    /// The numbers with their meanings, for help and README.
    static let table: [(code: String, meaning: String)] = [
        ("0", "all is well"),
        ("1", "done, and something was found, rejected or is still pending"),
        ("2", "it could not be done"),
        ("64", "the command line is wrong"),
        ("78", "the configuration, or a file of settings, is wrong"),
        ("128+n", "ended by signal n (130 is Ctrl-C); what was promised is kept"),
    ]
}
