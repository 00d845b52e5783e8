import Foundation
import PatchbayJSON
import Testing

@Suite("Schemas") struct SchemaTests {
    private static let schemas = Repository.files("Schemas", suffix: ".schema.json")

    @Test func `every schema is JSON with a dialect, an id and a description`() throws {
        #expect(!Self.schemas.isEmpty)
        var ids: Set<String> = []
        for file in Self.schemas {
            let schema = try JSONValue(parsing: file.text)
            #expect(schema["$schema"]?.string == "https://json-schema.org/draft/2020-12/schema", "\(file.path)")
            let id = try #require(schema["$id"]?.string, "\(file.path) has no $id.")
            #expect(id.hasSuffix("/" + file.path.dropFirst("Schemas/".count)), "\(file.path) has the id \(id).")
            #expect(ids.insert(id).inserted, "\(id) stands twice.")
            #expect(schema["description"]?.string?.isEmpty == false, "\(file.path) has no description.")
        }
    }

    @Test func `every local reference resolves`() throws {
        for file in Self.schemas {
            let schema = try JSONValue(parsing: file.text)
            for reference in references(in: schema) {
                let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init
                )
                var target = schema
                if !parts[0].isEmpty {
                    let folder = (file.path as NSString).deletingLastPathComponent
                    target = try JSONValue(parsing: Repository.text("\(folder)/\(parts[0])"))
                }
                for step in (parts.count > 1 ? parts[1] : "").split(separator: "/") {
                    target = try #require(target[String(step)], "\(file.path): \(reference) leads nowhere.")
                }
            }
        }
    }

    @Test func `every valid example is JSON, and invalid examples exist`() throws {
        let examples = Repository.files("Schemas", suffix: ".json").filter { $0.path.contains("/examples/") }
        #expect(examples.contains { $0.path.contains("/invalid/") })
        for file in examples where !file.path.contains("/invalid/") {
            #expect(throws: Never.self, "\(file.path)") { try JSONValue(parsing: file.text) }
        }
    }

    private func references(in json: JSONValue) -> [String] {
        switch json {
        case .object(let object):
            object.flatMap { member in
                (member.name == "$ref" ? [member.value.string].compactMap { $0 } : []) + references(in: member.value)
            }
        case .array(let elements): elements.flatMap(references)
        default: []
        }
    }
}
