import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A vendor that recognizes its own pushes by a mark in the payload and has no API for dismissals.
struct PushProbe: VendorAdapter {
    struct Settings: AdapterSettings {
        /// The member of the payload that makes a push this vendor's.
        var mark = "mark"
        static let table = SettingsTable<Settings>([])
    }

    enum Endpoint: String, AdapterEndpoint { case any }

    static let foreign = FindingRow(
        .foreign("push.foreign"),
        reason: "Another vendor sent it",
        remedy: "No action is needed."
    )
    static let descriptor = AdapterDescriptor(
        id: "push",
        title: "Push",
        capabilities: [.event(.push): .native()],
        tables: .init(
            rules: [],
            findings: [foreign, ProbeDevice.refused],
            replies: ReplyTable([], otherwise: .otherwise(.refused, ProbeDevice.refused, rule: RuleID("push", "1")))
        )
    )

    let settings: Settings
    init(settings: Settings) { self.settings = settings }

    func examine(_ operation: EngagementOperation) -> [Finding] {
        guard case .track(.push(let interaction, let payload, _)) = operation.action else { return [] }
        guard payload[settings.mark] != nil else { return [Self.foreign.at("action.event.payload")] }
        return interaction == .dismissed ? [ProbeDevice.refused.at("action.event.interaction")] : []
    }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        let request = WireRequest(
            "POST",
            "http://push.test/\(head.operation.action.kind.rawValue)",
            headers: [WireHeader("Operation", head.id.rawValue)]
        )
        return .send(Transmission(.any, request, carrying: [head]))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in
            exchange.outcome.reply?.isSuccess == true
                ? .accepted() : .retry(.at(exchange.moment.now + .seconds(10)))
        }
    }
}

extension RoutingPlan.Provider {
    /// Returns a provider that recognizes pushes whose payload has a member with the provider's name.
    static func push(_ name: String, _ mode: RoutingPlan.Mode?) -> RoutingPlan.Provider {
        .init(name: name, adapter: PushProbe(settings: PushProbe.Settings(mark: name)), mode: mode)
    }
}

extension Action {
    /// Returns a push with a mark in its payload.
    static func push(_ mark: String, _ interaction: PushInteraction = .opened) -> Action {
        .track(.push(interaction, payload: JSONObject([(mark, .string("message-7"))])))
    }
}
