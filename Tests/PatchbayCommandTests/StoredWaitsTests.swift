import Foundation
import PatchbayJSON
import Testing

/// The output of the commands that inspect an outbox that no process has open.
@Suite("Inspecting an outbox") struct StoredWaitsTests {
    private let driver: CommandDriver

    init() throws { driver = try CommandDriver() }

    private static func track(_ id: String) -> String {
        #"{"id":"\#(id)","subject":"s","action":{"kind":"changeTags","tags":{"add":["vip"]}}}"#
    }

    @Test func `stats lists the waiting operations and their number`() async throws {
        // The address does not answer, so that every sent operation waits for its retry.
        let configuration = try driver.configuration()
        let input = try CommandDriver.example("first-steps.ndjson")
        _ = try await driver.run("send", "--config", configuration, "--until-idle", "1", input: input)
        let text = try await driver.run("outbox", "stats", "outbox.sqlite").output
        #expect(text.contains("crm: "), "\(text)")
        #expect(text.contains("127.0.0.1 does not accept connections."), "\(text)")
        let account = try #require(try await driver.run("outbox", "stats", "outbox.sqlite", "--json").lines.first)
        let waits = try #require(account["waits"]?.array)
        #expect(waits.compactMap { $0["operations"]?.integer }.reduce(0, +) == account["pending"]?.integer)
        #expect(waits.allSatisfy { $0["since"]?.string != nil && $0["reasons"]?.array?.isEmpty == false })
    }

    @Test func `compares ids by Unicode scalars`() async throws {
        let configuration = try driver.configuration()
        let (one, other) = ("caf\u{E9}", "cafe\u{301}")
        let input = Self.track(one) + "\n" + Self.track(other)
        _ = try await driver.run("send", "--config", configuration, "--until-idle", "0", input: input)
        for id in [one, other] {
            let asked = try await driver.run("outbox", "clear", "outbox.sqlite", "--where", "id=\(id)")
            #expect(asked.messages.contains("1 operation would be cleared"), "\(asked.messages)")
        }
    }

    @Test(.timeLimit(.minutes(60))) func `writes to a log without an end and does not read it back`() async throws {
        let run = try driver.start(["sandbox", "--log", "/dev/zero"])
        #expect(try await run.firstLine().contains("http://"))
        run.send(SIGTERM)
        #expect(try await run.result().status == 128 + SIGTERM)
    }

    @Test(.timeLimit(.minutes(60)))
    func `states that input from a named pipe cannot be resumed`() async throws {
        let result = try await driver.shell(
            """
            trap '' PIPE
            mkfifo in
            "$PATCHBAY" migrate apply --from neutral.contacts --to neutral.contacts --in in --out out 2> messages &
            exec 3> in
            kill -TERM $!
            # The input does not end before the command has noticed the signal.
            while kill -0 $! 2> /dev/null && printf '{}\\n' >&3; do sleep 0.05; done 2> /dev/null
            exec 3>&-
            wait $!
            cat messages
            """
        )
        #expect(result.output.contains("in is not a regular file and cannot be resumed. Start over."))
        #expect(!result.output.contains("Standard input"))
    }
}
