import Foundation
import PatchbayAdapterKit
import PatchbayAltcraftFiles
import PatchbayJSON
import PatchbayRecords
import Testing

@testable import PatchbayMigration

@Suite("Files that are not lines of JSON") struct UnrecognizedFileTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let remedy: String

        init(_ name: String, _ bytes: [UInt8], _ remedy: String) {
            (testDescription, self.bytes, self.remedy) = (name, bytes, remedy)
        }
    }

    private static let person = #"{"identifiers":[{"kind":"email","value":"a@x.example"}],"tags":["vip"]}"#
    private static let profile = #"{"email":"a@x.example","name":"Aino"}"#

    static let unrecognized = [
        Case("gzip", [0x1F, 0x8B, 0x08, 0x00, 0x0A, 0x7B, 0x7D, 0x0A], "zcat"),
        Case("ZIP", [0x50, 0x4B, 0x03, 0x04, 0x14, 0x00], "unzip"),
        Case("UTF-16, little end first", [0xFF, 0xFE] + person.utf16.flatMap { [UInt8($0), 0] }, "iconv"),
        Case("UTF-16, big end first", [0xFE, 0xFF] + person.utf16.flatMap { [0, UInt8($0)] }, "iconv"),
        Case("rows with commas", Array("email,name\r\na@x.example,\"B, C\"\r\n".utf8), "source"),
        Case("rows with semicolons", Array("\u{FEFF}\"email\";\"name\"\n\"a@x.example\";B".utf8), "source"),
        Case("rows with tabs", Array("\nemail\tname\tnote\na@x.example\tAino\t{}\n".utf8), "source"),
        Case("rows with bars", Array("email|name\n|\n".utf8), "source"),
    ]

    private func migration(from format: RecordFormat) throws -> Migration {
        try Migration(from: format, to: .neutralContacts)
    }

    @Test(arguments: unrecognized, [.neutralContacts, .altcraftProfiles] as [RecordFormat])
    func `every reader rejects an invalid file as a whole`(_ each: Case, _ format: RecordFormat) throws {
        let migration = try migration(from: format)
        for (chunk, workers) in [(1, 0), (1, 1), (3, 2), (1 << 16, 0), (1 << 16, 1), (1 << 16, 2)] {
            var input = ChunkedSource(each.bytes, chunk: chunk)
            let list = MemorySink()
            let error = #expect(throws: Migration.Failure.self) {
                let rejects = Rejects(list: list, replay: MemorySink())
                _ = try migration.path(workers).run(&input, to: MemorySink(), rejects: rejects, workers: workers)
            }
            #expect(error?.findings.map(\.path) == ["the source: line 1, byte 1"])
            #expect(error?.findings.first?.remedy.contains(each.remedy) == true)
            #expect(list.bytes.isEmpty)
        }
        var input = ChunkedSource(each.bytes, chunk: 1 << 16)
        #expect(throws: Migration.Failure.self) { _ = try migration.plan(&input) }
        // A file is decompressed and converted to UTF-8 when it is opened.
        if each.testDescription.hasPrefix("UTF-16") || each.testDescription == "gzip" { return }
        let path = NSTemporaryDirectory() + "strange-\(UUID().uuidString)"
        try Data(each.bytes).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var server = try ServerSource(migration, FileSource(path: path), at: path, after: nil)
        #expect(throws: SettingsError.self) { while try server.next(seeing: { _ in }, { _ in }) {} }
    }

    static let damaged = [
        "oops", "a,b", "email,name", "# made by x, in May", #"x.example"}],"tags":["vip"]}"#, #""tags": ["a", "b"],"#,
        #""a": "b","#, "]", "\u{FEFF}x;y", "\u{0}\u{0}\u{0}\u{0}", "P", "\"never closed, or", "{\"tags\":",
    ]

    @Test(arguments: damaged, [.neutralContacts, .altcraftProfiles] as [RecordFormat])
    func `rejects only the first line if it is damaged`(_ first: String, _ format: RecordFormat) throws {
        let line = format.id == RecordFormat.altcraftProfiles.id ? Self.profile : Self.person
        let bytes = Array("\(first)\n\(line)\n\(line)\n".utf8)
        for (chunk, workers) in [(1, 0), (1, 1), (1 << 16, 0), (1 << 16, 1), (1 << 16, 2)] {
            var input = ChunkedSource(bytes, chunk: chunk)
            let report = try migration(from: format).path(workers).run(&input, to: MemorySink(), workers: workers)
            #expect((report.written, report.rejected) == (2, 1), "chunks of \(chunk), \(workers) workers")
        }
    }

    @Test(arguments: [.neutralContacts, .altcraftProfiles] as [RecordFormat])
    func `describes a line that is not JSON in words`(_ format: RecordFormat) throws {
        var input = ChunkedSource(Array("{\"oops\n{}\n".utf8), chunk: 64)
        let list = MemorySink()
        _ = try migration(from: format)
            .run(&input, to: MemorySink(), rejects: Rejects(list: list, replay: MemorySink()))
        #expect(list.text.contains("column 7: the text ends before the value is complete)"))
    }

    @Test(arguments: ["oops\n", "email,name\n", "{}", "\n\n{}\n", "\u{FEFF}{}\n", "7"])
    func `reads a short file line by line`(_ text: String) throws {
        for (chunk, workers) in [(1, 0), (1, 2), (64, 0), (64, 2)] {
            var input = ChunkedSource(Array(text.utf8), chunk: chunk)
            #expect(
                try migration(from: .neutralContacts).path(workers).run(&input, to: MemorySink(), workers: workers).read
                    == 1
            )
        }
    }
}
