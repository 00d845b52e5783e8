import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

@Suite("Salesforce attributes") struct AttributeTests {
    struct Value: CustomTestStringConvertible, Sendable {
        let value: AttributeValue
        let text: String?
        var testDescription: String { value.type.rawValue }

        static let all: [Value] = [
            .init(value: "  blue ", text: "blue"), .init(value: "", text: ""), .init(value: 42, text: "42"),
            .init(value: .integer(.min), text: "-9223372036854775808"),
            .init(value: read("1249.90", .decimal), text: "1249.90"), .init(value: true, text: "true"),
            .init(value: false, text: "false"), .init(value: read("2028-02-29", .date), text: "2028-02-29"),
            .init(value: read("08:30", .time), text: "08:30"),
            .init(value: read("2031-03-09T00:15:00.250+02:00", .timestamp), text: "2031-03-08T22:15:00.25Z"),
            .init(value: read("FI", .country), text: "FI"),
            .init(value: .choices(["sailing", "music"]), text: "sailing;music"),
            .init(value: .choices(["a;b"]), text: nil), .init(value: .choices(["a;\u{301}b"]), text: nil),
            .init(value: .list(["a"]), text: nil),
            .init(value: .object(["a": 1]), text: nil),
        ]

        static func read(_ text: String, _ type: AttributeType) -> AttributeValue {
            AttributeValue(text: text, as: type) ?? .list([])
        }
    }

    @Test(arguments: Value.all) func `encodes each value type as text or rejects it`(_ row: Value) throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(.set("x", row.value), at: 0)
        #expect(try driver.body(at: 0).pairs == row.text.map { ["x=\($0)"] } ?? [])
        #expect(driver.examine(.set("x", row.value)).contains { $0.severity == .error } == (row.text == nil))
    }

    @Test(.shows("salesforce/A2", "salesforce/A6", "salesforce/W17"))
    func `trims names and values and sorts the pairs`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(.changeAttributes(["b ": .set(" 2 "), "a": .set("1"), "B": .set("3")]), at: 0)
        #expect(try driver.body(at: 0).pairs == ["B=3", "a=1", "b=2"])
    }

    @Test(.shows("salesforce/A1"), arguments: ["", " ", "\u{2003}"])
    func `rejects a blank attribute name`(_ name: String) throws {
        #expect(
            try TestDriver().words(.set(AttributeName(rawValue: name), "x")) == ["error salesforce.attribute.blankName"]
        )
    }

    @Test(.shows("salesforce/A3")) func `rejects exactly the 47 reserved names, in any letter case`() throws {
        let driver = try TestDriver()
        #expect(AttributeRules.reserved.count == 47)
        for word in AttributeRules.reserved.sorted() {
            for name in [word, word.uppercased(), " \(word) "] {
                #expect(
                    driver.words(.set(AttributeName(rawValue: name), "x")) == ["error salesforce.attribute.reserved"]
                )
            }
        }
        for name in ["language", "locale", "subscriberKey", "UUID", "status_", "tımezone"] {
            #expect(driver.words(.set(AttributeName(rawValue: name), "x")).isEmpty)
        }
    }

    @Test(.shows("salesforce/A4")) func `rejects a name longer than 128 UTF-16 units`() throws {
        let driver = try TestDriver()
        for (name, isFine) in [("n", true), ("😀", true), ("nn", false), ("😀n", false)] {
            let full = String(repeating: String(name.first ?? "n"), count: 128 / (name.first?.utf16.count ?? 1))
            let words = driver.words(.set(AttributeName(rawValue: full + name.dropFirst()), "x"))
            #expect(words == (isFine ? [] : ["error salesforce.attribute.longName"]))
        }
    }

    @Test(.shows("salesforce/A13")) func `omits invalid pairs and sends the others`() throws {
        let driver = try TestDriver()
        let change = Action.changeAttributes([
            "tier": .set("gold"), "status": .set("x"), "orders": .set(.list(["a"])),
            "visits": .increment(ExactDecimal(1)),
        ])
        #expect(
            driver.words(change) == [
                "warning salesforce.attribute.nested", "warning salesforce.attribute.reserved",
                "warning salesforce.attribute.arithmetic",
            ]
        )
        #expect(driver.examine(change).map(\.path) == ["orders", "status", "visits"].map { "action.changes.\($0)" })
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(change, at: 0)
        #expect(try driver.body(at: 0).pairs == ["tier=gold"])
    }

    @Test func `rejects an operation without valid pairs with every reason`() throws {
        let change = Action.changeAttributes(["status": .set("x"), "visits": .append(["a"])])
        #expect(
            try TestDriver().words(change) == [
                "error salesforce.attribute.reserved", "error salesforce.attribute.arithmetic",
            ]
        )
        #expect(try TestDriver().words(.changeAttributes([:])) == ["error salesforce.attributes.empty"])
    }

    @Test(
        .shows("salesforce/A10"),
        arguments: [
            AttributeChange.increment(ExactDecimal(1)), .append(["a"]), .remove(["a"]),
        ]
    )
    func `rejects increment, append and remove`(_ change: AttributeChange) throws {
        let findings = try TestDriver().examine(.changeAttributes(["visits": change]))
        #expect(findings.map(\.code) == ["salesforce.attribute.arithmetic"])
        #expect(findings.first?.remedy.isEmpty == false)
    }

    @Test(
        .shows("salesforce/A5", "salesforce/A7", "salesforce/A11"),
        arguments: [
            ("blank", ["city=Turku", "tier="]), ("stopSending", ["city=Turku"]),
        ]
    )
    func `unset empties the attribute or stops sending it`(setting: String, pairs: [String]) throws {
        let driver = try TestDriver.registered(["unset": .string(setting)], .set("tier", "gold"), .set("city", "Turku"))
        driver.capture(.changeAttributes(["tier": .unset]), at: 0)
        #expect(try driver.exchange(at: 60).json?.pairs == pairs)
        driver.capture(.add("sports"), at: 60)
        #expect(try driver.exchange(at: 120).json?.pairs == pairs)
    }

    @Test(.shows("salesforce/A9")) func `rejects an attribute that the account does not define`() throws {
        let driver = try TestDriver([
            "accountAttributes": ["LoyaltyTier", "My City"],
            "attributeNames": ["tier": "LoyaltyTier", "town": "My City"],
        ])
        #expect(driver.words(.set("tier", "gold")).isEmpty)
        #expect(driver.words(.set("LoyaltyTier", "gold")).isEmpty)
        #expect(driver.words(.set("loyaltytier", "gold")) == ["error salesforce.attribute.undefined"])
        #expect(driver.words(.set("town", "Turku")) == ["note salesforce.attribute.spacedName"])
        let both = Action.changeAttributes(["tier": .set("a"), "LoyaltyTier": .set("b")])
        #expect(driver.words(both) == ["warning salesforce.attribute.collision"])
    }
}
