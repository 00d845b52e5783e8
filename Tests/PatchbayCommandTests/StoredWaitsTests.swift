import Foundation
import PatchbayJSON
import Testing

/// What the commands that look into an outbox say of a file that nobody has open.
@Suite("Looking into an outbox") struct StoredWaitsTests {
    private let bench: Workbench

    init() throws { bench = try Workbench() }

    private static func track(_ id: String) -> String {
        #"{"id":"\#(id)","subject":"s","action":{"kind":"changeTags","tags":{"add":["vip"]}}}"#
    }

    @Test func `stats tells what waits, and how much of it`() async throws {
        // Nobody answers there, so that what is sent waits for its repeat.
        let configuration = try bench.configuration()
        let input = try Workbench.example("first-steps.ndjson")
        _ = try await bench.run("send", "--config", configuration, "--until-idle", "1", input: input)
        let text = try await bench.run("outbox", "stats", "outbox.sqlite").output
        #expect(text.contains("crm: "), "\(text)")
        #expect(text.contains("127.0.0.1 does not accept connections."), "\(text)")
        let account = try #require(try await bench.run("outbox", "stats", "outbox.sqlite", "--json").lines.first)
        let waits = try #require(account["waits"]?.array)
        #expect(waits.compactMap { $0["operations"]?.integer }.reduce(0, +) == account["pending"]?.integer)
        #expect(waits.allSatisfy { $0["since"]?.string != nil && $0["reasons"]?.array?.isEmpty == false })
    }

    @Test func `an id is compared scalar by scalar, whatever it looks like`() async throws {
        let configuration = try bench.configuration()
        let (one, other) = ("caf\u{E9}", "cafe\u{301}")
        let input = Self.track(one) + "\n" + Self.track(other)
        _ = try await bench.run("send", "--config", configuration, "--until-idle", "0", input: input)
        for id in [one, other] {
            let asked = try await bench.run("outbox", "clear", "outbox.sqlite", "--where", "id=\(id)")
            #expect(asked.messages.contains("1 operation would be cleared"), "\(asked.messages)")
        }
    }

    @Test(.timeLimit(.minutes(60))) func `a log without an end is written to and not read back`() async throws {
        let run = try bench.start(["sandbox", "--log", "/dev/zero"])
        #expect(try await run.firstLine().contains("http://"))
        run.send(SIGTERM)
        #expect(try await run.result().status == 128 + SIGTERM)
    }

    @Test(.timeLimit(.minutes(60)))
    func `a pipe with a name is called by it where it can't be gone on with`() async throws {
        let result = try await bench.shell(
            """
            trap '' PIPE
            mkfifo in
            "$PATCHBAY" migrate apply --from neutral.contacts --to neutral.contacts --in in --out out 2> talk &
            exec 3> in
            kill -TERM $!
            # The input does not end before the command has noticed the signal.
            while kill -0 $! 2> /dev/null && printf '{}\\n' >&3; do sleep 0.05; done 2> /dev/null
            exec 3>&-
            wait $!
            cat talk
            """
        )
        #expect(result.output.contains("in is not a regular file and cannot be resumed. Start over."))
        #expect(!result.output.contains("Standard input"))
    }
}
