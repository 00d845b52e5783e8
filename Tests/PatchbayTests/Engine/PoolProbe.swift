import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

/// A vendor's back-end API for tests. All lanes share one memory, a maintenance request fetches a token, a request carries
/// several operations, and the replies name the verdicts.
///
/// A reply `{"verdicts": {"<event>": "retry 60000"}, "otherwise": "accepted"}` names the verdict of each event.
struct PoolProbe: VendorAdapter {
    struct Settings: AdapterSettings {
        /// Fetch a token before anything else.
        var needsToken = false
        /// The maximum number of operations per request.
        var batch = 1
        /// Whether requests are journaled, so that each is looked up after a crash.
        var isJournaled = false
        /// Waits until this many milliseconds from now, each time.
        var wait: Int?
        /// Waits without an instant.
        var waitsIndefinitely = false
        /// Settles an operation that was not in its window.
        var settlesUnknownOperation = false
        /// Settles no operation.
        var settlesNothing = false
        /// Adds this to the name of every queue.
        var suffix = ""
        static let table = SettingsTable<Settings>([])
    }

    enum Endpoint: String, AdapterEndpoint {
        case token, plain, journaled
        var isJournaled: Bool { self == .journaled }
    }

    enum Step: String, Codable, Sendable { case begun }

    struct Memory: AdapterMemory {
        var token = ""
        var requests = 0
    }

    static let descriptor = AdapterDescriptor(
        id: "pool",
        title: "Pool",
        side: .server,
        memory: .provider,
        delivery: .init(window: 8, concurrency: 2),
        capabilities: [.operation(.track): .native()],
        tables: .init(
            rules: [],
            findings: [ProbeDevice.refused, ProbeDevice.waiting],
            replies: ReplyTable([], otherwise: .otherwise(.refused, ProbeDevice.refused, rule: RuleID("pool", "1")))
        )
    )

    let settings: Settings
    init(settings: Settings) { self.settings = settings }

    func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, queue: (operation.contact ?? "main") + settings.suffix)
    }

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        if settings.settlesUnknownOperation { return .settle(["no-such-operation": .accepted()]) }
        if settings.settlesNothing { return .settle([:]) }
        if settings.waitsIndefinitely { return .wait(until: nil, because: ProbeDevice.waiting.at()) }
        if let wait = settings.wait {
            return .wait(until: moment.now + .milliseconds(wait), because: ProbeDevice.waiting.at())
        }
        if settings.needsToken, memory.token.isEmpty {
            return .send(Transmission(maintenanceRequest: .token, WireRequest("POST", "http://pool.test/token")))
        }
        let carried = Array(pending.prefix(settings.batch))
        let request = WireRequest(
            "POST",
            "http://pool.test/events",
            headers: [
                WireHeader("Token", memory.token), WireHeader("Requests", "\(memory.requests)"),
                WireHeader("Step", carried[0].step?.rawValue ?? "none"),
            ],
            body: Array(carried.map { Self.name($0.operation) }.joined(separator: ",").utf8)
        )
        return .send(Transmission(settings.isJournaled ? .journaled : .plain, request, carrying: carried))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        guard case .replied(let reply) = exchange.outcome, reply.isSuccess else {
            return Interpretation(exchange.operations) { _ in
                exchange.outcome.reply?.status == 400
                    ? .retry(.woken) : .retry(.at(exchange.moment.now + .seconds(10), orWoken: true))
            }
        }
        if exchange.endpoint == .token {
            memory.token = reply.json?["token"]?.string ?? ""
            return Interpretation()
        }
        memory.requests += 1
        var interpretation = Interpretation(exchange.operations) { pending in
            let name = Self.name(pending.operation)
            let word = reply.json?["verdicts"]?[name]?.string ?? reply.json?["otherwise"]?.string ?? "accepted"
            return Self.verdict(word, exchange.moment.now)
        }
        for pending in exchange.operations where reply.json?["followUp"]?.string == Self.name(pending.operation) {
            interpretation.followUps.append(FollowUp(cause: pending.id, action: .event("follow-up")))
        }
        if reply.json?["unknown"] != nil { interpretation.verdicts["no-such-operation"] = .accepted() }
        if reply.json?["suspension"] != nil { interpretation.suspension = ProbeDevice.refused.at() }
        return interpretation
    }

    private static func verdict(_ word: String, _ now: Instant) -> Verdict<Self> {
        let parts = word.split(separator: " ")
        return switch parts[0] {
        case "retry": .retry(.at(now + .milliseconds(Int(parts[1]) ?? 0)))
        case "begun": .inProgress(.begun)
        case "woken": .retry(.woken)
        case "rejected": .rejected(ProbeDevice.refused.at())
        default: .accepted()
        }
    }

    static func name(_ operation: EngagementOperation) -> String {
        if case .track(.custom(let name, _)) = operation.action { name } else { operation.action.kind.rawValue }
    }
}

/// A vendor whose memory and step have a version. All versions have the same id.
struct VersionedProbe<Version: StateVersion>: VendorAdapter {
    struct Settings: AdapterSettings { static var table: SettingsTable<Settings> { SettingsTable([]) } }
    enum Endpoint: String, AdapterEndpoint { case plain }
    struct Memory: AdapterMemory { var seen: [String] = [] }
    struct Step: Codable, Sendable, Equatable { var version = Version.number }

    static var descriptor: AdapterDescriptor {
        AdapterDescriptor(
            id: "versioned",
            title: "Versioned",
            stateVersion: Version.number,
            capabilities: [.operation(.track): .native()],
            tables: .init(
                rules: [],
                findings: [ProbeDevice.refused],
                replies: ReplyTable([], otherwise: .otherwise(.refused, ProbeDevice.refused, rule: RuleID("v", "1")))
            )
        )
    }

    init(settings: Settings) {}

    func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, queue: "queue-\(Version.number)")
    }

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let request = WireRequest(
            "POST",
            "http://versioned.test/\(Version.number)",
            headers: [
                WireHeader("Seen", memory.seen.joined(separator: ",")),
                WireHeader("Step", pending[0].step.map { "\($0.version)" } ?? "none"),
            ],
            body: []
        )
        return .send(Transmission(.plain, request, carrying: [pending[0]]))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        memory.seen.append("v\(Version.number)")
        return Interpretation(exchange.operations) { _ in
            exchange.outcome.reply?.isSuccess == true
                ? .accepted() : .inProgress(Step(), .at(exchange.moment.now + .seconds(3600)))
        }
    }

    static func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue {
        switch part {
        case .memory: try Version.memory(state)
        case .step: ["version": .integer(Version.number)]
        }
    }
}

/// A version of ``VersionedProbe``.
protocol StateVersion: Sendable {
    static var number: Int { get }
    static func memory(_ older: JSONValue) throws -> JSONValue
}

enum FirstVersion: StateVersion {
    static let number = 1
    static func memory(_ older: JSONValue) throws -> JSONValue { older }
}

enum SecondVersion: StateVersion {
    static let number = 2
    static func memory(_ older: JSONValue) throws -> JSONValue { ["seen": ["upgraded"]] }
}

/// A version that cannot read the one before.
enum CarelessVersion: StateVersion {
    struct CannotRead: Error {}
    static let number = 3
    static func memory(_ older: JSONValue) throws -> JSONValue { throw CannotRead() }
}

extension RoutingPlan {
    /// Returns a plan with one provider that uses ``PoolProbe``.
    static func pool(
        _ name: String = "p",
        mode: Mode? = .live,
        digest: String = "",
        _ change: (inout PoolProbe.Settings) -> Void = { _ in }
    ) -> RoutingPlan {
        var settings = PoolProbe.Settings()
        change(&settings)
        let adapter = PoolProbe(settings: settings)
        return RoutingPlan(providers: [.init(name: name, adapter: adapter, mode: mode, settingsDigest: digest)])
    }

    /// Returns a plan with one provider that uses a version of ``VersionedProbe``.
    static func versioned<Version: StateVersion>(_ version: Version.Type) -> RoutingPlan {
        let adapter = VersionedProbe<Version>(settings: .init())
        return RoutingPlan(providers: [.init(name: "p", adapter: adapter, mode: .live)])
    }
}

extension VirtualWorld.Fate {
    /// HTTP 200 with a JSON body.
    static func says(_ json: JSONValue) -> VirtualWorld.Fate { .outcome(.replied(WireResponse(200, json: json))) }

    /// A status without a body.
    static func status(_ status: Int) -> VirtualWorld.Fate { .outcome(.replied(WireResponse(status))) }
}

extension VirtualWorld {
    /// The bodies that were sent, as text.
    var sentBodies: [String] { sent.map { String(decoding: $0.request.body, as: UTF8.self) } }

    func events(_ provider: String, code: String) -> Int {
        reportedEvents.count { report in
            switch report.event {
            case .noticed(provider, let finding), .suspended(provider, let finding): finding.code == code
            default: false
            }
        }
    }
}
