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

@Suite("Consent in migrations") struct ConsentSafetyTests {
    private static let formats =
        [RecordFormat.neutralContacts]
        + [VendorFiles.acoustic, .adobe, .altcraft, .des, .salesforce].flatMap(\.formats)

    /// Settings that map as many consent decisions as the format can hold.
    private static let settings: [String: JSONObject] = [
        "altcraft.profiles": ["dbId": 7, "resourceId": 3, "resources": ["news": "4"]],
        "acoustic.contacts": [
            "listId": "771100", "textToJoinProgramId": "5", "withoutOptIn": "warn", "columns": columns,
        ],
        "adobe.profiles": ["columns": columns], "des.contacts": ["key": "external", "columns": columns],
        "salesforce.contacts": ["columns": ["Mail": "subscription:email", "Offers": "optIn:sms", "No": "optOut:sms"]],
    ]
    private static let columns: JSONValue = [
        "EmailNews": "subscription:email/news", "InApp": "subscription:in_app", "Profiling": "denied:profile",
    ]

    private static func settings(_ format: RecordFormat) -> JSONObject { settings[format.id] ?? [:] }

    /// Returns contacts with random consent decisions.
    private static func people(_ count: Int, seed: UInt64) -> [Contact] {
        var chance = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            var contact = Contact(identifiers: [
                Identifier(.external, "c\(number)"), Identifier(.email, "p\(number)@x.example"),
                Identifier(.phone, "358401\(100000 + number)"),
            ])
            contact.locale = "en_GB"
            let channels = [Channel.email, .push, .sms, .inApp]
            for _ in 0..<Int.random(in: 0...3, using: &chance) {
                contact.subscriptions.append(
                    Subscription(
                        channel: channels.randomElement(using: &chance) ?? .email,
                        topic: Bool.random(using: &chance) ? nil : "news",
                        state: Subscription.State.allCases.randomElement(using: &chance) ?? .unknown
                    )
                )
            }
            for _ in 0..<Int.random(in: 0...2, using: &chance) {
                contact.consents.append(
                    Consent(
                        purpose: [.messaging, .tracking, .profile].randomElement(using: &chance) ?? .messaging,
                        channel: Bool.random(using: &chance) ? nil : channels.randomElement(using: &chance),
                        state: Consent.State.allCases.randomElement(using: &chance) ?? .unknown
                    )
                )
            }
            if Bool.random(using: &chance) {
                contact.devices = [Device(pushToken: PushToken(String(repeating: "ab", count: 32)))]
            }
            return contact
        }
    }

    @Test func `no pair of formats turns an opt-out or an unknown decision into an opt-in`() throws {
        var pairs = 0
        for source in Self.formats where source.makeReader != nil {
            for target in Self.formats where target.makeWriter != nil {
                // Formats with a writer can produce the input. The other formats have their own tests.
                guard source.makeWriter != nil else { continue }
                let there = try Migration(from: .neutralContacts, to: source, targetSettings: Self.settings(source))
                let onward = try Migration(
                    from: source,
                    to: target,
                    sourceSettings: Self.settings(source),
                    targetSettings: Self.settings(target)
                )
                let people = Self.people(60, seed: UInt64(pairs + 1))
                var input = ChunkedSource(people.flatMap { $0.jsonBytes + [0x0A] }, chunk: 4096)
                let file = MemorySink()
                _ = try there.run(&input, to: file)
                var rows = ChunkedSource(file.bytes, chunk: 4096)
                let evidence = MemorySink()
                let report = try onward.run(
                    &rows,
                    to: MemorySink(),
                    evidence: Migration.Evidence(to: evidence, salt: "s")
                )
                #expect(report.read > 0)
                #expect(report.findings["migration.consent.raised"] == nil, "\(source.id) to \(target.id)")
                #expect(!evidence.text.contains("\"rule\":\"refused\""))
                pairs += 1
            }
        }
        #expect(pairs == Self.formats.count * Self.formats.count)
    }

    @Test(arguments: 0..<20) func `merging duplicates grants no more than any of the records`(_ seed: UInt64) {
        let people = Self.people(40, seed: 100 + seed)
        for (one, other) in zip(people, people.dropFirst()) {
            let merged = ConsentWords(Contact(consents: Consent.merged([one.consents, other.consents])))
            for source in [one, other] {
                let words = ConsentWords(Contact(consents: source.consents))
                #expect(words.raised(in: merged).isEmpty)
            }
        }
    }

    // MARK: The guard

    /// A writer that turns every subscription into an opt-in and drops consents.
    private struct OptInWriter: ContactWriter {
        mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding] {
            var contact = contact
            for place in contact.subscriptions.indices { contact.subscriptions[place].state = .subscribed }
            contact.consents = []
            bytes += contact.jsonBytes + [0x0A]
            return []
        }
    }

    private static let optInFormat = RecordFormat(
        id: "toy.optimist",
        title: "Optimist",
        fileExtension: "ndjson",
        makeReader: RecordFormat.neutralContacts.makeReader,
        makeWriter: { _ throws(SettingsError) in OptInWriter() }
    )

    private func evidence(
        of contact: Contact,
        to format: RecordFormat,
        _ settings: JSONObject = [:]
    ) throws -> (report: MigrationReport, lines: [JSONValue], output: String) {
        let migration = try Migration(from: .neutralContacts, to: format, targetSettings: settings)
        var input = ChunkedSource(contact.jsonBytes + [0x0A], chunk: 100)
        let (output, evidence) = (MemorySink(), MemorySink())
        let report = try migration.run(
            &input,
            to: output,
            evidence: Migration.Evidence(to: evidence, salt: "pepper")
        )
        let lines = try evidence.text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        return (report, lines, output.text)
    }

    @Test(arguments: [Subscription.State.unsubscribed, .suspended, .unknown])
    func `rejects a record that would raise consent and records it in the evidence`(_ state: Subscription.State) throws
    {
        let contact = Contact(
            identifiers: [Identifier(.external, "c-1")],
            subscriptions: [Subscription(channel: .email, state: state)]
        )
        let (report, lines, output) = try evidence(of: contact, to: Self.optInFormat)
        #expect((report.written, report.rejected) == (0, 1))
        #expect(report.findings.keys.sorted() == ["migration.consent.raised"])
        #expect(output.isEmpty)
        #expect(lines.last?["rule"]?.string == "refused")
        #expect(lines.last?["before"]?.string == state.rawValue)
        #expect(lines.last?["after"]?.string == "subscribed")
    }

    @Test func `an opt-out from a channel applies to its subscriptions`() throws {
        let contact = Contact(
            identifiers: [Identifier(.external, "c-1")],
            subscriptions: [Subscription(channel: .email, state: .subscribed)],
            consents: [Consent(purpose: .messaging, channel: .email, state: .denied)]
        )
        let settings: JSONObject = [
            "dbId": 7, "resourceId": 3, "matching": "custom", "identifierFields": ["external": "id", "email": "email"],
        ]
        var reachable = contact
        reachable.identifiers.append(Identifier(.email, "a@x.example"))
        let (report, lines, output) = try evidence(of: reachable, to: .altcraftProfiles, settings)
        #expect(report.written == 1)
        #expect(output.contains("\"status\":\"unsubscribed\""))
        #expect(lines[1]["rule"]?.string == "lowered")
        #expect(lines[2]["about"]?.string == "consent")
        #expect(lines[2]["after"]?.string == "absent")
        #expect(try evidence(of: reachable, to: Self.optInFormat).report.rejected == 1)
    }

    @Test func `writes the least permissive of repeated subscriptions on both paths`() throws {
        let contact = Contact(
            identifiers: [Identifier(.email, "a@x.example")],
            subscriptions: [.subscribed, .unsubscribed, .subscribed].map { Subscription(channel: .email, state: $0) }
                + [Subscription(channel: .email, topic: "news", state: .subscribed)]
        )
        for workers in [0, 1] {
            var input = ChunkedSource(contact.jsonBytes + [0x0A], chunk: 4096)
            let output = MemorySink()
            let migration = try Migration(
                from: .neutralContacts,
                to: .altcraftProfiles,
                targetSettings: ["dbId": 7, "resourceId": 3, "resources": ["news": "4"]]
            )
            let report = try migration.path(workers).run(&input, to: output, workers: workers)
            #expect(report.findings["migration.consent.contradiction"]?.count == 1)
            let subscriptions = try JSONValue(parsing: output.text)["data"]?["subscriptions"]?.array ?? []
            #expect(subscriptions.map { $0["status"]?.string } == ["unsubscribed", "subscribed"])
        }
    }

    @Test(arguments: [
        ("blackListEmail", "attribute:x"), ("BlackListEmail", "tag:x"), ("blackListEmail", "subscription:sms"),
        ("blackListEmail", "optIn:email/news"), ("blackList", "denied:profile"), ("blackListMobile", "identifier:crm"),
    ]) func `rejects settings that put other data into a vendor's consent column`(_ name: String, _ place: String)
        throws
    {
        func migration(_ columns: JSONObject) throws -> Migration {
            let adobe = try #require(Self.formats.first { $0.id == "adobe.profiles" })
            return try Migration(from: .neutralContacts, to: adobe, targetSettings: ["columns": .object(columns)])
        }
        let error = #expect(throws: (any Error).self) {
            var source = ChunkedSource(Array("{\"identifiers\":[]}\n".utf8), chunk: 64)
            _ = try migration(JSONObject([(name, .string(place))])).run(&source, to: MemorySink())
        }
        let findings = (error as? Migration.Failure)?.findings ?? (error as? SettingsError)?.findings ?? []
        #expect(findings.map(\.code) == ["adobe.file.wishMisused"])
        #expect(findings.first?.path.hasSuffix("columns.\(name)") == true)
        _ = try migration(["blackListEmail": "optedOut:email", "blackListMobile": "ignored"])
    }

    @Test func `omits names from evidence but finds the lines of a known person`() throws {
        let contact = Contact(
            identifiers: [Identifier(.email, "aino@x.example")],
            subscriptions: [Subscription(channel: .email, state: .subscribed, source: "shop")]
        )
        let (_, lines, _) = try evidence(of: contact, to: .neutralContacts)
        #expect(lines[0]["salt"]?.string == "pepper")
        let digest = SHA256.digest(of: Array("pepper:email:aino@x.example".utf8)).hexText
        #expect(lines[1]["contact"]?.string == digest)
        #expect(lines[1]["rule"]?.string == "kept")
        #expect(lines[1]["source"]?.string == "shop")
        #expect(!lines.contains { $0.text.contains("aino") })
    }

    @Test func `orders a missing, an empty and a named topic consistently`() {
        let all = [nil, "", "a"].map {
            ConsentWords.Subject(purpose: .messaging, channel: .email, topic: $0, isSubscription: true)
        }
        #expect(all.reversed().sorted() == all)
        #expect(all.sorted() == all)
    }
}
