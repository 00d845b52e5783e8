import PatchbayJSON
import Testing

@Suite("patchbay adapters") struct AdaptersTests {
    @Test func `every adapter tells its capabilities`() async throws {
        let result = try await Workbench().run("adapters", "--json")
        let adapters = try #require(JSONValue(parsing: result.output).array)
        #expect(result.status == 0)
        #expect(!adapters.isEmpty)
        for adapter in adapters {
            #expect(adapter["id"]?.string?.isEmpty == false)
            let capabilities = try #require(adapter["capabilities"]?.object)
            #expect(!capabilities.isEmpty)
            let words = capabilities.map { $0.value["support"]?.string }
            #expect(words.allSatisfy { ["native", "emulated", "unsupported"].contains($0) })
        }
    }

    @Test func `the table has a line for each capability, without colours in a file`() async throws {
        let adapters = try JSONValue(parsing: try await Workbench().run("adapters", "--json").output)
        let id = try #require(adapters[0]?["id"]?.string)
        let text = try await Workbench().run("adapters", id).output
        let table = try await Workbench().run("adapters").output
        #expect(!text.contains("\u{1B}") && !table.contains("\u{1B}"))
        for adapter in adapters.array ?? [] {
            #expect(table.split(separator: "\n").count { $0.hasPrefix("\(adapter["id"]?.string ?? "?") ") } == 1)
        }
        for capability in adapters[0]?["capabilities"]?.object?.names ?? [] {
            #expect(text.contains("\n  \(capability) "))
        }
    }

    @Test func `every rule has a text, a source and its tests`() async throws {
        let result = try await Workbench().run("adapters", "--rules", "--json")
        let rules = try #require(JSONValue(parsing: result.output).array)
        #expect(!rules.isEmpty)
        for rule in rules {
            // A vendor's APIs share its rules: `adobe-classic` shows `adobe/C1`.
            let vendor = rule["adapter"]?.string?.prefix { $0 != "-" } ?? "?"
            #expect(rule["rule"]?.string?.hasPrefix("\(vendor)/") == true)
            #expect(rule["text"]?.string?.isEmpty == false)
            #expect(rule["source"]?.string?.isEmpty == false)
            #expect(rule["tests"]?.array != nil)
        }
        #expect(Set(rules.compactMap { $0["hasRow"]?.bool }) == [true, false])
    }

    @Test(arguments: ["evidence", "evidence/one.ndjson"])
    func `the tests of a run are listed with their rule`(_ path: String) async throws {
        let bench = try Workbench()
        let rules = try JSONValue(parsing: try await bench.run("adapters", "--rules", "--json").output)
        let rule = try #require(rules[0]?["rule"]?.string)
        let lines = ["b()", "a()", "b()"].map { "{\"rule\":\"\(rule)\",\"test\":\"Tests/\($0)\"}\n" }
        _ = try await bench.shell("mkdir evidence")
        try bench.write("evidence/one.ndjson", lines.joined())
        let result = try await bench.run("adapters", "--rules", "--evidence", path, "--json")
        #expect(try JSONValue(parsing: result.output)[0]?["tests"] == ["Tests/a()", "Tests/b()"])
        let text = try await bench.run("adapters", "--rules", "--evidence", path).output
        #expect(text.contains("; 2 tests]") && text.contains("; 0 tests]"))
    }
}
