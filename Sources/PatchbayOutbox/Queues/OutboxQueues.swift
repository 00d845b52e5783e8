/// The rows that a lane's next window shows: lanes, windows, and the rows in them.
package final class OutboxQueues {
    private unowned let store: OutboxStore
    /// The limits on how many pending rows are read and kept at once.
    package var limits = WindowLimits()
    /// The position at which the search for queue heads resumes, by provider and lane, if a lane has too many queues for one
    /// search.
    private var resumePositions: [[String]: String] = [:]
    /// The number of row changes that are not reported to any index.
    private var unreportedChanges = 0

    init(store: OutboxStore) { self.store = store }

    // MARK: Lanes

    /// Returns the lanes of a provider that have pending rows, held or not.
    package func lanes(provider: String) throws(OutboxError) -> [String] {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            var found: [String] = []
            var next = try store.connection.text(
                "SELECT lane FROM route WHERE provider = ?1 ORDER BY provider, lane LIMIT 1",
                .text(provider)
            )
            while let lane = next {
                found.append(lane)
                next = try store.connection.text(
                    "SELECT lane FROM route WHERE provider = ?1 AND lane > ?2 ORDER BY provider, lane LIMIT 1",
                    .text(provider),
                    .text(lane)
                )
            }
            return found
        }
    }

    /// Returns the next lanes of a provider that have pending rows, ordered by name, after `last`.
    package func lanes(provider: String, after last: String?, limit: Int) throws(OutboxError) -> [String] {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            var found: [String] = []
            var last = last
            while found.count < limit {
                let next = try store.connection.text(
                    "SELECT lane FROM route WHERE provider = ?1 AND lane \(last == nil ? ">=" : ">") ?2 ORDER BY provider, lane LIMIT 1",
                    .text(provider),
                    .text(last ?? "")
                )
                guard let next else { break }
                found.append(next)
                last = next
            }
            return found
        }
    }

    /// Returns the lanes of a provider that have pending rows of a subject.
    package func lanes(provider: String, subject: String) throws(OutboxError) -> [String] {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            let statement = try store.connection.statement(
                """
                SELECT DISTINCT r.lane FROM operation o CROSS JOIN route r ON r.sequence = o.sequence
                WHERE o.subject = ?2 AND r.provider = ?1
                """
            )
            defer { statement.reset() }
            try statement.bind([.text(provider), .text(subject)])
            var found: [String] = []
            while try statement.step() { found.append(statement.text(0)) }
            return found.sorted()
        }
    }

    // MARK: Windows

    /// Returns the rows of a lane that may be planned next, in the order of capture.
    ///
    /// At most `limit` queues take part: those with the oldest heads. They share the slots of the window equally, and a queue
    /// that needs fewer than its share leaves the rest to the others. Held rows and closed queues are excluded. If the last row
    /// taken from a queue belongs to an explicit group, the rest of that group is included, even beyond `limit`.
    ///
    /// - Returns: The rows, and whether more rows wait: after them, or in a closed queue.
    package func window(
        provider: String,
        lane: String,
        limit: Int
    ) throws -> (rows: [OutboxRow], hasMore: Bool) {
        var index = LaneIndex()
        var rows: [Int64: OutboxRow] = [:]
        let window = try window(
            provider: provider,
            lane: lane,
            limit: limit,
            index: &index,
            known: []
        ) { sequence in
            rows[sequence] = try row(sequence, provider: provider)
            return rows[sequence].map { .row(group: $0.operation.group) } ?? .nothing
        }
        return (window.sequences.compactMap { rows[$0] }, window.hasMore)
    }

    /// The result of loading a row.
    package enum Loaded {
        case row(group: String?)
        /// The row does not exist or is damaged.
        case nothing
    }

    /// Returns the rows of a lane that may be planned next, for a caller that keeps the lane's index and rows between windows.
    ///
    /// - `index` is the index of the lane. It is extended if necessary, and rebuilt if it is stale.
    /// - `known` contains rows that the caller kept, in order, and that belong to no group.
    /// - `mayBeClosed` is false if no queue of the lane is closed, which saves a query.
    /// - `prepare` receives the sequences of the rows that will be loaded, in order, so that the caller can read them together.
    /// - `load` returns each row, from the caller's rows or from `row(_:provider:)`. Sequences come in order.
    package func window(
        provider: String,
        lane: String,
        limit: Int,
        mayBeClosed: Bool = true,
        index: inout LaneIndex,
        known: ArraySlice<Int64>,
        prepare: ([Int64]) throws -> Void = { _ in },
        load: (Int64) throws -> Loaded
    ) throws -> (sequences: [Int64], hasMore: Bool) {
        guard limit > 0 else { return ([], true) }
        let store = store
        while true {
            let before = store.quarantine.damagedCount
            let version = try store.guarded(indexVersion)
            if index.version != version {
                index = LaneIndex(version: version, limits.indexCapacity)
            }
            index.mayBeClosed = mayBeClosed
            let reader = QueueReader(
                connection: store.connection,
                provider: provider,
                lane: lane,
                mayBeClosed: mayBeClosed,
                settlement: store.settlement
            )
            var selection = QueueSelection(reader, limit: limit, portion: limits.rowsPerRead, index: index)
            index = LaneIndex()
            try store.guarded { () throws(OutboxError) in
                try selection.findQueues(resumingIn: &resumePositions)
                try selection.share()
            }
            try prepare(selection.taken(except: known))
            var sequences: [Int64] = []
            sequences.reserveCapacity(limit)
            var next = known.startIndex
            for number in selection.queues.indices {
                try take(from: &selection, number, known, &next, into: &sequences, load)
            }
            let hasMore = try store.guarded { () throws(OutboxError) in try selection.hasMore() }
            if store.quarantine.damagedCount > before, !store.isReadOnly {
                try store.guarded { () throws(OutboxError) in try store.quarantine.setDamagedRowsAside() }
                continue
            }
            index = selection.index
            index.isEven = selection.isEven
            if selection.queues.count > 1 { sequences.sort() }
            return (sequences, hasMore)
        }
    }

    /// Loads the rows selected from one queue, and the rest of the last row's group.
    private func take(
        from selection: inout QueueSelection,
        _ number: Int,
        _ known: ArraySlice<Int64>,
        _ next: inout Int,
        into sequences: inout [Int64],
        _ load: (Int64) throws -> Loaded
    ) throws {
        var last: String?
        for sequence in selection.taken(number) {
            last = nil
            if next >= known.endIndex || known[next] != sequence {
                guard let offset = known.offset(of: sequence) else {
                    guard case .row(let group) = try load(sequence) else { continue }
                    last = group
                    sequences.append(sequence)
                    continue
                }
                next = known.startIndex + offset
            }
            next += 1
            sequences.append(sequence)
        }
        guard let last else { return }
        while let sequence = try store.guarded({ () throws(OutboxError) in try selection.peek(number) }) {
            guard case .row(let group) = try load(sequence), group == last else { break }
            selection.advance(number)
            sequences.append(sequence)
        }
    }

    /// Returns the first and the last row of each kind that is pending in a lane and not shown, in the order of capture.
    ///
    /// Held rows and rows without a kind are excluded. The cost grows with the number of shown rows, not of pending ones.
    /// `shown` contains the sequences that the window shows, in ascending order.
    package func hidden(
        provider: String,
        lane: String,
        shown: ArraySlice<Int64>
    ) throws(OutboxError) -> [String: (first: OutboxOperation, last: OutboxOperation)] {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            var kinds: [String] = []
            var next = try store.connection.text(Self.nextKind, .text(provider), .text(lane), .text(""))
            while let kind = next {
                kinds.append(kind)
                next = try store.connection.text(Self.nextKind, .text(provider), .text(lane), .text(kind))
            }
            var found: [String: (first: OutboxOperation, last: OutboxOperation)] = [:]
            for kind in kinds {
                guard let first = try hidden(Self.firstOfKind, provider, lane, kind, shown),
                    let last = try hidden(Self.lastOfKind, provider, lane, kind, shown)
                else { continue }
                found[kind] = (first, last)
            }
            return found
        }
    }

    /// Returns the first row that is not shown, in the order of the query.
    private func hidden(
        _ query: Query,
        _ provider: String,
        _ lane: String,
        _ kind: String,
        _ shown: ArraySlice<Int64>
    ) throws(OutboxError) -> OutboxOperation? {
        var sequence: Int64?
        do {
            let statement = try store.connection.statement(query)
            defer { statement.reset() }
            try statement.bind([.text(provider), .text(lane), .text(kind)])
            while sequence == nil, try statement.step() {
                if shown.offset(of: statement.integer(0)) == nil { sequence = statement.integer(0) }
            }
        }
        guard let sequence else { return nil }
        return try row(sequence, provider: provider)?.operation
    }

    private static let nextKind = """
        SELECT kind FROM route WHERE provider = ?1 AND lane = ?2 AND kind > ?3 AND hold IS NULL ORDER BY kind LIMIT 1
        """
    private static let ofKind =
        "SELECT sequence FROM route WHERE provider = ?1 AND lane = ?2 AND kind = ?3 AND hold IS NULL"
    private static let firstOfKind = Query(ofKind + " ORDER BY sequence")
    private static let lastOfKind = Query(ofKind + " ORDER BY sequence DESC")

    // MARK: Validity of indexes

    /// Makes every index stale. Called when rows changed other than by capture and settlement.
    package func invalidateIndexes() { unreportedChanges += 1 }

    /// Whether an index was notified of every change to its rows. An index without a version is never current.
    package func isCurrent(_ version: IndexVersion?) throws(OutboxError) -> Bool { try version == indexVersion() }

    private func indexVersion() throws(OutboxError) -> IndexVersion {
        IndexVersion(unreportedChanges: unreportedChanges, data: try store.foreignVersion())
    }

    // MARK: Rows

    /// Returns one row by its key. Returns nil if it does not exist or is damaged; damage is recorded.
    package func row(_ sequence: Int64, provider: String) throws(OutboxError) -> OutboxRow? {
        let statement = try store.connection.statement(RowReader.one)
        defer { statement.reset() }
        try statement.bind([.integer(sequence), .text(provider)])
        return try statement.step() ? RowReader.read(statement, noting: store.quarantine.noteDamaged) : nil
    }

    /// Passes rows to `body` by their sequences, which must be ascending. Rows close to each other are read with one statement.
    ///
    /// Missing rows are skipped. Damaged rows are skipped and recorded.
    package func forEachRow(
        _ sequences: [Int64],
        provider: String,
        _ body: (OutboxRow) throws -> Void
    ) throws {
        var rest = sequences[...]
        while let first = rest.first {
            var last = first
            let run = rest.prefix { sequence in
                guard sequence - last <= Self.gap else { return false }
                last = sequence
                return true
            }
            rest = rest.dropFirst(run.count)
            try read(run, provider: provider, body)
        }
    }

    /// The maximum distance between two sequences that are read with one statement. Skipping the rows between them costs less
    /// than another statement.
    private static let gap: Int64 = 4

    private func read(_ run: ArraySlice<Int64>, provider: String, _ body: (OutboxRow) throws -> Void) throws {
        guard let first = run.first, let last = run.last else { return }
        let statement = try store.connection.statement(RowReader.range)
        defer { statement.reset() }
        try statement.bind([.integer(first), .integer(last), .text(provider)])
        let quarantine = store.quarantine
        var next = run.startIndex
        var words = RowReader.Words()
        while try store.guarded({ () throws(OutboxError) in try statement.step() }) {
            let sequence = RowReader.sequence(statement)
            while next < run.endIndex, run[next] < sequence { next += 1 }
            guard next < run.endIndex, run[next] == sequence else { continue }
            if let row = RowReader.read(statement, &words, noting: quarantine.noteDamaged) { try body(row) }
        }
    }

    /// Returns the rows of these operations in a lane, held or not, in the order of capture.
    ///
    /// Missing rows are omitted.
    package func rows(provider: String, lane: String, ids: [String]) throws(OutboxError) -> [OutboxRow] {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            var rows: [OutboxRow] = []
            for id in ids {
                guard
                    let sequence = try store.connection.number(
                        "SELECT sequence FROM operation WHERE id = ?1",
                        .text(id)
                    ),
                    let row = try row(sequence, provider: provider), row.lane == lane
                else { continue }
                rows.append(row)
            }
            try store.quarantine.setDamagedRowsAside()
            return rows.sorted { $0.operation.sequence < $1.operation.sequence }
        }
    }

    /// Returns the rows of a provider in the order of capture, after a sequence. It is meant for inspection.
    package func list(provider: String, limit: Int, after: Int64 = 0) throws(OutboxError) -> [OutboxRow] {
        try page(provider: provider, subject: nil, limit: limit, after: after).rows
    }

    /// Passes the rows of a provider, or of one subject, to `body` in the order of capture, one page at a time. `body` may
    /// write to the store.
    package func forEachRow(provider: String, subject: String?, _ body: (OutboxRow) throws -> Void) throws {
        var after: Int64 = 0
        while true {
            let page = try page(provider: provider, subject: subject, limit: 256, after: after)
            for row in page.rows { try body(row) }
            guard let end = page.end else { return }
            after = end
        }
    }

    /// Returns a page of rows and the last sequence of the page; nil if no rows are left.
    private func page(
        provider: String,
        subject: String?,
        limit: Int,
        after: Int64
    ) throws(OutboxError) -> (rows: [OutboxRow], end: Int64?) {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            var rows: [OutboxRow] = []
            var end: Int64?
            do {
                let statement = try store.connection.statement(
                    subject == nil
                        // The unary plus prevents SQLite from reading and sorting all of a provider's rows for each page.
                        ? RowReader.select + "WHERE +r.provider = ?1 AND r.sequence > ?3 ORDER BY r.sequence LIMIT ?4"
                        : RowReader.selectBySubject
                            + "WHERE o.subject = ?2 AND o.sequence > ?3 AND r.provider = ?1 ORDER BY o.sequence LIMIT ?4"
                )
                defer { statement.reset() }
                try statement.bind([.text(provider), .optional(subject), .integer(after), .integer(limit)])
                let quarantine = store.quarantine
                while try statement.step() {
                    end = RowReader.sequence(statement)
                    if let row = RowReader.read(statement, noting: quarantine.noteDamaged) { rows.append(row) }
                }
            }
            try store.quarantine.setDamagedRowsAside()
            return (rows, end)
        }
    }
}
