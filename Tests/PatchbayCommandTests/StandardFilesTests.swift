import Foundation
import PatchbayJSON
import Testing

/// Whoever starts the command may have closed what it reads from and writes to.
@Suite("Closed standard files") struct StandardFilesTests {
    private let bench: Workbench

    init() throws { bench = try Workbench() }

    private static let programs = ["patchbay", "patchbay-network"]
    private static let closed = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"]

    @Test(.timeLimit(.minutes(2)), arguments: programs, closed)
    func `what is closed is empty, and nothing else is taken for it`(_ program: String, _ closed: String) async throws {
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
            command: Workbench.command.deletingLastPathComponent().appending(path: program)
        )
        let lines = result.output.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("ended with") } == ["ended with 0", "ended with 1"])
        #expect(lines.last?.hasSuffix(": sound") == true)
        let stats = try await bench.run("outbox", "stats", "outbox.sqlite", "--json").lines
        #expect(stats.first?["captured"]?.integer == 1)
        #expect(stats.first?["balances"]?.bool == true)
    }
}
