import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer
@testable import PatchbayAltcraftFiles

@Suite("Altcraft import file") struct RecordTests {
    private static let settings: JSONObject = [
        "dbId": 12, "matching": "custom", "identifierFields": ["external": "customer_number"], "resourceId": 31,
        "resources": ["weekly_offers": "32"], "tagsField": "labels",
    ]

    private static let harness: RecordHarness = {
        var known = RecordTests.settings
        known["types"] = [
            "country": "country", "first_purchase": "date", "delivery_hour": "time", "last_visit": "timestamp",
            "interests": "choices", "lifetime_value": "decimal",
        ]
        return RecordHarness(.altcraftProfiles, settings: known, of: .altcraft, goldens: Goldens())
    }()

    @Test(arguments: RecordCheck.all)
    func conforms(_ check: RecordCheck) throws { try check.run(on: Self.harness) }

    private func makeWriter(_ settings: JSONObject) throws -> any ContactWriter {
        guard let make = RecordFormat.altcraftProfiles.makeWriter else { throw CancellationError() }
        return try make(settings)
    }

    private func write(_ contact: Contact, _ changes: JSONObject = [:]) throws -> (text: String, findings: [Finding]) {
        var settings = Self.settings
        for change in changes { settings[change.name] = change.value.isNull ? nil : change.value }
        var writer = try makeWriter(settings)
        var bytes = writer.header()
        let findings = writer.write(contact, to: &bytes)
        bytes += writer.footer()
        return (String(decoding: bytes, as: UTF8.self), findings)
    }

    @Test(.shows("altcraft/X1", "altcraft/X2", "altcraft/F19"))
    func `writes each line with the configured matching`() throws {
        let contact = Contact(
            identifiers: Corpus.aino + [Identifier(.phone, "+358 9 555"), Identifier(.email, "second@example.com")]
        )
        let custom = try write(contact)
        let json = try JSONValue(parsing: custom.text)
        #expect(json["field_name"] == "customer_number")
        #expect(json["field_value"] == "c-1001")
        #expect(json["data"]?["phones"] == ["+358401234567", "+3589555"])
        #expect(custom.findings.map(\.path) == ["identifiers[3]", "identifiers[4]"])
        let email = try JSONValue(parsing: write(contact, ["matching": "email_profile"]).text)
        #expect(email.object?.names == ["db_id", "matching", "email", "data"])
        #expect(email["matching"] == "email_profile")
        let phone = try JSONValue(parsing: write(contact, ["matching": "phone"]).text)
        #expect(phone["phone"] == "+358401234567")
        let refused = try write(Contact(identifiers: [Identifier(.email, "no address")]), ["matching": "email"])
        #expect(refused.text.isEmpty)
        #expect(refused.findings.map(\.code) == ["altcraft.record.matching"])
    }

    @Test(.shows("altcraft/X3", "altcraft/X4", "altcraft/X5", "altcraft/X6", "altcraft/E3"))
    func `subscribes no person without an opt-in`() throws {
        let contact = Contact(
            identifiers: Corpus.aino,
            subscriptions: [
                Subscription(channel: .email, state: .unknown), Subscription(channel: .email, state: .subscribed),
                Subscription(channel: .sms, state: .unsubscribed, fields: ["hour": 8, "days": .list([1])]),
                Subscription(channel: .sms, topic: "unheard_of", state: .subscribed),
                Subscription(channel: .inApp, state: .subscribed),
            ],
            consents: [Consent(purpose: .messaging, channel: .email, state: .denied)]
        )
        let (text, findings) = try write(contact)
        #expect(
            try JSONValue(parsing: text)["data"]?["subscriptions"] == [
                [
                    "channel": "email", "resource_id": 31, "email": "aino.virtanen@example.com",
                    "status": "unsubscribed",
                ],
                [
                    "channel": "sms", "resource_id": 31, "phone": "+358401234567", "status": "unsubscribed",
                    "custom_fields": ["hour": 8],
                ],
                [
                    "channel": "email", "resource_id": 32, "email": "aino.virtanen@example.com",
                    "status": "unsubscribed",
                ],
                [
                    "channel": "sms", "resource_id": 32, "phone": "+358401234567", "status": "unsubscribed",
                ],
            ]
        )
        #expect(
            findings.map { "\($0.code) \($0.path)" } == [
                "altcraft.record.consent consents[0]", "altcraft.record.denied subscriptions[0].state",
                "altcraft.record.second subscriptions[1]", "altcraft.record.nested subscriptions[2].fields.days",
                "altcraft.record.resource subscriptions[3]", "altcraft.record.address.missing subscriptions[4]",
            ]
        )
        var unasked = contact
        (unasked.subscriptions, unasked.consents) = ([Subscription(channel: .email, state: .unknown)], [])
        #expect(try write(unasked).findings.map(\.code) == ["altcraft.record.stateUnknown"])
    }

    @Test(.shows("altcraft/X5"))
    func `rejects a contact whose opt-out has no resource, unless the settings allow it`() throws {
        let states: [Subscription.State] = [.unsubscribed, .suspended]
        for state in states {
            let contact = Contact(
                identifiers: Corpus.aino,
                subscriptions: [
                    Subscription(channel: .email, state: .subscribed),
                    Subscription(channel: .email, topic: "unheard_of", state: state),
                ]
            )
            let rejected = try write(contact)
            #expect(rejected.text.isEmpty)
            #expect(
                rejected.findings.map { "\($0.severity) \($0.code) \($0.path)" } == [
                    "error altcraft.record.optOutLost subscriptions[1]"
                ]
            )
            let warned = try write(contact, ["lostOptOuts": "warn"])
            #expect(try JSONValue(parsing: warned.text)["data"]?["subscriptions"]?.array?.count == 1)
            #expect(warned.findings.map(\.code) == ["altcraft.record.resource"])
        }
        let denied = Contact(
            identifiers: Corpus.aino,
            subscriptions: [Subscription(channel: .email, topic: "unheard_of", state: .subscribed)],
            consents: [Consent(purpose: .messaging, channel: .email, state: .denied)]
        )
        let text = try JSONValue(parsing: write(denied).text)["data"]?["subscriptions"]?.array
        #expect(text?.map { $0["status"] } == ["unsubscribed", "unsubscribed"])
    }

    @Test func `an opt-out of a channel unsubscribes topics that the contact does not mention`() throws {
        let contact = Contact(
            identifiers: [Identifier(.external, "c-1"), Identifier(.email, "a@b.example")],
            subscriptions: [Subscription(channel: .email, state: .unsubscribed)]
        )
        let entries = try JSONValue(parsing: write(contact).text)["data"]?["subscriptions"]?.array
        #expect(entries?.map { $0["resource_id"] } == [31, 32])
        #expect(entries?.allSatisfy { $0["status"] == "unsubscribed" } == true)
    }

    @Test(
        arguments: [
            ("subscribed", 0, .subscribed), ("unsubscribed", 1, .unsubscribed), ("complained", 2, .unsubscribed),
            ("hardbounced", 3, .unknown), ("unconfirmed", 4, .unknown), ("suspended", 5, .suspended),
            ("invalid", 6, .unknown),
        ] as [(String, Int, Subscription.State)]
    )
    func `reads each status as word and as number`(
        _ word: String,
        _ number: Int,
        _ state: Subscription.State
    ) throws {
        for status in ["\"\(word)\"", "\"\(word.uppercased())\"", "\(number)", "\"\(number)\""] {
            let record = try record("[{\"channel\":\"email\",\"resource_id\":31,\"status\":\(status)}]")
            #expect(record.contact?.subscriptions.map(\.state) == [state])
        }
    }

    @Test(
        .shows("altcraft/X9"),
        arguments: [
            ("+49 30 123456", "subscribed", .subscribed, 0), ("004930123456", "subscribed", .subscribed, 0),
            ("+4930999999", "subscribed", nil, 0), ("+4930999999", "unsubscribed", .unsubscribed, 1),
        ] as [(String, String, Subscription.State?, Int)]
    )
    func `applies an opt-in only to the address of its entry`(
        _ phone: String,
        _ status: String,
        _ state: Subscription.State?,
        _ optOuts: Int
    ) throws {
        let record = try record(
            "[{\"channel\":\"sms\",\"resource_id\":31,\"phone\":\"\(phone)\",\"status\":\"\(status)\"}]",
            more: ",\"phones\":[\"+4930123456\",\"+4930999999\"]"
        )
        #expect(record.contact?.subscriptions.first?.state == state)
        #expect(record.addressOptOuts.count == optOuts)
        #expect(record.addressOptOuts.allSatisfy { $0.identifiers == [Identifier(.phone, phone)] })
        #expect(record.findings.contains { $0.code == "altcraft.profile.otherAddress" } == (state == nil))
    }

    @Test(
        .shows("altcraft/X7"),
        arguments: [
            ("1990-02-22T21:00:00Z", "1990-02-23"), ("1990-02-23T05:00:00Z", "1990-02-23"),
            ("1990-02-23T00:00:00Z", "1990-02-23"), ("1990-02-23T12:00:00Z", "1990-02-23"),
        ]
    )
    func `reads a birthday with a time as the nearest day`(_ instant: String, _ day: String) throws {
        let record = try record("null", more: ",\"_bdate\":\"\(instant)\"")
        #expect(record.contact?.attributes[.birthDate] == CalendarDate(text: day).map(AttributeValue.date))
    }

    @Test(arguments: ["NULL", "n/a", "1.23457E+12", "####"])
    func `omits a placeholder or damaged identifier`(_ key: String) throws {
        let record = try record("null", more: ",\"email\":\"a@b.example\"", key: key)
        #expect(record.contact?.identifiers == [Identifier(.email, "a@b.example")])
        #expect(record.findings.map(\.code) == ["altcraft.profile.identifier"])
    }

    @Test(.shows("altcraft/X5"))
    func `writes a denied channel with an address as an opt-out`() throws {
        var contact = Contact(
            identifiers: Corpus.aino,
            consents: [Consent(purpose: .messaging, channel: .email, state: .denied)],
            devices: [Device(pushToken: PushToken("7c1f"))]
        )
        let optOut: JSONValue = [
            "channel": "email", "resource_id": 31, "email": "aino.virtanen@example.com", "status": "unsubscribed",
        ]
        let topic: JSONValue = [
            "channel": "email", "resource_id": 32, "email": "aino.virtanen@example.com", "status": "unsubscribed",
        ]
        let (text, findings) = try write(contact)
        // An earlier line may have subscribed the contact to the topic.
        #expect(try JSONValue(parsing: text)["data"]?["subscriptions"] == [optOut, topic])
        #expect(findings.map(\.code) == ["altcraft.record.consent", "altcraft.record.token"])
        // An opt-out from a topic is not an opt-out from its channel.
        contact.subscriptions = [Subscription(channel: .email, topic: "weekly_offers", state: .unsubscribed)]
        let both = try JSONValue(parsing: write(contact).text)["data"]?["subscriptions"]?.array
        #expect(both?.map { $0["resource_id"] } == [32, 31] && both?.last == optOut)
        let lost = try write(contact, ["resourceId": nil])
        #expect(lost.text.isEmpty)
        #expect(
            lost.findings.filter { $0.severity == .error }.map { "\($0.code) \($0.path)" } == [
                "altcraft.record.optOutLost consents[0]"
            ]
        )
        #expect(try !write(contact, ["resourceId": nil, "lostOptOuts": "warn"]).text.isEmpty)
        // Without an address, there is no person to protect from messages.
        contact.consents = [Consent(purpose: .messaging, channel: .inApp, state: .denied)]
        #expect(try !write(contact, ["resourceId": nil]).text.isEmpty)
        (contact.subscriptions, contact.consents) = ([], [Consent(purpose: .messaging, state: .denied)])
        let all = try JSONValue(parsing: write(contact).text)["data"]?["subscriptions"]?.array
        #expect(all?.map { $0["channel"] } == ["email", "email", "push", "push", "sms", "sms"])
        #expect(all?.map { $0["resource_id"] } == [31, 32, 31, 32, 31, 32])
        #expect(all?.allSatisfy { $0["status"] == "unsubscribed" } == true)
    }

    @Test(.shows("altcraft/F19", "altcraft/F20"))
    func `reports a value that is written in another form`() throws {
        let contact = Contact(
            identifiers: [
                Identifier(.external, "c-1"), Identifier(.email, "a@b.example"), Identifier(.phone, "+49 (30) 123456"),
            ],
            attributes: [
                .givenName: 42, .familyName: true, .city: "Oulu", .gender: "female", .postalCode: "33100", "visits": 7,
            ]
        )
        let (text, findings) = try write(contact)
        let data = try JSONValue(parsing: text)["data"]
        #expect(data?["phones"] == ["+4930123456"] && data?["_fname"] == "42" && data?["_lname"] == "true")
        #expect(
            findings.map { "\($0.severity) \($0.code) \($0.path)" } == [
                "note altcraft.record.converted identifiers[2]",
                "note altcraft.record.converted attributes.family_name",
                "note altcraft.record.converted attributes.given_name",
            ]
        )
        var plain = contact
        plain.identifiers[2].value = "+4930123456"
        plain.attributes = [.givenName: "42"]
        #expect(try write(plain).findings.isEmpty)
    }

    @Test(.shows("altcraft/T7", "altcraft/X3"))
    func `writes a push subscription only with a provider and an opt-in`() throws {
        let unsupported = Device(pushToken: PushToken("t", service: .fcm))
        let contact = Contact(identifiers: Corpus.aino, devices: [Corpus.phone, unsupported])
        let withoutOptIn = try write(contact)
        #expect(try JSONValue(parsing: withoutOptIn.text)["data"]?["subscriptions"] == nil)
        #expect(
            withoutOptIn.findings.map(\.code) == [
                "altcraft.record.noPlace", "altcraft.record.noPlace", "altcraft.record.token",
                "altcraft.record.token.provider",
            ]
        )
        var asked = contact
        asked.subscriptions = [Subscription(channel: .push, state: .suspended)]
        let json = try JSONValue(parsing: write(asked).text)
        #expect(
            json["data"]?["subscriptions"] == [
                [
                    "channel": "push", "resource_id": 31, "provider": "ios-apns",
                    "subscription_id": .string(Fixture.token), "status": "suspended",
                ]
            ]
        )
    }

    @Test(.shows("altcraft/F14", "altcraft/F20", "altcraft/F12"))
    func `reports parts without a field`() throws {
        let contact = Contact(
            identifiers: [Identifier(.external, "c-1"), Identifier("card", "6004")],
            attributes: [.gender: "female", "interests": .choices(["a"]), .birthDate: "long ago"],
            tags: ["a", "b"],
            locale: "fi_FI",
            timeZone: "Europe/Helsinki"
        )
        let (text, findings) = try write(contact, ["tagsField": nil])
        let data = try JSONValue(parsing: text)["data"]
        #expect(
            data == ["customer_number": "c-1", "_sex": 2, "interests": ["a"], "_tz": "Europe/Helsinki"]
        )
        #expect(
            findings.map { "\($0.code) \($0.path)" } == [
                "altcraft.record.identifier identifiers[1]", "altcraft.attribute.form attributes.birth_date",
                "altcraft.record.converted attributes.interests", "altcraft.record.noPlace locale",
                "altcraft.record.tags tags",
            ]
        )
    }

    @Test(.shows("altcraft/X8"))
    func `writes and reads NUL as JSON permits and reports it`() throws {
        let nul = "a\u{0}b"
        var contact = Contact(
            identifiers: [Identifier(.external, "c-1"), Identifier(.email, "aino@mail.example")],
            attributes: [
                "note": .string(nul), "parts": .list([.string("x"), .object(["y": .string(nul)])]), "plain": "ab",
            ],
            tags: [Tag(rawValue: nul)]
        )
        contact.subscriptions = [Subscription(channel: .email, state: .subscribed, fields: ["from": .string(nul)])]
        let (text, findings) = try write(contact, ["tagsField": "labels"])
        #expect(
            findings.filter { $0.code == "altcraft.record.control" }.map(\.path) == [
                "attributes.note", "attributes.parts", "tags", "subscriptions[0].fields.from",
            ]
        )
        #expect(findings.allSatisfy { $0.severity != .error } && text.contains(#""note":"a\u0000b""#))
        let record = try #require(try read(text, ["tagsField": "labels"]).first)
        #expect(record.contact?.attributes["note"] == .string(nul))
        let warned = record.findings.filter { $0.code == "altcraft.profile.control" }.map(\.path)
        #expect(
            warned.sorted() == ["data.labels", "data.note", "data.parts", "data.subscriptions"]
        )
        let plain = Contact(identifiers: [Identifier(.email, "a@x.example")])
        #expect(try read(write(plain, ["matching": "email"]).text).first?.findings == [])
    }

    @Test func `writes only lines that the simulated import accepts`() throws {
        let simulator = try AltcraftSimulator(settings: ["apiToken": "api-1", "databases": ["12"]])
        var state = simulator.initialState
        for (name, contact) in Corpus.contacts {
            let (text, findings) = try write(contact)
            guard !findings.contains(where: { $0.severity == .error }) else { continue }
            let request = WireRequest(
                "POST",
                "https://mp.altcraft.example/api/v1.1/profiles/import",
                headers: [
                    WireHeader("Content-Type", "application/json"), WireHeader("Authorization", "Bearer api-1"),
                ],
                body: Array(text.utf8)
            )
            let response = simulator.respond(to: request, state: &state, now: Corpus.start)
            #expect(response.status == 200, "\(name): \(response.json?["error_text"]?.string ?? "")")
            #expect(simulator.respond(to: request, state: &state, now: Corpus.start).status == 200)
        }
        #expect(state.profiles(in: 12).count == 9)
    }

    @Test func `an attribute does not overwrite reserved profile members`() throws {
        let contact = Contact(
            identifiers: Corpus.aino,
            attributes: ["email": "other@example.com", "subscriptions": "all", "labels": "x"],
            tags: ["a"]
        )
        let (text, findings) = try write(contact)
        let data = try JSONValue(parsing: text)["data"]
        #expect(data?["email"] == "aino.virtanen@example.com")
        #expect(data?["subscriptions"] == nil)
        #expect(data?["labels"] == "x")
        #expect(findings.map(\.code) == Array(repeating: "altcraft.record.second", count: 3))
        #expect(findings.map(\.path) == ["attributes", "attributes", "tags"])
    }

    @Test func `rejects settings without a valid database or matching`() throws {
        let error = #expect(throws: SettingsError.self) { _ = try makeWriter(["matching": "shoe size"]) }
        #expect(error?.findings.map(\.path) == ["matching"])
        #expect(throws: SettingsError.self) { _ = try makeWriter(["dbId": 0]) }
        let missing = #expect(throws: SettingsError.self) { _ = try makeWriter([:]) }
        #expect(missing?.findings.map(\.path) == ["dbId"])
        #expect(missing?.findings.first?.remedy.contains("dbId") == true)
    }

    @Test(
        .shows("altcraft/X3"),
        arguments: [
            (["resources": ["a": "4", "b": "4"]], ["resources.b"]),
            (["resources": ["a": "4", "b": " 04 ", "c": "4"]], ["resources.b", "resources.c"]),
            (["resourceId": 4, "resources": ["a": "4", "b": "5"]], ["resources.a"]),
            (["resources": ["a": "four", "b": "0", "c": "4"]], ["resources.a", "resources.b"]),
        ] as [(JSONObject, [String])]
    )
    func `rejects settings in which two topics share a resource`(_ settings: JSONObject, _ paths: [String]) throws {
        let format = RecordFormat.altcraftProfiles
        var written = settings
        written["dbId"] = 12
        let errors = [
            #expect(throws: SettingsError.self) { _ = try format.makeReader?(settings) },
            #expect(throws: SettingsError.self) { _ = try format.makeWriter?(written) },
            #expect(throws: SettingsError.self) { _ = try format.makeTargetLayout?(written) },
        ]
        for error in errors {
            #expect(error?.findings.map(\.path) == paths)
            #expect(error?.findings.allSatisfy { $0.code == "setting.invalid" && !$0.remedy.isEmpty } == true)
        }
        let apart: JSONObject = ["resourceId": 0, "resources": ["a": "4", "b": "5"]]
        #expect(throws: Never.self) { _ = try format.makeReader?(apart) }
    }

    private func read(_ text: String, _ changes: JSONObject = [:]) throws -> [SourceRecord] {
        var settings = Self.settings
        for change in changes { settings[change.name] = change.value }
        guard var reader = try RecordFormat.altcraftProfiles.makeReader?(settings) else { throw CancellationError() }
        var records: [SourceRecord] = []
        try reader.read(Array(text.utf8)) { records.append($0) }
        try reader.finish { records.append($0) }
        return records
    }

    @Test(.shows("altcraft/X7", "altcraft/X8"))
    func `reads an exported profile data object`() throws {
        let line = """
            {"id":"p-1","customer_number":"c-1","email":"a@b.example","phones":["+358401234567"],"_sex":2,"_bdate":"1990-04-01",\
            "labels":["vip"],"_tz":"Europe/Helsinki","points":7,"subscriptions":[\
            {"channel":"push","resource_id":31,"provider":"android-firebase","subscription_id":"t-1","status":"suspended"},\
            {"channel":"email","resource_id":32,"email":"a@b.example"},{"channel":"sms","resource_id":99,"status":"subscribed"}]}
            """
        let record = try #require(try read(line).first)
        let contact = try #require(record.contact)
        #expect(
            contact.identifiers == [
                Identifier(.external, "c-1"), Identifier(.email, "a@b.example"), Identifier(.phone, "+358401234567"),
            ]
        )
        #expect(contact.attributes[.gender] == "female" && contact.attributes["points"] == 7)
        #expect(contact.attributes[.birthDate]?.type == .date)
        #expect(contact.tags == ["vip"] && contact.timeZone == "Europe/Helsinki")
        #expect(contact.subscriptions.map(\.topic) == [nil, "weekly_offers", "99"])
        #expect(contact.subscriptions.map(\.state) == [.suspended, .unknown, .subscribed])
        #expect(contact.devices == [Device(pushToken: PushToken("t-1", service: .fcm), allowsPush: false)])
        #expect(
            record.findings.map { "\($0.code) \($0.path)" } == [
                "altcraft.profile.statusMissing data.subscriptions[1].status",
                "altcraft.profile.resource data.subscriptions[2].resource_id",
            ]
        )
    }

    @Test func `reads without a database and takes the key from the configured field`() throws {
        guard var reader = try RecordFormat.altcraftProfiles.makeReader?(["identifierFields": ["external": "crm_id"]])
        else { throw CancellationError() }
        var contacts: [Contact?] = []
        try reader.read(Array("{\"crm_id\":\"c-1\",\"email\":\"a@b.example\"}\n".utf8)) { contacts.append($0.contact) }
        try reader.finish { contacts.append($0.contact) }
        #expect(contacts.map { $0?.identifiers.first } == [Identifier(.external, "c-1")])
        let (text, findings) = try write(
            Contact(identifiers: [Identifier(.external, "c-1"), Identifier(.email, "a@b.example")]),
            ["matching": "email", "identifierFields": ["email": "email"]]
        )
        #expect(!text.contains("c-1"))
        #expect(findings.map(\.code) == ["altcraft.record.identifier"])
        #expect(findings.first?.remedy.contains("identifierFields") == true)
    }

    private func record(_ subscriptions: String, more: String = "", key: String = "c-1") throws -> SourceRecord {
        try #require(try read("{\"customer_number\":\"\(key)\",\"subscriptions\":\(subscriptions)\(more)}").first)
    }

    private func entry(_ channel: String, _ status: String, _ rest: String = "\"resource_id\":31") -> String {
        "{\"channel\":\"\(channel)\",\"status\":\"\(status)\",\(rest)}"
    }

    @Test(
        .shows("altcraft/X9"),
        arguments: [
            (["subscribed", "unsubscribed"], Subscription.State.unsubscribed),
            (["unsubscribed", "subscribed"], .unsubscribed),
            (["subscribed", "suspended"], .suspended), (["suspended", "unsubscribed", "subscribed"], .unsubscribed),
            (["subscribed", "unknown"], .unknown), (["subscribed", "subscribed"], .subscribed),
            (["Subscribed", "UNSUBSCRIBED"], .unsubscribed), (["SUSPENDED", "subscribed"], .suspended),
        ]
    )
    func `applies the least permissive of several entries for one channel`(
        _ words: [String],
        _ state: Subscription.State
    ) throws {
        let record = try record("[\(words.map { entry("email", $0) }.joined(separator: ","))]")
        #expect(record.contact?.subscriptions.map(\.state) == [state])
        let isReported = record.findings.contains { $0.code == "altcraft.profile.contradiction" }
        #expect(isReported == (Set(words).count > 1))
    }

    @Test(.shows("altcraft/X9"))
    func `reads a device's push permission from its token's own entry`() throws {
        func push(_ token: String, _ status: String, resource: Int = 31) -> String {
            entry(
                "push",
                status,
                "\"resource_id\":\(resource),\"provider\":\"android-firebase\",\"subscription_id\":\"\(token)\""
            )
        }
        let mixed = try record("[\(push("t-1", "subscribed")),\(push("t-2", "unsubscribed"))]")
        #expect(mixed.contact?.devices.map(\.allowsPush) == [true, false])
        #expect(mixed.contact?.subscriptions.map(\.state) == [.unsubscribed])
        #expect(
            mixed.findings.map { "\($0.code) \($0.path)" } == [
                "altcraft.profile.contradiction data.subscriptions[1].status"
            ]
        )
        let topics = try record(
            "[\(push("t-1", "subscribed")),\(push("t-1", "unsubscribed", resource: 32)),\(push("t-2", "unsubscribed", resource: 32))]"
        )
        #expect(topics.contact?.devices.map(\.allowsPush) == [true, false])
        #expect(topics.contact?.subscriptions.map(\.state) == [.subscribed, .unsubscribed])
        #expect(topics.findings.isEmpty)
    }

    @Test(
        .shows("altcraft/X9"),
        arguments: [
            ("{\"channel\":\"email\",\"status\":\"unsubscribed\"}", "subscriptions"),
            ("\"unsubscribed\"", "subscriptions"),
            ("false", "subscriptions"), ("[{}]", "subscription"), ("[\"no\"]", "subscription"),
        ]
    )
    func `rejects a profile whose subscriptions are unreadable`(_ subscriptions: String, _ code: String) throws {
        let record = try record(subscriptions)
        #expect(record.contact == nil)
        #expect(record.findings.map(\.code) == ["altcraft.profile.\(code)"])
        #expect(record.findings.map(\.severity) == [.error])
        #expect(try self.record("null").contact?.subscriptions == [])
    }

    @Test(
        .shows("altcraft/X4"),
        arguments: ["\"opted_out\"", "\"Unsubscribe\"", "\"\"", "7", "true", "[\"unsubscribed\"]"]
    )
    func `rejects a profile with an unknown status, which may be an opt-out`(_ status: String) throws {
        let record = try record("[{\"channel\":\"email\",\"resource_id\":31,\"status\":\(status)}]")
        #expect(record.contact == nil)
        #expect(
            record.findings.map { "\($0.severity) \($0.code) \($0.path)" } == [
                "error altcraft.profile.status data.subscriptions[0].status"
            ]
        )
    }

    @Test(
        .shows("altcraft/X3"),
        arguments: [
            ("9", "9"), ("\"9\"", "9"), ("\" 9 \"", "9"), ("9.0", "9"), ("\"9.00\"", "9"), ("90e-1", "9"),
            ("32", "weekly_offers"), ("\"32\"", "weekly_offers"), ("31", "–"), ("\"31\"", "–"), ("31.0", "–"),
        ]
    )
    func `reads a resource number as text or with a decimal point`(_ number: String, _ topic: String) throws {
        for status in ["subscribed", "unsubscribed"] {
            let record = try record("[\(entry("email", status, "\"resource_id\":\(number)"))]")
            #expect(record.contact?.subscriptions.map { $0.topic ?? "–" } == [topic])
            #expect(record.contact?.subscriptions.map(\.state.rawValue) == [status])
        }
    }

    @Test(
        .shows("altcraft/X3"),
        arguments: ["", "null", "0", "-9", "9.5", "1e999999999", "\"\"", "\"nine\"", "\"09\"", "true", "[9]"]
    )
    func `rejects an entry without a resource instead of applying it to the channel`(_ number: String) throws {
        for status in ["subscribed", "unsubscribed"] {
            let rest = number.isEmpty ? "\"email\":\"a@b.example\"" : "\"resource_id\":\(number)"
            for settings: JSONObject in [[:], ["resourceId": 0]] {
                let line = "{\"customer_number\":\"c-1\",\"subscriptions\":[\(entry("email", status, rest))]}"
                let record = try #require(try read(line, settings).first)
                #expect(record.contact == nil)
                #expect(
                    record.findings.map { "\($0.severity) \($0.code) \($0.path)" } == [
                        "error altcraft.profile.resourceNumber data.subscriptions[0].resource_id"
                    ]
                )
            }
        }
    }

    @Test(.shows("altcraft/X3"))
    func `does not confuse an unmapped resource with a topic named like its number`() throws {
        let entry = entry("email", "subscribed", "\"resource_id\":9")
        let line = "{\"customer_number\":\"c-1\",\"subscriptions\":[\(entry)]}"
        let record = try #require(try read(line, ["resources": ["9": "4"]]).first)
        #expect(record.contact == nil)
        #expect(record.findings.map(\.code) == ["altcraft.profile.resourceTaken"])
    }

    private func deleted(_ status: String, _ rest: String = "\"resource_id\":31") -> String {
        entry("push", status, "\"is_delete\":true,\"provider\":\"ios-apns\",\"subscription_id\":\"0aa1\",\(rest)")
    }

    private func live(_ status: String) -> String { entry("push", status) }

    @Test(.shows("altcraft/X9"))
    func `reads a deleted entry as neither opt-in nor device`() throws {
        let rows: [([String], Subscription.State?, [String])] = [
            ([deleted("subscribed")], nil, ["deleted"]), ([deleted("unsubscribed")], .unsubscribed, []),
            ([deleted("suspended")], .suspended, []),
            ([deleted("Unsubscribed"), live("subscribed")], .subscribed, ["deleted"]),
            ([live("unsubscribed"), deleted("subscribed")], .unsubscribed, ["deleted"]),
            ([deleted("suspended"), deleted("unsubscribed")], .unsubscribed, ["contradiction"]),
            ([deleted("subscribed", "\"resource_id\":null")], nil, ["deleted"]),
        ]
        for (entries, state, codes) in rows {
            let record = try record("[\(entries.joined(separator: ","))]")
            let contact = try #require(record.contact)
            #expect(contact.subscriptions.map(\.state) == [state].compactMap { $0 })
            #expect(contact.devices.isEmpty)
            #expect(record.findings.map(\.code) == codes.map { "altcraft.profile.\($0)" })
        }
        let unread = try record("[\(deleted("gone"))]")
        #expect(unread.contact == nil && unread.findings.map(\.code) == ["altcraft.profile.status"])
        let odd = try record("[\(entry("email", "subscribed", "\"resource_id\":31,\"is_delete\":1"))]")
        #expect(odd.contact?.subscriptions == [])
        let kept = try record("[\(entry("email", "subscribed", "\"resource_id\":31,\"is_delete\":false"))]")
        #expect(kept.contact?.subscriptions.map(\.state) == [.subscribed] && kept.findings.isEmpty)
    }

    @Test(
        .shows("altcraft/X7"),
        arguments: [
            ("\"points\":1e999999999", "points"), ("\"points\":{\"action\":\"set\",\"value\":1e999999999}", "points"),
            ("\"scores\":[1,[2,1e999999999]]", "scores"), ("\"home\":{\"x\":{\"y\":1e999999999}}", "home"),
            (
                "\"subscriptions\":[{\"channel\":\"email\",\"resource_id\":31,\"status\":\"subscribed\","
                    + "\"custom_fields\":{\"hour\":1e999999999}}]",
                "subscriptions[0].custom_fields.hour"
            ),
        ]
    )
    func `rejects a number that an attribute cannot hold and names its path`(_ member: String, _ path: String) throws {
        let record = try #require(try read("{\"customer_number\":\"c-1\",\(member)}").first)
        #expect(record.contact == nil)
        #expect(
            record.findings.map { "\($0.severity) \($0.code) \($0.path)" } == [
                "error altcraft.profile.number data.\(path)"
            ]
        )
    }

    @Test(.shows("altcraft/X7"))
    func `treats null as no value`() throws {
        let line = """
            {"customer_number":"c-1","points":null,"level":{"action":"set","value":null},"scores":[1,null],"home":{"x":null,"y":2}}
            """
        let record = try #require(try read(line).first)
        #expect(record.contact?.attributes == ["scores": .list([1]), "home": .object(["y": 2])])
        #expect(record.findings.isEmpty)
    }

    @Test(arguments: [
        ("{\"db_id\":1", "altcraft.profile.json"), ("[]", "altcraft.profile.json"),
        ("{\"db_id\":1,\"data\":3}", "altcraft.profile.data"), ("{\"city\":\"x\"}", "altcraft.profile.key"),
    ]) func `reports an invalid line as one record with its line number`(line: String, code: String) throws {
        let good = "{\"customer_number\":\"c-1\"}"
        let records = try read("\(good)\n\n\(line)\n\(good)")
        #expect(records.map { $0.contact == nil } == [false, true, false])
        #expect(records[1].findings.map(\.code) == [code] && records[1].line == 3)
        #expect(String(decoding: records[1].bytes, as: UTF8.self) == line)
    }

    @Test func `reads each documented consent value in subscriptions and as global status`() throws {
        for row in ConsentTable.altcraft.rows {
            for value in row.values {
                let isGlobal = row.fields == [ShownSubscription.globalStatus]
                let text = isGlobal ? "[]" : "[\(entry("email", value))]"
                let contact = try #require(try record(text, more: isGlobal ? ",\"_status\":\"\(value)\"" : "").contact)
                switch row.meaning {
                case .denied: #expect(contact.consents.map(\.state) == [.denied], "\(value)")
                case .silent: #expect(contact.consents.isEmpty && contact.subscriptions.isEmpty, "\(value)")
                case .state(let state): #expect(contact.subscriptions.map(\.state) == [state], "\(value)")
                }
            }
        }
    }

    @Test(arguments: [
        (["unsubscribed d", "subscribed"], "subscribed"), (["subscribed", "unsubscribed d"], "unsubscribed"),
        (["subscribed d", "unsubscribed"], "unsubscribed"), (["unsubscribed d", "unsubscribed"], "unsubscribed"),
    ])
    func `applies a deleted entry's opt-out unless a later entry states the opposite`(
        _ all: [String],
        _ state: String
    )
        throws
    {
        let entries = all.map { text in
            let parts = text.split(separator: " ").map(String.init)
            return entry(
                "email",
                parts[0],
                parts.count > 1 ? "\"resource_id\":31,\"is_delete\":true" : "\"resource_id\":31"
            )
        }
        let contact = try #require(try record("[\(entries.joined(separator: ","))]").contact)
        #expect(contact.subscriptions.map(\.state.rawValue) == [state])
    }
}
