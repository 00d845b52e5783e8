import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import Synchronization

/// Records the actions of an adapter while the engine drives it, and its violations of the adapter contract.
final class AdapterObserver<Adapter: VendorAdapter>: Sendable {
    /// The state of the observer. It is a value, so that many runs can continue from one preparation.
    struct Record: Sendable {
        fileprivate let expected: ExpectedState?
        fileprivate let descriptor = Adapter.descriptor
        var script: Script
        var vendor: any PlayedVendor
        var isPreparing = false
        /// The maximum number of requests; afterwards no plan is made.
        var limit = Int.max
        /// Whether the adapter violated the contract in a way that it would repeat forever.
        fileprivate(set) var isFaulty = false
        /// Plans since the last request or outcome.
        fileprivate var idlePlans = 0
        fileprivate var memories: [String: Adapter.Memory] = [:]
        /// The memories in stored form, if the harness has an expected vendor state.
        fileprivate var stored: [String: JSONValue] = [:]
        /// The lanes whose memories were compared with the vendor's state as it is now.
        fileprivate var comparedLanes: Set<String> = []
        fileprivate var sequences: [OperationID: Int64] = [:]
        /// Every exchange after the preparation, with the memory before it.
        fileprivate(set) var exchanges: [(exchange: Exchange<Adapter>, memory: Adapter.Memory)] = []
        /// The operation that superseded each superseded one.
        fileprivate(set) var successors: [OperationID: OperationID] = [:]
        /// The drive so far.
        var drive = Drive()
        /// The amount of progress: requests that left, verdicts that complete an operation, and other progress.
        fileprivate(set) var progress = 0
    }

    private let record: Mutex<Record>

    init(vendor: any PlayedVendor, expected: ExpectedState?, script: Script) {
        record = Mutex(Record(expected: expected, script: script, vendor: vendor))
    }

    init(continuing record: Record) { self.record = Mutex(record) }

    /// The current record.
    var current: Record { record.withLock { $0 } }

    /// Notes progress outside the engine: earlier plans do not count as idle.
    func noteProgress() { change { $0.idlePlans = 0 } }

    func change<Result: Sendable>(_ body: (inout Record) -> Result) -> Result { record.withLock { body(&$0) } }

    // MARK: Calls of the adapter

    func noteExamination(of operation: EngagementOperation, _ findings: [Finding], again: [Finding]) {
        change { record in
            if findings != again { record.breach("A1", "examine returns different findings for the same operation.") }
            findings.forEach { record.note($0) }
            // The engine may also examine parts of an operation, and operations that it creates.
            guard record.drive.operations.contains(operation.id), record.drive.examined[operation.id] == nil else {
                return
            }
            record.drive.examined[operation.id] = findings
        }
    }

    func notePlace(_ place: Place, again: Place) {
        guard place != again else { return }
        change { $0.breach("A12", "place returns different places for the same operation.") }
    }

    /// Prepares for a plan. Returns the reason that no plan may be made if the run has ended.
    func beginPlan(_ moment: inout Moment) -> Finding? {
        let (flush, stop) = change { record -> (Bool, Finding?) in
            record.idlePlans += 1
            if record.idlePlans > 100, !record.isFaulty {
                record.breach("A5", "plan repeats itself without a request or an outcome.")
                record.isFaulty = true
                record.limit = record.drive.sent.count
            }
            let isOver = record.isFaulty || record.drive.sent.count >= record.limit
            return (record.script.flush && !record.isPreparing, isOver ? Record.stopped.at() : nil)
        }
        moment.flush = moment.flush || flush
        return stop
    }

    func note(
        _ plan: Plan<Adapter>,
        again: Plan<Adapter>,
        of window: PendingOperations<Adapter>,
        _ memory: Adapter.Memory,
        _ lane: String,
        at now: Instant
    ) {
        change { record in
            record.enter(window)
            record.remember(memory, lane)
            if plan != again { record.breach("A1", "plan returns different results for equal arguments.") }
            switch plan {
            case .wait(let until, let because):
                record.note(because)
                if let until { record.checkWait(until, now, "plan") }
            case .settle(let verdicts, let remembering):
                record.checkSettled(verdicts, remembering, memory, window, now)
                record.remember(remembering ?? memory, lane)
            case .send(let transmission): record.checkSent(transmission, window)
            }
        }
    }

    /// Records a request that leaves, and returns its fate.
    func answer(_ sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        let outcome = change { $0.answer(sent) }
        switch outcome {
        case .failed where outcome.isInterrupted: return .death
        case .failed: return .outcome(outcome, after: .zero)
        case .replied: return .outcome(outcome, after: .milliseconds(1))
        }
    }

    func note(
        _ meaning: Interpretation<Adapter>,
        isSame: Bool,
        of exchange: Exchange<Adapter>,
        _ before: Adapter.Memory,
        _ after: Adapter.Memory,
        _ lane: String?
    ) {
        change { record in
            if !isSame { record.breach("A1", "interpret returns different results for equal arguments.") }
            record.interpret(meaning, exchange, before, after)
            record.remember(after, lane ?? "")
        }
    }
}

extension AdapterObserver.Record {
    fileprivate static var stopped: FindingRow {
        FindingRow(.note("conformance.stopped"), reason: "The check has ended", remedy: "No action is needed.")
    }

    // MARK: Requests

    fileprivate mutating func answer(_ sent: VirtualWorld.Sent) -> Outcome {
        let call = Call(
            endpoint: sent.endpoint,
            request: sent.request,
            number: drive.sent.count,
            isMaintenanceRequest: sent.operations.isEmpty,
            now: sent.now
        )
        let scripted = isPreparing ? nil : script.answer(call)
        if scripted != nil, script.isProcessed(call) { _ = respond(call) }
        let outcome = scripted ?? .replied(respond(call))
        let isJournaled = Adapter.Endpoint(rawValue: sent.endpoint)?.isJournaled ?? false
        let isForgotten = outcome.isInterrupted && !isJournaled
        drive.sent.append(
            Drive.Sent(
                endpoint: call.endpoint,
                request: call.request,
                operations: sent.operations,
                at: sent.now,
                outcome: outcome,
                isInterpreted: !isForgotten
            )
        )
        (progress, idlePlans) = (progress + 1, 0)
        drive.descriptions.append(call.request.description)
        if script.keepsDescriptions {
            if let reply = outcome.reply { drive.replies.append(reply) }
            if isJournaled {
                let kept = call.request.redacted
                drive.stored.append(kept.searchText + kept.headers.map { "\n\($0.name): \($0.value)" }.joined())
            }
        }
        return outcome
    }

    private mutating func respond(_ call: Call) -> WireResponse {
        comparedLanes = []
        return vendor.respond(to: call.request, endpoint: call.endpoint, now: call.now)
    }

    fileprivate mutating func checkSent(_ transmission: Transmission<Adapter>, _ window: PendingOperations<Adapter>) {
        let ids = transmission.operations
        if Set(ids).count != ids.count { breach("A2", "a request carries an operation twice.") }
        if !Set(ids).isSubset(of: Set(window.map(\.id))) {
            breach("A2", "a request carries an operation that is not in the window.")
        }
        if ids.isEmpty, descriptor.memory != .provider {
            breach(
                "A2",
                "a maintenance request needs a memory that all lanes share, because one lane sends it for all."
            )
        }
        // Inside a queue nothing may be carried before an earlier operation of the same kind.
        var open: [String: Set<Action.Kind>] = [:]
        for pending in window where !pending.isImmediate {
            let kind = pending.operation.action.kind
            if !ids.contains(pending.id) {
                open[pending.queue, default: []].insert(kind)
            } else if open[pending.queue]?.contains(kind) == true {
                breach("A11", "a request carries an operation (\(kind.rawValue)) before an earlier one of its queue.")
            }
        }
    }

    // MARK: Verdicts

    fileprivate mutating func checkSettled(
        _ verdicts: [OperationID: Verdict<Adapter>],
        _ remembering: Adapter.Memory?,
        _ memory: Adapter.Memory,
        _ window: PendingOperations<Adapter>,
        _ now: Instant
    ) {
        let ids = Set(window.map(\.id))
        for id in verdicts.keys where !ids.contains(id) {
            breach("A2", "plan settles \(id.rawValue), which is not in its window.")
        }
        if verdicts.isEmpty, remembering == nil || remembering == memory {
            breach(
                "A2",
                "plan completes no operation and does not change the memory, so the engine would repeat it endlessly."
            )
            isFaulty = true
        }
        for verdict in verdicts.values {
            if case .rejected(let finding, _) = verdict, !descriptor.tables.reasonsOfState.contains(finding.code) {
                breach(
                    "A17",
                    "plan rejects an operation that examine accepts with \(finding.code). "
                        + "List the code in reasonsOfState, or reject the operation in examine."
                )
            }
        }
        check(verdicts, now)
    }

    fileprivate mutating func interpret(
        _ said: Interpretation<Adapter>,
        _ exchange: Exchange<Adapter>,
        _ before: Adapter.Memory,
        _ after: Adapter.Memory
    ) {
        let meaning = said.naming(exchange.outcome, to: exchange.request, by: descriptor.tables.replies)
        if !isPreparing { exchanges.append((exchange, before)) }
        let carried = Set(exchange.operations.map(\.id))
        for missing in carried.subtracting(meaning.verdicts.keys) {
            breach("A3", "interpret returns no verdict for \(missing.rawValue) after \(exchange.outcome.name).")
        }
        for id in meaning.verdicts.keys where !carried.contains(id) {
            breach("A3", "interpret returns a verdict for \(id.rawValue), which is not in the request.")
        }
        for followUp in meaning.followUps where !carried.contains(followUp.cause) {
            breach("A3", "a follow-up names \(followUp.cause.rawValue), which is not in the request.")
        }
        if let suspension = meaning.suspension { note(suspension) }
        let now = exchange.moment.now
        let number = drive.sent.lastIndex { sent in
            sent.meaning == nil && sent.endpoint == exchange.endpoint.rawValue && sent.at == exchange.startedAt
                && (carried.isEmpty ? sent.operations.isEmpty : !carried.isDisjoint(with: sent.operations))
        }
        if let number {
            drive.sent[number].meaning = Meaning(
                verdicts: exchange.operations.compactMap { meaning.verdicts[$0.id]?.text(from: now) },
                suspension: meaning.suspension?.code,
                followUps: meaning.followUps.count,
                incoming: meaning.incoming.count,
                remembered: { before == after ? [] : changedMembers(before, after) }
            )
        }
        check(meaning.verdicts.filter { carried.contains($0.key) }, now)
    }

    private mutating func check(_ verdicts: [OperationID: Verdict<Adapter>], _ now: Instant) {
        for (id, verdict) in verdicts {
            if verdict.isFinal { (progress, idlePlans) = (progress + 1, 0) }
            switch verdict {
            case .accepted(let finding, _), .unchanged(let finding): if let finding { note(finding) }
            case .rejected(let finding, _), .dropped(let finding): note(finding)
            case .superseded(let other):
                successors[id] = other
                if let earlier = sequences[other], let own = sequences[id], earlier <= own {
                    breach("A3", "an operation is superseded by an earlier one.")
                }
            case .inProgress(let step, let when):
                checkStep(step)
                if let until = when.until { checkWait(until, now, "a verdict") }
            case .retry(let when): if let until = when.until { checkWait(until, now, "a verdict") }
            }
        }
    }

    /// Adds the operations of a window to the drive. Operations that a reply or the engine created belong to it, too.
    fileprivate mutating func enter(_ window: PendingOperations<Adapter>) {
        for pending in window where sequences.updateValue(pending.sequence, forKey: pending.id) == nil {
            enter(pending.id)
        }
    }

    /// Adds an operation to the drive.
    mutating func enter(_ id: OperationID) {
        guard !drive.operations.contains(id) else { return }
        drive.operations.append(id)
    }

    // MARK: Checks

    mutating func breach(_ requirement: String, _ text: String) {
        drive.breaches.insert(Drive.Breach(requirement: requirement, text: text))
    }

    fileprivate mutating func note(_ finding: Finding) {
        drive.findings.append(finding)
        guard let row = descriptor.tables.findings.first(where: { $0.code == finding.code }) else {
            return breach("A20", "the finding \(finding.code) has no row in descriptor.tables.findings.")
        }
        if finding.remedy.trimmed.isEmpty { breach("A20", "the finding \(row.code) has no remedy.") }
    }

    fileprivate mutating func checkWait(_ until: Instant, _ now: Instant, _ name: String) {
        if until <= now { breach("A6", "\(name) waits for an instant that is not in the future.") }
        if until - now > .seconds(86_400) {
            breach("A6", "\(name) waits \((until - now).components.seconds) s; the maximum is 86400 s.")
        }
    }

    private mutating func checkStep(_ step: Adapter.Step?) {
        guard let step else { return }
        if script.keepsDescriptions { drive.descriptions.append(String(reflecting: step)) }
        guard let size = roundTrip(step, "A13", "Step")?.count else { return }
        if size >= 256 { breach("A13", "a Step has \(size) bytes of JSON; the maximum is 255.") }
    }

    fileprivate mutating func remember(_ memory: Adapter.Memory, _ lane: String) {
        if memories[lane] ?? Adapter.Memory() != memory {
            memories[lane] = memory
            if script.keepsDescriptions { drive.descriptions.append(String(reflecting: memory)) }
            guard let data = roundTrip(memory, "A14", "Memory") else { return }
            drive.memorySizes.append(data.count)
            if let expected, expected.isBelieving { stored[lane] = try? JSONValue(parsing: Array(data)) }
            comparedLanes.remove(lane)
        }
        checkClaims(lane)
    }

    /// Checks that the vendor holds the state that a memory expects.
    private mutating func checkClaims(_ lane: String) {
        guard let expected, expected.isBelieving, let stored = stored[lane], let state = vendor.memory,
            comparedLanes.insert(lane).inserted
        else { return }
        drive.hasClaimed = drive.hasClaimed || expected.claims(of: stored).contains { $0.value.object?.isEmpty != true }
        for place in expected.excess(of: stored, over: state) {
            breach("A9", "memory claims \(place), but the vendor's state differs.")
        }
    }

    /// Checks every memory, and records the vendor's state.
    mutating func conclude() {
        for lane in memories.keys.sorted() { checkClaims(lane) }
        drive.vendorState = expected.flatMap { expected in vendor.memory.flatMap { expected.held(in: $0) } }
    }

    /// Returns a value's JSON, after checking that the JSON decodes to the same value.
    private mutating func roundTrip<Value: Codable & Equatable>(_ value: Value, _ requirement: String, _ name: String)
        -> Data?
    {
        do {
            let data = try JSONEncoder.canonical.encode(value)
            if script.keepsDescriptions { drive.stored.append(String(decoding: data, as: UTF8.self)) }
            if try JSONDecoder().decode(Value.self, from: data) != value {
                breach(requirement, "\(name) changes when it is encoded as JSON and decoded.")
            }
            return data
        } catch {
            breach(requirement, "\(name) cannot be encoded as JSON: \(type(of: error)).")
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
    /// A short name of the outcome.
    var name: String {
        switch self {
        case .replied(let response): "HTTP \(response.status)"
        case .failed(let failure): "\(failure.delivery.rawValue) (\(failure.code))"
        }
    }
}
