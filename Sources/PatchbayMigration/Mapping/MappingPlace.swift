public import PatchbayModel

/// A part of a contact that a mapping rule reads or writes: `attributes.city`, `identifiers.email`, `locale`, `timeZone`.
public enum MappingPlace: Hashable, Sendable {
    /// An attribute.
    case attribute(AttributeName)
    /// The first identifier of a kind.
    case identifier(IdentifierKind)
    /// The locale.
    case locale
    /// The time zone.
    case timeZone

    /// What a text must look like, for error texts.
    static let allowed = "attributes.<name>, identifiers.<kind>, locale or timeZone"

    /// Reads a place; nil if it is none.
    public init?(text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.dropFirst().first) {
        case ("attributes", let name?) where !name.isEmpty: self = .attribute(AttributeName(rawValue: name))
        case ("identifiers", let kind?) where !kind.isEmpty: self = .identifier(IdentifierKind(rawValue: kind))
        case ("locale", nil): self = .locale
        case ("timeZone", nil): self = .timeZone
        default: return nil
        }
    }

    /// The text that ``init(text:)`` reads.
    public var text: String {
        switch self {
        case .attribute(let name): "attributes.\(name.rawValue)"
        case .identifier(let kind): "identifiers.\(kind.rawValue)"
        case .locale: "locale"
        case .timeZone: "timeZone"
        }
    }
}

extension Contact {
    /// What stands at a place.
    subscript(place: MappingPlace) -> AttributeValue? {
        get {
            switch place {
            case .attribute(let name): attributes[name]
            case .identifier(let kind): identifiers.first(kind).map(AttributeValue.string)
            case .locale: locale.map(AttributeValue.string)
            case .timeZone: timeZone.map(AttributeValue.string)
            }
        }
        set {
            switch place {
            case .attribute(let name): attributes[name] = newValue
            case .identifier(let kind): setIdentifier(kind, newValue?.plainText)
            case .locale: locale = newValue?.plainText
            case .timeZone: timeZone = newValue?.plainText
            }
        }
    }

    private mutating func setIdentifier(_ kind: IdentifierKind, _ value: String?) {
        let place = identifiers.firstIndex { $0.kind == kind }
        switch (place, value) {
        case (let place?, let value?): identifiers[place].value = value
        case (let place?, nil): identifiers.remove(at: place)
        case (nil, let value?): identifiers.append(Identifier(kind, value))
        case (nil, nil): break
        }
    }
}
