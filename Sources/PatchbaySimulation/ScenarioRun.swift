public import Patchbay
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
import PatchbayOutbox

/// Runs a scenario and reports each event as a JSON object.
public struct ScenarioRun {
    private let scenario: Scenario
    private let world: VirtualWorld
    private let configure: (JSONValue) throws -> Configuration
    private let emit: (JSONValue) throws -> Void
    private var configuration: Configuration
    private var appState = AppState.active
    private var contact: String?
    private var reportedRequests = 0
    private var reportedEvents = 0
    private var isSilent = false
    private let network: ScenarioNetwork
    private let script = Script()

    /// State of the app and its process that the closures of the virtual world read.
    private final class Script {
        var credentials: [String?: Secret?] = [:]
        /// Whether the process is dying inside a transaction. Errors that follow have this cause.
        var isDying = false
    }

    private struct Death: Error {}

    /// An exchange in which the process dies. Another process starts afterwards.
    public struct Interruption: Hashable, Sendable {
        /// The number of the request, from 1.
        public let request: Int
        /// Whether the vendor processes the request before the process dies.
        public let isProcessed: Bool

        /// Creates an interruption.
        public init(request: Int, isProcessed: Bool) { (self.request, self.isProcessed) = (request, isProcessed) }
    }

    /// Creates a run that has not started.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - simulators: The available vendor simulators.
    ///   - interruption: An exchange in which the process dies, in addition to the scenario; nil for none.
    ///   - configure: Reads a configuration.
    ///   - report: Receives each event, in order.
    /// - Throws: The errors of `configure`, ``ModelError`` for a vendor without a simulator, and ``SettingsError`` for
    ///   invalid settings of a simulator.
    public init(
        _ scenario: Scenario,
        simulators: [any VendorSimulator.Type] = [],
        interruptedBy interruption: Interruption? = nil,
        configure: @escaping (JSONValue) throws -> Configuration,
        report: @escaping (JSONValue) throws -> Void
    ) throws {
        (self.scenario, self.configure, emit) = (scenario, configure, report)
        configuration = try configure(scenario.configuration)
        world = try VirtualWorld(start: scenario.start)
        network = try ScenarioNetwork(scenario, simulators: simulators)
        network.interruption = interruption
    }

    /// Runs all steps, then reports the accounts, the memories and the snapshot.
    public mutating func play() throws {
        world.network = { [network] in network.fate(of: $0) }
        connect()
        try remember()
        try world.start(configuration.plan)
        isSilent = true
        try play(scenario.before)
        isSilent = false
        try play(scenario.steps)
        try conclude()
    }

    /// Stores the memories and the subject snapshot that the scenario starts with.
    private func remember() throws {
        for entry in scenario.memory {
            guard let provider = configuration.provider(entry.provider) else {
                let path = "memory.\(entry.provider)"
                throw ModelError(path: path, reason: "is not a provider", remedy: "Name one of the configuration.")
            }
            let version = entry.version ?? provider.descriptor.stateVersion
            try world.store.state.setProvider(
                ProviderRecord(
                    name: provider.name,
                    adapter: provider.adapterID.rawValue,
                    stateVersion: version,
                    state: "live",
                    settingsDigest: provider.settingsDigest
                )
            )
            let body = Array(entry.memory.text.utf8)
            try world.store.state.setMemory(provider: provider.name, lane: entry.lane, version: version, body: body)
        }
        if let snapshot = scenario.snapshot {
            try world.store.state.setSnapshot(subject: scenario.subject.rawValue, body: Array(snapshot.text.utf8))
        }
    }

    private mutating func play(_ steps: [Scenario.Step]) throws {
        try report()
        for step in steps {
            do {
                try play(step)
            } catch  where script.isDying {
                script.isDying = false
                world.onStorage(nil)
                world.kill()
                try emitUnlessSilent(["at": .string(world.host.date().text), "died": true])
            }
            try report()
        }
    }

    /// Reports an event, unless it belongs to the steps before the scenario.
    private func emitUnlessSilent(_ line: JSONValue) throws { if !isSilent { try emit(line) } }

    /// Removes all faults after the run, and advances the time until no operation is pending, by at most thirty days.
    public func removeFaults() throws {
        network.removeFaults()
        for provider in configuration.providers { try world.resume(provider.name) }
        if !world.isAlive { try world.start(configuration.plan) }
        try world.drain()
    }

    /// The number of requests so far.
    public var requestCount: Int { world.sent.count }

    /// The names of the endpoints whose requests were in flight when a process ended.
    public var interruptedEndpoints: Set<String> { Set(world.interrupted.map(\.endpoint)) }

    /// The states of the simulated vendors, by id.
    public var vendorStates: [AdapterID: any Sendable] { network.vendors.mapValues(\.anyState) }

    /// The outcomes of each operation, by provider and operation. A scenario may use an id twice.
    public var outcomes: [String: [String]] {
        var outcomes: [String: [String]] = [:]
        for entry in world.reportedEvents {
            if case .ended(let id, let provider, let outcome) = entry.event {
                outcomes["\(provider) \(id.rawValue)", default: []].append(outcome.term.rawValue)
            }
        }
        return outcomes
    }

    /// The number of pending operations.
    public var pendingCount: Int { get throws { try world.pendingCount } }

    private func connect() {
        let (script, configuration) = (script, configuration)
        network.providers = Dictionary(uniqueKeysWithValues: configuration.providers.map { ($0.name, $0.adapterID) })
        world.credentials = { provider, contact in
            if let given = script.credentials[contact] { return given }
            return configuration.credential(of: provider, for: contact)
        }
    }

    private mutating func play(_ step: Scenario.Step) throws {
        switch step {
        case .capture(let drafts): try capture(drafts)
        case .advance(let duration): try world.advance(by: duration)
        case .drain(let duration): try world.drain(atMost: duration)
        case .reply(let reply, let count): network.replies += Array(repeating: reply, count: count)
        case .defaultReply(let reply): network.standing = reply
        case .kill: world.kill()
        case .killAtSettle(let before):
            world.onStorage { [script, world] point in
                guard point == (before ? .beforeCommit(.normal) : .afterCommit(.normal)), !world.storesNoVerdict else {
                    return
                }
                script.isDying = true
                throw Death()
            }
        case .start: if !world.isAlive { try world.start(configuration.plan) }
        case .restart: try world.restart(configuration.plan)
        case .reboot(let pause): try world.reboot(after: pause)
        case .clockJump(let duration): world.host.jump(by: duration)
        case .flush: try world.flush()
        case .wake: try world.wake()
        case .network(let isUp):
            network.isUp = isUp
            if isUp { try world.wake() }
        case .appState(let state):
            appState = state
            if state == .active { try world.wake() }
        case .credential(let contact, let secret):
            script.credentials[contact] = .some(secret)
            try world.credentialDidChange(for: contact)
        case .reconfigure(let json):
            configuration = try configure(json)
            connect()
            try world.restart(configuration.plan)
        case .resume(let provider): try world.resume(provider)
        case .chance(let chance): world.host.fix(chance: chance)
        case .read(let request, let provider):
            let operation = EngagementOperation(
                id: world.host.makeID(),
                subject: scenario.subject,
                contact: contact,
                capturedAt: world.host.date(),
                appState: appState,
                action: .readBack(request)
            )
            try world.read(operation, from: provider)
        }
    }

    private mutating func capture(_ drafts: [EngagementOperation.Draft]) throws {
        var operations: [EngagementOperation] = []
        for draft in drafts {
            let (host, subject, appState) = (world.host, scenario.subject, appState)
            var made: OperationID?
            func filled(_ contact: String?) throws -> EngagementOperation {
                let operation = try draft.filled(
                    id: made ?? host.makeID(),
                    subject: subject,
                    capturedAt: host.date(),
                    appState: appState,
                    contact: contact
                )
                made = operation.id
                return operation
            }
            var drafted = try filled(contact)
            if case .switchContact(let change) = drafted.action {
                // As in an app, a log-in already carries the new contact.
                contact = change.identifiers.first?.value
                drafted = try filled(contact)
            }
            let (operation, findings) = configuration.admit(drafted)
            try emitUnlessSilent(
                [
                    "at": .string(world.host.date().text), "captured": .string(operation.id.rawValue),
                    "kind": .string(operation.action.kind.rawValue), "findings": .array(findings.map(\.json)),
                ]
            )
            if !findings.contains(where: { $0.severity == .error }) { operations.append(operation) }
        }
        try world.capture(operations)
    }

    /// Reports the requests and outcomes since the last report.
    private mutating func report() throws {
        var lines: [(Instant, Int, JSONValue)] = []
        for sent in world.sent[reportedRequests...] { lines.append((sent.date, lines.count, line(of: sent))) }
        for entry in world.reportedEvents[reportedEvents...] { lines.append((entry.date, lines.count, entry.json)) }
        (reportedRequests, reportedEvents) = (world.sent.count, world.reportedEvents.count)
        for (_, _, line) in lines.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) { try emitUnlessSilent(line) }
    }

    /// Returns the request with its reply. The process may die before it receives the reply.
    private func line(of sent: VirtualWorld.Sent) -> JSONValue {
        var line = sent.json.object ?? [:]
        line["reply"] = network.fates[sent.number]?.json
        return .object(line)
    }

    private func conclude() throws {
        let memory = try configuration.providers.flatMap { provider in
            try world.memory(of: provider.name).inOrder.map { lane, text -> JSONValue in
                ["provider": .string(provider.name), "lane": .string(lane), "memory": try JSONValue(parsing: text)]
            }
        }
        let pending = try configuration.providers.flatMap { try world.store.pendingLines(of: $0.name) }
        // Numbers of the outbox are not part of the captured state.
        var snapshot = try world.snapshot(of: scenario.subject)
        snapshot?.cameAfter = nil
        snapshot?.personChanges = []
        var end: JSONObject = [
            "end": .string(world.host.date().text),
            "accounts": .array(try world.accounts().map(\.json)),
            "pending": .array(pending),
            "snapshot": snapshot?.json ?? [:],
            "memory": .array(memory),
        ]
        if !network.vendors.isEmpty { end["vendors"] = try network.vendorStates }
        try emit(.object(end))
    }
}

@available(*, unavailable)
extension ScenarioRun: Sendable {}
