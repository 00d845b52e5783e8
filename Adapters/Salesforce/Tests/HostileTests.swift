import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

/// Texts that need correct escaping. Each arrives unchanged or is rejected with a reason.
@Suite("Salesforce hostile texts") struct HostileTests {
    private static let texts: [String] =
        Corpus.hostileTexts.map(\.text) + [
            Corpus.longText.trimmed, "/ ? # + % & = ;", "%2F%00", "..//..", "\u{0}", "a\u{0}b", "\u{FFFD}", "\u{FEFF}x",
            "x\u{200B}", "null", "{\"key\":\"value\"}", "\u{10FFFF}", "e\u{301}", "\u{E9}", "\r\n\r\nX: y",
        ]

    private func exchange(_ actions: Action...) throws -> (body: JSONValue, account: SalesforceAccount) {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        for action in actions { driver.capture(action, at: 0) }
        let request = try driver.transmission(at: 0).request
        let simulator = try SalesforceSimulator(settings: [:])
        var account = simulator.initialState
        #expect(simulator.respond(to: request, state: &account, now: TestDriver.at(0)).status == 201)
        #expect(account.violations == [] && account.devices.first?.refusedLater == [])
        return (try #require(request.json), account)
    }

    private func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }

    @Test(arguments: texts) func `sends a value byte for byte`(_ text: String) throws {
        let body = try exchange(.set("x", .string(text)), .identify(text), .add(PatchbayModel.Tag(rawValue: text))).body
        let sent = bytes(text.trimmed)
        #expect(bytes(body["attributes"]?[0]?["value"]?.string) == sent)
        #expect(bytes(body["subscriberKey"]?.string) == sent)
        #expect(body.tags.contains { bytes($0) == sent })
    }

    @Test(arguments: texts) func `sends an attribute name byte for byte or rejects it for its length`(
        _ text: String
    )
        throws
    {
        let name = AttributeName(rawValue: text)
        let codes = try TestDriver().examine(.set(name, "x")).filter { $0.severity == .error }.map(\.code)
        guard text.utf16.count <= 128 else { return #expect(codes == ["salesforce.attribute.longName"]) }
        #expect(codes == [])
        #expect(bytes(try exchange(.set(name, "x")).body["attributes"]?[0]?["key"]?.string) == bytes(text.trimmed))
    }

    @Test(arguments: texts) func `sends an event attribute byte for byte or omits it for its name`(_ text: String)
        throws
    {
        let event = Action.track(.custom(name: "Order", attributes: [AttributeName(rawValue: text): .string(text)]))
        let driver = try TestDriver.registered()
        driver.capture(event, at: 1)
        let sent = try driver.body(at: 1)["nodes"]?[0]?["items"]?[0]?["event"]?["attributes"]?.object ?? [:]
        let key = text.trimmed
        guard !key.contains(where: { $0.isNewline || $0 == "." }) else {
            #expect(sent.isEmpty)
            return #expect(driver.words(event) == ["warning salesforce.event.attributeKey"])
        }
        #expect(driver.words(event) == [])
        #expect(bytes(sent.names.first) == bytes(key))
        #expect(bytes(sent[key]?.string) == bytes(text))
    }

    @Test(arguments: ["a/b", "a?b", "a#b", "a+b", "a%b", "a&b", "😀", "שלום", "a\u{0}b"])
    func `rejects an event name with special characters and reports the reason`(_ name: String) throws {
        let findings = try TestDriver().examine(.track(.custom(name: name)))
        #expect(findings.map(\.code) == ["salesforce.event.name"])
        #expect(findings.map(\.path) == ["action.event.name"])
        #expect(findings.allSatisfy { !$0.reason.contains(name) && !$0.remedy.isEmpty })
    }

    @Test(arguments: ["\\ud800", "\\udc00x", "\\ud83dx"])
    func `rejects a lone surrogate while parsing an operation`(_ escape: String) {
        let text = #"{"kind":"changeAttributes","changes":{"x":{"set":"\#(escape)"}}}"#
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.code == .loneSurrogate)
    }

    @Test(.shows("salesforce/A5")) func `rejects null as an attribute value`() throws {
        let json = try JSONValue(parsing: #"{"kind":"changeAttributes","changes":{"x":{"set":null}}}"#)
        #expect(throws: ModelError.self) { try Action(json: json, at: "action") }
        // The removal of an attribute has its own change.
        #expect(try exchange(.changeAttributes(["x": .unset])).body.pairs == ["x="])
    }

    @Test(.shows("salesforce/A3", "salesforce/A13")) func `omits only the reserved names of many pairs`()
        throws
    {
        let changes = Dictionary(
            uniqueKeysWithValues: (0..<200).map { (AttributeName(rawValue: "a\($0)"), AttributeChange.set("x")) }
                + ["Status", "HWID", "timeZone"].map { (AttributeName(rawValue: $0), .set("x")) }
        )
        let findings = try TestDriver().examine(.changeAttributes(changes))
        #expect(findings.map(\.code) == ["Status", "HWID", "timeZone"].map { _ in "salesforce.attribute.reserved" })
        #expect(findings.map(\.path).sorted() == ["HWID", "Status", "timeZone"].map { "action.changes.\($0)" })
        #expect(findings.allSatisfy { $0.severity == .warning && $0.rule == .salesforce("A3") && !$0.remedy.isEmpty })
        #expect(try exchange(.changeAttributes(changes)).account.devices.first?.attributes.count == 200)
    }
}
