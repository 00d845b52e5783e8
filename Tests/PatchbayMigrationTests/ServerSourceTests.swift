import Foundation
import PatchbayAcousticFiles
import PatchbayAdapterKit
import PatchbayAltcraftFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

@Suite("Sources of migrations through server APIs") struct ServerSourceTests {
    /// A source with records of several lines, empty ones, and valid and invalid ones.
    struct Source: CustomTestStringConvertible {
        var name: String
        var format: RecordFormat
        var settings: JSONObject = [:]
        var text: String
        /// Whether a run can resume within the source.
        var isCut = true

        var testDescription: String { name }
    }

    private static let rows = (0..<40).map { number in
        let note =
            number % 7 == 3 ? "\"one\r\ntwo \(number)\n\n\"" : number % 11 == 5 ? "\"bad\" \(number)" : "n\(number)"
        return (number % 9 == 8 ? "\r\n\n" : "") + "c-\(number),\(note)" + (number % 2 == 0 ? "\r\n" : "\n")
    }
    private static let lines = (0..<40).map { number in
        let line =
            number % 6 == 4
            ? "{oops" : #"{"identifiers":[{"kind":"external","value":"c-\#(number)"}],"attributes":{"n":\#(number)}}"#
        return (number % 9 == 8 ? "\r\n\n" : "") + line + (number % 2 == 0 ? "\r\n" : "\n")
    }
    private static let bare = rows.joined().replacing(",", with: "|").replacing("\"", with: "")

    static let sources = [
        Source(name: "neutral", format: .neutralContacts, text: "\u{FEFF}" + lines.joined() + "{\"identifiers\":[]}"),
        Source(
            name: "rows",
            format: VendorFiles.salesforce.formats[0],
            text: "\u{FEFF}Subscriber Key,Notes\r\n" + rows.joined() + "c-last,no end"
        ),
        Source(
            name: "rows with a map",
            format: .acousticContacts,
            settings: ["header": ["CustomerId", "Other"], "skipHeader": true, "quoted": true],
            text: "\nCustomerId|Notes\n" + bare
        ),
        Source(name: "profiles", format: .altcraftProfiles, settings: ["dbId": 12], text: lines.joined()),
        Source(
            name: "rows without a header",
            format: .acousticContacts,
            settings: ["header": ["CustomerId", "Other"]],
            text: bare
        ),
        Source(
            name: "rows of JSON",
            format: VendorFiles.salesforce.formats[0],
            text: "[\n" + (0..<40).map { "{\"Subscriber Key\": \"c-\($0)\"\($0 % 7 == 3 ? "" : "}"),\n" }.joined()
                + "]",
            isCut: false
        ),
    ]

    @Test(arguments: sources, [7, 128 << 10]) func `resumes at any record as if it had read everything before`(
        _ source: Source,
        chunk: Int
    ) throws {
        let path = NSTemporaryDirectory() + "source-\(UUID().uuidString)"
        try Data(source.text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let migration = try Migration(from: source.format, to: .neutralContacts, sourceSettings: source.settings)
        func read(after place: Checkpoints.Place?, _ take: (inout ServerSource, SourceRecord) throws -> Void) throws {
            var server = try ServerSource(migration, FileSource(path: path, chunk: chunk), at: path, after: place)
            var records: [SourceRecord] = []
            while try server.next(seeing: { _ in }, { records.append($0) }) {
                for record in records { try take(&server, record) }
                records = []
            }
        }
        var (records, places) = ([SourceRecord](), [Checkpoints.Place]())
        try read(after: nil) { server, record in
            server.settled(record.number)
            records.append(record)
            var place = Checkpoints.Place(report: MigrationReport(), offset: 0, lines: 0, isExact: false)
            place.report.read = record.number
            server.note(in: &place)
            places.append(try #require(Checkpoints.Place(json: place.json)))
        }
        #expect(records.count >= 40)
        #expect(places.allSatisfy { $0.isExact == source.isCut })
        for (index, place) in places.enumerated() {
            var later: [SourceRecord] = []
            try read(after: place) { _, record in if record.number >= place.report.read { later.append(record) } }
            #expect(later.map(Self.text) == records[index...].map(Self.text))
        }
        // Nothing before the checkpoint is read again.
        guard source.isCut, let last = places.last else { return }
        try read(after: last) { _, record in #expect(record.number == last.report.read) }
    }

    private static func text(_ record: SourceRecord) -> String {
        "\(record.number) \(record.line) \(record.bytes) \(record.contact?.json.text ?? "none") \(record.findings)"
    }
}
