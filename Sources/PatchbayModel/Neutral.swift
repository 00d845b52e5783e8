public import PatchbayJSON

/// A value of the neutral model. It has exactly one JSON form, specified by `Schemas/model`, with deterministic bytes.
public protocol NeutralValue: Hashable, Sendable {
    /// Creates a value from its JSON form.
    ///
    /// - Parameters:
    ///   - json: The JSON value.
    ///   - path: The path of the value for errors, for example `attributes.birth_date`.
    /// - Throws: ``ModelError`` with path, reason, and remedy.
    init(json: JSONValue, at path: String) throws(ModelError)

    /// Writes the JSON form. Equal values always give equal bytes.
    func write(to writer: inout JSONWriter)
}

extension NeutralValue {
    /// The JSON form as a tree.
    public var json: JSONValue { (try? JSONValue(parsing: jsonBytes)) ?? .null }

    /// The compact JSON form as bytes.
    public var jsonBytes: [UInt8] {
        var writer = JSONWriter(expecting: 512)
        write(to: &writer)
        return writer.bytes
    }

    /// Creates a value from the bytes of its JSON form.
    public init(jsonBytes: some Collection<UInt8>) throws(ModelError) { try self.init(explaining: jsonBytes) }

    /// Creates a value from the bytes of its JSON form by way of a tree, so that errors have a reason.
    package init(explaining jsonBytes: some Collection<UInt8>) throws(ModelError) {
        do {
            try self.init(json: JSONValue(parsing: jsonBytes), at: "")
        } catch let error as ModelError {
            throw error
        } catch {
            throw ModelError(path: "", reason: "\(error)", remedy: "Correct the JSON text.")
        }
    }
}

/// The reason why JSON is not a value of the neutral model: what is wrong, where, and how to fix it. It never contains the
/// value itself.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path in dots and brackets, for example `action.changes.birth_date.set`; empty for the whole value.
    public let path: String
    /// The reason.
    public let reason: String
    /// The remedy.
    public let remedy: String

    /// Creates an error at a path.
    public init(path: String, reason: String, remedy: String) {
        (self.path, self.reason, self.remedy) = (path, reason, remedy)
    }

    fileprivate static let missing = "is missing"

    /// Whether a required value is missing.
    package var isMissing: Bool { reason == Self.missing }

    /// The path and the reason as a clause: `action.kind is missing`.
    package var statement: String { "\(path.isEmpty ? "the value" : path) \(reason)" }

    /// One line with path, reason, and remedy.
    public var description: String { "\(path.isEmpty ? "value" : path): \(reason). \(remedy)" }
}

/// Reads the members of one JSON object and rejects unknown members.
public struct ObjectReader: Sendable {
    /// The members.
    public let object: JSONObject
    /// The path of the object.
    public let path: String

    /// Creates a reader for an object.
    ///
    /// - Parameters:
    ///   - json: The value, which must be an object.
    ///   - path: The path of the value.
    ///   - known: The names of allowed members; nil allows any.
    /// - Throws: ``ModelError`` if the value is not an object or contains an unknown member.
    public init(_ json: JSONValue, at path: String, known: [String]?) throws(ModelError) {
        guard let object = json.object else {
            throw ModelError(path: path, reason: "is \(json.typePhrase)", remedy: "Give an object.")
        }
        self.object = object
        self.path = path
        if let known, let unknown = object.names.first(where: { !known.contains($0) }) {
            let guess = unknown.nearest(in: known).map { "Did you mean \"\($0)\"? " } ?? ""
            throw ModelError(
                path: path.dot(unknown),
                reason: "is not a known field",
                remedy: "\(guess)Known fields: \(known.joined(separator: ", "))."
            )
        }
    }

    /// The error for a required member that is missing.
    func missing(_ name: String) -> ModelError {
        ModelError(path: path.dot(name), reason: ModelError.missing, remedy: "Add it.")
    }

    /// Reads a required member.
    public func required<Value: NeutralValue>(_ name: String, as type: Value.Type = Value.self) throws(ModelError)
        -> Value
    {
        guard let json = object[name] else {
            throw missing(name)
        }
        return try Value(json: json, at: path.dot(name))
    }

    /// Reads an optional member; null counts as absent.
    public func optional<Value: NeutralValue>(_ name: String, as type: Value.Type = Value.self) throws(ModelError)
        -> Value?
    {
        guard let json = object[name], !json.isNull else { return nil }
        return try Value(json: json, at: path.dot(name))
    }

    /// Reads an optional list; an absent one is empty.
    public func list<Value: NeutralValue>(_ name: String, of type: Value.Type = Value.self) throws(ModelError)
        -> [Value]
    {
        guard let json = object[name], !json.isNull else { return [] }
        return try [Value](json: json, at: path.dot(name))
    }

    /// Reads an optional object used as a dictionary; an absent one is empty.
    public func dictionary<Key: NeutralKey, Value: NeutralValue>(
        _ name: String,
        of type: Value.Type = Value.self
    ) throws(ModelError) -> [Key: Value] {
        guard let json = object[name], !json.isNull else { return [:] }
        let members = try ObjectReader(json, at: path.dot(name), known: nil)
        var result: [Key: Value] = [:]
        for member in members.object {
            let place = members.path.dot(member.name)
            guard !member.name.isEmpty else {
                throw ModelError(path: place, reason: "has an empty name", remedy: "Give it a name.")
            }
            result[Key(rawValue: member.name)] = try Value(json: member.value, at: place)
        }
        return result
    }
}

/// A name in the model: an open set of strings with well-known members.
public protocol NeutralKey: NeutralValue, RawRepresentable, ExpressibleByStringLiteral, Comparable, Codable,
    CodingKeyRepresentable
where RawValue == String {
    /// Creates a name from its text.
    init(rawValue: String)
}

extension NeutralKey {
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let text = try String(json: json, at: path)
        guard !text.isEmpty else {
            throw ModelError(path: path, reason: "is empty", remedy: "Give a name that is not empty.")
        }
        self.init(rawValue: text)
    }

    public func write(to writer: inout JSONWriter) { writer.string(rawValue) }

    /// Orders names by Unicode scalars, so that the order is equal on every machine.
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.rawValue.precedes(right.rawValue) }
}

extension Dictionary where Key: NeutralKey {
    /// The first bytes of a name, by which most names can be ordered, and the index of the name and its value.
    @usableFromInline package typealias Place = (start: UInt64, index: Index)

    /// Names and values, sorted by the names.
    @inlinable public var inOrder: [(key: Key, value: Value)] { withPlacesInOrder { $0.map { self[$0.index] } } }

    /// Passes the indexes of names and values, sorted by name, to `body`, without copying values.
    @inlinable package func withPlacesInOrder<Result>(_ body: (UnsafeBufferPointer<Place>) -> Result) -> Result {
        // Small dictionaries, which are usual, use insertion sort.
        guard count <= 16 else {
            return keys.sorted().compactMap { name in index(forKey: name).map { (name.rawValue.firstBytes, $0) } }
                .withUnsafeBufferPointer(body)
        }
        return withUnsafeTemporaryAllocation(of: Place.self, capacity: count) { places in
            let names = keys
            var (end, index) = (0, startIndex)
            // Each index occurs once, so the buffer is exactly full after the loop.
            while index != endIndex {
                places.initializeElement(at: end, to: (names[index].rawValue.firstBytes, index))
                end += 1
                formIndex(after: &index)
            }
            func precedes(_ one: Place, _ other: Place) -> Bool {
                one.start == other.start ? names[one.index] < names[other.index] : one.start < other.start
            }
            defer { places.deinitialize() }
            for end in places.indices.dropFirst() {
                var place = end
                while place > 0, precedes(places[place], places[place - 1]) {
                    places.swapAt(place, place - 1)
                    place -= 1
                }
            }
            return body(UnsafeBufferPointer(places))
        }
    }
}

/// A closed set of words.
public protocol NeutralWord: NeutralValue, RawRepresentable, CaseIterable where RawValue == String {}

extension NeutralWord {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        guard let text = json.string, let value = Self(rawValue: text) else {
            let allowed = Self.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw ModelError(path: path, reason: "is not one of the allowed values", remedy: "Use one of \(allowed).")
        }
        self = value
    }

    public func write(to writer: inout JSONWriter) { writer.string(rawValue) }
}

extension String {
    /// Returns the path of a member below this path.
    public func dot(_ name: String) -> String { isEmpty ? name : "\(self).\(name)" }
}

extension String: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        guard let text = json.string else {
            throw ModelError(path: path, reason: "is \(json.typePhrase)", remedy: "Give a string.")
        }
        self = text
    }

    public func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Bool: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        guard let value = json.bool else {
            throw ModelError(path: path, reason: "is \(json.typePhrase)", remedy: "Give true or false.")
        }
        self = value
    }

    public func write(to writer: inout JSONWriter) { writer.bool(self) }
}

extension Int: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        guard let value = json.integer, let number = Int(exactly: value) else {
            throw ModelError(path: path, reason: "is not a whole number", remedy: "Give a whole number.")
        }
        self = number
    }

    public func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension JSONValue: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) { self = json }
    public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONObject: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        self = try ObjectReader(json, at: path, known: nil).object
    }

    public func write(to writer: inout JSONWriter) { writer.value(.object(self)) }
}

extension Array: NeutralValue where Element: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        guard let elements = json.array else {
            throw ModelError(path: path, reason: "is \(json.typePhrase)", remedy: "Give a list.")
        }
        self = []
        reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            append(try Element(json: element, at: "\(path)[\(position)]"))
        }
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for element in self { element.write(to: &writer) }
        writer.endArray()
    }
}

extension Instant: NeutralValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        guard let text = json.string, let instant = Instant(text: text) else {
            throw ModelError(
                path: path,
                reason: "is not an instant",
                remedy: "Write it like \"2031-03-09T07:05:11.042Z\"."
            )
        }
        self = instant
    }

    public func write(to writer: inout JSONWriter) { Timestamp(self).write(to: &writer, fractionDigits: 3) }
}

extension JSONWriter {
    /// Writes a member.
    public mutating func member(_ name: String, _ value: some NeutralValue) {
        self.name(name)
        value.write(to: &self)
    }

    /// Writes a member unless it is nil.
    public mutating func member<Value: NeutralValue>(_ name: String, ifPresent value: Value?) {
        if let value { member(name, value) }
    }

    /// Writes a list unless it is empty.
    public mutating func member<Value: NeutralValue>(_ name: String, ifNotEmpty values: [Value]) {
        if !values.isEmpty { member(name, values) }
    }

    /// Writes a dictionary sorted by name, unless it is empty.
    public mutating func member<Key: NeutralKey, Value: NeutralValue>(_ name: String, ifNotEmpty values: [Key: Value]) {
        if !values.isEmpty { member(name, values) }
    }

    /// Writes a dictionary sorted by name.
    public mutating func member<Key: NeutralKey, Value: NeutralValue>(_ name: String, _ values: [Key: Value]) {
        self.name(name)
        self.values(values)
    }

    /// Writes a dictionary as an object sorted by name.
    mutating func values<Key: NeutralKey, Value: NeutralValue>(_ values: [Key: Value]) {
        beginObject()
        values.withPlacesInOrder { places in
            for place in places {
                let (name, value) = values[place.index]
                member(name.rawValue, value)
            }
        }
        endObject()
    }
}
