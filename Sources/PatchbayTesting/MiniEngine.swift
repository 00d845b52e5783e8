import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A delivery engine in memory under a virtual clock: one request at a time, consent granted, nothing stored.
///
/// It watches every plan and every interpretation and notes where an adapter breaks its contract.
struct MiniEngine<Adapter: VendorAdapter> {
    private struct Entry {
        let operation: EngagementOperation
        let place: Place
        let sequence: Int64
        let since: Instant
        var step: Adapter.Step?
        var failures = 0
        var refusals = 0
        var isImmediate: Bool { operation.action.kind == .readBack }
    }

    private struct QueueName: Hashable {
        let lane: String
        let queue: String
    }

    private let adapter: Adapter
    private let credential: Secret?
    private var script: Script
    private var vendor: any PlayedVendor
    private let belief: Belief?
    private let descriptor = Adapter.descriptor

    private var now: Instant
    private var entries: [Entry] = []
    private var nextSequence: Int64 = 1
    private var memories: [String: Adapter.Memory] = [:]
    /// The same as they are stored, where somebody says what they claim.
    private var stored: [String: JSONValue] = [:]
    private var blocks: [QueueName: When] = [:]
    private var laneWaits: [String: (until: Instant?, because: Finding)] = [:]
    private var parked: Finding?
    private var isFaulty = false
    private var isPreparing = false
    /// Every exchange after the preparation, with the memory before it.
    private(set) var exchanges: [(exchange: Exchange<Adapter>, memory: Adapter.Memory)] = []
    /// What happened so far.
    private(set) var drive = Drive()

    init(
        _ adapter: Adapter,
        credential: Secret?,
        vendor: any PlayedVendor,
        belief: Belief? = nil,
        script: Script
    ) {
        (self.adapter, self.credential, self.vendor, self.script) = (adapter, credential, vendor, script)
        self.belief = belief
        now = Corpus.start
    }

    private var moment: Moment {
        Moment(now: now, date: now + script.dateShift, flush: script.flush && !isPreparing, chance: 0.5)
    }

    // MARK: Driving

    /// Delivers what happened before; its requests are forgotten, its breaches are not. Of the script it follows the clock,
    /// and whether descriptions are kept.
    mutating func prepare(_ operations: [EngagementOperation]) {
        isPreparing = true
        deliver(operations)
        isPreparing = false
        (drive.operations, drive.sent, drive.waits) = ([], [], [])
    }

    /// The same engine, to go on by another script.
    func following(_ script: Script) -> MiniEngine {
        var engine = self
        engine.script = script
        return engine
    }

    /// Captures the operations together and goes on until nothing can be done.
    mutating func deliver(_ operations: [EngagementOperation], requests: Int? = nil) {
        if let first = operations.first { now = max(now, first.capturedAt) }
        for operation in operations {
            drive.operations.append(operation.id)
            enter(operation)
        }
        wake(timed: false)
        drive.end = run(until: requests.map { drive.sent.count + $0 } ?? (isPreparing ? Script().limit : script.limit))
        for lane in memories.keys.sorted() { checkBelief(lane) }
        drive.held = belief.flatMap { belief in vendor.memory.flatMap { belief.held(in: $0) } }
    }

    private mutating func enter(_ operation: EngagementOperation) {
        var operation = operation
        operation.capturedAt = operation.capturedAt + script.dateShift
        let findings = adapter.examine(operation)
        if findings != adapter.examine(operation) { breach("A1", "examine answers the same operation differently.") }
        findings.forEach { note($0) }
        drive.examined[operation.id] = findings
        if let foreign = findings.first(where: { $0.severity == .foreign }) {
            drive.endings[operation.id] = .foreign(foreign)
        } else if let error = findings.first(where: { $0.severity == .error }) {
            drive.endings[operation.id] = .rejected(error)
        } else {
            let place = adapter.place(operation)
            if place != adapter.place(operation) { breach("A12", "place answers the same operation differently.") }
            entries.append(Entry(operation: operation, place: place, sequence: nextSequence, since: now))
            nextSequence += 1
        }
    }

    /// The network or the foreground, or, without `timed`, a capture: what waits for an event is looked at again.
    private mutating func wake(timed: Bool = true) {
        laneWaits = [:]
        blocks = blocks.filter { !$0.value.orWoken || !timed && $0.value.until != nil }
    }

    private mutating func run(until limit: Int) -> Drive.End {
        var wakes = 0
        // Waits and settled plans are bounded, too: an adapter that circles is at fault.
        var (rounds, done) = (0, progress)
        while rounds < 100 {
            rounds = progress == done ? rounds + 1 : 0
            done = progress
            if let parked { return .parked(parked) }
            guard !entries.isEmpty, !isFaulty else { return .settled }
            guard drive.sent.count < limit else { return .limit }
            if act() {
                wakes = 0
                continue
            }
            if let next = nextInstant {
                now = max(now + .milliseconds(10), next)
                drive.waits.append(now)
                laneWaits = laneWaits.filter { $0.value.until.map { $0 > now } ?? true }
            } else if wakes == 0 {
                wakes = 1
                // Something happens only in time; after a failure wakes are a second apart.
                now = now + .seconds(1)
                wake()
            } else {
                return .held(laneWaits.min { $0.key < $1.key }?.value.because)
            }
        }
        breach("A5", "plans go round without a request.")
        return .limit
    }

    /// Requests that left and operations that ended.
    private var progress: Int { drive.sent.count + drive.endings.count }

    private var nextInstant: Instant? {
        let waiting = Set(entries.map { QueueName(lane: $0.place.lane, queue: $0.place.queue) })
        let unblocked = blocks.filter { waiting.contains($0.key) && $0.value.until.map { $0 > now } ?? false }
        return (laneWaits.values.compactMap(\.until) + unblocked.values.compactMap(\.until)).min()
    }

    /// Plans the lanes in turn; true if one of them did something.
    private mutating func act() -> Bool {
        for lane in Set(entries.map(\.place.lane)).sorted() where laneWaits[lane] == nil {
            let window = window(of: lane)
            guard !window.isEmpty else { continue }
            if plan(lane, window) { return true }
        }
        return false
    }

    private func isOpen(_ entry: Entry) -> Bool {
        guard !entry.isImmediate, let block = blocks[QueueName(lane: entry.place.lane, queue: entry.place.queue)] else {
            return true
        }
        return block.until.map { $0 <= now } ?? block.isNow
    }

    /// Immediate reads, then what is not blocked, shared fairly between the queues, in order of capture.
    private func window(of lane: String) -> [Pending<Adapter>] {
        let open = entries.filter { $0.place.lane == lane && isOpen($0) }
        let queues = Set(open.map(\.place.queue)).count
        let share = max(1, descriptor.window / max(1, queues))
        var taken: [String: Int] = [:]
        let shown = open.filter { entry in
            taken[entry.place.queue, default: 0] += 1
            return entry.isImmediate || taken[entry.place.queue, default: 0] <= share
        }
        return (shown.filter(\.isImmediate) + shown.filter { !$0.isImmediate }).map(pending)
    }

    private func pending(_ entry: Entry) -> Pending<Adapter> {
        Pending(
            operation: entry.operation,
            sequence: entry.sequence,
            since: entry.since,
            queue: entry.place.queue,
            isImmediate: entry.isImmediate,
            step: entry.step,
            failures: entry.failures,
            refusals: entry.refusals,
            credential: credential
        )
    }

    private func memoryName(_ lane: String) -> String { descriptor.memory == .provider ? "" : lane }

    // MARK: Plan

    private mutating func plan(_ lane: String, _ window: [Pending<Adapter>]) -> Bool {
        let hasMore = entries.count { $0.place.lane == lane } > window.count
        let pending = PendingOperations(window, hasMore: hasMore)
        let memory = memories[memoryName(lane)] ?? Adapter.Memory()
        let plan = adapter.plan(pending, memory: memory, at: moment)
        if plan != adapter.plan(pending, memory: memory, at: moment) {
            breach("A1", "plan called twice with the same values answers differently.")
        }
        switch plan {
        case .wait(let until, let because):
            note(because)
            if let until { checkWait(until, "plan") }
            laneWaits[lane] = (until, because)
            return false
        case .settle(let verdicts, let remembering):
            let ids = Set(window.map(\.id))
            for stranger in verdicts.keys where !ids.contains(stranger) {
                breach("A2", "plan settles \(stranger.rawValue), which is not in its window.")
            }
            if verdicts.isEmpty, remembering == nil || remembering == memory {
                breach("A2", "plan settles nothing and learns nothing, so it would be asked for ever.")
                isFaulty = true
            }
            for verdict in verdicts.values {
                if case .rejected(let finding, _) = verdict, !descriptor.reasonsOfState.contains(finding.code) {
                    breach(
                        "A17",
                        "plan rejects with \(finding.code) what examine let pass; list the code in reasonsOfState or refuse it in examine."
                    )
                }
            }
            if let remembering { remember(remembering, lane) }
            checkBelief(memoryName(lane))
            apply(verdicts.filter { ids.contains($0.key) }, lane: lane, answered: false)
            return true
        case .send(let transmission):
            send(transmission, lane, window)
            return true
        }
    }

    private mutating func send(_ transmission: Transmission<Adapter>, _ lane: String, _ window: [Pending<Adapter>]) {
        let ids = transmission.operations
        if Set(ids).count != ids.count { breach("A2", "a request carries an operation twice.") }
        if !Set(ids).isSubset(of: Set(window.map(\.id))) {
            breach("A2", "a request carries an operation that is not in the window.")
        }
        if ids.isEmpty, descriptor.memory != .provider {
            breach("A2", "a chore needs memory of the provider, because one lane does it for all.")
        }
        checkOrder(ids, window)

        let carried = window.filter { ids.contains($0.id) }
        let startedAt = now
        let call = Call(
            endpoint: transmission.endpoint.rawValue,
            request: transmission.request,
            number: drive.sent.count,
            isChore: ids.isEmpty,
            now: now
        )
        let scripted = isPreparing ? nil : script.answer(call)
        let isLost = scripted != nil && script.isProcessed(call)
        if isLost { _ = vendor.respond(to: call.request, endpoint: call.endpoint, now: now) }
        let outcome = scripted ?? .replied(vendor.respond(to: call.request, endpoint: call.endpoint, now: now))
        now = now + .milliseconds(scripted?.reply == nil && scripted != nil ? 0 : 1)

        var isInterrupted = false
        if case .failed(let failure) = outcome { isInterrupted = failure.doubt == .interrupted }
        let isForgotten = isInterrupted && !transmission.endpoint.isJournaled
        drive.sent.append(
            Drive.Sent(
                endpoint: call.endpoint,
                request: call.request,
                operations: ids,
                at: startedAt,
                outcome: outcome,
                isInterpreted: !isForgotten
            )
        )
        drive.descriptions.append(call.request.description)
        if script.keepsDescriptions, let reply = outcome.reply { drive.replies.append(reply) }
        if script.keepsDescriptions, transmission.endpoint.isJournaled {
            let kept = call.request.redacted
            drive.stored.append(kept.searchText + kept.headers.map { "\n\($0.name): \($0.value)" }.joined())
        }
        if isInterrupted { wake() }
        guard !isForgotten else {
            // Whoever begins anew remembers what the outbox held while the request was under way.
            if let doubting = transmission.doubting, descriptor.memory == .lane { remember(doubting, lane) }
            return checkBelief(memoryName(lane))
        }
        interpret(
            Exchange(
                endpoint: transmission.endpoint,
                operations: carried,
                request: isInterrupted ? call.request.redacted : call.request,
                outcome: outcome,
                startedAt: startedAt,
                moment: moment
            ),
            lane
        )
    }

    /// Inside a queue nothing may be carried before an earlier operation of the same kind.
    private mutating func checkOrder(_ ids: [OperationID], _ window: [Pending<Adapter>]) {
        var open: [String: Set<Action.Kind>] = [:]
        for pending in window where !pending.isImmediate {
            let kind = pending.operation.action.kind
            if ids.contains(pending.id) {
                if open[pending.queue]?.contains(kind) == true {
                    breach(
                        "A11",
                        "a request carries an operation (\(kind.rawValue)) before an earlier one of its queue."
                    )
                }
            } else {
                open[pending.queue, default: []].insert(kind)
            }
        }
    }

    // MARK: Interpret

    private mutating func interpret(_ exchange: Exchange<Adapter>, _ lane: String) {
        let before = memories[memoryName(lane)] ?? Adapter.Memory()
        var (memory, again) = (before, before)
        let said = adapter.interpret(exchange, memory: &memory)
        if adapter.interpret(exchange, memory: &again) != said || again != memory {
            breach("A1", "interpret called twice with the same values answers differently.")
        }
        let meaning = said.naming(exchange.outcome, to: exchange.request, by: descriptor.replies)
        if !isPreparing { exchanges.append((exchange, before)) }
        let carried = Set(exchange.operations.map(\.id))
        for missing in carried.subtracting(meaning.verdicts.keys) {
            breach("A3", "interpret gives no verdict to \(missing.rawValue) after \(exchange.outcome.name).")
        }
        for stranger in meaning.verdicts.keys where !carried.contains(stranger) {
            breach("A3", "interpret gives a verdict to \(stranger.rawValue), which was not carried.")
        }
        var verdicts = meaning.verdicts.filter { carried.contains($0.key) }
        for missing in carried.subtracting(verdicts.keys) { verdicts[missing] = .retry(.at(now + .seconds(60))) }
        if let park = meaning.park {
            note(park)
            parked = park
        }
        drive.sent[drive.sent.count - 1].meaning = Meaning(
            verdicts: exchange.operations.compactMap { meaning.verdicts[$0.id]?.text(from: now) },
            park: meaning.park?.code,
            followUps: meaning.followUps.count,
            incoming: meaning.incoming.count,
            remembered: before == memory ? [] : changedMembers(before, memory)
        )
        remember(memory, lane)
        checkBelief(memoryName(lane))
        apply(verdicts, lane: lane, answered: exchange.outcome.reply != nil)
        for (position, followUp) in meaning.followUps.enumerated() {
            guard let cause = exchange.operations.first(where: { $0.id == followUp.cause })?.operation else {
                breach("A3", "a follow-up names \(followUp.cause.rawValue), which was not carried.")
                continue
            }
            var operation = cause
            operation.id = OperationID(rawValue: "\(cause.id.rawValue)+\(nextSequence).\(position)")
            operation.action = followUp.action
            operation.capturedAt = now
            (operation.options, operation.group) = ([:], nil)
            drive.operations.append(operation.id)
            enter(operation)
        }
    }

    private mutating func apply(_ verdicts: [OperationID: Verdict<Adapter>], lane: String, answered: Bool) {
        for place in entries.indices.reversed() {
            guard let verdict = verdicts[entries[place].operation.id] else { continue }
            let entry = entries[place]
            switch verdict {
            case .accepted(let finding, _): end(place, .accepted(finding))
            case .unchanged(let finding): end(place, .unchanged(finding))
            case .rejected(let finding, _): end(place, .rejected(finding))
            case .dropped(let finding): end(place, .dropped(finding))
            case .superseded(let id):
                let later = entries.first { $0.operation.id == id }?.sequence
                if let later, later <= entry.sequence { breach("A3", "an operation is superseded by an earlier one.") }
                end(place, .superseded)
            case .underway(let step, let when):
                checkStep(step)
                (entries[place].step, entries[place].failures, entries[place].refusals) = (step, 0, 0)
                block(entry, when)
            case .retry(let when):
                entries[place].failures += 1
                if answered { entries[place].refusals += 1 }
                // Whoever asked has gone by then.
                if entry.isImmediate { entries.remove(at: place) } else { block(entry, when) }
            }
        }
        laneWaits[lane] = nil
        if descriptor.memory == .provider { laneWaits = [:] }
    }

    private mutating func end(_ place: Int, _ ending: Ending) {
        if let finding = ending.finding { note(finding) }
        drive.endings[entries[place].operation.id] = ending
        entries.remove(at: place)
    }

    private mutating func block(_ entry: Entry, _ when: When) {
        if let until = when.until { checkWait(until, "a verdict") }
        blocks[QueueName(lane: entry.place.lane, queue: entry.place.queue)] = when.isNow ? nil : when
    }

    // MARK: Watching

    private mutating func breach(_ requirement: String, _ text: String) {
        drive.breaches.insert(Drive.Breach(requirement: requirement, text: text))
    }

    private mutating func note(_ finding: Finding) {
        drive.findings.append(finding)
        guard let row = descriptor.findings.first(where: { $0.code == finding.code }) else {
            return breach("A20", "the finding \(finding.code) has no row in descriptor.findings.")
        }
        if finding.remedy.trimmed.isEmpty { breach("A20", "the finding \(row.code) has no remedy.") }
    }

    private mutating func checkWait(_ until: Instant, _ who: String) {
        if until <= now { breach("A6", "\(who) waits for an instant that is not in the future.") }
        if until - now > .seconds(86_400) {
            breach("A6", "\(who) waits \((until - now).components.seconds) s; the longest wait is 86400 s.")
        }
    }

    /// What a memory claims must be held by the vendor.
    private mutating func checkBelief(_ name: String) {
        guard let belief, belief.isBelieving, let stored = stored[name], let state = vendor.memory else {
            return
        }
        drive.hasClaimed = drive.hasClaimed || belief.claims(of: stored).contains { $0.value.object?.isEmpty != true }
        for place in belief.excess(of: stored, over: state) {
            breach("A9", "memory claims \(place) otherwise than the vendor holds it.")
        }
    }

    private mutating func checkStep(_ step: Adapter.Step?) {
        guard let step else { return }
        if script.keepsDescriptions { drive.descriptions.append(String(reflecting: step)) }
        guard let size = roundTrip(step, "A13", "Step")?.count else { return }
        if size >= 256 { breach("A13", "a Step takes \(size) bytes of JSON; it has to stay under 256.") }
    }

    private mutating func remember(_ memory: Adapter.Memory, _ lane: String) {
        guard memories[memoryName(lane)] != memory else { return }
        memories[memoryName(lane)] = memory
        if script.keepsDescriptions { drive.descriptions.append(String(reflecting: memory)) }
        guard let data = roundTrip(memory, "A14", "Memory") else { return }
        drive.memorySizes.append(data.count)
        if let belief, belief.isBelieving { stored[memoryName(lane)] = try? JSONValue(parsing: Array(data)) }
    }

    /// A value's JSON, after checking that it gives the same value back.
    private mutating func roundTrip<Value: Codable & Equatable>(_ value: Value, _ requirement: String, _ name: String)
        -> Data?
    {
        do {
            let data = try JSONEncoder.canonical.encode(value)
            if script.keepsDescriptions { drive.stored.append(String(decoding: data, as: UTF8.self)) }
            if try JSONDecoder().decode(Value.self, from: data) != value {
                breach(requirement, "\(name) does not come back from its JSON as it was.")
            }
            return data
        } catch {
            breach(requirement, "\(name) can't be stored: \(type(of: error)).")
            return nil
        }
    }
}

extension JSONEncoder {
    static var canonical: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}

extension Outcome {
    /// The outcome in a word or two.
    var name: String {
        switch self {
        case .replied(let response): "HTTP \(response.status)"
        case .failed(let failure): "\(failure.doubt.rawValue) (\(failure.code))"
        }
    }
}
