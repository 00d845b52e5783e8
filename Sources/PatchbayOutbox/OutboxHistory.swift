import PatchbayJSON

/// The outcomes of operations, as far back as ``limit`` allows.
///
/// A single outcome is a row of `history`. Consecutive outcomes that are applied together and have the same provider, term, and
/// code share a row of `outcomeBatch`. Their ids and times are encoded consecutively, each as a text and an integer of a row's
/// image. Both tables share one numbering, in the order of commits. An outcome batch has the number of its last outcome, and is
/// deleted together with it.
package final class OutboxHistory {
    private unowned let store: OutboxStore
    /// The maximum number of outcomes in the history; a few more if the oldest ones share a row. Older ones are deleted at
    /// the end of a transaction.
    package var limit = Int.max
    /// The number of the last outcome that this store has committed; 0 before the first.
    package private(set) var newestNumber: Int64 = 0

    init(store: OutboxStore) { self.store = store }

    // MARK: Writing

    /// The maximum number of outcomes in one batch row, chosen so that it fits into one page.
    private static let longestOutcomeBatch = 48

    /// Adds an outcome to the history.
    func add(provider: String, id: String, term: String, code: String, at: Int64) throws(OutboxError) {
        let number = try reserveNumbers(1)
        try store.add(.history, .integer(number), .text(provider), .text(id), .text(term), .text(code), .integer(at))
    }

    /// Adds outcomes with the same provider, term, and code to the history, in order.
    func add(
        provider: String,
        term: String,
        code: String,
        _ outcomes: some Collection<(id: String, at: Int64)>
    ) throws(OutboxError) {
        var rest = outcomes[...]
        while !rest.isEmpty {
            var image = StoredImage()
            let part = rest.prefix(Self.longestOutcomeBatch)
            image.bytes.reserveCapacity(64 * part.count)
            for outcome in part {
                var id = outcome.id
                id.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) }
                image.append(integer: outcome.at)
            }
            let first = try reserveNumbers(part.count)
            try store.add(
                .outcomeBatch,
                .integer(first + Int64(part.count) - 1),
                .integer(first),
                .text(provider),
                .text(term),
                .text(code),
                .blob(image.bytes)
            )
            rest = rest.dropFirst(part.count)
        }
    }

    /// Reserves `count` numbers and returns the first.
    private func reserveNumbers(_ count: Int) throws(OutboxError) -> Int64 {
        let last: Int64
        if let lastHistoryNumber = store.current.lastHistoryNumber {
            last = lastHistoryNumber
        } else {
            last = try end()
        }
        guard last < .max - Int64(count) else {
            throw OutboxError(.corrupt, "The number of outcomes is damaged.")
        }
        store.current.lastHistoryNumber = last + Int64(count)
        return last + 1
    }

    /// Deletes the oldest outcomes beyond ``limit``, if this transaction added any.
    func trim() throws(OutboxError) {
        guard let last = store.current.lastHistoryNumber, last > Int64(limit) else { return }
        let end = SQLValue.integer(last - Int64(limit))
        try store.connection.run(Self.deleteOldHistory, end)
        try store.connection.run(Self.deleteOldOutcomeBatches, end)
    }

    /// Records that the current transaction was committed.
    func noteCommit() { newestNumber = store.current.lastHistoryNumber ?? newestNumber }

    private static let deleteOldHistory = Query("DELETE FROM history WHERE number <= ?1")
    private static let deleteOldOutcomeBatches = Query("DELETE FROM outcomeBatch WHERE number <= ?1")

    // MARK: Reading

    /// Returns the number of the newest outcome; 0 before the first. Outcomes are numbered in the order of their commits.
    package func end() throws(OutboxError) -> Int64 {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            return try store.connection.number(Self.newest) ?? 0
        }
    }

    private static let newest = Query(
        "SELECT max(seq) FROM sqlite_sequence WHERE name IN ('history', 'outcomeBatch')"
    )

    /// Returns the number that the newest outcome has in the history, or will have when it is applied.
    package func endWithNoted() throws(OutboxError) -> Int64 {
        try store.guarded { () throws(OutboxError) in
            try (store.connection.number(Self.newest) ?? 0)
                + (store.connection.number("SELECT count(*) FROM notedOutcome") ?? 0)
        }
    }

    /// Returns the outcomes of operations, newest first.
    package func entries(provider: String?, limit: Int) throws(OutboxError) -> [HistoryEntry] {
        try store.settlement.applyNoted()
        let found = try outcomes(
            where: "(?1 IS NULL OR provider = ?1)",
            order: "number DESC LIMIT ?2",
            .optional(provider),
            .integer(limit)
        )
        return found.sorted { $0.number > $1.number }.prefix(limit).map(\.entry)
    }

    /// Returns the outcomes after `number`, oldest first, at most `limit`, with the finding if the rejected operation is kept.
    package func outcomes(after number: Int64, limit: Int) throws -> [NumberedOutcome] {
        try store.settlement.applyNoted()
        // Outcomes are in two tables. A snapshot of both misses none that another process adds meanwhile.
        var outcomes = try store.snapshot { try stored(after: number, limit: limit) }
        let rejected = outcomes.indices.filter { outcomes[$0].entry.term == "rejected" }
        guard !rejected.isEmpty else { return outcomes }
        // A single scan finds all of them, because rejects have no index by id, and there may be as many rejects as outcomes.
        let ids = JSONValue.array(rejected.map { .string(outcomes[$0].entry.id) }).text
        var findings: [String: [String: [UInt8]]] = [:]
        let rejects = try store.soundRows(
            .reject,
            where: "id IN (SELECT value FROM json_each(?1))",
            order: "number",
            .text(ids)
        ) { row in (provider: row.text(1), id: row.text(3), finding: row.blob(11)) }
        for reject in rejects { findings[reject.provider, default: [:]][reject.id] = reject.finding }
        for place in rejected {
            outcomes[place].finding = findings[outcomes[place].entry.provider]?[outcomes[place].entry.id]
        }
        return outcomes
    }

    /// Returns the outcomes in the history after a number, oldest first, at most `limit`.
    func stored(after number: Int64, limit: Int) throws(OutboxError) -> [NumberedOutcome] {
        let found = try outcomes(where: "number > ?1", order: "number LIMIT ?2", .integer(number), .integer(limit))
        return Array(found.filter { $0.number > number }.sorted { $0.number < $1.number }.prefix(limit))
    }

    /// Returns the outcomes in rows of both tables, single ones first.
    private func outcomes(
        where condition: String,
        order: String,
        _ first: SQLValue,
        _ second: SQLValue
    ) throws(OutboxError) -> [NumberedOutcome] {
        let single = try store.soundRows(
            .history,
            where: condition,
            order: order,
            first,
            second,
            make: NumberedOutcome.init(row:)
        )
        let many = try store.soundRows(
            .outcomeBatch,
            where: condition,
            order: order,
            first,
            second,
            make: NumberedOutcome.outcomeBatch
        )
        return single + many.joined()
    }
}

extension NumberedOutcome {
    /// Creates an outcome from a row of `history`.
    fileprivate init(row: Statement) {
        number = row.integer(0)
        entry = HistoryEntry(
            provider: row.text(1),
            id: row.text(2),
            term: row.text(3),
            code: row.text(4),
            at: row.integer(5)
        )
    }

    /// Returns the outcomes of an outcome batch, in order. The row's checksum guarantees that they are complete.
    fileprivate static func outcomeBatch(_ row: Statement) -> [NumberedOutcome] {
        var number = row.integer(1)
        let (provider, term, code) = (row.text(2), row.text(3), row.text(4))
        var outcomes: [NumberedOutcome] = []
        var image = ImageReader(row.blob(5))
        while let id = image.text(), let at = image.integer() {
            let entry = HistoryEntry(provider: provider, id: id, term: term, code: code, at: at)
            outcomes.append(NumberedOutcome(number: number, entry: entry))
            number += 1
        }
        return outcomes
    }
}
