/// The final outcome of an operation for one provider, without a finding to keep.
package struct PlainOutcome: Sendable {
    package var sequence: Int64
    package var id: String
    package var term: String
    package var code: String

    package init(sequence: Int64, id: String, term: String, code: String) {
        (self.sequence, self.id, self.term, self.code) = (sequence, id, term, code)
    }
}

/// Outcomes and the progress of pending operations.
///
/// Outcomes are first noted as short rows and applied later in batches. If every request carries one operation, a verdict then
/// changes one page of the file instead of eleven. If one reply settles many operations, their outcomes are applied
/// immediately.
///
/// Until an outcome is applied, the tables show the operation as pending. Therefore every reader first applies noted outcomes.
package final class OutboxSettlement {
    private unowned let store: OutboxStore
    /// The number of noted outcomes that are not applied yet; nil if it must be read from the file.
    private var knownNotedCount: Int?

    init(store: OutboxStore) { self.store = store }

    // MARK: Single operations

    /// Stores the progress of an operation at one provider.
    ///
    /// - Returns: Whether the operation is still pending there.
    @discardableResult
    package func progress(
        provider: String,
        sequence: Int64,
        step: [UInt8]?,
        failures: Int,
        refusals: Int,
        requests: RequestHistory = []
    ) throws(OutboxError) -> Bool {
        try store.atomically { () throws(OutboxError) in
            let changed = try store.connection.run(
                Self.progressRoute,
                .integer(sequence),
                .text(provider),
                .optional(step),
                .integer(failures),
                .integer(refusals),
                .integer(requests.rawValue)
            )
            if changed == 0 { try store.quarantine.moveIfDamaged(provider: provider, sequence: sequence) }
            return changed > 0
        }
    }

    private static let progressRoute = Query(
        """
        UPDATE route SET step = ?3, failures = ?4, refusals = ?5, requests = ?6,
            checksum = row_checksum('route', sequence, provider, lane, queue, hold, ?3, ?4, ?5, kind, ?6)
        WHERE sequence = ?1 AND provider = ?2 AND \(Table.route.isSound())
        """
    )

    /// Completes an operation at one provider and records the outcome.
    ///
    /// Deletes the route, adds one to the line of the provider's accounts with this term and code, and adds the outcome to the
    /// history. If `reject` (the finding, as JSON) is given, keeps a copy for replay. Deletes the operation with its last
    /// route, unless more routes will follow (`keepingOperation`). Does nothing if there is no such route. Pass `isIndexed` if
    /// you report the change to the lane's index; otherwise every index becomes stale.
    ///
    /// - Returns: Whether the operation was completed; false if there was no such route or it had to be quarantined.
    @discardableResult
    package func complete(
        provider: String,
        sequence: Int64,
        term: String,
        code: String,
        at: Int64,
        reject: [UInt8]? = nil,
        keepingOperation: Bool = false,
        isIndexed: Bool = false
    ) throws(OutboxError) -> Bool {
        let store = store
        return try store.atomically { () throws(OutboxError) in
            guard let found = try store.quarantine.soundness(provider: provider, sequence: sequence) else {
                return false
            }
            if try store.quarantine.moveIfDamaged(found, provider: provider, sequence: sequence) { return false }
            if let id = found.id {
                try store.history.add(provider: provider, id: id, term: term, code: code, at: at)
            }
            if let reject {
                try store.rejects.keep(provider: provider, sequence: sequence, code: code, at: at, finding: reject)
            }
            try store.accounts.count(provider: provider, term: term, code: code, by: 1)
            try store.operations.deleteRoute(provider: provider, sequence: sequence)
            if !isIndexed { store.queues.invalidateIndexes() }
            try store.deliveryMarks.note(
                sequence...sequence,
                provider: provider,
                term: term,
                othersAreExpected: keepingOperation
            )
            if !keepingOperation { try store.operations.discardIfUnrouted(sequence) }
            return true
        }
    }

    // MARK: Noted outcomes

    /// The number of noted outcomes from which they are applied.
    private static let mostNoted = 256
    /// The number of outcomes in one call from which they are applied immediately, because the next window would apply them
    /// anyway.
    private static let many = 16

    /// Notes outcomes of one provider, in the order in which the history shows them. `at` is their time by the wall clock, in
    /// milliseconds. Their operations must be pending for the provider. The caller must report the outcomes to the lane's
    /// index.
    package func note(_ outcomes: [PlainOutcome], provider: String, at: Int64) throws(OutboxError) {
        let store = store
        try store.guarded { () throws(OutboxError) in
            var number = try notedCount()
            guard outcomes.count < Self.many, number + outcomes.count < Self.mostNoted else {
                try applyNotedInTransaction()
                return try apply(outcomes.map { NotedOutcome(provider: provider, at: at, outcome: $0) }[...])
            }
            for outcome in outcomes {
                number += 1
                try store.add(
                    .notedOutcome,
                    .integer(number),
                    .text(provider),
                    .integer(outcome.sequence),
                    .text(outcome.id),
                    .text(outcome.term),
                    .text(outcome.code),
                    .integer(at)
                )
            }
            knownNotedCount = number
        }
    }

    /// Applies the noted outcomes in a transaction of its own, if there are any. Every reader of pending rows calls this
    /// first.
    ///
    /// Does nothing in a transaction, which has applied them at its start, and in a store that is read-only or suspended.
    package func applyNoted() throws(OutboxError) {
        let store = store
        guard !store.isReadOnly, !store.isSuspended, !store.connection.isInTransaction, try notedCount() > 0 else {
            return
        }
        // A test's fault point applies only to the caller's own transactions, and this is not one of them.
        let hook = store.faultPoint
        store.faultPoint = nil
        defer { store.faultPoint = hook }
        try store.atomically { () throws(OutboxError) in try applyNotedInTransaction() }
    }

    /// Returns the number of noted outcomes.
    private func notedCount() throws(OutboxError) -> Int {
        if let knownNotedCount { return knownNotedCount }
        let count = Int(try store.connection.number(Self.newest) ?? 0)
        knownNotedCount = count
        return count
    }

    /// Discards the known number of noted outcomes, because a rollback or another process may have changed it.
    func forgetNotedCount() { knownNotedCount = nil }

    /// Returns the account lines that the noted outcomes will add, for a reader that does not apply them.
    func notedLines() throws(OutboxError) -> [AccountLine] {
        try store.guarded { () throws(OutboxError) in
            let statement = try store.connection.statement(Self.sums)
            defer { statement.reset() }
            var lines: [AccountLine] = []
            while try statement.step() {
                lines.append(
                    AccountLine(
                        provider: statement.text(0),
                        term: statement.text(1),
                        code: statement.text(2),
                        count: statement.integer(3)
                    )
                )
            }
            return lines
        }
    }

    /// An outcome with the provider and the time at which it was noted.
    private struct NotedOutcome {
        let provider: String
        let at: Int64
        let outcome: PlainOutcome
    }

    /// Applies the noted outcomes in the current transaction.
    ///
    /// A noted outcome whose route no longer exists is ignored, because the operation was completed in another way. A damaged
    /// one is quarantined, and its operation stays pending.
    func applyNotedInTransaction() throws(OutboxError) {
        let store = store
        // Another process may have noted outcomes.
        guard try store.connection.number(Self.newest) != nil else { return knownNotedCount = 0 }
        var noted: [NotedOutcome] = []
        do {
            let statement = try store.connection.statement(Self.everyNote)
            defer { statement.reset() }
            // Consecutive rows usually have equal texts, which are then reused.
            var (provider, term, code) = ("", "", "")
            while try statement.step() {
                guard statement.isSound(.notedOutcome, from: 0) else {
                    store.quarantine.noteDamaged(
                        DamagedRow(table: Table.notedOutcome.name, number: statement.integer(0))
                    )
                    continue
                }
                provider = statement.text(1, like: provider)
                term = statement.text(4, like: term)
                code = statement.text(5, like: code)
                let outcome = PlainOutcome(
                    sequence: statement.integer(2),
                    id: statement.text(3),
                    term: term,
                    code: code
                )
                noted.append(NotedOutcome(provider: provider, at: statement.integer(6), outcome: outcome))
            }
        }
        try store.quarantine.moveDamagedRows()
        try apply(noted[...])
        try store.connection.run(Self.deleteNoted)
        knownNotedCount = 0
    }

    /// Adds outcomes to the accounts and to the history, and deletes their routes, one run of consecutive sequences at a time.
    private func apply(_ outcomes: ArraySlice<NotedOutcome>) throws(OutboxError) {
        let connection = store.connection
        var rest = outcomes
        while let first = rest.first {
            var next = first.outcome.sequence
            let run = rest.prefix { noted in
                guard noted.outcome.sequence == next, noted.provider == first.provider else { return false }
                next += 1
                return true
            }
            rest = rest.dropFirst(run.count)
            let range = first.outcome.sequence...next - 1
            let found = try connection.number(
                Self.routesInRange,
                .integer(range.lowerBound),
                .integer(range.upperBound),
                .text(first.provider)
            )
            if found == Int64(run.count) {
                try apply(run, range, provider: first.provider)
            } else if run.count > 1 {
                for outcome in run { try apply([outcome]) }
            }
        }
    }

    private func apply(
        _ run: ArraySlice<NotedOutcome>,
        _ range: ClosedRange<Int64>,
        provider: String
    ) throws(OutboxError) {
        let store = store
        var rest = run
        while let first = rest.first?.outcome {
            let alike = rest.prefix { ($0.outcome.term, $0.outcome.code) == (first.term, first.code) }
            let outcomes = alike.lazy.map { (id: $0.outcome.id, at: $0.at) }
            try store.history.add(provider: provider, term: first.term, code: first.code, outcomes)
            try store.accounts.count(provider: provider, term: first.term, code: first.code, by: Int64(alike.count))
            rest = rest.dropFirst(alike.count)
        }
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        try store.operations.deleteRoutes(range, provider: provider, count: run.count)
        guard try store.connection.number(Self.otherRoutes, start, end) == nil else {
            // Some of the operations are still pending for other providers.
            rest = run
            while let first = rest.first?.outcome {
                let alike = rest.prefix { $0.outcome.term == first.term }
                let last = first.sequence + Int64(alike.count) - 1
                try store.deliveryMarks.note(first.sequence...last, provider: provider, term: first.term)
                rest = rest.dropFirst(alike.count)
            }
            for sequence in range { try store.operations.delete(sequence) }
            return
        }
        try store.operations.delete(range)
    }

    private static let newest = Query("SELECT max(number) FROM notedOutcome")
    private static let sums = Query(
        """
        SELECT provider, term, code, count(*) FROM notedOutcome CROSS JOIN route USING (provider, sequence)
        GROUP BY provider, term, code
        """
    )
    private static let everyNote = Query(
        "SELECT \(Table.notedOutcome.list()), checksum FROM notedOutcome ORDER BY number"
    )
    // The unary plus prevents SQLite from scanning all of a provider's routes for each run.
    private static let routesInRange = Query(
        "SELECT count(*) FROM route WHERE sequence BETWEEN ?1 AND ?2 AND +provider = ?3"
    )
    private static let otherRoutes = Query("SELECT 1 FROM route WHERE sequence BETWEEN ?1 AND ?2 LIMIT 1")
    private static let deleteNoted = Query("DELETE FROM notedOutcome")
    /// The queries of routes by which outcomes are applied, for a test of their query plans.
    static let lookups = [sums, routesInRange, otherRoutes]
}
