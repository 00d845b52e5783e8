import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords
import PatchbaySystem

extension Command {
    static let migrateApply = Command(
        "migrate apply",
        "Migrate contacts to a file or a server API",
        task: .migrate,
        details: """
            Converts contacts from one file format to another, or sends them to a vendor through a server API.

            Reads, converts and writes one record at a time, in constant memory. An output file gets its name when it is
            complete. If a run between files is interrupted, repeat the command to resume it. A run that reads standard input
            can be resumed only with --evidence, --journal or a server API as target: a copy is then kept as FILE.input beside
            --out.

            A run stops when more than --max-rejects percent of the first 10,000 records are rejected, and names the main reason.

            Records that the target cannot accept go to the --rejects file, one JSON object each with number, reason, remedy
            and original. A second file beside it holds the original rows. Correct these rows and migrate them with --after
            naming the first source, so that opt-outs in that source remain in force.

            If the target's vendor requires a sidecar file, such as a description of the columns, it is written beside --out. A
            sidecar file beside the source describes how to read the source.

            With a server API as target, the contacts are sent through a provider of --config, and --out records the result of
            each contact. While the vendor is unavailable, the run waits.

            --settings holds {"from": {…}, "to": {…}, "mapping": […]}; `Schemas/migration/settings.schema.json` describes it.
            --config adds the types of attributes.
            """,
        required: [.from, .to],
        optional: [
            .input, .settings, .config, .provider, .sidecar, .after, .output, .rejects, .consentEvidence, .journal,
            .maxRejects, .dryRun,
            .checkpoint, .restart, .logLevel, .json,
        ],
        findings: "records were rejected or have warnings",
        examples: [
            Example(
                "Migrate a file, and keep rejects and a journal",
                "patchbay migrate apply --from salesforce.contacts --to altcraft.profiles --settings migration.json --in contacts.csv --out profiles.ndjson --rejects rejected.ndjson --journal journal.json"
            ),
            Example(
                "Migrate a file to a server API",
                "patchbay migrate apply --from salesforce.contacts --to altcraft-server --config server.json --in contacts.csv --out results.ndjson"
            ),
        ]
    ) { session in
        let setup = try MigrationSetup(session)
        try session.requireDistinctFiles(setup)
        session.clearDrafts()
        guard let server = setup.server, !session.invocation.has(.dryRun) else {
            return try MigrationRun(session, setup).run()
        }
        return try await MigrateToServerCommand(session, setup, server).apply()
    }
}

/// One run of `migrate apply`.
@MainActor private struct MigrationRun {
    private let session: Session
    private let setup: MigrationSetup

    init(_ session: Session, _ setup: MigrationSetup) { (self.session, self.setup) = (session, setup) }

    func run() throws -> ExitStatus {
        guard let (files, input) = try resumableFiles() else { return try runOnce() }
        guard let input, let files else { return .findings }
        var isDone = false
        defer { input.end(isDone: isDone, session) }
        try setup.migration.refuseUnnamedConsent(in: input.path)
        let old = session.oldOutput
        let total = try FileSource(path: files.input).textSize
        var progress = ProgressLine(session.console, total: total)
        let outcome = try ResumableMigration(
            setup.migration,
            files,
            settings: setup.identity,
            interval: .seconds(session.invocation.number(.checkpoint) ?? 2),
            workers: nil
        )
        .run(
            restarts: session.invocation.has(.restart),
            log: try session.log(),
            secondPass: { session.console.say("Reading the source a second time. \($0)") },
            progress: { done in
                let part = done.hearing.map(ProgressLine.Part.hearing)
                progress.show(
                    records: done.records,
                    bytes: done.bytes,
                    of: part ?? (done.isSecondPass ? .secondPass(of: total) : nil)
                )
            },
            isCancelled: { session.interruption.signalNumber != nil }
        )
        session.tellResumption(outcome.resumed)
        isDone = outcome.isCommitted
        guard outcome.isCommitted else {
            session.tellStop(after: outcome.report.read, outcome.next, input)
            return .findings
        }
        session.tellReplaced(old)
        try tellSidecars()
        return try end(outcome.report)
    }

    /// The options that require regular files as input and outputs.
    private static let thorough: [Flag] = [.consentEvidence, .journal]

    /// Returns the files of a run that can be resumed, and its input.
    ///
    /// - Returns: Nil if one of the files cannot be resumed; a pair of nil if Ctrl-C ended standard input.
    private func resumableFiles() throws -> (ResumableMigration.Files?, KeptInput?)? {
        let invocation = session.invocation
        guard let output = invocation.file(.output), !invocation.has(.dryRun) else {
            return try needing(Self.thorough + [.restart, .checkpoint])
        }
        // Standard input is streamed unless it must be kept.
        guard invocation.file(.input) != nil || Self.thorough.contains(where: invocation.has) else {
            return try needing([.restart, .checkpoint])
        }
        guard let input = try session.plainInput(beside: output) else { return (nil, nil) }
        var files = session.files(input.path, output, source: setup.source)
        files.sidecars = try sidecars().map { ($0.path, $0.bytes) }
        guard ResumableMigration.canResume(files) else {
            // If the input cannot be opened, report that instead of a wrong option. A pipe can be opened only once.
            if let named = invocation.file(.input), access(named, R_OK) != 0 { _ = try session.source(named) }
            return try needing(Self.thorough)
        }
        return (files, input)
    }

    /// Returns nil, or throws ``UsageError`` if an option was given that requires regular files.
    private func needing(_ flags: [Flag]) throws(UsageError) -> (ResumableMigration.Files?, KeptInput?)? {
        guard let first = flags.first(where: session.invocation.has) else { return nil }
        let isKept = Self.thorough.contains { $0.name == first.name }
        throw UsageError(
            "--\(first.name) needs regular files: \(isKept ? "--out FILE, and --rejects FILE if it is given" : "--in FILE and --out FILE"). It cannot be used with --dry-run.",
            command: session.invocation.command.name
        )
    }

    /// Runs a migration whose input or output is not a regular file.
    private func runOnce() throws -> ExitStatus {
        var input = try session.source(session.invocation.text(.input))
        let (isDry, old) = (session.invocation.has(.dryRun), session.oldOutput)
        if !isDry, let path = input.rereadablePath { try setup.migration.refuseUnnamedConsent(in: path) }
        let output =
            isDry ? nil : try session.invocation.file(.output).map { try OutputFile(path: $0) } ?? .standardOutput()
        let rejects =
            isDry ? nil : try session.invocation.text(.rejects).map { try RejectFiles(path: $0, source: setup.source) }
        var progress = ProgressLine(session.console, total: input.textSize)
        let phases = PhaseLog(try session.log())
        defer { phases.end() }
        phases.note(.moving)
        let path = input.rereadablePath
        let migration = isDry && path == nil ? setup.migration : setup.migration.heedingLaterOptOuts(in: path)
        let report = try migration.run(
            &input,
            to: output,
            rejects: rejects.map { Rejects(list: $0.list, replay: $0.replay) },
            progress: { done in
                phases.note(done.phase, records: done.records, bytes: done.bytes)
                progress.show(records: done.records, bytes: done.bytes)
            },
            isCancelled: { session.interruption.signalNumber != nil }
        )
        if !isDry { try setup.migration.refuseUnnamedConsent(report, head: input.head) }
        guard session.interruption.signalNumber == nil else {
            let file = session.invocation.text(.input).flatMap { $0 == "-" ? nil : $0 }
            let pipe = file.map { "\($0) is not a regular file and" } ?? "Standard input"
            let why =
                input.size == nil
                ? "\(pipe) cannot be resumed. Start over." : "Repeat the command to start over."
            let isPlain = isDry || output?.isDraft ?? true
            let left = isPlain ? "no file was written" : "\(output?.path ?? "the output") is incomplete"
            session.console.say("Interrupted after \(report.read.counted("record")); \(left). \(why)")
            return .findings
        }
        phases.note(.moving, records: report.read, bytes: report.bytesRead)
        if !isDry { phases.note(.naming) }
        try rejects?.commit()
        try output?.commit()
        if !isDry {
            session.tellReplaced(old)
            for sidecar in try sidecars() { try sidecar.write() }
            try tellSidecars()
        }
        return try end(report)
    }

    /// The sidecar files of the output and of the rejected rows. They follow from the settings alone.
    private func sidecars() throws(SettingsError) -> [MigrationSetup.Sidecar] {
        let invocation = session.invocation
        return try setup.sidecars(beside: invocation.text(.output), rejects: invocation.text(.rejects))
    }

    /// Reports which sidecar files the target's vendor requires, and where they are.
    private func tellSidecars() throws {
        let output = session.invocation.file(.output)
        for sidecar in try setup.sidecars() {
            let path = output.map { SourceSidecar.path(beside: $0, sidecar.fileExtension) }
            session.console.say(
                path.map { "Wrote \($0) (\(sidecar.title))." }
                    ?? "The vendor also requires \(sidecar.title). Use --out FILE to write it."
            )
        }
    }

    private func end(_ report: MigrationReport) throws -> ExitStatus {
        try tell(report)
        if session.invocation.file(.input).map(FilePlace.isFile) != true, setup.migration.hasOmissibleColumns {
            session.console.say(
                "A pipe cannot be read ahead, so a column that no contact fills is written with blank cells. Use --in FILE to leave such columns out."
            )
        }
        for route in setup.loads where report.files(for: route) > 1 {
            session.console.say(
                "\(route.name): \(route.note). The file has \(report.bytesWritten) bytes; split it into \(report.files(for: route)) files with `patchbay migrate split`."
            )
        }
        return report.findings.values.contains { $0.severity.matters } ? .findings : .fine
    }

    /// Prints the counts: as JSON on standard output, or on standard error if the contacts go to standard output.
    private func tell(_ report: MigrationReport) throws {
        guard !session.isJSON else {
            let isFree = session.invocation.file(.output) != nil || session.invocation.has(.dryRun)
            return isFree ? try session.console.data(report.json) : session.console.say(report.json.text)
        }
        session.tell(report, verb: session.invocation.has(.dryRun) ? "would be written" : "written")
        for (rule, effect) in zip(setup.migration.mapping.rules, report.mapping) where effect.isIdle {
            session.console.say(MigrationSetup.idleWarning(rule.description), .yellow)
        }
    }
}

extension Session {
    /// The files that the command line names for a run that can be resumed.
    func files(_ input: String, _ output: String, source: RecordFormat) -> ResumableMigration.Files {
        var files = ResumableMigration.Files(input: input, output: output)
        files.rejects = invocation.text(.rejects).map { RejectFiles.paths($0, source: source) }
        files.evidence = invocation.text(.consentEvidence)
        files.journal = invocation.text(.journal)
        return files
    }

    /// Reports that an earlier run is resumed, if it had read any records.
    func tellResumption(_ records: Int) {
        if records > 0 { console.say("Resumed after \(records.counted("record")) of an earlier run.") }
    }

    /// Removes the drafts that killed runs left of `--out` and of their standard input. Reports drafts that may belong to
    /// an active run.
    fileprivate func clearDrafts() {
        guard let output = invocation.file(.output), !invocation.has(.dryRun) else { return }
        for draft in [output, KeptInput.path(beside: output)].flatMap(OutputFile.clearDrafts) {
            console.say("\(draft) belongs to another run. Delete it if no other run is active.")
        }
    }

    /// The file that `--out` names if it exists and is not empty, so that a run replaces it.
    var oldOutput: String? {
        guard let path = invocation.file(.output), FilePlace.isFile(path), ResumableMigration.size(of: path) != 0 else {
            return nil
        }
        return path
    }

    /// Reports that a run has replaced the file at `--out`, if there was one.
    func tellReplaced(_ path: String?) {
        if let path { console.say("Replaced \(path).") }
    }

    /// Reports that the run was interrupted, and how to resume it.
    func tellStop(after records: Int, _ next: ResumableMigration.Next = .there, _ input: KeptInput? = nil) {
        let command = "Repeat the command\(input?.resumeOption.map { " with \($0)" } ?? "")"
        let words =
            switch next {
            case .there: "\(command) to resume; --restart starts over."
            case .again: "\(command) to resume, which reads the source again up to this record; --restart starts over."
            case .startOver: "No file was written. \(command) to start over."
            }
        console.say("Interrupted after \(records.counted("record")). \(words)")
    }

    /// Prints the counts of a migration as text.
    func tell(_ report: MigrationReport, verb: String) {
        console.say("\(report.read) read, \(report.written) \(verb), \(report.rejected) rejected.", .bold)
        let width = report.lines.map { "\($0.count)".count }.max() ?? 0
        for line in report.lines {
            let count = "\(line.count)".rightAligned(to: width)
            let severity = line.severity.rawValue.padded(to: 7)
            console.say("  \(count)  \(severity)  \(line.sentence) (\(line.code))", line.severity.colour)
        }
        for line in report.refusalLines { console.say(line) }
        guard invocation.command.flags.contains(.rejects) else { return }
        if report.rejected > 0, !invocation.has(.rejects), !invocation.has(.dryRun) {
            console.say("The rejected records are not kept. Use --rejects FILE to keep them.")
        }
    }
}

/// The list of rejects and, beside it, the rejected rows to correct.
struct RejectFiles {
    let list: OutputFile
    let replay: OutputFile

    init(path: String, source: RecordFormat) throws(FileError) {
        let paths = Self.paths(path, source: source)
        (list, replay) = (try OutputFile(path: paths.list), try OutputFile(path: paths.replay))
    }

    /// The path of the list, and the path of the rows beside it, with the extension of their format.
    static func paths(_ path: String, source: RecordFormat) -> (list: String, replay: String) {
        let stem = path.pathStem
        let beside = "\(stem).\(source.fileExtension)"
        return (path, beside == path ? "\(stem).replay.\(source.fileExtension)" : beside)
    }

    func commit() throws(FileError) {
        try list.commit()
        try replay.commit()
    }
}

extension String {
    /// The path without its file extension.
    var pathStem: Substring {
        let name = lastIndex(of: "/").map { self[index(after: $0)...] } ?? self[...]
        return name.lastIndex(of: ".").map { self[..<$0] } ?? self[...]
    }
}
