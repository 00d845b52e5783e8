import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic
@testable import PatchbayAcousticServer
@testable import PatchbayAcousticFiles

@Suite("Acoustic contact files") struct RecordTests {
    private static let settings: JSONObject = [
        "listId": "771100", "textToJoinProgramId": "5501",
        "columns": [
            "Favourite Colour": "attribute:favourite_colour",
            "Visits": "attribute:visits", "Lifetime Value": "attribute:lifetime_value",
            "Reads Newsletter": "attribute:newsletter_reader", "First Purchase": "attribute:first_purchase",
            "Delivery Hour": "attribute:delivery_hour", "Last Visit": "attribute:last_visit",
            "Interests": "attribute:interests", "Labels": "tags",
        ],
        "types": [
            "country": "country", "visits": "integer", "lifetime_value": "decimal", "newsletter_reader": "boolean",
            "first_purchase": "date", "delivery_hour": "time", "last_visit": "timestamp", "interests": "choices",
        ],
    ]
    private static let harness = RecordHarness(
        .acousticContacts,
        settings: settings,
        of: .acoustic,
        goldens: Goldens()
    )

    @Test(arguments: RecordCheck.all)
    func conforms(_ check: RecordCheck) throws { try check.run(on: Self.harness) }

    private func write(_ contact: Contact, _ changes: JSONObject = [:]) throws -> (text: String, findings: [Finding]) {
        var settings = Self.settings
        for change in changes { settings[change.name] = change.value }
        guard var writer = try RecordFormat.acousticContacts.makeWriter?(settings) else { throw CancellationError() }
        var bytes: [UInt8] = []
        let findings = writer.write(contact, to: &bytes)
        return (String(decoding: bytes, as: UTF8.self), findings)
    }

    private func read(_ bytes: [UInt8], _ settings: JSONObject = [:]) throws -> [SourceRecord] {
        var settings = settings
        if settings["onInvalid"] == nil { settings["onInvalid"] = "reject" }
        guard var reader = try RecordFormat.acousticContacts.makeReader?(settings) else { throw CancellationError() }
        var records: [SourceRecord] = []
        try reader.read(bytes) { records.append($0) }
        try reader.finish { records.append($0) }
        return records
    }

    private static let aino = Contact(
        identifiers: Corpus.aino,
        attributes: [
            .city: "a\\b", .birthDate: .string("1990-04-01"), "newsletter_reader": true,
            "interests": .choices(["a", "b"]),
        ],
        subscriptions: [Subscription(channel: .email, state: .subscribed)]
    )

    @Test(
        .shows(
            "acoustic/F1",
            "acoustic/F2",
            "acoustic/F3",
            "acoustic/F4",
            "acoustic/F5",
            "acoustic/F6",
            "acoustic/F7",
            "acoustic/F8"
        )
    ) func `writes a row in the form of the vendor's import`() throws {
        let (text, findings) = try write(Self.aino)
        #expect(
            text
                == "c-1001|aino.virtanen@example.com|+358401234567|||04/01/1990|||a\\\\b|||F|||||||Yes||||a;b|\n"
        )
        #expect(findings.map(\.code) == ["acoustic.record.converted"])
        let broken = try write(
            Contact(identifiers: [Identifier(.external, "c-1")], attributes: [.city: "one\r\ntwo", .givenName: "a|b"])
        )
        #expect(broken.text.hasPrefix("c-1|||||||||one two|") == false && broken.text.contains("|one two|"))
        #expect(broken.findings.map(\.code) == ["acoustic.record.lineBreak", "acoustic.record.unwritable"])
    }

    @Test(.shows("acoustic/F9"))
    func `writes a person who opted out to a file of opt-outs only`() throws {
        let out = Contact(
            identifiers: Corpus.aino,
            subscriptions: [Subscription(channel: .email, state: .unsubscribed)]
        )
        let denied = Contact(identifiers: Corpus.aino, consents: [Consent(purpose: .messaging, state: .denied)])
        for contact in [out, denied] {
            let refused = try write(contact)
            #expect(refused.text.isEmpty)
            #expect(refused.findings.map(\.code).contains("acoustic.record.optedOut"))
            #expect(try !write(contact, ["action": "OPT_OUT"]).text.isEmpty)
        }
        let wrong = try write(Self.aino, ["action": "OPT_OUT"])
        #expect(wrong.text.isEmpty && wrong.findings.map(\.code).contains("acoustic.record.notOptedOut"))
    }

    /// Returns a person with subscriptions and consents for e-mail.
    private func person(_ subscriptions: [Subscription] = [], _ consents: [Consent] = [], hasMail: Bool = true)
        -> Contact
    {
        Contact(
            identifiers: hasMail
                ? Corpus.aino : [Identifier(.external, "c-1001"), Identifier(.phone, "+358401234567")],
            subscriptions: subscriptions,
            consents: consents
        )
    }

    private static let (granted, unknown) = (Consent.State.granted, Consent.State.unknown)
    private static let mail = Channel.email

    @Test(
        .shows("acoustic/F9"),
        arguments: [
            ([], []), ([Subscription(channel: .email, state: .unknown)], []),
            // An opt-in to one topic or to another channel is not an opt-in to all mail.
            ([Subscription(channel: .email, topic: "news", state: .subscribed)], []),
            (
                [Subscription(channel: .sms, state: .subscribed)],
                [Consent(purpose: .messaging, channel: .sms, state: granted)]
            ),
            ([Subscription(channel: .email, state: .unknown)], [Consent(purpose: .messaging, state: granted)]),
            (
                [],
                [
                    Consent(purpose: .messaging, state: granted),
                    Consent(purpose: .messaging, channel: mail, state: unknown),
                ]
            ),
            ([], [Consent(purpose: .tracking, state: granted)]),
        ] as [([Subscription], [Consent])]
    )
    func `rejects a contact without an opt-in if the import would add it as opted in`(
        _ subscriptions: [Subscription],
        _ consents: [Consent]
    ) throws {
        let contact = person(subscriptions, consents)
        for action in ["ADD_ONLY", "ADD_AND_UPDATE"] {
            let refused = try write(contact, ["action": .string(action)])
            #expect(refused.text.isEmpty)
            let finding = try #require(refused.findings.first { $0.code == "acoustic.record.withoutOptIn" })
            #expect(finding.severity == .error && finding.path == "subscriptions")
            #expect(finding.remedy.contains("withoutOptIn") && finding.remedy.contains("UPDATE_ONLY"))
        }
        let kept = try write(contact, ["withoutOptIn": "warn"])
        #expect(!kept.text.isEmpty)
        #expect(kept.findings.contains { $0.code == "acoustic.record.writtenWithoutOptIn" && $0.severity == .warning })
        // No new contact gets mail: the action adds none, or the contact has no address.
        let withoutMail = person(subscriptions, consents, hasMail: false)
        let harmless: [(Contact, JSONObject)] = [(contact, ["action": "UPDATE_ONLY"]), (withoutMail, [:])]
        for (contact, settings) in harmless {
            let (text, findings) = try write(contact, settings)
            #expect(!text.isEmpty && !findings.contains { $0.code.hasSuffix("ithoutOptIn") })
        }
    }

    @Test(
        arguments: [
            ([Subscription(channel: .email, state: .subscribed)], []),
            ([Subscription(channel: .email, state: .subscribed)], [Consent(purpose: .messaging, state: unknown)]),
            ([], [Consent(purpose: .messaging, state: granted)]),
            ([], [Consent(purpose: .messaging, channel: mail, state: granted)]),
        ] as [([Subscription], [Consent])]
    )
    func `adds a contact that opted in`(_ subscriptions: [Subscription], _ consents: [Consent]) throws {
        let (text, findings) = try write(person(subscriptions, consents))
        #expect(!text.isEmpty && !findings.contains { $0.code.hasSuffix("ithoutOptIn") })
    }

    @Test func `reports an opt-out for every value of withoutOptIn`() throws {
        for value in ["reject", "warn"] {
            let out = person([Subscription(channel: .email, state: .unsubscribed)])
            let (text, findings) = try write(out, ["withoutOptIn": .string(value)])
            #expect(text.isEmpty)
            #expect(findings.map(\.code) == ["acoustic.record.optedOut"])
        }
    }

    @Test(.shows("acoustic/F11"))
    func `uses the address as key without a customer number, unless settings name a key`() throws {
        let optIn = [Subscription(channel: .email, state: .subscribed)]
        let contact = Contact(
            identifiers: [Identifier(.phone, "+358401234567"), Identifier(.email, "a@x.example")],
            subscriptions: optIn
        )
        let (text, findings) = try write(contact)
        #expect(text.hasPrefix("a@x.example|a@x.example|+358401234567|"))
        #expect(
            findings.map { "\($0.severity.rawValue) \($0.code) \($0.path)" } == [
                "warning acoustic.record.keyOther identifiers[1]"
            ]
        )
        let strict = try write(contact, ["key": "external"])
        #expect(strict.text.isEmpty && strict.findings.map(\.code) == ["acoustic.record.keyMissing"])
        // Only the right key finds an existing contact. An opt-out under another key would miss the person.
        var out = contact
        out.subscriptions[0].state = .unsubscribed
        for (contact, action) in [(contact, "UPDATE_ONLY"), (out, "OPT_OUT")] {
            let missed = try write(contact, ["action": .string(action)])
            #expect(missed.text.isEmpty && missed.findings.map(\.code).contains("acoustic.record.keyMissing"))
            #expect(try write(contact, ["action": .string(action), "key": "email"]).text.hasPrefix("|a@x.example|"))
        }
        // An identifier that can't be written is not replaced by another one.
        var long = contact
        long.identifiers.append(Identifier(.external, "c|1"))
        #expect(try write(long).findings.map(\.code) == ["acoustic.record.unwritable", "acoustic.record.keyMissing"])
    }

    @Test(.shows("acoustic/F10", "acoustic/F11"))
    func `the map file names every column by its index`() throws {
        var settings = Self.settings
        settings["contactLists"] = ["880022"]
        settings["syncFields"] = ["CustomerId", "Email"]
        let files = try RecordFormat.acousticContacts.makeSidecars?(settings) ?? []
        let file = try #require(files.first)
        #expect(files.count == 1 && file.fileExtension == "map.xml")
        Goldens(subfolder: "map").check(String(decoding: file.bytes, as: UTF8.self).trimmed, .records, "map")
        settings["action"] = "OPT_OUT"
        let map = try String(
            decoding: RecordFormat.acousticContacts.makeSidecars?(settings)[0].bytes ?? [],
            as: UTF8.self
        )
        #expect(map.contains("<ACTION>OPT_OUT</ACTION>") && !map.contains("CONTACT_LISTS"))
    }

    private func map(_ settings: JSONObject) throws -> String {
        let files = try RecordFormat.acousticContacts.makeSidecars?(settings) ?? []
        return String(decoding: try #require(files.first).bytes, as: UTF8.self)
    }

    @Test(.shows("acoustic/F14"))
    func `the map file of a new list contains its name and the type of every column`() throws {
        var settings: JSONObject = [
            "action": "CREATE", "listName": "Shop & Friends", "listVisibility": "shared", "textToJoinProgramId": "77",
            "columns": ["Points": "attribute:points", "Is VIP": "tag:vip", "Last Visit": "attribute:last_visit"],
            "types": ["points": "decimal", "last_visit": "timestamp"],
        ]
        let text = try map(settings)
        Goldens(subfolder: "map").check(text.trimmed, .records, "create")
        #expect(!text.contains("LIST_ID") && !text.contains("SYNC_FIELD"))
        // The written map file can be read back.
        let reader = try #require(RecordFormat.acousticContacts.sidecar)
        let read = try reader.settings(Array(text.utf8), [:])
        #expect(read["types"]?["points"] == "decimal" && read["types"]?["last_visit"] == "timestamp")
        #expect(read["header"]?.array?.contains("Last Visit") == true)
        #expect(read["action"] == nil && read["key"] == nil)
        settings["textToJoinProgramId"] = nil
        settings["syncFields"] = ["Email"]
        let other = try map(settings)
        #expect(other.contains("<NAME>MobileNumber</NAME>\n      <TYPE>16</TYPE>"))
        #expect(other.contains("<NAME>Email</NAME>\n      <TYPE>9</TYPE>\n      <IS_REQUIRED>true</IS_REQUIRED>"))
        // An import that adds columns names only them, and finds contacts by existing columns.
        let added = try map(["listId": "771100", "newColumns": ["City"]])
        let column = "<NAME>City</NAME>\n      <TYPE>0</TYPE>\n      <IS_REQUIRED>false</IS_REQUIRED>"
        #expect(added.contains(column) && added.ranges(of: "<TYPE>").count == 1)
        #expect(added.contains("<SYNC_FIELD>") && added.contains("<LIST_ID>771100</LIST_ID>"))
    }

    @Test(.shows("acoustic/F14", "acoustic/F9"))
    func `a new suppression list takes opt-outs only, and each of its rows is an opt-out`() throws {
        let settings: JSONObject = ["action": "CREATE", "listName": "Never", "listType": "suppressionList"]
        let key = [Identifier(.external, "c-1"), Identifier(.email, "a@x.example")]
        let optedOut = Contact(identifiers: key, subscriptions: [Subscription(channel: .email, state: .unsubscribed)])
        let optedIn = Contact(identifiers: key, subscriptions: [Subscription(channel: .email, state: .subscribed)])
        func write(_ contact: Contact, _ settings: JSONObject) throws -> [String] {
            guard var writer = try RecordFormat.acousticContacts.makeWriter?(settings) else {
                throw CancellationError()
            }
            var bytes: [UInt8] = []
            return writer.write(contact, to: &bytes).filter { $0.severity == .error }.map(\.code)
        }
        #expect(try write(optedOut, settings) == [])
        #expect(try write(optedIn, settings) == ["acoustic.record.notOptedOut"])
        let database: JSONObject = ["action": "CREATE", "listName": "All"]
        #expect(try write(optedOut, database).contains("acoustic.record.optedOut"))
        #expect(try write(optedIn, database) == [])
        #expect(try write(Contact(identifiers: key), database) == ["acoustic.record.withoutOptIn"])
        #expect(try map(settings).contains("<LIST_TYPE>13</LIST_TYPE>"))
        guard let reader = RecordFormat.acousticContacts.sidecar else { throw CancellationError() }
        #expect(try reader.settings(Array(map(settings).utf8), [:])["action"] == "OPT_OUT")
    }

    @Test(.shows("acoustic/F14"))
    func `requires a name for a new list and a number for an existing list`() throws {
        let wrong: [(JSONObject, [String])] = [
            (["listId": "1", "action": "CREATE"], ["listName", "listId"]),
            (["action": "CREATE", "listName": " "], ["listName"]),
            (["action": "CREATE", "listName": "A", "contactLists": ["8"]], ["contactLists"]),
            (["listId": "1", "listName": "A", "listType": "seedList"], ["listName", "listType"]),
            (["listId": "1", "newColumns": ["None"]], ["newColumns.None"]),
        ]
        for (settings, paths) in wrong {
            let error = #expect(throws: SettingsError.self) { try map(settings) }
            #expect(error?.findings.map(\.path) == paths)
        }
    }

    @Test(.shows("acoustic/F11", "acoustic/F12"))
    func `reports all invalid import settings at once`() throws {
        let settings: JSONObject = ["columns": ["ab": "attribute:x"], "syncFields": ["None"]]
        let error = #expect(throws: SettingsError.self) {
            _ = try RecordFormat.acousticContacts.makeWriter?(settings)
        }
        #expect(error?.findings.map(\.path) == ["listId", "columns.ab", "syncFields.None"])
        let sign = #expect(throws: SettingsError.self) {
            _ = try RecordFormat.acousticContacts.makeWriter?(["listId": "1", "columns": ["a|bc": "attribute:x"]])
        }
        #expect(sign?.findings.map(\.code) == ["acoustic.file.columnSign"])
        let form = #expect(throws: SettingsError.self) {
            _ = try RecordFormat.acousticContacts.makeSidecars?(["listId": "x1"])
        }
        #expect(form?.findings.map(\.code) == ["acoustic.file.listForm"])
    }

    @Test(.shows("acoustic/F2", "acoustic/F3"))
    func `reads and writes ISO-8859-1 and rejects other characters`() throws {
        let settings: JSONObject = ["encoding": "iso-8859-1", "header": ["CustomerId", "City"]]
        let records = try read(Array("c-1|S".utf8) + [0xE3] + Array("o Paulo\n".utf8), settings)
        #expect(records.first?.contact?.attributes[.city] == "São Paulo")
        #expect(records.first?.bytes == Array("c-1|S".utf8) + [0xE3] + Array("o Paulo".utf8))
        let contact = Contact(
            identifiers: [Identifier(.external, "c-1")],
            attributes: [.city: "Łódź", .givenName: "Zoë"]
        )
        guard var writer = try RecordFormat.acousticContacts.makeWriter?(["listId": "1", "encoding": "iso-8859-1"])
        else { throw CancellationError() }
        var bytes: [UInt8] = []
        #expect(writer.write(contact, to: &bytes).map(\.code) == ["acoustic.record.unwritable"])
        #expect(bytes.contains(0xEB) && !bytes.contains(0xC3))
    }

    @Test(arguments: ["CustomerId|City\n", "c-1|Oulu\nCUSTOMER ID|city\n"])
    func `reports a header line instead of a contact if settings name the columns`(_ rows: String) throws {
        let records = try read(Array("\(rows)c-2|Vaasa\n".utf8), ["header": ["CustomerId", "City"]])
        let codes = records.flatMap { $0.findings.map(\.code) }
        #expect(codes == ["acoustic.row.headerAgain"])
        #expect(records.last?.contact?.attributes[.city] == "Vaasa")
    }

    @Test func `reports signs of another encoding in each row`() throws {
        let settings: JSONObject = ["encoding": "iso-8859-1", "header": ["CustomerId", "City"]]
        func codes(_ city: [UInt8]) throws -> [String] {
            try read(Array("c-1|".utf8) + city + [0x0A], settings).flatMap { $0.findings.map(\.code) }
        }
        #expect(try codes([0x4A, 0xE4, 0x72, 0x76, 0x69]).isEmpty)
        #expect(try codes(Array("Järvi".utf8)) == ["acoustic.row.encoding"])
        // An ellipsis in Windows-1252; in ISO-8859-1 a control character that no text contains.
        #expect(try codes([0x4F, 0x85]) == ["acoustic.row.encoding"])
        let error = #expect(throws: SettingsError.self) {
            try read([0xEF, 0xBB, 0xBF] + Array("c-1|Oulu\n".utf8), settings)
        }
        #expect(error?.findings.map(\.path) == ["encoding"])
    }

    @Test(.shows("acoustic/F8", "acoustic/F13"))
    func `reads opt-outs from an export`() throws {
        let export = "RECIPIENT_ID|CustomerId|Opted Out\n1|c-1|F\n2|c-2|T\n3|c-3|U\n4|c-4|X\n5|c-5\n"
        let records = try read(Array(export.utf8))
        #expect(
            records.map { $0.contact?.subscriptions.first?.state } == [
                .subscribed, .unsubscribed, .suspended, nil, nil,
            ]
        )
        #expect(
            records.map { $0.findings.filter { $0.severity == .error }.map(\.path) } == [
                [], [], [], ["columns.Opted Out"], ["columns.Opted Out"],
            ]
        )
        let careful = try read(Array(export.utf8), ["notOptedOut": "unknown"])
        #expect(careful[0].contact?.subscriptions.first?.state == .unknown)
        #expect(throws: SettingsError.self) { try read([]) }
    }

    @Test(
        .shows("acoustic/F8"),
        arguments: [
            ("", "03/09/2031", .unsubscribed), ("", "03/09/2031 13:05:00", .unsubscribed), ("", "", nil),
            ("T", "", .unsubscribed), ("U", "03/09/2031", .unsubscribed), ("F", "", .subscribed),
            // An F beside a date can mean a new subscription or a late date. The opt-out wins.
            ("F", "03/09/2031", .unsubscribed), ("", "soon", nil),
        ] as [(String, String, Subscription.State?)]
    )
    func `an opt-out date is an opt-out, regardless of the status beside it`(
        _ status: String,
        _ date: String,
        _ state: Subscription.State?
    ) throws {
        let export = "CustomerId|Opted Out|Opted Out Date|Opt In Date\nc-1|\(status)|\(date)|03/10/2031\n"
        let record = try #require(try read(Array(export.utf8)).first)
        #expect(record.contact?.subscriptions.first?.state == state)
        let errors = record.findings.filter { $0.severity == .error }
        #expect(errors.map(\.path) == (date == "soon" ? ["columns.Opted Out Date"] : []))
    }

    @Test(.shows("acoustic/F8"))
    func `reports once that an F is read as an opt-in`() throws {
        func codes(_ header: String, _ settings: JSONObject = [:]) throws -> [String] {
            try read(Array("CustomerId|\(header)\nc-1|F\nc-2|F\n".utf8), settings).flatMap { $0.findings.map(\.code) }
        }
        #expect(try codes("Opted Out") == ["acoustic.file.notOptedOut"])
        #expect(try codes("Out", ["columns": ["Out": "optedOut:email"]]) == ["acoustic.file.notOptedOut"])
        #expect(try codes("Opted Out", ["notOptedOut": "unknown"]).isEmpty)
        #expect(try codes("City").isEmpty)
    }

    @Test(
        arguments: ["[{\"CustomerId\": \"c-1\"}]\n", "{\"items\": []}", "\u{FEFF}\n[\n    {\n", "[  ]\n"],
        [1, 7, 100]
    )
    func `reports that a file contains JSON`(_ text: String, _ chunk: Int) throws {
        let error = #expect(throws: SettingsError.self) {
            guard var reader = try RecordFormat.acousticContacts.makeReader?([:]) else { throw CancellationError() }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                try reader.read(Array(rest.prefix(chunk))) { _ in }
                rest = rest.dropFirst(chunk)
            }
            try reader.finish { _ in }
        }
        #expect(error?.findings.map(\.code) == ["acoustic.file.encoding"])
        #expect(error?.findings.first?.reason.contains("JSON") == true)
    }

    @Test(
        .shows("acoustic/F6"),
        arguments: [
            ("13:05:00", "13:05", ""), ("13:05", "13:05", ""), ("1:05:00", "01:05", ""), ("1:05:00 PM", "13:05", ""),
            ("01:05:00 PM", "13:05", ""), ("01:05 pm", "13:05", ""), ("12:00:00 AM", "00:00", ""),
            ("13:05:30", "13:05", "warning acoustic.row.seconds"),
            ("1:05:30 AM", "01:05", "warning acoustic.row.seconds"),
            ("13:05:61", nil, "error acoustic.row.value"), ("13:05 PM", nil, "error acoustic.row.value"),
            ("noon", nil, "error acoustic.row.value"),
        ]
    ) func `reads times of 24 or 12 hours and reports removed seconds`(
        _ text: String,
        _ time: String?,
        _ finding: String
    ) throws {
        let settings: JSONObject = ["types": ["delivery_hour": "time"]]
        let record = try #require(try read(Array("CustomerId|Delivery Hour\nc-1|\(text)\n".utf8), settings).first)
        #expect(try record.contact?.attributes == time.map { ["delivery_hour": try typed($0, .time)] })
        #expect(record.findings.map { "\($0.severity.rawValue) \($0.code)" }.joined() == finding)
        #expect(record.findings.allSatisfy { $0.path == "columns.Delivery Hour" })
    }

    @Test(.shows("acoustic/F5"), arguments: ["Z", "-06:00"])
    func `reads connector timestamps in UTC, regardless of the file's time zone`(_ zone: String) throws {
        let settings: JSONObject = ["types": ["last_visit": "timestamp"], "zone": .string(zone)]
        let file = "CustomerId|Last Visit\nc-1|03/09/2031 13:05:00 GMT\nc-2|03/09/2031 01:05:00 PM GMT\n"
        let records = try read(Array(file.utf8), settings)
        let instant = try typed("2031-03-09T13:05:00Z", .timestamp)
        #expect(records.map { $0.contact?.attributes } == [["last_visit": instant], ["last_visit": instant]])
        #expect(records.allSatisfy { $0.findings.isEmpty })
    }

    @Test(arguments: ConsentTable.acoustic.rows.indices) func `reads each documented consent value`(_ index: Int)
        throws
    {
        let row = ConsentTable.acoustic.rows[index]
        guard case .state(let state) = row.meaning else { return }
        for value in row.values {
            if row.fields.contains(ConsentTable.consentStatus) {
                #expect(ConsentStatus.state(value.lowercased()) == state)
            }
            for field in row.fields where [ConsentTable.optedOut, ConsentTable.consentCode].contains(field) {
                let text = "CustomerId|MobileNumber|\(field)\nk-1|4915100000001|\(value.lowercased())\n"
                let records = try read(Array(text.utf8), ["textToJoinProgramId": "5"])
                #expect(records.first?.contact?.subscriptions.map(\.state) == [state], "\(field) \(value)")
            }
        }
        // The table contains every value that is written.
        let written = Subscription.State.allCases.map { ConsentStatus.word($0) }
        #expect(written.allSatisfy { ConsentTable.acoustic.meaning(of: $0, in: ConsentTable.consentStatus) != nil })
    }
}
