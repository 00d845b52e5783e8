import PatchbayAdapterKit
import PatchbayJSON

@testable import PatchbayMigration

/// Random mappings of a few rules, from a seed, for ``RandomContacts`` and ``RandomRows``.
struct RandomMapping {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns a valid mapping.
    mutating func mapping() throws -> ContactMapping {
        var rules: [JSONValue] = []
        for _ in 0...random.below(4) {
            let rule = rule()
            // Some paths do not accept such a value.
            if (try? ContactMapping(json: .array([rule]))) != nil { rules.append(rule) }
        }
        return try ContactMapping(json: .array(rules))
    }

    private static let attributes = [
        "city", "given_name", "family_name", "gender", "country", "visits", "total", "postal_code", "birth_date",
        "last_visit", "interests", "delivery_hour", "own_1", "town", "größe", "points", "own_one", "first_name",
        "birthday",
    ]
    private static let others = [
        "identifiers.external", "identifiers.email", "identifiers.phone", "identifiers.card", "locale", "timeZone",
        "tags",
        "tags.vip", "tags.beta", "tags.größe",
    ]
    private static let values: [JSONValue] = [
        "Helsinki", "x", "", "Päivi", "two words", "a\"b", "\u{1}", 42, 7, true, false, ["date": "1990-04-01"],
        ["country": "FI"], ["timestamp": "2031-03-08T22:15:00Z"], ["choices": ["a"]], ["decimal": "4"], "fi_FI",
        "female",
        "a@b.example", "Europe/Helsinki",
    ]
    private static let tables: [JSONValue] = [
        ["female": "f", "male": "m"], ["Helsinki": "Hki", "Turku": 20, "Päivi": "P", ";": "semicolon"],
        ["FI": ["country": "SE"], "fi": "Finland"], ["42": 43, "49.90": "much", "true": false, "a@b": "a@b.example"],
        ["x": "x", "plain": "", "aino@example.com": "aino@example.org"],
    ]

    private mutating func attribute() -> JSONValue { .string("attributes.\(random.pick(Self.attributes))") }

    private mutating func place() -> JSONValue {
        random.below(10) < 7 ? attribute() : .string(random.pick(Self.others))
    }

    private mutating func places() -> JSONValue { .array((0...random.below(3)).map { _ in place() }) }

    private mutating func rule() -> JSONValue {
        switch random.below(8) {
        case 0: ["rename": place(), "to": place()]
        case 1: ["set": place(), "value": random.pick(Self.values)]
        case 2: ["default": place(), "value": random.pick(Self.values)]
        case 3: ["split": place(), "by": random.pick([" ", "a", "-", "Pä", "40", "ii"]), "to": places()]
        case 4: ["join": places(), "with": random.pick([" ", "", ", ", "\"", "ö"]), "to": place()]
        case 5:
            [
                "map": place(), "values": random.pick(Self.tables),
                "otherwise": random.pick(["keep", "keep", "drop", "reject"]),
            ]
        case 6:
            [
                "type": place(),
                "as": random.pick(["string", "integer", "decimal", "date", "country", "boolean", "choices"]),
            ]
        default: ["remove": place()]
        }
    }
}
