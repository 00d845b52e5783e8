import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migrateApply = Command(
        "migrate apply",
        "moves contacts from a file to a file, or through a vendor's server door",
        details: """
            It reads and writes as it goes, in constant memory. A file has its name only when it is complete. From a file
            to a file it may be killed at any moment: the same command goes on where it stood, and the files become what
            they would have been; --restart begins anew. Standard input can't be gone on with, unless it is kept: for --evidence, --journal and
            a server door it stands beside --out, as FILE.input, until all is done. Rejected records go to the
            --rejects file, one JSON object a line with number, reason, remedy and the original; beside it stand the
            original rows with the source's header, which can be mended and fed in again: --after names the file that they
            are from, so that whoever says no there is said no for. A file that the target's vendor
            wants beside the contacts, such as a map of the columns, is written there, too; one that stands beside the source
            says how it is read, unless --companion names another or none. --evidence has a line for each
            word about what a person allows, before and after; with it every record is read back, and one that would
            allow more than its source is rejected. --journal keeps the way back.
            With a vendor's server door as --to (an adapter's id) the contacts go to the vendor's interface, through a provider
            of --config; --out has the verdict on each record then (Schemas/migration/result), and rejects have the vendor's own
            code. It waits for a vendor that is away, and Ctrl-C or a kill loses nothing: the same command goes on.
            --settings holds {"from": {…}, "to": {…}, "mapping": […]} (Schemas/migration/settings), - is standard input; --config gives the
            types of attributes. `patchbay adapters` lists the formats.
            """,
        required: [.from, .to],
        optional: [
            .settings, .config, .provider, .companion, .after, .input, .output, .rejects, .consentEvidence, .journal,
            .checkpoint,
            .restart, .dryRun, .logLevel, .json,
        ],
        usesNetwork: { $0.leadsThroughDoor && !$0.has(.dryRun) }
    ) { session in
        let setup = try MigrationSetup(session)
        try session.requireDistinctFiles(setup)
        session.clearDrafts()
        guard let door = setup.door, !session.invocation.has(.dryRun) else {
            return try MigrationRun(session, setup).run()
        }
        return try await DoorCommand(session, setup, door).apply()
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
        let old = session.oldOutput
        var progress = ProgressLine(session.console, total: ResumableMigration.size(of: files.input))
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
            progress: { done in
                progress.show(
                    records: done.records,
                    bytes: done.bytes,
                    of: done.hearing.map(ProgressLine.Part.hearing)
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
        try tellCompanions()
        return try end(outcome.report)
    }

    /// What only goes from a plain file to plain files.
    private static let thorough: [Flag] = [.consentEvidence, .journal]

    /// The files of a run that can be gone on with, and what is read; nil if one of them can't, and nothing to read if Ctrl-C
    /// came first.
    private func resumableFiles() throws -> (ResumableMigration.Files?, KeptInput?)? {
        let invocation = session.invocation
        guard let output = invocation.file(.output), !invocation.has(.dryRun) else {
            return try needing(Self.thorough + [.restart, .checkpoint])
        }
        // Standard input is read as it comes, unless it must be kept.
        guard invocation.file(.input) != nil || Self.thorough.contains(where: invocation.has) else {
            return try needing([.restart, .checkpoint])
        }
        guard let input = try session.plainInput(beside: output) else { return (nil, nil) }
        var files = session.files(input.path, output, source: setup.source)
        files.companions = try companions().map { ($0.path, $0.bytes) }
        guard ResumableMigration.canResume(files) else {
            // One that can't be read is that, and no matter of flags.
            if let named = invocation.file(.input) { _ = try session.source(named) }
            return try needing(Self.thorough)
        }
        return (files, input)
    }

    /// Nil, unless a flag was given that only goes from plain files to plain files.
    private func needing(_ flags: [Flag]) throws(UsageError) -> (ResumableMigration.Files?, KeptInput?)? {
        guard let first = flags.first(where: session.invocation.has) else { return nil }
        let isKept = Self.thorough.contains { $0.name == first.name }
        throw UsageError(
            "--\(first.name) needs \(isKept ? "plain files: --out FILE, and --rejects too if it is given" : "plain files: --in FILE and --out FILE"), and no --dry-run.",
            command: session.invocation.command.name
        )
    }

    /// A run from or to something that is no plain file.
    private func runOnce() throws -> ExitStatus {
        var input = try session.source(session.invocation.text(.input))
        let (isDry, old) = (session.invocation.has(.dryRun), session.oldOutput)
        let output =
            isDry ? nil : try session.invocation.file(.output).map { try OutputFile(path: $0) } ?? .standardOutput()
        let rejects =
            isDry ? nil : try session.invocation.text(.rejects).map { try RejectFiles(path: $0, source: setup.source) }
        var progress = ProgressLine(session.console, total: input.size)
        let phases = PhaseLog(try session.log())
        defer { phases.end() }
        phases.note(.moving)
        let report = try setup.migration.run(
            &input,
            to: output,
            rejects: rejects.map { Rejects(list: $0.list, replay: $0.replay) },
            progress: { done in
                phases.note(done.phase, records: done.records, bytes: done.bytes)
                progress.show(records: done.records, bytes: done.bytes)
            },
            isCancelled: { session.interruption.signalNumber != nil }
        )
        guard session.interruption.signalNumber == nil else {
            let file = session.invocation.text(.input).flatMap { $0 == "-" ? nil : $0 }
            let pipe = file.map { "\($0) is no plain file and" } ?? "Standard input"
            let why = input.size == nil ? "\(pipe) can't be gone on with: begin anew." : "The same command begins anew."
            let isPlain = isDry || output?.isDraft ?? true
            let left = isPlain ? "no file was written" : "what was written of \(output?.path ?? "it") is not whole"
            session.console.say("Stopped after \(report.read) records; \(left). \(why)")
            return .findings
        }
        phases.note(.moving, records: report.read, bytes: report.bytesRead)
        if !isDry { phases.note(.naming) }
        try rejects?.commit()
        try output?.commit()
        if !isDry {
            session.tellReplaced(old)
            for companion in try companions() { try companion.write() }
            try tellCompanions()
        }
        return try end(report)
    }

    /// What is written beside the contacts and the rows to mend; it follows from the settings alone.
    private func companions() throws(SettingsError) -> [MigrationSetup.Companion] {
        let invocation = session.invocation
        return try setup.companions(beside: invocation.text(.output), rejects: invocation.text(.rejects))
    }

    /// Tells what the target's vendor wants beside the contacts, and where it is.
    private func tellCompanions() throws {
        let output = session.invocation.file(.output)
        for companion in try setup.companions() {
            let path = output.map { SourceCompanion.path(beside: $0, companion.ending) }
            session.console.say(
                path.map { "\($0) is \(companion.title)." }
                    ?? "The vendor wants \(companion.title), too: give --out FILE to get it beside."
            )
        }
    }

    private func end(_ report: MigrationReport) throws -> ExitStatus {
        try tell(report)
        for door in setup.loads where report.files(for: door) > 1 {
            session.console.say(
                "\(door.name): \(door.note), and this one has \(report.bytesWritten) bytes. `patchbay migrate cut` makes \(report.files(for: door)) files of it, each with the header."
            )
        }
        return report.findings.values.contains { $0.severity.matters } ? .findings : .fine
    }

    /// The numbers: on standard output for programs, unless the contacts go there.
    private func tell(_ report: MigrationReport) throws {
        guard !session.isJSON else {
            let isFree = session.invocation.file(.output) != nil || session.invocation.has(.dryRun)
            return isFree ? try session.console.data(report.json) : session.console.say(report.json.text)
        }
        session.tell(report, verb: session.invocation.has(.dryRun) ? "would be written" : "written")
    }
}

extension Session {
    /// The files that the command line names, of a run that can be gone on with.
    func files(_ input: String, _ output: String, source: RecordFormat) -> ResumableMigration.Files {
        var files = ResumableMigration.Files(input: input, output: output)
        files.rejects = invocation.text(.rejects).map { RejectFiles.paths($0, source: source) }
        files.evidence = invocation.text(.consentEvidence)
        files.journal = invocation.text(.journal)
        return files
    }

    /// Says that an earlier run is gone on with, if one is.
    func tellResumption(_ records: Int) {
        if records > 0 { console.say("An earlier run had settled \(records) records.") }
    }

    /// Removes what killed runs left of `--out` and of their standard input, and names what may be of one that is at it.
    fileprivate func clearDrafts() {
        guard let output = invocation.file(.output), !invocation.has(.dryRun) else { return }
        for draft in [output, KeptInput.path(beside: output)].flatMap(OutputFile.clearDrafts) {
            console.say("\(draft) is of another run to this file, which is at it or was killed: delete it if none is.")
        }
    }

    /// The file that `--out` names, where something stands in it that a run replaces.
    var oldOutput: String? {
        guard let path = invocation.file(.output), FilePlace.isFile(path), ResumableMigration.size(of: path) != 0 else {
            return nil
        }
        return path
    }

    /// Says that a run has replaced what stood at `--out`, if anything did.
    func tellReplaced(_ path: String?) {
        if let path { console.say("\(path) was there already and is replaced.") }
    }

    /// Says that the run ended early, and how the next one goes on.
    func tellStop(after records: Int, _ next: ResumableMigration.Next = .there, _ input: KeptInput? = nil) {
        let command = "The same command\(input?.flagToGoOn.map { " with \($0)" } ?? "")"
        let words =
            switch next {
            case .there: "\(command) goes on from there; --restart begins anew."
            case .again: "\(command) reads the source again up to there and goes on; --restart begins anew."
            case .anew: "No file was written. \(command) begins anew."
            }
        console.say("Stopped after \(records) records. \(words)")
    }

    /// The numbers of a migration, for a person.
    func tell(_ report: MigrationReport, verb: String) {
        console.say("\(report.read) read, \(report.written) \(verb), \(report.rejected) rejected.", .bold)
        for (code, tally) in report.findings.sorted(by: { $0.key < $1.key }) {
            console.say("  \(tally.count) × \(tally.severity.rawValue) \(code)", tally.severity.colour)
        }
        for line in report.refusalLines { console.say(line) }
        guard invocation.command.flags.contains(.rejects) else { return }
        if report.rejected > 0, !invocation.has(.rejects), !invocation.has(.dryRun) {
            console.say("The rejected records are not kept: give --rejects FILE to keep them.")
        }
    }
}

/// The list of rejects and, beside it, the rows to mend.
struct RejectFiles {
    let list: OutputFile
    let replay: OutputFile

    init(path: String, source: RecordFormat) throws(FileError) {
        let paths = Self.paths(path, source: source)
        (list, replay) = (try OutputFile(path: paths.list), try OutputFile(path: paths.replay))
    }

    /// The list, and the rows beside it with the ending of their format.
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
    /// A path without the ending of its name.
    var pathStem: Substring {
        let name = lastIndex(of: "/").map { self[index(after: $0)...] } ?? self[...]
        return name.lastIndex(of: ".").map { self[..<$0] } ?? self[...]
    }
}
