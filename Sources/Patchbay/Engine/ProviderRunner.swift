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

    func restore() throws
    func examine(_ operation: EngagementOperation) -> [Finding]
    func place(_ operation: EngagementOperation) -> Place
    func noteEntered(lane: String)
    func plan() throws -> [Dispatch]
    func finish(_ ticket: Int, _ outcome: Outcome) throws -> Bool
    func lookAround() throws
    func wake(lane: String?) throws
    func flush() throws
    func resume() throws
    func read(_ operation: EngagementOperation, deadline: Instant)
    func isCommitted(_ operation: OperationID) -> Bool
    func forget(lane: String) throws
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
        var blocks: [String: When] = [:]
        var flight: Flight?
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
        /// A chore that another lane does is waited for.
        var awaitsChore = false
        /// Operations of the last window, decoded.
        var decoded: [Int64: EngagementOperation] = [:]
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
        guard parked == nil, !isPaused else { return lanes.values.flatMap(\.reads).map(\.deadline).min() }
        return lanes.values.compactMap { $0.flight == nil ? $0.due : nil }.min()
    }

    var reasons: [String: Finding] { lanes.compactMapValues(\.because) }

    func examine(_ operation: EngagementOperation) -> [Finding] { adapter.examine(operation) }
    func place(_ operation: EngagementOperation) -> Place { adapter.place(operation) }

    /// A capture entered a lane: it wants to be planned, at most once a second while the vendor is failing.
    func noteEntered(lane key: String) {
        let now = context.now
        update(key) { lane in
            var due = now
            if lane.lastExchangeFailed, let last = lane.lastWake, last + .seconds(1) > now { due = last + .seconds(1) }
            lane.due = min(lane.due ?? due, due)
            guard due <= now else { return }
            lane.lastWake = now
        }
        if lanes[key]?.lastWake == now { unblockWoken(key) }
    }

    /// Another process may have captured: every lane with pending work is planned once.
    func lookAround() throws {
        for key in try context.store.lanes(provider: name) { update(key) { $0.due = context.now } }
    }

    func wake(lane: String?) throws {
        try context.store.clearWokenBlocks(provider: name, lane: lane)
        for key in try lane.map({ [$0] }) ?? knownLanes() {
            unblockWoken(key)
            update(key) { $0.due = context.now }
        }
    }

    func flush() throws {
        for key in try knownLanes() { update(key) { $0.flush = true } }
        try wake(lane: nil)
    }

    func resume() throws {
        guard parked != nil else { return try wake(lane: nil) }
        parked = nil
        try store { try saveRecord() }
        try wake(lane: nil)
    }

    func read(_ operation: EngagementOperation, deadline: Instant) {
        let key = adapter.place(operation).lane
        update(key) { lane in
            lane.reads.append(Read(operation: operation, since: context.now, deadline: deadline))
            lane.due = context.now
        }
        unblockWoken(key)
    }

    /// Whether an operation is in flight or has begun, so that only this provider may finish it.
    func isCommitted(_ operation: OperationID) -> Bool {
        lanes.values.contains { $0.flight?.operations.contains { $0.id == operation } ?? false }
    }

    /// Forgets what is remembered of a lane.
    func forget(lane: String) throws {
        guard descriptor.memory == .lane else { return }
        memories[lane] = nil
        try context.store.clearMemory(provider: name, lane: lane)
    }

    // MARK: Start

    /// Takes up what an earlier process left: upgrades state, asks about what was in mid-flight, wakes every lane.
    func restore() throws {
        // Another process may have delivered since this one last did.
        if flights.isEmpty { (lanes, memories) = (lanes.filter { !$0.value.reads.isEmpty }, [:]) }
        let record = try context.store.providers().first { $0.name == name }
        parked = record?.parked.flatMap { try? Finding(jsonBytes: $0) }
        if let record, record.stateVersion != descriptor.stateVersion {
            guard record.stateVersion < descriptor.stateVersion else {
                return try park(FindingRow.Engine.stateNewer.at())
            }
            do {
                try store { try upgrade(from: record.stateVersion) }
            } catch let error as OutboxError {
                throw error
            } catch {
                return try park(FindingRow.Engine.stateUnreadable.at())
            }
        }
        if parked != nil { parked = nil }  // a start is one try
        for entry in try context.store.journal(provider: name) { try interrupt(entry) }
        try wake(lane: nil)
    }

    private func upgrade(from version: Int) throws {
        for memory in try context.store.memories(provider: name) {
            let state = try Adapter.upgrade(JSONValue(parsing: memory.body), of: .memory, from: version)
            let upgraded = try JSONDecoder().decode(Adapter.Memory.self, from: Data(state.text.utf8))
            memories[memory.lane] = upgraded
            try save(upgraded, key: memory.lane)
        }
        var rows: [OutboxRow] = []
        try context.store.forEachRow(provider: name, subject: nil) { rows.append($0) }
        for row in rows {
            let step = try row.step.map { try Adapter.upgrade(JSONValue(parsing: $0), of: .step, from: version) }
            if let operation = try? EngagementOperation(jsonBytes: row.operation.body) {
                let place = adapter.place(operation)
                try context.store.remove(provider: name, sequence: row.operation.sequence)
                try context.store.enter(
                    row.operation.sequence,
                    provider: name,
                    lane: place.lane,
                    queue: place.queue,
                    hold: row.hold
                )
            }
            try context.store.progress(
                provider: name,
                sequence: row.operation.sequence,
                step: step.map { Array($0.text.utf8) },
                failures: row.failures,
                refusals: row.refusals
            )
        }
        try saveRecord()
    }

    private func saveRecord() throws {
        guard var record = try context.store.providers().first(where: { $0.name == name }) else { return }
        record.stateVersion = descriptor.stateVersion
        record.parked = parked?.jsonBytes
        try context.store.setProvider(record)
    }

    /// A journaled request was in mid-flight when a process died: the adapter says what that means.
    private func interrupt(_ entry: JournalEntry) throws {
        guard let endpoint = Adapter.Endpoint(rawValue: entry.endpoint) else {
            return try store { try context.store.clearJournal(provider: name, lane: entry.lane) }
        }
        let rows = try context.store.rows(provider: name, lane: entry.lane, ids: entry.operations)
        let operations = rows.compactMap {
            pending($0, decoded: try? EngagementOperation(jsonBytes: $0.operation.body))
        }
        let flight = Flight(
            ticket: 0,
            endpoint: endpoint,
            operations: operations,
            request: WireRequest(journal: entry.request),
            startedAt: Instant(milliseconds: entry.startedAt)
        )
        _ = try interpret(flight, .failed(TransportFailure(.interrupted, "processEnded")), lane: entry.lane)
    }

    // MARK: Plan

    /// Plans every lane that wants it, and says which requests must leave.
    func plan() throws -> [Dispatch] {
        try expireReads()
        guard parked == nil, !isPaused else { return [] }
        var dispatches: [Dispatch] = []
        for key in lanes.keys.sorted() {
            guard flights.count < descriptor.concurrency else { break }
            guard let lane = lanes[key], lane.flight == nil, let due = lane.due, due <= context.now else { continue }
            if let dispatch = try plan(lane: key) { dispatches.append(dispatch) }
            if parked != nil { break }
        }
        return dispatches
    }

    private func plan(lane key: String) throws -> Dispatch? {
        while parked == nil {
            let now = context.now
            guard let (pending, nextUnblock) = try window(lane: key, now: now) else { return nil }
            if hasSpun(key, now: now) {
                try park(FindingRow.Engine.adapterLoops.at())
                return nil
            }
            let memory = try memory(lane: key)
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
                lane.due = nil
            }
            return nil
        }
        if transmission.endpoint.isJournaled {
            try context.transaction(.full) {
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
        guard var lane = lanes[key] else { return nil }
        var closed: Set<String> = []
        var nextUnblock: Instant?
        for (queue, when) in lane.blocks {
            guard let until = when.until else {
                closed.insert(queue)
                continue
            }
            if until <= now {
                lane.blocks[queue] = nil
            } else {
                closed.insert(queue)
                nextUnblock = min(nextUnblock ?? until, until)
            }
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
            let operation = lane.decoded[sequence] ?? (try? EngagementOperation(jsonBytes: row.operation.body))
            guard let pending = pending(row, decoded: operation) else {
                unreadable.append(row)
                continue
            }
            decoded[sequence] = pending.operation
            operations.append(pending)
        }
        lane.decoded = decoded
        lane.due = nextUnblock
        if operations.isEmpty { lane.because = nil }
        lanes[key] = lane
        try reject(unreadable)
        guard !operations.isEmpty else { return nil }
        return (PendingOperations(operations, hasMore: stored.hasMore), nextUnblock)
    }

    private func reject(_ unreadable: [OutboxRow]) throws {
        guard !unreadable.isEmpty else { return }
        let finding = FindingRow.Engine.bodyUnreadable.at()
        try store {
            for row in unreadable {
                try context.store.end(
                    provider: name,
                    sequence: row.operation.sequence,
                    term: OperationOutcome.Term.rejected.rawValue,
                    code: finding.code,
                    at: context.date.milliseconds,
                    reject: finding.jsonBytes
                )
            }
        }
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

    private func pending(_ row: OutboxRow, decoded operation: EngagementOperation?) -> Pending<Adapter>? {
        guard let operation else { return nil }
        let step: Adapter.Step?
        do {
            step = try row.step.map { try JSONDecoder().decode(Adapter.Step.self, from: Data($0)) }
        } catch {
            return nil
        }
        return Pending(
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

    /// Takes the outcome of a request that this provider sent; false if the ticket is not its own.
    func finish(_ ticket: Int, _ outcome: Outcome) throws -> Bool {
        guard let key = flights.removeValue(forKey: ticket), let flight = lanes[key]?.flight else { return false }
        update(key) { $0.flight = nil }
        if flight.operations.isEmpty { choresInFlight.remove(flight.endpoint) }
        let now = context.now
        let memoryChanged: Bool
        do {
            memoryChanged = try interpret(flight, outcome, lane: key)
        } catch {
            // The storage failed: everything is pending as before, and is looked at again when it may have recovered.
            update(key) { $0.due = now + .seconds(5) }
            throw error
        }
        for other in lanes.keys {
            // A free slot, new shared knowledge or a finished chore may let any lane go on.
            let concerns = other == key || memoryChanged || flights.count + 1 >= descriptor.concurrency
            update(other) { lane in
                guard concerns || lane.awaitsChore else { return }
                lane.awaitsChore = false
                lane.due = now
            }
        }
        return true
    }

    private func interpret(_ flight: Flight, _ outcome: Outcome, lane key: String) throws -> Bool {
        var memory = try memory(lane: key)
        let before = memory
        let exchange = Exchange<Adapter>(
            endpoint: flight.endpoint,
            operations: flight.operations,
            request: flight.request,
            outcome: outcome,
            startedAt: flight.startedAt,
            moment: context.moment(flush: lanes[key]?.flush ?? false)
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
        update(key) { $0.lastExchangeFailed = outcome.reply.map { !$0.isSuccess } ?? true }
        try watch(meaning, lane: key)
        return descriptor.memory == .provider && memory != before
    }

    /// Parks a provider whose exchanges end nothing and wait for nothing.
    private func watch(_ meaning: Interpretation<Adapter>, lane key: String) throws {
        let progressed =
            meaning.verdicts.isEmpty
            || meaning.verdicts.values.contains { verdict in
                switch verdict {
                case .underway(_, let when), .retry(let when): !when.isNow
                default: true
                }
            }
        var barren = 0
        update(key) { lane in
            lane.barren = progressed ? 0 : lane.barren + 1
            barren = lane.barren
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
        let before = try memory(lane: key)
        let forgets = operations.contains { pending in
            pending.operation.action == .erase && meaning.verdicts[pending.id]?.isFinal == true
        }
        let after = forgets ? (remembered ?? before).afterErase : remembered ?? before
        var lane = lanes[key] ?? Lane()
        var events = meaning.incoming.map { EngineEvent.incoming(provider: name, $0) }
        var entered: Set<String> = []
        try context.transaction(.normal) {
            try context.requireLease()
            for pending in operations {
                guard let verdict = meaning.verdicts[pending.id] ?? (answered == nil ? nil : missing(pending, &events))
                else {
                    continue
                }
                if pending.isImmediate {
                    apply(verdict, toRead: pending, &lane, answered: answered ?? false, &events)
                } else {
                    try apply(verdict, to: pending, key, &lane, answered: answered ?? false, &events)
                }
            }
            for followUp in meaning.followUps {
                guard let cause = operations.first(where: { $0.id == followUp.cause })?.operation else { continue }
                entered.insert(try context.enter(followUp.action, causedBy: cause, runner: self))
            }
            if after != before { try save(after, key: memoryKey) }
            if clearingJournal { try context.store.clearJournal(provider: name, lane: key) }
            if let park = meaning.park {
                parked = park
                try saveRecord()
                events.append(.parked(provider: name, park))
            }
        }
        memories[memoryKey] = after
        lane.flight = lanes[key]?.flight
        lanes[key] = lane
        for key in entered { noteEntered(lane: key) }
        context.emit(events)
    }

    private func missing(_ pending: Pending<Adapter>, _ events: inout [EngineEvent]) -> Verdict<Adapter> {
        events.append(.noticed(provider: name, FindingRow.Engine.verdictMissing.at()))
        return .retry(.at(context.now + .seconds(60)))
    }

    private func apply(
        _ verdict: Verdict<Adapter>,
        to pending: Pending<Adapter>,
        _ key: String,
        _ lane: inout Lane,
        answered: Bool,
        _ events: inout [EngineEvent]
    ) throws {
        if let outcome = verdict.outcome {
            try context.store.end(
                provider: name,
                sequence: pending.sequence,
                term: outcome.term.rawValue,
                code: outcome.finding?.code ?? "",
                at: context.date.milliseconds,
                reject: outcome.term == .rejected ? outcome.finding?.jsonBytes : nil
            )
            if lane.blocks.removeValue(forKey: pending.queue) != nil {
                try context.store.clearBlock(provider: name, lane: key, queue: pending.queue)
            }
            lane.decoded[pending.sequence] = nil
            events.append(.ended(pending.id, provider: name, outcome))
            return
        }
        let (step, when, failures, refusals) = progress(verdict, pending, answered: answered)
        try context.store.progress(
            provider: name,
            sequence: pending.sequence,
            step: try step.map(encode),
            failures: failures,
            refusals: refusals
        )
        guard !when.isNow else { return }
        lane.blocks[pending.queue] = when
        try context.store.setBlock(
            provider: name,
            lane: key,
            queue: pending.queue,
            until: when.until?.milliseconds,
            orWoken: when.orWoken
        )
    }

    private func apply(
        _ verdict: Verdict<Adapter>,
        toRead pending: Pending<Adapter>,
        _ lane: inout Lane,
        answered: Bool,
        _ events: inout [EngineEvent]
    ) {
        guard let place = lane.reads.firstIndex(where: { $0.operation.id == pending.id }) else { return }
        if let outcome = verdict.outcome {
            lane.reads.remove(at: place)
            events.append(.answered(pending.id, provider: name, outcome))
        } else {
            let (step, when, failures, refusals) = progress(verdict, pending, answered: answered)
            lane.reads[place].step = step
            lane.reads[place].block = when
            lane.reads[place].failures = failures
            lane.reads[place].refusals = refusals
        }
    }

    private func progress(
        _ verdict: Verdict<Adapter>,
        _ pending: Pending<Adapter>,
        answered: Bool
    ) -> (step: Adapter.Step?, when: When, failures: Int, refusals: Int) {
        switch verdict {
        case .underway(let step, let when): (step, when, 0, 0)
        case .retry(let when): (pending.step, when, pending.failures + 1, pending.refusals + (answered ? 1 : 0))
        default: (nil, .now, 0, 0)
        }
    }

    // MARK: Memory

    private func memory(lane key: String) throws -> Adapter.Memory {
        let key = descriptor.memory == .lane ? key : ""
        if let memory = memories[key] { return memory }
        var memory = Adapter.Memory()
        if let stored = try context.store.memory(provider: name, lane: key) {
            do {
                memory = try JSONDecoder().decode(Adapter.Memory.self, from: Data(stored.body))
            } catch {
                try park(FindingRow.Engine.stateUnreadable.at())
            }
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

    private func update(_ key: String, _ change: (inout Lane) -> Void) {
        var lane = lanes[key] ?? loadLane(key)
        change(&lane)
        lanes[key] = lane
    }

    private func loadLane(_ key: String) -> Lane {
        var lane = Lane()
        for block in (try? context.store.blocks(provider: name, lane: key)) ?? [] {
            lane.blocks[block.queue] = When(until: block.until.map(Instant.init(milliseconds:)), orWoken: block.orWoken)
        }
        return lane
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

    private func expireReads() throws {
        let now = context.now
        for key in lanes.keys {
            guard let lane = lanes[key], !lane.reads.isEmpty else { continue }
            let inFlight = Set(lane.flight?.operations.map(\.id) ?? [])
            let stops = parked ?? (isPaused ? FindingRow.Engine.providerParked.at() : nil)
            let ended = lane.reads.filter {
                ($0.deadline <= now || stops != nil) && !inFlight.contains($0.operation.id)
            }
            guard !ended.isEmpty else { continue }
            update(key) { lane in
                lane.reads.removeAll { read in ended.contains { $0.operation.id == read.operation.id } }
            }
            context.emit(
                ended.map { read in
                    let finding = stops ?? FindingRow.Engine.deadline.at()
                    return .answered(read.operation.id, provider: name, OperationOutcome(.rejected, finding: finding))
                }
            )
        }
    }

    private func park(_ finding: Finding) throws {
        parked = finding
        try store { try saveRecord() }
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
