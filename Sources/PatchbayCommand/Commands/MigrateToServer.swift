import Patchbay
import PatchbayAdapterKit
import PatchbayHTTP
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

/// A migration to a vendor's server API, on the command line.
@MainActor struct MigrateToServerCommand {
    private let session: Session
    private let setup: MigrationSetup
    private let server: ServerTarget

    init(_ session: Session, _ setup: MigrationSetup, _ server: ServerTarget) {
        (self.session, self.setup, self.server) = (session, setup, server)
    }

    /// `migrate apply`.
    func apply() async throws -> ExitStatus {
        let invocation = session.invocation
        guard let output = invocation.file(.output) else {
            throw UsageError(
                "A migration to a server API needs --out FILE, a regular file, for the result of each record.",
                command: invocation.command.name
            )
        }
        guard let input = try session.plainInput(beside: output) else { return .findings }
        let old = session.oldOutput
        var isDone = false
        defer { input.end(isDone: isDone, session) }
        try setup.migration.refuseUnnamedConsent(in: input.path)
        let files = session.files(input.path, output, source: setup.source)
        let migration = ServerMigration(setup.migration, to: server, files, settings: setup.parts)
        let outcome = try await migration.run(
            try session.surroundings(size: ResumableMigration.size(of: input.path)),
            restarts: invocation.has(.restart)
        )
        isDone = outcome.isCommitted
        if outcome.isCommitted {
            session.tellReplaced(old)
            // The results file has no sidecar file.
            for sidecar in try setup.sidecars(beside: nil, rejects: invocation.text(.rejects)) {
                try sidecar.write()
            }
        }
        return try session.end(outcome, of: input)
    }
}

extension ServerProgress.Part {
    /// The part that the progress line shows; nil while contacts are moved.
    fileprivate var shown: ProgressLine.Part? {
        switch self {
        case .moving: nil
        case .pages: .pages
        case .hearing(let total): .hearing(of: total)
        case .verifying(let part, let total): .verifying(part, of: total)
        case .journal(let total): .journal(of: total)
        }
    }
}

extension Invocation {
    /// Whether `--to` names a vendor's server API.
    var leadsToServer: Bool { Vendors.serverAPIs.contains { $0.descriptor.id.rawValue == text(.to) } }
}

extension Session {
    /// The real network and clocks, a progress line, and Ctrl-C.
    func surroundings(size: Int?) throws -> ServerSurroundings {
        var line = ProgressLine(console, total: size)
        return ServerSurroundings(
            transport: try HTTPTransport(configuration()),
            host: try host(),
            log: try log(),
            interval: .seconds(invocation.number(.checkpoint) ?? 2),
            progress: { progress in
                let part = progress.part.shown
                let inProgress = part == nil ? "\(progress.inProgress) in progress" : nil
                let notes = [inProgress, progress.waiting.map { "waiting: \($0.reason)" }].compactMap(\.self)
                line.show(records: progress.records, bytes: progress.bytes, of: part, notes: notes)
            },
            trouble: { console.say("patchbay: \($0)", .yellow) },
            isCancelled: { interruption.signalNumber != nil }
        )
    }

    /// Prints how a run to a server API ended.
    func end(_ outcome: ServerOutcome, of input: KeptInput? = nil, verb: String = "migrated") throws -> ExitStatus {
        tellResumption(outcome.resumed)
        if let stopped = outcome.stopped { console.say("patchbay: provider suspended: \(stopped.sentence)", .red) }
        guard outcome.isCommitted else {
            tellStop(after: outcome.report.read, .there, input)
            return outcome.stopped == nil ? .findings : .failed
        }
        if isJSON {
            var json: JSONObject = ["report": outcome.report.json]
            json["accounts"] = outcome.accounts?.json
            try console.data(.object(json))
        } else {
            tell(outcome.report, verb: verb)
            for line in AccountsText(outcome.accounts.map { [$0] } ?? []).lines { console.say(line) }
        }
        return outcome.report.findings.values.contains { $0.severity.matters } ? .findings : .fine
    }
}
