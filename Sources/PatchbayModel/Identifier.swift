public import PatchbayJSON

/// A kind of identifier. The set is open.
public struct IdentifierKind: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The organization's own id of a person, such as a customer number or an account id.
    public static let external: IdentifierKind = "external"
    /// An e-mail address.
    public static let email: IdentifierKind = "email"
    /// A phone number.
    public static let phone: IdentifierKind = "phone"
}

/// An identifier of a person.
public struct Identifier: ScannedValue {
    /// The kind of the identifier.
    public var kind: IdentifierKind
    /// The identifier, exactly as given.
    public var value: String

    /// Creates an identifier.
    public init(_ kind: IdentifierKind, _ value: String) { (self.kind, self.value) = (kind, value) }

    /// Compares values scalar by scalar: texts that look alike may identify different people.
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
    /// Returns the first identifier of a kind.
    public func first(_ kind: IdentifierKind) -> String? { first { $0.kind == kind }?.value }
}
