import PatchbayAcousticFiles
import PatchbayAdapterKit
import PatchbayDESFiles
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@Suite("Files split to a vendor's size limit") struct SplitTests {
    /// The files that a split writes.
    private final class PartFiles {
        final class File: ByteSink {
            var bytes: [UInt8] = []
            func write(_ more: [UInt8]) { bytes += more }
        }

        private(set) var files: [File] = []

        func make() -> File {
            files.append(File())
            return files[files.count - 1]
        }
    }

    private struct Chunks: ByteSource {
        var rest: ArraySlice<UInt8>
        let size: Int

        mutating func next() -> [UInt8]? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
    }

    private static let settings: JSONObject = [
        "listId": "771100", "withoutOptIn": "warn", "columns": ["Remark": "attribute:remark"],
        "types": ["remark": "string"],
    ]

    /// Contacts with line breaks, quotes and delimiters inside a field.
    private static func contacts(_ count: Int) -> [Contact] {
        (1...count).map { number in
            Contact(
                identifiers: [
                    Identifier(.external, "c-\(number)"), Identifier(.email, "c\(number)@example.com"),
                ],
                attributes: ["remark": .string("line \(number)\nof \"two\", or\r\nthree")]
            )
        }
    }

    private static func file(_ format: RecordFormat, _ settings: JSONObject, _ contacts: [Contact]) throws -> [UInt8] {
        var writer = try #require(try format.makeWriter?(settings))
        var bytes = writer.header()
        for contact in contacts { #expect(!writer.write(contact, to: &bytes).contains { $0.severity == .error }) }
        return bytes + writer.footer()
    }

    private static let formats: [(RecordFormat, JSONObject)] = [
        (VendorFiles.acoustic.formats[0], settings),
        (
            VendorFiles.salesforce.formats[0],
            ["columns": ["Remark": "attribute:remark"], "types": ["remark": "string"]]
        ),
        (.neutralContacts, [:]),
    ]

    @Test(arguments: [0, 1, 2], [300, 600, 1_500])
    func `writes every record once, in order, in parts with a header within the size limit`(
        _ place: Int,
        _ size: Int
    ) throws {
        let (format, settings) = Self.formats[place]
        let header = try #require(try format.makeWriter?(settings)).header()
        let whole = try Self.file(format, settings, Self.contacts(40))
        let limit = header.count + size
        for chunk in [7, 4_096] {
            let written = PartFiles()
            var source = Chunks(rest: whole[...], size: chunk)
            let parts = try FileCutter(format, settings: settings, limit: FileCutter.Limit(bytes: limit))
                .cut(&source) { number in
                    #expect(number == written.files.count + 1)
                    return written.make()
                }
            #expect(parts.count > 1)
            #expect(parts.map(\.records).reduce(0, +) == 40)
            #expect(parts.map(\.bytes) == written.files.map(\.bytes.count))
            #expect(written.files.allSatisfy { $0.bytes.count <= limit && $0.bytes.starts(with: header) })
            #expect(header + written.files.flatMap { $0.bytes.dropFirst(header.count) } == whole)
            // One more record would not fit.
            var next = 0
            for part in parts.dropLast() {
                next += part.records
                let record = try Self.file(format, settings, [Self.contacts(40)[next]]).count - header.count
                #expect(part.bytes + record > limit)
            }
        }
    }

    @Test func `limits the number of records per part`() throws {
        let whole = try Self.file(.neutralContacts, [:], Self.contacts(10))
        var source = Chunks(rest: whole[...], size: 100)
        let written = PartFiles()
        let parts = try FileCutter(.neutralContacts, settings: [:], limit: FileCutter.Limit(bytes: 1 << 20, records: 4))
            .cut(&source) { _ in written.make() }
        #expect(parts.map(\.records) == [4, 4, 2])
    }

    @Test func `rejects a file with other settings, an oversized record and too many parts`() throws {
        let (format, settings) = Self.formats[0]
        func code(_ bytes: [UInt8], _ limit: Int) throws -> String? {
            var source = Chunks(rest: bytes[...], size: 64)
            do {
                _ = try FileCutter(format, settings: settings, limit: FileCutter.Limit(bytes: limit))
                    .cut(&source) { _ in PartFiles().make() }
                return nil
            } catch let failure as Migration.Failure {
                return failure.findings[0].code
            }
        }
        let whole = try Self.file(format, settings, Self.contacts(3))
        #expect(try code(whole, 1 << 20) == nil)
        #expect(try code(Array("Other,Header\r\n1,2\r\n".utf8), 1 << 20) == "cut.header")
        #expect(try code(Array(whole.prefix(5)), 1 << 20) == "cut.header")
        #expect(try code(whole, 40) == "cut.record")
        let people = (1...1_010).map { Contact(identifiers: [Identifier(.external, "c-\($0)")]) }
        let longest = try Self.file(format, settings, [people[1_009]]).count
        #expect(try code(Self.file(format, settings, people), longest) == "cut.parts")
    }

    @Test func `knows each vendor's size limit for contact files`() {
        #expect(VendorFiles.des.loads.compactMap(\.bytes) == [64_000_000])
        #expect(VendorFiles.salesforce.loads.compactMap(\.bytes) == [20_000_000])
    }

    @Test func `creates no part for a file without records`() throws {
        let written = PartFiles()
        var source = Chunks(rest: [], size: 1)
        let cutter = try FileCutter(.neutralContacts, settings: [:], limit: FileCutter.Limit(bytes: 100))
        #expect(try cutter.cut(&source) { _ in written.make() }.isEmpty)
        #expect(written.files.isEmpty)
    }
}
