import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords

extension RecordFormat {
    /// A file with a header and rows of id and city, such as a vendor might have; cities are at most ten characters.
    static let toy = RecordFormat(
        id: "toy.contacts",
        title: "Toy",
        fileExtension: "csv",
        makeReader: { _ throws(SettingsError) in ToyReader() },
        makeWriter: { _ throws(SettingsError) in ToyWriter() }
    )
}

private struct ToyReader: ContactReader {
    var rows = DelimitedReader(dialect: .commaSeparated)

    mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws {
        rows.append(bytes)
        try drain(record)
    }

    mutating func finish(_ record: (SourceRecord) throws -> Void) throws {
        rows.finish()
        try drain(record)
        guard rows.header != nil else { throw SettingsError([ToyWriter.noHeader.at()]) }
    }

    private mutating func drain(_ record: (SourceRecord) throws -> Void) throws {
        while let row = rows.next() {
            switch row {
            case .success(let row):
                let contact = Contact(
                    identifiers: [Identifier(.external, row.fields[0])],
                    attributes: row.fields.count > 1 ? [.city: .string(row.fields[1])] : [:]
                )
                try record(SourceRecord(number: row.number, line: row.line, bytes: row.bytes, contact: contact))
            case .failure(let fault):
                let finding = ToyWriter.badRow.at(detail: fault.code.rawValue)
                try record(
                    SourceRecord(
                        number: fault.number,
                        line: fault.line,
                        bytes: fault.bytes,
                        contact: nil,
                        findings: [finding]
                    )
                )
            }
        }
    }
}

private struct ToyWriter: ContactWriter {
    static let noHeader = FindingRow(.error("toy.header", .invalid), reason: "There is no header", remedy: "Add one.")
    static let badRow = FindingRow(.error("toy.row", .invalid), reason: "The row is no row", remedy: "Correct it.")
    static let tooLong = FindingRow(
        .error("toy.city", .tooLarge),
        reason: "The city is too long",
        remedy: "Shorten it."
    )
    static let noID = FindingRow(.error("toy.id", .missing), reason: "There is no id", remedy: "Add one.")
    static let tagsLost = FindingRow(
        .warning("toy.tags", .unsupported),
        reason: "It has no tags",
        remedy: "Leave them."
    )

    func header() -> [UInt8] { Array("id,city\r\n".utf8) }

    mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding] {
        guard let id = contact.identifiers.first(.external), !id.isEmpty else { return [Self.noID.at("identifiers")] }
        let city = contact.attributes[.city]?.plainText ?? ""
        guard city.count <= 10 else { return [Self.tooLong.at("attributes.city")] }
        var row = DelimitedWriter(dialect: DelimitedDialect(hasHeader: false))
        try? row.record([id, city])
        bytes += row.takeBytes()
        return contact.tags.isEmpty ? [] : [Self.tagsLost.at("tags")]
    }

    func footer() -> [UInt8] { Array("# end\r\n".utf8) }
}

/// A source that returns chunks of a fixed size.
struct ChunkedSource: ByteSource {
    private var chunks: [[UInt8]]

    init(_ bytes: [UInt8], chunk: Int) {
        chunks = stride(from: 0, to: bytes.count, by: chunk).map { Array(bytes[$0..<min($0 + chunk, bytes.count)]) }
        chunks.reverse()
    }

    mutating func next() throws(FileError) -> [UInt8]? { chunks.popLast() }
}

/// A sink in memory. Its limit simulates a full disk.
final class MemorySink: ByteSink {
    private(set) var bytes: [UInt8] = []
    private let limit: Int

    init(limit: Int = .max) { self.limit = limit }

    func write(_ bytes: [UInt8]) throws(FileError) {
        guard self.bytes.count + bytes.count <= limit else { throw FileError("memory", .write, number: 28) }
        self.bytes += bytes
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}
