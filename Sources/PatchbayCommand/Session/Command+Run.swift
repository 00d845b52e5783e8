import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayMigration
import PatchbayOutbox
import PatchbaySandbox

extension Command {
    /// The program's version.
    static let version = "0.1.0"

    /// Understands a command line, runs it, and says how it ended.
    @MainActor static func run(_ line: [String]) async -> ExitStatus {
        let environment = ProcessInfo.processInfo.environment
        let (console, interruption) = (Console(environment: environment), Interruption())
        let listener = SignalListener(interruption)
        defer { withExtendedLifetime(listener) {} }
        do {
            let status = try await status(of: line, console, interruption, environment)
            try console.flush()
            return interruption.signalNumber.map(ExitStatus.signal) ?? status
        } catch {
            return report(error, to: console)
        }
    }

    @MainActor private static func status(
        of line: [String],
        _ console: Console,
        _ interruption: Interruption,
        _ environment: [String: String]
    ) async throws -> ExitStatus {
        switch line.first {
        case "--version":
            try console.data("patchbay \(version)")
            return .fine
        case "--help", "-h":
            try console.data(HelpText.overview)
            return .fine
        default: break
        }
        let invocation = try Invocation(parsing: HelpText.askedForGroup(in: line) ?? line)
        guard !invocation.has(.help) else {
            try console.data(HelpText.text(of: invocation.command))
            return .fine
        }
        let session = Session(
            invocation: invocation,
            console: console,
            interruption: interruption,
            environment: environment
        )
        return try await invocation.command.run(session)
    }

    /// Says what went wrong and chooses the status that scripts see.
    @MainActor private static func report(_ error: any Error, to console: Console) -> ExitStatus {
        switch error {
        case let error as UsageError:
            for problem in error.problems { console.say("patchbay: \(problem)", .red) }
            console.say("`patchbay help\(error.command.map { " \($0)" } ?? "")` tells more.")
            return .usage
        case let error as ConfigurationError:
            console.say(error.description, .red)
            return .configuration
        case let error as SettingsError:
            for finding in error.findings { console.say("patchbay: \(finding)", .red) }
            return .configuration
        case let error as SwitchRefusal:
            console.say("patchbay: \(error)", .red)
            return .configuration
        case let error as FileError where error.isBrokenPipe:
            return .signal(SIGPIPE)
        case let error as FileError: console.say("patchbay: \(error)", .red)
        case let error as OutboxError: console.say("patchbay: \(error)", .red)
        case let error as SandboxError: console.say("patchbay: \(error)", .red)
        case let error as CaptureError: console.say("patchbay: \(error)", .red)
        case let error as Migration.Failure: console.say("patchbay: \(error)", .red)
        default: console.say("patchbay: an error of a kind that nobody expected: \(type(of: error)).", .red)
        }
        return .failed
    }
}
