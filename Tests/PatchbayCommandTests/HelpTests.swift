import Foundation
import PatchbayJSON
import Testing

@Suite("Help") struct HelpTests {
    private let driver: CommandDriver
    init() throws { driver = try CommandDriver() }

    private func help(_ words: String, columns: Int = 100) async throws -> String {
        let result = try await driver.shell("COLUMNS=\(columns) \"$PATCHBAY\" help \(words)")
        #expect(result.status == 0)
        return result.output
    }

    /// The commands that the overview lists.
    private func commands() async throws -> [String] {
        try await help("").split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/^  (\w+( \w+)*)  /#).map { String($0.1) }
        }
    }

    /// The lines of a section of a help text.
    private func section(_ title: String, of text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false).drop { $0 != "\(title):" }.dropFirst()
            .prefix { $0.hasPrefix(" ") }
    }

    /// The command lines that a help text shows as examples.
    private func examples(in text: String) -> [String] {
        section("Examples", of: text).filter { $0.hasPrefix("    ") }.joined(separator: "\n")
            .replacing(" \\\n", with: " ").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func `the command without arguments prints the overview, grouped by task`() async throws {
        let alone = try await driver.run()
        #expect(alone.status == 0)
        for task in ["Try", "Send", "Inspect", "Migrate", "Develop"] { #expect(alone.output.contains("\n\(task):\n")) }
        for line in alone.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        for arguments in [["--help"], ["-h"], ["help"]] {
            #expect(try await driver.start(arguments).result().output == alone.output)
        }
    }

    @Test func `the help of each command has every section and fits the terminal width`() async throws {
        for command in try await commands() {
            for columns in [60, 80] {
                let text = try await help(command, columns: columns)
                for line in text.split(separator: "\n") { #expect(line.count <= columns, "\(command): \(line)") }
            }
            let text = try await help(command)
            #expect(text.contains("\nUsage:\n  patchbay \(command)"))
            #expect(text.contains("\n  --help"))
            #expect(examples(in: text).count >= 2, "\(command) has too few examples")
            #expect(section("Exit status", of: text).count >= 4)
            let flagged = try await driver.shell("COLUMNS=100 \"$PATCHBAY\" \(command) --help")
            #expect(flagged.output == text)
        }
    }

    @Test(arguments: ["migrate", "outbox", "outbox rejects"])
    func `the help of a group lists its commands`(_ group: String) async throws {
        let text = try await help(group)
        #expect(section("Commands", of: text).count > 1)
        #expect(try await driver.shell("COLUMNS=100 \"$PATCHBAY\" \(group) --help").output == text)
    }

    @Test func `every example of the help runs`() async throws {
        let shop = try await Bookshop(driver)
        for command in try await commands() {
            let text = try await help(command)
            let mayFind = section("Exit status", of: text).contains { $0.hasPrefix("  1 ") }
            for example in examples(in: text) {
                let result = try await shop.run(example)
                let allowed: [Int32] = command == "sandbox" ? [143] : mayFind ? [0, 1] : [0]
                #expect(allowed.contains(result.status), "\(example) ended with \(result.status): \(result.messages)")
            }
        }
        try await shop.close()
    }

    @Test func `the command reference in the documentation is up to date`() async throws {
        let file = CommandDriver.repository.appending(path: "Sources/Patchbay/Documentation.docc/CommandReference.md")
        let reference = try await driver.run("help", "--markdown").output
        #expect(
            try String(contentsOf: file, encoding: .utf8) == reference,
            "Run `python3 Tests/EndToEnd/check_readme.py --write`."
        )
    }
}

/// A folder with the files of `Examples/Bookshop` and those that its commands write, and a sandbox for its providers.
private final class Bookshop: Sendable {
    private let driver: CommandDriver
    private let sandbox: CommandRun

    private static let source = "--from salesforce.contacts --in contacts.csv"
    private static let migration = """
        patchbay migrate apply \(source) --to altcraft.profiles --settings migration.json --out profiles.ndjson \
            --journal journal.json
        """

    init(_ driver: CommandDriver) async throws {
        self.driver = driver
        let example = CommandDriver.repository.appending(path: "Examples/Bookshop")
        try FileManager.default.copyItem(atPath: example.path, toPath: driver.path("shop"))
        sandbox = try driver.start(["sandbox", "--settings", "shop/sandbox.json"])
        let url = try #require(JSONValue(parsing: try await sandbox.firstLine())["url"]?.string)
        for file in try FileManager.default.contentsOfDirectory(atPath: driver.path("shop")) {
            try driver.write("shop/\(file)", driver.read("shop/\(file)").replacing("http://127.0.0.1:8731", with: url))
        }
        let prepared = try await line(
            """
            patchbay send --config shadow.json operations.ndjson
            echo '{"action": {"kind": "readBack"}}' | patchbay send --config salesforce.json --subject phone-1
            patchbay send --config salesforce.json --subject phone-1 --until-idle 0 event.ndjson
            patchbay outbox rejects export outbox.sqlite rejects.ndjson
            \(Self.migration)
            patchbay migrate apply \(Self.source) --to altcraft-server --config server.json --out results.ndjson \
                --journal server-journal.json
            """,
            in: "shop"
        )
        #expect(prepared.messages.ranges(of: "patchbay: ").isEmpty, "\(prepared.messages)")
        // A journal names files by their absolute paths, so every example runs in the folder that was prepared.
        try FileManager.default.copyItem(atPath: driver.path("shop"), toPath: driver.path("prepared"))
    }

    /// Runs an example in the folder as it was prepared.
    func run(_ example: String) async throws -> CommandRun.Result {
        try FileManager.default.removeItem(atPath: driver.path("shop"))
        try FileManager.default.copyItem(atPath: driver.path("prepared"), toPath: driver.path("shop"))
        if example.hasPrefix("patchbay migrate apply ") {
            // A journal of another run is not overwritten.
            for name in ["journal.json", "results.ndjson"] {
                try FileManager.default.removeItem(atPath: driver.path("shop/\(name)"))
            }
        }
        if example == "patchbay migrate undo journal.json" {
            // Undo accepts the file that the migration wrote, and no copy of it.
            for name in ["journal.json", "profiles.ndjson"] {
                try FileManager.default.removeItem(atPath: driver.path("shop/\(name)"))
            }
            #expect(try await line(Self.migration, in: "shop").status < 2)
        }
        guard example.hasPrefix("patchbay sandbox ") else { return try await line(example, in: "shop") }
        let words = example.replacing("8731", with: "0").split(separator: " ").dropFirst().map(String.init)
        let second = try driver.start(words.map { $0.hasSuffix(".json") ? "shop/\($0)" : $0 })
        #expect(try await second.firstLine().contains("\"url\""))
        second.send(SIGTERM)
        return try await second.result()
    }

    func close() async throws {
        sandbox.send(SIGTERM)
        _ = try await sandbox.result()
    }

    private func line(_ text: String, in folder: String) async throws -> CommandRun.Result {
        let path = CommandDriver.command.deletingLastPathComponent().path
        return try await driver.shell("cd \(folder)\nPATH=\"\(path):$PATH\"\nsource ./env.sh\n\(text)")
    }
}
