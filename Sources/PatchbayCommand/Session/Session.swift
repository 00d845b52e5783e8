import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbaySimulation

/// One run of the program: the command line and its surroundings.
@MainActor struct Session {
    /// The parsed command line.
    let invocation: Invocation
    /// Receives data and messages.
    let console: Console
    /// The signals that ask the program to stop.
    let interruption: Interruption
    /// The environment variables.
    let environment: [String: String]

    /// Whether `--json` was given.
    var isJSON: Bool { invocation.has(.json) }

    /// The system's clock and identifiers, or a host whose clock `PATCHBAY_CLOCK` sets for demonstrations.
    func host() throws -> any EngineHost {
        guard let text = environment["PATCHBAY_CLOCK"] else { return SystemHost() }
        do {
            return try FastHost(json: JSONValue(parsing: text))
        } catch {
            throw SettingsError([SessionFinding.notClock.at()])
        }
    }

    /// The configuration that `--config` names. Prints its warnings.
    func configuration() throws -> Configuration {
        let configuration = try loadConfiguration(invocation.text(.config) ?? "")
        for finding in configuration.findings { console.say(finding, at: invocation.text(.config) ?? "") }
        return configuration
    }

    /// Reads a configuration. The given variables take precedence over the environment's.
    ///
    /// - Throws: ``FileError`` if the file cannot be read, and ``ConfigurationError``.
    func loadConfiguration(_ path: String, with variables: [String: String] = [:]) throws -> Configuration {
        try load(FileSource.contents(of: path), path, variables)
    }

    /// Reads a configuration that is part of another file.
    func configuration(_ json: JSONValue, of path: String, with variables: [String: String])
        throws(ConfigurationError) -> Configuration
    {
        try load(Array(json.prettyText.utf8), path, variables)
    }

    private func load(_ bytes: [UInt8], _ path: String, _ variables: [String: String]) throws(ConfigurationError)
        -> Configuration
    {
        let environment = environment.merging(variables) { _, own in own }
        return try .load(bytes: bytes, path: path, environment: environment, modules: Vendors.modules)
    }

    /// The provider that `--provider` names.
    func provider(of configuration: Configuration) throws(UsageError) -> Configuration.Provider {
        let name = invocation.text(.provider) ?? ""
        if let provider = configuration.provider(name) { return provider }
        let known = configuration.providers.map(\.name)
        let guess = name.nearest(in: known).map { " Did you mean \"\($0)\"?" } ?? ""
        throw UsageError(
            "--provider: the configuration has no provider \"\(name)\".\(guess) Providers: \(known.joined(separator: ", "))."
        )
    }

    /// The JSON object in the file that an option names; empty without the option.
    func object(_ flag: Flag) throws -> JSONObject {
        guard let path = invocation.text(flag) else { return [:] }
        return try object(FileSource.contents(of: path), from: path)
    }

    /// Parses bytes as a JSON object; errors name `place`.
    func object(_ bytes: [UInt8], from place: String) throws -> JSONObject {
        guard let object = try json(bytes, from: place).object else {
            throw SettingsFileError(file: place, findings: [SessionFinding.notAnObject.at()])
        }
        return object
    }

    /// The JSON value in a file.
    func json(_ path: String) throws -> JSONValue { try json(FileSource.contents(of: path), from: path) }

    private func json(_ bytes: [UInt8], from place: String) throws -> JSONValue {
        do {
            return try JSONValue(parsing: bytes.withoutByteOrderMark)
        } catch {
            throw SettingsFileError(file: place, findings: [SessionFinding.notJSON.at(detail: error.description)])
        }
    }

    /// Opens a file; nil or `-` is standard input.
    func source(_ path: String?, chunk: Int = FileSource.chunk) throws(FileError) -> PatientSource {
        guard let path, path != "-" else {
            if isatty(STDIN_FILENO) == 1 { console.say("Reading from standard input. Press Ctrl-D to end.") }
            return PatientSource(try .standardInput(chunk: chunk), waiting: interruption)
        }
        return PatientSource(try FileSource(path: path, chunk: chunk), waiting: nil)
    }
}

/// Problems in a settings file.
struct SettingsFileError: Error {
    /// The file, as the command line names it.
    let file: String
    /// The problems. Paths are JSON paths in the file.
    let findings: [Finding]
}

extension Session {
    /// An error with problems in the file that `--settings` names.
    func settingsError(_ findings: [Finding]) -> any Error {
        if let file = invocation.text(.settings) { return SettingsFileError(file: file, findings: findings) }
        return SettingsError(
            findings.map { finding in
                let names = finding.path.split(separator: ".")
                guard names.count == 2, ["from", "to"].contains(names[0]) else { return finding }
                var finding = finding
                finding.remedy +=
                    " Write {\"\(names[0])\": {\"\(names[1])\": …}} in a file and name it with --settings."
                return finding
            }
        )
    }
}

/// Problems of settings files.
enum SessionFinding {
    static let notAnObject = FindingRow(
        .error("settings.object", .invalid),
        reason: "The file does not hold a JSON object",
        remedy: "Write {…}."
    )
    static let notScenario = FindingRow(
        .error("scenario.invalid", .invalid),
        reason: "The file is not a valid scenario",
        remedy: "Correct the value at this path."
    )
    static let notClock = FindingRow(
        .error("clock.invalid", .invalid),
        reason: "PATCHBAY_CLOCK does not describe a clock",
        remedy: "Write {\"date\": \"2031-03-09T06:00:00Z\", \"speed\": 600}."
    )
    static let tooLong = FindingRow(
        .error("settings.tooLong", .invalid),
        reason: "The settings are too long",
        remedy: "Pass settings here, and contacts with --in."
    )
    static let notJSON = FindingRow(
        .error("settings.syntax", .invalid),
        reason: "The file is not JSON",
        remedy: "Correct the text at this position."
    )
}

/// A file, or standard input that Ctrl-C can interrupt.
struct PatientSource: ByteSource {
    private var source: FileSource
    private let interruption: Interruption?

    init(_ source: FileSource, waiting interruption: Interruption?) {
        (self.source, self.interruption) = (source, interruption)
    }

    /// The number of bytes in the whole file, if it is known.
    var size: Int? { source.size }
    var textSize: Int? { source.textSize }

    var name: String { source.name }
    var rereadablePath: String? { source.rereadablePath }
    var head: [UInt8] { source.head }

    func change() throws(FileError) -> Finding? { try source.change() }

    mutating func next() throws(FileError) -> [UInt8]? {
        interruption?.waitForInput()
        return interruption?.signalNumber == nil ? try source.next() : nil
    }
}
