package import PatchbayJSON

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
public struct Identifier: ObjectValue {
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

    package enum Member: MemberName, MemberTable {
        case kind, value
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        kind = try reader.required(Member.kind)
        value = try reader.required(Member.value)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.kind, kind)
        writer.member(Member.value, value)
    }
}

extension [Identifier] {
    /// Returns the first identifier of a kind.
    public func first(_ kind: IdentifierKind) -> String? { first { $0.kind == kind }?.value }
}
