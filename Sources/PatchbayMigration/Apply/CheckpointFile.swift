import Dispatch
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem
import Synchronization

/// The checkpoint of an unfinished migration: its progress and the identity of its input. It contains no personal data.
struct Checkpoint {
    private static let version = 2

    /// The digest of every setting that affects the output.
    var settings: String
    var input: InputIdentity
    var place: Checkpoints.Place
    /// The number of bytes of each output at this place, in the order of the outputs.
    var lengths: [Int]
    /// The number of bytes of the log of consent decisions at this place; nil for a complete run.
    var optOuts: Int?
    /// The columns that the output lacks because nothing in the source fills them.
    var omittedColumns: [String]

    init(
        settings: String,
        input: InputIdentity,
        place: Checkpoints.Place,
        lengths: [Int],
        optOuts: Int? = nil,
        omittedColumns: [String] = []
    ) {
        (self.settings, self.input, self.place, self.lengths) = (settings, input, place, lengths)
        (self.optOuts, self.omittedColumns) = (optOuts, omittedColumns)
    }

    /// The path of the checkpoint of an output.
    static func path(of output: String) -> String { "\(OutputFile.resolved(output) ?? output).checkpoint" }

    /// Removes a checkpoint and the opt-out log beside it.
    ///
    /// The checkpoint is removed last: while it exists, the next run knows that there are files to finish and remove.
    static func remove(at path: String) {
        unlink(OutputFile.draft(of: OptOutLog.path(ofCheckpoint: path)))
        removeStale(at: path)
    }

    /// Removes the checkpoint of an earlier run that a new run does not resume. The opt-out log stays, because the new run
    /// writes it.
    static func removeStale(at path: String) { for path in [OutputFile.draft(of: path), path] { unlink(path) } }

    /// Reads the checkpoint of an output; nil if there is none.
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
        self.init(
            settings: settings,
            input: input,
            place: place,
            lengths: lengths,
            optOuts: optOuts,
            omittedColumns: json["omittedColumns"]?.array?.compactMap(\.string) ?? []
        )
    }

    var bytes: [UInt8] {
        var json: JSONObject = [
            "version": .integer(Self.version), "settings": .string(settings), "input": input.json,
            "place": place.json, "lengths": .array(lengths.map { .integer($0) }),
        ]
        json["optOuts"] = optOuts.map { .integer($0) }
        if !omittedColumns.isEmpty { json["omittedColumns"] = .array(omittedColumns.map { .string($0) }) }
        return Array((JSONValue.object(json).text + "\n").utf8)
    }

    // MARK: Findings

    static let unreadable = FindingRow(
        .error("migration.checkpoint.unreadable", .invalid),
        reason: "The checkpoint cannot be read",
        remedy: "Start over with --restart."
    )
    static let otherSettings = FindingRow(
        .error("migration.checkpoint.settings", .conflict),
        reason: "The interrupted run had other formats, settings or files",
        remedy: "Repeat it with the same ones to resume, or start over with --restart."
    )
    static let otherInput = FindingRow(
        .error("migration.checkpoint.input", .conflict),
        reason: "The input differs from the input of the interrupted run",
        remedy: "Name that input to resume, or start over with --restart."
    )
    static let missingDraft = FindingRow(
        .error("migration.checkpoint.draft", .notFound),
        reason: "The output of the interrupted run is missing, or shorter than its checkpoint says",
        remedy: "Start over with --restart."
    )
    static let changedInput = FindingRow(
        .error("migration.input.changed", .conflict),
        reason:
            "The input was changed while it was read. No file was written; output to a pipe or standard output is incomplete",
        remedy: "Wait until the input is complete, or read a copy of it."
    )
}

/// Writes checkpoints on a thread of its own. It syncs the outputs to the disk before it writes the checkpoint, so that a
/// checkpoint never refers to bytes that are not stored.
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

    /// Whether a checkpoint is being written.
    var isBusy: Bool { state.withLock { $0.isBusy } }

    /// Starts to write a checkpoint.
    ///
    /// - Throws: The error of the previous checkpoint.
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
            // A file that is not on a disk cannot be synced and need not be.
            if number != 0, number != EINVAL { return FileError(path, .sync, number: number) }
        }
        do throws(FileError) {
            // The draft of a killed run is overwritten.
            let file = try OutputFile(path: path, from: nil)
            try file.write(bytes)
            try file.commit()
            return nil
        } catch {
            return error
        }
    }

    /// Waits until the last checkpoint is written.
    func finish() throws(FileError) {
        queue.sync {}
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Removes the checkpoint when the run is complete or starts over.
    func remove() {
        queue.sync {}
        Checkpoint.remove(at: path)
    }
}
