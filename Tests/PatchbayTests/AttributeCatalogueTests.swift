import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import Testing

@Suite("Attribute catalogue") struct AttributeCatalogueTests {
    struct Row: CustomTestStringConvertible {
        let type: AttributeType
        let change: AttributeChange
        /// The converted change; nil if it cannot be converted and stays unchanged.
        let expected: AttributeChange?
        /// The path of the finding below the attribute.
        var path = ""

        var testDescription: String { "\(change.jsonBytes.count) bytes as \(type.rawValue)" }
    }

    static let day = AttributeValue(text: "1990-04-01", as: .date) ?? ""

    static let rows: [Row] = [
        Row(type: .date, change: .set("1990-04-01"), expected: .set(day)),
        Row(type: .date, change: .set("1990-02-30"), expected: nil, path: ".set"),
        Row(type: .string, change: .set(day), expected: .set("1990-04-01")),
        Row(type: .string, change: .set(7), expected: .set("7")),
        Row(type: .integer, change: .set("007"), expected: .set(7)),
        Row(type: .integer, change: .set("7.5"), expected: nil, path: ".set"),
        Row(type: .decimal, change: .set(7), expected: .set(.decimal(ExactDecimal(7)))),
        Row(type: .boolean, change: .set("yes"), expected: .set(true)),
        Row(type: .boolean, change: .set(1), expected: nil, path: ".set"),
        Row(type: .choices, change: .set(.list(["a", "b"])), expected: .set(.choices(["a", "b"]))),
        Row(type: .choices, change: .set("One; Two ;;Three"), expected: .set(.choices(["One", "Two", "Three"]))),
        Row(type: .choices, change: .set(" ; "), expected: .set(.choices([]))),
        Row(type: .date, change: .unset, expected: .unset),
        Row(type: .integer, change: .increment(ExactDecimal(2)), expected: .increment(ExactDecimal(2))),
        Row(type: .integer, change: .increment(ExactDecimal(text: "0.5") ?? ExactDecimal(0)), expected: nil),
        Row(type: .string, change: .increment(ExactDecimal(2)), expected: nil),
        Row(type: .list, change: .append([1]), expected: .append([1])),
        Row(type: .choices, change: .remove(["a"]), expected: .remove(["a"])),
        Row(type: .choices, change: .append([1]), expected: nil),
        Row(type: .integer, change: .append([1]), expected: nil),
    ]

    static func operation(_ changes: [AttributeName: AttributeChange]) -> EngagementOperation {
        EngagementOperation(
            id: "op-1",
            subject: "s-1",
            capturedAt: Instant(milliseconds: 0),
            action: .changeAttributes(changes)
        )
    }

    @Test(arguments: rows) func `converts a change to the catalogued type or reports a finding with its path`(
        _ row: Row
    ) {
        let catalogue = AttributeCatalogue(["field": .init(type: row.type)])
        let (coerced, findings) = catalogue.coerce(Self.operation(["field": row.change, "other": .set("1")]))
        #expect(coerced == Self.operation(["field": row.expected ?? row.change, "other": .set("1")]))
        #expect(findings.map(\.path) == (row.expected == nil ? ["action.changes.field\(row.path)"] : []))
        #expect(findings.allSatisfy { $0.severity == .error && !$0.remedy.isEmpty })
    }

    @Test func `converts a contact's attributes to the catalogued types`() {
        let catalogue = AttributeCatalogue([.birthDate: .init(type: .date), "points": .init(type: .integer)])
        let contact = Contact(attributes: [.birthDate: "1990-04-01", "points": "many", "city": "Oulu"])
        let (coerced, findings) = catalogue.coerce(contact)
        #expect(coerced.attributes == [.birthDate: Self.day, "points": "many", "city": "Oulu"])
        #expect(findings.map(\.path) == ["attributes.points"])
        #expect(findings.first?.reason.contains("string to integer") == true)
    }

    @Test func `reports a change of an attribute that the other side owns`() {
        let catalogue = AttributeCatalogue(["points": .init(owner: .server), "seen": .init(owner: .device)])
        let operation = Self.operation(["points": .set(1), "seen": .set(true), "city": .set("Oulu")])
        #expect(catalogue.ownership(of: operation, at: .device).map(\.path) == ["action.changes.points"])
        #expect(catalogue.ownership(of: operation, at: .server).map(\.path) == ["action.changes.seen"])
    }
}
