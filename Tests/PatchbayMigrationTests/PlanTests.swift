import Patchbay
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

@Suite("Migration plan") struct PlanTests {
    private static func plan(
        _ bytes: [UInt8],
        from source: RecordFormat = .neutralContacts,
        to target: RecordFormat = .altcraftProfiles,
        _ settings: JSONObject? = nil,
        sourceSettings: JSONObject = [:],
        types: [AttributeName: AttributeType] = [:],
        mapping: ContactMapping = ContactMapping(),
        activity: (attribute: AttributeName, today: CalendarDate)? = nil,
        loads: [ImportRoute] = [],
        requestsPerSecond: Int? = nil,
        chunk: Int = 1 << 16,
        workers: Int = 1
    ) throws -> MigrationPlan {
        var input = ChunkedSource(bytes, chunk: chunk)
        let catalogue = AttributeCatalogue(types.mapValues { AttributeCatalogue.Entry(type: $0) })
        let settings = settings ?? (target.id == RecordFormat.altcraftProfiles.id ? ["dbId": 7] : [:])
        return try Migration(
            from: source,
            to: target,
            sourceSettings: sourceSettings,
            targetSettings: settings,
            catalogue: catalogue,
            mapping: mapping
        )
        .path(workers)
        .plan(&input, loads: loads, requestsPerSecond: requestsPerSecond, activity: activity, workers: workers)
    }

    private static func lines(_ contacts: Contact...) -> [UInt8] { contacts.flatMap { $0.jsonBytes + [0x0A] } }

    private static func person(_ email: String, _ change: (inout Contact) -> Void = { _ in }) -> Contact {
        var contact = Contact(identifiers: [Identifier(.email, email)])
        change(&contact)
        return contact
    }

    @Test func `reports a file whose lines end in CR alone`() throws {
        let bytes = Array("Contact Key,Tier\rc-1,gold\rc-2,red\r".utf8)
        let error = #expect(throws: Migration.Failure.self) {
            try Self.plan(bytes, from: VendorFiles.salesforce.formats[0])
        }
        #expect(error?.description.contains("its lines end in CR alone") == true)
        #expect(error?.description.contains("Save the file with LF or CR LF") == true)
    }

    @Test(arguments: ["sep=,", "SEP=;", "\"sep=,\""])
    func `names the line with which Excel states the delimiter`(_ line: String) throws {
        let bytes = Array("\(line)\r\nContact Key,Tier\r\nc-1,gold\r\n".utf8)
        let error = #expect(throws: Migration.Failure.self) {
            try Self.plan(bytes, from: VendorFiles.salesforce.formats[0])
        }
        #expect(error?.description.contains("line 1, \"sep=\"") == true)
        #expect(error?.description.contains("Delete the first line") == true)
    }

    @Test func `reports which cells are guarded against spreadsheet programs`() throws {
        let (rows, contacts) = (Array("Contact Key\nc-1\n".utf8), Self.lines(Self.person("ada@x.example")))
        let salesforce = VendorFiles.salesforce.formats[0]
        #expect(try Self.plan(rows, from: salesforce).formulas?.contains("in the list of rejects by default") == true)
        #expect(try Self.plan(contacts, to: salesforce, [:]).formulas != nil)
        #expect(try Self.plan(rows, from: salesforce, sourceSettings: ["formulas": "none"]).formulas == nil)
        #expect(try Self.plan(contacts).formulas == nil)
    }

    // MARK: Equal counts on both paths

    @Test(arguments: Array(BulkTests.settings.enumerated())) func `gives the same plan on both paths`(
        _ place: Int,
        _ settings: JSONObject
    ) throws {
        var generator = RandomContacts(seed: UInt64(900 + place), mutated: place % 2 == 0 ? 20 : 0)
        let bytes = generator.file(60)
        let types = place < 3 ? [:] : BulkTests.types
        let general = try Self.plan(bytes, settings, types: types, workers: 0).json
        for (chunk, workers) in [(150, 1), (5000, 3)] {
            let bulk = try Self.plan(bytes, settings, types: types, chunk: chunk, workers: workers).json
            #expect(bulk.withoutPath == general.withoutPath, "chunks of \(chunk), \(workers) workers")
        }
    }

    @Test(arguments: ConversionTests.End.all, Rounds.of(1))
    func `gives the same plan for every vendor on both paths`(_ end: ConversionTests.End, _ round: Int) throws {
        // With one round, every second vendor has all settings.
        let place = round + (ConversionTests.End.all.firstIndex { $0.files.id == end.files.id } ?? 0)
        var generator = RandomContacts(seed: UInt64(round + 70), mutated: round * 15)
        let bytes = generator.file(30)
        let types = round == 0 ? [:] : BulkTests.types
        let target = end.files.formats[0]
        let settings = place % 2 == 0 ? end.full : end.needed
        let general = try Self.plan(bytes, to: target, settings, types: types, workers: 0).json
        for (chunk, workers) in [(150, 1), (5000, 3)] {
            let bulk = try Self.plan(bytes, to: target, settings, types: types, chunk: chunk, workers: workers).json
            #expect(bulk.withoutPath == general.withoutPath, "chunks of \(chunk), \(workers) workers")
        }
    }

    @Test(arguments: Rounds.of(5)) func `gives the same plan with a mapping on both paths`(_ round: Int) throws {
        var (rules, generator) = (
            RandomMapping(seed: UInt64(round + 40)), RandomContacts(seed: UInt64(round), mutated: 5)
        )
        let (end, bytes, mapping) = (ConversionTests.End.all[round % 5], generator.file(50), try rules.mapping())
        let types = round % 2 == 0 ? [:] : BulkTests.types
        let target = end.files.formats[0]
        let general = try Self.plan(bytes, to: target, end.full, types: types, mapping: mapping, workers: 0).json
            .withoutPath
        for (chunk, workers) in [(150, 1), (5000, 3)] {
            let bulk = try Self.plan(
                bytes,
                to: target,
                end.full,
                types: types,
                mapping: mapping,
                chunk: chunk,
                workers: workers
            )
            #expect(bulk.json.withoutPath == general, "\(mapping.rules), chunks of \(chunk), \(workers) workers")
        }
    }

    @Test func `gives the same plan for rows on both paths`() throws {
        var generator = RandomRows(seed: 5, mutated: 10)
        let (bytes, settings) = generator.file(80)
        let source = try #require(VendorFiles.salesforce.formats.first { $0.makeReader != nil })
        let general = try Self.plan(bytes, from: source, sourceSettings: settings, workers: 0).json
        let bulk = try Self.plan(bytes, from: source, sourceSettings: settings, chunk: 700, workers: 2).json
        #expect(bulk.withoutPath == general.withoutPath)
    }

    @Test func `reports addresses with contradicting records if the target has other keys`() throws {
        func reader(_ key: String, _ state: Subscription.State) -> Contact {
            Contact(
                identifiers: [Identifier(.external, key), Identifier(.email, "a@x.example")],
                subscriptions: [Subscription(channel: .email, state: state)]
            )
        }
        let code = "migration.consent.addressContradiction"
        let bytes = Self.lines(reader("c-1", .subscribed), reader("c-2", .unsubscribed))
        for workers in [0, 1] {
            let plan = try Self.plan(bytes, to: .adobeProfiles, workers: workers)
            #expect(plan.losses.first { $0.code == code }?.count == 1)
            // A contact that is found by its address is one contact there, and the later row lowers it.
            let byAddress = try Self.plan(bytes, to: .adobeProfiles, ["key": "email"], workers: workers)
            #expect(!byAddress.losses.contains { $0.code == code })
            let alike = Self.lines(reader("c-1", .unsubscribed), reader("c-2", .unsubscribed))
            #expect(try !Self.plan(alike, to: .adobeProfiles, workers: workers).losses.contains { $0.code == code })
        }
    }

    // MARK: Counts

    @Test func `reports attributes as kept, renamed, changed or lost`() throws {
        let bytes = Self.lines(
            Self.person("a@x.example") { $0.attributes = ["city": .string("Oulu"), "shoe_size": .integer(41)] },
            Self.person("b@x.example") {
                $0.attributes = ["city": .string("Ii"), "likes": .list([.string("tea")]), "gender": .string("yes")]
            }
        )
        let attributes = try Self.plan(bytes).attributes
        #expect(attributes.map(\.name) == ["city", "gender", "likes", "shoe_size"])
        #expect(attributes.map(\.fate) == ["renamed", "lost", "changed", "kept"])
        #expect(attributes.map(\.lost) == [0, 1, 0, 0])
        #expect(attributes.map(\.field) == ["_city", "_sex", "likes", "shoe_size"])
        #expect(attributes[0].count == 2)
        #expect(attributes[2].types == [.list: 1])
        let rows = try Self.plan(bytes, to: .toy).attributes
        #expect(rows.map(\.fate) == ["kept", "lost", "lost", "lost"])
    }

    @Test func `counts each mapping rule and lists the fields after the mapping`() throws {
        let bytes = Self.lines(
            Self.person("a@x.example") { $0.attributes = ["tier": "gold", "gender": "F", "note": "x"] },
            Self.person("b@x.example") { $0.attributes = ["gender": "?"] }
        )
        let mapping = try ContactMapping(json: [
            ["rename": "attributes.tier", "to": "attributes.loyalty_tier"],
            ["map": "attributes.gender", "values": ["F": "female"], "otherwise": "reject"],
            ["remove": "attributes.note"], ["set": "attributes.origin", "value": "import"],
        ])
        let plan = try Self.plan(bytes, mapping: mapping)
        #expect(
            plan.mapping.map(\.text) == [
                "rename attributes.tier to attributes.loyalty_tier",
                "map attributes.gender by 1 values, otherwise reject", "remove attributes.note",
                "set attributes.origin",
            ]
        )
        #expect(plan.mapping.map(\.effect.applied) == [1, 1, 1, 2])
        #expect(plan.mapping.map(\.effect.failed) == [0, 1, 0, 0])
        #expect(plan.json["mapping"]?[1]?["failed"] == 1)
        #expect(plan.report.rejected == 1)
        #expect(plan.attributes.map(\.name) == ["gender", "note", "tier"])
        #expect(plan.attributes.map(\.field) == ["_sex", nil, "loyalty_tier"])
        #expect(plan.attributes.map(\.fate) == ["changed", "lost", "renamed"])
        #expect(plan.page(of: nil).contains("data-figure=\"mapping.1.failed\" data-value=\"1\""))
        #expect(try Self.plan(bytes).json["mapping"] == [])
    }

    @Test func `distinguishes repeated keys, keys that differ in case alone, and contradictions`() throws {
        let optIn = Subscription(channel: .email, state: .subscribed)
        let optOut = Subscription(channel: .email, state: .unsubscribed)
        let bytes = Self.lines(
            Self.person("a@x.example") { $0.subscriptions = [optIn] },
            Self.person("a@x.example") { $0.subscriptions = [optOut] },
            Self.person("A@X.example"),
            Self.person("b@x.example") { $0.subscriptions = [optIn] },
            Self.person("B@x.example"),
            Self.person("ä@x.example"),
            Self.person("c@x.example") { $0.subscriptions = [optIn, optOut] }
        )
        for workers in [0, 1] {
            let plan = try Self.plan(bytes, ["dbId": 7, "resourceId": 3], workers: workers)
            let keys = try #require(plan.keys.first { $0.kind == "email" })
            #expect((keys.total, keys.distinct, keys.repeats, keys.caseVariants, keys.torn) == (7, 6, 1, 2, 1))
            #expect(plan.torn == 1)
            #expect(plan.billed == 6)
            #expect(plan.billedKind == "email")
        }
    }

    @Test func `counts topics with an opt-in and an opt-out, within a record and between records`() throws {
        func word(_ topic: String, _ state: Subscription.State) -> Subscription {
            Subscription(channel: .email, topic: topic, state: state)
        }
        let bytes = Self.lines(
            Self.person("a@x.example") { $0.subscriptions = [word("news", .subscribed), word("tips", .unsubscribed)] },
            Self.person("A@x.example") { $0.subscriptions = [word("news", .suspended), word("tips", .subscribed)] },
            Self.person("b@x.example") { $0.subscriptions = [word("news", .unsubscribed)] },
            Self.person("b@x.example") { $0.subscriptions = [word("tips", .subscribed), word("news", .unknown)] },
            Self.person("c@x.example") { $0.subscriptions = [word("news", .unsubscribed), word("news", .subscribed)] }
        )
        for workers in [0, 1, 2] {
            let plan = try Self.plan(bytes, to: .neutralContacts, workers: workers)
            let keys = try #require(plan.keys.first { $0.kind == "email" })
            #expect((plan.torn, plan.tornTopics) == (0, 1))
            #expect((keys.torn, keys.tornTopics) == (0, 2))
            #expect(plan.json["topicContradictions"] == 1)
            #expect(plan.page(of: nil).contains("data-figure=\"topicContradictions\" data-value=\"1\""))
        }
    }

    @Test func `counts the written contacts by the target's own key`() throws {
        func member(_ number: Int, _ email: String?) -> Contact {
            let address = email.map { [Identifier(.email, $0)] } ?? []
            return Contact(identifiers: [Identifier(.external, "c-\(number)")] + address)
        }
        var optedOut = member(5, "c@x.example")
        // No file here has a column or a resource for that opt-out.
        optedOut.subscriptions = [Subscription(channel: .inApp, state: .unsubscribed)]
        let bytes = Self.lines(
            member(1, "a@x.example"),
            member(2, "a@x.example"),
            member(3, "b@x.example"),
            member(4, nil),
            optedOut
        )
        let ends: [(VendorFiles, JSONObject, kind: String, count: Int, written: Int)] = [
            (.des, [:], "email", 2, 3), (.des, ["key": "external"], "external", 4, 4),
            (.adobe, ["key": "email"], "email", 2, 3), (.adobe, [:], "external", 4, 4),
            (.salesforce, [:], "external", 4, 4), (.altcraft, ["dbId": 7], "email", 2, 3),
        ]
        for (files, settings, kind, count, written) in ends {
            for workers in [0, 1] {
                let plan = try Self.plan(bytes, to: files.formats[0], settings, workers: workers)
                #expect(plan.report.written == written, "\(files.id)")
                #expect(plan.billedKind == kind, "\(files.id)")
                #expect(plan.billed == count, "\(files.id)")
            }
        }
        #expect(try Self.plan(Self.lines(member(1, nil)), to: VendorFiles.des.formats[0], [:]).billed == 0)
    }

    @Test func `reports contacts identified by an address instead of the key and counts them by it`() throws {
        func people(_ identifiers: [Identifier]...) -> [UInt8] {
            identifiers.flatMap { Contact(identifiers: $0).jsonBytes + [0x0A] }
        }
        let (one, two) = (Identifier(.email, "a@x.example"), Identifier(.email, "b@x.example"))
        let key = Identifier(.external, "c-1")
        let format = VendorFiles.salesforce.formats[0]
        for workers in [0, 1] {
            let alone = try Self.plan(people([one], [two], [one]), to: format, [:], workers: workers)
            #expect(alone.billedKind == "email" && alone.billed == 2 && alone.report.written == 3)
            #expect(alone.losses.map { "\($0.code) \($0.count)" } == ["salesforce.record.keyOther 3"])
            let mixed = try Self.plan(people([key, one], [two], [key]), to: format, [:], workers: workers)
            #expect(mixed.billedKind == "external" && mixed.billed == 2 && mixed.report.written == 3)
            let strict = try Self.plan(people([key, one], [two]), to: format, ["key": "external"], workers: workers)
            #expect(strict.billed == 1 && strict.report.rejected == 1)
        }
    }

    @Test func `counts contacts without a decision and still shows what the format can hold`() throws {
        let person = Contact(identifiers: [Identifier(.external, "c-1"), Identifier(.email, "a@x.example")])
        let plan = try Self.plan(Self.lines(person, person), to: VendorFiles.acoustic.formats[0], ["listId": "7"])
        #expect(
            plan.losses.map { "\($0.severity.rawValue) \($0.code) \($0.count)" } == [
                "error acoustic.record.withoutOptIn 2"
            ]
        )
        let fates = Dictionary(plan.parts.map { ($0.name, $0.fate) }) { one, _ in one }
        #expect(fates["identifier email"] == "kept" && fates["attribute of type string"] == "lost")
        #expect(fates["email subscription, subscribed"] == "kept" && fates["email subscription, unknown"] == "refused")
        #expect(fates["consent, denied"] == "refused" && fates["locale"] == "lost")
    }

    @Test func `counts a contact found by its address once, and counts none if an address is ambiguous`() throws {
        func reader(_ email: String) -> Contact { Contact(identifiers: [Identifier(.email, email)]) }
        let member = Contact(identifiers: [Identifier(.external, "c-1"), Identifier(.email, "a@x.example")])
        let ends: [(people: [Contact], billed: Int?)] = [
            ([member, reader("b@x.example"), reader("c@x.example")], 3), ([reader("b@x.example")], 1),
            ([member, reader("a@x.example")], nil), ([reader("b@x.example"), reader("B@x.example")], nil),
        ]
        for (people, billed) in ends {
            for workers in [0, 1] {
                let bytes = people.flatMap { Self.lines($0) }
                let plan = try Self.plan(bytes, to: VendorFiles.adobe.formats[0], [:], workers: workers)
                #expect(plan.report.written == people.count)
                #expect(plan.billed == billed)
                let note = plan.losses.first { $0.code == "adobe.record.otherKey" }
                #expect(note?.severity == .note && note?.remedy.isEmpty == false)
            }
        }
    }

    @Test func `reports an attribute without a column as lost and a mapped one as no type loss`()
        throws
    {
        func born(_ text: String) -> Contact {
            Self.person("\(text.count)@x.example") { $0.attributes = ["birth_date": .string(text), "city": "Oulu"] }
        }
        let bytes = Self.lines(born("long ago"), born("in spring"))
        let plan = try Self.plan(bytes, to: VendorFiles.des.formats[0], [:])
        #expect(plan.attributes.map(\.name) == ["birth_date", "city"])
        #expect(plan.attributes.map(\.fate) == ["lost", "renamed"])
        #expect(plan.attributes.map(\.lost) == [2, 0])
        #expect(plan.json["attributes"]?[0]?["lost"] == 2)
        let strings = plan.parts.first { $0.name == "attribute of type string" }
        #expect(strings?.fate == "lost" && strings?.count == 0)
        let mixed = try Self.plan(
            Self.lines(born("1990-04-01"), born("long ago")),
            to: VendorFiles.des.formats[0],
            [:]
        )
        #expect(mixed.attributes[0].fate == "changed" && mixed.attributes[0].lost == 1)
    }

    @Test func `counts tokens by app, even for more apps than the bulk path distinguishes`() throws {
        let hex = String(repeating: "ab", count: 32)
        let long = String(repeating: "long.", count: 20)
        let bytes = (0..<40).flatMap { number in
            Self.lines(
                Self.person("p\(number)@x.example") { person in
                    let app = number < 36 ? "shop.\(number % 18)" : number == 36 ? long : number == 37 ? "" : nil
                    var facts = DeviceFacts(
                        platform: "iOS",
                        platformVersion: "19.3",
                        model: "iPhone17,3",
                        locale: "fi_FI",
                        appVersion: "5.2.0"
                    )
                    if number != 39 { facts.appID = "facts.app" }
                    person.devices = [Device(pushToken: PushToken(hex, appID: app), facts: facts)]
                }
            )
        }
        let plans = try [0, 1].map { try Self.plan(bytes, workers: $0) }
        for plan in plans {
            let counts = Dictionary(uniqueKeysWithValues: plan.tokens.map { ($0.what[2], $0.count) })
            #expect(counts.count == 21 && counts["shop.17"] == 2 && counts[long] == 1)
            #expect(counts["facts.app"] == 2 && counts["unnamed"] == 1)
            #expect(plan.page(of: nil).contains("of 21 apps"))
        }
        #expect(plans[0].json["tokens"] == plans[1].json["tokens"])
    }

    @Test func `probes named parts under the names that occur in the source`() throws {
        let bytes = Self.lines(
            Self.person("a@x.example") { person in
                person.identifiers += [Identifier(.external, "c-1"), Identifier("card", "K-1")]
                person.tags = ["sports", "poetry", "sailing", "vip", "tea"]
                person.subscriptions = [
                    Subscription(channel: .email, topic: "offers", state: .subscribed),
                    Subscription(channel: .email, topic: "news", state: .subscribed),
                ]
            },
            Self.person("b@x.example") { person in
                person.identifiers.append(Identifier(.external, "c-2"))
                person.tags = ["sports"]
                person.subscriptions = [Subscription(channel: .email, topic: "offers", state: .unsubscribed)]
            }
        )
        let columns: JSONObject = [
            "columns": ["LikesSports": "tag:sports", "Offers": "subscription:email/offers", "Card": "identifier:card"]
        ]
        for workers in [0, 1] {
            let plan = try Self.plan(bytes, to: VendorFiles.salesforce.formats[0], columns, workers: workers)
            func part(_ name: String) -> [String] {
                plan.parts.filter { $0.name == name }.map { "\($0.fate) \($0.count ?? -1)" }
            }
            #expect(part("identifier of another kind") == ["kept 1"])
            #expect(part("tags (sports)") == ["kept 2"])
            #expect(part("tags (poetry, sailing, tea and 1 more)") == ["lost 4"])
            #expect(plan.json["tags"] == ["contacts": 2, "total": 6, "lost": 4])
            #expect(part("subscription to a topic (email/offers subscribed, email/offers unsubscribed)") == ["kept 2"])
            #expect(part("subscription to a topic (email/news subscribed)") == ["lost 1"])
            #expect(part("email subscription, subscribed") == ["lost 0"])
        }
    }

    @Test func `does not count an opt-out as kept if the target cannot hold its purpose`() throws {
        func denying(_ purpose: Purpose) -> Contact {
            Self.person("\(purpose.rawValue)@x.example") { person in
                person.identifiers.append(Identifier(.external, "c-\(purpose.rawValue)"))
                person.consents = [Consent(purpose: purpose, state: .denied)]
            }
        }
        let adobe = VendorFiles.adobe.formats[0]
        let analytics: Purpose = "analytics"
        func fates(_ purposes: Purpose...) throws -> [String] {
            try Self.plan(purposes.flatMap { Self.lines(denying($0)) }, to: adobe).parts
                .filter { $0.name.hasPrefix("consent, denied") }
                .map { "\($0.name): \($0.fate) \($0.count ?? -1)" }
        }
        #expect(try fates(analytics) == ["consent, denied: lost 1"])
        #expect(try fates(.messaging) == ["consent, denied: kept 1"])
        #expect(
            try fates(.messaging, analytics) == [
                "consent, denied (analytics): lost 1", "consent, denied (messaging): kept 1",
            ]
        )
    }

    @Test func `reports keys that differ in folded letters or in the form of an accent`() throws {
        let pairs = [
            ("STRASSE@x.example", "stra\u{DF}e@x.example"), ("\u{3A3}@y.example", "\u{3C2}@y.example"),
            ("\u{E9}@z.example", "e\u{301}@z.example"), ("\u{212A}elvin@x.example", "kelvin@x.example"),
        ]
        let bytes = pairs.flatMap { Self.lines(Self.person($0), Self.person($1)) }
        for workers in [0, 1] {
            let keys = try #require(Self.plan(bytes, workers: workers).keys.first { $0.kind == "email" })
            #expect((keys.distinct, keys.caseVariants) == (8, 4))
        }
    }

    @Test func `distinguishes push tokens by service, build, app and form`() throws {
        let hex = String(repeating: "ab", count: 32)
        let tokens = [
            PushToken(hex, environment: .production, appID: "x.shop"), PushToken(hex, environment: .sandbox),
            PushToken("not a token", service: .apns), PushToken(String(repeating: "k", count: 40), service: .fcm),
        ]
        let bytes = tokens.enumerated().flatMap { place, token in
            Self.lines(Self.person("p\(place)@x.example") { $0.devices = [Device(pushToken: token)] })
        }
        for workers in [0, 1] {
            let plan = try Self.plan(bytes, workers: workers)
            #expect(
                plan.tokens.map(\.what) == [
                    ["apns", "production", "x.shop", "good"], ["apns", "sandbox", "unnamed", "good"],
                    ["apns", "unknown", "unnamed", "bad"], ["fcm", "unknown", "unnamed", "good"],
                ]
            )
            #expect(plan.keys.first { $0.kind == "push token" }?.repeats == 1)
        }
    }

    @Test func `determines the age of push tokens from an attribute`() throws {
        let seen: [AttributeValue?] = [
            .string("2031-03-01"), .timestamp(try #require(Timestamp(text: "2030-10-01T00:00:00Z"))),
            .date(try #require(CalendarDate(text: "2029-01-01"))), nil,
        ]
        let bytes = seen.enumerated().flatMap { place, seen in
            Self.lines(
                Self.person("p\(place)@x.example") { contact in
                    contact.attributes["last_seen"] = seen
                    contact.devices = [Device(pushToken: PushToken(String(repeating: "ab", count: 32)))]
                }
            )
        }
        let today = try #require(CalendarDate(text: "2031-03-09"))
        let plan = try Self.plan(bytes, activity: ("last_seen", today))
        #expect(plan.ages.map(\.what) == [["fresh"], ["quarter"], ["stale"], ["unknown"]])
        #expect(plan.ages.allSatisfy { $0.count == 1 } && plan.report.leftBulkPath.isEmpty)
        let general = try Self.plan(bytes, activity: ("last_seen", today), workers: 0)
        #expect(plan.json.withoutPath == general.json.withoutPath)
        #expect(try Self.plan(bytes).ages.isEmpty)
    }

    @Test func `probes the target's format part by part`() throws {
        let bytes = Self.lines(Self.person("a@x.example") { $0.locale = "fi_FI" })
        let parts = try Self.plan(bytes).parts
        func fate(_ name: String) -> String? { parts.first { $0.name == name }?.fate }
        #expect(fate("identifier email") == "kept")
        #expect(fate("attribute of type list") == "changed")
        #expect(fate("tags") == "lost")
        #expect(fate("locale") == "lost")
        #expect(parts.first { $0.name == "locale" }?.count == 1)
        #expect(try Self.plan(bytes, to: .neutralContacts, [:]).parts.allSatisfy { $0.fate == "kept" })
        #expect(
            try Self.plan(bytes, to: .toy, [:]).parts.first { $0.name == "attribute of type string" }?.fate == "lost"
        )
    }

    @Test func `does not list parts as lost that the source can never hold`() throws {
        let bytes = Array("Contact Key,Email Address,Locale,News,Mail\nc-1,a@x.example,fi_FI,,\n".utf8)
        func parts(_ settings: JSONObject = [:], mapping: ContactMapping = ContactMapping()) throws -> Set<String> {
            let plan = try Self.plan(
                bytes,
                from: VendorFiles.salesforce.formats[0],
                sourceSettings: settings,
                mapping: mapping
            )
            return Set(plan.parts.map(\.name))
        }
        let plain = try parts()
        let never = [
            "tags", "consent, granted", "email subscription, subscribed", "attribute of type integer",
            "subscription to a topic", "identifier of another kind",
        ]
        for name in never { #expect(!plain.contains(name), "\(name)") }
        let may = ["identifier phone", "locale", "push subscription, unsubscribed", "facts of a device"]
        for name in may { #expect(plain.contains(name), "\(name)") }
        let configured = try parts([
            "columns": ["Labels": "tags", "News": "subscription:email/news", "Mail": "subscription:email"],
            "types": ["visits": "integer"],
        ])
        for name in never.filter({ $0 != "consent, granted" && $0 != "identifier of another kind" }) {
            #expect(configured.contains(name), "\(name)")
        }
        // A mapping may make any part.
        let rule = try ContactMapping(json: [["set": "tags", "value": "moved"]], catalogue: AttributeCatalogue())
        #expect(try parts(mapping: rule).contains("tags"))
    }

    @Test(arguments: DefaultPairTests.vendors, DefaultPairTests.vendors)
    func `considers source and target together when it reports losses without data`(
        _ source: DefaultPairTests.Vendor,
        _ target: DefaultPairTests.Vendor
    ) throws {
        let migration = try Migration(
            from: source.format,
            to: target.format,
            sourceSettings: source.account,
            targetSettings: target.account
        )
        let all = try Migration(from: .neutralContacts, to: target.format, targetSettings: target.account).staticLoss()
        let pair = try migration.staticLoss()
        #expect(pair.count < all.count)
        #expect(Set(pair.map(\.name)).isSubset(of: all.map(\.name)))
        // The source can hold everything that its export contains.
        var input = ChunkedSource(Array(source.export.utf8), chunk: 700)
        let plan = try migration.plan(&input)
        #expect(Set(plan.parts.map(\.name)) == Set(pair.map(\.name)))
    }

    @Test func `computes requests from count and size, and time from a rate`() throws {
        let bytes = (0..<25).flatMap { Self.lines(Self.person("p\($0)@x.example")) }
        let routes = [
            ImportRoute("ten", contacts: 10, note: ""), ImportRoute("small", bytes: 100, note: ""),
            ImportRoute("paced", contacts: 1, rate: Rate(5, per: .seconds(1)), note: ""), ImportRoute("any", note: ""),
        ]
        let plan = try Self.plan(bytes, loads: routes)
        #expect(plan.loads.map(\.requests) == [3, (plan.report.bytesWritten + 99) / 100, 25, 1])
        #expect(plan.loads.map(\.seconds) == [nil, nil, 5, nil])
        #expect(try Self.plan(bytes, loads: routes, requestsPerSecond: 10).loads.map(\.seconds)[2] == 3)
        // A file has its own size limit only if no number of contacts is stated.
        #expect(routes.map(plan.report.files) == [1, (plan.report.bytesWritten + 99) / 100, 1, 1])
    }

    // MARK: Memory

    @Test func `counts the same when marks are spilled to disk`() throws {
        let (small, large) = (KeyCounter(), KeyCounter(bufferSize: 64))
        for round in 0..<3 {
            let marks = (0..<1500).map { number in
                KeyMark(number % 3 == 0 ? "KEY-\(number)" : "key-\(number % 700)", opinion: UInt64(round % 2 + 1))
            }
            for part in stride(from: 0, to: marks.count, by: 100) {
                try small.add(Array(marks[part..<(part + 100)]))
                try large.add(Array(marks[part..<(part + 100)]))
            }
        }
        let counts = try small.finish()
        #expect(try large.finish() == counts)
        #expect(counts.total == 4500)
        #expect(counts.distinct == 1200)
        #expect(counts.distinctFolded == 966)
        #expect(counts.torn == 966)
    }

    // MARK: The page

    @Test func `renders a page that loads nothing and escapes names`() throws {
        let plan = try Self.plan(Self.lines(Self.person("a@x.example") { $0.attributes["<script>"] = .string("x") }))
        let page = plan.page(of: "<b>.ndjson")
        #expect(!page.contains("<script"))
        #expect(!page.contains("://"))
        #expect(page.contains("&lt;b&gt;.ndjson"))
        #expect(page.contains("data-figure=\"report.read\" data-value=\"1\">1<"))
        #expect(!page.contains("a@x.example"))
    }

    @Test(arguments: [
        (0, 0, "0 %"), (1, 3000, "under 0.1 %"), (2999, 3000, "over 99.9 %"), (1, 8, "12.5 %"), (3, 3, "100 %"),
    ])
    func `rounds no nonzero share to 0 and no partial share to 100 percent`(_ value: Int, _ whole: Int, _ text: String)
    {
        #expect(Page.share(value, of: whole) == text)
    }

    @Test func `reports correct place counts or none, on both paths`() throws {
        var bytes: [UInt8] = []
        for place in 0..<40 {
            bytes += Self.lines(
                Self.person("p\(place)@x.example") { contact in
                    contact.locale = "fi-FI"
                    contact.timeZone = place % 2 == 0 ? "Europe/Helsinki" : nil
                    contact.tags = ["vip"]
                    // An attribute that the bulk path does not write.
                    if place % 5 == 0 { contact.attributes["list"] = .list([.list([.string("a")])]) }
                }
            )
        }
        func places(_ workers: Int) throws -> [[String: JSONValue]] {
            try Self.plan(bytes, workers: workers).json["losses"]?.array?.map { loss in
                let places = loss["places"]?.array ?? []
                let counts = places.compactMap { $0["count"]?.integer }
                #expect(counts.isEmpty || counts.count == places.count)
                #expect(counts.isEmpty || counts.reduce(0, +) >= loss["count"]?.integer ?? 0)
                return Dictionary(
                    places.map { ("\(loss["reason"]?.string ?? "") \($0["path"]?.string ?? "")", $0["count"] ?? .null) }
                ) { first, _ in first }
            } ?? []
        }
        let general = try places(0).reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        let bulk = try places(1).reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        #expect(!bulk.isEmpty && general.values.allSatisfy { $0 != .null })
        for (place, count) in bulk where count != .null { #expect(general[place] == count, "\(place)") }
    }
}
