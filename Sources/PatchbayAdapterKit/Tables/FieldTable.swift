public import PatchbayJSON

/// How one kind of value is written on the wire.
public struct WireFormat<Value: Sendable>: Sendable {
    /// The format in words: `text`, `UTC offset in seconds, as text`.
    public let name: String
    /// The format as JSON Schema.
    public let schema: JSONObject
    @usableFromInline let encode: @Sendable (Value) -> JSONValue
    /// Writes what `encode` makes; of its own where a tree would be made only to be written.
    @usableFromInline let write: @Sendable (Value, inout JSONWriter) -> Void

    /// A format whose values are small.
    public init(_ name: String, schema: JSONObject, encode: @escaping @Sendable (Value) -> JSONValue) {
        (self.name, self.schema, self.encode) = (name, schema, encode)
        write = { $1.value(encode($0)) }
    }

    /// A format that writes one JSON value, whatever its size, without making a tree of it.
    public init(_ name: String, schema: JSONObject, write: @escaping @Sendable (Value, inout JSONWriter) -> Void) {
        (self.name, self.schema, self.write) = (name, schema, write)
        encode = { value in
            var writer = JSONWriter()
            write(value, &writer)
            return (try? JSONValue(parsing: writer.bytes)) ?? .null
        }
    }
}

extension WireFormat<String> {
    /// Text as it is.
    public static let text = WireFormat("text", schema: ["type": "string"], encode: JSONValue.string)
}

extension WireFormat<Bool> {
    /// A JSON boolean.
    public static let flag = WireFormat("true or false", schema: ["type": "boolean"], encode: JSONValue.bool)
}

extension WireFormat<Int> {
    /// A JSON number.
    public static let integer = WireFormat("whole number", schema: ["type": "integer"]) { .integer($0) }
    /// Decimal digits in a JSON string.
    public static let decimalText = WireFormat(
        "whole number as text",
        schema: ["type": "string", "pattern": "^-?[0-9]+$"]
    ) {
        .string(String($0))
    }
}

extension WireFormat<JSONValue> {
    /// Any JSON value.
    public static let json = WireFormat("JSON", schema: [:]) { $0 }
}

extension WireFormat {
    /// A list of records, each by its own table.
    @inlinable public static func list<Record: Sendable>(
        _ name: String = "JSON",
        schema: JSONObject = [:],
        of table: FieldTable<Record>
    ) -> WireFormat where Value == [Record] {
        WireFormat(name, schema: schema) { records, writer in
            writer.beginArray()
            for record in records { table.write(record, to: &writer) }
            writer.endArray()
        }
    }
}

/// One field of a wire record: where it comes from, what it is called, how it is written, by which rule.
public struct FieldRow<Record: Sendable>: Sendable {
    /// Where the value comes from in the neutral model: `device.facts.locale`.
    public let source: String
    /// The name on the wire.
    public let name: String
    /// Whether every record has it; others leave it out when there is no value.
    public let isRequired: Bool
    /// The format in words.
    public let format: String
    /// The format as JSON Schema.
    public let schema: JSONObject
    /// The vendor's rule behind it.
    public let rule: RuleID
    @usableFromInline let encode: @Sendable (Record) -> JSONValue?
    /// Writes name and value; false without a value.
    @usableFromInline let write: @Sendable (Record, inout JSONWriter) -> Bool

    @usableFromInline init(
        _ name: String,
        isRequired: Bool,
        _ format: (name: String, schema: JSONObject),
        from source: String,
        rule: RuleID,
        encode: @escaping @Sendable (Record) -> JSONValue?,
        write: @escaping @Sendable (Record, inout JSONWriter) -> Bool
    ) {
        (self.source, self.name, self.isRequired, self.rule) = (source, name, isRequired, rule)
        (self.format, self.schema) = format
        (self.encode, self.write) = (encode, write)
    }

    /// A field that every record has.
    @inlinable public static func required<Value: Sendable>(
        _ name: String,
        _ value: @escaping @Sendable (Record) -> Value,
        _ format: WireFormat<Value>,
        from source: String,
        rule: RuleID
    ) -> FieldRow {
        FieldRow(
            name,
            isRequired: true,
            (format.name, format.schema),
            from: source,
            rule: rule,
            encode: { format.encode(value($0)) },
            write: {
                $1.name(name)
                format.write(value($0), &$1)
                return true
            }
        )
    }

    /// A field that is left out when there is no value.
    @inlinable public static func optional<Value: Sendable>(
        _ name: String,
        _ value: @escaping @Sendable (Record) -> Value?,
        _ format: WireFormat<Value>,
        from source: String,
        rule: RuleID
    ) -> FieldRow {
        FieldRow(
            name,
            isRequired: false,
            (format.name, format.schema),
            from: source,
            rule: rule,
            encode: { value($0).map(format.encode) },
            write: {
                guard let value = value($0) else { return false }
                $1.name(name)
                format.write(value, &$1)
                return true
            }
        )
    }
}

/// The fields of one kind of wire record, in the order in which they are written.
///
/// What is done for every record is inlinable: without that it would be done through the metadata of a generic type.
public struct FieldTable<Record: Sendable>: Sendable {
    /// What the record is, for documentation.
    public let title: String
    /// The rows.
    public let rows: [FieldRow<Record>]

    /// A table.
    public init(_ title: String, _ rows: [FieldRow<Record>]) { (self.title, self.rows) = (title, rows) }

    /// Hands over the fields that the record has, in their order; their rules count as fired.
    @inlinable public func forEach(of record: Record, _ body: (_ name: String, _ value: JSONValue) -> Void) {
        // By its place, a row is not copied.
        for place in rows.indices {
            guard let value = rows[place].encode(record) else { continue }
            rows[place].rule.fire()
            body(rows[place].name, value)
        }
    }

    /// The record as a JSON object; the rules of the fields that it has count as fired.
    @inlinable public func object(_ record: Record) -> JSONObject {
        var object = JSONObject()
        forEach(of: record) { object[$0] = $1 }
        return object
    }

    /// Writes the record as a JSON object; the rules of the fields that it has count as fired.
    @inlinable public func write(_ record: Record, to writer: inout JSONWriter) {
        writer.beginObject()
        for place in rows.indices where rows[place].write(record, &writer) { rows[place].rule.fire() }
        writer.endObject()
    }

    /// The record as the bytes of a JSON object; the rules of the fields that it has count as fired.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - count: about how many bytes it takes; more are no mistake.
    /// - Returns: compact JSON.
    @inlinable public func bytes(_ record: Record, expecting count: Int = 512) -> [UInt8] {
        var writer = JSONWriter(expecting: count)
        write(record, to: &writer)
        return writer.bytes
    }

    /// The record as the query of a URL, its texts alone; the rules of the fields that it has count as fired.
    @inlinable public func query(_ record: Record, leaving literal: Unicode.Scalar? = nil) -> String {
        var items: [(name: String, value: String?)] = []
        items.reserveCapacity(rows.count)
        forEach(of: record) { items.append(($0, $1.string)) }
        return URLText.query(items, leaving: literal)
    }

    /// The table as a JSON Schema (2020-12) object.
    public var schema: JSONValue {
        [
            "type": "object",
            "properties": .object(JSONObject(rows.map { ($0.name, .object($0.schema)) })),
            "required": .array(rows.filter(\.isRequired).map { .string($0.name) }),
            "additionalProperties": false,
        ]
    }

    /// The table without its record type.
    public var summary: FieldTableSummary {
        FieldTableSummary(
            title: title,
            rows: rows.map {
                .init(source: $0.source, name: $0.name, isRequired: $0.isRequired, format: $0.format, rule: $0.rule)
            },
            schema: schema
        )
    }
}

/// A field table without its record type: for documentation, `explain` and the conformance suite.
public struct FieldTableSummary: Sendable {
    /// One field.
    public struct Row: Sendable {
        /// Where the value comes from in the neutral model.
        public let source: String
        /// The name on the wire.
        public let name: String
        /// Whether every record has it.
        public let isRequired: Bool
        /// The format in words.
        public let format: String
        /// The vendor's rule behind it.
        public let rule: RuleID
    }

    /// What the record is.
    public let title: String
    /// The fields.
    public let rows: [Row]
    /// The record's JSON Schema.
    public let schema: JSONValue

    /// The table as Markdown: wire name, source, needed, format, rule.
    public var markdown: String {
        let lines = rows.map { row in
            "| `\(row.name)` | `\(row.source)` | \(row.isRequired ? "yes" : "no") | \(row.format) | \(row.rule.number) |"
        }
        return (["| field | from | always | format | rule |", "|---|---|---|---|---|"] + lines).joined(separator: "\n")
    }
}
