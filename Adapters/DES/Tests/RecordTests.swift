import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayDES
@testable import PatchbayDESFiles

@Suite("Emarsys contact files") struct RecordTests {
    private static let settings: JSONObject = [
        "key": "external",
        "columns": [
            "Country": "attribute:country", "Favourite Colour": "attribute:favourite_colour",
            "Visits": "attribute:visits", "Lifetime Value": "attribute:lifetime_value",
            "Reads Newsletter": "attribute:newsletter_reader", "First Purchase": "attribute:first_purchase",
            "Delivery Hour": "attribute:delivery_hour", "Last Visit": "attribute:last_visit",
            "Interests": "attribute:interests", "Sports": "tag:sports", "SMS Opt-In": "subscription:sms",
        ],
        "types": [
            "country": "country", "visits": "integer", "lifetime_value": "decimal", "newsletter_reader": "boolean",
            "first_purchase": "date", "delivery_hour": "time", "last_visit": "timestamp", "interests": "choices",
        ],
    ]
    private static let harness = RecordHarness(.desContacts, settings: settings, of: .des, goldens: Goldens())

    @Test(arguments: RecordCheck.all)
    func conforms(_ check: RecordCheck) throws { try check.run(on: Self.harness) }

    private func write(_ contact: Contact, _ settings: JSONObject = [:]) throws -> (text: String, findings: [Finding]) {
        guard var writer = try RecordFormat.desContacts.makeWriter?(settings) else { throw CancellationError() }
        var bytes = writer.header()
        let findings = writer.write(contact, to: &bytes)
        return (String(decoding: bytes, as: UTF8.self), findings)
    }

    private func read(_ text: String, _ settings: JSONObject = [:]) throws -> [SourceRecord] {
        guard var reader = try RecordFormat.desContacts.makeReader?(settings) else { throw CancellationError() }
        var records: [SourceRecord] = []
        try reader.read(Array(text.utf8)) { records.append($0) }
        try reader.finish { records.append($0) }
        return records
    }

    @Test(.shows("des/F1", "des/F2", "des/F3", "des/F4", "des/F5", "des/F7", "des/F9"))
    func `writes the vendor's field names and only values that its import accepts`() throws {
        let contact = Contact(
            identifiers: Corpus.aino,
            attributes: [
                .givenName: "👩🏽‍🚀", .familyName: "Virtanen, \"A\"", .city: "two\nlines",
                .birthDate: .string("1990-04-01"),
                .postalCode: .string(String(repeating: "1", count: 61)),
            ],
            subscriptions: [Subscription(channel: .email, state: .unsubscribed)]
        )
        let (text, findings) = try write(contact)
        #expect(
            text == #"""
                E-Mail,externalId,Mobile,First Name,Last Name,Date of Birth,City,ZIP Code,Opt-In
                aino.virtanen@example.com,c-1001,+358401234567,,"Virtanen, ""A""",1990-04-01,two lines,,False

                """#
        )
        #expect(
            findings.map { "\($0.code) \($0.path)" } == [
                "des.record.converted attributes.birth_date", "des.record.lineBreak attributes.city",
                "des.record.unwritable attributes.given_name", "des.record.tooLong attributes.postal_code",
            ]
        )
    }

    @Test(.shows("des/F6", "des/F8", "des/F10", "des/F11"))
    func `requires the key field and omits devices`() throws {
        let contact = Contact(
            identifiers: [Identifier(.external, "c-1")],
            tags: ["a", "b"],
            devices: [Corpus.phone]
        )
        #expect(
            try write(contact).findings.map(\.code) == [
                "des.record.noPlace", "des.record.noPlace", "des.record.keyMissing",
            ]
        )
        #expect(try write(contact, ["key": "external"]).text.hasSuffix("\n,c-1,,,,,,,\n"))
        #expect(throws: SettingsError.self) { try read("E-Mail\n") }
    }

    @Test func `reads a platform export with its delimiter and opt-in values`() throws {
        let export =
            "user_id;First Name;Last Name;E-Mail;Opt-In\n135;Max;M;max@example.com;1\n136;;;eva@example.com;2\n"
        let records = try read(export, ["delimiter": "semicolon"])
        #expect(records.map { $0.contact?.subscriptions.first?.state } == [.subscribed, .unsubscribed])
        #expect(records.map { $0.contact?.identifiers.first?.value } == ["max@example.com", "eva@example.com"])
        #expect(try write(records[0].contact ?? Contact(), ["optInForm": "numbers"]).text.hasSuffix(",1\n"))
    }

    @Test(arguments: ConsentTable.des.rows.indices) func `reads each documented consent value`(_ index: Int) throws {
        let row = ConsentTable.des.rows[index]
        for value in row.values {
            let text = "E-Mail,\(row.fields[0])\na@x.example,\(value.uppercased())\n"
            let contact = try #require(try read(text).first?.contact)
            #expect(contact.subscriptions.map { ConsentTable.Meaning.state($0.state) } == [row.meaning])
        }
    }
}
