public import PatchbayJSON

/// The wire format of one kind of value.
public struct WireFormat<Value: Sendable>: Sendable {
    /// The name of the format, for example `text` or `UTC offset in seconds, as text`.
    public let name: String
    /// The format as JSON Schema.
    public let schema: JSONObject
    @usableFromInline let encode: @Sendable (Value) -> JSONValue
    /// Writes the result of `encode`, if possible without creating an intermediate tree.
    @usableFromInline let write: @Sendable (Value, inout JSONWriter) -> Void
    /// Returns the text if `encode` produces a string; otherwise nil.
    @usableFromInline let text: @Sendable (Value) -> String?

    /// Creates a format for small values.
    public init(_ name: String, schema: JSONObject, encode: @escaping @Sendable (Value) -> JSONValue) {
        self.init(name, schema: schema, encode: encode) { $1.value(encode($0)) }
    }

    /// Creates a format for strings.
    public init(_ name: String, schema: JSONObject, text: @escaping @Sendable (Value) -> String) {
        (self.name, self.schema, self.text) = (name, schema, text)
        encode = { .string(text($0)) }
        write = { $1.string(text($0)) }
    }

    /// Creates a format that writes a JSON value of any size without creating a tree of it.
    public init(_ name: String, schema: JSONObject, write: @escaping @Sendable (Value, inout JSONWriter) -> Void) {
        let encode = { @Sendable (value: Value) -> JSONValue in
            var writer = JSONWriter()
            write(value, &writer)
            return (try? JSONValue(parsing: writer.bytes)) ?? .null
        }
        self.init(name, schema: schema, encode: encode, write: write)
    }

    /// Creates a format with both functions, which must produce the same output for a value.
    public init(
        _ name: String,
        schema: JSONObject,
        encode: @escaping @Sendable (Value) -> JSONValue,
        write: @escaping @Sendable (Value, inout JSONWriter) -> Void
    ) {
        (self.name, self.schema, self.encode, self.write) = (name, schema, encode, write)
        text = { encode($0).string }
    }
}

extension WireFormat<String> {
    /// Unchanged text.
    public static let text = WireFormat("text", schema: ["type": "string"], text: { $0 })
}

extension WireFormat<Bool> {
    /// A JSON boolean.
    public static let flag = WireFormat(
        "true or false",
        schema: ["type": "boolean"],
        encode: { .bool($0) },
        write: { $1.bool($0) }
    )
}

extension WireFormat<Int> {
    /// A JSON number.
    public static let integer = WireFormat(
        "whole number",
        schema: ["type": "integer"],
        encode: { .integer(Int64($0)) },
        write: { $1.integer(Int64($0)) }
    )
    /// Decimal digits in a JSON string.
    public static let decimalText = WireFormat(
        "whole number as text",
        schema: ["type": "string", "pattern": "^-?[0-9]+$"],
        text: { JSONNumber(Int64($0)).text }
    )
}

extension WireFormat<JSONValue> {
    /// Any JSON value.
    public static let json = WireFormat("JSON", schema: [:], encode: { $0 }, write: { $1.value($0) })
}

extension WireFormat {
    /// A list of records, each encoded with its own table.
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

/// A field of a wire record: its source, its name, its format, and its rule.
public struct FieldRow<Record: Sendable>: Sendable {
    /// The source of the value in the neutral model, for example `device.facts.locale`.
    public let source: String
    /// The name on the wire.
    public let name: String
    /// Whether every record has the field. Other fields are omitted if they have no value.
    public let isRequired: Bool
    /// The name of the format.
    public let format: String
    /// The format as JSON Schema.
    public let schema: JSONObject
    /// The vendor's rule for the field.
    public let rule: RuleID
    /// Whether the value is secret and must not be shown.
    public private(set) var isSecret = false
    @usableFromInline let encode: @Sendable (Record) -> JSONValue?
    /// Writes the value, preceded by its name if it is a member. Returns false if there is no value.
    @usableFromInline let write: @Sendable (Record, _ isMember: Bool, inout JSONWriter) -> Bool
    /// Returns the value's text; nil if there is no value or it is not a string.
    @usableFromInline let text: @Sendable (Record) -> String?

    @usableFromInline init(
        _ name: String,
        isRequired: Bool,
        _ format: (name: String, schema: JSONObject),
        from source: String,
        rule: RuleID,
        encode: @escaping @Sendable (Record) -> JSONValue?,
        write: @escaping @Sendable (Record, _ isMember: Bool, inout JSONWriter) -> Bool,
        text: @escaping @Sendable (Record) -> String?
    ) {
        (self.source, self.name, self.isRequired, self.rule) = (source, name, isRequired, rule)
        (self.format, self.schema) = format
        (self.encode, self.write, self.text) = (encode, write, text)
    }

    /// The same field with a secret value.
    public var secret: FieldRow {
        var copy = self
        copy.isSecret = true
        return copy
    }

    /// Creates a field that every record has.
    @inlinable public static func required<Value: Sendable>(
        _ name: String,
        _ value: @escaping @Sendable (Record) -> Value,
        _ format: WireFormat<Value>,
        from source: String,
        rule: RuleID
    ) -> FieldRow {
        let (encode, write, text) = (format.encode, format.write, format.text)
        let member = JSONName(name)
        return FieldRow(
            name,
            isRequired: true,
            (format.name, format.schema),
            from: source,
            rule: rule,
            encode: { encode(value($0)) },
            write: {
                if $1 { $2.name(member) }
                write(value($0), &$2)
                return true
            },
            text: { text(value($0)) }
        )
    }

    /// Creates a field that is omitted if it has no value.
    @inlinable public static func optional<Value: Sendable>(
        _ name: String,
        _ value: @escaping @Sendable (Record) -> Value?,
        _ format: WireFormat<Value>,
        from source: String,
        rule: RuleID
    ) -> FieldRow {
        let (encode, write, text) = (format.encode, format.write, format.text)
        let member = JSONName(name)
        return FieldRow(
            name,
            isRequired: false,
            (format.name, format.schema),
            from: source,
            rule: rule,
            encode: { value($0).map(encode) },
            write: {
                guard let value = value($0) else { return false }
                if $1 { $2.name(member) }
                write(value, &$2)
                return true
            },
            text: { value($0).flatMap(text) }
        )
    }
}

/// The fields of one kind of wire record, in the order in which they are written.
///
/// The methods called for every record are inlinable, so that they do not need the metadata of a generic type.
public struct FieldTable<Record: Sendable>: Sendable {
    /// The title of the record in the documentation.
    public let title: String
    /// The rows.
    public let rows: [FieldRow<Record>]

    /// Creates a table.
    public init(_ title: String, _ rows: [FieldRow<Record>]) { (self.title, self.rows) = (title, rows) }

    /// Passes the record's fields to `body`, in order. Records their rules as applied.
    @inlinable public func forEach(of record: Record, _ body: (_ name: String, _ value: JSONValue) -> Void) {
        // Access by index does not copy the row.
        for place in rows.indices {
            guard let value = rows[place].encode(record) else { continue }
            rows[place].rule.noteApplied()
            body(rows[place].name, value)
        }
    }

    /// Returns the record as a JSON object. Records the rules of its fields as applied.
    @inlinable public func object(_ record: Record) -> JSONObject {
        var object = JSONObject()
        forEach(of: record) { object[$0] = $1 }
        return object
    }

    /// Writes the record as a JSON object. Records the rules of its fields as applied.
    @inlinable public func write(_ record: Record, to writer: inout JSONWriter) {
        writer.beginObject()
        for place in rows.indices where rows[place].write(record, true, &writer) { rows[place].rule.noteApplied() }
        writer.endObject()
    }

    /// Returns the record as the bytes of a JSON object. Records the rules of its fields as applied.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - count: The approximate number of bytes. More bytes are allowed.
    /// - Returns: Compact JSON.
    @inlinable public func bytes(_ record: Record, expecting count: Int = 512) -> [UInt8] {
        var writer = JSONWriter(expecting: count)
        write(record, to: &writer)
        return writer.bytes
    }

    /// Returns the text fields of the record as the query of a URL. Records the rules of its fields as applied.
    @inlinable public func query(_ record: Record, leaving literal: Unicode.Scalar? = nil) -> String {
        query(record, after: "", leaving: literal)
    }

    /// Returns an address with the text fields of the record as its query. Records the rules of its fields as applied.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - address: The address, without a query.
    ///   - path: The path to insert between address and query.
    ///   - literal: A character that is not encoded in values.
    /// - Returns: The address with the path, and the query with its question mark if there is one.
    @inlinable public func query(
        _ record: Record,
        after address: String,
        _ path: String = "",
        leaving literal: Unicode.Scalar? = nil
    ) -> String {
        var query = URLText.Query(after: address, path, leaving: literal)
        forEachText(of: record) { query.append($0, $1) }
        return query.text
    }

    /// Passes the record's text fields to `body`, in order. Records their rules as applied.
    @inlinable public func forEachText(of record: Record, _ body: (_ name: String, _ value: String) -> Void) {
        for place in rows.indices {
            guard let text = rows[place].text(record) else { continue }
            rows[place].rule.noteApplied()
            body(rows[place].name, text)
        }
    }

    /// Appends one field's value to `bytes`, as JSON or as plain text, and records its rule as applied. Returns false if the
    /// record does not have the field.
    @inlinable public func append(_ row: Int, of record: Record, asJSON: Bool, to bytes: inout [UInt8]) -> Bool {
        if asJSON {
            var writer = JSONWriter(expecting: 128)
            guard rows[row].write(record, false, &writer) else { return false }
            bytes += writer.bytes
        } else {
            guard let text = rows[row].text(record) else { return false }
            bytes += text.utf8
        }
        rows[row].rule.noteApplied()
        return true
    }

    /// Returns the text fields of the record as header lines. Records the rules of its fields as applied.
    @inlinable public func headers(_ record: Record) -> [WireHeader] {
        var lines: [WireHeader] = []
        lines.reserveCapacity(rows.count)
        for place in rows.indices {
            guard let text = rows[place].text(record) else { continue }
            rows[place].rule.noteApplied()
            lines.append(WireHeader(rows[place].name, text, isSecret: rows[place].isSecret))
        }
        return lines
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

/// A field table without its record type, for documentation, `explain`, and the conformance suite.
public struct FieldTableSummary: Sendable {
    /// One field.
    public struct Row: Sendable {
        /// The source of the value in the neutral model.
        public let source: String
        /// The name on the wire.
        public let name: String
        /// Whether every record has it.
        public let isRequired: Bool
        /// The name of the format.
        public let format: String
        /// The vendor's rule for the field.
        public let rule: RuleID
    }

    /// The title of the record.
    public let title: String
    /// The fields.
    public let rows: [Row]
    /// The record's JSON Schema.
    public let schema: JSONValue

    /// The table as Markdown: wire name, source, required, format, rule.
    public var markdown: String {
        let lines = rows.map { row in
            "| `\(row.name)` | `\(row.source)` | \(row.isRequired ? "yes" : "no") | \(row.format) | \(row.rule.number) |"
        }
        return (["| field | from | always | format | rule |", "|---|---|---|---|---|"] + lines).joined(separator: "\n")
    }
}
