import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let shadow = Command(
        "shadow",
        "Compare live and shadow providers",
        task: .attempt,
        details: """
            Maps each operation for every live provider and every shadow provider of the configuration, as `patchbay map` does.
            Nothing is sent. Prints one JSON object per operation: line, id, live, shadow and differences. A difference names
            the field, the finding's code and the provider. `patchbay outbox shadow` reports the same for delivered work.
            """,
        arguments: [.optional("FILE", "File with one operation per line (default: standard input)")],
        required: [.config],
        optional: [.subject],
        findings: "a shadow provider refuses or changes something that a live provider accepts",
        examples: [
            Example("Compare for a file of operations", "patchbay shadow --config shadow.json operations.ndjson"),
            Example(
                "Compare for standard input",
                "cat event.ndjson | patchbay shadow --config shadow.json --subject phone-1"
            ),
        ]
    ) { session in
        let configuration = try session.configuration()
        let modes = Dictionary(configuration.routes.map { ($0.provider, $0.mode) }) { first, _ in first }
        let shadows = configuration.providers.filter { modes[$0.name] == .shadow }
        let live = configuration.providers.filter { modes[$0.name] == .live || modes[$0.name] == .percentage }
        guard !shadows.isEmpty else {
            throw UsageError("--config: no route has the mode \"shadow\". Set it for the route of the new provider.")
        }
        var shadowRun = try ShadowRuns(live: live, shadows: shadows, of: configuration)
        return try await session.forEachOperation { operation, line in
            let (json, loses) = try shadowRun.play(operation, line: line)
            try session.console.data(json)
            return !loses
        }
    }

    static let outboxShadow = Command(
        "outbox shadow",
        "Summarize what shadow providers accepted",
        task: .inspect,
        details: """
            "taken" and "refused" count operations by kind. "onlyHere" is a field that a live provider accepts unchanged and the
            shadow provider does not; "everywhere" is a field that no provider accepts; "onlyLive" is a field that only the
            shadow provider accepts. The output holds no personal data. \(outboxIsOnlyRead)
            """,
        arguments: [.required("FILE", "Outbox file")],
        optional: [.json],
        findings: "a shadow provider refuses or changes something that a live provider accepts",
        examples: [
            Example("Summarize an outbox", "patchbay outbox shadow outbox.sqlite"),
            Example("Summarize it for a script", "patchbay outbox shadow outbox.sqlite --json"),
        ]
    ) { session in
        let store = try session.outbox()
        let shadowed = try ProviderAccounts.read(store).filter { !$0.shadowRun.isEmpty }
        for account in shadowed {
            if session.isJSON {
                let lines = JSONValue.array(account.shadowRun.map(\.json))
                try session.console.data(["provider": .string(account.provider), "shadowRun": lines])
            } else {
                try session.console.data(
                    "\(account.provider): examined \(account.total("shadowed").counted("operation"))"
                )
                for line in account.shadowRun { try session.console.data("  \(line.text)") }
            }
        }
        if shadowed.isEmpty, !session.isJSON { session.console.say("This outbox never had a shadow provider.") }
        return shadowed.contains { $0.shadowRun.contains { $0.word == .onlyHere } } ? .findings : .fine
    }

    static let outboxRetarget = Command(
        "outbox retarget",
        "Move pending operations to other providers",
        task: .send,
        details: """
            Operations that the provider has begun stay with it. If no other provider accepts an operation, nothing is moved,
            unless "onLoss" is "reject" in the configuration. Nothing is sent; the next `patchbay send` delivers. The command
            fails while another process delivers from the outbox.
            """,
        arguments: [.required("FILE", "Outbox file")],
        required: [.config, .provider],
        optional: [.json],
        examples: [
            Example(
                "Move pending operations away from a provider",
                "patchbay outbox retarget outbox.sqlite --config altcraft.json --provider salesforce"
            ),
            Example(
                "Move them and print the result as JSON",
                "patchbay outbox retarget outbox.sqlite --config altcraft.json --provider salesforce --json"
            ),
        ]
    ) { session in
        let configuration = try session.configuration()
        let name = session.invocation.text(.provider) ?? ""
        let file = session.invocation.argument(0) ?? ""
        // The command only reads: it must not create a missing outbox, and reports it instead.
        _ = try session.outbox(at: file)
        let store = try session.outboxForWriting(file, history: configuration.outbox.history)
        let engine = try Engine(
            store: store,
            plan: configuration.plan,
            host: session.host(),
            limits: configuration.outbox.limits,
            credentials: { configuration.credential(of: $0, for: $1) }
        )
        guard try store.state.providers().contains(where: { $0.name == name }) else {
            let known = try store.state.providers().map(\.name).joined(separator: ", ")
            throw UsageError("--provider: the outbox has no provider \"\(name)\". Providers: \(known).")
        }
        guard try engine.start() else {
            throw OutboxError(.busy, "Another process delivers from this outbox.", remedy: "Stop it first.")
        }
        defer { try? engine.stop() }
        let moved = try engine.retarget(from: name)
        if session.isJSON {
            try session.console.data(["provider": .string(name), "moved": .integer(moved)])
        } else {
            try session.console.data(
                "\(name): moved \(moved.counted("operation")); \(try store.operations.pendingCount(provider: name)) pending"
            )
        }
        return .fine
    }
}

/// Runs several providers side by side, each in a simulated world of its own.
@MainActor private struct ShadowRuns {
    private var live: [(name: String, mapping: Mapping)]
    private var shadows: [(name: String, mapping: Mapping)]

    init(
        live: [Configuration.Provider],
        shadows: [Configuration.Provider],
        of configuration: Configuration
    ) throws {
        self.live = try live.map { ($0.name, try Mapping($0, of: configuration)) }
        self.shadows = try shadows.map { ($0.name, try Mapping($0, of: configuration)) }
    }

    /// Maps an operation for every provider.
    ///
    /// - Returns: The result as JSON, and whether a shadow provider rejects or changes an operation that a live provider
    ///   accepts.
    mutating func play(_ operation: EngagementOperation, line: Int) throws -> (JSONValue, loses: Bool) {
        let served = try live.map { ($0.name, try $0.mapping.map(operation)) }
        let shadowed = try shadows.map { ($0.name, try $0.mapping.map(operation)) }
        var differences: [JSONValue] = []
        var loses = false
        for (name, mapped) in shadowed {
            let lines = ShadowRunLine.lines(
                of: operation,
                findings: mapped.findings,
                live: served.map(\.1.findings)
            )
            for line in lines where !line.code.isEmpty {
                loses = loses || line.word == .onlyHere
                differences.append(
                    [
                        "provider": .string(name), "field": .string(line.place), "code": .string(line.code),
                        "who": .string(line.word.rawValue),
                    ]
                )
            }
        }
        func table(_ mapped: [(String, Mapping.Mapped)]) -> JSONValue {
            .object(JSONObject(mapped.map { ($0.0, $0.1.json) }))
        }
        let json: JSONValue = [
            "line": .integer(line), "id": .string(operation.id.rawValue), "live": table(served),
            "shadow": table(shadowed), "differences": .array(differences),
        ]
        return (json, loses)
    }
}
