public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

/// Cuts a file of contacts into files that a vendor's way in takes: between two records, each file with what stands before
/// the first record and behind the last.
///
/// No byte of a record changes. The format's own reader says where records end, so a line break inside quotes is none.
public struct FileCutter: Sendable {
    /// What one file may hold at most.
    public struct Limit: Hashable, Sendable {
        /// Bytes, with everything around the records.
        public var bytes: Int
        /// Records; nil where only bytes count.
        public var records: Int?

        /// A limit.
        public init(bytes: Int, records: Int? = nil) { (self.bytes, self.records) = (bytes, records) }
    }

    /// One file that was made.
    public struct Part: Hashable, Sendable {
        /// Records in it.
        public var records = 0
        /// Its bytes.
        public var bytes = 0
    }

    /// So many files at most: whoever needs more has another limit in mind.
    public static let mostParts = 999

    private let limit: Limit
    private let (header, footer): ([UInt8], [UInt8])
    private let makeReader: @Sendable () throws(SettingsError) -> any ContactReader

    /// A cutter of files of that format.
    ///
    /// - Parameters:
    ///   - format: the format, which must be read and written.
    ///   - settings: the settings that the file was written with.
    ///   - limit: what one file may hold.
    /// - Throws: `SettingsError`, also for a format that can't be read back.
    public init(_ format: RecordFormat, settings: JSONObject, limit: Limit) throws(SettingsError) {
        guard let makeReader = format.makeReader, let writer = try format.makeWriter?(settings) else {
            throw SettingsError([Self.oneWay.at(detail: format.id)])
        }
        (header, footer) = (writer.header(), writer.footer())
        self.makeReader = { () throws(SettingsError) in try makeReader(settings) }
        self.limit = limit
    }

    /// Cuts a file.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - progress: is told now and then.
    ///   - isCancelled: is asked now and then; then what was begun is left as it is.
    ///   - makePart: begins the file of that number, from 1.
    /// - Returns: what each file holds.
    /// - Throws: ``Migration/Failure`` for a file that other settings wrote or that was changed meanwhile, a record that no
    ///   file can hold, or too many files; `SettingsError` if the file can't be read as a whole; and what the source and the files throw.
    public func cut(
        _ source: inout some ByteSource,
        progress: (Migration.Progress) -> Void = { _ in },
        isCancelled: () -> Bool = { false },
        _ makePart: (Int) throws -> any ByteSink
    ) throws -> [Part] {
        var (reader, start) = (try makeReader(), [UInt8]())
        var (parts, open, bytesRead) = ([Part](), OpenPart?.none, 0)
        let around = header.count + footer.count
        func take(_ record: SourceRecord) throws {
            let line = record.bytes + lineEnd
            guard around + line.count <= limit.bytes else {
                throw Migration.Failure([Self.tooLong.at(detail: "line \(record.line), \(line.count) bytes")])
            }
            if let part = open?.part, !fits(line.count, part) { try close(&open, &parts) }
            if open == nil {
                guard parts.count < Self.mostParts else { throw Migration.Failure([Self.tooMany.at()]) }
                open = OpenPart(part: Part(bytes: around), sink: try makePart(parts.count + 1), bytes: header)
            }
            try open?.add(line)
        }
        while !isCancelled(), let chunk = try source.next() {
            bytesRead += chunk.count
            if start.count < header.count {
                start += chunk.prefix(header.count - start.count)
                try check(start[...])
            }
            try reader.read(chunk, take)
            let records = parts.reduce(open?.part.records ?? 0) { $0 + $1.records }
            progress(Migration.Progress(records: records, bytes: bytesRead))
        }
        guard start.count >= header.count else { throw Migration.Failure([Self.otherHeader.at()]) }
        try reader.finish(take)
        if let change = try source.change() { throw Migration.Failure([change]) }
        try close(&open, &parts)
        return parts
    }

    /// A file that is being filled; what goes into it is collected before it is written.
    private struct OpenPart {
        var part: Part
        var sink: any ByteSink
        var bytes: [UInt8]

        mutating func add(_ line: [UInt8]) throws {
            part.records += 1
            part.bytes += line.count
            bytes += line
            guard bytes.count >= 128 << 10 else { return }
            try sink.write(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
    }

    private func close(_ open: inout OpenPart?, _ parts: inout [Part]) throws {
        guard var ended = open.take() else { return }
        try ended.sink.write(ended.bytes + footer)
        parts.append(ended.part)
    }

    private func fits(_ count: Int, _ part: Part) -> Bool {
        part.bytes + count <= limit.bytes && limit.records.map { part.records < $0 } ?? true
    }

    /// What ends a record; the header, if there is one, ends with the same.
    private var lineEnd: [UInt8] { header.suffix(2) == [0x0D, 0x0A] ? [0x0D, 0x0A] : [0x0A] }

    /// The file must begin as these settings write it: what is repeated in each part must be its own header.
    private func check(_ start: ArraySlice<UInt8>) throws {
        guard header.starts(with: start) else { throw Migration.Failure([Self.otherHeader.at()]) }
    }

    private static let oneWay = FindingRow(
        "cut.format",
        .error,
        .unsupported,
        reason: "Files of this format cannot be split",
        remedy: "Split the file with another tool."
    )
    private static let otherHeader = FindingRow(
        "cut.header",
        .error,
        .misconfigured,
        reason: "The file does not begin with the header that these settings write",
        remedy: "Name the format and the settings that the file was written with."
    )
    private static let tooLong = FindingRow(
        "cut.record",
        .error,
        .tooLarge,
        reason: "One record with the header is larger than a file may be",
        remedy: "Choose a larger size, or shorten the record."
    )
    private static let tooMany = FindingRow(
        "cut.parts",
        .error,
        .tooLarge,
        reason: "The file would be split into more than \(mostParts) files",
        remedy: "Choose a larger size."
    )
}
