import PatchbayAcousticFiles
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

@Suite("Consent columns") struct ConsentColumnTests {
    /// The delimited formats, each with its key column.
    static let formats: [(format: RecordFormat, key: String)] = [
        (VendorFiles.acoustic, "CustomerId"), (.adobe, "externalId"), (.des, "externalId"),
        (.salesforce, "Contact Key"),
    ]
    .compactMap { files, key in
        files.formats.first { $0.id.hasSuffix(".contacts") || $0.id == "adobe.profiles" }.map { ($0, key) }
    }

    private static let optInWords = ["yes", "Y", "TRUE", "t", "1", "on", "Ja", "oui"]
    private static let optOutWords = ["no", "N", "False", "f", "0", "off", "Nein", "non"]

    /// Returns the state of each row of a file with a consent column; `nil` for a rejected row.
    private func states(
        _ source: (format: RecordFormat, key: String),
        _ columns: JSONObject,
        _ rows: [String],
        more: JSONObject = [:],
        workers: Int
    ) throws -> [String?] {
        let delimiter = source.format.id == "adobe.profiles" ? ";" : ","
        let names = columns.map(\.name)
        let lines = rows.enumerated().map { "k\($0)\(delimiter)\($1.replacing(",", with: delimiter))\n" }
        let file = ([source.key] + names).joined(separator: delimiter) + "\n" + lines.joined()
        var settings: [(String, JSONValue)] = [("columns", .object(columns))] + more.map { ($0.name, $0.value) }
        if source.format.id == "des.contacts" { settings.append(("key", "external")) }
        if source.format.id == "acoustic.contacts" { settings.append(("delimiter", "comma")) }
        let migration = try Migration(
            from: source.format,
            to: .neutralContacts,
            sourceSettings: JSONObject(settings)
        )
        let output = MemorySink()
        var input = ChunkedSource(Array(file.utf8), chunk: 1 << 20)
        _ = try migration.path(workers).run(&input, to: output, workers: workers)
        var states: [String?] = rows.map { _ in nil }
        for line in output.text.split(separator: "\n") {
            let contact = try JSONValue(parsing: Array(line.utf8))
            guard let key = contact["identifiers"]?.array?.first?["value"]?.string, let row = Int(key.dropFirst())
            else { continue }
            states[row] = contact["subscriptions"]?.array?.first?["state"]?.string ?? "none"
        }
        return states
    }

    @Test(arguments: 0..<4, [0, 1])
    func `reads opt-in columns alike in every format`(_ index: Int, _ workers: Int) throws {
        let format = Self.formats[index]
        let words = Self.optInWords + Self.optOutWords
        let (ins, outs) = (Self.optInWords.map { _ in "subscribed" }, Self.optOutWords.map { _ in "unsubscribed" })
        for place in ["consent:email", "optedIn:email", "optedIn:email/news", "optedIn:sms", "consent:push"] {
            #expect(try states(format, ["Answer": .string(place)], words, workers: workers) == ins + outs, "\(place)")
        }
        for place in ["optedOut:email", "optedOut:email/news", "optedOut:sms"] {
            #expect(try states(format, ["Answer": .string(place)], words, workers: workers) == outs + ins, "\(place)")
        }
        for place in ["consent:email", "optedIn:sms", "optedOut:email/news"] {
            let stated = ["subscribed", "Unsubscribed", "opted in", "Opted Out", "suspended", "maybe"]
            let states = try states(format, ["Answer": .string(place)], stated, workers: workers)
            #expect(
                states == ["subscribed", "unsubscribed", "subscribed", "unsubscribed", "suspended", nil],
                "\(place)"
            )
        }
    }

    @Test(arguments: 0..<4, [0, 1])
    func `applies the stricter of two columns for one channel`(_ index: Int, _ workers: Int) throws {
        let columns: JSONObject = ["In": "optedIn:sms", "Out": "optedOut:sms"]
        let rows = ["1,0", "1,1", "0,0", "1,", ",1", ","]
        let expected = ["subscribed", "unsubscribed", "unsubscribed", "subscribed", "unsubscribed", "none"]
        #expect(try states(Self.formats[index], columns, rows, workers: workers) == expected)
    }

    @Test(arguments: 0..<4, [0, 1])
    func `rejects bare yes and no values in a status column whose name means opt-out`(_ index: Int, _ workers: Int)
        throws
    {
        let columns: JSONObject = ["SMS Opt Out": "consent:sms"]
        let rows = ["1", "no", "unsubscribed"]
        #expect(try states(Self.formats[index], columns, rows, workers: workers) == [nil, nil, "unsubscribed"])
    }

    @Test(arguments: 0..<4, [0, 1])
    func `maps consent values with settings.words`(_ index: Int, _ workers: Int) throws {
        let columns: JSONObject = ["Answer": "consent:sms"]
        let rows = ["Einverstanden", "ABGELEHNT", "1"]
        let words: JSONObject = ["einverstanden": "subscribed", "Abgelehnt": "unsubscribed", "1": "unknown"]
        let expected = ["subscribed", "unsubscribed", "unknown"]
        for given: JSONObject in [["words": .object(words)], ["words": ["answer": .object(words)]]] {
            #expect(try states(Self.formats[index], columns, rows, more: given, workers: workers) == expected)
        }
        #expect(throws: (any Error).self) {
            try states(Self.formats[index], columns, rows, more: ["words": ["Ja": "yes"]], workers: workers)
        }
    }

    @Test(arguments: [
        ("adobe.profiles", "blackListEmail", "optedIn:email"), ("adobe.profiles", "blackListEmail", "consent:email"),
        ("acoustic.contacts", "Opted Out", "optedIn:email"), ("des.contacts", "Opt-In", "optedOut:email"),
    ])
    func `rejects settings that invert the meaning of a vendor's column`(_ id: String, _ name: String, _ place: String)
        throws
    {
        let format = try #require(Self.formats.first { $0.format.id == id })
        #expect(throws: (any Error).self) { try states(format, [name: .string(place)], ["1"], workers: 1) }
    }
}
