import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The operations that a plan sees.
extension Runner {
    /// The maximum number of decoded operations in memory, over all lanes.
    private static var capacity: Int { 4_096 }

    /// Returns the operations of a lane that may be planned, and when the next closed queue opens; nil if there are none.
    func window(of lane: Lane, now: Instant) throws -> (Window, nextUnblock: Instant?)? {
        try openQueues(of: lane, now: now)
        let firstEnd = lane.waits.closings.first.map(Instant.init(milliseconds:))
        var nextUnblock = lane.wakeAt.orEarlier(firstEnd)
        var questions: [Waiting] = []
        for read in lane.waits.reads {
            if let until = read.block.until, until > now {
                nextUnblock = min(nextUnblock ?? until, until)
            } else if read.block.isNow || read.block.until != nil {
                questions.append(pending(read))
            }
        }
        guard let window = try stored(behind: questions, in: lane) else {
            return !isSuspended ? try self.window(of: lane, now: now) : nil
        }
        lane.due = nextUnblock
        guard window.operations.isEmpty else { return (window, nextUnblock) }
        lane.because = nil
        guard !lane.waits.closings.isAny else { return nil }
        lane.flush = false
        // A query that is repeated later explains its wait until then.
        if lane.waits.reads.isEmpty { lane.failures = [:] }
        return nil
    }

    /// Returns the callers' queries, followed by operations of the outbox.
    ///
    /// Nil if an operation could not be read. It was then rejected, or the provider is suspended.
    private func stored(behind questions: [Waiting], in lane: Lane) throws -> Window? {
        let credentials = CredentialDriver(context: context, provider: name)
        let isEnough = lane.window?.isEnough(of: descriptor.delivery.window) ?? false
        // If so, the last window is used again.
        if try !isEnough || !context.store.queues.isCurrent(lane.window?.index.version) {
            guard try fillWindow(of: lane, credentials) else { return nil }
        }
        if descriptor.delivery.usesCredentials { lane.window?.sign(credentials, driver) }
        guard var window = lane.window?.shown else { return nil }
        guard !questions.isEmpty else { return window }
        let all = questions + window.operations
        (window.operations, window.views) = (all[...], all.map { $0.view as AnyObject }[...])
        window.kinds = ActionKinds(all.lazy.map(\.kinds))
        return window
    }

    /// Fills a lane's window. Returns false if an operation could not be read: it was rejected, or the provider is suspended.
    private func fillWindow(of lane: Lane, _ credentials: CredentialDriver) throws -> Bool {
        // Removed while it changes, so that no partly filled window is kept if reading fails.
        var window = lane.window.take() ?? KeptWindow()
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
        let (sequences, hasMore) = try context.store.queues.window(
            provider: name,
            lane: lane.key,
            limit: descriptor.delivery.window,
            mayBeClosed: lane.waits.closings.isAny,
            index: &index,
            known: window.hasGroups ? [] : window.sequences,
            prepare: { wanted in
                let unknown = wanted.filter { news[$0] == nil && window.operation($0) == nil }
                try context.store.queues.forEachRow(unknown, provider: name, take)
            },
            load: { sequence in
                if let known = news[sequence] ?? window.operation(sequence) {
                    return .row(group: known.operation.group)
                }
                guard let row = try context.store.queues.row(sequence, provider: name) else { return .nothing }
                take(row)
                return .row(group: row.operation.group)
            }
        )
        guard !hasUnreadableStep else {
            try suspend(FindingRow.Engine.stateUnreadable.at())
            return false
        }
        guard unreadable.isEmpty else {
            try reject(unreadable.inOrder.map(\.value))
            return false
        }
        window.index = index
        let hidden = hasMore ? try hidden(in: lane, behind: sequences[...]) : HiddenOperations()
        window.fill(sequences, reading: news, limit: descriptor.delivery.window, hasMore: hasMore, hidden: hidden)
        keep(window, of: lane)
        return true
    }

    /// Summarizes the operations of a lane that are not shown. Only the lanes of a device API are summarized.
    private func hidden(in lane: Lane, behind shown: ArraySlice<Int64>) throws -> HiddenOperations {
        guard summarizesKinds else { return HiddenOperations() }
        var entries: [Action.Kind: (first: HiddenOperations.Entry, last: HiddenOperations.Entry)] = [:]
        for (name, rows) in try context.store.queues.hidden(provider: name, lane: lane.key, shown: shown) {
            guard let kind = Action.Kind(rawValue: name),
                let first = try? EngagementOperation(jsonBytes: rows.first.body),
                let last = try? EngagementOperation(jsonBytes: rows.last.body)
            else { continue }
            entries[kind] = (.init(first, sequence: rows.first.sequence), .init(last, sequence: rows.last.sequence))
        }
        return HiddenOperations(entries)
    }

    /// Whether each lane belongs to one subject, so that a plan may depend on operations outside the window.
    private var summarizesKinds: Bool { descriptor.memory == .lane }

    /// Returns the name under which the outbox finds an operation by kind; nil for most operations.
    func kindName(of operation: EngagementOperation) -> String? {
        let kind = operation.action.kind
        return summarizesKinds && HiddenOperations.kinds.contains(kind) ? kind.rawValue : nil
    }

    /// Keeps a lane's window. If all lanes together hold too much, the windows of others are reduced to their index.
    private func keep(_ window: KeptWindow, of lane: Lane) {
        lane.window = window
        guard lanes.count > 1 else { return }
        var count = lanes.values.reduce(0) { $0 + ($1.window?.count ?? 0) }
        guard count > Self.capacity else { return }
        let byAge = lanes.values.filter { $0 !== lane && $0.window != nil }
            .sorted { ($0.lastPlan ?? context.now, $0.key) < ($1.lastPlan ?? context.now, $1.key) }
        for other in byAge where count > Self.capacity { count -= other.window?.forgetOperations() ?? 0 }
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

    /// Returns the progress of a row's operation (inner nil: not begun); nil if the stored step cannot be read.
    func step(of row: OutboxRow) -> Step?? {
        guard let bytes = row.step else { return .some(nil) }
        guard let step = try? driver.step(bytes) else { return nil }
        return .some(step)
    }

    func pending(
        _ row: OutboxRow,
        _ operation: EngagementOperation,
        _ step: Step?,
        _ credentials: CredentialDriver? = nil
    ) -> Waiting {
        let credentials =
            descriptor.delivery.usesCredentials
            ? credentials ?? CredentialDriver(context: context, provider: name) : nil
        let facts = Waiting.Facts(
            operation: operation,
            sequence: row.operation.sequence,
            since: Instant(milliseconds: row.operation.since),
            queue: row.queue,
            step: step,
            failures: row.failures,
            refusals: row.refusals,
            requests: row.requests,
            credential: credentials?.credential(of: operation.contact.map(ScalarString.init))
        )
        return Waiting(facts, driver)
    }

    func pending(_ read: Lane.Read) -> Waiting {
        let facts = Waiting.Facts(
            operation: read.operation,
            sequence: -1,
            since: read.since,
            queue: driver.place(read.operation).queue,
            isImmediate: true,
            step: read.step,
            failures: read.failures,
            refusals: read.refusals,
            credential: descriptor.delivery.usesCredentials
                ? context.credential(name, read.operation.contact.map(ScalarString.init)) : nil
        )
        return Waiting(facts, driver)
    }
}

/// Looks up each contact's credential once per plan.
final class CredentialDriver {
    private let context: EngineContext
    private let provider: String
    private var earlier: [ScalarString?: Secret?] = [:]
    /// The last look-up, which is usually the only one.
    private var last: (contact: ScalarString?, credential: Secret?)?

    /// All credentials that were looked up.
    var known: [ScalarString?: Secret?] {
        guard let last else { return earlier }
        var known = earlier
        known[last.contact] = .some(last.credential)
        return known
    }

    init(context: EngineContext, provider: String) { (self.context, self.provider) = (context, provider) }

    func credential(of contact: ScalarString?) -> Secret? {
        if let last, last.contact == contact { return last.credential }
        let credential = earlier[contact] ?? context.credential(provider, contact)
        if let last { earlier[last.contact] = .some(last.credential) }
        last = (contact, credential)
        return credential
    }
}

extension Waiting {
    /// Returns a copy of the operation with changed facts.
    func changed(by driver: any AdapterDriver, _ change: (inout Facts) -> Void) -> Waiting {
        var facts = facts
        change(&facts)
        return Waiting(facts, driver)
    }

    /// Returns the operation after a verdict that did not end it.
    func advanced(
        to step: Step?,
        failures: Int,
        refusals: Int,
        requests: RequestHistory,
        by driver: any AdapterDriver
    ) -> Waiting {
        changed(by: driver) {
            ($0.step, $0.failures, $0.refusals, $0.requests) = (step, failures, refusals, requests)
        }
    }
}
