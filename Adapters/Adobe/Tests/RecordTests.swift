import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer
@testable import PatchbayAdobeFiles

@Suite("Adobe Campaign profile files") struct RecordTests {
    private static let settings: JSONObject = [
        "columns": [
            "location": "attribute:city", "cusCountry": "attribute:country", "cusTier": "attribute:loyalty_tier",
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
        .adobeProfiles,
        settings: settings,
        of: .adobe,
        goldens: Goldens()
    )

    @Test(arguments: RecordCheck.all)
    func conforms(_ check: RecordCheck) throws { try check.run(on: Self.harness) }

    private func write(_ contact: Contact, _ settings: JSONObject = [:]) throws -> (text: String, findings: [Finding]) {
        guard var writer = try RecordFormat.adobeProfiles.makeWriter?(settings) else { throw CancellationError() }
        var bytes = writer.header()
        let findings = writer.write(contact, to: &bytes)
        return (String(decoding: bytes, as: UTF8.self), findings)
    }

    private func read(_ text: String, _ settings: JSONObject = [:]) throws -> [SourceRecord] {
        guard var reader = try RecordFormat.adobeProfiles.makeReader?(settings) else { throw CancellationError() }
        var records: [SourceRecord] = []
        try reader.read(Array(text.utf8)) { records.append($0) }
        try reader.finish { records.append($0) }
        return records
    }

    @Test(.shows("adobe/F1", "adobe/F2", "adobe/F3", "adobe/F5", "adobe/F6"))
    func `writes the profile's fields, and opt-outs as do-not-contact flags`() throws {
        let contact = Contact(
            identifiers: Corpus.aino,
            attributes: [
                .givenName: "Aino", .birthDate: .string("1990-04-01"),
                .familyName: .string(String(repeating: "x", count: 51)),
            ],
            subscriptions: [
                Subscription(channel: .email, state: .subscribed), Subscription(channel: .sms, state: .suspended),
            ],
            consents: [Consent(purpose: .messaging, state: .denied)]
        )
        let (text, findings) = try write(contact)
        #expect(
            text == """
                externalId;email;mobilePhone;firstName;lastName;birthDate;gender;blackListEmail;blackListMobile;\
                blackListPushnotification;blackListPhone;blackListFax;blackListPostalMail;blackList;ccpaOptOut\r
                c-1001;aino.virtanen@example.com;+358401234567;Aino;;1990/04/01;;true;true;;;;;true;\r\n
                """
        )
        #expect(
            findings.map { "\($0.code) \($0.path)" } == [
                "adobe.record.converted attributes.birth_date", "adobe.record.tooLong attributes.family_name",
                "adobe.record.denied subscriptions[0].state", "adobe.record.denied subscriptions[1].state",
            ]
        )
        let export = "PKey;externalId;blackListEmail;birthDate\n@p;c-1;0;23/05/1989\n@q;c-2;1;1989/5/23\n"
        let records = try read(export, ["dateForm": "dd/MM/yyyy"])
        #expect(records[0].contact?.subscriptions.first?.state == .subscribed)
        #expect(records[0].contact?.attributes[.birthDate]?.plainText == "1989-05-23")
        #expect(records[1].findings.map(\.path) == ["columns.birthDate"])
        #expect(records[0].findings.map(\.code) == ["adobe.row.valueUnused"])
    }

    @Test(.shows("adobe/F1", "adobe/F4", "adobe/F7", "adobe/F8", "adobe/F9"))
    func `reports parts that a flat file cannot hold`() throws {
        let contact = Contact(
            identifiers: [Identifier(.email, "a@b.example")],
            attributes: [.givenName: "a;b", "interests": .choices(["x", "y"])],
            devices: [Corpus.phone]
        )
        let settings: JSONObject = [
            "key": "email", "columns": ["cusInterests": "attribute:interests"], "types": ["interests": "choices"],
        ]
        let (text, findings) = try write(contact, settings)
        #expect(text.contains("x,y") && !text.contains("a;b"))
        #expect(
            findings.map { "\($0.code) \($0.path)" } == [
                "adobe.record.unwritable attributes.given_name", "adobe.record.noPlace devices[0]",
            ]
        )
        let named = try write(contact, ["key": "external"])
        #expect(named.findings.map(\.code).contains("adobe.record.keyMissing"))
        #expect(throws: SettingsError.self) { try read("externalId;email\n") }
        var quoted = settings
        quoted["quoted"] = true
        quoted["booleans"] = "digits"
        #expect(try write(contact, quoted).text.contains("\"a;b\""))
    }

    @Test(arguments: [
        ("female", "female", []), ("Female", "female", ["adobe.record.converted"]), ("x", "", ["adobe.record.unfit"]),
        ("unknown", "unknown", []),
    ])
    func `writes a gender of the enumeration, or omits and reports it`(
        _ said: String,
        _ written: String,
        _ codes: [String]
    )
        throws
    {
        let contact = Contact(identifiers: [Identifier(.external, "c-1")], attributes: [.gender: .string(said)])
        let (text, findings) = try write(contact)
        let row = try #require(text.split(whereSeparator: \.isNewline).last).split(
            separator: ";",
            omittingEmptySubsequences: false
        )
        #expect(row[6] == written)
        #expect(findings.map(\.code) == codes)
    }

    @Test func `writes a decimal without a fraction to an integer column`() throws {
        let settings: JSONObject = ["columns": ["cusPoints": "attribute:points"], "types": ["points": "integer"]]
        for (text, written, code) in [
            ("3790", ";3790\r\n", "adobe.record.converted"), ("0.5", ";\r\n", "adobe.record.unfit"),
        ] {
            let points = try #require(ExactDecimal(text: text))
            let contact = Contact(identifiers: [Identifier(.external, "c-1")], attributes: ["points": .decimal(points)])
            let result = try write(contact, settings)
            #expect(result.text.hasSuffix(written) && result.findings.map(\.code) == [code])
        }
    }

    private static let flags: [(field: String, channel: Channel)] = [
        ("blackListEmail", .email), ("blackListMobile", .sms), ("blackListPushnotification", .push),
        ("blackListPhone", "phone"), ("blackListFax", "fax"), ("blackListPostalMail", "postal_mail"),
    ]

    @Test(.shows("adobe/F5"), arguments: flags)
    func `reads a flag of a channel as an opt-out and writes it to the same field`(
        _ flag: (field: String, channel: Channel)
    ) throws {
        let records = try read("externalId;\(flag.field)\nc-1;true\nc-2;1\nc-3;false\nc-4;\n")
        let key = Subscription(channel: flag.channel, state: .unknown).key
        let states = records.map { $0.contact?.subscriptions.mostProtectiveState(of: key) }
        #expect(states == [.unsubscribed, .unsubscribed, .subscribed, nil])
        #expect(records.allSatisfy { $0.contact?.attributes.isEmpty == true && $0.findings.isEmpty })
        let contact = try #require(records[0].contact)
        let (text, findings) = try write(contact)
        #expect(findings.isEmpty)
        #expect(try read(text)[0].contact == contact)
    }

    @Test(.shows("adobe/F5"))
    func `reads an opt-out from data sale as a denied consent, and false as no opt-in`() throws {
        let records = try read("externalId;ccpaOptOut\nc-1;true\nc-2;false\nc-3;\n")
        #expect(records.map { $0.contact?.consents } == [[Consent(purpose: "sale", state: .denied)], [], []])
        #expect(records.allSatisfy { $0.contact?.attributes.isEmpty == true })
        let (text, findings) = try write(try #require(records[0].contact))
        #expect(text.hasSuffix(";true\r\n") && findings.isEmpty)
    }

    @Test(.shows("adobe/F5"))
    func `reads a false flag as an opt-in only if the settings say so`() throws {
        let export = "externalId;blackListEmail;blackListMobile\nc-1;false;true\n"
        func states(_ settings: JSONObject) throws -> [Subscription.State]? {
            try read(export, settings)[0].contact?.subscriptions.map(\.state)
        }
        #expect(try states([:]) == [.subscribed, .unsubscribed])
        #expect(try states(["notOptedOut": "subscribed"]) == [.subscribed, .unsubscribed])
        #expect(try states(["notOptedOut": "unknown"]) == [.unknown, .unsubscribed])
        #expect(throws: SettingsError.self) { try states(["notOptedOut": "no"]) }
    }

    @Test(.shows("adobe/F7"))
    func `uses the address as key without an external id and notes it`() throws {
        let reader = Contact(identifiers: [Identifier(.email, "a@b.example")], attributes: [.givenName: "Aino"])
        let (text, findings) = try write(reader)
        #expect(text.hasSuffix("\r\n;a@b.example;;Aino;;;;;;;;;;;\r\n"))
        #expect(findings.map { "\($0.severity) \($0.code)" } == ["note adobe.record.otherKey"])
        #expect(try read(text)[0].contact == reader)
        // A contact without both is rejected, and so is a row of a file without an external id.
        let caller = Contact(identifiers: [Identifier(.phone, "+358401234567")])
        #expect(try write(caller).findings.map(\.code) == ["adobe.record.keyMissing"])
        #expect(try write(reader, ["key": "external"]).findings.map(\.code) == ["adobe.record.keyMissing"])
        #expect(try write(reader, ["columns": ["externalId": "ignored"]]).findings.isEmpty)
        #expect(
            try write(caller, ["columns": ["externalId": "ignored"]]).findings.map(\.code).last
                == "adobe.record.keyMissing"
        )
        let rows = try read("email;firstName\na@b.example;Aino\n;Ines\n")
        #expect(rows.map { $0.contact?.identifiers } == [[Identifier(.email, "a@b.example")], nil])
        #expect(rows[1].findings.map { "\($0.code) \($0.path)" } == ["adobe.row.keyBlank columns.email"])
        let mixed = try read("externalId;email;firstName\nc-1;;\n;a@b.example;\n;;Ines\n;;\n")
        #expect(mixed.map { $0.contact != nil } == [true, true, false])
        #expect(mixed[2].findings.map(\.path) == ["columns.externalId"])
        #expect(throws: SettingsError.self) { try read("firstName\nAino\n") }
    }

    @Test(arguments: ConsentTable.adobe.rows.indices)
    func `reads each documented consent value under each name of its flag`(_ index: Int) throws {
        let row = ConsentTable.adobe.rows[index]
        for (field, value) in row.fields.flatMap({ field in row.values.map { (field, $0) } }) {
            let record = try #require(try read("externalId;\(field)\nk-1;\(value.uppercased())\n").first)
            let contact = try #require(record.contact, "\(field) \(value)")
            switch row.meaning {
            case .denied: #expect(contact.consents.map(\.state) == [.denied], "\(field) \(value)")
            case .silent: #expect(contact.consents.isEmpty && contact.subscriptions.isEmpty, "\(field) \(value)")
            case .state(let state):
                #expect(contact.subscriptions.map(\.state) == [state], "\(field) \(value)")
                #expect(contact.subscriptions.map(\.channel.rawValue) == [row.subject])
            }
        }
    }
}
