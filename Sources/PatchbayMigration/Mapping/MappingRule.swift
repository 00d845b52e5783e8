public import PatchbayJSON
public import PatchbayModel

/// One rule of a mapping: what it does with one contact.
public enum MappingRule: Hashable, Sendable {
    /// Moves a value to another place; what stood there is replaced.
    case rename(MappingPlace, to: MappingPlace)
    /// Writes the same value into every contact.
    case constant(MappingPlace, AttributeValue)
    /// Writes a value where there is none, or an empty text.
    case fallback(MappingPlace, AttributeValue)
    /// Cuts a text at a separator into as many places; the last takes the rest.
    case split(MappingPlace, by: String, to: [MappingPlace])
    /// Joins the texts of several places; places without a value are left out.
    case join([MappingPlace], with: String, to: MappingPlace)
    /// Replaces values by others; what the table does not know is kept, left out, or keeps the contact out.
    case replace(MappingPlace, MappingTable, otherwise: Otherwise)
    /// Converts a value to a type where nothing is lost; nil is the type of the catalogue.
    case convert(MappingPlace, AttributeType?)
    /// Takes a value out.
    case remove(MappingPlace)

    /// What becomes of a value that a table does not know.
    public enum Otherwise: String, NeutralWord {
        /// It stays.
        case keep
        /// It is left out.
        case drop
        /// The contact is rejected.
        case reject
    }
}

/// What values become, by their text: texts that look alike, as composed and decomposed letters do, are two.
public struct MappingTable: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private(set) var values: [ScalarString: AttributeValue]

    /// A table of these values; of one text that is given twice the last counts.
    public init(_ values: some Sequence<(String, AttributeValue)>) {
        self.values = Dictionary(values.map { (ScalarString($0), $1) }, uniquingKeysWith: { _, last in last })
    }

    /// A table as a literal.
    public init(dictionaryLiteral elements: (String, AttributeValue)...) { self.init(elements) }

    /// How many values it knows.
    public var count: Int { values.count }

    /// What the value of that text becomes; nil if the table does not know it.
    public subscript(text: String) -> AttributeValue? { values[ScalarString(text)] }
}

extension MappingRule {
    /// Whether it reads what is at a place.
    func reads(_ place: MappingPlace) -> Bool {
        switch self {
        case .rename(let source, _), .split(let source, _, _), .replace(let source, _, _), .convert(let source, _),
            .remove(let source):
            source == place
        case .join(let sources, _, _): sources.contains(place)
        case .constant, .fallback: false
        }
    }
}

extension MappingRule: CustomStringConvertible {
    /// The rule in words, without the values that it writes.
    public var description: String {
        func list(_ places: [MappingPlace]) -> String { places.map(\.text).joined(separator: ", ") }
        return switch self {
        case .rename(let source, let target): "rename \(source.text) to \(target.text)"
        case .constant(let target, _): "set \(target.text)"
        case .fallback(let target, _): "default \(target.text)"
        case .split(let source, _, let targets): "split \(source.text) to \(list(targets))"
        case .join(let sources, _, let target): "join \(list(sources)) to \(target.text)"
        case .replace(let place, let table, let otherwise):
            "map \(place.text) by \(table.count) values, otherwise \(otherwise.rawValue)"
        case .convert(let place, let type): "type \(place.text) as \(type?.rawValue ?? "the catalogue says")"
        case .remove(let place): "remove \(place.text)"
        }
    }
}

/// How often a rule of a mapping did what.
public struct MappingEffect: Hashable, Sendable {
    /// It changed the contact.
    public internal(set) var applied = 0
    /// It had nothing to do: no value, or one that is right already.
    public internal(set) var idle = 0
    /// It replaced a value that stood at its target.
    public internal(set) var replaced = 0
    /// It could not do what it says, and a finding says so.
    public internal(set) var failed = 0

    /// No effect yet.
    public init() {}

    init(applied: Int, idle: Int, replaced: Int) {
        (self.applied, self.idle, self.replaced) = (applied, idle, replaced)
    }

    /// Whether it changed no contact of those that it was applied to.
    package var isIdle: Bool { idle > 0 && applied == 0 && failed == 0 }

    /// The counts as a JSON object.
    public var json: JSONValue {
        [
            "applied": .integer(applied), "idle": .integer(idle), "replaced": .integer(replaced),
            "failed": .integer(failed),
        ]
    }

    /// Reads what ``json`` wrote; nil if it is something else.
    init?(json: JSONValue) {
        func number(_ name: String) -> Int? { json[name]?.integer.flatMap { Int(exactly: $0) } }
        guard let applied = number("applied"), let idle = number("idle"), let replaced = number("replaced"),
            let failed = number("failed")
        else { return nil }
        (self.applied, self.idle, self.replaced, self.failed) = (applied, idle, replaced, failed)
    }

    /// The sum of two counts.
    public static func + (left: MappingEffect, right: MappingEffect) -> MappingEffect {
        var sum = left
        sum.applied += right.applied
        sum.idle += right.idle
        sum.replaced += right.replaced
        sum.failed += right.failed
        return sum
    }
}
