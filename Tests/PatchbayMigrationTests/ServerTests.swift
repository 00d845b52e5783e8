import Foundation
import Patchbay
import PatchbayAcousticServer
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayAdobeServer
import PatchbayAdobeSimulator
import PatchbayAltcraftServer
import PatchbayAltcraftSimulator
import PatchbayDES
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import PatchbaySalesforceServer
import PatchbaySalesforceSimulator
import PatchbaySimulation
import Testing

@testable import PatchbayMigration

/// A vendor's simulator in this process, without a socket. Given outcomes can replace its replies.
private actor PlayedVendor: Transport {
    private let vendor: SimulatedVendor
    private var instead: [Outcome]
    private(set) var paths: [String] = []

    init(_ make: @Sendable () throws -> SimulatedVendor, instead: [Outcome] = []) rethrows {
        (vendor, self.instead) = (try make(), instead)
    }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        paths.append(URLText.path(of: request.url))
        if !instead.isEmpty { return instead.removeFirst() }
        return .replied(vendor.respond(to: request, now: SystemHost().date()))
    }

    func add(_ outcomes: [Outcome]) { instead += outcomes }

    var state: JSONValue { get throws { try vendor.stateJSON } }
}

/// A server API of a shop that supports e-mail, text messages and two tags, and lacks one channel.
private enum Shop: String, CaseIterable, CustomTestStringConvertible {
    case altcraft, salesforce, acoustic, adobe

    var testDescription: String { rawValue }

    /// A channel that the API does not support.
    var unsupportedChannel: Channel { self == .adobe ? .inApp : .push }

    private static let names: JSONObject = [
        "tagColumns": ["red": "IsRed", "blue": "IsBlue"], "identifierColumns": ["email": "Email", "phone": "Phone"],
    ]

    func target(_ changes: JSONObject = [:], settings: JSONObject = [:]) throws -> ServerTarget {
        func read<Settings: AdapterSettings>(_ type: Settings.Type, _ object: JSONObject) throws -> Settings {
            var all = object
            for change in changes { all[change.name] = change.value }
            return try Settings.table.read(all, over: Settings(), at: "settings")
        }
        let adapter: any VendorAdapter
        switch self {
        case .altcraft:
            adapter = try AltcraftServer(
                settings: read(
                    AltcraftServerSettings.self,
                    [
                        "apiUrl": "https://altcraft.example", "apiToken": "token", "dbId": 12,
                        "matchingField": "crm_id", "tagsField": "labels", "resources": ["email": "33", "sms": "35"],
                    ]
                )
            )
        case .salesforce:
            var own = Self.names
            let more: JSONObject = [
                "authUrl": "https://mc.auth.example", "restUrl": "https://mc.rest.example", "clientId": "shop",
                "clientSecret": "secret", "dataExtension": "People",
                "subscriptionColumns": ["email": "Mail", "sms": "Sms"],
            ]
            for member in more { own[member.name] = member.value }
            adapter = try SalesforceServer(settings: read(SalesforceServerSettings.self, own))
        case .acoustic:
            var own = Self.names
            let more: JSONObject = [
                "baseUrl": "https://api.example", "clientId": "shop", "clientSecret": "secret",
                "refreshToken": "refresh", "databaseId": "771100", "keyColumn": "CustomerNo",
                "subscriptionColumns": ["email": "Mail", "sms": "Sms"],
            ]
            for member in more { own[member.name] = member.value }
            adapter = try AcousticServer(settings: read(AcousticServerSettings.self, own))
        case .adobe:
            adapter = try AdobeServer(
                settings: read(
                    AdobeServerSettings.self,
                    [
                        "apiUrl": "https://mc.example", "tokenUrl": "https://ims.example", "organization": "shop",
                        "clientId": "shop", "clientSecret": "secret", "scope": "openid",
                        "resource": "profileAndServicesExt", "matching": "filter", "filter": "byCusNumber",
                        "filterParameter": "cusNumber_parameter", "keyField": "cusNumber",
                        "tagFields": ["red": "cusIsRed", "blue": "cusIsBlue"],
                        "fieldNames": ["points": "cusPoints", "nick": "cusNick", "city": "cusCity"],
                        "services": ["email.news": "weeklyNews", "email.tips": "tips", "sms.alerts": "alerts"],
                    ]
                )
            )
        }
        return try ServerTarget(.init(name: "shop", adapter: adapter, settingsDigest: "1"), settings: settings)
    }

    func vendor(instead: [Outcome] = []) throws -> PlayedVendor {
        switch self {
        case .altcraft:
            try PlayedVendor(
                { SimulatedVendor(try AltcraftServerSimulator(settings: ["dbId": 12, "poison": "poison"])) },
                instead: instead
            )
        case .salesforce:
            try PlayedVendor(
                { SimulatedVendor(try SalesforceServerSimulator(settings: ["poison": "poison"])) },
                instead: instead
            )
        case .acoustic:
            try PlayedVendor(
                { SimulatedVendor(try AcousticServerSimulator(settings: ["poison": "poison"])) },
                instead: instead
            )
        case .adobe:
            try PlayedVendor(
                {
                    SimulatedVendor(
                        try AdobeServerSimulator(
                            settings: [
                                "poison": "poison", "keyField": "cusNumber", "filter": "byCusNumber",
                                "filterParameter": "cusNumber_parameter", "mostRows": 2,
                            ]
                        )
                    )
                },
                instead: instead
            )
        }
    }
}

/// A folder with a source and the files of its migration.
private final class MigrationDriver: Sendable {
    let folder: String
    let target: ServerTarget
    let migration: Migration

    init(_ target: ServerTarget, _ contacts: [Contact]) throws {
        (self.target, migration) = (target, try Migration(from: .neutralContacts, to: target.format))
        folder = NSTemporaryDirectory() + "servers-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try write(contacts)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func write(_ contacts: [Contact]) throws {
        try Data(contacts.flatMap { $0.jsonBytes + [0x0A] }).write(to: URL(filePath: path("in")))
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }
    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
    func lines(_ name: String) throws -> [JSONValue] {
        try text(name).split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } }

    /// The environment of a run. Its clock passes an hour per second.
    static var host: FastHost {
        FastHost(date: Instant(milliseconds: 1_930_000_000_000), uptime: SystemHost().uptime(), speed: 3_600)
    }

    private func surroundings(
        _ vendor: PlayedVendor,
        progress: @escaping (ServerProgress) -> Void = { _ in },
        _ isCancelled: @escaping () -> Bool
    ) -> ServerSurroundings {
        ServerSurroundings(
            transport: vendor,
            host: Self.host,
            interval: .zero,
            progress: progress,
            isCancelled: isCancelled
        )
    }

    func apply(
        _ vendor: PlayedVendor,
        journal: Bool = false,
        settings: JSONValue = [:],
        after earlier: String? = nil,
        isCancelled: @escaping () -> Bool = { false },
        progress: ((ServerProgress) -> Void)? = nil
    ) async throws -> ServerOutcome {
        var migration = migration
        migration.earlier = earlier.map(path)
        var files = ServerMigration.Files(input: path("in"), output: path("out"))
        files.rejects = (path("rejected"), path("rejected.rows"))
        files.journal = journal ? path("journal") : nil
        return try await ServerMigration(migration, to: target, files, settings: [("settings", settings)])
            .run(surroundings(vendor, progress: progress ?? { _ in }, isCancelled), restarts: false)
    }

    func verify(_ vendor: PlayedVendor, extent: Verification.Extent = .full, results: Bool = true) async throws
        -> (Verification, Set<String>)
    {
        var differences: Set<String> = []
        let verification = try await ServerVerification(
            migration,
            with: target,
            input: path("in"),
            results: results ? path("out") : nil
        )
        .run(surroundings(vendor) { false }, extent: extent, showsKeys: true) {
            differences.insert("\($0.kind.rawValue) \($0.field) \($0.contact)")
        }
        return (verification, differences)
    }

    /// Returns the vendor's data of the source's contacts.
    func held(_ vendor: PlayedVendor) async throws -> [String: Contact] {
        let keys = try lines("in").compactMap { try Contact(json: $0, at: "").identifiers.first(.external) }
        let credentials = target.provider.credentials
        let client = try await EngagementClient(
            outbox: .memory,
            subject: "test",
            plan: RoutingPlan(providers: [.init(name: "shop", adapter: target.provider.adapter, mode: .live)]),
            transport: vendor,
            credentials: CredentialSource(immediate: { credentials[$0.contact] }),
            host: Self.host
        )
        let asker = ServerAsker(client: client, provider: "shop", server: target.server)
        var found = Dictionary(uniqueKeysWithValues: try await asker.contacts(of: keys).map { ($0.key.text, $0.value) })
        if target.isPaged {
            try await asker.eachPage(surroundings(vendor) { false }) { for one in $0 { found[one.key] = one.contact } }
        }
        await client.close()
        return found
    }

    func undo(_ vendor: PlayedVendor) async throws -> ServerOutcome {
        try await ServerUndo(path("journal"), through: target, output: path("undone"))
            .run(surroundings(vendor) { false }, restarts: false)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

private func person(
    _ key: String,
    _ attributes: [AttributeName: AttributeValue] = ["points": 7],
    _ subscriptions: [Subscription] = [],
    consents: [Consent] = []
) -> Contact {
    Contact(
        identifiers: [
            Identifier(.external, key), Identifier(.email, "\(key)@mail.example"), Identifier(.phone, "+358401234567"),
        ],
        attributes: attributes,
        subscriptions: subscriptions,
        consents: consents
    )
}

private func failure(_ body: () async throws -> some Any) async -> [String] {
    do {
        _ = try await body()
        return []
    } catch let error as Migration.Failure {
        return error.findings.map { "\($0.code): \($0.reason)" }
    } catch let error as SettingsError {
        return error.findings.map { "\($0.code): \($0.reason)" }
    } catch {
        return ["\(error)"]
    }
}

@Suite("Migration through server APIs") struct ServerTests {
    @Test(arguments: Shop.allCases)
    private func `reports an outcome for each row in order and lists refused rows as rejects`(shop: Shop)
        async throws
    {
        let people = (0..<30).map { number -> Contact in
            let nick = number == 17 ? "poison" : "N\(number)"
            var contact = person("c-\(number)", ["nick": .string(nick), "points": 7])
            contact.tags = ["red"]
            contact.subscriptions = [Subscription(channel: .email, state: .unsubscribed)]
            if number == 5 { contact.identifiers.removeFirst() }
            return contact
        }
        let driver = try MigrationDriver(shop.target(), people)
        defer { driver.remove() }
        let vendor = try shop.vendor()
        let outcome = try await driver.apply(vendor)
        #expect(outcome.isCommitted)
        #expect(outcome.report.read == 30)
        #expect(outcome.report.written == 28)
        #expect(outcome.accounts?.balances == true)
        let verdicts = try driver.lines("out")
        #expect(verdicts.compactMap { $0["number"]?.integer } == (1...30).map(Int64.init))
        #expect(
            verdicts.filter { $0["verdict"]?.string == "rejected" }.compactMap { $0["number"]?.integer } == [6, 18]
        )
        let rejects = try driver.lines("rejected")
        let refused = [people[5], people[17]].map(\.json.text)
        #expect(rejects.map { $0["original"]?.string } == refused)
        #expect(rejects[0]["code"]?.string == "migration.api.key")
        #expect(rejects[1]["vendor"]?["status"] != nil)
        #expect(try driver.text("rejected.rows") == refused.map { $0 + "\n" }.joined())
        #expect(try driver.names == ["in", "out", "rejected", "rejected.rows"])
        let (verification, differences) = try await driver.verify(vendor)
        #expect(differences == [])
        #expect(verification.compared == 28)
    }

    @Test(arguments: Shop.allCases)
    private func `applies the opt-outs of the earlier file`(shop: Shop) async throws {
        let (optIn, optOut) = (
            Subscription(channel: .email, state: .subscribed), [Subscription(channel: .email, state: .unsubscribed)]
        )
        let driver = try MigrationDriver(shop.target(), [person("c-1", ["nick": "A"], optOut)])
        defer { driver.remove() }
        try FileManager.default.moveItem(atPath: driver.path("in"), toPath: driver.path("before"))
        try driver.write([person("c-1", ["nick": "A"], [optIn]), person("c-2", ["nick": "B"])])
        var parts: Set<ServerProgress.Part> = []
        let outcome = try await driver.apply(shop.vendor(), after: "before", progress: { parts.insert($0.part) })
        #expect(outcome.report.findings["migration.consent.earlierNo"]?.count == 1)
        #expect(parts.contains(.hearing(of: try driver.text("before").utf8.count)))
    }

    @Test(arguments: Shop.allCases)
    private func `verify reports differences at the vendor, for all records or a sample`(shop: Shop) async throws {
        let driver = try MigrationDriver(shop.target(), [person("c-1", ["nick": "A"]), person("c-2", ["nick": "B"])])
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        try driver.write([person("c-1", ["nick": "Z", "city": "Oulu"]), person("c-2", ["nick": "B"]), person("c-3")])
        let (verification, differences) = try await driver.verify(vendor, results: false)
        #expect(differences == ["changed attributes.nick c-1", "absent attributes.city c-1", "missing  c-3"])
        #expect((verification.compared, verification.equal) == (3, 1))
        let (sample, _) = try await driver.verify(vendor, extent: .sample(1, seed: 4), results: false)
        #expect(sample.compared == 1)
    }

    @Test(arguments: Shop.allCases)
    private func `undo restores the previous values and keeps later changes`(shop: Shop) async throws {
        let driver = try MigrationDriver(
            shop.target(),
            [person("c-1", ["nick": "A", "city": "Oulu"]), person("c-2", ["nick": "B"])]
        )
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        try driver.write([
            person("c-1", ["nick": "Z", "points": 9]), person("c-2", ["nick": "Y"]), person("c-3", ["nick": "X"]),
        ])
        // The outcomes of the first run do not prevent those of the second.
        try FileManager.default.removeItem(atPath: driver.path("out"))
        #expect(try await driver.apply(vendor, journal: true).report.written == 3)
        let other = try MigrationDriver(shop.target(), [person("c-2", ["nick": "changed since"])])
        defer { other.remove() }
        _ = try await other.apply(vendor)
        let undone = try await driver.undo(vendor)
        #expect(undone.report.findings["migration.undo.changed"]?.count == 1)
        #expect((undone.report.written, undone.report.rejected) == (2, 1))
        try driver.write([
            person("c-1", ["nick": "A", "city": "Oulu"]), person("c-2", ["nick": "changed since"]),
            person("c-3", ["nick": "X"]),
        ])
        let (_, differences) = try await driver.verify(vendor, results: false)
        // If the server API cannot delete a row, the undo empties it.
        #expect(
            differences
                == (shop == .salesforce
                    ? ["absent attributes.nick c-3", "absent identifiers.email c-3", "absent identifiers.phone c-3"]
                    : ["missing  c-3"])
        )
        try driver.write([person("c-1", ["points": 9])])
        #expect(try await driver.verify(vendor, results: false).1 == ["absent attributes.points c-1"])
        #expect(try driver.names.contains("journal"))
    }

    @Test(arguments: [Shop.altcraft, .acoustic, .adobe])
    private func `undo keeps contacts that have changed since`(shop: Shop) async throws {
        let driver = try MigrationDriver(
            shop.target(),
            ["no", "city", "tag", "none"].map { person($0, ["nick": "A"]) }
        )
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor, journal: true)
        let optOut = Subscription(channel: .sms, state: .unsubscribed)
        var tagged = person("tag", [:])
        tagged.tags = ["red"]
        let other = try MigrationDriver(
            shop.target(),
            [person("no", [:], [optOut]), person("city", ["city": "Oulu"]), tagged]
        )
        defer { other.remove() }
        _ = try await other.apply(vendor)
        let undone = try await driver.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 3))
        #expect(undone.report.findings["migration.undo.changed"]?.count == 3)
        let held = try await driver.held(vendor)
        #expect(held.keys.sorted() == ["city", "no", "tag"])
        #expect(held["no"]?.saysNo(to: optOut.key) == true)
    }

    @Test(arguments: ["reject", "warn"])
    private func `verify ignores a subscription for which the contact has no address`(
        lostOptOuts: JSONValue
    ) async throws {
        let target = try Shop.altcraft.target(settings: ["lostOptOuts": lostOptOuts])
        let wishes = [Subscription.State.subscribed, .unsubscribed].map { Subscription(channel: .sms, state: $0) }
        let out = Subscription(channel: .email, state: .unsubscribed)
        var people = wishes.enumerated().map { place, wish -> Contact in
            var contact = person("c-\(place)", ["points": 7], [wish, out])
            contact.identifiers.removeAll { $0.kind == .phone }
            return contact
        }
        // The contact that denies all messages has no telephone number either.
        people.append(people[1])
        people[2].identifiers = [Identifier(.external, "c-2"), Identifier(.email, "c-2@shop.example")]
        (people[2].subscriptions, people[2].consents) = ([], [Consent(purpose: .messaging, state: .denied)])
        let driver = try MigrationDriver(target, people)
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        let report = try await driver.apply(vendor).report
        #expect((report.written, report.rejected, report.writtenWithFindings) == (3, 0, 3))
        #expect(try await driver.verify(vendor).1 == [])
        let absent = (0...2).map { "absent subscriptions.sms c-\($0)" }
        #expect(try await driver.verify(vendor, results: false).1.sorted() == absent)
        try driver.write([person("c-0", ["points": 8], [wishes[0]]), people[1]])
        #expect(try await driver.verify(vendor).1.contains("changed attributes.points c-0"))
    }

    @Test(arguments: Shop.allCases)
    private func `verifies markup as the vendor stores it and undoes it`(shop: Shop) async throws {
        let driver = try MigrationDriver(shop.target(), [person("c-1", ["nick": "A"])])
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        try driver.write([person("c-1", ["nick": "<b>A</b> & co"])])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        _ = try await driver.apply(vendor, journal: true)
        #expect(try await driver.verify(vendor).1 == [])
        let undone = try await driver.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 0))
        #expect(try await driver.held(vendor)["c-1"]?.attributes["nick"] == "A")
    }

    @Test func `undo ignores values that Altcraft adds to a profile by itself`() async throws {
        let driver = try MigrationDriver(Shop.altcraft.target(), [person("noted", ["nick": "A"])])
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        _ = try await driver.apply(vendor, journal: true)
        let noted = person("noted", ["_status": 0, "_regdate": "2031-03-09T06:00:00Z"])
        let platform = try MigrationDriver(Shop.altcraft.target(), [noted])
        defer { platform.remove() }
        _ = try await platform.apply(vendor)
        #expect(try await driver.held(vendor)["noted"]?.attributes["_status"] != nil)
        let undone = try await driver.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 0))
        #expect(try await driver.held(vendor).isEmpty)
    }

    @Test func `undo restores each of several phone numbers`() async throws {
        let numbers = ["+358401111111", "+358402222222"]
        var contact = person("c-1", ["nick": "A", "phones": .choices(numbers)])
        contact.identifiers.removeAll { $0.kind == .phone }
        let driver = try MigrationDriver(Shop.altcraft.target(), [contact])
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        _ = try await driver.apply(vendor)
        try driver.write([person("c-1", ["nick": "B"])])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        _ = try await driver.apply(vendor, journal: true)
        #expect(try await driver.held(vendor)["c-1"]?.identifiers.count { $0.kind == .phone } == 1)
        #expect(try await driver.undo(vendor).report.rejected == 0)
        let held = try await driver.held(vendor)["c-1"]
        #expect(held?.identifiers.filter { $0.kind == .phone }.map(\.value) == numbers)
    }

    @Test(arguments: Shop.allCases)
    private func `verify expects no value that a later row left empty`(shop: Shop) async throws {
        let people = [person("c-1", ["nick": "A", "city": "Oulu"]), person("c-1", ["nick": ""])]
        let driver = try MigrationDriver(shop.target(), people)
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        #expect(try await driver.verify(vendor).1 == [])
        let other = try MigrationDriver(shop.target(), [person("c-1", ["nick": "B"])])
        defer { other.remove() }
        _ = try await other.apply(vendor)
        #expect(try await driver.verify(vendor).1 == ["changed attributes.nick c-1"])
    }

    @Test(arguments: Shop.allCases)
    private func `undo restores a value that an empty value removed`(shop: Shop) async throws {
        let driver = try MigrationDriver(shop.target(), [person("c-1", ["nick": "A", "city": "Oulu"])])
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        try driver.write([person("c-1", ["nick": "", "city": "Oulu"])])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        #expect(try await driver.apply(vendor, journal: true).report.written == 1)
        #expect(try await driver.verify(vendor).1 == [])
        let undone = try await driver.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 0))
        #expect(try await driver.held(vendor)["c-1"]?.attributes["nick"] == "A")
    }

    @Test(arguments: Shop.allCases, [true, false])
    private func `keeps an opt-out at the target against an opt-in of the source, and verify expects it`(
        shop: Shop,
        journal: Bool
    ) async throws {
        let optOut = Subscription(channel: .email, state: .unsubscribed)
        let driver = try MigrationDriver(shop.target(), [person("c-1", ["points": 1], [optOut])])
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        let optIn = Subscription(channel: .email, state: .subscribed)
        // The row's other values are still written and verified.
        try driver.write([
            person("c-1", ["points": 2], [Subscription(channel: .sms, state: .unsubscribed)]),
            person("c-1", ["points": 3], [optIn, Subscription(channel: .sms, state: .suspended)]),
            person("c-2", ["points": 2], [optIn]),
        ])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        let outcome = try await driver.apply(vendor, journal: journal)
        #expect(outcome.report.findings["migration.api.targetOptOut"]?.count == 1)
        #expect(try await driver.verify(vendor).1 == [])
        let held = try await driver.held(vendor)
        #expect(held["c-1"]?.saysNo(to: optOut.key) == true)
        let state = try await vendor.state.text
        #expect(shop != .altcraft || state.contains("suspended"))
        #expect(held["c-2"]?.subscriptions.mostProtectiveState(of: optIn.key) == .subscribed)
    }

    /// Replies of targets with an unknown e-mail status.
    private static let unreadable: [(shop: Shop, answer: JSONValue)] = [
        (
            .altcraft,
            [
                "profiles": [
                    ["crm_id": "c-1", "subscriptions": [["channel": "email", "resource_id": 33, "status": "paused"]]]
                ]
            ]
        ),
        (.altcraft, ["profiles": [["crm_id": "c-1", "_status": 17]]]),
        (.salesforce, ["items": [["keys": ["contactkey": "c-1"], "values": ["Mail": "perhaps"]]], "isLast": true]),
        (.acoustic, ["columns": ["Mail": "perhaps"]]),
        (.adobe, ["profiles": [["cusNumber": "c-1", "blackListEmail": "perhaps"]]]),
        (.adobe, ["profiles": [["cusNumber": "c-1", "blackListEmail": false, "blackList": "perhaps"]]]),
    ]

    @Test(arguments: unreadable.indices)
    private func `an unknown status prevents an opt-in and has a finding of its own`(_ index: Int) throws {
        let (shop, answer) = Self.unreadable[index]
        let target = try shop.target()
        let wanted = target.isPaged ? ContactQuestion.page(nil) : .keys(["c-1"])
        let shown = try #require(target.server.contacts(in: answer, to: wanted).contacts.first?.contact)
        let email = Subscription(channel: .email, state: .subscribed).key
        #expect(shown.reason(against: email)?.code == "migration.api.targetUnreadable")
        var optOuts = TargetOptOuts()
        optOuts.note("c-1", shown)
        #expect(optOuts.reason(against: email, of: "C-1", Contact())?.code == "migration.api.targetUnreadable")
        // If there is an opt-out, too, it is the reason.
        var other = shown
        other.subscriptions.append(Subscription(channel: .email, state: .unsubscribed))
        optOuts.note("c-1", other)
        #expect(optOuts.reason(against: email, of: "c-1", Contact())?.code == "migration.api.targetOptOut")
    }

    @Test func `a contact with an unknown status stays opted out, and verify expects it`() async throws {
        let optIn = Subscription(channel: .email, state: .subscribed)
        let driver = try MigrationDriver(Shop.altcraft.target(), [person("c-1", ["points": 2], [optIn])])
        defer { driver.remove() }
        let profile: JSONValue = [
            "crm_id": "c-1", "email": "c-1@mail.example",
            "subscriptions": [
                ["channel": "email", "resource_id": 33, "email": "c-1@mail.example", "status": "paused"]
            ],
        ]
        let shown = Outcome.replied(WireResponse(200, json: ["error": 0, "error_text": "", "data": [profile]]))
        let vendor = try Shop.altcraft.vendor(instead: [shown])
        let outcome = try await driver.apply(vendor)
        #expect(outcome.report.findings["migration.api.targetUnreadable"]?.count == 1)
        #expect(outcome.report.findings["migration.api.targetOptOut"] == nil)
        #expect(try await driver.verify(vendor).1 == [])
        #expect(try await !vendor.state.text.contains("\"subscribed\""))
    }

    @Test(arguments: [true, false])
    private func `applies an opt-out in a completely read target to the address`(journal: Bool) async throws {
        func reached(_ key: String, _ address: String, _ state: Subscription.State) -> Contact {
            var contact = person(key, ["points": 1], [Subscription(channel: .email, state: state)])
            contact.identifiers.removeAll { $0.kind == .email }
            contact.identifiers.append(Identifier(.email, address))
            return contact
        }
        let driver = try MigrationDriver(Shop.salesforce.target(), [reached("c-1", "ana@x.example", .unsubscribed)])
        defer { driver.remove() }
        let vendor = try Shop.salesforce.vendor()
        _ = try await driver.apply(vendor)
        try driver.write([
            reached("c-2", "ANA@x.example", .subscribed), reached("c-3", "eva@x.example", .subscribed),
        ])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        let outcome = try await driver.apply(vendor, journal: journal)
        #expect(outcome.report.findings["migration.api.targetOptOut"]?.count == 1)
        #expect(try await driver.verify(vendor).1 == [])
        let held = try await driver.held(vendor)
        let email = Subscription(channel: .email, state: .unknown).key
        #expect(held["c-2"]?.subscriptions.mostProtectiveState(of: email) != .subscribed)
        #expect(held["c-3"]?.subscriptions.mostProtectiveState(of: email) == .subscribed)
    }

    @Test(arguments: Shop.allCases)
    private func `only an explicit setting overrides an opt-out at the target`(shop: Shop) async throws {
        let target = try shop.target(settings: ["targetOptOuts": "override"])
        let driver = try MigrationDriver(
            target,
            [person("c-1", [:], [Subscription(channel: .sms, state: .unsubscribed)])]
        )
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        let optIn = Subscription(channel: .sms, state: .subscribed)
        try driver.write([person("c-1", [:], [optIn])])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        let outcome = try await driver.apply(vendor)
        #expect(outcome.report.findings["migration.api.targetOptOut"] == nil)
        #expect(try await driver.held(vendor)["c-1"]?.saysNo(to: optIn.key) == false)
        #expect(target.optOuts.contains("targetOptOuts is override"))
    }

    @Test(arguments: Shop.allCases, [true, false])
    private func `no migration turns an opt-out of source or target into an opt-in`(
        shop: Shop,
        journal: Bool
    ) async throws {
        struct Case {
            var key: String
            var channel: Channel
            var before: Subscription.State?
            var state: Subscription.State
            var consent: Consent
        }
        // Each person has an own number, because an opt-out applies to everyone with the same address.
        func reached(_ key: String, _ wishes: [Subscription], consents: [Consent] = []) -> Contact {
            var contact = person(key, [:], wishes, consents: consents)
            contact.identifiers[2] = Identifier(.phone, "+35840\(1_000_000 + (Int(key.dropFirst(2)) ?? 0))")
            return contact
        }
        var cases: [Case] = []
        for channel in [Channel.email, .sms] {
            for before in [nil, .subscribed, .unsubscribed, .suspended] as [Subscription.State?] {
                for state in Subscription.State.allCases {
                    for consent in Consent.State.allCases {
                        let scope = cases.count % 2 == 0 ? nil : channel
                        let consent = Consent(purpose: .messaging, channel: scope, state: consent)
                        let key = "c-\(cases.count)"
                        cases.append(.init(key: key, channel: channel, before: before, state: state, consent: consent))
                    }
                }
            }
        }
        let driver = try MigrationDriver(
            shop.target(settings: ["lostOptOuts": "warn"]),
            cases.map { one in
                reached(one.key, one.before.map { [Subscription(channel: one.channel, state: $0)] } ?? [])
            }
        )
        defer { driver.remove() }
        let vendor = try shop.vendor()
        _ = try await driver.apply(vendor)
        let before = try await driver.held(vendor)
        try driver.write(
            cases.map { one in
                reached(one.key, [Subscription(channel: one.channel, state: one.state)], consents: [one.consent])
            }
        )
        try FileManager.default.removeItem(atPath: driver.path("out"))
        #expect(try await driver.apply(vendor, journal: journal).report.written == cases.count)
        let after = try await driver.held(vendor)
        var (kept, applied) = (0, 0)
        for one in cases {
            let key = Subscription(channel: one.channel, state: one.state).key
            let was = before[one.key]?.subscriptions.mostProtectiveState(of: key)
            let isNow = after[one.key]?.subscriptions.mostProtectiveState(of: key)
            let saysYes = one.state == .subscribed && one.consent.state != .denied
            let saysNo = one.state == .unsubscribed || one.state == .suspended || one.consent.state == .denied
            let wasNo = before[one.key]?.saysNo(to: key) ?? false
            #expect(wasNo == (one.before == .unsubscribed || one.before == .suspended), "\(one)")
            let mayReceive = !wasNo && !saysNo && (saysYes || was == .subscribed)
            #expect(isNow != .subscribed || mayReceive, "\(one)")
            if saysYes, wasNo { kept += 1 }
            if saysYes, !wasNo {
                #expect(isNow == .subscribed, "\(one)")
                applied += 1
            }
        }
        #expect(kept > 0 && applied > 0)
        #expect(try await driver.verify(vendor).1 == [])
    }

    private static let news = Subscription(channel: .email, topic: "news", state: .subscribed)

    /// People at Adobe: one with the newsletter, one who left it, one who opted out of everything, and one with more
    /// subscriptions than a page holds.
    private static let readers = ["has", "left", "refuses", "many"].map { key -> Contact in
        var news = news
        if key == "left" { news.state = .unsubscribed }
        if key == "refuses" { return person(key, ["blackList": true]) }
        let tips = Subscription(channel: .email, topic: "tips", state: .subscribed)
        let alerts = Subscription(channel: .sms, topic: "alerts", state: .subscribed)
        return person(key, ["nick": "A"], key == "many" ? [tips, alerts, news] : [news])
    }

    @Test(arguments: [true, false])
    func `resubscribes a person who left a service at Adobe only if notSubscribed is unknown`(
        isKept: Bool
    ) async throws {
        let target = try Shop.adobe.target(isKept ? [:] : ["notSubscribed": "unknown"])
        let driver = try MigrationDriver(target, Self.readers)
        defer { driver.remove() }
        let vendor = try Shop.adobe.vendor()
        #expect(try await driver.apply(vendor).report.written == 4)
        let held = try await driver.held(vendor)
        func state(_ key: String, _ wish: Subscription = Self.news) -> Subscription.State? {
            held[key]?.subscriptions.mostProtectiveState(of: wish.key)
        }
        #expect(state("has") == .subscribed)
        #expect(held["many"]?.subscriptions.count { $0.topic != nil && $0.state == .subscribed } == 3)
        #expect(state("left") == (isKept ? .unsubscribed : .unknown))
        #expect(state("refuses", Subscription(channel: .sms, state: .unknown)) == .unsubscribed)
        #expect(try await driver.verify(vendor).1 == [])
        let email = Subscription(channel: .email, state: .subscribed)
        try driver.write([
            person("left", ["nick": "B"], [Self.news]), person("new", [:], [Self.news]),
            person("refuses", [:], [email]),
        ])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        let outcome = try await driver.apply(vendor, journal: true)
        #expect(outcome.report.findings["migration.api.targetOptOut"]?.count == (isKept ? 2 : 1))
        #expect(try await driver.verify(vendor).1 == [])
        let after = try await driver.held(vendor)
        #expect(after["left"]?.saysNo(to: Self.news.key) == isKept)
        #expect(after["new"]?.subscriptions.mostProtectiveState(of: Self.news.key) == .subscribed)
        #expect(after["refuses"]?.saysNo(to: email.key) == true)
        #expect(try await driver.undo(vendor).report.rejected == 0)
        let back = try await driver.held(vendor)
        #expect(back["new"] == nil)
        #expect(back["left"]?.attributes["nick"] == "A")
        #expect(back["left"]?.subscriptions.mostProtectiveState(of: Self.news.key) != .subscribed)
    }

    @Test(arguments: ["subscribed", "unknown"])
    func `reads and undoes a false flag at Adobe as the settings say`(
        notOptedOut: JSONValue
    ) async throws {
        let target = try Shop.adobe.target(
            ["notOptedOut": notOptedOut],
            settings: ["targetOptOuts": "override"]
        )
        let optOut = Subscription(channel: .email, state: .unsubscribed)
        let optIn = Subscription(channel: .email, state: .subscribed)
        let driver = try MigrationDriver(
            target,
            [person("no", ["nick": "A"], [optOut]), person("yes", ["nick": "A"], [optIn])]
        )
        defer { driver.remove() }
        let vendor = try Shop.adobe.vendor()
        _ = try await driver.apply(vendor)
        let free: Subscription.State = notOptedOut == "unknown" ? .unknown : .subscribed
        #expect(try await driver.held(vendor)["yes"]?.subscriptions.mostProtectiveState(of: optIn.key) == free)
        try driver.write([person("no", ["nick": "B"], [optIn]), person("yes", ["nick": "B"], [optOut])])
        try FileManager.default.removeItem(atPath: driver.path("out"))
        #expect(try await driver.apply(vendor, journal: true).report.written == 2)
        #expect(try await driver.verify(vendor).1 == [])
        #expect(try await driver.undo(vendor).report.rejected == 0)
        let back = try await driver.held(vendor)
        // An undo restores an opt-out in any case. If a previous opt-in is unknown, the undo writes none.
        #expect(back["no"]?.saysNo(to: optOut.key) == true)
        #expect(back["yes"]?.saysNo(to: optOut.key) == (notOptedOut == "unknown"))
        #expect(back["yes"]?.attributes["nick"] == "A")
    }

    @Test func `writes an opt-out from every channel to each flag of Adobe`() throws {
        let target = try Shop.adobe.target()
        let contact = person("c-1", [:], consents: [Consent(purpose: .messaging, state: .denied)])
        let row = ServerMapper(target.server, target.settings).row(of: contact)
        #expect(!row.isRejected)
        #expect(row.image.subscriptions.count == 6 && row.image.subscriptions.allSatisfy { $0.state == .unsubscribed })
    }

    @Test func `two Adobe profiles with one key stop one row, not the migration`() async throws {
        let byAddress = try Shop.adobe.target([
            "matching": "email", "keyField": "email", "filter": "x", "filterParameter": "x",
        ])
        let optIn = Subscription(channel: .email, state: .subscribed)
        let twins = ["twin-1", "twin-2"].map { key -> Contact in
            var contact = person(key, [:])
            contact.identifiers[1] = Identifier(.email, "twin@mail.example")
            return contact
        }
        let driver = try MigrationDriver(Shop.adobe.target(), twins)
        defer { driver.remove() }
        let vendor = try Shop.adobe.vendor()
        #expect(try await driver.apply(vendor).report.written == 2)
        let people = ["twin", "other"].map { key -> Contact in
            Contact(
                identifiers: [Identifier(.email, "\(key)@mail.example")],
                attributes: ["nick": "A"],
                subscriptions: [optIn]
            )
        }
        let other = try MigrationDriver(byAddress, people)
        defer { other.remove() }
        let report = try await other.apply(vendor, journal: true).report
        #expect((report.written, report.rejected) == (1, 1))
        #expect(report.findings["adobe.server.contact.several"] != nil)
        #expect(try await other.verify(vendor).1 == [])
        #expect(try await other.undo(vendor).report.rejected == 0)
    }

    @Test func `reads a paged target completely before the first opt-in, and only for one`() async throws {
        func reads(_ contacts: [Contact]) async throws -> Int {
            let driver = try MigrationDriver(Shop.salesforce.target(), contacts)
            defer { driver.remove() }
            let vendor = try Shop.salesforce.vendor()
            #expect(try await driver.apply(vendor).isCommitted)
            return await vendor.paths.count { $0.contains("customobjectdata") }
        }
        let optIn = Subscription(channel: .email, state: .subscribed)
        #expect(try await reads([person("c-1"), person("c-2", [:], [optIn]), person("c-3", [:], [optIn])]) == 1)
        let optOut = Subscription(channel: .email, state: .unsubscribed)
        #expect(try await reads([person("c-1"), person("c-2", [:], [optOut])]) == 0)
    }

    @Test(arguments: [JSONObject(), ["targetOptOuts": "override"]])
    func
        `applies the first row's opt-out to the second row of a contact under any setting`(
            _ settings: JSONObject
        ) async throws
    {
        let optOut = Subscription(channel: .email, state: .unsubscribed)
        let optIn = Subscription(channel: .email, state: .subscribed)
        let people = [person("c-1", [:], [optOut]), person("C-1", [:], [optIn]), person("c-1", [:], [optIn])]
        let beyond = [person("\u{E9}-1", [:], [optOut]), person("\u{C9}-1", [:], [optIn])]
        let driver = try MigrationDriver(Shop.salesforce.target(settings: settings), people + beyond)
        defer { driver.remove() }
        let vendor = try Shop.salesforce.vendor()
        let outcome = try await driver.apply(vendor, journal: true)
        #expect(outcome.report.findings[EarlierOptOuts.heeded.code]?.count == 3)
        #expect(try await driver.held(vendor)["c-1"]?.saysNo(to: optOut.key) == true)
    }

    @Test func `treats two spellings of a number as one contact if the phone is the key`() async throws {
        func caller(_ number: String, _ name: AttributeValue) -> Contact {
            Contact(identifiers: [Identifier(.phone, number)], attributes: ["nick": name])
        }
        let people = [caller("+358 40 123-4567", "A"), caller("+358401234567", "B")]
        let driver = try MigrationDriver(Shop.altcraft.target(["matching": "phone"]), people)
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        #expect(try await driver.apply(vendor, journal: true).report.written == 2)
        let (verification, differences) = try await driver.verify(vendor)
        #expect(verification.expected.written == 2)
        #expect(differences == [])
        #expect(try await driver.undo(vendor).report.written == 1)
        #expect(try await driver.verify(vendor).1.map { $0.split(separator: " ")[0] } == ["missing"])
    }

    @Test func `applies the first row's opt-out to a second row whose address differs in case`() async throws {
        func reader(_ address: String, _ state: Subscription.State) -> Contact {
            Contact(
                identifiers: [Identifier(.email, address)],
                subscriptions: [Subscription(channel: .email, state: state)]
            )
        }
        let people = (1...40).flatMap {
            [reader("c\($0)@mail.example", .unsubscribed), reader("C\($0)@Mail.example", .subscribed)]
        }
        let driver = try MigrationDriver(Shop.altcraft.target(["matching": "email"]), people)
        defer { driver.remove() }
        let outcome = try await driver.apply(Shop.altcraft.vendor())
        #expect((outcome.report.written, outcome.report.findings[EarlierOptOuts.heeded.code]?.count) == (80, 40))
    }

    @Test func `rejects opt-ins for an API that cannot read contacts, unless the settings allow them`() async throws {
        let changes: JSONObject = [
            "route": "contacts", "contactAttributes": ["identifier.email": "Email Addresses/Email Address"],
            "contactDefaults": ["Email Addresses/HTML Enabled": "true"],
        ]
        let driver = try MigrationDriver(Shop.salesforce.target(changes), [person("c-1", [:])])
        defer { driver.remove() }
        let vendor = try Shop.salesforce.vendor()
        let refused = await failure { try await driver.apply(vendor) }
        #expect(refused.first?.hasPrefix("migration.api.optOutsUnseen") == true)
        // A mapping cannot change a subscription here, so the remedy must not propose one.
        let remedy = ServerFinding.optOutsUnseen.remedy
        #expect(!remedy.contains("mapping"))
        #expect(remedy.contains(#"{"to": {"targetOptOuts": "override"}}"#))
        #expect(try driver.names == ["in"])
        var source = try FileSource(path: driver.path("in"))
        let plan = try driver.migration.plan(&source, server: driver.target)
        #expect(plan.optOuts?.hasPrefix("An opt-in of the source might replace an opt-out") == true)
        #expect(plan.json["optOuts"]?.string == plan.optOuts && plan.page(of: nil).contains("Opt-outs at the target"))
        let target = try Shop.salesforce.target(changes, settings: ["targetOptOuts": "override"])
        let said = try MigrationDriver(target, [person("c-1", [:])])
        defer { said.remove() }
        #expect(try await said.apply(vendor).isCommitted)
    }

    private static let sets: JSONObject = [
        "route": "contacts", "contactsFirst": "update",
        "contactAttributes": [
            "identifier.email": "Email Addresses/Email Address", "nick": "Profile/Nick", "points": "Profile/Points",
            "tag.red": "Profile/Red", "subscription.sms": "Profile/Sms",
        ],
        "contactDefaults": ["Email Addresses/HTML Enabled": "true"],
    ]

    @Test func `sends a contact's parts in several sets in one request, and the plan counts it`() async throws {
        let target = try Shop.salesforce.target(Self.sets, settings: ["targetOptOuts": "override"])
        var contact = person("c-1", ["nick": "A"], [Subscription(channel: .sms, state: .unsubscribed)])
        contact.tags = ["red"]
        let driver = try MigrationDriver(target, [contact])
        defer { driver.remove() }
        var source = try FileSource(path: driver.path("in"))
        let plan = try driver.migration.plan(&source, server: target)
        #expect(plan.report.written == 1)
        #expect(plan.parts.first { $0.name == "identifier email" }?.fate == "kept")
        #expect(plan.attributes.map { "\($0.name) \($0.fate)" } == ["nick kept"])
        let vendor = try Shop.salesforce.vendor()
        #expect(try await driver.apply(vendor).report.written == 1)
        // The clock is so fast that a token may expire between two requests.
        let paths = await vendor.paths.filter { $0 != "/v2/token" }
        #expect(paths == ["/contacts/v1/contacts", "/contacts/v1/contacts"])
        let held = try await vendor.state
        #expect(
            held["contacts"]?["c-1"] == [
                "Email Addresses/Email Address": #""c-1@mail.example""#, "Email Addresses/HTML Enabled": "true",
                "Profile/Nick": #""A""#, "Profile/Red": "true", "Profile/Sms": "false",
            ]
        )
    }

    @Test func `a refused value does not prevent the other parts of its contact`() async throws {
        let target = try Shop.salesforce.target(Self.sets, settings: ["targetOptOuts": "override"])
        let people = [
            person("c-1", ["nick": "poison"], [Subscription(channel: .sms, state: .unsubscribed)]),
            // A contact without an address cannot be reached.
            Contact(identifiers: [Identifier(.external, "c-2")], attributes: ["nick": "B"]),
        ]
        let driver = try MigrationDriver(target, people)
        defer { driver.remove() }
        let vendor = try Shop.salesforce.vendor()
        let outcome = try await driver.apply(vendor)
        #expect(outcome.report.written == 0 && outcome.report.findings["salesforce.server.sets.channel"]?.count == 1)
        let held = try await vendor.state
        #expect(
            held["contacts"] == [
                "c-1": [
                    "Email Addresses/Email Address": #""c-1@mail.example""#, "Email Addresses/HTML Enabled": "true",
                    "Profile/Sms": "false",
                ]
            ]
        )
    }

    @Test(arguments: Shop.allCases)
    private func `turns no state of the source other than an opt-in into an opt-in`(shop: Shop) throws {
        let target = try shop.target(settings: ["lostOptOuts": "warn"])
        let mapper = ServerMapper(target.server, target.settings)
        var count = 0
        for channel in [Channel.email, .sms, .push] {
            for state in Subscription.State.allCases {
                for consent in Consent.State.allCases {
                    for scope in [Consent.Scope(.messaging), Consent.Scope(.messaging, channel: channel)] {
                        let contact = person(
                            "c-1",
                            [:],
                            [Subscription(channel: channel, state: state)],
                            consents: [Consent(purpose: .messaging, channel: scope.channel, state: consent)]
                        )
                        let row = mapper.row(of: contact)
                        let mayReceive = state == .subscribed && consent != .denied
                        let optsIn = row.actions.contains(where: \.isYes)
                        #expect(!optsIn || mayReceive, "\(channel) \(state) \(consent)")
                        #expect(ConsentWords(contact).raised(in: ConsentWords(writtenAs: [row.image])).isEmpty)
                        if optsIn { count += 1 }
                    }
                }
            }
        }
        // An opt-in stays an opt-in.
        #expect(count >= 4)
    }

    @Test(arguments: Shop.allCases)
    private func `rejects a row whose opt-out the target cannot hold, unless lostOptOuts is warn`(shop: Shop) throws {
        let contact = person("c-1", [:], [Subscription(channel: shop.unsupportedChannel, state: .unsubscribed)])
        let strict = try shop.target()
        let row = ServerMapper(strict.server, strict.settings).row(of: contact)
        #expect(row.findings.filter { $0.severity == .error }.map(\.code) == ["migration.api.optOutLost"])
        let lax = try shop.target(settings: ["lostOptOuts": "warn"])
        #expect(!ServerMapper(lax.server, lax.settings).row(of: contact).isRejected)
    }

    @Test(arguments: Shop.allCases)
    private func `omits a field that the vendor cannot hold and keeps the others`(shop: Shop) throws {
        let target = try shop.target()
        var contact = person("c-1", ["nick": "A", "home": .object(["city": "Oulu"])])
        contact.identifiers.append(Identifier("cookie", "7f3a"))
        contact.tags = ["red", "green"]
        let row = ServerMapper(target.server, target.settings).row(of: contact)
        #expect(!row.isRejected)
        #expect(row.image.attributes["nick"] == "A")
        #expect(row.image.identifiers.map(\.kind) == [.external, .email, .phone])
        #expect(row.image.tags.contains("red"))
        #expect(row.findings.contains { $0.path == "identifiers[3]" && $0.severity == .warning })
        let odd = person("c-2", ["home": .object(["city": "Oulu"])])
        let kinds = ServerMapper(target.server, target.settings).row(of: odd).actions.map(\.kind)
        #expect(kinds == (shop == .altcraft ? [.identify, .changeAttributes] : [.identify]))
    }

    @Test(arguments: Shop.allCases)
    private func `rejects a contact with only a key, as the plan reports`(shop: Shop) async throws {
        let odd = Contact(identifiers: [Identifier(.external, "c-2"), Identifier("cookie", "7f3a")])
        let unknown = Subscription(channel: .email, state: .unknown)
        let people = [
            Contact(identifiers: [Identifier(.external, "c-1")]), odd,
            Contact(identifiers: [Identifier(.external, "c-3")], subscriptions: [unknown]), person("c-4", [:]),
        ]
        let driver = try MigrationDriver(shop.target(), people)
        defer { driver.remove() }
        var source = try FileSource(path: driver.path("in"))
        let planned = try driver.migration.plan(&source, server: driver.target).report
        let vendor = try shop.vendor()
        let report = try await driver.apply(vendor).report
        for result in [planned, report] {
            #expect((result.written, result.rejected) == (1, 3))
            #expect(result.findings["migration.api.keyAlone"]?.count == 3)
        }
        #expect(try await driver.verify(vendor).1 == [])
        #expect(try await driver.held(vendor).keys.sorted() == ["c-4"])
    }

    @Test func `reports each field that the vendor cannot hold`() throws {
        let target = try Shop.altcraft.target(settings: ["timeZone": "_tz"])
        var contact = person("c-1")
        (contact.locale, contact.timeZone) = ("fi_FI", "Europe/Helsinki")
        contact.devices = [Device(pushToken: PushToken(String(repeating: "0aa1", count: 16), service: .apns))]
        let row = ServerMapper(target.server, target.settings).row(of: contact)
        #expect(row.findings.map(\.code).sorted() == ["migration.api.deviceLost", "migration.api.noPlace"])
        #expect(row.image.attributes["_tz"] == .string("Europe/Helsinki"))
    }

    @Test func `resumes a stopped run and reports one outcome per row`() async throws {
        let people = (0..<200).map { person("c-\($0)", ["points": .integer(Int64($0))]) }
        let driver = try MigrationDriver(Shop.altcraft.target(["profilesPerRequest": 5]), people)
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await driver.apply(vendor, isCancelled: asked(moreThan: 3))
        #expect(!first.isCommitted)
        #expect(try driver.names.contains("out.checkpoint"))
        let other = await failure { try await driver.apply(vendor, settings: ["other": true]) }
        #expect(
            other == [
                "migration.checkpoint.settings: The interrupted run had other formats, settings or files (other: settings)."
            ]
        )
        let second = try await driver.apply(vendor)
        #expect(second.isCommitted)
        #expect(second.report.read == 200)
        #expect(second.accounts?.total("accepted") == 400)
        #expect(try driver.lines("out").compactMap { $0["number"]?.integer } == (1...200).map(Int64.init))
    }

    /// Returns a closure that is true after the given number of calls.
    private func asked(moreThan most: Int) -> () -> Bool {
        var count = 0
        return {
            count += 1
            return count > most
        }
    }

    /// A thousand people. Every tenth occurs twice, the second row some distance after the first.
    private static var thousandPeople: [Contact] {
        (0..<1_000).map { person("c-\($0 % 10 == 9 ? $0 - 5 : $0)", ["points": .integer(Int64($0))]) }
    }

    @Test func `fills the requests even if people occur twice in the source`() async throws {
        let driver = try MigrationDriver(Shop.altcraft.target(), Self.thousandPeople)
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        #expect(try await driver.apply(vendor).isCommitted)
        let paths = await vendor.paths
        // About 30 on an idle machine, 100 on a busy one, and one per row if rows were captured one at a time.
        #expect(paths.count < 250, "\(paths.count) requests")
        #expect(try driver.lines("out").compactMap { $0["number"]?.integer } == (1...1_000).map(Int64.init))
        let held = try await driver.held(vendor)
        #expect(held["c-4"]?.attributes["points"] == .integer(9))
    }

    @Test func `a resumed run sends full requests and reports that it reads the opt-outs again`() async throws {
        let driver = try MigrationDriver(Shop.altcraft.target(["profilesPerRequest": 5]), Self.thousandPeople)
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await driver.apply(vendor, isCancelled: asked(moreThan: 1_500))
        #expect(!first.isCommitted)
        #expect(first.report.read > 0)
        let before = await vendor.paths.count
        var parts: [ServerProgress] = []
        let outcome = try await driver.apply(vendor, progress: { parts.append($0) })
        #expect(outcome.isCommitted)
        #expect(outcome.report.read == 1_000)
        let after = await vendor.paths.count
        #expect(after - before <= 450, "\(after - before) requests for \(1_000 - first.report.read) rows")
        let size = try #require(FileSource(path: driver.path("in")).size)
        let readings = parts.filter {
            if case .hearing(let total) = $0.part { total > 0 && total < size } else { false }
        }
        #expect(!readings.isEmpty)
        #expect(readings.allSatisfy { $0.bytes > 0 && $0.records > 0 })
        #expect(parts.last?.part == .moving)
    }

    @Test func `a run cancelled while it reads the opt-outs again keeps its state`() async throws {
        let driver = try MigrationDriver(Shop.altcraft.target(["profilesPerRequest": 5]), Self.thousandPeople)
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await driver.apply(vendor, isCancelled: asked(moreThan: 3))
        let second = try await driver.apply(vendor) { true }
        #expect(!second.isCommitted)
        #expect(second.report.read == first.report.read)
        #expect(try await driver.apply(vendor).isCommitted)
    }

    @Test(arguments: [true, false])
    func `does not resume an unfinished run after an undo`(isRejected: Bool) async throws {
        let people = (0..<200).map { person("c-\($0)", ["points": .integer(Int64($0))]) }
        let driver = try MigrationDriver(Shop.altcraft.target(["profilesPerRequest": 5]), people)
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await driver.apply(vendor, journal: true, isCancelled: asked(moreThan: 40))
        #expect(!first.isCommitted)
        if isRejected {
            // An undo keeps a contact that has changed since, and keeps the journal.
            let other = try MigrationDriver(driver.target, [person("c-0", ["points": 900])])
            defer { other.remove() }
            _ = try await other.apply(vendor)
        }
        let undone = try await driver.undo(vendor)
        #expect(undone.report.rejected == (isRejected ? 1 : 0))
        #expect(try driver.names.contains("journal") == isRejected)
        let refused = await failure { try await driver.apply(vendor, journal: true) }
        #expect(refused.map { $0.prefix(22) } == ["migration.journal.gone"])
        #expect(try driver.names.contains("journal") == isRejected)
        // The undo can be resumed nevertheless.
        if isRejected { #expect(try await driver.undo(vendor).report.rejected == 1) }
    }

    @Test func `does not undo a run that is still writing`() async throws {
        let driver = try MigrationDriver(Shop.altcraft.target(), [person("c-1")])
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        _ = try await driver.apply(vendor, journal: true)
        let run = try FileDescriptor(driver.path("journal"), O_RDWR)
        #expect(run.lock())
        await #expect(throws: FileError.self) { try await driver.undo(vendor) }
        #expect(try await driver.held(vendor).count == 1)
        try run.close()
        #expect(try await driver.undo(vendor).report.written == 1)
        #expect(try await driver.held(vendor).isEmpty)
    }

    @Test func `ends the run with the reason if the provider is suspended; the next run resumes`() async throws {
        let driver = try MigrationDriver(Shop.altcraft.target(), [person("c-1")])
        defer { driver.remove() }
        let unauthorized = Outcome.replied(WireResponse(401, json: ["error": 401, "error_text": "no"]))
        let vendor = try Shop.altcraft.vendor(instead: [unauthorized])
        let outcome = try await driver.apply(vendor)
        #expect(outcome.stopped?.error == .unauthenticated)
        #expect(!outcome.isCommitted)
        #expect(try await driver.apply(vendor).report.written == 1)
    }

    @Test func `waits for a vendor that is unavailable for an hour`() async throws {
        let driver = try MigrationDriver(Shop.altcraft.target(), [person("c-1")])
        defer { driver.remove() }
        let later = Outcome.replied(WireResponse(429, headers: [WireHeader("Retry-After", "3600")]))
        let vendor = try Shop.altcraft.vendor(instead: [later])
        #expect(try await driver.apply(vendor).report.written == 1)
    }

    @Test func `rejects a run whose outbox is missing or whose journal belongs to another`() async throws {
        let driver = try MigrationDriver(
            Shop.altcraft.target(["profilesPerRequest": 1]),
            (0..<50).map { person("c-\($0)") }
        )
        defer { driver.remove() }
        let vendor = try Shop.altcraft.vendor()
        try Data("{}\n".utf8).write(to: URL(filePath: driver.path("journal")))
        let unrecognized = await failure { try await driver.apply(vendor, journal: true) }
        #expect(unrecognized.first?.hasPrefix("migration.journal.other") == true)
    }

    @Test func `reads a journal from the first row without an outcome, and completely if shortened`() throws {
        let driver = try MigrationDriver(Shop.altcraft.target(), [])
        defer { driver.remove() }
        func open(settled: Int, from place: Int) throws -> ServerJournal {
            try ServerJournal(
                driver.path("journal"),
                driver.target,
                acceptsExisting: true,
                settled: settled,
                from: place
            ) {
                _,
                _ in
            }
        }
        var places: [Int] = []
        do {
            let journal = try open(settled: 0, from: 0)
            for row in 1...50 {
                journal.write(row: row, key: "c-\(row)", before: .some(nil), wrote: person("c-\(row)"))
                if row % 7 == 0 { try journal.sync() }
            }
            try journal.sync()
            places = (0...50).map { journal.place(after: $0) }
        }
        let size = try FileSource(path: driver.path("journal")).size
        #expect(places == places.sorted() && Set(places).count > 7 && (places.last ?? 0) < size ?? 0)
        for (settled, place) in places.enumerated() {
            let journal = try open(settled: settled, from: place)
            #expect(journal.rows.keys.sorted() == (1...50).filter { $0 > settled })
            #expect(journal.place(after: settled) >= place)
        }
        #expect(try open(settled: 40, from: (size ?? 0) + 1).rows.count == 10)
    }

    @Test func `rejects APIs that do not import contacts`() async throws {
        let device = await failure { try ServerTarget.check(DESDevice.self) }
        #expect(device.first?.hasPrefix("migration.api.device") == true)
        let target = try Shop.salesforce.target([
            "route": "contacts", "contactAttributes": ["identifier.email": "Email Addresses/Email Address"],
            "contactDefaults": ["Email Addresses/HTML Enabled": "true"],
        ])
        let driver = try MigrationDriver(target, [person("c-1")])
        defer { driver.remove() }
        let vendor = try Shop.salesforce.vendor()
        let journal = await failure { try await driver.apply(vendor, journal: true) }
        #expect(journal.first?.hasPrefix("migration.api.noJournal") == true)
        let verify = await failure { try await driver.verify(vendor) }
        #expect(verify.first?.hasPrefix("migration.api.unreadable") == true)
        var source = try FileSource(path: driver.path("in"))
        let plan = try driver.migration.plan(&source, server: target)
        #expect(plan.undo.hasPrefix("The migration cannot be undone"))
    }

    private static let routes: [(Shop, JSONObject, [String])] = [
        (.altcraft, [:], ["profiles/import_batch 3", "profiles/list 1", "reading 1"]),
        (.salesforce, [:], ["rowset 6", "reading 1"]),
        (.salesforce, ["route": "asyncRows", "rowsPerJob": 40], ["async rows 8", "async status 16", "reading 1"]),
        (.acoustic, [:], ["AddRecipient 100", "reading 100"]),
        (.adobe, [:], ["find 100", "profile 100", "reading 200"]),
        (.adobe, ["services": [:]], ["find 100", "profile 100", "reading 100"]),
    ]

    @Test(arguments: routes)
    private func `counts the requests and jobs of the API in a plan`(shop: Shop, changes: JSONObject, routes: [String])
        throws
    {
        let target = try shop.target(changes)
        let people = (0..<100).map { number -> Contact in
            var contact = person("c-\(number)", [:], [Subscription(channel: .email, state: .unsubscribed)])
            contact.tags = ["red"]
            return contact
        }
        let driver = try MigrationDriver(target, people)
        defer { driver.remove() }
        var source = try FileSource(path: driver.path("in"))
        let plan = try driver.migration.plan(&source, server: target)
        #expect(plan.loads.map { "\($0.route.name) \($0.requests)" } == routes)
        #expect(plan.undo.hasPrefix("Undo with --journal"))
        if shop == .salesforce { #expect(plan.loads.allSatisfy { $0.seconds != nil }) }
    }

    @Test func `counts queries for jobs and pages in a plan and states its assumptions`() throws {
        func loads(_ settings: JSONObject, _ count: Int) throws -> [MigrationPlan.Load] {
            let changes: JSONObject = ["route": "asyncRows", "rowsPerJob": 1000, "pollSeconds": 5]
            let target = try Shop.salesforce.target(changes, settings: settings)
            let driver = try MigrationDriver(target, (0..<count).map { person("c-\($0)") })
            defer { driver.remove() }
            var source = try FileSource(path: driver.path("in"))
            return Array(try driver.migration.plan(&source, server: target).loads.dropFirst())
        }
        let assumed = try loads([:], 100)
        #expect(assumed.map(\.requests) == [2, 1])
        // The duration of the only job, although the rate would allow the queries at once.
        #expect(assumed.map(\.seconds) == [10, 0])
        #expect(assumed.allSatisfy { $0.route.note.contains("assumed") })
        let configured = try loads(["jobSeconds": 62, "heldContacts": 12_345], 100)
        #expect(configured.map(\.requests) == [13, 5])
        #expect(configured[0].seconds == 65)
        let notes = configured.map(\.route.note)
        #expect(notes.allSatisfy { $0.contains("from the settings") && !$0.contains("assumed") })
        #expect(try loads(["heldContacts": 0], 1).last?.requests == 1)
    }

    @Test func `reads no contact from a target file that has only a header`() throws {
        let migration = try Migration(from: .neutralContacts, to: try #require(VendorFiles.salesforce.formats.first))
        let verification = try migration.verify(
            { ChunkedSource(person("c-1").jsonBytes + [0x0A], chunk: 99) },
            against: { ChunkedSource(Array("Subscriber Key\r\n".utf8), chunk: 99) },
            difference: { _ in }
        )
        #expect(verification.differences == ["": [.missing: 1]])
    }
}
