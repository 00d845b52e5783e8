import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayMigration
import PatchbayOutbox

extension Command {
    /// Parses and runs a command line.
    ///
    /// - Returns: The exit status of the process.
    @MainActor package static func run(_ line: [String]) async -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        let console = Console(environment: environment)
        var command: Command?
        do {
            let invocation = try invocation(of: line, console, HelpText(environment: environment))
            command = invocation?.command
            let interruption = Interruption()
            let listener = SignalListener(interruption)
            defer { withExtendedLifetime(listener) {} }
            var status = ExitStatus.fine
            if let invocation {
                let session = Session(
                    invocation: invocation,
                    console: console,
                    interruption: interruption,
                    environment: environment
                )
                status = try await invocation.command.run(session)
            }
            try console.flush()
            return (interruption.signalNumber.map(ExitStatus.signal) ?? status).code
        } catch {
            return report(error, of: command, to: console).code
        }
    }

    /// The parsed line; nil after printing help or the version, if the line asked for it.
    @MainActor private static func invocation(of line: [String], _ console: Console, _ help: HelpText) throws
        -> Invocation?
    {
        switch line.first {
        case "--version":
            try console.data("patchbay \(Sender.version)")
            return nil
        case "--help", "-h", nil:
            try console.data(lines: help.overview)
            return nil
        default: break
        }
        let invocation = try Invocation(parsing: HelpText.askedForGroup(in: line) ?? line)
        guard invocation.has(.help) else { return invocation }
        try console.data(lines: help.text(of: invocation.command))
        return nil
    }

    /// Prints an error and returns its exit status.
    @MainActor private static func report(_ error: any Error, of command: Command?, to console: Console) -> ExitStatus {
        switch error {
        case let error as UsageError:
            for problem in error.problems { console.say("patchbay: \(problem)", .red) }
            let name = error.command ?? command?.name
            let page = name == "help" ? "" : " help\(name.map { " \($0)" } ?? "")"
            console.say("Run `patchbay\(page)` for \(page.isEmpty ? "the list of commands" : "usage and examples").")
            return .usage
        case let error as ConfigurationError:
            console.say(lines: error.description, .red)
            return .configuration
        case let error as SettingsFileError:
            for finding in error.findings { console.say(finding, at: error.file) }
            return .configuration
        case let error as SettingsError:
            for finding in error.findings { console.say("patchbay: \(finding.sentence)", .red) }
            return .configuration
        case let error as SwitchRefusal:
            console.say(lines: "patchbay: \(error)", .red)
            return .configuration
        case let error as FileError where error.isBrokenPipe:
            return .signal(SIGPIPE)
        case let error as FileError: console.say("patchbay: \(error)", .red)
        case let error as OutboxError: console.say("patchbay: \(error)", .red)
        case let error as CommandFailure: console.say(lines: "patchbay: \(error)", .red)
        case let error as CaptureError: console.say(lines: "patchbay: \(error)", .red)
        case let error as Migration.Failure:
            for finding in error.findings { console.say("patchbay: \(finding.sentence)", .red) }
        default: console.say("patchbay: unexpected error of type \(type(of: error)). Please report it.", .red)
        }
        return .failed
    }
}
