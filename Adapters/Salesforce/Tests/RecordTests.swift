import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer
@testable import PatchbaySalesforceFiles

@Suite("Salesforce contact exports") struct RecordTests {
    private static let settings: JSONObject = [
        "columns": [
            "Favourite Colour": "attribute:favourite_colour",
            "Visits": "attribute:visits", "Lifetime Value": "attribute:lifetime_value",
            "Reads Newsletter": "attribute:newsletter_reader", "First Purchase": "attribute:first_purchase",
            "Delivery Hour": "attribute:delivery_hour", "Last Visit": "attribute:last_visit",
            "Interests": "attribute:interests", "Labels": "tags",
            "EmailWanted": "subscription:email", "SMSWanted": "subscription:sms", "_OptInDate": "optInDate",
            "_OptOutDate": "optOutDate", "_DeviceID": "deviceID", "_SystemToken": "pushToken",
            "_Platform": "platform", "_PlatformVersion": "platformVersion", "_HardwareId": "model",
            "_UTCOffset": "utcOffset", "_LocationEnabled": "locationEnabled",
        ],
        "types": [
            "country": "country", "visits": "integer", "lifetime_value": "decimal", "newsletter_reader": "boolean",
            "first_purchase": "date", "delivery_hour": "time", "last_visit": "timestamp", "interests": "choices",
            "birth_date": "date",
        ],
    ]
    private static let rows = RecordHarness(
        .salesforceContacts,
        settings: settings,
        of: .salesforce,
        goldens: Goldens(subfolder: "rows")
    )
    private static let mobile = RecordHarness(
        .salesforceMobile,
        settings: ["lostOptOuts": "warn"],
        of: .salesforce,
        extras: [
            (
                "mobile",
                Contact(
                    identifiers: [Identifier(.external, "480013"), Identifier(.phone, "+358 40 1234567")],
                    attributes: [.givenName: "Aino"],
                    subscriptions: [Subscription(channel: .sms, state: .unsubscribed)],
                    locale: "FI"
                )
            )
        ],
        goldens: Goldens(subfolder: "mobile")
    )

    @Test(arguments: RecordCheck.all)
    func `contact exports conform to the record format contract`(_ check: RecordCheck) throws {
        try check.run(on: Self.rows)
    }

    @Test(arguments: RecordCheck.all)
    func `mobile contact imports conform to the record format contract`(_ check: RecordCheck) throws {
        try check.run(on: Self.mobile)
    }

    @Test(.shows("salesforce/F11", "salesforce/F12", "salesforce/F13", "salesforce/F14"))
    func `writes mobile contacts with digits-only numbers and the opt-out consent value`() throws {
        func write(_ contact: Contact, _ format: RecordFormat = .salesforceMobile) throws -> (String, [Finding]) {
            guard var writer = try format.makeWriter?([:]) else { throw CancellationError() }
            var bytes: [UInt8] = []
            let findings = writer.write(contact, to: &bytes)
            return (String(decoding: bytes, as: UTF8.self), findings)
        }
        var contact = Contact(
            identifiers: [Identifier(.external, "480013"), Identifier(.phone, "+358 (40) 1234567")],
            subscriptions: [Subscription(channel: .sms, state: .unsubscribed)],
            locale: "FI"
        )
        let (text, findings) = try write(contact)
        #expect(text == "\"480013\",\"358401234567\",\"FI\",\"\",\"\",\"\",\"\",\"\",\"Unsubscribe\"\r\n")
        #expect(findings.map(\.code) == ["salesforce.record.converted"])
        // An opt-out without a column rejects the whole contact.
        let row = try write(contact, .salesforceContacts)
        #expect(row.0.isEmpty && row.1.map(\.code).contains("salesforce.record.optOutLost"))
        contact.identifiers[0].value = "member-480013"
        #expect(try write(contact).1.map(\.code).contains("salesforce.record.keySigns"))
        contact.identifiers.removeLast()
        #expect(try write(contact).1.map(\.code).contains("salesforce.record.keyMissing"))
        // Each missing column has its own finding, and only the key is called the contact key.
        let missing = try write(Contact(identifiers: [Identifier(.external, "480013")])).1
        #expect(
            missing.filter { $0.code == "salesforce.record.keyMissing" }.map(\.path) == ["identifier:phone", "locale"]
        )
        #expect(
            missing.contains { $0.reason.contains("_Locale") }
                && !missing.contains { $0.reason.contains("contact key") }
        )
    }

    private func write(_ contact: Contact, _ settings: JSONObject = [:]) throws -> (text: String, findings: [Finding]) {
        guard var writer = try RecordFormat.salesforceContacts.makeWriter?(settings) else { throw CancellationError() }
        var bytes: [UInt8] = []
        let findings = writer.write(contact, to: &bytes)
        return (String(decoding: bytes, as: UTF8.self), findings)
    }

    @Test(
        .shows("salesforce/F14"),
        arguments: [Subscription.State.unsubscribed, .suspended]
    )
    func `rejects a contact whose opt-out has no column, for every kind of opt-out`(
        _ state: Subscription.State
    ) throws {
        let contact = Contact(
            identifiers: [Identifier(.external, "c-1")],
            subscriptions: [Subscription(channel: .email, state: state)]
        )
        let refused = try write(contact)
        #expect(refused.text.isEmpty)
        #expect(refused.findings.map(\.code) == ["salesforce.record.optOutLost"])
        let converted = try write(contact, ["lostOptOuts": "warn"])
        #expect(!converted.text.isEmpty)
        #expect(converted.findings.map(\.code) == ["salesforce.record.noPlace"])
        let written = try write(contact, ["columns": ["Mail": "subscription:email"]])
        #expect(written.text.contains(state.rawValue) && written.findings.isEmpty)
        var optIn = contact
        optIn.subscriptions[0].state = .subscribed
        #expect(try write(optIn).findings.map(\.code) == ["salesforce.record.noPlace"])
    }

    @Test(
        arguments: [
            (.email, ["Weekly": "subscription:email/weekly"], false),
            (.email, ["Weekly": "subscription:email/weekly", "Mail": "subscription:email"], true),
            (.email, ["Weekly": "subscription:email/weekly", "MailOut": "optOut:email"], false),
            // The row also has a phone number and may have a push token.
            (nil, ["Mail": "subscription:email"], false),
            (nil, ["Mail": "subscription:email", "Text": "subscription:sms"], true),
            (
                nil,
                [
                    "Mail": "subscription:email", "Text": "subscription:sms", "_SystemToken": "pushToken",
                    "_OptInDate": "optInDate", "_OptOutDate": "optOutDate",
                ],
                false
            ),
            (
                nil,
                [
                    "Mail": "subscription:email", "Text": "subscription:sms", "_SystemToken": "pushToken",
                    "Push": "subscription:push",
                ],
                true
            ),
        ] as [(Channel?, JSONObject, Bool)]
    )
    func `a denial needs an opt-out column for every channel that the row reaches`(
        _ channel: Channel?,
        _ columns: JSONObject,
        _ isWritten: Bool
    ) throws {
        let contact = Contact(
            identifiers: Corpus.aino,
            consents: [Consent(purpose: .messaging, channel: channel, state: .denied)],
            devices: [Device(pushToken: PushToken(Self.token))]
        )
        let (text, findings) = try write(contact, ["columns": .object(columns)])
        #expect(text.contains("unsubscribed") == isWritten)
        #expect(text.isEmpty == !isWritten)
        #expect(findings.contains { $0.code == "salesforce.record.optOutLost" } == !isWritten)
    }

    private static let token = String(repeating: "7c1f", count: 16)

    @Test(
        arguments: [
            ("1990-04-01", "1990-04-01"), ("4/13/1990", "1990-04-13"), ("13/4/1990", "1990-04-13"),
            ("4/1/1990", nil), ("1990/4/1", "1990-04-01"),
            ("4/13/1990 12:00:00 AM", "1990-04-13"), ("4/1/1990 12:00:00 AM", nil), ("0001-01-01", "0001-01-01"),
            ("4/1/1990 6:30:00 AM", nil),
            ("1990-04-01T00:00:00Z", nil), ("2/30/1990", nil), ("1 April", nil),
        ] as [(String, String?)]
    )
    func `reads a birthday in the vendor's form as a date and other values as text`(_ text: String, _ day: String?)
        throws
    {
        let file = "Contact Key,Birth Date\nc-1,\(text)\n"
        let value = try records(Array(file.utf8)).first?.contact?.attributes[.birthDate]
        let date = day.flatMap { CalendarDate(text: $0) }.map(AttributeValue.date)
        #expect(value == date ?? .string(text))
        // An explicit type takes precedence.
        let typed = try records(Array(file.utf8), ["types": ["birth_date": "string"]])
        #expect(typed.first?.contact?.attributes[.birthDate] == .string(text))
        guard let value else { return }
        let contact = Contact(identifiers: [Identifier(.external, "c-1")], attributes: [.birthDate: value])
        let written = try write(contact)
        #expect(written.findings.isEmpty)
        #expect(written.text.contains("\"\(day ?? text)\""))
    }

    @Test func `reports a blank column by its own name`() throws {
        let makeReader = try #require(RecordFormat.salesforceMobile.makeReader)
        var reader = try makeReader([:])
        var findings: [Finding] = []
        try reader.read(Array("_ContactKey,_MobileNumber,_Locale\n480013,,FI\n".utf8)) { findings += $0.findings }
        try reader.finish { findings += $0.findings }
        #expect(findings.map(\.path) == ["columns._MobileNumber"])
        #expect(findings.map(\.code) == ["salesforce.row.contactKeyBlank"])
        #expect(!findings.contains { $0.reason.contains("contact key") })
    }

    private func records(
        _ text: String,
        _ settings: JSONObject = [:],
        chunk: Int = .max
    ) throws -> [SourceRecord] {
        try records(Array(text.utf8), settings, chunk: chunk)
    }

    private func records(_ bytes: [UInt8], _ settings: JSONObject = [:], chunk: Int = .max) throws -> [SourceRecord] {
        let format = try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" })
        let makeReader = try #require(format.makeReader)
        var settings = settings
        if settings["onInvalid"] == nil { settings["onInvalid"] = "reject" }
        var reader = try makeReader(settings)
        var records: [SourceRecord] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try reader.read(Array(rest.prefix(chunk))) { records.append($0) }
            rest = rest.dropFirst(chunk)
        }
        try reader.finish { records.append($0) }
        return records
    }

    private func sample() throws -> [UInt8] {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Goldens/Records/export-sample.csv")
        return Array(try Data(contentsOf: url.standardizedFileURL))
    }

    private func lines(_ record: SourceRecord) -> String {
        (["\(record.number) line \(record.line) \(record.contact?.json.text ?? "–")"]
            + record.findings.map { "  \($0.severity.rawValue) \($0)" }).joined(separator: "\n")
    }

    @Test func `reads a handwritten export as in its golden`() throws {
        let settings: JSONObject = ["types": ["points": "integer"]]
        let records = try records(sample(), settings)
        #expect(records.count == 12)
        #expect(records.filter { $0.contact == nil }.map(\.number) == [8, 9, 11])
        Goldens().check(records.map(lines).joined(separator: "\n"), .records, "export-sample")
        let inPieces = try self.records(sample(), settings, chunk: 7)
        #expect(inPieces.map(lines) == records.map(lines))
        #expect(inPieces.map(\.bytes) == records.map(\.bytes))
    }

    @Test(
        .shows("salesforce/F1", "salesforce/F2", "salesforce/F3"),
        arguments: [
            ("\u{FEFF}Contact Key,First Name\r\nc-1,\"Aino, \"\"A\"\"\"\r\n", [:]),
            ("contactkey,FIRSTNAME\nc-1,\"Aino, \"\"A\"\"\"", [:]),
            ("_ContactKey\t_FirstName\nc-1\tAino, \"A\"\n", ["delimiter": "tab", "quoted": false]),
            ("\"SubscriberKey\"|\"First_Name\"\n\"c-1\"|\"Aino, \"\"A\"\"\"\n", ["delimiter": "bar"]),
        ] as [(String, JSONObject)]
    )
    func `reads all delimiter, quoting and header dialects alike`(text: String, settings: JSONObject) throws {
        let contacts = try records(text, settings).map(\.contact)
        #expect(
            contacts == [Contact(identifiers: [Identifier(.external, "c-1")], attributes: [.givenName: "Aino, \"A\""])]
        )
    }

    @Test(
        .shows("salesforce/F4"),
        arguments: [
            ("", "salesforce.file.empty"), ("\u{FEFF}", "salesforce.file.empty"), ("\r\n", "salesforce.file.empty"),
            ("Contact Key,Tier\r\n", "salesforce.file.headerOnly"), ("Contact Key", "salesforce.file.headerOnly"),
        ]
    )
    func `rejects a file without data rows`(text: String, code: String) throws {
        let error = #expect(throws: SettingsError.self) { try records(text) }
        #expect(error?.findings.map(\.code) == [code])
        #expect(error?.description.contains("no data rows") == true)
    }

    @Test(
        .shows("salesforce/F3"),
        arguments: [
            ("c-1,Aino\nc-2,José\n", "salesforce.file.columnMissing"),
            ("Contact Key,Subscriber Key\nc-1,c-1\n", "salesforce.file.columnRepeated"),
            ("Contact Key,Tier,tier\nc-1,a,b\n", "salesforce.file.columnRepeated"),
            ("PK\u{3}\u{4}Contact Key\nc-1\n", "salesforce.file.encoding"),
        ]
    )
    func `rejects an unusable header line`(text: String, code: String) {
        let error = #expect(throws: SettingsError.self) { try records(text) }
        #expect(error?.findings.map(\.code) == [code])
    }

    @Test func `rejects a header with more than 16,384 columns and reports its width`() throws {
        func text(_ count: Int) -> String {
            "Contact Key," + (1..<count).map { "c\($0)" }.joined(separator: ",") + "\nc-1"
                + String(repeating: ",", count: count - 1) + "\n"
        }
        #expect(try records(text(ContactFileReader.mostColumns)).map { $0.contact != nil } == [true])
        let error = #expect(throws: SettingsError.self) { try records(text(ContactFileReader.mostColumns + 1)) }
        #expect(error?.findings.map(\.code) == ["salesforce.row.unreadable"])
        #expect(error?.description.contains("line 1, 16385 columns, at most 16384") == true)
    }

    @Test func `reports settings for missing columns with similar column names`() throws {
        let settings: JSONObject = [
            "columns": ["E-Mail": "identifier:email", "Vorname": "attribute:given_name", "Old": "ignored"],
            "types": ["pints": "integer"], "dateForms": ["Bith Date": "MM/dd/yyyy"],
        ]
        let rows = "Contact Key,Email Address,Points,Birth Date\nc-1,a@x.example,3,\nc-2,b@x.example,4,\n"
        let findings = try records(rows, settings).map(\.findings)
        let absent = findings[0].filter { $0.code == "salesforce.file.columnAbsent" }
        #expect(absent.map(\.path) == ["columns.E-Mail", "columns.Vorname", "dateForms.bithdate"])
        #expect(absent.map(\.severity) == [.warning, .warning, .warning])
        #expect(absent[0].reason.contains("did you mean \"Email Address\"?"))
        #expect(!absent[1].reason.contains("did you mean"))
        #expect(absent[2].reason.contains("did you mean \"Birth Date\"?"))
        #expect(findings[0].contains { $0.reason.contains("pints; did you mean \"points\"?") })
        #expect(!findings[1].contains { $0.code.hasPrefix("salesforce.file.") })
        let email = try records("Contact Key,E-Mail\nc-1,a@x.example\n").first?.findings.first
        #expect(email?.code == "salesforce.file.columnSimilar")
        #expect(email?.reason.contains("(Email Address; ") == true)
        #expect(email?.remedy.hasSuffix(#"{"from": {"columns": {"E-Mail": "identifier:email"}}}."#) == true)
        let renamed = try records("Contact Key,_OptOutDat\nc-1,\n").first?.findings.first
        #expect(renamed?.remedy.contains("Opt Out Date\", correct its name in the file.") == true)
    }

    @Test func `rejects a misspelled consent column and a byte-order mark in a name`() throws {
        let settings: JSONObject = ["columns": ["Mail In": "optIn:email", "Mail Out Date": "optOut:email"]]
        let rows = "Contact Key,Mail In,Mail Out\nc-1,2030-01-01 00:00:00,2031-01-01 00:00:00\n"
        let absent = #expect(throws: SettingsError.self) { try records(rows, settings) }
        #expect(absent?.findings.map(\.code) == ["salesforce.file.wishAbsent"])
        #expect(absent?.findings.map(\.path) == ["columns.Mail Out Date"])
        #expect(absent?.findings.first?.reason.contains("did you mean \"Mail Out\"?") == true)
        // Another column contains the same opt-out.
        let both: JSONObject = ["columns": ["Mail Out": "optOut:email", "Mail Out Date": "optOut:email"]]
        #expect(try records(rows, both).first?.contact?.subscriptions.first?.state == .unsubscribed)
        let marked = #expect(throws: SettingsError.self) { try records("\u{FEFF}\u{FEFF}Contact Key\nc-1\n") }
        #expect(marked?.description.contains("byte-order mark") == true)
    }

    @Test(.shows("salesforce/F3"))
    func `reports a type without a column once, and a column without a name once`() throws {
        let settings: JSONObject = ["types": ["birth_day": "date", "points": "integer", "age": "integer"]]
        let rows = try records("Contact Key,Points, ,Birth Date,?\nc-1,7,x,1990-04-01,y\nc-2,8,,,\n", settings)
        let converted = rows.map { $0.findings.map { "\($0.severity.rawValue) \($0.code) \($0.path)" } }
        #expect(
            converted == [
                [
                    "note salesforce.file.columnUnnamed columns.3", "note salesforce.file.columnUnnamed columns.5",
                    "note salesforce.file.typeAbsent types",
                ], [],
            ]
        )
        #expect(rows[0].findings[0].reason.contains("column 3"))
        #expect(rows[0].findings[2].reason.contains("(age, birth_day; "))
        #expect(rows.map { $0.contact?.attributes["points"] } == [.integer(7), .integer(8)])
    }

    @Test(.shows("salesforce/F5", "salesforce/F2", "salesforce/F8", "salesforce/F7", "salesforce/K1", "salesforce/F6"))
    func `returns a bad row as a record with its bytes and every reason`() throws {
        let text = """
            Contact Key,Email Address,Mobile Number,_OptInDate,Points
            c-1,a@b.c,358401,2031/3/9
             ,nope,call me,2031/13/9,many
            c-3,"a"b,,,
            c-4,,,,7

            """
        let records = try records(text, ["types": ["points": "integer"]])
        #expect(records.map { $0.contact == nil } == [true, true, true, false])
        #expect(
            records.map { $0.findings.filter { $0.severity == .error }.map(\.path) } == [
                ["columns.Points"],
                [
                    "columns.Contact Key", "columns.Email Address", "columns.Mobile Number", "columns.Points",
                    "columns._OptInDate",
                ],
                ["columns.Email Address"], [],
            ]
        )
        #expect(records[0].findings.first?.code == "salesforce.row.width")
        #expect(String(decoding: records[1].bytes, as: UTF8.self) == " ,nope,call me,2031/13/9,many")
        #expect(records[1].findings.allSatisfy { $0.reason.contains("row 2") && !$0.remedy.isEmpty })
        #expect(records[1].findings.allSatisfy { !$0.description.contains("call me") })
        #expect(records.map(\.line) == [2, 3, 4, 5])
    }

    @Test(
        .shows("salesforce/F9"),
        arguments: [
            ("Unsubscribed", true), ("unsubscribe", true), ("Active", false), ("INACTIVE", false), ("", false),
            ("Held", false), ("Bounced", false), ("Deleted", false), ("1", false), ("2", false), ("Paused", nil),
            ("3", nil),
        ] as [(String, Bool?)],
        ["_Status", "Status", "Subscriber Status"]
    )
    func `reads the status unsubscribed as an opt-out from all messages`(
        _ row: (value: String, isOptOut: Bool?),
        _ column: String
    ) throws {
        let value = row.value
        let record = try #require(try records("Contact Key,\(column),_OptInDate\nc-1,\(value),2031/3/9\n").first)
        guard let isOptOut = row.isOptOut else {
            let finding = try #require(record.findings.last)
            #expect(record.contact == nil && finding.path == "columns.\(column)" && finding.severity == .error)
            #expect(finding.reason.contains("it may be an opt-out") && finding.remedy.contains("words"))
            // The settings can declare that the column has other data.
            let named: JSONObject = ["columns": .object([column: "attribute:validity"])]
            let converted = try records("Contact Key,\(column)\nc-1,\(value)\n", named).first?.contact
            #expect(converted?.attributes == ["validity": .string(value)])
            return
        }
        // Other values of the column are not migrated. One finding reports it.
        #expect(record.findings.map(\.code) == ["salesforce.row.valueUnused"])
        #expect(record.contact?.consents == (isOptOut ? [Consent(purpose: .messaging, state: .denied)] : []))
    }

    @Test(.shows("salesforce/F9"), arguments: ["_", ""])
    func `reads both spellings of a push view and its opt-out status without a date`(_ mark: String) throws {
        let names = [
            "DeviceID", "SystemToken", "Platform", "OptOutStatusID", "OptOutDate", "OptInStatusID", "OptInDate",
        ]
        let rows = ["iOS,0,,2,2031/3/9", "iOS,1,2031/3/10,0,2031/3/9", "Android,1,,0,"]
        let text = rows.enumerated().map { number, row in
            let parts = row.split(separator: ",", maxSplits: 1).map(String.init)
            return "m-\(number),d-\(number),7c1f3ad0\(number)f,\(parts[0]),\(parts[1])\n"
        }
        let header = "ContactKey," + names.map { mark + $0 }.joined(separator: ",") + "\n"
        let contacts = try records(header + text.joined()).map { try #require($0.contact) }
        #expect(contacts.map { $0.subscriptions.map(\.state) } == [[.subscribed], [.unsubscribed], [.unsubscribed]])
        #expect(contacts.map { $0.devices.first?.pushToken?.value } == ["7c1f3ad00f", "7c1f3ad01f", "7c1f3ad02f"])
    }

    @Test(.shows("salesforce/F9"))
    func `reads common yes and no values in a column mapped to a subscription`() throws {
        let settings: JSONObject = ["columns": ["Newsletter": "subscription:email/newsletter"]]
        for (words, state) in [
            (["Yes", "y", "TRUE", "t", "1", "opted in", "Ja", "oui", "subscribed"], Subscription.State.subscribed),
            (["No", "N", "false", "F", "0", "Opt-out", "nein", "non", "unsubscribed"], .unsubscribed),
        ] {
            let text = words.enumerated().map { "c-\($0),\($1)\n" }.joined()
            let states = try records("Contact Key,Newsletter\n" + text, settings).map {
                $0.contact?.subscriptions.map(\.state)
            }
            #expect(states == words.map { _ in [state] })
        }
        let unknown = try #require(try records("Contact Key,Newsletter\nc-1,maybe\n", settings).first)
        #expect(unknown.contact?.subscriptions.isEmpty ?? true && !unknown.findings.isEmpty)
    }

    @Test(.shows("salesforce/F3"))
    func `reads an export without a header line with the column names of the settings`() throws {
        let header: JSONObject = ["header": ["Contact Key", "First Name", "_Status"]]
        let text = "c-1,Aino,Active\r\nc-2,Zo\u{EB},Unsubscribed\r\n"
        let read = try records(text, header)
        #expect(read.map { $0.contact?.attributes[.givenName] } == ["Aino", "Zo\u{EB}"])
        #expect(read.map { $0.contact?.consents.isEmpty } == [true, false])
        // Without the setting, the error names it.
        let error = #expect(throws: SettingsError.self) { try records(text) }
        #expect(error?.findings.first?.remedy.contains("setting header") == true)
        // An import finds its columns by a header line, so the file always has one.
        guard let writer = try RecordFormat.salesforceContacts.makeWriter?(header) else { throw CancellationError() }
        #expect(String(decoding: writer.header(), as: UTF8.self).hasPrefix("\"ContactKey\","))
    }

    // MARK: Rows of JSON

    private static let jsonRows = #"""
        {"Contact Key": "c-1", "First Name": " Zo\u00eb ", "Points": 7.50, "Vip": true, "_Status": null},
        {
          "Vip": false, "Contact Key": 480013, "_Status": "Unsubscribed", "Last Name": "A, \"B\" [}"
        }
        """#

    @Test(
        .shows("salesforce/F15"),
        arguments: [
            "[\(jsonRows)]", "\u{FEFF}[\r\n\(jsonRows)\r\n] ",
            #"{"count": 2, "links": {"items": {}}, "items": [\#(jsonRows)], "page": [1]}"#,
            jsonRows.replacing("},\n", with: "}\n"),
            "[\(jsonRows.prefix { $0 != "\n" }.dropLast())]\n[\(jsonRows.drop { $0 != "\n" })]",
        ],
        [Int.max, 1, 7]
    )
    func `reads JSON rows from a list, a list of items, or consecutive objects`(_ text: String, _ chunk: Int) throws {
        let settings: JSONObject = ["types": ["points": "decimal", "vip": "boolean"]]
        let records = try records(text, settings, chunk: chunk)
        #expect(records.map(\.number) == [1, 2])
        #expect(records.allSatisfy { $0.findings.allSatisfy { $0.severity != .error } })
        let points = try #require(ExactDecimal(text: "7.50"))
        #expect(
            records.map(\.contact) == [
                Contact(
                    identifiers: [Identifier(.external, "c-1")],
                    attributes: [.givenName: "Zo\u{EB}", "points": .decimal(points), "vip": .boolean(true)]
                ),
                Contact(
                    identifiers: [Identifier(.external, "480013")],
                    attributes: [.familyName: "A, \"B\" [}", "vip": .boolean(false)],
                    consents: [Consent(purpose: .messaging, state: .denied)]
                ),
            ]
        )
        // The bytes of each record are kept unchanged.
        for record in records { #expect(text.utf8.firstRange(of: record.bytes) != nil) }
    }

    @Test(.shows("salesforce/F15"), arguments: [Int.max, 1, 5])
    func `rejects only the bad JSON row and keeps its bytes`(_ chunk: Int) throws {
        let bad: [(text: String, path: String, words: String)] = [
            (#"{"Contact Key": "c-1", "City": ["Oulu"]}"#, "columns.City", "item 2, line 3, it is an array"),
            (#"{"Contact Key": "c-1", "City": {"a": 1}}"#, "columns.City", "it is an object"),
            (#"{"City": "Oulu"}"#, "row", "item 4, line 5"), (#"{}"#, "row", "no member"),
            ("5", "row", "it is no object"),
            (#""c-1, [{""#, "row", "it is no object"), ("null", "row", "it is no object"),
            (#"{"Contact Key": "c-1, "City": "x"}"#, "row", "unexpected character at byte"),
            (#"{"Contact Key": "c-1}"#, "row", "line 11"), (#"{"Contact Key": "c-1" "City": 1}"#, "row", "at byte"),
            (#"{"City": [1, "Contact Key": "c-1"}"#, "row", "at byte"), ("}", "row", "unexpected character"),
            (#"{"Contact Key": "c-1", "Contact Key": "c-2"}"#, "row", "same name twice"),
            (#"{"Contact Key": "c-1", "_ContactKey": "c-2"}"#, "columns._ContactKey", "like Contact Key"),
            (#"{"Contact Key": "c-1", "City": "a\u0000"}"#, "columns.City", "item 16"),
            (#"{"Contact Key": " ", "City": "x"}"#, "columns.Contact Key", "item 17"),
            (#"{"Contact Key": "c-1", "_Status": "Paused"}"#, "columns._Status", "it may be an opt-out"),
        ]
        let good = #"{"Contact Key": "good"}"#
        // A row with an unclosed quote or bracket ends with its line, or includes the next line.
        let text = "[\(good),\n\n\(bad.map(\.text).joined(separator: ",\n")),\n\(good)\n]"
        let records = try records(text, chunk: chunk)
        #expect(records.count == bad.count + 2)
        #expect([records.first, records.last].map { $0?.contact?.identifiers.first?.value } == ["good", "good"])
        for (record, bad) in zip(records.dropFirst(), bad) {
            let errors = record.findings.filter { $0.severity == .error }
            #expect(errors.first?.path == bad.path, "\(bad.text)")
            #expect(errors.contains { $0.reason.contains(bad.words) }, "\(bad.text): \(errors)")
            #expect(String(decoding: record.bytes, as: UTF8.self) == bad.text && record.contact == nil)
            #expect(errors.allSatisfy { !$0.remedy.isEmpty && !$0.description.contains("Oulu") })
        }
        // A consent value that is not a text is not an opt-in.
        let status = try #require(try self.records(#"[{"Contact Key": "c-1", "_Status": [1]}]"#).first)
        #expect(status.contact == nil && status.said?.feared.consents == [Consent(purpose: .messaging, state: .denied)])
    }

    @Test(.shows("salesforce/F15"), arguments: [Int.max, 1])
    func `rejects incomplete and empty JSON lists and text outside a list`(_ chunk: Int) throws {
        let row = #"{"Contact Key": "c-1"}"#
        let texts = [
            ("[\(row)", "ends before its list"), ("[\(row),\n{\"Contact Key\": \"c-", "line 2, the file ends before"),
            ("{\"items\": [\(row)]", "ends before"), ("[\(row)]\n\n,\(row)]", "line 3, text outside"),
            ("[\(row)] x", "text outside"), ("[]", "no data rows"), ("[ ]\n", "no data rows"),
            (#"{"items": [], "count": 0}"#, "no data rows"),
        ]
        for (text, words) in texts {
            let error = #expect(throws: SettingsError.self) { try records(text, chunk: chunk) }
            #expect(error?.findings.first?.reason.contains(words) == true, "\(text): \(error?.findings ?? [])")
        }
        // An item that exceeds the size limit of a row is skipped.
        let long = "[{\"Contact Key\": \"\(String(repeating: "x", count: 1 << 20))\"},\(row)]"
        let found = try records(long, chunk: chunk == 1 ? 100_000 : chunk)
        #expect(found.map { $0.contact == nil } == [true, false])
        #expect(found[0].findings.map(\.error) == [.tooLarge] && found[0].bytes.isEmpty)
    }

    @Test(.shows("salesforce/F15"))
    func `requires configured consent members in every JSON row`() throws {
        let settings: JSONObject = ["columns": ["Mail Ok": "subscription:email"]]
        let text =
            #"[{"Contact Key": "c-1", "Mail Ok": null}, {"Contact Key": "c-2"}, {"Contact Key": "c-3", "Nick": ""}]"#
        let records = try records(text, settings)
        #expect(records.map { $0.contact == nil } == [false, true, true])
        let absent = records[1].findings.first
        #expect(absent?.code == "salesforce.file.wishAbsent" && absent?.path == "columns.Mail Ok")
        // A finding about a column is reported once for all rows.
        let notes = try self.records(#"[{"_ContactID": 1, "Contact Key": "c"}, {"Contact Key": "c", "_ContactID": 1}]"#)
        #expect(notes.map { $0.findings.map(\.path) } == [["columns._ContactID"], []])
        #expect(
            try self.records("[Contact Key],City\nc-1,Oulu\n", ["columns": ["[Contact Key]": "identifier:external"]])
                .count
                == 1
        )
    }

    @Test(.shows("salesforce/K1"))
    func `uses the address or phone number as key without a contact key, unless settings name one`() throws {
        let contact = Contact(identifiers: [Identifier(.email, "a@x.example"), Identifier(.phone, "358401234567")])
        let (text, findings) = try write(contact)
        #expect(text.hasPrefix("\"a@x.example\",\"a@x.example\",\"358401234567\","))
        #expect(findings.map { "\($0.severity.rawValue) \($0.code)" } == ["warning salesforce.record.keyOther"])
        #expect(try write(contact, ["key": "external"]).findings.map(\.code) == ["salesforce.record.keyMissing"])
        let phone = try write(contact, ["key": "phone"])
        #expect(phone.text.hasPrefix("\"\",\"a@x.example\",") && phone.findings.isEmpty)
        let number = try write(Contact(identifiers: [contact.identifiers[1]]))
        #expect(number.text.hasPrefix("\"358401234567\",\"\",\"358401234567\","))
        #expect(number.findings.map(\.code) == ["salesforce.record.keyOther"])
        #expect(try write(Contact()).findings.map(\.code) == ["salesforce.record.keyMissing"])
        // The mobile import accepts no hyphen in a key of any kind.
        guard var writer = try RecordFormat.salesforceMobile.makeWriter?([:]) else { throw CancellationError() }
        var (bytes, mobile) = ([UInt8](), contact)
        (mobile.locale, mobile.identifiers[0].value) = ("FI", "a-b@x.example")
        #expect(writer.write(mobile, to: &bytes).map(\.code).contains("salesforce.record.keySigns") && bytes.isEmpty)
        mobile.identifiers[0].value = "ab@x.example"
        #expect(writer.write(mobile, to: &bytes).map(\.code) == ["salesforce.record.keyOther"] && !bytes.isEmpty)
    }

    struct Opt: CustomTestStringConvertible, Sendable {
        let optIn: String
        let optOut: String
        let state: Subscription.State
        var testDescription: String { "in \(optIn), out \(optOut)" }

        static let all: [Opt] = [
            .init(optIn: "2031/3/9", optOut: "", state: .subscribed),
            .init(optIn: "", optOut: "2031/3/9", state: .unsubscribed),
            .init(optIn: "", optOut: "", state: .unknown),
            .init(optIn: "2031/3/9", optOut: "3/9/2031 12:00:00 AM", state: .unsubscribed),
            .init(optIn: "2031/3/10", optOut: "2031-03-09 23:59:59", state: .subscribed),
            .init(optIn: "2031-03-09T06:00:01Z", optOut: "2031/3/9", state: .unsubscribed),
            .init(optIn: "2031-03-10T06:00:01Z", optOut: "2031/3/9", state: .subscribed),
            .init(optIn: "2031/2/28", optOut: "2031/3/1", state: .unsubscribed),
        ]
    }

    @Test(.shows("salesforce/F9"), arguments: Opt.all) func `the newer of opt-in and opt-out dates applies`(_ row: Opt)
        throws
    {
        let text =
            "Contact Key,_DeviceID,_OptInDate,_OptOutDate\n"
            + "c-1,\(TestDriver.subject.rawValue),\(row.optIn),\(row.optOut)\n"
        let contact = try #require(try records(text).first?.contact)
        #expect(contact.subscriptions.map(\.state) == [row.state])
        #expect(contact.devices.map(\.allowsPush) == [row.state == .subscribed])
    }

    @Test(
        arguments: [
            ("subscribed,,2024/5/5", .unsubscribed), (",,2024/5/5", .unsubscribed), ("suspended,2024/5/5,", .suspended),
            ("unsubscribed,2024/5/5,", .unsubscribed), ("unknown,2024/5/5,", .unknown),
            ("subscribed,2024/5/5,", .subscribed), ("subscribed,,", .subscribed), (",2024/5/5,", .subscribed),
            (",,", .unknown),
        ] as [(String, Subscription.State)]
    )
    func `the most restrictive of a consent value and its dates applies`(_ row: String, _ state: Subscription.State)
        throws
    {
        let text = "Contact Key,_SystemToken,Wanted,_OptInDate,_OptOutDate\nc-1,\(Self.token),\(row)\n"
        let record = try #require(try records(text, ["columns": ["Wanted": "subscription:push"]]).first)
        #expect(record.contact?.subscriptions.map(\.state) == [state])
        #expect(record.contact?.devices.map(\.allowsPush) == [state == .subscribed])
        let codes = record.findings.map(\.code).filter { $0 != "salesforce.row.deviceAssumed" }
        #expect(codes == (row == ",," ? ["salesforce.row.optInUnknown"] : []))
        let isAssumed = record.findings.contains { $0.reason.contains("allowsPush") }
        #expect(isAssumed == (state == .unknown))
        // The time is that of the consent value that applies.
        let isDated = row.hasSuffix("2024/5/5") || state == .subscribed && row.hasSuffix("2024/5/5,")
        #expect((record.contact?.subscriptions.first?.changedAt != nil) == isDated)
    }

    @Test(
        arguments: [
            ("", token, .apns), ("", token.uppercased(), .apns), ("", "fcm-token:APA91b", .fcm), ("", "aa11", .fcm),
            ("iOS", "aa11", .apns), ("iPadOS", "AA11", .apns), ("ios", "fcm-token:APA91b", .fcm),
            ("Android", token, .fcm), ("Windows", "aa11", .fcm),
        ] as [(String, String, PushToken.Service)]
    )
    func `derives the push service from the token's form or the platform`(
        _ platform: String,
        _ token: String,
        _ service: PushToken.Service
    ) throws {
        let text = "Contact Key,_SystemToken,_Platform\nc-1,\(token),\(platform)\n"
        let device = try #require(try records(text).first?.contact?.devices.first)
        #expect(device.pushToken == PushToken(token, service: service))
    }

    @Test(.shows("salesforce/F10")) func `reads a device from push columns`() throws {
        let text = """
            Contact Key,_DeviceID,_SystemToken,_Platform,_PlatformVersion,_HardwareId,_TimeZone,_UTCOffset,Locale
            c-1,D-1,aa11,Android,17,Pixel,Europe/Helsinki,2,fi_FI
            c-2,D-2,,,,,,-18000,
            c-3,,,,,,,ninety,

            """
        let records = try records(text)
        let device = try #require(records[0].contact?.devices.first)
        #expect(device.identities == ["salesforce.deviceID": "D-1"])
        #expect(device.pushToken == PushToken("aa11", service: .fcm))
        #expect(device.facts?.utcOffsetSeconds == 7200)
        #expect(records[0].contact?.timeZone == "Europe/Helsinki")
        #expect(records[0].contact?.locale == "fi_FI")
        #expect(records[1].contact?.devices.first?.facts == nil)
        let left = records[1].findings.filter { $0.code == "salesforce.row.devicePart" }
        #expect(left.map(\.path) == ["columns._UTCOffset"])
        #expect(records[2].contact?.devices == [])
        #expect(records[2].findings.map(\.code) == ["salesforce.row.timeZone"])
    }

    @Test(.shows("salesforce/F10"))
    func `reads the device and app facts of a row and reports assumed ones`() throws {
        let text = """
            Contact Key,_DeviceID,_SystemToken,_Platform,_PlatformVersion,_HardwareId,_UTCOffset,_IsHonorDST,_APID,_LocationEnabled,Kind
            c-1,D-1,aa11,iOS,24.0,"iPhone17,3",2,True,app-7,False,sandbox
            c-2,D-2,bb22,iOS,,,,,,,
            c-3,D-3,cc33,Android,,,,maybe,,,live
            c-4,,,,,,,True,app-7,,

            """
        let records = try records(text, ["columns": ["Kind": "pushEnvironment"]])
        let full = try #require(records[0].contact?.devices.first)
        #expect(full.pushToken == PushToken("aa11", service: .apns, environment: .sandbox, appID: "app-7"))
        #expect(full.facts?.isDaylightSaving == true && full.facts?.utcOffsetSeconds == 7200)
        func assumed(_ record: SourceRecord) -> String {
            record.findings.first { $0.code == "salesforce.row.deviceAssumed" }?.reason ?? ""
        }
        for name in [
            "allowsLocation", "facts.isDaylightSaving", "facts.utcOffsetSeconds", "facts.platformVersion",
            "facts.model",
        ] {
            #expect(!assumed(records[0]).contains(name))
            #expect(assumed(records[1]).contains(name))
        }
        for name in ["allowsPush,", "allowsProximity", "allowsBackgroundPush", "facts.appVersion", "facts.locale"] {
            #expect(assumed(records[0]).contains(name))
        }
        #expect(records[2].contact == nil)
        let wrong = records[2].findings.filter { $0.severity == .error }.map(\.path)
        #expect(wrong.sorted() == ["columns.Kind", "columns._IsHonorDST"])
        #expect(records[3].contact?.devices == [])
        let left = records[3].findings.filter { $0.code == "salesforce.row.devicePart" }.map(\.path)
        #expect(left == ["columns._IsHonorDST", "columns._APID"])
    }

    @Test(.shows("salesforce/F10")) func `reads a device back from the columns to which it was written`() throws {
        let columns: JSONObject = [
            "columns": [
                "_DeviceID": "deviceID", "_SystemToken": "pushToken", "_Platform": "platform",
                "_PlatformVersion": "platformVersion", "_HardwareId": "model", "_UTCOffset": "utcOffset",
                "_IsHonorDST": "daylightSaving", "_APID": "pushAppID", "Kind": "pushEnvironment",
            ]
        ]
        let device = Device(
            pushToken: PushToken("aa11", service: .apns, environment: .production, appID: "app-7"),
            facts: DeviceFacts(
                platform: "iOS",
                platformVersion: "24.0",
                model: "iPhone17,3",
                locale: "fi_FI",
                utcOffsetSeconds: 7200,
                isDaylightSaving: true,
                appVersion: ""
            ),
            allowsPush: false,
            identities: ["salesforce.deviceID": "D-1"]
        )
        let contact = Contact(identifiers: [Identifier(.external, "c-1")], devices: [device], locale: "fi_FI")
        guard var writer = try RecordFormat.salesforceContacts.makeWriter?(columns) else { throw CancellationError() }
        var bytes = writer.header()
        #expect(writer.write(contact, to: &bytes) == [])
        #expect(try records(String(decoding: bytes, as: UTF8.self), columns).first?.contact?.devices == [device])
    }

    @Test(.shows("salesforce/F6", "salesforce/F7")) func `takes types and columns from the settings`() throws {
        let text = "Key,Joined On,VIP,Interests,Memo,_Status\nc-1,3/19/2031 7:05:11 PM,True,a;b,x,Active\n"
        let settings: JSONObject = [
            "columns": ["key": "identifier:external", "Memo": "ignored", "_status": "attribute:validity"],
            "types": ["joined_on": "timestamp", "vip": "boolean", "interests": "choices"], "zone": "+02:00",
        ]
        let contact = try #require(try records(text, settings).first?.contact)
        #expect(
            contact.attributes == [
                "joined_on": AttributeTests.Value.read("2031-03-19T17:05:11Z", .timestamp), "vip": true,
                "interests": .choices(["a", "b"]), "validity": "Active",
            ]
        )
        let bad: JSONObject = ["columns": ["a": "nonsense"], "types": ["a": "list"]]
        let error = #expect(throws: SettingsError.self) { try records(text, bad) }
        #expect(error?.findings.map(\.path) == ["columns", "types"])
    }

    @Test func `rejects settings with equal column names, and two columns for one value when writing`() throws {
        let alike: JSONObject = ["columns": ["A-x": "attribute:x", "ax": "attribute:y"]]
        let same: JSONObject = [
            "columns": ["A": "attribute:x", "B": "attribute:x", "C": "ignored", "D": "ignored"]
        ]
        let contact = Contact(identifiers: [Identifier(.external, "c-1")], attributes: ["x": "7"])
        let read = #expect(throws: SettingsError.self) { try records("ContactKey\nc-1\n", alike) }
        let written = #expect(throws: SettingsError.self) { try write(contact, alike) }
        #expect(read?.findings.map(\.path) == ["columns"] && written?.findings.map(\.path) == ["columns"])
        let twice = #expect(throws: SettingsError.self) { try write(contact, same) }
        #expect(twice?.findings.map { "\($0.code) \($0.path)" } == ["salesforce.file.columnRepeated columns.B"])
        // A reader accepts the one in its file.
        #expect(try records("ContactKey,B\nc-1,7\n", same).first?.contact == contact)
    }

    @Test(arguments: [
        ("2031/3/9", "2031-03-09T06:00:00Z"), ("3/9/2031", "2031-03-09T06:00:00Z"),
        ("3/9/2031 7:05:11 AM", "2031-03-09T13:05:11Z"), ("3/9/2031 12:05 PM", "2031-03-09T18:05:00Z"),
        ("3/9/2031 12:00:00 AM", "2031-03-09T06:00:00Z"), ("2031-03-09 07:05:11", "2031-03-09T13:05:11Z"),
        ("2031-03-09T07:05:11.5Z", "2031-03-09T07:05:11.5Z"), ("2031-03-09T07:05:11+02:00", "2031-03-09T05:05:11Z"),
        ("2031-03-09", "2031-03-09T06:00:00Z"), ("2031/2/29", nil), ("13/1/2031", nil), ("3/9/2031 13:00:00 PM", nil),
        ("3/9/2031 0:00:00 AM", nil), ("9.3.2031", nil), ("31/3/9", nil), ("2031-03-09 24:00:00", nil), ("", nil),
    ]) func `reads dates in the vendor's forms`(text: String, instant: String?) {
        #expect(FileMoment(text, forms: [.slashed, .american], zone: "-06:00")?.timestamp.text == instant)
    }

    @Test(arguments: [
        ("Loyalty Tier", "loyalty_tier"), ("LoyaltyTier", "loyalty_tier"), ("loyalty-tier", "loyalty_tier"),
        ("VIP", "vip"), ("Lieblingsfarbe_Ä", "lieblingsfarbe_ä"), ("Order2Date", "order2_date"), ("  ", ""),
    ]) func `converts column names to neutral names`(column: String, name: String) {
        #expect(SnakeCase.text(column) == name)
    }

    @Test(arguments: [
        ("a@b.co", true), ("José@例え.jp", true), ("a@b", false), ("a b@c.de", false), ("@c.de", false),
        ("a@@c.de", false), ("a@c..de", false), ("a@.de", false), ("a@c.de.", false), (".a@c.de", true),
        ("a.b@c", false), ("a@b@c.de", false), ("a\n@c.de", false), ("a@c.de ", false), ("", false), ("@", false),
        (String(repeating: "a", count: 250) + "@b.co", false),
    ]) func `requires a dot in the host of an e-mail address`(text: String, isFine: Bool) {
        #expect(FieldForm.isEmail(text) == isFine)
    }

    @Test(arguments: ConsentTable.salesforce.rows.indices)
    func `reads each documented consent value`(_ index: Int) throws {
        let row = ConsentTable.salesforce.rows[index]
        // These are values of columns of the server API, which no file format has.
        if row.fields == [ConsentTable.boolean] { return }
        for field in row.fields {
            let isMobile = field == ConsentTable.mobileStatus
            let id = isMobile ? "salesforce.mobile" : "salesforce.contacts"
            let format = try #require(VendorFiles.salesforce.formats.first { $0.id == id })
            let make = try #require(format.makeReader)
            let column = isMobile ? "_Status" : field
            for value in row.values {
                var reader = try make([:])
                var found: [Contact] = []
                let cells = "k-1,d-1,4915100000001,DE,\(value.uppercased())"
                let text = "_ContactKey,_DeviceID,_MobileNumber,_Locale,\(column)\n\(cells)\n"
                try reader.read(Array(text.utf8)) { found += $0.contact.map { [$0] } ?? [] }
                try reader.finish { found += $0.contact.map { [$0] } ?? [] }
                let contact = try #require(found.first)
                let states = contact.subscriptions.map(\.state)
                #expect(!states.contains(.subscribed))
                switch row.meaning {
                case .denied: #expect(contact.consents.map(\.state) == [.denied])
                case .silent: #expect(contact.consents.isEmpty && !states.contains { $0.isOptOut })
                case .state(let state): #expect(states == [state])
                }
            }
        }
    }

    @Test(arguments: [("_SubscriptionDefinitionID", "_"), ("SubscriptionDefinitionID", ""), ("City", "")])
    func `reads MobileConnect views as SMS subscriptions`(_ marker: String, _ sign: String) throws {
        let names = ["OptInDate", "OptOutDate", "OptOutStatusID"].map { sign + $0 }.joined(separator: ",")
        let rows = "k-1,4915100000001,x,2031/3/9,,0\nk-2,4915100000002,x,,2031/3/9,1\n"
        let contacts = try records("Contact Key,Mobile Number,\(marker),\(names)\n\(rows)").compactMap(\.contact)
        #expect(contacts.map { $0.subscriptions.map(\.channel) } == [[.sms], [.sms]])
        #expect(contacts.map { $0.subscriptions.map(\.state) } == [[.subscribed], [.unsubscribed]])
        // Explicit settings take precedence.
        let own: JSONObject = ["columns": ["\(sign)OptInDate": "optIn:push"]]
        let other = try records("Contact Key,Mobile Number,\(marker),\(names)\n\(rows)", own).compactMap(\.contact)
        #expect(other.first?.subscriptions.contains { $0.channel == .push } == true)
    }
}
