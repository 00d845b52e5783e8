import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

/// Where a run begins, and who hears where it stands.
public struct Checkpoints {
    /// A place between two records: everything before it is settled, nothing behind it has begun.
    public struct Place: Hashable, Sendable {
        /// The numbers so far.
        public internal(set) var report: MigrationReport
        /// Bytes of the source before it.
        public internal(set) var offset: Int
        /// Line feeds among them.
        var lines: Int
        /// Whether a run can begin here. If not it begins at the start, and what was written already is passed over.
        public internal(set) var isExact: Bool
        /// Whether a record came before, and whether the lines end in CR LF.
        var hasBegun = false
        var hasReturns = false
        /// Bytes of a server API's journal before the first row that had no verdict; 0 where all of it must be read.
        var journal = 0

        init(report: MigrationReport, offset: Int, lines: Int, isExact: Bool) {
            (self.report, self.offset, self.lines, self.isExact) = (report, offset, lines, isExact)
        }

        /// Reads what ``json`` wrote; nil if it is something else.
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

    /// What a run needs to begin at a place: the source is at its offset already.
    public struct Resumption: Sendable {
        /// The place.
        public let place: Place
        /// The beginning of the source, with its header.
        public let head: [UInt8]
        /// Makes what stands before the place, so that an opt-out there is heard; nil if nobody asks.
        let before: (@Sendable () throws -> any ByteSource)?

        /// Begins at an exact place.
        ///
        /// - Parameters:
        ///   - place: where.
        ///   - head: the beginning of the source, with its header.
        ///   - before: makes the source up to the place: who said no there is not said yes for behind it.
        public init(at place: Place, head: [UInt8], before: (@Sendable () throws -> any ByteSource)? = nil) {
            (self.place, self.head, self.before) = (place, head, before)
        }
    }

    /// Where to begin; nil is the start.
    public var resumption: Resumption?
    /// Where opt-outs are kept, so that a resumed run need not read the source again for them.
    var optOuts: OptOutLog?
    /// Whether it is time to say where the run stands; asked after each chunk.
    public var isDue: () -> Bool
    /// Hears where the run stands, once everything before is written.
    public var save: (Place) throws -> Void

    /// Checkpoints.
    public init(
        resumption: Resumption? = nil,
        isDue: @escaping () -> Bool,
        save: @escaping (Place) throws -> Void
    ) {
        (self.resumption, self.isDue, self.save) = (resumption, isDue, save)
    }

    static let otherWay = FindingRow(
        "migration.checkpoint.way",
        .error,
        .conflict,
        reason: "The checkpoint was written by another way of reading this input",
        remedy: "Start over with --restart."
    )
}

@available(*, unavailable)
extension Checkpoints: Sendable {}

/// The marks of the opt-outs that a run has read, and of the opt-ins that it has written, in a file beside its checkpoint. They hold
/// no personal data.
final class OptOutLog {
    private let file: OutputFile
    /// Whether the file has every opt-out.
    private var isComplete = true
    /// Whether the marks of an earlier run are known.
    let hasEarlier: Bool
    private let draft: String

    /// A log beside an output. It continues after the first `length` bytes of an earlier run; nil begins again.
    init(beside output: String, from length: Int?) throws {
        let path = Self.path(beside: output)
        draft = OutputFile.draft(of: path)
        let earlier = length.flatMap { ResumableMigration.size(of: OutputFile.draft(of: path)) ?? 0 >= $0 ? $0 : nil }
        hasEarlier = earlier != nil
        file = try OutputFile(path: path, from: earlier)
        file.isKept = hasEarlier
    }

    /// Hands out the marks of an earlier run, part by part. Nothing may be appended before.
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

    /// The number of bytes that hold every opt-out so far; nil if there are too many.
    var length: Int? { isComplete ? file.count : nil }

    /// What brings the marks to the disk.
    var syncer: @Sendable () -> Int32 { file.syncer }

    /// Appends marks; nil says that there are too many.
    func append(_ marks: [UInt64]?) throws(FileError) {
        guard let marks, isComplete else { return isComplete = false }
        if !marks.isEmpty { try file.write(marks.withUnsafeBytes(Array.init)) }
    }

    /// Keeps the file when the run ends, up to `length` bytes.
    func keep(upTo length: Int?) {
        file.isKept = true
        if let length { try? file.shorten(to: length) }
    }

    /// Removes the file when the run ends.
    func discard() { file.isKept = false }
}
