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
    case replace(MappingPlace, [String: AttributeValue], otherwise: Otherwise)
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

    /// The counts as a JSON object.
    public var json: JSONValue {
        [
            "applied": .integer(applied), "idle": .integer(idle), "replaced": .integer(replaced),
            "failed": .integer(failed),
        ]
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
