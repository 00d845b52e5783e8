import Foundation
import PatchbayJSON
import Testing

@Suite("patchbay check and map") struct CheckAndMapTests {
    private let driver: CommandDriver
    init() throws { driver = try CommandDriver() }

    // MARK: Configurations

    @Test func `a valid configuration exits with 0 and prints nothing`() async throws {
        let result = try await driver.run("check", driver.configuration())
        #expect(result.status == 0)
        #expect(result.output.isEmpty)
    }

    @Test func `counts the findings in the last line and marks providers without a route`() async throws {
        let two = try JSONValue(parsing: CommandDriver.example("one-provider.json")).object ?? [:]
        var providers = two["providers"]?.object ?? [:]
        providers["spare"] = providers["crm"]
        var json = two
        json["providers"] = .object(providers)
        try driver.write("two.json", JSONValue.object(json).text)
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        let result = try await driver.run("check", "two.json", "steps.ndjson")
        #expect(result.messages.contains("Checked 4 operations against crm, spare (not routed)."))
        #expect(result.messages.contains(#/\n4 operations, 0 errors, \d+ warnings?, \d+ notes?\.\n/#))
        let alone = try await driver.run("check", driver.configuration())
        #expect(alone.messages == "0 errors, 0 warnings, 0 notes.\n")
    }

    @Test func `an invalid configuration exits with 78 and lists every problem with line and column`() async throws {
        try driver.write(
            "bad.json",
            "{\n  \"providers\": { \"crm\": { \"adapter\": \"unknown\" } },\n  \"extra\": 1\n}\n"
        )
        let result = try await driver.run("check", "bad.json")
        #expect(result.status == 78)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(
            lines.contains {
                $0.hasPrefix("bad.json:2:27: error: providers.crm.adapter: The adapter is unknown")
            }
        )
        #expect(lines.contains { $0.hasPrefix("bad.json:3:3: error: extra: ") })
    }

    @Test func `prints the problems as JSON`() async throws {
        try driver.write("bad.json", "{ \"providers\": {}, \"routes\": [] }")
        let lines = try await driver.run("check", "bad.json", "--json").lines
        #expect(lines.map { $0["code"]?.string } == ["configuration.provider.none", "configuration.route.none"])
        #expect(lines.allSatisfy { $0["file"] == "bad.json" && $0["line"] == 1 && $0["remedy"]?.string != nil })
    }

    @Test(arguments: ["nothing.json", "."]) func `names a missing file or a folder with a remedy`(_ path: String)
        async throws
    {
        let result = try await driver.run("check", path)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.messages.contains(path == "." ? "Name a file, not a folder." : "Check the path and its folder."))
    }

    @Test func `every command rejects an invalid configuration with exit status 78`() async throws {
        try driver.write("bad.json", "{}")
        for arguments in [["send", "--config", "bad.json"], ["map", "--config", "bad.json", "--provider", "crm"]] {
            let result = try await driver.start(arguments).result()
            #expect(result.status == 78)
            #expect(result.output.isEmpty)
            #expect(result.messages.contains("bad.json:1:1: providers: "))
        }
    }

    // MARK: Operations

    /// Returns five invalid lines between two valid ones.
    private func badOperations() throws -> String {
        let good = try CommandDriver.example("first-steps.ndjson").split(separator: "\n").map(String.init)
        var bytes = Array(good[0].utf8) + Array("\n{\"id\":\"\u{FFFD}\"".utf8)
        bytes += [0x0A, 0x22, 0xFF, 0x22, 0x0A] + Array("{\"id\":\"x\",\"unknown\":1}\n".utf8)
        bytes += Array(repeating: UInt8(ascii: "["), count: 5 << 20) + Array("\n\n\"text\"\n".utf8)
        return try driver.write("bad.ndjson", bytes + Array(good[1].utf8))
    }

    @Test func `reports an invalid line by its number and checks the others`() async throws {
        let result = try await driver.run("check", driver.configuration(), badOperations(), "--json")
        #expect(result.status == 1)
        let faults = try result.lines.filter { $0["code"]?.string?.hasPrefix("operation.") == true }
        #expect(faults.map { $0["line"]?.integer } == [2, 3, 4, 5, 7])
        #expect(
            faults.map { $0["code"]?.string } == [
                "operation.json", "operation.json", "operation.invalid", "operation.length", "operation.invalid",
            ]
        )
        #expect(faults.allSatisfy { $0["remedy"]?.string?.isEmpty == false })
        #expect(result.messages.contains("Checked 7 operations against crm."))
    }

    @Test func `map reports invalid lines on standard error and maps the others`() async throws {
        let result = try await driver.run(
            "map",
            "--config",
            driver.configuration(),
            "--provider",
            "crm",
            badOperations()
        )
        #expect(result.status == 1)
        #expect(try result.lines.map { $0["line"]?.integer } == [1, 8])
        for line in [2, 3, 4, 5, 7] { #expect(result.messages.contains("bad.ndjson:\(line): error: ")) }
    }

    @Test func `reports a value that does not convert to its catalogued type`() async throws {
        let line = """
            {"action":{"kind":"changeAttributes","changes":{"birth_date":{"set":"1990-02-30"},"points":{"set":1}}}}
            """
        let result = try await driver.run("check", driver.configuration(), "-", "--subject", "s-1", input: line)
        #expect(result.status == 1)
        #expect(result.output.contains("standard input:1: error: action.changes.birth_date.set: "))
        #expect(result.output.contains("(catalogue.attribute.type)"))
        #expect(result.output.contains("standard input:1: error: action.changes.points: "))
        #expect(result.output.contains("(catalogue.attribute.owner)"))
    }

    @Test func `check and send both require a subject`() async throws {
        let line = #"{"contact":"c-1","action":{"kind":"track","event":{"kind":"custom","name":"Order Placed"}}}"#
        let configuration = try driver.configuration()
        let check = try await driver.run("check", configuration, "-", input: line)
        let send = try await driver.run("send", "--config", configuration, "--until-idle", "0", input: line)
        for (status, text) in [(check.status, check.output), (send.status, send.messages)] {
            #expect(status == 1)
            #expect(text.contains("standard input:1: error: subject: "), "\(text)")
            #expect(text.contains("name it with --subject."))
        }
        #expect(try await driver.run("check", configuration, "-", "--subject", "phone-1", input: line).status == 0)
    }

    @Test func `does not count findings of a provider without a route`() async throws {
        var json = try JSONValue(parsing: CommandDriver.example("one-provider.json")).object ?? [:]
        var providers = json["providers"]?.object ?? [:]
        providers["spare"] = [
            "adapter": "altcraft",
            "settings": ["apiUrl": "http://127.0.0.1:9/altcraft", "pixel": "shop"],
        ]
        json["providers"] = .object(providers)
        try driver.write("two.json", JSONValue.object(json).text)
        let line = #"{"subject":"s-1","contact":"c-1","action":{"kind":"changeTags","tags":{"add":["vip"]}}}"#
        let result = try await driver.run("check", "two.json", "-", input: line)
        #expect(result.status == 0)
        #expect(result.output.contains("spare (not routed): error: "), "\(result.output)")
        #expect(result.messages.contains("1 operation, 0 errors, "))
        #expect(result.messages.contains("Not counted: 1 finding of providers without a route."))
        let lines = try await driver.run("check", "two.json", "-", "--json", input: line).lines
        #expect(lines.allSatisfy { $0["provider"] == nil || $0["routed"] == .bool($0["provider"] == "crm") })
    }

    @Test func `maps each operation to the same requests in every run, without secrets`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        let arguments = ["map", "--config", try driver.configuration(), "--provider", "crm", "steps.ndjson"]
        let result = try await driver.start(arguments).result()
        #expect(try await driver.start(arguments).result().output == result.output)
        #expect(!result.output.contains("abcdefghijklmnopqrstuvwx"))
        let lines = try result.lines
        #expect(lines.map { $0["id"]?.string } == ["op-1", "op-2", "op-3", "op-4"])
        #expect(lines.allSatisfy { $0["outcome"] == "accepted" && $0["requests"]?.array?.count == 1 })
        let findings = lines.flatMap { $0["findings"]?.array ?? [] }
        let matter = findings.contains { $0["severity"] == "warning" || $0["severity"] == "error" }
        #expect(result.status == (matter ? 1 : 0))
        #expect(lines[2]["requests"]?[0]?["body"]?.text.contains("BirthDate") == true)
    }

    @Test func `an unknown provider name is answered with the known names`() async throws {
        let result = try await driver.run("map", "--config", driver.configuration(), "--provider", "crn")
        #expect(result.status == 64)
        #expect(result.messages.contains("has no provider \"crn\". Did you mean \"crm\"? Providers: crm."))
    }

    @Test func `exits quietly if the reader of the output closes it`() async throws {
        try driver.write("steps.ndjson", CommandDriver.example("first-steps.ndjson"))
        _ = try driver.configuration()
        let result = try await driver.shell(
            """
            for i in {1..3000}; do cat steps.ndjson; done | sed 's/"id":"op-[0-9]",//' \
              | "$PATCHBAY" map --config one.json --provider crm | head -1; echo ${PIPESTATUS[2]}
            """
        )
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last == "141")
        #expect(!result.messages.contains("patchbay"))
    }

    @Test func `runs a scenario from a file`() async throws {
        let configuration = try JSONValue(parsing: CommandDriver.example("one-provider.json"))
        let step = "{\"capture\": {\"id\": \"a\", \"action\": {\"kind\": \"unregister\"}}}"
        try driver.write("story.json", "{\"configuration\": \(configuration.text), \"steps\": [\(step)]}")
        let result = try await driver.run("simulate", "story.json")
        #expect(result.status == 0)
        #expect(try !result.lines.isEmpty)
        try driver.write("bad.json", "{\"configuration\": \(configuration.text), \"steps\": [{\"capure\": 1}]}")
        let bad = try await driver.run("simulate", "bad.json")
        #expect(bad.status == 78)
        #expect(bad.messages.contains("steps[0]"))
    }
}
