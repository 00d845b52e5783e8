public import PatchbayJSON

/// How one kind of value is written on the wire.
public struct WireFormat<Value: Sendable>: Sendable {
    /// The format in words: `text`, `UTC offset in seconds, as text`.
    public let name: String
    /// The format as JSON Schema.
    public let schema: JSONObject
    let encode: @Sendable (Value) -> JSONValue

    /// A format.
    public init(_ name: String, schema: JSONObject, encode: @escaping @Sendable (Value) -> JSONValue) {
        (self.name, self.schema, self.encode) = (name, schema, encode)
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
    let encode: @Sendable (Record) -> JSONValue?

    /// A field that every record has.
    public static func required<Value: Sendable>(
        _ name: String,
        _ path: any KeyPath<Record, Value> & Sendable,
        _ format: WireFormat<Value>,
        from source: String,
        rule: RuleID
    ) -> FieldRow {
        FieldRow(source: source, name: name, isRequired: true, format: format.name, schema: format.schema, rule: rule) {
            format.encode($0[keyPath: path])
        }
    }

    /// A field that is left out when there is no value.
    public static func optional<Value: Sendable>(
        _ name: String,
        _ path: any KeyPath<Record, Value?> & Sendable,
        _ format: WireFormat<Value>,
        from source: String,
        rule: RuleID
    ) -> FieldRow {
        FieldRow(source: source, name: name, isRequired: false, format: format.name, schema: format.schema, rule: rule)
        {
            $0[keyPath: path].map(format.encode)
        }
    }
}

/// The fields of one kind of wire record, in the order in which they are written.
public struct FieldTable<Record: Sendable>: Sendable {
    /// What the record is, for documentation.
    public let title: String
    /// The rows.
    public let rows: [FieldRow<Record>]

    /// A table.
    public init(_ title: String, _ rows: [FieldRow<Record>]) { (self.title, self.rows) = (title, rows) }

    /// The record as a JSON object; the rules of the fields that it has count as fired.
    public func object(_ record: Record) -> JSONObject {
        var object = JSONObject()
        for row in rows {
            guard let value = row.encode(record) else { continue }
            row.rule.fire()
            object[row.name] = value
        }
        return object
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
