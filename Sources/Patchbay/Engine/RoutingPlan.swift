public import PatchbayAdapterKit
public import PatchbayModel

/// Which providers there are, and what each hears.
public struct RoutingPlan: Sendable {
    /// How a provider is served.
    public enum Mode: String, NeutralWord {
        /// It hears everything that is captured.
        case live
        /// It is shadowed: what it would hear is examined and compared with what the live ones hear. Nothing counts as
        /// delivered, and nothing leaves unless it is sent to a sandbox.
        case shadow
        /// It hears everything of its share of the contacts.
        case percentage
        /// It hears everything, and nothing is sent for now.
        case paused
    }

    /// What happens to the pending work of a provider that is no longer routed, or not for that contact.
    public enum SwitchPolicy: String, NeutralWord {
        /// It is delivered to the old provider.
        case drain
        /// What the old provider has not begun goes to the new ones.
        case retarget
        /// It is delivered to the old provider and goes to the new ones too.
        case both
    }

    /// What happens when pending work moves and no provider would take it.
    public enum LossPolicy: String, NeutralWord {
        /// The switch is refused, with the list; nothing has changed then.
        case refuse
        /// It ends as rejected where it was to go, and is kept for replay.
        case reject
    }

    /// What `retarget` does with an operation whose request left and was never answered: the old provider may have it.
    public enum UnacknowledgedPolicy: String, NeutralWord {
        /// It stays with the old provider, which repeats it if need be.
        case keep
        /// It moves, and may count at both.
        case move
    }

    /// One provider.
    public struct Provider: Sendable {
        /// Its name in the configuration.
        public var name: String
        /// Its adapter, settings read.
        public var adapter: any VendorAdapter
        /// How it is served; nil without a route: it is drained, and hears of late pushes that it knows as its own.
        public var mode: Mode?
        /// Which contacts it hears, where it is routed.
        public var share: Share
        /// Whether a shadow's requests are sent, to the sandbox that its settings name.
        public var sendsShadow: Bool
        /// Tells one set of settings from another.
        public var settingsDigest: String
        /// How often it may be asked; nil is as its adapter says.
        public var rate: Rate?

        /// A provider.
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

        /// Whether it hears what is captured, for good.
        public var isRouted: Bool { mode != nil && mode != .shadow }

        /// Whether requests that count as nothing are sent for it.
        var sendsShadowRequests: Bool { mode == .shadow && sendsShadow }
    }

    /// The providers.
    public var providers: [Provider]
    /// What happens to pending work at a switch.
    public var onSwitch: SwitchPolicy
    /// What happens when pending work moves and no provider would take it.
    public var onLoss: LossPolicy
    /// What `retarget` does with an operation whose request was never answered.
    public var onUnacknowledged: UnacknowledgedPolicy
    /// What needs the person's yes. The rest is taken as allowed until the person says no.
    public var requiredConsent: Set<Consent.Scope>

    /// A plan.
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
