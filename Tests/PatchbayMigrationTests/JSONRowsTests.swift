import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

/// Migration of rows that are JSON objects.
@Suite("Rows of JSON") struct JSONRowsTests {
    private func run(_ bytes: [UInt8], chunk: Int, workers: Int? = nil) throws
        -> (report: MigrationReport, written: [UInt8], list: [UInt8], replay: [UInt8])
    {
        let format = try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" })
        let migration = try Migration(from: format, to: .neutralContacts)
        let (written, list, replay) = (MemorySink(), MemorySink(), MemorySink())
        var source = ChunkedSource(bytes, chunk: chunk)
        let rejects = Rejects(list: list, replay: replay)
        let report = try migration.path(workers).run(&source, to: written, rejects: rejects, workers: workers)
        return (report, written.bytes, list.bytes, replay.bytes)
    }

    @Test(arguments: ["[\n", "{\"count\": 3,\n\"items\":\n[", "["], [1 << 20, 3])
    func `reads rejected rows again after a correction`(_ head: String, _ chunk: Int) throws {
        let bad = #"{"Contact Key": "c-2", "City": ["Oulu"]}"#
        let lost = #"{"Contact Key": "c-3}"#
        let tail = head.hasPrefix("{") ? "]}" : "]"
        let text = head + #"{"Contact Key": "c-1"},"# + bad + ",\n" + lost + ",\n" + #"{"Contact Key": "c-4"}"# + tail
        let first = try run(Array(text.utf8), chunk: chunk)
        #expect((first.report.read, first.report.written) == (4, 2))
        #expect(first.report.bytesRead == text.utf8.count)
        #expect(String(decoding: first.replay, as: UTF8.self) == "\(bad)\n\(lost)\n")
        let listed = String(decoding: first.list, as: UTF8.self).split(separator: "\n")
        #expect(try listed.map { try JSONValue(parsing: Array($0.utf8))["original"]?.string } == [bad, lost])
        let corrected = String(decoding: first.replay, as: UTF8.self).replacing("[\"Oulu\"]", with: "null")
            .replacing("c-3}", with: "c-3\"}")
        let second = try run(Array(corrected.utf8), chunk: chunk)
        #expect((second.report.read, second.report.written) == (2, 2))
    }

    @Test func `converts JSON and delimited rows alike on all threads`() throws {
        let names = (1...5_000).map { "N\($0)" }
        let rows = names.map { #"{"Contact Key": "\#($0)", "First Name": "\#($0), x", "_Status": "Unsubscribed"}"# }
        let text = Array("[\(rows.joined(separator: ","))]".utf8)
        let table = Array(
            ("Contact Key,First Name,_Status\n" + names.map { "\($0),\"\($0), x\",Unsubscribed\n" }.joined()).utf8
        )
        let expected = try run(table, chunk: 1 << 16)
        #expect(expected.report.written == 5_000)
        for workers in [nil, 1, 0, 4] as [Int?] {
            let found = try run(text, chunk: 1 << 16, workers: workers)
            #expect(found.written == expected.written && found.report.written == 5_000)
        }
    }
}
