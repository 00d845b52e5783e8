/// What is known of the ready rows of one lane: which queues there are, and which rows stand in them, in order.
///
/// Kept from one window to the next, so that a row is looked for once and not at every plan. Whoever keeps it tells it what
/// entered and what left; everything else that may happen to a lane's rows makes it stale, and it is then built anew.
package struct LaneIndex: Sendable {
    /// The known rows of one queue: all up to the last known.
    struct Queue {
        let name: String
        var known: ArraySlice<Int64>
        /// The last row that was ever known.
        var last: Int64
        /// Nothing stands in the queue behind what is known.
        var isComplete: Bool
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
        /// Every row up to this one, and nothing of queues that begin behind it.
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
    /// The state of the store that this is about.
    package internal(set) var version: IndexVersion?
    /// Whether the rows selected last come from one queue alone, or are all that is known of theirs: then what ends among
    /// them leaves no queue without its share of the places, and they may be used on for a while.
    package internal(set) var isEven = false

    /// So many queues, and rows of one queue, are kept at most: what stands behind is looked for when its turn comes.
    private static let capacity = 4096

    /// Nothing known.
    package init() {}

    /// A row that was just captured entered, and is ready.
    package mutating func enter(_ sequence: Int64, queue name: String) {
        if let place = places[name] {
            guard queues[place].isComplete else { return }
            if queues[place].known.count < Self.capacity {
                append([sequence], to: place)
            } else {
                queues[place].isComplete = false
            }
        } else if reach == .everyQueue {
            guard places.count < Self.capacity else { return reach = .nothing }
            add(name, [sequence], isComplete: true)
        }
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
        } else if queues[place].isComplete || reach != .everyQueue {
            forget(place)
        } else {
            unread.append(place)
        }
    }

    // MARK: Rows that were looked for

    /// Forgets everything but the version.
    mutating func clear() { self = LaneIndex(version: version) }

    private init(version: IndexVersion?) { self.version = version }

    /// The place of a queue.
    func place(of name: String) -> Int? { places[name] }

    /// A queue that was not known, with its first rows; its place.
    @discardableResult
    mutating func add(_ name: String, _ known: ArraySlice<Int64>, isComplete: Bool) -> Int {
        let queue = Queue(name: name, known: known, last: known.last ?? 0, isComplete: isComplete)
        let place = free.popLast() ?? queues.count
        if place < queues.count { queues[place] = queue } else { queues.append(queue) }
        places[name] = place
        if let first = known.first { insert(Head(sequence: first, place: place)) } else { unread.append(place) }
        return place
    }

    /// More rows of a queue, behind those that are known.
    mutating func append(_ rows: [Int64], to place: Int) {
        guard let first = rows.first, let last = rows.last else { return }
        if queues[place].known.isEmpty {
            unread.removeAll { $0 == place }
            insert(Head(sequence: first, place: place))
        }
        queues[place].known.append(contentsOf: rows)
        queues[place].last = last
    }

    /// Nothing stands in a queue behind what is known.
    mutating func complete(_ place: Int) {
        queues[place].isComplete = true
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
    func isEnough(for limit: Int, closed: Set<String>) -> Bool {
        switch reach {
        case .nothing: return false
        case .everyQueue: return true
        case .rows(let end):
            var count = 0
            for head in heads {
                if head.sequence > end { return false }
                if !closed.isEmpty, closed.contains(queues[head.place].name) { continue }
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
