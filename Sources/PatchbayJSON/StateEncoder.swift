/// Encodes small state (an adapter's memory, a step) as compact JSON, with the members of every object sorted by name.
///
/// The output equals that of Foundation's `JSONEncoder` with sorted keys and unescaped slashes, but encoding is many times
/// faster, because it avoids `Any` and bridged dictionaries.
package enum StateEncoder {
    /// Returns the JSON text of a value.
    ///
    /// - Throws: The error of the value's `encode(to:)`; `EncodingError` if it encodes nothing, or a number that JSON cannot
    ///   represent.
    package static func bytes(of value: some Encodable) throws -> [UInt8] {
        var writer = JSONWriter(expecting: 256)
        try Node(encoding: value).write(to: &writer)
        return writer.bytes
    }
}

/// A value that is being encoded: a leaf, or a container that is still growing.
private indirect enum Node {
    case leaf(JSONValue)
    case object(Members)
    case array(Elements)
    /// The value of a superclass, which is known when encoding is complete.
    case later(NodeEncoder)

    init(encoding value: some Encodable) throws {
        let encoder = NodeEncoder()
        try value.encode(to: encoder)
        guard let node = encoder.node else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "Nothing was written."))
        }
        self = node
    }

    func write(to writer: inout JSONWriter) throws {
        switch self {
        case .leaf(let value): writer.value(value)
        case .object(let members):
            writer.beginObject()
            for member in members.list.sorted(by: { $0.name.precedes($1.name) }) {
                writer.name(member.name)
                try member.node.write(to: &writer)
            }
            writer.endObject()
        case .array(let elements):
            writer.beginArray()
            for element in elements.list { try element.write(to: &writer) }
            writer.endArray()
        case .later(let encoder): try (encoder.node ?? .object(Members())).write(to: &writer)
        }
    }

    /// Returns a number as Foundation encodes it: an integer without a decimal point.
    static func number(_ value: Double) throws -> Node {
        guard value.isFinite else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "JSON has no such number."))
        }
        if let whole = Int64(exactly: value), abs(value) < 1e15 { return .leaf(.integer(whole)) }
        guard let number = JSONNumber(text: value.description) else { return .leaf(.null) }
        return .leaf(.number(number))
    }
}

/// The members of an object in the order in which they were encoded. A repeated name replaces the value.
private final class Members {
    private(set) var list: [(name: String, node: Node)] = []
    private var places: [ScalarString: Int] = [:]

    func set(_ name: String, _ node: Node) {
        let key = ScalarString(name)
        if let place = places[key] {
            list[place].node = node
        } else {
            places[key] = list.count
            list.append((name, node))
        }
    }
}

private final class Elements {
    var list: [Node] = []
}

/// Receives the encoded content of one value.
private final class NodeEncoder: Encoder {
    var node: Node?
    /// Paths would only be used in error messages.
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedWriter(members: members))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { ElementWriter(elements: elements) }
    func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(encoder: self) }

    /// The object that the value is encoded as. A superclass may have started it.
    var members: Members {
        if case .object(let members) = node { return members }
        let members = Members()
        node = .object(members)
        return members
    }

    var elements: Elements {
        if case .array(let elements) = node { return elements }
        let elements = Elements()
        node = .array(elements)
        return elements
    }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let members: Members
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { members.set(key.stringValue, .leaf(.null)) }
    func encode(_ value: Bool, forKey key: Key) { members.set(key.stringValue, .leaf(.bool(value))) }
    func encode(_ value: String, forKey key: Key) { members.set(key.stringValue, .leaf(.string(value))) }
    func encode(_ value: Double, forKey key: Key) throws { members.set(key.stringValue, try .number(value)) }
    func encode(_ value: Float, forKey key: Key) throws { members.set(key.stringValue, try .number(Double(value))) }
    func encode(_ value: Int, forKey key: Key) { set(value, key) }
    func encode(_ value: Int8, forKey key: Key) { set(value, key) }
    func encode(_ value: Int16, forKey key: Key) { set(value, key) }
    func encode(_ value: Int32, forKey key: Key) { set(value, key) }
    func encode(_ value: Int64, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt8, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt16, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt32, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt64, forKey key: Key) { set(value, key) }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        members.set(key.stringValue, try Node(encoding: value))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
        -> KeyedEncodingContainer<Nested>
    {
        let nested = Members()
        members.set(key.stringValue, .object(nested))
        return KeyedEncodingContainer(KeyedWriter<Nested>(members: nested))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let nested = Elements()
        members.set(key.stringValue, .array(nested))
        return ElementWriter(elements: nested)
    }

    func superEncoder() -> any Encoder { encoder(named: "super") }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(named: key.stringValue) }

    private func encoder(named name: String) -> any Encoder {
        let encoder = NodeEncoder()
        members.set(name, .later(encoder))
        return encoder
    }

    private func set(_ value: some BinaryInteger, _ key: Key) { members.set(key.stringValue, .leaf(.integer(value))) }
}

private struct ElementWriter: UnkeyedEncodingContainer {
    let elements: Elements
    var codingPath: [any CodingKey] { [] }
    var count: Int { elements.list.count }

    func encodeNil() { elements.list.append(.leaf(.null)) }
    func encode(_ value: Bool) { elements.list.append(.leaf(.bool(value))) }
    func encode(_ value: String) { elements.list.append(.leaf(.string(value))) }
    func encode(_ value: Double) throws { elements.list.append(try .number(value)) }
    func encode(_ value: Float) throws { elements.list.append(try .number(Double(value))) }
    func encode(_ value: Int) { add(value) }
    func encode(_ value: Int8) { add(value) }
    func encode(_ value: Int16) { add(value) }
    func encode(_ value: Int32) { add(value) }
    func encode(_ value: Int64) { add(value) }
    func encode(_ value: UInt) { add(value) }
    func encode(_ value: UInt8) { add(value) }
    func encode(_ value: UInt16) { add(value) }
    func encode(_ value: UInt32) { add(value) }
    func encode(_ value: UInt64) { add(value) }
    func encode(_ value: some Encodable) throws { elements.list.append(try Node(encoding: value)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        let nested = Members()
        elements.list.append(.object(nested))
        return KeyedEncodingContainer(KeyedWriter<Nested>(members: nested))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let nested = Elements()
        elements.list.append(.array(nested))
        return ElementWriter(elements: nested)
    }

    func superEncoder() -> any Encoder {
        let encoder = NodeEncoder()
        elements.list.append(.later(encoder))
        return encoder
    }

    private func add(_ value: some BinaryInteger) { elements.list.append(.leaf(.integer(value))) }
}

private struct ValueWriter: SingleValueEncodingContainer {
    let encoder: NodeEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { encoder.node = .leaf(.null) }
    func encode(_ value: Bool) { encoder.node = .leaf(.bool(value)) }
    func encode(_ value: String) { encoder.node = .leaf(.string(value)) }
    func encode(_ value: Double) throws { encoder.node = try .number(value) }
    func encode(_ value: Float) throws { encoder.node = try .number(Double(value)) }
    func encode(_ value: Int) { set(value) }
    func encode(_ value: Int8) { set(value) }
    func encode(_ value: Int16) { set(value) }
    func encode(_ value: Int32) { set(value) }
    func encode(_ value: Int64) { set(value) }
    func encode(_ value: UInt) { set(value) }
    func encode(_ value: UInt8) { set(value) }
    func encode(_ value: UInt16) { set(value) }
    func encode(_ value: UInt32) { set(value) }
    func encode(_ value: UInt64) { set(value) }
    func encode(_ value: some Encodable) throws { encoder.node = try Node(encoding: value) }

    private func set(_ value: some BinaryInteger) { encoder.node = .leaf(.integer(value)) }
}
