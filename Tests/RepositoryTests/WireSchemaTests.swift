import Foundation
import PatchbayJSON
import Testing

/// Every vendor has schemas of its wire records, and goldens that the validator does not read are stored as examples.
@Suite("Wire schemas") struct WireSchemaTests {
    private static let vendors = Repository.folders(in: "Adapters")

    private func folder(_ vendor: String) -> String { "Schemas/wire/\(vendor.lowercased())" }

    private func index(_ vendor: String) throws -> JSONValue {
        try JSONValue(parsing: Repository.text("\(folder(vendor))/index.json"))
    }

    @Test(arguments: vendors)
    func `an index names only existing schemas, and every schema is named or used`(_ vendor: String) throws {
        let index = try index(vendor)
        let rows = (index["requests"]?.array ?? []) + (index["forms"]?.array ?? [])
        var named = rows.compactMap { $0["schema"]?.string } + [index["records"]?.string].compactMap { $0 }
        named += index["tables"]?.object?.compactMap { $0.value.string } ?? []
        #expect(!named.isEmpty)
        let names = Set(named.compactMap { $0.split(separator: "#").first.map(String.init) })
        let files = Repository.files(folder(vendor), suffix: ".schema.json")
        let present = Set(files.map { String($0.path.dropFirst(folder(vendor).count + 1)) })
        #expect(names.subtracting(present) == [])
        for name in present.subtracting(names) {
            #expect(files.contains { $0.text.contains("\"\(name)#") }, "No schema of \(vendor) uses \(name).")
        }
    }

    @Test(arguments: vendors)
    func `every form of a golden is stored as an example`(_ vendor: String) throws {
        let forms = try index(vendor)["forms"]?.array ?? []
        var found = 0
        for golden in Repository.files("Adapters/\(vendor)/Goldens/Requests", suffix: ".txt") {
            var number = 0
            for part in golden.text.components(separatedBy: "\n###\n") {
                guard let form = MultipartForm(part) else { continue }
                let fitting = forms.filter { $0["request"]?.string.map(form.line.matches) == true }
                #expect(fitting.count == 1, "\(golden.path): one form of index.json must fit \(form.line).")
                guard let row = fitting.first, let schema = row["schema"]?.string else { continue }
                let json = Set(row["json"]?.array?.compactMap(\.string) ?? [])
                number += 1
                try expectExample(of: schema, for: golden, vendor, number, try form.object(json: json))
                found += 1
            }
        }
        #expect(forms.isEmpty || found > 0)
    }

    @Test(arguments: vendors)
    func `every record of a golden is stored as an example`(_ vendor: String) throws {
        guard let schema = try index(vendor)["records"]?.string else { return }
        var found = 0
        for golden in Repository.files("Adapters/\(vendor)/Goldens/Records", suffix: ".txt") {
            for line in golden.text.split(separator: "\n") where line.hasPrefix("{") {
                try expectExample(of: schema, for: golden, vendor, 1, try JSONValue(parsing: String(line)))
                found += 1
            }
        }
        #expect(found > 0)
    }

    /// The example is written with the goldens, so that the independent validator checks the real requests.
    private func expectExample(
        of schema: String,
        for golden: Repository.File,
        _ vendor: String,
        _ number: Int,
        _ value: JSONValue
    ) throws {
        let sample = URL(filePath: golden.path).deletingPathExtension().lastPathComponent
        let name = schema.replacing(".schema.json", with: ".\(sample)\(number > 1 ? ".\(number)" : "").json")
        let path = "\(folder(vendor))/examples/\(name)"
        let example = try? JSONValue(parsing: Repository.text(path))
        let environment = ProcessInfo.processInfo.environment
        if example != value, environment["UPDATE_GOLDENS"] == "1", environment["CI"] == nil {
            try Data((value.prettyText + "\n").utf8).write(to: Repository.root.appending(path: path))
            Issue.record("\(path) was rewritten.", severity: .warning)
        } else {
            #expect(example == value, "\(path) must be what \(golden.path) sends. Run `make goldens`.")
        }
    }
}

extension String {
    fileprivate func matches(_ pattern: String) -> Bool { range(of: pattern, options: .regularExpression) != nil }
}

/// A request of a golden whose body is a form.
private struct MultipartForm {
    let line: String
    private let parts: [(name: String, text: String)]

    /// Reads the form of a golden's request; nil if it has none.
    init?(_ request: String) {
        let request = request.replacing("\r\n", with: "\n").trimmingCharacters(in: .newlines)
        guard let boundary = request.firstMatch(of: /boundary=(\S+)/)?.1 else { return nil }
        line = String(request.prefix { $0 != "\n" })
        parts = request.components(separatedBy: "--\(boundary)").dropFirst().dropLast().compactMap { part in
            guard let name = part.firstMatch(of: /name="([^"]+)"/)?.1, let head = part.range(of: "\n\n") else {
                return nil
            }
            return (String(name), part[head.upperBound...].trimmingCharacters(in: .newlines))
        }
    }

    /// The parts by name; those of `json` as JSON.
    func object(json: Set<String>) throws -> JSONValue {
        .object(
            JSONObject(
                try parts.map { ($0.name, json.contains($0.name) ? try JSONValue(parsing: $0.text) : .string($0.text)) }
            )
        )
    }
}
