import Foundation
import PatchbayJSON
import Testing

/// Compares the examples of `Schemas/outcome` with the output of the command. An independent validator checks them
/// against the schemas.
@Suite("Outcome examples") struct OutcomeExampleTests {
    private let driver: CommandDriver

    init() throws { driver = try CommandDriver() }

    private func example(_ name: String) throws -> JSONValue {
        let file = CommandDriver.repository.appending(path: "Schemas/outcome/examples/\(name).json")
        return try JSONValue(parsing: String(contentsOf: file, encoding: .utf8))
    }

    @Test func `prints the examples of findings with their places`() async throws {
        let operations = """
            {"action":{"kind":"changeAttributes","changes":{"birth_date":{"set":"1990-02-30"},"points":{"set":1}}}}
            {"id":"op-2","action":{"kind":"readBack","read":{"what":"latest"}}}
            {"oops
            {"action":{"kind":"changeTags","tags":{"add":["ALL","vip"]}}}
            """
        let result = try await driver.run(
            "check",
            driver.configuration(),
            "-",
            "--json",
            "--subject",
            "s-1",
            input: operations
        )
        let lines = try result.lines
        #expect(
            try lines
                == ["type", "owner", "unsupported", "not-json", "in-part"].map { try example("lint.\($0)") }
        )
    }

    @Test func `writes the examples of migration rejects`() async throws {
        let lines = [
            #"{"identifiers":[{"kind":"external","value":"c-1"}],"attributes":{"birth_date":"1990-04-01"}}"#,
            #"{"identifiers":[{"kind":"external","value":"c-2"}],"attributes":{"birth_date":"1990-02-30"}}"#,
            #"{"oops"#,
            #"{"identifiers":[],"subscriptions":[{"channel":"push","state":"maybe"}]}"#,
        ]
        let several =
            #"{"identifiers":[{"kind":"external","value":"c-3"}],"#
            + #""attributes":{"birth_date":"1990-02-30","points":"many"}}"#
        let notText = Array(#"{"locale":""#.utf8) + [0xFF] + Array("\"}\n".utf8)
        try driver.write(
            "in.ndjson",
            lines.flatMap { Array($0.utf8) + [0x0A] } + notText + Array("\(several)\n".utf8)
        )
        let formats = [
            "--from", "neutral.contacts", "--to", "neutral.contacts", "--config", try driver.configuration(),
        ]
        let files = ["--in", "in.ndjson", "--out", "out.ndjson", "--rejects", "bad.ndjson"]
        let result = try await driver.start(["migrate", "apply"] + formats + files).result()
        #expect(result.status == 1)
        let rejects = try driver.read("bad.ndjson").split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(
            try rejects
                == ["type", "not-json", "bad-word", "not-text", "several"].map { try example("rejects.\($0)") }
        )
    }

    @Test func `prints receipts, and the counters of a provider that received nothing`() async throws {
        let configuration = try driver.configuration()
        let accounts = try await driver.run("send", "--config", configuration, "--json", input: "").lines
        #expect(accounts == [["accounts": [try example("accounts.nothing")]]])
        let operation = #"{"id":"op-1","subject":"s","action":{"kind":"changeTags","tags":{"add":["vip"]}}}"#
        let sent = try await driver.run("send", "--config", configuration, "--until-idle", "0", input: operation)
        #expect(try sent.lines == [example("receipt.durable")])
        let stats = try await driver.run("outbox", "stats", "outbox.sqlite", "--json").lines
        #expect(stats.first?.object?.map(\.name).first == "provider")
        #expect(stats.first?["captured"]?.integer == 1)
    }

    @Test func `prints the examples of an erasure and the consent changes before it`() async throws {
        let configuration = try driver.configuration()
        let operations = """
            {"id":"op-1","subject":"s","action":{"kind":"setConsent","consent":{"purpose":"tracking","state":"granted"}}}
            {"id":"op-2","subject":"s","action":{"kind":"changeTags","tags":{"add":["vip"]}}}
            {"id":"op-3","subject":"s","action":{"kind":"setConsent","consent":{"purpose":"profile","channel":"push","state":"denied"}}}
            {"id":"op-4","subject":"s","action":{"kind":"setConsent","consent":{"purpose":"profile","state":"denied"}}}
            {"id":"op-5","subject":"s","action":{"kind":"setConsent","consent":{"purpose":"profile","state":"unknown"}}}
            """
        _ = try await driver.run("send", "--config", configuration, "--until-idle", "0", input: operations)
        let all = try await driver.run("outbox", "consent", "outbox.sqlite", "--json").lines
        let mine = try await driver.run("outbox", "consent", "outbox.sqlite", "--subject", "s", "--json").lines
        #expect(all == mine && all.count == 4)
        let unknown = try await driver.run("outbox", "consent", "outbox.sqlite", "--subject", "x")
        #expect(unknown.status == 0 && unknown.output.isEmpty)
        // The time and the file's salt differ between runs.
        let lines = all.map { line in
            var line = line.object ?? [:]
            line["at"] = "2031-03-09T06:00:00.000Z"
            line["subject"] = .string(String(repeating: "ab", count: 32))
            return JSONValue.object(line)
        }
        #expect(try lines == ["granted", "channel", "denied", "reset"].map { try example("consent.\($0)") })

        let result = try await driver.run(
            "erase",
            "--config",
            configuration,
            "--subject",
            "s",
            "--until-idle",
            "30",
            "--json"
        )
        #expect(result.status == 1)
        var erasure = try #require(try result.lines.first?.object)
        var provider = try #require(erasure["providers"]?.array?.first?.object)
        #expect(provider["requested"]?.array?.count == 1)
        // The consent decisions themselves may still be pending or not.
        #expect(provider["withdrawn"]?["changeTags"]?.integer == 1)
        provider["withdrawn"] = ["changeTags": 1]
        var answer = try #require(provider["answers"]?.array?.first?.object)
        #expect(answer["operation"] == provider["requested"]?.array?.first)
        answer["operation"] = "0190f0e0-0000-7000-8000-000000000001"
        provider["answers"] = [.object(answer)]
        provider["requested"] = ["0190f0e0-0000-7000-8000-000000000001"]
        erasure["providers"] = [.object(provider)]
        #expect(try .object(erasure) == example("erasure.one-provider"))
        #expect(!result.output.contains("vip"))
        let wrong = try await driver.run("erase", "--config", configuration)
        #expect(wrong.status == 64)
    }

    /// `accounts.<scenario>.<provider>.json` holds the accounts at the end of that scenario. Its own test runs it.
    @Test(arguments: [
        ("story.altcraft", ["news"]), ("story.everything-waits", ["alerts", "crm"]),
        ("story.switch-retarget", ["crm", "news"]), ("step.kill", ["crm"]),
    ])
    func `prints the example accounts at the end of a scenario`(_ scenario: String, _ providers: [String]) throws {
        let file = CommandDriver.repository.appending(path: "Schemas/scenario/examples/\(scenario).expected.ndjson")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let accounts = try JSONValue(parsing: String(try #require(lines.last)))["accounts"]?.array ?? []
        #expect(try accounts == providers.map { try example("accounts.\(scenario).\($0)") })
    }
}
