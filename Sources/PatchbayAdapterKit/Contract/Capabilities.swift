public import PatchbayModel

/// Something that a vendor's API can do, or not: an open set.
public struct Capability: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Operations of that kind.
    public static func operation(_ kind: Action.Kind) -> Capability {
        Capability(rawValue: "operation.\(kind.rawValue)")
    }
    /// Events of that kind.
    public static func event(_ kind: TrackingEvent.Kind) -> Capability {
        Capability(rawValue: "event.\(kind.rawValue)")
    }
    /// Push interactions of that kind.
    public static func push(_ interaction: PushInteraction) -> Capability {
        Capability(rawValue: "push.\(interaction.rawValue)")
    }
    /// Attribute values of that type.
    public static func attribute(_ type: AttributeType) -> Capability {
        Capability(rawValue: "attribute.\(type.rawValue)")
    }
    /// Subscriptions on that channel.
    public static func subscription(_ channel: Channel) -> Capability {
        Capability(rawValue: "subscription.\(channel.rawValue)")
    }
    /// Topics within the subscriptions on that channel.
    public static func topics(_ channel: Channel) -> Capability {
        Capability(rawValue: "subscription.\(channel.rawValue).topics")
    }
    /// A contact who comes to an installation, or leaves it: `contact.logIn`, `contact.logOut`.
    public static func contact(_ direction: ContactSwitch.Direction) -> Capability {
        Capability(rawValue: "contact.\(direction.rawValue)")
    }
    /// Identifiers of that kind.
    public static func identifier(_ kind: IdentifierKind) -> Capability {
        Capability(rawValue: "identifier.\(kind.rawValue)")
    }

    /// Removing an attribute.
    public static let attributeUnset: Capability = "change.unset"
    /// Adding to a number at the vendor.
    public static let attributeIncrement: Capability = "change.increment"
    /// Adding to and taking out of a list at the vendor.
    public static let attributeAppend: Capability = "change.append"
    /// Tags as labels.
    public static let tags: Capability = "tags"

    /// What every API has to say something about: each kind that the model knows, once.
    public static let known: [Capability] =
        Action.Kind.allCases.map(operation) + ContactSwitch.Direction.allCases.map(contact)
        + TrackingEvent.Kind.allCases.map(event) + PushInteraction.allCases.map(push)
        + AttributeType.allCases.map(attribute) + [attributeUnset, attributeIncrement, attributeAppend, tags]
        + [Channel.push, .email, .sms, .inApp].flatMap { [subscription($0), topics($0)] }
        + [IdentifierKind.external, .email, .phone].map(identifier)
}

/// How well a vendor's API can do something.
public enum Support: Hashable, Sendable {
    /// The vendor has it.
    case native(note: String? = nil)
    /// The adapter makes it out of something else, at a cost.
    case emulated(how: String, cost: String)
    /// It can't be had; the adapter refuses it with a remedy.
    case unsupported(reason: String)

    /// Whether it can be had at all.
    public var isAvailable: Bool { if case .unsupported = self { false } else { true } }

    /// One word: `native`, `emulated`, `unsupported`.
    public var word: String {
        switch self {
        case .native: "native"
        case .emulated: "emulated"
        case .unsupported: "unsupported"
        }
    }

    /// The note, how and cost, or the reason.
    public var note: String {
        switch self {
        case .native(let note): note ?? ""
        case .emulated(let how, let cost): "\(how); \(cost)"
        case .unsupported(let reason): reason
        }
    }
}

/// What a vendor's API can do. What is not listed is not claimed, and must be refused.
public struct Capabilities: Sendable, ExpressibleByDictionaryLiteral {
    private let supports: [Capability: Support]

    /// Capabilities from a list; a name that stands twice keeps its last word.
    public init(dictionaryLiteral elements: (Capability, Support)...) { self.init(elements) }

    /// Capabilities from pairs; a name that stands twice keeps its last word.
    public init(_ pairs: some Sequence<(Capability, Support)>) {
        supports = Dictionary(pairs) { _, last in last }
    }

    /// How well something can be done.
    public subscript(capability: Capability) -> Support {
        supports[capability] ?? .unsupported(reason: "The adapter does not claim it.")
    }

    /// What is listed, sorted by name.
    public var listed: [(capability: Capability, support: Support)] {
        supports.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The capabilities that an operation needs, each once, attributes in the order of their names.
    public static func needs(of operation: EngagementOperation) -> [Capability] {
        var needs: [Capability] = [.operation(operation.action.kind)]
        switch operation.action {
        case .identify(let identifiers): needs += identifiers.map { .identifier($0.kind) }
        case .switchContact(let change): needs.append(.contact(change.direction))
        case .changeAttributes(let changes):
            for (_, change) in changes.sorted(by: { $0.key < $1.key }) {
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
