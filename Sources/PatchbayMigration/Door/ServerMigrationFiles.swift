import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// The files of a run through a server API: what became of each row, what was rejected, where it stands, and its outbox.
final class ServerMigrationFiles {
    /// Everything that decides what is said, each under its name, as digests: what differs can be named.
    struct Identity {
        let parts: [(name: String, digest: String)]

        init(_ parts: [(String, JSONValue)]) {
            self.parts = parts.map { name, value in
                (name, SHA256.digest(of: Array(value.text.utf8)).hexText)
            }
        }

        var text: String { parts.map { "\($0.name)=\($0.digest)" }.joined(separator: ";") }

        /// The names of what another run had otherwise.
        func differences(from other: String) -> [String] {
            let others = Set(other.split(separator: ";").map(String.init))
            return parts.filter { !others.contains("\($0.name)=\($0.digest)") }.map(\.name)
        }
    }

    let paths: [String]
    let outputs: [OutputFile]
    let writer: CheckpointWriter
    /// Where an earlier run stood; nil at the beginning.
    let earlier: Checkpoint?
    private let identity: Identity
    private let input: InputIdentity
    private(set) var last: Checkpoint

    /// Where the outbox of a run stands.
    static func outbox(of output: String) -> String { "\(OutputFile.resolved(output) ?? output).outbox" }

    var outbox: String { Self.outbox(of: paths[0]) }

    /// A name that only this run has: the same when it goes on.
    var run: String { "\(identity.text)|\(input.json.text)" }

    /// Begins the files, or goes on with them.
    ///
    /// - Throws: ``Migration/Failure`` if an unfinished run was another one, with what differs; ``FileError``, also while
    ///   another process is at it.
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
        // Whoever has these has the run: nothing else is touched before.
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

    /// The files that the outbox of a run consists of.
    static func outboxes(of output: String) -> [String] { files(ofOutbox: outbox(of: output)) }

    /// Keeps where the run stands; what was written before it must be with the outputs already.
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

    /// Gives every file its name, and forgets the run; killed in between, the next one does the rest.
    func commit(_ place: Checkpoints.Place) throws {
        try writer.finish()
        try save(place)
        try writer.finish()
        for output in outputs.reversed() { try output.commit() }
        Self.removeOutbox(outbox)
        writer.remove()
    }

    /// Ends a run that is not complete: what stands behind the last checkpoint is written anew by the next one.
    func leave() {
        try? writer.finish()
        for (output, length) in zip(outputs, last.lengths) { try? output.shorten(to: length) }
    }

    /// Ends a run that was given up, and says how far it is.
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
