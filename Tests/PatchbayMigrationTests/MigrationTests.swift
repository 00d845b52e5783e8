import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords
import Testing

@Suite("Migration") struct MigrationTests {
    /// A header, two good rows (one over two lines), a misplaced quote, bytes that are not UTF-8, and an overlong city.
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

    @Test func `writes or rejects every record and counts it`() throws {
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

    @Test(arguments: [1, 2, 3, 7, 16, 64, 4096]) func `produces the same result for every chunk size`(_ chunk: Int)
        throws
    {
        let (one, other) = (
            try Result(Self.file, from: .toy, to: .toy), try Result(Self.file, from: .toy, to: .toy, chunk: chunk)
        )
        #expect(other.output.bytes == one.output.bytes)
        #expect(other.list.bytes == one.list.bytes)
        #expect(other.replay.bytes == one.replay.bytes)
        #expect(other.report == one.report)
    }

    // MARK: Rejects

    @Test func `a reject contains position, reason, remedy and the original record`() throws {
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

    @Test func `keeps an original that is not UTF-8 in Base64`() throws {
        let lines = try Result(Self.file, from: .toy, to: .toy).list.text.split(separator: "\n")
        #expect(lines[1].hasSuffix("\"originalBase64\":\"Yy00LP8=\"}"))
    }

    @Test func `the replay file has the header and the rejected rows byte for byte`() throws {
        let replay = try Result(Self.file, from: .toy, to: .toy).replay
        let rows = "id,city\r\nc-3,\"Ii\"x\r\nc-4,"
        #expect(replay.bytes == Array(rows.utf8) + [0xFF] + Array("\r\nc-5,Kristiinankaupunki\r\n".utf8))
    }

    @Test func `migrates the remaining records from a corrected replay file`() throws {
        let replay = try Result(Self.file, from: .toy, to: .toy).replay.text
        let corrected = replay.replacing("\"Ii\"x", with: "Ii").replacing("\u{FFFD}", with: "Å")
            .replacing("Kristiinankaupunki", with: "Kaskinen")
        let result = try Result(Array(corrected.utf8), from: .toy, to: .toy)
        #expect(result.report.rejected == 0)
        #expect(result.output.text == "id,city\r\nc-3,Ii\r\nc-4,Å\r\nc-5,Kaskinen\r\n# end\r\n")
    }

    @Test func `writes an empty reject list for a file without rejects`() throws {
        let result = try Result(Array("id,city\nc-1,Oulu\n".utf8), from: .toy, to: .toy)
        #expect(result.list.bytes.isEmpty)
        #expect(result.replay.text == "id,city\n")
    }

    // MARK: Catalogue and findings

    @Test func `converts values by the catalogue and rejects those that it cannot convert`() throws {
        let catalogue = AttributeCatalogue([.city: .init(type: .integer)])
        let file = Array("id,city\nc-1,7\nc-2,Oulu\n".utf8)
        let result = try Result(file, from: .toy, to: .neutralContacts, catalogue: catalogue)
        #expect(
            result.output.text
                == "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c-1\"}],\"attributes\":{\"city\":7}}\n"
        )
        #expect(result.report.findings == ["catalogue.attribute.type": .error(1)])
    }

    @Test func `writes a contact with a warning about a loss and counts the warning`() throws {
        let contact = Contact(identifiers: [Identifier(.external, "c-1")], tags: ["vip"])
        let result = try Result(contact.jsonBytes, from: .neutralContacts, to: .toy)
        #expect(result.report.writtenWithFindings == 1)
        #expect(result.report.findings == ["toy.tags": .init(severity: .warning, count: 1)])
    }

    // MARK: Runs that write nothing

    @Test func `counts and reports the same in a dry run`() throws {
        let wet = try Result(Self.file, from: .toy, to: .toy)
        var input = ChunkedSource(Self.file, chunk: 10)
        let dry = try Migration(from: .toy, to: .toy).run(&input, to: nil)
        #expect(dry == wet.report)
    }

    @Test func `ends the run with the reason if the disk is full`() throws {
        var input = ChunkedSource(Self.file, chunk: 10)
        let error = #expect(throws: FileError.self) {
            try Migration(from: .toy, to: .toy).run(&input, to: MemorySink(limit: 20))
        }
        #expect(error?.finding.code == "file.write")
        #expect(error?.finding.remedy == "Free space, or choose another disk.")
    }

    @Test func `reports a cancelled run as incomplete`() throws {
        var input = ChunkedSource(Self.file, chunk: 20)
        var chunks = 0
        let report = try Migration(from: .toy, to: .toy)
            .run(&input, to: MemorySink(), progress: { _ in chunks += 1 }, isCancelled: { chunks == 2 })
        #expect(!report.isComplete)
        #expect(report.bytesRead == 40)
    }

    @Test func `fails if the source has an invalid header`() {
        let error = #expect(throws: Migration.Failure.self) { try Result([], from: .toy, to: .toy) }
        #expect(error?.findings.map(\.code) == ["toy.header"])
    }

    @Test func `validates the settings of both sides before it reads the first byte`() {
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

    @Test func `rejects a target format without a writer`() {
        let readOnly = RecordFormat(id: "x", title: "X", fileExtension: "x", makeReader: RecordFormat.toy.makeReader)
        let error = #expect(throws: Migration.Failure.self) { try Migration(from: .toy, to: readOnly) }
        #expect(error?.findings.map(\.path) == ["to"])
    }
}

extension MigrationReport.Tally {
    fileprivate static func error(_ count: Int) -> Self { .init(severity: .error, count: count) }
}
