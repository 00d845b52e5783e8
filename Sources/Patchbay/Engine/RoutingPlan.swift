public import PatchbayAdapterKit
public import PatchbayModel

/// The providers and the operations that each receives.
public struct RoutingPlan: Sendable {
    /// The way in which a provider is served.
    public enum Mode: String, NeutralWord {
        /// The provider receives all operations.
        case live
        /// The provider is a shadow: the engine examines the operations and compares the findings with those of the live
        /// providers. Nothing counts as delivered. Nothing is sent, except to a sandbox if that is configured.
        case shadow
        /// The provider receives the operations of its share of the contacts.
        case percentage
        /// The provider receives all operations, but none is sent for now.
        case paused
    }

    /// The policy for pending work of a provider that is no longer routed, or not for that contact.
    public enum SwitchPolicy: String, NeutralWord {
        /// The old provider receives it.
        case drain
        /// Operations that the old provider has not begun go to the new providers.
        case retarget
        /// The old provider receives it, and the new providers do, too.
        case both
    }

    /// The policy for pending work that is moved and that no provider accepts.
    public enum LossPolicy: String, NeutralWord {
        /// The switch is refused with a list of the operations. Nothing changes.
        case refuse
        /// The operations are rejected at the new providers and kept for replay.
        case reject
    }

    /// The policy of `retarget` for an operation whose request was never answered, so that the old provider may have
    /// processed it.
    public enum UnacknowledgedPolicy: String, NeutralWord {
        /// The operation stays with the old provider, which repeats it if necessary.
        case keep
        /// The operation moves and may be processed by both providers.
        case move
    }

    /// A provider of the plan.
    public struct Provider: Sendable {
        /// The name in the configuration.
        public var name: String
        /// The adapter with its settings.
        public var adapter: any VendorAdapter
        /// The mode; nil without a route. Such a provider is drained and receives only late pushes that it recognizes as its
        /// own.
        public var mode: Mode?
        /// The contacts that it receives if it is routed.
        public var share: Share
        /// Whether a shadow's requests are sent to the sandbox in its settings.
        public var sendsShadow: Bool
        /// A digest that identifies the settings.
        public var settingsDigest: String
        /// The maximum request rate; nil for the adapter's default.
        public var rate: Rate?

        /// Creates a provider.
        public init(
            name: String,
            adapter: any VendorAdapter,
            mode: Mode?,
            share: Share = .all,
            sendsShadow: Bool = false,
            settingsDigest: String = "",
            rate: Rate? = nil
        ) {
            (self.name, self.adapter, self.mode, self.settingsDigest) = (name, adapter, mode, settingsDigest)
            (self.share, self.sendsShadow, self.rate) = (share, sendsShadow, rate)
        }

        /// Whether captures are delivered to the provider and count as delivered.
        public var isRouted: Bool { mode != nil && mode != .shadow }

        /// Whether requests of a shadow run are sent for it.
        var sendsShadowRequests: Bool { mode == .shadow && sendsShadow }
    }

    /// The providers.
    public var providers: [Provider]
    /// The policy for pending work at a switch.
    public var onSwitch: SwitchPolicy
    /// The policy for pending work that is moved and that no provider accepts.
    public var onLoss: LossPolicy
    /// The policy of `retarget` for an operation whose request was never answered.
    public var onUnacknowledged: UnacknowledgedPolicy
    /// The consents that operations wait for. Other operations are allowed until the person opts out.
    public var requiredConsent: Set<Consent.Scope>

    /// Creates a plan.
    public init(
        providers: [Provider],
        onSwitch: SwitchPolicy = .drain,
        onLoss: LossPolicy = .refuse,
        onUnacknowledged: UnacknowledgedPolicy = .keep,
        requiredConsent: Set<Consent.Scope> = []
    ) {
        (self.providers, self.onSwitch, self.onLoss) = (providers, onSwitch, onLoss)
        (self.onUnacknowledged, self.requiredConsent) = (onUnacknowledged, requiredConsent)
    }
}
