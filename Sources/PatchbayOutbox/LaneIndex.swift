/// What is known of the ready rows of one lane: which queues there are, and which rows stand in them, in order.
///
/// Kept from one window to the next, so that a row is looked for once and not at every plan. Whoever keeps it tells it what
/// entered and what left; everything else that may happen to a lane's rows makes it stale, and it is then built anew.
package struct LaneIndex: Sendable {
    /// The known rows of one queue: all up to the last known.
    struct Queue {
        var known: ArraySlice<Int64>
        /// The last row that was ever known.
        var last: Int64
        /// Nothing stands in the queue behind what is known.
        var isComplete: Bool
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

    var queues: [String: Queue] = [:]
    var reach = Reach.nothing
    /// The state of the store that this is about.
    var version: IndexVersion?

    /// So many queues, and rows of one queue, are kept at most: what stands behind is looked for when its turn comes.
    private static let capacity = 4096

    /// Nothing known.
    package init() {}

    /// A row that was just captured entered, and is ready.
    package mutating func enter(_ sequence: Int64, queue name: String) {
        if let place = queues.index(forKey: name) {
            guard queues.values[place].isComplete else { return }
            if queues.values[place].known.count < Self.capacity {
                queues.values[place].known.append(sequence)
                queues.values[place].last = sequence
            } else {
                queues.values[place].isComplete = false
            }
        } else if reach == .everyQueue {
            guard queues.count < Self.capacity else { return reach = .nothing }
            queues[name] = Queue(known: [sequence], last: sequence, isComplete: true)
        }
    }

    /// A row ended.
    package mutating func leave(_ sequence: Int64, queue name: String) {
        guard let place = queues.index(forKey: name) else { return }
        if queues.values[place].known.first == sequence {
            queues.values[place].known.removeFirst()
        } else {
            queues.values[place].known.removeAll { $0 == sequence }
        }
        guard queues.values[place].known.isEmpty else { return }
        if queues.values[place].isComplete || reach != .everyQueue { queues.remove(at: place) }
    }

    /// Whether the open queues with the oldest heads, at most `limit`, are surely among the known ones.
    func isEnough(for limit: Int, closed: Set<String>) -> Bool {
        switch reach {
        case .nothing: return false
        case .everyQueue: return true
        case .rows(let end):
            var count = 0
            for (name, queue) in queues {
                guard let head = queue.known.first, head <= end, !closed.contains(name) else { continue }
                count += 1
                if count == limit { return true }
            }
            return false
        }
    }
}

/// Tells one state of a store's rows from another, as far as an index can't follow by itself.
struct IndexVersion: Equatable {
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
        (versionInTransaction, notedEndings) = (nil, nil)
    }

    /// Changes when another process has committed something, or may have while the store was suspended, and only then.
    package func foreignVersion() throws(OutboxError) -> Int64 {
        guard connection.isInTransaction else { return try readForeignVersion() }
        if let versionInTransaction { return versionInTransaction }
        let version = try readForeignVersion()
        versionInTransaction = version
        return version
    }

    private func readForeignVersion() throws(OutboxError) -> Int64 {
        try foreignCommits << 32 + (connection.number(Self.dataVersion) ?? 0)
    }

    /// Whether nothing but what the index was told of has happened to its rows.
    package func isCurrent(_ index: LaneIndex) throws(OutboxError) -> Bool { try index.version == indexVersion() }

    private static let dataVersion = Query("PRAGMA data_version")
}
