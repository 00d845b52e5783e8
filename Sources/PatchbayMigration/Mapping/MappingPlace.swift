import PatchbayAdapterKit
public import PatchbayModel
import PatchbayRecords

/// A part of a contact that a mapping rule reads or writes: `attributes.city`, `identifiers.email`, `locale`, `timeZone`,
/// `tags`, `tags.vip`, `subscriptions.email/weekly`.
///
/// A rule never allows more than the person does: if a rule writes a state over another one, the more protective state
/// stays, and no rule can create an opt-in.
public enum MappingPlace: Hashable, Sendable {
    /// An attribute.
    case attribute(AttributeName)
    /// The first identifier of a kind.
    case identifier(IdentifierKind)
    /// The locale.
    case locale
    /// The time zone.
    case timeZone
    /// All tags, as choices.
    case tags
    /// Whether the contact has a tag.
    case tag(Tag)
    /// The state of a subscription to a channel, or to a topic on it.
    case subscription(Subscription.Key)

    /// The accepted forms of text, for error messages.
    static let allowed =
        "attributes.<name>, identifiers.<kind>, locale or timeZone; for rename, set, default and remove also tags and tags.<name>; "
        + "for map and for the target of split also tags; for rename, set, default and map also subscriptions.<channel>[/<topic>]"

    /// Whether the place concerns tags, which have no text.
    var isOfTags: Bool {
        switch self {
        case .tags, .tag, .subscription: true
        default: false
        }
    }

    /// Returns a value in the form that the place accepts; nil if the place does not accept the value.
    func taking(_ value: AttributeValue) -> AttributeValue? {
        switch self {
        case .attribute: value
        case .identifier, .locale, .timeZone:
            value.plainText.flatMap { $0.isEmpty ? nil : .string($0) }
        case .tag: value.converted(to: .boolean)
        case .subscription:
            value.plainText.flatMap { Subscription.State(rawValue: $0) == nil ? nil : .string($0) }
        case .tags: value.type == .string ? value.plainText.map { .choices([$0]) } : value.converted(to: .choices)
        }
    }

    /// The value of a place without content: false for a tag, no choices for all tags, nil for other places.
    var silence: AttributeValue? {
        switch self {
        case .tag: .boolean(false)
        case .tags: .choices([])
        case .attribute, .identifier, .locale, .timeZone, .subscription: nil
        }
    }

    /// Reads a place; nil if the text is not a place.
    public init?(text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.dropFirst().first) {
        case ("attributes", let name?) where !name.isEmpty: self = .attribute(AttributeName(rawValue: name))
        case ("identifiers", let kind?) where !kind.isEmpty: self = .identifier(IdentifierKind(rawValue: kind))
        case ("locale", nil): self = .locale
        case ("timeZone", nil): self = .timeZone
        case ("tags", nil): self = .tags
        case ("tags", let name?) where !name.isEmpty: self = .tag(Tag(rawValue: name))
        case ("subscriptions", let key?) where !key.isEmpty && !key.hasPrefix("/") && !key.hasSuffix("/"):
            self = .subscription(Subscription.Key(text: key))
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
        case .tags: "tags"
        case .tag(let tag): "tags.\(tag.rawValue)"
        case .subscription(let key): "subscriptions.\(key.text)"
        }
    }
}

extension Contact {
    /// The value at a place; nil if there is none.
    subscript(place: MappingPlace) -> AttributeValue? {
        get {
            switch place {
            case .attribute(let name): attributes[name]
            case .identifier(let kind): identifiers.first(kind).map(AttributeValue.string)
            case .locale: locale.map(AttributeValue.string)
            case .timeZone: timeZone.map(AttributeValue.string)
            case .tags: tags.isEmpty ? nil : .choices(tags.map(\.rawValue).sorted())
            case .tag(let tag): tags.contains(tag) ? .boolean(true) : nil
            case .subscription(let key):
                subscriptions.filter { $0.key == key }.mostProtectiveState(of: key).map { .string($0.rawValue) }
            }
        }
        set {
            switch place {
            case .attribute(let name): attributes[name] = newValue
            case .identifier(let kind): setIdentifier(kind, newValue?.plainText)
            case .locale: locale = newValue?.plainText
            case .timeZone: timeZone = newValue?.plainText
            case .tags: tags = newValue.map { Set($0.words.map(Tag.init(rawValue:))) } ?? []
            case .tag(let tag):
                if newValue == .boolean(true) { tags.insert(tag) } else { tags.remove(tag) }
            case .subscription(let key): setSubscription(key, newValue?.plainText.flatMap(Subscription.State.init))
            }
        }
    }

    /// Sets a state unless the present one is more protective; nil removes the subscription.
    private mutating func setSubscription(_ key: Subscription.Key, _ state: Subscription.State?) {
        guard let state else { return subscriptions.removeAll { $0.key == key } }
        let new = Subscription(channel: key.channel, topic: key.topic, state: state)
        guard let place = subscriptions.firstIndex(where: { $0.key == key }) else { return subscriptions.append(new) }
        subscriptions[place].state = [subscriptions[place], new].mostProtectiveState(of: key) ?? state
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

extension AttributeValue {
    /// The elements of choices; empty for any other value.
    fileprivate var words: [String] { if case .choices(let words) = self { words } else { [] } }
}
