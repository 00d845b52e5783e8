import PatchbayJSON
import Testing

@Suite("Command line") struct UsageTests {
    struct Row: CustomTestStringConvertible {
        let line: [String]
        let says: [String]

        init(_ line: String, _ says: String...) {
            (self.line, self.says) = (line.split(separator: " ").map(String.init), says)
        }

        var testDescription: String { (["patchbay"] + line).joined(separator: " ") }
    }

    static let mistakes: [Row] = [
        Row("", "A command is missing."),
        Row("chek", "There is no command \"chek\". Did you mean \"patchbay check\"? Known are: adapters, check, map"),
        Row("outbox", "\"outbox\" needs one more word. Known are: stats, list, verify,"),
        Row("outbox lst x", "There is no command \"outbox lst\". Did you mean \"patchbay outbox list\"?"),
        Row("check", "CONFIG is missing."),
        Row("check a b c", "There is 1 word too many: patchbay check"),
        Row("adapters --rule", "--rule is no flag of \"adapters\". Did you mean --rules?"),
        Row("adapters -x", "-x is no flag of \"adapters\"."),
        Row("adapters --json=yes", "--json takes no value."),
        Row("send", "--config FILE is missing (the configuration file)."),
        Row("send --config", "--config needs a value: write --config FILE"),
        Row("send --config --json", "--config needs a value: write --config FILE"),
        Row("send --config=", "--config needs a value"),
        Row("send --config a --config b", "--config stands twice: keep one."),
        Row("send --config a --until-idle soon", "--until-idle takes a whole number from 0 to 604800 as SECONDS."),
        Row("faults 9-3", "SEEDS is a number, or first-last, from 1."),
        Row("sandbox --port 70000", "--port takes a whole number from 0 to 65535 as N."),
        Row("sandbox --vendor nobody", "--vendor: there is no vendor \"nobody\". Known are: "),
        Row(
            "migrate apply --from neutral.contact --to neutral.contacts",
            "there is no format \"neutral.contact\". Did you mean neutral.contacts?"
        ),
        Row(
            "send --confg=c --until-idle x",
            "Did you mean --config?",
            "--until-idle takes",
            "--config FILE is missing"
        ),
        Row("help chek", "Did you mean \"patchbay check\"?"),
    ]

    @Test(arguments: mistakes) func `a mistake ends with 64 and says all that is wrong`(_ row: Row) async throws {
        let result = try await Workbench().start(row.line).result()
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        for text in row.says { #expect(result.talk.contains(text)) }
    }

    @Test func `a word after two hyphens is no flag`() async throws {
        let result = try await Workbench().run("check", "--", "--json")
        #expect(result.status == 78)
        #expect(result.output.contains("--json: error file.open"))
    }

    @Test func `the version is told`() async throws {
        let result = try await Workbench().run("--version")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("patchbay "))
    }

    static let commands = [
        "adapters", "check", "map", "shadow", "simulate", "faults", "send", "erase", "outbox stats", "outbox list",
        "outbox verify", "outbox shadow", "outbox consent", "outbox rejects list", "outbox rejects export",
        "outbox rejects replay", "outbox quarantine list", "outbox retarget", "outbox clear", "migrate apply",
        "sandbox", "help",
    ]

    @Test func `help lists every command and exit status`() async throws {
        for arguments in [["--help"], ["-h"], ["help"]] {
            let result = try await Workbench().start(arguments).result()
            #expect(result.status == 0)
            for command in Self.commands { #expect(result.output.contains("\n  \(command) ")) }
            for status in ["64", "78", "128+n"] { #expect(result.output.contains("\n  \(status) ")) }
        }
    }

    @Test(arguments: ["migrate", "outbox", "outbox rejects"])
    func `a word that leads to several commands has the help of all`(
        _ group: String
    ) async throws {
        let words = group.split(separator: " ").map(String.init)
        let asked = try await Workbench().start(["help"] + words).result()
        let flagged = try await Workbench().start(words + ["--help"]).result()
        #expect(flagged.status == 0)
        #expect(flagged.output == asked.output)
        #expect(flagged.output.ranges(of: "usage: patchbay \(group) ").count > 1)
    }

    @Test(arguments: commands) func `each command has help with its flags`(_ command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let asked = try await Workbench().start(["help"] + words).result()
        let flagged = try await Workbench().start(words + ["--help"]).result()
        #expect(asked.status == 0)
        #expect(asked.output == flagged.output)
        #expect(asked.output.contains("usage: patchbay \(command)"))
        #expect(asked.output.contains("--help"))
    }

    @Test(arguments: ["erase", "outbox consent"]) func `a subject that is asked about is no default for operations`(
        _ command: String
    ) async throws {
        let result = try await Workbench().start(["help"] + command.split(separator: " ").map(String.init)).result()
        #expect(result.output.contains("the subject that is meant"))
        #expect(!result.output.contains("that name none"))
    }

    @Test func `the reference has every command as Markdown`() async throws {
        let result = try await Workbench().run("help", "--markdown")
        for command in Self.commands { #expect(result.output.contains("### patchbay \(command)\n")) }
        #expect(result.output.contains("| `--config FILE` | yes | the configuration file |"))
    }
}
