import Foundation
import PatchbayJSON
import Testing

/// Whoever starts the command may have closed what it reads from and writes to.
@Suite("Closed standard files") struct StandardFilesTests {
    private let bench: Workbench

    init() throws { bench = try Workbench() }

    private static let closed = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"]

    @Test(.timeLimit(.minutes(60)), arguments: closed)
    func `what is closed is empty, and nothing else is taken for it`(_ closed: String) async throws {
        let configuration = try bench.configuration()
        try bench.write(
            "one.ndjson",
            #"{"id":"op-1","subject":"s","action":{"kind":"changeTags","tags":{"add":["vip"]}}}"# + "\n"
        )
        // Standard input first, where there is one; then an operation from a file.
        let result = try await bench.shell(
            """
            "$PATCHBAY" send --config '\(configuration)' --until-idle 0 \(closed)
            echo "ended with $?"
            "$PATCHBAY" send --config '\(configuration)' --until-idle 0 one.ndjson \(closed)
            echo "ended with $?"
            "$PATCHBAY" outbox verify outbox.sqlite
            """,
            command: Workbench.command
        )
        let lines = result.output.split(separator: "\n")
        // How the operation ended could not be told where nobody can write it; it is in the outbox all the same.
        let told = closed.contains(">&-") && closed != "2>&-" ? 2 : 1
        #expect(lines.filter { $0.hasPrefix("ended with") } == ["ended with 0", "ended with \(told)"])
        #expect(lines.last?.hasSuffix(": sound") == true)
        let stats = try await bench.run("outbox", "stats", "outbox.sqlite", "--json").lines
        #expect(stats.first?["captured"]?.integer == 1)
        #expect(stats.first?["balances"]?.bool == true)
    }

    @Test(.timeLimit(.minutes(60)), arguments: ["", "ulimit -f 1200;"])
    func `what could not be written is not told as written`(_ limit: String) async throws {
        let person = #"{"identifiers":[{"kind":"email","value":"a@x.example"}]}"# + "\n"
        // More than the limit, whether the shell counts 512 bytes or 1,024; the thread sanitizer writes 512 KiB of its own.
        try bench.write("in.ndjson", String(repeating: person, count: 30_000))
        let output = limit.isEmpty ? ">&-" : ">out"
        let result = try await bench.shell(
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
