import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migrateApply = Command(
        "migrate apply",
        "moves contacts from one file format to another",
        details: """
            It reads and writes as it goes, in constant memory. A file has its name only when it is complete. Rejected
            records go to the --rejects file, one JSON object a line with number, reason, remedy and the original; beside
            it stand the original rows with the source's header, which can be mended and fed in again.
            --settings holds {"from": {…}, "to": {…}}; --config gives the types of attributes. `patchbay adapters`
            lists the formats.
            """,
        required: [.from, .to],
        optional: [.settings, .config, .input, .output, .rejects, .dryRun, .json]
    ) { session in
        try MigrationRun(session).run()
    }
}

/// One run of `migrate apply`.
@MainActor private struct MigrationRun {
    private let session: Session
    private let migration: Migration
    private let source: RecordFormat

    init(_ session: Session) throws {
        self.session = session
        let settings = try session.object(.settings)
        let strangers = settings.names.filter { !["from", "to"].contains($0) }
        guard strangers.isEmpty else { throw SettingsError(strangers.map { Self.unknownMember.at($0) }) }
        source = try session.format(.from)
        let catalogue = session.invocation.has(.config) ? try session.configuration().catalogue : AttributeCatalogue()
        do {
            migration = try Migration(
                from: source,
                to: session.format(.to),
                sourceSettings: settings["from"]?.object ?? [:],
                targetSettings: settings["to"]?.object ?? [:],
                catalogue: catalogue
            )
        } catch let failure as Migration.Failure {
            throw SettingsError(failure.findings)
        }
    }

    private static let unknownMember = FindingRow(
        "settings.unknown",
        .error,
        .misconfigured,
        reason: "The settings of a migration have no such member",
        remedy: "Known are: from, to."
    )

    func run() throws -> ExitStatus {
        var input = try session.source(session.invocation.text(.input))
        let isDry = session.invocation.has(.dryRun)
        let output =
            isDry ? nil : try session.invocation.text(.output).map { try OutputFile(path: $0) } ?? .standardOutput()
        let rejects =
            isDry ? nil : try session.invocation.text(.rejects).map { try RejectFiles(path: $0, source: source) }
        var progress = ProgressLine(session.console, total: input.size)
        let report = try migration.run(
            &input,
            to: output,
            rejects: rejects.map { Rejects(list: $0.list, replay: $0.replay) },
            progress: { progress.show(records: $0.records, bytes: $0.bytes) },
            isCancelled: { session.interruption.signalNumber != nil }
        )
        guard session.interruption.signalNumber == nil else {
            session.console.say("Stopped after \(report.read) records; no file was written.")
            return .findings
        }
        try rejects?.commit()
        try output?.commit()
        try tell(report)
        return report.findings.values.contains { $0.severity.matters } ? .findings : .fine
    }

    /// The numbers: on standard output for programs, unless the contacts go there.
    private func tell(_ report: MigrationReport) throws {
        guard !session.isJSON else {
            let isFree = session.invocation.has(.output) || session.invocation.has(.dryRun)
            return isFree ? try session.console.data(report.json) : session.console.say(report.json.text)
        }
        let verb = session.invocation.has(.dryRun) ? "would be written" : "written"
        session.console.say("\(report.read) read, \(report.written) \(verb), \(report.rejected) rejected.", .bold)
        for (code, tally) in report.findings.sorted(by: { $0.key < $1.key }) {
            session.console.say("  \(tally.count) × \(tally.severity.rawValue) \(code)", tally.severity.colour)
        }
        if report.rejected > 0, !session.invocation.has(.rejects), !session.invocation.has(.dryRun) {
            session.console.say("The rejected records are not kept: give --rejects FILE to keep them.")
        }
    }
}

/// The list of rejects and, beside it, the rows to mend.
private struct RejectFiles {
    let list: OutputFile
    let replay: OutputFile

    init(path: String, source: RecordFormat) throws(FileError) {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        let stem = name.lastIndex(of: ".").map { path[..<$0] } ?? path[...]
        let beside = "\(stem).\(source.fileExtension)"
        list = try OutputFile(path: path)
        replay = try OutputFile(path: beside == path ? "\(stem).replay.\(source.fileExtension)" : beside)
    }

    func commit() throws(FileError) {
        try list.commit()
        try replay.commit()
    }
}

extension Session {
    /// The file format that a flag names.
    fileprivate func format(_ flag: Flag) throws(UsageError) -> RecordFormat {
        let formats = [.neutralContacts] + Vendors.modules.flatMap(\.formats)
        let id = invocation.text(flag) ?? ""
        if let format = formats.first(where: { $0.id == id }) { return format }
        let known = formats.map(\.id)
        let guess = id.nearest(in: known).map { " Did you mean \($0)?" } ?? ""
        throw UsageError(
            "--\(flag.name): there is no format \"\(id)\".\(guess) Known are: \(known.joined(separator: ", ")).",
            command: invocation.command.name
        )
    }
}
