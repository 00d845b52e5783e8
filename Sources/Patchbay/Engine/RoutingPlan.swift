public import PatchbayAdapterKit
public import PatchbayModel

/// Which providers there are, and what each hears.
public struct RoutingPlan: Sendable {
    /// How a provider is served.
    public enum Mode: String, NeutralWord {
        /// It hears everything that is captured.
        case live
        /// It hears everything, and nothing is sent for now.
        case paused
    }

    /// What happens to the pending work of a provider that is no longer routed.
    public enum SwitchPolicy: String, NeutralWord {
        /// It is delivered to the old provider.
        case drain
        /// What the old provider has not begun goes to the new ones.
        case retarget
    }

    /// One provider.
    public struct Provider: Sendable {
        /// Its name in the configuration.
        public var name: String
        /// Its adapter, settings read.
        public var adapter: any VendorAdapter
        /// How it is served; nil without a route: it is drained, and hears of late pushes that it knows as its own.
        public var mode: Mode?
        /// Tells one set of settings from another.
        public var settingsDigest: String
        /// How often it may be asked; nil is as its adapter says.
        public var rate: Rate?

        /// A provider.
        public init(
            name: String,
            adapter: any VendorAdapter,
            mode: Mode?,
            settingsDigest: String = "",
            rate: Rate? = nil
        ) {
            (self.name, self.adapter, self.mode, self.settingsDigest) = (name, adapter, mode, settingsDigest)
            self.rate = rate
        }

        /// Whether it hears what is captured.
        public var isRouted: Bool { mode != nil }
    }

    /// The providers.
    public var providers: [Provider]
    /// What happens to pending work at a switch.
    public var onSwitch: SwitchPolicy
    /// Purposes that need the person's consent; others are taken as allowed.
    public var requiredConsent: Set<Purpose>

    /// A plan.
    public init(providers: [Provider], onSwitch: SwitchPolicy = .drain, requiredConsent: Set<Purpose> = []) {
        (self.providers, self.onSwitch, self.requiredConsent) = (providers, onSwitch, requiredConsent)
    }
}
