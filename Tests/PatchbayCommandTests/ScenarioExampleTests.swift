import Foundation
import PatchbayJSON
import Testing

/// Plays the examples of `Schemas/scenario`. A file is its scenario's name without its ending.
@Suite("Scenario examples") struct ScenarioExampleTests {
    private static let schemas = Workbench.house.appending(path: "Schemas/scenario")
    private static let examples = names(in: "examples")

    private static func names(in folder: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: schemas.appending(path: folder).path)) ?? []
        return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: Self.schemas.appending(path: name), encoding: .utf8)
    }

    private func play(_ name: String) async throws -> CommandRun.Result {
        try await Workbench().run("simulate", Self.schemas.appending(path: "\(name).json").path)
    }

    @Test(arguments: examples)
    func `a scenario gives its expected lines`(_ name: String) async throws {
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
        let adapters = Workbench.house.appending(path: "Adapters")
        let files = FileManager.default.enumerator(atPath: adapters.path)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.contains("/Conversations/") && $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }
            .sorted()
    }()

    @Test(arguments: conversations)
    func `the command tells an adapter's conversation as its tests do`(_ path: String) async throws {
        let file = Workbench.house.appending(path: "Adapters/\(path)").path
        let golden = try String(contentsOfFile: "\(file).ndjson", encoding: .utf8)
        let result = try await Workbench().run("simulate", "\(file).json")
        compare(result, golden)
        #expect(result.output == golden)
    }

    @Test func `adapters have conversations`() { #expect(!Self.conversations.isEmpty) }

    @Test(arguments: names(in: "examples/invalid"))
    func `a bad scenario is refused with place and remedy`(_ name: String) async throws {
        let result = try await play("examples/invalid/\(name)")
        #expect(result.status == 78)
        #expect(result.output.isEmpty)
        #expect(result.messages.contains("(scenario.invalid)"))
    }

    @Test func `a vendor that nobody can play is named with those that can be played`() async throws {
        let bench = try Workbench()
        var story = try #require(JSONValue(parsing: text("examples/step.wake.json")).object)
        story["vendors"] = ["nosuch": [:]]
        let result = try await bench.run("simulate", bench.write("story.json", JSONValue.object(story).text))
        #expect(result.status == 78)
        #expect(result.messages.contains(": error: vendors.nosuch: "))
        #expect(result.messages.contains("salesforce"))
    }

    @Test func `the schema, the command and the examples know the same steps`() async throws {
        let schema = try JSONValue(parsing: text("scenario.schema.json"))
        let steps = Set(
            schema["$defs"]?["step"]?["oneOf"]?.array?.compactMap { $0["$ref"]?.string?.split(separator: "/").last }
                ?? []
        )
        let talk = try await play("examples/invalid/unknown-step").messages
        let list = try #require(talk.components(separatedBy: "one of ").last?.prefix { $0 != "." })
        #expect(Set(list.components(separatedBy: ", ").map { Substring($0) }) == steps)
        #expect(Set(Self.examples.filter { $0.hasPrefix("step.") }.map { $0.dropFirst(5) }) == steps)
    }
}
