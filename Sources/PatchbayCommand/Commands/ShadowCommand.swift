import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let shadow = Command(
        "shadow",
        "shows what a new vendor would make of operations, beside the live ones",
        details: """
            Each operation is mapped for every live provider and for every shadow of the configuration, as `patchbay map`
            does it, without a network. One line each: {line, id, live, shadow, differences}; a difference names the field,
            the finding's code and who has it. What a shadow saw of real work is told by `patchbay outbox shadow`.
            """,
        arguments: [.optional("FILE")],
        required: [.config],
        optional: [.subject]
    ) { session in
        let configuration = try session.configuration()
        let modes = Dictionary(configuration.routes.map { ($0.provider, $0.mode) }) { first, _ in first }
        let shadows = configuration.providers.filter { modes[$0.name] == .shadow }
        let live = configuration.providers.filter { modes[$0.name] == .live || modes[$0.name] == .percentage }
        guard !shadows.isEmpty else {
            throw UsageError("--config: no route is a shadow. Set the mode of the new provider's route to \"shadow\".")
        }
        var rehearsal = try Rehearsals(live: live, shadows: shadows, of: configuration)
        return try await session.forEachOperation { operation, line in
            let (json, loses) = try rehearsal.play(operation, line: line)
            try session.console.data(json)
            return !loses
        }
    }

    static let outboxShadow = Command(
        "outbox shadow",
        "tells what shadow routes saw: what would be taken and refused, field by field",
        details: """
            taken and refused count operations by kind. onlyHere is a field that a live provider takes as it is and the
            shadow does not; everywhere is one that none takes; onlyLive is what the new vendor would win. The file is only
            read; it may come from a phone, or be in use. Nothing of a person stands in it.
            """,
        arguments: [.required("FILE")],
        optional: [.json]
    ) { session in
        let store = try OutboxStore.open(.file(session.invocation.argument(0) ?? ""), readOnly: true)
        let rehearsed = try ProviderAccounts.read(store).filter { !$0.rehearsal.isEmpty }
        for account in rehearsed {
            if session.isJSON {
                let lines = JSONValue.array(account.rehearsal.map(\.json))
                try session.console.data(["provider": .string(account.provider), "rehearsal": lines])
            } else {
                try session.console.data("\(account.provider): \(account.total("shadowed")) operations rehearsed")
                for line in account.rehearsal { try session.console.data("  \(line.text)") }
            }
        }
        if rehearsed.isEmpty { session.console.say("No provider of this outbox was ever a shadow.") }
        return rehearsed.contains { $0.rehearsal.contains { $0.word == .onlyHere } } ? .findings : .fine
    }

    static let outboxRetarget = Command(
        "outbox retarget",
        "moves what a provider has not begun to the other providers of a configuration",
        details: """
            What the provider has begun stays with it. What is told of a state goes with the new provider's own mirror. If
            nobody would take an operation, nothing moves, unless the configuration's "onLoss" is "reject". It needs the
            right to deliver: no other process may hold it. Nothing is sent; the next `patchbay send` does that.
            """,
        arguments: [.required("FILE")],
        required: [.config, .provider],
        optional: [.json]
    ) { session in
        let configuration = try session.configuration()
        let name = session.invocation.text(.provider) ?? ""
        let file = session.invocation.argument(0) ?? ""
        // Whoever only looks makes no file: one that is not there is named.
        _ = try OutboxStore.open(.file(file), readOnly: true)
        let store = try session.outboxForWriting(file, history: configuration.outbox.history)
        let engine = try Engine(
            store: store,
            plan: configuration.plan,
            host: session.host(),
            limits: configuration.outbox.limits,
            credentials: { configuration.credential(of: $0, for: $1) }
        )
        guard try store.providers().contains(where: { $0.name == name }) else {
            let known = try store.providers().map(\.name).joined(separator: ", ")
            throw UsageError("--provider: the outbox knows no \"\(name)\". Known are: \(known).")
        }
        guard try engine.start() else {
            throw OutboxError(.busy, "Another process delivers from this outbox.", remedy: "End it first.")
        }
        defer { try? engine.stop() }
        let moved = try engine.retarget(from: name)
        if session.isJSON {
            try session.console.data(["provider": .string(name), "moved": .integer(moved)])
        } else {
            try session.console.data("\(name): \(moved) moved, \(try store.pendingCount(provider: name)) stay")
        }
        return .fine
    }
}

/// Several providers beside one another, each in a world of its own.
@MainActor private struct Rehearsals {
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

    /// Maps an operation everywhere; says whether a shadow refuses or changes what a live provider takes.
    mutating func play(_ operation: EngagementOperation, line: Int) throws -> (JSONValue, loses: Bool) {
        let served = try live.map { ($0.name, try $0.mapping.map(operation)) }
        let rehearsed = try shadows.map { ($0.name, try $0.mapping.map(operation)) }
        var differences: [JSONValue] = []
        var loses = false
        for (name, mapped) in rehearsed {
            let lines = RehearsalLine.lines(
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
            "shadow": table(rehearsed), "differences": .array(differences),
        ]
        return (json, loses)
    }
}
