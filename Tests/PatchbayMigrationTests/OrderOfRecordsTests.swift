import Foundation
import PatchbayAdapterKit
import PatchbayDESFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

/// Runs between files, where the order of the records does not affect consent.
@Suite("Order of records") struct OrderOfRecordsTests {
    private static let settings: JSONObject = [
        "columns": [
            "Mail": "consent:email", "News": "consent:email/news", "Text": "consent:sms",
            "No Mails": "denied:messaging/email",
        ]
    ]
    private static let header = "Contact Key,Email Address,Mobile Number,Mail,News,Text,No Mails"

    /// Returns the states that a run between files writes, by key.
    private func states(_ rows: [String], chunk: Int? = nil, workers: Int? = nil) throws -> [String: [String: String]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "in.csv"), folder.appending(path: "out.ndjson"))
        try Data(([Self.header] + rows).map { $0 + "\n" }.joined().utf8).write(to: input)
        let migration = try Migration(
            from: #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" }),
            to: .neutralContacts,
            sourceSettings: Self.settings
        )
        var run = ResumableMigration(
            migration,
            .init(input: input.path, output: output.path),
            settings: [:],
            interval: .seconds(60),
            workers: workers
        )
        if let chunk { run.chunk = chunk }
        let outcome = try run.run(restarts: false, progress: { _ in }, isCancelled: { false })
        #expect(outcome.isCommitted)
        var states: [String: [String: String]] = [:]
        for line in try String(contentsOf: output, encoding: .utf8).split(separator: "\n") {
            let contact = try Contact(jsonBytes: Array(line.utf8))
            let key = contact.identifiers.first(.external) ?? contact.identifiers.first?.value ?? ""
            for each in contact.subscriptions {
                states[key, default: [:]][each.channel.rawValue + (each.topic.map { "/\($0)" } ?? "")] =
                    each.state.rawValue
            }
        }
        return states
    }

    @Test(arguments: [
        // The same address under another key, in another case; the same number in another form.
        ["k1,ada@x.example,,yes,,,", "k2,ADA@x.example,,no,,,"],
        ["k1,,+358401234567,,,yes,", "k2,,00358 40 1234567,,,no,"],
        // A denial and an opt-out of a whole channel also apply to topics.
        ["k1,ada@x.example,,,yes,,", "k2,ada@x.example,,,,,true"],
        ["k1,ada@x.example,,,yes,,", "k1,ada@x.example,,no,,,"],
        // A row that is rejected because of an unreadable value or its number of fields.
        ["k1,ada@x.example,,yes,,,", "k2,ada@x.example,,perhaps,,,"],
        ["k1,ada@x.example,,yes,,,", "k2,Ada,Lovelace,ada@x.example,,no,,,"],
        ["k1,ada@x.example,,yes,,,", "k2,ada@x.example,no"],
    ])
    func `applies an opt-out to earlier and later records`(_ rows: [String]) throws {
        let others = ["k8,bea@x.example,+358401112223,yes,yes,yes,", "k9,cem@x.example,,no,,,"]
        for rows in [rows + others, rows.reversed() + others, others + rows] {
            for (chunk, workers) in [(nil, nil), (64, 1), (64, 3)] as [(Int?, Int?)] {
                let states = try states(rows, chunk: chunk, workers: workers)
                #expect(!(states["k1"] ?? [:]).values.contains("subscribed"), "\(rows)")
                #expect(states["k8"] == ["email": "subscribed", "email/news": "subscribed", "sms": "subscribed"])
            }
        }
    }

    @Test func `keeps a topic's opt-in next to an opt-out of its channel in one record`() throws {
        let states = try states(["k1,ada@x.example,,no,yes,,", "k2,bea@x.example,,yes,,,"])
        #expect(states["k1"] == ["email": "unsubscribed", "email/news": "subscribed"])
    }
}
