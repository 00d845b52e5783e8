import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox
import Synchronization

extension Log {
    /// Tells which providers a plan has.
    func providers(of plan: RoutingPlan) {
        for provider in plan.providers {
            let id = type(of: provider.adapter).descriptor.id
            self(.info, "provider", [.provider(provider.name), .adapter(id), .mode(provider.mode)])
        }
    }
}

/// Who is to hear of an operation, by the configuration that is in force.
struct Audience: Sendable {
    /// The providers with a route, and all that may know a push as theirs.
    let routed, all: Set<String>

    init(_ plan: RoutingPlan) {
        routed = Set(plan.providers.filter(\.isRouted).map(\.name))
        all = Set(plan.providers.filter { $0.mode != .shadow }.map(\.name))
    }

    /// The providers whose outcome may be asked for.
    func providers(of operation: EngagementOperation) -> Set<String> { operation.action.isPush ? all : routed }
}

extension EngagementClient {
    /// Goes on with another configuration, with work pending and requests in flight.
    ///
    /// What is in flight gets its verdict first, from whom it was sent to; then pending work goes where the new plan's policy
    /// says, and newcomers hear the whole state. Captures never wait: what is captured meanwhile is switched with the rest. To
    /// go back, call it with the old plan.
    ///
    /// - Parameters:
    ///   - plan: providers and routes from now on.
    ///   - credentials: gives a provider's credential for a contact, from now on.
    /// - Throws: ``SwitchRefusal`` if the change would lose pending work: then the old configuration goes on. ``CaptureError`` if
    ///   the client is closed, is or gets suspended, or the outbox fails. ``ConfigurationError`` if the plan has doors of both
    ///   sides.
    public func reconfigure(
        _ plan: RoutingPlan,
        credentials: @escaping @Sendable (_ provider: String, _ contact: String?) -> Secret? = { _, _ in nil }
    ) async throws {
        try plan.requireOneSide()
        let (host, limits) = (host, limits)
        do {
            try await loop.reconfigure { store in
                try Engine(store: store, plan: plan, host: host, limits: limits, credentials: credentials)
            }
        } catch let refusal as SwitchRefusal {
            throw refusal
        } catch let error as CaptureError {
            throw error
        } catch {
            throw CaptureError(storing: error)
        }
        audience.withLock { $0 = Audience(plan) }
        log.providers(of: plan)
    }
}
