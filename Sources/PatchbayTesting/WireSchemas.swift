import Foundation
import PatchbayAdapterKit
import PatchbayJSON

/// The JSON Schemas of a vendor's wire records, which were written from the vendor's documents and not from the adapter.
///
/// The `index.json` of the folder names the schema of each field table: `{"tables": {"<title>": "<file>#/$defs/<name>"}}`.
struct WireSchemas {
    private let tables: JSONObject
    private let files: [String: JSONValue]

    /// Reads the schemas of a folder; nil if it has no index.
    init?(in folder: URL) throws {
        let index = folder.appendingPathComponent("index.json")
        guard FileManager.default.fileExists(atPath: index.path) else { return nil }
        tables = try WireSchemas.read(index)["tables"]?.object ?? [:]
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        files = try Dictionary(
            uniqueKeysWithValues: names.filter { $0.hasSuffix(".schema.json") }.map { name in
                (name, try WireSchemas.read(folder.appendingPathComponent(name)))
            }
        )
    }

    private static func read(_ url: URL) throws -> JSONValue {
        try JSONValue(parsing: String(contentsOf: url, encoding: .utf8))
    }

    /// Returns the contradictions between a table and its schema.
    func problems(of table: FieldTableSummary) -> [String] {
        guard let reference = tables[table.title]?.string else {
            return ["index.json names no schema for the table \"\(table.title)\". Add one to its tables."]
        }
        guard let schema = Node(reference, in: files) else {
            return ["index.json names \(reference) for the table \"\(table.title)\", which does not exist."]
        }
        return difference(Node(json: table.schema, file: "", files: [:]), schema, at: "\"\(table.title)\"")
    }

    /// Compares two fragments. One may state less than the other; common statements must agree.
    private func difference(_ form: Node, _ schema: Node, at place: String) -> [String] {
        var problems = typeProblems(form, schema, at: place) + patternProblems(form, schema, at: place)
        if let formNames = form.names, let schemaNames = schema.names {
            problems += listing(formNames, schemaNames, "has", at: place)
            problems += listing(form.required, schema.required, "always has", at: place)
            for name in formNames.intersection(schemaNames).sorted() {
                guard let inner = form["properties", name], let other = schema["properties", name] else { continue }
                problems += difference(inner, other, at: "\(place).\(name)")
            }
        }
        if let inner = form["items"], let other = schema["items"] {
            problems += difference(inner, other, at: "\(place)[]")
        }
        return problems
    }

    private func listing(_ table: Set<String>, _ schema: Set<String>, _ verb: String, at place: String) -> [String] {
        table.subtracting(schema).sorted().map { "\(place) \(verb) \($0) in the adapter's table, not in the schema." }
            + schema.subtracting(table).sorted().map {
                "\(place) \(verb) \($0) in the schema, not in the adapter's table."
            }
    }

    private func typeProblems(_ form: Node, _ schema: Node, at place: String) -> [String] {
        guard let table = form.types, let vendor = schema.types, table.isDisjoint(with: vendor) else { return [] }
        return ["\(place) is \(table.sorted()) in the adapter's table and \(vendor.sorted()) in the schema."]
    }

    /// Tests the table's pattern with the enumerated values and examples of the schema, because patterns cannot be
    /// compared.
    private func patternProblems(_ form: Node, _ schema: Node, at place: String) -> [String] {
        guard let pattern = form.json["pattern"]?.string else { return [] }
        let texts = schema.samples.compactMap(\.string)
        guard !texts.isEmpty else {
            return ["\(place) has a pattern in the adapter's table, but the schema has no example to test it with."]
        }
        return texts.filter { $0.range(of: pattern, options: .regularExpression) == nil }.map {
            "\(place): the schema's example \($0) does not match the pattern of the adapter's table."
        }
    }
}

/// A schema or a part of one, with the files that its references need.
private struct Node {
    let json: JSONValue
    private let file: String
    private let files: [String: JSONValue]

    init(json: JSONValue, file: String, files: [String: JSONValue]) {
        (self.json, self.file, self.files) = (json, file, files)
    }

    /// Resolves `file#/pointer`; nil if the target does not exist or the references are endless.
    init?(_ reference: String, from file: String = "", in files: [String: JSONValue], depth: Int = 8) {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0].isEmpty ? file : parts[0]
        guard depth > 0, var json = files[name] else { return nil }
        for step in (parts.count > 1 ? parts[1] : "").split(separator: "/") {
            guard let next = json[String(step)] else { return nil }
            json = next
        }
        if let onward = json["$ref"]?.string {
            self.init(onward, from: name, in: files, depth: depth - 1)
        } else {
            self.init(json: json, file: name, files: files)
        }
    }

    /// Returns a part, with its reference resolved.
    subscript(path: String...) -> Node? {
        var part = json
        for name in path {
            guard let next = part[name] else { return nil }
            part = next
        }
        return resolved(part)
    }

    private func resolved(_ part: JSONValue) -> Node? {
        part["$ref"]?.string.map { Node($0, from: file, in: files) } ?? Node(json: part, file: file, files: files)
    }

    /// The names that an object may have; nil if the schema does not restrict them.
    var names: Set<String>? { json["properties"]?.object.map { Set($0.map(\.name)) } }

    /// The names that an object must have.
    var required: Set<String> { Set(json["required"]?.array?.compactMap(\.string) ?? []) }

    /// The values and examples in the schema.
    var samples: [JSONValue] {
        (json["examples"]?.array ?? []) + (json["enum"]?.array ?? []) + [json["const"]].compactMap { $0 }
            + alternatives.flatMap(\.samples)
    }

    private var alternatives: [Node] {
        ((json["anyOf"]?.array ?? []) + (json["oneOf"]?.array ?? [])).compactMap(resolved)
    }

    /// The accepted JSON types; nil for any. An integer is a number, too.
    var types: Set<String>? {
        if let type = json["type"]?.string { return Node.widened([type]) }
        if let types = json["type"]?.array { return Node.widened(types.compactMap(\.string)) }
        let values = (json["enum"]?.array ?? []) + [json["const"]].compactMap { $0 }
        if !values.isEmpty { return Node.widened(values.map { $0.integer == nil ? $0.typeName : "integer" }) }
        let inner = alternatives.map(\.types)
        return inner.isEmpty || inner.contains(nil) ? nil : inner.reduce(into: []) { $0.formUnion($1 ?? []) }
    }
}

extension Node {
    private static func widened(_ types: [String]) -> Set<String> {
        Set(types.contains("number") ? types + ["integer"] : types)
    }
}
