import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords
import Testing

@Suite("Migration") struct MigrationTests {
    /// A header, two good rows (one over two lines), a quote gone wrong, bytes that are not UTF-8, and a city too long.
    static let file: [UInt8] =
        Array("id,city\r\nc-1,Oulu\r\nc-2,\"Rauma\r\nold\"\r\nc-3,\"Ii\"x\r\nc-4,".utf8) + [0xFF]
        + Array("\r\nc-5,Kristiinankaupunki\r\nc-6,Kemi".utf8)

    struct Result {
        let report: MigrationReport
        let output = MemorySink()
        let list = MemorySink()
        let replay = MemorySink()

        init(
            _ bytes: [UInt8],
            from source: RecordFormat,
            to target: RecordFormat,
            catalogue: AttributeCatalogue = AttributeCatalogue(),
            chunk: Int = 4096
        ) throws {
            var input = ChunkedSource(bytes, chunk: chunk)
            report = try Migration(from: source, to: target, catalogue: catalogue)
                .run(&input, to: output, rejects: Rejects(list: list, replay: replay))
        }
    }

    @Test func `every record is written or rejected, and counted`() throws {
        let result = try Result(Self.file, from: .toy, to: .toy)
        #expect(result.output.text == "id,city\r\nc-1,Oulu\r\nc-2,\"Rauma\r\nold\"\r\nc-6,Kemi\r\n# end\r\n")
        #expect(result.report.read == 6)
        #expect(result.report.written == 3)
        #expect(result.report.rejected == 3)
        #expect(result.report.findings == ["toy.row": .error(2), "toy.city": .error(1)])
        #expect(result.report.bytesRead == Self.file.count)
        #expect(result.report.bytesWritten == result.output.bytes.count)
        #expect(result.report.isComplete)
    }

    @Test(arguments: [1, 2, 3, 7, 16, 64, 4096]) func `the size of the chunks changes nothing`(_ chunk: Int) throws {
        let (one, other) = (
            try Result(Self.file, from: .toy, to: .toy), try Result(Self.file, from: .toy, to: .toy, chunk: chunk)
        )
        #expect(other.output.bytes == one.output.bytes)
        #expect(other.list.bytes == one.list.bytes)
        #expect(other.replay.bytes == one.replay.bytes)
        #expect(other.report == one.report)
    }

    // MARK: Rejects

    @Test func `a reject says where, why and how to mend it, with the original`() throws {
        let lines = try Result(Self.file, from: .toy, to: .toy).list.text.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(
            lines.first == """
                {"number":3,"line":5,"code":"toy.row","path":"","reason":"The row is no row (textAfterQuote).",\
                "remedy":"Correct it.","original":"c-3,\\"Ii\\"x"}
                """
        )
        #expect(lines.last?.contains("\"path\":\"attributes.city\"") == true)
    }

    @Test func `an original that is not UTF-8 is kept in Base64`() throws {
        let lines = try Result(Self.file, from: .toy, to: .toy).list.text.split(separator: "\n")
        #expect(lines[1].hasSuffix("\"originalBase64\":\"Yy00LP8=\"}"))
    }

    @Test func `the replay file has the header and the rejected rows byte for byte`() throws {
        let replay = try Result(Self.file, from: .toy, to: .toy).replay
        let rows = "id,city\r\nc-3,\"Ii\"x\r\nc-4,"
        #expect(replay.bytes == Array(rows.utf8) + [0xFF] + Array("\r\nc-5,Kristiinankaupunki\r\n".utf8))
    }

    @Test func `a mended replay file brings the rest over`() throws {
        let replay = try Result(Self.file, from: .toy, to: .toy).replay.text
        let mended = replay.replacing("\"Ii\"x", with: "Ii").replacing("\u{FFFD}", with: "Å")
            .replacing("Kristiinankaupunki", with: "Kaskinen")
        let result = try Result(Array(mended.utf8), from: .toy, to: .toy)
        #expect(result.report.rejected == 0)
        #expect(result.output.text == "id,city\r\nc-3,Ii\r\nc-4,Å\r\nc-5,Kaskinen\r\n# end\r\n")
    }

    @Test func `a file without rejects leaves a list without lines`() throws {
        let result = try Result(Array("id,city\nc-1,Oulu\n".utf8), from: .toy, to: .toy)
        #expect(result.list.bytes.isEmpty)
        #expect(result.replay.text == "id,city\n")
    }

    // MARK: Catalogue and findings

    @Test func `the catalogue converts values, and rejects what it can't convert`() throws {
        let catalogue = AttributeCatalogue([.city: .init(type: .integer)])
        let file = Array("id,city\nc-1,7\nc-2,Oulu\n".utf8)
        let result = try Result(file, from: .toy, to: .neutralContacts, catalogue: catalogue)
        #expect(
            result.output.text
                == "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}],\"attributes\":{\"city\":7}}\n"
        )
        #expect(result.report.findings == ["catalogue.attribute.type": .error(1)])
    }

    @Test func `a loss that is no error is counted and the contact goes`() throws {
        let contact = Contact(identifiers: [Identifier(.external, "c-1")], tags: ["vip"])
        let result = try Result(contact.jsonBytes, from: .neutralContacts, to: .toy)
        #expect(result.report.writtenWithFindings == 1)
        #expect(result.report.findings == ["toy.tags": .init(severity: .warning, count: 1)])
    }

    // MARK: Runs that write nothing

    @Test func `a dry run counts and finds the same`() throws {
        let wet = try Result(Self.file, from: .toy, to: .toy)
        var input = ChunkedSource(Self.file, chunk: 10)
        let dry = try Migration(from: .toy, to: .toy).run(&input, to: nil)
        #expect(dry == wet.report)
    }

    @Test func `a full disk ends the run with the reason`() throws {
        var input = ChunkedSource(Self.file, chunk: 10)
        let error = #expect(throws: FileError.self) {
            try Migration(from: .toy, to: .toy).run(&input, to: MemorySink(limit: 20))
        }
        #expect(error?.finding.code == "file.write")
        #expect(error?.finding.remedy == "Free space, or choose another disk.")
    }

    @Test func `a cancelled run says that it is not complete`() throws {
        var input = ChunkedSource(Self.file, chunk: 20)
        var chunks = 0
        let report = try Migration(from: .toy, to: .toy)
            .run(&input, to: MemorySink(), progress: { _ in chunks += 1 }, isCancelled: { chunks == 2 })
        #expect(!report.isComplete)
        #expect(report.bytesRead == 40)
    }

    @Test func `a source that can't be read as a whole is a failure`() {
        let error = #expect(throws: Migration.Failure.self) { try Result([], from: .toy, to: .toy) }
        #expect(error?.findings.map(\.code) == ["toy.header"])
    }

    @Test func `settings of both sides are checked before the first byte`() {
        let error = #expect(throws: Migration.Failure.self) {
            try Migration(
                from: .neutralContacts,
                to: .neutralContacts,
                sourceSettings: ["a": 1],
                targetSettings: ["b": 2]
            )
        }
        #expect(error?.findings.map(\.path) == ["from.a", "to.b"])
    }

    @Test func `a format without that direction is refused`() {
        let readOnly = RecordFormat(id: "x", title: "X", fileExtension: "x", makeReader: RecordFormat.toy.makeReader)
        let error = #expect(throws: Migration.Failure.self) { try Migration(from: .toy, to: readOnly) }
        #expect(error?.findings.map(\.path) == ["to"])
    }
}

extension MigrationReport.Tally {
    fileprivate static func error(_ count: Int) -> Self { .init(severity: .error, count: count) }
}
