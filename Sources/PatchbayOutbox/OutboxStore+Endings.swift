/// An operation that ended on one route, for good and without anything to keep of it.
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
    /// These lines with others added to them, in the order of their keys.
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

/// What was told to end is noted first, a short row each, and carried out later, many at once: with one operation a request
/// a verdict touches one page of the file, and not eleven.
///
/// Until then the tables are as if the operation were still on its way: every reader of them carries the endings out first.
extension OutboxStore {
    /// So many endings wait at most.
    private static let mostNoted = 64

    /// Notes endings of one provider; their rows must be on their way there, and the index of the lane is told of them.
    package func note(_ endings: [PlainEnding], provider: String, at: Int64) throws(OutboxError) {
        try guarded { () throws(OutboxError) in
            var number = try notedCount()
            for ending in endings {
                number += 1
                try add(
                    .ending,
                    .integer(number),
                    .text(provider),
                    .integer(ending.sequence),
                    .text(ending.id),
                    .text(ending.term),
                    .text(ending.code),
                    .integer(at)
                )
            }
            notedEndings = number
            if number >= Self.mostNoted { try carryOutEndings() }
        }
    }

    /// Carries out what is noted, if anything is: whoever reads what is on its way calls this before.
    package func carryOutEndingsNow() throws(OutboxError) {
        guard !isReadOnly, !isSuspended, !connection.isInTransaction, try notedCount() > 0 else { return }
        // What a test lets die or fail is what the caller does, and this is nothing that the caller does.
        let hook = faultPoint
        faultPoint = nil
        defer { faultPoint = hook }
        try atomically { () throws(OutboxError) in try carryOutEndings() }
    }

    /// The number that the newest ending has in the history, or will have when it is carried out.
    package func newestEnding() throws(OutboxError) -> Int64 {
        try guarded { () throws(OutboxError) in
            try connection.number(
                """
                SELECT (SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'history') + (SELECT count(*) FROM ending)
                """
            ) ?? 0
        }
    }

    /// How many endings are noted.
    private func notedCount() throws(OutboxError) -> Int {
        if let notedEndings { return notedEndings }
        let count = Int(try connection.number(Self.newest) ?? 0)
        notedEndings = count
        return count
    }

    /// What is noted, counted as it will be booked: for a reader that carries nothing out.
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

    /// Carries out what is noted, in the transaction at hand.
    ///
    /// One whose row is gone has ended otherwise; one that was damaged is set aside, and its operation is on its way still.
    func carryOutEndings() throws(OutboxError) {
        // Another process may have noted some.
        guard try connection.number(Self.newest) != nil else { return notedEndings = 0 }
        try setDamagedEndingsAside()
        try bookEndings()
        if !DeliberateFault.routeLeftBehind.isPresent {
            try connection.run(Self.deleteRoutes)
            let statement = try connection.statement(Self.deleteOperations)
            defer { statement.reset() }
            while try statement.step() { usageChange += OutboxUsage(operations: -1, bytes: -statement.integer(0)) }
        }
        try connection.run(Self.deleteEndings)
        notedEndings = 0
    }

    private func setDamagedEndingsAside() throws(OutboxError) {
        do {
            let statement = try connection.statement(Self.damagedEndings)
            defer { statement.reset() }
            while try statement.step() {
                noteDamaged(DamagedRow(table: Table.ending.name, number: statement.integer(0)))
            }
        }
        try quarantineDamagedRows()
    }

    /// Counts and remembers every noted ending whose row is there.
    private func bookEndings() throws(OutboxError) {
        let times: Int64 = DeliberateFault.endingCountedTwice.isPresent ? 2 : 1
        for line in try notedLines() {
            try count(provider: line.provider, term: line.term, code: line.code, by: times * line.count)
        }
        if DeliberateFault.endingNotRemembered.isPresent { return }
        let last: Int64
        if let lastHistoryNumber { last = lastHistoryNumber } else { last = try historyEnd() }
        let added = try connection.run(Self.remember, .integer(last))
        lastHistoryNumber = last + Int64(added)
    }

    private static let newest = Query("SELECT max(number) FROM ending")
    private static let damagedEndings = Query("SELECT number FROM ending WHERE NOT \(Table.ending.isSound())")
    private static let arrived = "FROM ending CROSS JOIN route USING (provider, sequence)"
    static let carryingOut = [sums, remember, deleteRoutes, deleteOperations]
    private static let sums = Query("SELECT provider, term, code, count(*) \(arrived) GROUP BY provider, term, code")
    private static let remember = Query(
        """
        INSERT INTO history (number, provider, id, term, code, at, checksum)
        SELECT n, provider, id, term, code, at, row_checksum('history', n, provider, id, term, code, at) FROM (
            SELECT ?1 + row_number() OVER (ORDER BY number) AS n, provider, id, term, code, at \(arrived))
        """
    )
    private static let deleteRoutes = Query(
        "DELETE FROM route WHERE (sequence, provider) IN (SELECT sequence, provider FROM ending)"
    )
    private static let deleteOperations = Query(
        """
        DELETE FROM operation WHERE sequence IN (SELECT sequence FROM ending)
            AND NOT EXISTS (SELECT 1 FROM route WHERE route.sequence = operation.sequence)
        RETURNING length(body)
        """
    )
    private static let deleteEndings = Query("DELETE FROM ending")
}
