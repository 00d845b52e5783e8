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

        /// A provider.
        public init(name: String, adapter: any VendorAdapter, mode: Mode?, settingsDigest: String = "") {
            (self.name, self.adapter, self.mode, self.settingsDigest) = (name, adapter, mode, settingsDigest)
        }

        /// Whether it hears what is captured.
        public var isRouted: Bool { mode != nil }
    }

    /// The providers.
    public var providers: [Provider]
    /// What happens to pending work at a switch.
    public var onSwitch: SwitchPolicy
    /// What needs the person's yes. The rest is taken as allowed until the person says no.
    public var requiredConsent: Set<Consent.Scope>

    /// A plan.
    public init(providers: [Provider], onSwitch: SwitchPolicy = .drain, requiredConsent: Set<Consent.Scope> = []) {
        (self.providers, self.onSwitch, self.requiredConsent) = (providers, onSwitch, requiredConsent)
    }
}
