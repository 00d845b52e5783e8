import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// What a plan is shown. It is kept and extended between plans: a row is read and decoded once.
extension Runner {
    /// What is kept of one lane's window between plans.
    struct KeptWindow {
        var index = LaneIndex()
        /// What was shown last and has not ended, by sequence; beside it the contacts and the operations, decoded.
        private(set) var sequences: ArraySlice<Int64> = []
        private var contacts: ArraySlice<String?> = []
        private(set) var operations: ArraySlice<Pending<Adapter>> = []
        /// What was shown earlier, and waits: its queue is closed, or others went before it.
        private var aside: [Int64: Pending<Adapter>] = [:]
        /// What the app gave at the last plan.
        private var credentials: [String?: Secret?] = [:]

        var count: Int { sequences.count + aside.count }

        /// An operation that is kept.
        func operation(_ sequence: Int64) -> Pending<Adapter>? {
            guard let offset = sequences.offset(of: sequence) else { return aside[sequence] }
            return operations[operations.startIndex + offset]
        }

        /// An operation ended.
        mutating func leave(_ pending: Pending<Adapter>) {
            index.leave(pending.sequence, queue: pending.queue)
            guard let offset = sequences.offset(of: pending.sequence) else { return aside[pending.sequence] = nil }
            guard offset > 0 else {
                sequences.removeFirst()
                contacts.removeFirst()
                operations.removeFirst()
                return
            }
            sequences.remove(at: sequences.startIndex + offset)
            contacts.remove(at: contacts.startIndex + offset)
            operations.remove(at: operations.startIndex + offset)
        }

        /// The same operation, as it is now.
        mutating func replace(_ pending: Pending<Adapter>) {
            guard let offset = sequences.offset(of: pending.sequence) else {
                return aside[pending.sequence] = pending
            }
            operations[operations.startIndex + offset] = pending
        }

        /// Keeps these from now on, in this order: from what was kept before, and from what was read for it.
        mutating func show(_ shown: [Int64], reading news: [Int64: Pending<Adapter>], limit: Int) {
            let start = shown.first.flatMap(sequences.offset(of:)) ?? sequences.count
            let kept = sequences.count - start
            // Mostly some at the front are gone and some are new at the end.
            guard sequences.dropFirst(start).elementsEqual(shown.prefix(kept)) else {
                for pending in operations { aside[pending.sequence] = pending }
                (sequences, contacts, operations) = ([], [], [])
                return append(shown[...], reading: news, limit: limit)
            }
            for pending in operations.prefix(start) { aside[pending.sequence] = pending }
            sequences.removeFirst(start)
            contacts.removeFirst(start)
            operations.removeFirst(start)
            append(shown.dropFirst(kept), reading: news, limit: limit)
        }

        private mutating func append(
            _ shown: ArraySlice<Int64>,
            reading news: [Int64: Pending<Adapter>],
            limit: Int
        ) {
            for sequence in shown {
                guard let pending = news[sequence] ?? aside[sequence] else { continue }
                // What waited aside may bear an old credential.
                if news[sequence] == nil { credentials = [:] }
                aside[sequence] = nil
                sequences.append(sequence)
                contacts.append(pending.operation.contact)
                operations.append(pending)
            }
            if count > 2 * limit { aside = [:] }
        }

        /// Gives every operation the credential that the app gives now for its contact.
        mutating func sign(_ desk: CredentialDesk) {
            var last: String??
            var isNew = false
            for (offset, contact) in contacts.enumerated() {
                if last != .some(contact) {
                    last = .some(contact)
                    isNew = credentials[contact] != .some(desk.credential(of: contact))
                }
                guard isNew else { continue }
                let place = operations.startIndex + offset
                let credential = desk.credential(of: contact)
                if operations[place].credential != credential {
                    operations[place] = operations[place].with(credential)
                }
            }
            credentials = desk.known
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
                if closed.isEmpty { (lane.flush, lane.failure) = (false, nil) }
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
        var news: [Int64: Pending<Adapter>] = [:]
        var unreadable: [OutboxRow] = []
        var hasUnreadableStep = false
        var index = window.index
        window.index = LaneIndex()
        let desk = CredentialDesk(context: context, provider: name)
        let (sequences, hasMore) = try context.store.window(
            provider: name,
            lane: key,
            limit: descriptor.window,
            closedQueues: closed,
            index: &index,
            known: window.sequences
        ) { sequence in
            if let known = news[sequence] ?? window.operation(sequence) {
                return .row(group: known.operation.group)
            }
            guard let row = try context.store.row(sequence, provider: name) else { return .nothing }
            if let operation = try? EngagementOperation(jsonBytes: row.operation.body) {
                guard let step = step(of: row) else {
                    hasUnreadableStep = true
                    return .row(group: row.operation.group)
                }
                news[sequence] = pending(row, operation, step, desk)
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
        window.index = index
        window.show(sequences, reading: news, limit: descriptor.window)
        if descriptor.usesCredentials { window.sign(desk) }
        operations += window.operations
        keep(window, lane: key)
        return hasMore
    }

    /// Keeps a lane's window; when all lanes together hold too much, others are forgotten.
    private func keep(_ window: KeptWindow, lane key: String) {
        windows[key] = window
        guard windows.count > 1 else { return }
        var count = windows.values.reduce(0) { $0 + $1.count }
        guard count > Self.capacity else { return }
        let byAge = windows.keys.filter { $0 != key }
            .sorted { (lanes[$0]?.lastPlan ?? context.now, $0) < (lanes[$1]?.lastPlan ?? context.now, $1) }
        for other in byAge where count > Self.capacity {
            count -= windows.removeValue(forKey: other)?.count ?? 0
        }
    }

    func reject(_ unreadable: [OutboxRow]) throws {
        let outcome = booked(OperationOutcome(.rejected, finding: FindingRow.Engine.bodyUnreadable.at()))
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
        guard let step = try? StateDecoder.value(Adapter.Step.self, from: bytes) else { return nil }
        return .some(step)
    }

    func pending(
        _ row: OutboxRow,
        _ operation: EngagementOperation,
        _ step: Adapter.Step?,
        _ desk: CredentialDesk? = nil
    ) -> Pending<Adapter> {
        let desk = desk ?? CredentialDesk(context: context, provider: name)
        return Pending(
            operation: operation,
            sequence: row.operation.sequence,
            since: Instant(milliseconds: row.operation.since),
            queue: row.queue,
            step: step,
            failures: row.failures,
            refusals: row.refusals,
            credential: descriptor.usesCredentials ? desk.credential(of: operation.contact) : nil
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
final class CredentialDesk {
    private let context: EngineContext
    private let provider: String
    private(set) var known: [String?: Secret?] = [:]

    init(context: EngineContext, provider: String) { (self.context, self.provider) = (context, provider) }

    func credential(of contact: String?) -> Secret? {
        if let credential = known[contact] { return credential }
        let credential = context.credential(provider, contact)
        known[contact] = .some(credential)
        return credential
    }
}

extension ArraySlice<Int64> {
    /// How far behind the start a number stands; they rise.
    func offset(of number: Int64) -> Int? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] == number ? low - startIndex : nil
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
