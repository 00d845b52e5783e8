import PatchbayAcousticFiles
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import PatchbayTesting
import Testing

@Suite("Conversions between vendors") struct ConversionTests {
    /// A vendor's format with two settings: the required ones, and ones with a field for everything in the corpus.
    struct End: Sendable, CustomTestStringConvertible {
        let files: VendorFiles
        let needed: JSONObject
        let full: JSONObject

        var testDescription: String { files.id.rawValue }

        func harness(_ isFull: Bool) -> RecordHarness {
            RecordHarness(
                files.formats[0],
                settings: isFull ? full : needed,
                of: files,
                goldens: Goldens()
            )
        }

        static let all: [End] = [
            End(
                files: .acoustic,
                // Another vendor's file may have no opt-ins.
                needed: ["listId": "771100", "withoutOptIn": "warn"],
                full: [
                    "listId": "771100", "textToJoinProgramId": "5", "withoutOptIn": "warn", "columns": columns,
                    "types": types,
                ]
            ),
            End(files: .adobe, needed: [:], full: ["columns": columns, "types": types]),
            End(
                files: .altcraft,
                needed: ["dbId": 12, "lostOptOuts": "warn"],
                full: [
                    "dbId": 12, "matching": "custom", "resourceId": 31, "resources": ["weekly_offers": "32"],
                    "identifierFields": ["external": "customer_number"], "tagsField": "labels", "types": types,
                ]
            ),
            End(files: .des, needed: [:], full: ["key": "external", "columns": columns, "types": types]),
            End(files: .salesforce, needed: [:], full: ["columns": columns, "types": types]),
        ]

        private static let columns: JSONValue = [
            "favourite_colour": "attribute:favourite_colour", "Visits": "attribute:visits",
            "LifetimeValue": "attribute:lifetime_value", "NewsletterReader": "attribute:newsletter_reader",
            "FirstPurchase": "attribute:first_purchase", "LastVisit": "attribute:last_visit",
            "Interests": "attribute:interests", "Labels": "tags", "Weekly": "subscription:email/weekly_offers",
            "Mailing": "subscription:email", "Texting": "subscription:sms", "Zone": "timeZone", "Language": "locale",
            "Country": "attribute:country", "City": "attribute:city", "LoyaltyTier": "attribute:loyalty_tier",
        ]
        private static let types: JSONValue = [
            "visits": "integer", "lifetime_value": "decimal", "newsletter_reader": "boolean", "first_purchase": "date",
            "last_visit": "timestamp", "interests": "choices", "country": "country", "birth_date": "date",
        ]
    }

    private static let pairs = End.all.flatMap { source in
        End.all.filter { $0.files.id != source.files.id }.map { (source, $0) }
    }

    @Test func `converts an address-only contact from Altcraft to Adobe without extra settings`() throws {
        let profile = #"{"email":"aino@mail.example","_fname":"Aino"}"# + "\n"
        let migration = try Migration(
            from: try #require(VendorFiles.altcraft.formats.first { $0.makeReader != nil }),
            to: try #require(VendorFiles.adobe.formats.first),
            sourceSettings: ["dbId": 12]
        )
        var input = ChunkedSource(Array(profile.utf8), chunk: 700)
        let output = MemorySink()
        let report = try migration.run(&input, to: output)
        #expect(report.written == 1, "\(report.json.text)")
        #expect(output.text.contains("aino@mail.example"))
        #expect(report.findings["adobe.record.otherKey"]?.count == 1)
    }

    @Test(arguments: End.all.filter { $0.files.id != VendorFiles.adobe.id })
    func `reports Adobe opt-outs that the target cannot hold, and writes none as an attribute`(_ end: End) throws {
        for (name, code, rejected) in [
            ("blackListPhone", "optOutLost", 1), ("blackListFax", "optOutLost", 1),
            ("blackListPostalMail", "optOutLost", 1),
            ("ccpaOptOut", "consent", 0),
        ] {
            var settings = end.needed
            settings["lostOptOuts"] = "reject"
            let migration = try Migration(
                from: try #require(VendorFiles.adobe.formats.first),
                to: end.files.formats[0],
                targetSettings: settings
            )
            let export = "externalId;email;mobilePhone;\(name)\nc-1;a@x.example;+358401234567;true\n"
            var input = ChunkedSource(Array(export.utf8), chunk: 700)
            let output = MemorySink()
            let report = try migration.run(&input, to: output)
            let place = "\(name): \(report.json.text)"
            #expect((report.read, report.rejected) == (1, rejected), "\(place)")
            #expect(report.findings.keys.contains { $0.hasSuffix(".\(code)") }, "\(place)")
            #expect(!output.text.lowercased().contains("opt_out") && !output.text.contains("black_list"), "\(place)")
        }
    }

    @Test func `covers all twenty ordered pairs of vendors`() { #expect(Self.pairs.count == 20) }

    @Test(arguments: pairs, [false, true])
    func `reports every loss for every pair of vendors`(_ pair: (End, End), _ isFull: Bool) throws {
        let (source, target) = (pair.0.harness(isFull), pair.1.harness(isFull))
        let file = try source.file(of: source.contacts.map(\.contact))
        let contacts = try source.contacts(in: file)
        #expect(contacts.count >= 2)
        #expect(try source.problems(of: file, madeOf: source.contacts.map(\.contact)) == [])
        let migration = try Migration(
            from: source.format,
            to: target.format,
            sourceSettings: source.settings,
            targetSettings: target.settings
        )
        let (output, list) = (MemorySink(), MemorySink())
        var input = ChunkedSource(file, chunk: 700)
        let report = try migration.run(&input, to: output, rejects: Rejects(list: list, replay: MemorySink()))
        #expect(report.read == contacts.count && report.written + report.rejected == report.read)
        let rejects = try list.text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(rejects.count == report.rejected)
        #expect(rejects.allSatisfy { $0["code"]?.string?.isEmpty == false && $0["remedy"]?.string?.isEmpty == false })
        #expect(try target.problems(of: output.bytes, madeOf: contacts) == [])
        let name = "\(source.format.id.prefix { $0 != "." }) to \(target.format.id.prefix { $0 != "." })"
        #expect(report.written > 0, "\(name): \(report.json.text)")
        // With fields for the whole corpus, only contacts whose opt-out the target cannot hold are rejected.
        if isFull { #expect(report.written >= contacts.count - 2, "\(report.json.text)") }
    }
}
