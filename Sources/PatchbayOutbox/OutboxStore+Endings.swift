/// The final outcome of an operation for one provider, without a finding to keep.
package struct PlainEnding: Sendable {
    package var sequence: Int64
    package var id: String
    package var term: String
    package var code: String

    package init(sequence: Int64, id: String, term: String, code: String) {
        (self.sequence, self.id, self.term, self.code) = (sequence, id, term, code)
    }
}

extension [AccountLine] {
    /// Returns the sums of these lines and others, ordered by provider, term, and code.
    func adding(_ others: [AccountLine]) -> [AccountLine] {
        var sums = self
        for other in others {
            if let place = sums.firstIndex(where: {
                ($0.provider, $0.term, $0.code) == (other.provider, other.term, other.code)
            }) {
                sums[place].count += other.count
            } else {
                sums.append(other)
            }
        }
        return sums.sorted { ($0.provider, $0.term, $0.code) < ($1.provider, $1.term, $1.code) }
    }
}

/// Outcomes are first noted as short rows and applied later in batches. If every request carries one operation, a verdict then
/// changes one page of the file instead of eleven. If one reply settles many operations, their outcomes are applied
/// immediately.
///
/// Until an outcome is applied, the tables show the operation as pending. Therefore every reader first applies noted outcomes.
extension OutboxStore {
    /// The number of noted outcomes from which they are applied.
    private static let mostNoted = 256
    /// The number of outcomes in one call from which they are applied immediately, because the next window would apply them
    /// anyway.
    private static let many = 16

    /// Notes outcomes of one provider. Their operations must be pending for the provider. The caller must report the outcomes
    /// to the lane's index.
    package func note(_ outcomes: [PlainEnding], provider: String, at: Int64) throws(OutboxError) {
        try guarded { () throws(OutboxError) in
            var number = try notedCount()
            guard outcomes.count < Self.many, number + outcomes.count < Self.mostNoted else {
                try carryOutEndings()
                return try carryOut(outcomes.map { NotedOutcome(provider: provider, at: at, outcome: $0) }[...])
            }
            for outcome in outcomes {
                number += 1
                try add(
                    .ending,
                    .integer(number),
                    .text(provider),
                    .integer(outcome.sequence),
                    .text(outcome.id),
                    .text(outcome.term),
                    .text(outcome.code),
                    .integer(at)
                )
            }
            notedEndings = number
        }
    }

    /// Applies the noted outcomes, if there are any. Every reader of pending rows calls this first.
    package func carryOutEndingsNow() throws(OutboxError) {
        guard !isReadOnly, !isSuspended, !connection.isInTransaction, try notedCount() > 0 else { return }
        // A test's fault point applies only to the caller's own transactions, and this is not one of them.
        let hook = faultPoint
        faultPoint = nil
        defer { faultPoint = hook }
        try atomically { () throws(OutboxError) in try carryOutEndings() }
    }

    /// Returns the number of noted outcomes.
    private func notedCount() throws(OutboxError) -> Int {
        if let notedEndings { return notedEndings }
        let count = Int(try connection.number(Self.newest) ?? 0)
        notedEndings = count
        return count
    }

    /// Returns the account lines that the noted outcomes will add, for a reader that does not apply them.
    func notedLines() throws(OutboxError) -> [AccountLine] {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(Self.sums)
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
        let outcome: PlainEnding
    }

    /// Applies the noted outcomes in the current transaction.
    ///
    /// A noted outcome whose route no longer exists is ignored, because the operation was completed in another way. A damaged
    /// one is quarantined, and its operation stays pending.
    func carryOutEndings() throws(OutboxError) {
        // Another process may have noted outcomes.
        guard try connection.number(Self.newest) != nil else { return notedEndings = 0 }
        var noted: [NotedOutcome] = []
        do {
            let statement = try connection.statement(Self.everyNote)
            defer { statement.reset() }
            // Consecutive rows usually have equal texts, which are then reused.
            var (provider, term, code) = ("", "", "")
            while try statement.step() {
                guard statement.isSound(.ending, from: 0) else {
                    noteDamaged(DamagedRow(table: Table.ending.name, number: statement.integer(0)))
                    continue
                }
                provider = statement.text(1, like: provider)
                term = statement.text(4, like: term)
                code = statement.text(5, like: code)
                let outcome = PlainEnding(
                    sequence: statement.integer(2),
                    id: statement.text(3),
                    term: term,
                    code: code
                )
                noted.append(NotedOutcome(provider: provider, at: statement.integer(6), outcome: outcome))
            }
        }
        try quarantineDamagedRows()
        try carryOut(noted[...])
        try connection.run(Self.deleteNoted)
        notedEndings = 0
    }

    /// Adds outcomes to the accounts and to the history, and deletes their routes, one run of consecutive sequences at a time.
    private func carryOut(_ outcomes: ArraySlice<NotedOutcome>) throws(OutboxError) {
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
                try carryOut(run, range, provider: first.provider)
            } else if run.count > 1 {
                for outcome in run { try carryOut([outcome]) }
            }
        }
    }

    private func carryOut(
        _ run: ArraySlice<NotedOutcome>,
        _ range: ClosedRange<Int64>,
        provider: String
    ) throws(OutboxError) {
        var rest = run
        while let first = rest.first?.outcome {
            let alike = rest.prefix { ($0.outcome.term, $0.outcome.code) == (first.term, first.code) }
            let outcomes = alike.lazy.map { (id: $0.outcome.id, at: $0.at) }
            try remember(provider: provider, term: first.term, code: first.code, outcomes)
            try count(provider: provider, term: first.term, code: first.code, by: Int64(alike.count))
            rest = rest.dropFirst(alike.count)
        }
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        try deleteRoutes(range, provider: provider, count: run.count)
        guard try connection.number(Self.otherRoutes, start, end) == nil else {
            // Some of the operations are still pending for other providers.
            rest = run
            while let first = rest.first?.outcome {
                let alike = rest.prefix { $0.outcome.term == first.term }
                let last = first.sequence + Int64(alike.count) - 1
                try noteHearing(first.sequence...last, provider: provider, term: first.term)
                rest = rest.dropFirst(alike.count)
            }
            for sequence in range { try deleteOperation(sequence) }
            return
        }
        try deleteOperations(range)
    }

    /// Deletes `count` routes of a provider in a range of sequences.
    ///
    /// Usually all of them are in one lane. They are then found through the index by lane, whose entries are deleted during the
    /// scan. Searching for each index entry again would cost more than searching for the row.
    private func deleteRoutes(_ range: ClosedRange<Int64>, provider: String, count: Int) throws(OutboxError) {
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        var deleted = 0
        if let lane = try connection.text(Self.laneOfRoute, start, .text(provider)) {
            deleted = try connection.run(Self.deleteRoutesOfLane, start, end, .text(provider), .text(lane))
        }
        if deleted < count { try connection.run(Self.deleteRoutes, start, end, .text(provider)) }
    }

    /// Deletes the operations in a range, through the index by subject if all of them have the same subject.
    private func deleteOperations(_ range: ClosedRange<Int64>) throws(OutboxError) {
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        var count: Int64 = 0
        var subject: String?
        do {
            let statement = try connection.statement(Self.size)
            defer { statement.reset() }
            try statement.bind([start, end])
            guard try statement.step() else { return }
            count = statement.integer(0)
            current.usage += OutboxUsage(operations: -count, bytes: -statement.integer(1))
            subject = statement.optionalText(2)
        }
        guard let subject else { return }
        try removeHearings(range)
        let deleted = try connection.run(Self.deleteOperationsOfSubject, start, end, .text(subject))
        if deleted < count { try connection.run(Self.deleteOperations, start, end) }
    }

    private static let newest = Query("SELECT max(number) FROM ending")
    private static let sums = Query(
        """
        SELECT provider, term, code, count(*) FROM ending CROSS JOIN route USING (provider, sequence)
        GROUP BY provider, term, code
        """
    )
    private static let everyNote = Query("SELECT \(Table.ending.list()), checksum FROM ending ORDER BY number")
    // The unary plus prevents SQLite from scanning all of a provider's routes for each run.
    private static let routesInRange = Query(
        "SELECT count(*) FROM route WHERE sequence BETWEEN ?1 AND ?2 AND +provider = ?3"
    )
    private static let otherRoutes = Query("SELECT 1 FROM route WHERE sequence BETWEEN ?1 AND ?2 LIMIT 1")
    private static let size = Query(
        "SELECT count(*), ifnull(sum(length(body)), 0), subject FROM operation WHERE sequence BETWEEN ?1 AND ?2"
    )
    private static let deleteRoutes = Query(
        "DELETE FROM route WHERE sequence BETWEEN ?1 AND ?2 AND +provider = ?3"
    )
    private static let laneOfRoute = Query("SELECT lane FROM route WHERE sequence = ?1 AND provider = ?2")
    private static let deleteRoutesOfLane = Query(
        """
        DELETE FROM route INDEXED BY route_by_order
        WHERE provider = ?3 AND lane = ?4 AND hold IS NULL AND sequence BETWEEN ?1 AND ?2
        """
    )
    private static let deleteOperationsOfSubject = Query(
        """
        DELETE FROM operation INDEXED BY operation_by_subject WHERE subject = ?3 AND sequence BETWEEN ?1 AND ?2
        """
    )
    private static let deleteOperations = Query("DELETE FROM operation WHERE sequence BETWEEN ?1 AND ?2")
    private static let deleteNoted = Query("DELETE FROM ending")
    static let carryingOut = [
        sums, routesInRange, otherRoutes, size, laneOfRoute, deleteRoutes, deleteRoutesOfLane, deleteOperations,
        deleteOperationsOfSubject,
    ]
}
