import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// What the engine knows of a provider without knowing its adapter.
protocol ProviderRunner: AnyObject {
    var name: String { get }
    var descriptor: AdapterDescriptor { get }
    var parked: Finding? { get }
    var isPaused: Bool { get set }
    /// Whether something is in flight.
    var isBusy: Bool { get }
    /// The earliest instant at which a lane wants to be planned; in the past if it wants to be planned now.
    var nextPlan: Instant? { get }
    /// Why each lane waits, by lane.
    var reasons: [String: Finding] { get }
    /// The earliest deadline of a caller who waits for an answer.
    var nextDeadline: Instant? { get }

    func restore() throws
    func abandon()
    func placeAgain() throws
    func examine(_ operation: EngagementOperation) -> [Finding]
    func place(_ operation: EngagementOperation) -> Place
    func noteEntered(lane: String)
    func plan(_ send: (Dispatch) -> Void) throws
    func expireReads()
    func finish(_ ticket: Int, _ outcome: Outcome) throws
    func lookAround() throws
    func wake(lane: String?) throws
    func flush() throws
    func resume() throws
    func read(_ operation: EngagementOperation, deadline: Instant)
    func isCommitted(_ operation: OperationID) -> Bool
}

/// Drives one adapter: windows, plans, exchanges, verdicts. It knows nothing of any vendor.
final class Runner<Adapter: VendorAdapter>: ProviderRunner {
    let name: String
    let adapter: Adapter
    let descriptor = Adapter.descriptor
    private let context: EngineContext
    private var lanes: [String: Lane] = [:]
    private var memories: [String: Adapter.Memory] = [:]
    private var choresInFlight: Set<Adapter.Endpoint> = []
    private var flights: [Int: String] = [:]
    private(set) var parked: Finding?
    var isPaused = false

    init(name: String, adapter: Adapter, context: EngineContext) {
        (self.name, self.adapter, self.context) = (name, adapter, context)
    }

    /// What one lane is doing. Lives in the process; what must survive stands in the outbox.
    private struct Lane {
        /// Closed queues. One whose instant has passed is open; its row goes when something in it ends.
        var blocks: [String: When] = [:]
        /// Whether `blocks` has been read from the outbox.
        var isRead = false
        var flight: Flight?
        /// An exchange whose outcome could not be stored: it is settled before anything else is planned.
        var unsettled: Ended?
        var reads: [Read] = []
        /// When the lane wants to be planned; nil is not before something happens.
        var due: Instant?
        var flush = false
        var because: Finding?
        /// Plans in a row without time passing.
        var spins = 0
        var lastPlan: Instant?
        /// Exchanges in a row that ended nothing and wait for nothing.
        var barren = 0
        var lastExchangeFailed = false
        var lastWake: Instant?
        /// When the wakes are due that were put off, because the vendor is failing.
        var wakeAt: Instant?
        /// A chore that another lane does is waited for.
        var awaitsChore = false
        /// Operations of the last window, decoded.
        var decoded: [Int64: EngagementOperation] = [:]

        /// Wants to be planned at that instant, or earlier if it did already.
        mutating func want(_ instant: Instant) { due = min(due ?? instant, instant) }
    }

    private struct Ended {
        var flight: Flight
        var outcome: Outcome
        var moment: Moment
    }

    private struct Flight {
        var ticket: Int
        var endpoint: Adapter.Endpoint
        var operations: [Pending<Adapter>]
        var request: WireRequest
        var startedAt: Instant
    }

    private struct Read {
        var operation: EngagementOperation
        var since: Instant
        var deadline: Instant
        var step: Adapter.Step?
        var failures = 0
        var refusals = 0
        var block = When.now
    }

    // MARK: What the engine asks

    var isBusy: Bool { !flights.isEmpty }

    var nextPlan: Instant? {
        // Without a free slot nothing can be planned: the outcome that frees one comes first.
        guard parked == nil, !isPaused, flights.count < descriptor.concurrency else { return nextDeadline }
        let due = lanes.values.compactMap { $0.flight == nil ? $0.due : nil }.min()
        return [due, nextDeadline].compactMap { $0 }.min()
    }

    var nextDeadline: Instant? { lanes.values.flatMap(\.reads).map(\.deadline).min() }

    var reasons: [String: Finding] { lanes.compactMapValues(\.because) }

    func examine(_ operation: EngagementOperation) -> [Finding] { adapter.examine(operation) }
    func place(_ operation: EngagementOperation) -> Place { adapter.place(operation) }

    /// A capture entered a lane: it wakes the lane, at most once a second while the vendor is failing.
    func noteEntered(lane key: String) {
        let now = context.now
        let isPutOff = update(key) { lane in
            guard lane.lastExchangeFailed, let last = lane.lastWake, last + .seconds(1) > now else { return false }
            lane.wakeAt = last + .seconds(1)
            lane.want(last + .seconds(1))
            return true
        }
        if !isPutOff { wakeNow(key, now) }
    }

    private func wakeNow(_ key: String, _ now: Instant) {
        unblockWoken(key)
        update(key) { lane in
            (lane.lastWake, lane.wakeAt) = (now, nil)
            lane.want(now)
        }
    }

    /// Another process may have captured: every lane with pending work is planned once.
    func lookAround() throws {
        for key in try context.store.lanes(provider: name) { update(key) { $0.want(context.now) } }
    }

    func wake(lane: String?) throws {
        try context.store.clearWokenBlocks(provider: name, lane: lane)
        let now = context.now
        for key in try lane.map({ [$0] }) ?? knownLanes() { wakeNow(key, now) }
    }

    func flush() throws {
        for key in try knownLanes() { update(key) { $0.flush = true } }
        try wake(lane: nil)
    }

    func resume() throws {
        if parked != nil { try takeUpState() }
        try wake(lane: nil)
    }

    func read(_ operation: EngagementOperation, deadline: Instant) {
        let key = adapter.place(operation).lane
        update(key) { lane in
            lane.reads.append(Read(operation: operation, since: context.now, deadline: deadline))
            lane.want(context.now)
        }
        unblockWoken(key)
    }

    /// Whether an operation is in flight, or its outcome not yet stored: its verdict is already on the way.
    func isCommitted(_ operation: OperationID) -> Bool {
        lanes.values.contains { lane in
            (lane.flight ?? lane.unsettled?.flight)?.operations.contains { $0.id == operation } ?? false
        }
    }

    // MARK: Start

    /// Takes up what an earlier process left: upgrades state, asks about what was in mid-flight, wakes every lane.
    func restore() throws {
        abandon()
        try takeUpState()
        for entry in try context.store.journal(provider: name) where parked == nil { try interrupt(entry) }
        try wake(lane: nil)
    }

    /// Lets go of everything but the questions of callers: another process delivers, or did since this one last did.
    func abandon() {
        (flights, memories, choresInFlight) = ([:], [:], [])
        lanes = lanes.compactMapValues { lane in
            guard !lane.reads.isEmpty else { return nil }
            var kept = Lane()
            kept.reads = lane.reads
            return kept
        }
    }

    /// Brings the stored state to this release's form, and lets the provider go on: a start and a resume are one try.
    ///
    /// State that is newer or can't be read stops the provider, and stays as it is.
    private func takeUpState() throws {
        let record = try context.store.providers().first { $0.name == name }
        if let record, record.stateVersion != descriptor.stateVersion {
            guard record.stateVersion < descriptor.stateVersion else {
                return try park(FindingRow.Engine.stateNewer.at())
            }
            do {
                try upgrade(from: record.stateVersion)
            } catch let error where !isOfStorage(error) {
                return try park(FindingRow.Engine.stateUnreadable.at())
            }
        }
        if record?.parked != nil { try store { try saveRecord { $0.parked = nil } } }
        parked = nil
    }

    /// Whether an error says nothing about the state that was read.
    private func isOfStorage(_ error: any Error) -> Bool { error is OutboxError || error is LeaseLost }

    private func upgrade(from version: Int) throws {
        var upgraded: [String: Adapter.Memory] = [:]
        try store {
            for memory in try context.store.memories(provider: name) {
                let state = try Adapter.upgrade(JSONValue(parsing: memory.body), of: .memory, from: version)
                let memoryNow = try JSONDecoder().decode(Adapter.Memory.self, from: Data(state.text.utf8))
                try save(memoryNow, key: memory.lane)
                upgraded[memory.lane] = memoryNow
            }
            try context.store.forEachRow(provider: name, subject: nil) { row in
                guard let step = row.step else { return }
                let state = try Adapter.upgrade(JSONValue(parsing: step), of: .step, from: version)
                _ = try JSONDecoder().decode(Adapter.Step.self, from: Data(state.text.utf8))
                try context.store.progress(
                    provider: name,
                    sequence: row.operation.sequence,
                    step: Array(state.text.utf8),
                    failures: row.failures,
                    refusals: row.refusals
                )
            }
            try placeAgain()
            try saveRecord { $0.stateVersion = descriptor.stateVersion }
        }
        memories = upgraded
    }

    /// Gives everything pending the place that the adapter names now, inside the caller's transaction.
    ///
    /// What may have been in flight stays where its journal looks for it.
    func placeAgain() throws {
        let journaled = Set(try context.store.journal(provider: name).flatMap(\.operations))
        try context.store.forEachRow(provider: name, subject: nil) { row in
            let sequence = row.operation.sequence
            guard !journaled.contains(row.operation.id),
                let operation = try? EngagementOperation(jsonBytes: row.operation.body)
            else { return }
            let place = adapter.place(operation)
            guard (place.lane, place.queue) != (row.lane, row.queue) else { return }
            try context.store.remove(provider: name, sequence: sequence)
            try context.store.enter(sequence, provider: name, lane: place.lane, queue: place.queue, hold: row.hold)
            try context.store.progress(
                provider: name,
                sequence: sequence,
                step: row.step,
                failures: row.failures,
                refusals: row.refusals
            )
        }
    }

    private func saveRecord(_ change: (inout ProviderRecord) -> Void) throws {
        guard var record = try context.store.providers().first(where: { $0.name == name }) else { return }
        change(&record)
        try context.store.setProvider(record)
    }

    /// A journaled request was in mid-flight when a process died: the adapter says what that means.
    private func interrupt(_ entry: JournalEntry) throws {
        guard let endpoint = Adapter.Endpoint(rawValue: entry.endpoint) else {
            return try store { try context.store.clearJournal(provider: name, lane: entry.lane) }
        }
        let rows = try context.store.rows(provider: name, lane: entry.lane, ids: entry.operations)
        var operations: [Pending<Adapter>] = []
        for row in rows {
            guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else { continue }
            guard let step = step(of: row) else { return try park(FindingRow.Engine.stateUnreadable.at()) }
            operations.append(pending(row, operation, step))
        }
        let flight = Flight(
            ticket: 0,
            endpoint: endpoint,
            operations: operations,
            request: WireRequest(journal: entry.request),
            startedAt: Instant(milliseconds: entry.startedAt)
        )
        let outcome = Outcome.failed(TransportFailure(.interrupted, "processEnded"))
        try settle(Ended(flight: flight, outcome: outcome, moment: context.moment(flush: false)), lane: entry.lane)
    }

    // MARK: Plan

    /// Plans every lane that wants it; the requests must leave at once.
    ///
    /// A lane whose storage fails does not stop the others. The first error is thrown when all have been planned.
    func plan(_ send: (Dispatch) -> Void) throws {
        expireReads()
        guard parked == nil, !isPaused else { return }
        var failure: (any Error)?
        for key in lanesDue() {
            guard parked == nil, flights.count < descriptor.concurrency else { break }
            do {
                if let dispatch = try plan(lane: key) { send(dispatch) }
            } catch {
                postpone(key)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// The lanes that want to be planned, the one that has waited longest first.
    private func lanesDue() -> [String] {
        let now = context.now
        let due: [(since: Instant, key: String)] = lanes.compactMap { key, lane in
            guard lane.flight == nil, let due = lane.due, due <= now else { return nil }
            return (due, key)
        }
        return due.sorted { ($0.since, $0.key) < ($1.since, $1.key) }.map(\.key)
    }

    /// The storage failed: everything is pending as before, and is looked at again when it may have recovered.
    private func postpone(_ key: String) { update(key) { $0.due = context.now + .seconds(5) } }

    private func plan(lane key: String) throws -> Dispatch? {
        if let ended = lanes[key]?.unsettled { try settle(ended, lane: key) }
        while parked == nil, lanes[key]?.unsettled == nil {
            let now = context.now
            if let wakeAt = lanes[key]?.wakeAt, wakeAt <= now { wakeNow(key, now) }
            guard let (pending, nextUnblock) = try window(lane: key, now: now) else { return nil }
            if hasSpun(key, now: now) {
                try park(FindingRow.Engine.adapterLoops.at())
                return nil
            }
            guard let memory = try memory(lane: key) else { return nil }
            let moment = context.moment(flush: lanes[key]?.flush ?? false)
            switch adapter.plan(pending, memory: memory, at: moment) {
            case .wait(let until, let because):
                let wait = until.map { max($0, now + .milliseconds(10)) }
                update(key) { lane in
                    lane.due = [wait, nextUnblock].compactMap { $0 }.min()
                    lane.because = because
                    lane.flush = false
                }
                return nil
            case .settle(let verdicts, let remembered):
                let shown = Set(pending.map(\.id))
                guard verdicts.keys.allSatisfy(shown.contains), !verdicts.isEmpty || remembered != nil else {
                    try park(FindingRow.Engine.adapterStranger.at())
                    return nil
                }
                try settle(
                    Interpretation(verdicts),
                    pending.operations,
                    remembering: remembered,
                    lane: key,
                    answered: nil
                )
            case .send(let transmission):
                return try send(transmission, pending, lane: key, now: now)
            }
        }
        return nil
    }

    private func send(
        _ transmission: Transmission<Adapter>,
        _ pending: PendingOperations<Adapter>,
        lane key: String,
        now: Instant
    ) throws -> Dispatch? {
        let carried = Set(transmission.operations)
        let operations = pending.filter { carried.contains($0.id) }
        let isChore = transmission.operations.isEmpty
        guard operations.count == transmission.operations.count, !isChore || descriptor.memory == .provider else {
            try park(FindingRow.Engine.adapterStranger.at())
            return nil
        }
        if isChore, choresInFlight.contains(transmission.endpoint) {
            update(key) { lane in
                lane.awaitsChore = true
                lane.due = lane.wakeAt
            }
            return nil
        }
        if transmission.endpoint.isJournaled {
            try context.transaction(.full) {
                try context.requireLease()
                try context.store.setJournal(
                    provider: name,
                    JournalEntry(
                        lane: key,
                        endpoint: transmission.endpoint.rawValue,
                        operations: operations.filter { !$0.isImmediate }.map(\.id.rawValue),
                        request: transmission.request.journal,
                        startedAt: now.milliseconds
                    )
                )
            }
        }
        if isChore { choresInFlight.insert(transmission.endpoint) }
        let ticket = context.makeTicket()
        flights[ticket] = key
        update(key) { lane in
            lane.flight = Flight(
                ticket: ticket,
                endpoint: transmission.endpoint,
                operations: operations,
                request: transmission.request,
                startedAt: now
            )
            lane.because = nil
        }
        return Dispatch(ticket: ticket, provider: name, request: transmission.request, timeout: descriptor.timeout)
    }

    /// The operations that may be planned in a lane, and when the next closed queue opens; nil if there is nothing to plan.
    private func window(lane key: String, now: Instant) throws -> (PendingOperations<Adapter>, Instant?)? {
        var lane = try lane(key)
        var closed: Set<String> = []
        var nextUnblock = lane.wakeAt
        for (queue, when) in lane.blocks {
            if let until = when.until {
                guard until > now else { continue }
                nextUnblock = min(nextUnblock ?? until, until)
            }
            closed.insert(queue)
        }
        var operations: [Pending<Adapter>] = []
        for read in lane.reads {
            if let until = read.block.until, until > now {
                nextUnblock = min(nextUnblock ?? until, until)
            } else if read.block.isNow || read.block.until != nil {
                operations.append(pending(read))
            }
        }
        let stored = try context.store.window(
            provider: name,
            lane: key,
            limit: descriptor.window,
            closedQueues: closed
        )
        var decoded: [Int64: EngagementOperation] = [:]
        var unreadable: [OutboxRow] = []
        for row in stored.rows {
            let sequence = row.operation.sequence
            guard let operation = lane.decoded[sequence] ?? (try? EngagementOperation(jsonBytes: row.operation.body))
            else {
                unreadable.append(row)
                continue
            }
            guard let step = step(of: row) else {
                try park(FindingRow.Engine.stateUnreadable.at())
                return nil
            }
            decoded[sequence] = operation
            operations.append(pending(row, operation, step))
        }
        guard unreadable.isEmpty else {
            try reject(unreadable)
            return try window(lane: key, now: now)
        }
        lane.decoded = decoded
        lane.due = nextUnblock
        if operations.isEmpty {
            lane.because = nil
            if closed.isEmpty { lane.flush = false }
        }
        lanes[key] = lane
        guard !operations.isEmpty else { return nil }
        return (PendingOperations(operations, hasMore: stored.hasMore), nextUnblock)
    }

    private func reject(_ unreadable: [OutboxRow]) throws {
        let outcome = OperationOutcome(.rejected, finding: FindingRow.Engine.bodyUnreadable.at())
        try store {
            try context.requireLease()
            for row in unreadable { try end(row.operation.sequence, outcome) }
        }
        context.emit(
            unreadable.map { .ended(OperationID(rawValue: $0.operation.id), provider: name, outcome) }
        )
    }

    private func end(_ sequence: Int64, _ outcome: OperationOutcome) throws {
        try context.store.end(
            provider: name,
            sequence: sequence,
            term: outcome.term.rawValue,
            code: outcome.finding?.code ?? "",
            at: context.date.milliseconds,
            reject: outcome.term == .rejected ? outcome.finding?.jsonBytes : nil
        )
    }

    private func hasSpun(_ key: String, now: Instant) -> Bool {
        var spins = 0
        update(key) { lane in
            lane.spins = lane.lastPlan == now ? lane.spins + 1 : 0
            lane.lastPlan = now
            spins = lane.spins
        }
        return spins > 3 * descriptor.window + 64
    }

    /// How far a row's operation has got (nil inside: not begun); nil if the stored step can't be read.
    private func step(of row: OutboxRow) -> Adapter.Step?? {
        guard let bytes = row.step else { return .some(nil) }
        guard let step = try? JSONDecoder().decode(Adapter.Step.self, from: Data(bytes)) else { return nil }
        return .some(step)
    }

    private func pending(_ row: OutboxRow, _ operation: EngagementOperation, _ step: Adapter.Step?) -> Pending<Adapter>
    {
        Pending(
            operation: operation,
            sequence: row.operation.sequence,
            since: Instant(milliseconds: row.operation.since),
            queue: row.queue,
            step: step,
            failures: row.failures,
            refusals: row.refusals,
            credential: descriptor.usesCredentials ? context.credential(name, operation.contact) : nil
        )
    }

    private func pending(_ read: Read) -> Pending<Adapter> {
        Pending(
            operation: read.operation,
            sequence: -1,
            since: read.since,
            queue: adapter.place(read.operation).queue,
            isImmediate: true,
            step: read.step,
            failures: read.failures,
            refusals: read.refusals,
            credential: descriptor.usesCredentials ? context.credential(name, read.operation.contact) : nil
        )
    }

    // MARK: Interpret

    /// Takes the outcome of a request that this provider sent.
    func finish(_ ticket: Int, _ outcome: Outcome) throws {
        guard let key = flights.removeValue(forKey: ticket), let flight = lanes[key]?.flight else { return }
        if flight.operations.isEmpty { choresInFlight.remove(flight.endpoint) }
        let moment = context.moment(flush: lanes[key]?.flush ?? false)
        let ended = Ended(flight: flight, outcome: outcome, moment: moment)
        update(key) { lane in (lane.flight, lane.unsettled) = (nil, ended) }
        do {
            try settle(ended, lane: key)
        } catch {
            // What the vendor said is known, and must not be asked for again: it is settled once the storage recovers.
            postpone(key)
            throw error
        }
    }

    /// Lets the adapter say what an exchange means, and stores that.
    private func settle(_ ended: Ended, lane key: String) throws {
        guard let before = try memory(lane: key) else { return }
        var memory = before
        let (flight, outcome) = (ended.flight, ended.outcome)
        let exchange = Exchange<Adapter>(
            endpoint: flight.endpoint,
            operations: flight.operations,
            request: flight.request,
            outcome: outcome,
            startedAt: flight.startedAt,
            moment: ended.moment
        )
        let meaning = adapter.interpret(exchange, memory: &memory)
        let isInterrupted = if case .failed(let failure) = outcome { failure.doubt == .interrupted } else { false }
        try settle(
            meaning,
            flight.operations,
            remembering: memory,
            lane: key,
            answered: outcome.reply != nil,
            clearingJournal: flight.endpoint.isJournaled || isInterrupted
        )
        let now = context.now
        let teachesAll = descriptor.memory == .provider && memory != before
        for other in lanes.keys {
            // New shared knowledge or a finished chore may let any lane go on; a free slot is taken by whoever waits.
            update(other) { lane in
                guard other == key || teachesAll || lane.awaitsChore else { return }
                lane.awaitsChore = false
                lane.want(now)
            }
        }
        update(key) { lane in
            lane.unsettled = nil
            lane.lastExchangeFailed = outcome.reply.map { !$0.isSuccess } ?? true
        }
        try watch(meaning, flight.operations, hasLearnt: memory != before, lane: key)
    }

    /// Parks a provider whose exchanges end nothing and wait for nothing, or that names what it did not carry.
    private func watch(
        _ meaning: Interpretation<Adapter>,
        _ operations: [Pending<Adapter>],
        hasLearnt: Bool,
        lane key: String
    ) throws {
        let carried = Set(operations.map(\.id))
        guard meaning.verdicts.keys.allSatisfy(carried.contains),
            meaning.followUps.allSatisfy({ carried.contains($0.cause) })
        else { return try park(FindingRow.Engine.adapterStranger.at()) }
        let progressed =
            operations.isEmpty
            ? hasLearnt
            : operations.contains { pending in
                switch meaning.verdicts[pending.id] {
                case .underway(_, let when), .retry(let when): !when.isNow
                default: true
                }
            }
        let barren = update(key) { lane in
            lane.barren = progressed ? 0 : lane.barren + 1
            return lane.barren
        }
        if barren >= 64 { try park(FindingRow.Engine.adapterLoops.at()) }
    }

    /// Stores verdicts, memory and follow-ups in one transaction, and tells of them after it.
    ///
    /// `answered` is nil where nothing was sent, else whether the vendor answered.
    private func settle(
        _ meaning: Interpretation<Adapter>,
        _ operations: [Pending<Adapter>],
        remembering remembered: Adapter.Memory?,
        lane key: String,
        answered: Bool?,
        clearingJournal: Bool = false
    ) throws {
        let memoryKey = descriptor.memory == .lane ? key : ""
        guard let before = try memory(lane: key) else { return }
        var lane = try lane(key)
        var events = meaning.incoming.map { EngineEvent.incoming(provider: name, $0) }
        var verdicts: [(pending: Pending<Adapter>, verdict: Verdict<Adapter>)] = []
        for pending in operations {
            let verdict = meaning.verdicts[pending.id] ?? (answered == nil ? nil : missing(pending, &events))
            if let verdict { verdicts.append((pending, verdict)) }
        }
        let erased = verdicts.filter { $0.pending.operation.action == .erase && $0.verdict.isFinal }
        let after = erased.isEmpty ? remembered ?? before : (remembered ?? before).afterErase
        var entered: Set<String> = []
        try context.transaction(.normal) {
            try context.requireLease()
            for (pending, _) in erased {
                try context.store.removeRejects(provider: name, subject: pending.operation.subject.rawValue)
            }
            // An ending opens its queue before any verdict closes it: what is to wait waits, whoever else got through.
            for (pending, verdict) in verdicts {
                guard let outcome = verdict.outcome else { continue }
                if let event = try end(pending, outcome, &lane, lane: key) { events.append(event) }
            }
            var closed: [String: When] = [:]
            for (pending, verdict) in verdicts where verdict.outcome == nil {
                let when = try progress(verdict, pending, &lane, answered: answered ?? false)
                if !pending.isImmediate, !when.isNow {
                    closed[pending.queue] = closed[pending.queue].map { $0.later(when) } ?? when
                }
            }
            for (queue, when) in closed {
                lane.blocks[queue] = when
                try context.store.setBlock(
                    provider: name,
                    lane: key,
                    queue: queue,
                    until: when.until?.milliseconds,
                    orWoken: when.orWoken
                )
            }
            for followUp in meaning.followUps {
                guard let cause = operations.first(where: { $0.id == followUp.cause })?.operation else { continue }
                if let lane = try context.enter(followUp.action, causedBy: cause, runner: self) { entered.insert(lane) }
            }
            if after != before { try save(after, key: memoryKey) }
            if clearingJournal { try context.store.clearJournal(provider: name, lane: key) }
            if let park = meaning.park { try saveRecord { $0.parked = park.jsonBytes } }
        }
        memories[memoryKey] = after
        if verdicts.contains(where: { $0.verdict.isFinal }) { lane.spins = 0 }
        lanes[key] = lane
        if let park = meaning.park {
            parked = park
            events.append(.parked(provider: name, park))
        }
        for key in entered { noteEntered(lane: key) }
        context.emit(events)
    }

    private func missing(_ pending: Pending<Adapter>, _ events: inout [EngineEvent]) -> Verdict<Adapter> {
        events.append(.noticed(provider: name, FindingRow.Engine.verdictMissing.at()))
        return .retry(.at(context.now + .seconds(60)))
    }

    /// Ends an operation or a read; what is to be told of it, unless the caller has given up waiting.
    private func end(
        _ pending: Pending<Adapter>,
        _ outcome: OperationOutcome,
        _ lane: inout Lane,
        lane key: String
    ) throws -> EngineEvent? {
        if pending.isImmediate {
            guard let place = lane.reads.firstIndex(where: { $0.operation.id == pending.id }) else { return nil }
            lane.reads.remove(at: place)
            return .answered(pending.id, provider: name, outcome)
        }
        try end(pending.sequence, outcome)
        if lane.blocks.removeValue(forKey: pending.queue) != nil {
            try context.store.clearBlock(provider: name, lane: key, queue: pending.queue)
        }
        lane.decoded[pending.sequence] = nil
        return .ended(pending.id, provider: name, outcome)
    }

    /// Notes how far an operation or a read got; returns how long its queue is closed.
    private func progress(
        _ verdict: Verdict<Adapter>,
        _ pending: Pending<Adapter>,
        _ lane: inout Lane,
        answered: Bool
    ) throws -> When {
        let (step, when, failures, refusals): (Adapter.Step?, When, Int, Int) =
            switch verdict {
            case .underway(let step, let when): (step, when, 0, 0)
            case .retry(let when): (pending.step, when, pending.failures + 1, pending.refusals + (answered ? 1 : 0))
            default: (nil, .now, 0, 0)
            }
        if pending.isImmediate {
            guard let place = lane.reads.firstIndex(where: { $0.operation.id == pending.id }) else { return when }
            (lane.reads[place].step, lane.reads[place].block) = (step, when)
            (lane.reads[place].failures, lane.reads[place].refusals) = (failures, refusals)
        } else {
            try context.store.progress(
                provider: name,
                sequence: pending.sequence,
                step: try step.map(encode),
                failures: failures,
                refusals: refusals
            )
        }
        return when
    }

    // MARK: Memory

    /// What the adapter remembers; nil if that can't be read: then the provider is parked, and the bytes stay.
    private func memory(lane key: String) throws -> Adapter.Memory? {
        let key = descriptor.memory == .lane ? key : ""
        if let memory = memories[key] { return memory }
        var memory = Adapter.Memory()
        if let stored = try context.store.memory(provider: name, lane: key) {
            guard let known = try? JSONDecoder().decode(Adapter.Memory.self, from: Data(stored.body)) else {
                try park(FindingRow.Engine.stateUnreadable.at())
                return nil
            }
            memory = known
        }
        memories[key] = memory
        return memory
    }

    private func save(_ memory: Adapter.Memory, key: String) throws {
        try context.store.setMemory(
            provider: name,
            lane: key,
            version: descriptor.stateVersion,
            body: try encode(memory)
        )
    }

    private func encode(_ state: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(state))
    }

    // MARK: Lanes

    @discardableResult
    private func update<Result>(_ key: String, _ change: (inout Lane) -> Result) -> Result {
        change(&lanes[key, default: Lane()])
    }

    /// A lane with its closed queues, which are read from the outbox the first time.
    private func lane(_ key: String) throws -> Lane {
        if let lane = lanes[key], lane.isRead { return lane }
        let stored = try context.store.blocks(provider: name, lane: key)
        return update(key) { lane in
            for block in stored {
                let until = block.until.map(Instant.init(milliseconds:))
                lane.blocks[block.queue] = When(until: until, orWoken: block.orWoken)
            }
            lane.isRead = true
            return lane
        }
    }

    private func knownLanes() throws -> [String] {
        Set(lanes.keys).union(try context.store.lanes(provider: name)).sorted()
    }

    private func unblockWoken(_ key: String) {
        update(key) { lane in
            for (queue, when) in lane.blocks where when.orWoken { lane.blocks[queue] = nil }
            for place in lane.reads.indices where lane.reads[place].block.orWoken { lane.reads[place].block = .now }
        }
    }

    /// Answers callers whose time is up, and all of them when nothing is sent.
    func expireReads() {
        let now = context.now
        let stops = parked ?? (isPaused ? FindingRow.Engine.providerParked.at() : nil)
        for (key, lane) in lanes where !lane.reads.isEmpty {
            let inFlight = Set(lane.flight?.operations.map(\.id) ?? [])
            let ended = lane.reads.filter { read in
                read.deadline <= now || (stops != nil && !inFlight.contains(read.operation.id))
            }
            guard !ended.isEmpty else { continue }
            let ids = Set(ended.map(\.operation.id))
            update(key) { lane in lane.reads.removeAll { ids.contains($0.operation.id) } }
            context.emit(
                ended.map { read in
                    let finding = stops ?? FindingRow.Engine.deadline.at()
                    return .answered(read.operation.id, provider: name, OperationOutcome(.rejected, finding: finding))
                }
            )
        }
    }

    private func park(_ finding: Finding) throws {
        try store { try saveRecord { $0.parked = finding.jsonBytes } }
        parked = finding
        context.emit([.parked(provider: name, finding)])
    }

    private func store(_ body: () throws -> Void) throws { try context.transaction(.normal, body) }
}

extension Verdict {
    /// The outcome of a final verdict; nil while the operation is pending.
    var outcome: OperationOutcome? {
        switch self {
        case .accepted(let finding, let answer): OperationOutcome(.accepted, finding: finding, answer: answer)
        case .unchanged(let finding): OperationOutcome(.unchanged, finding: finding)
        case .superseded: OperationOutcome(.superseded)
        case .rejected(let finding, let answer): OperationOutcome(.rejected, finding: finding, answer: answer)
        case .dropped(let finding): OperationOutcome(.dropped, finding: finding)
        case .underway, .retry: nil
        }
    }
}

extension When {
    /// The one of two waits that is over later.
    fileprivate func later(_ other: When) -> When {
        guard let until else { return self }
        guard let otherUntil = other.until else { return other }
        return until >= otherUntil ? self : other
    }
}

extension WireRequest {
    /// The request as a journal keeps it: without the values of its secret headers.
    var journal: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("method", method)
        writer.member("url", url)
        writer.name("headers")
        writer.beginArray()
        for header in redacted.headers {
            writer.beginArray()
            writer.string(header.name)
            writer.string(header.value)
            writer.bool(header.isSecret)
            writer.endArray()
        }
        writer.endArray()
        if let text = String(validating: body, as: UTF8.self) {
            writer.member("body", text)
        } else {
            writer.member("bytes", body.map(Int.init))
        }
        writer.endObject()
        return writer.bytes
    }

    init(journal bytes: [UInt8]) {
        let json = try? JSONValue(parsing: bytes)
        self.init(
            json?["method"]?.string ?? "",
            json?["url"]?.string ?? "",
            headers: (json?["headers"]?.array ?? []).map { header in
                WireHeader(header[0]?.string ?? "", header[1]?.string ?? "", isSecret: header[2]?.bool ?? false)
            },
            body: json?["body"]?.string.map { Array($0.utf8) }
                ?? (json?["bytes"]?.array ?? []).compactMap { $0.integer.flatMap { UInt8(exactly: $0) } }
        )
    }
}
