import PatchbayAcousticFiles
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

/// The default mapping between any two vendors: exports in the vendors' own forms, and no settings except the account's
/// numbers.
@Suite("Default mappings") struct DefaultPairTests {
    /// A vendor: its format, the account settings, and an export of the same seven people with their decisions, as far as
    /// the vendor can hold them.
    ///
    /// Ada, Bo and Cy have a key, an address and a number. Di has only an address, Eve a key and a number, Fay only a
    /// key, Gus only a number. Ada and Di opted in to e-mail, Bo opted out; the decisions of the others are unknown.
    struct Vendor: Sendable, CustomTestStringConvertible {
        let name: String
        let format: RecordFormat
        let account: JSONObject
        let export: String

        var testDescription: String { name }
    }

    static let vendors: [Vendor] = [
        Vendor(
            name: "Acoustic",
            format: VendorFiles.acoustic.formats[0],
            account: ["listId": "771100"],
            export: """
                CustomerId|Email|MobileNumber|FirstName|Opted Out
                c-1|ada@mail.example|358401000001|Ada|F
                c-2|bo@mail.example|358401000002|Bo|T
                c-3|cy@mail.example|358401000003|Cy|
                |di@mail.example||Di|F
                c-5||358401000005|Eve|
                c-6|||Fay|
                ||358401000007|Gus|

                """
        ),
        Vendor(
            name: "Adobe",
            format: VendorFiles.adobe.formats[0],
            account: [:],
            export: """
                externalId;email;mobilePhone;firstName;blackListEmail
                c-1;ada@mail.example;+358401000001;Ada;false
                c-2;bo@mail.example;+358401000002;Bo;true
                c-3;cy@mail.example;+358401000003;Cy;
                ;di@mail.example;;Di;false
                c-5;;+358401000005;Eve;
                c-6;;;Fay;
                ;;+358401000007;Gus;

                """
        ),
        Vendor(
            name: "Altcraft",
            format: VendorFiles.altcraft.formats[0],
            account: ["dbId": 12, "resourceId": 31],
            export: """
                {"email":"ada@mail.example","phones":["+358401000001"],"_fname":"Ada","subscriptions":[{"channel":"email","resource_id":31,"email":"ada@mail.example","status":"subscribed"}]}
                {"email":"bo@mail.example","phones":["+358401000002"],"_fname":"Bo","subscriptions":[{"channel":"email","resource_id":31,"email":"bo@mail.example","status":"unsubscribed"}]}
                {"email":"cy@mail.example","phones":["+358401000003"],"_fname":"Cy"}
                {"email":"di@mail.example","_fname":"Di","subscriptions":[{"channel":"email","resource_id":31,"email":"di@mail.example","status":"subscribed"}]}
                {"phones":["+358401000005"],"_fname":"Eve"}
                {"phones":["+358401000007"],"_fname":"Gus"}

                """
        ),
        Vendor(
            name: "DES",
            format: VendorFiles.des.formats[0],
            account: [:],
            export: """
                E-Mail,externalId,Mobile,First Name,Opt-In
                ada@mail.example,c-1,+358401000001,Ada,True
                bo@mail.example,c-2,+358401000002,Bo,False
                cy@mail.example,c-3,+358401000003,Cy,
                di@mail.example,,,Di,True
                ,c-5,+358401000005,Eve,
                ,c-6,,Fay,
                ,,+358401000007,Gus,

                """
        ),
        Vendor(
            name: "Salesforce",
            format: VendorFiles.salesforce.formats[0],
            account: [:],
            export: """
                Contact Key,Email Address,Mobile Number,First Name,Status
                c-1,ada@mail.example,358401000001,Ada,Active
                c-2,bo@mail.example,358401000002,Bo,Unsubscribed
                c-3,cy@mail.example,358401000003,Cy,Active
                ,di@mail.example,,Di,Active
                c-5,,358401000005,Eve,Active
                c-6,,,Fay,Active
                ,,358401000007,Gus,Active

                """
        ),
    ]

    // MARK: Written and rejected contacts

    /// The codes of rejections with no settings except the account's numbers.
    static let reasons = [
        "acoustic.record.optedOut":
            "an opt-out: the import with this action would add the person as opted in; a file of opt-outs takes them",
        "acoustic.record.withoutOptIn":
            "unknown: the import would opt the person in to e-mail, and an unknown decision never becomes an opt-in",
        "salesforce.record.optOutLost":
            "an opt-out: rows of a data extension have no column that the vendor applies as one",
        "des.record.optOutLost":
            "an opt-out of all messages: the file can hold it for e-mail alone, and the person has a number",
        "des.record.keyMissing": "an import finds contacts by one field, the e-mail address, and the person has none",
        "adobe.record.keyMissing":
            "a row is found by the profile's own number or its e-mail address, and the person has neither",
        "altcraft.record.matching": "a profile is found by an address or a number, and the person has neither",
    ]

    /// The rejected people by name, each with the code. All others are written.
    struct Row: Sendable, CustomTestStringConvertible {
        let from: String
        let to: String
        let refused: [String: String]

        var testDescription: String { "\(from) to \(to)" }

        init(_ from: String, _ to: String, _ refused: [String: String]) {
            (self.from, self.to, self.refused) = (from, to, refused)
        }
    }

    static let rows: [Row] = [
        Row("Acoustic", "Adobe", ["Gus": "adobe.record.keyMissing"]),
        Row("Acoustic", "Altcraft", ["Fay": "altcraft.record.matching"]),
        Row("Acoustic", "DES", withoutAddress),
        Row("Acoustic", "Salesforce", ["Bo": "salesforce.record.optOutLost"]),
        Row("Adobe", "Acoustic", ["Bo": "acoustic.record.optedOut", "Cy": "acoustic.record.withoutOptIn"]),
        Row("Adobe", "Altcraft", ["Fay": "altcraft.record.matching"]),
        Row("Adobe", "DES", withoutAddress),
        Row("Adobe", "Salesforce", ["Bo": "salesforce.record.optOutLost"]),
        // Altcraft's own lines have no key, so Eve is identified by her number.
        Row("Altcraft", "Acoustic", ["Bo": "acoustic.record.optedOut", "Cy": "acoustic.record.withoutOptIn"]),
        Row("Altcraft", "Adobe", ["Eve": "adobe.record.keyMissing", "Gus": "adobe.record.keyMissing"]),
        Row("Altcraft", "DES", ["Eve": "des.record.keyMissing", "Gus": "des.record.keyMissing"]),
        Row("Altcraft", "Salesforce", ["Bo": "salesforce.record.optOutLost"]),
        Row("DES", "Acoustic", ["Bo": "acoustic.record.optedOut", "Cy": "acoustic.record.withoutOptIn"]),
        Row("DES", "Adobe", ["Gus": "adobe.record.keyMissing"]),
        Row("DES", "Altcraft", ["Fay": "altcraft.record.matching"]),
        Row("DES", "Salesforce", ["Bo": "salesforce.record.optOutLost"]),
        // An export of Salesforce has no opt-ins: a status only states opt-outs.
        Row(
            "Salesforce",
            "Acoustic",
            [
                "Ada": "acoustic.record.withoutOptIn", "Bo": "acoustic.record.optedOut",
                "Cy": "acoustic.record.withoutOptIn", "Di": "acoustic.record.withoutOptIn",
            ]
        ),
        Row("Salesforce", "Adobe", ["Gus": "adobe.record.keyMissing"]),
        Row("Salesforce", "Altcraft", ["Fay": "altcraft.record.matching"]),
        Row("Salesforce", "DES", withoutAddress.merging(["Bo": "des.record.optOutLost"]) { own, _ in own }),
    ]

    private static let withoutAddress = [
        "Eve": "des.record.keyMissing", "Fay": "des.record.keyMissing", "Gus": "des.record.keyMissing",
    ]

    /// The result of a run.
    private struct Outcome {
        let report: MigrationReport
        let output: String
        /// The rejected people by name, each with the code.
        let refused: [String: String]
    }

    private static func move(_ source: Vendor, to target: Vendor, account: JSONObject? = nil, workers: Int = 1) throws
        -> Outcome
    {
        let migration = try Migration(
            from: source.format,
            to: target.format,
            sourceSettings: account ?? source.account,
            targetSettings: target.account
        )
        let (output, list) = (MemorySink(), MemorySink())
        var input = ChunkedSource(Array(source.export.utf8), chunk: 700)
        let rejects = Rejects(list: list, replay: MemorySink())
        let report = try migration.path(workers).run(&input, to: output, rejects: rejects, workers: workers)
        let names = ["Ada", "Bo", "Cy", "Di", "Eve", "Fay", "Gus"]
        let lines = try list.text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        let refused = try lines.map { line in
            let original = try #require(line["original"]?.string)
            return (try #require(names.first { original.contains($0) }), try #require(line["code"]?.string))
        }
        return Outcome(report: report, output: output.text, refused: Dictionary(refused) { first, _ in first })
    }

    private static func vendor(_ name: String) throws -> Vendor { try #require(vendors.first { $0.name == name }) }

    @Test func `lists every ordered pair of vendors once`() {
        let pairs = Set(Self.rows.map { "\($0.from) \($0.to)" })
        #expect(pairs.count == 20 && Self.rows.count == 20)
        #expect(Self.rows.allSatisfy { $0.from != $0.to })
    }

    @Test(arguments: rows, [0, 1])
    func `writes every contact that the target accepts with the account's numbers alone`(
        _ row: Row,
        _ workers: Int
    ) throws {
        let (source, target) = (try Self.vendor(row.from), try Self.vendor(row.to))
        let outcome = try Self.move(source, to: target, workers: workers)
        let all = source.name == "Altcraft" ? 6 : 7
        #expect(outcome.refused == row.refused)
        #expect((outcome.report.read, outcome.report.written) == (all, all - row.refused.count))
        #expect(row.refused.values.allSatisfy { Self.reasons[$0] != nil })
        // Each rejection names the setting that causes it, and the counts add up.
        let refusals = outcome.report.refusals
        for (code, who) in Dictionary(grouping: row.refused, by: \.value) {
            #expect(refusals[code]?.contacts == who.count, "\(code)")
            #expect(refusals[code]?.setting?.hasPrefix("to.") == true, "\(code)")
        }
        #expect(MigrationReport(json: outcome.report.json) == outcome.report)
    }

    @Test(arguments: rows) func `turns no opt-out and no missing decision into an opt-in`(_ row: Row) throws {
        let (source, target) = (try Self.vendor(row.from), try Self.vendor(row.to))
        let outcome = try Self.move(source, to: target)
        let reader = try Migration(from: target.format, to: .neutralContacts, sourceSettings: target.account)
        let sink = MemorySink()
        var written = ChunkedSource(Array(outcome.output.utf8), chunk: 700)
        _ = try reader.run(&written, to: sink)
        for line in sink.text.split(separator: "\n") where line.contains(#""state":"subscribed""#) {
            #expect(line.contains("Ada") || line.contains("Di"), "\(line)")
        }
    }

    // MARK: Messages about rejected contacts

    /// Expects lines that start with the counts and contain the reason, its code and the setting.
    private func expect(_ lines: [String], _ parts: [(start: String, code: String, setting: String)]) {
        #expect(lines.count == parts.count)
        for (line, part) in zip(lines, parts) {
            #expect(line.hasPrefix(part.start) && line.contains("(\(part.code))"))
            #expect(line.contains("The setting \(part.setting) can change this"))
        }
    }

    @Test func `names the settings that reject most records, with their counts`() throws {
        let outcome = try Self.move(Self.vendor("Salesforce"), to: Self.vendor("Acoustic"))
        expect(
            outcome.report.refusalLines,
            [
                ("3 of the 4 rejected records: ", "acoustic.record.withoutOptIn", "to.withoutOptIn"),
                ("1 of the 4 rejected records also: ", "acoustic.record.optOutLost", "to.lostOptOuts"),
                ("1 of the 4 rejected records also: ", "acoustic.record.optedOut", "to.action"),
            ]
        )
    }

    @Test func `names a setting of the source that would have read the opt-in`() throws {
        let outcome = try Self.move(Self.vendor("Altcraft"), to: Self.vendor("Acoustic"), account: ["dbId": 12])
        #expect(outcome.report.written == 2)
        expect(
            outcome.report.refusalLines,
            [
                ("All 4 rejected records: ", "acoustic.record.withoutOptIn", "to.withoutOptIn"),
                ("1 of the 4 rejected records also: ", "acoustic.record.optOutLost", "to.lostOptOuts"),
                ("3 of the 4 rejected records also: ", "altcraft.profile.resource", "from.resourceId"),
            ]
        )
        let refusals = try #require(outcome.report.json["refusals"]?.array)
        #expect(refusals.map { $0["setting"]?.string } == ["to.withoutOptIn", "to.lostOptOuts", "from.resourceId"])
    }

    @Test func `finds a profile by the account field that holds the key`() throws {
        let (source, altcraft) = (try Self.vendor("Salesforce"), try Self.vendor("Altcraft"))
        var account = altcraft.account
        account["identifierFields"] = ["email": "email", "phone": "phones", "external": "customer_number"]
        let target = Vendor(name: altcraft.name, format: altcraft.format, account: account, export: "")
        let outcome = try Self.move(source, to: target)
        #expect(outcome.refused == [:])
        let matchings = try outcome.output.split(separator: "\n").map {
            try JSONValue(parsing: String($0))["matching"]?.string
        }
        #expect(matchings == ["email", "email", "email", "email", "phone", "custom", "phone"])
    }
}
