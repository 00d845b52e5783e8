public import PatchbayAdapterKit
public import PatchbayModel

extension Configuration {
    /// The routing plan for the engine.
    public var plan: RoutingPlan {
        RoutingPlan(
            providers: providers.map { provider in
                let route = routes.first { $0.provider == provider.name }
                return RoutingPlan.Provider(
                    name: provider.name,
                    adapter: provider.adapter,
                    mode: route?.mode,
                    share: route?.share ?? .all,
                    sendsShadow: route?.sends ?? false,
                    settingsDigest: provider.settingsDigest,
                    rate: provider.rate
                )
            },
            onSwitch: onSwitch,
            onLoss: onLoss,
            onUnacknowledged: onUnacknowledged,
            requiredConsent: requiredConsent
        )
    }

    /// Applies the attribute catalogue to an operation that is about to be captured.
    ///
    /// - Returns: The operation with converted values, and every reason why it must not be captured.
    public func admit(_ operation: EngagementOperation) -> (EngagementOperation, [Finding]) {
        catalogue.admit(operation, from: side)
    }

    /// Returns the credential that the configuration holds for a contact at a provider; nil if it holds none.
    public func credential(of provider: String, for contact: String?) -> Secret? {
        self.provider(provider)?.credentials[contact]
    }
}
