/// Limits on how many pending rows are read and kept at once. Simulations of few operations use lower limits.
package struct WindowLimits: Sendable {
    /// The maximum number of rows read at once in the order of capture.
    package var rowsPerRead = 1_088
    /// The maximum number of queues, and of rows per queue, that an index keeps.
    package var indexCapacity = 4_096

    package init() {}
}

/// An index of one lane's ready rows: the queues, and the rows of each queue in order.
///
/// Its owner keeps it from one window to the next, so that a row is searched for once and not at every plan, and reports every
/// row that enters or leaves. Every other change to the lane's rows makes the index stale; it is then rebuilt.
package struct LaneIndex: Sendable {
    /// The known rows of one queue.
    struct Queue {
        let name: String
        var known: ArraySlice<Int64>
        /// The sequence up to which every row of the queue is known, or has completed.
        var end: Int64
        /// Whether the queue is closed. Rows of a closed queue are known but not shown.
        var isClosed: Bool
        /// Whether the queue has no rows beyond the known ones.
        var isComplete: Bool { end == .max }
    }

    /// A queue with its first known row.
    struct Head {
        let sequence: Int64
        let place: Int
    }

    /// The known part of the lane.
    enum Reach: Equatable {
        /// Too little to select rows.
        case nothing
        /// Every open queue whose first row is at or before this sequence.
        case rows(upTo: Int64)
        /// Every queue that has a row.
        case everyQueue
    }

    /// The queues by index. An index belongs to one queue while that queue is known, and is reused afterwards.
    private(set) var queues: [Queue] = []
    private var places: [String: Int] = [:]
    private var free: [Int] = []
    /// The queues with a known row, oldest first.
    private(set) var heads: ArraySlice<Head> = []
    /// The queues without a known row that may still have some.
    private(set) var unread: [Int] = []
    var reach = Reach.nothing
    /// The sequence up to which the lane was read in the order of capture; 0 if that does not apply.
    var end: Int64 { if case .rows(let end) = reach { end } else { 0 } }
    /// The state of the store that this index describes.
    package internal(set) var version: IndexVersion?
    /// Whether the last selected rows come from a single queue, or are all known rows of their queues. If so, the selection
    /// stays fair to all queues while some of its rows complete, and may be reused until more of them have.
    package internal(set) var isEven = false
    /// Whether any queue of the lane may be closed.
    var mayBeClosed = false
    /// Whether there are closed queues that are not known. If so, reading the whole lane does not make every queue known.
    private var hasForgotten = false

    /// The maximum number of queues, and of rows per queue, to keep. Rows beyond it are searched for when their turn comes.
    var capacity = WindowLimits().indexCapacity

    /// Creates an empty index.
    package init() {}

    /// Adds a row that was just captured and is not held.
    package mutating func enter(_ sequence: Int64, queue name: String) {
        if let place = places[name] {
            guard queues[place].isComplete else { return }
            if queues[place].known.count < capacity {
                append([sequence], to: place)
            } else {
                queues[place].end = sequence - 1
            }
        } else if reach == .everyQueue {
            // An unknown queue may be closed, so it is searched for later.
            guard places.count < capacity, !mayBeClosed else { return reach = .rows(upTo: sequence - 1) }
            add(name, [sequence], upTo: .max)
        }
    }

    /// Marks a queue as closed.
    package mutating func close(_ name: String) {
        mayBeClosed = true
        if let place = places[name] { queues[place].isClosed = true }
    }

    /// Marks closed queues as open.
    package mutating func open(_ names: [String]) {
        for name in names {
            if let place = places[name] {
                queues[place].isClosed = false
            } else if case .rows = reach {
                add(name, [], upTo: 0)
            }
        }
        guard places.count > capacity else { return }
        forgetClosed()
        if places.count > capacity { clear() }
    }

    /// Removes a completed row.
    package mutating func leave(_ sequence: Int64, queue name: String) {
        guard let place = places[name] else { return }
        guard queues[place].known.first == sequence else {
            // If it is not the first row, the head stays as it is.
            if let offset = queues[place].known.offset(of: sequence) {
                queues[place].known.remove(at: queues[place].known.startIndex + offset)
            }
            return
        }
        queues[place].known.removeFirst()
        if let next = queues[place].known.first, replaceHead(sequence, with: Head(sequence: next, place: place)) {
            return
        }
        removeHead(sequence)
        if let next = queues[place].known.first {
            insert(Head(sequence: next, place: place))
        } else if mayHaveMore(queues[place]) {
            unread.append(place)
        } else {
            forget(place)
        }
    }

    /// Whether a queue may have rows that are neither known nor found by reading the lane further.
    private func mayHaveMore(_ queue: Queue) -> Bool {
        switch reach {
        case .nothing: false
        case .rows(let end): queue.end < end
        case .everyQueue: !queue.isComplete
        }
    }

    // MARK: Adding rows that were read

    /// Removes everything except the version and whether any queue may be closed.
    mutating func clear() { self = LaneIndex(version: version, capacity, mayBeClosed: mayBeClosed) }

    init(version: IndexVersion?, _ capacity: Int, mayBeClosed: Bool = false) {
        (self.version, self.capacity, self.mayBeClosed) = (version, capacity, mayBeClosed)
    }

    /// Returns the index of a queue.
    func place(of name: String) -> Int? { places[name] }

    /// Adds the next rows of the lane beyond the known part, in order. `isAll` states whether they are all that remain.
    ///
    /// An unknown closed queue stays unknown, because it may have earlier rows. The owner reports when it opens.
    ///
    /// - Returns: The number of queues that were not known before.
    mutating func add(_ rows: [QueueReader.Row], isAll: Bool) -> Int {
        let before = self.end
        let end = rows.last?.sequence ?? before
        var found: [String: (rows: ArraySlice<Int64>, isClosed: Bool)] = [:]
        for row in rows { found[row.queue, default: ([], row.isClosed)].rows.append(row.sequence) }
        for (name, place) in places where queues[place].end < .max && queues[place].end >= before {
            let more = found.removeValue(forKey: name)?.rows.drop { $0 <= queues[place].end } ?? []
            append(Array(more), to: place)
            queues[place].end = isAll ? .max : max(end, queues[place].end)
        }
        var news = 0
        for (name, rows) in found.sorted(by: { ($0.value.rows.first ?? 0) < ($1.value.rows.first ?? 0) })
        where places[name] == nil {
            news += 1
            if rows.isClosed { hasForgotten = true } else { add(name, rows.rows, upTo: isAll ? .max : end) }
        }
        reach = isAll && !hasForgotten ? .everyQueue : .rows(upTo: end)
        if places.count > capacity / 8 { forgetClosed() }
        return news
    }

    /// Removes the closed queues if there are too many. The owner reports when they open.
    private mutating func forgetClosed() {
        guard mayBeClosed else { return }
        hasForgotten = true
        if reach == .everyQueue { reach = .rows(upTo: queues.lazy.compactMap(\.known.last).max() ?? 0) }
        heads = ArraySlice(heads.filter { !queues[$0.place].isClosed })
        unread.removeAll { queues[$0].isClosed }
        for place in Array(places.values) where queues[place].isClosed { forget(place) }
    }

    /// Adds a queue that was not known, with its first rows. Returns its index.
    @discardableResult
    mutating func add(_ name: String, _ known: ArraySlice<Int64>, upTo end: Int64, isClosed: Bool = false) -> Int {
        let queue = Queue(name: name, known: known, end: end, isClosed: isClosed)
        let place = free.popLast() ?? queues.count
        if place < queues.count { queues[place] = queue } else { queues.append(queue) }
        places[name] = place
        if let first = known.first { insert(Head(sequence: first, place: place)) } else { unread.append(place) }
        return place
    }

    /// Adds the next rows of a queue, which follow the known ones.
    mutating func append(_ rows: [Int64], to place: Int) {
        guard let first = rows.first, let last = rows.last else { return }
        if queues[place].known.isEmpty {
            unread.removeAll { $0 == place }
            insert(Head(sequence: first, place: place))
        }
        queues[place].known.append(contentsOf: rows)
        queues[place].end = max(queues[place].end, last)
    }

    /// Records that a queue has no rows beyond the known ones.
    mutating func complete(_ place: Int) {
        queues[place].end = .max
        guard queues[place].known.isEmpty else { return }
        unread.removeAll { $0 == place }
        forget(place)
    }

    private mutating func forget(_ place: Int) {
        places[queues[place].name] = nil
        free.append(place)
    }

    /// Replaces the oldest head if the new head belongs in the same position, so that no other head has to move.
    private mutating func replaceHead(_ sequence: Int64, with head: Head) -> Bool {
        guard let first = heads.first, first.sequence == sequence else { return false }
        if let second = heads.dropFirst().first, second.sequence < head.sequence { return false }
        heads[heads.startIndex] = head
        return true
    }

    private mutating func removeHead(_ sequence: Int64) {
        guard let first = heads.first else { return }
        if first.sequence == sequence { return heads = heads.dropFirst() }
        let index = position(of: sequence)
        if index < heads.endIndex, heads[index].sequence == sequence { heads.remove(at: index) }
    }

    private mutating func insert(_ head: Head) {
        if let last = heads.last, last.sequence > head.sequence {
            heads.insert(head, at: position(of: head.sequence))
        } else {
            heads.append(head)
        }
    }

    /// Returns the position of a head, or the position to insert it at.
    private func position(of sequence: Int64) -> Int {
        var (low, high) = (heads.startIndex, heads.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if heads[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether the known queues certainly include the open queues with the oldest heads, at most `limit`.
    func isEnough(for limit: Int) -> Bool {
        switch reach {
        case .nothing: return false
        case .everyQueue: return true
        case .rows(let end):
            var count = 0
            for head in heads {
                if head.sequence > end { return false }
                if queues[head.place].isClosed { continue }
                count += 1
                if count == limit { return true }
            }
            return false
        }
    }
}

extension ArraySlice<Int64> {
    /// Returns the offset of a number from the start; the numbers are in ascending order.
    package func offset(of number: Int64) -> Int? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] == number ? low - startIndex : nil
    }
}

/// Identifies a state of a store's rows, apart from the changes that are reported to an index.
package struct IndexVersion: Equatable, Sendable {
    /// The number of changes by this store that are not reported to any index.
    var unreportedChanges: Int
    /// A number that changes when another connection commits.
    var data: Int64
}
