import Testing

/// A blank cell may overwrite the vendor's value, so columns that nothing in the source can fill are not written.
@Suite("Unfilled columns") struct UnfilledColumnsTests {
    private let driver: CommandDriver
    private static let export = "Contact Key,Email Address,First Name\nk-1,ana@mail.example,\nk-2,bo@mail.example,Bo\n"

    init() throws {
        driver = try CommandDriver()
        try driver.write("in.csv", Self.export)
    }

    private func migrate(_ command: String, _ more: String..., input: String? = nil) async throws -> CommandRun.Result {
        try await driver.start(
            ["migrate", command, "--from", "salesforce.contacts", "--to", "des.contacts"] + more,
            input: input
        ).result()
    }

    private func header(_ name: String = "out.csv") throws -> [String] {
        let line = try driver.read(name).split(whereSeparator: \.isNewline).first ?? ""
        return line.split(separator: ",").map { String($0).replacing("\"", with: "") }
    }

    @Test func `the plan lists unfilled columns and the output omits them`() async throws {
        let plan = try await migrate("plan", "--in", "in.csv")
        #expect(plan.output.contains("Columns that nothing in the source can fill are not written: "))
        #expect(plan.output.contains("City") && plan.output.contains("also with a blank one"))
        let run = try await migrate("apply", "--in", "in.csv", "--out", "out.csv")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try header() == ["E-Mail", "externalId", "First Name"])
        let verified = try await migrate("verify", "--in", "in.csv", "--target", "out.csv")
        #expect(verified.status == 0, "\(verified.output) \(verified.messages)")
    }

    @Test(arguments: [
        (#"{"to": {"columns": {"City": "attribute:city"}}}"#, "City"),
        (#"{"mapping": [{"default": "attributes.city", "value": "Turku"}]}"#, "City"),
        (#"{"mapping": [{"rename": "attributes.given_name", "to": "attributes.city"}]}"#, "City"),
        (#"{"mapping": [{"default": "subscriptions.email", "value": "unsubscribed"}]}"#, "Opt-In"),
    ])
    func `keeps a column that a setting or a mapping rule fills`(_ settings: String, _ column: String) async throws {
        try driver.write("settings.json", settings)
        let run = try await migrate("apply", "--in", "in.csv", "--out", "out.csv", "--settings", "settings.json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try header().contains(column))
        #expect(try header().contains("First Name") == !settings.contains("rename"))
    }

    @Test func `writes every column if the input is a pipe`() async throws {
        let run = try await migrate("apply", "--in", "-", "--out", "out.csv", input: Self.export)
        #expect(try header().contains("City"))
        #expect(run.messages.contains("Use --in FILE to leave such columns out."))
    }

    @Test func `opens a named pipe once`() async throws {
        let run = try await driver.shell(
            """
            mkfifo pipe; cat in.csv > pipe & writer=$!
            "$PATCHBAY" migrate apply --from salesforce.contacts --to des.contacts --in pipe --out out.csv
            wait $writer && echo 'writer done'
            """
        )
        #expect(run.messages.contains("2 written") && run.output.contains("writer done"), "\(run.messages)")
        #expect(try header().contains("City"))
    }

    private static let lines = """
        {"identifiers": [{"kind": "external", "value": "k-1"}, {"kind": "email", "value": "ana@mail.example"}]}
        {"identifiers": [{"kind": "external", "value": "k-2"}, {"kind": "email", "value": "bo@mail.example"}], \
        "attributes": {"given_name": "Bo"}}

        """

    private func migrateLines(_ command: String, _ more: String...) async throws -> CommandRun.Result {
        try await driver.start(
            ["migrate", command, "--from", "neutral.contacts", "--to", "des.contacts", "--in", "in.ndjson"] + more
        ).result()
    }

    @Test func `determines unfilled columns from the records of a source without a header`() async throws {
        try driver.write("in.ndjson", Self.lines)
        let plan = try await migrateLines("plan")
        #expect(plan.output.contains("Columns that nothing in the source can fill are not written: "))
        #expect(!plan.output.contains("First Name,") && plan.output.contains("City"))
        let run = try await migrateLines("apply", "--out", "out.csv")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try header() == ["E-Mail", "externalId", "First Name"])
        let verified = try await migrateLines("verify", "--target", "out.csv")
        #expect(verified.status == 0, "\(verified.output) \(verified.messages)")
    }

    @Test(arguments: [
        (#"[{"rename": "attributes.given_name", "to": "attributes.city"}]"#, ["E-Mail", "externalId", "City"]),
        (#"[{"remove": "attributes.given_name"}]"#, ["E-Mail", "externalId"]),
    ])
    func `considers mapping rules for unfilled columns`(_ rules: String, _ columns: [String]) async throws {
        try driver.write("in.ndjson", Self.lines)
        try driver.write("settings.json", #"{"mapping": \#(rules)}"#)
        _ = try await migrateLines("apply", "--out", "out.csv", "--settings", "settings.json")
        #expect(try header() == columns)
    }

    @Test func `reports rejected records as usual`() async throws {
        try driver.write("in.ndjson", Self.lines + "{\"identifiers\": 5}\n")
        let run = try await migrateLines("apply", "--out", "out.csv", "--rejects", "rejects.ndjson")
        #expect(run.status == 1 && run.messages.contains("1 rejected"), "\(run.messages)")
        #expect(try header() == ["E-Mail", "externalId", "First Name"])
    }

    @Test func `splits a file without the unfilled columns`() async throws {
        _ = try await migrate("apply", "--in", "in.csv", "--out", "out.csv")
        let split = ["migrate", "split", "--to", "des.contacts", "out.csv", "--size", "70"]
        let result = try await driver.start(split).result()
        #expect(result.status == 0, "\(result.messages)")
        #expect(try header("out.1.csv") == header() && header("out.2.csv") == header())
        for other in ["City,E-Mail\nTurku,ana@mail.example\n", "\nE-Mail,externalId\nana@mail.example,k-1\n"] {
            try driver.write("other.csv", other)
            let split = ["migrate", "split", "--to", "des.contacts", "other.csv", "--size", "70"]
            #expect(try await driver.start(split).result().status != 0)
        }
    }
}
