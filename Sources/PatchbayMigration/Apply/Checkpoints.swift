import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

/// The place at which a run begins, and the receiver of its checkpoints.
public struct Checkpoints {
    /// A place between two records: every record before it is settled, and none after it has begun.
    public struct Place: Hashable, Sendable {
        /// The counts up to the place.
        public internal(set) var report: MigrationReport
        /// The number of bytes of the source before the place.
        public internal(set) var offset: Int
        /// The number of line feeds in these bytes.
        var lines: Int
        /// Whether a run can begin at the place. Otherwise it begins at the start and skips the output that is written
        /// already.
        public internal(set) var isExact: Bool
        /// Whether a record precedes the place. `hasReturns` states whether the lines end in CR LF.
        var hasBegun = false
        var hasReturns = false
        /// The number of bytes of a server API's journal before the first row without a verdict; 0 if all of the journal
        /// must be read.
        var journal = 0

        init(report: MigrationReport, offset: Int, lines: Int, isExact: Bool) {
            (self.report, self.offset, self.lines, self.isExact) = (report, offset, lines, isExact)
        }

        /// Reads a place from the value of ``json``; nil if the value is not valid.
        public init?(json: JSONValue) {
            guard let report = json["report"].flatMap(MigrationReport.init(json:)),
                let offset = json["offset"]?.integer, let lines = json["lines"]?.integer,
                let isExact = json["exact"]?.bool, let hasBegun = json["begun"]?.bool,
                let hasReturns = json["returns"]?.bool
            else { return nil }
            self.init(report: report, offset: Int(offset), lines: Int(lines), isExact: isExact)
            (self.hasBegun, self.hasReturns) = (hasBegun, hasReturns)
            journal = json["journal"]?.integer.map { Int($0) } ?? 0
        }

        /// The place as JSON.
        public var json: JSONValue {
            var json: JSONObject = [
                "offset": .integer(offset), "lines": .integer(lines), "exact": .bool(isExact),
                "begun": .bool(hasBegun), "returns": .bool(hasReturns), "report": report.json,
            ]
            if journal > 0 { json["journal"] = .integer(journal) }
            return .object(json)
        }
    }

    /// The data that a run needs to begin at a place. The source must be at the offset of the place already.
    public struct Resumption: Sendable {
        /// The place.
        public let place: Place
        /// The beginning of the source, with its header.
        public let head: [UInt8]
        /// Opens the source up to the place, to read the opt-outs there; nil if they are not needed.
        let before: (@Sendable () throws -> any ByteSource)?

        /// Creates a resumption at an exact place.
        ///
        /// - Parameters:
        ///   - place: The place.
        ///   - head: The beginning of the source, with its header.
        ///   - before: Opens the source up to the place, so that opt-outs there remain in force for later records.
        public init(at place: Place, head: [UInt8], before: (@Sendable () throws -> any ByteSource)? = nil) {
            (self.place, self.head, self.before) = (place, head, before)
        }
    }

    /// The place at which the run begins; nil is the start.
    public var resumption: Resumption?
    /// The log of opt-outs, which saves a resumed run from reading the source again for them.
    var optOuts: OptOutLog?
    /// The log with the marks of the run that is resumed; nil if there is none.
    var resumedLog: OptOutLog? { resumption != nil && optOuts?.hasEarlier == true ? optOuts : nil }
    /// Whether the next checkpoint is due. Called after each chunk.
    public var isDue: () -> Bool
    /// Receives the place of the run after everything before it is written.
    public var save: (Place) throws -> Void

    /// Creates checkpoints.
    public init(
        resumption: Resumption? = nil,
        isDue: @escaping () -> Bool,
        save: @escaping (Place) throws -> Void
    ) {
        (self.resumption, self.isDue, self.save) = (resumption, isDue, save)
    }

    static let otherWay = FindingRow(
        .error("migration.checkpoint.way", .conflict),
        reason: "The checkpoint was written by another way of reading this input",
        remedy: "Start over with --restart."
    )
}

@available(*, unavailable)
extension Checkpoints: Sendable {}

/// A log beside the checkpoint with the marks of a run's consent decisions. It contains no personal data.
final class OptOutLog {
    private let file: OutputFile
    /// Whether the marks of an earlier run are known.
    let hasEarlier: Bool
    private let draft: String

    /// Opens the log beside an output. It resumes after the first `length` bytes of an earlier run; nil starts a new log.
    init(beside output: String, from length: Int?) throws {
        let path = Self.path(beside: output)
        draft = OutputFile.draft(of: path)
        let earlier = length.flatMap { ResumableMigration.size(of: OutputFile.draft(of: path)) ?? 0 >= $0 ? $0 : nil }
        hasEarlier = earlier != nil
        file = try OutputFile(path: path, from: earlier)
        file.isKept = hasEarlier
    }

    /// Reads the marks of an earlier run in parts. Must be called before marks are appended.
    func eachEarlier(_ take: ([UInt64]) throws -> Void) throws {
        guard hasEarlier else { return }
        var source = try FileSource(raw: draft)
        while let bytes = try source.next() {
            try take(
                bytes.withUnsafeBytes { bytes in
                    stride(from: 0, to: bytes.count - 7, by: 8)
                        .map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
                }
            )
        }
    }

    /// The name of the log of an output, without the suffix of an unfinished file.
    static func path(beside output: String) -> String { path(ofCheckpoint: Checkpoint.path(of: output)) }

    /// The name of the log that belongs to a checkpoint, without the suffix of an unfinished file.
    static func path(ofCheckpoint path: String) -> String { "\(path).optouts" }

    /// The length of the log in bytes.
    var length: Int { file.count }

    /// A closure that syncs the log to the disk.
    var syncer: @Sendable () -> Int32 { file.syncer }

    /// Appends marks.
    func append(_ marks: [UInt64]) throws(FileError) {
        if !marks.isEmpty { try file.write(marks.withUnsafeBytes(Array.init)) }
    }

    /// Keeps the file when the run ends, up to `length` bytes.
    func keep(upTo length: Int?) {
        // A log that is shorter than its checkpoint states was lost, and must not be extended with zeros.
        file.isKept = length ?? 0 <= file.count
        if let length, file.isKept { try? file.shorten(to: length) }
    }

    /// Removes the file when the run ends.
    func discard() { file.isKept = false }
}
