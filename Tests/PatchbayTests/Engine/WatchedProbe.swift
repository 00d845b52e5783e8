import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import Synchronization

/// The calls of an adapter.
final class AdapterLog: Sendable {
    struct Entries {
        var examined: [OperationID] = []
        var placed: [OperationID] = []
        /// The number of operations in the window of each plan.
        var windows: [Int] = []
    }

    private let state = Mutex(Entries())

    var entries: Entries { state.withLock { $0 } }

    func note(_ change: (inout Entries) -> Void) { state.withLock { change(&$0) } }
}

/// An adapter that records its calls in a log.
struct WatchedProbe: VendorAdapter {
    struct Settings: AdapterSettings { static let table = SettingsTable<Settings>([]) }
    enum Endpoint: String, AdapterEndpoint { case any }

    static let descriptor = AdapterDescriptor(
        id: "watched",
        title: "Watched",
        delivery: .init(window: 16),
        capabilities: [:],
        tables: .init(
            rules: [],
            findings: [],
            replies: ReplyTable([], otherwise: .otherwise(.accepted, rule: RuleID("watched", "1")))
        )
    )

    let log: AdapterLog

    init(settings: Settings) { self.init(AdapterLog()) }
    init(_ log: AdapterLog) { self.log = log }

    func examine(_ operation: EngagementOperation) -> [Finding] {
        log.note { $0.examined.append(operation.id) }
        return []
    }

    func place(_ operation: EngagementOperation) -> Place {
        log.note { $0.placed.append(operation.id) }
        return Place(lane: operation.subject.rawValue)
    }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        log.note { $0.windows.append(pending.count) }
        let request = WireRequest(
            "POST",
            "http://watched.test/",
            headers: [WireHeader("Operation", pending[0].id.rawValue)]
        )
        return .send(Transmission(.any, request, carrying: [pending[0]]))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in .accepted() }
    }
}

extension RoutingPlan {
    /// Returns a plan with one provider whose adapter records its calls.
    static func watched(_ log: AdapterLog) -> RoutingPlan {
        RoutingPlan(providers: [.init(name: "p", adapter: WatchedProbe(log), mode: .live)])
    }
}
