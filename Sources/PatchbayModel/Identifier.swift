public import PatchbayJSON

/// What sort of identifier: an open set.
public struct IdentifierKind: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The organisation's own id of a person: customer number, account id.
    public static let external: IdentifierKind = "external"
    /// An e-mail address.
    public static let email: IdentifierKind = "email"
    /// A phone number.
    public static let phone: IdentifierKind = "phone"
}

/// One way to name a person.
public struct Identifier: ScannedValue {
    /// What sort of identifier.
    public var kind: IdentifierKind
    /// The identifier itself, exactly as given.
    public var value: String

    /// Creates an identifier.
    public init(_ kind: IdentifierKind, _ value: String) { (self.kind, self.value) = (kind, value) }

    /// Values are compared scalar by scalar: what looks alike may be another person's.
    public static func == (left: Identifier, right: Identifier) -> Bool {
        left.kind == right.kind && ScalarString.equal(left.value, right.value)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(ScalarString(value))
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["kind", "value"])
        kind = try reader.required("kind")
        value = try reader.required("value")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        kind = try scanner.required("kind")
        value = try scanner.required("value")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "kind", kind)
        writer.member(known: "value", value)
        writer.endObject()
    }
}

extension [Identifier] {
    /// The first identifier of that kind.
    public func first(_ kind: IdentifierKind) -> String? { first { $0.kind == kind }?.value }
}
