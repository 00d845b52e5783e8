/// How much is looked at and kept at once of what waits; a simulation of few operations takes less.
package struct LookSizes: Sendable {
    /// Rows of one look along the order of capture, at most.
    package var portion = 1_088
    /// Queues, and rows of one queue, that an index keeps.
    package var kept = 4_096

    package init() {}
}

/// What is known of the ready rows of one lane: which queues there are, and which rows stand in them, in order.
///
/// Kept from one window to the next, so that a row is looked for once and not at every plan. Whoever keeps it tells it what
/// entered and what left; everything else that may happen to a lane's rows makes it stale, and it is then built anew.
package struct LaneIndex: Sendable {
    /// The known rows of one queue.
    struct Queue {
        let name: String
        var known: ArraySlice<Int64>
        /// Every row of the queue up to this one is known, or has ended.
        var end: Int64
        /// Whether it is closed: then its rows are known, and not shown.
        var isClosed: Bool
        /// Nothing stands in the queue behind what is known.
        var isComplete: Bool { end == .max }
    }

    /// A queue with its first known row.
    struct Head {
        let sequence: Int64
        let place: Int
    }

    /// How much of the lane is known.
    enum Reach: Equatable {
        /// Too little to choose from.
        case nothing
        /// Every open queue that begins with this row or before it.
        case rows(upTo: Int64)
        /// Every queue that has a row.
        case everyQueue
    }

    /// Queues by place; a place stays while its queue is known, and is then given to another.
    private(set) var queues: [Queue] = []
    private var places: [String: Int] = [:]
    private var free: [Int] = []
    /// The queues with a known row, the oldest first.
    private(set) var heads: ArraySlice<Head> = []
    /// The queues of which no row is known, and some may be there.
    private(set) var unread: [Int] = []
    var reach = Reach.nothing
    /// The row up to which the lane was looked through in the order of capture; 0 where that does not count.
    var end: Int64 { if case .rows(let end) = reach { end } else { 0 } }
    /// The state of the store that this is about.
    package internal(set) var version: IndexVersion?
    /// Whether the rows selected last come from one queue alone, or are all that is known of theirs: then what ends among
    /// them leaves no queue without its share of the places, and they may be used on for a while.
    package internal(set) var isEven = false
    /// Whether any queue of the lane may be closed.
    var mayBeClosed = false
    /// Whether there are closed queues that are not known: then looking through the lane makes not every queue known.
    private var hasForgotten = false

    /// So many queues, and rows of one queue, are kept at most: what stands behind is looked for when its turn comes.
    var capacity = LookSizes().kept

    /// Nothing known.
    package init() {}

    /// A row that was just captured entered, and is ready.
    package mutating func enter(_ sequence: Int64, queue name: String) {
        if let place = places[name] {
            guard queues[place].isComplete else { return }
            if queues[place].known.count < capacity {
                append([sequence], to: place)
            } else {
                queues[place].end = sequence - 1
            }
        } else if reach == .everyQueue {
            // One that is not known may be closed: it is looked for in its turn.
            guard places.count < capacity, !mayBeClosed else { return reach = .rows(upTo: sequence - 1) }
            add(name, [sequence], upTo: .max)
        }
    }

    /// A queue was closed.
    package mutating func close(_ name: String) {
        mayBeClosed = true
        if let place = places[name] { queues[place].isClosed = true }
    }

    /// Closed queues were opened.
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

    /// A row ended.
    package mutating func leave(_ sequence: Int64, queue name: String) {
        guard let place = places[name] else { return }
        guard queues[place].known.first == sequence else {
            // Where it is not the first, the head stays as it is.
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

    /// Whether rows of a queue may be there that are neither known nor found when the lane is looked through further.
    private func mayHaveMore(_ queue: Queue) -> Bool {
        switch reach {
        case .nothing: false
        case .rows(let end): queue.end < end
        case .everyQueue: !queue.isComplete
        }
    }

    // MARK: Rows that were looked for

    /// Forgets everything but the version, and whether any queue may be closed.
    mutating func clear() { self = LaneIndex(version: version, capacity, mayBeClosed: mayBeClosed) }

    init(version: IndexVersion?, _ capacity: Int, mayBeClosed: Bool = false) {
        (self.version, self.capacity, self.mayBeClosed) = (version, capacity, mayBeClosed)
    }

    /// The place of a queue.
    func place(of name: String) -> Int? { places[name] }

    /// Rows of the lane that stand next behind what the index reaches, in order; whether they are all there are.
    ///
    /// A closed queue that is not known stays so: it may have begun before them. It is told of when it opens.
    ///
    /// - Returns: How many queues were not known before.
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

    /// Forgets the closed queues, when there are too many; they are told of when they open.
    private mutating func forgetClosed() {
        guard mayBeClosed else { return }
        hasForgotten = true
        if reach == .everyQueue { reach = .rows(upTo: queues.lazy.compactMap(\.known.last).max() ?? 0) }
        heads = ArraySlice(heads.filter { !queues[$0.place].isClosed })
        unread.removeAll { queues[$0].isClosed }
        for place in Array(places.values) where queues[place].isClosed { forget(place) }
    }

    /// A queue that was not known, with its first rows; its place.
    @discardableResult
    mutating func add(_ name: String, _ known: ArraySlice<Int64>, upTo end: Int64, isClosed: Bool = false) -> Int {
        let queue = Queue(name: name, known: known, end: end, isClosed: isClosed)
        let place = free.popLast() ?? queues.count
        if place < queues.count { queues[place] = queue } else { queues.append(queue) }
        places[name] = place
        if let first = known.first { insert(Head(sequence: first, place: place)) } else { unread.append(place) }
        return place
    }

    /// More rows of a queue, which stand next behind those that are known.
    mutating func append(_ rows: [Int64], to place: Int) {
        guard let first = rows.first, let last = rows.last else { return }
        if queues[place].known.isEmpty {
            unread.removeAll { $0 == place }
            insert(Head(sequence: first, place: place))
        }
        queues[place].known.append(contentsOf: rows)
        queues[place].end = max(queues[place].end, last)
    }

    /// Nothing stands in a queue behind what is known.
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

    /// Puts a head in the place of the oldest one, if that is the right place for it: nothing has to move.
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

    /// Where a head stands, or would.
    private func position(of sequence: Int64) -> Int {
        var (low, high) = (heads.startIndex, heads.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if heads[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether the open queues with the oldest heads, at most `limit`, are surely among the known ones.
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
    /// How far behind the start a number stands; they rise.
    package func offset(of number: Int64) -> Int? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] == number ? low - startIndex : nil
    }
}
/// Tells one state of a store's rows from another, as far as an index can't follow by itself.
package struct IndexVersion: Equatable, Sendable {
    /// Changes that this store made and tells no index of.
    var upheavals: Int
    /// Changes when another connection commits.
    var data: Int64
}

extension OutboxStore {
    /// The rows of lanes changed otherwise than by capture and settlement: every index is stale.
    func noteUpheaval() { upheavals += 1 }

    func indexVersion() throws(OutboxError) -> IndexVersion {
        IndexVersion(upheavals: upheavals, data: try foreignVersion())
    }

    /// As if another process had committed something: for tests that play it on this store's connection.
    package func noteForeignCommit() {
        foreignCommits += 1
        (versionAtHand, notedEndings) = (nil, nil)
    }

    /// Changes when another process has committed something, or may have while the store was suspended, and only then.
    package func foreignVersion() throws(OutboxError) -> Int64 {
        guard isLooking || connection.isInTransaction else { return try readForeignVersion() }
        if let versionAtHand { return versionAtHand }
        let version = try readForeignVersion()
        versionAtHand = version
        return version
    }

    /// Runs what rests on one state of the file: what others commit meanwhile is seen at the next look. A transaction in it
    /// sees what is there when it begins, as any does, and what it saw holds for the rest of the look. A look inside another
    /// is a part of it.
    package func look<T>(_ body: () throws -> T) rethrows -> T {
        if isLooking { return try body() }
        (isLooking, versionAtHand) = (true, nil)
        defer { (isLooking, versionAtHand) = (false, nil) }
        return try body()
    }

    private func readForeignVersion() throws(OutboxError) -> Int64 {
        try foreignCommits << 32 + (connection.number(Self.dataVersion) ?? 0)
    }

    /// Whether nothing but what the index was told of has happened to its rows.
    package func isCurrent(_ version: IndexVersion?) throws(OutboxError) -> Bool { try version == indexVersion() }

    private static let dataVersion = Query("PRAGMA data_version")
}
