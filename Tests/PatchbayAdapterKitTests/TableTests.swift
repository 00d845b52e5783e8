import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

private func rule(_ number: String) -> RuleID { RuleID("probe", number) }

@Suite("Settings tables") struct SettingsTableTests {
    enum Colour: String, NeutralWord { case blue, red }

    struct Settings: AdapterSettings, Equatable {
        var host = ""
        var name = "n"
        var key: Secret?
        var isLoud = false
        var count = 3
        var colour = Colour.blue
        var names: [AttributeName: String] = [:]
        var list: [String] = []

        static var table: SettingsTable<Settings> {
            SettingsTable([
                .url("host", \.host, rule: rule("1"), "The host."),
                .text("name", \.name, "A name."),
                .secret(
                    "key",
                    \.key,
                    rule: rule("2"),
                    "The key.",
                    check: { $0.count < 4 ? .init("Short.", "Longer.") : nil }
                ),
                .flag("loud", \.isLoud, default: false, "Loud."),
                .integer("count", \.count, in: 1...9, default: 3, "How many."),
                .choice("colour", \.colour, default: .blue, "The colour."),
                .names("names", \.names, "Names."),
                .list("list", \.list, "A list."),
            ])
        }
    }

    private func read(_ json: JSONObject) throws(SettingsError) -> Settings {
        try Settings.table.read(json, over: Settings(), at: "p")
    }

    @Test(.shows("probe/1", "probe/2")) func `reads a setting of every kind`() throws {
        let settings = try read([
            "host": "https://h.example.com/", "name": " x ", "key": "abcd", "loud": true, "count": 9, "colour": "red",
            "names": ["city": "City"], "list": ["a"],
        ])
        #expect(settings.host == "https://h.example.com")
        #expect(settings.name == "x")
        #expect(settings.key == Secret("abcd"))
        #expect(settings.isLoud && settings.count == 9 && settings.colour == .red)
        #expect(settings.names == ["city": "City"])
        #expect(settings.list == ["a"])
    }

    @Test func `reports all problems at once and no value`() {
        do {
            _ = try read([
                "nosuch": 1, "name": "  ", "key": "Se7", "loud": "yes", "count": 10, "colour": "Se7",
                "names": ["a": ""],
                "list": [1],
            ])
            Issue.record("The settings were read.")
        } catch {
            #expect(
                error.findings.map(\.path) == [
                    "p.nosuch", "p.host", "p.name", "p.key", "p.loud", "p.count", "p.colour", "p.names", "p.list",
                ]
            )
            #expect(!error.description.contains("Se7"))
            #expect(error.findings.allSatisfy { !$0.remedy.isEmpty })
        }
    }

    @Test(arguments: ["ftp://h", "https://", "h.example.com", ""])
    func `refuses a URL without a supported scheme or a host`(
        _ text: String
    ) {
        #expect(throws: SettingsError.self) { try read(["host": .string(text), "key": "abcd"]) }
    }

    @Test(arguments: [
        ("https://h.example/a/", true), ("http://localhost:8731/x", true), ("http://127.0.0.1", true),
        ("http://[::1]:80/", true), ("http://h.example", false), ("http://localhost.evil.example", false),
        ("http://127.0.0.1@evil.example", false), ("http://127.1", false), ("http://[::2]/", false),
    ]) func `the code and the schema refuse unencrypted URLs of other machines`(
        row: (text: String, isPrivate: Bool)
    ) throws {
        let settings = try? read(["host": .string(row.text), "key": "abcd"])
        #expect((settings != nil) == row.isPrivate)
        let pattern = try #require(Settings.table.schema["properties"]?["host"]?["pattern"]?.string)
        #expect(try row.text.contains(Regex(pattern)) == row.isPrivate)
    }

    @Test func `null means the default`() throws {
        #expect(try read(["host": "https://h", "key": "abcd", "count": nil]).count == 3)
    }
}

@Suite("Field and reply tables") struct FieldAndReplyTests {
    struct Record: Sendable {
        var id: String
        var size: Int?
    }

    private static let fields = FieldTable<Record>(
        "Record",
        [
            .required("z", \.id, .text, from: "id", rule: rule("1")),
            .optional("a", \.size, .decimalText, from: "size", rule: rule("2")),
        ]
    )

    @Test(.shows("probe/1", "probe/2")) func `writes fields in the order of the table`() {
        #expect(JSONValue.object(Self.fields.object(Record(id: "x", size: 7))).text == #"{"z":"x","a":"7"}"#)
    }

    @Test func `omits a field without a value`() {
        #expect(Self.fields.object(Record(id: "x")).names == ["z"])
        #expect(Self.fields.schema["required"] == ["z"])
    }

    private struct Parcel: Sendable {
        var records: [Record]
        var texts: [String]
    }

    private static let parcels = FieldTable<Parcel>(
        "Parcel",
        [
            .required("records", \.records, .list(of: fields), from: "records", rule: rule("3")),
            .required("texts", \.texts, .texts, from: "texts", rule: rule("4")),
        ]
    )

    @Test func `writes a record with the bytes of its JSON tree`() {
        let parcel = Parcel(records: [Record(id: "\"x\"", size: 7), Record(id: "y")], texts: ["ä", ""])
        let tree = JSONValue.object(Self.parcels.object(parcel)).text
        let bytes = Self.parcels.bytes(parcel)
        #expect(tree == #"{"records":[{"z":"\"x\"","a":"7"},{"z":"y"}],"texts":["ä",""]}"#)
        #expect(String(decoding: bytes, as: UTF8.self) == tree)
    }

    @Test func `writes a record as headers and as a query`() {
        let table = FieldTable<Record>(
            "Record",
            [
                .required("z", \.id, .text, from: "id", rule: rule("1")).secret,
                .optional("a b", \.size, .decimalText, from: "size", rule: rule("2")),
                .optional("n", \.size, .integer, from: "size", rule: rule("3")),
            ]
        )
        let (record, bare) = (Record(id: "x,1", size: -7), Record(id: ""))
        #expect(table.headers(record) == [WireHeader("z", "x,1", isSecret: true), WireHeader("a b", "-7")])
        #expect(table.query(record, after: "https://h/p", leaving: ",") == "https://h/p?z=x,1&a%20b=-7")
        #expect(table.query(bare) == "?z=")
        var bytes = Array("a=".utf8)
        #expect(!table.append(1, of: bare, asJSON: false, to: &bytes))
        #expect(!table.append(1, of: bare, asJSON: true, to: &bytes))
        #expect(table.append(1, of: record, asJSON: true, to: &bytes))
        #expect(table.append(1, of: record, asJSON: false, to: &bytes))
        #expect(String(decoding: bytes, as: UTF8.self) == #"a="-7"-7"#)
    }

    @Test func `reads a part of a remembered value`() {
        let device = Remembered(Device(allowsPush: false, identities: ["a.b": "x"]))
        #expect(device.map { $0.identities["a.b"] } == "x")
        #expect(device.map { $0.pushToken?.value } == nil)
    }

    @Test func `stores a remembered value as JSON text and reads an invalid one as nil`() throws {
        let tag = Remembered<PatchbayModel.Tag>("gold")
        let stored = try JSONEncoder().encode([tag])
        #expect(stored == (try JSONEncoder().encode([JSONValue.string("gold")])))
        #expect(try JSONDecoder().decode([Remembered<PatchbayModel.Tag>].self, from: stored) == [tag])
        let invalid = try JSONEncoder().encode([JSONValue.bool(true)])
        let read = try JSONDecoder().decode([Remembered<PatchbayModel.Tag>].self, from: invalid)
        #expect(read.first?.value == nil)
        #expect(try JSONEncoder().encode(read) == invalid)
    }

    private static let replies = ReplyTable(
        [
            .reply("a fault", .refused, rule: rule("1"), where: .json("fault", .exists)),
            .status(200...299, .accepted, rule: rule("2")),
            .noAnswer(.retry, rule: rule("3")),
        ],
        otherwise: .otherwise(.suspend, rule: rule("4"))
    )

    @Test(arguments: [
        (Outcome.replied(WireResponse(200, json: ["fault": 1])), ReplyMeaning.refused),
        (.replied(WireResponse(204)), .accepted),
        (.failed(TransportFailure(.lost, "timedOut")), .retry), (.replied(WireResponse(302)), .suspend),
    ])
    func `the first matching row decides the meaning of a reply`(_ row: (outcome: Outcome, meaning: ReplyMeaning)) {
        #expect(Self.replies.row(for: row.outcome).meaning == row.meaning)
    }
}

@Suite("Text helpers of the kit") struct KitTextTests {
    @Test(arguments: [
        ("a b", "a%20b"), ("+/=&", "%2B%2F%3D%26"), ("ä😀", "%C3%A4%F0%9F%98%80"), ("-._~", "-._~"), ("", ""),
    ])
    func `percent-encodes and decodes text`(_ row: (plain: String, encoded: String)) {
        #expect(URLText.encode(row.plain) == row.encoded)
        #expect(URLText.decode(row.encoded) == row.plain)
    }

    @Test(arguments: ["%", "%2", "%zz", "%FF"]) func `decodes invalid percent-encoding as nil`(_ text: String) {
        #expect(URLText.decode(text) == nil)
    }

    @Test func `writes and reads queries and paths`() {
        #expect(URLText.query([("a", "1 2"), ("b", nil), ("c", "")]) == "?a=1%202&c=")
        #expect(URLText.query([]) == "")
        #expect(URLText.query([("a", "1,2/3")], leaving: ",") == "?a=1,2%2F3")
        #expect(URLText.queryItems(of: "https://h/p?a=1%202&c#f").map(\.value) == ["1 2", ""])
        #expect(URLText.path(of: "https://h.example.com?x") == "/")
        #expect(URLText.path(of: "https://h.example.com/a/b?x#y") == "/a/b")
    }

    @Test(arguments: [
        ("/apps/{app}/{v}/{app}", "/apps/a%20b/v4/a%20b"), ("/{other}/x", "/{other}/x"), ("/{app", "/{app"),
        ("/app}/{v}", "/app}/v4"), ("/plain", "/plain"), ("", ""),
    ])
    func `replaces names in a path template with encoded values`(_ row: (template: String, path: String)) {
        #expect(URLText.path(row.template) { ["app": "a b", "v": "v4"][$0] } == row.path)
    }

    @Test func `fills a path template in steps`() {
        let template = URLText.Template("/apps/{app}/{v}").filling { $0 == "app" ? "{v} b" : nil }
        #expect(template.path == "/apps/%7Bv%7D%20b/{v}")
        #expect(template.text(after: "https://h") { _ in "4" } == "https://h/apps/%7Bv%7D%20b/4")
    }

    @Test func `joins parts unchanged`() {
        #expect(String(joining: "a", "", "ä😀", "b") == "aä😀b")
        #expect(String(joining: "") == "")
        #expect(String(joining: "0123456789", "0123456789ä") == "01234567890123456789ä")
    }

    @Test func `converts a UUID to lowercase`() {
        #expect(UUIDText.lowercased("019A-Ff") == "019a-ff")
        #expect(UUIDText.lowercased("019a-ff") == "019a-ff")
        #expect("019a".allBytes(UUIDText.isHexDigit) && !"019g".allBytes(UUIDText.isHexDigit))
    }

    @Test func `takes the first plan that acts, else the shortest wait`() {
        typealias Next = Plan<ProbeAdapter>
        func wait(_ milliseconds: Int64?) -> Next {
            .wait(until: milliseconds.map(Instant.init(milliseconds:)), because: ProbeAdapter.refused.at())
        }
        let (act, later): (Next, Next) = (.settle([:]), .settle(["o": .unchanged()]))
        #expect(Next.soonest() == nil)
        #expect(Next.soonest(nil, wait(5), nil, wait(3), wait(4)) == wait(3))
        #expect(Next.soonest(wait(nil), wait(7)) == wait(7))
        #expect(Next.soonest(wait(7), wait(nil)) == wait(7))
        #expect(Next.soonest(wait(1), act, later) == act)
        #expect(Next.sooner(nil, act) == act && Next.sooner(act, nil) == act && Next.sooner(later, act) == later)
    }

    @Test func `finds a header case-insensitively and matches no other`() {
        let request = WireRequest(
            "GET",
            "https://h",
            headers: [WireHeader("X-@a", "1"), WireHeader("X-Client-ID", "2")]
        )
        #expect(request[header: "x-client-id"] == "2")
        #expect(request[header: "x-`a"] == nil)
        #expect(request[header: "X-Client-I"] == nil)
    }

    @Test(arguments: [("  a b\n", "a b"), ("\u{2003}x\u{A0}", "x"), ("", ""), (" ", ""), ("  \u{301}c ", "\u{301}c")])
    func `trims white space at both ends`(_ row: (text: String, trimmed: String)) {
        #expect(row.text.trimmed == row.trimmed)
    }

    @Test func `the description of a request shows no path and no query`() {
        let request = WireRequest("GET", "https://h.example.com/contacts/c-1001?email=a", body: [1, 2])
        #expect(request.description == "GET https://h.example.com (2 bytes)")
        #expect(WireRequest("GET", "https://h.example.com").description == "GET https://h.example.com (0 bytes)")
    }

    @Test func `lists each needed capability once, in order of the names`() {
        let operation = EngagementOperation(
            id: "o",
            subject: "s",
            capturedAt: Instant(milliseconds: 0),
            action: .changeAttributes(["c": .unset, "a": .set("x"), "b": .set(1), "d": .set("y")])
        )
        #expect(
            Capabilities.needs(of: operation)
                == [.operation(.changeAttributes), .attribute(.string), .attribute(.integer), .attributeUnset]
        )
    }

    @Test(arguments: [
        (Action.switchContact(ContactSwitch(.logOut)), ["operation.switchContact", "contact.logOut"]),
        (
            .changeSubscription(Subscription(channel: .push, topic: "offers", state: .subscribed)),
            ["operation.changeSubscription", "subscription.push", "subscription.push.topics"]
        ),
        (
            .changeSubscription(Subscription(channel: .push, state: .subscribed)),
            ["operation.changeSubscription", "subscription.push"]
        ),
    ])
    func `needed capabilities distinguish directions and topics`(_ row: (action: Action, needs: [String])) {
        let operation = EngagementOperation(
            id: "o",
            subject: "s",
            capturedAt: Instant(milliseconds: 0),
            action: row.action
        )
        #expect(Capabilities.needs(of: operation).map(\.rawValue) == row.needs)
    }
}

@Suite("Windows and plans") struct WindowTests {
    private func pending(_ id: OperationID, _ queue: String) -> Pending<ProbeAdapter> {
        let instant = Instant(milliseconds: 0)
        let operation = EngagementOperation(id: id, subject: "s", capturedAt: instant, action: .erase)
        return Pending(operation: operation, sequence: 1, since: instant, queue: queue)
    }

    @Test func `a batch keeps the order of each queue`() {
        let window = PendingOperations([pending("1", "a"), pending("2", "b"), pending("3", "a"), pending("4", "b")])
        #expect(window.batch(9) { $0.id != "1" }.map(\.id) == ["2", "4"])
        #expect(window.batch(9, oncePerQueue: true) { _ in true }.map(\.id) == ["1", "2"])
        #expect(window.batch(3) { _ in true }.map(\.id) == ["1", "2", "3"])
        #expect(window.batch(0) { _ in true }.isEmpty)
    }

    @Test func `the soonest plan acts or has the shortest wait`() {
        func wait(_ seconds: Int?) -> Plan<ProbeAdapter> {
            .wait(until: seconds.map { Instant(milliseconds: 0) + .seconds($0) }, because: ProbeAdapter.waiting.at())
        }
        let act = Plan<ProbeAdapter>.settle(["o": .unchanged()])
        #expect(Plan.soonest(wait(5), wait(3), wait(nil)) == wait(3))
        #expect(Plan.soonest(wait(nil), wait(9)) == wait(9))
        #expect(Plan.soonest(wait(1), act) == act)
        #expect(Plan<ProbeAdapter>.soonest(nil, nil) == nil)
    }

    @Test(arguments: [(0, 1), (1, 1), (2, 1), (3, 2), (16, 8), (17, 9)])
    func `half of a group is at least one`(_ row: (count: Int, half: Int)) {
        #expect(Array(repeating: 0, count: row.count).halfCount == row.half)
    }
}

extension WireFormat<[String]> {
    /// A list of texts that is written without a JSON tree.
    fileprivate static let texts = WireFormat("texts", schema: ["type": "array"]) { texts, writer in
        writer.beginArray()
        for text in texts { writer.string(text) }
        writer.endArray()
    }
}
