import Foundation
import PatchbayJSON
import Testing

@Suite("patchbay send, outbox and sandbox") struct SendTests {
    private let driver: CommandDriver
    init() throws { driver = try CommandDriver() }

    @Test func `delivers the sent operations, and the accounts balance`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        let sandbox = try driver.start(["sandbox", "--log", "log.ndjson"])
        let url = try #require(JSONValue(parsing: try await sandbox.firstLine())["url"]?.string)
        let configuration = try driver.configuration()
        let result = try await driver.run("send", "--config", configuration, "--json", "steps.ndjson", sandbox: url)
        sandbox.send(SIGTERM)
        #expect(try await sandbox.result().status == 143)
        let lines = try result.lines
        #expect(lines.prefix(4).map { $0["id"]?.string } == ["op-1", "op-2", "op-3", "op-4"])
        #expect(lines.prefix(4).allSatisfy { $0["durable"] == true })
        let account = try #require(lines.last?["accounts"]?[0])
        #expect(account["captured"] == 4)
        #expect(account["accepted"] == 4)
        #expect(account["balances"] == true)
        #expect(result.status == 0)
        #expect(try driver.read("log.ndjson").contains("\n"))
    }

    @Test func `keeps undeliverable operations and reports them without values`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        let sent = try await driver.run("send", "--config", driver.configuration(), "--until-idle", "0", "steps.ndjson")
        #expect(sent.status == 1)
        #expect(try sent.lines.count == 4)
        #expect(sent.messages.contains("provider  operations  pending\ncrm                4        4\n"))

        let stats = try await driver.run("outbox", "stats", "outbox.sqlite", "--json")
        #expect(try stats.lines.map { $0["pending"]?.integer } == [4])
        #expect(stats.status == 0)

        let list = try await driver.run("outbox", "list", "outbox.sqlite")
        #expect(
            try list.lines.map { $0["kind"]?.string } == ["registerDevice", "identify", "changeAttributes", "track"]
        )
        #expect(!list.output.contains("1990-04-01") && !list.output.contains("c-1"))

        let values = try await driver.run("outbox", "list", "outbox.sqlite", "--values", "--limit", "3")
        #expect(try values.lines.count == 3)
        #expect(values.output.contains("1990-04-01"))

        let verify = try await driver.run("outbox", "verify", "outbox.sqlite", "--json")
        #expect(try verify.lines.map { $0["sound"] } == [true])
        #expect(verify.status == 0)
    }

    @Test func `a run reports its own history and result, and not those of earlier runs`() async throws {
        let steps = try CommandDriver.example("first-steps.ndjson").split(separator: "\n").map(String.init)
        let refused =
            #"{"id":"bad-1","subject":"installation-1","contact":"c-1","capturedAt":"2031-03-09T06:00:04.000Z","#
            + #""action":{"kind":"identify","identifiers":[{"kind":"email","value":"anna@example.com"}]}}"#
        let sandbox = try driver.start(["sandbox"])
        let url = try #require(JSONValue(parsing: try await sandbox.firstLine())["url"]?.string)
        let configuration = try driver.configuration()
        let first = try await driver.run(
            "send",
            "--config",
            configuration,
            input: (steps + [refused]).joined(separator: "\n"),
            sandbox: url
        )
        let second = try await driver.run("send", "--config", configuration, "/dev/null", sandbox: url)
        sandbox.send(SIGTERM)
        _ = try await sandbox.result()
        #expect(first.status == 1 && first.messages.contains("This run, on a new outbox:\n"))
        #expect(first.messages.contains("crm: 1 rejected: "), "\(first.messages)")
        #expect(second.status == 0 && !second.messages.contains("1 rejected: "), "\(second.messages)")
        #expect(
            second.messages.contains(
                "This run:\nprovider  pending before  operations  pending\ncrm                    0           0        0\n"
            )
        )
    }

    @Test func `does not announce a rejected switch as done`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        _ = try await driver.run("send", "--config", driver.configuration(), "--until-idle", "0", "steps.ndjson")
        let news: JSONValue = [
            "adapter": "altcraft", "settings": ["apiUrl": "http://127.0.0.1:9/altcraft", "pixel": "shop"],
        ]
        var json = try JSONValue(parsing: CommandDriver.example("one-provider.json")).object ?? [:]
        var providers = json["providers"]?.object ?? [:]
        providers["news"] = news
        json["providers"] = .object(providers)
        json["routes"] = [["provider": "news", "mode": "live"]]
        json["onSwitch"] = "retarget"
        try driver.write("next.json", JSONValue.object(json).text)
        let line =
            #"{"id":"tag","subject":"installation-1","capturedAt":"2031-03-09T06:00:00.000Z","#
            + #""action":{"kind":"changeTags","tags":{"add":["vip"]}}}"#
        _ = try await driver.run("send", "--config", "one.json", "--until-idle", "0", input: line)
        let result = try await driver.run("send", "--config", "next.json", "--until-idle", "0")
        #expect(result.status == 78, "\(result.messages)")
        #expect(
            result.messages.hasPrefix("The configuration switches providers: removed: crm (5 pending); added: news; ")
        )
        #expect(result.messages.contains("are to move to the new providers"))
        #expect(result.messages.contains("Nothing was moved."))
    }

    @Test func `logs each step without values, and rejects an unknown log level`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        let wrong = try await driver.run("send", "--config", driver.configuration(), "--log", "loud", "steps.ndjson")
        #expect(wrong.status == 64)
        #expect(wrong.messages.contains("trace, debug, info, notice, warning, error, critical"))
        let logged = try await driver.run(
            "send",
            "--config",
            driver.configuration(),
            "--until-idle",
            "0",
            "--log",
            "trace",
            "steps.ndjson"
        )
        #expect(logged.messages.contains(" info Patchbay: started\n"))
        #expect(logged.messages.contains(" trace Patchbay: request endpoint="))
        #expect(!logged.messages.contains("1990-04-01") && !logged.messages.contains("c-1"))
    }

    @Test func `an erasure respects the limits of the configuration`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        let text = try CommandDriver.example("one-provider.json")
        _ = try await driver.run("send", "--config", driver.configuration(), "--until-idle", "0", "steps.ndjson")
        let limited = "\"outbox.sqlite\", \"limits\": { \"operations\": 4 }"
        try driver.write("two.json", text.replacing("\"outbox.sqlite\"", with: limited))
        _ = try await driver.run("erase", "--config", "two.json", "--subject", "other", "--until-idle", "0")
        let stats = try #require(try await driver.run("outbox", "stats", "outbox.sqlite", "--json").lines.first)
        #expect(stats["reasons"]?["dropped"] == ["engine.outbox.full": 1])
        #expect(stats["pending"] == 3 && stats["balances"] == true)
    }

    @Test func `reports an invalid line and captures the others`() async throws {
        let steps = try CommandDriver.example("first-steps.ndjson").split(separator: "\n").map(String.init)
        let input = [steps[0], "{\"id\":", steps[1]].joined(separator: "\n")
        let result = try await driver.run("send", "--config", driver.configuration(), "--until-idle", "0", input: input)
        #expect(result.status == 1)
        #expect(try result.lines.map { $0["id"]?.string } == ["op-1", "op-2"])
        #expect(result.messages.contains("standard input:2: error: The line is not JSON"))
    }

    @Test func `Ctrl-C keeps the captured operations and exits with 130`() async throws {
        let steps = try CommandDriver.example("first-steps.ndjson").split(separator: "\n").map(String.init)
        try driver.write("step.ndjson", steps[0] + "\n")
        _ = try driver.configuration()
        // A pipe that stays open: the command waits for more when the signal comes.
        let result = try await driver.shell(
            """
            mkfifo pipe; "$PATCHBAY" send --config one.json < pipe > receipts & command=$!
            exec 3> pipe; cat step.ndjson >&3
            until grep -q durable receipts; do sleep 0.01; done
            kill -INT $command; wait $command; echo $?
            """
        )
        #expect(result.output == "130\n")
        #expect(result.messages.contains("provider  operations  pending\ncrm                1        1\n"))
        #expect(try await driver.run("outbox", "verify", "outbox.sqlite").status == 0)
    }

    @Test func `rejects a missing or unrecognized outbox file with exit status 2`() async throws {
        try driver.write("text.sqlite", "This is no database, and it is long enough to be looked at as one.\n")
        for path in ["nothing.sqlite", ".", "text.sqlite"] {
            for command in ["stats", "list", "verify"] {
                let result = try await driver.run("outbox", command, path)
                #expect(result.status == 2)
                #expect(result.messages.contains(path == "." ? "is a folder" : path))
                #expect(path != "text.sqlite" || result.messages.contains("is not an outbox"))
                #expect(result.output.isEmpty)
            }
        }
        #expect(try driver.read("text.sqlite").hasPrefix("This is no database"))
        #expect(driver.files == ["text.sqlite"])
    }

    @Test func `reports operations that wait for a removed provider, with the remedy`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        _ = try await driver.run("send", "--config", driver.configuration(), "--until-idle", "0", "steps.ndjson")
        let renamed = try driver.read("one.json").replacing("\"crm\"", with: "\"news\"")
        try driver.write("two.json", renamed)
        let sent = try await driver.run("send", "--config", "two.json", "--until-idle", "0")
        #expect(sent.status == 1)
        let stats = try await driver.run("outbox", "stats", "outbox.sqlite")
        let list = try await driver.run("outbox", "list", "outbox.sqlite")
        let verify = try await driver.run("outbox", "verify", "outbox.sqlite")
        #expect(verify.status == 0)
        for text in [sent.messages, stats.output, list.messages, verify.messages] {
            #expect(text.contains("engine.provider.unconfigured"))
            #expect(text.contains("(4)") && text.contains("patchbay outbox retarget"))
        }
    }

    @Test func `does not overwrite a file that is not an outbox`() async throws {
        let text = String(repeating: "This is my thesis.\n", count: 500)
        try driver.write("outbox.sqlite", text)
        let result = try await driver.run("send", "--config", driver.configuration(), "--until-idle", "0")
        #expect(result.status == 2)
        #expect(result.messages.contains("outbox.sqlite is not an outbox"))
        #expect(try driver.read("outbox.sqlite") == text)
    }

    @Test func `rejects a missing operations file with exit status 2`() async throws {
        let result = try await driver.run("send", "--config", driver.configuration(), "nothing.ndjson")
        #expect(result.status == 2)
        #expect(result.messages.contains("cannot open nothing.ndjson"))
    }

    @Test func `validates sandbox settings and faults before the sandbox starts`() async throws {
        try driver.write("settings.json", "{\"unknown\": {}}")
        let settings = try await driver.run("sandbox", "--settings", "settings.json")
        #expect(settings.status == 78)
        #expect(settings.messages.contains("There is no adapter of this name"))
        try driver.write("faults.json", "[{\"effect\": \"explode\"}]")
        let faults = try await driver.run("sandbox", "--faults", "faults.json")
        #expect(faults.status == 2)
        #expect(faults.output.isEmpty)
        try driver.write("broken.json", "{")
        #expect(try await driver.run("sandbox", "--settings", "broken.json").status == 78)
    }
}
