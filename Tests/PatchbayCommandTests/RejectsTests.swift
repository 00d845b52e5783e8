import Foundation
import PatchbayJSON
import Testing

@Suite("patchbay outbox rejects, clear and quarantine") struct RejectsTests {
    private let driver: CommandDriver
    init() throws { driver = try CommandDriver() }

    /// Captures the first steps and an identifier that the vendor rejects, and sends nothing.
    private func fill() async throws {
        let steps = try CommandDriver.example("first-steps.ndjson").split(separator: "\n").map(String.init)
        let refused = """
            {"id":"bad-1","subject":"installation-1","contact":"c-1","capturedAt":"2031-03-09T06:00:04.000Z",\
            "action":{"kind":"identify","identifiers":[{"kind":"email","value":"anna@example.com"}]}}
            """
        try driver.write("steps.ndjson", (steps + [refused]).joined(separator: "\n") + "\n")
        _ = try await driver.run("send", "--config", driver.configuration(), "--until-idle", "0", "steps.ndjson")
    }

    @Test func `lists rejects without values, exports them, and replays a corrected one once`() async throws {
        try await fill()
        let list = try await driver.run("outbox", "rejects", "list", "outbox.sqlite")
        let row = try #require(list.lines.first)
        #expect(row["id"] == "bad-1" && row["provider"] == "crm" && row["kind"] == "identify")
        #expect(!list.output.contains("anna@example.com"))
        #expect(
            try await driver.run("outbox", "rejects", "list", "outbox.sqlite", "--values").output.contains(
                "anna@example.com"
            )
        )
        let export = try await driver.run("outbox", "rejects", "export", "outbox.sqlite", "rejects.ndjson")
        #expect(export.messages.contains("1 rejected"))
        let rights = try FileManager.default.attributesOfItem(atPath: driver.path("rejects.ndjson"))[.posixPermissions]
        #expect(rights as? Int == 0o600)

        // Without a correction it is rejected again, and its copy is stored again.
        let config = try driver.configuration()
        let uncorrected = try await driver.run("outbox", "rejects", "replay", "--config", config, "outbox.sqlite")
        #expect(try uncorrected.lines.map { $0["result"] } == ["rejected"])
        #expect(uncorrected.status == 1)

        let corrected = try driver.read("rejects.ndjson").replacing("\"email\"", with: "\"external\"")
        try driver.write("corrected.ndjson", corrected + "{\"provider\":\"unknown\",\"operation\":{}}\n{\n")
        let replay = try await driver.run("outbox", "rejects", "replay", "--config", config, "corrected.ndjson")
        #expect(try replay.lines.map { $0["result"] } == ["pending"])
        #expect(replay.status == 1)
        #expect(replay.messages.contains("corrected.ndjson:2: operation"))
        #expect(replay.messages.contains("corrected.ndjson:3: column 2: the line is not JSON"))
        #expect(try await driver.run("outbox", "rejects", "list", "outbox.sqlite").output.isEmpty)
        let again = try await driver.run("outbox", "rejects", "replay", "--config", config, "corrected.ndjson")
        #expect(try again.lines.map { $0["result"] } == ["pendingAlready"])

        let stats = try #require(try await driver.run("outbox", "stats", "outbox.sqlite", "--json").lines.first)
        #expect(stats["created"] == 2 && stats["pending"] == 5 && stats["balances"] == true)
        #expect(stats["reasons"]?["created"]?["replayed"] == 2)
        #expect(try await driver.run("outbox", "verify", "outbox.sqlite").status == 0)
    }

    @Test func `replays only rejected operations from a file, not those that were cleared`() async throws {
        try await fill()
        let steps = try driver.read("steps.ndjson").split(separator: "\n")
        _ = try await driver.run("outbox", "clear", "outbox.sqlite", "--where", "provider=crm kind=track", "--yes")
        _ = try await driver.run("outbox", "clear", "outbox.sqlite", "--where", "state=rejected", "--yes")
        let lines = steps.suffix(2).map { "{\"provider\":\"crm\",\"operation\":\($0)}\n" }.joined()
        try driver.write("file.ndjson", lines.replacing("\"email\"", with: "\"external\""))
        let config = try driver.configuration()
        let replay = try await driver.run("outbox", "rejects", "replay", "--config", config, "file.ndjson")
        #expect(try replay.lines.map { $0["result"] } == ["endedAlready", "pending"])
        #expect(replay.status == 1)
        #expect(try await driver.run("outbox", "verify", "outbox.sqlite").status == 0)
    }

    @Test func `does not write rejects over an outbox under any path`() async throws {
        try await fill()
        let other = try driver.write("other.sqlite", Data(contentsOf: URL(filePath: driver.path("outbox.sqlite"))))
        try FileManager.default.createSymbolicLink(atPath: driver.path("link"), withDestinationPath: "outbox.sqlite")
        for path in ["outbox.sqlite", "./outbox.sqlite", "link", "outbox.sqlite-wal", other] {
            let export = try await driver.run("outbox", "rejects", "export", "outbox.sqlite", path)
            #expect(export.status == 64, "\(path)")
            #expect(export.messages.contains("OUT"))
        }
        let verify = try await driver.run("outbox", "verify", "outbox.sqlite")
        #expect(verify.status == 0 && verify.output.hasPrefix("4 pending operations"))
    }

    @Test func `clear counts without --yes and deletes the same operations with it`() async throws {
        try await fill()
        let asked = try await driver.run("outbox", "clear", "outbox.sqlite", "--where", "provider=crm kind=identify")
        #expect(
            try asked.lines.map {
                "\($0["state"]?.string ?? "") \($0["kind"]?.string ?? "") \($0["count"]?.integer ?? 0)"
            }
                == ["pending identify 1", "rejected identify 1"]
        )
        #expect(asked.messages.contains("2 operations would be cleared. Nothing was changed"))
        #expect(try await driver.run("outbox", "list", "outbox.sqlite").lines.count == 4)

        let done = try await driver.run(
            "outbox",
            "clear",
            "outbox.sqlite",
            "--where",
            "provider=crm kind=identify",
            "--yes"
        )
        #expect(done.output == asked.output)
        let stats = try #require(try await driver.run("outbox", "stats", "outbox.sqlite", "--json").lines.first)
        #expect(stats["reasons"]?["dropped"]?["cleared"] == 1)
        #expect(stats["pending"] == 3 && stats["balances"] == true)
        #expect(try await driver.run("outbox", "rejects", "list", "outbox.sqlite").output.isEmpty)
        #expect(try await driver.run("outbox", "clear", "outbox.sqlite", "--where", "older=3650d").output.isEmpty)
        #expect(try await driver.run("outbox", "verify", "outbox.sqlite").status == 0)
        #expect(try await driver.run("outbox", "quarantine", "list", "outbox.sqlite").output.isEmpty)
    }

    static let mistakes: [UsageTests.Row] = [
        .init("outbox rejects", "\"outbox rejects\" needs a subcommand. Commands: replay, list, export."),
        .init("outbox rejects lst x", "Did you mean \"patchbay outbox rejects list\"?"),
        .init("outbox clear x", "--where EXPRESSION is missing"),
        .init("outbox clear x --where provder=crm", "Did you mean provider=?", "Keys: provider, kind, code"),
        .init("outbox clear x --where kind=trak", "unknown kind \"trak\". Did you mean track?"),
        .init("outbox clear x --where state=gone", "unknown state \"gone\"", "Values: pending, held, rejected."),
        .init("outbox clear x --where older=soon", "older needs a whole number and a unit, such as 30d"),
        .init("outbox rejects replay x", "--config FILE is missing"),
    ]

    @Test(arguments: mistakes) func `a usage error exits with 64 and states the correct usage`(_ row: UsageTests.Row)
        async throws
    {
        let result = try await driver.start(row.line).result()
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        for text in row.expectedTexts { #expect(result.messages.contains(text)) }
    }

    @Test func `reports all mistakes of an expression at once and names unknown providers`() async throws {
        try await fill()
        let wrong = try await driver.run(
            "outbox",
            "clear",
            "outbox.sqlite",
            "--where",
            "kind=x kind=y state=held code=c"
        )
        #expect(wrong.status == 64)
        for text in ["unknown kind \"x\"", "kind is given twice", "only rejected operations have a code"] {
            #expect(wrong.messages.contains(text))
        }
        for arguments in [
            ["outbox", "clear", "outbox.sqlite", "--where", "provider=cmr"],
            ["outbox", "rejects", "list", "outbox.sqlite", "--provider", "cmr"],
            ["outbox", "rejects", "replay", "--config", try driver.configuration(), "--provider", "cmr"],
        ] {
            let result = try await driver.start(arguments).result()
            #expect(result.status == 64)
            #expect(result.messages.contains("Did you mean \"crm\"?"))
        }
        #expect(try await driver.run("outbox", "clear", "nothing.sqlite", "--where", "state=held", "--yes").status == 2)
        #expect(!driver.files.contains("nothing.sqlite"))
    }
}
