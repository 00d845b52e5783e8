public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

/// Splits a file of contacts into files that a vendor's import accepts. The file is split between two records, and each
/// part has the bytes before the first record and after the last one.
///
/// The records do not change. The format's own reader finds the end of a record, so a line break inside quotes does not end
/// it.
public struct FileCutter: Sendable {
    /// The maximum size of one file.
    public struct Limit: Hashable, Sendable {
        /// The maximum number of bytes, including the bytes around the records.
        public var bytes: Int
        /// The maximum number of records; nil if only bytes count.
        public var records: Int?

        /// Creates a limit.
        public init(bytes: Int, records: Int? = nil) { (self.bytes, self.records) = (bytes, records) }
    }

    /// One file of the result.
    public struct Part: Hashable, Sendable {
        /// The number of records.
        public var records = 0
        /// The number of bytes.
        public var bytes = 0
    }

    /// The maximum number of files. A limit that needs more of them is probably a mistake.
    public static let mostParts = 999

    private let limit: Limit
    private let (header, footer): ([UInt8], [UInt8])
    /// The format as a contact file; nil if it is not one.
    private let rows: ContactFile?
    private let makeReader: @Sendable () throws(SettingsError) -> any ContactReader

    /// Creates a cutter for files of a format.
    ///
    /// - Parameters:
    ///   - format: The format, which must support reading and writing.
    ///   - settings: The settings that the file was written with.
    ///   - limit: The maximum size of one file.
    /// - Throws: `SettingsError`, also if the format cannot be read.
    public init(_ format: RecordFormat, settings: JSONObject, limit: Limit) throws(SettingsError) {
        guard let makeReader = format.makeReader, let writer = try format.makeWriter?(settings) else {
            throw SettingsError([Self.oneWay.at(detail: format.id)])
        }
        (header, footer) = (writer.header(), writer.footer())
        if case .rows(let file, _)? = try format.makeTargetLayout?(settings) { rows = file } else { rows = nil }
        self.makeReader = { () throws(SettingsError) in try makeReader(settings) }
        self.limit = limit
    }

    /// Splits a file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - progress: Called after each chunk.
    ///   - isCancelled: Called before each chunk; true stops, and leaves the files that were begun as they are.
    ///   - makePart: Creates the file with a number, from 1.
    /// - Returns: The size of each file.
    /// - Throws: ``Migration/Failure`` if the file was written with other settings or changed meanwhile, if a record does
    ///   not fit into any file, or if there are too many files; `SettingsError` if the file cannot be read as a whole; and
    ///   the errors of the source and of the files.
    public func cut(
        _ source: inout some ByteSource,
        progress: (Migration.Progress) -> Void = { _ in },
        isCancelled: () -> Bool = { false },
        _ makePart: (Int) throws -> any ByteSink
    ) throws -> [Part] {
        var (reader, start) = (try makeReader(), [UInt8]())
        var (parts, open, bytesRead, isInHeader) = ([Part](), OpenPart?.none, 0, !header.isEmpty)
        // The header is read before the first record.
        var own = header
        func take(_ record: SourceRecord) throws {
            let (line, around) = (record.bytes + lineEnd, own.count + footer.count)
            guard around + line.count <= limit.bytes else {
                throw Migration.Failure([Self.tooLong.at(detail: "line \(record.line), \(line.count) bytes")])
            }
            if let part = open?.part, !fits(line.count, part) { try close(&open, &parts) }
            if open == nil {
                guard parts.count < Self.mostParts else { throw Migration.Failure([Self.tooMany.at()]) }
                open = OpenPart(part: Part(bytes: around), sink: try makePart(parts.count + 1), bytes: own)
            }
            try open?.add(line)
        }
        while !isCancelled(), let chunk = try source.next() {
            bytesRead += chunk.count
            if isInHeader {
                start += chunk
                guard start.count >= Self.mostHeader || start.contains(0x0A) else { continue }
                isInHeader = false
                own = try ownHeader(of: start)
            }
            try reader.read(start.isEmpty ? chunk : start, take)
            start = []
            let records = parts.reduce(open?.part.records ?? 0) { $0 + $1.records }
            progress(Migration.Progress(records: records, bytes: bytesRead))
        }
        if isInHeader, !isCancelled() {
            own = try ownHeader(of: start)
            try reader.read(start, take)
        }
        try reader.finish(take)
        if let change = try source.change() { throw Migration.Failure([change]) }
        try close(&open, &parts)
        return parts
    }

    /// A file that is being filled. Its bytes are buffered before they are written.
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

    /// The line end after a record. The header, if there is one, ends with the same.
    private var lineEnd: [UInt8] { header.suffix(2) == [0x0D, 0x0A] ? [0x0D, 0x0A] : [0x0A] }

    /// The maximum length of a header. Bytes without a line end beyond that are not a header.
    private static let mostHeader = 1 << 20

    /// Returns the header of a file, which every part repeats.
    ///
    /// - Parameter start: The first bytes of the file, at least its first line.
    /// - Returns: The header that the settings write. It may lack columns, because a migration leaves out columns that
    ///   nothing fills.
    /// - Throws: ``Migration/Failure`` if the file has another header.
    private func ownHeader(of start: [UInt8]) throws -> [UInt8] {
        if start.starts(with: header) { return header }
        guard let rows, let end = start.firstIndex(of: 0x0A) else { throw Migration.Failure([Self.otherHeader.at()]) }
        let own = Array(start[...end])
        let ownNames = names(own, rows)
        guard !ownNames.isEmpty else { throw Migration.Failure([Self.otherHeader.at()]) }
        var columns = names(header, rows)[...]
        for name in ownNames {
            guard let place = columns.firstIndex(of: name) else { throw Migration.Failure([Self.otherHeader.at()]) }
            columns = columns[(place + 1)...]
        }
        return own
    }

    private func names(_ header: [UInt8], _ rows: ContactFile) -> [String] {
        var reader = DelimitedReader(dialect: rows.dialect)
        reader.append(rows.settings.encoding.decoded(header))
        reader.finish()
        _ = reader.next()
        return reader.header?.fields ?? []
    }

    private static let oneWay = FindingRow(
        .error("cut.format", .unsupported),
        reason: "Files of this format cannot be split",
        remedy: "Split the file with another tool."
    )
    private static let otherHeader = FindingRow(
        .error("cut.header", .misconfigured),
        reason: "The file does not begin with the header that these settings write",
        remedy: "Name the format and the settings that the file was written with."
    )
    private static let tooLong = FindingRow(
        .error("cut.record", .tooLarge),
        reason: "One record with the header is larger than a file may be",
        remedy: "Choose a larger size, or shorten the record."
    )
    private static let tooMany = FindingRow(
        .error("cut.parts", .tooLarge),
        reason: "The file would be split into more than \(mostParts) files",
        remedy: "Choose a larger size."
    )
}
