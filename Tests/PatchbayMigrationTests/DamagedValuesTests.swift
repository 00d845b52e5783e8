import Foundation
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

/// Values that spreadsheets damaged, and consent that belongs to another address, on both paths.
@Suite("Damaged values and consent of addresses") struct DamagedValuesTests {
    private static let salesforce = VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" }

    private func run(
        _ text: String,
        from source: RecordFormat?,
        to target: RecordFormat = .neutralContacts,
        settings: (from: JSONObject, to: JSONObject) = ([:], [:]),
        workers: Int
    ) throws -> (report: MigrationReport, text: String) {
        let migration = try Migration(
            from: #require(source),
            to: target,
            sourceSettings: settings.from,
            targetSettings: settings.to
        )
        let sink = MemorySink()
        var bytes = ChunkedSource(Array(text.utf8), chunk: 1 << 20)
        let report = try migration.path(workers).run(&bytes, to: sink, workers: workers)
        return (report, sink.text)
    }

    @Test(arguments: [0, 1])
    func `guards rejected rows against spreadsheet formulas and removes the guards on reading`(_ workers: Int) throws {
        let file = "Contact Key,Email Address,Mobile,Note\nNULL,ada@x.example,+358401234567,\"=HYPERLINK(\"\"x\"\")\"\n"
        func replay(_ settings: JSONObject) throws -> String {
            let migration = try Migration(
                from: #require(Self.salesforce),
                to: .neutralContacts,
                sourceSettings: settings
            )
            let (list, replay) = (MemorySink(), MemorySink())
            var bytes = ChunkedSource(Array(file.utf8), chunk: 1 << 20)
            let rejects = Rejects(list: list, replay: replay)
            _ = try migration.path(workers).run(&bytes, to: MemorySink(), rejects: rejects, workers: workers)
            return replay.text
        }
        #expect(try replay(["formulas": "none"]) == file)
        let guarded = try replay([:])
        #expect(
            guarded
                == "Contact Key,Email Address,Mobile,Note\nNULL,ada@x.example,'+358401234567,\"'=HYPERLINK(\"\"x\"\")\"\n"
        )
        let corrected = guarded.replacing("NULL", with: "k-1")
        let (report, text) = try run(corrected, from: Self.salesforce, workers: workers)
        #expect((report.written, report.rejected) == (1, 0))
        #expect(text.contains(#""note":"=HYPERLINK(\"x\")""#) && text.contains(#""+358401234567""#))
    }

    @Test(arguments: [0, 1], [("rejects", #""+358401234567","=1""#), ("all", #""'+358401234567","'=1""#)])
    func `guards cells of a vendor file only if a setting requests it`(_ workers: Int, _ row: (String, String))
        throws
    {
        let contact =
            #"{"identifiers":[{"kind":"external","value":"k-1"}],"attributes":{"mobile":"+358401234567","note":"=1"}}"#
        let (report, text) = try run(
            contact + "\n",
            from: .neutralContacts,
            to: #require(Self.salesforce),
            settings: (
                [:],
                [
                    "formulas": .string(row.0),
                    "columns": ["Key": "identifier:external", "Mobile": "attribute:mobile", "Note": "attribute:note"],
                ]
            ),
            workers: workers
        )
        #expect(report.written == 1)
        #expect(text.contains(row.1), "\(text)")
    }

    @Test(arguments: ["NULL", "n/a", "#N/A", "1.23457E+12", "1.2e+10", "####", "-", "a\u{200B}b", "a\u{1F}b"], [0, 1])
    func `rejects a row with a damaged key`(_ key: String, _ workers: Int) throws {
        let file = "Contact Key,Email Address\nk-1,ada@x.example\n\(key),bea@x.example\nk-3,cem@x.example\n"
        let (report, text) = try run(file, from: Self.salesforce, workers: workers)
        #expect((report.written, report.rejected) == (2, 1))
        #expect(report.findings["salesforce.row.keyDamaged"]?.count == 1)
        #expect(!text.contains("bea@x.example"))
    }

    @Test(arguments: ["=\"0042\"", "'0042", "\u{AD}0042", "0042\u{200B}"], [0, 1])
    func `removes a guard and invisible characters around a key`(_ key: String, _ workers: Int) throws {
        let file = "Contact Key,First Name\nk-1,Ada\n\(key),Bea\n"
        let (report, text) = try run(file, from: Self.salesforce, workers: workers)
        #expect(report.written == 2)
        #expect(text.contains("\"value\":\"0042\""))
        #expect(report.findings["salesforce.row.identifierCleaned"]?.count == 1)
    }

    @Test(arguments: [0, 1]) func `drops a damaged secondary identifier but keeps the contact`(_ workers: Int)
        throws
    {
        let file = "E-Mail,externalId,Opt-In\nada@x.example,k-1,True\nbea@x.example,NULL,False\n"
        let (report, text) = try run(file, from: .desContacts, workers: workers)
        #expect(report.written == 2)
        #expect(report.findings["des.row.identifierDamaged"]?.count == 1)
        #expect(text.contains("bea@x.example") && !text.contains("NULL"))
    }

    @Test(arguments: [0, 1]) func `rejects a neutral contact with a damaged key`(_ workers: Int) throws {
        let line = #"{"identifiers":[{"kind":"external","value":"1.2E+12"}]}"# + "\n"
        let (report, _) = try run(line, from: .neutralContacts, to: .adobeProfiles, workers: workers)
        #expect((report.written, report.rejected) == (0, 1))
        #expect(report.findings["adobe.record.unfit"]?.count == 1)
    }

    @Test(arguments: [0, 1]) func `applies the reading of an ambiguous date that results in an opt-out`(_ workers: Int)
        throws
    {
        let header = "Contact Key,_DeviceID,_SystemToken,_Platform,_OptInDate,_OptOutDate\n"
        let token = String(repeating: "7c1f", count: 16)
        let file = header + "k-1,d-1,\(token),iOS,2031-01-01,\nk-2,d-2,\(token),iOS,04/03/2031,03/04/2031\n"
        let (report, text) = try run(file, from: Self.salesforce, workers: workers)
        let states = try text.split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))["subscriptions"]?.array?.first?["state"]?.string
        }
        #expect(states == ["subscribed", "unsubscribed"])
        #expect(report.findings["salesforce.row.dateAmbiguous"]?.count == 2)
        // The date form of the file decides.
        let american = try run(
            file,
            from: Self.salesforce,
            settings: (["dateForm": "MM/dd/yyyy"], [:]),
            workers: workers
        )
        #expect(american.report.findings["salesforce.row.dateAmbiguous"] == nil)
        #expect(!american.text.contains("unsubscribed"))
    }

    @Test(arguments: [0, 1]) func `keeps an ambiguous birthday as text`(_ workers: Int) throws {
        let file = "Contact Key,Birth Date\nk-1,23/05/1989\nk-2,05/06/1989\nk-3,05/23/1989\n"
        let (report, text) = try run(file, from: Self.salesforce, workers: workers)
        #expect(text.components("\"1989-05-23\"") == 2)
        #expect(text.contains("\"birth_date\":\"05/06/1989\""))
        let line = try #require(report.lines.first { $0.code == "salesforce.row.dateAmbiguous" })
        #expect(line.count == 1 && line.reason.hasPrefix("The order of day and month is not known"))
        let setting = #"{"from": {"dateForms": {"Birth Date": "MM/dd/yyyy"}}} (or "dd/MM/yyyy") for the column"#
        #expect(line.remedy.contains(setting) && line.remedy.contains("dateForm for the dates of all columns"))
    }

    @Test(arguments: [0, 1]) func `ignores consent for an address that the profile does not have`(_ workers: Int) throws
    {
        let lines = [
            #"{"email":"ada@x.example","phones":["+4930111111"],"subscriptions":[{"channel":"sms","resource_id":7,"phone":"+4930999999","status":"subscribed"}]}"#,
            #"{"email":"bea@x.example","subscriptions":[{"channel":"email","resource_id":7,"email":"bea.old@x.example","status":"subscribed"}]}"#,
            #"{"email":"cem@x.example","subscriptions":[{"channel":"email","resource_id":7,"email":"dan@x.example","status":"unsubscribed"}]}"#,
            #"{"email":"dan@x.example","subscriptions":[{"channel":"email","resource_id":7,"email":"dan@x.example","status":"subscribed"}]}"#,
            #"{"email":"eva@x.example","subscriptions":[{"channel":"email","resource_id":7,"email":"eva@x.example","status":"subscribed"}]}"#,
        ]
        let (report, text) = try run(
            lines.joined(separator: "\n") + "\n",
            from: .altcraftProfiles,
            settings: (["resourceId": 7], [:]),
            workers: workers
        )
        let written = text.split(separator: "\n").filter { $0.contains("\"subscribed\"") }
        #expect(written.count == 1 && written.first?.contains("eva@x.example") == true)
        #expect(report.findings["altcraft.profile.otherAddress"]?.count == 2)
        #expect(report.findings[EarlierOptOuts.heeded.code]?.count == 1)
    }

    @Test(arguments: [0, 1]) func `writes a denial next to an opt-in without a column`(_ workers: Int) throws {
        let file = "Contact Key,Status,Newsletter\nk-1,Unsubscribed,subscribed\nk-2,Unsubscribed,unsubscribed\n"
        let settings: JSONObject = ["columns": ["Newsletter": "subscription:email/news"]]
        let (report, text) = try run(
            file,
            from: Self.salesforce,
            to: .adobeProfiles,
            settings: (settings, [:]),
            workers: workers
        )
        #expect(report.written == 2)
        #expect(text.split(separator: "\n").dropFirst().allSatisfy { $0.contains(";true;") })
    }

    @Test(arguments: [0, 1]) func `unsubscribes a topic at Altcraft after a later denial`(_ workers: Int) throws {
        let file =
            "Contact Key,Email Address,No Mails,Newsletter\nk-1,ada@x.example,false,subscribed\nk-1,ada@x.example,true,\n"
        let columns: JSONObject = ["No Mails": "denied:messaging/email", "Newsletter": "subscription:email/news"]
        let (report, text) = try run(
            file,
            from: Self.salesforce,
            to: .altcraftProfiles,
            settings: (["columns": .object(columns)], ["dbId": 1, "resourceId": 7, "resources": ["news": "8"]]),
            workers: workers
        )
        #expect(report.written == 2)
        let last = try #require(text.split(separator: "\n").last)
        let entries = try JSONValue(parsing: Array(last.utf8))["data"]?["subscriptions"]?.array
        #expect(entries?.map { $0["resource_id"] } == [7, 8])
        #expect(entries?.allSatisfy { $0["status"] == "unsubscribed" } == true)
    }

    @Test(arguments: [
        ("Email Opt In", true), ("sms_consent", true), ("Unsubscribed", true), ("Do Not Call", true),
        ("Newsletter", true), ("Werbeeinwilligung", true), ("Désabonné", true), ("SMSOptOut", true), ("Push ok", true),
        ("Kontaktsperre", true), ("Nicht kontaktieren", true), ("Abmeldedatum", true), ("Robinsonliste", true),
        ("Einverständnis", true), ("Désinscription", true), ("Fecha de baja", true), ("Blocked by", false),
        ("Subscription Plan", false), ("Loyalty Tier", false), ("Marketing Budget", false), ("Phone", false),
    ])
    func `requires a setting for a column whose name suggests consent`(_ name: String, _ isRefused: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("E-Mail,\(name)\nada@x.example,soon\n".utf8).write(to: URL(filePath: path))
        func refused(_ place: String?) throws -> [Finding] {
            let migration = try Migration(
                from: .desContacts,
                to: .neutralContacts,
                sourceSettings: place.map { ["columns": [name: .string($0)]] } ?? [:]
            )
            do { try migration.refuseUnnamedConsent(in: path) } catch { return error.findings }
            return []
        }
        let findings = try refused(nil)
        #expect(findings.map(\.code) == (isRefused ? ["migration.consent.unnamed"] : []))
        #expect(findings.allSatisfy { $0.remedy.contains("\"\(name)\"") && $0.path == "from.columns.\(name)" })
        #expect(try refused("attribute:other").isEmpty && refused("ignored").isEmpty)
    }

    @Test(arguments: [
        (["yes", "no"], true), (["1", "", "0"], true), (["TRUE"], true), (["N", "Y"], true), (["subscribed"], true),
        (["Ja", "nein"], true), (["n"], false), (["1", "0", "2"], false), (["yes", "maybe"], false),
        (["unknown"], false), (["Ja", "N"], true), (["Yes", "No", "y", "n"], true), (["да", "нет"], true),
        (["Y", "N", "NULL"], true), (["n", "f"], false), (["Active", "Unsubscribed"], true),
        (["a note", "another", "opted out"], true), (["active", "suspended"], false),
        (["", ""], false), (["FI", "NO"], false),
    ])
    func `requires a setting for an unmapped column with a consent value in every field`(
        _ texts: [String],
        _ isRefused: Bool
    ) throws {
        let rows = texts.enumerated().map { "ada\($0)@x.example,\($1)\n" }.joined()
        let file = Array("E-Mail,Remark\n\(rows)".utf8)
        func found(_ settings: JSONObject, _ rules: [MappingRule] = []) throws -> [Finding] {
            try Migration(
                from: .desContacts,
                to: .neutralContacts,
                sourceSettings: settings,
                mapping: ContactMapping(rules)
            )
            .unnamedConsent(inHead: file)
        }
        let findings = try found([:])
        #expect(findings.map(\.code) == (isRefused ? ["migration.consent.unnamed"] : []))
        #expect(findings.allSatisfy { $0.path == "from.columns.Remark" && $0.remedy.contains("\"optedIn:email\"") })
        for place in ["attribute:remark", "ignored", "consent:email"] {
            #expect(try found(["columns": ["Remark": .string(place)]]).isEmpty)
        }
        #expect(try found(["types": ["remark": "boolean"]]).isEmpty)
        #expect(try found([:], [.convert(.attribute("remark"), .boolean)]).isEmpty)
    }

    @Test func `warns about settings that ignore a consent column`() throws {
        let file = "E-Mail,Opt-In\nada@x.example,Nope\n"
        let ignored = try run(
            file,
            from: .desContacts,
            settings: (["columns": ["Opt-In": "ignored"]], [:]),
            workers: 1
        )
        #expect(ignored.report.findings["des.row.consentIgnored"]?.count == 1)
        let list = MemorySink()
        let migration = try Migration(from: .desContacts, to: .neutralContacts)
        var bytes = ChunkedSource(Array(file.utf8), chunk: 1 << 20)
        _ = try migration.run(&bytes, to: nil, rejects: Rejects(list: list, replay: MemorySink()))
        #expect(list.text.contains("subscribed: True") && list.text.contains("unsubscribed: False"))
    }
}

extension String {
    /// Returns the number of occurrences of a text.
    fileprivate func components(_ text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
