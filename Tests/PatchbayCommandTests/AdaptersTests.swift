import PatchbayJSON
import Testing

@Suite("patchbay adapters") struct AdaptersTests {
    @Test func `lists the capabilities of every adapter`() async throws {
        let result = try await CommandDriver().run("adapters", "--json")
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

    @Test func `prints a line for each capability, without colours in a file`() async throws {
        let adapters = try JSONValue(parsing: try await CommandDriver().run("adapters", "--json").output)
        let id = try #require(adapters[0]?["id"]?.string)
        let text = try await CommandDriver().run("adapters", id).output
        let table = try await CommandDriver().run("adapters").output
        #expect(!text.contains("\u{1B}") && !table.contains("\u{1B}"))
        for adapter in adapters.array ?? [] {
            #expect(table.split(separator: "\n").count { $0.hasPrefix("\(adapter["id"]?.string ?? "?") ") } == 1)
        }
        for capability in adapters[0]?["capabilities"]?.object?.names ?? [] {
            #expect(text.contains("\n  \(capability) "))
        }
    }

    @Test func `lists a text, a source and tests for every rule`() async throws {
        let result = try await CommandDriver().run("adapters", "--rules", "--json")
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
    func `lists the tests of a run with their rules`(_ path: String) async throws {
        let driver = try CommandDriver()
        let rules = try JSONValue(parsing: try await driver.run("adapters", "--rules", "--json").output)
        let rule = try #require(rules[0]?["rule"]?.string)
        let lines = ["b()", "a()", "b()"].map { "{\"rule\":\"\(rule)\",\"test\":\"Tests/\($0)\"}\n" }
        _ = try await driver.shell("mkdir evidence")
        try driver.write("evidence/one.ndjson", lines.joined())
        let result = try await driver.run("adapters", "--rules", "--evidence", path, "--json")
        #expect(try JSONValue(parsing: result.output)[0]?["tests"] == ["Tests/a()", "Tests/b()"])
        let text = try await driver.run("adapters", "--rules", "--evidence", path).output
        #expect(text.contains("; 2 tests]") && text.contains("; 0 tests]"))
    }
}
