/// Decodes small state (an adapter's memory, a step) from JSON written by ``StateEncoder`` or, before that, by Foundation's
/// encoder.
package enum StateDecoder {
    /// Decodes a value from JSON text.
    ///
    /// - Throws: ``JSONError`` if the text is not JSON; `DecodingError` if it is not such a value. Neither contains the text.
    package static func value<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: [UInt8]) throws -> Value {
        try Value(from: NodeDecoder(value: try JSONValue(parsing: bytes)))
    }
}

/// A decoder for one value of the tree.
private struct NodeDecoder: Decoder {
    let value: JSONValue
    /// Paths would only be used in error messages.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw value.mismatch([String: JSONValue].self) }
        return KeyedDecodingContainer(KeyedReader(object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw value.mismatch([JSONValue].self) }
        return ElementReader(elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ValueReader(value: value) }
}

extension JSONValue {
    fileprivate func mismatch(_ type: any Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: [], debugDescription: "There is \(typePhrase)."))
    }

    fileprivate func asBool() throws -> Bool {
        guard case .bool(let value) = self else { throw mismatch(Bool.self) }
        return value
    }

    fileprivate func asText() throws -> String {
        guard case .string(let value) = self else { throw mismatch(String.self) }
        return value
    }

    fileprivate func asDouble() throws -> Double {
        guard case .number(let number) = self, let value = number.double else { throw mismatch(Double.self) }
        return value
    }

    fileprivate func whole<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws -> Number {
        guard case .number(let number) = self else { throw mismatch(type) }
        if let value = number.integer.flatMap(Number.init(exactly:)) ?? Number(number.text) { return value }
        // `1.0` and `1e3` are integers too.
        guard let value = number.double.flatMap(Number.init(exactly:)) else { throw mismatch(type) }
        return value
    }

    fileprivate func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: NodeDecoder(value: self))
    }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { object.names.compactMap(Key.init(stringValue:)) }

    private func member(_ key: Key) throws -> JSONValue {
        guard let value = object[key.stringValue] else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "The member is missing.")
            throw DecodingError.keyNotFound(key, context)
        }
        return value
    }

    func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key) == .null }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).asBool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).asText() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).asDouble() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try member(key).asDouble()) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).whole() }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).whole() }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).whole() }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).whole() }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).whole() }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).whole() }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).whole() }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).whole() }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).whole() }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).whole() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try member(key).value(type)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        try NodeDecoder(value: member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try NodeDecoder(value: member(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { NodeDecoder(value: object["super"] ?? .null) }
    func superDecoder(forKey key: Key) throws -> any Decoder { NodeDecoder(value: try member(key)) }
}

private struct ElementReader: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    init(elements: [JSONValue]) { self.elements = elements }

    private mutating func next() throws -> JSONValue {
        guard !isAtEnd else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "An element is missing.")
            throw DecodingError.valueNotFound(JSONValue.self, context)
        }
        currentIndex += 1
        return elements[currentIndex - 1]
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next().asBool() }
    mutating func decode(_ type: String.Type) throws -> String { try next().asText() }
    mutating func decode(_ type: Double.Type) throws -> Double { try next().asDouble() }
    mutating func decode(_ type: Float.Type) throws -> Float { Float(try next().asDouble()) }
    mutating func decode(_ type: Int.Type) throws -> Int { try next().whole() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next().whole() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next().whole() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next().whole() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next().whole() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next().whole() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next().whole() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next().whole() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next().whole() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next().whole() }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().value(type) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
        -> KeyedDecodingContainer<Nested>
    {
        try NodeDecoder(value: next()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try NodeDecoder(value: next()).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { NodeDecoder(value: try next()) }
}

private struct ValueReader: SingleValueDecodingContainer {
    let value: JSONValue
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { value == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try value.asBool() }
    func decode(_ type: String.Type) throws -> String { try value.asText() }
    func decode(_ type: Double.Type) throws -> Double { try value.asDouble() }
    func decode(_ type: Float.Type) throws -> Float { Float(try value.asDouble()) }
    func decode(_ type: Int.Type) throws -> Int { try value.whole() }
    func decode(_ type: Int8.Type) throws -> Int8 { try value.whole() }
    func decode(_ type: Int16.Type) throws -> Int16 { try value.whole() }
    func decode(_ type: Int32.Type) throws -> Int32 { try value.whole() }
    func decode(_ type: Int64.Type) throws -> Int64 { try value.whole() }
    func decode(_ type: UInt.Type) throws -> UInt { try value.whole() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value.whole() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value.whole() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value.whole() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value.whole() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value.value(type) }
}
