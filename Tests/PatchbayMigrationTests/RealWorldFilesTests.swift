import Foundation
import PatchbayAcousticFiles
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

/// Real-world files: other encodings, arrays, unreadable values, dates of one form, too many rejects.
@Suite("Real-world contact files") struct RealWorldFilesTests {
    private static let salesforce = VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" }
    private static let altcraft = VendorFiles.altcraft.formats.first { $0.id == "altcraft.profiles" }

    private func run(
        _ text: String,
        from source: RecordFormat?,
        to target: RecordFormat = .neutralContacts,
        _ from: JSONObject = [:],
        to settings: JSONObject = [:],
        mapping: JSONValue = [],
        limit: Migration.RejectLimit? = nil,
        workers: Int = 1
    ) throws -> (report: MigrationReport, text: String, contacts: [Contact]) {
        var migration = try Migration(
            from: #require(source),
            to: target,
            sourceSettings: from,
            targetSettings: settings,
            mapping: try ContactMapping(json: mapping)
        )
        migration.rejectLimit = limit
        let sink = MemorySink()
        var bytes = ChunkedSource(Array(text.utf8), chunk: 1 << 20)
        let report = try migration.path(workers).run(&bytes, to: sink, workers: max(1, workers))
        let contacts = sink.text.split(separator: "\n").compactMap { try? Contact(jsonBytes: Array($0.utf8)) }
        return (report, sink.text, contacts)
    }

    private func file(_ bytes: [UInt8], _ name: String = UUID().uuidString) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    // MARK: JSON

    @Test(arguments: [
        "[{\"identifiers\":[{\"kind\":\"external\",\"value\":\"a\"}]},\n{\"identifiers\":[{\"kind\":\"external\",\"value\":\"b\"}]}]",
        "{\n \"identifiers\": [\n  {\"kind\":\"external\",\"value\":\"a\"}\n ]\n}\n{\n \"identifiers\": [{\"kind\":\"external\",\"value\":\"b\"}]\n}\n",
        "[\n]\n{\"identifiers\":[{\"kind\":\"external\",\"value\":\"a\"}]}{\"identifiers\":[{\"kind\":\"external\",\"value\":\"b\"}]}",
    ]) func `reads arrays and objects that span several lines`(_ text: String) throws {
        let (report, _, contacts) = try run(text, from: .neutralContacts)
        #expect((report.read, report.rejected) == (2, 0))
        #expect(contacts.compactMap { $0.identifiers.first?.value } == ["a", "b"])
    }

    @Test func `reports a damaged object that spans several lines as one error`() throws {
        let text =
            "{\n \"identifiers\": [\n  {\"kind\":\"external\",\"value\":\"a\"}\n ],,\n}\n{\n \"identifiers\": [{\"kind\":\"external\",\"value\":\"b\"}]\n}\n"
        let (report, _, _) = try run(text, from: .neutralContacts)
        #expect((report.read, report.rejected, report.written) == (2, 1, 1))
    }

    @Test func `treats null as not given`() throws {
        let text =
            "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"a\"},{\"kind\":\"phone\",\"value\":null}],\"attributes\":{\"city\":null},\"locale\":null}\n"
        let (report, _, contacts) = try run(text, from: .neutralContacts)
        #expect(report.rejected == 0)
        #expect(contacts == [Contact(identifiers: [Identifier(.external, "a")])])
    }

    // MARK: Values

    @Test(arguments: [0, 1]) func `omits an unreadable value and keeps the row`(_ workers: Int) throws {
        let rows = "Contact Key,Email Address,Age\nk-1,ana@x.example,33\nk-2,no-address,many\n"
        let types: JSONObject = ["types": ["age": "integer"]]
        let (report, _, contacts) = try run(rows, from: Self.salesforce, types, workers: workers)
        #expect((report.written, report.rejected) == (2, 0))
        #expect(contacts.last == Contact(identifiers: [Identifier(.external, "k-2")]))
        #expect(report.findings["salesforce.row.valueOmitted"]?.count == 2)
        let places = report.lines.flatMap(\.places).map(\.path)
        #expect(Set(places) == ["columns.Age", "columns.Email Address"])
    }

    @Test(arguments: ["\"reject\"", "{\"Age\":\"reject\"}"])
    func `rejects rows with unreadable values if the settings say so`(_ setting: String) throws {
        let rows = "Contact Key,Age\nk-1,33\nk-2,many\n"
        let settings: JSONObject = [
            "types": ["age": "integer"], "onInvalid": try JSONValue(parsing: Array(setting.utf8)),
        ]
        let (report, _, _) = try run(rows, from: Self.salesforce, settings)
        #expect((report.written, report.rejected) == (1, 1))
    }

    @Test(arguments: [0, 1]) func `drops an opt-in whose address is unreadable`(_ workers: Int) throws {
        let rows = "Contact Key,Email Address,Mail,Text\nk-0,a@x.example,1,1\nk-1,no-address,1,1\nk-2,no-address,0,1\n"
        let settings: JSONObject = ["columns": ["Mail": "optedIn:email", "Text": "optedIn:sms"]]
        let (_, _, contacts) = try run(rows, from: Self.salesforce, settings, workers: workers)
        let states = contacts.map { $0.subscriptions.mostProtectiveState(of: Subscription.Key(text: "email")) }
        #expect(states == [.subscribed, nil, .unsubscribed])
        #expect(contacts.allSatisfy { $0.subscriptions.contains { $0.channel == .sms && $0.state == .subscribed } })
    }

    @Test(arguments: [
        "Mobile Number,+49 151 00000001,+49\u{A0}151\u{A0}00000001",
        "Mobile Number,+49 151 00000001,0049 (0)151 00000001",
        "Mobile Number,+49 151 00000001,tel:+49-151-00000001",
        "Mobile Number,+49 151 00000001,+49\u{2013}151\u{2013}00000001",
        "Mobile Number,+49 151 00000001,\u{FF0B}\u{FF14}\u{FF19} 151 00000001",
        "Email Address,ana@x.example,Ana <ana@x.example>", "Email Address,ana@x.example,mailto:Ana@x.example",
        "Email Address,ana@x.example,ana@x.example;", "Email Address,ana@x.example,<ana@x.example>",
        "Email Address,ana@x.example,ana@x.example.",
    ]) func `applies an opt-out to the same address in another spelling`(_ words: String) throws {
        let parts = words.split(separator: ",").map(String.init)
        let channel = parts[0] == "Mobile Number" ? "sms" : "email"
        let rows = "Contact Key,\(parts[0]),May\nk-1,\(parts[2]),no\nk-2,\(parts[1]),yes\n"
        let settings: JSONObject = ["columns": ["May": .string("optedIn:\(channel)")]]
        let (report, _, contacts) = try run(rows, from: Self.salesforce, settings)
        #expect((report.written, report.rejected) == (2, 0))
        #expect(contacts.allSatisfy { $0.subscriptions.map(\.state) == [.unsubscribed] && $0.identifiers.count == 2 })
    }

    @Test(arguments: [
        ("Mobile Number", "+49 151 00000001 / +49 151 00000002", 1), ("Mobile Number", "call 151 00000001", 1),
        ("Mobile Number", "unknown", 0), ("Mobile Number", "ext. 5", 0),
        ("Email Address", "ana@x.example bo@x.example", 1), ("Email Address", "none yet", 0),
    ]) func `rejects a row that opts out an unreadable address`(_ column: String, _ text: String, _ rejected: Int)
        throws
    {
        let channel = column == "Mobile Number" ? "sms" : "email"
        for (answer, count) in [("no", rejected), ("yes", 0)] {
            let settings: JSONObject = ["columns": ["May": .string("optedIn:\(channel)")]]
            let rows = "Contact Key,\(column),May\nk-1,\(text),\(answer)\n"
            let (report, _, _) = try run(rows, from: Self.salesforce, settings)
            #expect((report.written, report.rejected) == (1 - count, count))
        }
    }

    @Test(arguments: ["Ä x", "Straße", "5 €", "a – b", "Žižek", "Zoë"])
    func `reports UTF-8 that is read as Windows 1252, in any row`(_ name: String) throws {
        let rows = "Contact Key,First Name\nk-1,Ana\nk-2,\(name)\nk-3,Bo\n"
        let (report, _, _) = try run(rows, from: Self.salesforce, ["encoding": "windows-1252"])
        #expect(report.findings["salesforce.row.encoding"]?.count == 1)
    }

    @Test(arguments: [0, 1]) func `adds the default country to a national number`(_ workers: Int) throws {
        let rows =
            "Contact Key,Mobile Number\nk-1,0151 0000001\nk-2,4915100000002.0\nk-3,+49 (0) 151 0000003\nk-4,(0151) 0000004\n"
        let (_, text, _) = try run(
            rows,
            from: Self.salesforce,
            to: .adobeProfiles,
            ["defaultCountry": "DE"],
            workers: workers
        )
        for number in ["+491510000001", "+4915100000002", "+491510000003", "+491510000004"] {
            #expect(text.contains(";\(number);"), "\(number)")
        }
        let (report, _, _) = try run(rows, from: Self.salesforce, to: .adobeProfiles, workers: workers)
        #expect(report.findings["adobe.record.phone"]?.count == 2)
    }

    // MARK: Dates

    @Test func `determines the date form from all values of a column`() throws {
        let salesforce = try #require(Self.salesforce)
        func forms(_ days: [String], _ settings: JSONObject = [:]) throws -> JSONValue? {
            let rows = "Contact Key,Birth Date\n" + days.enumerated().map { "k-\($0),\($1)\n" }.joined()
            let path = try file(Array(rows.utf8))
            defer { try? FileManager.default.removeItem(atPath: path) }
            let head = try #require(FileSource.rowsHead(of: path))
            return salesforce.decidingDateForms(settings, inHead: head)["dateForms"]
        }
        #expect(try forms(["05/06/1989", "25/12/1990"]) == ["Birth Date": "dd/MM/yyyy"])
        #expect(try forms(["05/06/1989", "12/25/1990", "soon"]) == ["Birth Date": "MM/dd/yyyy"])
        #expect(try forms(["05/06/1989", "06/07/1990"]) == nil)
        #expect(try forms(["1989-06-05", "25/12/1990"]) == ["Birth Date": "dd/MM/yyyy"])
        #expect(try forms(["25/12/1990", "12/25/1990"]) == nil)
        let american: JSONObject = ["dateForm": "MM/dd/yyyy"]
        #expect(try forms(["05/06/1989", "25/12/1990"], american) == ["Birth Date": ["dd/MM/yyyy"]])
        // One wrong date of ten does not change the form that settings give.
        let ambiguous = Array(repeating: "05/06/1989", count: 9)
        #expect(try forms(ambiguous + ["25/12/1990"], american) == nil)
        #expect(try forms(ambiguous.dropLast() + ["25/12/1990"], american) == ["Birth Date": ["dd/MM/yyyy"]])
    }

    @Test(arguments: [0, 1]) func `rejects all rows of a column whose dates have another form`(_ workers: Int) throws {
        let rows = "Contact Key,Birth Date\nk-1,05/06/1989\nk-2,25/12/1990\n"
        let settings: JSONObject = [
            "types": ["birth_date": "date"], "dateForm": "MM/dd/yyyy", "dateForms": ["Birth Date": ["dd/MM/yyyy"]],
        ]
        let (report, _, _) = try run(rows, from: Self.salesforce, settings, workers: workers)
        #expect((report.written, report.rejected) == (0, 2))
        let line = try #require(report.lines.first { $0.severity == .error })
        #expect(line.reason.contains("MM/dd/yyyy") && line.reason.contains("dd/MM/yyyy") && line.count == 2)
        #expect(line.remedy.contains(#"Set {"from": {"dateForms": {"Birth Date": "dd/MM/yyyy"}}} to read the column"#))
        #expect(line.remedy.contains("If MM/dd/yyyy is right, set that there instead"))
        let (_, _, contacts) = try run(
            rows,
            from: Self.salesforce,
            ["dateForms": ["Birth Date": "dd/MM/yyyy"]],
            workers: workers
        )
        let days = contacts.compactMap { $0.attributes[.birthDate]?.plainText }
        #expect(days == ["1989-06-05", "1990-12-25"])
    }

    // MARK: Mapping

    @Test(arguments: [0, 1]) func `applies mapping rules to subscriptions and tags`(_ workers: Int) throws {
        let text =
            "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"a\"}],\"attributes\":{\"likes\":\"news; sport\",\"mail\":\"Ja\"},\"tags\":[\"vip\",\"old\"],\"subscriptions\":[{\"channel\":\"email\",\"topic\":\"one\",\"state\":\"unsubscribed\"},{\"channel\":\"sms\",\"state\":\"suspended\"}]}\n"
        let rules: JSONValue = [
            ["split": "attributes.likes", "by": ";", "to": ["tags"]],
            ["map": "tags", "values": ["vip": "gold"]],
            ["rename": "subscriptions.email/one", "to": "subscriptions.email/two"],
            ["map": "subscriptions.sms", "values": ["suspended": "subscribed"]],
            ["map": "attributes.mail", "values": ["Ja": "subscribed"]],
            ["rename": "attributes.mail", "to": "subscriptions.email"],
            ["default": "subscriptions.push", "value": "unsubscribed"],
        ]
        let (report, _, contacts) = try run(text, from: .neutralContacts, mapping: rules, workers: workers)
        #expect(report.rejected == 0)
        let contact = try #require(contacts.first)
        #expect(contact.tags == ["gold", "old", "news", "sport"])
        let states = contact.subscriptions.mostProtectiveStates
        #expect(
            states[Subscription.Key(text: "email/two")] == .unsubscribed
                && states[Subscription.Key(text: "email/one")] == nil
        )
        // The more protective state stays.
        #expect(states[Subscription.Key(text: "sms")] == .suspended)
        #expect(states[Subscription.Key(text: "email")] == .subscribed)
        #expect(states[Subscription.Key(text: "push")] == .unsubscribed)
    }

    @Test(arguments: [
        ("2031-03-09 10:00:00", "2031-03-09", false), ("2031-03-09", "2031-03-09 08:00:00", false),
        ("2031-03-09", "2031-03-09", false), ("2031-03-09 10:00:00", "03/09/2031", false),
        ("2031-03-09T10:00:00Z", "2031-03-09", false), ("2031-03-09 10:00 PM", "3/9/2031", false),
        // In a country with the day first, this person left a month later.
        ("4/03/2031 7:05:11 AM", "3/04/2031 7:05:11 AM", false),
        ("2031-03-10", "2031-03-09", true), ("2031-03-10", "2031-03-09 23:00:00", true),
        ("2031-03-10 00:00:01", "2031-03-09", true), ("2031-03-09 10:00:00", "2031-03-09 09:00:00", true),
        ("2031-03-09 09:00:00", "2031-03-09 10:00:00", false),
    ])
    func `applies an opt-out on the day of the opt-in if a time is missing`(
        _ optIn: String,
        _ optOut: String,
        _ isOptedIn: Bool
    ) throws {
        // The first row is read by the reader, the others on the bulk path.
        let rows = (1...3).map { "k-\($0),\(optIn),\(optOut)\n" }.joined()
        let (_, _, contacts) = try run("Contact Key,OptInDate,OptOutDate\n" + rows, from: Self.salesforce)
        let states = contacts.map { $0.subscriptions.mostProtectiveState(of: Subscription.Key(text: "push")) }
        #expect(states == Array(repeating: isOptedIn ? .subscribed : .unsubscribed, count: 3))
    }

    @Test(arguments: [
        #"[{"set":"subscriptions.email","value":"subscribed"}]"#,
        #"[{"default":"subscriptions.email","value":"subscribed"}]"#,
        #"[{"rename":"subscriptions.sms/a","to":"subscriptions.push/a"}]"#, #"[{"remove":"subscriptions.email"}]"#,
        #"[{"rename":"subscriptions.email","to":"attributes.x"}]"#,
        #"[{"map":"subscriptions.email","values":{"subscribed":"unsubscribed"},"otherwise":"drop"}]"#,
    ]) func `rejects mapping rules that create an opt-in or remove an opt-out`(_ rules: String) throws {
        #expect(throws: Migration.Failure.self) { try ContactMapping(json: JSONValue(parsing: Array(rules.utf8))) }
    }

    // MARK: Rejects

    @Test func `stops at the maximum share of rejects and reports the main reason`() throws {
        let rows =
            "Contact Key,Email Address\n"
            + (0..<200).map { "\($0 % 3 == 0 ? "k-\($0)" : "1.2E+12"),a\($0)@x.example\n" }.joined()
        do {
            _ = try run(rows, from: Self.salesforce, limit: .init())
            Issue.record("the run continues")
        } catch let failure as Migration.Failure {
            #expect(failure.findings.map(\.code) == ["migration.rejects.share"])
            #expect(failure.findings[0].remedy.contains("salesforce.row.keyDamaged"))
        }
        #expect(try run(rows, from: Self.salesforce, limit: .init(percent: 70)).report.written == 67)
        // A short file is written by default.
        let short = "Contact Key,Email Address\nk-1,a@x.example\n1.2E+12,b@x.example\n1.2E+12,c@x.example\n"
        #expect(try run(short, from: Self.salesforce, limit: .init()).report.written == 1)
        #expect(throws: Migration.Failure.self) {
            try run(short, from: Self.salesforce, limit: .init(percent: 50, fewestRecords: 1))
        }
    }

    // MARK: Bytes

    @Test(
        arguments: [
            "H4sIAAAAAAACA3POzytJTC5R8E6t1HHLLCouUfBLzE3lytY11HHMS+QCAPtSvHYfAAAA",
            "UEsDBBQAAAAIAHCVfV37Urx2IQAAAB8AAAAFAAAAYS5jc3Zzzs8rSUwuUfBOrdRxyywqLlHwS8xN5crWNdRxzEvkAgBQSwECFAMUAAAACABwlX1d+1K8diEAAAAfAAAABQAAAAAAAAAAAAAAgAEAAAAAYS5jc3ZQSwUGAAAAAAEAAQAzAAAARAAAAAAA",
        ],
        [7, 1 << 16]
    ) func `reads gzip and ZIP`(_ packed: String, _ chunk: Int) throws {
        let path = try file(#require(Base64.decode(packed)))
        defer { try? FileManager.default.removeItem(atPath: path) }
        func text(_ source: FileSource) throws -> String {
            var (source, bytes) = (source, [UInt8]())
            while let next = try source.next() { bytes += next }
            return String(decoding: bytes, as: UTF8.self)
        }
        let plain = "Contact Key,First Name\nk-1,Ana\n"
        #expect(try text(FileSource(path: path, chunk: max(chunk, 64))) == plain)
        #expect(try text(FileSource(path: path, at: 12, chunk: chunk)) == String(plain.dropFirst(12)))
        #expect(try text(FileSource(path: path, upTo: 12, chunk: 64)) == String(plain.prefix(12)))
    }

    @Test func `reports a damaged gzip file as an error, not as a short file`() throws {
        let whole = try #require(Base64.decode("H4sIAAAAAAACA3POzytJTC5R8E6t1HHLLCouUfBLzE3lytY11HHMS+QCAPtSvHYfAAAA"))
        let path = try file(Array(whole.dropLast(12)))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var source = try FileSource(path: path)
        // The size of the text is not that of the file.
        #expect(source.textSize == nil && source.size == whole.count - 12)
        let error = #expect(throws: FileError.self) { while try source.next() != nil {} }
        #expect(error?.description.contains("The file is damaged or ends early") == true)
    }

    @Test(arguments: [true, false], [true, false]) func `reads UTF-16`(_ hasMark: Bool, _ isLittle: Bool) throws {
        let plain = "Contact Key,First Name\nk-1,Zoë 🌞\n"
        let units = (hasMark ? [0xFEFF] : []) + Array(plain.utf16)
        let path = try file(
            units.flatMap { isLittle ? [UInt8($0 & 0xFF), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        )
        defer { try? FileManager.default.removeItem(atPath: path) }
        var (source, bytes) = (try FileSource(path: path, chunk: 65), [UInt8]())
        while let next = try source.next() { bytes += next }
        #expect(String(decoding: bytes, as: UTF8.self) == plain)
    }

    @Test func `reads and writes Windows 1252`() {
        let text = "Zoë “€” œ Ž \u{81}"
        let bytes = FileEncoding.windows1252.encoded(Array(text.utf8))
        #expect(bytes == [0x5A, 0x6F, 0xEB, 0x20, 0x93, 0x80, 0x94, 0x20, 0x9C, 0x20, 0x8E, 0x20, 0x81])
        #expect(FileEncoding.windows1252.decoded(bytes) == Array(text.utf8))
    }

    // MARK: Messages

    /// A file, the format that reads it, and what its finding or its remedy names.
    private static let messages: [(format: String, text: String, written: Int, expectedText: String)] = [
        ("altcraft.profiles", #"{"error":0,"data":[{"email":"a@x.example"}]}"#, 0, "jq -c '.data[]'"),
        ("altcraft.profiles", #"{"data":{"email":"a@x.example"}}"#, 0, "jq -c '.data' FILE"),
        ("neutral.contacts", #"{"contacts":[{"identifiers":[]}]}"#, 0, "jq -c '.contacts[]'"),
        ("salesforce.contacts", #"{"data":[{"ContactKey":"k"}],"page":1}"#, 0, "jq -c '.data[]'"),
        ("salesforce.contacts", #"{"contactKey2":"k","attributeSets":[]}"#, 0, "request of the contacts API"),
        // The vendor's rows are valid.
        ("salesforce.contacts", #"{"items":[{"keys":{"contactkey":"k-1"},"values":{"city":"Oulu"}}]}"#, 1, ""),
        // Rows without a value, as a spreadsheet saves them.
        ("salesforce.contacts", "Contact Key,City\n,\nk-1,Oulu\n , \n,\n", 1, "no value in any column"),
    ]

    @Test(arguments: messages.indices) func `explains why a file is not as expected`(_ index: Int) throws {
        let (id, text, written, expectedText) = Self.messages[index]
        let format = try #require(Self.formats.first { $0.id == id })
        let (report, _, _) = try run(text + "\n", from: format)
        #expect(report.written == written)
        let lines = report.lines.map { "\($0.reason) \($0.remedy)" }
        #expect(expectedText.isEmpty || lines.contains { $0.contains(expectedText) }, "\(lines)")
    }

    @Test(arguments: [
        ("E-Mail;Opt-In\na@x.example;True\n", "separated by a semicolon"), ("<html></html>\n", "a web page"),
        ("a@x.example,True\nb@x.example,False\n", "looks like a row of data"),
        ("EMail Adresse,Opt-In\na@x.example,True\n", #"{"EMail Adresse": "identifier:email"}"#),
        ("CONTACT ID,HASOPTEDOUTOFEMAIL\n3,true\n", #"2 columns: "CONTACT ID", "HASOPTEDOUTOFEMAIL""#),
    ])
    func `explains a missing key column and shows the header`(_ text: String, _ expectedText: String) throws {
        let error = #expect(throws: Migration.Failure.self) { try run(text, from: .desContacts) }
        let texts = error?.findings.map { "\($0.reason) \($0.remedy)" } ?? []
        #expect(texts.contains { $0.contains(expectedText) }, "\(texts)")
    }

    @Test func `counts each reason of one code with its columns and full text`() throws {
        let rows = "Contact Key,Age,Birth Date,Since\nk-1,many,05/06/1989,x\nk-2,few,06/05/1989,2\n"
        let types: JSONObject = ["types": ["age": "integer", "since": "integer", "birth_date": "date"]]
        let (report, _, _) = try run(rows, from: Self.salesforce, types)
        let omitted = report.lines.filter { $0.code == "salesforce.row.valueOmitted" }
        #expect(omitted.flatMap(\.places).map(\.path).sorted() == ["columns.Age", "columns.Since"])
        #expect(omitted.reduce(0) { $0 + $1.count } == 3)
        #expect(report.lines.contains { $0.reason.contains("(MM/dd/yyyy or dd/MM/yyyy)") && $0.count == 2 })
        let plan = try Migration(from: #require(Self.salesforce), to: .desContacts)
        var source = ChunkedSource(Array(rows.utf8), chunk: 1 << 16)
        #expect(try plan.plan(&source).blankCells?.hasPrefix("An import overwrites every field") == true)
    }

    // MARK: The plan

    @Test func `counts consent decisions before and after the migration`() throws {
        let rows =
            "Contact Key,Mail,Text\nk-1,1,0\nk-2,0,\nk-3,,\nk-4,maybe,1\n1.2E+12,1,1\n"
        let settings: JSONObject = ["columns": ["Mail": "optedIn:email", "Text": "optedIn:sms"]]
        let migration = try Migration(from: #require(Self.salesforce), to: .neutralContacts, sourceSettings: settings)
        var source = ChunkedSource(Array(rows.utf8), chunk: 1 << 16)
        let plan = try migration.plan(&source)
        #expect(plan.undecided == 1)
        func count(_ about: String, _ before: String, _ after: String) -> Int {
            plan.decisions.filter { ($0.about, $0.before, $0.after) == (about, before, after) }.reduce(0) {
                $0 + $1.count
            }
        }
        #expect(count("email", "subscribed", "subscribed") == 1)
        #expect(count("email", "unsubscribed", "unsubscribed") == 1)
        #expect(count("email", "unreadable", "record rejected") == 1)
        #expect(count("email", "subscribed", "record rejected") == 1)
        #expect(count("sms", "unsubscribed", "unsubscribed") == 1)
        #expect(count("sms", "subscribed", "record rejected") == 2)
        let page = plan.page(of: "rows.csv", facts: [("version", "1.2.3"), ("--in", "rows.csv, 9 bytes")])
        #expect(
            page.contains("have no known consent") && page.contains("1.2.3") && page.contains("column &quot;Mail&quot;")
        )
        // The target's own states count.
        let other = try Migration(
            from: #require(Self.salesforce),
            to: .desContacts,
            sourceSettings: settings,
            targetSettings: ["key": "external", "lostOptOuts": "warn"]
        )
        var again = ChunkedSource(Array(rows.utf8), chunk: 1 << 16)
        let lossy = try other.plan(&again)
        #expect(lossy.decisions.contains { ($0.about, $0.before, $0.after) == ("sms", "unsubscribed", "not stored") })
    }

    // MARK: Altcraft's global status

    @Test(arguments: ["1", "\"unsubscribed\"", "2", "\"Complained\"", "5"], [0, 1])
    func `a global status that is an opt-out denies every channel`(_ status: String, _ workers: Int) throws {
        let line = "{\"email\":\"a@x.example\",\"_status\":\(status),\"subscriptions\":[]}\n"
        let (report, _, contacts) = try run(
            "{\"email\":\"b@x.example\",\"_status\":0}\n" + line,
            from: Self.altcraft,
            ["resourceId": 3],
            workers: workers
        )
        #expect(report.rejected == 0)
        #expect(contacts.map(\.consents) == [[], [Consent(purpose: .messaging, state: .denied)]])
    }

    @Test func `rejects a record with an unknown global status`() throws {
        let (report, _, _) = try run(
            "{\"email\":\"a@x.example\",\"_status\":9}\n",
            from: Self.altcraft,
            ["resourceId": 3]
        )
        #expect(report.rejected == 1)
    }

    // MARK: All pairs

    private static let formats =
        [RecordFormat.neutralContacts]
        + [VendorFiles.acoustic, .adobe, .altcraft, .des, .salesforce].flatMap(\.formats)

    private static func settings(_ format: RecordFormat) -> JSONObject {
        let columns: JSONValue = [
            "News": "consent:email/news", "Mail": "optedOut:email", "Text": "consent:sms", "Push": "optedIn:push",
        ]
        return [
            "altcraft.profiles": ["dbId": 7, "resourceId": 3, "resources": ["news": "4"]],
            "acoustic.contacts": [
                "listId": "771100", "withoutOptIn": "warn", "lostOptOuts": "warn",
                "columns": ["News": "consent:email/news", "Text": "consent:sms"],
            ],
            "adobe.profiles": ["columns": ["News": "consent:email/news"], "lostOptOuts": "warn"],
            "des.contacts": ["key": "external", "columns": columns, "lostOptOuts": "warn"],
            "salesforce.contacts": ["columns": columns, "lostOptOuts": "warn"],
            "salesforce.mobile": ["lostOptOuts": "warn"],
        ][format.id] ?? [:]
    }

    /// Returns several records of each of some people, in random order, with random states.
    private static func records(_ seed: UInt64) -> [Contact] {
        var chance = SeededGenerator(seed: seed)
        return (0..<60).map { _ in
            let number = Int.random(in: 0..<20, using: &chance)
            var contact = Contact(identifiers: [
                Identifier(.external, "c\(number)"), Identifier(.email, "p\(number)@x.example"),
                Identifier(.phone, "358401\(100_000 + number)"),
            ])
            for _ in 0..<Int.random(in: 0...3, using: &chance) {
                contact.subscriptions.append(
                    Subscription(
                        channel: [.email, .push, .sms].randomElement(using: &chance) ?? .email,
                        topic: Int.random(in: 0..<3, using: &chance) == 0 ? "news" : nil,
                        state: Subscription.State.allCases.randomElement(using: &chance) ?? .unknown
                    )
                )
            }
            if Int.random(in: 0..<3, using: &chance) == 0 {
                contact.consents = [
                    Consent(
                        purpose: [.messaging, .tracking].randomElement(using: &chance) ?? .messaging,
                        channel: Bool.random(using: &chance) ? nil : .email,
                        state: Consent.State.allCases.randomElement(using: &chance) ?? .unknown
                    )
                ]
            }
            return contact
        }
    }

    /// Returns the least permissive decisions of each person in a file.
    private static func words(_ bytes: [UInt8], _ format: RecordFormat) throws -> [String: [ConsentWords]] {
        let make = try #require(format.makeReader)
        var reader = try make(settings(format))
        var words: [String: [ConsentWords]] = [:]
        func take(_ record: SourceRecord) {
            guard let contact = record.contact, let key = contact.identifiers.first?.value else { return }
            // People are known by the number in each of their identifiers.
            let digits = String(key.filter(\.isNumber).suffix(5))
            words[digits.isEmpty ? key : "\((Int(digits) ?? 0) % 1000)", default: []].append(ConsentWords(contact))
        }
        try reader.read(bytes, take)
        try reader.finish(take)
        return words
    }

    @Test(arguments: 1...3) func `consent read back never exceeds the input, for all ordered pairs`(_ seed: UInt64)
        throws
    {
        var pairs = 0
        for source in Self.formats where source.makeWriter != nil && source.makeReader != nil {
            let there = try Migration(from: .neutralContacts, to: source, targetSettings: Self.settings(source))
            var input = ChunkedSource(Self.records(seed).flatMap { $0.jsonBytes + [0x0A] }, chunk: 4096)
            let file = MemorySink()
            _ = try there.run(&input, to: file)
            // Some formats cannot hold these people.
            guard let before = try? Self.words(file.bytes, source) else { continue }
            let path = try self.file(file.bytes)
            defer { try? FileManager.default.removeItem(atPath: path) }
            for target in Self.formats where target.makeWriter != nil && target.makeReader != nil {
                var onward = try Migration(
                    from: source,
                    to: target,
                    sourceSettings: Self.settings(source),
                    targetSettings: Self.settings(target)
                )
                onward.optOutKnowledge = .ahead(path)
                var rows = ChunkedSource(file.bytes, chunk: 4096)
                let output = MemorySink()
                let report = try onward.run(&rows, to: output)
                guard report.written > 0 else { continue }
                for (person, words) in try Self.words(output.bytes, target) {
                    let stated = before[person] ?? []
                    for word in words {
                        // An opt-in must come from a record of the person. Another person's denial must be present.
                        let raised = word.said.map(\.subject).filter { subject in
                            word.holding(subject) == .yes
                                && (!stated.contains { $0.holding(subject) == .yes }
                                    || stated.contains { $0.holding(subject) == .no }
                                        && !words.contains { $0.holding(subject) == .no })
                        }
                        #expect(raised.isEmpty, "\(source.id) to \(target.id), \(person): \(raised)")
                    }
                }
                pairs += 1
            }
        }
        #expect(pairs > 20)
    }
}
