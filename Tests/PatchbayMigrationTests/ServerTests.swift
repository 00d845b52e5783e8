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

/// A vendor's simulator in this process: no socket, and answers that take its place.
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

/// A server API of a shop that has a place for e-mail, text messages and two tags, and none for one channel.
private enum Shop: String, CaseIterable, CustomTestStringConvertible {
    case altcraft, salesforce, acoustic, adobe

    var testDescription: String { rawValue }

    /// A channel that the API has no place for.
    var unheard: Channel { self == .adobe ? .inApp : .push }

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

/// A folder with a source, and what a migration makes of it; it goes away with the bench.
private final class Bench: Sendable {
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

    /// An hour passes in a second.
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
        var told: Set<String> = []
        let verification = try await ServerVerification(
            migration,
            with: target,
            input: path("in"),
            results: results ? path("out") : nil
        )
        .run(surroundings(vendor) { false }, extent: extent, showsKeys: true) {
            told.insert("\($0.kind.rawValue) \($0.field) \($0.contact)")
        }
        return (verification, told)
    }

    /// Everything that the vendor holds of the source's contacts.
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
    private func `each row gets its verdict in order, and what was refused stands in the rejects`(shop: Shop)
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
        let bench = try Bench(shop.target(), people)
        defer { bench.remove() }
        let vendor = try shop.vendor()
        let outcome = try await bench.apply(vendor)
        #expect(outcome.isCommitted)
        #expect(outcome.report.read == 30)
        #expect(outcome.report.written == 28)
        #expect(outcome.accounts?.balances == true)
        let verdicts = try bench.lines("out")
        #expect(verdicts.compactMap { $0["number"]?.integer } == (1...30).map(Int64.init))
        #expect(
            verdicts.filter { $0["verdict"]?.string == "rejected" }.compactMap { $0["number"]?.integer } == [6, 18]
        )
        let rejects = try bench.lines("rejected")
        let refused = [people[5], people[17]].map(\.json.text)
        #expect(rejects.map { $0["original"]?.string } == refused)
        #expect(rejects[0]["code"]?.string == "migration.api.key")
        #expect(rejects[1]["vendor"]?["status"] != nil)
        #expect(try bench.text("rejected.rows") == refused.map { $0 + "\n" }.joined())
        #expect(try bench.names == ["in", "out", "rejected", "rejected.rows"])
        let (verification, told) = try await bench.verify(vendor)
        #expect(told == [])
        #expect(verification.compared == 28)
    }

    @Test(arguments: Shop.allCases)
    private func `who said no in the file before is said no for`(shop: Shop) async throws {
        let (yes, no) = (
            Subscription(channel: .email, state: .subscribed), [Subscription(channel: .email, state: .unsubscribed)]
        )
        let bench = try Bench(shop.target(), [person("c-1", ["nick": "A"], no)])
        defer { bench.remove() }
        try FileManager.default.moveItem(atPath: bench.path("in"), toPath: bench.path("before"))
        try bench.write([person("c-1", ["nick": "A"], [yes]), person("c-2", ["nick": "B"])])
        var heard: Set<ServerProgress.Part> = []
        let outcome = try await bench.apply(shop.vendor(), after: "before", progress: { heard.insert($0.part) })
        #expect(outcome.report.findings["migration.consent.earlierNo"]?.count == 1)
        #expect(heard.contains(.hearing(of: try bench.text("before").utf8.count)))
    }

    @Test(arguments: Shop.allCases)
    private func `verify tells what the vendor holds otherwise, of all or of a sample`(shop: Shop) async throws {
        let bench = try Bench(shop.target(), [person("c-1", ["nick": "A"]), person("c-2", ["nick": "B"])])
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        try bench.write([person("c-1", ["nick": "Z", "city": "Oulu"]), person("c-2", ["nick": "B"]), person("c-3")])
        let (verification, told) = try await bench.verify(vendor, results: false)
        #expect(told == ["changed attributes.nick c-1", "absent attributes.city c-1", "missing  c-3"])
        #expect((verification.compared, verification.equal) == (3, 1))
        let (sample, _) = try await bench.verify(vendor, extent: .sample(1, seed: 4), results: false)
        #expect(sample.compared == 1)
    }

    @Test(arguments: Shop.allCases)
    private func `undo brings back what was, and leaves alone what was changed since`(shop: Shop) async throws {
        let bench = try Bench(
            shop.target(),
            [person("c-1", ["nick": "A", "city": "Oulu"]), person("c-2", ["nick": "B"])]
        )
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        try bench.write([
            person("c-1", ["nick": "Z", "points": 9]), person("c-2", ["nick": "Y"]), person("c-3", ["nick": "X"]),
        ])
        // The first run's verdicts are not in the way of the second's.
        try FileManager.default.removeItem(atPath: bench.path("out"))
        #expect(try await bench.apply(vendor, journal: true).report.written == 3)
        let other = try Bench(shop.target(), [person("c-2", ["nick": "changed since"])])
        defer { other.remove() }
        _ = try await other.apply(vendor)
        let undone = try await bench.undo(vendor)
        #expect(undone.report.findings["migration.undo.changed"]?.count == 1)
        #expect((undone.report.written, undone.report.rejected) == (2, 1))
        try bench.write([
            person("c-1", ["nick": "A", "city": "Oulu"]), person("c-2", ["nick": "changed since"]),
            person("c-3", ["nick": "X"]),
        ])
        let (_, told) = try await bench.verify(vendor, results: false)
        // Where the server API can't take a row away, it is emptied.
        #expect(
            told
                == (shop == .salesforce
                    ? ["absent attributes.nick c-3", "absent identifiers.email c-3", "absent identifiers.phone c-3"]
                    : ["missing  c-3"])
        )
        try bench.write([person("c-1", ["points": 9])])
        #expect(try await bench.verify(vendor, results: false).1 == ["absent attributes.points c-1"])
        #expect(try bench.names.contains("journal"))
    }

    @Test(arguments: [Shop.altcraft, .acoustic, .adobe])
    private func `undo takes nobody away of whom somebody has said more since`(shop: Shop) async throws {
        let bench = try Bench(shop.target(), ["no", "city", "tag", "none"].map { person($0, ["nick": "A"]) })
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor, journal: true)
        let no = Subscription(channel: .sms, state: .unsubscribed)
        var tagged = person("tag", [:])
        tagged.tags = ["red"]
        let other = try Bench(shop.target(), [person("no", [:], [no]), person("city", ["city": "Oulu"]), tagged])
        defer { other.remove() }
        _ = try await other.apply(vendor)
        let undone = try await bench.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 3))
        #expect(undone.report.findings["migration.undo.changed"]?.count == 3)
        let held = try await bench.held(vendor)
        #expect(held.keys.sorted() == ["city", "no", "tag"])
        #expect(held["no"]?.saysNo(to: no.key) == true)
    }

    @Test(arguments: ["reject", "warn"])
    private func `verify does not look for a wish that found nobody to reach`(lostOptOuts: JSONValue) async throws {
        let target = try Shop.altcraft.target(settings: ["lostOptOuts": lostOptOuts])
        let wishes = [Subscription.State.subscribed, .unsubscribed].map { Subscription(channel: .sms, state: $0) }
        let out = Subscription(channel: .email, state: .unsubscribed)
        var people = wishes.enumerated().map { place, wish -> Contact in
            var contact = person("c-\(place)", ["points": 7], [wish, out])
            contact.identifiers.removeAll { $0.kind == .phone }
            return contact
        }
        // Who denies all messages has no telephone number either.
        people.append(people[1])
        people[2].identifiers = [Identifier(.external, "c-2"), Identifier(.email, "c-2@shop.example")]
        (people[2].subscriptions, people[2].consents) = ([], [Consent(purpose: .messaging, state: .denied)])
        let bench = try Bench(target, people)
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        let report = try await bench.apply(vendor).report
        #expect((report.written, report.rejected, report.writtenWithFindings) == (3, 0, 3))
        #expect(try await bench.verify(vendor).1 == [])
        let absent = (0...2).map { "absent subscriptions.sms c-\($0)" }
        #expect(try await bench.verify(vendor, results: false).1.sorted() == absent)
        try bench.write([person("c-0", ["points": 8], [wishes[0]]), people[1]])
        #expect(try await bench.verify(vendor).1.contains("changed attributes.points c-0"))
    }

    @Test(arguments: Shop.allCases)
    private func `markup is found as the vendor stores it, and taken back`(shop: Shop) async throws {
        let bench = try Bench(shop.target(), [person("c-1", ["nick": "A"])])
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        try bench.write([person("c-1", ["nick": "<b>A</b> & co"])])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        _ = try await bench.apply(vendor, journal: true)
        #expect(try await bench.verify(vendor).1 == [])
        let undone = try await bench.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 0))
        #expect(try await bench.held(vendor)["c-1"]?.attributes["nick"] == "A")
    }

    @Test func `what Altcraft notes of a profile by itself keeps no undo from it`() async throws {
        let bench = try Bench(Shop.altcraft.target(), [person("noted", ["nick": "A"])])
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        _ = try await bench.apply(vendor, journal: true)
        let noted = person("noted", ["_status": 0, "_regdate": "2031-03-09T06:00:00Z"])
        let platform = try Bench(Shop.altcraft.target(), [noted])
        defer { platform.remove() }
        _ = try await platform.apply(vendor)
        #expect(try await bench.held(vendor)["noted"]?.attributes["_status"] != nil)
        let undone = try await bench.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 0))
        #expect(try await bench.held(vendor).isEmpty)
    }

    @Test func `undo brings back each of several phone numbers`() async throws {
        let numbers = ["+358401111111", "+358402222222"]
        var contact = person("c-1", ["nick": "A", "phones": .choices(numbers)])
        contact.identifiers.removeAll { $0.kind == .phone }
        let bench = try Bench(Shop.altcraft.target(), [contact])
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        _ = try await bench.apply(vendor)
        try bench.write([person("c-1", ["nick": "B"])])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        _ = try await bench.apply(vendor, journal: true)
        #expect(try await bench.held(vendor)["c-1"]?.identifiers.count { $0.kind == .phone } == 1)
        #expect(try await bench.undo(vendor).report.rejected == 0)
        let held = try await bench.held(vendor)["c-1"]
        #expect(held?.identifiers.filter { $0.kind == .phone }.map(\.value) == numbers)
    }

    @Test(arguments: Shop.allCases)
    private func `verify looks for no value that a later row left empty`(shop: Shop) async throws {
        let people = [person("c-1", ["nick": "A", "city": "Oulu"]), person("c-1", ["nick": ""])]
        let bench = try Bench(shop.target(), people)
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        #expect(try await bench.verify(vendor).1 == [])
        let other = try Bench(shop.target(), [person("c-1", ["nick": "B"])])
        defer { other.remove() }
        _ = try await other.apply(vendor)
        #expect(try await bench.verify(vendor).1 == ["changed attributes.nick c-1"])
    }

    @Test(arguments: Shop.allCases)
    private func `undo brings back what an empty value wiped out`(shop: Shop) async throws {
        let bench = try Bench(shop.target(), [person("c-1", ["nick": "A", "city": "Oulu"])])
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        try bench.write([person("c-1", ["nick": "", "city": "Oulu"])])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        #expect(try await bench.apply(vendor, journal: true).report.written == 1)
        #expect(try await bench.verify(vendor).1 == [])
        let undone = try await bench.undo(vendor)
        #expect((undone.report.written, undone.report.rejected) == (1, 0))
        #expect(try await bench.held(vendor)["c-1"]?.attributes["nick"] == "A")
    }

    @Test(arguments: Shop.allCases, [true, false])
    private func `a no at the target outlives a yes of the source, and verify knows`(shop: Shop, journal: Bool)
        async throws
    {
        let no = Subscription(channel: .email, state: .unsubscribed)
        let bench = try Bench(shop.target(), [person("c-1", ["points": 1], [no])])
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        let yes = Subscription(channel: .email, state: .subscribed)
        // What a row says beside the yes that is left out is said, and looked for.
        try bench.write([
            person("c-1", ["points": 2], [Subscription(channel: .sms, state: .unsubscribed)]),
            person("c-1", ["points": 3], [yes, Subscription(channel: .sms, state: .suspended)]),
            person("c-2", ["points": 2], [yes]),
        ])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        let outcome = try await bench.apply(vendor, journal: journal)
        #expect(outcome.report.findings["migration.api.targetOptOut"]?.count == 1)
        #expect(try await bench.verify(vendor).1 == [])
        let held = try await bench.held(vendor)
        #expect(held["c-1"]?.saysNo(to: no.key) == true)
        let state = try await vendor.state.text
        #expect(shop != .altcraft || state.contains("suspended"))
        #expect(held["c-2"]?.subscriptions.mostProtectiveState(of: yes.key) == .subscribed)
    }

    /// What a target shows whose status of e-mail is not one of the vendor's values.
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
    private func `a status that is not known stops an opt-in, with a finding of its own`(_ index: Int) throws {
        let (shop, answer) = Self.unreadable[index]
        let target = try shop.target()
        let wanted = target.isPaged ? ContactQuestion.page(nil) : .keys(["c-1"])
        let shown = try #require(target.server.contacts(in: answer, to: wanted).contacts.first?.contact)
        let email = Subscription(channel: .email, state: .subscribed).key
        #expect(shown.reason(against: email)?.code == "migration.api.targetUnreadable")
        var optOuts = TargetOptOuts()
        optOuts.note("c-1", shown)
        #expect(optOuts.reason(against: email, of: "C-1", Contact())?.code == "migration.api.targetUnreadable")
        // An opt-out beside it is the reason.
        var other = shown
        other.subscriptions.append(Subscription(channel: .email, state: .unsubscribed))
        optOuts.note("c-1", other)
        #expect(optOuts.reason(against: email, of: "c-1", Contact())?.code == "migration.api.targetOptOut")
    }

    @Test func `a contact with a status that is not known stays opted out, and verify knows`() async throws {
        let yes = Subscription(channel: .email, state: .subscribed)
        let bench = try Bench(Shop.altcraft.target(), [person("c-1", ["points": 2], [yes])])
        defer { bench.remove() }
        let profile: JSONValue = [
            "crm_id": "c-1", "email": "c-1@mail.example",
            "subscriptions": [
                ["channel": "email", "resource_id": 33, "email": "c-1@mail.example", "status": "paused"]
            ],
        ]
        let shown = Outcome.replied(WireResponse(200, json: ["error": 0, "error_text": "", "data": [profile]]))
        let vendor = try Shop.altcraft.vendor(instead: [shown])
        let outcome = try await bench.apply(vendor)
        #expect(outcome.report.findings["migration.api.targetUnreadable"]?.count == 1)
        #expect(outcome.report.findings["migration.api.targetOptOut"] == nil)
        #expect(try await bench.verify(vendor).1 == [])
        #expect(try await !vendor.state.text.contains("\"subscribed\""))
    }

    @Test(arguments: [true, false])
    private func `a no at a target that is read whole holds for the address`(journal: Bool) async throws {
        func reached(_ key: String, _ address: String, _ state: Subscription.State) -> Contact {
            var contact = person(key, ["points": 1], [Subscription(channel: .email, state: state)])
            contact.identifiers.removeAll { $0.kind == .email }
            contact.identifiers.append(Identifier(.email, address))
            return contact
        }
        let bench = try Bench(Shop.salesforce.target(), [reached("c-1", "ana@x.example", .unsubscribed)])
        defer { bench.remove() }
        let vendor = try Shop.salesforce.vendor()
        _ = try await bench.apply(vendor)
        try bench.write([
            reached("c-2", "ANA@x.example", .subscribed), reached("c-3", "eva@x.example", .subscribed),
        ])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        let outcome = try await bench.apply(vendor, journal: journal)
        #expect(outcome.report.findings["migration.api.targetOptOut"]?.count == 1)
        #expect(try await bench.verify(vendor).1 == [])
        let held = try await bench.held(vendor)
        let email = Subscription(channel: .email, state: .unknown).key
        #expect(held["c-2"]?.subscriptions.mostProtectiveState(of: email) != .subscribed)
        #expect(held["c-3"]?.subscriptions.mostProtectiveState(of: email) == .subscribed)
    }

    @Test(arguments: Shop.allCases)
    private func `a no at the target is overridden by an explicit word alone`(shop: Shop) async throws {
        let target = try shop.target(settings: ["targetOptOuts": "override"])
        let bench = try Bench(target, [person("c-1", [:], [Subscription(channel: .sms, state: .unsubscribed)])])
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        let yes = Subscription(channel: .sms, state: .subscribed)
        try bench.write([person("c-1", [:], [yes])])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        let outcome = try await bench.apply(vendor)
        #expect(outcome.report.findings["migration.api.targetOptOut"] == nil)
        #expect(try await bench.held(vendor)["c-1"]?.saysNo(to: yes.key) == false)
        #expect(target.optOuts.contains("targetOptOuts is override"))
    }

    @Test(arguments: Shop.allCases, [true, false])
    private func `no migration makes a yes of a no, whoever said it`(shop: Shop, journal: Bool) async throws {
        struct Case {
            var key: String
            var channel: Channel
            var before: Subscription.State?
            var state: Subscription.State
            var consent: Consent
        }
        // Each has a number of its own: an opt-out holds for the address, whoever else has it.
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
        let bench = try Bench(
            shop.target(settings: ["lostOptOuts": "warn"]),
            cases.map { one in
                reached(one.key, one.before.map { [Subscription(channel: one.channel, state: $0)] } ?? [])
            }
        )
        defer { bench.remove() }
        let vendor = try shop.vendor()
        _ = try await bench.apply(vendor)
        let before = try await bench.held(vendor)
        try bench.write(
            cases.map { one in
                reached(one.key, [Subscription(channel: one.channel, state: one.state)], consents: [one.consent])
            }
        )
        try FileManager.default.removeItem(atPath: bench.path("out"))
        #expect(try await bench.apply(vendor, journal: journal).report.written == cases.count)
        let after = try await bench.held(vendor)
        var (kept, heard) = (0, 0)
        for one in cases {
            let key = Subscription(channel: one.channel, state: one.state).key
            let was = before[one.key]?.subscriptions.mostProtectiveState(of: key)
            let isNow = after[one.key]?.subscriptions.mostProtectiveState(of: key)
            let saysYes = one.state == .subscribed && one.consent.state != .denied
            let saysNo = one.state == .unsubscribed || one.state == .suspended || one.consent.state == .denied
            let wasNo = before[one.key]?.saysNo(to: key) ?? false
            #expect(wasNo == (one.before == .unsubscribed || one.before == .suspended), "\(one)")
            let mayHear = !wasNo && !saysNo && (saysYes || was == .subscribed)
            #expect(isNow != .subscribed || mayHear, "\(one)")
            if saysYes, wasNo { kept += 1 }
            if saysYes, !wasNo {
                #expect(isNow == .subscribed, "\(one)")
                heard += 1
            }
        }
        #expect(kept > 0 && heard > 0)
        #expect(try await bench.verify(vendor).1 == [])
    }

    private static let news = Subscription(channel: .email, topic: "news", state: .subscribed)

    /// People at Adobe: one who has the newsletter, one who left it, one who refuses everything, and one who has more
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
    func `who left a service at Adobe is not subscribed again, unless the settings say that nobody knows`(
        isKept: Bool
    ) async throws {
        let target = try Shop.adobe.target(isKept ? [:] : ["notSubscribed": "unknown"])
        let bench = try Bench(target, Self.readers)
        defer { bench.remove() }
        let vendor = try Shop.adobe.vendor()
        #expect(try await bench.apply(vendor).report.written == 4)
        let held = try await bench.held(vendor)
        func state(_ key: String, _ wish: Subscription = Self.news) -> Subscription.State? {
            held[key]?.subscriptions.mostProtectiveState(of: wish.key)
        }
        #expect(state("has") == .subscribed)
        #expect(held["many"]?.subscriptions.count { $0.topic != nil && $0.state == .subscribed } == 3)
        #expect(state("left") == (isKept ? .unsubscribed : .unknown))
        #expect(state("refuses", Subscription(channel: .sms, state: .unknown)) == .unsubscribed)
        #expect(try await bench.verify(vendor).1 == [])
        let email = Subscription(channel: .email, state: .subscribed)
        try bench.write([
            person("left", ["nick": "B"], [Self.news]), person("new", [:], [Self.news]),
            person("refuses", [:], [email]),
        ])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        let outcome = try await bench.apply(vendor, journal: true)
        #expect(outcome.report.findings["migration.api.targetOptOut"]?.count == (isKept ? 2 : 1))
        #expect(try await bench.verify(vendor).1 == [])
        let after = try await bench.held(vendor)
        #expect(after["left"]?.saysNo(to: Self.news.key) == isKept)
        #expect(after["new"]?.subscriptions.mostProtectiveState(of: Self.news.key) == .subscribed)
        #expect(after["refuses"]?.saysNo(to: email.key) == true)
        #expect(try await bench.undo(vendor).report.rejected == 0)
        let back = try await bench.held(vendor)
        #expect(back["new"] == nil)
        #expect(back["left"]?.attributes["nick"] == "A")
        #expect(back["left"]?.subscriptions.mostProtectiveState(of: Self.news.key) != .subscribed)
    }

    @Test(arguments: ["subscribed", "unknown"])
    func `what a flag at Adobe means that refuses nothing the settings say, on the way there and back`(
        notOptedOut: JSONValue
    ) async throws {
        let target = try Shop.adobe.target(
            ["notOptedOut": notOptedOut],
            settings: ["targetOptOuts": "override"]
        )
        let no = Subscription(channel: .email, state: .unsubscribed)
        let yes = Subscription(channel: .email, state: .subscribed)
        let bench = try Bench(target, [person("no", ["nick": "A"], [no]), person("yes", ["nick": "A"], [yes])])
        defer { bench.remove() }
        let vendor = try Shop.adobe.vendor()
        _ = try await bench.apply(vendor)
        let free: Subscription.State = notOptedOut == "unknown" ? .unknown : .subscribed
        #expect(try await bench.held(vendor)["yes"]?.subscriptions.mostProtectiveState(of: yes.key) == free)
        try bench.write([person("no", ["nick": "B"], [yes]), person("yes", ["nick": "B"], [no])])
        try FileManager.default.removeItem(atPath: bench.path("out"))
        #expect(try await bench.apply(vendor, journal: true).report.written == 2)
        #expect(try await bench.verify(vendor).1 == [])
        #expect(try await bench.undo(vendor).report.rejected == 0)
        let back = try await bench.held(vendor)
        // An opt-out comes back in any case; where nobody knows whether there was an opt-in none is said.
        #expect(back["no"]?.saysNo(to: no.key) == true)
        #expect(back["yes"]?.saysNo(to: no.key) == (notOptedOut == "unknown"))
        #expect(back["yes"]?.attributes["nick"] == "A")
    }

    @Test func `a no to every channel is said by each flag that Adobe has`() throws {
        let target = try Shop.adobe.target()
        let contact = person("c-1", [:], consents: [Consent(purpose: .messaging, state: .denied)])
        let row = ServerMapper(target.server, target.settings).row(of: contact)
        #expect(!row.isRejected)
        #expect(row.image.subscriptions.count == 6 && row.image.subscriptions.allSatisfy { $0.state == .unsubscribed })
    }

    @Test func `two profiles of one key at Adobe stop one row, and not the migration`() async throws {
        let byAddress = try Shop.adobe.target([
            "matching": "email", "keyField": "email", "filter": "x", "filterParameter": "x",
        ])
        let yes = Subscription(channel: .email, state: .subscribed)
        let twins = ["twin-1", "twin-2"].map { key -> Contact in
            var contact = person(key, [:])
            contact.identifiers[1] = Identifier(.email, "twin@mail.example")
            return contact
        }
        let bench = try Bench(Shop.adobe.target(), twins)
        defer { bench.remove() }
        let vendor = try Shop.adobe.vendor()
        #expect(try await bench.apply(vendor).report.written == 2)
        let people = ["twin", "other"].map { key -> Contact in
            Contact(
                identifiers: [Identifier(.email, "\(key)@mail.example")],
                attributes: ["nick": "A"],
                subscriptions: [yes]
            )
        }
        let other = try Bench(byAddress, people)
        defer { other.remove() }
        let report = try await other.apply(vendor, journal: true).report
        #expect((report.written, report.rejected) == (1, 1))
        #expect(report.findings["adobe.server.contact.several"] != nil)
        #expect(try await other.verify(vendor).1 == [])
        #expect(try await other.undo(vendor).report.rejected == 0)
    }

    @Test func `a target of pages is read whole before the first yes, and not without one`() async throws {
        func reads(_ contacts: [Contact]) async throws -> Int {
            let bench = try Bench(Shop.salesforce.target(), contacts)
            defer { bench.remove() }
            let vendor = try Shop.salesforce.vendor()
            #expect(try await bench.apply(vendor).isCommitted)
            return await vendor.paths.count { $0.contains("customobjectdata") }
        }
        let yes = Subscription(channel: .email, state: .subscribed)
        #expect(try await reads([person("c-1"), person("c-2", [:], [yes]), person("c-3", [:], [yes])]) == 1)
        let no = Subscription(channel: .email, state: .unsubscribed)
        #expect(try await reads([person("c-1"), person("c-2", [:], [no])]) == 0)
    }

    @Test(arguments: [JSONObject(), ["targetOptOuts": "override"]])
    func
        `of two rows of one contact the second finds what the first said, whatever is done with opt-outs of the target`(
            _ settings: JSONObject
        ) async throws
    {
        let no = Subscription(channel: .email, state: .unsubscribed)
        let yes = Subscription(channel: .email, state: .subscribed)
        let people = [person("c-1", [:], [no]), person("C-1", [:], [yes]), person("c-1", [:], [yes])]
        let beyond = [person("\u{E9}-1", [:], [no]), person("\u{C9}-1", [:], [yes])]
        let bench = try Bench(Shop.salesforce.target(settings: settings), people + beyond)
        defer { bench.remove() }
        let vendor = try Shop.salesforce.vendor()
        let outcome = try await bench.apply(vendor, journal: true)
        #expect(outcome.report.findings[EarlierOptOuts.heeded.code]?.count == 3)
        #expect(try await bench.held(vendor)["c-1"]?.saysNo(to: no.key) == true)
    }

    @Test func `two spellings of a number are one contact where the platform finds people by it`() async throws {
        func caller(_ number: String, _ name: AttributeValue) -> Contact {
            Contact(identifiers: [Identifier(.phone, number)], attributes: ["nick": name])
        }
        let people = [caller("+358 40 123-4567", "A"), caller("+358401234567", "B")]
        let bench = try Bench(Shop.altcraft.target(["matching": "phone"]), people)
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        #expect(try await bench.apply(vendor, journal: true).report.written == 2)
        let (verification, differences) = try await bench.verify(vendor)
        #expect(verification.expected.written == 2)
        #expect(differences == [])
        #expect(try await bench.undo(vendor).report.written == 1)
        #expect(try await bench.verify(vendor).1.map { $0.split(separator: " ")[0] } == ["missing"])
    }

    @Test func `of two rows whose addresses differ in case the second finds what the first said`() async throws {
        func reader(_ address: String, _ state: Subscription.State) -> Contact {
            Contact(
                identifiers: [Identifier(.email, address)],
                subscriptions: [Subscription(channel: .email, state: state)]
            )
        }
        let people = (1...40).flatMap {
            [reader("c\($0)@mail.example", .unsubscribed), reader("C\($0)@Mail.example", .subscribed)]
        }
        let bench = try Bench(Shop.altcraft.target(["matching": "email"]), people)
        defer { bench.remove() }
        let outcome = try await bench.apply(Shop.altcraft.vendor())
        #expect((outcome.report.written, outcome.report.findings[EarlierOptOuts.heeded.code]?.count) == (80, 40))
    }

    @Test func `an API that shows no contacts is refused until the settings allow opt-ins`() async throws {
        let changes: JSONObject = [
            "route": "contacts", "contactAttributes": ["identifier.email": "Email Addresses/Email Address"],
            "contactDefaults": ["Email Addresses/HTML Enabled": "true"],
        ]
        let bench = try Bench(Shop.salesforce.target(changes), [person("c-1", [:])])
        defer { bench.remove() }
        let vendor = try Shop.salesforce.vendor()
        let refused = await failure { try await bench.apply(vendor) }
        #expect(refused.first?.hasPrefix("migration.api.optOutsUnseen") == true)
        // No mapping touches a subscription: the remedy must be one that works.
        let remedy = ServerFinding.optOutsUnseen.remedy
        #expect(!remedy.contains("mapping"))
        #expect(remedy.contains(#"{"to": {"targetOptOuts": "override"}}"#))
        #expect(try bench.names == ["in"])
        var source = try FileSource(path: bench.path("in"))
        let plan = try bench.migration.plan(&source, server: bench.target)
        #expect(plan.optOuts?.hasPrefix("An opt-in of the source might replace an opt-out") == true)
        #expect(plan.json["optOuts"]?.string == plan.optOuts && plan.page(of: nil).contains("Opt-outs at the target"))
        let target = try Shop.salesforce.target(changes, settings: ["targetOptOuts": "override"])
        let said = try Bench(target, [person("c-1", [:])])
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

    @Test func `a contact whose parts stand in several sets goes in one request, and the plan says so`() async throws {
        let target = try Shop.salesforce.target(Self.sets, settings: ["targetOptOuts": "override"])
        var contact = person("c-1", ["nick": "A"], [Subscription(channel: .sms, state: .unsubscribed)])
        contact.tags = ["red"]
        let bench = try Bench(target, [contact])
        defer { bench.remove() }
        var source = try FileSource(path: bench.path("in"))
        let plan = try bench.migration.plan(&source, server: target)
        #expect(plan.report.written == 1)
        #expect(plan.parts.first { $0.name == "identifier email" }?.fate == "kept")
        #expect(plan.attributes.map { "\($0.name) \($0.fate)" } == ["nick kept"])
        let vendor = try Shop.salesforce.vendor()
        #expect(try await bench.apply(vendor).report.written == 1)
        #expect(await vendor.paths == ["/v2/token", "/contacts/v1/contacts", "/contacts/v1/contacts"])
        let held = try await vendor.state
        #expect(
            held["contacts"]?["c-1"] == [
                "Email Addresses/Email Address": #""c-1@mail.example""#, "Email Addresses/HTML Enabled": "true",
                "Profile/Nick": #""A""#, "Profile/Red": "true", "Profile/Sms": "false",
            ]
        )
    }

    @Test func `a value that the vendor refuses takes no other part of its contact along`() async throws {
        let target = try Shop.salesforce.target(Self.sets, settings: ["targetOptOuts": "override"])
        let people = [
            person("c-1", ["nick": "poison"], [Subscription(channel: .sms, state: .unsubscribed)]),
            // Nobody can be reached without an address.
            Contact(identifiers: [Identifier(.external, "c-2")], attributes: ["nick": "B"]),
        ]
        let bench = try Bench(target, people)
        defer { bench.remove() }
        let vendor = try Shop.salesforce.vendor()
        let outcome = try await bench.apply(vendor)
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
    private func `no state of the source becomes a yes that it is not`(shop: Shop) throws {
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
                        let mayHear = state == .subscribed && consent != .denied
                        let hears = row.actions.contains(where: \.isYes)
                        #expect(!hears || mayHear, "\(channel) \(state) \(consent)")
                        #expect(ConsentWords(contact).raised(in: ConsentWords(writtenAs: [row.image])).isEmpty)
                        if hears { count += 1 }
                    }
                }
            }
        }
        // An opt-in is an opt-in all the same.
        #expect(count >= 4)
    }

    @Test(arguments: Shop.allCases)
    private func `a no without a place rejects the row, unless a warning is wanted`(shop: Shop) throws {
        let contact = person("c-1", [:], [Subscription(channel: shop.unheard, state: .unsubscribed)])
        let strict = try shop.target()
        let row = ServerMapper(strict.server, strict.settings).row(of: contact)
        #expect(row.findings.filter { $0.severity == .error }.map(\.code) == ["migration.api.optOutLost"])
        let lax = try shop.target(settings: ["lostOptOuts": "warn"])
        #expect(!ServerMapper(lax.server, lax.settings).row(of: contact).isRejected)
    }

    @Test(arguments: Shop.allCases)
    private func `a field without a place at the vendor does not remove others`(shop: Shop) throws {
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
    private func `a contact of whom nothing is said but the key is refused, as the plan tells`(shop: Shop) async throws
    {
        let odd = Contact(identifiers: [Identifier(.external, "c-2"), Identifier("cookie", "7f3a")])
        let unknown = Subscription(channel: .email, state: .unknown)
        let people = [
            Contact(identifiers: [Identifier(.external, "c-1")]), odd,
            Contact(identifiers: [Identifier(.external, "c-3")], subscriptions: [unknown]), person("c-4", [:]),
        ]
        let bench = try Bench(shop.target(), people)
        defer { bench.remove() }
        var source = try FileSource(path: bench.path("in"))
        let planned = try bench.migration.plan(&source, server: bench.target).report
        let vendor = try shop.vendor()
        let report = try await bench.apply(vendor).report
        for told in [planned, report] {
            #expect((told.written, told.rejected) == (1, 3))
            #expect(told.findings["migration.api.keyAlone"]?.count == 3)
        }
        #expect(try await bench.verify(vendor).1 == [])
        #expect(try await bench.held(vendor).keys.sorted() == ["c-4"])
    }

    @Test func `a field without a place at the vendor is left out with a finding`() throws {
        let target = try Shop.altcraft.target(settings: ["timeZone": "_tz"])
        var contact = person("c-1")
        (contact.locale, contact.timeZone) = ("fi_FI", "Europe/Helsinki")
        contact.devices = [Device(pushToken: PushToken(String(repeating: "0aa1", count: 16), service: .apns))]
        let row = ServerMapper(target.server, target.settings).row(of: contact)
        #expect(row.findings.map(\.code).sorted() == ["migration.api.deviceLost", "migration.api.noPlace"])
        #expect(row.image.attributes["_tz"] == .string("Europe/Helsinki"))
    }

    @Test func `a run that was stopped goes on, and each row has one verdict`() async throws {
        let people = (0..<200).map { person("c-\($0)", ["points": .integer(Int64($0))]) }
        let bench = try Bench(Shop.altcraft.target(["profilesPerRequest": 5]), people)
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await bench.apply(vendor, isCancelled: asked(moreThan: 3))
        #expect(!first.isCommitted)
        #expect(try bench.names.contains("out.checkpoint"))
        let other = await failure { try await bench.apply(vendor, settings: ["other": true]) }
        #expect(
            other == [
                "migration.checkpoint.settings: The interrupted run had other formats, settings or files (other: settings)."
            ]
        )
        let second = try await bench.apply(vendor)
        #expect(second.isCommitted)
        #expect(second.report.read == 200)
        #expect(second.accounts?.total("accepted") == 400)
        #expect(try bench.lines("out").compactMap { $0["number"]?.integer } == (1...200).map(Int64.init))
    }

    /// Whether it was asked more often than so.
    private func asked(moreThan most: Int) -> () -> Bool {
        var count = 0
        return {
            count += 1
            return count > most
        }
    }

    /// A thousand people, every tenth of them twice, the second row some way behind the first.
    private static var crowd: [Contact] {
        (0..<1_000).map { person("c-\($0 % 10 == 9 ? $0 - 5 : $0)", ["points": .integer(Int64($0))]) }
    }

    @Test func `what is said fills the requests, though people stand in the source twice`() async throws {
        let bench = try Bench(Shop.altcraft.target(), Self.crowd)
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        #expect(try await bench.apply(vendor).isCommitted)
        let paths = await vendor.paths
        // Some 30 where nothing else runs, a hundred on a busy machine, and one for each row if rows entered one by one.
        #expect(paths.count < 250, "\(paths.count) requests")
        #expect(try bench.lines("out").compactMap { $0["number"]?.integer } == (1...1_000).map(Int64.init))
        let held = try await bench.held(vendor)
        #expect(held["c-4"]?.attributes["points"] == .integer(9))
    }

    @Test func `a run that goes on says what it says in full requests, and tells that it hears the opt-outs again`()
        async throws
    {
        let bench = try Bench(Shop.altcraft.target(["profilesPerRequest": 5]), Self.crowd)
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await bench.apply(vendor, isCancelled: asked(moreThan: 1_500))
        #expect(!first.isCommitted)
        #expect(first.report.read > 0)
        let before = await vendor.paths.count
        var parts: [ServerProgress] = []
        let outcome = try await bench.apply(vendor, progress: { parts.append($0) })
        #expect(outcome.isCommitted)
        #expect(outcome.report.read == 1_000)
        let after = await vendor.paths.count
        #expect(after - before <= 450, "\(after - before) requests for \(1_000 - first.report.read) rows")
        let size = try #require(FileSource(path: bench.path("in")).size)
        let heard = parts.filter { if case .hearing(let total) = $0.part { total > 0 && total < size } else { false } }
        #expect(!heard.isEmpty)
        #expect(heard.allSatisfy { $0.bytes > 0 && $0.records > 0 })
        #expect(parts.last?.part == .moving)
    }

    @Test func `who gives up while the opt-outs are heard again finds the run as it was`() async throws {
        let bench = try Bench(Shop.altcraft.target(["profilesPerRequest": 5]), Self.crowd)
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await bench.apply(vendor, isCancelled: asked(moreThan: 3))
        let second = try await bench.apply(vendor) { true }
        #expect(!second.isCommitted)
        #expect(second.report.read == first.report.read)
        #expect(try await bench.apply(vendor).isCommitted)
    }

    @Test(arguments: [true, false])
    func `what was taken back of an unfinished run is not gone on with`(isRejected: Bool) async throws {
        let people = (0..<200).map { person("c-\($0)", ["points": .integer(Int64($0))]) }
        let bench = try Bench(Shop.altcraft.target(["profilesPerRequest": 5]), people)
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        let first = try await bench.apply(vendor, journal: true, isCancelled: asked(moreThan: 40))
        #expect(!first.isCommitted)
        if isRejected {
            // Whom somebody has changed since stays, and so does the journal.
            let other = try Bench(bench.target, [person("c-0", ["points": 900])])
            defer { other.remove() }
            _ = try await other.apply(vendor)
        }
        let undone = try await bench.undo(vendor)
        #expect(undone.report.rejected == (isRejected ? 1 : 0))
        #expect(try bench.names.contains("journal") == isRejected)
        let refused = await failure { try await bench.apply(vendor, journal: true) }
        #expect(refused.map { $0.prefix(22) } == ["migration.journal.gone"])
        #expect(try bench.names.contains("journal") == isRejected)
        // Taking back is gone on with all the same.
        if isRejected { #expect(try await bench.undo(vendor).report.rejected == 1) }
    }

    @Test func `what a run is writing is not taken back meanwhile`() async throws {
        let bench = try Bench(Shop.altcraft.target(), [person("c-1")])
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        _ = try await bench.apply(vendor, journal: true)
        let run = try FileDescriptor(bench.path("journal"), O_RDWR)
        #expect(run.lock())
        await #expect(throws: FileError.self) { try await bench.undo(vendor) }
        #expect(try await bench.held(vendor).count == 1)
        try run.close()
        #expect(try await bench.undo(vendor).report.written == 1)
        #expect(try await bench.held(vendor).isEmpty)
    }

    @Test func `a provider that stops ends the run with the reason, and the next run goes on`() async throws {
        let bench = try Bench(Shop.altcraft.target(), [person("c-1")])
        defer { bench.remove() }
        let no = Outcome.replied(WireResponse(401, json: ["error": 401, "error_text": "no"]))
        let vendor = try Shop.altcraft.vendor(instead: [no])
        let outcome = try await bench.apply(vendor)
        #expect(outcome.stopped?.error == .unauthenticated)
        #expect(!outcome.isCommitted)
        #expect(try await bench.apply(vendor).report.written == 1)
    }

    @Test func `a vendor that is away for an hour is waited for`() async throws {
        let bench = try Bench(Shop.altcraft.target(), [person("c-1")])
        defer { bench.remove() }
        let later = Outcome.replied(WireResponse(429, headers: [WireHeader("Retry-After", "3600")]))
        let vendor = try Shop.altcraft.vendor(instead: [later])
        #expect(try await bench.apply(vendor).report.written == 1)
    }

    @Test func `an outbox that is gone, and a journal of others, are refused`() async throws {
        let bench = try Bench(Shop.altcraft.target(["profilesPerRequest": 1]), (0..<50).map { person("c-\($0)") })
        defer { bench.remove() }
        let vendor = try Shop.altcraft.vendor()
        try Data("{}\n".utf8).write(to: URL(filePath: bench.path("journal")))
        let strange = await failure { try await bench.apply(vendor, journal: true) }
        #expect(strange.first?.hasPrefix("migration.journal.other") == true)
    }

    @Test func `a journal is read from the first row without a verdict, and whole where it was shortened`() throws {
        let bench = try Bench(Shop.altcraft.target(), [])
        defer { bench.remove() }
        func open(settled: Int, from place: Int) throws -> ServerJournal {
            try ServerJournal(bench.path("journal"), bench.target, goesOn: true, settled: settled, from: place) {
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
        let size = try FileSource(path: bench.path("journal")).size
        #expect(places == places.sorted() && Set(places).count > 7 && (places.last ?? 0) < size ?? 0)
        for (settled, place) in places.enumerated() {
            let journal = try open(settled: settled, from: place)
            #expect(journal.rows.keys.sorted() == (1...50).filter { $0 > settled })
            #expect(journal.place(after: settled) >= place)
        }
        #expect(try open(settled: 40, from: (size ?? 0) + 1).rows.count == 10)
    }

    @Test func `APIs that import no contacts are refused`() async throws {
        let device = await failure { try ServerTarget.check(DESDevice.self) }
        #expect(device.first?.hasPrefix("migration.api.device") == true)
        let target = try Shop.salesforce.target([
            "route": "contacts", "contactAttributes": ["identifier.email": "Email Addresses/Email Address"],
            "contactDefaults": ["Email Addresses/HTML Enabled": "true"],
        ])
        let bench = try Bench(target, [person("c-1")])
        defer { bench.remove() }
        let vendor = try Shop.salesforce.vendor()
        let journal = await failure { try await bench.apply(vendor, journal: true) }
        #expect(journal.first?.hasPrefix("migration.api.noJournal") == true)
        let verify = await failure { try await bench.verify(vendor) }
        #expect(verify.first?.hasPrefix("migration.api.unreadable") == true)
        var source = try FileSource(path: bench.path("in"))
        let plan = try bench.migration.plan(&source, server: target)
        #expect(plan.undo.hasPrefix("The migration cannot be undone"))
    }

    private static let ways: [(Shop, JSONObject, [String])] = [
        (.altcraft, [:], ["profiles/import_batch 3", "profiles/list 1", "reading 1"]),
        (.salesforce, [:], ["rowset 6", "reading 1"]),
        (.salesforce, ["route": "asyncRows", "rowsPerJob": 40], ["async rows 8", "async status 16", "reading 1"]),
        (.acoustic, [:], ["AddRecipient 100", "reading 100"]),
        (.adobe, [:], ["find 100", "profile 100", "reading 200"]),
        (.adobe, ["services": [:]], ["find 100", "profile 100", "reading 100"]),
    ]

    @Test(arguments: ways)
    private func `a plan counts the requests and jobs of the API`(shop: Shop, changes: JSONObject, ways: [String])
        throws
    {
        let target = try shop.target(changes)
        let people = (0..<100).map { number -> Contact in
            var contact = person("c-\(number)", [:], [Subscription(channel: .email, state: .unsubscribed)])
            contact.tags = ["red"]
            return contact
        }
        let bench = try Bench(target, people)
        defer { bench.remove() }
        var source = try FileSource(path: bench.path("in"))
        let plan = try bench.migration.plan(&source, server: target)
        #expect(plan.loads.map { "\($0.route.name) \($0.requests)" } == ways)
        #expect(plan.undo.hasPrefix("Undo with --journal"))
        if shop == .salesforce { #expect(plan.loads.allSatisfy { $0.seconds != nil }) }
    }

    @Test func `a plan counts questions for jobs and pages, and says what it assumed`() throws {
        func loads(_ settings: JSONObject, _ count: Int) throws -> [MigrationPlan.Load] {
            let changes: JSONObject = ["route": "asyncRows", "rowsPerJob": 1000, "pollSeconds": 5]
            let target = try Shop.salesforce.target(changes, settings: settings)
            let bench = try Bench(target, (0..<count).map { person("c-\($0)") })
            defer { bench.remove() }
            var source = try FileSource(path: bench.path("in"))
            return Array(try bench.migration.plan(&source, server: target).loads.dropFirst())
        }
        let assumed = try loads([:], 100)
        #expect(assumed.map(\.requests) == [2, 1])
        // As long as the only job takes, though the rate would let the questions go at once.
        #expect(assumed.map(\.seconds) == [10, 0])
        #expect(assumed.allSatisfy { $0.route.note.contains("assumed") })
        let told = try loads(["jobSeconds": 62, "heldContacts": 12_345], 100)
        #expect(told.map(\.requests) == [13, 5])
        #expect(told[0].seconds == 65)
        #expect(told.allSatisfy { $0.route.note.contains("from the settings") && !$0.route.note.contains("assumed") })
        #expect(try loads(["heldContacts": 0], 1).last?.requests == 1)
    }

    @Test func `a target file with a header alone has no contact`() throws {
        let migration = try Migration(from: .neutralContacts, to: try #require(VendorFiles.salesforce.formats.first))
        let verification = try migration.verify(
            { ChunkedSource(person("c-1").jsonBytes + [0x0A], chunk: 99) },
            against: { ChunkedSource(Array("Subscriber Key\r\n".utf8), chunk: 99) },
            difference: { _ in }
        )
        #expect(verification.differences == ["": [.missing: 1]])
    }
}
