import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The part of a lane's window that is kept between plans.
struct KeptWindow {
    var index: LaneIndex
    /// The operations of the last window that have no outcome, by sequence, with their contacts and decoded content.
    private(set) var sequences: ArraySlice<Int64> = []
    private var contacts: ArraySlice<ScalarString?> = []
    private(set) var shown = Window()
    /// Operations of earlier windows that wait because their queue is closed or because others precede them.
    private var aside: [Int64: Waiting] = [:]
    /// The credentials at the last plan.
    private var credentials: [ScalarString?: Secret?] = [:]
    /// Whether operations were added since the last signing.
    private var hasUnsigned = true
    /// Whether the lane or its queues have changed since the window was filled.
    private var hasNews = true

    init(index: LaneIndex = LaneIndex()) { self.index = index }

    /// Whether the remaining operations are enough for a plan: a filled window would add nothing, or at most its last
    /// quarter. Small windows are always filled.
    func isEnough(of limit: Int) -> Bool {
        guard !hasNews else { return false }
        return !shown.hasMore || (index.isEven && limit >= 64 && sequences.count >= limit - limit / 4)
    }

    /// Adds captures that entered the lane.
    mutating func enter(_ entries: [LaneEntry]) {
        for entry in entries { index.enter(entry.sequence, queue: entry.queue) }
        hasNews = true
    }

    /// Notes that a queue was closed.
    mutating func close(_ queue: String) {
        index.close(queue)
        hasNews = true
    }

    /// Notes that queues were opened.
    mutating func open(_ queues: [String]) {
        index.open(queues)
        hasNews = true
    }

    /// Removes all operations and keeps the index. Returns the number of removed operations.
    mutating func forgetOperations() -> Int {
        let count = count
        self = KeptWindow(index: index)
        return count
    }

    var count: Int { sequences.count + aside.count }
    /// Whether a shown operation may belong to an explicit group.
    private(set) var hasGroups = false

    /// Returns a kept operation; nil if it is not kept.
    func operation(_ sequence: Int64) -> Waiting? {
        guard let offset = sequences.offset(of: sequence) else { return aside[sequence] }
        return shown.operations[shown.operations.startIndex + offset]
    }

    /// Removes an operation that has an outcome.
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
        shown.operations.remove(at: shown.operations.startIndex + offset)
        shown.views.remove(at: shown.views.startIndex + offset)
    }

    /// Replaces an operation with its new state.
    mutating func replace(_ pending: Waiting) {
        guard let offset = sequences.offset(of: pending.sequence) else {
            return aside[pending.sequence] = pending
        }
        shown.operations[shown.operations.startIndex + offset] = pending
        shown.views[shown.views.startIndex + offset] = pending.view as AnyObject
    }

    /// Replaces operations that advanced and removes those that ended.
    mutating func change(replacing advanced: [Waiting], leaving ended: some Sequence<Waiting>) {
        for pending in advanced { replace(pending) }
        for pending in ended { leave(pending) }
    }

    /// Fills the window with operations in this order, from those that were kept and those that were read.
    mutating func fill(
        _ rows: [Int64],
        reading news: [Int64: Waiting],
        limit: Int,
        hasMore: Bool,
        hidden: HiddenOperations = HiddenOperations()
    ) {
        (shown.hasMore, shown.hidden, hasNews, hasUnsigned) = (hasMore, hidden, false, true)
        show(rows, reading: news, limit: limit)
        shown.kinds = ActionKinds(shown.operations.lazy.map(\.kinds))
    }

    private mutating func show(_ rows: [Int64], reading news: [Int64: Waiting], limit: Int) {
        let start = rows.first.flatMap(sequences.offset(of:)) ?? sequences.count
        let kept = sequences.count - start
        // Usually, some operations at the front are gone and some at the end are new.
        guard sequences.dropFirst(start).elementsEqual(rows.prefix(kept)) else {
            for pending in shown.operations { aside[pending.sequence] = pending }
            (sequences, contacts, shown.operations, shown.views, hasGroups) = ([], [], [], [], false)
            return append(rows[...], reading: news, limit: limit)
        }
        for pending in shown.operations.prefix(start) { aside[pending.sequence] = pending }
        removeFirst(start)
        append(rows.dropFirst(kept), reading: news, limit: limit)
    }

    private mutating func removeFirst(_ count: Int) {
        sequences.removeFirst(count)
        contacts.removeFirst(count)
        shown.operations.removeFirst(count)
        shown.views.removeFirst(count)
    }

    /// Reserves capacity at the end. Without this, a slice reallocates at every append.
    private mutating func reserve(_ count: Int) {
        sequences.reserveCapacity(sequences.count + count)
        contacts.reserveCapacity(contacts.count + count)
        shown.operations.reserveCapacity(shown.operations.count + count)
        shown.views.reserveCapacity(shown.views.count + count)
    }

    private mutating func append(
        _ rows: ArraySlice<Int64>,
        reading news: [Int64: Waiting],
        limit: Int
    ) {
        reserve(rows.count)
        for sequence in rows {
            let new = news[sequence]
            guard let pending = new ?? aside[sequence] else { continue }
            // An operation that waited aside may have an old credential.
            if new == nil { credentials = [:] }
            if !aside.isEmpty { aside[sequence] = nil }
            sequences.append(sequence)
            contacts.append(pending.operation.contact.map(ScalarString.init))
            hasGroups = hasGroups || pending.operation.group != nil
            shown.operations.append(pending)
            shown.views.append(pending.view as AnyObject)
        }
        if count > 2 * limit { aside = [:] }
    }

    /// Gives every operation the current credential of its contact.
    mutating func sign(_ app: CredentialDriver, _ driver: any AdapterDriver) {
        guard hasUnsigned || !credentials.allSatisfy({ app.credential(of: $0.key) == $0.value }) else { return }
        hasUnsigned = false
        var last: ScalarString??
        var isNew = false
        for (offset, contact) in contacts.enumerated() {
            if last != .some(contact) {
                last = .some(contact)
                isNew = credentials[contact] != .some(app.credential(of: contact))
            }
            guard isNew else { continue }
            let place = shown.operations.startIndex + offset
            let credential = app.credential(of: contact)
            if shown.operations[place].credential != credential {
                let signed = shown.operations[place].changed(by: driver) { $0.credential = credential }
                shown.operations[place] = signed
                shown.views[shown.views.startIndex + offset] = signed.view as AnyObject
            }
        }
        credentials = app.known
    }
}
