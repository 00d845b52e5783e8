/// A JSON value (RFC 8259) that preserves number texts and the order of members.
///
/// Numbers keep their text, so `49.90` stays `49.90`, and a 30-digit id is preserved. Objects keep the order of their members,
/// so that an opaque value of a vendor can be returned unchanged.
public enum JSONValue: Hashable, Sendable {
    /// The literal `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number with its text.
    case number(JSONNumber)
    /// A string of Unicode scalars.
    case string(String)
    /// An ordered list.
    case array([JSONValue])
    /// An object, with its members in their original order.
    case object(JSONObject)

    /// Strings are compared by Unicode scalars, because strings that look alike may have different bytes.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): ScalarString.equal(left, right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): hasher.combine(ScalarString(value))
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension JSONValue {
    /// The value of a member; nil if this is not an object or has no such member.
    public subscript(name: String) -> JSONValue? {
        if case .object(let object) = self { object[name] } else { nil }
    }

    /// The element at a position; nil if this is not an array or is too short.
    public subscript(position: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(position) { elements[position] } else { nil }
    }

    /// Whether this is the literal `null`.
    public var isNull: Bool { self == .null }

    /// The text if this is a string; otherwise nil.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The value if this is a boolean; otherwise nil.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number if this is one; otherwise nil.
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }

    /// The value if this is an integer that fits into 64 bits; otherwise nil.
    public var integer: Int64? { number?.integer }

    /// The elements if this is an array; otherwise nil.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members if this is an object; otherwise nil.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The name of the type as in JSON Schema: `null`, `boolean`, `number`, `string`, `array`, `object`.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The type in a sentence: `an array`, `a string`, `null`.
    public var typePhrase: String {
        switch self {
        case .null: typeName
        case .array, .object: "an \(typeName)"
        case .bool, .number, .string: "a \(typeName)"
        }
    }

    /// Creates a number from an integer.
    @inlinable public static func integer(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }

    /// Creates a number from a 64-bit integer.
    public static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

    /// The same value with the members of every object sorted by the Unicode scalars of their names.
    public var canonical: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.canonical))
        case .object(let object): .object(JSONObject(object.map { ($0.name, $0.value.canonical) }).sorted)
        default: self
        }
    }

    /// Compact text: no white space, members in their stored order, `/` and non-ASCII characters not escaped.
    public var text: String {
        var writer = JSONWriter(expecting: 128)
        writer.value(self)
        return writer.text
    }

    /// Readable text: an indent of two spaces, one member per line, members in their stored order, no line break at the end.
    public var prettyText: String {
        var writer = JSONWriter(style: .pretty)
        writer.value(self)
        return writer.text
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates the literal `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array of these elements.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object from a literal, in this order. If a name occurs twice, the last value is stored at the first position.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

/// Small state (an adapter's memory, a step) is stored through `Codable`. A JSON value in it is stored as its own JSON text,
/// because Foundation's coders would change its numbers.
extension JSONValue: Codable {
    /// Decodes the value from a string that contains its JSON text.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = try JSONValue(parsing: text)
    }

    /// Encodes the value as a string that contains its JSON text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
