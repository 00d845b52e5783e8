import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The part of the pending changes that the next request carries: a group of values, or a group of deletes.
///
/// It depends on the operations, their steps and the memory alone, so `interpret` recomputes the batch that `plan`
/// sent.
struct AttributeBatch {
    /// An operation with its entries in this batch.
    struct Member {
        let pending: Pending<AcousticDevice>
        /// All entries of the operation, in the order of sending.
        let entries: [Entry]
        /// The operation's progress; a new step if the settings have changed its entries since.
        let step: AcousticDevice.Step
        /// The entries that this request completes, including those that the vendor already holds and that are not
        /// sent.
        let range: Range<Int>
        /// The indices of the entries that are sent.
        let sent: [Int]
        /// The set of tags after the entries; nil if they do not change the tags' column.
        let tags: Set<Tag>?

        /// The columns that are sent.
        var columns: Set<ScalarString> { Set(sent.map { entries[$0].column }) }
    }

    /// The operations of the batch, in order of capture.
    private(set) var members: [Member] = []
    /// Operations that need no request, because the vendor already holds their values.
    private(set) var unchanged: [Pending<AcousticDevice>] = []
    /// Operations whose entries are all replaced by a later operation before they were sent, with that operation.
    private(set) var superseded: [(pending: Pending<AcousticDevice>, by: OperationID)] = []
    /// Whether the entries are deletes.
    private(set) var isDelete = false
    /// Whether the batch ended although more operations may be pending.
    private(set) var isClosed = false

    /// The maximum number of entries in a request without an explicit group.
    static let limit = 200

    init(
        _ operations: some Sequence<Pending<AcousticDevice>>,
        memory: AcousticDevice.Memory,
        settings: AcousticSettings
    ) {
        var memory = memory
        var tags = Set(memory.tags.map { Tag(rawValue: $0) })
        var touched: Set<ScalarString> = []
        var units = 0
        for pending in operations {
            if memory.isAnother(pending.operation.contact) {
                // Another person has other tags, and does not share a request.
                guard members.isEmpty else {
                    isClosed = true
                    break
                }
                memory.arrive(pending.operation.contact)
                tags = []
            }
            let (entries, after) = Self.entries(of: pending.operation, after: tags, settings)
            var step = pending.step.flatMap { $0.isOf(entries) ? $0 : nil } ?? AcousticDevice.Step()
            step.layout = entries.layout
            let done = min(step.done, entries.count)
            func isHeld(_ place: Int) -> Bool {
                !touched.contains(entries[place].column) && memory.holds(entries[place])
            }
            guard let first = (done..<entries.count).first(where: { !isHeld($0) }) else {
                unchanged.append(pending)
                continue
            }
            let mark = pending.step?.suspect
            if let leader = members.first {
                let isSameGroup = leader.pending.operation.group == pending.operation.group
                let isSameMark = leader.pending.step?.suspect == mark
                let room = mark ?? (pending.operation.group == nil ? Self.limit : .max)
                guard entries[first].isDelete == isDelete, isSameGroup, isSameMark, units < room else {
                    isClosed = true
                    break
                }
            } else {
                isDelete = entries[first].isDelete
            }
            var (end, sent) = (done, [Int]())
            let room = (mark ?? .max) - units
            while end < entries.count {
                if !isHeld(end) {
                    guard entries[end].isDelete == isDelete, sent.count < room else { break }
                    sent.append(end)
                }
                end += 1
            }
            units += sent.count
            let ends = end == entries.count
            members.append(
                Member(
                    pending: pending,
                    entries: entries,
                    step: step,
                    range: done..<end,
                    sent: sent,
                    tags: ends ? after : nil
                )
            )
            touched.formUnion(entries[done...].map(\.column))
            if let after { tags = after }
            if !ends {
                isClosed = true
                break
            }
        }
        supersede()
    }

    /// The entries to send, by column; the last entry of a column wins (G5).
    var entries: [Entry] {
        var last: [ScalarString: Entry] = [:]
        for member in members {
            for entry in member.sent.map({ member.entries[$0] }) { last[entry.column] = entry }
        }
        return Array(last.values).inOrder
    }

    /// The number of entries in the batch, including duplicates.
    var units: Int { members.reduce(0) { $0 + $1.sent.count } }

    /// The set of tags that the vendor holds after the batch; nil if the batch does not change them.
    var tags: Set<Tag>? { members.reversed().lazy.compactMap(\.tags).first }

    /// Returns all entries of an operation in the order of sending, and the set of tags after it.
    static func entries(
        of operation: EngagementOperation,
        after tags: Set<Tag>,
        _ settings: AcousticSettings
    ) -> (entries: [Entry], tags: Set<Tag>?) {
        switch operation.action {
        case .changeAttributes(let changes): return (AttributeRules.judge(changes, settings: settings).entries, nil)
        case .changeTags(let change): return TagRules.entries(of: change, after: tags, settings: settings)
        default: return ([], nil)
        }
    }

    /// Finds changes of attributes that later ones replace completely. Tags build on each other and are never replaced.
    private mutating func supersede() {
        guard !isDelete else { return }
        for (place, member) in members.enumerated() {
            guard member.pending.step == nil, member.pending.operation.action.kind == .changeAttributes,
                member.range == 0..<member.entries.count
            else { continue }
            let later = members[(place + 1)...]
            let keys = Set(member.entries.map(\.column))
            let replaced = later.reduce(into: Set<ScalarString>()) { $0.formUnion($1.columns) }
            guard keys.isSubset(of: replaced), let last = later.last(where: { !$0.columns.isDisjoint(with: keys) })
            else { continue }
            superseded.append((member.pending, last.pending.id))
        }
    }
}
