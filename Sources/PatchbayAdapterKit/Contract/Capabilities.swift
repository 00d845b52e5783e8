public import PatchbayModel

/// A capability that a vendor's API may have. The set is open.
public struct Capability: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Operations of a kind.
    public static func operation(_ kind: Action.Kind) -> Capability {
        Capability(rawValue: "operation.\(kind.rawValue)")
    }
    /// Events of a kind.
    public static func event(_ kind: TrackingEvent.Kind) -> Capability {
        Capability(rawValue: "event.\(kind.rawValue)")
    }
    /// Push interactions of a kind.
    public static func push(_ interaction: PushInteraction) -> Capability {
        Capability(rawValue: "push.\(interaction.rawValue)")
    }
    /// Attribute values of a type.
    public static func attribute(_ type: AttributeType) -> Capability {
        Capability(rawValue: "attribute.\(type.rawValue)")
    }
    /// Subscriptions on a channel.
    public static func subscription(_ channel: Channel) -> Capability {
        Capability(rawValue: "subscription.\(channel.rawValue)")
    }
    /// Topics within the subscriptions on a channel.
    public static func topics(_ channel: Channel) -> Capability {
        Capability(rawValue: "subscription.\(channel.rawValue).topics")
    }
    /// Logging a contact in or out at an installation: `contact.logIn`, `contact.logOut`.
    public static func contact(_ direction: ContactSwitch.Direction) -> Capability {
        Capability(rawValue: "contact.\(direction.rawValue)")
    }
    /// Identifiers of a kind.
    public static func identifier(_ kind: IdentifierKind) -> Capability {
        Capability(rawValue: "identifier.\(kind.rawValue)")
    }

    /// Removing an attribute.
    public static let attributeUnset: Capability = "change.unset"
    /// Incrementing a number at the vendor.
    public static let attributeIncrement: Capability = "change.increment"
    /// Adding items to a list at the vendor, and removing them.
    public static let attributeAppend: Capability = "change.append"
    /// Tags as labels.
    public static let tags: Capability = "tags"

    /// The capabilities that every API must state its support for: one for each kind in the model.
    public static let known: [Capability] =
        Action.Kind.allCases.map(operation) + ContactSwitch.Direction.allCases.map(contact)
        + TrackingEvent.Kind.allCases.map(event) + PushInteraction.allCases.map(push)
        + AttributeType.allCases.map(attribute) + [attributeUnset, attributeIncrement, attributeAppend, tags]
        + [Channel.push, .email, .sms, .inApp].flatMap { [subscription($0), topics($0)] }
        + [IdentifierKind.external, .email, .phone].map(identifier)
}

/// The degree to which a vendor's API supports a capability.
public enum Support: Hashable, Sendable {
    /// The vendor supports it.
    case native(note: String? = nil)
    /// The adapter emulates it by other means, at a cost.
    case emulated(how: String, cost: String)
    /// It is not available; the adapter rejects it with a remedy.
    case unsupported(reason: String)

    /// Whether the capability is available, natively or emulated.
    public var isAvailable: Bool { if case .unsupported = self { false } else { true } }

    /// The degree as one word: `native`, `emulated`, or `unsupported`.
    public var word: String {
        switch self {
        case .native: "native"
        case .emulated: "emulated"
        case .unsupported: "unsupported"
        }
    }

    /// The note, the emulation and its cost, or the reason.
    public var note: String {
        switch self {
        case .native(let note): note ?? ""
        case .emulated(let how, let cost): "\(how); \(cost)"
        case .unsupported(let reason): reason
        }
    }
}

/// The capabilities of a vendor's API. Capabilities that are not listed are unsupported, and the adapter must reject them.
public struct Capabilities: Sendable, ExpressibleByDictionaryLiteral {
    private let supports: [Capability: Support]

    /// Creates capabilities from a list. If a name occurs twice, the last value applies.
    public init(dictionaryLiteral elements: (Capability, Support)...) { self.init(elements) }

    /// Creates capabilities from pairs. If a name occurs twice, the last value applies.
    public init(_ pairs: some Sequence<(Capability, Support)>) {
        supports = Dictionary(pairs) { _, last in last }
    }

    /// The support for a capability.
    public subscript(capability: Capability) -> Support {
        supports[capability] ?? .unsupported(reason: "The adapter does not claim it.")
    }

    /// The listed capabilities, sorted by name.
    public var listed: [(capability: Capability, support: Support)] {
        supports.inOrder.map { ($0.key, $0.value) }
    }

    /// Returns the capabilities that an operation needs, without duplicates; those of attributes are ordered by attribute name.
    public static func needs(of operation: EngagementOperation) -> [Capability] {
        var needs: [Capability] = [.operation(operation.action.kind)]
        switch operation.action {
        case .identify(let identifiers): needs += identifiers.map { .identifier($0.kind) }
        case .switchContact(let change): needs.append(.contact(change.direction))
        case .changeAttributes(let changes):
            for (_, change) in changes.inOrder {
                switch change {
                case .set(let value): needs.append(.attribute(value.type))
                case .unset: needs.append(.attributeUnset)
                case .increment: needs.append(.attributeIncrement)
                case .append, .remove: needs.append(.attributeAppend)
                }
            }
        case .changeTags: needs.append(.tags)
        case .changeSubscription(let subscription):
            needs.append(.subscription(subscription.channel))
            if subscription.topic != nil { needs.append(.topics(subscription.channel)) }
        case .track(let event):
            needs.append(.event(event.kind))
            if case .push(let interaction, _, _) = event { needs.append(.push(interaction)) }
        default: break
        }
        var seen: Set<Capability> = []
        return needs.filter { seen.insert($0).inserted }
    }
}
