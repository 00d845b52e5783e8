public import Patchbay
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
public import PatchbaySimulation
import Testing

/// One app installation that delivers through an adapter to a vendor simulator, for an adapter's own tests.
///
/// The driver runs the real delivery engine over an in-memory outbox under a virtual clock. Nothing happens in the
/// background: each call runs the engine until it waits for time or for an event.
///
/// ```swift
/// let driver = try AdapterTestDriver<ToyDevice, ToySimulator>(settings: ["key": "k-1"], account: [:])
/// driver.capture(.registerDevice(Corpus.phone))
/// driver.nextOutcomes = [.status(503)]
/// let id = driver.capture(.track(.custom(name: "opened")))
/// #expect(driver.outcome(of: id) == nil && driver.waitReason?.code == "toy.reply.later")
/// driver.advance(by: .seconds(60))
/// #expect(driver.outcome(of: id)?.term == .accepted)
/// #expect(driver.endpoints == [.register, .events, .events])
/// #expect(driver.state.events == ["opened"])
/// ```
///
/// Add vendor-specific helpers in an extension:
///
/// ```swift
/// typealias Driver = AdapterTestDriver<ToyDevice, ToySimulator>
/// extension AdapterTestDriver<ToyDevice, ToySimulator> {
///     var client: ToyState.Client? { state.clients.last }
/// }
/// ```
///
/// Four rules of the engine matter in most tests:
/// - A capture, ``wake()``, ``flush()`` and a read open the queues that wait for an event. After an exchange without a
///   2xx reply, a capture within one second of the last such event is planned only when that second has passed:
///   call `advance(by: .seconds(1))` before the capture.
/// - Replies arrive after ``replyDelay``, which is zero by default. With a longer delay, a request stays in flight until
///   time passes, and captures can overtake its reply.
/// - An outcome with the delivery `.interrupted` ends the process while the request is in flight, and starts a new
///   process.
/// - Operations carry the contact that the app knows at capture: ``contact``, which log-ins and log-outs change.
///
/// An error of the engine or the outbox is recorded as a test issue, so that most calls need no `try`.
public final class AdapterTestDriver<Adapter: VendorAdapter, Simulator: VendorSimulator> {
    /// A request that left.
    public struct Sent: Sendable {
        /// The kind of request.
        public let endpoint: Adapter.Endpoint
        /// The request.
        public let request: WireRequest
        /// The operations that the request carried.
        public let operations: [OperationID]
        /// When the request left, on the engine's timeline.
        public let at: Instant

        /// The body as JSON; null if it is not JSON.
        public var body: JSONValue { request.json ?? .null }
    }

    /// An operation that has no outcome yet.
    public struct Waiting: Sendable {
        /// The operation.
        public let operation: EngagementOperation
        /// The lane and queue that hold it.
        public let lane, queue: String
        /// How far the operation got; nil if it has not begun.
        public let step: Adapter.Step?
        /// Retry verdicts since the last progress, and those of them that had a reply.
        public let failures, refusals: Int
    }

    /// The engine's environment: the clock, the outbox, and everything that happened.
    public let world: VirtualWorld
    /// The adapter, with the settings that are in force now.
    public private(set) var adapter: Adapter
    /// The vendor simulator. Replace it to change the vendor's account; ``state`` stays.
    public var simulator: Simulator
    /// The vendor's state.
    public var state: Simulator.State
    /// The installation.
    public let subject: Subject

    /// The current contact, as the app knows it: captured operations carry it. Captured log-ins and log-outs change it.
    public var contact: String?
    /// The app state that captured operations carry.
    public var appState: AppState? = .active
    /// The credential that the app gives for every contact without an entry in ``credentials``.
    public var credential: Secret?
    /// The credential that the app gives for each contact; the key of the anonymous contact is `""`.
    public var credentials: [String: Secret] = [:]

    /// Outcomes that replace the next replies, in order; an element that is nil lets the simulator reply.
    public var nextOutcomes: [Outcome?] = []
    /// Outcomes that replace the next replies at an endpoint, in order. They take precedence over ``nextOutcomes``.
    public var nextOutcomesByEndpoint: [Adapter.Endpoint: [Outcome]] = [:]
    /// Decides the outcome of each request that no scripted outcome answers; nil lets the simulator reply.
    public var respond: (Sent) -> Outcome? = { _ in nil }
    /// Whether the simulator processes a request although another outcome replaces its reply. The default is false.
    public var processesReplacedRequests = false
    /// The time from a request to its outcome. The default is zero.
    public var replyDelay = Duration.zero
    /// Whether the network is up. While it is down, every request fails with the delivery `.notSent`.
    public private(set) var isOnline = true

    /// Whether requests stay in flight until ``answer(with:)`` gives a reply or the engine's timeout has passed. A scripted
    /// outcome takes precedence. The default is false.
    var holdsRequests = false

    /// The consents that operations require. A change takes effect at the next start of the process.
    public var requiredConsent: Set<Consent.Scope> = []

    private let provider = "vendor"
    private var settingsNumber = 0
    /// The switch policy, if the route was given to another provider.
    private var hasLeft: RoutingPlan.SwitchPolicy?
    private var operationNumber = 0
    private var firstRequest = 0
    private var firstEvent = 0

    /// Creates an installation that has sent nothing.
    ///
    /// - Parameters:
    ///   - adapter: The adapter.
    ///   - simulator: The vendor simulator.
    ///   - subject: The installation.
    ///   - start: The wall clock at the beginning.
    /// - Throws: An error of the engine if the outbox cannot be created.
    public init(
        _ adapter: Adapter,
        _ simulator: Simulator,
        subject: Subject = Corpus.installation,
        start: Instant = Corpus.start
    ) throws {
        (self.adapter, self.simulator, self.subject) = (adapter, simulator, subject)
        state = simulator.initialState
        world = try VirtualWorld(start: start)
        world.host.fix(chance: 0.5)
        world.network = { [unowned self] in fate(of: $0) }
        world.credentials = { [unowned self] in credentials[$1 ?? ""] ?? credential }
        try world.start(plan)
    }

    /// Creates an installation that has sent nothing.
    ///
    /// - Parameters:
    ///   - settings: The adapter's settings as a configuration holds them.
    ///   - account: The settings of the vendor simulator.
    ///   - subject: The installation.
    /// - Throws: ``SettingsError`` if the settings or the account are invalid.
    public convenience init(
        settings: JSONObject,
        account: JSONObject = [:],
        subject: Subject = Corpus.installation
    ) throws {
        try self.init(Self.adapter(settings), Simulator(settings: account), subject: subject)
    }

    /// Creates an adapter from settings as a configuration holds them.
    ///
    /// - Throws: ``SettingsError`` if the settings are invalid.
    public static func adapter(_ settings: JSONObject) throws(SettingsError) -> Adapter {
        try Adapter(settings: Adapter.Settings.table.read(settings, over: Adapter.Settings(), at: "settings"))
    }

    private var plan: RoutingPlan {
        let digest = "settings-\(settingsNumber)"
        let vendor = RoutingPlan.Provider(name: provider, adapter: adapter, mode: .live, settingsDigest: digest)
        guard let policy = hasLeft else { return RoutingPlan(providers: [vendor], requiredConsent: requiredConsent) }
        var left = vendor
        left.mode = nil
        let next = RoutingPlan.Provider(name: "next", adapter: adapter, mode: .live)
        return RoutingPlan(providers: [left, next], onSwitch: policy, requiredConsent: requiredConsent)
    }

    private func fate(of sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        guard isOnline else { return .outcome(.offline, after: .zero) }
        guard sent.provider == provider else { return .outcome(.replied(WireResponse(200)), after: .zero) }
        guard let outcome = scriptedOutcome(of: sent) else {
            return holdsRequests ? .silence : .outcome(reply(to: sent), after: replyDelay)
        }
        if processesReplacedRequests { _ = reply(to: sent) }
        if outcome.isInterrupted { return .death }
        return .outcome(outcome, after: replyDelay)
    }

    private func reply(to sent: VirtualWorld.Sent) -> Outcome {
        .replied(simulator.respond(to: sent.request, state: &state, now: sent.vendorDate))
    }

    private func scriptedOutcome(of sent: VirtualWorld.Sent) -> Outcome? {
        guard let typed = Sent(sent) else { return nil }
        if nextOutcomesByEndpoint[typed.endpoint]?.isEmpty == false {
            return nextOutcomesByEndpoint[typed.endpoint]?.removeFirst()
        }
        return nextOutcomes.isEmpty ? respond(typed) : nextOutcomes.removeFirst()
    }

    /// Runs a closure, and records an error of the engine or the outbox as a test issue.
    private func engine<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            Issue.record("The engine failed: \(error)")
            return nil
        }
    }

    /// Runs an action and everything that follows from it without time passing.
    private func settle(_ body: () throws -> Void) {
        engine {
            try body()
            try world.advance(by: .zero)
        }
    }

    // MARK: The app

    /// Returns an operation of the current contact with a new id, captured now.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - group: The explicit group.
    ///   - options: The adapter's options of the call.
    /// - Returns: The operation, which is not captured yet.
    public func operation(
        _ action: Action,
        group: String? = nil,
        options: JSONObject = [:]
    ) -> EngagementOperation {
        operationNumber += 1
        let digits = String(1_000_000_000_000 + operationNumber).dropFirst()
        return EngagementOperation(
            id: OperationID(rawValue: "0b5e4c1a-2d3f-4a6b-8c7d-\(digits)"),
            subject: subject,
            contact: contact,
            group: group,
            capturedAt: world.host.date(),
            appState: appState,
            options: options.isEmpty ? [:] : [Adapter.descriptor.id: options],
            action: action
        )
    }

    /// As in an app, the operation that changes the contact carries the new one.
    private func noteContact(_ action: Action) {
        if case .switchContact(let change) = action { contact = change.identifiers.first?.value }
    }

    /// Captures an action and runs the engine until it waits for time or an event. A read gets up to ten minutes.
    ///
    /// - Returns: The operation's id.
    @discardableResult
    public func capture(
        _ action: Action,
        group: String? = nil,
        options: JSONObject = [:]
    ) -> OperationID {
        noteContact(action)
        let operation = operation(action, group: group, options: options)
        capture(together: [operation])
        return operation.id
    }

    /// Captures actions in one transaction, before any request for them can leave.
    ///
    /// - Returns: The operations' ids.
    @discardableResult
    public func capture(together actions: Action...) -> [OperationID] {
        let operations = actions.map { action in
            noteContact(action)
            return operation(action)
        }
        capture(together: operations)
        return operations.map(\.id)
    }

    /// Captures operations in one transaction, before any request for them can leave.
    public func capture(together operations: [EngagementOperation]) {
        let reads = operations.filter { $0.action.kind == .readBack }
        let rest = operations.filter { $0.action.kind != .readBack }
        settle { try world.capture(rest, reading: reads, from: provider, timeout: .seconds(600)) }
    }

    /// Returns an operation as ``operation(_:group:options:)`` does, after the contact has changed with it.
    func prepare(_ action: Action, group: String?, options: JSONObject) -> EngagementOperation {
        noteContact(action)
        return operation(action, group: group, options: options)
    }

    /// Captures an action and lets time pass until it has an outcome, at most 30 days.
    ///
    /// - Returns: The outcome; nil if the operation still waits.
    @discardableResult
    public func deliver(
        _ action: Action,
        group: String? = nil,
        options: JSONObject = [:]
    ) -> OperationOutcome? {
        let id = capture(action, group: group, options: options)
        engine { try world.advance(until: { world.outcome(of: id, on: provider) != nil }) }
        return outcome(of: id)
    }

    /// Triggers an event that queues wait for: the network is back, or the app is in the foreground.
    public func wake() { settle { try world.wake() } }

    /// Sends everything that may be sent now. Skips courtesy delays, but not the vendor's pacing.
    public func flush() { settle { try world.flush() } }

    /// Resumes the provider after a suspension.
    public func resume() { settle { try world.resume(provider) } }

    /// Takes the network down: requests fail with the delivery `.notSent` from now on.
    public func goOffline() { isOnline = false }

    /// Brings the network up again, and wakes the queues that wait for it.
    public func goOnline() {
        isOnline = true
        wake()
    }

    /// Ends the process at once and starts another with the same settings. Requests in flight are lost.
    public func restart() { settle { try world.restart(plan) } }

    /// Ends the process at once and starts another with other settings.
    ///
    /// - Throws: ``SwitchRefusal`` if pending work would be lost.
    public func restart(with adapter: Adapter) throws {
        self.adapter = adapter
        settingsNumber += 1
        try world.restart(plan)
        try world.advance(by: .zero)
    }

    /// Ends the process at once and starts another with other settings.
    ///
    /// - Throws: ``SettingsError`` if the settings are invalid, ``SwitchRefusal`` if pending work would be lost.
    public func restart(settings: JSONObject) throws { try restart(with: Self.adapter(settings)) }

    /// Continues with other settings in the same process, when the request in flight has its reply.
    ///
    /// - Throws: ``SwitchRefusal`` if pending work would be lost; then the former settings stay in force.
    public func reconfigure(with adapter: Adapter) throws {
        let former = self.adapter
        self.adapter = adapter
        settingsNumber += 1
        do {
            try world.reconfigure(plan)
        } catch {
            self.adapter = former
            throw error
        }
        try world.advance(by: .zero)
    }

    /// Gives the route to another provider with the same adapter, whose vendor accepts every request. The present vendor is
    /// left and receives the unregistration last.
    ///
    /// - Parameter policy: The policy for pending operations.
    /// - Throws: ``SwitchRefusal`` if pending work would be lost.
    public func leave(onSwitch policy: RoutingPlan.SwitchPolicy) throws {
        hasLeft = policy
        try world.restart(plan)
        try world.advance(by: .zero)
    }

    /// The requests in flight, in order.
    var requestsInFlight: [Sent] {
        world.inFlight.sorted().map { world.sent[$0 - 1] }.filter { $0.provider == provider }.compactMap(Sent.init)
    }

    /// Gives the first request in flight its outcome now.
    func answer(with outcome: Outcome) {
        guard let number = world.inFlight.sorted().first(where: { world.sent[$0 - 1].provider == provider }) else {
            return
        }
        if outcome.isInterrupted { return restart() }
        settle { try world.answer(number, with: outcome) }
    }

    // MARK: Time

    /// The engine's timeline.
    public var now: Instant { world.now ?? Corpus.start }

    /// The time since the driver was created, or since the last reboot.
    public var elapsed: Duration { world.host.uptime() - Instant(milliseconds: 0) }

    /// The time from now until the engine acts by itself; zero if a reply is due, nil if it waits for an event.
    public var timeToNextAction: Duration? { world.timeToNextAction }

    /// Lets time pass, with everything that happens meanwhile.
    public func advance(by duration: Duration) { engine { try world.advance(by: duration) } }

    /// Lets time pass until this much time has passed since the driver was created.
    public func advance(to elapsed: Duration) { advance(by: max(.zero, elapsed - self.elapsed)) }

    /// Lets time pass until nothing is pending or nothing happens by itself any more, at most this long.
    public func drain(atMost duration: Duration = .seconds(30 * 86_400)) {
        engine { _ = try world.drain(atMost: duration) }
    }

    // MARK: Results

    /// Removes the requests, outcomes and content so far from ``sent``, ``outcomes``, ``incoming`` and the properties
    /// that derive from them.
    public func forgetHistory() { (firstRequest, firstEvent) = (world.sent.count, world.reportedEvents.count) }

    /// The requests that left, in order.
    public var sent: [Sent] {
        world.sent.dropFirst(firstRequest).filter { $0.provider == provider }.compactMap(Sent.init)
    }

    /// The last request that left.
    public var last: Sent? { world.sent.dropFirst(firstRequest).last.flatMap(Sent.init) }

    /// The endpoints of the requests that left, in order.
    public var endpoints: [Adapter.Endpoint] { sent.map(\.endpoint) }

    /// The times between consecutive requests.
    public var intervals: [Duration] { zip(sent, sent.dropFirst()).map { $1.at - $0.at } }

    private var events: [EngineEvent] { world.reportedEvents.dropFirst(firstEvent).map(\.event) }

    /// The outcome of each operation that has one.
    public var outcomes: [OperationID: OperationOutcome] {
        events.reduce(into: [:]) { outcomes, event in
            switch event {
            case .ended(let id, _, let outcome), .answered(let id, _, let outcome): outcomes[id] = outcome
            default: break
            }
        }
    }

    /// Returns the outcome of an operation; nil while it is pending.
    public func outcome(of id: OperationID) -> OperationOutcome? { outcomes[id] }

    /// The operations that did not enter the route because they belong to another vendor, with the reason.
    public var passedOver: [OperationID: Finding] {
        events.reduce(into: [:]) { passed, event in
            if case .passedOver(let id, _, let finding) = event { passed[id] = finding }
        }
    }

    /// The content that replies brought for the app, in order.
    public var incoming: [JSONValue] {
        events.compactMap { if case .incoming(_, let content) = $0 { content } else { nil } }
    }

    /// Returns the adapter's findings for an action at capture.
    public func examine(_ action: Action, options: JSONObject = [:]) -> [Finding] {
        adapter.examine(operation(action, options: options))
    }

    // MARK: Pending operations

    /// The number of stored operations without an outcome.
    public var pendingCount: Int { engine { try world.pendingCount } ?? 0 }

    /// The stored operations without an outcome, in order of capture.
    public var pending: [Waiting] {
        engine {
            try world.storedOperations(of: provider).map { stored in
                Waiting(
                    operation: stored.operation,
                    lane: stored.lane,
                    queue: stored.queue,
                    step: try stored.step.map { try StateDecoder.value(from: $0) },
                    failures: stored.failures,
                    refusals: stored.refusals
                )
            }
        } ?? []
    }

    /// The reasons that the lanes wait.
    public var waitReasons: [Finding] { engine { try world.waits(of: provider) } ?? [] }

    /// The reason that the first lane waits; nil if it does not.
    public var waitReason: Finding? { waitReasons.first }

    /// The reason that the provider is suspended until a person acts; nil if it is not.
    public var suspension: Finding? { engine { try world.suspended(provider) } ?? nil }

    /// The adapter's memory of this installation. Setting it restarts the process.
    public var memory: Adapter.Memory {
        get {
            let stored = engine {
                try world.storedMemory(of: provider, lane: lane).map {
                    try StateDecoder.value(Adapter.Memory.self, from: $0)
                }
            }
            return (stored ?? nil) ?? Adapter.Memory()
        }
        set {
            settle {
                world.kill()
                let bytes = try StateEncoder.bytes(of: newValue)
                try world.setStoredMemory(of: provider, lane: lane, version: Adapter.descriptor.stateVersion, bytes)
                try world.start(plan)
            }
        }
    }

    private var lane: String {
        guard Adapter.descriptor.memory == .lane else { return "" }
        return adapter.place(
            EngagementOperation(
                id: "lane",
                subject: subject,
                contact: contact,
                capturedAt: Corpus.start,
                action: .erase
            )
        ).lane
    }
}

@available(*, unavailable)
extension AdapterTestDriver: Sendable {}

extension AdapterTestDriver.Sent {
    fileprivate init?(_ sent: VirtualWorld.Sent) {
        guard let endpoint = Adapter.Endpoint(rawValue: sent.endpoint) else { return nil }
        self.init(endpoint: endpoint, request: sent.request, operations: sent.operations, at: sent.now)
    }
}

extension OperationOutcome {
    /// Whether the vendor accepted the operation.
    public var isAccepted: Bool { term == .accepted }
    /// Whether the vendor held the operation's values already.
    public var isUnchanged: Bool { term == .unchanged }
    /// Whether the vendor or the adapter refused the operation.
    public var isRejected: Bool { term == .rejected }
    /// Whether a rule forbade sending the operation.
    public var isDropped: Bool { term == .dropped }
    /// The outcome and the code of its finding: `accepted`, `rejected toy.reply.refused`.
    public var summary: String { [term.rawValue, finding?.code].compactMap { $0 }.joined(separator: " ") }
}
