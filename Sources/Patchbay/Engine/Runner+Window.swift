import Foundation
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What a plan is shown. It is kept and extended between plans: a row is read and decoded once.
extension Runner {
    /// What is kept of one lane's window between plans.
    struct KeptWindow {
        var index = LaneIndex()
        /// The rows that were shown, decoded, by sequence.
        var rows = Shelf()

        /// An operation ended.
        mutating func leave(_ pending: Pending<Adapter>) {
            index.leave(pending.sequence, queue: pending.queue)
            rows[pending.sequence] = nil
        }
    }

    /// Decoded rows by sequence. Inside they are plain objects: generic code searches such a table much faster.
    struct Shelf {
        private var objects: [Int64: AnyObject] = [:]

        var count: Int { objects.count }

        subscript(sequence: Int64) -> Pending<Adapter>? {
            get { objects[sequence].map { unsafeDowncast($0, to: Pending<Adapter>.self) } }
            set { objects[sequence] = newValue }
        }

        /// Forgets all but these.
        mutating func keep(_ sequences: [Int64]) {
            let kept = Set(sequences)
            objects = objects.filter { kept.contains($0.key) }
        }
    }

    /// So many decoded operations are kept, over all lanes.
    private static var capacity: Int { 10_000 }

    /// The operations that may be planned in a lane, and when the next closed queue opens; nil if there is nothing to plan.
    func window(lane key: String, now: Instant) throws -> (PendingOperations<Adapter>, Instant?)? {
        let lane = try lane(key)
        var closed: Set<String> = []
        var nextUnblock = lane.wakeAt
        for (queue, when) in lane.blocks {
            if let until = when.until {
                guard until > now, !DeliberateFault.waitIgnored.isPresent else { continue }
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
        guard let hasMore = try appendStored(to: &operations, lane: key, closed: closed) else {
            return parked == nil ? try window(lane: key, now: now) : nil
        }
        update(key) { lane in
            lane.due = nextUnblock
            if operations.isEmpty {
                lane.because = nil
                if closed.isEmpty { lane.flush = false }
            }
        }
        guard !operations.isEmpty else { return nil }
        return (PendingOperations(operations, hasMore: hasMore), nextUnblock)
    }

    /// Adds what the outbox holds; returns whether more waits behind it.
    ///
    /// Nil if something could not be read: then it was rejected, or the provider is parked.
    private func appendStored(
        to operations: inout [Pending<Adapter>],
        lane key: String,
        closed: Set<String>
    ) throws -> Bool? {
        // Taken out while it changes: if reading fails, nothing half known is kept.
        var window = windows.removeValue(forKey: key) ?? KeptWindow()
        var unreadable: [OutboxRow] = []
        var hasUnreadableStep = false
        let (sequences, hasMore) = try context.store.window(
            provider: name,
            lane: key,
            limit: descriptor.window,
            closedQueues: closed,
            index: &window.index
        ) { sequence in
            if let known = window.rows[sequence] { return .row(group: known.operation.group) }
            guard let row = try context.store.row(sequence, provider: name) else { return .nothing }
            if let operation = try? EngagementOperation(jsonBytes: row.operation.body) {
                guard let step = step(of: row) else {
                    hasUnreadableStep = true
                    return .row(group: row.operation.group)
                }
                window.rows[sequence] = pending(row, operation, step)
            } else {
                unreadable.append(row)
            }
            return .row(group: row.operation.group)
        }
        guard !hasUnreadableStep else {
            try park(FindingRow.Engine.stateUnreadable.at())
            return nil
        }
        guard unreadable.isEmpty else {
            try reject(unreadable)
            return nil
        }
        let credentials = CredentialDesk(context: context, provider: name)
        operations.reserveCapacity(operations.count + sequences.count)
        for sequence in sequences {
            guard var pending = window.rows[sequence] else { continue }
            if descriptor.usesCredentials {
                let credential = credentials.credential(of: pending.operation.contact)
                if pending.credential != credential {
                    pending = pending.with(credential)
                    window.rows[sequence] = pending
                }
            }
            operations.append(pending)
        }
        if window.rows.count > 2 * descriptor.window { window.rows.keep(sequences) }
        keep(window, lane: key)
        return hasMore
    }

    /// Keeps a lane's window; when all lanes together hold too much, others are forgotten.
    private func keep(_ window: KeptWindow, lane key: String) {
        windows[key] = window
        guard windows.count > 1 else { return }
        var count = windows.values.reduce(0) { $0 + $1.rows.count }
        guard count > Self.capacity else { return }
        let byAge = windows.keys.filter { $0 != key }
            .sorted { (lanes[$0]?.lastPlan ?? context.now, $0) < (lanes[$1]?.lastPlan ?? context.now, $1) }
        for other in byAge where count > Self.capacity {
            count -= windows.removeValue(forKey: other)?.rows.count ?? 0
        }
    }

    func reject(_ unreadable: [OutboxRow]) throws {
        let outcome = OperationOutcome(.rejected, finding: FindingRow.Engine.bodyUnreadable.at())
        try store {
            try context.requireLease()
            for row in unreadable { try end(row.operation.sequence, outcome) }
        }
        context.emit(
            unreadable.map { .ended(OperationID(rawValue: $0.operation.id), provider: name, outcome) }
        )
    }

    /// How far a row's operation has got (nil inside: not begun); nil if the stored step can't be read.
    func step(of row: OutboxRow) -> Adapter.Step?? {
        guard let bytes = row.step else { return .some(nil) }
        guard let step = try? JSONDecoder().decode(Adapter.Step.self, from: Data(bytes)) else { return nil }
        return .some(step)
    }

    func pending(_ row: OutboxRow, _ operation: EngagementOperation, _ step: Adapter.Step?) -> Pending<Adapter> {
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

    func pending(_ read: Read) -> Pending<Adapter> {
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
}

/// Asks the app for each contact's credential once a plan.
private final class CredentialDesk {
    private let context: EngineContext
    private let provider: String
    private var known: [String?: Secret?] = [:]

    init(context: EngineContext, provider: String) { (self.context, self.provider) = (context, provider) }

    func credential(of contact: String?) -> Secret? {
        if let credential = known[contact] { return credential }
        let credential = context.credential(provider, contact)
        known[contact] = credential
        return credential
    }
}

extension Pending {
    /// The same operation with the credential that the app gives now.
    func with(_ credential: Secret?) -> Pending {
        changed(step, failures: failures, refusals: refusals, credential)
    }

    /// The same operation after a verdict that did not end it.
    func advanced(to step: Adapter.Step?, failures: Int, refusals: Int) -> Pending {
        changed(step, failures: failures, refusals: refusals, credential)
    }

    private func changed(_ step: Adapter.Step?, failures: Int, refusals: Int, _ credential: Secret?) -> Pending {
        Pending(
            operation: operation,
            sequence: sequence,
            since: since,
            queue: queue,
            isImmediate: isImmediate,
            step: step,
            failures: failures,
            refusals: refusals,
            credential: credential
        )
    }
}
