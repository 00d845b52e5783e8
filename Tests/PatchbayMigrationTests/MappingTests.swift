import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Testing

@testable import PatchbayMigration

@Suite("Mapping") struct MappingTests {
    private static let contact = Contact(
        identifiers: [Identifier(.external, "c-1")],
        attributes: [
            "tier": "gold", .fullName: "Aino Maria Virtanen", "street": "Kauppatori", "house": "1", .gender: "F",
            "points": "42", "number": 7, "labels": .list(["a", "b"]),
        ],
        locale: "fi_FI"
    )

    struct Case: CustomTestStringConvertible, Sendable {
        let label: String
        let rule: JSONValue
        var changes: [AttributeName: AttributeValue?] = [:]
        var effect = "applied"
        var code: String?

        var testDescription: String { label }
    }

    static let cases: [Case] = [
        Case(
            label: "a value moves",
            rule: ["rename": "attributes.tier", "to": "attributes.loyalty_tier"],
            changes: ["tier": nil, .loyaltyTier: "gold"]
        ),
        Case(
            label: "a value moves over another",
            rule: ["rename": "attributes.tier", "to": "attributes.house"],
            changes: ["tier": nil, "house": "gold"],
            effect: "replaced"
        ),
        Case(label: "nothing to move", rule: ["rename": "attributes.x", "to": "attributes.y"], effect: "idle"),
        Case(
            label: "a constant",
            rule: ["set": "attributes.origin", "value": "import"],
            changes: ["origin": "import"]
        ),
        Case(label: "a constant that is there", rule: ["set": "attributes.tier", "value": "gold"], effect: "idle"),
        Case(label: "a default", rule: ["default": "attributes.city", "value": "Turku"], changes: [.city: "Turku"]),
        Case(
            label: "a default that is not needed",
            rule: ["default": "attributes.tier", "value": "x"],
            effect: "idle"
        ),
        Case(
            label: "a text is cut, and the last place takes the rest",
            rule: ["split": "attributes.full_name", "to": ["attributes.given_name", "attributes.family_name"]],
            changes: [.fullName: nil, .givenName: "Aino", .familyName: "Maria Virtanen"]
        ),
        Case(
            label: "a number is not cut",
            rule: ["split": "attributes.number", "to": ["attributes.given_name"]],
            effect: "failed",
            code: "mapping.value.noText"
        ),
        Case(
            label: "texts are joined",
            rule: ["join": ["attributes.street", "attributes.house", "attributes.none"], "to": "attributes.address"],
            changes: ["street": nil, "house": nil, "address": "Kauppatori 1"]
        ),
        Case(
            label: "a list is not joined",
            rule: ["join": ["attributes.street", "attributes.labels"], "to": "attributes.address"],
            effect: "failed",
            code: "mapping.value.noText"
        ),
        Case(
            label: "a value is looked up",
            rule: ["map": "attributes.gender", "values": ["F": "female"]],
            changes: [.gender: "female"]
        ),
        Case(label: "an unknown value stays", rule: ["map": "attributes.tier", "values": ["x": 1]], effect: "idle"),
        Case(
            label: "an unknown value is dropped",
            rule: ["map": "attributes.tier", "values": ["x": 1], "otherwise": "drop"],
            changes: ["tier": nil],
            effect: "failed",
            code: "mapping.value.unknown"
        ),
        Case(
            label: "an unknown value rejects",
            rule: ["map": "attributes.tier", "values": ["x": 1], "otherwise": "reject"],
            effect: "failed",
            code: "mapping.value.rejected"
        ),
        Case(label: "a type", rule: ["type": "attributes.points", "as": "integer"], changes: ["points": 42]),
        Case(
            label: "a type by the catalogue",
            rule: ["type": "attributes.number"],
            changes: ["number": .decimal(ExactDecimal(7))]
        ),
        Case(
            label: "a type that loses",
            rule: ["type": "attributes.tier", "as": "date"],
            effect: "failed",
            code: "mapping.value.type"
        ),
        Case(
            label: "a tag is no text",
            rule: ["rename": "attributes.number", "to": "tags.x"],
            changes: ["number": nil],
            effect: "failed",
            code: "mapping.value.noText"
        ),
        Case(
            label: "a tag is not there already",
            rule: ["set": "tags.gold", "value": false],
            effect: "idle"
        ),
        Case(
            label: "by default a tag is not there",
            rule: ["default": "tags.gold", "value": false],
            effect: "idle"
        ),
        Case(
            label: "there are no tags already",
            rule: ["set": "tags", "value": ["choices": []]],
            effect: "idle"
        ),
        Case(label: "a removal", rule: ["remove": "attributes.tier"], changes: ["tier": nil]),
    ]

    private static let catalogue = AttributeCatalogue(["number": AttributeCatalogue.Entry(type: .decimal)])

    @Test(arguments: cases) func `applies and counts each kind of rule`(_ row: Case) throws {
        let mapping = try ContactMapping(json: [row.rule], catalogue: Self.catalogue)
        var (contact, effects) = (Self.contact, mapping.noEffects)
        let findings = mapping.apply(to: &contact, counting: &effects)
        var expected = Self.contact
        for (name, value) in row.changes { expected.attributes[name] = value }
        #expect(contact == expected)
        #expect(findings.map(\.code) == [row.code].compactMap { $0 })
        #expect(effects[0].json[row.effect] == 1)
        #expect(findings.allSatisfy { $0.reason.contains("rule 1") && !$0.remedy.isEmpty })
    }

    @Test func `maps identifiers, locale and time zone`() throws {
        let mapping = try ContactMapping(json: [
            ["rename": "identifiers.external", "to": "identifiers.loyalty_card"],
            ["rename": "attributes.points", "to": "identifiers.external"],
            ["rename": "locale", "to": "attributes.language"], ["set": "timeZone", "value": "Europe/Helsinki"],
            ["rename": "attributes.labels", "to": "locale"],
        ])
        var (contact, effects) = (Self.contact, mapping.noEffects)
        let findings = mapping.apply(to: &contact, counting: &effects)
        #expect(contact.identifiers == [Identifier("loyalty_card", "c-1"), Identifier(.external, "42")])
        #expect(contact.locale == nil && contact.timeZone == "Europe/Helsinki")
        #expect(contact.attributes["language"] == "fi_FI" && contact.attributes["points"] == nil)
        #expect(findings.map(\.path) == ["locale"])
        #expect((effects[0] + effects[1]).applied == 2)
    }

    @Test func `renames, sets and removes tags`() throws {
        let mapping = try ContactMapping(json: [
            ["rename": "tags.vip", "to": "tags.gold"], ["rename": "attributes.reader", "to": "tags.reader"],
            ["rename": "attributes.silent", "to": "tags.silent"], ["set": "tags.imported", "value": true],
            ["set": "tags.imported", "value": true], ["remove": "tags.old"], ["rename": "tags.none", "to": "tags.x"],
        ])
        var contact = Contact(attributes: ["reader": true, "silent": false], tags: ["vip", "old"])
        var effects = mapping.noEffects
        #expect(mapping.apply(to: &contact, counting: &effects).isEmpty)
        #expect(contact.tags == ["gold", "reader", "imported"] && contact.attributes.isEmpty)
        #expect(effects.map(\.applied) == [1, 1, 1, 1, 0, 1, 0])
        let whole = try ContactMapping(json: [
            ["rename": "tags", "to": "attributes.labels"], ["rename": "attributes.interests", "to": "tags"],
            ["default": "tags", "value": "none"],
        ])
        contact.attributes["interests"] = .choices(["b", "a"])
        effects = whole.noEffects
        #expect(whole.apply(to: &contact, counting: &effects).isEmpty)
        #expect(contact.attributes == ["labels": .choices(["gold", "imported", "reader"])])
        #expect(contact.tags == ["a", "b"])
        contact.tags = []
        _ = whole.apply(to: &contact, counting: &effects)
        #expect(contact.tags == ["none"])
    }

    @Test func `reports all mistakes of all rules at once`() throws {
        let error = #expect(throws: Migration.Failure.self) {
            _ = try ContactMapping(json: [
                ["rename": "city", "to": 7, "because": "x"], ["to": "locale"],
                ["map": "attributes.a", "values": ["x": nil], "otherwise": "guess"],
                ["join": ["attributes.a", "b"], "to": "locale", "with": 3], ["type": "attributes.a"], 3,
                ["split": "attributes.a", "to": []], ["set": "attributes.a"],
            ])
        }
        #expect(
            error?.findings.map(\.path) == [
                "mapping[0].because", "mapping[0].rename", "mapping[0].to", "mapping[1]", "mapping[2].otherwise",
                "mapping[2].values.x", "mapping[3].join[1]", "mapping[3].with", "mapping[4]", "mapping[5]",
                "mapping[6].to", "mapping[7].value",
            ]
        )
        #expect(error?.findings.allSatisfy { !$0.remedy.isEmpty } == true)
    }

    @Test(
        arguments: [
            (["split": "attributes.x", "to": ["locale", "attributes.a", "locale"]], "to[2]"),
            (["rename": "attributes.x", "to": "attributes.x"], "to"),
            (["set": "identifiers.external", "value": ""], "value"), (["set": "tags", "value": 7], "value"),
            (["default": "tags.vip", "value": "maybe"], "value"),
            (["map": "locale", "values": ["fi": "fi_FI", "x": ["choices": []]]], "values.x"),
        ] as [(JSONValue, String)]
    ) func `rejects a rule that would lose text, do nothing or reject every contact`(
        _ rule: JSONValue,
        _ place: String
    ) throws {
        let error = #expect(throws: Migration.Failure.self) { try ContactMapping(json: [rule]) }
        #expect(error?.findings.map { "\($0.code) \($0.path)" } == ["mapping.rule.member mapping[0].\(place)"])
    }

    @Test func `accepts the schema's valid examples and rejects the invalid ones`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Schemas/migration/examples").standardizedFileURL
        func examples(_ folder: URL) throws -> [(String, JSONValue)] {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "json" && $0.lastPathComponent.hasPrefix("settings.") }
                .map { ($0.lastPathComponent, try JSONValue(parsing: Array(Data(contentsOf: $0)))) }
        }
        for (name, json) in try examples(folder) {
            #expect(throws: Never.self, "\(name)") { try ContactMapping(json: json["mapping"] ?? []) }
        }
        let bad = try examples(folder.appendingPathComponent("invalid"))
        #expect(bad.count > 10)
        for (name, json) in bad {
            #expect(throws: Migration.Failure.self, "\(name)") { try ContactMapping(json: json["mapping"] ?? []) }
        }
    }

    @Test(arguments: [0, 1, 2]) func `applies a mapping in a migration and counts each rule`(_ workers: Int) throws {
        let mapping = try ContactMapping(json: [
            ["rename": "attributes.tier", "to": "attributes.loyalty_tier"],
            ["map": "attributes.gender", "values": ["F": "female"], "otherwise": "reject"],
        ])
        var other = Self.contact
        other.attributes = [.gender: "X"]
        let lines = [Self.contact, other, Contact()].map { $0.jsonBytes + [0x0A] }
        var source = ChunkedSource(Array(lines.joined()), chunk: 100)
        let output = MemorySink()
        let report = try Migration(from: .neutralContacts, to: .neutralContacts, mapping: mapping)
            .path(workers).run(&source, to: output, workers: workers)
        #expect(report.written == 2 && report.rejected == 1)
        #expect(report.mapping.map(\.applied) == [1, 1])
        #expect(report.mapping.map(\.idle) == [2, 1] && report.mapping.map(\.failed) == [0, 1])
        #expect(report.json["mapping"]?.array?.count == 2)
        #expect(MigrationReport(json: report.json) == report)
        #expect(MigrationReport(json: try JSONValue(parsing: report.json.text.replacing("idle", with: "late"))) == nil)
        #expect(output.text.contains(#""gender":"female""#) && output.text.contains(#""loyalty_tier":"gold""#))
    }
}
