import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySandbox

extension Command {
    static let sandbox = Command(
        "sandbox",
        "Simulate the vendor APIs over HTTP on this machine",
        task: .attempt,
        details: """
            Prints {"url": …, "vendors": {…}} when it is ready, and runs until a signal ends it. It listens on this machine only.

            --settings holds the account of each adapter, {"ADAPTER": {"accessToken": "…"}}. --faults holds rules for failing
            replies, such as [{"vendor": "ADAPTER", "first": 2, "effect": {"status": 503}}].
            """,
        optional: [.vendor, .port, .log, .settings, .faults],
        examples: [
            Example("Simulate all vendors", "patchbay sandbox --port 8731 --settings sandbox.json"),
            Example(
                "Simulate one vendor whose first two replies fail",
                "patchbay sandbox --port 8731 --vendor salesforce --faults faults.json"
            ),
        ]
    ) { session in
        let simulators = try session.simulators()
        let faults = try session.invocation.text(.faults).map { (rules: try session.json($0), file: $0) }
        let host = try session.host()
        let server = try start(
            simulators,
            port: UInt16(session.invocation.number(.port) ?? 0),
            faults: faults,
            logPath: session.invocation.text(.log),
            clock: { host.date() }
        )
        let vendors = simulators.map { type(of: $0).id.rawValue }
        try session.console.data([
            "url": .string(server.url),
            "token": .string(server.token),
            "vendors": .object(JSONObject(vendors.map { ($0, .string(server.url(of: $0))) })),
        ])
        try session.console.flush()
        if session.console.isWatched {
            let adapters = vendors.count.counted("adapter")
            session.console.say("The sandbox simulates \(adapters) at \(server.url). Press Ctrl-C to end it.")
        }
        session.interruption.wait()
        server.stop()
        return .fine
    }

    /// Starts the server. Errors about fault rules name the file of the rules.
    private static func start(
        _ simulators: [any VendorSimulator],
        port: UInt16,
        faults: (rules: JSONValue, file: String)?,
        logPath: String?,
        clock: @escaping @Sendable () -> Instant
    ) throws(CommandFailure) -> SandboxServer {
        do {
            return try SandboxServer.start(
                simulators,
                port: port,
                faults: FaultRule.list(from: faults?.rules ?? []),
                logPath: logPath,
                clock: clock
            )
        } catch {
            let file = error.code == .badFaultRule ? faults.map { "\($0.file): " } ?? "" : ""
            let problems = error.problems.map { SandboxError.Problem(file + $0.place, $0.problem, remedy: $0.remedy) }
            throw CommandFailure(SandboxError(error.code, problems).description)
        }
    }
}

extension Session {
    /// Creates the requested simulators, each with its settings; throws every problem at once.
    fileprivate func simulators() throws -> [any VendorSimulator] {
        let known = Vendors.simulators.map { $0.id.rawValue }
        let wanted = invocation.texts(.vendor)
        let settings = try object(.settings)
        let unknowns = wanted.filter { !known.contains($0) }.map { name in
            "--vendor: unknown adapter \"\(name)\"." + (name.nearest(in: known).map { " Did you mean \($0)?" } ?? "")
                + " Adapters: \(known.joined(separator: ", "))."
        }
        if !unknowns.isEmpty { throw UsageError(unknowns, command: invocation.command.name) }
        let unknown = settings.names.filter { !known.contains($0) }
        if !unknown.isEmpty {
            throw settingsError(
                unknown.map {
                    SandboxFinding.unknownVendor.at($0, detail: "adapters: \(known.joined(separator: ", "))")
                }
            )
        }
        var (simulators, findings) = ([any VendorSimulator](), [Finding]())
        for type in Vendors.simulators where wanted.isEmpty || wanted.contains(type.id.rawValue) {
            do throws(SettingsError) {
                simulators.append(try type.init(settings: settings[type.id.rawValue]?.object ?? [:]))
            } catch {
                findings += error.findings.map { finding in
                    var finding = finding
                    finding.path = finding.path.isEmpty ? type.id.rawValue : type.id.rawValue.dot(finding.path)
                    return finding
                }
            }
        }
        if !findings.isEmpty { throw settingsError(findings) }
        return simulators
    }
}

private enum SandboxFinding {
    static let unknownVendor = FindingRow(
        .error("settings.vendor", .misconfigured),
        reason: "There is no adapter of this name",
        remedy: "Correct the name, or remove the member."
    )
}
