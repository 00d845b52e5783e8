/// A distribution of the slots of a window among the open queues of a lane. It reads only indexes.
struct QueueSelection {
    /// An open queue, by its position in the index, and the number of rows taken from it.
    struct Queue {
        let place: Int
        var count = 0
    }

    let reader: QueueReader
    let limit: Int
    let portion: Int
    var index: LaneIndex
    /// The selected queues, oldest head first.
    private(set) var queues: [Queue] = []
    /// Whether the lane was read to its end.
    private var isAtEnd = false
    /// Whether there are more open queues than slots, or the search could not cover all queues.
    private var mayHaveOtherQueues = false

    init(_ reader: QueueReader, limit: Int, portion: Int, index: LaneIndex) {
        (self.reader, self.limit, self.portion, self.index) = (reader, limit, portion, index)
    }

    // MARK: Selecting queues

    /// Finds the open queues with the oldest heads, at most `limit`.
    ///
    /// If the index does not suffice, the lane is read from the index's end on, in the order of capture. If long queues fill
    /// that range, the heads are searched for queue by queue. In a lane with very many queues that search resumes at the next
    /// call.
    mutating func findQueues(resumingIn places: inout [[String]: String]) throws(OutboxError) {
        if !index.isEnough(for: limit) {
            if index.reach == .nothing { index.clear() }
            if try !readInOrder() { try searchQueueByQueue(resumingIn: &places) }
        }
        try choose()
    }

    /// Reads the next rows of the lane, and continues while they contain enough new queues, closed or not. Returns whether the
    /// index then suffices, or the lane was read to its end.
    private mutating func readInOrder() throws(OutboxError) -> Bool {
        let budget = min(4 * limit + 64, portion)
        while true {
            let rows = try reader.inOrder(behind: index.end, limit: budget)
            isAtEnd = rows.count < budget
            let news = index.add(rows, isAll: isAtEnd)
            if isAtEnd || index.isEnough(for: limit) { return true }
            if news < max(1, budget / 32) { return false }
        }
    }

    private mutating func searchQueueByQueue(resumingIn places: inout [[String]: String]) throws(OutboxError) {
        let lane = [reader.provider, reader.lane]
        // If every known queue is closed, only a complete pass shows whether any queue is open.
        var hasOpen = index.heads.contains { !index.queues[$0.place].isClosed }
        var budget = max(1_024, 8 * limit)
        let start = places.removeValue(forKey: lane)
        var hasWrapped = start == nil
        index.reach = .everyQueue
        var next = try reader.head(start.map { (.behind, $0) } ?? (.from, ""))
        while true {
            guard let row = next else {
                if hasWrapped { return }
                hasWrapped = true
                next = try reader.head((.from, ""))
                continue
            }
            if hasWrapped, let start, row.queue > start { return }
            guard budget > 0 || !hasOpen else {
                places[lane] = row.queue
                index.reach = .nothing
                return
            }
            budget -= 1
            hasOpen = hasOpen || !row.isClosed
            if index.place(of: row.queue) == nil {
                // Queues beyond the limit are not kept; they are searched for again later.
                if budget < 0, row.isClosed {
                    index.reach = .nothing
                } else {
                    index.add(row.queue, [row.sequence], upTo: row.sequence, isClosed: row.isClosed)
                }
            }
            next = try reader.head((.behind, row.queue))
        }
    }

    private mutating func choose() throws(OutboxError) {
        for place in index.unread where !index.queues[place].isClosed { try know(place, atLeast: 1) }
        var hasOthers = false
        for head in index.heads {
            if index.queues[head.place].isClosed { continue }
            guard queues.count < limit else {
                hasOthers = true
                break
            }
            queues.append(Queue(place: head.place))
        }
        mayHaveOtherQueues = hasOthers || index.reach != .everyQueue && !isAtEnd
    }

    // MARK: Selecting rows

    /// Distributes the slots in equal shares. Slots that a queue does not need go to the other queues, and slots that cannot be
    /// divided equally go to the queues with the oldest heads.
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

    /// Returns the rows taken from a queue, in order.
    func taken(_ number: Int) -> ArraySlice<Int64> {
        index.queues[queues[number].place].known.prefix(queues[number].count)
    }

    /// Whether one queue has all slots, or every queue has slots for all of its known rows.
    var isEven: Bool { queues.count == 1 || queues.allSatisfy { $0.count == index.queues[$0.place].known.count } }

    /// Returns the rows taken from all queues, in order, except the known ones.
    func taken(except known: ArraySlice<Int64>) -> [Int64] {
        var rows: [Int64] = []
        for number in queues.indices {
            for sequence in taken(number) where known.offset(of: sequence) == nil { rows.append(sequence) }
        }
        if queues.count > 1 { rows.sort() }
        return rows
    }

    /// Takes one more row from a queue.
    mutating func advance(_ number: Int) { queues[number].count += 1 }

    /// Returns the next row of a queue after those taken.
    mutating func peek(_ number: Int) throws(OutboxError) -> Int64? {
        let (place, count) = (queues[number].place, queues[number].count)
        guard try know(place, atLeast: count + 1) > count else { return nil }
        let known = index.queues[place].known
        return known[known.startIndex + count]
    }

    /// Whether ready rows remain that were not taken.
    mutating func hasMore() throws(OutboxError) -> Bool {
        if mayHaveOtherQueues { return true }
        for number in queues.indices where try peek(number) != nil { return true }
        return try reader.hasClosedRows()
    }

    /// Reads a queue until `count` of its rows, or all of them, are known. Returns the number of known rows.
    ///
    /// It reads a few more rows than necessary, because the next windows will need them.
    @discardableResult
    private mutating func know(_ place: Int, atLeast count: Int) throws(OutboxError) -> Int {
        let known = index.queues[place].known.count
        if known >= count || index.queues[place].isComplete { return known }
        let wanted = max(count - known, min(limit, 256))
        let found = try reader.rows(in: index.queues[place].name, behind: index.queues[place].end, limit: wanted)
        index.append(found, to: place)
        if found.count < wanted { index.complete(place) }
        return known + found.count
    }
}

/// Queries which rows of a lane are ready, without reading the rows themselves.
struct QueueReader {
    let connection: Connection
    let provider: String
    let lane: String
    /// Whether any queue of the lane may be closed. If false, closed queues are not queried.
    let mayBeClosed: Bool
    /// Applies noted outcomes before rows are read.
    let settlement: OutboxSettlement

    /// A ready row: its sequence, its queue, and whether that queue is closed.
    struct Row {
        let sequence: Int64
        let queue: String
        let isClosed: Bool
    }

    /// Whether a search for a queue begins at a name or after it.
    enum Start { case from, behind }

    /// Ready rows of a lane after a sequence, oldest first.
    static let byOrder = Variants { isClosed in
        """
        SELECT sequence, queue, \(isClosed) FROM route INDEXED BY route_by_order
        WHERE provider = ?1 AND lane = ?2 AND hold IS NULL AND sequence > ?3 ORDER BY sequence LIMIT ?4
        """
    }
    /// The head of the first queue of a lane, ordered by name.
    static let firstQueue = nextQueue(">=")
    /// The head of the next queue, ordered by name.
    static let followingQueue = nextQueue(">")
    /// Ready rows of a queue after a sequence.
    static let inQueue = Query(
        """
        SELECT sequence FROM route INDEXED BY route_by_queue
        WHERE provider = ?1 AND lane = ?2 AND hold IS NULL AND queue = ?3 AND sequence > ?4 ORDER BY sequence LIMIT ?5
        """
    )
    /// Whether a closed queue has ready rows.
    static let inClosedQueue = Query(
        """
        SELECT 1 FROM block WHERE provider = ?1 AND lane = ?2 AND EXISTS (
            SELECT 1 FROM route INDEXED BY route_by_queue
            WHERE route.provider = ?1 AND route.lane = ?2 AND hold IS NULL AND route.queue = block.queue)
        LIMIT 1
        """
    )

    private static func nextQueue(_ comparison: String) -> Variants {
        Variants { isClosed in
            """
            SELECT sequence, queue, \(isClosed) FROM route INDEXED BY route_by_queue
            WHERE provider = ?1 AND lane = ?2 AND hold IS NULL AND queue \(comparison) ?3 ORDER BY queue, sequence LIMIT 1
            """
        }
    }

    /// Two variants of a query: one returns for each row whether its queue is closed, the other is for a lane without closed
    /// queues.
    struct Variants: Sendable {
        let all: Query
        let open: Query

        init(_ text: (_ isClosed: String) -> String) {
            let isClosed = """
                EXISTS (SELECT 1 FROM block
                    WHERE block.provider = ?1 AND block.lane = ?2 AND block.queue = route.queue)
                """
            (all, open) = (Query(text(isClosed)), Query(text("0")))
        }
    }

    private func row(_ statement: Statement) -> Row {
        Row(sequence: statement.integer(0), queue: statement.text(1), isClosed: statement.bool(2))
    }

    private func statement(_ query: Variants) throws(OutboxError) -> Statement {
        try connection.statement(mayBeClosed ? query.all : query.open)
    }

    /// Returns the ready rows of the lane after a sequence, in order.
    func inOrder(behind last: Int64, limit: Int) throws(OutboxError) -> [Row] {
        try settlement.applyNoted()
        let statement = try statement(Self.byOrder)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .integer(last), .integer(limit)])
        var rows: [Row] = []
        while try statement.step() { rows.append(row(statement)) }
        return rows
    }

    /// Returns the head of the next queue, ordered by name.
    func head(_ start: (Start, name: String)) throws(OutboxError) -> Row? {
        try settlement.applyNoted()
        let statement = try statement(start.0 == .from ? Self.firstQueue : Self.followingQueue)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .text(start.name)])
        return try statement.step() ? row(statement) : nil
    }

    /// Whether a closed queue has ready rows.
    func hasClosedRows() throws(OutboxError) -> Bool {
        guard mayBeClosed else { return false }
        let statement = try connection.statement(Self.inClosedQueue)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane)])
        return try statement.step()
    }

    /// Returns the ready rows of a queue after a sequence, in order.
    func rows(in queue: String, behind last: Int64, limit: Int) throws(OutboxError) -> [Int64] {
        try settlement.applyNoted()
        let statement = try connection.statement(Self.inQueue)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .text(queue), .integer(last), .integer(limit)])
        var rows: [Int64] = []
        while try statement.step() { rows.append(statement.integer(0)) }
        return rows
    }
}
