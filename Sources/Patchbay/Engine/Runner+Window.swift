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
        private(set) var operations: ArraySlice<Waiting> = []
        private(set) var views: ArraySlice<AnyObject> = []
        /// What was shown earlier, and waits: its queue is closed, or others went before it.
        private var aside: [Int64: Waiting] = [:]
        /// What the app gave at the last plan.
        private var credentials: [String?: Secret?] = [:]
        /// Whether it was filled since.
        private var hasUnsigned = true
        /// The queues that were closed when it was filled, and whether more waits than is shown.
        private var closed: Set<String> = []
        private(set) var hasMore = true
        /// The sorts that were among its operations then.
        private(set) var kinds: ActionKinds = []
        /// Whether anything entered the lane since it was filled.
        private var hasNews = true

        /// Whether what is left of it will do: nothing else would be shown, or the last quarter of its places alone. Small
        /// windows are always filled.
        func isEnough(of limit: Int, closed now: Set<String>) -> Bool {
            guard !hasNews, closed == now else { return false }
            return !hasMore || (index.isEven && limit >= 64 && sequences.count >= limit - limit / 4)
        }

        /// Captures entered the lane.
        mutating func enter(_ entries: [LaneEntry]) {
            for entry in entries { index.enter(entry.sequence, queue: entry.queue) }
            hasNews = true
        }

        var count: Int { sequences.count + aside.count }
        /// Whether anything that is shown may belong to an explicit group.
        private(set) var hasGroups = false

        /// An operation that is kept.
        func operation(_ sequence: Int64) -> Waiting? {
            guard let offset = sequences.offset(of: sequence) else { return aside[sequence] }
            return operations[operations.startIndex + offset]
        }

        /// An operation ended.
        mutating func leave(_ pending: Waiting) {
            index.leave(pending.sequence, queue: pending.queue)
            guard let offset = sequences.offset(of: pending.sequence) else { return aside[pending.sequence] = nil }
            guard offset > 0 else {
                removeFirst(1)
                hasGroups = hasGroups && !sequences.isEmpty
                return
            }
            sequences.remove(at: sequences.startIndex + offset)
            contacts.remove(at: contacts.startIndex + offset)
            operations.remove(at: operations.startIndex + offset)
            views.remove(at: views.startIndex + offset)
        }

        /// The same operation, as it is now.
        mutating func replace(_ pending: Waiting) {
            guard let offset = sequences.offset(of: pending.sequence) else {
                return aside[pending.sequence] = pending
            }
            operations[operations.startIndex + offset] = pending
            views[views.startIndex + offset] = pending.view as AnyObject
        }

        /// Some go on and some ended.
        mutating func change(replacing advanced: [Waiting], leaving ended: some Sequence<Waiting>) {
            for pending in advanced { replace(pending) }
            for pending in ended { leave(pending) }
        }

        /// Is filled, with these in this order: from what was kept before, and from what was read for it.
        mutating func fill(
            _ shown: [Int64],
            reading news: [Int64: Waiting],
            limit: Int,
            closed: Set<String>,
            hasMore: Bool
        ) {
            (self.closed, self.hasMore, hasNews, hasUnsigned) = (closed, hasMore, false, true)
            show(shown, reading: news, limit: limit)
            kinds = ActionKinds(of: operations.lazy.map(\.operation.action))
        }

        private mutating func show(_ shown: [Int64], reading news: [Int64: Waiting], limit: Int) {
            let start = shown.first.flatMap(sequences.offset(of:)) ?? sequences.count
            let kept = sequences.count - start
            // Mostly some at the front are gone and some are new at the end.
            guard sequences.dropFirst(start).elementsEqual(shown.prefix(kept)) else {
                for pending in operations { aside[pending.sequence] = pending }
                (sequences, contacts, operations, views, hasGroups) = ([], [], [], [], false)
                return append(shown[...], reading: news, limit: limit)
            }
            for pending in operations.prefix(start) { aside[pending.sequence] = pending }
            removeFirst(start)
            append(shown.dropFirst(kept), reading: news, limit: limit)
        }

        private mutating func removeFirst(_ count: Int) {
            sequences.removeFirst(count)
            contacts.removeFirst(count)
            operations.removeFirst(count)
            views.removeFirst(count)
        }

        /// Makes room behind what is kept; a slice does so at every single one otherwise.
        private mutating func reserve(_ count: Int) {
            sequences.reserveCapacity(sequences.count + count)
            contacts.reserveCapacity(contacts.count + count)
            operations.reserveCapacity(operations.count + count)
            views.reserveCapacity(views.count + count)
        }

        private mutating func append(
            _ shown: ArraySlice<Int64>,
            reading news: [Int64: Waiting],
            limit: Int
        ) {
            reserve(shown.count)
            for sequence in shown {
                let new = news[sequence]
                guard let pending = new ?? aside[sequence] else { continue }
                // What waited aside may bear an old credential.
                if new == nil { credentials = [:] }
                if !aside.isEmpty { aside[sequence] = nil }
                sequences.append(sequence)
                contacts.append(pending.operation.contact)
                hasGroups = hasGroups || pending.operation.group != nil
                operations.append(pending)
                views.append(pending.view as AnyObject)
            }
            if count > 2 * limit { aside = [:] }
        }

        /// Gives every operation the credential that the app gives now for its contact.
        mutating func sign(_ app: CredentialDesk, _ desk: any AdapterDesk) {
            guard hasUnsigned || !credentials.allSatisfy({ app.credential(of: $0.key) == $0.value }) else { return }
            hasUnsigned = false
            var last: String??
            var isNew = false
            for (offset, contact) in contacts.enumerated() {
                if last != .some(contact) {
                    last = .some(contact)
                    isNew = credentials[contact] != .some(app.credential(of: contact))
                }
                guard isNew else { continue }
                let place = operations.startIndex + offset
                let credential = app.credential(of: contact)
                if operations[place].credential != credential {
                    operations[place] = operations[place].changed(by: desk) { $0.credential = credential }
                    views[views.startIndex + offset] = operations[place].view as AnyObject
                }
            }
            credentials = app.known
        }
    }

    /// So many decoded operations are kept, over all lanes.
    private static var capacity: Int { 10_000 }

    /// The operations that may be planned in a lane, and when the next closed queue opens; nil if there is nothing to plan.
    func window(lane key: String, now: Instant) throws -> (Window, nextUnblock: Instant?)? {
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
        var questions: [Waiting] = []
        for read in lane.reads {
            if let until = read.block.until, until > now {
                nextUnblock = min(nextUnblock ?? until, until)
            } else if read.block.isNow || read.block.until != nil {
                questions.append(pending(read))
            }
        }
        guard let window = try stored(behind: questions, lane: key, closed: closed) else {
            return parked == nil ? try self.window(lane: key, now: now) : nil
        }
        update(key) { lane in
            lane.due = nextUnblock
            if window.operations.isEmpty {
                lane.because = nil
                if closed.isEmpty { (lane.flush, lane.failure) = (false, nil) }
            }
        }
        return window.operations.isEmpty ? nil : (window, nextUnblock)
    }

    /// Questions, and behind them what the outbox holds.
    ///
    /// Nil if something could not be read: then it was rejected, or the provider is parked.
    private func stored(behind questions: [Waiting], lane key: String, closed: Set<String>) throws -> Window? {
        let credentials = CredentialDesk(context: context, provider: name)
        if let kept = windows[key], kept.isEnough(of: descriptor.window, closed: closed),
            try context.store.isCurrent(kept.index.version)
        {
            // What was shown last is shown on.
        } else {
            guard try fill(lane: key, closed: closed, credentials) else { return nil }
        }
        if descriptor.usesCredentials { windows[key]?.sign(credentials, desk) }
        guard let window = windows[key] else { return nil }
        guard !questions.isEmpty else {
            return Window(
                operations: window.operations,
                views: window.views,
                kinds: window.kinds,
                hasMore: window.hasMore
            )
        }
        let all = questions + window.operations
        return Window(
            operations: all[...],
            views: all.map { $0.view as AnyObject }[...],
            kinds: ActionKinds(of: all.lazy.map(\.operation.action)),
            hasMore: window.hasMore
        )
    }

    /// Fills a lane's window; false if something could not be read: then it was rejected, or the provider is parked.
    private func fill(lane key: String, closed: Set<String>, _ credentials: CredentialDesk) throws -> Bool {
        // Taken out while it changes: if reading fails, nothing half known is kept.
        var window = windows.removeValue(forKey: key) ?? KeptWindow()
        var news: [Int64: Waiting] = [:]
        var unreadable: [Int64: OutboxRow] = [:]
        var hasUnreadableStep = false
        func take(_ row: OutboxRow) {
            guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else {
                return unreadable[row.operation.sequence] = row
            }
            guard let step = step(of: row) else { return hasUnreadableStep = true }
            news[row.operation.sequence] = pending(row, operation, step, credentials)
        }
        var index = window.index
        window.index = LaneIndex()
        let (sequences, hasMore) = try context.store.window(
            provider: name,
            lane: key,
            limit: descriptor.window,
            closedQueues: closed,
            index: &index,
            known: window.hasGroups ? [] : window.sequences,
            prepare: { wanted in
                let unknown = wanted.filter { news[$0] == nil && window.operation($0) == nil }
                try context.store.forEachRow(unknown, provider: name, take)
            },
            load: { sequence in
                if let known = news[sequence] ?? window.operation(sequence) {
                    return .row(group: known.operation.group)
                }
                guard let row = try context.store.row(sequence, provider: name) else { return .nothing }
                take(row)
                return .row(group: row.operation.group)
            }
        )
        guard !hasUnreadableStep else {
            try park(FindingRow.Engine.stateUnreadable.at())
            return false
        }
        guard unreadable.isEmpty else {
            try reject(unreadable.sorted { $0.key < $1.key }.map(\.value))
            return false
        }
        window.index = index
        window.fill(sequences, reading: news, limit: descriptor.window, closed: closed, hasMore: hasMore)
        keep(window, lane: key)
        return true
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
    func step(of row: OutboxRow) -> Step?? {
        guard let bytes = row.step else { return .some(nil) }
        guard let step = try? desk.step(bytes) else { return nil }
        return .some(step)
    }

    func pending(
        _ row: OutboxRow,
        _ operation: EngagementOperation,
        _ step: Step?,
        _ credentials: CredentialDesk? = nil
    ) -> Waiting {
        let credentials =
            descriptor.usesCredentials ? credentials ?? CredentialDesk(context: context, provider: name) : nil
        let facts = Waiting.Facts(
            operation: operation,
            sequence: row.operation.sequence,
            since: Instant(milliseconds: row.operation.since),
            queue: row.queue,
            step: step,
            failures: row.failures,
            refusals: row.refusals,
            credential: credentials?.credential(of: operation.contact)
        )
        return Waiting(facts, desk)
    }

    func pending(_ read: Read) -> Waiting {
        let facts = Waiting.Facts(
            operation: read.operation,
            sequence: -1,
            since: read.since,
            queue: desk.place(read.operation).queue,
            isImmediate: true,
            step: read.step,
            failures: read.failures,
            refusals: read.refusals,
            credential: descriptor.usesCredentials ? context.credential(name, read.operation.contact) : nil
        )
        return Waiting(facts, desk)
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

extension Waiting {
    /// The same operation, as it is now.
    func changed(by desk: any AdapterDesk, _ change: (inout Facts) -> Void) -> Waiting {
        var facts = facts
        change(&facts)
        return Waiting(facts, desk)
    }

    /// The same operation after a verdict that did not end it.
    func advanced(to step: Step?, failures: Int, refusals: Int, by desk: any AdapterDesk) -> Waiting {
        changed(by: desk) { ($0.step, $0.failures, $0.refusals) = (step, failures, refusals) }
    }
}
