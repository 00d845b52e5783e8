import Foundation
import PatchbayJSON
import Testing

/// Compares the examples of `Schemas/migration` with the output of the command. An independent validator checks them
/// against the schemas.
@Suite("Migration examples") struct MigrationExampleTests {
    private let driver: CommandDriver

    init() throws {
        driver = try CommandDriver()
        try driver.write("in.ndjson", Self.people)
        try driver.write("settings.json", #"{"to": {"dbId": 7, "resourceId": 3}}"#)
    }

    private static let people = """
        {"identifiers":[{"kind":"email","value":"aino@x.example"}],"attributes":{"city":"Oulu","likes":["tea"]},\
        "subscriptions":[{"channel":"email","state":"subscribed","changedAt":"2029-05-17T06:00:00Z","source":"shop"}],\
        "consents":[{"purpose":"messaging","channel":"email","state":"denied"}],"tags":["vip"],"locale":"fi_FI"}
        {"identifiers":[{"kind":"email","value":"Aino@x.example"}],"attributes":{"city":"Ii"},\
        "devices":[{"pushToken":{"value":"abababababababababababababababababababababababababababababababab","service":"apns"}}]}
        {"oops

        """

    private func example(_ name: String) throws -> JSONValue {
        let file = CommandDriver.repository.appending(path: "Schemas/migration/examples/\(name).json")
        return try JSONValue(parsing: String(contentsOf: file, encoding: .utf8))
    }

    private func migrate(_ command: String, _ more: String...) async throws -> CommandRun.Result {
        let formats = ["--from", "neutral.contacts", "--to", "altcraft.profiles", "--settings", "settings.json"]
        return try await driver.start(["migrate", command] + formats + ["--in", "in.ndjson"] + more).result()
    }

    @Test func `prints the example of a plan`() async throws {
        let result = try await migrate("plan", "--json", "--rate", "2")
        #expect(result.status == 1)
        #expect(try result.lines == [example("plan.three")])
    }

    @Test func `prints the example of a comparison of two vendors`() async throws {
        let lines = try await driver.run("compare", "adobe", "adobe-classic", "--json").lines
        #expect(try lines == [example("comparison.two-apis")])
    }

    @Test func `writes the examples of evidence and verification differences`() async throws {
        _ = try await migrate("apply", "--out", "out.ndjson", "--evidence", "evidence.ndjson")
        let evidence = try driver.read("evidence.ndjson").split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
        #expect(try evidence == ["head", "lowered", "not-carried"].map { try example("evidence.\($0)") })
        let changed = try driver.read("out.ndjson").replacing("Oulu", with: "Ii").split(separator: "\n")
        try driver.write("changed.ndjson", "\(changed[0])\n")
        try driver.write("broken.ndjson", "\(changed[0])\n{\"oops\n")
        let broken = try await migrate("verify", "--target", "broken.ndjson", "--json").lines
        #expect(try broken.contains(example("difference.unreadable")))
        let found = try await migrate("verify", "--target", "changed.ndjson", "--json", "--sample", "9").lines
        #expect(found.count == 3)
        let differences = Set(found.prefix(2))
        #expect(try differences == Set(["changed", "missing"].map { try example("difference.\($0)") }))
        #expect(try found.last == example("verification.sample"))
    }
}
