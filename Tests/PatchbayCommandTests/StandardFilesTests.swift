import Foundation
import PatchbayJSON
import Testing

/// The caller may have closed the standard files of the command.
@Suite("Closed standard files") struct StandardFilesTests {
    private let driver: CommandDriver

    init() throws { driver = try CommandDriver() }

    private static let closed = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"]

    @Test(.timeLimit(.minutes(60)), arguments: closed)
    func `treats closed standard files as empty and uses no other file in their place`(_ closed: String) async throws {
        let configuration = try driver.configuration()
        try driver.write(
            "one.ndjson",
            #"{"id":"op-1","subject":"s","action":{"kind":"changeTags","tags":{"add":["vip"]}}}"# + "\n"
        )
        // First standard input, if it is open; then an operation from a file.
        let result = try await driver.shell(
            """
            "$PATCHBAY" send --config '\(configuration)' --until-idle 0 \(closed)
            echo "ended with $?"
            "$PATCHBAY" send --config '\(configuration)' --until-idle 0 one.ndjson \(closed)
            echo "ended with $?"
            "$PATCHBAY" outbox verify outbox.sqlite
            """,
            command: CommandDriver.command
        )
        let lines = result.output.split(separator: "\n")
        // The command cannot print the outcome if its output is closed; the outbox stores it nevertheless.
        let status = closed.contains(">&-") && closed != "2>&-" ? 2 : 1
        #expect(lines.filter { $0.hasPrefix("ended with") } == ["ended with 0", "ended with \(status)"])
        #expect(lines.last?.hasSuffix(": sound") == true)
        let stats = try await driver.run("outbox", "stats", "outbox.sqlite", "--json").lines
        #expect(stats.first?["captured"]?.integer == 1)
        #expect(stats.first?["balances"]?.bool == true)
    }

    @Test(.timeLimit(.minutes(60)), arguments: ["", "ulimit -f 1200;"])
    func `does not report unwritten records as written`(_ limit: String) async throws {
        let person = #"{"identifiers":[{"kind":"email","value":"a@x.example"}]}"# + "\n"
        // More than the limit, whether the shell counts 512 bytes or 1,024; the thread sanitizer writes 512 KiB of its own.
        try driver.write("in.ndjson", String(repeating: person, count: 30_000))
        let output = limit.isEmpty ? ">&-" : ">out"
        let result = try await driver.shell(
            """
            \(limit) "$PATCHBAY" migrate apply --from neutral.contacts --to neutral.contacts --in in.ndjson \(output)
            echo "ended with $?"
            """
        )
        #expect(result.output.contains("ended with 2"))
        #expect(!(result.output + result.messages).contains("written,"))
        #expect(result.messages.contains("cannot write standard output"))
    }
}
