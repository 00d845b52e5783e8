public import Patchbay
public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel
package import PatchbayOutbox
import Synchronization

/// The real engine and the real outbox under a virtual clock, with a scripted network.
///
/// All work is done inside the calls, on the caller's thread. The same calls always give the same run.
public final class VirtualWorld {
    /// A request that the engine sent.
    public struct Sent: Sendable {
        /// Its number, from 1.
        public let number: Int
        /// The time by the wall clock.
        public let date: Instant
        /// The time on the engine's timeline.
        public let now: Instant
        /// The time by the vendor's clock, which does not jump with the clock of this machine.
        public let vendorDate: Instant
        /// The index of the sending process, from 0, and the number of times that it had acquired the lease by then.
        public let process: Int
        let tenure: Int
        /// The name of the provider.
        public let provider: String
        /// The name of the adapter's endpoint.
        public let endpoint: String
        /// The lane that waits for its outcome.
        public let lane: String
        /// The ids of the operations that the request carries.
        public let operations: [OperationID]
        /// The number of the last outcome that was stored when the request left.
        public let endedBefore: Int64
        /// The request.
        public let request: WireRequest
    }

    /// The stored outcome of a request.
    public struct Settled: Sendable {
        /// The time on the engine's timeline.
        public let now: Instant
        /// The outcome.
        public let outcome: Outcome
    }

    /// The fate of a request in the network.
    public enum Fate: Sendable {
        /// The vendor processes the request immediately. The outcome reaches the engine after the given time.
        case outcome(Outcome, after: Duration = .milliseconds(100))
        /// The process dies while the request leaves, and another starts.
        case death
        /// No reply arrives before the engine's timeout.
        case silence
    }

    /// An event that the engine reported, with the time of the report.
    public struct ReportedEvent: Sendable {
        /// The time by the wall clock.
        public let date: Instant
        /// The number of requests that had left by then.
        public let sentBefore: Int
        /// The event.
        public let event: EngineEvent
    }

    /// The machine.
    public let host: VirtualHost
    /// Every request that the engine sent.
    public private(set) var sent: [Sent] = []
    /// The stored outcomes of requests, by number.
    public private(set) var settled: [Int: Settled] = [:]
    /// All events that the engine reported.
    public private(set) var reportedEvents: [ReportedEvent] = []
    /// The times at which staged captures were routed. From then on, their lanes can send them.
    public private(set) var placings: [Instant] = []
    /// The requests, by endpoint and number, that were in flight when a process ended.
    public private(set) var interrupted: [(endpoint: String, number: Int)] = []
    /// Returns the fate of a request. The default is HTTP 200 without a body after 100 ms.
    public var network: (Sent) -> Fate = { _ in .outcome(.replied(WireResponse(200))) }
    /// Returns the app's credential for a contact. It is called for every plan.
    public var credentials: (_ provider: String, _ contact: String?) -> Secret? = { _, _ in nil }
    /// The limits of the outbox. A change applies from the next start or reconfiguration of a process.
    public var limits = OutboxLimits()
    /// Error messages, one for each lease that was taken from a running process before the lease expired.
    public private(set) var leaseViolations: [String] = []

    /// One of the processes that share the outbox.
    private struct Process {
        /// The connection to the outbox. All processes at this index use it, one after the other.
        var store: OutboxStore
        let host: any EngineHost
        var engine: Engine?
        var credentials: CredentialCache?
        var plan: RoutingPlan?
        var isDying = false
        var isSuspended = false
        /// The number of times that the process has acquired the lease.
        var tenure = 0
        /// The end of the process's lease, by the wall clock and by the monotonic clock; nil without a lease.
        var heldUntil: (date: Instant, uptime: Instant)?
        var inbound: [DueReply] = []
    }

    private struct DueReply {
        var at: Instant
        let number: Int
        let dispatch: Dispatch
        var outcome: Outcome
    }

    private var processes: [Process]
    /// The limits on how many pending operations every process reads and keeps at once.
    package var windowLimits = WindowLimits() {
        didSet { for process in processes { process.store.queues.limits = windowLimits } }
    }
    private var storageHook: ((StoragePoint) throws -> Void)?
    private var disk: Disk?
    /// The requests that a power failure erased from the disk: the restored state is older, and its journal lacks them.
    public private(set) var forgotten: Set<Int> = []
    /// The index of the current process.
    private var current = 0
    private static let shared = Atomic(0)
    private static var newName: String { "world-\(shared.add(1, ordering: .relaxed).newValue)" }

    /// Creates a world without a running process.
    ///
    /// - Parameters:
    ///   - start: The wall clock at the beginning.
    ///   - seed: The seed of the random generator.
    ///   - processes: The maximum number of processes that run at the same time and share the outbox.
    /// - Throws: An error if the outbox in memory cannot be created.
    public init(
        start: Instant = Instant(milliseconds: 1_900_000_000_000),
        seed: UInt64 = 1,
        processes: Int = 1
    ) throws {
        let machine = VirtualHost(start: start, seed: seed)
        let name = Self.newName
        host = machine
        self.processes = try (0..<processes).map { place in
            Process(
                store: try OutboxStore.open(processes > 1 ? .shared(name) : .memory),
                host: place == 0 ? machine : ProcessHost(machine: machine, place: place)
            )
        }
    }

    /// The state of a world while no process runs, for other worlds that continue from it.
    package struct SavedWorld: Sendable {
        fileprivate let outbox: [UInt8]
        fileprivate let host: VirtualHost
    }

    /// Ends the process, and returns the state of the world.
    package func save() throws -> SavedWorld {
        kill()
        return SavedWorld(outbox: try store.serialized(), host: VirtualHost(continuing: host))
    }

    /// Creates a world without a running process that continues from a saved one.
    package init(_ saved: SavedWorld) throws {
        host = VirtualHost(continuing: saved.host)
        processes = [Process(store: try OutboxStore.open(serialized: saved.outbox), host: host)]
    }

    /// The outbox connection of the current process. It stays open when the process ends.
    package var store: OutboxStore { processes[current].store }

    private var engine: Engine? {
        get { processes[current].engine }
        set { processes[current].engine = newValue }
    }

    // MARK: Processes

    /// Selects the process that performs the following calls. The first is 0.
    public func turn(to process: Int) { current = process }

    /// Starts a process with a configuration.
    public func start(_ plan: RoutingPlan) throws {
        processes[current].plan = plan
        if current > 0 { host.beginProcess(current) }
        let cache = CredentialCache(.immediate { [unowned self] in credentials($0.provider, $0.contact) })
        let engine = try Engine(
            store: store,
            plan: plan,
            host: processes[current].host,
            limits: limits,
            credentials: cache
        )
        (self.engine, processes[current].credentials) = (engine, cache)
        guard try holding({ try engine.start() }) else { return }
        try settleDown()
    }

    /// The index of the current process.
    public var process: Int { current }

    /// Whether the current process runs.
    public var isAlive: Bool { engine != nil }

    /// Whether the current process has closed the outbox for a suspension.
    public var isSuspended: Bool { processes[current].isSuspended }

    /// Whether the current process considers itself the owner of the lease.
    public var delivers: Bool { engine?.delivers ?? false }

    /// Ends the process immediately. It receives no reply to the requests in flight.
    public func kill() {
        end()
        if current == 0 { host.beginProcess() }
    }

    /// Stops the engine and ends the process, like an app that is closed.
    public func quit() throws {
        try engine?.stop()
        kill()
    }

    /// Ends the process immediately and starts a new one, with the same or another configuration.
    public func restart(_ plan: RoutingPlan? = nil) throws {
        kill()
        if let plan = plan ?? processes[current].plan { try start(plan) }
    }

    /// Closes the outbox and releases the lease, like an app in the background. Requests in flight may still get replies.
    public func suspend() throws {
        try engine?.suspend()
        (processes[current].isSuspended, processes[current].heldUntil) = (engine != nil, nil)
    }

    /// Opens the outbox again, and resumes delivery if no other process holds the lease.
    public func wakeUp() throws {
        guard isSuspended, let engine else { return }
        _ = try holding {
            try engine.wakeUp()
            return engine.delivers
        }
        processes[current].isSuspended = false
        try deliverInbound()
        try settleDown()
    }

    /// Runs `body`, which returns whether the current process holds the lease. Records the end of the lease, and an
    /// error message if the process took the lease from a running process before it expired.
    private func holding(_ body: () throws -> Bool) throws -> Bool {
        let had = engine?.delivers ?? false
        let has = try body()
        if has, !had {
            processes[current].tenure += 1
            for (place, other) in processes.enumerated() where place != current {
                if other.engine != nil, let until = other.heldUntil, until.date > host.date(),
                    until.uptime > host.uptime()
                {
                    leaseViolations.append(
                        "process \(current) took the lease from process \(place), which is still running"
                    )
                }
                processes[place].heldUntil = nil
            }
        }
        processes[current].heldUntil =
            has ? (date: host.date() + .seconds(30), uptime: host.uptime() + .seconds(30)) : nil
        return has
    }

    /// Stops sending new requests, and waits until the requests in flight have outcomes.
    public func comeToRest() throws {
        guard let engine else { return }
        engine.isQuiet = true
        do {
            while engine.isBusy, let next = processes[current].inbound.map(\.at).min() {
                host.advance(by: max(.zero, next - host.uptime()))
                try deliverInbound()
            }
            record(engine.takeEvents())
        } catch {
            engine.isQuiet = false
            throw error
        }
    }

    /// Continues with another configuration in the same process, after the requests in flight have outcomes.
    ///
    /// - Throws: ``SwitchRefusal`` if the switch would lose an operation. The old configuration stays in force then.
    public func reconfigure(_ plan: RoutingPlan) throws {
        guard let old = engine, let cache = processes[current].credentials else { return try start(plan) }
        try comeToRest()
        do {
            let next = try Engine(
                store: store,
                plan: plan,
                host: processes[current].host,
                limits: limits,
                credentials: cache
            )
            try old.handOver(to: next)
            (engine, processes[current].plan) = (next, plan)
        } catch {
            old.isQuiet = false
            throw error
        }
        try settleDown()
    }

    /// Stops the machine, and boots it after a pause with the current process.
    ///
    /// - Parameters:
    ///   - pause: The time without power.
    ///   - power: Whether the machine loses the transactions since the last one that waited for the disk. This needs
    ///     ``keepImage()``. Without it, everything that was committed is kept.
    /// - Throws: An error of the storage.
    public func reboot(after pause: Duration, losingPower power: Bool = false) throws {
        let first = current
        for place in processes.indices {
            turn(to: place)
            end()
        }
        turn(to: first)
        if power { try returnToImage() }
        host.reboot(after: pause)
        if let plan = processes[current].plan { try start(plan) }
    }

    /// Ends the current process without starting another.
    public func end() {
        interrupted += processes[current].inbound.map { ($0.dispatch.endpoint, $0.number) }
        if current > 0 { host.endProcess(current) }
        if isSuspended { try? store.wakeUp() }
        engine = nil
        processes[current].inbound = []
        (processes[current].isSuspended, processes[current].heldUntil) = (false, nil)
    }

    /// Sets a hook that is called at each point of the outbox's storage, and may end the process by throwing.
    package func onStorage(_ hook: ((StoragePoint) throws -> Void)?) {
        storageHook = hook
        for place in processes.indices { watch(place) }
    }

    // MARK: The disk

    /// The synchronized content of the disk, and the state of the world at that time.
    private struct Disk {
        let image: OutboxImage
        var requests = 0
        var settled: [Int: Settled] = [:]
    }

    /// Makes the machine track the synchronized content of its disk from now on, so that a power failure can discard
    /// the rest.
    public func keepImage() throws {
        disk = Disk(image: try OutboxImage())
        try takeImage(of: current)
        for place in processes.indices { watch(place) }
    }

    private func watch(_ place: Int) {
        let hook = storageHook
        guard disk != nil else { return processes[place].store.faultPoint = hook }
        processes[place].store.faultPoint = { [unowned self] point in
            if point == .afterCommit(.full) { try takeImage(of: place) }
            try hook?(point)
        }
    }

    private func takeImage(of place: Int) throws {
        guard let image = disk?.image else { return }
        try image.take(from: processes[place].store)
        disk = Disk(image: image, requests: sent.count, settled: settled)
    }

    private func returnToImage() throws {
        guard let disk else { return }
        let location = processes.count > 1 ? OutboxLocation.shared(Self.newName) : .memory
        let first = try disk.image.open(location)
        for place in processes.indices {
            processes[place].store = place == 0 ? first : try OutboxStore.open(location)
            processes[place].store.queues.limits = windowLimits
            watch(place)
        }
        settled = disk.settled
        let journal = try store.state.providers().flatMap { provider in
            try store.state.journal(provider: provider.name).map { (provider.name, $0.lane, $0.startedAt) }
        }
        forgotten = forgotten.union(
            sent[disk.requests...].filter { sent in
                !journal.contains { $0 == (sent.provider, sent.lane, sent.now.milliseconds) }
            }.map(\.number)
        )
    }

    /// Whether the outbox has staged captures.
    package var hasStagedCaptures: Bool {
        processes.contains { !$0.isSuspended && $0.engine?.hasStagedCaptures ?? false }
    }

    /// Whether the current transaction stores only routes, the time, or a request that is about to be sent, and no
    /// verdict.
    package var storesNoVerdict: Bool { processes.contains { $0.engine?.storesNoVerdict ?? false } }

    /// Returns the ids of the staged captures.
    package func stagedCaptures() throws -> Set<String> {
        let stored = try store.captures.stagedNumbers().compactMap { try store.captures.staged($0)?.captures }.joined()
        return Set(try stored.map { try EngagementOperation(jsonBytes: $0.body).id.rawValue })
    }

    // MARK: Actions of the app

    /// Captures operations in one transaction, and runs the engine.
    public func capture(_ operations: EngagementOperation...) throws { try capture(operations) }

    /// Captures operations in one transaction, and runs the engine.
    public func capture(_ operations: [EngagementOperation]) throws {
        guard let engine else { return }
        try engine.takeIn(operations.map { Engine.Capture($0, uptime: host.uptime(), hasNewID: true) })
        try settleDown()
    }

    /// Captures operations in one transaction and sends queries to a provider, before any request for the operations
    /// can be sent.
    package func capture(
        _ operations: [EngagementOperation],
        reading reads: [EngagementOperation],
        from provider: String,
        timeout: Duration = .seconds(30)
    ) throws {
        guard let engine else { return }
        if !operations.isEmpty {
            try engine.takeIn(operations.map { Engine.Capture($0, uptime: host.uptime(), hasNewID: true) })
        }
        for read in reads { _ = try engine.read(read, provider: provider, timeout: timeout) }
        try settleDown()
    }

    /// Captures an action of a subject, now.
    ///
    /// - Returns: The operation.
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

    /// Sends a query to a provider. When the answer has arrived, ``outcome(of:on:)`` returns it.
    public func read(_ operation: EngagementOperation, from provider: String, timeout: Duration = .seconds(30)) throws {
        _ = try engine?.read(operation, provider: provider, timeout: timeout)
        try settleDown()
    }

    /// Sends immediately everything that may be sent.
    public func flush() throws {
        try engine?.flush()
        try settleDown()
    }

    /// Wakes the engine: the network is back, or the app is in the foreground.
    public func wake() throws {
        try engine?.wake()
        try settleDown()
    }

    /// Notifies the engine that the app has another credential for a contact.
    public func credentialDidChange(for contact: String?) throws {
        try engine?.credentialDidChange(for: contact)
        try settleDown()
    }

    /// Resumes a suspended provider.
    public func resume(_ provider: String) throws {
        try engine?.resume(provider)
        try settleDown()
    }

    /// Replays every rejected operation of a provider, the oldest first.
    public func replayRejects(of provider: String) throws {
        guard let engine else { return }
        let replays = try store.rejects.list(provider: provider, limit: 1000).reversed().map {
            Engine.Replay(try EngagementOperation(jsonBytes: $0.operation.body), on: provider)
        }
        _ = try engine.replay(replays)
        try settleDown()
    }

    /// Performs the periodic maintenance of a driver: extends or acquires the lease, and polls for commits by other
    /// processes.
    public func performMaintenance() throws {
        guard let engine, !isSuspended else { return }
        if try holding({ try engine.renewLease() }) { try engine.pollForeignCommits() }
        try settleDown()
    }

    // MARK: Time

    /// Advances the time, and runs the timed actions that are due meanwhile.
    public func advance(by duration: Duration) throws {
        let end = host.uptime() + duration
        while let next = nextInstant, next <= end {
            host.advance(by: max(.zero, next - host.uptime()))
            try happen()
        }
        host.advance(by: max(.zero, end - host.uptime()))
        try inEveryProcess(settleDown)
    }

    /// Advances the time until no operation is staged or pending or no timed action is left, by at most `duration`.
    ///
    /// - Returns: Whether all operations have outcomes.
    @discardableResult
    public func drain(atMost duration: Duration = .seconds(30 * 86_400)) throws -> Bool {
        try advance(until: { try !isUnfinished }, atMost: duration)
        return try !isUnfinished
    }

    /// Advances the time until a condition holds or no timed action is left.
    ///
    /// - Parameters:
    ///   - isDone: The condition.
    ///   - duration: The maximum duration by which the time advances.
    /// - Throws: An error of the storage, or of the condition.
    public func advance(until isDone: () throws -> Bool, atMost duration: Duration = .seconds(30 * 86_400)) throws {
        let end = host.uptime() + duration
        while try !isDone(), let next = nextInstant, next <= end {
            host.advance(by: max(.zero, next - host.uptime()))
            try happen()
        }
    }

    /// Advances the time to the next timed action, and runs it.
    ///
    /// - Returns: Whether there was one.
    package func step() throws -> Bool {
        guard let next = nextInstant else { return false }
        host.advance(by: max(.zero, next - host.uptime()))
        try happen()
        return true
    }

    /// The time until the next timed action: a reply arrives or the engine acts; nil if the engine waits for an event.
    public var timeToNextAction: Duration? { nextInstant.map { max(.zero, $0 - host.uptime()) } }

    private var isUnfinished: Bool { get throws { try hasStagedCaptures || pendingCount > 0 } }

    /// The time of the next timed action, by the clock that includes sleep.
    private var nextInstant: Instant? {
        let uptime = host.uptime()
        var next: Instant?
        for process in processes where !process.isSuspended {
            guard let engine = process.engine else { continue }
            let planned = engine.nextAdvance.map { uptime + max(.zero, $0 - engine.now) }
            next = ([next, planned].compactMap { $0 } + process.inbound.map(\.at)).min()
        }
        return next
    }

    private func happen() throws {
        try inEveryProcess {
            try deliverInbound()
            try settleDown()
        }
    }

    /// Runs a closure in every process.
    private func inEveryProcess(_ body: () throws -> Void) rethrows {
        guard processes.count > 1 else { return try body() }
        let first = current
        for place in processes.indices {
            current = place
            // If a process throws an error, it stays the current one, so that the caller can end it.
            try body()
        }
        current = first
    }

    private func deliverInbound() throws {
        guard !isSuspended else { return }
        let due = processes[current].inbound.filter { $0.at <= host.uptime() }
            .sorted { ($0.at, $0.number) < ($1.at, $1.number) }
        for reply in due {
            guard let place = processes[current].inbound.firstIndex(where: { $0.number == reply.number }) else {
                continue
            }
            processes[current].inbound.remove(at: place)
            // As in the delivery loop, the reply and the next plan use one observed state of the outbox.
            try store.look {
                // A reply to a request that the engine has abandoned meanwhile has no effect.
                if let engine, try engine.finish(reply.dispatch, reply.outcome) {
                    settled[reply.number] = Settled(now: engine.now, outcome: reply.outcome)
                }
                try settleDown()
            }
        }
    }

    private func settleDown() throws {
        guard let engine, !isSuspended else { return }
        do {
            defer { record(engine.takeEvents()) }
            let isWaiting = engine.hasStagedCaptures
            try engine.placeStagedCaptures()
            if isWaiting, !engine.hasStagedCaptures { placings.append(engine.now) }
            try engine.advance { leave($0, engine.now) }
        }
        guard processes[current].isDying else { return }
        processes[current].isDying = false
        try restart()
    }

    private func leave(_ dispatch: Dispatch, _ now: Instant) {
        let sent = Sent(
            number: self.sent.count + 1,
            date: host.date(),
            now: now,
            vendorDate: host.trueDate,
            process: current,
            tenure: processes[current].tenure,
            provider: dispatch.provider,
            endpoint: dispatch.endpoint,
            lane: dispatch.lane,
            operations: dispatch.operations,
            endedBefore: (try? store.history.endWithNoted()) ?? 0,
            request: dispatch.request
        )
        self.sent.append(sent)
        switch network(sent) {
        case .death:
            processes[current].isDying = true
            expect(.failed(TransportFailure(.interrupted, "processDied")), of: dispatch, sent.number)
        case .outcome(let outcome, let delay): expect(outcome, of: dispatch, sent.number, after: delay)
        case .silence: expect(.failed(TransportFailure(.lost, "timedOut")), of: dispatch, sent.number)
        }
    }

    private func expect(_ outcome: Outcome, of dispatch: Dispatch, _ number: Int, after delay: Duration? = nil) {
        let at = host.uptime() + min(delay ?? dispatch.timeout, dispatch.timeout)
        processes[current].inbound.append(DueReply(at: at, number: number, dispatch: dispatch, outcome: outcome))
    }

    /// Replaces the planned outcome of a request in flight, and delivers the new outcome immediately.
    ///
    /// - Parameters:
    ///   - number: The number of the request; an unknown one has no effect.
    ///   - outcome: The outcome.
    /// - Throws: An error of the storage.
    package func answer(_ number: Int, with outcome: Outcome) throws {
        for place in processes.indices {
            guard let index = processes[place].inbound.firstIndex(where: { $0.number == number }) else { continue }
            processes[place].inbound[index].at = host.uptime()
            processes[place].inbound[index].outcome = outcome
        }
        try happen()
    }

    private func record(_ events: [EngineEvent]) {
        let (date, sent) = (host.date(), self.sent)
        reportedEvents += events.map { ReportedEvent(date: date, sentBefore: sent.count, event: $0) }
    }

    // MARK: Inspection

    /// The numbers of the requests that are in flight.
    public var inFlight: [Int] { processes.flatMap { $0.inbound.map(\.number) } }

    /// The engine's timeline; nil without a process.
    public var now: Instant? { engine?.now }

    /// The time at which the engine examines its lanes again, on its timeline; nil if it waits for an event.
    public var nextAdvance: Instant? { engine?.nextAdvance }

    /// The number of pending operations of all providers that the process serves.
    public var pendingCount: Int {
        get throws { try engine?.standings().reduce(0) { $0 + $1.pending } ?? 0 }
    }

    /// The accounts of every provider.
    public func accounts() throws -> [ProviderAccounts] {
        if let engine { try ProviderAccounts.read(engine) } else { try ProviderAccounts.read(store) }
    }

    /// Returns the reported outcome of an operation; nil while it is pending.
    public func outcome(of id: OperationID, on provider: String) -> OperationOutcome? {
        for entry in reportedEvents.reversed() {
            switch entry.event {
            case .ended(id, provider, let outcome), .answered(id, provider, let outcome): return outcome
            default: continue
            }
        }
        return nil
    }

    /// Returns the reason of each waiting lane of a provider.
    public func waits(of provider: String) throws -> [Finding] {
        try engine?.standings().first { $0.provider == provider }?.waits.inOrder.map(\.value) ?? []
    }

    /// Returns the reason of each waiting lane of a provider, by lane.
    func waitsByLane(of provider: String) throws -> [String: Finding] {
        try engine?.standings().first { $0.provider == provider }?.waits ?? [:]
    }

    /// Returns the reason that a provider is suspended; nil if it is not.
    public func suspended(_ provider: String) throws -> Finding? {
        try engine?.standings().first { $0.provider == provider }?.suspended
    }

    /// Returns the snapshot of a subject; nil if there is none.
    public func snapshot(of subject: Subject = "installation-1") throws -> SubjectSnapshot? {
        try store.state.snapshot(subject: subject.rawValue).map { try SubjectSnapshot(jsonBytes: $0) }
    }

    /// Returns an adapter's stored memory as JSON text, by lane.
    public func memory(of provider: String) throws -> [String: String] {
        Dictionary(
            try store.state.memories(provider: provider).map { ($0.lane, String(decoding: $0.body, as: UTF8.self)) }
        ) { first, _ in first }
    }
}

@available(*, unavailable)
extension VirtualWorld: Sendable {}
