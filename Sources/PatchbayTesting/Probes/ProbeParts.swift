import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// The empty settings of a probe.
struct ProbeSettings: AdapterSettings {
    static var table: SettingsTable<ProbeSettings> { SettingsTable([]) }
}

/// The findings of probes.
enum ProbeFinding {
    static let refused = FindingRow(
        .error("probe.refused", .invalid),
        reason: "The vendor refuses the operation",
        remedy: "Correct it."
    )
    static let unknown = FindingRow(
        .error("probe.outcomeUnknown", .outcomeUnknown),
        reason: "It is unknown whether the vendor processed the operation",
        remedy: "Check the vendor, then decide whether to replay it."
    )
    static let waiting = FindingRow(.note("probe.waiting"), reason: "The operation waits for its time", remedy: "Wait.")
    static let keyMissing = FindingRow(
        .note("probe.keyMissing"),
        reason: "No person is logged in yet",
        remedy: "Log in."
    )
    static let later = FindingRow(
        .note("probe.later"),
        reason: "The operation takes effect later",
        remedy: "No action is needed."
    )
    static let gated = FindingRow(
        .note("probe.gated"),
        reason: "A rule prevents the operation",
        remedy: "No action is needed."
    )
    static let stopped = FindingRow(
        .error("probe.stopped", .unauthenticated),
        reason: "The account is closed",
        remedy: "Open the account, then resume the provider."
    )
}

extension AdapterDescriptor {
    /// Returns the descriptor of a probe.
    static func probe(
        _ memory: MemoryScope = .lane,
        window: Int = 64,
        concurrency: Int = 4,
        usesCredentials: Bool = false
    ) -> AdapterDescriptor {
        AdapterDescriptor(
            id: "probe",
            title: "Probe",
            side: memory == .lane ? .device : .server,
            memory: memory,
            delivery: .init(window: window, concurrency: concurrency, usesCredentials: usesCredentials),
            capabilities: [.operation(.track): .native()],
            tables: .init(
                rules: [],
                findings: [],
                replies: ReplyTable([], otherwise: .otherwise(.retry, rule: RuleID("probe", "1")))
            )
        )
    }
}

extension Plan {
    /// Returns a plan that sends a text to an endpoint of the simulated vendor.
    static func send(
        _ endpoint: Adapter.Endpoint,
        _ text: String,
        for operations: some Collection<Pending<Adapter>>,
        headers: [WireHeader] = [],
        unacknowledged: Adapter.Memory? = nil
    ) -> Plan {
        let ids = operations.map(\.id.rawValue).joined(separator: " ")
        let request = WireRequest(
            "POST",
            "https://probe.example/\(endpoint.rawValue)",
            headers: [WireHeader(Trial.operationsHeader, ids)] + headers,
            body: Array(text.utf8)
        )
        guard !operations.isEmpty else { return .send(Transmission(maintenanceRequest: endpoint, request)) }
        return .send(Transmission(endpoint, request, carrying: operations, unacknowledged: unacknowledged))
    }
}

extension Exchange {
    /// Whether the vendor replied with success.
    var isSuccess: Bool { outcome.reply?.isSuccess ?? false }
    /// The vendor's status; nil without a reply.
    var status: Int? { outcome.reply?.status }
    /// Ten seconds after the outcome.
    var soon: When { .at(moment.now + .seconds(10)) }
}

extension Pending {
    /// The name of the operation's event or attribute.
    var word: String { operation.word }
}

extension WireRequest {
    /// The last part of the path.
    var endpoint: String { URLText.path(of: url).split(separator: "/").last.map(String.init) ?? "" }
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
    /// The body's parts, which commas separate.
    var words: [String] { text.split(separator: ",").map(String.init) }
}

extension WireResponse {
    /// Returns a reply with status 200 and a text.
    static func ok(_ text: String = "") -> WireResponse { WireResponse(200, body: Array(text.utf8)) }
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}
