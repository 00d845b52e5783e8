package import PatchbayJSON

/// A value that can be read directly from the bytes that ``NeutralValue/write(to:)`` writes, without an intermediate tree.
///
/// Stored values were written by this model, so almost all of them have that form. For other forms the scanner gives up, and
/// ``NeutralValue/init(json:at:)`` reads the value or throws the reason. Both must agree: if `init(scanning:)` accepts a value,
/// `init(json:at:)` returns an equal one.
package protocol ScannedValue: NeutralValue {
    /// Reads the value and moves the scanner past it.
    init(scanning scanner: inout JSONScanner) throws(NotPlain)
}

extension ScannedValue {
    /// Creates a value from the bytes of its JSON form.
    package init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }

    // Inlined, so that they are specialized for the type that is read.

    @inline(__always) static func read(_ jsonBytes: some Collection<UInt8>) throws(ModelError) -> Self {
        if let value = scan(jsonBytes) { return value }
        return try Self(explaining: jsonBytes)
    }

    @inline(__always) static func scan(_ jsonBytes: some Collection<UInt8>) -> Self? {
        var scanned: Self?
        let isWhole = jsonBytes.withContiguousStorageIfAvailable { bytes in
            JSONScanner.scan(bytes) { scanner throws(NotPlain) in scanned = try Self(scanning: &scanner) }
        }
        // Moved instead of copied, because an operation is large.
        return isWhole == true ? scanned.take() : nil
    }
}

// These types are stored in large numbers, so their readers are specialized for every caller.

extension EngagementOperation {
    /// Creates a value from the bytes of its JSON form.
    public init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }
}

extension SubjectSnapshot {
    /// Creates a value from the bytes of its JSON form.
    public init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }
}

extension Contact {
    /// Creates a value from the bytes of its JSON form.
    public init(jsonBytes: some Collection<UInt8>) throws(ModelError) { self = try Self.read(jsonBytes) }

    /// Creates a value from the form that the model writes; nil for any other form, valid or invalid.
    package init?(scanning jsonBytes: ArraySlice<UInt8>) {
        guard let contact = Self.scan(jsonBytes) else { return nil }
        self = contact
    }
}

extension JSONScanner {
    /// Reads an object used as a dictionary.
    package mutating func dictionary<Key: NeutralKey, Value: ScannedValue>() throws(NotPlain) -> [Key: Value] {
        try beginObject()
        // Most dictionaries have a few members; six is a capacity that rarely has to grow.
        var result = [Key: Value](minimumCapacity: 6)
        while let name = try nextName() {
            // Canonically equivalent names are the same key here. `init(json:at:)` decides which value applies.
            guard !name.isEmpty, result.updateValue(try Value(scanning: &self), forKey: Key(rawValue: name)) == nil
            else { throw NotPlain() }
        }
        return result
    }
}

// MARK: Basic values

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
