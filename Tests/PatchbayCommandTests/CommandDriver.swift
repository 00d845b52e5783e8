import Foundation
import PatchbayJSON
import Testing

/// A test driver with its own folder that runs the built command.
final class CommandDriver: Sendable {
    let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The built command, which is located beside the test bundle.
    static let command: URL = {
        let bundles = Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
        let executable = URL(filePath: ProcessInfo.processInfo.arguments[0])
        return (bundles.first ?? executable).deletingLastPathComponent().appending(path: "patchbay")
    }()

    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns a file of the repository's examples.
    static func example(_ name: String) throws -> String {
        try String(contentsOf: repository.appending(path: "Examples/Data/\(name)"), encoding: .utf8)
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    @discardableResult
    func write(_ name: String, _ content: some Sequence<UInt8>) throws -> String {
        try Data(content).write(to: URL(filePath: path(name)))
        return path(name)
    }

    @discardableResult
    func write(_ name: String, _ content: String) throws -> String { try write(name, content.utf8) }

    func read(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    /// Writes the example configuration into the folder.
    func configuration() throws -> String { try write("one.json", CommandDriver.example("one-provider.json")) }

    /// Starts the command in this folder.
    func start(_ arguments: [String], input: String? = nil, sandbox: String = "http://127.0.0.1:9") throws -> CommandRun
    {
        try CommandRun(
            Self.command,
            arguments,
            in: self,
            input: try input.map { URL(filePath: try write("input", $0)) },
            environment: Self.environment.merging(["SANDBOX": sandbox]) { _, new in new }
        )
    }

    /// The example's variables, and a clock that passes ten minutes per second.
    private static let environment = [
        "SANDBOX": "http://127.0.0.1:9",
        "ACCESS_TOKEN": "abcdefghijklmnopqrstuvwx",
        "PATCHBAY_CLOCK": "{\"date\": \"2031-03-09T06:00:00Z\", \"speed\": 600}",
    ]

    /// Runs the command until it exits.
    func run(_ arguments: String..., input: String? = nil, sandbox: String = "http://127.0.0.1:9") async throws
        -> CommandRun.Result
    {
        try await start(arguments, input: input, sandbox: sandbox).result()
    }

    /// Runs a shell command line until it exits. `$PATCHBAY` is the command or the given program.
    func shell(_ line: String, command: URL = command) async throws -> CommandRun.Result {
        let environment = Self.environment.merging(["PATCHBAY": command.path]) { _, new in new }
        return try await CommandRun(
            URL(filePath: "/bin/bash"),
            ["-c", line],
            in: self,
            input: nil,
            environment: environment
        ).result()
    }
}

/// One run of the command. Output goes to files, so that no pipe can fill up.
final class CommandRun: Sendable {
    struct Result: Sendable {
        let status: Int32
        let output: String
        let messages: String

        /// The lines of standard output as JSON.
        var lines: [JSONValue] {
            get throws { try output.split(separator: "\n").map { try JSONValue(parsing: String($0)) } }
        }
    }

    private let process: ChildProcess
    private let output: URL
    private let messages: URL

    init(
        _ executable: URL,
        _ arguments: [String],
        in driver: CommandDriver,
        input: URL?,
        environment: [String: String]
    ) throws {
        let name = UUID().uuidString
        output = FileManager.default.temporaryDirectory.appending(path: "\(name).out")
        messages = FileManager.default.temporaryDirectory.appending(path: "\(name).err")
        process = try ChildProcess(
            executable.path,
            arguments,
            in: driver.folder,
            environment: Self.usual.merging(environment) { _, new in new },
            input: input?.path ?? "/dev/null",
            output: output.path,
            messages: messages.path
        )
    }

    /// The environment of every program, with the sanitizer options of this one.
    private static let usual = ProcessInfo.processInfo.environment.filter {
        $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "LD_PRELOAD"
    }
    .merging(["PATH": "/usr/bin:/bin"]) { _, new in new }

    deinit { for file in [output, messages] { try? FileManager.default.removeItem(at: file) } }

    /// Waits for the end.
    func result() async throws -> Result {
        while true {
            guard let status = try process.status() else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            return Result(
                status: status,
                output: try String(contentsOf: output, encoding: .utf8),
                messages: try String(contentsOf: messages, encoding: .utf8)
            )
        }
    }

    /// Waits for the first whole line on standard output.
    func firstLine() async throws -> String {
        while try process.status() == nil {
            let text = try String(contentsOf: output, encoding: .utf8)
            if let end = text.firstIndex(of: "\n") { return String(text[..<end]) }
            try await Task.sleep(for: .milliseconds(5))
        }
        return try #require(nil as String?, "The command ended without a line.")
    }

    func send(_ signal: Int32) { process.send(signal) }
}
