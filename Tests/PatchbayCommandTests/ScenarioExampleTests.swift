import Foundation
import PatchbayJSON
import Testing

/// Runs the examples of `Schemas/scenario`. The name of a scenario is its file name without the extension.
@Suite("Scenario examples") struct ScenarioExampleTests {
    private static let schemas = CommandDriver.repository.appending(path: "Schemas/scenario")
    private static let examples = names(in: "examples")

    private static func names(in folder: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: schemas.appending(path: folder).path)) ?? []
        return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: Self.schemas.appending(path: name), encoding: .utf8)
    }

    private func play(_ name: String) async throws -> CommandRun.Result {
        try await CommandDriver().run("simulate", Self.schemas.appending(path: "\(name).json").path)
    }

    @Test(arguments: examples)
    func `prints the expected lines of a scenario`(_ name: String) async throws {
        compare(try await play("examples/\(name)"), try text("examples/\(name).expected.ndjson"))
    }

    private func compare(_ result: CommandRun.Result, _ expected: String) {
        #expect(result.status == 0, "\(result.messages)")
        let (lines, expectedLines) = (result.output.split(separator: "\n"), expected.split(separator: "\n"))
        for (line, expected) in zip(lines, expectedLines) { #expect(line == expected) }
        #expect(lines.count == expectedLines.count)
    }

    /// The conversations among the adapters' goldens, as `<Vendor>/Goldens/Conversations/<name>`.
    private static let conversations: [String] = {
        let adapters = CommandDriver.repository.appending(path: "Adapters")
        let files = FileManager.default.enumerator(atPath: adapters.path)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.contains("/Conversations/") && $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }
            .sorted()
    }()

    @Test(arguments: conversations)
    func `prints an adapter's conversation as its tests do`(_ path: String) async throws {
        let file = CommandDriver.repository.appending(path: "Adapters/\(path)").path
        let golden = try String(contentsOfFile: "\(file).ndjson", encoding: .utf8)
        let result = try await CommandDriver().run("simulate", "\(file).json")
        compare(result, golden)
        #expect(result.output == golden)
    }

    @Test func `finds conversations of adapters`() { #expect(!Self.conversations.isEmpty) }

    @Test(arguments: names(in: "examples/invalid"))
    func `rejects an invalid scenario with its place and a remedy`(_ name: String) async throws {
        let result = try await play("examples/invalid/\(name)")
        #expect(result.status == 78)
        #expect(result.output.isEmpty)
        #expect(result.messages.contains("(scenario.invalid)"))
    }

    @Test func `reports an unknown vendor with the known ones`() async throws {
        let driver = try CommandDriver()
        var story = try #require(JSONValue(parsing: text("examples/step.wake.json")).object)
        story["vendors"] = ["nosuch": [:]]
        let result = try await driver.run("simulate", driver.write("story.json", JSONValue.object(story).text))
        #expect(result.status == 78)
        #expect(result.messages.contains(": error: vendors.nosuch: "))
        #expect(result.messages.contains("salesforce"))
    }

    @Test func `the schema, the command and the examples have the same steps`() async throws {
        let schema = try JSONValue(parsing: text("scenario.schema.json"))
        let steps = Set(
            schema["$defs"]?["step"]?["oneOf"]?.array?.compactMap { $0["$ref"]?.string?.split(separator: "/").last }
                ?? []
        )
        let message = try await play("examples/invalid/unknown-step").messages
        let list = try #require(message.components(separatedBy: "one of ").last?.prefix { $0 != "." })
        #expect(Set(list.components(separatedBy: ", ").map { Substring($0) }) == steps)
        #expect(Set(Self.examples.filter { $0.hasPrefix("step.") }.map { $0.dropFirst(5) }) == steps)
    }
}
