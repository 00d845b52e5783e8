public import PatchbayJSON
public import PatchbayModel

/// A rule of a mapping, which describes one change to a contact.
public enum MappingRule: Hashable, Sendable {
    /// Moves a value to another place and replaces the value there.
    case rename(MappingPlace, to: MappingPlace)
    /// Writes the same value to every contact.
    case constant(MappingPlace, AttributeValue)
    /// Writes a value if there is none, or if it is an empty text.
    case fallback(MappingPlace, AttributeValue)
    /// Splits a text at a separator into the given places. The last place receives the rest.
    case split(MappingPlace, by: String, to: [MappingPlace])
    /// Joins the texts of several places and skips places without a value.
    case join([MappingPlace], with: String, to: MappingPlace)
    /// Replaces values according to a table. Values that are not in the table are kept, dropped, or reject the contact.
    case replace(MappingPlace, MappingTable, otherwise: Otherwise)
    /// Converts a value to a type if nothing is lost; nil is the type of the catalogue.
    case convert(MappingPlace, AttributeType?)
    /// Removes a value.
    case remove(MappingPlace)

    /// The treatment of a value that is not in a table.
    public enum Otherwise: String, NeutralWord {
        /// Keeps the value.
        case keep
        /// Drops the value.
        case drop
        /// Rejects the contact.
        case reject
    }
}

/// A table that replaces values, by their text. Texts are compared by Unicode scalars: composed and decomposed letters
/// differ.
public struct MappingTable: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private(set) var values: [ScalarString: AttributeValue]

    /// Creates a table. If a text occurs twice, the last value counts.
    public init(_ values: some Sequence<(String, AttributeValue)>) {
        self.values = Dictionary(values.map { (ScalarString($0), $1) }, uniquingKeysWith: { _, last in last })
    }

    /// Creates a table from a literal.
    public init(dictionaryLiteral elements: (String, AttributeValue)...) { self.init(elements) }

    /// The number of values in the table.
    public var count: Int { values.count }

    /// The replacement of a value; nil if the table does not have it.
    public subscript(text: String) -> AttributeValue? { values[ScalarString(text)] }
}

extension MappingRule {
    /// Whether the rule reads the value at a place.
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
    /// The rule as text, without the values that it writes.
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

/// The number of times that a rule of a mapping had each effect.
public struct MappingEffect: Hashable, Sendable {
    /// The number of times that the rule changed the contact.
    public internal(set) var applied = 0
    /// The number of times that the rule had nothing to do: there was no value, or it was right already.
    public internal(set) var idle = 0
    /// The number of times that the rule replaced an existing value at its target.
    public internal(set) var replaced = 0
    /// The number of times that the rule failed; a finding has the reason.
    public internal(set) var failed = 0

    /// Creates an effect with zero counts.
    public init() {}

    init(applied: Int, idle: Int, replaced: Int) {
        (self.applied, self.idle, self.replaced) = (applied, idle, replaced)
    }

    /// Whether the rule was applied but never changed a contact and never failed.
    package var isIdle: Bool { idle > 0 && applied == 0 && failed == 0 }

    /// The counts as a JSON object.
    public var json: JSONValue {
        [
            "applied": .integer(applied), "idle": .integer(idle), "replaced": .integer(replaced),
            "failed": .integer(failed),
        ]
    }

    /// Reads the value of ``json``; nil if the value is not valid.
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
