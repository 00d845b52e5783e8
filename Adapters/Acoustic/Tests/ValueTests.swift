import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic values") struct ValueTests {
    /// The wire entry of a value in a column, `type value`.
    private func entry(_ name: AttributeName, _ value: AttributeValue, _ settings: JSONObject = [:]) throws -> String {
        let driver = try TestDriver.ready(settings)
        driver.capture(.set(name, value), at: 0)
        let entry = try #require(driver.transmission(at: 0, flush: true).request.json?["attributes"]?[0])
        return "\(entry["type"]?.string ?? "?") \(entry["value"]?.text ?? "?")"
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let column: AttributeName
        let type: AttributeType
        let text: String
        let entry: String
        var testDescription: String { "\(text) (\(type.rawValue)) in \(column.rawValue)" }
    }

    private static let good: [Row] = [
        Row(column: "City", type: .string, text: "Turku", entry: #"string "Turku""#),
        Row(column: "City", type: .string, text: "", entry: #"string """#),
        Row(column: "NewsletterReader", type: .boolean, text: "true", entry: "boolean true"),
        Row(column: "NewsletterReader", type: .boolean, text: "no", entry: "boolean false"),
        Row(column: "Visits", type: .integer, text: "42", entry: "number 42"),
        Row(column: "LifetimeValue", type: .decimal, text: "-0.10", entry: "number -0.10"),
        Row(column: "Birthday", type: .date, text: "2028-02-29", entry: #"string "2028-02-29""#),
        Row(column: "Birthday", type: .string, text: "2016-06-01", entry: #"string "2016-06-01""#),
        Row(column: "DeliveryHour", type: .time, text: "08:05", entry: #"string "08:05""#),
        Row(column: "DeliveryHour", type: .string, text: "22:30:59", entry: #"string "22:30""#),
        Row(
            column: "LastVisit",
            type: .timestamp,
            text: "2031-03-09T09:05:11.0426+02:00",
            entry: #"date "2031-03-09T07:05:11.042Z""#
        ),
        Row(column: "HomeCountry", type: .country, text: "FI", entry: #"string "fi""#),
        Row(column: "HomeCountry", type: .string, text: "De", entry: #"string "de""#),
        Row(column: "LoyaltyTier", type: .string, text: "gold", entry: #"string "gold""#),
        Row(column: "Interests", type: .choices, text: "gardening;sailing", entry: #"string "gardening;sailing""#),
        Row(column: "Interests", type: .choices, text: "gardening; sailing", entry: #"string "gardening;sailing""#),
        Row(column: "Interests", type: .string, text: "reading; sailing", entry: #"string "reading;sailing""#),
        Row(column: "Mobile", type: .string, text: "358401234567", entry: #"string "358401234567""#),
        Row(column: "Landline", type: .string, text: "+358 9 1234 SHOP", entry: #"string "+358 9 1234 SHOP""#),
    ]

    @Test(
        .shows(
            "acoustic/C3",
            "acoustic/C4",
            "acoustic/C5",
            "acoustic/C6",
            "acoustic/C7",
            "acoustic/C8",
            "acoustic/C9",
            "acoustic/C13",
            "acoustic/C16",
            "acoustic/C17",
            "acoustic/C18",
            "acoustic/W1",
            "acoustic/W5"
        ),
        arguments: good
    )
    func `encodes a value of each column type`(_ row: Row) throws {
        #expect(try entry(row.column, typed(row.text, row.type)) == row.entry)
    }

    private static let bad: [(column: AttributeName, value: AttributeValue, code: String)] = [
        ("City", 42, "value.type"), ("City", true, "value.type"), ("NewsletterReader", 1, "value.type"),
        ("NewsletterReader", "yes", "value.type"), ("Visits", "42", "value.type"), ("Visits", true, "value.type"),
        ("Birthday", "1.6.2016", "value.type"), ("DeliveryHour", "25:00", "value.type"),
        ("DeliveryHour", "10:30:61", "value.type"), ("LastVisit", "2031-03-09T07:05:11Z", "timestamp.text"),
        ("HomeCountry", "Finland", "value.country"), ("HomeCountry", "xx", "value.country"),
        ("HomeCountry", "en_GB", "value.country"), ("LoyaltyTier", "Gold", "selection.value"),
        ("Interests", .choices(["gardening", "Sailing"]), "choices.value"),
        ("Interests", .choices(["gardening;sailing"]), "choices.semicolon"),
        ("Interests", .choices(["gardening;\u{301}sailing"]), "choices.semicolon"),
        ("Interests", .choices([]), "choices.empty"),
        ("Interests", .choices([" sailing"]), "choices.blank"),
        ("Interests", .choices([String(repeating: "x", count: 101)]), "choices.long"),
        ("Mobile", "+358401234567", "value.phone"), ("City", .list(["a"]), "value.nested"),
        ("City", .object(["street": "x"]), "value.nested"), ("city", "Turku", "column.spelling"),
        ("Town", "Turku", "column.missing"), ("MemberNo", "M-1", "column.lookupKey"), ("Points", 7, "column.owner"),
        ("EMAIL", "a@b.example", "column.type"), ("Segment", "A", "column.type"), ("CreatedFrom", "1", "column.type"),
        ("SmsOptIn", true, "column.type"), ("SmsOptOut", "x", "column.type"), ("SyncId", "x", "column.type"),
    ]

    @Test(
        .shows(
            "acoustic/C1",
            "acoustic/C2",
            "acoustic/C3",
            "acoustic/C6",
            "acoustic/C7",
            "acoustic/C8",
            "acoustic/C10",
            "acoustic/C11",
            "acoustic/C12",
            "acoustic/C16",
            "acoustic/O1"
        ),
        arguments: bad
    )
    func `rejects values that the vendor would silently drop`(
        _ row: (column: AttributeName, value: AttributeValue, code: String)
    ) throws {
        let driver = try TestDriver.ready(["attributeNames": [:]])
        let findings = driver.examine(.set(row.column, row.value))
        #expect(findings.map(\.code) == ["acoustic.\(row.code)"])
        #expect(findings.map(\.severity) == [.error])
        #expect(findings.map(\.path) == ["action.changes.\(row.column.rawValue)"])
    }

    @Test(.shows("acoustic/C13", "acoustic/C9")) func `reports the size of a value that is too long`() throws {
        let driver = try TestDriver.ready()
        let long = try #require(driver.examine(.set("City", .string(String(repeating: "x", count: 4001)))).first)
        #expect(long.code == "acoustic.value.long" && long.reason.contains("4001"))
        let digits = try typed(String(repeating: "7", count: 256), .decimal)
        let many = try #require(driver.examine(.set("Visits", digits)).first)
        #expect(many.code == "acoustic.value.digits" && many.reason.contains("256"))
    }

    @Test(.shows("acoustic/C5", "acoustic/C6")) func `reports removed seconds and lost precision`() throws {
        let driver = try TestDriver.ready()
        #expect(driver.words(.set("DeliveryHour", "10:30:59")) == ["warning value.seconds"])
        let fine = try typed("2031-03-09T07:05:11.042600Z", .timestamp)
        #expect(driver.words(.set("LastVisit", fine)) == ["note timestamp.precision"])
    }

    @Test(.shows("acoustic/C10")) func `rejects increment, append and remove`() throws {
        let driver = try TestDriver.ready()
        let changes: [AttributeChange] = [.increment(ExactDecimal(1)), .append(["a"]), .remove(["a"])]
        for change in changes {
            #expect(driver.words(.changeAttributes(["Visits": change])) == ["error attribute.arithmetic"])
        }
    }

    @Test(.shows("acoustic/G1")) func `reports all problems of a group at once and sends none of it`() throws {
        let driver = try TestDriver.ready()
        let findings = driver.examine(
            .changeAttributes([
                "City": .set("Turku"), "Visits": .set("many"), "MemberNo": .set("M-1"), "HomeCountry": .set("Narnia"),
            ])
        )
        #expect(findings.count == 3 && findings.allSatisfy { $0.severity == .error })
        #expect(
            findings.map(\.path) == [
                "action.changes.HomeCountry", "action.changes.MemberNo", "action.changes.Visits",
            ]
        )
    }

    @Test(.shows("acoustic/G2")) func `sendValid sends the valid entries and reports the invalid one`() throws {
        let driver = try TestDriver.ready(["onInvalid": "sendValid"])
        let change = Action.changeAttributes(["City": .set("Turku"), "Visits": .set("many")])
        #expect(driver.words(change) == ["warning value.type"])
        driver.capture(change, at: 0)
        #expect(try driver.exchange(at: 0, flush: true).words == "PATCH attributes City=Turku")
        #expect(driver.words(.set("Visits", "many")) == ["error value.type"])
    }

    @Test(.shows("acoustic/C14", "acoustic/C15"))
    func `without a schema applies the general column rules and reports it`() throws {
        let driver = try TestDriver.ready(["columns": [:], "attributeNames": [:]])
        #expect(driver.words(.set("ab", "x")) == ["error column.name", "note columns.unknown"])
        #expect(driver.words(.set("anything", "x")) == ["note columns.unknown"])
        #expect(driver.words(.set("anything", .list([]))) == ["error value.nested", "note columns.unknown"])
        let settings: JSONObject = ["columns": [:], "attributeNames": [:]]
        #expect(try entry("at_home", typed("FI", .country), settings) == #"string "fi""#)
        #expect(
            try entry("seen", typed("2031-03-09T07:05:11Z", .timestamp), settings)
                == #"date "2031-03-09T07:05:11.000Z""#
        )
        #expect(try entry("likes", .choices(["a", "b"]), settings) == #"string "a;b""#)
    }

    @Test(.shows("acoustic/K4")) func `deletes a column that was never written, to clear a poisoned cache`() throws {
        let driver = try TestDriver.ready()
        #expect(driver.words(.unset("LoyaltyTeir")) == ["warning delete.foreign"])
        #expect(driver.words(.unset("MemberNo")) == ["warning delete.foreign"])
        #expect(driver.words(.unset("Points")) == ["error column.owner"])
        driver.capture(.unset("LoyaltyTeir"), at: 0)
        #expect(try driver.exchange(at: 0, flush: true).words == "DELETE attributes LoyaltyTeir")
        driver.capture(.unset("LoyaltyTeir"), at: 10)
        #expect(try driver.exchange(at: 10, flush: true).words == "DELETE attributes LoyaltyTeir")
    }

    @Test func `the column table lists every type once`() {
        #expect(Set(ColumnType.table.map(\.type)) == Set(ColumnType.allCases))
        #expect(ColumnType.table.count == ColumnType.allCases.count)
        #expect(Set(ColumnType.table.map(\.code)).count == ColumnType.table.count)
    }
}
