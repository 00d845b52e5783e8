import Foundation
import PatchbayJSON
import Testing

@Suite("patchbay migrate") struct MigrateTests {
    private let driver: CommandDriver
    private let formats = ["migrate", "apply", "--from", "neutral.contacts", "--to", "neutral.contacts"]

    static let contacts = """
        {"identifiers":[{"kind":"external","value":"c-1"}],"attributes":{"birth_date":"1990-04-01"}}
        {"identifiers":[{"kind":"external","value":"c-2"}],"attributes":{"birth_date":"1990-02-30"}}
        {"oops

        """

    init() throws {
        driver = try CommandDriver()
        try driver.write("in.ndjson", Self.contacts)
    }

    private func migrate(_ arguments: String...) async throws -> CommandRun.Result {
        try await driver.start(formats + arguments).result()
    }

    @Test func `writes contacts, and rejects with their reasons and rows`() async throws {
        let result = try await migrate(
            "--in",
            "in.ndjson",
            "--out",
            "out.ndjson",
            "--rejects",
            "bad.ndjson",
            "--config",
            driver.configuration()
        )
        #expect(result.status == 1)
        #expect(result.messages.contains("3 read, 1 written, 2 rejected."))
        #expect(result.messages.contains("(catalogue.attribute.type)"))
        #expect(try driver.read("out.ndjson").contains("{\"date\":\"1990-04-01\"}"))
        let rejects = try driver.read("bad.ndjson").split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(rejects.map { $0["line"]?.integer } == [2, 3])
        let rows = Self.contacts.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(try driver.read("bad.replay.ndjson") == rows + "\n")
    }

    @Test(arguments: [
        ("neutral.contacts", ""), ("neutral.contacts", "\n\r\n"), ("altcraft.profiles", ""),
        ("salesforce.contacts", "Contact Key,First Name\n"),
    ])
    func `reports a file without contacts in every format`(_ format: String, _ text: String) async throws {
        try driver.write("none.txt", text)
        for command in ["plan", "apply"] {
            let more = command == "apply" ? ["--out", "out.ndjson"] : []
            let flags = ["--from", format, "--to", "neutral.contacts", "--in", "none.txt"]
            let result = try await driver.start(["migrate", command] + flags + more).result()
            #expect(result.status == 2, "\(command) \(result.messages)")
            #expect(
                format.hasPrefix("salesforce") || result.messages.contains("none.txt: The source holds no contacts"),
                "\(result.messages)"
            )
        }
        #expect(!driver.files.contains { $0.hasPrefix("out.ndjson") })
    }

    @Test func `names the lines that contradict each other in a plan`() async throws {
        let rows = ["c-1;a@x.example;false", "c-2;b@x.example;false", "c-3;A@x.example;true", "c-1;c@x.example;true"]
        try driver.write("torn.txt", "externalId;email;blackListEmail\n" + rows.joined(separator: "\n") + "\n")
        let flags = ["migrate", "plan", "--from", "adobe.profiles", "--to", "salesforce.contacts", "--in", "torn.txt"]
        let plan = try await driver.start(flags).result()
        #expect(plan.output.contains("lines 2, 4: the same email opts in and out"), "\(plan.output)")
        #expect(plan.output.contains("lines 2, 5: the same external opts in and out"))
        #expect(plan.output.contains("migration.consent.addressContradiction"))
        let json = try await JSONValue(parsing: driver.start(flags + ["--json"]).result().output)
        #expect(
            json["contradictionLines"] == [
                ["kind": "email", "lines": [2, 4]], ["kind": "external", "lines": [2, 5]],
            ]
        )
    }

    @Test func `names the setting that rejects most records, in plan and run, as text and JSON`() async throws {
        try driver.write(
            "sf.csv",
            "Contact Key,Email Address,Status\nc-1,a@x.example,Active\nc-2,b@x.example,Active\nc-3,c@x.example,Unsubscribed\n"
        )
        try driver.write("settings.json", #"{"to":{"listId":"771100"}}"#)
        let flags = [
            "--from", "salesforce.contacts", "--to", "acoustic.contacts", "--in", "sf.csv", "--settings",
            "settings.json",
        ]
        let line =
            "(acoustic.record.withoutOptIn) The setting to.withoutOptIn can change this; `apply --rejects FILE` lists a remedy for each."
        let run = try await driver.start(["migrate", "apply"] + flags + ["--out", "out.psv"]).result()
        #expect(run.messages.contains(line))
        let plan = try await driver.start(["migrate", "plan"] + flags).result()
        #expect(plan.output.contains(line))
        for (command, more) in [("plan", []), ("apply", ["--dry-run"])] {
            let json = try await driver.start(["migrate", command] + flags + more + ["--json"]).result()
            let value = try JSONValue(parsing: json.output)
            let refusals = try #require((value["report"] ?? value)["refusals"]?.array)
            #expect(
                refusals.first == ["code": "acoustic.record.withoutOptIn", "setting": "to.withoutOptIn", "contacts": 2]
            )
            #expect(refusals.dropFirst().first?["code"] == "acoustic.record.optedOut")
        }
    }

    @Test func `copies standard input for evidence and removes the copy afterwards`() async throws {
        let flags = ["--out", "out.ndjson", "--rejects", "bad.ndjson", "--evidence", "evidence.ndjson"]
        let result = try await driver.start(formats + flags, input: Self.contacts).result()
        #expect(result.status == 1)
        #expect(result.messages.contains("3 read, 2 written, 1 rejected."))
        #expect(try driver.read("out.ndjson").split(separator: "\n").count == 2)
        #expect(driver.files.contains("evidence.ndjson"))
        #expect(!driver.files.contains { $0.hasSuffix(".input") })
        // Files of an earlier run are not overwritten.
        try driver.write("out.ndjson.input", "{}\n")
        let again = try await driver.start(formats + flags, input: Self.contacts).result()
        #expect(again.status == 64)
        #expect(again.messages.contains("Resume it with --in out.ndjson.input"))
        #expect(try driver.read("out.ndjson.input") == "{}\n")
    }

    @Test func `reads the target of verify from standard input, but rejects two inputs from it`() async throws {
        let verify = ["migrate", "verify", "--from", "neutral.contacts", "--to", "neutral.contacts", "--target", "-"]
        try driver.write("one.ndjson", "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}]}\n")
        let line = "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}]}\n"
        #expect(try await driver.start(verify + ["--in", "one.ndjson"], input: line).result().status == 0)
        #expect(try await driver.start(verify + ["--in", "one.ndjson"], input: "").result().status == 1)
        #expect(try await driver.start(verify + ["--in", "-"], input: line).result().status == 64)
    }

    @Test func `writes the parts beside the file and does not mix them with older parts`() async throws {
        let lines = (1...50).map { "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-\($0)\"}]}\n" }
        try driver.write("people.ndjson", lines.joined())
        let split = ["migrate", "split", "--to", "neutral.contacts", "people.ndjson"]
        let result = try await driver.start(split + ["--size", "1000"]).result()
        #expect(result.status == 0)
        let parts = try ["people.1.ndjson", "people.2.ndjson", "people.3.ndjson"].map { try driver.read($0) }
        #expect(parts.joined() == lines.joined())
        #expect(parts.allSatisfy { $0.utf8.count <= 1000 })
        let before = driver.files
        #expect(
            try await driver.start(split + ["--size", "1000"]).result().messages.contains(
                "people.1.ndjson exists already"
            )
        )
        let sizeless = try await driver.start(split).result()
        #expect(sizeless.status == 64)
        #expect(sizeless.messages.contains("Give one with --size BYTES"))
        #expect(driver.files == before)
    }

    @Test(arguments: [
        // The rejected rows are stored beside the list, with the extension of the source.
        ["--in", "bad.ndjson", "--out", "out.ndjson", "--rejects", "bad.json"],
        ["--in", "bad.ndjson", "--out", "./bad.ndjson"], ["--in", "bad.ndjson", "--out", "new", "--rejects", "new"],
    ]) func `rejects a file that is named twice and leaves it unchanged`(_ files: [String]) async throws {
        try driver.write("bad.ndjson", "{\"identifiers\":[]}\n")
        let before = driver.files
        let result = try await driver.start(formats + files).result()
        #expect(result.status == 64)
        #expect(result.messages.contains("name the same file"))
        #expect(driver.files == before)
        #expect(try driver.read("bad.ndjson") == "{\"identifiers\":[]}\n")
    }

    @Test(arguments: [
        ["plan", "--html", "in.ndjson"], ["plan", "--settings", "set.json", "--html", "./set.json"],
        ["apply", "--settings", "set.json", "--out", "set.json"], ["apply", "--out", "link"],
        ["apply", "--out", "b", "--rejects", "b.partial"], ["apply", "--out", "b", "--evidence", "b.checkpoint"],
        ["apply", "--out", "b", "--journal", "j", "--rejects", "j.1.before"],
    ]) func `rejects an output that is another file of the same command line`(_ words: [String]) async throws {
        try driver.write("set.json", "{}")
        try FileManager.default.createSymbolicLink(atPath: driver.path("link"), withDestinationPath: "in.ndjson")
        let before = driver.files
        let line: [String] = ["migrate", words[0]] + formats.dropFirst(2) + ["--in", "in.ndjson"] + words.dropFirst()
        let result = try await driver.start(line).result()
        #expect(result.status == 64)
        #expect(result.messages.contains("name the same file"))
        #expect(driver.files == before)
        #expect(try driver.read("in.ndjson") == Self.contacts)
        #expect(try driver.read("set.json") == "{}")
    }

    @Test func `rejects a part that would replace the input of a split`() async throws {
        let lines = (1...50).map { "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-\($0)\"}]}\n" }.joined()
        try driver.write("people.2.ndjson", lines)
        let split = ["migrate", "split", "--to", "neutral.contacts", "people.2.ndjson", "--size", "1000"]
        let result = try await driver.start(split + ["--out", "people.ndjson"]).result()
        #expect(result.status == 64)
        #expect(result.messages.contains("FILE and a part name the same file"))
        #expect(try driver.read("people.2.ndjson") == lines)
    }

    @Test func `reads only contacts from standard input and writes only contacts to standard output`() async throws {
        let line = "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}]}\n"
        let streamed = try await driver.start(formats + ["--in", "-", "--out", "-", "--json"], input: line).result()
        #expect(streamed.output == line)
        let refused = [
            ["apply", "--out", "out.ndjson", "--rejects", "-"], ["apply", "--out", "out.ndjson", "--evidence", "-"],
            ["apply", "--out", "out.ndjson", "--journal", "-"], ["plan", "--html", "-"],
        ]
        for words in refused {
            let line: [String] =
                ["migrate", words[0]] + formats.dropFirst(2) + ["--in", "in.ndjson"] + words.dropFirst()
            let result = try await driver.start(line).result()
            #expect(result.status == 64)
            #expect(result.messages.contains("standard input and output (-) are not allowed here"), "\(words)")
        }
        try driver.write("out.ndjson", line)
        let verify = ["migrate", "verify"] + formats.dropFirst(2) + ["--in", "-", "--target", "out.ndjson"]
        let verified = try await driver.start(verify, input: line).result()
        #expect(verified.status == 0)
        #expect(verified.messages.contains("1 compared, 1 equal"))
        let sampled = try await driver.start(verify + ["--sample", "1"], input: line).result()
        #expect(sampled.status == 0)
        #expect(sampled.messages.contains("1 compared, 1 equal"))
        let split = ["migrate", "split", "--to", "neutral.contacts", "-", "--size", "1000"]
        #expect(try await driver.start(split, input: line).result().messages.contains("Name them with --out FILE"))
        #expect(try await driver.start(split + ["--out", "part.ndjson"], input: line).result().status == 0)
        #expect(try driver.read("part.1.ndjson") == line)
        #expect(try await driver.run("migrate", "undo", "-").status == 64)
        #expect(!driver.files.contains("-"))
    }

    @Test func `reads settings from standard input if nothing else does`() async throws {
        let settings = #"{"mapping": [{"set": "attributes.origin", "value": "old"}]}"#
        let words = formats + ["--in", "in.ndjson", "--settings", "-"]
        let done = try await driver.start(words + ["--out", "out.ndjson"], input: settings).result()
        #expect(done.messages.contains("3 read, 2 written, 1 rejected."))
        #expect(try driver.read("out.ndjson").contains(#""origin":"old""#))
        for flags in [["--in", "-"], []] {
            let twice = try await driver.start(formats + flags + ["--settings", "-"], input: settings).result()
            #expect(twice.status == 64)
            #expect(
                twice.messages.contains(
                    "--settings: standard input and output (-) are not allowed here: --in reads standard input. Name a file"
                )
            )
        }
        let broken = try await driver.start(words, input: #"{"mapping": "s3cret"#).result()
        #expect(broken.status == 78)
        #expect(broken.messages.contains("standard input") && !broken.messages.contains("s3cret"))
    }

    @Test func `reports an unreadable target record with its line and the reason`() async throws {
        let line = "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}]}\n"
        try driver.write("source.ndjson", line)
        try driver.write("target.ndjson", "\(line){\"oops\n")
        let verify = ["migrate", "verify"] + formats.dropFirst(2) + ["--in", "source.ndjson"]
        let result = try await driver.start(verify + ["--target", "target.ndjson"]).result()
        #expect(result.status == 1)
        #expect(result.output.hasPrefix("unreadable target record 2, line 2: The line is not JSON"))
        #expect(result.messages.contains("1 difference (1 unreadable target records)"))
    }

    @Test func `verify counts fields that the plan lists as lost as equal`() async throws {
        let contact = #"{"identifiers":[{"kind":"external","value":"c-1"}],"tags":["vip"],"locale":"fi-FI"}"#
        try driver.write("in.ndjson", contact + "\n")
        let settings = try driver.write(
            "to.json",
            #"{"to":{"dbId":1,"matching":"custom","matchingIdentifier":"external","identifierFields":{"external":"member_id"}}}"#
        )
        let pair = [
            "--from", "neutral.contacts", "--to", "altcraft.profiles", "--settings", settings, "--in", "in.ndjson",
        ]
        _ = try await driver.start(["migrate", "apply"] + pair + ["--out", "out.ndjson"]).result()
        let lossy = try await driver.start(["migrate", "verify"] + pair + ["--target", "out.ndjson"]).result()
        #expect(lossy.status == 0)
        #expect(lossy.messages.contains("lists as lost or changed (2 warnings) is no difference."), "\(lossy.messages)")
        try driver.write("in.ndjson", contact.replacing(#","tags":["vip"],"locale":"fi-FI""#, with: "") + "\n")
        _ = try await driver.start(["migrate", "apply"] + pair + ["--out", "out.ndjson"]).result()
        let whole = try await driver.start(["migrate", "verify"] + pair + ["--target", "out.ndjson"]).result()
        #expect(!whole.messages.contains("is no difference"))
    }

    @Test func `undo names the later migration that must be undone first`() async throws {
        let line = formats + ["--in", "in.ndjson", "--out", "out.ndjson", "--journal"]
        for journal in ["one.json", "two.json"] { _ = try await driver.start(line + [journal]).result() }
        let early = try await driver.run("migrate", "undo", "one.json")
        #expect(early.status == 2)
        #expect(
            early.messages.contains("Undo that migration first: `patchbay migrate undo two.json`."),
            "\(early.messages)"
        )
        let second = try await driver.run("migrate", "undo", "two.json")
        #expect(second.status == 0 && second.messages.contains("out.ndjson: restored as it was before the migration\n"))
        let first = try await driver.run("migrate", "undo", "one.json")
        #expect(
            first.status == 0 && first.messages.contains("out.ndjson: removed; it did not exist before the migration\n")
        )
        #expect(first.messages.contains("Everything is undone. Removed one.json.\n"))
        let again = try await driver.run("migrate", "undo", "one.json")
        #expect(again.status == 2 && again.messages.contains("there is nothing to undo"))
        // A later migration without a journal leaves no trace.
        _ = try await driver.start(line + ["one.json"]).result()
        _ = try await driver.start(line.dropLast() + []).result()
        let lost = try await driver.run("migrate", "undo", "one.json")
        #expect(lost.status == 2 && lost.messages.contains("(migration.journal.replaced)"), "\(lost.messages)")
    }

    @Test func `names the format flag for JSON of another format`() async throws {
        let contact = #"{"identifiers":[{"kind":"external","value":"c-1"}]}"#
        for (file, format) in [(contact, "neutral.contacts"), (#"{"email":"a@x.example"}"#, "altcraft.profiles")] {
            try driver.write("some.ndjson", file + "\n")
            for source in ["acoustic.contacts", "salesforce.contacts"] {
                let command = ["migrate", "plan", "--from", source, "--to", "neutral.contacts", "--in", "some.ndjson"]
                let result = try await driver.start(command).result()
                #expect(
                    result.messages.contains("some.ndjson looks like the format \(format), not \(source)."),
                    "\(result.messages)"
                )
                #expect(result.messages.contains("use --from \(format)."))
            }
            let right = ["migrate", "plan", "--from", format, "--to", "neutral.contacts", "--in", "some.ndjson"]
            #expect(try await !driver.start(right).result().messages.contains("looks like"))
        }
    }

    @Test func `Ctrl-C during a plan reports that there is none and leaves no files`() async throws {
        let result = try await driver.shell(
            """
            mkfifo pipe; "$PATCHBAY" migrate plan --from neutral.contacts --to neutral.contacts --html plan.html < pipe & command=$!
            exec 3> pipe; head -1 in.ndjson >&3
            # A signal before the command listens is lost.
            (sleep 0.5; while kill -INT $command; do sleep 5; done) 3>&- >/dev/null 2>&1 &
            wait $command; echo $?
            """
        )
        #expect(result.output == "130\n")
        #expect(
            result.messages.contains("No plan was written. Repeat the command to start over."),
            "\(result.messages)"
        )
        #expect(!driver.files.contains { $0.hasPrefix("plan") })
    }

    @Test func `keeps the map file of a source and undoes that of a target`() async throws {
        try driver.write("to.json", #"{"to": {"listId": "771100"}}"#)
        let there = ["migrate", "apply", "--from", "neutral.contacts", "--to", "acoustic.contacts"]
        let line = there + ["--in", "in.ndjson", "--settings", "to.json", "--journal", "back.json"]
        try driver.write("members.map.xml", "before")
        _ = try await driver.start(line + ["--out", "members.psv"]).result()
        let map = try driver.read("members.map.xml")
        #expect(map.contains("<LIST_ID>771100</LIST_ID>"))
        let again = try await driver.start(line + ["--out", "members.psv"]).result()
        #expect(again.status == 2)
        #expect(again.messages.contains("(migration.journal.other)"))
        for more: [String] in [[], ["--sidecar", "none"]] {
            let back = [
                "migrate", "apply", "--from", "acoustic.contacts", "--to", "acoustic.contacts", "--in", "members.psv",
                "--out", "members.csv", "--settings", "to.json",
            ]
            let result = try await driver.start(back + more).result()
            #expect([64, 78].contains(result.status))
            #expect(!more.isEmpty || result.messages.contains("name the same file, members.map.xml"))
        }
        #expect(try driver.read("members.map.xml") == map)
        #expect(try await driver.run("migrate", "undo", "back.json").status == 0)
        #expect(try driver.read("members.map.xml") == "before")
        #expect(!driver.files.contains { $0.hasPrefix("members.psv") || $0.hasPrefix("back.json") })
    }

    @Test func `copies contacts from standard input to standard output`() async throws {
        let line = "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}]}\n"
        let result = try await driver.start(formats, input: line).result()
        #expect(result.status == 0)
        #expect(result.output == line)
    }

    @Test func `a dry run counts and writes nothing`() async throws {
        let before = driver.files
        let result = try await migrate(
            "--in",
            "in.ndjson",
            "--out",
            "out.ndjson",
            "--rejects",
            "bad.ndjson",
            "--dry-run",
            "--json"
        )
        #expect(result.status == 1)
        #expect(try result.lines.map { $0["written"]?.integer } == [2])
        #expect(driver.files == before)
    }

    @Test func `applies the opt-outs of the original file to its corrected rows`() async throws {
        func contact(_ state: String, _ rest: String = "") -> String {
            #"{"identifiers":[{"kind":"external","value":"c-1"}],"subscriptions":[{"channel":"email","state":"\#(state)"}]\#(rest)}"#
                + "\n"
        }
        try driver.write("all.ndjson", contact("unsubscribed") + contact("subscribed", #","tags":7"#))
        try driver.write("corrected.ndjson", contact("subscribed"))
        let first = try await migrate("--in", "all.ndjson", "--out", "one.ndjson", "--rejects", "bad.ndjson")
        #expect(first.messages.contains("2 read, 1 written, 1 rejected."))
        let (second, both) = (["--out", "two.ndjson"], ["--in", "corrected.ndjson", "--after", "all.ndjson"])
        let result = try await driver.start(formats + both + second).result()
        #expect(result.messages.contains("(migration.consent.earlierNo)"))
        #expect(try driver.read("two.ndjson") == contact("unsubscribed"))
        let verify = ["migrate", "verify"] + formats.dropFirst(2) + both + ["--target", "two.ndjson"]
        #expect(try await driver.start(verify).result().status == 0)
        let plan = ["migrate", "plan"] + formats.dropFirst(2) + both
        #expect(try await driver.start(plan).result().output.contains("migration.consent.earlierNo"))
        let own = try await migrate("--in", "corrected.ndjson", "--after", "all.ndjson", "--out", "all.ndjson")
        #expect(own.status == 64 && own.messages.contains("--after and --out name the same file"))
        #expect(try await migrate("--in", "corrected.ndjson", "--after", "none", "--out", "x").status == 2)
    }

    @Test func `leaves the old file and no partial file after a failure`() async throws {
        try driver.write("out.ndjson", "old")
        let before = driver.files
        #expect(try await migrate("--in", "nothing.ndjson", "--out", "out.ndjson").status == 2)
        #expect(try await migrate("--in", ".", "--out", "out.ndjson").status == 2)
        #expect(try await migrate("--in", "in.ndjson", "--out", ".").status == 2)
        #expect(try await migrate("--in", "in.ndjson", "--out", "none/out.ndjson").status == 2)
        #expect(try driver.read("out.ndjson") == "old")
        #expect(driver.files == before)
    }

    @Test func `prints no control characters from files to the terminal`() async throws {
        let evil = "\u{1B}[31mTier\u{9B}2J\r"
        try driver.write("twice.csv", "Contact Key,\"\(evil)\",\"\(evil)\"\nk1,a,b\n")
        try driver.write("city.csv", "Contact Key,Email Address,City\nk1,a@x.example,Oulu\n")
        try driver.write("settings.json", #"{"from": {"\u001b[31m": 1}}"#)
        try driver.write("mapped.json", #"{"mapping": [{"rename": "attributes.city", "to": "attributes.\u001b[31m"}]}"#)
        let flags = ["--from", "salesforce.contacts", "--to", "neutral.contacts", "--in"]
        let lines = [
            ["apply"] + flags + ["twice.csv"], ["apply"] + flags + ["\u{1B}[31m.csv"],
            ["apply"] + flags + ["city.csv", "--settings", "settings.json"],
            ["plan"] + flags + ["city.csv", "--settings", "mapped.json"],
        ]
        for line in lines {
            let result = try await driver.start(["migrate"] + line).result()
            let said = result.output + result.messages
            #expect(said.contains(#"\u{1B}[31m"#), "\(said)")
            let isObeyed = said.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || 0x7F...0x9F ~= $0.value }
            #expect(!isObeyed)
        }
    }

    @Test func `reports a replaced file unless it was empty`() async throws {
        let line = "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}]}\n"
        try driver.write("one.ndjson", line)
        for (input, source) in [(["--in", "one.ndjson"], nil), ([], line)] as [([String], String?)] {
            for (old, isReported) in [("", false), ("old", true), (line, true)] {
                try driver.write("out.ndjson", old)
                let result = try await driver.start(formats + input + ["--out", "out.ndjson"], input: source).result()
                #expect(result.status == 0)
                #expect(result.messages.contains("Replaced out.ndjson.") == isReported)
            }
        }
        let dry = try await migrate("--in", "one.ndjson", "--out", "out.ndjson", "--dry-run")
        let device = try await migrate("--in", "one.ndjson", "--out", "/dev/null")
        #expect(!dry.messages.contains("replaced") && !device.messages.contains("replaced"))
    }

    @Test func `removes the drafts of dead processes and names those of live ones`() async throws {
        let dead = try await driver.shell("exec sh -c 'echo $$'").output.trimmingCharacters(in: .newlines)
        let alive = getpid()
        for process in [dead, "\(alive)"] {
            for name in ["out.ndjson", "out.ndjson.input"] { try driver.write("\(name).\(process).partial", "left") }
        }
        let result = try await migrate("--in", "in.ndjson", "--out", "out.ndjson")
        let left = ["out.ndjson.\(alive).partial", "out.ndjson.input.\(alive).partial"]
        #expect(driver.files.filter { $0.hasSuffix(".partial") } == left.sorted())
        for name in left { #expect(result.messages.contains("\(name) belongs to another run")) }
    }

    @Test func `a stopped run reports its remaining files and how to resume it`() async throws {
        let line = "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}]}\n"
        try driver.write("many.ndjson", String(repeating: line, count: 200_000))
        try driver.write("one.ndjson", line)
        let command = "\"$PATCHBAY\" \(formats.joined(separator: " "))"
        let kept = try await driver.shell(
            """
            \(command) --checkpoint 0 --out out.ndjson --evidence all.ndjson < many.ndjson & command=$!
            until [ -e out.ndjson.checkpoint ]; do sleep 0.01; done
            kill -INT $command; wait $command
            """
        )
        #expect(
            kept.messages.contains("Repeat the command with --in out.ndjson.input to resume; --restart starts over."),
            "\(kept.messages)"
        )
        #expect(driver.files.contains("out.ndjson.input"))
        let stops = [
            (
                "--evidence other.all",
                "Interrupted while reading standard input. No file was written. Repeat the command."
            ),
            ("", "no file was written. Standard input cannot be resumed. Start over."),
        ]
        for (flag, words) in stops {
            let early = try await driver.shell(
                """
                mkfifo pipe; \(command) --out other \(flag) < pipe & command=$!
                exec 3> pipe; cat one.ndjson >&3
                until ls other*.partial; do sleep 0.01; done
                kill -TERM $command; wait $command; rm pipe
                """
            )
            #expect(early.messages.contains(words), "\(early.messages)")
            #expect(!driver.files.contains { $0.hasPrefix("other") })
        }
    }

    @Test func `logs each phase without values`() async throws {
        for (input, source) in [(["--in", "in.ndjson"], nil), ([], Self.contacts)] as [([String], String?)] {
            let flags = ["--out", "out.ndjson", "--log", "trace"]
            let result = try await driver.start(formats + input + flags, input: source).result()
            for phase in ["moving", "naming"] {
                #expect(result.messages.contains(" info PatchbayMigration: phase began phase=\(phase)\n"))
            }
            #expect(result.messages.contains("phase ended bytes=\(Self.contacts.utf8.count) phase=moving records=3\n"))
            #expect(!result.messages.contains("c-1"))
        }
    }

    @Test func `validates settings before it reads the first byte`() async throws {
        try driver.write("settings.json", "{\"from\": {\"colour\": 1}, \"to\": {\"size\": 2}}")
        let result = try await migrate("--in", "in.ndjson", "--settings", "settings.json", "--out", "out.ndjson")
        #expect(result.status == 78)
        #expect(result.messages.contains("from.colour: "))
        #expect(result.messages.contains("to.size: "))
        #expect(!driver.files.contains("out.ndjson"))
    }

    @Test func `rejects format settings that are not objects`() async throws {
        try driver.write("settings.json", #"{"from": [{"colour": 1}], "to": null, "mappin": []}"#)
        for command in [
            ["split", "in.ndjson", "--to", "neutral.contacts", "--size", "9"], ["plan"] + formats.dropFirst(2),
        ] {
            let input = command[0] == "plan" ? ["--in", "in.ndjson"] : []
            let result = try await driver.start(["migrate"] + command + input + ["--settings", "settings.json"])
                .result()
            #expect(result.status == 78)
            for problem in ["error: from: ", "error: to: ", "error: mappin: "] {
                #expect(result.messages.contains(problem), "\(result.messages)")
            }
        }
    }

    @Test func `accepts a byte-order mark in settings from a file and from standard input`() async throws {
        let settings = "\u{FEFF}" + #"{"mapping": [{"rename": "attributes.birth_date", "to": "attributes.born"}]}"#
        let path = try driver.write("settings.json", settings)
        let flags = formats + ["--in", "in.ndjson", "--out", "out.ndjson", "--settings"]
        for (place, input) in [(path, nil), ("-", settings)] as [(String, String?)] {
            let result = try await driver.start(flags + [place], input: input).result()
            #expect(result.status == 1, "\(result.messages)")
            #expect(try driver.read("out.ndjson").contains("\"born\""))
        }
    }

    @Test func `applies and plans the mapping in settings, and verify expects it`() async throws {
        try driver.write(
            "settings.json",
            #"{"mapping": [{"rename": "attributes.birth_date", "to": "attributes.born"}]}"#
        )
        let settings = ["--in", "in.ndjson", "--settings", "settings.json"]
        let plan = try await driver.start(["migrate", "plan"] + formats.dropFirst(2) + settings).result()
        #expect(plan.output.contains("Mapping rules"))
        #expect(plan.output.contains("rename attributes.birth_date to attributes.born"))
        _ = try await migrate(settings[0], settings[1], settings[2], settings[3], "--out", "out.ndjson")
        #expect(try driver.read("out.ndjson").contains(#""attributes":{"born":"1990-04-01"}"#))
        let verify = ["migrate", "verify"] + formats.dropFirst(2) + settings + ["--target", "out.ndjson"]
        #expect(try await driver.start(verify).result().status == 0)
        try driver.write("settings.json", #"{"mapping": [{"rename": "nowhere"}], "more": 1}"#)
        #expect(try await migrate(settings[0], settings[1], settings[2], settings[3]).status == 78)
        try driver.write("settings.json", #"{"mapping": [{"rename": "nowhere"}]}"#)
        let refused = try await migrate(settings[0], settings[1], settings[2], settings[3])
        #expect(refused.status == 78)
        #expect(refused.messages.contains("error: mapping[0].rename: "))
    }

    @Test func `writes the additional files that the vendor requires`() async throws {
        try driver.write("settings.json", #"{"to": {"listId": "771100"}}"#)
        let command = [
            "migrate", "apply", "--from", "neutral.contacts", "--to", "acoustic.contacts", "--in", "in.ndjson",
            "--settings", "settings.json",
        ]
        let done = try await driver.start(command + ["--out", "out.psv"]).result()
        #expect(done.messages.contains("Wrote out.map.xml (the map file of the import)."))
        #expect(try driver.read("out.map.xml").contains("<LIST_ID>771100</LIST_ID>"))
        let before = driver.files
        let streamed = try await driver.start(command).result()
        #expect(streamed.messages.contains("The vendor also requires the map file of the import. Use --out FILE"))
        _ = try await driver.start(command + ["--out", "other.psv", "--dry-run"]).result()
        #expect(driver.files == before)
    }

    @Test func `reads a file without a header through its sidecar file`() async throws {
        let people = (1...3).map {
            "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-\($0)\"}],\"attributes\":{\"points\":\($0)}}\n"
        }
        try driver.write(
            "people.ndjson",
            people.joined() + #"{"identifiers":[{"kind":"external","value":"c-4"}],"attributes":{"points":true}}"#
        )
        let columns = #""columns": {"Points": "attribute:points"}, "types": {"points": "string"}"#
        let names = #"["CustomerId", "Email"]"#
        try driver.write("to.json", "{\"to\": {\"listId\": \"1\", \"delimiter\": \"tab\", \(columns)}}")
        try driver.write(
            "bare.json",
            "{\"to\": {\"listId\": \"1\", \"delimiter\": \"tab\", \(columns), \"header\": \(names)}}"
        )
        try driver.write("from.json", #"{"from": {"types": {"points": "integer"}, "onInvalid": "reject"}}"#)
        func run(_ words: String...) async throws -> CommandRun.Result {
            try await driver.start(["migrate"] + words).result()
        }
        let there = ["--from", "neutral.contacts", "--to", "acoustic.contacts", "--in", "people.ndjson"]
        for (settings, out) in [("to.json", "full.psv"), ("bare.json", "bare.psv")] {
            _ = try await driver.start(["migrate", "apply"] + there + ["--settings", settings, "--out", out]).result()
        }
        let back = [
            "migrate", "apply", "--from", "acoustic.contacts", "--to", "neutral.contacts", "--settings", "from.json",
        ]
        let full = try await driver.start(back + ["--in", "full.psv", "--out", "full.ndjson"]).result()
        let bare = try await driver.start(back + ["--in", "bare.psv", "--out", "bare.ndjson", "--rejects", "no.json"])
            .result()
        #expect(bare.messages.contains("Reading the source as bare.map.xml describes (the map file of the import)."))
        #expect(full.messages.contains("as full.map.xml describes"))
        let written = try driver.read("bare.ndjson")
        #expect(written == (try driver.read("full.ndjson")) && written.contains(#""points":2"#))
        // The rejected rows are read the same way.
        #expect(try driver.read("no.map.xml") == driver.read("bare.map.xml"))
        #expect(try driver.read("no.psv").contains("c-4\t"))
        let verify = ["migrate", "verify"] + back.dropFirst(2) + ["--in", "bare.psv", "--target", "full.ndjson"]
        #expect(try await driver.start(verify).result().messages.contains("3 equal, 0 differences"))
        let alone = try await driver.start(back + ["--in", "bare.psv", "--out", "x.ndjson", "--sidecar", "none"])
            .result()
        #expect(alone.status == 2 || alone.status == 78)
        try driver.write("other.xml", "<LIST_IMPORT>\n<LIST_INFO/>\n</LIST_IMPORT>")
        let wrong = try await driver.start(back + ["--in", "bare.psv", "--out", "x.ndjson", "--sidecar", "other.xml"])
            .result()
        #expect(wrong.status == 78)
        #expect(wrong.messages.contains("patchbay: other.xml: LIST_INFO.FILE_TYPE: "))
        #expect(wrong.messages.contains("line 2, column 1"))
        let lost = try await run(
            "apply",
            "--from",
            "neutral.contacts",
            "--to",
            "neutral.contacts",
            "--in",
            "people.ndjson",
            "--sidecar",
            "other.xml"
        )
        #expect(lost.status == 64)
        #expect(!driver.files.contains("x.ndjson"))
    }

    #if os(Linux)
    @Test func `reports a full disk and exits with 2`() async throws {
        let result = try await migrate("--in", "in.ndjson", "--out", "/dev/full")
        #expect(result.status == 2)
        #expect(result.messages.contains("cannot write /dev/full: No space left on device. Free space"))
    }
    #endif

    @Test(arguments: [(["--in", "in.ndjson"], ["--out", "-"]), (["--in", "-"], ["--out", "out.ndjson"])])
    func `writes no opt-in before an opt-out if input or output is a pipe`(
        _ input: [String],
        _ output: [String]
    ) async throws {
        func person(_ number: Int, _ state: String) -> String {
            #"{"identifiers":[{"kind":"external","value":"k-\#(number)"}],"#
                + #""subscriptions":[{"channel":"email","state":"\#(state)"}]}"# + "\n"
        }
        let driver = try CommandDriver()
        let source = person(1, "subscribed") + person(2, "subscribed") + person(1, "unsubscribed")
        try driver.write("in.ndjson", source)
        let formats = ["migrate", "apply", "--from", "neutral.contacts", "--to", "neutral.contacts"]
        let run = try await driver.start(formats + input + output, input: input[1] == "-" ? source : nil).result()
        if input[1] == "-" {
            #expect(run.status != 0 && run.messages.contains("migration.consent.laterNo"), "\(run.messages)")
            #expect(run.messages.contains("Use --in FILE") && !driver.files.contains("out.ndjson"))
        } else {
            #expect(run.output.split(separator: "\n").count == 3)
            #expect(run.output.split(separator: "\n")[0].contains("unsubscribed"), "\(run.output)")
        }
    }
}
