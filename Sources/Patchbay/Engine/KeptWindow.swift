import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// What is kept of one lane's window between plans.
struct KeptWindow {
    var index: LaneIndex
    /// What was shown last and has not ended, by sequence; beside it the contacts and the operations, decoded.
    private(set) var sequences: ArraySlice<Int64> = []
    private var contacts: ArraySlice<ScalarString?> = []
    private(set) var shown = Window()
    /// What was shown earlier, and waits: its queue is closed, or others went before it.
    private var aside: [Int64: Waiting] = [:]
    /// What the app gave at the last plan.
    private var credentials: [ScalarString?: Secret?] = [:]
    /// Whether it was filled since.
    private var hasUnsigned = true
    /// Whether anything entered the lane since it was filled, or a queue was closed or opened.
    private var hasNews = true

    init(index: LaneIndex = LaneIndex()) { self.index = index }

    /// Whether what is left of it will do: nothing else would be shown, or the last quarter of its places alone. Small
    /// windows are always filled.
    func isEnough(of limit: Int) -> Bool {
        guard !hasNews else { return false }
        return !shown.hasMore || (index.isEven && limit >= 64 && sequences.count >= limit - limit / 4)
    }

    /// Captures entered the lane.
    mutating func enter(_ entries: [LaneEntry]) {
        for entry in entries { index.enter(entry.sequence, queue: entry.queue) }
        hasNews = true
    }

    /// A queue was closed.
    mutating func close(_ queue: String) {
        index.close(queue)
        hasNews = true
    }

    /// Queues were opened.
    mutating func open(_ queues: [String]) {
        index.open(queues)
        hasNews = true
    }

    /// Keeps the index alone; how many operations that were.
    mutating func forgetOperations() -> Int {
        let count = count
        self = KeptWindow(index: index)
        return count
    }

    var count: Int { sequences.count + aside.count }
    /// Whether anything that is shown may belong to an explicit group.
    private(set) var hasGroups = false

    /// An operation that is kept.
    func operation(_ sequence: Int64) -> Waiting? {
        guard let offset = sequences.offset(of: sequence) else { return aside[sequence] }
        return shown.operations[shown.operations.startIndex + offset]
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
        shown.operations.remove(at: shown.operations.startIndex + offset)
        shown.views.remove(at: shown.views.startIndex + offset)
    }

    /// The same operation, as it is now.
    mutating func replace(_ pending: Waiting) {
        guard let offset = sequences.offset(of: pending.sequence) else {
            return aside[pending.sequence] = pending
        }
        shown.operations[shown.operations.startIndex + offset] = pending
        shown.views[shown.views.startIndex + offset] = pending.view as AnyObject
    }

    /// Some go on and some ended.
    mutating func change(replacing advanced: [Waiting], leaving ended: some Sequence<Waiting>) {
        for pending in advanced { replace(pending) }
        for pending in ended { leave(pending) }
    }

    /// Is filled, with these in this order: from what was kept before, and from what was read for it.
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
        // Mostly some at the front are gone and some are new at the end.
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

    /// Makes room behind what is kept; a slice does so at every single one otherwise.
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
            // What waited aside may bear an old credential.
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

    /// Gives every operation the credential that the app gives now for its contact.
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
