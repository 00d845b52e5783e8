/// Any JSON value (RFC 8259), exactly as it was written where that matters.
///
/// Numbers keep their text, so `49.90` stays `49.90` and a 30-digit id survives. Objects keep the order of their
/// members, so an opaque value that a vendor handed out goes back as it came.
public enum JSONValue: Hashable, Sendable {
    /// The literal `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, with its text.
    case number(JSONNumber)
    /// A string of Unicode scalars.
    case string(String)
    /// An ordered list.
    case array([JSONValue])
    /// Members in the order in which they stood.
    case object(JSONObject)

    /// Strings are compared scalar by scalar: what looks alike may be other bytes.
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
    /// The member of that name, if this is an object that has one.
    public subscript(name: String) -> JSONValue? {
        if case .object(let object) = self { object[name] } else { nil }
    }

    /// The element at that position, if this is an array that is long enough.
    public subscript(position: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(position) { elements[position] } else { nil }
    }

    /// Whether this is the literal `null`.
    public var isNull: Bool { self == .null }

    /// The text of a string, else nil.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The value of a boolean, else nil.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number, else nil.
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }

    /// The value of a number that is whole and fits 64 bits, else nil.
    public var integer: Int64? { number?.integer }

    /// The elements of an array, else nil.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members of an object, else nil.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// What kind of value this is, in JSON Schema's words: `null`, `boolean`, `number`, `string`, `array`, `object`.
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

    /// The same in a sentence: `an array`, `a string`, `null`.
    public var typePhrase: String {
        switch self {
        case .null: typeName
        case .array, .object: "an \(typeName)"
        case .bool, .number, .string: "a \(typeName)"
        }
    }

    /// A whole number.
    @inlinable public static func integer(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }

    /// A whole number of 64 bits.
    public static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

    /// The same value with the members of every object sorted by the Unicode scalars of their names.
    public var canonical: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.canonical))
        case .object(let object): .object(JSONObject(object.map { ($0.name, $0.value.canonical) }).sorted)
        default: self
        }
    }

    /// Compact text: no spaces, members in their stored order, `/` unescaped, non-ASCII as it is.
    public var text: String {
        var writer = JSONWriter(expecting: 128)
        writer.value(self)
        return writer.text
    }

    /// Readable text: two spaces of indent, one member a line, members in their stored order, no newline at the end.
    public var prettyText: String {
        var writer = JSONWriter(style: .pretty)
        writer.value(self)
        return writer.text
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `nil` is the literal `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array of these elements.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object of these members, in this order; where a name stands twice, the last value wins at the first place.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

/// Small state (an adapter's memory, a step) is stored through `Codable`; a value in it travels as its own JSON text,
/// because Foundation's coders would rewrite its numbers.
extension JSONValue: Codable {
    /// Reads the value from a string that holds its JSON text.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = try JSONValue(parsing: text)
    }

    /// Writes the value as a string that holds its JSON text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
