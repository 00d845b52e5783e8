import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension Command {
    static let check = Command(
        "check",
        "Check a configuration and operations",
        task: .attempt,
        details: """
            Prints every finding on standard output: first those of the configuration, then those of each operation at each
            provider, and on standard error the number of errors, warnings and notes. Nothing is sent.

            Providers without a route are checked, too, and marked "not routed". Their findings do not count in the numbers and
            the exit status, because `patchbay send` sends them nothing.

            An operation may leave out id and capturedAt and, with --subject, its subject, as for `patchbay send`.

            With --outbox, lists what a client would do with the pending operations of that outbox if it started with this
            configuration: which would be rejected, moved or kept. The outbox is only read; an app may use it meanwhile.
            """,
        arguments: [
            .optional("CONFIG", "Configuration file, unless --config names it"),
            .optional("OPERATIONS", "File with one operation per line; - is standard input"),
        ],
        optional: [.config, .outbox, .subject, .json],
        findings: "errors or warnings, such as an operation that a provider with a route would reject",
        examples: [
            Example("Check a configuration", "patchbay check salesforce.json"),
            Example("Check operations against its providers", "patchbay check salesforce.json operations.ndjson"),
            Example("Preview a switch of providers", "patchbay check altcraft.json --outbox outbox.sqlite"),
        ]
    ) { session in
        let configFlag = session.invocation.text(.config)
        guard let file = configFlag ?? session.invocation.argument(0) else {
            throw UsageError("Argument CONFIG is missing (configuration file).", command: "check")
        }
        let operations = session.invocation.argument(configFlag == nil ? 1 : 0)
        guard configFlag == nil || session.invocation.arguments.count < 2 else {
            throw UsageError("The configuration is named twice. Keep --config or CONFIG.", command: "check")
        }
        var lint = Lint(session: session)
        let configuration: Configuration
        do {
            configuration = try session.loadConfiguration(file)
        } catch let error as ConfigurationError {
            for (finding, position) in error.placed {
                try lint.report(finding, Lint.Place(file: file, position: position))
            }
            return .configuration
        }
        for finding in configuration.findings { try lint.report(finding, Lint.Place(file: file)) }
        if let operations { try await lint.check(operations, against: configuration) }
        if let outbox = session.invocation.text(.outbox) { try lint.preview(outbox, under: configuration) }
        lint.conclude()
        return lint.status
    }
}

/// Collects findings and prints each one as it is found.
@MainActor private struct Lint {
    /// The source of a finding.
    struct Place {
        var file: String
        var position: SourcePosition?
        var operation: String?
        var provider: String?
        /// Whether operations are routed to the provider. Findings of providers without a route are not counted.
        var isRouted = true

        var text: String {
            let position = position.map { ":\($0.line)" + ($0.column > 0 ? ":\($0.column)" : "") } ?? ""
            let parts = [provider, provider == nil || position.isEmpty == false ? nil : operation].compactMap(\.self)
            return "\(file)\(position)" + parts.map { ": \($0)" }.joined()
        }
    }

    let session: Session
    var status = ExitStatus.fine
    private var operations: Int?
    private var counts: [Finding.Severity: Int] = [:]
    /// The number of findings of providers without a route. These findings are printed but not counted.
    private var unrouted = 0

    init(session: Session) { self.session = session }

    /// Prints the number of findings.
    func conclude() {
        guard !session.isJSON else { return }
        let severities: [(Finding.Severity, String)] = [(.error, "error"), (.warning, "warning"), (.note, "note")]
        let found = severities.map { counts[$0, default: 0].counted($1) }
        let counted = [operations?.counted("operation")].compactMap(\.self) + found
        let others = unrouted > 0 ? " Not counted: \(unrouted.counted("finding")) of providers without a route." : ""
        session.console.say("\(counted.joined(separator: ", ")).\(others)")
    }

    mutating func report(_ finding: Finding, _ place: Place) throws {
        try write(finding, place)
        guard place.isRouted else {
            unrouted += 1
            return
        }
        counts[finding.severity, default: 0] += 1
        if finding.severity.matters { status = .findings }
    }

    func write(_ finding: Finding, _ place: Place) throws {
        guard session.isJSON else {
            let head = "\(place.text): \(finding.severity.rawValue):"
            return try session.console.data(head, finding.severity.colour, then: " \(finding.sentence)")
        }
        var json: JSONObject = ["file": .string(place.file)]
        json["line"] = place.position.map { .integer($0.line) }
        json["column"] = place.position.flatMap { $0.column > 0 ? .integer($0.column) : nil }
        json["operation"] = place.operation.map(JSONValue.string)
        json["provider"] = place.provider.map(JSONValue.string)
        if place.provider != nil { json["routed"] = .bool(place.isRouted) }
        for member in finding.json.object ?? [:] { json[member.name] = member.value }
        try session.console.data(.object(json))
    }

    mutating func check(_ path: String, against configuration: Configuration) async throws {
        var (lint, count) = (self, 0)
        let file = session.name(ofInput: path)
        try await session.readOperations(path, defaults: session.operationDefaults(subject: nil)) { lines in
            for line in lines { try lint.check(line, in: file, against: configuration) }
            count += lines.count
        }
        self = lint
        operations = count
        let providers = configuration.providers.map { Self.label($0.name, configuration) }.joined(separator: ", ")
        session.console.say("Checked \(count.counted("operation")) against \(providers).")
    }

    /// A provider's name, marked if no route leads to it.
    private static func label(_ name: String, _ configuration: Configuration) -> String {
        isRouted(name, configuration) ? name : "\(name) (not routed)"
    }

    private static func isRouted(_ name: String, _ configuration: Configuration) -> Bool {
        configuration.routes.contains { $0.provider == name }
    }

    /// Reports what the configuration would do with the pending operations of an outbox.
    mutating func preview(_ path: String, under configuration: Configuration) throws {
        _ = try session.outbox(at: path)
        let preview = try OutboxPreview(of: path, under: configuration)
        for item in preview.items {
            let provider = item.provider.isEmpty ? nil : item.provider
            try report(
                item.finding,
                Place(file: path, operation: item.operation?.rawValue, provider: provider)
            )
        }
        session.console.say(
            "\(path): \(preview.pending.counted("pending operation")); \(preview.rejected) would be rejected. Nothing was changed."
        )
    }

    private mutating func check(
        _ line: OperationLines.Line,
        in file: String,
        against configuration: Configuration
    ) throws {
        var place = Place(file: file, position: SourcePosition(line: line.number, column: 0))
        switch line.operation {
        case .failure(let fault): try report(fault.finding, place)
        case .success(let operation):
            place.operation = operation.id.rawValue
            let (coerced, lost) = configuration.admit(operation)
            for finding in lost { try report(finding, place) }
            for provider in configuration.providers {
                place.isRouted = Self.isRouted(provider.name, configuration)
                place.provider = session.isJSON ? provider.name : Self.label(provider.name, configuration)
                for finding in provider.adapter.examine(coerced) { try report(finding, place) }
            }
        }
    }
}

extension Session {
    /// The fixed time of commands that send nothing: 2030-01-01, so that the same input gives the same output.
    nonisolated static let dryTime = Instant(milliseconds: 1_893_456_000_000)

    /// Returns default values for the members that an operation may omit in commands that send nothing.
    ///
    /// - Parameter subject: The subject without `--subject`; nil if an operation must name one, as for `send`.
    /// - Returns: The members for the operation of a line.
    func operationDefaults(subject: String?) -> (Int) -> JSONObject {
        let subject = invocation.text(.subject) ?? subject
        let now = Session.dryTime.text
        return { line in
            var members: JSONObject = ["id": .string("line-\(line)"), "capturedAt": .string(now)]
            members["subject"] = subject.map(JSONValue.string)
            return members
        }
    }
}
