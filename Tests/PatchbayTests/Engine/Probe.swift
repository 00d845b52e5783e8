import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import Testing

/// A vendor for tests that sends one request per operation and behaves as its settings say.
struct ProbeDevice: VendorAdapter {
    struct Settings: AdapterSettings {
        /// Whether requests are journaled, so that each is looked up after a crash.
        var isJournaled = false
        /// Whether an attribute change that the vendor already holds is suppressed.
        var suppresses = false
        /// Whether events have a separate queue.
        var separatesEvents = true
        /// Whether no reply gets a verdict.
        var returnsNoVerdict = false
        /// Whether every plan changes the memory and settles nothing.
        var plansInCircles = false
        /// The courtesy delay after a capture in milliseconds. A flush skips it.
        var courtesy = 0
        /// Whether a request requires a credential.
        var needsCredential = false
        /// Whether consent decisions are not applicable to this vendor.
        var ignoresConsent = false
        static let table = SettingsTable<Settings>([])
    }

    enum Endpoint: String, AdapterEndpoint {
        case plain, journaled
        var isJournaled: Bool { self == .journaled }
    }

    enum Step: Codable, Sendable, Equatable { case second, asked }

    struct Memory: AdapterMemory {
        var accepted: [String: String] = [:]
        var count = 0

        /// Returns the memory without the values that an operation may change.
        func unacknowledged(_ operation: EngagementOperation) -> Memory {
            guard case .changeAttributes(let changes) = operation.action else { return self }
            var memory = self
            for name in changes.keys { memory.accepted[name.rawValue] = nil }
            return memory
        }
    }

    static let refused = FindingRow(
        .error("probe.refused", .invalid),
        reason: "The vendor says no",
        remedy: "Correct it."
    )
    static let foreign = Finding(code: "probe.foreign", severity: .foreign, reason: "Not ours.", remedy: "None.")
    static let unsigned = FindingRow(
        .note("probe.credential.missing", .unauthenticated),
        reason: "There is no credential",
        remedy: "Give one."
    )
    static let waiting = FindingRow(.note("probe.waiting"), reason: "Not yet", remedy: "Wait.")

    static let descriptor = AdapterDescriptor(
        id: "probe",
        title: "Probe",
        delivery: .init(window: 64, usesCredentials: true),
        capabilities: [.operation(.track): .native()],
        tables: .init(
            rules: [],
            findings: [refused, waiting, unsigned],
            replies: ReplyTable([], otherwise: .otherwise(.refused, refused, rule: RuleID("probe", "1")))
        )
    )

    let settings: Settings
    init(settings: Settings) { self.settings = settings }

    func examine(_ operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .track(.custom(name: "bad", _)): [Self.refused.at("action.event.name")]
        case .changeAttributes(let changes) where changes["homeless"] != nil:
            [Self.refused.at("action.changes.homeless")]
        case .changeTags(let change) where change.add.contains("homeless"): [Self.refused.at("action.tags.add")]
        case .track(.push(_, let payload, _)) where payload["probe"] == nil:
            [Self.foreign]
        case .setConsent where settings.ignoresConsent: [Self.foreign]
        default: []
        }
    }

    func place(_ operation: EngagementOperation) -> Place {
        let isEvent = operation.action.kind == .track
        return Place(
            lane: operation.subject.rawValue,
            queue: isEvent && settings.separatesEvents ? "events" : "profile",
            waitsForConsent: operation.action.kind != .identify
        )
    }

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        if settings.plansInCircles {
            return .settle([:], remembering: Memory(accepted: memory.accepted, count: memory.count + 1))
        }
        if settings.courtesy > 0, !moment.flush, !head.isImmediate {
            let due = head.since + .milliseconds(settings.courtesy)
            if due > moment.now { return .wait(until: due, because: Self.waiting.at()) }
        }
        if settings.needsCredential, head.credential == nil {
            return .wait(until: nil, because: Self.unsigned.at())
        }
        if case .changeAttributes(let changes) = head.operation.action, settings.suppresses {
            let values = changes.compactMapValues { if case .set(let value) = $0 { value.plainText } else { nil } }
            if values.allSatisfy({ memory.accepted[$0.key.rawValue] == $0.value }) {
                return .settle([head.id: .unchanged()])
            }
        }
        let part = head.step == .second ? "/second" : ""
        let request = WireRequest(
            "POST",
            "http://probe.test/\(head.operation.action.kind.rawValue)\(part)",
            headers: [
                WireHeader("Operation", head.id.rawValue),
                WireHeader("Authorization", head.credential?.value ?? "anonymous", isSecret: true),
            ],
            body: head.operation.jsonBytes
        )
        let endpoint: Endpoint = settings.isJournaled ? .journaled : .plain
        return .send(
            Transmission(endpoint, request, carrying: [head], unacknowledged: memory.unacknowledged(head.operation))
        )
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        if settings.returnsNoVerdict { return Interpretation() }
        return Interpretation(exchange.operations) { pending in
            switch exchange.outcome {
            case .replied(let reply) where reply.isSuccess:
                if case .switchContact = pending.operation.action, pending.step == nil { return .inProgress(.second) }
                if case .changeAttributes(let changes) = pending.operation.action {
                    for (name, change) in changes {
                        if case .set(let value) = change { memory.accepted[name.rawValue] = value.plainText }
                    }
                }
                return .accepted(answer: reply.json)
            case .replied(let reply) where (400...499).contains(reply.status): return .rejected(Self.refused.at())
            case .failed(let failure) where failure.delivery == .interrupted:
                return .accepted(Self.waiting.at(detail: "interrupted"))
            default: return .retry(.at(exchange.moment.now + .seconds(10), orWoken: true))
            }
        }
    }
}

extension RoutingPlan {
    /// Returns a plan with one provider that uses ``ProbeDevice``.
    static func probe(
        _ name: String = "p",
        onSwitch: SwitchPolicy = .drain,
        requiredConsent: Set<Consent.Scope> = [],
        mode: Mode? = .live,
        others: [Provider] = [],
        _ change: (inout ProbeDevice.Settings) -> Void = { _ in }
    ) -> RoutingPlan {
        var settings = ProbeDevice.Settings()
        change(&settings)
        let provider = Provider(name: name, adapter: ProbeDevice(settings: settings), mode: mode)
        return RoutingPlan(providers: [provider] + others, onSwitch: onSwitch, requiredConsent: requiredConsent)
    }
}

extension Action {
    static func event(_ name: String) -> Action { .track(.custom(name: name)) }
    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }
}

extension VirtualWorld {
    /// The ids of the operations that were sent, in order.
    var sentOperations: [String] { sent.compactMap { $0.request[header: "Operation"] } }

    func account(_ provider: String) throws -> ProviderAccounts {
        try #require(try accounts().first { $0.provider == provider })
    }
}

/// Captures a consent decision for a purpose.
func setConsent(_ purpose: Purpose, _ state: Consent.State, in world: VirtualWorld) throws {
    try setConsent(purpose, nil, state, in: world)
}

/// Captures a consent decision for a purpose on a channel.
func setConsent(_ purpose: Purpose, _ channel: Channel?, _ state: Consent.State, in world: VirtualWorld) throws {
    try world.capture(.setConsent(Consent(purpose: purpose, channel: channel, state: state)))
}
