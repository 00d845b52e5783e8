import Dispatch
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem
import Synchronization

/// What an unfinished migration left beside its output: where it stood, and of what. It holds no person's data.
struct Checkpoint {
    private static let version = 1

    /// Digest of everything that decides what is written.
    var settings: String
    var input: InputIdentity
    var place: Checkpoints.Place
    /// Bytes of each output that belong to the place, in the order of the outputs.
    var lengths: [Int]
    /// Bytes of the opt-out log that belong to the place; nil if it does not have every opt-out.
    var optOuts: Int?

    init(settings: String, input: InputIdentity, place: Checkpoints.Place, lengths: [Int], optOuts: Int? = nil) {
        (self.settings, self.input, self.place, self.lengths) = (settings, input, place, lengths)
        self.optOuts = optOuts
    }

    /// Where the checkpoint of an output stands.
    static func path(of output: String) -> String { "\(OutputFile.resolved(output) ?? output).checkpoint" }

    /// Removes a checkpoint and the opt-out log beside it.
    ///
    /// The checkpoint goes last: while it stands, the next run knows that there is something to finish and remove.
    static func remove(at path: String) {
        unlink(OutputFile.draft(of: OptOutLog.path(ofCheckpoint: path)))
        removeStale(at: path)
    }

    /// Removes a checkpoint with which a new run does not continue; the run's own opt-out log stays.
    static func removeStale(at path: String) { for path in [OutputFile.draft(of: path), path] { unlink(path) } }

    /// Reads a checkpoint; nil if there is none.
    init?(of output: String) throws {
        let path = Self.path(of: output)
        guard access(path, F_OK) == 0 else { return nil }
        let bytes = try FileSource.contents(of: path)
        guard let json = try? JSONValue(parsing: bytes), json["version"]?.integer == Int64(Self.version),
            let settings = json["settings"]?.string, let input = json["input"].flatMap(InputIdentity.init(json:)),
            let place = json["place"].flatMap(Checkpoints.Place.init(json:)),
            let lengths = json["lengths"]?.array?.compactMap({ $0.integer.map { Int($0) } })
        else { throw Migration.Failure([Self.unreadable.at(path)]) }
        let optOuts = json["optOuts"]?.integer.map { Int($0) }
        self.init(settings: settings, input: input, place: place, lengths: lengths, optOuts: optOuts)
    }

    var bytes: [UInt8] {
        var json: JSONObject = [
            "version": .integer(Self.version), "settings": .string(settings), "input": input.json,
            "place": place.json, "lengths": .array(lengths.map { .integer($0) }),
        ]
        json["optOuts"] = optOuts.map { .integer($0) }
        return Array((JSONValue.object(json).text + "\n").utf8)
    }

    // MARK: What may be wrong

    static let unreadable = FindingRow(
        "migration.checkpoint.unreadable",
        .error,
        .invalid,
        reason: "The checkpoint cannot be read",
        remedy: "Start over with --restart."
    )
    static let otherSettings = FindingRow(
        "migration.checkpoint.settings",
        .error,
        .conflict,
        reason: "The interrupted run had other formats, settings or files",
        remedy: "Repeat it with the same ones to resume, or start over with --restart."
    )
    static let otherInput = FindingRow(
        "migration.checkpoint.input",
        .error,
        .conflict,
        reason: "The input differs from the input of the interrupted run",
        remedy: "Name that input to resume, or start over with --restart."
    )
    static let missingDraft = FindingRow(
        "migration.checkpoint.draft",
        .error,
        .notFound,
        reason: "The output of the interrupted run is missing, or shorter than its checkpoint says",
        remedy: "Start over with --restart."
    )
    static let changedInput = FindingRow(
        "migration.input.changed",
        .error,
        .conflict,
        reason:
            "The input was changed while it was read. No file was written; output to a pipe or standard output is incomplete",
        remedy: "Wait until the input is complete, or read a copy of it."
    )
}

/// Writes checkpoints on a thread of its own: first the outputs come to the disk, then the checkpoint, so that no
/// checkpoint ever speaks of bytes that are not there.
final class CheckpointWriter: Sendable {
    private struct State {
        var isBusy = false
        var failure: FileError?
    }

    private let path: String
    private let syncers: [@Sendable () -> Int32]
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "patchbay.checkpoint", qos: .utility)

    init(path: String, syncing syncers: [@Sendable () -> Int32]) { (self.path, self.syncers) = (path, syncers) }

    /// Whether one is being written.
    var isBusy: Bool { state.withLock { $0.isBusy } }

    /// Begins to write one.
    ///
    /// - Throws: what went wrong with the one before.
    func write(_ checkpoint: Checkpoint) throws(FileError) {
        let failure = state.withLock { state in
            state.isBusy = true
            return state.failure
        }
        if let failure { throw failure }
        let (path, syncers, bytes) = (path, syncers, checkpoint.bytes)
        queue.async { [self] in
            let failure = Self.write(bytes, to: path, after: syncers)
            state.withLock { state in
                (state.isBusy, state.failure) = (false, state.failure ?? failure)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to path: String, after syncers: [@Sendable () -> Int32]) -> FileError? {
        for sync in syncers {
            let number = sync()
            // What is no disk can't be synced, and needs none.
            if number != 0, number != EINVAL { return FileError(path, .sync, number: number) }
        }
        do throws(FileError) {
            // What a killed run left of one is written over, not left behind.
            let file = try OutputFile(path: path, from: nil)
            try file.write(bytes)
            try file.commit()
            return nil
        } catch {
            return error
        }
    }

    /// Waits until the last one is written.
    func finish() throws(FileError) {
        queue.sync {}
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Removes the checkpoint: the work is done, or begins anew.
    func remove() {
        queue.sync {}
        Checkpoint.remove(at: path)
    }
}
