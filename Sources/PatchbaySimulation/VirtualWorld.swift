public import Patchbay
public import PatchbayAdapterKit
public import PatchbayModel
package import PatchbayOutbox
import Synchronization

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
        /// Which of the processes sent it, from 0, and how often it had got the right to deliver by then.
        public let process: Int
        let tenure: Int
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
    /// When what had arrived got its places: to a lane that is when it was captured.
    public private(set) var placings: [Instant] = []
    /// Requests, by adapter's endpoint and number, that were in flight when a process ended.
    public private(set) var interrupted: [(endpoint: String, number: Int)] = []
    /// Decides what becomes of a request. The default: HTTP 200 without a body after 100 ms.
    public var network: (Sent) -> Fate = { _ in .outcome(.replied(WireResponse(200))) }
    /// The credentials that the app has, asked at every plan.
    public var credentials: (_ provider: String, _ contact: String?) -> Secret? = { _, _ in nil }
    /// How much the outbox may hold, from the next start on.
    public var limits = OutboxLimits()
    /// Sentences about a right to deliver that was taken while its holder lived and kept it.
    public private(set) var seizures: [String] = []

    /// One of the processes that share the outbox.
    private struct Process {
        /// Its connection, which outlives every process at this place.
        var store: OutboxStore
        let host: any EngineHost
        var engine: Engine?
        var credentials: CredentialCache?
        var plan: RoutingPlan?
        var isDying = false
        var isSuspended = false
        /// How often it got the right to deliver.
        var tenure = 0
        /// Until when it has the right to deliver, by the wall clock and by the one that nobody sets, unless it extends it.
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
    /// How much every process looks at and keeps at once of what waits.
    package var looks = LookSizes() {
        didSet { for process in processes { process.store.looks = looks } }
    }
    private var storageHook: ((StoragePoint) throws -> Void)?
    private var disk: Disk?
    /// The requests that left and that no disk remembers, not even a journal.
    public private(set) var forgotten: Set<Int> = []
    /// The process that does what is done from here on.
    private var current = 0
    private static let shared = Atomic(0)
    private static var newName: String { "world-\(shared.add(1, ordering: .relaxed).newValue)" }

    /// A world without a process.
    ///
    /// - Parameters:
    ///   - start: the wall clock at the beginning.
    ///   - seed: decides chance.
    ///   - processes: how many may run at a time, all over one outbox.
    /// - Throws: an error if the outbox in memory can't be made.
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

    /// What a world holds while no process runs, to continue from it in other worlds.
    package struct SavedWorld: Sendable {
        fileprivate let outbox: [UInt8]
        fileprivate let host: VirtualHost
    }

    /// Ends the process, and returns what it leaves behind.
    package func save() throws -> SavedWorld {
        kill()
        return SavedWorld(outbox: try store.serialized(), host: VirtualHost(continuing: host))
    }

    /// A world without a process that continues where another one left off.
    package init(_ saved: SavedWorld) throws {
        host = VirtualHost(continuing: saved.host)
        processes = [Process(store: try OutboxStore.open(serialized: saved.outbox), host: host)]
    }

    /// The outbox, as the process at hand has it open; it outlives every process of this world.
    package var store: OutboxStore { processes[current].store }

    private var engine: Engine? {
        get { processes[current].engine }
        set { processes[current].engine = newValue }
    }

    // MARK: Life and death

    /// What is done from here on, that process does; the first is 0.
    public func turn(to process: Int) { current = process }

    /// Starts a process with that configuration.
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

    /// The process at hand.
    public var process: Int { current }

    /// Whether a process runs.
    public var isAlive: Bool { engine != nil }

    /// Whether the process at hand has let go of the outbox for a while.
    public var isSuspended: Bool { processes[current].isSuspended }

    /// Whether the process at hand may deliver, as far as it knows.
    public var delivers: Bool { engine?.delivers ?? false }

    /// The process dies at once: what was in flight never comes back to it.
    public func kill() {
        end()
        if current == 0 { host.beginProcess() }
    }

    /// Stops the engine and ends the process, as an app does that is closed.
    public func quit() throws {
        try engine?.stop()
        kill()
    }

    /// The process dies and a new one starts, with the same or another configuration.
    public func restart(_ plan: RoutingPlan? = nil) throws {
        kill()
        if let plan = plan ?? processes[current].plan { try start(plan) }
    }

    /// Lets go of the outbox and of the right to deliver, as an app does in the background; what is in flight may come back.
    public func suspend() throws {
        try engine?.suspend()
        (processes[current].isSuspended, processes[current].heldUntil) = (engine != nil, nil)
    }

    /// Opens the outbox again, and delivers if nobody else does.
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

    /// Notes until when the process at hand may deliver, and whether it took that from somebody who lives and has it.
    private func holding(_ body: () throws -> Bool) throws -> Bool {
        let had = engine?.delivers ?? false
        let has = try body()
        if has, !had {
            processes[current].tenure += 1
            for (place, other) in processes.enumerated() where place != current {
                if other.engine != nil, let until = other.heldUntil, until.date > host.date(),
                    until.uptime > host.uptime()
                {
                    seizures.append("process \(current) took the right to deliver from process \(place), which lives")
                }
                processes[place].heldUntil = nil
            }
        }
        processes[current].heldUntil =
            has ? (date: host.date() + .seconds(30), uptime: host.uptime() + .seconds(30)) : nil
        return has
    }

    /// Sends nothing new until what is in flight has come back.
    public func comeToRest() throws {
        guard let engine else { return }
        engine.isQuiet = true
        do {
            while engine.isBusy, let next = processes[current].inbound.map(\.at).min() {
                host.advance(by: max(.zero, next - host.uptime()))
                try deliverInbound()
            }
            hear(engine.takeEvents())
        } catch {
            engine.isQuiet = false
            throw error
        }
    }

    /// The process goes on with another configuration, once what is in flight has come back.
    ///
    /// - Throws: ``SwitchRefusal`` if that would lose something: then the old configuration goes on.
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

    /// The machine dies, and is up again after a pause, with the process at hand.
    ///
    /// - Parameters:
    ///   - pause: how long it is off.
    ///   - power: whether its power goes, and with it what no transaction has waited for the disk with since
    ///     ``keepImage()``; otherwise all that was committed is there.
    /// - Throws: an error of the storage.
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

    /// The process at hand ends, and no other begins.
    public func end() {
        interrupted += processes[current].inbound.map { ($0.dispatch.endpoint, $0.number) }
        if current > 0 { host.endProcess(current) }
        if isSuspended { try? store.wakeUp() }
        engine = nil
        processes[current].inbound = []
        (processes[current].isSuspended, processes[current].heldUntil) = (false, nil)
    }

    /// Lets the process die inside a transaction: the hook is called at each point of the outbox's storage.
    package func onStorage(_ hook: ((StoragePoint) throws -> Void)?) {
        storageHook = hook
        for place in processes.indices { watch(place) }
    }

    // MARK: The disk

    /// What the disk holds for certain, and what had happened then.
    private struct Disk {
        let image: OutboxImage
        var requests = 0
        var settled: [Int: Settled] = [:]
    }

    /// From now on the machine knows what its disk holds for certain, and can lose the rest.
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
            processes[place].store.looks = looks
            watch(place)
        }
        settled = disk.settled
        let journal = try store.providers().flatMap { provider in
            try store.journal(provider: provider.name).map { (provider.name, $0.lane, $0.startedAt) }
        }
        forgotten = forgotten.union(
            sent[disk.requests...].filter { sent in
                !journal.contains { $0 == (sent.provider, sent.lane, sent.now.milliseconds) }
            }.map(\.number)
        )
    }

    /// Whether something was captured and has no place on a route yet.
    package var hasStagedCaptures: Bool {
        processes.contains { !$0.isSuspended && $0.engine?.hasStagedCaptures ?? false }
    }

    /// Whether what is stored now is places, or the time, and no verdict.
    package var storesNoVerdict: Bool { processes.contains { $0.engine?.storesNoVerdict ?? false } }

    /// The ids of what the outbox holds and has not given its places yet.
    package func stagedCaptures() throws -> Set<String> {
        let stored = try store.stagedCaptures().compactMap { try store.stagedCapture($0)?.captures }.joined()
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

    /// Captures operations in one transaction and asks a vendor, before any request for them can leave.
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
        _ = try engine?.read(operation, provider: provider, timeout: timeout)
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

    /// The app has another credential for a contact.
    public func credentialDidChange(for contact: String?) throws {
        try engine?.credentialDidChange(for: contact)
        try settleDown()
    }

    /// Lets a stopped provider go on.
    public func resume(_ provider: String) throws {
        try engine?.resume(provider)
        try settleDown()
    }

    /// Puts every rejected operation of a provider back on its way, the oldest first.
    public func replayRejects(of provider: String) throws {
        guard let engine else { return }
        let replays = try store.rejects(provider: provider, limit: 1000).reversed().map {
            Engine.Replay(try EngagementOperation(jsonBytes: $0.operation.body), on: provider)
        }
        _ = try engine.replay(replays)
        try settleDown()
    }

    /// What a driver does every few seconds: keeps the right to deliver, or takes it back, and looks for new work.
    public func keepHouse() throws {
        guard let engine, !isSuspended else { return }
        if try holding({ try engine.renewLease() }) { try engine.lookAround() }
        try settleDown()
    }

    // MARK: Time

    /// Lets time pass, with everything that happens in it.
    public func advance(by duration: Duration) throws {
        let end = host.uptime() + duration
        while let next = nextInstant, next <= end {
            host.advance(by: max(.zero, next - host.uptime()))
            try happen()
        }
        host.advance(by: max(.zero, end - host.uptime()))
        try inEveryProcess(settleDown)
    }

    /// Lets time pass until nothing is pending, in flight or due; at most that long.
    ///
    /// - Returns: whether nothing is left.
    @discardableResult
    public func drain(atMost duration: Duration = .seconds(30 * 86_400)) throws -> Bool {
        try advance(until: { try !isUnfinished }, atMost: duration)
        return try !isUnfinished
    }

    /// Lets time pass until a condition holds or nothing happens by itself any more.
    ///
    /// - Parameters:
    ///   - isDone: The condition.
    ///   - duration: The longest time to let pass.
    /// - Throws: An error of the storage, or of the condition.
    public func advance(until isDone: () throws -> Bool, atMost duration: Duration = .seconds(30 * 86_400)) throws {
        let end = host.uptime() + duration
        while try !isDone(), let next = nextInstant, next <= end {
            host.advance(by: max(.zero, next - host.uptime()))
            try happen()
        }
    }

    /// Lets the next thing happen that happens by itself, when its time has come.
    ///
    /// - Returns: Whether there was one.
    package func step() throws -> Bool {
        guard let next = nextInstant else { return false }
        host.advance(by: max(.zero, next - host.uptime()))
        try happen()
        return true
    }

    /// The time until something happens by itself: a reply arrives or the engine acts. Nil if only an event can follow.
    public var timeToNextAction: Duration? { nextInstant.map { max(.zero, $0 - host.uptime()) } }

    private var isUnfinished: Bool { get throws { try hasStagedCaptures || pendingCount > 0 } }

    /// The next thing that happens by itself, by the clock that counts sleep.
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

    /// Whatever is due happens in the process that it belongs to.
    private func inEveryProcess(_ body: () throws -> Void) rethrows {
        guard processes.count > 1 else { return try body() }
        let first = current
        for place in processes.indices {
            current = place
            // Whoever fails stays at hand: it is the one that dies of it.
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
            // As in the delivery loop, the answer and the next plan rest on one look.
            try store.look {
                // An answer to what was given up meanwhile is nobody's.
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
            defer { hear(engine.takeEvents()) }
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
            endedBefore: (try? store.newestEnding()) ?? 0,
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

    /// Gives a request in flight its outcome now, whatever its fate was to be.
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

    private func hear(_ events: [EngineEvent]) {
        let (date, sent) = (host.date(), self.sent)
        told += events.map { Told(date: date, sentBefore: sent.count, event: $0) }
    }

    // MARK: Looking inside

    /// The numbers of the requests that are in flight.
    public var inFlight: [Int] { processes.flatMap { $0.inbound.map(\.number) } }

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

    /// The reason why each lane of a provider waits.
    func waitsByLane(of provider: String) throws -> [String: Finding] {
        try engine?.standings().first { $0.provider == provider }?.waits ?? [:]
    }

    /// Why a provider is stopped; nil if it is not.
    public func suspended(_ provider: String) throws -> Finding? {
        try engine?.standings().first { $0.provider == provider }?.suspended
    }

    /// The last neutral state of a subject.
    public func snapshot(of subject: Subject = "installation-1") throws -> SubjectSnapshot? {
        try store.snapshot(subject: subject.rawValue).map { try SubjectSnapshot(jsonBytes: $0) }
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
