public import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySystem

/// A migration from a file to files that can be resumed after an interruption at any moment, with the same result.
///
/// Outputs are written as `<file>.partial` and get their names at the end. Until then `<file>.checkpoint` is located beside
/// the first output.
public struct ResumableMigration: Sendable {
    /// The files of a migration.
    public struct Files: Sendable {
        /// The input, a regular file.
        public var input: String
        /// The output.
        public var output: String
        /// The list of rejects, and the file with the rejected rows to correct.
        public var rejects: (list: String, replay: String)?
        /// The evidence of the consent decisions.
        public var evidence: String?
        /// The sidecar files that vendors require, with their contents. They are renamed together with the outputs, and every
        /// user may read them.
        public var sidecars: [(path: String, bytes: [UInt8])] = []
        /// The journal that `migrate undo` reads.
        public var journal: String?

        /// Creates files with an input and an output.
        public init(input: String, output: String) { (self.input, self.output) = (input, output) }

        var outputs: [String] {
            let own = [output] + (rejects.map { [$0.list, $0.replay] } ?? []) + (evidence.map { [$0] } ?? [])
            return own + sidecars.map(\.path)
        }

        /// The index of the evidence among the outputs.
        var evidencePlace: Int { rejects == nil ? 1 : 3 }

        /// The files that a run keeps beside its first output until it is complete.
        public static func traces(of output: String, toServer: Bool) -> [String] {
            let checkpoint = Checkpoint.path(of: output)
            let outbox = toServer ? ServerMigrationFiles.outboxes(of: output) : []
            let optOuts = OutputFile.draft(of: OptOutLog.path(beside: output))
            return [checkpoint, OutputFile.draft(of: checkpoint), optOuts] + outbox
        }
    }

    /// The way in which the next run resumes an interrupted one.
    public enum Next: Sendable {
        /// The next run continues within the source.
        case there
        /// The next run reads the source from its start and skips the output that is written already.
        case again
        /// Nothing is kept; the next run starts over.
        case startOver
    }

    /// The outcome of a run.
    public struct Outcome: Sendable {
        /// The counts of the whole migration, including earlier runs.
        public let report: MigrationReport
        /// The number of records that earlier runs had settled.
        public let resumed: Int
        /// Whether the outputs have their final names.
        public let isCommitted: Bool
        /// The way in which the next run resumes if the outputs do not have their names.
        public let next: Next
    }

    private let migration: Migration
    private let files: Files
    private let settings: String
    private let workers: Int?
    private let interval: Duration
    /// The number of bytes that are read from the source at once.
    var chunk: Int

    /// Creates a migration between files.
    ///
    /// - Parameters:
    ///   - migration: The conversion of each record.
    ///   - files: The inputs and outputs.
    ///   - settings: Every setting that affects the output. A run with other settings does not resume this one.
    ///   - interval: The time between two checkpoints.
    ///   - workers: As for ``Migration/run(_:to:rejects:workers:checkpoints:evidence:progress:isCancelled:)``.
    public init(_ migration: Migration, _ files: Files, settings: JSONValue, interval: Duration, workers: Int?) {
        (self.migration, self.files, self.interval, self.workers) = (migration, files, interval, workers)
        chunk = if case .columns? = migration.sourceLayout { FileSource.rowChunk } else { FileSource.chunk }
        let outputs = JSONValue.array(files.outputs.map { .string($0) })
        self.settings = SHA256.digest(of: Array(JSONValue.array([settings, outputs]).text.utf8)).hexText
    }

    /// Whether a migration of these files can be resumed: the input and the existing outputs are regular files.
    public static func canResume(_ files: Files) -> Bool {
        func kind(_ path: String) -> mode_t? {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
        }
        let written = files.outputs + (files.journal.map { [$0] } ?? [])
        return kind(files.input) == S_IFREG && written.allSatisfy { [nil, S_IFREG].contains(kind($0)) }
    }

    /// The identity of a regular file, which changes with its contents.
    public static func identity(of path: String) throws -> JSONValue {
        try InputIdentity(FileSource(path: path), path: path).json
    }

    /// The columns that an unfinished output lacks because nothing in the source fills them; nil if no run can be resumed.
    public static func omittedColumns(ofUnfinished output: String) -> [String]? {
        (try? Checkpoint(of: output))?.omittedColumns
    }

    /// The size of the file in bytes; nil if it is not a regular file.
    public static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Runs the migration until it is complete or cancelled.
    ///
    /// If two records of one person may contradict each other, the migration starts over: it reads the source for the opt-outs
    /// that contradict an opt-in, and once more to write.
    /// - Parameters:
    ///   - restarts: Whether to discard the progress of an earlier run.
    ///   - log: Receives an entry when each phase begins and ends, without personal data.
    ///   - secondPass: Called with the reason before the source is read a second time.
    ///   - progress: Called after each chunk.
    ///   - isCancelled: Called before each chunk; true cancels the run.
    /// - Returns: The counts, and whether the files are complete.
    /// - Throws: ``Migration/Failure`` and ``FileError``. The output up to the last checkpoint is kept, so that the run can
    ///   be resumed.
    public func run(
        restarts: Bool,
        log: (any LogHandler)? = nil,
        secondPass: (_ reason: String) -> Void = { _ in },
        progress: @escaping (Migration.Progress) -> Void,
        isCancelled: @escaping () -> Bool
    ) throws -> Outcome {
        let phases = PhaseLog(log)
        defer { phases.end() }
        var migration = migration
        let isSecond =
            try migration.earlier != nil
            || !restarts && Checkpoint(of: files.output)?.settings == settings(ofSecondPass: true)
        migration.optOutKnowledge = isSecond ? .ahead(files.input) : .none
        do {
            return try run(migration, restarts, phases, progress, isCancelled)
        } catch is OptOutKnowledge.MayContradict {
            migration.optOutKnowledge = .ahead(files.input)
            secondPass(
                "One of several records of the same person opts in, and another opts out. The second pass knows the opt-outs that "
                    + "contradict an opt-in."
            )
            let again: (Migration.Progress) -> Void = { done in
                var done = done
                done.isSecondPass = true
                progress(done)
            }
            return try run(migration, true, phases, again, isCancelled)
        }
    }

    /// The settings in a checkpoint. The checkpoint of a second pass does not match a first pass.
    private func settings(ofSecondPass isSecond: Bool) -> String { isSecond ? settings + "-2" : settings }

    private func run(
        _ migration: Migration,
        _ restarts: Bool,
        _ phases: PhaseLog,
        _ progress: @escaping (Migration.Progress) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) throws -> Outcome {
        var source = try FileSource(path: files.input, chunk: chunk)
        let input = try InputIdentity(source, path: files.input)
        let isSecond = if case .ahead = migration.optOutKnowledge { true } else { false }
        let settings = settings(ofSecondPass: isSecond)
        let checkpoint = restarts ? nil : try usable(input, settings)
        if checkpoint?.place.report.isComplete == true, let checkpoint {
            return try Self.finish(checkpoint, files.outputs, journal: files.journal)
        }
        if let journal = files.journal { try Journal.requireFree(journal, for: files.outputs) }
        let outputs = try Self.open(files.outputs, checkpoint, shared: files.sidecars.count)
        let omitted = migration.omittedColumns
        let run = try Run(
            files,
            outputs,
            settings: settings,
            input: input,
            omitting: omitted,
            checkpoint,
            interval: interval
        )
        var checkpoints = run.checkpoints(watching: source)
        if let checkpoint, checkpoint.place.isExact {
            let head = try source.next() ?? []
            source = try FileSource(path: files.input, at: checkpoint.place.offset, chunk: chunk)
            let (path, offset, chunk) = (files.input, checkpoint.place.offset, chunk)
            checkpoints.resumption = .init(at: checkpoint.place, head: head) {
                try FileSource(path: path, upTo: offset, chunk: chunk)
            }
        }
        do {
            let rereads = checkpoints.resumption != nil && checkpoints.resumedLog == nil
            phases.note(rereads ? .hearing : .moving)
            let report = try migration.run(
                &source,
                to: run.output,
                rejects: run.rejects,
                workers: workers,
                checkpoints: checkpoints,
                evidence: files.evidence.map { _ in
                    let isResumed = checkpoints.resumption != nil
                    return Migration.Evidence(
                        to: run.evidence,
                        salt: input.head,
                        hasBegun: isResumed && outputs[files.evidencePlace].count > 0
                    )
                },
                progress: { done in
                    phases.note(done.phase, records: done.records, bytes: done.bytes)
                    progress(done)
                },
                isCancelled: isCancelled
            )
            guard try input.holds(for: source) else {
                throw Migration.Failure([Checkpoint.changedInput.at(files.input)])
            }
            if report.isComplete {
                phases.note(.moving, records: report.read, bytes: report.bytesRead)
                phases.note(.naming)
                try run.commit(report)
            }
            try run.writer.finish()
            return Outcome(
                report: report,
                resumed: checkpoint?.place.report.read ?? 0,
                isCommitted: report.isComplete,
                next: run.next
            )
        } catch {
            run.leave(after: error)
            throw error
        }
    }

    /// Returns the checkpoint of an earlier run; nil if there is none.
    ///
    /// - Throws: ``Migration/Failure`` if its settings or its input differ.
    private func usable(_ input: InputIdentity, _ settings: String) throws -> Checkpoint? {
        guard let checkpoint = try Checkpoint(of: files.output) else { return nil }
        let path = Checkpoint.path(of: files.output)
        guard checkpoint.settings == settings, checkpoint.lengths.count == files.outputs.count else {
            throw Migration.Failure([Checkpoint.otherSettings.at(path)])
        }
        guard checkpoint.input == input else { throw Migration.Failure([Checkpoint.otherInput.at(files.input)]) }
        return checkpoint
    }

    /// Renames the outputs of a run that was killed while it renamed them.
    static func finish(_ checkpoint: Checkpoint, _ outputs: [String], journal: String? = nil) throws -> Outcome {
        func hasDraft(_ path: String) -> Bool {
            access(OutputFile.draft(of: OutputFile.resolved(path) ?? path), F_OK) == 0
        }
        if let journal, outputs.allSatisfy(hasDraft) {
            let drafts = try zip(outputs, checkpoint.lengths).map { path, length in
                let file = try OutputFile(path: path, from: length)
                file.isKept = true
                return file
            }
            try Journal.write(journal, for: drafts)
        }
        for (path, length) in zip(outputs, checkpoint.lengths) {
            let target = OutputFile.resolved(path) ?? path
            if hasDraft(path) {
                try OutputFile(path: path, from: length).commit()
            } else if Self.size(of: target) != length {
                throw Migration.Failure([Checkpoint.missingDraft.at(path)])
            }
        }
        if let first = outputs.first { Checkpoint.remove(at: Checkpoint.path(of: first)) }
        let report = checkpoint.place.report
        return Outcome(report: report, resumed: report.read, isCommitted: true, next: .startOver)
    }

    /// Opens the outputs, from a checkpoint if there is one. Every user may read the last `shared` of them.
    static func open(_ paths: [String], _ checkpoint: Checkpoint?, shared: Int = 0) throws -> [OutputFile] {
        var outputs: [OutputFile] = []
        for (index, path) in paths.enumerated() {
            do throws(FileError) {
                let isPrivate = index < paths.count - shared
                let file = try OutputFile(path: path, from: checkpoint?.lengths[index], isPrivate: isPrivate)
                file.isKept = checkpoint != nil
                outputs.append(file)
            } catch {
                guard checkpoint != nil, [ENOENT, ENODATA].contains(error.number) else { throw error }
                throw Migration.Failure([Checkpoint.missingDraft.at(path)])
            }
        }
        return outputs
    }
}

/// The open files of a run.
private final class Run {
    let writer: CheckpointWriter
    private let outputs: [OutputFile]
    private let files: ResumableMigration.Files
    private let settings: String
    private let input: InputIdentity
    private let interval: Duration
    /// The number of bytes of each output that an earlier run wrote and this one generates again.
    private let repeated: [Int]
    private let clock = ContinuousClock()
    private var saved: ContinuousClock.Instant
    /// The last checkpoint that was passed to the writer.
    private var last: Checkpoint?
    private let optOuts: OptOutLog
    /// The columns that the output lacks because nothing in the source fills them.
    private let omittedColumns: [String]

    init(
        _ files: ResumableMigration.Files,
        _ outputs: [OutputFile],
        settings: String,
        input: InputIdentity,
        omitting omittedColumns: [String],
        _ checkpoint: Checkpoint?,
        interval: Duration
    ) throws {
        self.omittedColumns = omittedColumns
        (self.files, self.outputs, self.settings, self.input) = (files, outputs, settings, input)
        self.interval = interval
        (saved, last) = (clock.now, checkpoint)
        let isRepeated = checkpoint.map { !$0.place.isExact } ?? false
        repeated = outputs.map { isRepeated ? $0.count : 0 }
        optOuts = try OptOutLog(beside: files.output, from: checkpoint?.optOuts)
        let syncers = outputs.map(\.syncer) + [optOuts.syncer]
        writer = CheckpointWriter(path: Checkpoint.path(of: files.output), syncing: syncers)
        if checkpoint == nil { Checkpoint.removeStale(at: Checkpoint.path(of: files.output)) }
    }

    private func sink(_ index: Int) -> any ByteSink {
        repeated[index] == 0 ? outputs[index] : PassingSink(repeated[index], outputs[index])
    }

    var output: any ByteSink { sink(0) }
    var rejects: Rejects? { files.rejects.map { _ in Rejects(list: sink(1), replay: sink(2)) } }
    var evidence: any ByteSink { sink(files.evidencePlace) }

    func checkpoints(watching source: FileSource) -> Checkpoints {
        var checkpoints = Checkpoints(
            isDue: { [self] in clock.now - saved >= interval && !writer.isBusy },
            save: { [self] place in
                guard try input.holds(for: source) else {
                    throw Migration.Failure([Checkpoint.changedInput.at(files.input)])
                }
                try save(place)
            }
        )
        checkpoints.optOuts = optOuts
        return checkpoints
    }

    private func save(_ place: Checkpoints.Place) throws(FileError) {
        // An earlier run was further: its checkpoint stays until this run reaches it.
        guard place.report.read > last?.place.report.read ?? 0 else { return }
        let checkpoint = checkpoint(at: place, optOuts: optOuts.length)
        try writer.write(checkpoint)
        for output in outputs { output.isKept = true }
        optOuts.keep(upTo: nil)
        (last, saved) = (checkpoint, clock.now)
    }

    private func checkpoint(at place: Checkpoints.Place, optOuts: Int? = nil) -> Checkpoint {
        Checkpoint(
            settings: settings,
            input: input,
            place: place,
            lengths: outputs.map(\.count),
            optOuts: optOuts,
            omittedColumns: omittedColumns
        )
    }

    /// The way in which another run resumes this one.
    var next: ResumableMigration.Next { last.map { $0.place.isExact ? .there : .again } ?? .startOver }

    /// Renames every file. If the process is killed meanwhile, the next run does the rest.
    func commit(_ report: MigrationReport) throws {
        var place = Checkpoints.Place(report: report, offset: report.bytesRead, lines: 0, isExact: false)
        place.report.isComplete = true
        try writer.finish()
        for (file, sidecar) in zip(outputs.suffix(files.sidecars.count), files.sidecars) {
            try file.write(sidecar.bytes)
        }
        let checkpoint = checkpoint(at: place)
        try writer.write(checkpoint)
        try writer.finish()
        last = checkpoint
        for output in outputs { output.isKept = true }
        if let journal = files.journal { try Journal.write(journal, for: outputs) }
        for output in outputs.reversed() { try output.commit() }
        optOuts.discard()
        writer.remove()
    }

    /// Cleans up after an error. Output after the last checkpoint is removed, so that a full disk has room for it.
    func leave(after error: any Error) {
        try? writer.finish()
        let isMixed =
            (error as? Migration.Failure)?.findings.contains { $0.code == Checkpoint.changedInput.code } ?? false
        guard let last, !isMixed else {
            for output in outputs { output.isKept = false }
            optOuts.discard()
            return writer.remove()
        }
        optOuts.keep(upTo: last.optOuts)
        for (output, length) in zip(outputs, last.lengths) { try? output.shorten(to: length) }
    }
}

/// Skips the output that is written already.
private final class PassingSink: ByteSink {
    private var left: Int
    private var sink: any ByteSink

    init(_ left: Int, _ sink: any ByteSink) { (self.left, self.sink) = (left, sink) }

    func write(_ bytes: [UInt8]) throws(FileError) { try write(bytes[...]) }

    func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        let passed = min(left, bytes.count)
        left -= passed
        if passed < bytes.count { try sink.write(bytes.dropFirst(passed)) }
    }
}
