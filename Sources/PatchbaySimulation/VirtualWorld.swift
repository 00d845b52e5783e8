public import Patchbay
public import PatchbayAdapterKit
public import PatchbayModel
package import PatchbayOutbox

/// The real engine and the real outbox under a virtual clock, with a network that does as it is told.
///
/// Everything happens inside the calls, on the caller's thread: there is nothing to wait for, and every run of the same
/// script is the same run.
public final class VirtualWorld {
    /// A request that left.
    public struct Sent: Sendable {
        /// Its number, from 1.
        public let number: Int
        /// When, by the wall clock.
        public let date: Instant
        /// When, by the engine's timeline.
        public let now: Instant
        /// When, by the clock of a vendor: it does not jump with the clock of this machine.
        public let vendorDate: Instant
        /// For which provider.
        public let provider: String
        /// What kind of request, in the adapter's word.
        public let endpoint: String
        /// The lane that waits for its outcome.
        public let lane: String
        /// What it carries.
        public let operations: [OperationID]
        /// The number of the last ending that was stored when it left.
        public let endedBefore: Int64
        /// The request.
        public let request: WireRequest
    }

    /// What the engine was told of a request, and stored.
    public struct Settled: Sendable {
        /// When, by the engine's timeline.
        public let now: Instant
        /// What.
        public let outcome: Outcome
    }

    /// What the network does with a request.
    public enum Fate: Sendable {
        /// The vendor processes it at once; the outcome reaches the engine after that time.
        case outcome(Outcome, after: Duration = .milliseconds(100))
        /// The process dies as the request leaves, and another begins.
        case death
        /// Nothing ever comes back within the time that the engine waits.
        case silence
    }

    /// An event of the engine with the instant at which it was told.
    public struct Told: Sendable {
        /// When, by the wall clock.
        public let date: Instant
        /// How many requests had left by then.
        public let sentBefore: Int
        /// What.
        public let event: EngineEvent
    }

    /// The machine.
    public let host: VirtualHost
    /// Every request that left.
    public private(set) var sent: [Sent] = []
    /// What became of the requests whose outcome was stored, by number.
    public private(set) var settled: [Int: Settled] = [:]
    /// Everything that the engine told.
    public private(set) var told: [Told] = []
    /// Requests, by adapter's endpoint and number, that were in flight when a process ended.
    public private(set) var interrupted: [(endpoint: String, number: Int)] = []
    /// Decides what becomes of a request. The default: HTTP 200 without a body after 100 ms.
    public var network: (Sent) -> Fate = { _ in .outcome(.replied(WireResponse(200))) }
    /// What the app gives as credential.
    public var credentials: (_ provider: String, _ contact: String?) -> Secret? = { _, _ in nil }
    /// How much the outbox may hold, from the next start on.
    public var limits = OutboxLimits()
    /// The outbox, which outlives every process of this world.
    package let store: OutboxStore

    private var engine: Engine?
    private var plan: RoutingPlan?
    private var isDying = false
    private var inbound: [(at: Instant, number: Int, dispatch: Dispatch, outcome: Outcome)] = []

    /// A world without a process.
    ///
    /// - Parameters:
    ///   - start: the wall clock at the beginning.
    ///   - seed: decides chance.
    /// - Throws: an error if the outbox in memory can't be made.
    public init(start: Instant = Instant(milliseconds: 1_900_000_000_000), seed: UInt64 = 1) throws {
        host = VirtualHost(start: start, seed: seed)
        store = try OutboxStore.open(.memory)
    }

    // MARK: Life and death

    /// Starts a process with that configuration.
    public func start(_ plan: RoutingPlan) throws {
        self.plan = plan
        let engine = try Engine(store: store, plan: plan, host: host, limits: limits) { [unowned self] in
            credentials($0, $1)
        }
        self.engine = engine
        guard try engine.start() else { return }
        try settleDown()
    }

    /// Whether a process runs.
    public var isAlive: Bool { engine != nil }

    /// The process dies at once: what was in flight never comes back to it.
    public func kill() {
        end()
        host.beginProcess()
    }

    /// The process dies and a new one starts, with the same or another configuration.
    public func restart(_ plan: RoutingPlan? = nil) throws {
        kill()
        if let plan = plan ?? self.plan { try start(plan) }
    }

    /// The process goes on with another configuration, once what is in flight has come back.
    ///
    /// - Throws: ``SwitchRefusal`` if that would lose something: then the old configuration goes on.
    public func reconfigure(_ plan: RoutingPlan) throws {
        guard let old = engine else { return try start(plan) }
        old.isQuiet = true
        while old.isBusy, let arrival = inbound.map(\.at).min() {
            host.advance(by: max(.zero, arrival - host.uptime()))
            try deliverInbound()
        }
        hear(old.takeEvents())
        do {
            let next = try Engine(store: store, plan: plan, host: host) { [unowned self] in credentials($0, $1) }
            try old.handOver(to: next)
            (engine, self.plan) = (next, plan)
        } catch {
            old.isQuiet = false
            try settleDown()
            throw error
        }
        try settleDown()
    }

    /// The machine dies, and is up again after a pause.
    public func reboot(after pause: Duration) throws {
        end()
        host.reboot(after: pause)
        if let plan { try start(plan) }
    }

    private func end() {
        interrupted += inbound.map { ($0.dispatch.endpoint, $0.number) }
        engine = nil
        inbound = []
    }

    /// Lets the process die inside a transaction: the hook is called at each point of the outbox's storage.
    package func onStorage(_ hook: ((StoragePoint) throws -> Void)?) { store.faultPoint = hook }

    /// Whether something was captured and has no place on a route yet.
    package var hasArrivals: Bool { engine?.hasArrivals ?? false }

    /// The ids of what the outbox holds and has not given its places yet.
    package func arrivals() throws -> Set<String> {
        let stored = try store.arrivals().compactMap(store.arrival).joined()
        return Set(try stored.map { try EngagementOperation(jsonBytes: $0.body).id.rawValue })
    }

    // MARK: What the app does

    /// Captures operations in one transaction, and lets the engine do what it will.
    public func capture(_ operations: EngagementOperation...) throws { try capture(operations) }

    /// Captures operations in one transaction, and lets the engine do what it will.
    public func capture(_ operations: [EngagementOperation]) throws {
        guard let engine else { return }
        try engine.takeIn(operations.map { Engine.Capture($0, uptime: host.uptime(), hasNewID: true) })
        try settleDown()
    }

    /// Captures an action of a subject, now.
    ///
    /// - Returns: the operation.
    @discardableResult
    public func capture(
        _ action: Action,
        subject: Subject = "installation-1",
        contact: String? = nil,
        appState: AppState? = .active
    ) throws -> EngagementOperation {
        let operation = EngagementOperation(
            id: host.makeID(),
            subject: subject,
            contact: contact,
            capturedAt: host.date(),
            appState: appState,
            action: action
        )
        try capture([operation])
        return operation
    }

    /// Asks a vendor; the answer is among ``told``.
    public func read(_ operation: EngagementOperation, from provider: String, timeout: Duration = .seconds(30)) throws {
        _ = engine?.read(operation, provider: provider, timeout: timeout)
        try settleDown()
    }

    /// Send now what may be sent.
    public func flush() throws {
        try engine?.flush()
        try settleDown()
    }

    /// The network is back, or the app in the foreground.
    public func wake() throws {
        try engine?.wake()
        try settleDown()
    }

    /// Lets a stopped provider go on.
    public func resume(_ provider: String) throws {
        try engine?.resume(provider)
        try settleDown()
    }

    /// What a driver does every few seconds: keeps the right to deliver, or takes it back, and looks for new work.
    public func keepHouse() throws {
        if try engine?.renewLease() ?? false { try engine?.lookAround() }
        try settleDown()
    }

    // MARK: Time

    /// Lets time pass, with everything that happens in it.
    public func advance(by duration: Duration) throws {
        let end = host.uptime() + duration
        while let next = nextInstant, next <= end {
            host.advance(by: max(.zero, next - host.uptime()))
            try deliverInbound()
            try settleDown()
        }
        host.advance(by: max(.zero, end - host.uptime()))
        try settleDown()
    }

    /// Lets time pass until nothing is pending, in flight or due; at most that long.
    ///
    /// - Returns: whether nothing is left.
    @discardableResult
    public func drain(atMost duration: Duration = .seconds(30 * 86_400)) throws -> Bool {
        let end = host.uptime() + duration
        while try isUnfinished, let next = nextInstant, next <= end {
            host.advance(by: max(.zero, next - host.uptime()))
            try deliverInbound()
            try settleDown()
        }
        return try !isUnfinished
    }

    private var isUnfinished: Bool { get throws { try hasArrivals || pendingCount > 0 } }

    /// The next thing that happens by itself, by the clock that counts sleep.
    private var nextInstant: Instant? {
        guard let engine else { return nil }
        let uptime = host.uptime()
        let planned = engine.nextAdvance.map { uptime + max(.zero, $0 - engine.now) }
        return [planned, inbound.map(\.at).min()].compactMap { $0 }.min()
    }

    private func deliverInbound() throws {
        let due = inbound.filter { $0.at <= host.uptime() }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
        for arrival in due {
            guard let place = inbound.firstIndex(where: { $0.number == arrival.number }) else { continue }
            inbound.remove(at: place)
            try engine?.finish(arrival.dispatch, arrival.outcome)
            if let engine { settled[arrival.number] = Settled(now: engine.now, outcome: arrival.outcome) }
            try settleDown()
        }
    }

    private func settleDown() throws {
        guard let engine else { return }
        do {
            defer { hear(engine.takeEvents()) }
            try engine.placeArrivals()
            try engine.advance { leave($0, engine.now) }
        }
        guard isDying else { return }
        isDying = false
        try restart()
    }

    private func leave(_ dispatch: Dispatch, _ now: Instant) {
        let sent = Sent(
            number: self.sent.count + 1,
            date: host.date(),
            now: now,
            vendorDate: host.trueDate,
            provider: dispatch.provider,
            endpoint: dispatch.endpoint,
            lane: dispatch.lane,
            operations: dispatch.operations,
            endedBefore: store.newestEnding,
            request: dispatch.request
        )
        self.sent.append(sent)
        switch network(sent) {
        case .death:
            isDying = true
            let outcome = Outcome.failed(TransportFailure(.interrupted, "processDied"))
            inbound.append((host.uptime() + dispatch.timeout, sent.number, dispatch, outcome))
        case .outcome(let outcome, let delay):
            inbound.append((host.uptime() + min(delay, dispatch.timeout), sent.number, dispatch, outcome))
        case .silence:
            let outcome = Outcome.failed(TransportFailure(.lost, "timedOut"))
            inbound.append((host.uptime() + dispatch.timeout, sent.number, dispatch, outcome))
        }
    }

    private func hear(_ events: [EngineEvent]) {
        let (date, sent) = (host.date(), self.sent)
        told += events.map { Told(date: date, sentBefore: sent.count, event: $0) }
    }

    // MARK: Looking inside

    /// The numbers of the requests that are in flight.
    public var inFlight: [Int] { inbound.map(\.number) }

    /// The engine's timeline; nil without a process.
    public var now: Instant? { engine?.now }

    /// When the engine wants to look at its lanes again, on its timeline; nil is not before something happens.
    public var nextAdvance: Instant? { engine?.nextAdvance }

    /// Operations that have not ended, over all providers that the process serves.
    public var pendingCount: Int {
        get throws { try engine?.standings().reduce(0) { $0 + $1.pending } ?? 0 }
    }

    /// The accounts of every provider.
    public func accounts() throws -> [ProviderAccounts] {
        if let engine { try ProviderAccounts.read(engine) } else { try ProviderAccounts.read(store) }
    }

    /// What became of an operation, as it was told; nil while it is pending.
    public func outcome(of id: OperationID, on provider: String) -> OperationOutcome? {
        for told in told.reversed() {
            switch told.event {
            case .ended(id, provider, let outcome), .answered(id, provider, let outcome): return outcome
            default: continue
            }
        }
        return nil
    }

    /// Why each lane of a provider waits.
    public func waits(of provider: String) throws -> [Finding] {
        try engine?.standings().first { $0.provider == provider }?.waits.sorted { $0.key < $1.key }.map(\.value) ?? []
    }

    /// Why a provider is stopped; nil if it is not.
    public func parked(_ provider: String) throws -> Finding? {
        try engine?.standings().first { $0.provider == provider }?.parked
    }

    /// The last neutral state of a subject.
    public func mirror(of subject: Subject = "installation-1") throws -> SubjectMirror? {
        try store.mirror(subject: subject.rawValue).map { try SubjectMirror(jsonBytes: $0) }
    }

    /// An adapter's memory as it is stored, as JSON text by lane.
    public func memory(of provider: String) throws -> [String: String] {
        Dictionary(
            try store.memories(provider: provider).map { ($0.lane, String(decoding: $0.body, as: UTF8.self)) }
        ) { first, _ in first }
    }
}

@available(*, unavailable)
extension VirtualWorld: Sendable {}
