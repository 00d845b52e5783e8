package import PatchbayJSON

/// A value that can be read from the very bytes that ``NeutralValue/write(to:)`` makes of it, without a tree between.
///
/// What is stored was written by this model, so almost everything that is read back is in that form. The scanner gives up
/// on the rest, and then ``NeutralValue/init(json:at:)`` decides, which knows every form and says what is wrong. Both must
/// agree: whatever `init(scanning:)` accepts, `init(json:at:)` reads as an equal value.
package protocol ScannedValue: NeutralValue {
    /// Reads the value, and leaves the scanner behind it.
    init(scanning scanner: inout JSONScanner) throws(NotPlain)
}

extension ScannedValue {
    /// Reads the JSON form from bytes.
    package init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }

    // Inlined, so that they are compiled for the type that is read.

    @inline(__always) static func read(_ jsonBytes: some Collection<UInt8>) throws(ModelError) -> Self {
        if let value = scan(jsonBytes) { return value }
        return try Self(explaining: jsonBytes)
    }

    @inline(__always) static func scan(_ jsonBytes: some Collection<UInt8>) -> Self? {
        var scanned: Self?
        let isWhole = jsonBytes.withContiguousStorageIfAvailable { bytes in
            JSONScanner.scan(bytes) { scanner throws(NotPlain) in scanned = try Self(scanning: &scanner) }
        }
        // Taken, not copied: an operation is large.
        return isWhole == true ? scanned.take() : nil
    }
}

// The values that are stored by the thousand: their readers are compiled for their types, whoever calls.

extension EngagementOperation {
    /// Reads the JSON form from bytes.
    public init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }
}

extension SubjectSnapshot {
    /// Reads the JSON form from bytes.
    public init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }
}

extension Contact {
    /// Reads the JSON form from bytes.
    public init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }

    /// Reads the form that the model writes; nil for any other, be it good or bad.
    package init?(scanning jsonBytes: ArraySlice<UInt8>) {
        guard let contact = Self.scan(jsonBytes) else { return nil }
        self = contact
    }
}

extension JSONScanner {
    /// A member that must be there.
    package mutating func required<Value: ScannedValue>(
        _ name: StaticString,
        as type: Value.Type = Value.self
    ) throws(NotPlain) -> Value {
        guard takesName(name) else { throw NotPlain() }
        return try Value(scanning: &self)
    }

    /// A member that may be absent.
    package mutating func optional<Value: ScannedValue>(
        _ name: StaticString,
        as type: Value.Type = Value.self
    ) throws(NotPlain) -> Value? {
        takesName(name) ? try Value(scanning: &self) : nil
    }

    /// A list that may be absent, then empty.
    package mutating func list<Value: ScannedValue>(
        _ name: StaticString,
        of type: Value.Type = Value.self
    ) throws(NotPlain) -> [Value] {
        takesName(name) ? try [Value](scanning: &self) : []
    }

    /// An object used as a dictionary; may be absent, then empty.
    package mutating func dictionary<Key: NeutralKey, Value: ScannedValue>(
        _ name: StaticString
    ) throws(NotPlain) -> [Key: Value] {
        takesName(name) ? try dictionary() : [:]
    }

    /// An object used as a dictionary.
    package mutating func dictionary<Key: NeutralKey, Value: ScannedValue>() throws(NotPlain) -> [Key: Value] {
        try beginObject()
        // Most have a few members: room for six is the least that is not soon outgrown.
        var result = [Key: Value](minimumCapacity: 6)
        while let name = try nextName() {
            // Names that only look alike are one key here; which of them counts, the other reader knows.
            guard !name.isEmpty, result.updateValue(try Value(scanning: &self), forKey: Key(rawValue: name)) == nil
            else { throw NotPlain() }
        }
        return result
    }
}

// MARK: What values are made of

extension ScannedValue where Self: NeutralKey {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        let text = try scanner.string()
        guard !text.isEmpty else { throw NotPlain() }
        self.init(rawValue: text)
    }
}

extension ScannedValue where Self: NeutralWord {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        guard let word = Self(rawValue: try scanner.string()) else { throw NotPlain() }
        self = word
    }
}

extension OperationID: ScannedValue {}
extension Subject: ScannedValue {}
extension AdapterID: ScannedValue {}
extension AttributeName: ScannedValue {}
extension IdentifierKind: ScannedValue {}
extension Purpose: ScannedValue {}
extension Channel: ScannedValue {}
extension Tag: ScannedValue {}
extension PushToken.Service: ScannedValue {}
extension Device.IdentityName: ScannedValue {}

extension AppState: ScannedValue {}
extension AttributeType: ScannedValue {}
extension Action.Kind: ScannedValue {}
extension TrackingEvent.Kind: ScannedValue {}
extension ContactSwitch.Direction: ScannedValue {}
extension Consent.State: ScannedValue {}
extension PushInteraction: ScannedValue {}
extension PushToken.Environment: ScannedValue {}
extension Subscription.State: ScannedValue {}

extension String: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) { self = try scanner.string() }
}

extension Bool: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) { self = try scanner.bool() }
}

extension Int: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        guard let number = scanner.integer().flatMap(Int.init(exactly:)) else { throw NotPlain() }
        self = number
    }
}

extension JSONValue: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) { self = try scanner.value() }
}

extension JSONObject: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) { self = try scanner.object() }
}

extension Array: ScannedValue where Element: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        self = []
        try scanner.beginArray()
        while try scanner.nextElement() { append(try Element(scanning: &scanner)) }
    }
}

extension Timestamp: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        guard let value = Timestamp(utf8: try scanner.plainString()) else { throw NotPlain() }
        self = value
    }
}

extension Instant: ScannedValue {
    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        self = try Timestamp(scanning: &scanner).instant
    }
}
