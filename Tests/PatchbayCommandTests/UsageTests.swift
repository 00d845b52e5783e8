import Foundation
import PatchbayJSON
import Testing

@Suite("Command line") struct UsageTests {
    struct Row: CustomTestStringConvertible {
        let line: [String]
        let expectedTexts: [String]

        init(_ line: String, _ expectedTexts: String...) {
            (self.line, self.expectedTexts) = (line.split(separator: " ").map(String.init), expectedTexts)
        }

        var testDescription: String { (["patchbay"] + line).joined(separator: " ") }
    }

    static let mistakes: [Row] = [
        Row("chek", "Unknown command \"chek\". Did you mean \"patchbay check\"? Commands: sandbox, check, map"),
        Row("outbox", "\"outbox\" needs a subcommand. Commands: rejects, retarget, clear, stats, list, verify,"),
        Row("migrate", "Run `patchbay help migrate` for usage and examples."),
        Row("outbox lst x", "Unknown command \"outbox lst\". Did you mean \"patchbay outbox list\"?"),
        Row("check", "Argument CONFIG is missing (configuration file)."),
        Row("check a b c", "Unexpected argument \"c\". Remove it. Usage: patchbay check"),
        Row("adapters --rule", "Unknown option --rule. Did you mean --rules?"),
        Row("adapters -x", "Unknown option -x."),
        Row("adapters --json=yes", "Option --json takes no value."),
        Row("send", "Option --config FILE is missing (configuration file)."),
        Row("send --config", "Option --config FILE needs a value"),
        Row("send --config --json", "Option --config FILE needs a value"),
        Row("send --config=", "Option --config FILE needs a value"),
        Row("send --config a --config b", "Option --config is given twice. Keep one."),
        Row(
            "send --config a --until-idle soon",
            "Option --until-idle: SECONDS must be a whole number from 0 to 604800."
        ),
        Row("faults 9-3", "SEEDS must be a number or FIRST-LAST, from 1."),
        Row("sandbox --port 70000", "Option --port: N must be a whole number from 0 to 65535."),
        Row("sandbox --vendor unknown", "--vendor: unknown adapter \"unknown\". Adapters: "),
        Row(
            "migrate apply --from neutral.contact --to neutral.contacts",
            "unknown format \"neutral.contact\". Did you mean neutral.contacts?"
        ),
        Row(
            "send --confg=c --until-idle x",
            "Did you mean --config?",
            "Option --until-idle:",
            "--config FILE is missing"
        ),
        Row("help chek", "Did you mean \"patchbay check\"?"),
    ]

    @Test(arguments: mistakes) func `a usage error exits with 64 and reports every mistake`(_ row: Row) async throws {
        let result = try await CommandDriver().start(row.line).result()
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        for text in row.expectedTexts { #expect(result.messages.contains(text)) }
    }

    @Test func `treats a word after -- as an argument, not an option`() async throws {
        let result = try await CommandDriver().run("check", "--", "--json")
        #expect(result.status == 2)
        #expect(result.messages.contains("cannot open --json: No such file or directory."))
    }

    @Test func `prints the version of the changelog`() async throws {
        let result = try await CommandDriver().run("--version")
        #expect(result.status == 0)
        let changelog = try String(
            contentsOf: CommandDriver.repository.appending(path: "CHANGELOG.md"),
            encoding: .utf8
        )
        let version = try #require(changelog.split(separator: "## [").dropFirst().first?.prefix { $0 != "]" })
        #expect(result.output == "patchbay \(version)\n")
    }

    @Test(arguments: [("erase", "subject to erase"), ("outbox consent", "Subject to look up")])
    func `help for a command's own subject does not call it a default for operations`(
        _ command: String,
        _ summary: String
    ) async throws {
        let result = try await CommandDriver().start(["help"] + command.split(separator: " ").map(String.init)).result()
        #expect(result.output.contains(summary))
        #expect(!result.output.contains("that name none"))
    }

    @Test func `the reference lists every command as Markdown`() async throws {
        let result = try await CommandDriver().run("help", "--markdown")
        #expect(result.output.contains("### patchbay outbox rejects list\n"))
        #expect(result.output.contains("| `--config FILE` | yes | Configuration file |"))
    }
}
