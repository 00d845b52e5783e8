/// Shares the places of a window between the open queues of a lane, from indexes alone.
struct QueueSelection {
    /// One open queue and what was taken from it.
    struct Queue {
        let name: String
        let head: Int64
        /// Sequences in order; known so far.
        var known: [Int64]
        /// How many of `known` were taken.
        var count = 0
        /// Nothing stands in the queue behind what is known.
        var isComplete: Bool

        var taken: ArraySlice<Int64> { known[..<count] }
        mutating func advance() { count += 1 }
    }

    let connection: Connection
    let provider: String
    let lane: String
    let limit: Int
    var queues: [Queue] = []
    /// More open queues than places were seen, or could not all be looked for.
    private var mayHaveOtherQueues = false

    init(_ connection: Connection, provider: String, lane: String, limit: Int) {
        self.connection = connection
        self.provider = provider
        self.lane = lane
        self.limit = limit
    }

    /// Ready rows of a lane, oldest first.
    static let byOrder = """
        SELECT sequence, queue FROM route INDEXED BY route_by_order
        WHERE provider = ?1 AND lane = ?2 AND hold IS NULL ORDER BY sequence LIMIT ?3
        """
    /// The head of the first queue of a lane, by name.
    static let firstQueue = nextQueue(">=")
    /// The head of the queue behind another, by name.
    static let followingQueue = nextQueue(">")
    /// Ready rows of a queue behind a sequence.
    static let inQueue = """
        SELECT sequence FROM route INDEXED BY route_by_queue
        WHERE provider = ?1 AND lane = ?2 AND hold IS NULL AND queue = ?3 AND sequence > ?4 ORDER BY sequence LIMIT ?5
        """

    private static func nextQueue(_ comparison: String) -> String {
        """
        SELECT sequence, queue FROM route INDEXED BY route_by_queue
        WHERE provider = ?1 AND lane = ?2 AND hold IS NULL AND queue \(comparison) ?3 ORDER BY queue, sequence LIMIT 1
        """
    }

    /// Finds the open queues with the oldest heads, at most `limit`.
    ///
    /// A bounded look along the order of capture is enough in most lanes. When closed or long queues fill it, the heads are
    /// looked up queue by queue; in a lane of very many queues that goes on, the next time, where it stopped.
    mutating func findQueues(closed: Set<String>, resumingIn places: inout [[String]: String]) throws(OutboxError) {
        if try lookAlongOrder(closed: closed) { return }
        try lookQueueByQueue(closed: closed, resumingIn: &places)
    }

    /// True when the look showed all that is needed.
    private mutating func lookAlongOrder(closed: Set<String>) throws(OutboxError) -> Bool {
        let budget = 4 * limit + 64
        let statement = try connection.statement(Self.byOrder)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .integer(budget)])
        var places: [String: Int] = [:]
        var seen = 0
        while try statement.step() {
            seen += 1
            let sequence = statement.integer(0)
            let name = statement.text(1)
            if let place = places[name] {
                queues[place].known.append(sequence)
            } else if closed.contains(name) {
                continue
            } else if queues.count < limit {
                places[name] = queues.count
                queues.append(Queue(name: name, head: sequence, known: [sequence], isComplete: false))
            } else {
                mayHaveOtherQueues = true
            }
        }
        if seen < budget {
            for index in queues.indices { queues[index].isComplete = true }
            return true
        }
        if queues.count == limit { mayHaveOtherQueues = true }
        return queues.count == limit
    }

    private mutating func lookQueueByQueue(
        closed: Set<String>,
        resumingIn places: inout [[String]: String]
    ) throws(OutboxError) {
        let known = Set(queues.map(\.name))
        var budget = max(1_024, 8 * limit)
        let start = places.removeValue(forKey: [provider, lane])
        var found: [Queue] = []
        var wrapped = start == nil
        var next = try head(start.map { (Self.followingQueue, $0) } ?? (Self.firstQueue, ""))
        while true {
            guard let (sequence, name) = next else {
                if wrapped { break }
                wrapped = true
                next = try head((Self.firstQueue, ""))
                continue
            }
            if wrapped, let start, name > start { break }
            guard budget > 0 else {
                places[[provider, lane]] = name
                mayHaveOtherQueues = true
                break
            }
            budget -= 1
            if !known.contains(name), !closed.contains(name) {
                found.append(Queue(name: name, head: sequence, known: [sequence], isComplete: false))
            }
            next = try head((Self.followingQueue, name))
        }
        queues.append(contentsOf: found)
        queues.sort { $0.head < $1.head }
        if queues.count > limit {
            queues.removeLast(queues.count - limit)
            mayHaveOtherQueues = true
        }
    }

    private func head(_ query: (sql: String, name: String)) throws(OutboxError) -> (sequence: Int64, name: String)? {
        let statement = try connection.statement(query.sql)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .text(query.name)])
        return try statement.step() ? (statement.integer(0), statement.text(1)) : nil
    }

    /// Fills the places: equal shares, what one queue does not need goes to the rest, the last odd places to the oldest heads.
    mutating func share() throws(OutboxError) {
        var left = limit
        var hungry = Array(queues.indices)
        while left > 0, !hungry.isEmpty {
            let share = max(1, left / hungry.count)
            var still: [Int] = []
            for index in hungry where left > 0 {
                let wanted = min(share, left)
                try know(queue: index, atLeast: queues[index].count + wanted)
                let given = min(wanted, queues[index].known.count - queues[index].count)
                queues[index].count += given
                left -= given
                if given == wanted { still.append(index) }
            }
            hungry = still
        }
    }

    /// Reads on in a queue until `count` of its rows are known, or all.
    private mutating func know(queue index: Int, atLeast count: Int) throws(OutboxError) {
        let queue = queues[index]
        guard !queue.isComplete, queue.known.count < count, let last = queue.known.last else { return }
        let wanted = count - queue.known.count
        let statement = try connection.statement(Self.inQueue)
        defer { statement.reset() }
        try statement.bind([.text(provider), .text(lane), .text(queue.name), .integer(last), .integer(wanted)])
        var found = 0
        while try statement.step() {
            queues[index].known.append(statement.integer(0))
            found += 1
        }
        if found < wanted { queues[index].isComplete = true }
    }

    /// The next row of a queue behind what was taken.
    mutating func peek(queue index: Int) throws(OutboxError) -> Int64? {
        let count = queues[index].count
        try know(queue: index, atLeast: count + 1)
        return queues[index].known.count > count ? queues[index].known[count] : nil
    }

    /// Whether anything ready was left behind.
    mutating func hasMore() throws(OutboxError) -> Bool {
        if mayHaveOtherQueues || queues.contains(where: { $0.count < $0.known.count }) { return true }
        for index in queues.indices where try peek(queue: index) != nil { return true }
        return false
    }
}
