/// Shares the places of a window between the open queues of a lane, from indexes alone.
struct QueueSelection {
    /// One open queue, by its place in the index, and how many of its rows were taken.
    struct Queue {
        let place: Int
        var count = 0
    }

    let reader: QueueReader
    let limit: Int
    var index: LaneIndex
    /// The chosen queues, the oldest head first.
    private(set) var queues: [Queue] = []
    /// More open queues than places were seen, or could not all be looked for.
    private var mayHaveOtherQueues = false

    init(_ reader: QueueReader, limit: Int, index: LaneIndex) {
        (self.reader, self.limit, self.index) = (reader, limit, index)
    }

    // MARK: Which queues

    /// Finds the open queues with the oldest heads, at most `limit`.
    ///
    /// Where the index does not tell, a bounded look along the order of capture is enough in most lanes. When closed or long
    /// queues fill it, the heads are looked up queue by queue; in a lane of very many queues that goes on, the next time, where
    /// it stopped.
    mutating func findQueues(closed: Set<String>, resumingIn places: inout [[String]: String]) throws(OutboxError) {
        if !index.isEnough(for: limit, closed: closed) {
            index.clear()
            try lookAlongOrder()
            if !index.isEnough(for: limit, closed: closed) { try lookQueueByQueue(resumingIn: &places) }
        }
        try choose(closed: closed)
    }

    private mutating func lookAlongOrder() throws(OutboxError) {
        let budget = 4 * limit + 64
        let rows = try reader.inOrder(limit: budget)
        let isAll = rows.count < budget
        var found: [String: ArraySlice<Int64>] = [:]
        for (sequence, name) in rows { found[name, default: []].append(sequence) }
        for (name, known) in found.sorted(by: { ($0.value.first ?? 0) < ($1.value.first ?? 0) }) {
            index.add(name, known, isComplete: isAll)
        }
        index.reach = isAll ? .everyQueue : .rows(upTo: rows.last?.sequence ?? 0)
    }

    private mutating func lookQueueByQueue(resumingIn places: inout [[String]: String]) throws(OutboxError) {
        let lane = [reader.provider, reader.lane]
        var budget = max(1_024, 8 * limit)
        let start = places.removeValue(forKey: lane)
        var hasWrapped = start == nil
        index.reach = .everyQueue
        var next = try reader.head(start.map { (.behind, $0) } ?? (.from, ""))
        while true {
            guard let (sequence, name) = next else {
                if hasWrapped { return }
                hasWrapped = true
                next = try reader.head((.from, ""))
                continue
            }
            if hasWrapped, let start, name > start { return }
            guard budget > 0 else {
                places[lane] = name
                index.reach = .nothing
                return
            }
            budget -= 1
            if index.place(of: name) == nil { index.add(name, [sequence], isComplete: false) }
            next = try reader.head((.behind, name))
        }
    }

    private mutating func choose(closed: Set<String>) throws(OutboxError) {
        for place in index.unread where !closed.contains(index.queues[place].name) { try know(place, atLeast: 1) }
        var hasOthers = false
        for head in index.heads {
            if !closed.isEmpty, closed.contains(index.queues[head.place].name) { continue }
            guard queues.count < limit else {
                hasOthers = true
                break
            }
            queues.append(Queue(place: head.place))
        }
        mayHaveOtherQueues = index.reach != .everyQueue || hasOthers
    }

    // MARK: How many of each

    /// Fills the places: equal shares, what one queue does not need goes to the rest, the last odd places to the oldest heads.
    mutating func share() throws(OutboxError) {
        var left = limit
        var hungry = Array(queues.indices)
        while left > 0, !hungry.isEmpty {
            let share = max(1, left / hungry.count)
            var still: [Int] = []
            for number in hungry where left > 0 {
                let wanted = min(share, left)
                let count = queues[number].count
                let given = min(wanted, try know(queues[number].place, atLeast: count + wanted) - count)
                queues[number].count += given
                left -= given
                if given == wanted { still.append(number) }
            }
            hungry = still
        }
    }

    /// The rows taken from a queue, in order.
    func taken(_ number: Int) -> ArraySlice<Int64> {
        index.queues[queues[number].place].known.prefix(queues[number].count)
    }

    /// Whether one queue has all the places, or no queue is known to want more than it has.
    var isEven: Bool { queues.count == 1 || queues.allSatisfy { $0.count == index.queues[$0.place].known.count } }

    /// The rows taken from all queues, in order, without those that are known.
    func taken(except known: ArraySlice<Int64>) -> [Int64] {
        var rows: [Int64] = []
        for number in queues.indices {
            for sequence in taken(number) where known.offset(of: sequence) == nil { rows.append(sequence) }
        }
        if queues.count > 1 { rows.sort() }
        return rows
    }

    /// Takes the next row of a queue too.
    mutating func advance(_ number: Int) { queues[number].count += 1 }

    /// The next row of a queue behind what was taken.
    mutating func peek(_ number: Int) throws(OutboxError) -> Int64? {
        let (place, count) = (queues[number].place, queues[number].count)
        guard try know(place, atLeast: count + 1) > count else { return nil }
        let known = index.queues[place].known
        return known[known.startIndex + count]
    }

    /// Whether anything ready was left behind.
    mutating func hasMore() throws(OutboxError) -> Bool {
        if mayHaveOtherQueues { return true }
        for number in queues.indices where try peek(number) != nil { return true }
        return false
    }

    /// Reads on in a queue until `count` of its rows are known, or all; returns how many are known.
    ///
    /// Some more are read at once: the next windows will want them.
    @discardableResult
    private mutating func know(_ place: Int, atLeast count: Int) throws(OutboxError) -> Int {
        let known = index.queues[place].known.count
        if known >= count || index.queues[place].isComplete { return known }
        let wanted = max(count - known, min(limit, 256))
        let found = try reader.rows(in: index.queues[place].name, behind: index.queues[place].last, limit: wanted)
        index.append(found, to: place)
        if found.count < wanted { index.complete(place) }
        return known + found.count
    }
}

/// Asks the outbox which rows of a lane are ready, without reading the rows themselves.
struct QueueReader {
    let connection: Connection
    let provider: String
    let lane: String
    /// Brings the rows up to date before they are read.
    let prepare: () throws(OutboxError) -> Void

    /// Where the search for a queue begins: at a name, or behind it.
    enum Start { case from, behind }

    /// Ready rows of a lane, oldest first.
    static let byOrder = Query(
        """
        SELECT sequence, queue FROM route INDEXED BY route_by_order
        WHERE provider = ?1 AND lane = ?2 AND hold IS NULL ORDER BY sequence LIMIT ?3
        """
    )
    /// The head of the first queue of a lane, by name.
    static let firstQueue = nextQueue(">=")
    /// The head of the queue behind another, by name.
    static let followingQueue = nextQueue(">")
    /// Ready rows of a queue behind a sequence.
    static let inQueue = Query(
        """
        SELECT sequence FROM route INDEXED BY route_by_queue
        WHERE provider = ?1 AND lane = ?2 AND hold IS NULL AND queue = ?3 AND sequence > ?4 ORDER BY sequence LIMIT ?5
        """
    )

    private static func nextQueue(_ comparison: String) -> Query {
        Query(
            """
            SELECT sequence, queue FROM route INDEXED BY route_by_queue
            WHERE provider = ?1 AND lane = ?2 AND hold IS NULL AND queue \(comparison) ?3 ORDER BY queue, sequence LIMIT 1
            """
        )
    }

    /// The oldest ready rows of the lane.
    func inOrder(limit: Int) throws(OutboxError) -> [(sequence: Int64, queue: String)] {
        try prepare()
        let statement = try connection.statement(Self.byOrder)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .integer(limit)])
        var rows: [(sequence: Int64, queue: String)] = []
        while try statement.step() { rows.append((statement.integer(0), statement.text(1))) }
        return rows
    }

    /// The head of the next queue, by name.
    func head(_ start: (Start, name: String)) throws(OutboxError) -> (sequence: Int64, name: String)? {
        try prepare()
        let statement = try connection.statement(start.0 == .from ? Self.firstQueue : Self.followingQueue)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .text(start.name)])
        return try statement.step() ? (statement.integer(0), statement.text(1)) : nil
    }

    /// Ready rows of a queue behind a sequence, in order.
    func rows(in queue: String, behind last: Int64, limit: Int) throws(OutboxError) -> [Int64] {
        try prepare()
        let statement = try connection.statement(Self.inQueue)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .text(queue), .integer(last), .integer(limit)])
        var rows: [Int64] = []
        while try statement.step() { rows.append(statement.integer(0)) }
        return rows
    }
}
