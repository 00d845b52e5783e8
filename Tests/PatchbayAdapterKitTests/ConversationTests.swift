import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

/// Conversations of the probe in a folder of their own.
@Suite("Conversations") struct ConversationTests {
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        deinit { try? FileManager.default.removeItem(at: url) }

        func write(_ name: String, _ text: String) throws {
            let file = url.appendingPathComponent("Conversations/\(name)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }

        func read(_ name: String) throws -> String {
            try String(contentsOf: url.appendingPathComponent("Conversations/\(name)"), encoding: .utf8)
        }

        func harness(updating: Bool = false) throws -> AdapterHarness<ProbeAdapter> {
            try AdapterHarness(
                settings: ["fault": "none", "key": "Schlüssel-4711"],
                goldens: Goldens(folder: url, environment: updating ? ["UPDATE_GOLDENS": "1"] : [:])
            )
        }
    }

    /// Returns a scenario in which the first reply to a request is lost.
    private func story(shows: String) -> String {
        """
        {"title": "A lost request is sent again", "shows": [\(shows)], "environment": {"KEY": "Schlüssel-4711"},
         "configuration": {"providers": {"p": {"adapter": "probe", "settings": {"fault": "none", "key": "${KEY}"}}},
                           "routes": [{"provider": "p", "mode": "live"}]},
         "steps": [{"reply": {"failure": "lost"}},
                   {"capture": {"action": {"kind": "track", "event": {"kind": "custom", "name": "Opened"}}}},
                   {"drain": 600}]}
        """
    }

    /// Returns the failures that a check of the conversations records.
    private func issues(_ folder: Folder) async throws -> [String] {
        let harness = try folder.harness()
        return try await collectedIssues {
            for conversation in Conversation.all(from: folder.url.path + "/Tests/x.swift", at: "..") {
                try conversation.check(on: harness)
            }
        }.failureTexts
    }

    private func written(shows: String) async throws -> Folder {
        let folder = Folder()
        try folder.write("lost.json", story(shows: shows))
        let harness = try folder.harness(updating: true)
        let conversation = try #require(Conversation.all(from: folder.url.path + "/Tests/x.swift", at: "..").first)
        _ = try await collectedIssues { try conversation.check(on: harness) }
        return folder
    }

    @Test func `passes a conversation that matches its golden`() async throws {
        let folder = try await written(shows: #""probe/1""#)
        #expect(try await issues(folder) == [])
        let lines = try folder.read("lost.ndjson").split(separator: "\n")
        #expect(lines.filter { $0.contains(#""method":"POST""#) }.count == 2)
        #expect(lines.last?.contains(#""accepted":1"#) == true)
    }

    @Test func `reports a line that differs from the golden`() async throws {
        let folder = try await written(shows: "")
        try folder.write("lost.ndjson", folder.read("lost.ndjson").replacing("POST", with: "PUT"))
        #expect(try await issues(folder).joined().contains("Conversations/lost.ndjson: line 2 should be"))
    }

    @Test(arguments: [#""probe/9""#, #""probe/1", "toy/1""#])
    func `refuses a claim that names no rule of the vendor`(
        _ shows: String
    ) async throws {
        #expect(try await issues(written(shows: shows)).joined().contains("which is not a rule of a vendor in it"))
    }

    @Test func `reports a golden without a scenario`() async throws {
        let folder = try await written(shows: "")
        try folder.write("forgotten.ndjson", "{}\n")
        let check = try #require(ConformanceCheck.all.first { $0.name == "every conversation golden has a scenario" })
        let harness = try folder.harness()
        let texts = try await collectedIssues { try check.run(on: harness) }.failureTexts
        #expect(texts.joined().contains("Conversations/forgotten.ndjson has no sample or scenario"))
    }
}
