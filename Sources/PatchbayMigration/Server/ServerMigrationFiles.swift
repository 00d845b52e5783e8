import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// The files of a run through a server API: verdicts, rejects, checkpoint and outbox.
final class ServerMigrationFiles {
    /// The digests of all settings that affect the operations, by name, so that messages can name the settings that differ.
    struct Identity {
        let parts: [(name: String, digest: String)]

        init(_ parts: [(String, JSONValue)]) {
            self.parts = parts.map { name, value in
                (name, SHA256.digest(of: Array(value.text.utf8)).hexText)
            }
        }

        var text: String { parts.map { "\($0.name)=\($0.digest)" }.joined(separator: ";") }

        /// The names of the settings that differ in another run.
        func differences(from other: String) -> [String] {
            let others = Set(other.split(separator: ";").map(String.init))
            return parts.filter { !others.contains("\($0.name)=\($0.digest)") }.map(\.name)
        }
    }

    let paths: [String]
    let outputs: [OutputFile]
    let writer: CheckpointWriter
    /// The checkpoint of an earlier run; nil if the run starts.
    let earlier: Checkpoint?
    private let identity: Identity
    private let input: InputIdentity
    private(set) var last: Checkpoint

    /// The path of a run's outbox.
    static func outbox(of output: String) -> String { "\(OutputFile.resolved(output) ?? output).outbox" }

    var outbox: String { Self.outbox(of: paths[0]) }

    /// A text that identifies the run. It stays the same when the run is resumed.
    var run: String { "\(identity.text)|\(input.json.text)" }

    /// Creates the files, or resumes an earlier run.
    ///
    /// - Throws: ``Migration/Failure`` if the unfinished run has other settings or another input, with their names;
    ///   ``FileError``, also while another process runs the migration.
    init(_ paths: [String], _ identity: Identity, _ input: InputIdentity, at inputPath: String, restarts: Bool) throws {
        (self.paths, self.identity, self.input) = (paths, identity, input)
        let found = try restarts ? nil : Checkpoint(of: paths[0])
        if let found {
            let path = Checkpoint.path(of: paths[0])
            let differences = identity.differences(from: found.settings)
            guard differences.isEmpty, found.lengths.count == paths.count else {
                let names = differences.isEmpty ? "files" : differences.joined(separator: ", ")
                throw Migration.Failure([Checkpoint.otherSettings.at(path, detail: "other: \(names)")])
            }
            guard found.input == input else { throw Migration.Failure([Checkpoint.otherInput.at(inputPath)]) }
        }
        earlier = found
        // The outputs lock the run, so they are opened before any other file is changed.
        outputs = try ResumableMigration.open(paths, found)
        writer = CheckpointWriter(path: Checkpoint.path(of: paths[0]), syncing: outputs.map(\.syncer))
        let place = Checkpoints.Place(report: MigrationReport(), offset: 0, lines: 0, isExact: false)
        last =
            found
            ?? Checkpoint(settings: identity.text, input: input, place: place, lengths: paths.map { _ in 0 })
        if let found {
            guard found.place.report.read == 0 || access(outbox, F_OK) == 0 else {
                throw Migration.Failure([ServerFinding.outboxLost.at(outbox)])
            }
        } else {
            Self.removeOutbox(outbox)
            try save(place)
            try writer.finish()
        }
    }

    static func removeOutbox(_ path: String) { for file in files(ofOutbox: path) { unlink(file) } }

    private static func files(ofOutbox path: String) -> [String] { ["", "-wal", "-shm"].map { path + $0 } }

    /// The paths of the files of a run's outbox.
    static func outboxes(of output: String) -> [String] { files(ofOutbox: outbox(of: output)) }

    /// Saves a checkpoint. The outputs must have everything before it already.
    func save(_ place: Checkpoints.Place) throws(FileError) {
        let checkpoint = Checkpoint(
            settings: identity.text,
            input: input,
            place: place,
            lengths: outputs.map(\.count)
        )
        try writer.write(checkpoint)
        for output in outputs { output.isKept = true }
        last = checkpoint
    }

    /// Renames every file, and removes the outbox and the checkpoint. If the process is killed meanwhile, the next run does
    /// the rest.
    func commit(_ place: Checkpoints.Place) throws {
        try writer.finish()
        try save(place)
        try writer.finish()
        for output in outputs.reversed() { try output.commit() }
        Self.removeOutbox(outbox)
        writer.remove()
    }

    /// Ends an incomplete run. Output after the last checkpoint is removed, and the next run writes it again.
    func leave() {
        try? writer.finish()
        for (output, length) in zip(outputs, last.lengths) { try? output.shorten(to: length) }
    }

    /// Ends a cancelled run and returns its progress.
    func leaveStopped() -> ServerOutcome {
        leave()
        return ServerOutcome(
            report: last.place.report,
            accounts: nil,
            resumed: earlier?.place.report.read ?? 0,
            isCommitted: false,
            stopped: nil
        )
    }
}
