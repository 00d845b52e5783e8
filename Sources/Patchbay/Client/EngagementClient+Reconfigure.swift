import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import Synchronization

extension Log {
    /// Logs the providers of a plan.
    func providers(of plan: RoutingPlan) {
        for provider in plan.providers {
            let id = type(of: provider.adapter).descriptor.id
            self(.info, "provider", [.provider(provider.name), .adapter(id), .mode(provider.mode)])
        }
    }
}

/// The rules of the current configuration that apply to captures.
package struct Audience: Sendable {
    /// Attribute types and owners, for one side.
    struct Rules: Sendable {
        let catalogue: AttributeCatalogue
        let side: AdapterDescriptor.Side

        func admit(_ operation: EngagementOperation) -> (EngagementOperation, [Finding]) {
            catalogue.admit(operation, from: side)
        }
    }

    /// The providers with a route, and all providers, which may recognize a push as their own.
    let routed, all: Set<String>
    /// Attribute types and owners; nil if the configuration names no attribute.
    let catalogued: Rules?
    /// The maximum number of outcomes in the history, and the limits of the outbox.
    let history: Int
    let limits: OutboxLimits
    /// Whether the app provides the credentials, instead of the configuration.
    var hasCredentialSource: Bool

    init(_ plan: RoutingPlan, limits: OutboxLimits = OutboxLimits(), history: Int = 100_000) {
        self.init(plan, nil, limits, history, hasCredentialSource: true)
    }

    init(_ configuration: Configuration, hasCredentialSource: Bool) {
        let hasRules = !configuration.catalogue.entries.isEmpty
        self.init(
            configuration.plan,
            hasRules ? Rules(catalogue: configuration.catalogue, side: configuration.side) : nil,
            configuration.outbox.limits,
            configuration.outbox.history,
            hasCredentialSource: hasCredentialSource
        )
    }

    private init(
        _ plan: RoutingPlan,
        _ rules: Rules?,
        _ limits: OutboxLimits,
        _ history: Int,
        hasCredentialSource: Bool
    ) {
        routed = Set(plan.providers.filter(\.isRouted).map(\.name))
        all = Set(plan.providers.filter { $0.mode != .shadow }.map(\.name))
        (catalogued, self.limits, self.history) = (rules, limits, history)
        self.hasCredentialSource = hasCredentialSource
    }

    /// Returns the providers whose outcome a caller may await.
    func providers(isPush: Bool) -> Set<String> { isPush ? all : routed }

    /// Applies the attribute catalogue.
    func admit(_ operation: EngagementOperation) -> (EngagementOperation, [Finding]) {
        catalogued?.admit(operation) ?? (operation, [])
    }
}

extension EngagementClient {
    /// Replaces the configuration while work is pending and requests are in flight.
    ///
    /// Requests in flight get their outcome first. Then pending work is moved according to the new configuration's switch
    /// policy, and added providers receive the whole state. Captures are accepted meanwhile. To revert the change, pass the
    /// old configuration.
    ///
    /// - Parameters:
    ///   - configuration: Everything that the client uses from now on; the outbox file cannot change.
    ///   - credentials: Provides the contacts' credentials from now on; nil keeps the app's source. A client without one
    ///     uses the credentials of the new configuration.
    /// - Throws: ``ConfigurationError`` with all errors of the configuration. ``SwitchRefusal`` if the change would lose
    ///   pending work; the old configuration then stays in use. ``CaptureError`` if the client is closed, is or gets
    ///   suspended, or the outbox fails.
    public func reconfigure(_ configuration: Configuration, credentials: CredentialSource? = nil) async throws {
        try configuration.requireSound()
        if let outboxPath, outboxPath != configuration.outbox.path {
            throw ConfigurationError(file: "configuration", ConfigurationFinding.outboxMoved.at("outbox.path"))
        }
        let hasSource = audience.withLock { $0.hasCredentialSource } || credentials != nil
        try await reconfigure(
            configuration.plan,
            audience: Audience(configuration, hasCredentialSource: hasSource),
            credentials: credentials ?? (hasSource ? nil : .configured(in: configuration))
        )
    }

    /// Replaces the routing plan.
    package func reconfigure(_ plan: RoutingPlan, credentials: CredentialSource? = nil) async throws {
        let now = audience.withLock { $0 }
        let next = Audience(plan, limits: now.limits, history: now.history)
        try await reconfigure(plan, audience: next, credentials: credentials)
    }

    private func reconfigure(_ plan: RoutingPlan, audience next: Audience, credentials: CredentialSource?) async throws
    {
        let (host, limits, history) = (host, next.limits, next.history)
        do {
            try await loop.reconfigure(credentials) { store, credentials in
                try Engine(store: store, plan: plan, host: host, limits: limits, credentials: credentials)
            }
            try await loop.withEngine { $0.store.history.limit = history }
        } catch let refusal as SwitchRefusal {
            throw refusal
        } catch let error as CaptureError {
            throw error
        } catch {
            throw CaptureError(storing: error)
        }
        audience.withLock { $0 = next }
        log.providers(of: plan)
    }
}
